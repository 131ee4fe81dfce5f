"""Drawing of a chart as a matplotlib figure, for PNG, SVG and PDF."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Ruler
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from overspill.charts import axes as words
from overspill.charts import chart_spec
from overspill.charts.chart_spec import Axis, Chart, Colours, Panel
from overspill.charts.mpl_marks import (
    EVENT_LINE_COLOUR,
    WHITE_OUTLINE,
    colour_map,
    colour_norm,
    draw_marks,
    line_properties,
)

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,  # TrueType: venues refuse Type 3
    "path.simplify": True,
    "text.parse_math": False,
}
FIGURE_WIDTH = 9.0  # inches
MAX_FIGURE_HEIGHT = 10.4
BANDS_NOTE = "Lines are means over seeds, bands their 95% intervals."
ERROR_BARS_NOTE = "Error bars are 95% intervals over seeds."
LETTERS_PER_LINE = 118  # characters that fit into the width of a figure
LEGEND_ROW_HEIGHT = 0.23  # inches
LETTER_WIDTH = 0.083  # average inches of a character of a panel's title


def style() -> AbstractContextManager[Any]:
    """Returns a context manager that sets the style of all figures."""
    return mpl.rc_context(STYLE)


class Drawing(Figure):
    """Figure that is saved in the style in which it was drawn, since fonts are chosen when saving."""

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Saves the figure, with the arguments of matplotlib's own method."""
        with style():
            super().savefig(*args, **kwargs)


def draw_figure(chart: Chart) -> Figure:
    """Draws the chart, no taller than a screen."""
    told = heading_lines(chart)
    titles = sum(one.inches for one in told)
    above = titles + LEGEND_ROW_HEIGHT * count_legend_rows(chart)
    height = min(MAX_FIGURE_HEIGHT, sum(chart.row_heights) * chart.height + 0.35 + above)
    with style():
        made = Drawing(
            figsize=(FIGURE_WIDTH, height),
            layout=ConstrainedLayoutEngine(
                w_pad=0.08, h_pad=0.08, wspace=0.04, rect=(0, 0, 1, 1 - above / height)
            ),
        )
        write_heading(made, told)
        grid: Any = made.subplots(chart.rows, chart.columns, squeeze=False, height_ratios=chart.row_heights)
        drawn = []
        for index, panel in enumerate(chart.panels):
            axes = grid[chart.cell_of(index)]
            draw_marks(axes, panel, chart.colours)
            axes.set_title(shorten_panel_title(chart, panel))
            write_event_labels(axes, panel, chart.columns)
            drawn.append(axes)
        used = {chart.cell_of(index) for index in range(len(chart.panels))}
        for row, column in np.ndindex(grid.shape):
            if (row, column) not in used:
                grid[row, column].remove()
        share_axes(chart, drawn)
        for index, (axes, panel) in enumerate(zip(drawn, chart.panels, strict=True)):
            set_up_axes(axes, chart, panel, index)
        add_legend_and_colours(made, chart, (drawn, titles))
    return made


@dataclass(frozen=True)
class HeadingLine:
    """Line of text above a figure."""

    text: str
    size: float
    weight: str
    colour: str

    @property
    def inches(self) -> float:
        """Height of the line in inches."""
        return self.size * 1.45 / 72


