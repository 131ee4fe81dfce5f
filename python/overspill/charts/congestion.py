"""Figures of flows and congestion over time: congestion messages, rate limits, and sent rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, goodput
from overspill.charts.chart_spec import (
    COLOURS,
    Axis,
    Chart,
    LegendEntry,
    Line,
    LineStyle,
    Mark,
    Panel,
    Points,
)
from overspill.charts.common import Period
from overspill.results import formats, measures
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

MAX_COLOURED_FLOWS = len(COLOURS)
MAX_GREY_FLOWS = 60  # most flows in grey
OTHER_FLOWS_COLOUR = "#b5bcc4"
MAX_POINTS = 2000  # points of one flow
FEEDBACK_RANGE = (0.0, 64.0)

Runs = Mapping[str, RunData]
FlowWeights = Callable[[RunData], tuple[np.ndarray, ...]]
DrawFlow = Callable[[RunData, int, LineStyle, str], Mark]


class ShownFlows:
    """Flows that a figure shows: those of the largest weight in colours, the next ones in grey."""

    def __init__(self, runs: Runs, weigh: FlowWeights) -> None:
        self.runs, self.every = runs, common.sort_by_amount(common.sum_by_key(map(weigh, runs.values())))
        # `every` is ordered by amount; in a legend, readers find a flow by its number.
        self.shown = sorted(self.every[:MAX_COLOURED_FLOWS])
        self.grey = self.every[len(self.shown) : MAX_GREY_FLOWS]

    @property
    def legend(self) -> list[LegendEntry]:
        """Legend entries of the flows that have colours."""
        first = next(iter(self.runs.values()))
        named = ((str(flow), flow_name(first, flow), self.line_style(flow)) for flow in self.shown)
        return [LegendEntry(key, text, look) for key, text, look in named]

    def line_style(self, flow: int) -> LineStyle:
        """Returns the line style of a flow, equal in every panel."""
        return (
            LineStyle(COLOURS[self.shown.index(flow)], width=1.4)
            if flow in self.shown
            else LineStyle(OTHER_FLOWS_COLOUR, width=0.7)
        )

    def marks(self, run: RunData, draw: DrawFlow) -> list[Mark]:
        """Returns the marks of a run's panel, with grey flows drawn below the others."""
        coloured = [draw(run, flow, self.line_style(flow), str(flow)) for flow in self.shown]
        return [*(draw(run, flow, self.line_style(flow), "") for flow in reversed(self.grey)), *coloured]

    def describe(self, by: str) -> str:
        """Describes which flows are drawn: `of 12 flows, the 7 with the most bytes; the next 5 in grey`."""
        if len(self.every) == len(self.shown):
            return f"all {common.format_count(len(self.every), 'flow')}"
        grey = f"; the next {len(self.grey)} in grey" if self.grey else ""
        return f"of {len(self.every)} flows, the {len(self.shown)} with the most {by}{grey}"


def flow_name(run: RunData, flow: int) -> str:
    """Returns the name of a flow, `flow 3: h1 > h5`, with its workload if there are several."""
    text = goodput.flow_name(run, flow)
    workloads = run.summary["traffic"]
    if len(workloads) < 2:
        return text
    ids, traffic = run.columns("flows", "flow", "traffic")
    own = traffic[ids == flow]
    return f"{text} ({workloads[int(own[0])]['name']})" if len(own) else text


def build_flow_panels(
    results: Results, flows: ShownFlows, drawn: tuple[Period, Axis, DrawFlow]
) -> list[Panel]:
    """Returns a panel for each run, with its flows over time."""
    period, y, draw = drawn
    return [
        common.time_panel(common.run_title(results, variant, run), run, (period, y), flows.marks(run, draw))
        for variant, run in flows.runs.items()
    ]


