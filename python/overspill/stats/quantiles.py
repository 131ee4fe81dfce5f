"""Nearest-rank percentiles of samples, of samples with lower bounds, and of histograms."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}


# Fewest samples for a percentile p, 5 / (1 - p), so that at least five are at or beyond it.
MIN_SAMPLES = {"p95": 100, "p99": 500, "p99.9": 5000}


@dataclass(frozen=True)
class Value:
    """Measured value; a lower bound of the true value if `censored`.

    `samples` is the number of samples that a percentile or a mean was computed from, `None` if not
    applicable.
    """

    value: float
    censored: bool = False
    samples: int | None = field(default=None, compare=False)


def nearest_rank(percent: float, count: int) -> int:
    """Returns the nearest rank, 1 to `count`: the smallest k with k / count >= percent / 100."""
    # In integer thousandths of a percent: with floats, the rank of 99.9% of 1000 would be 1000, not 999.
    parts = round(percent * 1000)
    return max(1, min(count, -(-parts * count // 100_000)))


def percentile(values: np.ndarray, open_ended: np.ndarray, percent: float) -> Value | None:
    """Returns the nearest-rank percentile of samples of which the open-ended ones are lower bounds.

    The k-th smallest lower bound never exceeds the true percentile. It is exact if it stays the same with
    every open-ended sample taken as infinite; otherwise the result is censored. `None` without samples.
    """
    if len(values) == 0:
        return None
    k = nearest_rank(percent, len(values)) - 1
    lower = float(np.partition(values, k)[k])
    if not open_ended.any():
        return Value(lower)
    worst = np.where(open_ended, np.inf, values)
    return Value(lower, bool(np.partition(worst, k)[k] != lower))


def mean(values: np.ndarray, open_ended: np.ndarray) -> Value | None:
    """Returns the mean, censored if any sample is open-ended; `None` without samples."""
    return Value(float(values.mean()), bool(open_ended.any())) if len(values) else None


def mean_and_percentiles(values: np.ndarray, open_ended: np.ndarray) -> dict[str, Value]:
    """Returns mean and percentiles of samples by name, each with their number; empty without samples."""
    average = mean(values, open_ended)
    if average is None:
        return {}
    found: dict[str, Value] = {"mean": replace(average, samples=len(values))}
    for name, percent in PERCENTILES.items():
        one = percentile(values, open_ended, percent)
        if one is not None:
            found[name] = replace(one, samples=len(values))
    return found


def weighted_percentiles(
    values: np.ndarray, weights: np.ndarray, percents: Sequence[float]
) -> list[float | None]:
    """Returns nearest-rank percentiles of integer-weighted values; `None` for each if all weights are 0."""
    exact = exact_integers(weights)
    total = int(exact.sum()) if len(weights) else 0
    if total == 0:
        return [None for _ in percents]
    # A stable sort is not needed: equal values yield the same percentile in any order.
    order = np.argsort(values)
    below = np.cumsum(exact[order])
    kind = int if below.dtype == object else below.dtype.type
    needs = (kind(nearest_rank(percent, total)) for percent in percents)
    return [float(values[order[int(np.searchsorted(below, need, side="left"))]]) for need in needs]


def exact_integers(weights: np.ndarray) -> np.ndarray:
    """Returns weights in a type that sums them exactly: 64 bits, or Python integers beyond that."""
    fits = weights.sum(dtype=np.float64) < 2.0**63
    return weights.astype(np.uint64 if fits else object)


def percentiles_of_counts(
    values: np.ndarray, counts: np.ndarray, percents: Sequence[float]
) -> list[Value | None]:
    """Returns percentiles of values that occur `counts` times each, with the number of samples."""
    samples = int(counts.sum(dtype=np.uint64))
    found = weighted_percentiles(values, counts, percents)
    return [None if one is None else Value(one, samples=samples) for one in found]


def ps_to_seconds(picoseconds: Value | None) -> Value | None:
    """Converts picoseconds to seconds."""
    return None if picoseconds is None else replace(picoseconds, value=picoseconds.value * 1e-12)


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float | None:
    """Returns the weighted mean; `None` if all weights are 0."""
    total = float(weights.sum(dtype=np.float64)) if len(weights) else 0.0
    return float((values.astype(np.float64) * weights.astype(np.float64)).sum()) / total if total else None
