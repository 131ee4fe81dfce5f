"""Tests of arguments to `run` and `sweep`: they work, or an exception explains the error."""

import dataclasses
import inspect
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

import overspill
from overspill import BadInput, Listener, Options, Results, prepare, run, run_plans, sweep
from overspill.results.table_streams import SpillFolder

AXIS = {"switch.x": [1, 2]}


def test_iterables_that_end_after_one_pass_and_single_texts_are_lists(scenario: Path, tmp_path: Path) -> None:
    assert run(scenario, variants=(name for name in ("drop", "bounce"))).variants == ["drop", "bounce"]
    assert run(scenario, variants="drop,bounce").variants == ["drop", "bounce"]
    assert run(scenario, variants="drop").variants == ["drop"]
    with pytest.raises(BadInput, match="--variants: found ab; expected some of drop"):
        run(scenario, variants="ab")
    assert run(scenario, sets=(one for one in ["switch.x=1"])).facts["sets"] == ["switch.x=1"]
    assert run(scenario, sets="switch.x=1").facts["sets"] == ["switch.x=1"]
    made = sweep(
        scenario,
        (one for one in ["switch.x=1,2", "switch.y=3,4"]),
        zips=(one for one in [("switch.x", "switch.y")]),
        seeds=1,
        variants=(one for one in ["drop"]),
        tables=(one for one in ["flows"]),
        out=tmp_path / "o",
    )
    assert made.points == [{"switch.x": "1", "switch.y": "3"}, {"switch.x": "2", "switch.y": "4"}]
    assert {run.variant for run in made.each()} == {"drop"} and made.flows.num_rows
    assert len(sweep(scenario, "switch.x=1,2", seeds=1).points) == 2


@pytest.mark.parametrize("name", ["seeds", "seed", "jobs", "max_events"])
@pytest.mark.parametrize("value", ["3", 2.0, True, [1]])
def test_what_is_no_whole_number_is_refused(scenario: Path, name: str, value: object) -> None:
    with pytest.raises(BadInput, match=f"^{name}: found .*; expected a whole number$"):
        run(scenario, **{name: value})  # type: ignore[arg-type]


def test_whole_numbers_of_other_libraries_are_numbers(scenario: Path) -> None:
    assert run(scenario, seeds=np.int64(2), seed=np.uint8(3)).facts["seeds"] == [3, 4]  # type: ignore[arg-type]


def test_what_is_no_list_is_refused(scenario: Path) -> None:
    with pytest.raises(BadInput, match="variants: found 3; expected a list of texts"):
        run(scenario, variants=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [{"sets": [3]}, {"pcap": [3]}, {"over": b"x"}, {"over": [3]}])
def test_what_is_no_text_is_refused(scenario: Path, asked: dict[str, object]) -> None:
    with pytest.raises(BadInput, match=r"found (3|120); expected a text"):
        sweep(scenario, **asked) if "over" in asked else run(scenario, **asked)  # type: ignore[arg-type]


def test_a_group_of_axes_that_is_no_list_is_refused(scenario: Path) -> None:
    with pytest.raises(BadInput, match="zips: found 3; expected a list of texts"):
        sweep(scenario, AXIS, zips=[3])  # type: ignore[list-item]


def test_a_variant_or_a_point_that_is_not_there_is_refused(scenario: Path, tmp_path: Path) -> None:
    one = run(scenario)
    many = sweep(scenario, AXIS, seeds=1, out=tmp_path / "o")
    for results in (one, many):
        with pytest.raises(BadInput, match="variant: found 'nope'; expected one of drop, detour, bounce"):
            results.runs_of("nope")
    with pytest.raises(
        BadInput, match=r"point: found \{'switch.x': '3'\}; expected one of \{'switch.x': '1'\}, \{"
    ):
        many.runs_of("drop", {"switch.x": "3"})
    with pytest.raises(BadInput, match=r"point: found \{\}; expected one of"):
        many.runs_of("drop")
    with pytest.raises(BadInput, match=r"point: found \{'switch.x': '1'\}"):
        one.runs_of("drop", {"switch.x": "1"})
    assert len(many.runs_of("drop", {"switch.x": "2"})) == 1 and len(one.runs_of("drop")) == 1


def test_runs_of_a_sweep_without_a_folder_are_not_silently_none(scenario: Path) -> None:
    made = sweep(scenario, AXIS, seeds=1)
    for ask in (lambda: list(made.each()), lambda: made.runs_of("drop", {"switch.x": "1"})):
        with pytest.raises(BadInput, match="runs of a sweep are kept only with `out`"):
            ask()
    assert made.metrics.num_rows


def test_results_are_pickled_or_say_why_not(scenario: Path, tmp_path: Path) -> None:
    for made in (run(scenario), run(scenario, out=tmp_path / "o"), sweep(scenario, AXIS, seeds=1)):
        again = pickle.loads(pickle.dumps(made))
        assert isinstance(again, Results) and again.document() == made.document()
    made = run(scenario)
    made.runs[0].owner = SpillFolder()  # captures without `out` have such an owner
    with pytest.raises(BadInput, match=r"cannot be pickled.* Run with `out`"):
        pickle.dumps(made)
    with pytest.raises(BadInput, match="a plan cannot be pickled"):
        pickle.dumps(prepare(scenario, Options()))


def test_a_relative_folder_stays_where_it_was(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    made = (
        run(scenario, out="o"),
        sweep(scenario, AXIS, seeds=1, tables=["flows"], out=lambda name: Path(name)),
    )
    loaded = Results.load("o")
    os.chdir("elsewhere")
    for one in (*made, loaded):
        assert one.flows.num_rows and list(one.each())
    assert made[0].folder == tmp_path / "o" and made[1].folder == tmp_path / "incast"


def test_all_that_run_and_sweep_are_given_reaches_the_options() -> None:
    fields = {one.name for one in dataclasses.fields(Options)}
    inner = {"sweep", "label", "single", "metrics"}
    named = {kind: set(inspect.signature(kind).parameters) - {"scenario"} for kind in (run, sweep)}
    assert named[run] | named[sweep] == fields - inner
    assert named[sweep] - named[run] == {"over", "zips", "on", "tables", "baseline"}
    assert named[run] - named[sweep] == {"topology", "pcap", "pcap_snaplen", "check_phase"}
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        run("incast.toml", over=["switch.x=1"])  # type: ignore[call-arg]


def test_a_plan_keeps_its_paths_where_the_program_goes_elsewhere(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    path = Path("..") / scenario.name
    plans = [prepare(path, Options(out=out, variants=["drop"])) for out in ("here", lambda name: Path(name))]
    monkeypatch.chdir(tmp_path / "after")
    for made in run_plans(plans, Listener()):
        assert isinstance(made, Results) and made.finished
    assert not list((tmp_path / "after").iterdir())
    assert {one.name for one in (tmp_path / "before").iterdir()} == {"here", "incast"}


def test_former_names_warn_and_work(scenario: Path, tmp_path: Path) -> None:
    made = run(scenario, out=tmp_path / "out")
    with pytest.warns(DeprecationWarning, match=r"Results\.of is now Results\.runs_of"):
        assert made.of("drop") == made.runs_of("drop")
    with pytest.warns(DeprecationWarning, match=r"Results\.told is now Results\.run_status"):
        assert made.told == made.run_status
    with pytest.warns(DeprecationWarning, match=r"overspill\.together is now overspill\.run_plans"):
        assert overspill.together is overspill.run_plans
