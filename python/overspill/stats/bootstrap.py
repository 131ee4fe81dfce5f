"""Intervals of means by the bias-corrected and accelerated bootstrap (Efron 1987), many at once."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np

RESAMPLES = 4999
AT_ONCE = 1 << 24  # numbers in memory at a time
SEED = 0x0E57A7  # the same draws for everybody: equal data have equal intervals, whatever stands beside them
SAME = 1e-12  # a spread that is no more than rounding

Interval = tuple[float, float]


def means_of(data: np.ndarray) -> Callable[..., np.ndarray]:
    """The means of all rows under a drawing of columns: how often each was drawn, times its values.

    All rows share the draws, and drawing is what takes time.
    """

    def means(drawn: np.ndarray, axis: int = -1) -> np.ndarray:
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
    # Most of a second, which only results of many seeds need.
    from scipy.stats import DegenerateDataWarning, bootstrap

    sizes = np.abs(data).max(axis=1)
    normal = data / sizes[:, None]
    found: list[list[Interval | None]] = [[] for _ in data]
    made = None
    for level in levels:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", DegenerateDataWarning)
            made = bootstrap(
                (np.arange(data.shape[1]),),
                means_of(normal),
                vectorized=True,
                axis=-1,
                method="BCa",
                confidence_level=level,
                # Another confidence needs no other draws.
                n_resamples=RESAMPLES if made is None else 0,
                bootstrap_result=made,
                random_state=np.random.default_rng(SEED),
            )
        for row, (low, high) in enumerate(zip(*made.confidence_interval, strict=True)):
            known = bool(np.isfinite(low) and np.isfinite(high))
            found[row].append((float(low * sizes[row]), float(high * sizes[row])) if known else None)
    return found
