"""JSON document of results: every metric of every variant over its seeds, and the best variant."""

from collections.abc import Sequence
from typing import Any

from overspill import stats
from overspill.results import header, network_changes, pooled_workloads, sweep_document, warnings
from overspill.results.finished_runs import FinishedRuns
from overspill.results.metric_rows import MetricCell, MetricRow


def metric_entry(cell: MetricCell, unit: str, note: str = "") -> dict[str, Any]:
    """Returns a variant's metric as JSON; a censored value is `{"value", "censored": true}`."""
    values = [
        None if one is None else {"value": one.value, "censored": True} if one.censored else one.value
        for one in cell.values
    ]
    found: dict[str, Any] = {"mean": cell.mean, "ci95": cell.ci95, "unit": unit, "values": values}
    found["interval"] = list(cell.interval) if cell.interval else None
    if cell.span:
        found["range"] = list(cell.span)
    if cell.resolution:
        found["resolution"] = cell.resolution
    if cell.censored:
        found["censored"] = True
    if cell.few_samples is not None:
        found["few_samples"] = True
    if cell.best:
        found["best"] = True
    if note:
        found["note"] = note
    return found


def build_document(results: FinishedRuns) -> dict[str, Any]:
    """Returns the JSON document of results, of one point or of a sweep."""
    return build_sweep_document(results) if results.of_sweep else point_document(results)


def build_sweep_document(results: FinishedRuns) -> dict[str, Any]:
    """Returns the JSON document of a sweep, with cautions about its numbers."""
    every = warnings.result_lines(results, page=True)
    limits = [line for line in every if line.loud or line.label == "few samples"]
    return sweep_document.sweep_json(results) | {
        "cautions": [f"{line.label}: {line.text}" for line in limits]
    }


def point_document(results: FinishedRuns) -> dict[str, Any]:
    """Returns the document of one point, for `--json` and `results.json`."""
    table = results.rows
    names = [row.metric.name for row in table]
    pools = {name: pooled_workloads.pooled_note(name, names, results.kinds) for name in names}
    variants = []
    for variant in results.variants:
        runs = results.runs_of(variant)
        flows = [run.summary["flows"] for run in runs]
        variants.append(
            {
                "name": variant,
                **({"label": results.labels[variant]} if variant in results.labels else {}),
                "seeds": [run.seed for run in runs],
                "metrics": {
                    row.metric.name: metric_entry(row.cells[variant], row.metric.unit, pools[row.metric.name])
                    for row in table
                    if row.cells[variant].known_values
                },
                "flows": {key: sum(one[key] for one in flows) for key in ("started", "completed")},
                "conserved": all(run.summary["conserved"] for run in runs) if runs else None,
                "partial": [run.seed for run in runs if run.cut],
                "unfinished": sum(run.unfinished for run in runs),
                "deadlocks": [{"seed": run.seed, **run.deadlock} for run in runs if run.deadlock],
                "events": [one for run in runs for one in network_changes.changes_document(run)],
            }
        )
    return {
        "overspill": results.facts["overspill"],
        "scenario": results.scenario,
        "variants": variants,
        "partial": results.partial,
        "interrupted": results.interrupted,
        "failures": results.failures,
        "notes": results.facts["notes"],
        "cautions": [f"{line.label}: {line.text}" for line in header.header_lines(results) if line.loud],
        "comparisons": comparison_documents(table),
        **({"phase": results.facts["phase"]} if "phase" in results.facts else {}),
    }


def comparison_documents(table: Sequence[MetricRow]) -> dict[str, Any]:
    """Returns by metric the best variant, the number of seeds, and its differences from the others.

    Each difference has its Holm-corrected interval; with fewer than three seeds its range, as in the table.
    """
    return {
        row.metric.name: {
            "best": row.comparison.best,
            "marked": row.comparison.is_best_distinct,
            "seeds": row.comparison.n,
            "against": [
                {
                    "variant": one.variant,
                    "difference": one.mean,
                    "ci" if row.comparison.n >= stats.MIN_SEEDS_FOR_INTERVAL else "range": [
                        one.low,
                        one.high,
                    ],
                }
                for one in row.comparison.against
            ],
            **({"note": row.note} if row.note else {}),
        }
        for row in table
        if row.comparison is not None
    }
