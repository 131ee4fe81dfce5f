"""Delivered packets: delay, hops, detours and bounces."""

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.measures import workloads
from overspill.results.measures.declare import (
    HALF_BUCKET,
    RANK_NOTE,
    Metric,
    ps_to_seconds,
    without_missing_values,
)
from overspill.results.measures.occupancy import BUCKET_NOTE, WAIT_FORMULAS, bucket_midpoints
from overspill.results.metric_key import Key, Label
from overspill.results.names import PACKET_HIST
from overspill.results.rundata import RunData
from overspill.stats import quantiles
from overspill.stats.quantiles import Value

DELAY_INDEX, HOPS_INDEX, DETOURS_INDEX, BOUNCES_INDEX = map(
    PACKET_HIST.index, ("delay", "hops", "detours", "bounces")
)
DELAY_FORMULA = "w = arrival at the receiver − sending at the host"

METRICS = [
    Metric(
        "delay_mean",
        "packet delay mean",
        "s",
        "Mean delay of delivered data packets from host to host.",
        "lower",
        formula=f"{WAIT_FORMULAS['mean']}; {DELAY_FORMULA}",
        of_delivered_frames=True,
    ),
    *(
        Metric(
            f"delay_{part}",
            f"packet delay {part}",
            "s",
            f"Delay of delivered data packets from host to host. {RANK_NOTE} {BUCKET_NOTE}",
            "lower",
            formula=f"{WAIT_FORMULAS[part]}; {DELAY_FORMULA}",
            order_statistic=True,
            resolution=HALF_BUCKET,
            of_delivered_frames=True,
        )
        for part in ("p50", "p99")
    ),
    Metric(
        "delay_std",
        "packet delay sd",
        "s",
        "Standard deviation of the delay of delivered data packets.",
        "lower",
        formula=f"√(Σ (w − w̄)² / n); {DELAY_FORMULA}",
        of_delivered_frames=True,
    ),
    Metric(
        "hops_mean",
        "hops mean",
        "links",
        "Mean number of links that a delivered data packet crossed.",
        formula="Σ links / packets",
    ),
    Metric(
        "hops_max",
        "hops max",
        "links",
        "Largest number of links that a delivered data packet crossed.",
        formula="max links",
        order_statistic=True,
    ),
]
SHARE_METRICS = [
    Metric(
        f"{name}_share",
        f"{name} at least once",
        "1",
        f"Share of delivered data packets that {what} at least once.",
        zero_shown=False,
        formula=f"data packets {name} ≥ 1 times / data packets delivered",
    )
    for name, what in (
        ("detoured", "a switch sent to another port than lookup returned"),
        ("bounced", "a switch sent back to the previous node"),
    )
]


def measure_packets(run: RunData) -> dict[Key, Value]:
    """Measures delay, hops, and shares detoured or bounced, of delivered data packets, also by workload."""
    names = ("metric", "low", "high", "count", "sum")
    data, *columns = run.columns("packet_hist", "data", *names)
    traffic = run.column("packet_hist", "traffic")
    squares = run.column("packet_hist", "squared_deviations")
    # Results of older versions do not distinguish workloads.
    told_apart = len(traffic) > 0
    traffic = traffic if told_apart else np.zeros(len(data), np.uint16)
    is_data = data != 0
    found: dict[Key, Value] = {}
    for label, keep in workloads.split_by_workload(run, traffic[is_data]):
        if label and not told_apart:
            continue
        rows = {name: column[is_data][keep] for name, column in zip(names, columns, strict=True)}
        if len(squares):
            found |= delay_deviation(label, traffic[is_data][keep], rows, squares[is_data][keep])
        found |= {Key(name, **label): one for name, one in metrics_from_histograms(rows).items()}
    return found


def delay_deviation(
    label: Label, traffic: np.ndarray, rows: dict[str, np.ndarray], squares: np.ndarray
) -> dict[Key, Value]:
    """Returns the exact standard deviation of the delay, from variances within and between workloads."""
    delays = rows["metric"] == DELAY_INDEX
    groups = [delays & (traffic == one) for one in distinct_values(traffic[delays])]
    counts = np.array([int(rows["count"][one].sum()) for one in groups], np.float64)
    if not counts.sum():
        return {}
    means = np.array([float(rows["sum"][one].sum()) for one in groups]) / counts
    between = counts * (means - np.average(means, weights=counts)) ** 2
    whole = sum(float(squares[one].sum()) for one in groups) + float(between.sum())
    return without_missing_values(
        {Key("delay_std", **label): ps_to_seconds(float(np.sqrt(whole / counts.sum())))}
    )


def metrics_from_histograms(rows: dict[str, np.ndarray]) -> dict[Key, Value]:
    """Computes the delivery metrics from rows of the packet histograms."""
    metric, low, high, count, total = (rows[name] for name in ("metric", "low", "high", "count", "sum"))

    def histogram(which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Returns lows, highs and counts of a histogram's buckets, and the sum of all values."""
        keep = metric == which
        some = keep & (count > 0)
        return low[some], high[some], count[some], float(total[keep].sum())

    lows, highs, counts, whole = histogram(DELAY_INDEX)
    p50, p99 = map(
        quantiles.ps_to_seconds,
        quantiles.percentiles_of_counts(bucket_midpoints(lows, highs), counts, [50.0, 99.0]),
    )
    found: dict[str, Value | float | None] = {
        "delay_mean": ps_to_seconds(whole / int(counts.sum()) if len(counts) else None),
        "delay_p50": p50,
        "delay_p99": p99,
    }
    lows, _, counts, whole = histogram(HOPS_INDEX)
    found["hops_mean"] = whole / int(counts.sum()) if len(counts) else None
    found["hops_max"] = float(lows.max()) if len(lows) else None
    for name, which in (("detoured_share", DETOURS_INDEX), ("bounced_share", BOUNCES_INDEX)):
        lows, _, counts, _ = histogram(which)
        found[name] = quantiles.weighted_mean((lows > 0).astype(np.float64), counts)
    return without_missing_values(found)
