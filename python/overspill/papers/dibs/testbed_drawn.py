"""Drawings of figure 6 and of section 5.2's other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.common import Published, legend, marked, sheet
from overspill.papers.dibs import emulab
from overspill.papers.spec import Point, Runs
from overspill.plots import look

Sweeps = Mapping[str, Runs]
Times = Callable[[str, Point], np.ndarray]  # of a variant at a point, ms


def draw_queries(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 6a: completion times of the 50 queries."""
    found = emulab.CALIBRATED
    ends = [
        (published.get((found, "slowest_infinite")), 1.0),
        (published.get((found, "slowest_DIBS")), 1.0),
        (published.get((found, "fastest_droptail")), 0.0),
        (published.get((found, "slowest_droptail")), 1.0),
    ]
    runs = sweeps["testbed"]
    return distributions(lambda variant, point: emulab.qct(runs, variant, point), "query", ends)


def draw_flows(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 6b: durations of all flows of all queries."""
    late = published.get((f"{emulab.CALIBRATED}, droptail", "flows_of_25_to_50_ms"))
    ends = [
        (published.get((f"{emulab.CALIBRATED}, DIBS", "longest_flow")), 1.0),
        (None if late is None else float(emulab.DELAYED[0]), 1 - (late or 0) / 100),
    ]
    runs = sweeps["testbed"]
    return distributions(
        lambda variant, point: np.concatenate(emulab.durations(runs, variant, point)), "flow", ends
    )


def distributions(times: Times, what: str, ends: Sequence[tuple[float | None, float]]) -> Drawing:
    """Distributions at both rates; what was published beside those at the rate that was solved from it."""
    with plots.style():
        made, panels = sheet(2)
        for axes, (case, rate) in zip(panels, emulab.RATES.items(), strict=True):
            for at, (variant, name) in enumerate(emulab.NAMES.items()):
                distribution(axes, times(variant, {emulab.RATE: rate}), at, name)
            calibrated = case == emulab.CALIBRATED
            if calibrated:
                marked(axes, [(x, y) for x, y in ends if x is not None])
            axes.set_title(f"{case}, solved from the paper's 25 ms" if calibrated else case)
            axes.set_xlabel(f"time of a {what} (ms)")
            axes.set_ylim(-0.05, 1.06)
            axes.set_xlim(left=0)
            legend(axes, loc="center left" if what == "query" else "lower right")
        panels[0].set_ylabel(f"share of {'queries' if what == 'query' else 'flows'}")
    return made


def distribution(axes: Axes, times: np.ndarray, at: int, name: str) -> None:
    """The share of times up to each."""
    style, ordered = look(at), np.sort(times[np.isfinite(times)])
    drawn: dict[str, Any] = {"color": style.colour, "linewidth": style.width, "where": "post"}
    if style.dash:
        drawn["dashes"] = style.dash
    shares = np.arange(1, len(ordered) + 1) / max(len(times), 1)
    axes.step(np.concatenate(([ordered[0]], ordered)), np.concatenate(([0.0], shares)), label=name, **drawn)


def draw_others(sweeps: Sweeps, published: Published) -> Drawing:
    """From the fastest query to the slowest, and the median, of each setting of section 5.2."""
    with plots.style():
        made, [axes] = sheet(1)
        for at, variant in ((1, emulab.DROPTAIL), (2, emulab.DIBS)):
            found = [emulab.of_case(sweeps, case, variant) for case in emulab.OTHERS]
            places = np.arange(len(found)) + 0.24 * (at - 1.5)
            low, high = [one.min() for one in found], [one.max() for one in found]
            axes.vlines(places, low, high, color=look(at).colour, linewidth=9, alpha=0.45)
            middle = [float(np.median(one)) for one in found]
            axes.plot(places, middle, "o", color=look(at).colour, label=emulab.NAMES[variant])
        axes.set_xticks(range(len(emulab.OTHERS)), list(emulab.OTHERS))
        axes.grid(visible=False, axis="x")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("time of a query (ms)")
        axes.set_title(
            "Fastest to slowest query, and the median. One thing is changed of 32 KB, 10 flows, 100 packets"
        )
        axes.legend(loc="upper right")
    return made
