"""Figures 5a and 5b: completion times by number of senders and by size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.abq.incast_drawn import BESIDE, colour
from overspill.papers.abq.schemes import (
    ABQ,
    DROP_TAIL,
    ECN,
    NAMES,
    OTHERS,
    SENDERS,
    SIZE,
    Sweeps,
    best_other,
    numbers,
    over_times,
)
from overspill.papers.common import Curve, Published, legend, log_scale, measured, quotients, sheet
from overspill.papers.spec import Figure, Measured, Runs

LEAST = 100  # KB from which on DropTail has the shortest and the longest times


def fct(runs: Runs, percent: int) -> dict[str, Curve]:
    """A percentile of completion times, ms."""
    return {one: over_times(runs, one, lambda times: times.fct[percent]) for one in NAMES}


def ratio(above: Curve, below: Curve) -> np.ndarray:
    """The mean over points of what one is by the other, seed by seed."""
    return np.asarray((above / below).mean(axis=1))


def told(curves: dict[str, Curve]) -> str:
    """The mean of every scheme, for a note."""
    return ", ".join(f"{name} {curves[one].mean():.4g} ms" for one, name in NAMES.items())


def figure_5a(sweeps: Sweeps) -> Iterator[Measured]:
    """By number of senders."""
    runs = sweeps["incast"]
    short, middle, long = (fct(runs, one) for one in (1, 50, 99))
    for one, name in NAMES.items():
        yield measured(f"{name}, 100 senders less 10", "p50_fct", middle[one][:, -1] - middle[one][:, 0])
    for one in OTHERS:
        less = 100 * (1 - ratio(long[ABQ], long[one]))
        yield measured(f"ABQ below {NAMES[one]}", "p99_fct", less, told(long))
    for metric, curves in (("p1_fct", short), ("p50_fct", middle)):
        best = best_other(curves, highest=False)
        yield measured("ABQ by the best other", metric, ratio(curves[ABQ], best), told(curves))
    means = long[DROP_TAIL].mean(axis=0)
    at = int(means.argmax())
    note = f"with {numbers(runs, SENDERS)[at]:g} senders"
    yield measured("DropTail, the most", "p99_fct", long[DROP_TAIL][:, at], note)


def figure_5b(sweeps: Sweeps) -> Iterator[Measured]:
    """By size."""
    runs = sweeps["sizes"]
    short, long = fct(runs, 1), fct(runs, 99)
    # Beside DropTail the others are ECN and ABQ.
    quick = np.minimum(*(short[one].mean(axis=0) for one in (ECN, ABQ)))
    slow = np.maximum(*(long[one].mean(axis=0) for one in (ECN, ABQ)))
    for at, size in enumerate(numbers(runs, SIZE)):
        case = f"{size:g} KB"
        yield measured(f"ABQ by ECN, {case}", "p99_fct", quotients(long[ABQ][:, at], long[ECN][:, at]))
        if size >= LEAST:
            best = next(one for one in (ECN, ABQ) if short[one][:, at].mean() == quick[at])
            worst = next(one for one in (ECN, ABQ) if long[one][:, at].mean() == slow[at])
            less = short[best][:, at] - short[DROP_TAIL][:, at]
            yield measured(f"best other less DropTail, {case}", "p1_fct", less, NAMES[best])
            more = long[DROP_TAIL][:, at] - long[worst][:, at]
            yield measured(f"DropTail less worst other, {case}", "p99_fct", more, NAMES[worst])
    yield measured("DropTail, 800 KB", "p99_fct", long[DROP_TAIL][:, -1])


def bars(axes: Axes, runs: Runs, path: str) -> None:
    """Medians, and the 1st and 99th percentiles as whiskers: means over seeds."""
    values, apart = numbers(runs, path), 0.22
    short, middle, long = (fct(runs, one) for one in (1, 50, 99))
    for at, (variant, name) in enumerate(NAMES.items()):
        places = np.arange(len(values)) + (at - 1) * apart
        low, mid, high = (one[variant].mean(axis=0) for one in (short, middle, long))
        reach = np.maximum(0, [mid - low, high - mid])
        axes.errorbar(
            places, mid, reach, fmt="o", markersize=4, color=colour(variant), elinewidth=1.6, capsize=3,
            label=name,
        )  # fmt: skip
    axes.set_xticks(range(len(values)), [f"{one:g}" for one in values])
    axes.grid(False, axis="x")
    log_scale(axes)
    axes.set_ylabel("FCT (ms)")
    axes.set_title("Median; whiskers: 1st and 99th percentile")
    legend(axes, **BESIDE)


def draw(sweep: str, over: str, label: str) -> Callable[[Sweeps, Published], Drawing]:
    """Figure 5a or 5b: the times of a sweep over what its points differ in."""

    def drawn(sweeps: Sweeps, _: Published) -> Drawing:
        with plots.style():
            made, [axes] = sheet(1, height=4.2)
            bars(axes, sweeps[sweep], over)
            axes.set_xlabel(label)
        return made

    return drawn


FIGURES: dict[str, Figure] = {
    "fig5a": Figure(figure_5a, draw("incast", SENDERS, "senders of 32 KB")),
    "fig5b": Figure(figure_5b, draw("sizes", SIZE, "size of 30 flows (KB)")),
}
