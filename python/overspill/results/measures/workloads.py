"""Groups of values by workload, for every metric that distinguishes workloads."""

from collections.abc import Iterator

import numpy as np

from overspill.results.columns import distinct
from overspill.results.key import ALL, Label
from overspill.results.rundata import RunData


def label(run: RunData, workload: int) -> Label:
    """Returns the label of one workload."""
    return {"traffic": str(run.summary["traffic"][workload]["name"])}


def split(run: RunData, traffic: np.ndarray) -> Iterator[tuple[Label, np.ndarray]]:
    """Yields all rows, and those of each workload if the scenario has several.

    `traffic` is the workload of each row.
    """
    if not len(traffic):
        return
    yield ALL, np.ones(len(traffic), bool)
    # By the scenario's workloads, not by those with rows in this seed: a group exists in every seed, or has
    # no flows.
    for workload in distinct(traffic) if len(run.summary["traffic"]) > 1 else ():
        yield label(run, int(workload)), traffic == workload
