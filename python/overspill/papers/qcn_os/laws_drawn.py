"""Drawings of equations 1 to 5: CNMs by flow beside what arrives and what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from overspill import plots
from overspill.papers.bars import Bars, grouped
from overspill.papers.common import Published, sheet
from overspill.papers.qcn_os.named import (
    AMOUNTS,
    ARRIVAL,
    FRAMES,
    OCCUPANCY,
    ORDER,
    PASSING,
    RATES,
    STORED,
    Named,
    named,
)
from overspill.papers.qcn_os.schemes import Sweeps

FLOWS = ["stored 1", "stored 2", "stored 3", "passing 1", "passing 2", "passing 3"]
KINDS = ("CNMs", "arrivals", "occupancy")
TITLES = {"laws": "Frames of 1522 B", "laws_sizes": "stored 1 and passing 2 in frames of 64 B"}


def draw_arrivals(sweeps: Sweeps, published: Published) -> Drawing:
    """Equations 1 to 3."""
    return drawn(sweeps, ARRIVAL, PASSING, (RATES, published))


def draw_stored(sweeps: Sweeps, published: Published) -> Drawing:
    """Equations 4 and 5."""
    return drawn(sweeps, OCCUPANCY, STORED, (AMOUNTS, published))


def drawn(sweeps: Sweeps, variant: str, which: slice, told: tuple[Mapping[str, str], Published]) -> Drawing:
    """Each flow's shares of CNMs, arrivals and occupancy; what is published is of the flows `which` alone."""
    cases, published = told
    with plots.style():
        made, panels = sheet(1, rows=len(cases), height=2.8)
        for axes, (sweep, case) in zip(panels, cases.items(), strict=True):
            paper = [published.get((f"{case}, {name} flow", "share_of_cnms")) for name in ORDER]
            bars(axes, named(sweeps[sweep], variant, FRAMES[sweep]), which, paper)
            axes.set_title(TITLES[sweep], loc="left")
        made.suptitle(f"Congestion point that samples {'arrivals' if variant == ARRIVAL else 'occupancy'}")
    return made


def bars(axes: Axes, every: Sequence[Named], which: slice, paper: Sequence[float | None]) -> None:
    """Shares of all flows; of those that a law is about, what it says of their CNMs, as a share of all."""
    values = [
        [share(np.array([getattr(one, name) for one in every]), flow) for flow in range(len(FLOWS))]
        for name in ("cnms", "arrived", "stored")
    ]
    whole = float(np.mean([one.cnms[which].sum() / max(one.cnms.sum(), 1) for one in every]))
    marks: list[float | None] = [None] * len(FLOWS)
    marks[which] = [None if one is None else one * whole for one in paper]
    others: list[float | None] = [None] * len(FLOWS)
    law = "law, scaled to its three flows"
    grouped(axes, FLOWS, Bars(KINDS, values), [marks, others, others], law)
    axes.set_ylabel("share")


def share(by_seed: np.ndarray, flow: int) -> np.ndarray:
    """A flow's share by seed."""
    whole = by_seed.sum(axis=1)
    return np.asarray(by_seed[:, flow] / np.where(whole > 0, whole, 1))
