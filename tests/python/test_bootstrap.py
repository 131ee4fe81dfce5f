"""Tests of intervals of order statistics over seeds, against scipy and against exact requirements."""

import math
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap as reference

from overspill import run, stats
from overspill.results import formats, metric_rows
from overspill.results.metric_rows import MetricCell
from overspill.stats import bootstrap
from overspill.stats.quantiles import Value

SKEWED = [1.0, 1.1, 1.2, 1.2, 1.3, 1.3, 1.4, 1.5, 1.7, 9.0]


def test_the_interval_is_scipy_s_with_the_same_draws() -> None:
    # The values have no ties, whose order would depend on rounding.
    values = np.random.default_rng(2).exponential(size=12)
    expected = reference(
        (values,),
        np.mean,
        n_resamples=bootstrap.RESAMPLES,
        method="BCa",
        random_state=np.random.default_rng(bootstrap.RESAMPLING_SEED),
    ).confidence_interval
    assert bootstrap.bca_intervals([values], [0.95])[0][0] == pytest.approx(tuple(expected), rel=1e-12)


POSITIVE = st.floats(1e-3, 1e9)
NUMBERS = st.one_of(st.integers(-3, 3).map(float), POSITIVE, POSITIVE.map(float.__neg__))
# A tenth of the resamples takes a tenth of the time; the same code computes them.
fewer_resamples = mock.patch.object(bootstrap, "RESAMPLES", 499)


@st.composite
def drawn_samples(draw: st.DrawFn) -> list[list[float]]:
    """Draws samples of one size, of which none is constant, since scipy has no interval of those."""
    count = draw(st.integers(10, 40))
    sample = st.lists(NUMBERS, min_size=count, max_size=count).filter(
        lambda one: max(one) - min(one) > 1e-9 * max(map(abs, one))
    )
    return draw(st.lists(sample, min_size=1, max_size=4))


@fewer_resamples
@given(drawn_samples())
def test_intervals_are_bit_identical_to_scipy(samples: list[list[float]]) -> None:
    data = np.array(samples)
    sizes, count = np.ldexp(1.0, np.frexp(np.abs(data).max(axis=1))[1] - 1), data.shape[1]
    means = bootstrap.resampled_mean_function(data / sizes[:, None])
    expected = reference(
        (np.arange(count),),
        lambda drawn, axis=-1: means(drawn),
        vectorized=True,
        axis=-1,
        n_resamples=bootstrap.RESAMPLES,
        method="BCa",
        random_state=np.random.default_rng(bootstrap.RESAMPLING_SEED),
    ).confidence_interval
    found = [one for (one,) in bootstrap.bca_intervals(samples, [0.95])]
    assert found == list(zip(expected.low * sizes, expected.high * sizes, strict=True))


@fewer_resamples
@given(drawn_samples(), st.integers(-200, 200))
def test_intervals_depend_on_one_sample_and_scale_with_it(samples: list[list[float]], power: int) -> None:
    found = bootstrap.bca_intervals([*samples, [5.0] * len(samples[0])], [0.95, 0.99])
    assert found.pop() == [(5.0, 5.0)] * 2
    for values, intervals in zip(samples, found, strict=True):
        assert bootstrap.bca_intervals([values], [0.95, 0.99]) == [intervals]
        (scaled,) = bootstrap.bca_intervals([[math.ldexp(one, power) for one in values]], [0.95, 0.99])
        assert scaled == [one and (math.ldexp(one[0], power), math.ldexp(one[1], power)) for one in intervals]


@fewer_resamples
@given(drawn_samples())
def test_intervals_contain_the_mean_within_the_value_range(samples: list[list[float]]) -> None:
    for values, intervals in zip(samples, bootstrap.bca_intervals(samples, [0.95, 0.99]), strict=True):
        close = 1e-12 * max(map(abs, values))
        narrow, wide = intervals
        assert narrow and wide
        assert min(values) - close <= wide[0] <= narrow[0] <= stats.mean(values) + close
        assert stats.mean(values) - close <= narrow[1] <= wide[1] <= max(values) + close


def test_ties_of_integers_are_not_broken_by_rounding() -> None:
    draw = np.random.default_rng(12)
    for count in range(10, 30):
        values = draw.integers(0, 4, count).astype(float)
        expected = reference(
            (values,),
            np.mean,
            n_resamples=bootstrap.RESAMPLES,
            method="BCa",
            random_state=np.random.default_rng(bootstrap.RESAMPLING_SEED),
        ).confidence_interval
        assert bootstrap.bca_intervals([values.tolist()], [0.95]) == [[tuple(expected)]]


