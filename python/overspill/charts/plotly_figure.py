"""Drawing of a chart as a plotly figure for the HTML page: zoomable, with hover texts."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from overspill.charts import chart_spec
from overspill.charts.axes import escape_html
from overspill.charts.chart_spec import Axis, Chart, Colours, Panel
from overspill.charts.plotly_layout import D3_FORMATS, axis_suffix, build_layout


def build_plotly_figure(chart: Chart, narrow: bool = False) -> dict[str, Any]:
    """Returns `data` and `layout` for plotly.js; `narrow` puts all panels below each other."""
    data = []
    for index, panel in enumerate(chart.panels):
        data += [one for mark in panel.marks for one in build_traces(mark, chart, panel, index)]
        if panel.note:
            data.append(empty_trace(index))
    return {"data": data, "layout": build_layout(chart, narrow)}


def dump_json(value: Any) -> str:
    """Returns JSON that is safe in a page's script; long arrays are base64 bytes, which plotly.js reads."""
    text = json.dumps(value, default=encode_array, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def encode_array(array: Any) -> Any:
    """Returns an array as JSON data: a list if it is short and finite, else base64 bytes for plotly.js."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"no JSON for {type(array).__name__}")
    if array.size < 24 and np.isfinite(array).all():
        return array.tolist()
    found = {"dtype": "f8", "bdata": base64.b64encode(array.astype("<f8").tobytes()).decode()}
    return found | ({"shape": ", ".join(str(one) for one in array.shape)} if array.ndim > 1 else {})


def symlog_or_raw(values: np.ndarray, axis: Axis) -> np.ndarray:
    """Returns values as positions on an axis: transformed for a `symlog` axis, which plotly does not have."""
    return chart_spec.symlog_positions(values) if axis.scale == "symlog" else np.asarray(values, np.float64)


def empty_trace(index: int) -> dict[str, Any]:
    """Returns a trace without points, so that an empty panel has its axes."""
    nothing = {"type": "scatter", "mode": "lines", "x": [None], "y": [None], "hoverinfo": "skip"}
    return nothing | {"xaxis": f"x{axis_suffix(index)}", "yaxis": f"y{axis_suffix(index)}"}


def build_traces(mark: chart_spec.Mark, chart: Chart, panel: Panel, index: int) -> list[dict[str, Any]]:
    """Returns plotly's traces of a line, band or other mark; spans and events are in `layout` instead."""
    where = {"xaxis": f"x{axis_suffix(index)}", "yaxis": f"y{axis_suffix(index)}", "showlegend": False}
    match mark:
        case chart_spec.Span() | chart_spec.EventLine():
            return []
        case chart_spec.Band():
            found = band_traces(mark, panel)
        case chart_spec.HeatMap():
            found = [heat_trace(mark, chart.colours or Colours(0, 1, ""), panel.x)]
        case chart_spec.Graph():
            found = network_traces(mark, chart.colours)
        case chart_spec.Bars():
            found = [bars_trace(mark, panel)]
        case chart_spec.Points():
            found = [points_trace(mark, panel)]
        case chart_spec.Line():
            found = [line_trace(mark, panel)]
    entry = getattr(mark, "entry", "")
    group = {"legendgroup": entry, "name": legend_label(chart, entry)} if entry else {}
    return [where | group | one for one in found]


def legend_label(chart: Chart, key: str) -> str:
    """Returns the label of a legend entry, escaped for HTML."""
    return escape_html(next((entry.label for entry in chart.legend if entry.key == key), key))


def line_properties(look: chart_spec.LineStyle, step: str = "") -> dict[str, Any]:
    """Converts a line style to plotly's properties."""
    dash = ",".join(f"{length * look.width:.3g}px" for length in look.dash) or "solid"
    found = {"color": look.colour, "width": look.width, "dash": dash}
    return found | ({"shape": "hv" if step == "post" else "vh"} if step else {})


def hover_properties(panel: Panel, hover: Sequence[str]) -> dict[str, Any]:
    """Returns plotly's properties for hover texts: the x value, and a point's own text or its y value."""
    x, y = panel.x, panel.y
    first = (
        f"{escape_html(x.label)}: {hover_number_format('x', x)}" if x.label else hover_number_format("x", x)
    )
    if hover:
        return {"text": list(hover), "hovertemplate": f"{first}<br>%{{text}}"}
    return {"hovertemplate": f"{first}<br>{escape_html(y.label)}: {hover_number_format('y', y)}"}


def hover_number_format(which: str, axis: Axis) -> str:
    """Returns plotly's template for a number in a hover text; `symlog` axes use `customdata`."""
    _, form, unit = D3_FORMATS[axis.kind]
    source = "customdata" if axis.scale == "symlog" else which
    return f"%{{{source}:{form}}}{unit}"


def original_numbers(
    mark: chart_spec.Line | chart_spec.Points | chart_spec.Bars, panel: Panel
) -> dict[str, Any]:
    """Returns the numbers before a `symlog` transformation of an axis, as `customdata`; empty without one."""
    if panel.x.scale == "symlog":
        return {"customdata": np.asarray(mark.x, np.float64)}
    if panel.y.scale == "symlog":
        return {
            "customdata": np.asarray(mark.height if isinstance(mark, chart_spec.Bars) else mark.y, np.float64)
        }
    return {}


def line_trace(mark: chart_spec.Line, panel: Panel) -> dict[str, Any]:
    """Returns the trace of a line or of steps."""
    found = {"type": "scatter", "mode": "lines", "line": line_properties(mark.look, mark.step)}
    found |= {"x": symlog_or_raw(mark.x, panel.x), "y": symlog_or_raw(mark.y, panel.y)}
    return found | hover_properties(panel, mark.hover) | original_numbers(mark, panel)


def band_traces(mark: chart_spec.Band, panel: Panel) -> list[dict[str, Any]]:
    """Returns the area between two invisible lines as traces."""
    shape = {"shape": "hv"} if mark.step else {}
    both: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "x": symlog_or_raw(mark.x, panel.x),
    }
    both["line"] = {"color": mark.look.colour, "width": 0} | shape
    upper = {
        "y": symlog_or_raw(mark.high, panel.y),
        "fill": "tonexty",
        "fillcolor": with_opacity(mark.look.colour, mark.opacity),
    }
    return [both | {"y": symlog_or_raw(mark.low, panel.y)}, both | upper]


