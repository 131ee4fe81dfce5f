"""Occupancy of the buffers inside `fabric` switches, and utilisation of their internal links."""

import numpy as np

from overspill.results.measures.declare import Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.names import FABRIC_BUFFERS
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WINDOW_NOTE = "in the measurement window"
BEFORE_LINK, AFTER_LINK = FABRIC_BUFFERS.index("link"), FABRIC_BUFFERS.index("behind_link")

METRICS = [
    Metric(
        "internal_link_utilisation_max",
        "internal link utilisation max",
        "1",
        f"Share of the time {WINDOW_NOTE} in which frames crossed the busiest internal link of a `fabric` "
        "switch. Congestion messages do not count. Internal links carry no preamble and no gap.",
        formula="max over internal links of busy time / window",
        source="QCN-OS §V",
        order_statistic=True,
    ),
    Metric(
        "internal_link_utilisation_mean",
        "internal link utilisation mean",
        "1",
        f"Share of the time {WINDOW_NOTE} in which frames crossed an internal link of a `fabric` switch, "
        "mean "
        "over all internal links.",
        formula="mean over internal links of busy time / window",
        source="QCN-OS §V",
    ),
    Metric(
        "link_buffer_bytes_max",
        "internal link buffer max",
        "B",
        f"Largest number of bytes {WINDOW_NOTE} in a buffer in front of an internal link of a `fabric` "
        "switch, over all classes together. Congestion messages do not count.",
        "lower",
        formula="max bytes over buffers in front of internal links",
        source="QCN-OS §V",
        order_statistic=True,
    ),
    Metric(
        "link_buffer_bytes_mean",
        "internal link buffer mean",
        "B",
        f"Mean number of bytes over time {WINDOW_NOTE} in a buffer in front of an internal link. The buffer "
        "with the highest mean counts.",
        "lower",
        formula="max over buffers of ∫ bytes dt / window",
        source="QCN-OS §V",
    ),
    Metric(
        "stage_buffer_bytes_max",
        "stage buffer max",
        "B",
        f"Largest number of bytes {WINDOW_NOTE} in an input buffer of a stage of a `fabric` switch, over all "
        "classes together. Congestion messages do not count.",
        "lower",
        formula="max bytes over input buffers of stages",
        source="QCN-OS §V",
        order_statistic=True,
    ),
    Metric(
        "stage_buffer_bytes_mean",
        "stage buffer mean",
        "B",
        f"Mean number of bytes over time {WINDOW_NOTE} in an input buffer of a stage. The buffer with the "
        "highest mean counts.",
        "lower",
        formula="max over buffers of ∫ bytes dt / window",
        source="QCN-OS §V",
    ),
]


def measure_stages(run: RunData) -> dict[Key, Value]:
    """Measures buffers and internal links of `fabric` switches; empty if no switch has stages."""
    start, end = run.window_ps
    if end <= start or not run.recorded("fabric_buffers"):
        return {}
    place, most, area, busy = run.columns("fabric_buffers", "place", "max_bytes", "byte_ps", "busy_ps")
    fronts, found = place == BEFORE_LINK, dict[str, float | None]()
    for name, own in (("link_buffer_bytes", fronts), ("stage_buffer_bytes", ~fronts)):
        if own.any():
            found[f"{name}_max"] = int(most[own].max())
            found[f"{name}_mean"] = float(area[own].max()) / (end - start)
    used = busy[place == AFTER_LINK].astype(np.float64) / (end - start)
    if len(used):
        found["internal_link_utilisation_max"] = float(used.max())
        found["internal_link_utilisation_mean"] = float(used.mean())
    return without_missing_values(found)
