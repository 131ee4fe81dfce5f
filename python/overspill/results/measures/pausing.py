"""Pausing of ports by their far ends: number and length of pauses."""

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.measures.declare import SECONDS_PER_PS, Metric, without_missing_values
from overspill.results.metric_key import NO_LABEL, Key, Label
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

SCOPE_NOTE = (
    "Covers every class in use at every port that may be paused, including hosts. There are also values by "
    "tier of the paused node, if ports of several tiers may be paused."
)
WINDOW_NOTE = "in the measurement window"

METRICS = [
    Metric(
        "pauses",
        "pauses",
        "pauses",
        f"Number of times that a class was paused at a port {WINDOW_NOTE}. {SCOPE_NOTE}",
        "lower",
        formula="Σ times",
    ),
    Metric(
        "paused_fraction_mean",
        "paused share mean",
        "1",
        f"Mean share of the measurement window in which a class was paused at a port. {SCOPE_NOTE}",
        "lower",
        formula="Σ paused / (pairs of port and class · window)",
    ),
    Metric(
        "paused_fraction_max",
        "paused share max",
        "1",
        f"Largest share of the measurement window in which a class was paused at a port. {SCOPE_NOTE}",
        "lower",
        formula="max paused / window",
        order_statistic=True,
    ),
    Metric(
        "pause_length_mean",
        "pause length mean",
        "s",
        f"Mean length of the pauses that begin {WINDOW_NOTE}; the end of the run ends a pause. {SCOPE_NOTE}",
        "lower",
        formula="Σ (to − from) / pauses",
    ),
    Metric(
        "pause_length_max",
        "pause length max",
        "s",
        f"Length of the longest pause that begins {WINDOW_NOTE}; the end of the run ends a pause. "
        f"{SCOPE_NOTE}",
        "lower",
        formula="max (to − from)",
        order_statistic=True,
    ),
    Metric(
        "pause_frames",
        "pause frames",
        "frames",
        f"Number of PAUSE and PFC frames whose transmission begins {WINDOW_NOTE}, including refreshes. "
        "A frame counts once for each class in use that it pauses. There are also "
        "values by tier of the node that sends the frames.",
        "lower",
        formula="Σ xoff_sent",
    ),
    Metric(
        "pause_storms",
        "pause storms",
        "storms",
        "Number of pause storms that PFC watchdogs detected in the measurement window. It has no value "
        "without a watchdog.",
        "lower",
        formula="storms with from in the window",
    ),
]


def select_node_groups(run: RunData, nodes: np.ndarray) -> list[tuple[Label, np.ndarray]]:
    """Returns groups of nodes that a metric covers: all, and each tier of `nodes` if there are several."""
    tiers = list(dict.fromkeys(run.tiers[nodes]))
    several: list[tuple[Label, np.ndarray]] = [({"tier": tier}, run.tiers == tier) for tier in tiers]
    return [(NO_LABEL, np.ones(len(run.tiers), bool)), *(several if len(tiers) > 1 else [])]


def measure_pauses(run: RunData) -> dict[Key, Value]:
    """Measures the pauses of ports; empty if no port may be paused."""
    start, end = run.window_ps
    if "pauses" not in run.names or end <= start:
        return {}
    node, times, paused, sent = run.columns("pauses", "node", "times", "paused_ps", "xoff_sent")
    if not len(node):
        return {}
    found: dict[str, float | None] = {}
    share = paused.astype(np.float64) / (end - start)
    lengths = PauseLengths(run, len(run.tiers))
    for label, which in select_node_groups(run, distinct_values(node)):
        here = which[node]
        found[Key("pauses", **label)] = int(times[here].sum())
        found[Key("paused_fraction_mean", **label)] = float(share[here].mean())
        found[Key("paused_fraction_max", **label)] = float(share[here].max())
        found[Key("pause_frames", **label)] = int(sent[here].sum())
        if lengths.count[which].sum():
            found[Key("pause_length_mean", **label)] = (
                lengths.total[which].sum() / lengths.count[which].sum() * SECONDS_PER_PS
            )
            found[Key("pause_length_max", **label)] = lengths.longest[which].max() * SECONDS_PER_PS
    storms = run.pause_storms
    if storms and "pause_storms" in run.names:
        (detected,) = run.columns("pause_storms", "from_ps")
        if len(detected) == storms["count"]:  # otherwise the table was not kept
            found[Key("pause_storms")] = int(((detected >= start) & (detected < end)).sum())
    return without_missing_values(found)


class PauseLengths:
    """Number, total and longest duration (ps) of pauses that began in the window, by node."""

    def __init__(self, run: RunData, nodes: int) -> None:
        self.count, self.total, self.longest = (np.zeros(nodes) for _ in range(3))
        start, end = run.window_ps
        for batch in run.batches("pause_trace", ("from_ps", "to_ps", "node")):
            begin, over, node = (
                np.asarray(column.to_numpy(zero_copy_only=False)) for column in batch.columns
            )
            keep = (begin >= start) & (begin < end)
            length = (over - begin)[keep].astype(np.float64)
            np.add.at(self.count, node[keep], 1)
            np.add.at(self.total, node[keep], length)
            np.maximum.at(self.longest, node[keep], length)
