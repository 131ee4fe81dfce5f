"""Figures of flows and congestion over time: congestion messages, rate limits, and sent rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, goodput
from overspill.charts.common import Period
from overspill.charts.spec import COLOURS, Axis, Chart, Entry, Line, Look, Mark, Panel, Points
from overspill.results import formats, measures
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

FLOWS_SHOWN = len(COLOURS)
FAINT = 60  # most flows in grey
PALE = "#b5bcc4"
POINTS_SHOWN = 2000  # points of one flow
FEEDBACK = (0.0, 64.0)

Runs = Mapping[str, RunData]
Weigh = Callable[[RunData], tuple[np.ndarray, ...]]
Draw = Callable[[RunData, int, Look, str], Mark]


class Flows:
    """Flows that a figure shows: the first few in colours, some in grey."""

    def __init__(self, runs: Runs, weigh: Weigh) -> None:
        self.runs, self.every = runs, common.most_first(common.summed(map(weigh, runs.values())))
        # The legend is ordered by flow, not by amount.
        self.shown = sorted(self.every[:FLOWS_SHOWN])
        self.grey = self.every[len(self.shown) : FAINT]

    @property
    def legend(self) -> list[Entry]:
        """Legend entries of the coloured flows."""
        first = next(iter(self.runs.values()))
        named = ((str(flow), name(first, flow), self.look(flow)) for flow in self.shown)
        return [Entry(key, text, look) for key, text, look in named]

    def look(self, flow: int) -> Look:
        """Returns the look of a flow, equal in every panel."""
        return (
            Look(COLOURS[self.shown.index(flow)], width=1.4) if flow in self.shown else Look(PALE, width=0.7)
        )

    def marks(self, run: RunData, draw: Draw) -> list[Mark]:
        """Returns the marks of a run, grey ones below the others."""
        coloured = [draw(run, flow, self.look(flow), str(flow)) for flow in self.shown]
        return [*(draw(run, flow, self.look(flow), "") for flow in reversed(self.grey)), *coloured]

    def describe(self, by: str) -> str:
        """Describes the flows: `the 7 flows with most bytes of 12; the next 5 in grey`."""
        if len(self.every) == len(self.shown):
            return f"all {common.counted(len(self.every), 'flow')}"
        grey = f"; the next {len(self.grey)} in grey" if self.grey else ""
        return f"the {len(self.shown)} flows with most {by} of {len(self.every)}{grey}"


def name(run: RunData, flow: int) -> str:
    """Returns the name of a flow, `flow 3: h1 > h5`, with its workload if there are several."""
    text = goodput.flow_name(run, flow)
    workloads = run.summary["traffic"]
    if len(workloads) < 2:
        return text
    ids, traffic = run.columns("flows", "flow", "traffic")
    own = traffic[ids == flow]
    return f"{text} ({workloads[int(own[0])]['name']})" if len(own) else text


def panels_of(results: Results, flows: Flows, drawn: tuple[Period, Axis, Draw]) -> list[Panel]:
    """Returns a panel for each run."""
    period, y, draw = drawn
    return [
        common.panel_of(common.title_of(results, variant, run), run, (period, y), flows.marks(run, draw))
        for variant, run in flows.runs.items()
    ]


def instants_of(runs: Runs, table: str) -> Period:
    """Returns the period from first to last row of a table of instants, or from 0 if that is early."""
    times = [run.column(table, "time_ps") for run in runs.values()]
    start, end = min(int(one.min()) for one in times), max(int(one.max()) for one in times)
    margin = max((end - start) // 40, 1)
    return Period(0 if start < end // 4 else start - margin, end + margin)


def rows_of(table: str) -> Weigh:
    """Returns a function that weights flows by their number of rows in a table."""
    return lambda run: (run.column(table, "flow"), np.ones(len(run.column(table, "flow"))))


def thin(count: int) -> np.ndarray:
    """Returns the indices of the points that are shown, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, min(count, POINTS_SHOWN), dtype=int))


