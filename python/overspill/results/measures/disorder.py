"""How far packets arrive out of order: RFC 4737, RFC 5236, and the entropy that PABO reports."""

import numpy as np

from overspill.results.key import Key
from overspill.results.measures import workloads
from overspill.results.measures.declare import RANK, Metric, present
from overspill.results.names import REORDER
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

DISPLACEMENT, BUFFER, EXTENT, RECEIVED = range(len(REORDER))
EXTENTS = "Of reordered packets: how many arrivals lie between one and the earliest with a higher sequence"
OF_ALL = "Of data packets, each connection in itself, put together; by workload where there are several."
D = "d = receive index − sequence, lost and duplicate packets left out; early is negative, late positive"
RFC5236 = "RFC 5236 §3"
RFC4737 = "RFC 4737 §3.3, §4.1"
RFC4737_EXTENT = "RFC 4737 §4.2"
PABO = "PABO, eq. 5-7"


def declared(name: str, title: str, unit: str, doc: str, *, formula: str, source: str) -> Metric:
    """Less is better; a percentile or maximum by its name."""
    extreme = name.endswith(("_p99", "_max"))
    full = f"{doc} {RANK if name.endswith('_p99') else ''} {OF_ALL}".replace("  ", " ")
    return Metric(name, title, unit, full, "lower", formula=formula, source=source, order_statistic=extreme)


METRICS = [
    declared(
        "reordered_share",
        "reordered packets",
        "1",
        "Share of received packets that are reordered: one with a higher sequence came before.",
        formula="packets with s < NextExp / packets received",
        source=RFC4737,
    ),
    declared(
        "reorder_extent_mean",
        "reordering extent mean",
        "packets",
        f"{EXTENTS}: the mean.",
        formula="Σ e / reordered packets; e = i − j, j the first arrival before i with s[j] > s[i]",
        source=RFC4737_EXTENT,
    ),
    declared(
        "reorder_extent_p99",
        "reordering extent p99",
        "packets",
        f"{EXTENTS}: the 99th percentile.",
        formula="e₍ₖ₎, k = ⌈0.99·n⌉, n reordered packets",
        source=RFC4737_EXTENT,
    ),
    declared(
        "reorder_extent_max",
        "reordering extent max",
        "packets",
        f"{EXTENTS}: the most.",
        formula="max e",
        source=RFC4737_EXTENT,
    ),
    declared(
        "displaced_share",
        "displaced packets",
        "1",
        "Share of packets that do not arrive in their own place, early or late.",
        formula=f"1 − RD[0]; RD[k] = packets with d = k / packets; {D}",
        source=RFC5236,
    ),
    declared(
        "displacement_mean",
        "displacement mean",
        "packets",
        "By how many places packets are early or late, without sign; packets in place count as 0.",
        formula=f"Σ abs(d) / packets; {D}",
        source=RFC5236,
    ),
    declared(
        "displacement_max",
        "displacement max",
        "packets",
        "The farthest that a packet is early or late.",
        formula=f"max abs(d); {D}",
        source=RFC5236,
    ),
    declared(
        "reorder_entropy",
        "reorder entropy",
        "nat",
        "How dispersed displacements are: 0 where every packet arrives in its place.",
        formula=f"−Σₖ RD[k]·ln RD[k], natural logarithm; RD[k] = packets with d = k / packets; {D}",
        source=PABO,
    ),
    declared(
        "reorder_buffer_mean",
        "reorder buffer mean",
        "packets",
        "Packets that wait for an earlier one, as each arrival leaves them: the mean of the reorder "
        "buffer-occupancy density.",
        formula="Σ k·RBD[k]; RBD[k] = arrivals that leave k waiting / arrivals",
        source="RFC 5236 §5",
    ),
    declared(
        "reorder_buffer_max",
        "reorder buffer max",
        "packets",
        "The most packets that wait for an earlier one.",
        formula="max k with RBD[k] > 0",
        source="RFC 5236 §5",
    ),
]


def reordering(run: RunData) -> dict[Key, Value]:
    """What is known of the order of arrivals, of all and of each of several workloads."""
    traffic, metric, value, count = run.columns("reorder", "traffic", "metric", "value", "count")
    found: dict[str, Value | float | None] = {}
    for label, keep in workloads.split(run, traffic):
        of = {which: keep & (metric == which) & (count > 0) for which in range(RECEIVED + 1)}
        pairs = {which: (value[some], count[some]) for which, some in of.items()}
        found |= {Key(name, **label): one for name, one in order(pairs).items()}
    return present(found)


def order(pairs: dict[int, tuple[np.ndarray, np.ndarray]]) -> dict[str, Value | float | None]:
    """Every metric of values and how often they were counted, by kind."""
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
    """Of the density of displacements, in nats; rows of the same displacement are put together."""
    _, index = np.unique(places, return_inverse=True)
    density = np.zeros(int(index.max()) + 1)
    np.add.at(density, index, packets.astype(np.float64))
    density /= density.sum()
    return max(0.0, -float((density * np.log(density)).sum()))
