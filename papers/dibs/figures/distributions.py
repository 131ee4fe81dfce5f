"""Drawings of DIBS's figures 3 to 6: hot links, free buffers near them, and testbed times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.papers.bars import BarGroups, draw_grouped_bars
from overspill.papers.common import PublishedValues, draw_legend, draw_published_values, new_panels
from overspill.papers.spec import Draw, Point, Sweeps
from overspill.plots import look

from ..measures import hot_links, testbed
from ..measures.hot_links import HALF_UTILISATION, HOP_LABELS, HOT_UTILISATION, share_above

LOAD_LABELS = {300: "baseline, 300 qps", 2000: "heavy, 2000 qps", 10000: "extreme, 10 000 qps"}
TICKS = (0, 1, 2, 5, 10, 20, 50, 100)
ShareFunction = Callable[[np.ndarray], np.ndarray]  # shares of links from their utilisations, by window
TimeFunction = Callable[[str, Point], np.ndarray]  # times of a variant at a point, in ms


def draw_hot_links(sweeps: Sweeps, _: PublishedValues) -> Drawing:
    """Draws figure 4: the share of hot links, without published values."""
    return draw_hot_link_distributions(
        partial(share_above, least=HOT_UTILISATION), "with utilisation of 90% or more", sweeps, {}
    )


def draw_hot_link_distributions(
    shares: ShareFunction, what: str, sweeps: Sweeps, published: PublishedValues
) -> Drawing:
    """Draws distributions over windows of the share of hot links, for long and short windows."""
    least = [value for _, value in sorted(published.items()) if value is not None]
    made, panels = new_panels(2)
    for axes, steps in zip(panels, (hot_links.WINDOW_STEPS, hot_links.SHORT_WINDOW_STEPS), strict=True):
        for at, (load, name) in enumerate(LOAD_LABELS.items()):
            found = [shares(one) for one in hot_links.link_utilisations(sweeps["hot_links"], load, steps)]
            draw_share_distribution(axes, np.concatenate(found), at, name)
        draw_published_values(
            axes, [(100 * hot_links.FEW_LINKS_SHARE, one / 100) for one in least[:1]], "published: at least"
        )
        axes.axvline(100 * hot_links.FEW_LINKS_SHARE, color="#8a9199", linewidth=1, linestyle=":")
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


def draw_share_distribution(axes: Axes, shares: np.ndarray, at: int, name: str) -> None:
    """Draws the share of windows in which the share of hot links is at most the value on the axis."""
    values, windows = np.unique(100 * shares, return_counts=True)  # thousands of windows, few values
    heights = np.cumsum(windows) / len(shares)
    axes.step(np.append(values, 100), np.append(heights, 1.0), label=name, **step_style(at))


def step_style(at: int) -> dict[str, Any]:
    """Returns matplotlib's style for the n-th distribution, a step line."""
    style = look(at)
    drawn = {"color": style.colour, "linewidth": style.width, "where": "post"}
    return drawn | {"dashes": style.dash} if style.dash else drawn


