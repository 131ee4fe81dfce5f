"""Tests of sweeps over the fake core: messages, and refused input."""

import json
import os
import re
from pathlib import Path

import fake_core
import pytest
import sweep_folders
from sweep_folders import OVER, Command, read_outputs, store_entries

import overspill
from overspill import BadInput, Failed, Results
from overspill.cli import sweep_table as show
from overspill.cli.sweep_progress import WorkEstimate
from overspill.engine import keys
from overspill.engine.options import Options
from overspill.engine.run import execute
from overspill.engine.task import Listener, Task
from overspill.results import cache, metrics, results_folder
from overspill.results.summary_tables import MetricSummary
from overspill.stats.quantiles import Value


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return sweep_folders.write_scenario(tmp_path)


def test_unfinished_flows_are_said_per_point_with_status_3(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "fake.unfinished=0,60",
        "--seeds",
        2,
        "--metric",
        "fct_p99",
    )
    assert ran.status == 3
    loud = [line for line in ran.out.splitlines() if line.startswith("UNFINISHED FLOWS")]
    assert len(loud) == 3 and all("fake.unfinished=60: " in line and "seeds 1, 2" in line for line in loud)
    row = next(line for line in ran.out.splitlines() if line.split()[:1] == ["60"])
    assert row.count("> ") == 3
    assert "UNFINISHED FLOWS: exit status 3" in ran.err
    again = command(
        "sweep", scenario, "--no-report", "--over", "fake.unfinished=0,60", "--seeds", 2, "--json"
    )
    assert again.status == 3 and again.err.count("UNFINISHED FLOWS: fake.unfinished=60") == 3
    assert len(json.loads(again.out)["unfinished"]) == 3
    allowed = command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "fake.unfinished=60",
        "--set",
        "measure.allow_unfinished=true",
    )
    assert allowed.status == 0


def test_a_run_cut_by_max_events_is_partial_and_kept_apart(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
    assert command(*args, "--max-events", 1000).status == 3
    ran = command(*args, "--max-events", 1000)
    assert ran.status == 3 and ran.out.count("PARTIAL RESULT") == 3
    assert fake_core.behaviour.finished == 3
    assert command(*args).status == 0
    assert fake_core.behaviour.finished == 6


def test_a_run_that_fails_does_not_stop_the_others(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash_seed = 2
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 3, "--out", "o")
    assert ran.status == 1
    cause = "switch.x=1, 2: bounce, detour, drop, seed 2: the run failed: queue 3 lost a packet"
    assert cause in " ".join(ran.out.split()) and "switch.x=2: bounce seed 2: the run" in Path(
        "o/manifest.json"
    ).read_text(encoding="utf-8")
    # The first line has the number of failed runs, and the second one their cause.
    assert ran.out.count("FAILED") == 2 and "FAILED: exit status 1" in ran.err
    assert "6 of 18 runs failed and are not in the means" in " ".join(ran.out.split())
    rows = [line for line in ran.out.splitlines() if line.strip()[:2] in ("1 ", "2 ")]
    assert " ".join(rows).count("(2 of 3 seeds)") == 6
    made = Results.load("o")
    assert made.finished == 12 and len(made.failures) == 6
    fake_core.reset()
    assert (
        command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 3, "--out", "o").status
        == 0
    )
    assert fake_core.behaviour.finished == 6


def test_a_sweep_in_which_everything_fails_says_all_of_it(command: Command, scenario: Path) -> None:
    fake_core.behaviour.crash = True
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1)
    assert ran.status == 1 and ran.err.count("the run failed: queue 3 lost a packet") == 1
    assert "switch.x=1, 2: bounce, detour, drop, seed 1: the run failed" in ran.err
    with pytest.raises(Failed):
        overspill.sweep(scenario, {"switch.x": [1]}, seeds=1)


