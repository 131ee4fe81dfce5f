"""Intervals of means by the bias-corrected and accelerated bootstrap (Efron 1987), many at once."""

from collections.abc import Callable, Sequence

import numpy as np

RESAMPLES = 4999
AT_ONCE = 1 << 24  # numbers in memory at a time
SEED = 0x0E57A7  # the same draws for everybody: equal data have equal intervals, whatever stands beside them
SAME = 1e-12  # a spread that is no more than rounding

Interval = tuple[float, float]


def means_of(data: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The means of all rows under a drawing of columns: how often each was drawn, times its values.

    All rows share the draws, and drawing is what takes time.
    """

    def means(drawn: np.ndarray) -> np.ndarray:
        """A row of means for every row of data."""
        draws = drawn.reshape(-1, drawn.shape[-1])
        count, size = draws.shape[0], data.shape[1]
        places = draws + size * np.arange(count)[:, None]
        often = np.bincount(places.ravel(), minlength=count * size).reshape(count, size)
        made = np.einsum("rs,ds->rd", data, often.astype(np.float64)) / draws.shape[1]
        return np.asarray(made.reshape(len(data), *drawn.shape[:-1]))

    return means


def intervals(samples: Sequence[Sequence[float]], levels: Sequence[float]) -> list[list[Interval | None]]:
    """The interval of the mean of each sample, by sample and confidence; all samples have the same length.

    A sample whose values are all equal has an interval without width. `None` where BCa gives none.
    """
    data = np.asarray(samples, dtype=np.float64)
    if not len(data):
        return []
    low, high = data.min(axis=1), data.max(axis=1)
    spread = (high - low) > SAME * np.maximum(np.abs(low), np.abs(high))
    found: list[list[Interval | None]] = [
        [(float(data[i].mean()),) * 2] * len(levels) for i in range(len(data))
    ]
    rows = np.flatnonzero(spread)
    step = max(1, AT_ONCE // RESAMPLES)
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        for row, one in zip(some, scaled(data[some], levels), strict=True):
            found[row] = one
    return found


def scaled(data: np.ndarray, levels: Sequence[float]) -> list[list[Interval | None]]:
    """The same of rows that are not constant; each is brought to a size where squares and cubes are exact."""
    sizes = np.abs(data).max(axis=1)
    count = data.shape[1]
    means = means_of(data / sizes[:, None])
    resampled = np.sort(means(np.random.default_rng(SEED).integers(0, count, (RESAMPLES, count))), axis=-1)
    with np.errstate(all="ignore"):
        bias, acceleration = corrections(means, resampled, count)
        found: list[list[Interval | None]] = [[] for _ in data]
        for level in levels:
            ends = bounds(resampled, shares(bias, acceleration, level))
            for row, (low, high) in enumerate(ends):
                known = bool(np.isfinite(low) and np.isfinite(high))
                found[row].append((float(low * sizes[row]), float(high * sizes[row])) if known else None)
    return found


def corrections(
    means: Callable[[np.ndarray], np.ndarray], resampled: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """By row, the bias z0 and the acceleration a (Efron and Tibshirani 1993, equations 14.14 and 14.15)."""
    from scipy.special import ndtri  # slow to load, and of use to many seeds alone

    own = means(np.arange(count))[:, None]
    below = np.count_nonzero(resampled < own, axis=-1) + np.count_nonzero(resampled <= own, axis=-1)
    # Each value left out in turn.
    others = np.array([np.delete(np.arange(count), at) for at in range(count)])
    left = means(others)
    moved = (count - 1) * (left.mean(axis=-1, keepdims=True) - left)
    cubes = (moved**3).sum(axis=-1) / float(count) ** 3
    squares = (moved**2).sum(axis=-1) / float(count) ** 2
    return ndtri(below / (2 * RESAMPLES)), 1 / 6 * cubes / squares ** (3 / 2)


def shares(bias: np.ndarray, acceleration: np.ndarray, level: float) -> np.ndarray:
    """By row, the shares of resamples that are to lie below both ends (equation 14.10)."""
    from scipy.special import ndtr, ndtri

    outer = float(ndtri((1 - level) / 2))
    moved = [bias + end for end in (outer, -outer)]
    return np.stack([ndtr(bias + one / (1 - acceleration * one)) for one in moved], axis=-1)


def bounds(resampled: np.ndarray, below: np.ndarray) -> np.ndarray:
    """By row, the values of sorted resamples below which such shares lie, linearly between two; or NaN."""
    known = (below >= 0) & (below <= 1)
    share = np.where(known, below, 0.5)
    place = share * RESAMPLES + (1 - share)
    upper = place // 1
    lower, between = np.maximum(upper - 1, 0), place % 1
    ends = [
        np.take_along_axis(resampled, one.astype(np.int64), axis=-1)
        for one in (lower, np.minimum(upper, RESAMPLES - 1))
    ]
    return np.where(known, (1 - between) * ends[0] + between * ends[1], np.nan)
