"""Figures of the inside of a `fabric` switch over time: buffers, and utilisation of internal links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import chart_spec, common, goodput
from overspill.charts.chart_spec import COLOURS, Axis, Chart, LegendEntry, Line, LineStyle
from overspill.charts.common import Period
from overspill.charts.queues import QueueTrace
from overspill.results import formats
from overspill.results.names import FABRIC_BUFFERS
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TRACE_TABLE = "fabric_trace"
MAX_BUFFERS_SHOWN = len(COLOURS)
MAX_STEPS = 300
NodeBuffer = tuple[int, int]  # node, and number of its buffer


@dataclass(frozen=True)
class ShownBuffers:
    """Buffers inside one switch that a figure shows, in order, and the number of all its buffers."""

    runs: Mapping[str, RunData]
    node: int
    buffers_shown: tuple[int, ...]
    buffer_count: int
    several_switches: bool  # true if several switches have stages

    @property
    def first_run(self) -> RunData:
        """Run of the first variant that recorded these buffers."""
        return next(iter(self.runs.values()))

    @property
    def switch_name(self) -> str:
        """Name of the switch whose buffers are shown."""
        return self.first_run.node_name(self.node)

    @property
    def switch_phrase(self) -> str:
        """Phrase for a caption on which of several switches is shown; empty if only one switch has stages."""
        return ", the switch with most bytes inside," if self.several_switches else ""

    def describe(self, most: str, some: str) -> str:
        """Describes how many of the switch's buffers are shown: `the 8 fullest buffers of 12`."""
        return (
            f"the {len(self.buffers_shown)} {most} of {self.buffer_count}"
            if self.buffer_count > len(self.buffers_shown)
            else f"all {some}"
        )

    def line_style(self, buffer: int) -> LineStyle:
        """Returns the line style of a buffer, equal in every panel; wide lines show below narrow ones."""
        return chart_spec.line_style_of_index(self.buffers_shown.index(buffer))

    def legend(self, links: bool) -> list[LegendEntry]:
        """Returns a legend entry for each buffer that is shown."""
        return [
            LegendEntry(str(one), buffer_name(self.first_run, (self.node, one), links), self.line_style(one))
            for one in self.buffers_shown
        ]

    def buffer_columns(self, run: RunData, buffer: int, *columns: str) -> list[np.ndarray]:
        """Returns the given columns of one buffer's rows, in order of time."""
        node, own, *more = run.columns(TRACE_TABLE, "node", "buffer", *columns)
        keep = (node == self.node) & (own == buffer)
        return [one[keep] for one in more]


@dataclass(frozen=True)
class FigureTexts:
    """Texts, legend, y axis and time range of a figure."""

    name: str
    title: str
    caption: str
    legend: list[LegendEntry]
    y: Axis
    period: Period


def chart_fabric_buffers(results: Results) -> Chart | None:
    """Builds the figure of the fullest buffers inside a switch over time; `None` if none are recorded."""
    inside = select_buffers(results, "mean_bytes", FABRIC_BUFFERS)
    if inside is None:
        return None
    period = common.period_of(results, (TRACE_TABLE,))

    def draw_buffer(run: RunData, buffer: int) -> Line:
        rows = inside.buffer_columns(run, buffer, "bin", "max_bytes", "mean_bytes")
        at, _, mean = QueueTrace("", *rows).steps(run, period)
        return Line(at, mean, inside.line_style(buffer), str(buffer), "post")

    caption = (
        f"Bytes in the buffers inside {inside.switch_name}{inside.switch_phrase}, "
        f"{inside.describe('that hold most', 'that ever held any')}, mean over a time step, for all "
        "classes together. Stored frames count, and frames that arrive or leave."
    )
    title, legend = f"Buffers inside {inside.switch_name} over time", inside.legend(links=False)
    highest = FigureTexts("fabric-buffers", title, caption, legend, Axis("bytes", "bytes"), period)
    return chart_stacked_panels(results, inside, highest, draw_buffer)


def chart_internal_links(results: Results) -> Chart | None:
    """Builds the figure of the busiest internal links over time; `None` if none are recorded."""
    inside = select_buffers(results, "busy_ps", ("behind_link",))
    if inside is None:
        return None
    period = common.period_of(results, (TRACE_TABLE,))
    width = goodput.step_width_ps(inside.first_run, period, MAX_STEPS)

    def draw_link(run: RunData, buffer: int) -> Line:
        bins, busy = inside.buffer_columns(run, buffer, "bin", "busy_ps")
        step = goodput.step_width_ps(run, period, MAX_STEPS)
        used = period.sum_groups(run, MAX_STEPS, (bins, busy.astype(np.float64))) / step
        at = period.group_edges(run, MAX_STEPS)
        return Line(at, np.append(used, used[-1:]), inside.line_style(buffer), str(buffer), "post")

    caption = (
        "Share of the time in which frames cross internal links of "
        f"{inside.switch_name}{inside.switch_phrase}, "
        f"{inside.describe('that are used most', 'that are used')}, in bins of {formats.format_time(width)}."
    )
    title, legend = f"Use of internal links of {inside.switch_name} over time", inside.legend(links=True)
    whole = FigureTexts(
        "internal-links", title, caption, legend, Axis("use", "share", range=(0, 1.03)), period
    )
    return chart_stacked_panels(results, inside, whole, draw_link)


