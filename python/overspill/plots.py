"""Figures of results: each function returns a matplotlib figure, or `None` if there is nothing to draw.

Examples:
    >>> import overspill
    >>> from overspill import plots
    >>> results = overspill.run("incast.toml")
    >>> plots.queue_over_time(results).savefig("queue.svg")
    >>> plots.paused_ports(results) is None  # no port was paused
    True

"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from overspill import charts
from overspill.charts import (
    ack_holding,
    activity,
    bounces,
    congestion,
    fabric_stages,
    flows,
    goodput,
    input_occupancy,
    mpl,
    network,
    packet_order,
    pauses,
    queues,
    saturation,
)
from overspill.charts import sweep as drawing
from overspill.charts.chart_spec import COLOURS, DASHES, GREY, SHADES, Chart
from overspill.charts.chart_spec import line_style_of_index as look
from overspill.charts.figure_files import save_small
from overspill.charts.mpl import FIGURE_WIDTH as WIDTH
from overspill.charts.mpl_marks import line_properties as line
from overspill.errors import BadInput
from overspill.results import metrics

if TYPE_CHECKING:
    from overspill.results.results import Results

# The constants are public so that users can give their own figures the style of these.
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
    """Returns a context manager that sets the style of all figures, for users' own figures."""
    return mpl.style()


def draw_chart(chart: Chart | None) -> Figure | None:
    """Returns a chart as a matplotlib figure."""
    return None if chart is None else mpl.draw_figure(chart)


def distribution(results: Results, which: str, traffic: int | None = None) -> Figure | None:
    """Distribution of FCT or QCT, with its tail, of all seeds pooled.

    Args:
        results: Results of a single point.
        which: `fct` or `qct`.
        traffic: Number of a workload. Default: all workloads together.

    Raises:
        ValueError: If `which` is anything else.

    Examples:
        >>> import overspill
        >>> from overspill import plots
        >>> results = overspill.run("incast.toml")
        >>> figure = plots.distribution(results, "fct")
        >>> [text.get_text() for text in figure.legends[0].texts]
        ['drop', 'mark']

    """
    if which not in flows.SUBJECT_NAMES:
        raise ValueError(f"found {which!r}; expected one of {', '.join(flows.SUBJECT_NAMES)}")
    return draw_chart(flows.chart_distribution(results, which, traffic))


def slowdown_by_size(results: Results) -> Figure | None:
    """Slowdown against flow size: p50, p95 and p99 of each variant, with 95% intervals over seeds."""
    return draw_chart(flows.chart_slowdown_by_size(results))


def queue_over_time(results: Results) -> Figure | None:
    """Queue of one switch port over time, first seed of each variant: largest and mean of each time bin."""
    return draw_chart(queues.chart_queue_over_time(results))


def queue_lengths(results: Results) -> Figure | None:
    """Share of time with at least n queued frames, at the busiest switch port and over all."""
    return draw_chart(queues.chart_queue_lengths(results))


def queue_sojourn(results: Results) -> Figure | None:
    """Share of frames that wait longer than a time before they are sent, at the busiest port and over all."""
    return draw_chart(queues.chart_sojourn(results))


def activity_over_time(results: Results, kind: int) -> Figure | None:
    """Events of one kind, such as drops or marks, by switch and time, first seed of each variant.

    Args:
        results: Results of a single point.
        kind: 0 for drops, 1 for marks, 2 for detours, 3 for bounces, 4 for trims, 5 for CNMs.

    """
    return draw_chart(activity.chart_events_over_time(results, kind))


def bounces_by_switch(results: Results) -> Figure | None:
    """Number of bounces at each switch, variants side by side."""
    return draw_chart(bounces.chart_bounces_by_switch(results))


def bounced_packets(results: Results) -> Figure | None:
    """Distance that bounces brought packets back, and total hops of packets, as shares of packets."""
    return draw_chart(bounces.chart_bounced_packets(results))


def held_acks(results: Results) -> Figure | None:
    """ACKs that a port holds beside its queue, with the state of the port, first seed of each variant."""
    return draw_chart(ack_holding.chart_held_acks(results))


