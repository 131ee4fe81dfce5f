"""Drawing of lines, bands, points, heat maps and networks in the axes of a matplotlib panel."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.patheffects import withStroke

from overspill.charts import chart_spec
from overspill.charts.chart_spec import Colours, Panel

EVENT_LINE_COLOUR = "#444b52"
WHITE_OUTLINE = [withStroke(linewidth=2, foreground="white")]


def line_properties(look: chart_spec.LineStyle) -> dict[str, Any]:
    """Converts a line style to matplotlib's keyword arguments."""
    return {
        "color": look.colour,
        "linestyle": (0, look.dash) if look.dash else "-",
        "linewidth": look.width,
        "alpha": look.opacity if look.opacity < 1 else None,
        "zorder": 3 - look.width / 10,
    }


def colour_norm(colours: Colours) -> Normalize:
    """Returns matplotlib's `Normalize` from the numbers of a colour scale to 0 to 1."""
    return Normalize(*colours.ends)


def colour_map(colours: Colours) -> Colormap:
    """Returns matplotlib's colour map for a colour scale."""
    return LinearSegmentedColormap.from_list("overspill", list(colours.stops), N=512)


def draw_event_line(axes: Axes, mark: chart_spec.EventLine) -> None:
    """Draws the line of an event on a wider white line, so that it is visible on any colour."""
    axes.axvline(mark.time, color="white", linewidth=2, alpha=0.8, zorder=3.3)
    axes.axvline(mark.time, color=EVENT_LINE_COLOUR, linewidth=1, linestyle=(0, (2, 1.5)), zorder=3.4)


def draw_marks(axes: Axes, panel: Panel, colours: Colours | None) -> None:
    """Draws the lines, bands and other marks of a panel in their order, and its texts."""
    for mark in panel.marks:
        match mark:
            case chart_spec.Line():
                draw_line(axes, mark)
            case chart_spec.Band():
                draw_band(axes, mark)
            case chart_spec.Points():
                draw_points(axes, mark)
            case chart_spec.Bars():
                axes.bar(mark.x, mark.height, mark.width, color=mark.look.colour, alpha=mark.look.opacity)
                draw_error_bars(axes, mark, mark.height)
            case chart_spec.HeatMap():
                draw_matrix(axes, mark, colours or Colours(0, 1, ""))
            case chart_spec.Span():
                axes.axvspan(mark.start, mark.end, color="#888888", alpha=0.13, linewidth=0, zorder=0)
            case chart_spec.EventLine():
                draw_event_line(axes, mark)
            case chart_spec.Graph():
                draw_network(axes, mark, colours)
    write_panel_texts(axes, panel)


def write_panel_texts(axes: Axes, panel: Panel) -> None:
    """Writes the note and the corner text of a panel."""
    look: dict[str, Any] = {"transform": axes.transAxes, "color": "#5c6670"}
    if panel.note:
        axes.text(0.5, 0.5, panel.note, ha="center", va="center", **look)
    if panel.corner:
        text = "\n".join(panel.corner)
        axes.text(0.03, 0.04, text, ha="left", va="bottom", fontsize=8.5, zorder=5, **look)


def draw_band(axes: Axes, mark: chart_spec.Band) -> None:
    """Draws the shaded band between two curves."""
    style: dict[str, Any] = {"facecolor": mark.look.colour, "alpha": mark.opacity, "linewidth": 0}
    axes.fill_between(mark.x, mark.low, mark.high, step="post" if mark.step else None, **style)


def draw_line(axes: Axes, mark: chart_spec.Line) -> None:
    """Draws a line, straight or in steps."""
    drawn = {"post": "steps-post", "pre": "steps-pre"}.get(mark.step, "default")
    axes.plot(mark.x, mark.y, drawstyle=drawn, **line_properties(mark.look))


def draw_points(axes: Axes, mark: chart_spec.Points) -> None:
    """Draws points with their error bars."""
    fill = "white" if mark.hollow else mark.look.colour
    style: dict[str, Any] = {
        "markeredgecolor": mark.look.colour,
        "markerfacecolor": fill,
        "markeredgewidth": 1.2,
    }
    axes.plot(mark.x, mark.y, linestyle="none", marker="o", markersize=mark.size, zorder=3.2, **style)
    draw_error_bars(axes, mark, mark.y)


def draw_error_bars(axes: Axes, mark: chart_spec.Points | chart_spec.Bars, middle: np.ndarray) -> None:
    """Draws vertical error bars at points or bars."""
    if mark.low is not None and mark.high is not None:
        reach = np.maximum([middle - mark.low, mark.high - middle], 0)
        axes.errorbar(
            mark.x, middle, reach, fmt="none", ecolor=mark.look.colour, elinewidth=1.1, capsize=2.5, zorder=3
        )


