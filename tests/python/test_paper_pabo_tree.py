"""Tests of statistics of PABO's figures, and of section IV on small handmade runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from overspill_papers.pabo.measures import parameters
from pabo_runs import FakeRuns, rows_by_key, tree_sweeps

from overspill.errors import Failed
from overspill.papers.common import jackknife_values, points_along_path, rank_correlation, relative_range

# Statistics.


DRAWS = st.lists(st.floats(-100, 100), min_size=2, max_size=9)


@given(DRAWS)
def test_jackknife_of_a_mean_gives_the_values_themselves(values: list[float]) -> None:
    draws = np.stack([np.ones(len(values)), values], axis=1)
    found = jackknife_values(lambda means: float(means[1]), draws)
    assert found == pytest.approx(values, abs=1e-9)


@given(DRAWS)
def test_jackknife_takes_the_bias_of_a_squared_mean_away(values: list[float]) -> None:
    # For T = mean², the mean of the pseudo-values is mean² - s²/n, without bias.
    draws = np.array(values)[:, None]
    found = np.mean(jackknife_values(lambda means: float(means[0] ** 2), draws))
    bias = draws.var(ddof=1) / len(values)
    assert found == pytest.approx(draws.mean() ** 2 - bias, abs=1e-8)


def test_jackknife_gives_a_ratio_the_scatter_that_the_delta_method_gives() -> None:
    rng = np.random.default_rng(3)
    draws = np.stack([rng.normal(10, 1, 4000), rng.normal(5, 0.5, 4000)], axis=1)
    found = np.array(jackknife_values(lambda means: float(means[0] / means[1]), draws))
    assert found.var(ddof=1) == pytest.approx(4 * (0.1**2 + 0.1**2), rel=0.1)


def test_jackknife_of_the_spread_of_a_flat_curve_is_less_than_that_of_single_seeds() -> None:
    draws = np.random.default_rng(4).normal(1, 0.2, size=(30, 7))
    single = np.mean([relative_range(one) for one in draws])
    assert np.mean(jackknife_values(relative_range, draws)) < single / 3


def test_jackknife_of_one_seed_is_the_statistic() -> None:
    assert jackknife_values(relative_range, np.array([[1.0, 3.0]])) == [1.0]


def test_rank_correlation_sees_order_alone_and_nothing_in_a_flat_curve() -> None:
    assert rank_correlation([1, 2, 3], np.array([1.0, 10.0, 11.0])) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], np.array([3.0, 2.0, 1.0])) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3], np.array([2.0, 2.0, 2.0])) == 0
    assert np.isnan(rank_correlation([1, 2, 3], np.array([1.0, np.nan, 2.0])))


def test_a_line_through_a_grid_needs_every_value_once() -> None:
    grid = [{"a": "2", "b": "1"}, {"a": "0.5", "b": "1"}, {"a": "1", "b": "3"}]
    assert points_along_path(FakeRuns(grid), "a", {"b": 1}) == ([0.5, 2.0], [grid[1], grid[0]])
    with pytest.raises(Failed, match="expected at least one value, and each once"):
        points_along_path(FakeRuns(grid), "b")
    with pytest.raises(Failed, match="expected at least one value"):
        points_along_path(FakeRuns(grid), "a", {"b": 7})


# Section IV.


def test_the_grid_of_entropy_has_the_answers_of_its_formula() -> None:
    sweeps = tree_sweeps(
        reorder_entropy=lambda theta, each, seed: seed + 4 - 2 * theta + 0.001 * each * (theta < 0.99)
    )
    found = rows_by_key(parameters.MEASURES["fig5"](sweeps))
    for case in ("lambda=20", "lambda=50", "lambda=100"):
        assert found[case, "entropy_theta_0.1_less_0.5"] == pytest.approx([0.8, 0.8])
        assert min(found[case, "entropy_theta_0.5_less_0.99"]) > 0.98
    assert found["whole grid", "range_over_theta_by_range_over_lambda"] == pytest.approx([1.99 / 0.1595] * 2)
    assert found["theta=0.99", "spread_over_lambda"] == pytest.approx([0, 0], abs=1e-12)
    assert np.mean(found["theta=0.99", "entropy_by_least_elsewhere"]) == pytest.approx(
        (1.5 + 4 - 1.98) / (1.5 + 4 - 1.9 + 0.0005), rel=1e-3
    )


def test_a_grid_that_rises_along_theta_and_changes_along_lambda_fails() -> None:
    sweeps = tree_sweeps(reorder_entropy=lambda theta, each, _: 1 + theta + each)
    found = rows_by_key(parameters.MEASURES["fig5"](sweeps))
    assert max(found["lambda=20", "entropy_theta_0.1_less_0.5"]) < 0
    assert max(found["whole grid", "range_over_theta_by_range_over_lambda"]) < 0.1
    assert min(found["theta=0.99", "spread_over_lambda"]) > 1
    assert min(found["theta=0.99", "entropy_by_least_elsewhere"]) > 1


def test_lost_packets_are_noted() -> None:
    sweeps = tree_sweeps(
        reorder_entropy=lambda *_: 1, drops=lambda theta, _, seed: float(theta == 0.99 and seed == 2)
    )
    assert {one.note for one in parameters.MEASURES["fig5"](sweeps)} == {"packets lost with seed 2 (9)"}


def panel(name: str, **metrics: Any) -> dict[str, Sequence[Any]]:
    flat = dict.fromkeys(
        ("reorder_entropy", "time_above_theta", "utilisation_variance", "bounced_share"), lambda *_: 1
    )
    return {
        metric: values
        for (_, metric), values in rows_by_key(
            parameters.MEASURES[name](tree_sweeps(**flat | metrics))
        ).items()
    }


def test_a_panel_over_theta_has_the_answers_of_its_formula() -> None:
    found = panel(
        "fig6b",
        reorder_entropy=lambda theta, *_: 4 if theta < 0.2 else 1 if theta > 0.9 else 2,
        time_above_theta=lambda theta, _, seed: seed * max(0.9 - theta, 0),
        utilisation_variance=lambda theta, *_: theta**2,
    )
    assert found["entropy_theta_0.4_by_0.1"] == [0.5, 0.5]
    assert found["entropy_theta_0.99_by_0.8"] == [0.5, 0.5]
    assert found["entropy_spread_theta_0.4_to_0.8"] == pytest.approx([0, 0])
    assert found["rank_correlation_of_theta_and_variance"] == pytest.approx([1, 1])
    assert max(found["rank_correlation_of_theta_and_time_ratio"]) < -0.98
    assert found["time_ratio_change_at_the_end"] == pytest.approx([0, 0], abs=1e-12)
    assert min(found["rank_correlation_of_entropy_and_time_ratio"]) == pytest.approx(0.8, abs=1e-3)


def test_a_panel_over_theta_that_goes_the_other_way_fails() -> None:
    found = panel(
        "fig6c",
        reorder_entropy=lambda theta, *_: 1 + theta,
        time_above_theta=lambda theta, *_: 1 - theta**8,
        utilisation_variance=lambda theta, *_: -theta,
    )
    assert min(found["entropy_theta_0.4_by_0.1"]) > 1
    assert found["entropy_spread_theta_0.4_to_0.8"] == pytest.approx([0.4 / 1.6] * 2)
    assert min(found["time_ratio_change_at_the_end"]) > 0.4
    assert max(found["rank_correlation_of_theta_and_variance"]) == pytest.approx(-1)
    assert max(found["rank_correlation_of_entropy_and_time_ratio"]) == pytest.approx(-1)


def test_ranges_of_time_ratio_are_compared_between_panels() -> None:
    found = panel("fig6a", time_above_theta=lambda theta, each, seed: seed * (1 - theta) * each)
    assert found["time_ratio_range_by_that_of_6b"] == pytest.approx([1 / 20] * 2)
    assert found["time_ratio_range_by_that_of_6c"] == pytest.approx([1 / 50] * 2)
    over = {"time_above_theta": lambda theta, each, _: each * (1 - theta)}
    assert panel("fig6e", **over)["time_ratio_range_by_that_of_6d"] == pytest.approx([0.5 / 0.9] * 2)
    assert panel("fig6f", **over)["time_ratio_range_by_that_of_6e"] == pytest.approx([0.05 / 0.5] * 2)


def test_panels_over_lambda_have_the_answers_of_their_formulas() -> None:
    found = panel(
        "fig6d",
        reorder_entropy=lambda _, each, __: 1 + min(each, 10) / 10,
        time_above_theta=lambda _, each, __: each,
    )
    assert found["entropy_lambda_10_by_0.5"] == pytest.approx([2 / 1.05] * 2)
    assert found["entropy_spread_lambda_10_to_160"] == pytest.approx([0, 0])
    assert found["rank_correlation_of_lambda_and_time_ratio"] == pytest.approx([1, 1])
    assert found["rank_correlation_of_lambda_and_variance"] == [0, 0]
    found = panel("fig6e", bounced_share=lambda _, each, __: -each, reorder_entropy=lambda _, each, __: each)
    assert found["rank_correlation_of_lambda_and_bounced_share"] == pytest.approx([-1, -1])
    assert found["entropy_lambda_160_by_0.5"] == [320, 320]
    found = panel("fig6f", reorder_entropy=lambda _, each, __: 1 + (each > 80))
    assert found["entropy_spread_over_lambda"] == pytest.approx([1 / (11 / 9)] * 2)
    found = panel(
        "fig6f",
        time_above_theta=lambda _, each, __: 1 + (each > 80),
        utilisation_variance=lambda _, each, seed: seed * (2 - (each > 80)),
    )
    assert found["time_ratio_spread_over_lambda"] == pytest.approx([1 / (11 / 9)] * 2)
    assert found["variance_spread_over_lambda"] == pytest.approx([1 / (16 / 9)] * 2)
    assert found["entropy_spread_over_lambda"] == [0, 0]