def paused_ports(results: Results) -> Figure | None:
    """Share of each time bin in which the longest paused ports were paused, first seed of each variant."""
    return draw_chart(pauses.chart_paused_share(results))


def paused_by_tier(results: Results) -> Figure | None:
    """Share of time that ports were paused, by tier and class, variants side by side."""
    return draw_chart(pauses.chart_paused_share_by_tier(results))


def saturation_tree(results: Results) -> Figure | None:
    """Largest saturation tree of each variant at its largest instant, drawn on the network."""
    return draw_chart(saturation.chart_largest_tree(results))


def deadlock(results: Results) -> Figure | None:
    """Deadlock: ports that wait for each other forever, drawn on the network."""
    return draw_chart(saturation.chart_deadlocks(results))


def congestion_messages(results: Results) -> Figure | None:
    """Congestion notification messages (CNMs) by time, feedback and flow; needs `measure.notices`."""
    return draw_chart(congestion.chart_congestion_messages(results))


def rate_limits(results: Results) -> Figure | None:
    """Rate limit of each flow over time; needs `measure.rate_limits`."""
    return draw_chart(congestion.chart_rate_limits(results))


def sent_rates(results: Results) -> Figure | None:
    """Rate at which each flow sends over time, first seed of each variant; needs `measure.sent`."""
    return draw_chart(congestion.chart_sent_rates(results))


def input_memory(results: Results) -> Figure | None:
    """Memory of one input of a switch over time, by the output of its frames; needs `measure.inputs`."""
    return draw_chart(input_occupancy.chart_input_memory(results))


def fabric_buffers(results: Results) -> Figure | None:
    """Occupancy of the buffers inside a `fabric` switch over time; needs `measure.inputs`."""
    return draw_chart(fabric_stages.chart_fabric_buffers(results))


def internal_links(results: Results) -> Figure | None:
    """Utilisation of the internal links of a `fabric` switch over time; needs `measure.inputs`."""
    return draw_chart(fabric_stages.chart_internal_links(results))


def hot_links(results: Results) -> Figure | None:
    """Utilisation of the busiest links over time; needs `measure.links`."""
    return draw_chart(activity.chart_hot_links(results))


def goodput_over_time(results: Results) -> Figure | None:
    """Payload that arrives at all hosts over time, a panel per variant."""
    return draw_chart(goodput.chart_total_goodput(results))


def goodput_of_hosts(results: Results) -> Figure | None:
    """Goodput by host and time, first seed of each variant."""
    return draw_chart(goodput.chart_goodput_by_host(results))


def goodput_of_flows(results: Results) -> Figure | None:
    """Goodput of the largest flows by time, first seed of each variant; needs `measure.goodput = "flows"`."""
    return draw_chart(goodput.chart_goodput_by_flow(results))


def reordering(results: Results) -> Figure | None:
    """Displacement, reorder buffer and extents of reordered packets; needs `measure.reordering`."""
    return draw_chart(packet_order.chart_reordering(results))


def topology(results: Results) -> Figure | None:
    """Network by tiers, a panel per variant, with switches coloured by drops or by their longest queue."""
    return draw_chart(network.chart_network(results))


def sweep(found: Results, metric: str) -> Figure | None:
    """Metric of a sweep against the swept values: lines with 95% bands, or heat maps for two axes.

    Args:
        found: Results of a sweep.
        metric: Name of the metric, such as `fct_p99`.

    Raises:
        BadInput: If there is no such metric.

    Examples:
        >>> import overspill
        >>> from overspill import plots
        >>> results = overspill.sweep("incast.toml", {"traffic.burst.senders": [2, 8]}, seeds=2)
        >>> plots.sweep(results, "fct_mean").axes[0].get_xlabel()
        'traffic.burst.senders'

    """
    if metrics.registered_name(metric) not in metrics.REGISTRY:
        raise BadInput(f"metric: found {metric}; expected one of `overspill list metrics`")
    return draw_chart(drawing.chart_metric(found, metric))


def figures(results: Results) -> dict[str, tuple[str, Figure]]:
    """Returns every figure of the report that the results have data for: name -> caption and figure."""
    return {
        name: (chart.caption, mpl.draw_figure(chart)) for name, chart in charts.build_charts(results).items()
    }
