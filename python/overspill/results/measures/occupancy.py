"""Queue lengths over time and as seen by arrivals, and waiting times of frames."""

import numpy as np

from overspill.results.measures.declare import (
    HALF_BUCKET,
    RANK_NOTE,
    Metric,
    ps_to_seconds,
    without_missing_values,
)
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

SCOPES = {
    "busiest": (
        "busiest queue",
        "at the busiest switch port",
        "The busiest port is the one with the highest time-weighted mean in that run; it may differ "
        "between variants.",
    ),
    "all": ("all queues", "over all switch ports", "Every port has the same weight."),
}
STATISTICS = ("mean", "p50", "p99", "max")
TIME_WEIGHTED_MEANINGS = {
    "mean": "mean, weighted by time",
    "p50": "median, weighted by time",
    "p99": "99th percentile, weighted by time",
    "max": "maximum",
}
PERCENTILES = {"p50": 50.0, "p99": 99.0}
MAX_BUCKETS_AT_ONCE = 1 << 15  # rows counted at a time
BUCKET_NOTE = "The value is the midpoint of its bucket, within 0.8% (1/128)."
TIME_WEIGHTED_FORMULAS = {
    "mean": "Σ L·t(L) / Σ t(L)",
    "p50": "least L with Σ t(l ≤ L) ≥ 0.5·Σ t",
    "p99": "least L with Σ t(l ≤ L) ≥ 0.99·Σ t",
    "max": "largest L with t(L) > 0",
}
WAIT_FORMULAS = {
    "mean": "Σ w / n",
    "p50": "w₍ₖ₎, k = ⌈0.5·n⌉",
    "p99": "w₍ₖ₎, k = ⌈0.99·n⌉",
    "max": "w₍ₙ₎",
}


def queue_length_metrics(place: str) -> list[Metric]:
    """Returns the metrics of queue length at a place, over time and as seen by arrivals."""
    title, where, note = SCOPES[place]
    common = f"Queued frames {where} in the measurement window, without the frame in transmission:"

    def declare_metric(name: str, heading: str, doc: str, formula: str) -> Metric:
        return Metric(
            f"queue_{place}_{name}",
            f"{title} {heading}",
            "packets",
            f"{common} {doc}",
            "lower",
            formula=formula,
            order_statistic="mean" not in name,
        )

    rows = []
    for part in STATISTICS:
        doc = f"{TIME_WEIGHTED_MEANINGS[part]}. {RANK_NOTE if part[0] == 'p' else note}"
        rows.append(
            declare_metric(part, part, doc, f"{TIME_WEIGHTED_FORMULAS[part]}; t(L): time at length L")
        )
    for part in ("mean", "p50", "p99"):
        doc = f"{TIME_WEIGHTED_MEANINGS[part].partition(',')[0]} over arriving frames."
        of = TIME_WEIGHTED_FORMULAS[part].replace("t(", "a(").replace("Σ t", "Σ a")
        rows.append(
            declare_metric(f"arrival_{part}", f"{part} seen", doc, f"{of}; a(L): arrivals that find length L")
        )
    return rows


def sojourn_metrics(place: str) -> list[Metric]:
    """Returns the metrics of waiting times at a place."""
    title, where, note = SCOPES[place]
    rows = []
    for part in STATISTICS:
        name = f"sojourn_{place}_{part}"
        doc = (
            f"Time from storing a frame to the start of its transmission, {where}, for frames that leave "
            "in the measurement window. "
            f"{note if place == 'busiest' else 'Every frame has the same weight.'}"
        )
        doc += f" {RANK_NOTE} {BUCKET_NOTE}" if part[0] == "p" else f" {BUCKET_NOTE}" if part == "max" else ""
        formula = f"{WAIT_FORMULAS[part]}; w = start of transmission − storing"
        extreme = part != "mean"
        rows.append(
            Metric(
                name,
                f"wait, {title} {part}",
                "s",
                doc,
                "lower",
                formula=formula,
                order_statistic=extreme,
                resolution=HALF_BUCKET if extreme else 0.0,
                of_delivered_frames=True,
            )
        )
    return rows


