"""JSON document of results: every metric of every variant over its seeds, and the best variant."""

from collections.abc import Sequence
from typing import Any

from overspill import stats
from overspill.results import changes, header, pooled, sweep, warnings
from overspill.results.finished_runs import Finished
from overspill.results.rows import Cell, Row


def entry(cell: Cell, unit: str, note: str = "") -> dict[str, Any]:
    """Returns a metric of a variant; a censored value is `{"value", "censored": true}`."""
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


def build_document(results: Finished) -> dict[str, Any]:
    """Returns the document of results, of one point or of a grid."""
    return of_sweep(results) if results.of_sweep else build(results)


def of_sweep(results: Finished) -> dict[str, Any]:
    """Returns the document of a sweep, with cautions about its numbers."""
    every = warnings.lines(results, page=True)
    limits = [line for line in every if line.loud or line.label == "few samples"]
    return sweep.document(results) | {"cautions": [f"{line.label}: {line.text}" for line in limits]}


def build(results: Finished) -> dict[str, Any]:
    """Returns the document of one point, for `--json` and `results.json`."""
    table = results.rows
    names = [row.metric.name for row in table]
    pools = {name: pooled.note(name, names, results.kinds) for name in names}
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
                    row.metric.name: entry(row.cells[variant], row.metric.unit, pools[row.metric.name])
                    for row in table
                    if row.cells[variant].known
                },
                "flows": {key: sum(one[key] for one in flows) for key in ("started", "completed")},
                "conserved": all(run.summary["conserved"] for run in runs) if runs else None,
                "partial": [run.seed for run in runs if run.cut],
                "unfinished": sum(run.unfinished for run in runs),
                "deadlocks": [{"seed": run.seed, **run.deadlock} for run in runs if run.deadlock],
                "events": [one for run in runs for one in changes.document(run)],
            }
        )
    return {
        "scenario": results.scenario,
        "variants": variants,
        "partial": results.partial,
        "interrupted": results.interrupted,
        "failures": results.failures,
        "notes": results.facts["notes"],
        "cautions": [f"{line.label}: {line.text}" for line in header.lines(results) if line.loud],
        "comparisons": comparisons(table),
        **({"phase": results.facts["phase"]} if "phase" in results.facts else {}),
    }


def comparisons(table: Sequence[Row]) -> dict[str, Any]:
    """Returns by metric the best variant, the number of seeds, and its differences from the others.

    Each difference has its Holm-corrected interval; with fewer than three seeds its range, as in the table.
    """
    return {
        row.metric.name: {
            "best": row.comparison.best,
            "marked": row.comparison.marked,
            "seeds": row.comparison.n,
            "against": [
                {
                    "variant": one.variant,
                    "difference": one.mean,
                    "ci" if row.comparison.n >= stats.FEWEST else "range": [one.low, one.high],
                }
                for one in row.comparison.against
            ],
            **({"note": row.note} if row.note else {}),
        }
        for row in table
        if row.comparison is not None
    }
