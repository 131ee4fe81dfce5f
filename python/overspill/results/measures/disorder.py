"""Reordering of packets: RFC 4737, RFC 5236, and the entropy that PABO reports."""

import numpy as np

from overspill.results.measures import workloads
from overspill.results.measures.declare import RANK_NOTE, Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.names import REORDER
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

DISPLACEMENT_INDEX, BUFFER_INDEX, EXTENT_INDEX, RECEIVED_INDEX = range(len(REORDER))
EXTENTS_NOTE = (
    "An extent is the number of arrivals from the earliest packet with a higher sequence number to the "
    "reordered packet."
)
SCOPE_NOTE = "Computed per connection over data packets, and pooled; also by workload if there are several."
DISPLACEMENT_FORMULA = (
    "d = receive index − sequence, without lost and duplicate packets; negative if early, positive if late"
)
RFC5236_SOURCE = "RFC 5236 §3"
RFC4737_SOURCE = "RFC 4737 §3.3, §4.1"
RFC4737_EXTENT_SOURCE = "RFC 4737 §4.2"
PABO_SOURCE = "PABO, eq. 5-7"


def reordering_metric(name: str, title: str, unit: str, doc: str, *, formula: str, source: str) -> Metric:
    """Declares a reordering metric for which lower is better; its name says if it is a p99 or a maximum."""
    extreme = name.endswith(("_p99", "_max"))
    full = f"{doc} {RANK_NOTE if name.endswith('_p99') else ''} {SCOPE_NOTE}".replace("  ", " ")
    return Metric(name, title, unit, full, "lower", formula=formula, source=source, order_statistic=extreme)


METRICS = [
    reordering_metric(
        "reordered_share",
        "reordered packets",
        "1",
        "Share of received packets that arrived after a packet with a higher sequence number.",
        formula="packets with s < NextExp / packets received; s: sequence number, NextExp: 1 + the highest s "
        "before",
        source=RFC4737_SOURCE,
    ),
    reordering_metric(
        "reorder_extent_mean",
        "reordering extent mean",
        "packets",
        f"Mean extent of reordered packets. {EXTENTS_NOTE}",
        formula="Σ e / reordered packets; e = i − j, j the first arrival before i with s[j] > s[i]; s: "
        "sequence number",
        source=RFC4737_EXTENT_SOURCE,
    ),
    reordering_metric(
        "reorder_extent_p99",
        "reordering extent p99",
        "packets",
        f"99th percentile of the extents of reordered packets. {EXTENTS_NOTE}",
        formula="e₍ₖ₎, k = ⌈0.99·n⌉, n reordered packets",
        source=RFC4737_EXTENT_SOURCE,
    ),
    reordering_metric(
        "reorder_extent_max",
        "reordering extent max",
        "packets",
        f"Largest extent of a reordered packet. {EXTENTS_NOTE}",
        formula="max e",
        source=RFC4737_EXTENT_SOURCE,
    ),
    reordering_metric(
        "displaced_share",
        "displaced packets",
        "1",
        "Share of packets that arrive out of their place in the sequence, early or late.",
        formula=f"1 − RD[0]; RD[k] = packets with d = k / packets; {DISPLACEMENT_FORMULA}",
        source=RFC5236_SOURCE,
    ),
    reordering_metric(
        "displacement_mean",
        "displacement mean",
        "packets",
        "Mean absolute displacement of packets; a packet in its place counts as 0.",
        formula=f"Σ abs(d) / packets; {DISPLACEMENT_FORMULA}",
        source=RFC5236_SOURCE,
    ),
    reordering_metric(
        "displacement_max",
        "displacement max",
        "packets",
        "Largest absolute displacement of a packet.",
        formula=f"max abs(d); {DISPLACEMENT_FORMULA}",
        source=RFC5236_SOURCE,
    ),
    reordering_metric(
        "reorder_entropy",
        "reorder entropy",
        "nat",
        "Entropy of the density of displacements; 0 if every packet arrives in its place.",
        formula=(
            "−Σₖ RD[k]·ln RD[k], natural logarithm; RD[k] = packets with d = k / packets; "
            f"{DISPLACEMENT_FORMULA}"
        ),
        source=PABO_SOURCE,
    ),
    reordering_metric(
        "reorder_buffer_mean",
        "reorder buffer mean",
        "packets",
        "Mean number of packets that wait for an earlier one after each arrival: mean of the reorder "
        "buffer-occupancy density.",
        formula="Σ k·RBD[k]; RBD[k] = arrivals that leave k waiting / arrivals",
        source="RFC 5236 §5",
    ),
    reordering_metric(
        "reorder_buffer_max",
        "reorder buffer max",
        "packets",
        "Largest number of packets that wait for an earlier one.",
        formula="max k with RBD[k] > 0",
        source="RFC 5236 §5",
    ),
]


def measure_reordering(run: RunData) -> dict[Key, Value]:
    """Measures the order of arrivals, of all packets and of each of several workloads."""
    traffic, metric, value, count = run.columns("reorder", "traffic", "metric", "value", "count")
    found: dict[str, Value | float | None] = {}
    for label, keep in workloads.split_by_workload(run, traffic):
        of = {which: keep & (metric == which) & (count > 0) for which in range(RECEIVED_INDEX + 1)}
        pairs = {which: (value[some], count[some]) for which, some in of.items()}
        found |= {Key(name, **label): one for name, one in metrics_from_counts(pairs).items()}
    return without_missing_values(found)


def metrics_from_counts(pairs: dict[int, tuple[np.ndarray, np.ndarray]]) -> dict[str, Value | float | None]:
    """Computes every reordering metric from values and their counts, by kind."""
    extents, reordered = pairs[EXTENT_INDEX]
    received = int(pairs[RECEIVED_INDEX][1].sum())
    found: dict[str, Value | float | None] = {
        "reordered_share": int(reordered.sum()) / received if received else None,
        "reorder_extent_mean": quantiles.weighted_mean(extents, reordered),
        "reorder_extent_p99": quantiles.percentiles_of_counts(extents, reordered, [99.0])[0],
        "reorder_extent_max": float(extents.max()) if len(extents) else None,
    }
    places, packets = pairs[DISPLACEMENT_INDEX]
    if len(places):
        far = np.abs(places)
        found["displaced_share"] = quantiles.weighted_mean((places != 0).astype(np.float64), packets)
        found["displacement_mean"] = quantiles.weighted_mean(far, packets)
        found["displacement_max"] = float(far.max())
        found["reorder_entropy"] = displacement_entropy(places, packets)
    waiting, arrivals = pairs[BUFFER_INDEX]
    found["reorder_buffer_mean"] = quantiles.weighted_mean(waiting, arrivals)
    found["reorder_buffer_max"] = float(waiting.max()) if len(waiting) else None
    return found


def displacement_entropy(places: np.ndarray, packets: np.ndarray) -> float:
    """Returns the entropy of the density of displacements, in nats.

    Rows with the same displacement are merged.
    """
    _, index = np.unique(places, return_inverse=True)
    density = np.zeros(int(index.max()) + 1)
    np.add.at(density, index, packets.astype(np.float64))
    density /= density.sum()
    return max(0.0, -float((density * np.log(density)).sum()))
