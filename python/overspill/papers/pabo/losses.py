"""The conclusion: whether any run with PABO loses a packet, and how much more room would save it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.pabo.common import Curve, Published, along, mean_line, measured, sheet
from overspill.papers.pabo.fat_tree import PABO, WITHOUT, Sweeps
from overspill.papers.spec import Figure, Measured, Runs
from overspill.plots import COLOURS

# The sweep that gives the heaviest case more room than the paper does, and its axis.
ROOM, SIZE = "room", "variants.pabo.switch.overflow.bounce_size"


def conclusion(sweeps: Sweeps) -> Iterable[Measured]:
    """Drops of all runs that bounce with the paper's queues, over every sweep and point, seed by seed."""
    lost = {name: by_seed(runs) for name, runs in sweeps.items() if name != ROOM}
    told = [tell(name, sweeps[name], counts) for name, counts in lost.items() if counts.any()]
    yield measured("every run with PABO", "drops", total(list(lost.values())), "; ".join(told))
    sizes, losses = room(sweeps[ROOM])
    short = [
        f"{size} ({count} of {len(losses)} seeds)"
        for size, count in zip(sizes, seeds_with_loss(losses), strict=True)
    ]
    note = f"seeds that lose packets, by size: {', '.join(short)}"
    yield measured("12to1", "bounce_queue_without_loss", [smallest(sizes, losses)], note)


def room(runs: Runs) -> tuple[list[int], Curve]:
    """Sizes of the bounce queues, frames, and the drops of each, seeds by sizes."""
    sizes = [int(point[SIZE].removesuffix("pkt")) for point in runs.points]
    return sizes, along(runs, "drops", PABO, runs.points)


def seeds_with_loss(losses: Curve) -> list[int]:
    """How many seeds lose packets, by size."""
    return [int(count) for count in (losses > 0).sum(axis=0)]


def smallest(sizes: list[int], losses: Curve) -> float:
    """The smallest size from which on no seed loses a packet; NaN where there is none."""
    enough = float("nan")
    for size, count in sorted(zip(sizes, seeds_with_loss(losses), strict=True), reverse=True):
        if count:
            break
        enough = size
    return enough


def draw(sweeps: Sweeps, published: Published) -> Drawing:
    """Packets lost in the heaviest case over the size of the bounce queues."""
    sizes, losses = room(sweeps[ROOM])
    with plots.style():
        made, [axes] = sheet(1, height=3.4)
        for seed in losses:
            axes.plot(sizes, seed, color=COLOURS[0], alpha=0.25, linewidth=0.8)
        mean_line(axes, sizes, losses, COLOURS[0], marker="o", markersize=4)
        axes.axvline(100, color=COLOURS[6], linewidth=1, linestyle=":")
        axes.annotate(
            "the paper's", (100, 0.97), (4, 0), ("data", "axes fraction"), "offset points", va="top"
        )
        axes.set_title("12 to 1: packets lost, each seed and their mean")
        axes.set_xlabel("bounce queue (frames)")
        axes.set_ylabel("packets lost")
        axes.set_ylim(bottom=0)
    return made


def by_seed(runs: Runs) -> np.ndarray:
    """Drops of a sweep's runs with PABO, summed over its points."""
    bounce = [variant for variant in runs.variants if variant != WITHOUT]
    return np.asarray(np.sum([along(runs, "drops", one, runs.points).sum(axis=1) for one in bounce], axis=0))


def total(lost: list[np.ndarray]) -> np.ndarray:
    """The sum over sweeps; where one has fewer seeds than others, they are added as far as they go."""
    found = np.zeros(max(len(one) for one in lost))
    for one in lost:
        found[: len(one)] += one
    return found


def tell(name: str, runs: Runs, lost: np.ndarray) -> str:
    """The seeds of a sweep that lost packets."""
    found = [f"seed {seed} ({count:.0f})" for seed, count in zip(runs.seeds, lost, strict=True) if count]
    points = f" over {len(runs.points)} points" if len(runs.points) > 1 else ""
    return f"{name}{points}: {', '.join(found)}"


FIGURES: dict[str, Figure] = {"secVIII": Figure(conclusion, draw)}
