"""Drawings of figure 6 and of section 5.2's other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill.charts import mpl
from overspill.charts.spec import look
from overspill.papers.dibs import testbed
from overspill.papers.pabo.bars import Bars, grouped
from overspill.papers.pabo.common import Published, legend, marked, sheet
from overspill.papers.spec import Point, Runs

Sweeps = Mapping[str, Runs]
Times = Callable[[str, Point], np.ndarray]  # of a variant at a point, ms


def draw_queries(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 6a: completion times of the 50 queries."""
    found = testbed.CALIBRATED
    ends = [
        (published.get((found, "slowest_infinite")), 1.0),
        (published.get((found, "slowest_DIBS")), 1.0),
        (published.get((found, "fastest_droptail")), 0.0),
        (published.get((found, "slowest_droptail")), 1.0),
    ]
    runs = sweeps["testbed"]
    return distributions(lambda variant, point: testbed.qct(runs, variant, point), "query", ends)


def draw_flows(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 6b: durations of all flows of all queries."""
    late = published.get((f"{testbed.CALIBRATED}, droptail", "flows_of_25_to_50_ms"))
    ends = [
        (published.get((f"{testbed.CALIBRATED}, DIBS", "longest_flow")), 1.0),
        (None if late is None else float(testbed.DELAYED[0]), 1 - (late or 0) / 100),
    ]
    runs = sweeps["testbed"]
    return distributions(
        lambda variant, point: np.concatenate(testbed.durations(runs, variant, point)), "flow", ends
    )


def distributions(times: Times, what: str, ends: Sequence[tuple[float | None, float]]) -> Drawing:
    """Distributions at both rates; what was published beside those at the rate that was solved from it."""
    with mpl.style():
        made, panels = sheet(2)
        for axes, (case, rate) in zip(panels, testbed.RATES.items(), strict=True):
            for at, (variant, name) in enumerate(testbed.NAMES.items()):
                distribution(axes, times(variant, {testbed.RATE: rate}), at, name)
            calibrated = case == testbed.CALIBRATED
            if calibrated:
                marked(axes, [(x, y) for x, y in ends if x is not None])
            axes.set_title(f"{case}, solved from the paper's 25 ms" if calibrated else case)
            axes.set_xlabel(f"time of a {what} (ms)")
            axes.set_ylim(-0.03, 1.03)
            axes.set_xlim(0, panels[0].get_xlim()[1] if not calibrated else None)
            legend(axes, loc="lower right")
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
    """The slowest query of each setting of section 5.2."""
    found = [testbed.slowest(sweeps, case) for case in testbed.OTHERS]
    kinds = (testbed.DROPTAIL, testbed.DIBS)
    values = [[np.array([one[variant]]) for one in found] for variant in kinds]
    with mpl.style():
        made, [axes] = sheet(1)
        grouped(axes, list(testbed.OTHERS), Bars([testbed.NAMES[one] for one in kinds], values, first=1))
        axes.set_ylabel("slowest of the queries (ms)")
        axes.set_title("One thing changed of 32 KB, 10 flows a host, 100 packets")
    return made
