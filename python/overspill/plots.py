"""Figures of results: each function returns a matplotlib figure, or `None` where there is nothing to draw."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from overspill import charts
from overspill.charts import (
    activity,
    bounces,
    congestion,
    flows,
    goodput,
    holds,
    inputs,
    mpl,
    network,
    packets,
    pauses,
    queues,
    saturation,
    stages,
)
from overspill.charts import sweep as drawing
from overspill.charts.files import save_small
from overspill.charts.mpl import WIDTH
from overspill.charts.mplmarks import line
from overspill.charts.spec import COLOURS, DASHES, GREY, SHADES, Chart, look
from overspill.errors import BadInput
from overspill.results import metrics

if TYPE_CHECKING:
    from overspill.results.results import Results

# The colours, dashes and width are for figures of your own beside these.
__all__ = [
    "COLOURS",
    "DASHES",
    "GREY",
    "SHADES",
    "WIDTH",
    "activity_over_time",
    "bounced_packets",
    "bounces_by_switch",
    "congestion_messages",
    "deadlock",
    "distribution",
    "fabric_buffers",
    "figures",
    "goodput_of_flows",
    "goodput_of_hosts",
    "goodput_over_time",
    "hot_links",
    "input_memory",
    "internal_links",
    "line",
    "look",
    "paused_by_tier",
    "paused_ports",
    "queue_lengths",
    "queue_over_time",
    "queue_sojourn",
    "rate_limits",
    "reordering",
    "saturation_tree",
    "save_small",
    "sent_rates",
    "slowdown_by_size",
    "style",
    "sweep",
    "topology",
]


def style() -> AbstractContextManager[Any]:
    """The look that all figures share, as a context for figures of your own."""
    return mpl.style()


def drawn(chart: Chart | None) -> Figure | None:
    """A chart as a figure."""
    return None if chart is None else mpl.figure(chart)


def distribution(results: Results, which: str, traffic: int | None = None) -> Figure | None:
    """The distribution of FCT (`which` = `fct`) or QCT (`qct`), and its tail.

    Of all traffic, or of one workload by its number. `ValueError` for another `which`.
    """
    if which not in flows.SUBJECTS:
        raise ValueError(f"found {which!r}; expected one of {', '.join(flows.SUBJECTS)}")
    return drawn(flows.distribution(results, which, traffic))


def slowdown_by_size(results: Results) -> Figure | None:
    """Slowdown against flow size: p50, p95 and p99 of each variant, with 95% intervals over seeds."""
    return drawn(flows.slowdown_by_size(results))


def queue_over_time(results: Results) -> Figure | None:
    """The same switch port's queue in every variant, first seed: largest and mean of each bin."""
    return drawn(queues.over_time(results))


def queue_lengths(results: Results) -> Figure | None:
    """How much of the time so many frames wait, or more: at the busiest switch port and over all."""
    return drawn(queues.lengths(results))


def queue_sojourn(results: Results) -> Figure | None:
    """How long frames wait before they are sent: at the busiest switch port and over all."""
    return drawn(queues.sojourn(results))


def activity_over_time(results: Results, kind: int) -> Figure | None:
    """Drops, marks, detours, bounces, cuts or CNMs (0 to 5) over time by switch, of first seeds."""
    return drawn(activity.over_time(results, kind))


def bounces_by_switch(results: Results) -> Figure | None:
    """How often each switch bounced a frame, variants side by side."""
    return drawn(bounces.by_switch(results))


def bounced_packets(results: Results) -> Figure | None:
    """How far back bounces brought packets, and how many hops they took."""
    return drawn(bounces.packets(results))


def held_acks(results: Results) -> Figure | None:
    """ACKs that a port holds beside its queue, and its state, of each variant's first seed."""
    return drawn(holds.over_time(results))


def paused_ports(results: Results) -> Figure | None:
    """When the ports that were paused longest were paused, of each variant's first seed."""
    return drawn(pauses.over_time(results))


def paused_by_tier(results: Results) -> Figure | None:
    """The share of the time that ports were paused, by tier and class, variants side by side."""
    return drawn(pauses.by_tier(results))


def saturation_tree(results: Results) -> Figure | None:
    """The largest saturation tree of each variant at its largest instant, on the network."""
    return drawn(saturation.largest(results))


def deadlock(results: Results) -> Figure | None:
    """Ports that wait for each other for ever, on the network."""
    return drawn(saturation.deadlocks(results))


def congestion_messages(results: Results) -> Figure | None:
    """Congestion messages (CNMs) by time, feedback and flow; needs `measure.notices`."""
    return drawn(congestion.notices(results))


def rate_limits(results: Results) -> Figure | None:
    """The rate limit of each flow over time; needs `measure.rate_limits`."""
    return drawn(congestion.limits(results))


def sent_rates(results: Results) -> Figure | None:
    """What each flow sends over time, of each variant's first seed; needs `measure.sent`."""
    return drawn(congestion.sent(results))


def input_memory(results: Results) -> Figure | None:
    """What one input of a switch holds for each output over time; needs `measure.inputs`."""
    return drawn(inputs.over_time(results))


def fabric_buffers(results: Results) -> Figure | None:
    """How full the buffers inside a `fabric` switch are over time; needs `measure.inputs`."""
    return drawn(stages.buffers(results))


def internal_links(results: Results) -> Figure | None:
    """What the internal links of a `fabric` switch carry over time; needs `measure.inputs`."""
    return drawn(stages.links(results))


def hot_links(results: Results) -> Figure | None:
    """How much of their rate the busiest links carry over time; needs `measure.links`."""
    return drawn(activity.hot_links(results))


def goodput_over_time(results: Results) -> Figure | None:
    """Payload that arrives at all hosts over time, a panel a variant."""
    return drawn(goodput.of_all(results))


def goodput_of_hosts(results: Results) -> Figure | None:
    """Goodput by host and time, of each variant's first seed."""
    return drawn(goodput.by_host(results))


def goodput_of_flows(results: Results) -> Figure | None:
    """Goodput of the largest flows over time, first seeds; needs `measure.goodput = "flows"`."""
    return drawn(goodput.by_flow(results))


def reordering(results: Results) -> Figure | None:
    """Displacement, reorder buffer and extents; needs `measure.reordering`."""
    return drawn(packets.reordering(results))


def topology(results: Results) -> Figure | None:
    """The network by tiers, a panel a variant, its switches coloured by drops or by their longest queue."""
    return drawn(network.chart(results))


def sweep(found: Results, metric: str) -> Figure | None:
    """A metric against what was swept, a line and its 95% band for each variant, or maps for two axes.

    `BadInput` where no metric has this name.
    """
    if metrics.base(metric) not in metrics.REGISTRY:
        raise BadInput(f"metric: found {metric}; expected one of `overspill list metrics`")
    return drawn(drawing.of_metric(found, metric))


def figures(results: Results) -> dict[str, tuple[str, Figure]]:
    """Every figure of the report that the results have data for: file name -> caption and figure."""
    return {name: (chart.caption, mpl.figure(chart)) for name, chart in charts.of_results(results).items()}