def heading_lines(chart: Chart) -> list[HeadingLine]:
    """Returns the lines above a chart: title, note, and descriptions of bands and other marks."""
    title = [
        HeadingLine(one, 12, "bold", "#1b1f24")
        for one in textwrap.wrap(chart.title, LETTERS_PER_LINE * 3 // 4)
    ]
    notes = [
        HeadingLine(one, 9, "normal", "#8a3b00")
        for one in textwrap.wrap(chart.note, LETTERS_PER_LINE * 9 // 8)
    ]
    bands = (mark for panel in chart.panels for mark in panel.marks if isinstance(mark, chart_spec.Band))
    of_bands = [HeadingLine(BANDS_NOTE, 9, "normal", "#57606a")] if any(one.interval for one in bands) else []
    told = textwrap.wrap(" ".join(describe_marks(chart)), LETTERS_PER_LINE * 9 // 8)
    return [*title, *notes, *of_bands, *(HeadingLine(one, 9, "normal", "#57606a") for one in told)]


def describe_marks(chart: Chart) -> list[str]:
    """Returns the descriptions of lines, error bars and grey areas."""
    marks = [mark for panel in chart.panels for mark in panel.marks]
    bars = any(
        isinstance(mark, chart_spec.Bars | chart_spec.Points) and mark.low is not None for mark in marks
    )
    spans = dict.fromkeys(mark.file_note for mark in marks if isinstance(mark, chart_spec.Span))
    return [one for one in (chart.file_note, ERROR_BARS_NOTE if bars else "", *spans) if one]


def shorten_panel_title(chart: Chart, panel: Panel) -> str:
    """Returns a panel's title cut to its width, with an ellipsis: two lines if rows are high, else one."""
    rows = [len(row) for mark in panel.marks if isinstance(mark, chart_spec.HeatMap) for row in mark.rows]
    left = 0.3 + 0.07 * max(rows) if rows else 0.75
    wide = (FIGURE_WIDTH - (0.9 if chart.colours else 0.0)) / chart.columns - left
    lines = 2 if chart.height * panel.height_share >= 1.2 else 1
    return "\n".join(words.wrap_and_shorten(panel.title, int(wide / LETTER_WIDTH), lines))


def write_heading(made: Figure, told: Sequence[HeadingLine]) -> None:
    """Writes the lines of text above the legend and the axes."""
    height = made.get_size_inches()[1]
    at = height - 0.06
    for one in told:
        look: dict[str, Any] = {"fontsize": one.size, "fontweight": one.weight, "color": one.colour}
        made.text(0.08 / FIGURE_WIDTH, at / height, one.text, ha="left", va="top", **look)
        at -= one.inches


def add_legend_and_colours(made: Figure, chart: Chart, what: tuple[Sequence[Axes], float]) -> None:
    """Adds the legend below titles, and the colour scale; `what`: axes, height of the titles in inches."""
    drawn, titles = what
    if chart.legend:
        handles = [Line2D([], [], **legend_symbol(entry)) for entry in chart.legend]
        labels = [entry.label for entry in chart.legend]
        made.legend(
            handles, labels, loc="upper center", bbox_to_anchor=(0.5, 1 - titles / made.get_size_inches()[1]),
            borderaxespad=0.2, ncols=count_legend_columns(labels), handlelength=2.6,
        ).set_in_layout(False)  # fmt: skip
    if chart.colours is not None:
        draw_colour_bar(made, chart.colours, drawn)


def legend_symbol(entry: chart_spec.LegendEntry) -> dict[str, Any]:
    """Returns the symbol of a legend entry as properties of a line."""
    if entry.symbol == "line":
        return line_properties(entry.look)
    fill = "white" if entry.symbol == "ring" else entry.look.colour
    marker = {"marker": "s" if entry.symbol == "square" else "o", "markersize": 8, "markerfacecolor": fill}
    found = line_properties(entry.look) | marker | {"linestyle": "none", "markeredgecolor": entry.look.colour}
    return found | {"markeredgewidth": 1.2}


def count_legend_rows(chart: Chart) -> int:
    """Returns the number of rows of the legend."""
    labels = [entry.label for entry in chart.legend]
    return -(-len(labels) // count_legend_columns(labels)) if labels else 0


def count_legend_columns(labels: Sequence[str]) -> int:
    """Returns the number of columns of a legend that fits into the figure."""
    widest = max(len(label) for label in labels) + 7
    return max(1, min(len(labels), 5, int(LETTERS_PER_LINE / widest)))


def write_event_labels(axes: Axes, panel: Panel, columns: int) -> None:
    """Writes the labels of events at the upper ends of their lines."""
    for mark, row, left in words.place_event_labels(panel, LETTERS_PER_LINE // columns - 8):
        place: dict[str, Any] = {"textcoords": "offset points", "va": "top"}
        place |= {
            "ha": "right" if left else "left",
            "fontsize": 7.5,
            "color": EVENT_LINE_COLOUR,
            "path_effects": WHITE_OUTLINE,
            "zorder": 4,
        }
        shift = (-3 if left else 3, -2 - 9 * row)
        axes.annotate(mark.label, (mark.time, 1), shift, xycoords=axes.get_xaxis_transform(), **place)


def share_axes(chart: Chart, drawn: Sequence[Axes]) -> None:
    """Joins the axes that panels share."""
    for axes in drawn[1:]:
        if chart.share_x:
            axes.sharex(drawn[0])
        if chart.share_y:
            axes.sharey(drawn[0])


def set_up_axes(axes: Axes, chart: Chart, panel: Panel, index: int) -> None:
    """Sets scales, ranges, ticks and titles of both axes."""
    if panel.is_graph:
        return
    group = chart.panels
    set_up_axis(
        axes,
        panel.x,
        chart_spec.axis_extent(group if chart.share_x else [panel], "x"),
        ("x", 12 // chart.columns),
    )
    set_up_axis(axes, panel.y, chart_spec.axis_extent(group if chart.share_y else [panel], "y"), ("y", 10))
    if chart.share_x and not chart.is_in_last_row(index):
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)


def set_up_axis(axes: Axes, axis: Axis, extent: tuple[float, float], what: tuple[str, int]) -> None:
    """Sets up one axis, `x` or `y`, with a limited number of ticks if it is logarithmic."""
    which, most = what
    low, high = axis.range or extent
    one: Ruler = axes.xaxis if which == "x" else axes.yaxis
    limit = axes.set_xlim if which == "x" else axes.set_ylim
    unit = ""
    if axis.scale == "log":
        set_up_log_axis(axes, one, axis, (high / low if low > 0 else 1.0, most))
    elif axis.scale == "symlog":
        functions = (chart_spec.symlog_positions, chart_spec.symlog_inverse)
        (axes.set_xscale if which == "x" else axes.set_yscale)("function", functions=functions)
        one.set_major_locator(FixedLocator(chart_spec.symlog_ticks(low, high)))
        one.set_minor_locator(FixedLocator([]))
        one.set_major_formatter(FuncFormatter(lambda value, _: words.format_quantity(value, axis.kind)))
    elif axis.ticks is not None:
        one.set_ticks([at for at, _ in axis.ticks], [text for _, text in axis.ticks])
    elif not has_matrix_ticks(one):
        factor, unit = words.select_axis_unit(axis.kind, high)
        one.set_major_locator(MaxNLocator(5, integer=axis.whole_numbers))
        one.set_major_formatter(FuncFormatter(lambda value, _: format_linear_tick(value, axis, factor)))
    if axis.range:
        limit(*(axis.range[::-1] if axis.reversed else axis.range))
    elif axis.reversed:
        limit(high, low)
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(words.axis_title(axis, unit))


def has_matrix_ticks(one: Ruler) -> bool:
    """Returns true if the ticks of an axis are the names of a heat map's rows."""
    return isinstance(one.get_major_locator(), FixedLocator)


def format_linear_tick(value: float, axis: Axis, factor: float) -> str:
    """Formats a tick of a linear axis, whose unit is in its title."""
    return (
        words.format_quantity(value, "share")
        if axis.kind == "share"
        else words.format_quantity(value / factor, "number")
    )


def set_up_log_axis(axes: Axes, one: Ruler, axis: Axis, what: tuple[float, int]) -> None:
    """Sets up a logarithmic axis, whose ticks have units."""
    ratio, most = what
    if ratio > 20 and most < 6:
        ratio = np.inf
    (axes.set_xscale if one is axes.xaxis else axes.set_yscale)("log")
    one.set_minor_formatter(NullFormatter())
    if axis.ticks is not None:
        one.set_ticks([at for at, _ in axis.ticks], [text for _, text in axis.ticks])
        return
    one.set_major_locator(LogLocator(subs=words.log_tick_multiples(ratio), numticks=most))
    one.set_major_formatter(FuncFormatter(lambda value, _: words.format_quantity(value, axis.kind)))


def draw_colour_bar(made: Figure, colours: Colours, drawn: Sequence[Axes]) -> None:
    """Draws the colour scale beside the panels."""
    mappable = ScalarMappable(colour_norm(colours), colour_map(colours))
    bar = made.colorbar(mappable, ax=list(drawn), pad=0.01, fraction=0.03, aspect=30)
    bar.set_label("\n".join(part for part in (colours.label, words.log_scale_note(colours)) if part))
    ticks = words.colour_ticks(colours)
    bar.set_ticks([at for at, _ in ticks], labels=[text for _, text in ticks])
    bar.ax.minorticks_off()
    # Without an edge, the white end of the scale would not be visible on white paper.
    bar.outline.set(edgecolor="#9aa4ae", linewidth=0.6)
