"""Every metric: name, unit and meaning, for tables, JSON, documentation and `overspill explain`."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from overspill.results import measures
from overspill.results.key import Key, of_row, parsed
from overspill.results.measures import (
    bouncing,
    completion,
    congestion,
    delivery,
    disorder,
    events,
    holding,
    occupancy,
    pausing,
    rates,
    saturation,
    stages,
    utilisation,
)
from overspill.results.measures.declare import Better, Metric
from overspill.results.rundata import RunData
from overspill.stats.quantiles import NEEDED, Value

__all__ = ["ALL", "REGISTRY", "SECTIONS", "Better", "Metric", "base", "find", "measure", "name", "needed"]

# By subject, in the order of tables and documentation.
SECTIONS: dict[str, list[Metric]] = {
    "flows": completion.METRICS,
    "rates": rates.METRICS,
    "links": utilisation.METRICS,
    "queues": occupancy.METRICS,
    "packets": [*delivery.METRICS, *events.DROPS, *delivery.SHARES],
    "bounces": bouncing.METRICS,
    "holds": holding.METRICS,
    "congestion": [*congestion.METRICS, *stages.METRICS],
    "pauses": [*pausing.METRICS, *saturation.METRICS],
    "reordering": disorder.METRICS,
    "senders": [events.DATA_DROPS, *events.SENDERS],
}
ALL: list[Metric] = [metric for section in SECTIONS.values() for metric in section]
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in ALL}
# Subjects whose counts mechanisms raise: if one is above 0, a buffer was short, or seemed to be.
MECHANISMS = ("packets", "bounces", "holds", "congestion", "pauses")
COUNTS = ("packets", "frames", "pauses", "flows", "trees")  # units of counts
RAISED = tuple(
    Key(one.name)
    for subject in MECHANISMS
    for one in SECTIONS[subject]
    if one.unit in COUNTS and "_by_" not in one.name  # parts are in the sum already
)
PARTS = (
    measures.flows,
    measures.queries,
    measures.goodput,
    measures.hosts,
    measures.sharing,
    measures.load,
    measures.links,
    measures.fullest,
    measures.queues,
    measures.sojourns,
    measures.packets,
    measures.bounced,
    measures.filled,
    measures.held,
    measures.congested,
    measures.inside,
    measures.pauses,
    measures.saturated,
    measures.reordering,
    measures.counters,
)


def base(key: str) -> str:
    """Returns the name of a metric in the registry, without its label.

    It is `fct_p99` for `fct_p99[size=0-100KB]`, and `drops_by_reason` for `drops[reason=..]`.
    """
    return parsed(key).registered


def name(row: Mapping[str, Any]) -> Key:
    """Returns the key of a row of `Results.metrics` or `Results.summary`."""
    return of_row(row)


def find(key: str) -> Metric:
    """Returns the metric of a key, titled with the part that it is restricted to."""
    known = parsed(key)
    metric = REGISTRY[known.registered]
    if not known.by:
        return metric
    zero_shown = metric.zero_shown and metric.name != "drops"
    return replace(metric, name=known, title=f"{metric.title} [{known.of}]", zero_shown=zero_shown)


def needed(key: str) -> int:
    """Returns the samples that a percentile needs to be more than the largest; 0 for other metrics."""
    return NEEDED.get(parsed(key).statistic, 0)


def one_size(keys: Collection[Key]) -> set[Key]:
    """Returns the metrics by size bin if all flows are in one bin, since they repeat those of all flows."""
    by_size = {key for key in keys if key.by == "size"}
    return by_size if len({key.of for key in by_size}) == 1 else set()


def measure(run: RunData) -> dict[Key, Value]:
    """Returns every metric that this run has a value of, in the order of the registry."""
    found: dict[Key, Value] = {}
    for part in PARTS:
        found.update(part(run))
    order = {name: index for index, name in enumerate(REGISTRY)}
    return dict(sorted(found.items(), key=lambda item: order[item[0].registered]))
