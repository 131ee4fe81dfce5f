"""Tests of intervals and comparisons, against values worked out by hand."""

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

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


# Whole numbers: their sums are exact, so a change of sign or order does not change rounding.
SAMPLES = st.lists(st.lists(st.integers(-20, 20).map(float), min_size=3, max_size=8), min_size=1, max_size=6)
VALUES = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(st.integers(1, 5), st.integers(-20, 20).map(float), min_size=1),
    min_size=2,
)


def p_values(samples: list[list[float]]) -> list[float]:
    """Returns p-values of samples, none of which is at a limit, where rounding alone decides."""
    found = [stats.p_value(one) for one in samples]
    limits = [0.05 * at / count for count in range(1, 7) for at in range(1, 7)]
    assume(not any(math.isclose(one, limit, rel_tol=1e-9) for one in found for limit in limits))
    return found


@given(SAMPLES)
def test_p_values_match_scipy(samples: list[list[float]]) -> None:
    for one in samples:
        if len(set(one)) > 1:
            assert stats.p_value(one) == pytest.approx(ttest_1samp(one, 0.0).pvalue, rel=1e-9)


@given(SAMPLES)
def test_differences_exclude_zero_as_by_holm(samples: list[list[float]]) -> None:
    known = dict(enumerate(p_values(samples)))
    found = stats.holm_differences("best", {str(at): one for at, one in enumerate(samples)})
    rejected = set[int]()
    for place, at in enumerate(sorted(known, key=known.__getitem__)):
        if known[at] > 0.05 / (len(samples) - place):
            break
        rejected.add(at)
    assert {int(one.variant) for one in found if one.excludes_zero} == rejected
    for place, at in enumerate(sorted(known, key=lambda at: (known[at], str(at)))):
        half = stats.half_width(samples[at], 1 - 0.05 / (len(samples) - min(place, len(rejected))))
        assert found[at].mean == stats.mean(samples[at]) and half is not None
        assert (found[at].low, found[at].high) == pytest.approx(
            (found[at].mean - half, found[at].mean + half)
        )


@given(SAMPLES, st.integers(0, 5))
def test_benjamini_hochberg_matches_scipy(samples: list[list[float]], at: int) -> None:
    found = stats.benjamini_hochberg(samples)
    assert found == [one <= 0.05 for one in false_discovery_control(p_values(samples))]
    # If one sample becomes clearly different from 0, every other sample found before is still found.
    certain = [[1.0] * 3 if place == at else one for place, one in enumerate(samples)]
    now = stats.benjamini_hochberg(certain)
    assert all(late or place == at for place, (one, late) in enumerate(zip(found, now, strict=True)) if one)


@given(VALUES, st.randoms())
def test_comparison_is_negated_by_sign_and_ignores_seed_order(
    values: dict[str, dict[int, float]], shuffled: random.Random
) -> None:
    found = stats.compare_variants(values, "lower")
    turned = stats.compare_variants({name: negated(by_seed) for name, by_seed in values.items()}, "higher")
    assert (found is None) == (turned is None) == (len(set.intersection(*map(set, values.values()))) < 2)
    if found is None or turned is None:
        return
    assert (turned.best, turned.n) == (found.best, found.n)
    assert [(one.variant, -one.mean, -one.high, -one.low) for one in turned.against] == [
        (one.variant, one.mean, one.low, one.high) for one in found.against
    ]
    seeds = {name: dict(shuffled.sample(sorted(one.items()), len(one))) for name, one in values.items()}
    assert stats.compare_variants(seeds, "lower") == found
    for one in found.against:
        assert one.low <= one.mean <= one.high and one.mean <= 0


def negated(by_seed: dict[int, float]) -> dict[int, float]:
    return {seed: -value for seed, value in by_seed.items()}
