"""Reordering of packets: RFC 4737, RFC 5236, and the entropy that PABO reports."""

import numpy as np

from overspill.results.key import Key
from overspill.results.measures import workloads
from overspill.results.measures.declare import RANK, Metric, present
from overspill.results.names import REORDER
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

DISPLACEMENT, BUFFER, EXTENT, RECEIVED = range(len(REORDER))
EXTENTS = (
    "An extent is the number of arrivals from the earliest packet with a higher sequence number to the "
    "reordered packet."
)
OF_ALL = "Computed per connection over data packets, and pooled; also by workload if there are several."
D = "d = receive index − sequence, without lost and duplicate packets; negative if early, positive if late"
RFC5236 = "RFC 5236 §3"
RFC4737 = "RFC 4737 §3.3, §4.1"
RFC4737_EXTENT = "RFC 4737 §4.2"
PABO = "PABO, eq. 5-7"


def declared(name: str, title: str, unit: str, doc: str, *, formula: str, source: str) -> Metric:
    """Returns a metric for which less is better; its name says if it is a percentile or a maximum."""
    extreme = name.endswith(("_p99", "_max"))
    full = f"{doc} {RANK if name.endswith('_p99') else ''} {OF_ALL}".replace("  ", " ")
    return Metric(name, title, unit, full, "lower", formula=formula, source=source, order_statistic=extreme)


METRICS = [
    declared(
        "reordered_share",
        "reordered packets",
        "1",
        "Share of received packets that arrived after a packet with a higher sequence number.",
        formula="packets with s < NextExp / packets received",
        source=RFC4737,
    ),
    declared(
        "reorder_extent_mean",
        "reordering extent mean",
        "packets",
        f"Mean extent of reordered packets. {EXTENTS}",
        formula="Σ e / reordered packets; e = i − j, j the first arrival before i with s[j] > s[i]",
        source=RFC4737_EXTENT,
    ),
    declared(
        "reorder_extent_p99",
        "reordering extent p99",
        "packets",
        f"99th percentile of the extents of reordered packets. {EXTENTS}",
        formula="e₍ₖ₎, k = ⌈0.99·n⌉, n reordered packets",
        source=RFC4737_EXTENT,
    ),
    declared(
        "reorder_extent_max",
        "reordering extent max",
        "packets",
        f"Largest extent of a reordered packet. {EXTENTS}",
        formula="max e",
        source=RFC4737_EXTENT,
    ),
    declared(
        "displaced_share",
        "displaced packets",
        "1",
        "Share of packets that arrive out of their place in the sequence, early or late.",
        formula=f"1 − RD[0]; RD[k] = packets with d = k / packets; {D}",
        source=RFC5236,
    ),
    declared(
        "displacement_mean",
        "displacement mean",
        "packets",
        "Mean absolute displacement of packets; a packet in its place counts as 0.",
        formula=f"Σ abs(d) / packets; {D}",
        source=RFC5236,
    ),
    declared(
        "displacement_max",
        "displacement max",
        "packets",
        "Largest absolute displacement of a packet.",
        formula=f"max abs(d); {D}",
        source=RFC5236,
    ),
    declared(
        "reorder_entropy",
        "reorder entropy",
        "nat",
        "Entropy of the density of displacements; 0 if every packet arrives in its place.",
        formula=f"−Σₖ RD[k]·ln RD[k], natural logarithm; RD[k] = packets with d = k / packets; {D}",
        source=PABO,
    ),
    declared(
        "reorder_buffer_mean",
        "reorder buffer mean",
        "packets",
        "Mean number of packets that wait for an earlier one after each arrival: mean of the reorder "
        "buffer-occupancy density.",
        formula="Σ k·RBD[k]; RBD[k] = arrivals that leave k waiting / arrivals",
        source="RFC 5236 §5",
    ),
    declared(
        "reorder_buffer_max",
        "reorder buffer max",
        "packets",
        "Largest number of packets that wait for an earlier one.",
        formula="max k with RBD[k] > 0",
        source="RFC 5236 §5",
    ),
]


def reordering(run: RunData) -> dict[Key, Value]:
    """Measures the order of arrivals, of all packets and of each of several workloads."""
    traffic, metric, value, count = run.columns("reorder", "traffic", "metric", "value", "count")
    found: dict[str, Value | float | None] = {}
    for label, keep in workloads.split(run, traffic):
        of = {which: keep & (metric == which) & (count > 0) for which in range(RECEIVED + 1)}
        pairs = {which: (value[some], count[some]) for which, some in of.items()}
        found |= {Key(name, **label): one for name, one in order(pairs).items()}
    return present(found)


def order(pairs: dict[int, tuple[np.ndarray, np.ndarray]]) -> dict[str, Value | float | None]:
    """Returns every metric from values and their counts, by kind."""
    extents, reordered = pairs[EXTENT]
    received = int(pairs[RECEIVED][1].sum())
    found: dict[str, Value | float | None] = {
        "reordered_share": int(reordered.sum()) / received if received else None,
        "reorder_extent_mean": quantiles.weighted_mean(extents, reordered),
        "reorder_extent_p99": quantiles.counted(extents, reordered, [99.0])[0],
        "reorder_extent_max": float(extents.max()) if len(extents) else None,
    }
    places, packets = pairs[DISPLACEMENT]
    if len(places):
        far = np.abs(places)
        found["displaced_share"] = quantiles.weighted_mean((places != 0).astype(np.float64), packets)
        found["displacement_mean"] = quantiles.weighted_mean(far, packets)
        found["displacement_max"] = float(far.max())
        found["reorder_entropy"] = entropy(places, packets)
    waiting, arrivals = pairs[BUFFER]
    found["reorder_buffer_mean"] = quantiles.weighted_mean(waiting, arrivals)
    found["reorder_buffer_max"] = float(waiting.max()) if len(waiting) else None
    return found


def entropy(places: np.ndarray, packets: np.ndarray) -> float:
    """Returns the entropy of the density of displacements, in nats.

    Rows with the same displacement are merged.
    """
    _, index = np.unique(places, return_inverse=True)
    density = np.zeros(int(index.max()) + 1)
    np.add.at(density, index, packets.astype(np.float64))
    density /= density.sum()
    return max(0.0, -float((density * np.log(density)).sum()))