def list_omission_reason(results: Results) -> list[str]:
    """Returns the reason why the figures of `fabric` switches are omitted; empty if they are not."""
    runs = common.first_runs(results).values()
    if any(common.has_rows(run, TRACE_TABLE) for run in runs) or not any(
        run.recorded("fabric_buffers") for run in runs
    ):
        return []
    return ["Buffers and links inside switches over time: omitted, because measure.inputs is off."]


def select_buffers(results: Results, weight: str, places: tuple[str, ...]) -> ShownBuffers | None:
    """Returns the fullest buffers or busiest links inside the switch with most bytes in internal buffers."""
    runs = common.first_runs_with_table(results, TRACE_TABLE)
    held = sum_buffer_columns(runs, "mean_bytes", FABRIC_BUFFERS)
    whole: dict[int, float] = {}
    for (at, _), amount in held.items():
        whole[at] = whole.get(at, 0.0) + amount
    if not whole:
        return None
    switch = min(whole, key=lambda one: (-whole[one], one))
    sums = {
        one: amount for one, amount in sum_buffer_columns(runs, weight, places).items() if one[0] == switch
    }
    own = common.sort_by_amount(sums)
    shown = tuple(sorted(one for _, one in own[:MAX_BUFFERS_SHOWN]))
    return ShownBuffers(runs, switch, shown, len(own), len(whole) > 1) if shown else None


def sum_buffer_columns(
    runs: Mapping[str, RunData], weight: str, places: tuple[str, ...]
) -> dict[NodeBuffer, float]:
    """Returns the sums of a column over time and runs, by buffer of the given kinds; only sums above 0."""
    sums: dict[NodeBuffer, float] = {}
    for run in runs.values():
        known = buffers_of_kinds(run, places)
        node, buffer, amount = run.columns(TRACE_TABLE, "node", "buffer", weight)
        for place, more in common.sum_by_key([(np.array([node, buffer]).T, amount)]).items():
            if place in known and more > 0:
                sums[place] = sums.get(place, 0.0) + more
    return sums


def buffers_of_kinds(run: RunData, places: tuple[str, ...]) -> set[NodeBuffer]:
    """Returns the buffers of the given kinds inside switches, as node and buffer numbers."""
    node, buffer, place = run.columns("fabric_buffers", "node", "buffer", "place")
    numbers = [FABRIC_BUFFERS.index(one) for one in places]
    keep = np.isin(place, numbers)
    return set(zip(node[keep].tolist(), buffer[keep].tolist(), strict=True))


def buffer_name(run: RunData, at: NodeBuffer, links: bool = False) -> str:
    """Returns the name of a buffer: `before link 0 (stage 0 to 1)`, `input of stage 0 from h1`.

    As a link it is `link 0 (stage 0 to 1)`.
    """
    nodes, own, stage, place, number = (
        one.tolist() for one in run.columns("fabric_buffers", "node", "buffer", "stage", "place", "number")
    )
    known = {(a, b): rest for a, b, *rest in zip(nodes, own, stage, place, number, strict=True)}
    its_stage, where, of = known[at]
    if FABRIC_BUFFERS[where] == "port":
        node, port, peer = run.columns("ports", "node", "port", "peer")
        far = peer[(node == at[0]) & (port == of)]
        return f"input of stage {its_stage} from {run.node_name(int(far[0])) if len(far) else f'port {of}'}"
    # The buffer before a link belongs to the stage that the link leaves, the buffer behind it to the next.
    other = known[at[0], at[1] + (1 if FABRIC_BUFFERS[where] == "link" else -1)][0]
    if FABRIC_BUFFERS[where] == "link":
        return f"before link {of} (stage {its_stage} to {other})"
    return (
        f"link {of} (stage {other} to {its_stage})" if links else f"input of stage {its_stage} from link {of}"
    )


def chart_stacked_panels(
    results: Results, inside: ShownBuffers, shown: FigureTexts, draw: Callable[[RunData, int], Line]
) -> Chart:
    """Returns a chart with one panel per variant."""
    drawn = {
        variant: [draw(run, one) for one in inside.buffers_shown] for variant, run in inside.runs.items()
    }
    highest = max(float(line.y.max(initial=0)) for lines in drawn.values() for line in lines)
    y = shown.y if shown.y.range else replace(shown.y, range=(0, 1.06 * max(highest, 1.0)))
    panels = [
        common.time_panel(common.run_title(results, variant, run), run, (shown.period, y), drawn[variant])
        for variant, run in inside.runs.items()
    ]
    caption = f"{shown.caption} {common.FIRST_SEEDS_NOTE}"
    return common.chart_over_time((shown.name, shown.title, caption), panels, shown.legend)
