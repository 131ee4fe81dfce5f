"""How many links are hot at a time, and what is free near them: figures 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from overspill.papers.common import measured, quotients
from overspill.papers.dibs.hot_links_drawn import draw_half, draw_hot, draw_neighbours, draw_relative
from overspill.papers.dibs.links import (
    FEW,
    HALF,
    HOPS,
    HOT,
    LOADS,
    SHORT,
    Near,
    neighbours,
    share_above,
    share_by_busiest,
    used,
)
from overspill.papers.spec import Figure, Measured, Runs

Sweeps = Mapping[str, Runs]


def few(shares: list[np.ndarray]) -> list[float]:
    """Windows in which fewer than a tenth of the links are hot, in %, seed by seed."""
    return [100 * float(np.mean(one < FEW)) for one in shares]


# Figures 3 and 4.


def figure_3(sweeps: Sweeps) -> Iterator[Measured]:
    """The substitute: hot is what is at least half as busy as the busiest link."""
    runs = sweeps["hot_links"]
    for load in LOADS[:2]:
        found = [share_by_busiest(one) for one in used(runs, load)]
        short = few([share_by_busiest(one) for one in used(runs, load, SHORT)])
        told = f"in windows of 1 ms {np.mean(short):.0f} %"
        yield measured(f"substitute: {load} qps", "time_with_less_than_10_percent_hot", few(found), told)


def figure_4(sweeps: Sweeps) -> Iterator[Measured]:
    """Links that are used to 90 % or more."""
    runs, mean = sweeps["hot_links"], {}
    for load in LOADS:
        shares = [share_above(one, HOT) for one in used(runs, load)]
        mean[load] = np.array([100 * one.mean() for one in shares])
        many = [100 * float(np.mean(one > FEW)) for one in shares]
        short = [share_above(one, HOT) for one in used(runs, load, SHORT)]
        told = (
            f"mean {mean[load].mean():.2f} % of the links; in windows of 1 ms "
            f"{100 * np.mean([one.mean() for one in short]):.2f} %, and in "
            f"{100 * np.mean([np.mean(one > FEW) for one in short]):.1f} % of them more than 10 %"
        )
        yield measured(f"{load} qps", "windows_with_more_than_10_percent_hot", many, told)
    for more, less in zip(LOADS[1:], LOADS[:-1], strict=True):
        told = f"{mean[more].mean():.1f} % and {mean[less].mean():.2f} %"
        yield measured(f"{more} less {less} qps", "hot_links", mean[more] - mean[less], told)


def footnote(sweeps: Sweeps) -> Iterator[Measured]:
    """Links that are used to 50 % or more."""
    for load in LOADS:
        shares = [share_above(one, HALF) for one in used(sweeps["hot_links"], load)]
        told = f"mean {100 * np.mean([one.mean() for one in shares]):.1f} % of the links"
        yield measured(f"{load} qps", "windows_with_less_than_10_percent_hot", few(shares), told)


# Figure 5.


def figure_5(sweeps: Sweeps) -> Iterator[Measured]:
    """Free buffers near a hot link, and how many more links are hot under the heavier load."""
    runs = sweeps["hot_links"]
    hot = {load: np.array([share_above(one, HOT).mean() for one in used(runs, load)]) for load in LOADS[:2]}
    yield measured("2000 by 300 qps", "hot_links", quotients(hot[2000], hot[300]))
    found = {load: neighbours(runs, load) for load in LOADS}
    short = {load: neighbours(runs, load, SHORT) for load in LOADS}
    free = {load: np.array([one.free for one in by_hops[1]]) for load, by_hops in found.items()}
    for load in LOADS[:2]:
        for hops, name in HOPS.items():
            told = other_readings(found[load][hops], short[load][hops])
            values = [one.free for one in found[load][hops]]
            yield measured(f"{load} qps, {name}", "free_buffers", values, told)
    for more, less in ((300, 2000), (300, 10000), (2000, 10000)):
        told = f"{free[more].mean():.1f} % and {free[less].mean():.1f} %"
        yield measured(f"{more} less {less} qps, one hop", "free_buffers", free[more] - free[less], told)


def other_readings(long: list[Near], short: list[Near]) -> str:
    """What other readings of an empty buffer give."""
    told = []
    for name, found in (("", long), ("in windows of 1 ms ", short)):
        mean = {of: np.mean([getattr(one, of) for one in found]) for of in ("free", "free_at_most", "empty")}
        told.append(
            f"{name}{mean['free']:.1f} % on average, {mean['free_at_most']:.0f} % with all at their longest, "
            f"{mean['empty']:.0f} % of the queues always empty"
        )
    return "; ".join(told)


FIGURES: dict[str, Figure] = {
    "fig3": Figure(figure_3, draw_relative),
    "fig4": Figure(figure_4, draw_hot),
    "fig4fn": Figure(footnote, draw_half),
    "fig5": Figure(figure_5, draw_neighbours),
}
