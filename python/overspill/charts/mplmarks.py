"""Drawing of a panel's marks in matplotlib axes: lines, bands, points, matrices, networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.patheffects import withStroke

from overspill.charts import spec
from overspill.charts.spec import Colours, Panel

INSTANT = "#444b52"
HALO = [withStroke(linewidth=2, foreground="white")]


def line(look: spec.Look) -> dict[str, Any]:
    """Returns a look as matplotlib properties."""
    return {
        "color": look.colour,
        "linestyle": (0, look.dash) if look.dash else "-",
        "linewidth": look.width,
        "alpha": look.opacity if look.opacity < 1 else None,
        "zorder": 3 - look.width / 10,
    }


def norm(colours: Colours) -> Normalize:
    """Returns the mapping of the scale to the range of colours."""
    return Normalize(*colours.ends)


def shades(colours: Colours) -> Colormap:
    """Returns the colour map from the lowest value to the largest."""
    return LinearSegmentedColormap.from_list("overspill", list(colours.stops), N=512)


def upright(axes: Axes, mark: spec.Instant) -> None:
    """Draws the line of an event, over a white one that makes it visible on any colour."""
    axes.axvline(mark.at, color="white", linewidth=2, alpha=0.8, zorder=3.3)
    axes.axvline(mark.at, color=INSTANT, linewidth=1, linestyle=(0, (2, 1.5)), zorder=3.4)


def draw(axes: Axes, panel: Panel, colours: Colours | None) -> None:
    """Draws every mark of a panel in order."""
    for mark in panel.marks:
        match mark:
            case spec.Line():
                curve(axes, mark)
            case spec.Band():
                area(axes, mark)
            case spec.Points():
                points(axes, mark)
            case spec.Bars():
                axes.bar(mark.x, mark.height, mark.width, color=mark.look.colour, alpha=mark.look.opacity)
                errors(axes, mark, mark.height)
            case spec.Heat():
                heat(axes, mark, colours or Colours(0, 1, ""))
            case spec.Span():
                axes.axvspan(mark.start, mark.end, color="#888888", alpha=0.13, linewidth=0, zorder=0)
            case spec.Instant():
                upright(axes, mark)
            case spec.Graph():
                graph(axes, mark, colours)
    texts(axes, panel)


def texts(axes: Axes, panel: Panel) -> None:
    """Writes the note and the corner text of a panel."""
    look: dict[str, Any] = {"transform": axes.transAxes, "color": "#5c6670"}
    if panel.note:
        axes.text(0.5, 0.5, panel.note, ha="center", va="center", **look)
    if panel.corner:
        text = "\n".join(panel.corner)
        axes.text(0.03, 0.04, text, ha="left", va="bottom", fontsize=8.5, zorder=5, **look)


def area(axes: Axes, mark: spec.Band) -> None:
    """Draws a band."""
    style: dict[str, Any] = {"facecolor": mark.look.colour, "alpha": mark.opacity, "linewidth": 0}
    axes.fill_between(mark.x, mark.low, mark.high, step="post" if mark.step else None, **style)


def curve(axes: Axes, mark: spec.Line) -> None:
    """Draws a line or steps."""
    drawn = {"post": "steps-post", "pre": "steps-pre"}.get(mark.step, "default")
    axes.plot(mark.x, mark.y, drawstyle=drawn, **line(mark.look))


def points(axes: Axes, mark: spec.Points) -> None:
    """Draws points with their error bars."""
    fill = "white" if mark.hollow else mark.look.colour
    style: dict[str, Any] = {
        "markeredgecolor": mark.look.colour,
        "markerfacecolor": fill,
        "markeredgewidth": 1.2,
    }
    axes.plot(mark.x, mark.y, linestyle="none", marker="o", markersize=mark.size, zorder=3.2, **style)
    errors(axes, mark, mark.y)


def errors(axes: Axes, mark: spec.Points | spec.Bars, middle: np.ndarray) -> None:
    """Draws error bars."""
    if mark.low is not None and mark.high is not None:
        reach = np.maximum([middle - mark.low, mark.high - middle], 0)
        axes.errorbar(
            mark.x, middle, reach, fmt="none", ecolor=mark.look.colour, elinewidth=1.1, capsize=2.5, zorder=3
        )


def heat(axes: Axes, mark: spec.Heat, colours: Colours) -> None:
    """Draws a matrix, with rows from the top."""
    rows = len(mark.rows)
    left, right = float(mark.edges[0]), float(mark.edges[-1])
    axes.imshow(
        np.ma.masked_invalid(colours.placed(mark.values)),
        cmap=shades(colours),
        norm=norm(colours),
        aspect="auto",
        interpolation="nearest",
        extent=(left, right, rows, 0),
    )
    axes.grid(False)
    axes.set_yticks(np.arange(rows) + 0.5, list(mark.rows), fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.hlines(np.arange(1, rows), left, right, color="#eeeeee", linewidth=0.5)


def graph(axes: Axes, mark: spec.Graph, colours: Colours | None) -> None:
    """Draws a network: links, nodes above them, and names."""
    for links in mark.links:
        axes.plot(
            links.x, links.y, color=links.colour, linewidth=links.width, zorder=1, solid_capstyle="round"
        )
    for arc in mark.arcs:
        arrow(axes, arc)
    for nodes in mark.nodes:
        if nodes.symbol == "box":
            boxes(axes, nodes)
            continue
        known = np.isfinite(nodes.value)
        style: dict[str, Any] = {"s": nodes.size**2, "marker": "s" if nodes.symbol == "square" else "o"}
        style |= {"linewidths": 0.5 if nodes.size > 4 else 0}
        edge: dict[str, Any] = {"edgecolors": "#333a42"}
        axes.scatter(
            nodes.x[~known], nodes.y[~known], color=nodes.plain, zorder=2, clip_on=False, **edge, **style
        )
        if known.any() and colours is not None:
            colour: dict[str, Any] = {"c": colours.placed(nodes.value[known])}
            colour |= {"cmap": shades(colours), "norm": norm(colours)}
            axes.scatter(nodes.x[known], nodes.y[known], zorder=2.1, clip_on=False, **colour, **edge, **style)
        names(axes, nodes)
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


def names(axes: Axes, nodes: spec.Nodes) -> None:
    """Writes names, above squares and below circles."""
    shift = -(nodes.size / 2 + 3) if nodes.symbol == "circle" else nodes.size / 2 + 2.5
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 7.5}
    place |= {"va": "top" if shift < 0 else "bottom", "color": "#333a42", "path_effects": HALO}
    for x, y, label in zip(nodes.x, nodes.y, nodes.labels, strict=True):
        if label:
            axes.annotate(label, (x, y), (0, shift), zorder=4, **place)


def arrow(axes: Axes, arc: spec.Arc) -> None:
    """Draws an arc with its head and its text."""
    axes.plot(arc.x[:-2], arc.y[:-2], solid_capstyle="butt", dash_capstyle="butt", **line(arc.look))
    shape = "-|>,head_length=0.5,head_width=0.28"
    head: dict[str, Any] = {"arrowstyle": shape, "color": arc.look.colour, "linewidth": 0}
    head |= {"mutation_scale": 8 + 3 * arc.look.width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (arc.x[-1], arc.y[-1]), (arc.x[-4], arc.y[-4]), arrowprops=head, zorder=3)
    if arc.label:
        box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7.5, "zorder": 4}
        axes.text(*arc.middle, arc.label, color=arc.look.colour, bbox=box, **place)


def boxes(axes: Axes, nodes: spec.Nodes) -> None:
    """Draws nodes as boxes around their names."""
    box = {"boxstyle": "round,pad=0.3", "facecolor": nodes.plain, "edgecolor": "#333a42", "linewidth": 0.8}
    place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": nodes.size, "zorder": 5, "bbox": box}
    for x, y, label in zip(nodes.x, nodes.y, nodes.labels, strict=True):
        axes.text(x, y, label, color="#1b1f24", **place)