def test_ctrl_c_keeps_what_is_finished_and_a_second_start_goes_on(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 7
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--jobs", 1, "--out", "o")
    assert ran.status == 130 and "Traceback" not in ran.err
    assert "7 of 36 runs are finished" in ran.out
    assert len(store_entries(Path("o"))) == 7
    assert "no report" not in ran.err
    assert Results.load("o").interrupted and Results.load("o").finished == 7
    fake_core.reset()
    assert command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "o").status == 0
    assert fake_core.behaviour.finished == 29
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "whole")
    assert read_outputs(Path("o")) == read_outputs(Path("whole"))


def test_ctrl_c_before_anything_is_finished_leaves_earlier_tables(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
    before = read_outputs(Path("o"))
    fake_core.reset()
    fake_core.behaviour.interrupt_after = 0
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=5", "--seeds", 1, "--out", "o")
    assert ran.status == 130 and "no results are kept" in ran.err
    assert read_outputs(Path("o")) == before


def test_json_is_one_document_and_nothing_else(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep", scenario, "--no-report", "--over", "switch.x=1us,2us", "--seeds", 2, "--seed", 7, "--json"
    )
    assert ran.status == 0
    found = json.loads(ran.out)
    assert found["scenario"] == "incast" and found["seeds"] == [7, 8]
    assert found["axes"] == [
        {"path": "switch.x", "texts": ["1us", "2us"], "numbers": [1.0, 2.0], "unit": "us"}
    ]
    assert [point["values"] for point in found["points"]] == [{"switch.x": "1us"}, {"switch.x": "2us"}]
    assert [one["name"] for one in found["points"][0]["variants"]] == ["drop", "detour", "bounce"]
    one = found["points"][1]["variants"][2]["metrics"]["fct_p99"]
    assert set(one) == {"mean", "ci95", "interval", "range", "unit", "values", "difference", "note"}
    assert one["mean"] == pytest.approx(sum(one["values"]) / 2) and one["interval"] is None
    assert found["runs"] == {"planned": 12, "finished": 12}
    said = {one.partition(": ")[0]: one for one in found["cautions"]}
    assert said["FEW SEEDS"].startswith("FEW SEEDS: 2 seeds give ranges, not intervals")
    assert "p95, p99, p99.9 (7)" in said["few samples"]


def test_some_variants_and_metrics_may_be_chosen(command: Command, scenario: Path) -> None:
    chosen = ("--variants", "bounce,drop", "--metric", "fct_mean", "--metric", "hops_max")
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 2, *chosen)
    assert ran.status == 0 and fake_core.behaviour.finished == 8
    assert "FCT mean [burst] (" in ran.out and "hops max (links)" in ran.out and "QCT" not in ran.out
    head = next(line for line in ran.out.splitlines() if line.startswith("switch.x"))
    assert head.split() == ["switch.x", "drop", "bounce"]
    assert (
        "QCT p99 (ms)" in command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1).out
    )


def test_a_long_table_says_where_the_rest_is(command: Command, scenario: Path) -> None:
    args = ("--over", "switch.x=1..70:1", "--seeds", 1, "--variants", "drop")
    ran = command("sweep", scenario, "--no-report", *args)
    assert ran.status == 0 and "... 10 more points are in summary.csv" in ran.out


def test_axes_that_move_together_are_run_so(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep",
        scenario,
        "--over",
        "switch.x=1,2",
        "--over",
        "switch.y=5,6",
        "--zip",
        "switch.x,switch.y",
        "--seeds",
        1,
    )
    assert ran.status == 0 and "2 points, 3 variants, 6 runs" in ran.out
    assert "switch.x and switch.y" in ran.out


def test_a_folder_of_somebody_else_is_refused(command: Command, scenario: Path) -> None:
    Path("other").mkdir()
    Path("other/mine.txt").write_text("mine")
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--out", "other")
    assert ran.status == 2 and "no results of overspill" in ran.err
    assert os.listdir("other") == ["mine.txt"]
    assert command("run", scenario, "--out", "runs", "--no-report").status == 0
    assert command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--out", "runs").status == 2
    assert (
        command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "s").status
        == 0
    )
    assert command("run", scenario, "--out", "s").status == 2