def test_a_long_tail_makes_the_upper_side_longer_and_t_does_not() -> None:
    low, high = stats.mean_interval(SKEWED, True) or (0, 0)
    centre = stats.mean(SKEWED)
    assert high - centre > 1.5 * (centre - low)
    left, right = stats.mean_interval(SKEWED) or (0, 0)
    assert right - centre == pytest.approx(centre - left)


def test_fewer_than_ten_seeds_have_student_s_interval() -> None:
    assert stats.mean_interval(SKEWED[:9], True) == stats.mean_interval(SKEWED[:9])
    assert stats.mean_interval([1.0], True) is None


def test_a_higher_confidence_contains_a_lower_one() -> None:
    ((narrow, wide),) = bootstrap.bca_intervals([SKEWED], [0.95, 0.99])
    assert narrow and wide and wide[0] < narrow[0] and wide[1] > narrow[1]


@pytest.mark.parametrize(
    "values",
    [[7.0] * 10, [0.0] * 10, [0.1 + 0.2] * 5 + [0.3] * 5, [1e-12] * 9 + [2e-12], [0.0] * 9 + [1.0]],
)
def test_odd_data_give_an_interval_around_the_mean_without_a_warning(values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = stats.mean_interval(values, True) or (1.0, 0.0)
    assert low <= stats.mean(values) * (1 + 1e-12) and high >= stats.mean(values) * (1 - 1e-12)
    assert np.isfinite([low, high]).all()


def test_two_hundred_metrics_of_four_variants_and_twenty_seeds_take_about_a_second() -> None:
    # Half of all metrics are order statistics: this is the number of cells and paired differences.
    values = np.random.default_rng(1).exponential(size=(400, 20))
    began = time.perf_counter()
    metric_rows.bootstrap_intervals([tuple(one) for one in values])
    # The bound holds on a busy machine too.
    assert time.perf_counter() - began < 5


def test_differences_are_compared_by_t_since_a_bootstrap_of_few_excludes_zero_too_often() -> None:
    draw = np.random.default_rng(7)
    samples = np.exp(draw.normal(size=(600, 2, 10))).max(axis=1) - np.exp(draw.normal(size=(600, 2, 10))).max(
        axis=1
    )
    made = bootstrap.bca_intervals(samples.tolist(), [0.95])
    resampled = sum(low > 0 or high < 0 for ((low, high),) in made) / 600
    compared = [
        stats.compare_variants({"a": dict(enumerate(row)), "b": dict.fromkeys(range(10), 0.0)}, "lower")
        for row in samples
    ]
    by_t = sum(one.against[0].excludes_zero for one in compared if one is not None) / 600
    assert by_t < 0.075 < 0.10 < resampled


def test_a_cell_shows_both_bounds_where_its_interval_is_uneven() -> None:
    values = [Value(one) for one in SKEWED]
    uneven = MetricCell(range(10), values, resampled=(1.21, 4.4))
    assert formats.format_cell(uneven, 1.0) == "2.1 [1.2, 4.4]"
    rounded = MetricCell(range(5), [Value(0.1 + 0.2), *[Value(0.3)] * 4])
    assert formats.format_cell(rounded, 1.0) == "0.3000 ± 0"
    even = MetricCell(range(10), values, resampled=(1.0, 3.2))
    assert formats.format_cell(even, 1.0) == "2.1 ± 1.1"
    assert uneven.ci95 == pytest.approx((4.4 - 1.21) / 2)
    censored = MetricCell(range(2), [Value(1.0), Value(2.0, True)], resampled=(0.0, 9.0))
    assert censored.interval is None and censored.ci95 is None


def test_the_document_has_bounds_and_marks_percentiles_of_few_samples(scenario: Path) -> None:
    results = run(scenario, seeds=10)
    found = results.document()["variants"][0]["metrics"]
    mean, tail = found["fct_mean"], found["fct_p99"]
    assert mean["interval"] == pytest.approx([mean["mean"] - mean["ci95"], mean["mean"] + mean["ci95"]])
    assert tail["interval"] == pytest.approx(bootstrap.bca_intervals([tail["values"]], [0.95])[0][0])
    assert tail["ci95"] == pytest.approx((tail["interval"][1] - tail["interval"][0]) / 2)
    # There are about 1250 flows and 7 queries for each seed.
    assert "few_samples" not in tail and "few_samples" not in found["qct_p50"]
    assert found["qct_p95"]["few_samples"] and found["qct_p99"]["few_samples"]
    assert found["fct_p99.9[size=100KB-10MB]"]["few_samples"]
    assert results.document() == results.document()
