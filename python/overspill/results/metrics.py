"""Every metric: name, unit and meaning, for tables, JSON, documentation and `overspill explain`."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from overspill.results import measures
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
from overspill.results.metric_key import Key, key_from_row, parse_known_key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import MIN_SAMPLES, Value

__all__ = [
    "ALL_METRICS",
    "REGISTRY",
    "SECTIONS",
    "Better",
    "Metric",
    "find_metric",
    "key_of_row",
    "measure",
    "registered_name",
    "samples_needed",
]

# Metrics by subject, in the order of tables and documentation.
SECTIONS: dict[str, list[Metric]] = {
    "flows": completion.METRICS,
    "rates": rates.METRICS,
    "links": utilisation.METRICS,
    "queues": occupancy.METRICS,
    "packets": [*delivery.METRICS, *events.DROP_METRICS, *delivery.SHARE_METRICS],
    "bounces": bouncing.METRICS,
    "holds": holding.METRICS,
    "congestion": [*congestion.METRICS, *stages.METRICS],
    "pauses": [*pausing.METRICS, *saturation.METRICS],
    "reordering": disorder.METRICS,
    "senders": [events.DATA_DROPS_METRIC, *events.SENDER_METRICS],
}
ALL_METRICS: list[Metric] = [metric for section in SECTIONS.values() for metric in section]
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in ALL_METRICS}
# If all counts of these subjects are 0, no buffer overflowed and no mechanism acted.
MECHANISM_SECTIONS = ("packets", "bounces", "holds", "congestion", "pauses")
COUNT_UNITS = ("packets", "frames", "pauses", "flows", "trees")  # units of counts
MECHANISM_COUNTS = tuple(
    Key(one.name)
    for subject in MECHANISM_SECTIONS
    for one in SECTIONS[subject]
    if one.unit in COUNT_UNITS and "_by_" not in one.name  # parts are in the sum already
)
MEASURE_FUNCTIONS = (
    measures.measure_flows,
    measures.measure_queries,
    measures.measure_goodput,
    measures.measure_hosts,
    measures.measure_sharing,
    measures.measure_load,
    measures.measure_links,
    measures.measure_fullest_port,
    measures.measure_queues,
    measures.measure_sojourns,
    measures.measure_packets,
    measures.measure_bounces,
    measures.measure_queue_filling,
    measures.measure_held_acks,
    measures.measure_congestion,
    measures.measure_stages,
    measures.measure_pauses,
    measures.measure_trees,
    measures.measure_reordering,
    measures.measure_counters,
)


def registered_name(key: str) -> str:
    """Returns the name of a metric in the registry, without its label.

    It is `fct_p99` for `fct_p99[size=0-100KB]`, and `drops_by_reason` for `drops[reason=..]`.
    """
    return parse_known_key(key).registered


def key_of_row(row: Mapping[str, Any]) -> Key:
    """Returns the metric key of a row of `Results.metrics` or `Results.summary`."""
    return key_from_row(row)


def find_metric(key: str) -> Metric:
    """Returns the metric of a key, titled with the part that it is restricted to."""
    known = parse_known_key(key)
    metric = REGISTRY[known.registered]
    if not known.by:
        return metric
    zero_shown = metric.zero_shown and metric.name != "drops"
    return replace(metric, name=known, title=f"{metric.title} [{known.of}]", zero_shown=zero_shown)


def samples_needed(key: str) -> int:
    """Returns the number of samples that a percentile needs to differ from the maximum; 0 otherwise."""
    return MIN_SAMPLES.get(parse_known_key(key).statistic, 0)


def single_size_metrics(keys: Collection[Key]) -> set[Key]:
    """Returns the metrics by size bin if all flows are in one bin, since they repeat those of all flows."""
    by_size = {key for key in keys if key.by == "size"}
    return by_size if len({key.of for key in by_size}) == 1 else set()


def measure(run: RunData) -> dict[Key, Value]:
    """Returns every metric that this run has a value of, in the order of the registry."""
    found: dict[Key, Value] = {}
    for part in MEASURE_FUNCTIONS:
        found.update(part(run))
    order = {name: index for index, name in enumerate(REGISTRY)}
    return dict(sorted(found.items(), key=lambda item: order[item[0].registered]))
