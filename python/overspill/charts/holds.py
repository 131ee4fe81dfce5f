"""Figure of held ACKs over time, with the queue that they are held for and the state of the port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, queues
from overspill.charts.common import Period
from overspill.charts.queues import Trace
from overspill.charts.spec import COLOURS, Axis, Band, Chart, Entry, Line, Look, Mark, Panel
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

QUEUE, HELD = Look("#444444", width=1.1), Look(COLOURS[1], width=1.4)
CONGESTED, LIGHT = Look(COLOURS[3], width=0), Look(COLOURS[5], width=0)
OPACITY = 0.8  # of the areas of states, which have no line
KEY = (
    Entry("queue", "output queue, largest in a bin of time", QUEUE),
    Entry("held", "held ACKs, largest in a bin of time", HELD),
    Entry("congested", "congested (CS)", Look(COLOURS[3], width=8), "square"),
    Entry("light", "lightly congested (LCS)", Look(COLOURS[5], width=8), "square"),
)
STRIP = 0.25  # height of the panel of states relative to that of the queue


@dataclass(frozen=True)
class Holding:
    """ACKs that one port held, by bin, and the time in each of its states."""

    port: tuple[int, int]
    held: Trace
    congested: np.ndarray
    light: np.ndarray


def holding(results: Results) -> dict[str, Holding]:
    """Returns for each variant that held ACKs in its first seed the port that held most."""
    found = {}
    for variant, run in common.first_runs(results).items():
        port = most(run)
        if port is not None:
            found[variant] = of_port(run, port)
    return found


def most(run: RunData) -> tuple[int, int] | None:
    """Returns the port that held most ACKs, among equals for the longest time; `None` if none held any."""
    if "holds" not in run.names or "hold_trace" not in run.names:
        return None
    node, port, held, spent = run.columns("holds", "node", "port", "held", "congested_ps")
    if not len(held) or not held.any():
        return None
    best = max(range(len(held)), key=lambda at: (int(held[at]), int(spent[at]), -at))
    return int(node[best]), int(port[best])


def of_port(run: RunData, port: tuple[int, int]) -> Holding:
    """Returns the ACKs and states of a port over time."""
    names = ("bin", "node", "port", "max_packets", "mean_packets", "congested_ps", "light_ps")
    bins, nodes, ports, largest, mean, congested, light = run.columns("hold_trace", *names)
    keep = (nodes == port[0]) & (ports == port[1])
    held = Trace(queues.place(run, *port), bins[keep], largest[keep], mean[keep])
    return Holding(port, held, congested[keep], light[keep])


def over_time(results: Results) -> Chart | None:
    """Builds the figure of queue, held ACKs and states of the port that held most; `None` if none did."""
    found = holding(results)
    if not found:
        return None
    period = common.period_of(results, ("queue_trace", "hold_trace"))
    panels: list[Panel] = []
    for variant, one in found.items():
        run = results.runs_of(variant)[0]
        panels += [of_variant(results, variant, one, period), states(run, one, period)]
    caption = (
        "Port of each variant that held most ACKs, first seed: frames queued for it, and ACKs from its "
        "far end that it holds. Below: share of each time step in which it was congested (CS: its queue "
        "is long) and lightly congested (LCS: its queue is shorter, and some ACKs were released). Grey: "
        "outside the measurement window."
    )
    height = common.height_of(len(found), 2.0)
    return Chart("holds", "Held ACKs over time", caption, panels, 1, height, KEY, share_x=True)


def of_variant(results: Results, variant: str, one: Holding, period: Period) -> Panel:
    """Returns the panel of queue and held ACKs."""
    run = results.runs_of(variant)[0]
    at, queue, _ = queues.trace_of(run, one.port).steps(run, period)
    _, held, mean = one.held.steps(run, period)
    marks = [
        Line(at, queue, QUEUE, "queue", "post"),
        Line(at, held, HELD, "held", "post", queues.texts(held, mean)),
    ]
    shown = (0, 1.05 * max(1.0, float(queue.max(initial=0)), float(held.max(initial=0))))
    title = f"{common.label(results, variant)} ({one.held.place}, seed {run.seed})"
    return common.panel_of(title, run, (period, Axis("packets", shown=shown, whole=True)), marks)


def states(run: RunData, one: Holding, period: Period) -> Panel:
    """Returns the panel of the share of each time step in each state, stacked."""
    at = period.edges(run, common.STEPS_SHOWN)
    width = float(at[1] - at[0]) / 1e-12 if len(at) > 1 else 1.0
    shares = [
        np.append(period.sums(run, common.STEPS_SHOWN, (one.held.bins, spent.astype(np.float64))) / width, 0)
        for spent in (one.congested, one.light)
    ]
    low, high = shares[0], np.minimum(shares[0] + shares[1], 1)
    marks: list[Mark] = [
        *common.outside(run, period),
        Band(at, np.zeros(len(at)), low, CONGESTED, "congested", "post", interval=False, opacity=OPACITY),
        Band(at, low, high, LIGHT, "light", "post", interval=False, opacity=OPACITY),
    ]
    return Panel(
        "", period.axis(), Axis("share", shown=(0, 1), ticks=((0.0, "0"), (1.0, "1"))), marks, share=STRIP
    )
