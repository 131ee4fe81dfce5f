"""ACKs that switches hold: their number and time, and the time that ports were congested."""

import numpy as np

from overspill.results.measures.declare import SECONDS_PER_PS, Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WINDOW_NOTE = "in the measurement window"

METRICS = [
    Metric(
        "held_acks",
        "held ACKs",
        "packets",
        f"ACKs that switches held {WINDOW_NOTE}. ACKs that did not fit are drops with the reason "
        "`hold_full`.",
        formula="Σ held over ports",
    ),
    Metric(
        "hold_time_mean",
        "hold time mean",
        "s",
        f"Mean time that an ACK waited, over the ACKs held {WINDOW_NOTE}.",
        formula="Σ waited / Σ held",
    ),
    Metric(
        "held_max",
        "held ACKs max",
        "packets",
        f"Largest number of ACKs that one port held simultaneously {WINDOW_NOTE}.",
        formula="max held at once over ports",
        order_statistic=True,
    ),
    Metric(
        "held_bytes_max",
        "held bytes max",
        "B",
        f"Largest number of bytes of ACKs that one port held simultaneously {WINDOW_NOTE}.",
        formula="max bytes held at once over ports",
        order_statistic=True,
    ),
    Metric(
        "hold_share_max",
        "holding time max",
        "1",
        "Share of the measurement window in which a port held arriving ACKs; largest over ports.",
        formula="max (congested + lightly congested) / window",
        order_statistic=True,
    ),
]


def measure_held_acks(run: RunData) -> dict[Key, Value]:
    """Measures held ACKs; empty if no port may hold any."""
    start, end = run.window_ps
    if "holds" not in run.names or end <= start:
        return {}
    names = ("held", "max_packets", "max_bytes", "waited_ps", "congested_ps", "light_ps")
    count, packets, most, waited, congested, light = run.columns("holds", *names)
    if not len(count):
        return {}
    found: dict[str, float | None] = {"held_acks": int(count.sum())}
    if count.sum():
        found["hold_time_mean"] = float(waited.sum()) / int(count.sum()) * SECONDS_PER_PS
    found["held_max"] = int(packets.max())
    found["held_bytes_max"] = int(most.max())
    spent = congested.astype(np.float64) + light.astype(np.float64)
    found["hold_share_max"] = float(spent.max()) / (end - start)
    return without_missing_values(found)
