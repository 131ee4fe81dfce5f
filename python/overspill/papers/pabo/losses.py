"""The conclusion: whether any run with PABO loses a packet."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from overspill.papers.pabo.common import along, measured
from overspill.papers.pabo.fat_tree import WITHOUT, Sweeps
from overspill.papers.spec import Figure, Measured, Runs


def conclusion(sweeps: Sweeps) -> Iterable[Measured]:
    """Drops of all runs that bounce, over every sweep and point, seed by seed."""
    lost = {name: by_seed(runs) for name, runs in sweeps.items()}
    told = [tell(name, sweeps[name], counts) for name, counts in lost.items() if counts.any()]
    yield measured("every run with PABO", "drops", total(list(lost.values())), "; ".join(told))


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


FIGURES: dict[str, Figure] = {"secVIII": Figure(conclusion)}
