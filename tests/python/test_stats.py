"""Tests of intervals and comparisons, against values worked out by hand."""

import math

import pytest

from overspill.stats import paired as stats


@pytest.mark.parametrize(("degrees", "expected"), [(1, 12.7062), (2, 4.30265), (4, 2.77645), (9, 2.26216)])
def test_t_quantiles_are_those_of_the_tables(degrees: int, expected: float) -> None:
    assert stats.t_quantile(0.95, degrees) == pytest.approx(expected, rel=1e-5)


def test_the_half_width_is_that_of_student() -> None:
    # Mean 3, variance 2.5, standard error sqrt(0.5), times 2.77645.
    assert stats.half_width([1, 2, 3, 4, 5]) == pytest.approx(2.77645 * math.sqrt(0.5), rel=1e-5)
    assert stats.half_width([7.0, 7.0]) == 0.0
    assert stats.half_width([1.0]) is None


def test_the_p_value_is_that_of_a_paired_t_test() -> None:
    # t = 2 / (1 / sqrt(3)) = 3.4641 with 2 degrees: p = 1 - t / sqrt(t^2 + 2) = 0.07418.
    assert stats.p_value([1.0, 2.0, 3.0]) == pytest.approx(1 - 3.4641016 / math.sqrt(14), rel=1e-6)
    assert stats.p_value([0.0, 0.0]) == 1.0
    assert stats.p_value([2.0, 2.0]) == 0.0


def by_seed(*values: float) -> dict[int, float]:
    return dict(enumerate(values, 1))


def test_two_variants_are_compared_in_pairs() -> None:
    # The seeds differ far more than the variants: only pairs show the difference of 1.0, 1.1, 0.9.
    found = stats.compare_variants({"a": by_seed(10, 20, 30), "b": by_seed(11, 21.1, 30.9)}, "lower")
    assert found is not None and found.best == "a" and found.n == 3 and found.is_best_distinct
    (one,) = found.against
    half = 4.30265 * 0.1 / math.sqrt(3)
    assert one.mean == pytest.approx(-1.0)
    assert (one.low, one.high) == pytest.approx((-1.0 - half, -1.0 + half), rel=1e-5)


def test_holm_corrects_the_second_of_two_comparisons_less_than_the_first() -> None:
    differences = {"near": [1.0, 1.2, 0.8], "far": [9.0, 9.1, 8.9]}
    near, far = stats.holm_differences("best", differences)
    assert (near.variant, far.variant) == ("near", "far")
    # `far` has the smaller p and so an interval of 97.5 % (t = 6.20535); `near` has 95 % (t = 4.30265).
    assert far.high - far.mean == pytest.approx(6.20535 * 0.1 / math.sqrt(3), rel=1e-5)
    assert near.high - near.mean == pytest.approx(4.30265 * 0.2 / math.sqrt(3), rel=1e-5)


def test_after_the_first_that_does_not_differ_the_correction_stays() -> None:
    noisy = {"x": [1.0, 2.0, 3.0], "y": [-1.0, 5.0, 3.0]}
    for one, values in zip(stats.holm_differences("best", noisy), noisy.values(), strict=True):
        assert one.high - one.mean == pytest.approx(6.20535 * stats.standard_error(values), rel=1e-5)
        assert not one.excludes_zero


def test_the_best_must_beat_every_other() -> None:
    values = {"a": by_seed(1, 2, 3), "b": by_seed(1.1, 1.9, 3.3), "c": by_seed(11, 12.1, 12.9)}
    found = stats.compare_variants(values, "lower")
    assert found is not None and found.best == "a" and not found.is_best_distinct
    assert [one.excludes_zero for one in found.against] == [False, True]


def test_higher_may_be_better() -> None:
    found = stats.compare_variants({"a": by_seed(1, 2, 3), "b": by_seed(3, 4, 5)}, "higher")
    assert found is not None and found.best == "b" and found.is_best_distinct


def test_rounding_makes_nobody_best() -> None:
    found = stats.compare_variants({"a": by_seed(0.1 + 0.2, 0.3), "b": by_seed(0.3, 0.1 + 0.2)}, "lower")
    assert found is not None and not found.is_best_distinct
    found = stats.compare_variants({"a": by_seed(0.3, 0.3), "b": by_seed(0.1 + 0.2, 0.1 + 0.2)}, "lower")
    assert found is not None and not found.is_best_distinct


@pytest.mark.parametrize(
    "values",
    [
        {"a": by_seed(1, 2)},
        {"a": by_seed(1), "b": by_seed(2)},
        {"a": {1: 1.0, 2: 1.0}, "b": {2: 1.0, 3: 1.0}},
    ],
)
def test_two_variants_need_two_common_seeds(
    values: dict[str, dict[int, float]],
) -> None:
    assert stats.compare_variants(values, "lower") is None


def test_a_metric_without_a_direction_has_no_best() -> None:
    assert stats.compare_variants({"a": by_seed(1, 2), "b": by_seed(3, 4)}, "none") is None


def test_of_two_seeds_differences_have_a_range_and_no_interval() -> None:
    found = stats.compare_variants({"a": by_seed(10, 20), "b": by_seed(11, 21.5)}, "lower")
    assert found is not None and found.n == 2 and not found.is_best_distinct
    (one,) = found.against
    assert (one.mean, one.low, one.high) == (-1.25, -1.5, -1.0)
