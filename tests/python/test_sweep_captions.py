"""Tests that the caption of a sweep's figure announces exactly the drawn bands."""

from overspill.charts.sweep import build_caption
from overspill.charts.sweep_data import MetricCell


def caption_of(seeds: int, low: float | None, high: float | None) -> str:
    cells = {"fct_mean": {(("1",), "drop"): MetricCell(2.0, low, high, False, seeds)}}
    return build_caption(None, cells, "switch.x")  # type: ignore[arg-type]


def test_two_seeds_have_means_and_no_bands() -> None:
    assert (
        caption_of(2, None, None)
        == "Against switch.x; 2 seeds at each point: lines are means, without intervals."
    )


def test_three_seeds_have_rough_bands() -> None:
    found = caption_of(3, 1.0, 3.0)
    assert found.endswith(
        "lines are means, bands their 95% intervals. With fewer than 10 seeds, intervals are rough."
    )


def test_one_seed_has_no_intervals() -> None:
    assert caption_of(1, None, None) == "Against switch.x; 1 seed at each point: no intervals."
