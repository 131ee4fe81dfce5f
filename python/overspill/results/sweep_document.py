"""Output of a sweep's results: JSON document, cautions, legend, and summaries of a metric."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from overspill import stats
from overspill.grouping import group_by_key
from overspill.results import (
    differences,
    formats,
    identical_variants,
    metrics,
    pooled_workloads,
    repeated_seeds,
    summary_tables,
)
from overspill.results.cautions import fewest_samples_caution, rough_intervals_caution
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.metric_key import key_from_row, parse_known_key
from overspill.results.summary_tables import MetricSummary
from overspill.results.table_cells import RESOLUTION_NOTE, build_legend


def sweep_json(sweep: FinishedRuns) -> dict[str, Any]:
    """Returns the JSON document of a sweep: points, variants, and every metric with its values by seed."""
    paths = [axis.path for axis in sweep.axes]
    values: dict[tuple[Any, ...], dict[int, Any]] = {}
    for row in sweep.metrics.to_batches():
        columns = [
            row.column(name).to_pylist()
            for name in (*paths, "variant", "metric", "by", "of", "seed", "value", "censored")
        ]
        for *cells, seed, value, censored in zip(*columns, strict=True):
            shown = {"value": value, "censored": True} if censored else value
            values.setdefault(tuple(cells), {})[seed] = shown
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    pools = {
        str(name): pooled_workloads.pooled_note(name, sweep.metric_names, sweep.kinds)
        for name in sweep.metric_names
    }
    against = {} if sweep.compared is None else differences.documents_by_place(sweep.compared, sweep.axes)
    for one in sweep.summary.to_pylist():
        at = tuple(one[path] for path in paths)
        interval = None if one["low"] is None else [one["low"], one["high"]]
        entry = {"mean": one["mean"], "ci95": one["ci95"], "interval": interval, "unit": one["unit"]}
        place = (*at, one["variant"], *key_from_row(one).cells)
        made = MetricSummary.from_row(one, sweep.ranges.get(place))
        if made.span and not made.censored:
            entry["range"] = list(made.span)
        if made.resolution:
            entry["resolution"] = made.resolution
        by_seed = values[place]
        entry["values"] = [by_seed.get(seed) for seed in sweep.seeds]
        if one["censored"]:
            entry["censored"] = True
        key = str(key_from_row(one))
        if pools[key]:
            entry["note"] = pools[key]
        if (*at, one["variant"], key) in against:
            entry["difference"] = against[(*at, one["variant"], key)]
        found.setdefault((*at, one["variant"]), {})[key] = entry
    points = [
        {
            "values": point,
            "variants": [
                {"name": variant, "metrics": found.get((*point.values(), variant), {})}
                for variant in sweep.variants
            ],
        }
        for point in sweep.points
    ]
    kept = ("runs", "interrupted", "failures", "missing", "unfinished", "partial", "deadlocks", "notes")
    return {
        "overspill": sweep.facts["overspill"],
        "scenario": sweep.scenario,
        "axes": [asdict(axis) for axis in sweep.axes],
        "variants": sweep.variants,
        **({"labels": sweep.labels} if sweep.labels else {}),
        "baseline": sweep.baseline or None,
        "seeds": sweep.seeds,
        "points": points,
        **{key: sweep.facts.get(key, []) for key in kept},
        "lines": sweep.facts.get("lines", []),
    }


def sweep_cautions(facts: Mapping[str, Any], shown: Collection[str] | None = None) -> list[Line]:
    """Returns cautions about a sweep's numbers, for the given metrics or for all."""
    known = facts.get("rough") or {"seeds": None, "samples": {}}
    few = {parse_known_key(name): n for name, n in known["samples"].items() if shown is None or name in shown}
    equal = [Line("SAME RUN", text, True) for text in identical_variants.sentences_from_facts(facts)]
    return [
        *starved_and_repeated_warnings(facts),
        *equal,
        *([rough_intervals_caution(known["seeds"])] if known["seeds"] else []),
        *fewest_samples_caution(few, "`rough` in manifest.json"),
    ]


def starved_and_repeated_warnings(facts: Mapping[str, Any]) -> list[Line]:
    """Returns warnings about starved flows and repeated seeds, with the first case and a count of others."""
    found = []
    starving = facts.get("starved") or []
    for one in starving[:1]:
        found.append(
            Line(
                "STARVED FLOWS",
                f"{format_place(facts, one)}: {one['why']}{format_more_places(starving)}",
                True,
            )
        )
    by_metrics = group_by_key((tuple(one["metrics"]), one) for one in facts.get("alike") or [])
    for names, every in by_metrics.items():
        text = repeated_seeds.EqualSeeds(len(every[0]["seeds"]), names).text
        found.append(
            Line("SEEDS ALIKE", f"{format_place(facts, every[0])}: {text}{format_more_places(every)}", True)
        )
    return found


def format_place(facts: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    """Describes a point, a variant and seeds: `switch.buffer.size=50pkt, drop, seeds 1-3`."""
    pairs = zip(facts["axes"], one["point"], strict=True)
    at = [f"{axis['path']}={text}" for axis, text in pairs]
    seeds = f"seed{'s' if len(one['seeds']) > 1 else ''} {formats.format_seeds(one['seeds'])}"
    return ", ".join([*at, one["variant"], seeds])


def format_more_places(places: Sequence[Any]) -> str:
    """Formats how many more points and variants have a problem; empty if there are no more."""
    left = len(places) - 1
    return f" (and at {left} more combinations of point and variant)" if left else ""


def sweep_legend(sweep: FinishedRuns, shown: Collection[str] | None = None) -> str:
    """Returns the legend of a sweep's tables, for the given metrics or for all."""
    import pyarrow.compute as pc  # slow to load, and needed for sweeps only

    most = pc.max(sweep.summary.column("n")).as_py() or 0
    parts = [f"{build_legend(most, False)} `>` marks a lower bound: some flows did not finish."]
    if sweep.compared is not None and sweep.compared.num_rows and most >= stats.MIN_SEEDS_FOR_INTERVAL:
        parts.append(differences.LEGEND_TEXT)
    names = summary_tables.list_metrics(sweep.summary) if shown is None else shown
    if any(metrics.find_metric(name).resolution for name in names):
        parts.append(RESOLUTION_NOTE)
    return " ".join(parts)


def summaries_of_metric(sweep: FinishedRuns, metric: str) -> dict[tuple[str, ...], MetricSummary]:
    """Returns mean and interval of a metric, by values of the axes and variant."""
    some = sweep.means(metric)
    names = summary_tables.identity_columns(some)
    at = len(sweep.axes) + 1  # the axes and the variant come first
    found = {}
    for one in some.to_pylist():
        place = tuple(one[name] for name in names)
        found[place[:at]] = MetricSummary.from_row(one, sweep.ranges.get(place))
    return found
