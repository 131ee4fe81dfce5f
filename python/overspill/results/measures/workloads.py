"""Splitting of rows by workload, for every metric that distinguishes workloads."""

from collections.abc import Iterator

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.metric_key import NO_LABEL, Label
from overspill.results.rundata import RunData


def workload_label(run: RunData, workload: int) -> Label:
    """Returns the label of one workload."""
    return {"traffic": str(run.summary["traffic"][workload]["name"])}


def split_by_workload(run: RunData, traffic: np.ndarray) -> Iterator[tuple[Label, np.ndarray]]:
    """Yields all rows, and those of each workload if the scenario has several.

    `traffic` is the workload of each row.
    """
    if not len(traffic):
        return
    yield NO_LABEL, np.ones(len(traffic), bool)
    # Decided by the scenario's workloads, not by those with rows in this seed: otherwise a workload would
    # have values of its own in some seeds only.
    for workload in distinct_values(traffic) if len(run.summary["traffic"]) > 1 else ():
        yield workload_label(run, int(workload)), traffic == workload