def with_opacity(colour: str, opacity: float) -> str:
    """Returns a colour with an opacity as CSS text."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def error_bars(mark: chart_spec.Points | chart_spec.Bars, middle: np.ndarray) -> dict[str, Any]:
    """Returns error bars as properties of a trace."""
    if mark.low is None or mark.high is None:
        return {}
    reach = {"array": np.maximum(mark.high - middle, 0), "arrayminus": np.maximum(middle - mark.low, 0)}
    style = {"type": "data", "symmetric": False, "color": mark.look.colour, "thickness": 1.2, "width": 3}
    return {"error_y": style | reach}


def points_trace(mark: chart_spec.Points, panel: Panel) -> dict[str, Any]:
    """Returns the trace of points with their error bars."""
    fill = "#ffffff" if mark.hollow else mark.look.colour
    marker = {"color": fill, "size": mark.size * 1.5, "line": {"color": mark.look.colour, "width": 1.4}}
    found = {"type": "scatter", "mode": "markers", "marker": marker, "cliponaxis": False}
    found |= {"x": symlog_or_raw(mark.x, panel.x), "y": symlog_or_raw(mark.y, panel.y)}
    return (
        found | hover_properties(panel, mark.hover) | error_bars(mark, mark.y) | original_numbers(mark, panel)
    )


def bars_trace(mark: chart_spec.Bars, panel: Panel) -> dict[str, Any]:
    """Returns the trace of bars with their error bars."""
    found = {"type": "bar", "width": mark.width, "marker": {"color": mark.look.colour}}
    found |= {"x": symlog_or_raw(mark.x, panel.x), "y": np.asarray(mark.height, np.float64)}
    return (
        found
        | hover_properties(panel, mark.hover)
        | error_bars(mark, mark.height)
        | original_numbers(mark, panel)
    )


def heat_trace(mark: chart_spec.HeatMap, colours: Colours, x: Axis) -> dict[str, Any]:
    """Returns the trace of a matrix, whose hover texts have the original numbers."""
    _, form, unit = D3_FORMATS[colours.kind]
    middles = (mark.edges[:-1] + mark.edges[1:]) / 2
    across = "%{x}" if x.ticks else hover_number_format("x", x)
    what = f"{escape_html(x.label)}: {across}<br>{escape_html(colours.label)}: %{{customdata:{form}}}{unit}"
    return {
        "type": "heatmap",
        "x": np.asarray(middles, np.float64),
        "y": np.arange(len(mark.rows)) + 0.5,
        "z": colours.positions_of(mark.values),
        "customdata": np.asarray(mark.values, np.float64),
        "coloraxis": "coloraxis",
        "hoverongaps": False,
        "hovertemplate": f"%{{y}}<br>{what}<extra></extra>",
    }


def network_traces(mark: chart_spec.Graph, colours: Colours | None) -> list[dict[str, Any]]:
    """Returns the traces of a network: links, an invisible point on each for hover texts, and nodes."""
    found: list[dict[str, Any]] = []
    for links in mark.links:
        style: dict[str, Any] = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
        style |= {"line": {"color": links.colour, "width": links.width}}
        found.append(style | {"x": links.x, "y": links.y})
        middle: dict[str, Any] = {"type": "scatter", "mode": "markers", "marker": {"size": 7, "opacity": 0}}
        middle |= {"x": links.middle_x, "y": links.middle_y, "text": list(links.hover)}
        found.append(middle | {"hovertemplate": "%{text}<extra></extra>"})
    found += [one for arc in mark.arcs for one in arrow_traces(arc)]
    for nodes in mark.nodes:
        found += [node_trace(nodes, known, colours) for known in (False, True)]
    return [one for one in found if len(one["x"])]


def arrow_traces(arc: chart_spec.LabelledArrow) -> list[dict[str, Any]]:
    """Returns the traces of an arrow, its head, and its text."""
    group = {"legendgroup": arc.entry} if arc.entry else {}
    path = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": line_properties(arc.look)}
    tip: dict[str, Any] = {"type": "scatter", "mode": "markers", "hoverinfo": "skip"}
    marker: dict[str, Any] = {"symbol": "arrow", "angleref": "previous", "color": arc.look.colour}
    tip["marker"] = marker | {"size": [0, 8 + 2 * arc.look.width], "opacity": 1}
    found = [path | {"x": arc.x, "y": arc.y}, tip | {"x": arc.x[-2:], "y": arc.y[-2:]}]
    if arc.label:
        x, y = arc.middle
        text: dict[str, Any] = {"type": "scatter", "mode": "markers+text", "x": [x], "y": [y]}
        text |= {"text": [escape_html(arc.label)], "textfont": {"size": 10.5, "color": arc.look.colour}}
        text["marker"] = {"size": 13, "color": "#ffffff", "opacity": 1}
        found.append(text | {"customdata": [arc.hover], "hovertemplate": "%{customdata}<extra></extra>"})
    return [one | group for one in found]


def node_trace(nodes: chart_spec.Nodes, known: bool, colours: Colours | None) -> dict[str, Any]:
    """Returns the trace of the nodes whose value is known, or of the nodes without a value."""
    keep = np.flatnonzero(np.isfinite(nodes.value) == known).tolist()
    marker: dict[str, Any] = {"symbol": nodes.symbol, "size": nodes.size, "opacity": 1}
    marker["line"] = {"width": 0.8 if nodes.size > 4 else 0, "color": "#333a42"}
    if known and colours is not None:
        marker |= {"color": colours.positions_of(nodes.value[keep]), "coloraxis": "coloraxis"}
    else:
        marker["color"] = nodes.plain_colour
    side = {"circle": "bottom center", "square": "top center", "box": "middle center"}[nodes.symbol]
    group = {"legendgroup": nodes.entry} if nodes.entry else {}
    if nodes.symbol == "box":
        marker |= {"symbol": "square", "size": 5 * nodes.size}
    found: dict[str, Any] = group | {
        "type": "scatter",
        "mode": "markers+text",
        "marker": marker,
        "textposition": side,
    }
    found |= {"x": nodes.x[keep], "y": nodes.y[keep], "text": [escape_html(nodes.labels[at]) for at in keep]}
    found |= {"textfont": {"size": 10, "color": "#333a42"}, "cliponaxis": False}
    return found | {
        "customdata": [nodes.hover[at] for at in keep],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
