"""Figures as plain data, built once from results and drawn by matplotlib and, for the page, by plotly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overspill.charts import (
    ack_holding,
    activity,
    axes,
    bounces,
    coinciding_lines,
    congestion,
    fabric_stages,
    flows,
    goodput,
    input_occupancy,
    network,
    packet_order,
    pauses,
    queues,
    saturation,
)
from overspill.charts.chart_spec import Chart, EventLine
from overspill.results import formats
from overspill.results.names import FRAME_OUTCOMES

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_WORKLOADS_SHOWN = 6


def build_charts(results: Results) -> dict[str, Chart]:
    """Builds every figure that the results have data for, by name, in the order of the page."""
    if not results.runs:
        return {}
    found = [network.chart_network(results), flows.chart_distribution(results, "fct")]
    workloads = flows.workloads_with_flows(results)
    if len(workloads) > 1:
        found += [flows.chart_distribution(results, "fct", at) for at in workloads[:MAX_WORKLOADS_SHOWN]]
    found += [flows.chart_distribution(results, "qct"), flows.chart_slowdown_by_size(results)]
    found += [
        goodput.chart_total_goodput(results),
        goodput.chart_goodput_by_host(results),
        goodput.chart_goodput_by_flow(results),
    ]
    found += [
        queues.chart_queue_over_time(results),
        queues.chart_queue_lengths(results),
        queues.chart_sojourn(results),
    ]
    found += [activity.chart_events_over_time(results, kind) for kind in range(len(FRAME_OUTCOMES))]
    found += [bounces.chart_bounces_by_switch(results), bounces.chart_bounced_packets(results)]
    found += [
        ack_holding.chart_held_acks(results),
        pauses.chart_paused_share(results),
        pauses.chart_paused_share_by_tier(results),
    ]
    found += [
        congestion.chart_congestion_messages(results),
        congestion.chart_rate_limits(results),
        congestion.chart_sent_rates(results),
    ]
    found += [
        input_occupancy.chart_input_memory(results),
        fabric_stages.chart_fabric_buffers(results),
        fabric_stages.chart_internal_links(results),
    ]
    found += [saturation.chart_largest_tree(results), saturation.chart_deadlocks(results)]
    found += [activity.chart_hot_links(results), packet_order.chart_reordering(results)]
    return {
        chart.name: with_changes_in_caption(coinciding_lines.with_coinciding_lines_noted(chart))
        for chart in found
        if chart is not None
    }


def with_changes_in_caption(chart: Chart) -> Chart:
    """Returns a chart whose caption lists the network changes that it marks, if there are any."""
    marks = {mark for panel in chart.panels for mark in panel.marks if isinstance(mark, EventLine)}
    if not marks:
        return chart
    every = [
        f"{axes.format_quantity(mark.time, 'time')} {mark.label}"
        for mark in sorted(marks, key=lambda one: one.time)
    ]
    told = f"Dashed: changes of the network ({formats.format_listing(every, 4)})."
    return replace(chart, caption=f"{chart.caption} {told}")


def list_omitted_figures(results: Results) -> list[str]:
    """Returns one line for each omitted figure that readers may expect, with the reason."""
    if not results.runs:
        return []
    found = []
    if flows.has_single_size(results):
        found.append("Slowdown by flow size: omitted, because all measured flows have one size.")
    return found + fabric_stages.list_omission_reason(results) + saturation.list_omission_reason(results)
