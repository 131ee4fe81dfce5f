"""Layout of a plotly figure: positions of panels, their axes and titles, and the colour scale."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np

from overspill.charts import axes as words
from overspill.charts import chart_spec
from overspill.charts.axes import escape_html
from overspill.charts.chart_spec import Axis, Chart, Colours, Panel

PIXELS_PER_INCH = 94  # pixels per inch of a panel's height
PANEL_GAP = 62  # pixels between rows of panels that have axes of their own
TITLE_HEIGHT = 26  # pixels of a panel's title
INK_COLOUR, SOFT_COLOUR, GRID_COLOUR, LINE_COLOUR = "#1b1f24", "#5c6670", "#e3e7eb", "#9aa4ae"
FONT_FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# d3 formats: tick, number under the pointer, and suffix of both. Formats of ticks have no fixed precision, so
# that ticks adapt to the zoom.
D3_FORMATS = {
    "number": ("", ",.6~r", ""),
    "time": ("~s", ".4~s", "s"),
    "bytes": ("~s", ".4~s", "B"),
    "rate": ("~s", ".4~s", "bit/s"),
    "share": ("~%", ".4~%", ""),
}


def axis_suffix(index: int) -> str:
    """Returns the suffix in the names of a panel's axes, as plotly counts them: empty, `2`, `3` and so on."""
    return "" if index == 0 else str(index + 1)


def build_layout(chart: Chart, narrow: bool) -> dict[str, Any]:
    """Returns the layout: positions of panels, axes, titles and shaded parts."""
    chart = replace(chart, columns=1, fill_columns_first=False) if narrow else chart
    each = chart.height * PIXELS_PER_INCH
    letters = 44 if narrow else 150 // chart.columns
    lines = max(len(textwrap.wrap(panel.title, letters)) for panel in chart.panels)
    title = TITLE_HEIGHT + 15 * (max(lines, 1) - 1)
    tight = chart.share_x or all(panel.is_graph for panel in chart.panels)
    gap = title + 8 if tight else PANEL_GAP + title
    top, bottom = title + 10, 52
    inner = sum(chart.row_heights) * max(each - gap, 70) + (chart.rows - 1) * gap
    found: dict[str, Any] = {
        "height": round(inner + top + bottom),
        "margin": {"l": 66, "r": 18, "t": top, "b": bottom},
        "font": {"family": FONT_FAMILY, "size": 12, "color": INK_COLOUR},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "namelength": -1},
        "dragmode": False if narrow else "zoom",
        "showlegend": False,
        "annotations": [],
        "shapes": [],
        "autosize": True,
        "bargap": 0.1,
    }
    # The page sets the ticks of logarithmic axes, also after a zoom: plotly's have no units there.
    found["meta"] = {"log": {}}
    for index, panel in enumerate(chart.panels):
        box = panel_box(chart, index, gap / inner)
        add_panel(found, chart, index, box)
        found["shapes"] += [
            shaded_span(mark, index) for mark in panel.marks if isinstance(mark, chart_spec.Span)
        ]
        for mark in panel.marks:
            found["shapes"] += (
                event_line_shapes(mark, index) if isinstance(mark, chart_spec.EventLine) else []
            )
        found["annotations"] += panel_annotations(panel, index, box, letters)
        found["annotations"] += event_labels(panel, index, letters)
    if chart.colours is not None:
        found["coloraxis"] = colour_axis(chart.colours, narrow)
        found["margin"]["r"] = 12
    return found


PanelBox = tuple[list[float], list[float]]  # ranges along x and y


def panel_box(chart: Chart, index: int, gap: float) -> PanelBox:
    """Returns the x range and the y range of a panel, as shares of the area inside the margins."""
    row, column = chart.cell_of(index)
    between, weights = 0.105 if chart.columns < 3 else 0.095, chart.row_heights
    wide = (1 - between * (chart.columns - 1)) / chart.columns
    unit = (1 - gap * (len(weights) - 1)) / sum(weights)
    left, top = column * (wide + between), 1 - unit * sum(weights[:row]) - row * gap
    return [left, min(left + wide, 1.0)], [max(top - unit * weights[row], 0.0), max(top, 0.0)]


