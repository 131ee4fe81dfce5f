"""Queues: how long they are, as time and as arrivals see them, and how long frames wait there."""

import numpy as np

from overspill.results.key import Key
from overspill.results.measures.declare import HALF_BUCKET, RANK, Metric, present, scale
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

PLACES = {
    "busiest": (
        "busiest queue",
        "at the busiest switch port",
        "Busiest is the port with the highest time-weighted mean in that run: in each variant maybe another.",
    ),
    "all": ("all queues", "over all switch ports", "Every port has the same weight."),
}
PARTS = ("mean", "p50", "p99", "max")
OVER_TIME = {
    "mean": "the mean, weighted by time",
    "p50": "the median, weighted by time",
    "p99": "the 99th percentile, weighted by time",
    "max": "the most at any time",
}
PERCENT = {"p50": 50.0, "p99": 99.0}
BUCKET = "Given as the middle of its bucket, within 0.8 % (1/128)."
BY_TIME = {
    "mean": "Σ L·t(L) / Σ t(L)",
    "p50": "least L with Σ t(l ≤ L) ≥ 0.5·Σ t",
    "p99": "least L with Σ t(l ≤ L) ≥ 0.99·Σ t",
    "max": "largest L with t(L) > 0",
}
BY_WAIT = {
    "mean": "Σ w / n",
    "p50": "w₍ₖ₎, k = ⌈0.5·n⌉",
    "p99": "w₍ₖ₎, k = ⌈0.99·n⌉",
    "max": "w₍ₙ₎",
}


def over_time(place: str) -> list[Metric]:
    """Queue occupancy at a place, over time and as arrivals see it."""
    title, where, note = PLACES[place]
    common = f"Frames that wait (the one on the wire excluded), {where}, in the measurement window;"
    rows = []
    for part in PARTS:
        name, doc = f"queue_{place}_{part}", f"{common} {OVER_TIME[part]}. {RANK if part[0] == 'p' else note}"
        extreme = part != "mean"
        of = f"{BY_TIME[part]}; t(L): time at length L"
        rows.append(
            Metric(
                name,
                f"{title} {part}",
                "packets",
                doc.strip(),
                "lower",
                formula=of,
                order_statistic=extreme,
            )
        )
    for part in ("mean", "p50", "p99"):
        name, doc = (
            f"queue_{place}_arrival_{part}",
            f"{common} as arriving frames find it: {OVER_TIME[part].partition(',')[0]}.",
        )
        extreme = part != "mean"
        of = f"{BY_TIME[part].replace('t(', 'a(').replace('Σ t', 'Σ a')}; a(L): arrivals that find length L"
        rows.append(
            Metric(
                name,
                f"{title} {part} seen",
                "packets",
                doc,
                "lower",
                formula=of,
                order_statistic=extreme,
            )
        )
    return rows


def sojourn_metrics(place: str) -> list[Metric]:
    """How long frames wait at a place."""
    title, where, note = PLACES[place]
    rows = []
    for part in PARTS:
        name = f"sojourn_{place}_{part}"
        doc = (
            f"Time from storing a frame to the start of its transmission, {where}, of frames that leave in "
            f"the measurement window. {note if place == 'busiest' else 'Every frame has the same weight.'}"
        )
        doc += f" {RANK} {BUCKET}" if part[0] == "p" else f" {BUCKET}" if part == "max" else ""
        formula = f"{BY_WAIT[part]}; w = start of transmission − storing"
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
                within=HALF_BUCKET if extreme else 0.0,
                survivors=True,
            )
        )
    return rows


METRICS = [
    *over_time("busiest"),
    *over_time("all"),
    *sojourn_metrics("busiest"),
    *sojourn_metrics("all"),
]


def switch_ports(run: RunData) -> int:
    """How many ports all switches have."""
    node = run.column("ports", "node")
    return int((~run.is_host[node]).sum()) if len(node) else 0


def busiest_ports(run: RunData) -> list[tuple[int, int]]:
    """Switch ports, the one with the highest time-weighted mean queue first; ties by node and port."""
    areas = port_areas(run)
    return sorted(areas, key=lambda one: (-areas[one], one))


