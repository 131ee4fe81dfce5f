"""Figure of held ACKs over time, with the queue that they are held for and the state of the port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, queues
from overspill.charts.chart_spec import COLOURS, Axis, Band, Chart, LegendEntry, Line, LineStyle, Mark, Panel
from overspill.charts.common import Period
from overspill.charts.queues import QueueTrace
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

QUEUE_LINE_STYLE, HELD_LINE_STYLE = LineStyle("#444444", width=1.1), LineStyle(COLOURS[1], width=1.4)
CONGESTED_LINE_STYLE, LIGHT_LINE_STYLE = LineStyle(COLOURS[3], width=0), LineStyle(COLOURS[5], width=0)
STATE_OPACITY = 0.8  # of the areas of states, which have no line
LEGEND = (
    LegendEntry("queue", "output queue, largest in each time step", QUEUE_LINE_STYLE),
    LegendEntry("held", "held ACKs, largest in each time step", HELD_LINE_STYLE),
    LegendEntry("congested", "congested (CS)", LineStyle(COLOURS[3], width=8), "square"),
    LegendEntry("light", "lightly congested (LCS)", LineStyle(COLOURS[5], width=8), "square"),
)
STATES_PANEL_HEIGHT = 0.25  # height of the panel of states relative to that of the queue


@dataclass(frozen=True)
class HeldAcks:
    """ACKs held at one switch port, by time bin, and the time that the port was in each of its states."""

    port: tuple[int, int]
    held: QueueTrace
    congested: np.ndarray
    light: np.ndarray


def held_acks_by_variant(results: Results) -> dict[str, HeldAcks]:
    """Returns the held ACKs of the port that held most, for each variant that held any in its first seed."""
    found = {}
    for variant, run in common.first_runs(results).items():
        port = port_with_most_held(run)
        if port is not None:
            found[variant] = read_held_acks(run, port)
    return found


def port_with_most_held(run: RunData) -> tuple[int, int] | None:
    """Returns the port with most held ACKs, among equals the longest congested; `None` if there are none."""
    if "holds" not in run.names or "hold_trace" not in run.names:
        return None
    node, port, held, spent = run.columns("holds", "node", "port", "held", "congested_ps")
    if not len(held) or not held.any():
        return None
    best = max(range(len(held)), key=lambda at: (int(held[at]), int(spent[at]), -at))
    return int(node[best]), int(port[best])


def read_held_acks(run: RunData, port: tuple[int, int]) -> HeldAcks:
    """Returns the held ACKs and the states of a port, by time bin."""
    names = ("bin", "node", "port", "max_packets", "mean_packets", "congested_ps", "light_ps")
    bins, nodes, ports, largest, mean, congested, light = run.columns("hold_trace", *names)
    keep = (nodes == port[0]) & (ports == port[1])
    held = QueueTrace(queues.port_name(run, *port), bins[keep], largest[keep], mean[keep])
    return HeldAcks(port, held, congested[keep], light[keep])


def chart_held_acks(results: Results) -> Chart | None:
    """Builds the figure of the port with most held ACKs: queue, ACKs, states; `None` if no port held any."""
    found = held_acks_by_variant(results)
    if not found:
        return None
    period = common.period_of(results, ("queue_trace", "hold_trace"))
    panels: list[Panel] = []
    for variant, one in found.items():
        run = results.runs_of(variant)[0]
        panels += [build_queue_panel(results, variant, one, period), build_states_panel(run, one, period)]
    caption = (
        "Port of each variant that held most ACKs, first seed: frames queued for it, and ACKs from its "
        "far end that it holds. Below: share of each time step in which it was congested (CS: its queue "
        "is long) and lightly congested (LCS: its queue is shorter, and some ACKs were released). Grey: "
        "outside the measurement window."
    )
    height = common.panel_height(len(found), 2.0)
    return Chart("holds", "Held ACKs over time", caption, panels, 1, height, LEGEND, share_x=True)


def build_queue_panel(results: Results, variant: str, one: HeldAcks, period: Period) -> Panel:
    """Returns the panel of queue length and number of held ACKs over time."""
    run = results.runs_of(variant)[0]
    at, queue, _ = queues.read_queue_trace(run, one.port).steps(run, period)
    _, held, mean = one.held.steps(run, period)
    marks = [
        Line(at, queue, QUEUE_LINE_STYLE, "queue", "post"),
        Line(at, held, HELD_LINE_STYLE, "held", "post", queues.queue_hover_texts(held, mean)),
    ]
    shown = (0, 1.05 * max(1.0, float(queue.max(initial=0)), float(held.max(initial=0))))
    title = f"{common.group_label(results, variant)} ({one.held.port_name}, seed {run.seed})"
    return common.time_panel(title, run, (period, Axis("packets", range=shown, whole_numbers=True)), marks)


def build_states_panel(run: RunData, one: HeldAcks, period: Period) -> Panel:
    """Returns the panel with the share of each time step that the port was in each state, stacked."""
    at = period.group_edges(run, common.MAX_CURVE_STEPS)
    width = float(at[1] - at[0]) / 1e-12 if len(at) > 1 else 1.0
    shares = [
        np.append(
            period.sum_groups(run, common.MAX_CURVE_STEPS, (one.held.bins, spent.astype(np.float64))) / width,
            0,
        )
        for spent in (one.congested, one.light)
    ]
    low, high = shares[0], np.minimum(shares[0] + shares[1], 1)
    marks: list[Mark] = [
        *common.grey_spans(run, period),
        Band(
            at,
            np.zeros(len(at)),
            low,
            CONGESTED_LINE_STYLE,
            "congested",
            "post",
            interval=False,
            opacity=STATE_OPACITY,
        ),
        Band(at, low, high, LIGHT_LINE_STYLE, "light", "post", interval=False, opacity=STATE_OPACITY),
    ]
    return Panel(
        "",
        period.axis(),
        Axis("share", range=(0, 1), ticks=((0.0, "0"), (1.0, "1"))),
        marks,
        height_share=STATES_PANEL_HEIGHT,
    )