def draw_neighbours(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 5: free buffers near switches with a hot output."""
    runs = sweeps["hot_links"]
    found = {load: hot_links.neighbour_buffers(runs, load) for load in LOAD_LABELS}
    values = [
        [np.array([one.free for one in found[load][hops]]) for load in LOAD_LABELS] for hops in HOP_LABELS
    ]
    paper = [
        [published.get((f"{load} qps, {name}", "free_buffers")) for load in LOAD_LABELS]
        for name in HOP_LABELS.values()
    ]
    hot = [
        np.array(
            [
                100 * share_above(one, HOT_UTILISATION).mean()
                for one in hot_links.link_utilisations(runs, load)
            ]
        )
        for load in LOAD_LABELS
    ]
    groups = [name.replace(", ", "\n") for name in LOAD_LABELS.values()]
    made, [left, right] = new_panels(2)
    draw_grouped_bars(left, groups, BarGroups(tuple(HOP_LABELS.values()), values), paper)
    left.set_ylim(0, 104)
    left.set_ylabel("free buffer near a hot output (%)")
    draw_grouped_bars(right, groups, BarGroups(("hot links",), [hot], first_colour=2))
    for at, one in enumerate(hot):
        right.text(at, one.mean() + 1.5, f"{one.mean():.2g}", ha="center", va="bottom")
    right.set_ylabel("links with utilisation of 90% or more (%)")
    return made


def draw_queries(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 6a: completion times of the 50 queries."""
    found = testbed.CALIBRATED_RATE
    ends = [
        (published.get((found, "slowest_infinite")), 1.0),
        (published.get((found, "slowest_DIBS")), 1.0),
        (published.get((found, "fastest_droptail")), 0.0),
        (published.get((found, "slowest_droptail")), 1.0),
    ]
    runs = sweeps["testbed"]
    return draw_time_distributions(
        lambda variant, point: testbed.query_times(runs, variant, point), "query", ends
    )


def draw_flows(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws figure 6b: durations of all flows of all queries."""
    late = published.get((f"{testbed.CALIBRATED_RATE}, droptail", "flows_of_25_to_50_ms"))
    ends = [
        (published.get((f"{testbed.CALIBRATED_RATE}, DIBS", "longest_flow")), 1.0),
        (None if late is None else float(testbed.DELAYED_FLOW_MS[0]), 1 - (late or 0) / 100),
    ]
    runs = sweeps["testbed"]
    return draw_time_distributions(
        lambda variant, point: np.concatenate(testbed.flow_times(runs, variant, point)), "flow", ends
    )


def draw_time_distributions(
    times: TimeFunction, what: str, ends: Sequence[tuple[float | None, float]]
) -> Drawing:
    """Draws distributions of times at both link rates, with published values for the derived rate."""
    made, panels = new_panels(2)
    for axes, (case, rate) in zip(panels, testbed.RATE_VALUES.items(), strict=True):
        for at, (variant, name) in enumerate(testbed.NAMES.items()):
            draw_time_distribution(axes, times(variant, {testbed.RATE_PATH: rate}), at, name)
        calibrated = case == testbed.CALIBRATED_RATE
        if calibrated:
            draw_published_values(axes, [(x, y) for x, y in ends if x is not None])
        axes.set_title(f"{case}, derived from the paper's 25 ms" if calibrated else case)
        axes.set_xlabel(f"time of a {what} (ms)")
        axes.set_ylim(-0.05, 1.06)
        axes.set_xlim(left=0)
        draw_legend(axes, loc="center left" if what == "query" else "lower right")
    panels[0].set_ylabel(f"share of {'queries' if what == 'query' else 'flows'}")
    return made


def draw_time_distribution(axes: Axes, times: np.ndarray, at: int, name: str) -> None:
    """Draws the distribution of times as a step line: the share of times up to each value."""
    ordered = np.sort(times[np.isfinite(times)])
    x, shares = np.append(ordered[:1], ordered), np.arange(len(ordered) + 1) / max(len(times), 1)
    axes.step(x, shares, label=name, **step_style(at))


def draw_other_settings(sweeps: Sweeps, published: PublishedValues) -> Drawing:
    """Draws the fastest, median and slowest query time of each other setting of section 5.2."""
    made, [axes] = new_panels(1)
    for at, variant in ((1, testbed.DROPTAIL), (2, testbed.DIBS)):
        found = [testbed.query_times_of_case(sweeps, case, variant) for case in testbed.OTHER_SETTINGS]
        places = np.arange(len(found)) + 0.24 * (at - 1.5)
        low, high = [one.min() for one in found], [one.max() for one in found]
        axes.vlines(places, low, high, color=look(at).colour, linewidth=9, alpha=0.45)
        middle = [float(np.median(one)) for one in found]
        axes.plot(places, middle, "o", color=look(at).colour, label=testbed.NAMES[variant])
    axes.set_xticks(range(len(testbed.OTHER_SETTINGS)), list(testbed.OTHER_SETTINGS))
    axes.grid(visible=False, axis="x")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("time of a query (ms)")
    axes.set_title(
        "Fastest, median and slowest query. Each setting changes one of: 32 KB, 10 flows, 100 packets"
    )
    axes.legend(loc="upper right")
    return made


DRAWINGS: dict[str, Draw] = {
    "fig3": partial(
        draw_hot_link_distributions, hot_links.share_by_busiest, "at least half as busy as the busiest"
    ),
    "fig4": draw_hot_links,
    "fig4fn": partial(
        draw_hot_link_distributions,
        partial(share_above, least=HALF_UTILISATION),
        "with utilisation of 50% or more",
    ),
    "fig5": draw_neighbours,
    "fig6a": draw_queries,
    "fig6b": draw_flows,
    "sec5.2": draw_other_settings,
}