FULLEST_PORT_METRIC = Metric(
    "port_bytes_max",
    "fullest port max",
    "bytes",
    "Largest number of bytes at one time in all queues of a switch port, in the measurement window. A "
    "frame counts from its arrival to the start of its transmission, and for an instant if the link is "
    "idle. Measured if buffers count bytes and switches have no input memory, since frame counts do not "
    "show the fullest port then.",
    "lower",
    formula="largest `max_bytes_in_window` of `ports` over ports of switches",
    order_statistic=True,
)
METRICS = [
    FULLEST_PORT_METRIC,
    *queue_length_metrics("busiest"),
    *queue_length_metrics("all"),
    *sojourn_metrics("busiest"),
    *sojourn_metrics("all"),
]


def buffers_count_bytes(run: RunData) -> bool:
    """Returns true if switch buffers count bytes and ports recorded their maximum bytes."""
    counted = "max_bytes_in_window" in run.column_names("ports") and run.window_ps[1] > run.window_ps[0]
    return counted and bool(run.summary.get("buffers_in_bytes"))


def max_bytes_by_port(run: RunData) -> dict[tuple[int, int], float]:
    """Returns the most bytes at one time at each switch port, by node and port."""
    node, port, most = run.columns("ports", "node", "port", "max_bytes_in_window")
    keep = ~run.is_host[node.astype(np.int64)]
    ends = zip(node[keep].tolist(), port[keep].tolist(), strict=True)
    return dict(zip(ends, most[keep].astype(np.float64).tolist(), strict=True))


def measure_fullest_port(run: RunData) -> dict[Key, Value]:
    """Measures the most bytes at one switch port, if buffers count bytes."""
    most = max_bytes_by_port(run) if buffers_count_bytes(run) else {}
    return without_missing_values({FULLEST_PORT_METRIC.name: max(most.values())}) if most else {}


def count_switch_ports(run: RunData) -> int:
    """Returns the number of ports of all switches."""
    node = run.column("ports", "node")
    return int((~run.is_host[node]).sum()) if len(node) else 0


def rank_busiest_ports(run: RunData) -> list[tuple[int, int]]:
    """Returns switch ports by descending time-weighted mean queue; ties by node and port."""
    ports, areas = queued_time_arrays(run)
    return [split_port_number(ports[at]) for at in np.argsort(-areas, kind="stable")]


def busiest_port(run: RunData) -> tuple[int, int] | None:
    """Returns the switch port with the highest time-weighted mean queue; `None` if none is known."""
    ports, areas = queued_time_arrays(run)
    return split_port_number(ports[int(np.argmax(areas))]) if len(ports) else None


def queued_time_by_port(run: RunData) -> dict[tuple[int, int], float]:
    """Returns frames times picoseconds queued at each switch port in the window."""
    ports, areas = queued_time_arrays(run)
    return dict(zip(map(split_port_number, ports), areas.tolist(), strict=True))


def queued_time_arrays(run: RunData) -> tuple[np.ndarray, np.ndarray]:
    """Returns switch ports by ascending number, and frames times picoseconds queued at each."""
    node, port, packets, time = run.columns("queue_hist", "node", "port", "packets", "time_ps")
    if len(node) == 0:
        return np.zeros(0, np.uint64), np.zeros(0)
    keep = ~run.is_host[node]
    number = (node[keep].astype(np.uint64) << np.uint64(16)) | port[keep].astype(np.uint64)
    ports, index = np.unique(number, return_inverse=True)
    return ports, np.bincount(index, packets[keep].astype(np.float64) * time[keep].astype(np.float64))


def split_port_number(number: np.uint64) -> tuple[int, int]:
    """Splits a global port number into node number and port number."""
    return int(number) >> 16, int(number) & 0xFFFF


def measure_queues(run: RunData) -> dict[Key, Value]:
    """Measures queue lengths at the busiest switch port and over all of them."""
    busiest = busiest_port(run)
    if busiest is None:
        return {}
    names = ("node", "port", "packets", "time_ps", "arrivals")
    node, port, packets, time, arrivals = run.columns("queue_hist", *names)
    window = max(run.window_ps[1] - run.window_ps[0], 0)
    if window == 0:
        return {}  # the run was cut before its window
    found: dict[Key, Value] = {}
    choices = {
        "busiest": ((node == busiest[0]) & (port == busiest[1]), 1),
        "all": (~run.is_host[node], count_switch_ports(run)),
    }
    for place, (keep, count) in choices.items():
        values: dict[str, Value | float | None] = {
            **time_weighted_statistics(packets[keep], time[keep], window * count)
        }
        values |= arrival_weighted_statistics(packets[keep], arrivals[keep])
        found |= without_missing_values({f"queue_{place}_{part}": value for part, value in values.items()})
    return found


