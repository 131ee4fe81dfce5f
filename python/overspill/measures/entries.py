"""Groups of values by entry of the scenario's traffic, for every metric that knows of entries."""

from collections.abc import Iterator

import numpy as np

from overspill.rundata import RunData


def label(run: RunData, entry: int) -> str:
    """What the name of a metric of one entry ends in."""
    return f"[traffic={run.summary['traffic'][entry]['name']}]"


def split(run: RunData, traffic: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """All rows, and those of each entry where several have some; `traffic` is the entry of every row."""
    if not len(traffic):
        return
    yield "", np.ones(len(traffic), bool)
    several = np.unique(traffic)
    for entry in several if len(several) > 1 else ():
        yield label(run, int(entry)), traffic == entry
