"""Tests of percentiles by nearest rank."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overspill.stats.quantiles import (
    Value,
    mean_and_percentiles,
    nearest_rank,
    percentile,
    weighted_mean,
    weighted_percentiles,
)

NONE = np.zeros(0, bool)


@pytest.mark.parametrize(
    ("percent", "count", "expected"),
    [(50, 10, 5), (50, 11, 6), (99, 100, 99), (99, 101, 100), (99.9, 1000, 999), (99.9, 10, 10), (99, 1, 1)],
)
def test_the_nearest_rank_has_enough_at_or_below(percent: float, count: int, expected: int) -> None:
    assert nearest_rank(percent, count) == expected


def test_weights_may_be_more_than_64_bits_hold() -> None:
    values = np.array([0, 1, 2, 3])
    half = np.array([2**63, 2**63 - 1, 1, 1], np.uint64)
    assert weighted_percentiles(values, half, (49, 51, 99, 100)) == [0.0, 1.0, 1.0, 3.0]
    large = np.array([2**90, 2**90, 2**90, 1], object)
    assert weighted_percentiles(values, large, (33, 34, 100)) == [0.0, 1.0, 3.0]
    assert weighted_mean(values, large) == pytest.approx(1.0)


def test_percentiles_are_samples() -> None:
    values = np.array([15.0, 20.0, 35.0, 40.0, 50.0])
    closed = np.zeros(5, bool)
    assert percentile(values, closed, 40) == Value(20.0)
    assert percentile(values, closed, 50) == Value(35.0)
    assert percentile(values, closed, 100) == Value(50.0)
    assert percentile(np.zeros(0), NONE, 50) is None
    assert mean_and_percentiles(np.zeros(0), NONE) == {}


def test_a_percentile_below_the_censored_flows_is_exact() -> None:
    values, open_ended = np.array([1.0, 2.0, 3.0, 100.0]), np.array([False, False, False, True])
    assert percentile(values, open_ended, 75) == Value(3.0)
    assert percentile(values, open_ended, 99) == Value(100.0, True)


def test_a_flow_that_began_late_and_is_unfinished_leaves_lower_percentiles_open() -> None:
    # The unfinished flow has lasted 1 so far and may end at any time: the median is 2 or 3, at least 2.
    values, open_ended = np.array([1.0, 2.0, 3.0]), np.array([True, False, False])
    assert percentile(values, open_ended, 50) == Value(2.0, True)
    assert mean_and_percentiles(values, open_ended)["mean"] == Value(2.0, True)


def test_a_histogram_is_weighted_by_time() -> None:
    packets, time = np.array([5, 0, 1], np.uint64), np.array([2, 90, 8], np.uint64)
    assert weighted_percentiles(packets, time, (99, 50, 98)) == [5, 0, 1]
    assert weighted_mean(packets, time) == pytest.approx(0.18)
    assert weighted_percentiles(packets[:0], time[:0], (50,)) == [None]
    assert weighted_mean(packets[:0], time[:0]) is None


SAMPLES = st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 9)), min_size=1, max_size=30)
PERCENTS = st.integers(1, 100_000).map(lambda parts: Fraction(parts, 1000))


def percentile_by_definition(values: list[float], percent: Fraction) -> float:
    """Returns the least sample that has enough samples at or below it."""
    return min(one for one in values if sum(other <= one for other in values) >= percent / 100 * len(values))


@given(SAMPLES, PERCENTS)
def test_censored_percentiles_are_lower_bounds(
    samples: list[tuple[int, bool, int]], percent: Fraction
) -> None:
    values, open_ended = (np.array(column) for column in list(zip(*samples, strict=True))[:2])
    found = percentile(values.astype(float), open_ended, float(percent))
    assert found is not None
    ended = percentile_by_definition([now + more * late for now, late, more in samples], percent)
    assert found.value <= ended if found.censored else found.value == ended
    never = percentile_by_definition([math.inf if late else now for now, late, _ in samples], percent)
    assert found.censored == (found.value != never)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 6)), max_size=12), PERCENTS, st.integers(0, 90))
def test_random_weights_count_as_repeated_values_at_any_scale(
    pairs: list[tuple[int, int]], percent: Fraction, scale: int
) -> None:
    values = np.array([value for value, _ in pairs], np.int64)
    weights = np.array([weight << scale for _, weight in pairs], object if scale > 50 else np.uint64)
    repeated = [float(value) for value, weight in pairs for _ in range(weight)]
    expected = percentile_by_definition(repeated, percent) if repeated else None
    assert weighted_percentiles(values, weights, [float(percent)]) == [expected]
    mean = weighted_mean(values, weights)
    assert mean == (pytest.approx(sum(repeated) / len(repeated)) if repeated else None)