def add_panel(found: dict[str, Any], chart: Chart, index: int, box: PanelBox) -> None:
    """Adds the two axes of a panel."""
    panel = chart.panels[index]
    across, up = box
    x_group = chart.panels if chart.share_x else [panel]
    y_group = chart.panels if chart.share_y else [panel]
    x = axis_properties(panel.x, chart_spec.axis_extent(x_group, "x")) | {
        "domain": across,
        "anchor": f"y{axis_suffix(index)}",
    }
    y = axis_properties(panel.y, chart_spec.axis_extent(y_group, "y")) | {
        "domain": up,
        "anchor": f"x{axis_suffix(index)}",
    }
    if chart.share_x and index:
        x["matches"] = "x"
    if chart.share_x and not chart.is_in_last_row(index):
        x |= {"showticklabels": False, "title": {"text": ""}}
    if chart.share_y and index:
        y["matches"] = "y"
    rows = next((mark.rows for mark in panel.marks if isinstance(mark, chart_spec.HeatMap)), None)
    if rows is not None:
        ticks = {"tickvals": [at + 0.5 for at in range(len(rows))], "ticktext": [*map(escape_html, rows)]}
        y |= ticks | {"range": [len(rows), 0], "showgrid": False, "ticks": "", "tickfont": {"size": 10.5}}
    if panel.is_graph:
        hidden = {"visible": False, "fixedrange": False}
        x, y = x | hidden | {"range": [-0.02, 1.02]}, y | hidden
        aspect = next((mark.aspect for mark in panel.marks if isinstance(mark, chart_spec.Graph)), None)
        y |= {"scaleanchor": f"x{axis_suffix(index)}", "scaleratio": aspect} if aspect else {}
    for name, axis, one in (
        (f"xaxis{axis_suffix(index)}", panel.x, x),
        (f"yaxis{axis_suffix(index)}", panel.y, y),
    ):
        found[name] = one
        if axis.scale == "log" and axis.ticks is None:
            found["meta"]["log"][name] = axis.kind


def axis_properties(axis: Axis, extent: tuple[float, float]) -> dict[str, Any]:
    """Returns the properties of one axis, whose ticks adapt to the zoom if they are numbers."""
    tick, form, unit = D3_FORMATS[axis.kind]
    style = {
        "gridcolor": GRID_COLOUR,
        "linecolor": LINE_COLOUR,
        "showline": True,
        "zeroline": False,
        "automargin": True,
    }
    found: dict[str, Any] = style | {"ticks": "outside", "ticklen": 4, "tickcolor": LINE_COLOUR, "nticks": 7}
    note = ", log scale" if axis.scale in ("log", "symlog") and axis.label else ""
    found["title"] = {
        "text": escape_html(axis.label + note),
        "standoff": 8,
        "font": {"size": 12, "color": SOFT_COLOUR},
    }
    found |= {"tickformat": tick, "ticksuffix": unit, "hoverformat": form, "exponentformat": "SI"}
    low, high = axis.range or extent
    shown: list[float] | None
    if axis.scale == "log":
        found["type"] = "log"
        bottom, top = np.log10([max(low, 1e-300), max(high, 1e-300)]).tolist()
        pad = 0.0 if axis.range else max(0.02 * (top - bottom), 0.02)
        shown = [bottom - pad, top + pad]
    elif axis.scale == "symlog":
        ticks = chart_spec.symlog_ticks(low, high)
        found |= {"tickvals": chart_spec.symlog_positions(np.array(ticks)).tolist()}
        found["ticktext"] = [words.format_quantity(one, axis.kind) for one in ticks]
        shown = (
            [float(chart_spec.symlog_positions(np.array(one))) for one in axis.range] if axis.range else None
        )
    else:
        shown = list(axis.range) if axis.range else None
        if axis.whole_numbers and high - low < 7:
            found["dtick"] = 1
    if axis.ticks == ():
        found |= {"showticklabels": False, "ticks": "", "showgrid": False}
    elif axis.ticks is not None:
        places, texts = zip(*axis.ticks, strict=True)
        found |= {"tickvals": [*places], "ticktext": [*map(escape_html, texts)]}
    if shown is not None:
        found["range"] = shown[::-1] if axis.reversed else shown
    elif axis.reversed:
        found["autorange"] = "reversed"
    return found


def shaded_span(mark: chart_spec.Span, index: int) -> dict[str, Any]:
    """Returns the shape of a shaded part of the x axis."""
    place = {
        "xref": f"x{axis_suffix(index)}",
        "yref": f"y{axis_suffix(index)} domain",
        "y0": 0,
        "y1": 1,
        "layer": "below",
    }
    look = {"type": "rect", "fillcolor": "rgba(136,136,136,0.13)", "line": {"width": 0}}
    return look | place | {"x0": mark.start, "x1": mark.end}