def notices(results: Results) -> Chart | None:
    """Builds the figure of congestion messages by time, feedback and flow; `None` if none are recorded."""
    runs = common.with_rows(results, "notices")
    if not runs:
        return None

    def draw(run: RunData, flow: int, look: Look, entry: str) -> Points:
        time, flows_, feedback = run.columns("notices", "time_ps", "flow", "feedback")
        own = np.flatnonzero(flows_ == flow)
        own = own[thin(len(own))] if len(own) else own
        return Points(time[own] * measures.PS, feedback[own].astype(np.float64), look, entry, size=3.0)

    flows = Flows(runs, rows_of("notices"))
    # Points of CNPs are at 0, and the edge would cut them in half.
    has_cnps = any((run.column("notices", "feedback") == 0).any() for run in runs.values())
    y = Axis("feedback", shown=(-3.0, FEEDBACK[1]) if has_cnps else FEEDBACK, whole=True)
    panels = panels_of(results, flows, (instants_of(runs, "notices"), y, draw))
    caption = (
        "Congestion notification messages (CNMs) when switches create them, by the flow that they "
        f"concern: {flows.describe('messages')}. 63 is the strongest feedback, 0 a CNP of a receiver. Of "
        f"more than {POINTS_SHOWN} messages about a flow, that number is shown, evenly spaced. "
        f"{common.FIRST_SEEDS}"
    )
    legend = [Entry(one.key, one.label, one.look, "circle") for one in flows.legend]
    return common.over_time(("notices", "Congestion messages by flow", caption), panels, legend)


def limits(results: Results) -> Chart | None:
    """Builds the figure of each flow's rate limit over time; `None` if none are recorded."""
    runs = common.with_rows(results, "rate_limits")
    if not runs:
        return None

    last = max(run.end_ps for run in runs.values())
    first = instants_of(runs, "rate_limits")
    period = Period(first.start, max(first.end, min(last, first.end + first.end // 10)))

    def draw(run: RunData, flow: int, look: Look, entry: str) -> Line:
        return limit_line(run, flow, (look, entry), period)

    flows = Flows(runs, rows_of("rate_limits"))
    tops = [run.column("rate_limits", "rate_bps").max() for run in runs.values()]
    y = Axis("rate limit", "rate", shown=(0, 1.06 * max(float(max(tops)), 1.0)))
    panels = panels_of(results, flows, (period, y, draw))
    caption = (
        f"Rate limits of flows at their hosts: {flows.describe('changes')}. A flow without a line has no "
        f"limit at that time. {common.FIRST_SEEDS}"
    )
    return common.over_time(("rate-limits", "Rate limits by flow", caption), panels, flows.legend)


def limit_line(run: RunData, flow: int, shown: tuple[Look, str], period: Period) -> Line:
    """Returns a line of a flow's limit, with gaps without a limit; only the last change of a step is kept."""
    time, flows, rate = run.columns("rate_limits", "time_ps", "flow", "rate_bps")
    own = flows == flow
    at, limit = time[own].astype(np.int64), rate[own].astype(np.float64)
    step = max(1, (period.end - period.start) // common.STEPS_SHOWN)
    keep = np.append(np.diff(at // step) > 0, True)[: len(at)]
    at, limit = at[keep], np.where(limit[keep] < 0, np.nan, limit[keep])
    at, limit = np.append(at, min(run.end_ps, period.end)), np.append(limit, limit[-1:])
    return Line(at * measures.PS, limit, shown[0], shown[1], "post")


def sent(results: Results) -> Chart | None:
    """Builds the figure of the rate that each flow sends at over time; `None` if it is not recorded."""
    runs = common.with_rows(results, "sent_trace")
    if not runs:
        return None
    period = common.period_of(results, ("sent_trace",))

    def draw(run: RunData, flow: int, look: Look, entry: str) -> Line:
        bins, flows_, size = by_sources(run)
        own = flows_ == flow
        rates = goodput.rate(run, (bins[own], size[own]), (period, goodput.STEPS))
        return Line(period.edges(run, goodput.STEPS), np.append(rates, rates[-1:]), look, entry, "post")

    flows = Flows(runs, lambda run: by_sources(run)[1:])
    panels = panels_of(results, flows, (period, Axis("sent", "rate"), draw))
    lines = [mark for panel in panels for mark in panel.marks]
    y = Axis("sent", "rate", shown=(0, goodput.top(lines)[0]))
    panels = [Panel(panel.title, panel.x, y, panel.marks) for panel in panels]
    step = formats.time(goodput.width_ps(next(iter(runs.values())), period, goodput.STEPS))
    caption = (
        "Frames of a flow whose transmission begins at its source, with preamble and gap, in bins of "
        f"{step}: {flows.describe('bytes')}. {common.FIRST_SEEDS}"
    )
    return common.over_time(("sent", "Sending rate by flow", caption), panels, flows.legend)


def by_sources(run: RunData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns bins, flows and bytes that sources send, without the rows of other hosts."""
    bins, host, flow, size = run.columns("sent_trace", "bin", "host", "flow", "wire_bytes")
    ids, src = run.columns("flows", "flow", "src")
    sources = np.full(int(max(ids.max(initial=0), flow.max(initial=0))) + 1, -1, np.int64)
    sources[ids] = src
    own = sources[flow] == host
    return bins[own], flow[own], size[own]
