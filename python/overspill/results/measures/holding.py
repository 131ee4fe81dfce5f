"""ACKs that switches hold: how many, how long, and how long ports were congested."""

import numpy as np

from overspill.results.key import Key
from overspill.results.measures.declare import PS, Metric, present
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WINDOW = "in the measurement window"

METRICS = [
    Metric(
        "held_acks",
        "held ACKs",
        "packets",
        f"ACKs that switches held {WINDOW}; those for which there was no room are drops, `hold_full`.",
        formula="Σ held over ports",
    ),
    Metric(
        "hold_time_mean",
        "hold time mean",
        "s",
        f"How long an ACK that was held {WINDOW} waited there, the mean of all.",
        formula="Σ waited / Σ held",
    ),
    Metric(
        "held_max",
        "held ACKs max",
        "packets",
        f"The most ACKs that one port held at once {WINDOW}.",
        formula="max held at once over ports",
        order_statistic=True,
    ),
    Metric(
        "held_bytes_max",
        "held bytes max",
        "B",
        f"The most bytes of ACKs that one port held at once {WINDOW}.",
        formula="max bytes held at once over ports",
        order_statistic=True,
    ),
    Metric(
        "hold_share_max",
        "holding time max",
        "1",
        "Share of the measurement window in which a port held what came, of the port that did so longest.",
        formula="max (congested + lightly congested) / window",
        order_statistic=True,
    ),
]


def held(run: RunData) -> dict[Key, Value]:
    """ACKs that were held; nothing where no port may hold any."""
    start, end = run.window_ps
    if "holds" not in run.names or end <= start:
        return {}
    names = ("held", "max_packets", "max_bytes", "waited_ps", "congested_ps", "light_ps")
    count, packets, most, waited, congested, light = run.columns("holds", *names)
    if not len(count):
        return {}
    found: dict[str, float | None] = {"held_acks": int(count.sum())}
    if count.sum():
        found["hold_time_mean"] = float(waited.sum()) / int(count.sum()) * PS
    found["held_max"] = int(packets.max())
    found["held_bytes_max"] = int(most.max())
    spent = congested.astype(np.float64) + light.astype(np.float64)
    found["hold_share_max"] = float(spent.max()) / (end - start)
    return present(found)
