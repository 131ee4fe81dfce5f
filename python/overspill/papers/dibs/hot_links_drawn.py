"""Drawings of figures 3, 4 and 5: hot links over time, and free buffers near them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import Bars, grouped
from overspill.papers.common import Published, marked, sheet
from overspill.papers.dibs import links
from overspill.papers.spec import Runs
from overspill.plots import look

Sweeps = Mapping[str, Runs]
Shares = Callable[[np.ndarray], np.ndarray]  # of utilisations by window

NAMES = {300: "baseline, 300 qps", 2000: "heavy, 2000 qps", 10000: "extreme, 10 000 qps"}
TICKS = (0, 1, 2, 5, 10, 20, 50, 100)


def draw_relative(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 3's substitute."""
    return over_time(sweeps, links.share_by_busiest, "at least half as busy as the busiest", published)


def draw_hot(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 4."""
    return over_time(sweeps, lambda busy: links.share_above(busy, links.HOT), "used to 90 % or more", {})


def draw_half(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 4 with the threshold of its footnote."""
    shares: Shares = lambda busy: links.share_above(busy, links.HALF)  # noqa: E731
    return over_time(sweeps, shares, "used to 50 % or more", published)


def over_time(sweeps: Sweeps, shares: Shares, what: str, published: Published) -> Drawing:
    """Distributions over windows of the share of hot links, in long windows and in short ones."""
    least = [value for _, value in sorted(published.items()) if value is not None]
    with plots.style():
        made, panels = sheet(2)
        for axes, steps in zip(panels, (links.WINDOW, links.SHORT), strict=True):
            for at, (load, name) in enumerate(NAMES.items()):
                found = [shares(one) for one in links.used(sweeps["hot_links"], load, steps)]
                distribution(axes, np.concatenate(found), at, name)
            marked(axes, [(100 * links.FEW, one / 100) for one in least[:1]], "published: at least")
            axes.axvline(100 * links.FEW, color="#8a9199", linewidth=1, linestyle=":")
            axes.set_title(f"Windows of {steps} ms")
            axes.set_xlabel(f"links {what} (%)")
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xlim(0, 100)
            axes.set_xticks(TICKS, list(map(str, TICKS)))
            axes.minorticks_off()
            axes.set_ylim(0, 1.03)
        panels[0].set_ylabel("share of windows")
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside upper right", ncols=4)
    return made


def distribution(axes: Axes, shares: np.ndarray, at: int, name: str) -> None:
    """The share of windows with at most so many hot links."""
    ordered, style = np.sort(100 * shares), look(at)
    drawn: dict[str, Any] = {"color": style.colour, "linewidth": style.width, "where": "post"}
    if style.dash:
        drawn["dashes"] = style.dash
    heights = np.arange(1, len(ordered) + 1) / len(ordered)
    axes.step(np.append(ordered, 100), np.append(heights, 1.0), label=name, **drawn)


def draw_neighbours(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 5: what is free near switches with a hot output."""
    runs = sweeps["hot_links"]
    found = {load: links.neighbours(runs, load) for load in NAMES}
    values = [[np.array([one.free for one in found[load][hops]]) for load in NAMES] for hops in links.HOPS]
    paper = [
        [published.get((f"{load} qps, {name}", "free_buffers")) for load in NAMES]
        for name in links.HOPS.values()
    ]
    hot = [
        np.array([100 * links.share_above(one, links.HOT).mean() for one in links.used(runs, load)])
        for load in NAMES
    ]
    groups = [name.replace(", ", "\n") for name in NAMES.values()]
    with plots.style():
        made, [left, right] = sheet(2)
        grouped(left, groups, Bars(tuple(links.HOPS.values()), values), paper)
        left.set_ylim(0, 104)
        left.set_ylabel("free buffers near a hot output (%)")
        grouped(right, groups, Bars(("hot links",), [hot], first=2))
        for at, one in enumerate(hot):
            right.text(at, one.mean() + 1.5, f"{one.mean():.2g}", ha="center", va="bottom")
        right.set_ylabel("links used to 90 % or more (%)")
    return made
