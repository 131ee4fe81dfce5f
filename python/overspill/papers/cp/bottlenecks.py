"""Section 6.2, two bottlenecks: figures 2 and 12, and what the section says besides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import MaxNLocator

from overspill import plots
from overspill.papers.common import Curve, Published, legend, measured, quotients, sheet
from overspill.papers.cp.schemes import (
    BOTH,
    CARRIED,
    CP,
    DCTCP_200,
    NAMES,
    TCP,
    TCP_200,
    TIES,
    Sweeps,
    along,
    at,
    chosen,
    listed,
    mean_over,
    modes,
    numbers,
    of,
)
from overspill.papers.spec import Figure, Measured, Point, Runs
from overspill.plots import COLOURS

FLOWS = "traffic.experimental.flows"
FIVE = (TCP, TCP_200, CP, DCTCP_200, BOTH)
SETS = {"few": 5, "middle": 25, "many": 50}  # sweeps, and how many background flows each bottleneck has
BACKGROUND = ("first_a", "first_b", "second_a", "second_b")
RATIOS = range(20, 201, 20)  # experimental flows, in % of the background of one bottleneck
BACK = 60e-6  # s, what an ACK takes on its way back, which is idle: two stacks, four links and its own time
SEGMENT = 1448 * 8


def theory(ratio: float) -> float:
    """Goodput of all experimental flows that shares by round trips give, bit/s (footnote 10)."""
    return ratio / (2 + ratio) * CARRIED


def by_theory(runs: Runs, variant: str, background: int, points: Sequence[Point]) -> Curve:
    """Goodput of all experimental flows by theory, seeds by points."""
    shares = np.array([theory(float(point[FLOWS]) / background) for point in points])
    return np.asarray(along(runs, of("goodput", "experimental"), variant, points) / shares)


def loss_ratio(runs: Runs, variant: str, workloads: Sequence[str]) -> np.ndarray:
    """Packets lost by those lost or delivered of workloads, over all points, %, seed by seed."""
    window = 4.0
    lost = sum(along(runs, of("drops", one), variant, runs.points).sum(axis=1) for one in workloads)
    there = sum(along(runs, of("goodput", one), variant, runs.points).sum(axis=1) for one in workloads)
    return 100 * quotients(np.asarray(lost), np.asarray(lost + there * window / SEGMENT))


def figure_2(sweeps: Sweeps) -> Iterator[Measured]:
    """Who has less than theory says, with TCP."""
    for name, background in SETS.items():
        runs = sweeps[name]
        for variant in (TCP, TCP_200):
            case = f"{background} background flows" + (", TCP 200 ms" if variant == TCP_200 else "")
            found = by_theory(runs, variant, background, runs.points)
            note = listed(
                [point[FLOWS] + " flows" for point in runs.points], list(found.mean(axis=0)), "of theory"
            )
            note = "; ".join(filter(None, (note, modes(found, "of theory"))))
            yield measured(case, "experimental_goodput_by_theory", mean_over(found), note)
        more = loss_ratio(runs, TCP, ["experimental"]) - loss_ratio(runs, TCP, BACKGROUND)
        yield measured(f"{background} background flows", "loss_ratio_of_experimental_less_background", more)


def figure_12_theory(_: Sweeps) -> Iterator[Measured]:
    """The line of theory."""
    for ratio in RATIOS:
        yield measured(f"{ratio} %", "theory", [theory(ratio / 100) / 1e6])


def levels(sweeps: Sweeps, name: str, mode: str) -> dict[str, np.ndarray]:
    """Mean share of theory of every scheme, %."""
    runs = sweeps[name + mode]
    return {one: 100 * mean_over(by_theory(runs, one, SETS[name], runs.points)) for one in FIVE}


def figure_12a(sweeps: Sweeps) -> Iterator[Measured]:
    """Five background flows."""
    for mode, told in TIES.items():
        runs, found = sweeps[f"few{mode}"], levels(sweeps, "few", mode)
        above = chosen(runs, FLOWS, 9)
        for variant in (DCTCP_200, TCP, CP):
            note = modes(100 * by_theory(runs, variant, SETS["few"], runs.points), "%")
            yield measured(f"{NAMES[variant]}{told}", "goodput_by_theory", found[variant], note)
        yield measured(f"TCP less CP{told}", "goodput_by_theory", found[TCP] - found[CP])
        for variant in FIVE:
            shares = by_theory(runs, variant, SETS["few"], above)
            case = f"{NAMES[variant]}, more than 8 flows{told}"
            yield measured(case, "goodput_by_theory", mean_over(shares), modes(shares, "of theory"))


def figure_12b(sweeps: Sweeps) -> Iterator[Measured]:
    """Fifty background flows."""
    for mode, told in TIES.items():
        runs, found = sweeps[f"many{mode}"], levels(sweeps, "many", mode)
        yield measured(f"CP{told}", "goodput_by_theory", found[CP])
        yield measured(f"CP&DCTCP{told}", "goodput_by_theory", found[BOTH])
        if not mode:
            shares = 100 * by_theory(runs, BOTH, SETS["many"], runs.points)
            # The point is that of the mean over seeds: the largest of each seed would be larger by chance.
            top = int(shares.mean(axis=0).argmax())
            note = f"at {runs.points[top][FLOWS]} experimental flows"
            yield measured("CP&DCTCP", "largest_goodput_by_theory", shares[:, top], note)
        others = np.min([found[one] for one in FIVE if one != TCP_200], axis=0)
        case = f"TCP 200 ms less the lowest other{told}"
        yield measured(case, "goodput_by_theory", found[TCP_200] - others)
        last = [at(runs, FLOWS, 2 * SETS["many"])]
        for variant in (TCP, DCTCP_200):
            share = by_theory(runs, variant, SETS["many"], last)[:, 0]
            case = f"{NAMES[variant]}, 200 %{told}"
            yield measured(case, "goodput_by_theory", share, modes(share, "of theory"))
        yield measured(f"CP&DCTCP less CP{told}", "goodput_by_theory", found[BOTH] - found[CP])


def besides(sweeps: Sweeps) -> Iterator[Measured]:
    """Round trips of both kinds of flows, and how fair TCP is at low and at high loss."""
    runs = sweeps["many"]
    point = at(runs, FLOWS, SETS["many"])
    theirs = np.mean([runs.metric(of("delay_mean", one), TCP, point) for one in BACKGROUND], axis=0) + BACK
    ours = runs.metric(of("delay_mean", "experimental"), TCP, point) + BACK
    case = "50 background, 50 experimental flows, TCP"
    yield measured(case, "round_trip_of_experimental_by_background", quotients(ours, theirs))
    apart = {
        name: np.abs(by_theory(sweeps[name], TCP, SETS[name], sweeps[name].points) - 1)
        for name in ("few", "many")
    }
    count = min(len(one) for one in apart.values())  # seeds that both sweeps have
    nearer = mean_over(apart["few"][:count]) - mean_over(apart["many"][:count])
    yield measured("5 less 50 background flows, TCP", "distance_from_1_of_goodput_by_theory", nearer)


def panel(axes: Axes, runs: Runs, background: int, variants: Sequence[str]) -> None:
    """Goodput of the experimental flows beside the line of theory."""
    flows = numbers(runs, FLOWS)
    for variant in variants:
        colour = COLOURS[list(NAMES).index(variant) % len(COLOURS)]
        values = along(runs, of("goodput", "experimental"), variant, runs.points) / 1e6
        # DCTCP has what CP&DCTCP has where few flows compete: over its line, so that both are seen.
        style: dict[str, Any] = {"linestyle": (0, (4, 2)), "zorder": 3} if variant == DCTCP_200 else {}
        axes.plot(flows, values.mean(axis=0), color=colour, label=NAMES[variant], **style)
        # All or nothing, run by run: an interval of so few would fill the panel and say less.
        axes.plot(flows, values.T, ".", color=colour, markersize=4, alpha=0.6)
    line = [theory(one / background) / 1e6 for one in flows]
    axes.plot(flows, line, color="black", linestyle="--", label="theory")
    axes.set_xlabel("experimental flows; dots: runs")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    # Below 0, so that what starves is seen; up to the link's rate.
    axes.set_ylim(-30, 1000)


def draw_2(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 2: TCP alone."""
    with plots.style():
        made, panels = sheet(3)
        for axes, (name, background) in zip(panels, SETS.items(), strict=True):
            panel(axes, sweeps[name], background, (TCP, TCP_200))
            axes.set_title(f"{background} background flows")
        panels[0].set_ylabel("goodput (Mb/s)")
        legend(panels[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_12(name: str, sweeps: Sweeps) -> Drawing:
    """Every scheme, with hosts that scatter and with exact ones."""
    with plots.style():
        made, panels = sheet(3)
        for axes, (mode, told) in zip(panels, TIES.items(), strict=True):
            panel(axes, sweeps[name + mode], SETS[name], FIVE)
            axes.set_title(told.removeprefix(", ") or "hosts scatter")
        panels[0].set_ylabel("goodput (Mb/s)")
        legend(panels[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return made


def draw_12a(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 12a."""
    return draw_12("few", sweeps)


def draw_12b(sweeps: Sweeps, published: Published) -> Drawing:
    """Figure 12b."""
    return draw_12("many", sweeps)


FIGURES: dict[str, Figure] = {
    "fig2": Figure(figure_2, draw_2),
    "fig12t": Figure(figure_12_theory),
    "fig12a": Figure(figure_12a, draw_12a),
    "fig12b": Figure(figure_12b, draw_12b),
}
