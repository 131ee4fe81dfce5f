"""Figures as plain data, built once from results and drawn by matplotlib and, for the page, by plotly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overspill.charts import (
    activity,
    axes,
    bounces,
    congestion,
    covered,
    flows,
    goodput,
    holds,
    inputs,
    network,
    packets,
    pauses,
    queues,
    saturation,
    stages,
)
from overspill.charts.spec import Chart, Instant
from overspill.results import formats
from overspill.results.names import FATES

if TYPE_CHECKING:
    from overspill.results.results import Results

WORKLOADS_SHOWN = 6


def of_results(results: Results) -> dict[str, Chart]:
    """Builds every figure that the results have data for, by name, in the order of the page."""
    if not results.runs:
        return {}
    found = [network.chart(results), flows.distribution(results, "fct")]
    workloads = flows.with_flows(results)
    if len(workloads) > 1:
        found += [flows.distribution(results, "fct", at) for at in workloads[:WORKLOADS_SHOWN]]
    found += [flows.distribution(results, "qct"), flows.slowdown_by_size(results)]
    found += [goodput.of_all(results), goodput.by_host(results), goodput.by_flow(results)]
    found += [queues.over_time(results), queues.lengths(results), queues.sojourn(results)]
    found += [activity.over_time(results, kind) for kind in range(len(FATES))]
    found += [bounces.by_switch(results), bounces.packets(results)]
    found += [holds.over_time(results), pauses.over_time(results), pauses.by_tier(results)]
    found += [congestion.notices(results), congestion.limits(results), congestion.sent(results)]
    found += [inputs.over_time(results), stages.buffers(results), stages.links(results)]
    found += [saturation.largest(results), saturation.deadlocks(results)]
    found += [activity.hot_links(results), packets.reordering(results)]
    return {
        chart.name: with_instants(covered.with_covered_lines(chart)) for chart in found if chart is not None
    }


def with_instants(chart: Chart) -> Chart:
    """Returns a chart whose caption lists the network changes that it marks, if there are any."""
    marks = {mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Instant)}
    if not marks:
        return chart
    every = [f"{axes.text(mark.at, 'time')} {mark.label}" for mark in sorted(marks, key=lambda one: one.at)]
    told = f"Dashed: changes of the network ({formats.listing(every, 4)})."
    return replace(chart, caption=f"{chart.caption} {told}")


def left_out(results: Results) -> list[str]:
    """Returns the reason, one line each, why a figure that readers may expect is omitted."""
    if not results.runs:
        return []
    found = []
    if flows.one_size(results):
        found.append("Slowdown by flow size: omitted, because all measured flows have one size.")
    return found + stages.left_out(results) + saturation.left_out(results)