def port_areas(run: RunData) -> dict[tuple[int, int], float]:
    """Frames times picoseconds that waited at each switch port in the window."""
    node, port, packets, time = run.columns("queue_hist", "node", "port", "packets", "time_ps")
    if len(node) == 0:
        return {}
    keep = ~run.is_host[node]
    key = (node[keep].astype(np.uint64) << np.uint64(16)) | port[keep].astype(np.uint64)
    ports, index = np.unique(key, return_inverse=True)
    area = np.zeros(len(ports))
    np.add.at(area, index, packets[keep].astype(np.float64) * time[keep].astype(np.float64))
    return {(int(one) >> 16, int(one) & 0xFFFF): float(area[at]) for at, one in enumerate(ports)}


def queues(run: RunData) -> dict[Key, Value]:
    """Occupancy at the busiest switch port and over all of them."""
    ports = busiest_ports(run)
    if not ports:
        return {}
    names = ("node", "port", "packets", "time_ps", "arrivals")
    node, port, packets, time, arrivals = run.columns("queue_hist", *names)
    window = max(run.window_ps[1] - run.window_ps[0], 0)
    found: dict[Key, Value] = {}
    choices = {
        "busiest": ((node == ports[0][0]) & (port == ports[0][1]), 1),
        "all": (~run.is_host[node], switch_ports(run)),
    }
    for place, (keep, count) in choices.items():
        values: dict[str, Value | float | None] = {**occupancy(packets[keep], time[keep], window * count)}
        values |= arrivals_see(packets[keep], arrivals[keep])
        found |= present({f"queue_{place}_{part}": value for part, value in values.items()})
    return found


def occupancy(packets: np.ndarray, time: np.ndarray, whole: int) -> dict[str, float | None]:
    """Time-weighted; time that the histogram does not hold, the queue was empty."""
    empty = max(whole - int(quantiles.whole_numbers(time).sum()), 0)
    values = np.append(packets.astype(np.uint64), np.uint64(0))
    # Ten thousand ports for half an hour are more picoseconds than 64 bits hold.
    weights = np.append(time.astype(np.uint64 if whole < 2**63 else object), empty)
    held = packets[time > 0]
    p50, p99 = quantiles.weighted(values, weights, [50.0, 99.0])
    return {
        "mean": quantiles.weighted_mean(values, weights),
        "p50": p50,
        "p99": p99,
        "max": float(held.max()) if len(held) else 0.0,
    }


def arrivals_see(packets: np.ndarray, arrivals: np.ndarray) -> dict[str, Value | float | None]:
    """Weighted by arrivals."""
    p50, p99 = quantiles.counted(packets, arrivals, [50.0, 99.0])
    return {
        "arrival_mean": quantiles.weighted_mean(packets, arrivals),
        "arrival_p50": p50,
        "arrival_p99": p99,
    }


def sojourns(run: RunData) -> dict[Key, Value]:
    """How long frames wait at the busiest switch port and over all of them."""
    node, port, low, high, count, total = run.columns(
        "queue_sojourn", "node", "port", "low", "high", "count", "sum"
    )
    if not len(node):
        return {}
    choices = {"all": ~run.is_host[node]}
    ports = busiest_ports(run)
    if ports:
        choices["busiest"] = (node == ports[0][0]) & (port == ports[0][1])
    found: dict[Key, Value] = {}
    middles, full = middle(low, high), count > 0
    for place, keep in choices.items():
        some = keep & full
        counts = count[some]
        values: dict[str, Value | float | None] = {
            "mean": scale(float(total[keep].sum()) / int(counts.sum()) if len(counts) else None),
            "max": scale(float(middles[some].max()) if len(counts) else None),
        }
        found_at = quantiles.counted(middles[some], counts, [*PERCENT.values()])
        values |= zip(PERCENT, map(quantiles.seconds, found_at), strict=True)
        found |= present({f"sojourn_{place}_{part}": value for part, value in values.items()})
    return found


def middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middles of buckets from `low` on, up to and without `high`."""
    return np.asarray((low.astype(np.float64) + np.maximum(high, low + np.uint64(1)) - 1) / 2)