def event_line_shapes(mark: chart_spec.EventLine, index: int) -> list[dict[str, Any]]:
    """Returns the line of an event on a wider white line, so that it is visible on any colour."""
    place = {
        "xref": f"x{axis_suffix(index)}",
        "yref": f"y{axis_suffix(index)} domain",
        "y0": 0,
        "y1": 1,
        "layer": "above",
    }
    looks = (
        {"color": "rgba(255,255,255,0.8)", "width": 2},
        {"color": INK_COLOUR, "width": 1, "dash": "dash"},
    )
    return [place | {"type": "line", "line": look, "x0": mark.time, "x1": mark.time} for look in looks]


def event_labels(panel: Panel, index: int, letters: int) -> list[dict[str, Any]]:
    """Returns the labels of events at the upper ends of their lines."""
    look = {
        "showarrow": False,
        "xref": f"x{axis_suffix(index)}",
        "yref": f"y{axis_suffix(index)} domain",
        "y": 1,
    }
    look |= {"yanchor": "top", "font": {"size": 10, "color": SOFT_COLOUR}, "borderpad": 0}
    look["bgcolor"] = "rgba(255,255,255,0.7)"
    return [
        look
        | {"x": mark.time, "text": escape_html(mark.label), "xanchor": "right" if left else "left"}
        | {"xshift": -3 if left else 3, "yshift": -13 * row}
        for mark, row, left in words.place_event_labels(panel, letters)
    ]


def panel_annotations(panel: Panel, index: int, box: PanelBox, letters: int) -> list[dict[str, Any]]:
    """Returns a panel's title above it, its note in the middle, and the names of tiers."""
    across, up = box
    found: list[dict[str, Any]] = []
    base = {"showarrow": False, "xref": "paper", "yref": "paper"}
    if panel.title:
        text = "<br>".join(escape_html(one) for one in textwrap.wrap(panel.title, letters))
        place = {"x": across[0], "y": up[1], "xanchor": "left", "yanchor": "bottom", "yshift": 3}
        found.append(base | place | {"text": text, "align": "left", "font": {"size": 12.5}})
    if panel.note:
        place = {"x": sum(across) / 2, "y": sum(up) / 2, "xanchor": "center", "yanchor": "middle"}
        found.append(base | place | {"text": escape_html(panel.note), "font": {"color": SOFT_COLOUR}})
    if panel.corner:
        place = {"x": across[0], "y": up[0], "xanchor": "left", "yanchor": "bottom", "xshift": 8, "yshift": 6}
        text = "<br>".join(escape_html(one) for one in panel.corner)
        found.append(
            base | place | {"text": text, "align": "left", "font": {"color": SOFT_COLOUR, "size": 11}}
        )
    for mark in panel.marks:
        for y, name in mark.tiers if isinstance(mark, chart_spec.Graph) else ():
            place = {
                "x": across[0],
                "y": y,
                "yref": f"y{axis_suffix(index)}",
                "xanchor": "right",
                "xshift": -4,
            }
            found.append(
                base | place | {"text": escape_html(name), "font": {"color": SOFT_COLOUR, "size": 11}}
            )
    return found


def colour_axis(colours: Colours, narrow: bool) -> dict[str, Any]:
    """Returns the colour scale, beside the panels or, on a narrow page, below them."""
    low, high = colours.ends
    label = escape_html(", ".join(part for part in (colours.label, words.log_scale_note(colours)) if part))
    bar: dict[str, Any] = {
        "thickness": 12,
        "outlinewidth": 1,
        "outlinecolor": LINE_COLOUR,
        "title": {"text": label, "font": {"size": 11.5}},
    }
    ticks = words.colour_ticks(colours)
    bar |= {"tickvals": [at for at, _ in ticks], "ticktext": [text for _, text in ticks]}
    bar["tickfont"] = {"size": 11}
    if narrow:
        bar |= {
            "orientation": "h",
            "x": 0.5,
            "y": 0,
            "yanchor": "top",
            "ypad": 46,
            "title": {"text": label, "side": "top"},
        }
    else:
        bar |= {"x": 1.01, "xpad": 4, "title": {"text": label, "side": "right", "font": {"size": 11.5}}}
    scale = [[at, colour] for at, colour in colours.stops]
    return {"cmin": low, "cmax": high, "colorscale": scale, "colorbar": bar}