def test_only_one_sweep_at_a_time_writes_to_a_folder(
    command: Command, scenario: Path, tmp_path: Path
) -> None:
    with cache.lock_store(tmp_path / "o"):
        ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
        assert ran.status == 2 and "another run or sweep is writing there" in ran.err
    assert (
        command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o").status
        == 0
    )


def test_changed_tables_are_not_loaded(scenario: Path, tmp_path: Path) -> None:
    overspill.sweep(scenario, {"switch.x": [1]}, seeds=1, out=tmp_path / "o")
    with (tmp_path / "o/summary.csv").open("a") as file:
        file.write("x\n")
    with pytest.raises(BadInput, match=r"summary\.csv"):
        Results.load(tmp_path / "o")
    with pytest.raises(BadInput, match=r"no manifest\.json"):
        Results.load(tmp_path)


def test_contents_of_files_that_a_scenario_names_are_part_of_the_key(scenario: Path, tmp_path: Path) -> None:
    scenario.write_text('file = "sizes.csv"\n' + scenario.read_text())
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("1")
    first = overspill.sweep(scenario, {"switch.x": [1]}, seeds=1, out=tmp_path / "o")
    assert list(first.facts["files"]) == ["sizes.csv"]
    assert fake_core.behaviour.finished == 3
    sizes.write_text("22")
    overspill.sweep(scenario, {"switch.x": [1]}, seeds=1, out=tmp_path / "o")
    assert fake_core.behaviour.finished == 6
    sizes.write_text("1")
    overspill.sweep(scenario, {"switch.x": [1]}, seeds=1, out=tmp_path / "o")
    assert fake_core.behaviour.finished == 6


