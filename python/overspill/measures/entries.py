"""Groups of values by entry of the scenario's traffic, for every metric that knows of entries."""

from collections.abc import Iterator

import numpy as np

from overspill.rundata import RunData


def label(run: RunData, entry: int) -> str:
    """What the name of a metric of one entry ends in."""
    return f"[traffic={run.summary['traffic'][entry]['name']}]"


def split(run: RunData, traffic: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """All rows, and those of each entry where the scenario has several; `traffic` tells each row's entry."""
    if not len(traffic):
        return
    yield "", np.ones(len(traffic), bool)
    # By what the scenario has, not by what a seed brought: a group is there in every seed, or has no flows.
    for entry in np.unique(traffic) if len(run.summary["traffic"]) > 1 else ():
        yield label(run, int(entry)), traffic == entry