def draw_matrix(axes: Axes, mark: chart_spec.HeatMap, colours: Colours) -> None:
    """Draws a heat map, with its first row at the top."""
    rows = len(mark.rows)
    left, right = float(mark.edges[0]), float(mark.edges[-1])
    axes.imshow(
        np.ma.masked_invalid(colours.positions_of(mark.values)),
        cmap=colour_map(colours),
        norm=colour_norm(colours),
        aspect="auto",
        interpolation="nearest",
        extent=(left, right, rows, 0),
    )
    axes.grid(False)
    axes.set_yticks(np.arange(rows) + 0.5, list(mark.rows), fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.hlines(np.arange(1, rows), left, right, color="#eeeeee", linewidth=0.5)


def draw_network(axes: Axes, mark: chart_spec.Graph, colours: Colours | None) -> None:
    """Draws a network: links, nodes above them, and node names."""
    for links in mark.links:
        axes.plot(
            links.x, links.y, color=links.colour, linewidth=links.width, zorder=1, solid_capstyle="round"
        )
    for arc in mark.arcs:
        draw_labelled_arrow(axes, arc)
    for nodes in mark.nodes:
        if nodes.symbol == "box":
            draw_boxes(axes, nodes)
            continue
        known = np.isfinite(nodes.value)
        style: dict[str, Any] = {"s": nodes.size**2, "marker": "s" if nodes.symbol == "square" else "o"}
        style |= {"linewidths": 0.5 if nodes.size > 4 else 0}
        edge: dict[str, Any] = {"edgecolors": "#333a42"}
        axes.scatter(
            nodes.x[~known],
            nodes.y[~known],
            color=nodes.plain_colour,
            zorder=2,
            clip_on=False,
            **edge,
            **style,
        )
        if known.any() and colours is not None:
            colour: dict[str, Any] = {"c": colours.positions_of(nodes.value[known])}
            colour |= {"cmap": colour_map(colours), "norm": colour_norm(colours)}
            axes.scatter(nodes.x[known], nodes.y[known], zorder=2.1, clip_on=False, **colour, **edge, **style)
        write_node_names(axes, nodes)
    for y, name in mark.tiers:
        side: dict[str, Any] = {"fontsize": 8.5, "color": "#5c6670", "va": "center", "ha": "right"}
        axes.text(-0.02, y, name, transform=axes.get_yaxis_transform(), **side)
    axes.margins(0.02, 0.05 if mark.aspect else 0.14)
    if mark.arcs and not mark.aspect:
        heights = np.concatenate([nodes.y for nodes in mark.nodes])
        bows = np.concatenate([heights, *(links.y for links in mark.links)])
        axes.set(xlim=(0, 1), ylim=(heights.min() - 0.35, max(heights.max() + 0.35, np.nanmax(bows) + 0.05)))
    if mark.aspect:
        axes.set_aspect(mark.aspect, adjustable="datalim")
    axes.axis("off")


def write_node_names(axes: Axes, nodes: chart_spec.Nodes) -> None:
    """Writes names, above squares and below circles."""
    shift = -(nodes.size / 2 + 3) if nodes.symbol == "circle" else nodes.size / 2 + 2.5
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 7.5}
    place |= {"va": "top" if shift < 0 else "bottom", "color": "#333a42", "path_effects": WHITE_OUTLINE}
    for x, y, label in zip(nodes.x, nodes.y, nodes.labels, strict=True):
        if label:
            axes.annotate(label, (x, y), (0, shift), zorder=4, **place)


def draw_labelled_arrow(axes: Axes, arc: chart_spec.LabelledArrow) -> None:
    """Draws an arrow along a path, with its head and its text."""
    axes.plot(
        arc.x[:-2], arc.y[:-2], solid_capstyle="butt", dash_capstyle="butt", **line_properties(arc.look)
    )
    shape = "-|>,head_length=0.5,head_width=0.28"
    head: dict[str, Any] = {"arrowstyle": shape, "color": arc.look.colour, "linewidth": 0}
    head |= {"mutation_scale": 8 + 3 * arc.look.width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (arc.x[-1], arc.y[-1]), (arc.x[-4], arc.y[-4]), arrowprops=head, zorder=3)
    if arc.label:
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7.5, "zorder": 4}
        axes.text(*arc.middle, arc.label, color=arc.look.colour, bbox=box, **place)


def draw_boxes(axes: Axes, nodes: chart_spec.Nodes) -> None:
    """Draws nodes as boxes around their names."""
    box = {
        "boxstyle": "round,pad=0.3",
        "facecolor": nodes.plain_colour,
        "edgecolor": "#333a42",
        "linewidth": 0.8,
    }
    place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": nodes.size, "zorder": 5, "bbox": box}
    for x, y, label in zip(nodes.x, nodes.y, nodes.labels, strict=True):
        axes.text(x, y, label, color="#1b1f24", **place)