def period_of_table(runs: Runs, table: str) -> Period:
    """Returns the time range from a table's first row to its last; it begins at 0 if the first is early."""
    times = [run.column(table, "time_ps") for run in runs.values()]
    start, end = min(int(one.min()) for one in times), max(int(one.max()) for one in times)
    margin = max((end - start) // 40, 1)
    return Period(0 if start < end // 4 else start - margin, end + margin)


def weigh_by_rows(table: str) -> FlowWeights:
    """Returns a function that weights each flow of a run by its number of rows in a table."""
    return lambda run: (run.column(table, "flow"), np.ones(len(run.column(table, "flow"))))


def select_points(count: int) -> np.ndarray:
    """Returns the evenly spaced indices of the points that are drawn, at most `MAX_POINTS` of `count`."""
    return np.unique(np.linspace(0, count - 1, min(count, MAX_POINTS), dtype=int))


def chart_congestion_messages(results: Results) -> Chart | None:
    """Builds the figure of congestion messages by time, feedback and flow; `None` if none were recorded."""
    runs = common.first_runs_with_table(results, "notices")
    if not runs:
        return None

    def draw_messages(run: RunData, flow: int, look: LineStyle, entry: str) -> Points:
        time, flows_, feedback = run.columns("notices", "time_ps", "flow", "feedback")
        own = np.flatnonzero(flows_ == flow)
        own = own[select_points(len(own))] if len(own) else own
        return Points(
            time[own] * measures.SECONDS_PER_PS, feedback[own].astype(np.float64), look, entry, size=3.0
        )

    flows = ShownFlows(runs, weigh_by_rows("notices"))
    # Points of CNPs are at 0: an axis that begins there would cut them in half.
    has_cnps = any((run.column("notices", "feedback") == 0).any() for run in runs.values())
    y = Axis("feedback", range=(-3.0, FEEDBACK_RANGE[1]) if has_cnps else FEEDBACK_RANGE, whole_numbers=True)
    panels = build_flow_panels(results, flows, (period_of_table(runs, "notices"), y, draw_messages))
    caption = (
        "Congestion notification messages (CNMs) when switches create them, by the flow that they "
        f"concern: {flows.describe('messages')}. 63 is the strongest feedback, 0 a CNP of a receiver. Of "
        f"more than {MAX_POINTS} messages about a flow, {MAX_POINTS} evenly spaced ones are shown. "
        f"{common.FIRST_SEEDS_NOTE}"
    )
    legend = [LegendEntry(one.key, one.label, one.look, "circle") for one in flows.legend]
    return common.chart_over_time(("notices", "Congestion messages by flow", caption), panels, legend)


def chart_rate_limits(results: Results) -> Chart | None:
    """Builds the figure of each flow's rate limit over time; `None` if none was recorded."""
    runs = common.first_runs_with_table(results, "rate_limits")
    if not runs:
        return None

    last = max(run.end_ps for run in runs.values())
    first = period_of_table(runs, "rate_limits")
    period = Period(first.start, max(first.end, min(last, first.end + first.end // 10)))

    def draw_rate_limit(run: RunData, flow: int, look: LineStyle, entry: str) -> Line:
        return rate_limit_line(run, flow, (look, entry), period)

    flows = ShownFlows(runs, weigh_by_rows("rate_limits"))
    tops = [run.column("rate_limits", "rate_bps").max() for run in runs.values()]
    y = Axis("rate limit", "rate", range=(0, 1.06 * max(float(max(tops)), 1.0)))
    panels = build_flow_panels(results, flows, (period, y, draw_rate_limit))
    caption = (
        f"Rate limits of flows at their hosts: {flows.describe('changes')}. A flow without a line has no "
        f"limit at that time. {common.FIRST_SEEDS_NOTE}"
    )
    return common.chart_over_time(("rate-limits", "Rate limits by flow", caption), panels, flows.legend)


def rate_limit_line(run: RunData, flow: int, shown: tuple[LineStyle, str], period: Period) -> Line:
    """Returns the line of a flow's rate limit: at most one change a time step, and gaps without a limit."""
    time, flows, rate = run.columns("rate_limits", "time_ps", "flow", "rate_bps")
    own = flows == flow
    at, limit = time[own].astype(np.int64), rate[own].astype(np.float64)
    step = max(1, (period.end - period.start) // common.MAX_CURVE_STEPS)
    keep = np.append(np.diff(at // step) > 0, True)[: len(at)]
    at, limit = at[keep], np.where(limit[keep] < 0, np.nan, limit[keep])
    at, limit = np.append(at, min(run.end_ps, period.end)), np.append(limit, limit[-1:])
    return Line(at * measures.SECONDS_PER_PS, limit, shown[0], shown[1], "post")


def chart_sent_rates(results: Results) -> Chart | None:
    """Builds the figure of the rate at which each flow sends over time; `None` if it was not recorded."""
    runs = common.first_runs_with_table(results, "sent_trace")
    if not runs:
        return None
    period = common.period_of(results, ("sent_trace",))

    def draw_sent_rate(run: RunData, flow: int, look: LineStyle, entry: str) -> Line:
        bins, flows_, size = read_source_bytes(run)
        own = flows_ == flow
        rates = goodput.compute_rates(run, (bins[own], size[own]), (period, goodput.MAX_STEPS))
        return Line(
            period.group_edges(run, goodput.MAX_STEPS), np.append(rates, rates[-1:]), look, entry, "post"
        )

    flows = ShownFlows(runs, lambda run: read_source_bytes(run)[1:])
    panels = build_flow_panels(results, flows, (period, Axis("sent", "rate"), draw_sent_rate))
    lines = [mark for panel in panels for mark in panel.marks]
    y = Axis("sent", "rate", range=(0, goodput.axis_top(lines)[0]))
    panels = [Panel(panel.title, panel.x, y, panel.marks) for panel in panels]
    step = formats.format_time(goodput.step_width_ps(next(iter(runs.values())), period, goodput.MAX_STEPS))
    caption = (
        "Rate at which sources send the frames of a flow, with preamble and gap, by the start of their "
        f"transmission, in bins of {step}: {flows.describe('bytes')}. {common.FIRST_SEEDS_NOTE}"
    )
    return common.chart_over_time(("sent", "Sending rate by flow", caption), panels, flows.legend)


def read_source_bytes(run: RunData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns three arrays for the bytes that sources send: time bin, flow and bytes."""
    bins, host, flow, size = run.columns("sent_trace", "bin", "host", "flow", "wire_bytes")
    ids, src = run.columns("flows", "flow", "src")
    sources = np.full(int(max(ids.max(initial=0), flow.max(initial=0))) + 1, -1, np.int64)
    sources[ids] = src
    own = sources[flow] == host
    return bins[own], flow[own], size[own]