def time_weighted_statistics(packets: np.ndarray, time: np.ndarray, whole: int) -> dict[str, float | None]:
    """Returns time-weighted statistics of queue length; time missing in the histogram counts as empty."""
    empty = max(whole - int(quantiles.exact_integers(time).sum()), 0)
    values = np.append(packets.astype(np.uint64), np.uint64(0))
    # Ten thousand ports for half an hour are more than 2^63 ps, which need integers of Python.
    weights = np.append(time.astype(np.uint64 if whole < 2**63 else object), empty)
    held = packets[time > 0]
    p50, p99 = quantiles.weighted_percentiles(values, weights, [50.0, 99.0])
    return {
        "mean": quantiles.weighted_mean(values, weights),
        "p50": p50,
        "p99": p99,
        "max": float(held.max()) if len(held) else 0.0,
    }


def arrival_weighted_statistics(packets: np.ndarray, arrivals: np.ndarray) -> dict[str, Value | float | None]:
    """Returns statistics of queue length as seen by arrivals."""
    p50, p99 = quantiles.percentiles_of_counts(packets, arrivals, [50.0, 99.0])
    return {
        "arrival_mean": quantiles.weighted_mean(packets, arrivals),
        "arrival_p50": p50,
        "arrival_p99": p99,
    }


def measure_sojourns(run: RunData) -> dict[Key, Value]:
    """Measures waiting times of frames at the busiest switch port and over all of them."""
    node, port, low, high, count, total = run.columns(
        "queue_sojourn", "node", "port", "low", "high", "count", "sum"
    )
    if not len(node):
        return {}
    everywhere = ~run.is_host[node]
    # A slice does not copy the rows, of which a large network has half a million; a mask does.
    choices: dict[str, np.ndarray | slice] = {"all": slice(None) if everywhere.all() else everywhere}
    busiest = busiest_port(run)
    if busiest is not None:
        choices["busiest"] = (node == busiest[0]) & (port == busiest[1])
    found: dict[Key, Value] = {}
    for place, keep in choices.items():
        middles, counts = bucket_midpoints_and_counts(low[keep], high[keep], count[keep])
        values: dict[str, Value | float | None] = {
            "mean": ps_to_seconds(float(total[keep].sum()) / int(counts.sum()) if len(counts) else None),
            "max": ps_to_seconds(float(middles.max()) if len(counts) else None),
        }
        found_at = quantiles.percentiles_of_counts(middles, counts, [*PERCENTILES.values()])
        values |= zip(PERCENTILES, map(quantiles.ps_to_seconds, found_at), strict=True)
        found |= without_missing_values({f"sojourn_{place}_{part}": value for part, value in values.items()})
    return found


def bucket_midpoints_and_counts(
    low: np.ndarray, high: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns midpoint and number of samples of each nonempty bucket of waiting times, over all ports.

    Thousands of ports share some hundred buckets, so samples are counted and not sorted. They are counted in
    parts, since allocating memory for all takes longer than counting. An octave has 64 buckets: the exponent
    and 6 bits of the mantissa of a float identify the bucket that it begins.
    """
    zero = (1023 << 6) - 1
    counts, bounds = np.zeros(65 << 6), np.zeros((2, 65 << 6), np.uint64)
    for at in range(0, len(low), MAX_BUCKETS_AT_ONCE):
        rows = slice(at, at + MAX_BUCKETS_AT_ONCE)
        number = np.maximum((low[rows].astype(np.float64).view(np.int64) >> (52 - 6)) - zero, 0)
        # `bincount` sums in floats, which is exact up to 2^53.
        counts += np.bincount(number, count[rows], len(counts))
        bounds[0][number], bounds[1][number] = low[rows], high[rows]
    full = counts > 0
    return bucket_midpoints(bounds[0][full], bounds[1][full]), counts[full].astype(np.uint64)


def bucket_midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Returns the midpoints of integer buckets, each from `low` to below `high`."""
    return np.asarray((low.astype(np.float64) + np.maximum(high, low + np.uint64(1)) - 1) / 2)
