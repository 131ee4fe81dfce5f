"""PABO's measures of bounces: number, distance and place, and how full bounce queues are."""

import numpy as np

from overspill.results.measures import workloads
from overspill.results.measures.declare import Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.names import PACKET_HIST
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

HOPS_INDEX, BOUNCES_INDEX, DISTANCE_INDEX = map(
    PACKET_HIST.index, ("hops", "bounces", "max_bounced_distance")
)
SCOPE_NOTE = "Counted over delivered data packets; also by workload if there are several."
COUNTERS_SOURCE = "PABO §III"
VARIANCE_SOURCE = "PABO §IV-B"
DISTANCE_RULE = "distance: + 1 by a bounce, − 1 by a normal forward of a switch or a host, never below 0"
CLIENT_NOTE = (
    "A switch's utilisation is that of its port toward the client: the port that lookup returned for the "
    "most data frames."
)
REQUIREMENTS_NOTE = (
    "Needs `measure.sub_queues`, a limit in packets for every queue, and a switch that bounces."
)


def bouncing_metric(name: str, title: str, unit: str, doc: str, formula: str) -> Metric:
    """Declares a bouncing metric, neither good nor bad; a name that ends in `_max` makes it a maximum."""
    extreme = name.endswith("_max")
    full = f"{doc} {SCOPE_NOTE}"
    return Metric(name, title, unit, full, "none", False, formula, COUNTERS_SOURCE, order_statistic=extreme)


METRICS = [
    bouncing_metric(
        "bounces_per_bounced",
        "bounces of bounced packets",
        "bounces",
        "Mean number of bounces of a packet that was bounced.",
        "Σ np / packets with np ≥ 1; np: bounces of a packet",
    ),
    bouncing_metric(
        "max_bounced_distance_mean",
        "bounced distance mean",
        "hops",
        "Mean over packets of the farthest distance that bounces brought a packet back; 0 for packets "
        "that were never bounced.",
        f"Σ maxBouncedDistance / packets; {DISTANCE_RULE}",
    ),
    bouncing_metric(
        "max_bounced_distance_max",
        "bounced distance max",
        "hops",
        "Farthest distance that bounces brought any packet back.",
        f"max maxBouncedDistance; {DISTANCE_RULE}",
    ),
    bouncing_metric(
        "total_hop_mean",
        "total hops mean",
        "hops",
        "Mean number of visits of a packet to switches, and to hosts that sent it again. Repeated visits "
        "count.",
        "Σ totalHop / packets; totalHop = links crossed − 1",
    ),
    bouncing_metric(
        "total_hop_max",
        "total hops max",
        "hops",
        "Largest number of visits of a packet to switches, and to hosts that sent it again. Repeated "
        "visits count.",
        "max totalHop; totalHop = links crossed − 1",
    ),
    Metric(
        "utilisation_variance",
        "variance of utilisation",
        "1",
        f"Variance over switches of their utilisation in the measurement window. {CLIENT_NOTE} "
        f"{REQUIREMENTS_NOTE}",
        "lower",
        formula="Σ (U − Ū)² / switches; U: mean over queues of the port toward the client of "
        "∫ L dt / (limit · window); L: queue length",
        source=f"{VARIANCE_SOURCE}, which leaves the average over time and queues open",
    ),
    Metric(
        "time_above_theta",
        "time above θ",
        "1",
        "Share of the measurement window in which a queue's utilisation is above the θ of its switch, as "
        "decisions see it: 1 if the queue counts as full. Mean over the queues of bouncing switches with "
        f"at least one decision. {REQUIREMENTS_NOTE}",
        "lower",
        formula="Σ over queues of t(u > θ) / window / queues with ≥ 1 decision in the window; "
        "u: 1 where L ≥ full_from, else L / limit; L: queue length",
        source=f"{VARIANCE_SOURCE}, timeRatio",
    ),
]


