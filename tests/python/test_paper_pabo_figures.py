"""Tests that every figure of PABO's sections II, IV and V measures exactly its rows, and is drawn."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from overspill_papers.pabo.figures import DRAWINGS
from overspill_papers.pabo.figures import parameters as drawn
from overspill_papers.pabo.measures import SECTIONS_2_TO_5, parameters
from pabo_runs import (
    EXAMPLE,
    GOOD,
    LAMBDAS,
    RAW_LAMBDA,
    RAW_THETA,
    THETAS,
    FakeRuns,
    both_panels,
    points,
    rows_by_key,
    runs_with_trace,
    severity_sweeps,
    table,
    tree_sweeps,
)
from small_paper import count_marked_points

from overspill.papers.spec import Runs

PAPER = Path(__file__).parents[2] / "papers" / "pabo"


def all_sweeps() -> dict[str, Runs]:
    """Returns every sweep that these figures use."""
    flat = dict.fromkeys(
        ("reorder_entropy", "time_above_theta", "utilisation_variance", "bounced_share"), lambda *_: 1
    )
    metrics = {name: lambda at, seed: seed + sum(at.values()) for name in ("total_hop_max", "total_hop_mean")}
    at_s4 = table([(6, 0, 3)], "node", "port", "bounced")
    example = FakeRuns(metrics={"drops": lambda *_: 0}, tables={"ports": lambda *_: at_s4}, nodes=EXAMPLE)
    return {
        **severity_sweeps(),
        **tree_sweeps(**flat),
        "example": example,
        "raw_lambda": FakeRuns(points(RAW_LAMBDA, LAMBDAS), metrics),
        "raw_theta": FakeRuns(points(RAW_THETA, THETAS), {"bounced_share": lambda at, _: sum(at.values())}),
        "peaks": runs_with_trace(GOOD),
    }


ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
MEASURES = SECTIONS_2_TO_5
IDS = """fig1 fig3 secII-C fig5 fig6a fig6b fig6c fig6d fig6e fig6f secV-B tab1 fig7a fig7b fig8a fig8b fig9a
fig9b"""


def test_every_figure_of_these_sections_has_code() -> None:
    assert sorted(MEASURES) == sorted(IDS.split())


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "curves_by_bounces", lambda _: both_panels()[0])
    found = rows_by_key(MEASURES[name](all_sweeps()))
    assert set(found) == {(row["case"], row["metric"]) for row in ROWS if row["figure"] == name}
    texts = {(row["case"], row["metric"]) for row in ROWS if isinstance(row.get("published"), str)}
    for place, values in found.items():
        assert values
        assert all(isinstance(value, str) == (place in texts) for value in values)


@pytest.mark.parametrize("name", sorted(set(MEASURES) & set(DRAWINGS)))
def test_a_figure_is_drawn_with_and_without_what_was_published(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (parameters, drawn):
        monkeypatch.setattr(module, "curves_by_bounces", lambda _: both_panels()[0])
    counts = count_marked_points(name, DRAWINGS[name], all_sweeps(), ROWS)
    assert counts[0] == 0
    assert (counts[1] > 0) == (name in SHOWN)


# Figures with published values that a drawing can show.
NAMES = ("P", "bounced_share", "mean_total_hop", "share_within_11_hops", "bounces_at_S7")
SHOWN = {
    row["figure"]
    for row in ROWS
    if (row["metric"] in NAMES or row["metric"].startswith("share_of_"))
    and isinstance(row.get("published"), int | float)
}


def test_texts_of_ticks_do_not_touch() -> None:
    places = [0, 0.5, 0.9, 0.95, 0.99]
    assert drawn.tick_labels(np.array(places), places) == ["0", "0.5", "0.9", "", "0.99"]
