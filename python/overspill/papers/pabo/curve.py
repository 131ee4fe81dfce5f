"""PABO's figure 3: the probability of a bounce, a pure function, asked of the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import Failed, plots
from overspill import curve as mechanism_curve
from overspill.papers.pabo import common
from overspill.papers.pabo.common import Published, measured
from overspill.papers.spec import Figure, Measured, Runs
from overspill.plots import COLOURS

Sweeps = Mapping[str, Runs]

THRESHOLD = 0.5
DECAY = 5  # lambda of panel a
BOUNCED = (0, 1, 2)
DECAYS = (5, 15, 25)  # lambda of panel b, of packets that were never bounced
PLACE = 0.75  # of the curves, where rows ask
PLACES = np.linspace(0, 1, 201)  # utilisations

Curves = tuple[np.ndarray, np.ndarray]  # places, and a row of P for each curve


def curves(decay: float) -> Curves:
    """P over the utilisation of a queue, a row for each of `BOUNCED` (PABO eq. 4)."""
    found = mechanism_curve("bounce", [f"theta={THRESHOLD}", f"lambda={decay}"], 1, PLACES.tolist())
    if found is None:
        raise Failed("bounce: the core has no curve of it")
    return PLACES, np.array(found["asked"])[list(BOUNCED)]


def by_decay() -> Curves:
    """The curves of panel b."""
    found = [curves(decay) for decay in DECAYS]
    return found[0][0], np.array([values[0] for _, values in found])


def measure(_: Sweeps) -> Iterator[Measured]:
    """Figure 3 at its ends, in the middle, and what its curves have in common."""
    yield from told(curves(DECAY), by_decay())


def told(left: Curves, right: Curves) -> Iterator[Measured]:
    """The rows of both panels; what is between theta and 1 lies strictly there."""
    places, every = left[0], np.concatenate((left[1], right[1]))
    inner = (places > THRESHOLD) & (places < 1)
    yield measured("u <= theta", "P_max", [every[:, places <= THRESHOLD].max()])
    yield measured("u = 1", "P_min", [every[:, places == 1].min()])
    middle = int(np.argmin(abs(places - PLACE)))
    for bounces, curve in zip(BOUNCED, left[1], strict=True):
        yield measured(f"3a u={PLACE} np={bounces}", "P", [curve[middle]])
    for decay, curve in zip(DECAYS, right[1], strict=True):
        yield measured(f"3b u={PLACE} lambda={decay}", "P", [curve[middle]])
    yield measured("3a", "least_fall_per_bounce", [-np.diff(left[1][:, inner], axis=0).max()])
    yield measured("3b", "least_rise_with_lambda", [np.diff(right[1][:, inner], axis=0).min()])
    bends = np.diff(every[:, places >= THRESHOLD], n=2, axis=1)
    yield measured("3a and 3b", "largest_second_difference", [bends.max()])


def draw(_: Sweeps, published: Published) -> Drawing:
    """Both panels of figure 3."""
    with plots.style():
        made, [left, right] = common.sheet(2)
        named = [(f"np = {one}", published.get((f"3a u={PLACE} np={one}", "P"))) for one in BOUNCED]
        panel(left, curves(DECAY), named)
        named = [(f"λ = {one}", published.get((f"3b u={PLACE} lambda={one}", "P"))) for one in DECAYS]
        panel(right, by_decay(), named)
        left.set_title(f"(a) λ = {DECAY}")
        right.set_title("(b) np = 0")
        left.set_ylabel("probability of a bounce")
    return made


def panel(axes: Axes, drawn: Curves, named: Sequence[tuple[str, float | None]]) -> None:
    """Curves of one panel, their names, and what was published of each."""
    places, every = drawn
    for at, (curve, (name, _)) in enumerate(zip(every, named, strict=True)):
        axes.plot(places, curve, color=COLOURS[at], label=name)
    common.marked(axes, [(PLACE, mark) for _, mark in named], "by the formula")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("utilisation of the queue")
    common.legend(axes, loc="upper left")


FIGURES = {"fig3": Figure(measure, draw)}