def measure_bounces(run: RunData) -> dict[Key, Value]:
    """Measures bounces of delivered data packets, of all and of each of several workloads."""
    names = ("traffic", "data", "metric", "low", "count", "sum")
    if not set(names) <= set(run.column_names("packet_hist")):
        return {}
    traffic, data, *columns = run.columns("packet_hist", *names)
    is_data = data != 0
    found: dict[Key, Value] = {}
    for label, keep in workloads.split_by_workload(run, traffic[is_data]):
        metric, low, count, total = (column[is_data][keep] for column in columns)
        of = {which: metric == which for which in (HOPS_INDEX, BOUNCES_INDEX, DISTANCE_INDEX)}
        rows = {which: (low[some], count[some], float(total[some].sum())) for which, some in of.items()}
        found |= {Key(name, **label): one for name, one in metrics_from_counts(rows).items()}
    return found


def metrics_from_counts(rows: dict[int, tuple[np.ndarray, np.ndarray, float]]) -> dict[Key, Value]:
    """Computes bounce metrics from histograms of packets, by kind of value."""
    found: dict[str, Value | float | None] = {}
    low, count, total = rows[BOUNCES_INDEX]
    packets, some = int(count.sum()), int(count[low > 0].sum())
    found["bounces_per_bounced"] = total / some if some else None
    distances, _, farthest = rows[DISTANCE_INDEX]
    # Results of older versions have bounces without distances: the metric is unknown there, not 0.
    if packets and (len(distances) or not some):
        found["max_bounced_distance_mean"] = farthest / packets
        found["max_bounced_distance_max"] = float(distances.max()) if len(distances) else 0.0
    low, count, total = rows[HOPS_INDEX]
    if len(low):
        found["total_hop_mean"] = total / int(count.sum()) - 1
        found["total_hop_max"] = float(low.max()) - 1
    return without_missing_values(found)


def measure_queue_filling(run: RunData) -> dict[Key, Value]:
    """Measures how full each port's queues are over time, if they are recorded and a switch bounces."""
    node, port, limit, theta, data = run.columns("sub_queues", "node", "port", "limit", "theta", "data")
    window = run.window_ps[1] - run.window_ps[0]
    if not run.recorded("sub_queue_hist") or not (theta < 1).any() or (limit == 0).any() or window <= 0:
        return {}
    used, above, decisions = read_queue_lengths(run)
    shares = used / (limit * float(window))
    chosen = ports_toward_client(node, port, data)
    means = [float(shares[(node == switch) & (port == which)].mean()) for switch, which in chosen.items()]
    asked = (decisions > 0) & (theta < 1)
    return without_missing_values(
        {
            "utilisation_variance": float(np.var(means)),
            "time_above_theta": float((above[asked] / window).mean()) if asked.any() else None,
        }
    )


def read_queue_lengths(run: RunData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns arrays by row of `sub_queues`: frames times ps, ps above θ, and number of decisions."""
    keys = ("node", "port", "queue")
    place = {at: index for index, at in enumerate(zip(*run.columns("sub_queues", *keys), strict=True))}
    names = ("packets", "time_ps", "decisions")
    *at, packets, time, decided = run.columns("sub_queue_hist", *keys, *names)
    index = np.array([place[one] for one in zip(*at, strict=True)], np.int64)
    limit, theta = run.columns("sub_queues", "limit", "theta")
    # Results of older versions have no column `full_from`: there, a queue was full at its limit.
    told = "full_from" in run.column_names("sub_queues")
    (full,) = run.columns("sub_queues", "full_from" if told else "limit")
    found = np.zeros((3, len(limit)))
    high = (packets >= full[index]) | (packets / limit[index] > theta[index])
    for row, amounts in enumerate((packets * time.astype(np.float64), time * high, decided)):
        np.add.at(found[row], index, amounts.astype(np.float64))
    return found[0], found[1], found[2]


def ports_toward_client(node: np.ndarray, port: np.ndarray, data: np.ndarray) -> dict[int, int]:
    """Returns by switch the port that lookup returned for the most data frames; in a tie the first."""
    totals: dict[tuple[int, int], int] = {}
    for switch, which, count in zip(node.tolist(), port.tolist(), data.tolist(), strict=True):
        totals[switch, which] = totals.get((switch, which), 0) + count
    best: dict[int, int] = {}
    for (switch, which), count in sorted(totals.items()):
        if switch not in best or count > totals[switch, best[switch]]:
            best[switch] = which
    return best
