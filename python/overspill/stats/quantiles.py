"""Percentiles by nearest rank: of samples, of right-censored samples, of histograms."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

PERCENTILES = {"p50": 50.0, "p95": 95.0, "p99": 99.0, "p99.9": 99.9}


# With fewer samples, fewer than five lie at or beyond the percentile: 5 / (1 - p).
NEEDED = {"p95": 100, "p99": 500, "p99.9": 5000}


@dataclass(frozen=True)
class Value:
    """A number; where `censored`, the true one is at least this. A percentile knows of how many samples."""

    value: float
    censored: bool = False
    samples: int | None = field(default=None, compare=False)


def rank(percent: float, count: int) -> int:
    """The nearest rank, 1 to `count`: the smallest k with k / count >= percent / 100."""
    # In thousandths of a percent, so that 99.9 % of 1000 is 999 and not a rounding error above it.
    parts = round(percent * 1000)
    return max(1, min(count, -(-parts * count // 100_000)))


def percentile(values: np.ndarray, open_ended: np.ndarray, percent: float) -> Value | None:
    """Nearest rank of samples of which some are only known to be at least their value.

    The k-th smallest of the known bounds never exceeds the true percentile. It is exact where it does not
    change when every open-ended sample is taken for infinite; otherwise the result is censored.
    """
    if len(values) == 0:
        return None
    k = rank(percent, len(values)) - 1
    lower = float(np.partition(values, k)[k])
    if not open_ended.any():
        return Value(lower)
    worst = np.where(open_ended, np.inf, values)
    return Value(lower, bool(np.partition(worst, k)[k] != lower))


def mean(values: np.ndarray, open_ended: np.ndarray) -> Value | None:
    """The mean; censored where any sample is."""
    return Value(float(values.mean()), bool(open_ended.any())) if len(values) else None


def summary(values: np.ndarray, open_ended: np.ndarray) -> dict[str, Value]:
    """Mean and percentiles, by name, with how many samples there are; empty where there are none."""
    average = mean(values, open_ended)
    if average is None:
        return {}
    found: dict[str, Value] = {"mean": replace(average, samples=len(values))}
    for name, percent in PERCENTILES.items():
        one = percentile(values, open_ended, percent)
        if one is not None:
            found[name] = replace(one, samples=len(values))
    return found


def weighted(values: np.ndarray, weights: np.ndarray, percents: Sequence[float]) -> list[float | None]:
    """Nearest ranks of integer-weighted values: the smallest that so much weight is at or below."""
    exact = whole_numbers(weights)
    total = int(exact.sum()) if len(weights) else 0
    if total == 0:
        return [None for _ in percents]
    # Equal values in any order: all weight of theirs is at the same one.
    order = np.argsort(values)
    below = np.cumsum(exact[order])
    kind = int if below.dtype == object else below.dtype.type
    needs = (kind(rank(percent, total)) for percent in percents)
    return [float(values[order[int(np.searchsorted(below, need, side="left"))]]) for need in needs]


def whole_numbers(weights: np.ndarray) -> np.ndarray:
    """Weights of a type in which their sum is exact: of any size where 64 bits are too few."""
    fits = weights.sum(dtype=np.float64) < 2.0**63
    return weights.astype(np.uint64 if fits else object)


def counted(values: np.ndarray, counts: np.ndarray, percents: Sequence[float]) -> list[Value | None]:
    """The same of samples, each so often; with how many there are."""
    samples = int(counts.sum(dtype=np.uint64))
    found = weighted(values, counts, percents)
    return [None if one is None else Value(one, samples=samples) for one in found]


def seconds(picoseconds: Value | None) -> Value | None:
    """A time in seconds."""
    return None if picoseconds is None else replace(picoseconds, value=picoseconds.value * 1e-12)


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> float | None:
    """The weighted mean."""
    total = float(weights.sum(dtype=np.float64)) if len(weights) else 0.0
    return float((values.astype(np.float64) * weights.astype(np.float64)).sum()) / total if total else None