def test_a_file_that_changes_while_the_sweep_goes_on_fails_what_would_read_it(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario.write_text('file = "sizes.csv"\n' + scenario.read_text())
    (tmp_path / "sizes.csv").write_text("1")
    started = fake_core.Scenario.run

    def change(self: fake_core.Scenario, *given: object) -> object:
        (tmp_path / "sizes.csv").write_text("333")
        return started(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(fake_core.Scenario, "run", change)
    made = overspill.sweep(scenario, {"switch.x": [1, 2]}, seeds=1, jobs=1)
    assert made.finished == 3
    assert all("changed during the sweep" in line for line in made.failures)
    assert len(made.failures) == 3


def test_another_metrics_code_or_core_makes_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {module.__name__ for module in keys.imported_modules(metrics)}
    assert {
        f"overspill.{name}"
        for name in ("results.metrics", "results.measures", "stats.quantiles", "results.rundata")
    } <= names
    build = keys.current_build()
    known = keys.config_digest({"a": 1}, {}, build)
    assert known == keys.config_digest({"a": 1, "name": "x", "seed": 5}, {}, build)
    for other in (keys.Build("9", build.core, build.metrics), keys.Build(build.version, "", build.metrics)):
        assert keys.config_digest({"a": 1}, {}, other) != known
    assert keys.config_digest({"a": 1}, {"f": "1"}, build) != known
    assert cache.run_key(known, 1, None) != cache.run_key(known, 1, 5) != cache.run_key(known, 2, 5)


def test_only_scenarios_of_runs_under_way_are_in_memory(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive, most = [0], [0]

    class Counted(fake_core.Scenario):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            alive[0] += 1
            most[0] = max(most[0], alive[0])

        def __del__(self) -> None:
            alive[0] -= 1

    monkeypatch.setattr(fake_core, "Scenario", Counted)
    made = overspill.sweep(scenario, {"switch.x": "1..60:1"}, seeds=1, variants=["drop"], jobs=2)
    assert made.finished == 60
    assert most[0] < 16


def test_a_sweep_ends_with_its_page_and_the_page_can_be_made_again(
    command: Command, scenario: Path, tmp_path: Path
) -> None:
    ran = command("sweep", scenario, "--over", "switch.x=1,2", "--seeds", 2, "--out", "o")
    assert ran.status == 0
    assert ran.out.splitlines()[-2:] == ["results: o", "report: o/report.html"]
    page = (tmp_path / "o/report.html").read_bytes()
    assert command("report", "o").out == "report: o/report.html\n"
    assert (tmp_path / "o/report.html").read_bytes() == page


def test_a_sweep_is_not_exported_and_the_message_says_why(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
    ran = command("export", "o", "--format", "csv")
    assert ran.status == 2 and ran.out == ""
    why = "expected a folder of `overspill run`, since a sweep keeps flows only with `--tables flows`"
    assert ran.err == f"o: found a sweep; {why}\n"
    assert command("run", scenario, "--out", "o", "--no-report").status == 2


@pytest.mark.parametrize("name", ["report", "export"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "here/manifest.json: found no JSON; expected a folder that `overspill run`"),
        ("\xff", "here/manifest.json: found no JSON"),
        ("[]", "here/manifest.json: found no object of JSON"),
        ("{}", "here/manifest.json: found no digest; expected a folder that `overspill run`"),
        ('{"format": 1}', "here/manifest.json: found no digest"),
        (json.dumps(results_folder.with_digest({"format": 2})), "here/manifest.json: found another format"),
        (json.dumps(results_folder.with_digest({"format": 1})), "here/manifest.json: incomplete manifest"),
        (None, "here: no manifest.json here; expected a folder that `overspill run`"),
    ],
)
def test_a_folder_without_a_manifest_of_ours_is_bad_input(
    command: Command, tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    (tmp_path / "here").mkdir()
    if text is not None:
        (tmp_path / "here/manifest.json").write_bytes(text.encode("latin-1"))
    ran = command(name, "here", *(["--format", "csv"] if name == "export" else []))
    assert ran.status == 2 and ran.err.startswith(message)
    assert not {"Errno", "Error", "Expecting", "codec"} & set(ran.err.replace(":", " ").split())


def test_a_report_of_a_file_or_of_nothing_is_bad_input(command: Command, scenario: Path) -> None:
    expected = "expected a folder that `overspill run` or `overspill sweep` wrote\n"
    ran = command("report", "incast.toml")
    assert (ran.status, ran.err) == (2, f"incast.toml: a file; {expected}")
    ran = command("report", "nowhere")
    assert (ran.status, ran.err) == (2, f"nowhere: no such folder; {expected}")


@pytest.mark.usefixtures("quick")
def test_a_page_stays_with_its_tables(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--seeds", 2, "--jobs", 1, "--out", "o")
    command(*args, "--over", "switch.x=1", "--figures", "png")
    drawn = sorted(Path("o/figures").glob("sweep-*"))
    assert drawn and Path("o/report.html").is_file()
    Path("o/figures/mine.png").write_bytes(b"mine")
    # The tables are the same again, so the page still matches them.
    command(*args, "--over", "switch.x=1", "--no-report")
    assert Path("o/report.html").is_file() and sorted(Path("o/figures").glob("sweep-*")) == drawn
    fake_core.reset()
    fake_core.behaviour.interrupt_after = 3
    before = read_outputs(Path("o"))
    ran = command(*args, *OVER)
    assert ran.status == 130 and "the earlier results stay as they were" in ran.err
    assert read_outputs(Path("o")) == before and Path("o/report.html").is_file()
    fake_core.reset()
    command(*args, *OVER, "--no-report")
    assert not Path("o/report.html").exists() and os.listdir("o/figures") == ["mine.png"]


def test_an_interrupted_sweep_has_no_page_until_one_is_asked_for(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 3
    ran = command("sweep", scenario, "--seeds", 2, "--jobs", 1, "--out", "o", *OVER)
    assert ran.status == 130
    assert "no report: interrupted; overspill report o draws one\n" in ran.err
    assert "(1 of 2 seeds)" in ran.out, "cells of fewer seeds say so"
    assert not Path("o/report.html").exists()
    fake_core.reset()
    assert command("report", "o").status == 0 and Path("o/report.html").is_file()


def test_points_are_run_scattered_over_the_grid_and_told_in_its_order(scenario: Path) -> None:
    begun: list[str] = []

    class Order(Listener):
        """Records the points whose runs finish."""

        def kept(self, task: Task, hops: int) -> None:
            """Records the point."""
            begun.append(task.label.partition("=")[2])

    options = Options(
        over={"switch.x": "0..9:1"}, seeds=1, variants=["drop"], jobs=1, listener=Order(), sweep=True
    )
    made = execute(scenario, options)
    assert begun == ["0", "5", "2", "7", "4", "9", "1", "6", "3", "8"]
    assert list(dict.fromkeys(made.metrics.column("switch.x").to_pylist())) == list("0123456789")


def test_the_time_left_is_estimated_by_the_nearest_known_point_of_the_variant() -> None:
    meter = WorkEstimate()
    runs = [Task(variant, seed, point) for point in range(10) for variant in "ab" for seed in (1, 2)]
    meter.begin(runs, [])
    for task in runs:
        if task.seed == 1 and task.variant == "a" and task.point in (0, 8):
            meter.record_end(task, 100 if task.point == 0 else 900)
    found = meter.expected_hops()
    assert [found[point, "a"] for point in range(10)] == [100.0] * 5 + [900.0] * 5
    assert found[3, "b"] == 500.0


def test_few_seeds_and_few_samples_are_said_once_in_terminal_and_page(
    command: Command, scenario: Path
) -> None:
    args = ("sweep", scenario, "--over", "switch.x=1,2", "--out", "o")
    ran = command(*args, "--seeds", 3)
    assert ran.out.count("FEW SEEDS") == 1 and "intervals of 3 seeds are rough" in ran.out
    few = [line for line in ran.out.splitlines() if line.startswith("few samples")]
    assert len(few) == 1 and few[0].endswith("(number of samples): QCT p99 (7)")
    assert "(Student's t)" in ran.out and "BCa" not in ran.out
    page = Path("o/report.html").read_text()
    assert "intervals of 3 seeds are rough" in page and re.search(r"QCT[^;]* p95, p99, p99.9 \(7\)", page)
    # The store includes the number of samples.
    assert "QCT p99 (7)" in command(*args, "--seeds", 3, "--no-report").out
    few = command(*args, "--seeds", 3, "--no-report", "--metric", "fct_mean").out
    assert "FEW SEEDS" in few and "few samples" not in few
    one = command(*args, "--seeds", 1, "--no-report").out
    assert "FEW SEEDS" not in one and "One seed: no intervals" in one
    ten = command(*args, "--seeds", 10, "--no-report").out
    assert "FEW SEEDS" not in ten and "QCT p99 (7)" in ten and "BCa bootstrap for percentiles" in ten


def test_seeds_that_change_nothing_are_not_few(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "measure", lambda run: {"goodput": Value(5.0)})
    assert overspill.sweep(scenario, {"switch.x": [1]}, seeds=3).facts["rough"] == {
        "seeds": None,
        "samples": {},
    }


def test_an_uneven_interval_is_printed_by_its_ends_as_a_run_does() -> None:
    uneven = MetricSummary(10, 2.2, 3.0, 1.0, 7.0, False)
    assert show.format_summary(uneven, 1.0, 1) == "2.2 [1.0, 7.0]"
    assert show.format_summary(MetricSummary(10, 2.2, 2.0, 0.2, 4.2, False), 1.0, 1) == "2.2 ± 2.0"
    assert show.format_summary(MetricSummary(10, 2.2, None, None, None, False), 1.0, 1) == "2.200"
    assert show.format_summary(MetricSummary(10, 2.2, None, None, None, True), 1.0, 1) == "> 2.200"


def test_the_cells_of_a_sweep_are_those_of_a_plain_run(command: Command, scenario: Path) -> None:
    swept = command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--metric", "fct_p99").out
    plain = command("run", scenario, "--no-report", "--set", "switch.x=1", "--seeds", 10).out
    row = next(line for line in swept.splitlines() if line.split()[:1] == ["1"])
    wanted = next(line for line in plain.splitlines() if line.startswith("FCT p99 [burst] ("))
    cells = [one.replace(" *", "").strip() for one in re.split(r"  +", wanted)[1:] if one.strip(" *")]
    assert len(cells) == 3 and [one for one in re.split(r"  +", row.strip())[1:]] == cells
