"""Sweeps over the fake core: what is run, kept, told, and written."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import fake_core
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from conftest import Ran

import overspill
from overspill import BadInput, Failed, Sweep, metrics, stats
from overspill.quantiles import Value
from overspill.sweeps import cache, keys, show
from overspill.sweeps.progress import Meter, Watch
from overspill.sweeps.run import Options, execute
from overspill.sweeps.simulate import Task
from overspill.sweeps.table import intervals, summarise

Command = Callable[..., Ran]
SCENARIO = """
name = "incast"
[variants.drop]
z = "tail_drop"
[variants.detour]
z = "detour"
[variants.bounce]
z = "bounce"
"""
OUTPUTS = ("manifest.json", "summary.csv", "summary.parquet", "sweep.csv", "sweep.parquet")
OVER = ("--over", "switch.x=1,2", "--over", "switch.y=a,b,c")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Variants that differ, unlike the fake's usual ones."""
    path = tmp_path / "incast.toml"
    path.write_text(SCENARIO)
    return path


def outputs(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "store").glob("??/*.parquet"))


def test_a_grid_ends_in_one_tidy_table(command: Command, scenario: Path) -> None:
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2)
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == "results: out/incast-sweep"
    assert "6 points, 3 variants, 36 runs" in ran.out
    made = Sweep.load("out/incast-sweep")
    assert made.table.column_names == [
        "switch.x", "switch.y", "variant", "seed", "metric", "unit", "value", "censored",
    ]  # fmt: skip
    assert made.summary.column_names == [
        "switch.x", "switch.y", "variant", "metric", "unit", "n", "mean", "ci95", "low", "high", "censored",
    ]  # fmt: skip
    rows = made.table.to_pylist()
    runs = {(row["switch.x"], row["switch.y"], row["variant"], row["seed"]) for row in rows}
    assert len(runs) == 36 == made.finished == made.planned
    assert len(entries(Path("out/incast-sweep"))) == 36
    assert [axis.path for axis in made.axes] == ["switch.x", "switch.y"]
    assert made.axes[0].numbers == [1.0, 2.0] and made.axes[1].numbers is None
    assert pc.read_csv("out/incast-sweep/sweep.csv").num_rows == made.table.num_rows
    assert pq.ParquetFile("out/incast-sweep/sweep.parquet").read().equals(made.table)


def test_values_are_those_of_a_plain_run(scenario: Path) -> None:
    made = overspill.sweep(scenario, {"switch.x": [1]}, seeds=3)
    plain = overspill.run(scenario, seeds=3, sets=["switch.x=1"])
    found = {
        (row["variant"], row["seed"], row["metric"]): Value(row["value"], row["censored"])
        for row in made.table.to_pylist()
    }
    wanted = {
        (variant, seed, name): value
        for variant, by_seed in plain.values.items()
        for seed, values in by_seed.items()
        for name, value in values.items()
    }
    assert found == wanted
    assert made.metrics == list(next(iter(plain.values["drop"].values())))
    row = next(one for one in made.summary.to_pylist() if one["metric"] == "fct_mean")
    values = [found[row["variant"], seed, "fct_mean"].value for seed in (1, 2, 3)]
    assert row["mean"] == stats.mean(values) and row["ci95"] == pytest.approx(stats.half_width(values))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(row["ci95"]) and row["n"] == 3
    assert row["unit"] == metrics.REGISTRY["fct_mean"].unit


def test_a_censored_value_makes_a_lower_bound_without_an_interval() -> None:
    made = summarise([Value(1.0), Value(3.0, True)], (0.0, 4.0))
    assert (made.mean, made.ci95, made.low, made.high, made.censored) == (2.0, None, None, None, True)
    assert summarise([Value(1.0)], None).ci95 is None


def test_a_percentile_over_ten_seeds_is_resampled_and_a_mean_is_not() -> None:
    known = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 9.0]
    values = [Value(one) for one in known]
    tail, middle, few = intervals([("fct_p99", values), ("fct_mean", values), ("fct_p99", values[:9])])
    assert tail == stats.interval(known, True) != stats.interval(known) == middle
    assert few == stats.interval(known[:9])


def test_all_errors_of_all_points_are_told_before_the_first_run(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--over", "odd.x=1,2", "--set", "bad.y=1"
    )
    assert ran.status == 2 and "Traceback" not in ran.err
    assert ran.err.count("bad.y: found an unknown key") == 1
    assert fake_core.behaviour.finished == 0 and not Path("out").exists()
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--over", "odd.x=1,2")
    assert "--over: odd.x: found an unknown key" in ran.err and "points" not in ran.err


def test_an_error_of_some_points_says_at_which(
    command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = fake_core.parse

    def strict(path: str, text: str, sets: list[str]) -> dict[str, object]:
        if "switch.x=2" in sets:
            raise fake_core.ScenarioError(["--set: switch.x: found 2; expected 1"])
        return parse(path, text, sets)

    monkeypatch.setattr(fake_core, "parse", strict)
    ran = command("sweep", scenario, "--no-report", *OVER)
    assert ran.status == 2
    where = "(at 3 of 6 points, first switch.x=2, switch.y=a)"
    assert ran.err.splitlines() == [f"--over: switch.x: found 2; expected 1 {where}"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option"),
        (["--over", "x"], "--over: found 'x'"),
        (["--over", "switch.x=1,2", "--set", "switch.x=3"], "found it in --set, too"),
        (["--over", "switch.x=1", "--seeds", 0], "--seeds"),
        (["--over", "switch.x=1", "--jobs", 0], "--jobs"),
        (["--over", "switch.x=1", "--variants", "drop,nope"], "--variants: found nope"),
        (["--over", "switch.x=1", "--variants", ","], "--variants: found nothing"),
        (["--over", "switch.x=1", "--metric", "speed"], "--metric: found speed"),
        (["--over", "switch.x=1", "--metric", "qct_p98"], "did you mean qct_p9"),
        (["--over", "switch.x=1", "--tables", "flow"], "--tables: found flow"),
        (["--over", "switch.x=1", "--on", "somewhere"], "--on: found 'somewhere'"),
        (["--over", "switch.x=1", "--on", "foo://bar:1"], "--on: found 'foo://bar:1'"),
        (["--over", "switch.x=1", "--on", "local:2", "--jobs", 2], "--jobs is for runs in this process"),
        (["--over", "switch.x=1", "--out", "incast.toml"], "is a file"),
        (["--over", "switch.x=1..40:1", "--seeds", 100_000], "found 12000000 runs"),
    ],
)
def test_bad_input_of_a_sweep_has_status_2(
    command: Command, scenario: Path, arguments: list[object], message: str
) -> None:
    ran = command("sweep", scenario, "--no-report", *arguments)
    assert ran.status == 2 and message in ran.err
    assert ran.out == "" and "Traceback" not in ran.err
    assert fake_core.behaviour.finished == 0


def test_a_second_start_repeats_nothing(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "o")
    before, stamps = outputs(Path("o")), [path.stat() for path in entries(Path("o"))]
    fake_core.behaviour.finished = 0
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "o")
    assert ran.status == 0 and "36/36 runs, 36 from the store" in ran.err
    assert fake_core.behaviour.finished == 0
    assert outputs(Path("o")) == before
    assert [(one.st_ino, one.st_mtime_ns) for one in stamps] == [
        (path.stat().st_ino, path.stat().st_mtime_ns) for path in entries(Path("o"))
    ]


def test_another_grid_takes_what_it_shares(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 2, "--out", "o")
    fake_core.behaviour.finished = 0
    text = scenario.read_text()
    # Comments, and what the scenario is called, change no run.
    scenario.write_text("# more words\n" + text.replace('"incast"', '"other"'))
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=2,3", "--seeds", 3, "--out", "o")
    assert "18 runs, 6 from the store" in " ".join(ran.err.split())
    assert fake_core.behaviour.finished == 12
    assert Sweep.load("o").points == [{"switch.x": "2"}, {"switch.x": "3"}]


def test_the_outcome_does_not_depend_on_jobs_order_or_history(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "one", "--jobs", 1)
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "many", "--jobs", 8)
    command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "switch.x=2",
        "--over",
        "switch.y=c,a",
        "--seeds",
        1,
        "--out",
        "pieces",
    )
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "pieces")
    assert outputs(Path("one")) == outputs(Path("many")) == outputs(Path("pieces"))


def test_equal_configurations_are_run_once_and_that_is_said(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep", scenario, "--no-report", "--over", "variants.bounce.x=1,2", "--seeds", 2, "--out", "o"
    )
    assert ran.status == 0
    assert "2 of 6 configurations (a point, a variant) are equal to another: run once" in ran.out
    assert fake_core.behaviour.finished == 8 == len(entries(Path("o")))
    made = Sweep.load("o")
    assert made.finished == 12
    drop = [row for row in made.table.to_pylist() if row["variant"] == "drop"]
    one, two = (
        [{**row, "variants.bounce.x": ""} for row in drop if row["variants.bounce.x"] == at] for at in "12"
    )
    assert one == two and one


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0x10
    path.write_bytes(data)


def lie(path: Path) -> None:
    """A whole Parquet file with another value."""
    table = pq.ParquetFile(path).read()
    changed = table.set_column(1, table.schema.field(1), [[one + 1 for one in table.column(1).to_pylist()]])
    pq.write_table(changed, path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-200]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("not Parquet"),
        lambda path: path.write_bytes(sorted(path.parent.parent.glob("??/*.parquet"))[-1].read_bytes()),
        flip,
        lie,
    ],
    ids=["truncated", "empty", "text", "of another run", "a bit flipped", "another value"],
)
def test_a_damaged_file_is_noticed_and_run_again(
    command: Command, scenario: Path, damage: Callable[[Path], object]
) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    before = outputs(Path("o"))
    victim = entries(Path("o"))[0]
    whole = victim.read_bytes()
    damage(victim)
    fake_core.behaviour.finished = 0
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    assert ran.status == 0 and fake_core.behaviour.finished == 1
    assert ran.err.count("run again, its file in the store is damaged") == 1
    assert victim.read_bytes() == whole and outputs(Path("o")) == before


def test_what_a_killed_writer_left_is_taken_away(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    victim = entries(Path("o"))[0]
    left = victim.with_name(f".{victim.stem}.77.new")
    left.write_bytes(b"half")
    (Path("o") / "store/.staging/x").mkdir(parents=True)
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    assert not left.exists() and not (Path("o") / "store/.staging").exists()


def test_tables_are_kept_where_asked_for(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1, "--out", "o")
    assert not list(Path("o").rglob("flows.parquet"))
    with pytest.raises(BadInput, match="not kept"):
        Sweep.load("o").kept("flows")
    before = {path.name: pq.ParquetFile(path).read() for path in entries(Path("o"))}
    fake_core.behaviour.finished = 0
    ran = command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "switch.x=1,2",
        "--seeds",
        1,
        "--out",
        "o",
        "--tables",
        "flows,packets",
    )
    assert ran.status == 0 and fake_core.behaviour.finished == 6
    assert all(pq.ParquetFile(path).read().equals(before[path.name]) for path in entries(Path("o")))
    flows = Sweep.load("o").kept("flows")
    plain = overspill.run(scenario, sets=["switch.x=1"]).flows
    assert flows.num_rows == 2 * plain.num_rows
    assert flows.column_names == ["switch.x", *plain.column_names]
    assert flows.column("bytes").to_pylist()[: plain.num_rows] == plain.column("bytes").to_pylist()
    fake_core.behaviour.finished = 0
    # A table that no run writes is no reason to run again; nor is one asked for less.
    command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "switch.x=1,2",
        "--seeds",
        1,
        "--out",
        "o",
        "--tables",
        "packets",
    )
    assert fake_core.behaviour.finished == 0
    next(Path("o").rglob("flows.parquet")).write_bytes(b"")
    ran = command(
        "sweep",
        scenario,
        "--no-report",
        "--over",
        "switch.x=1,2",
        "--seeds",
        1,
        "--out",
        "o",
        "--tables",
        "flows",
    )
    assert fake_core.behaviour.finished == 1 and "not the table that was written" in ran.err


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
    assert "switch.x=2: bounce seed 2: the run failed: queue 3 lost a packet" in ran.out
    assert ran.out.count("FAILED") == 6 and "FAILED: exit status 1" in ran.err
    made = Sweep.load("o")
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
    assert ran.status == 1 and ran.err.count("the run failed: queue 3 lost a packet") == 6
    with pytest.raises(Failed):
        overspill.sweep(scenario, {"switch.x": [1]}, seeds=1)


def test_ctrl_c_keeps_what_is_finished_and_a_second_start_goes_on(command: Command, scenario: Path) -> None:
    fake_core.behaviour.interrupt_after = 7
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--jobs", 1, "--out", "o")
    assert ran.status == 130 and "Traceback" not in ran.err
    assert "7 of 36 runs are finished" in ran.out
    assert len(entries(Path("o"))) == 7
    assert "no report" not in ran.err
    assert Sweep.load("o").interrupted and Sweep.load("o").finished == 7
    fake_core.reset()
    assert command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "o").status == 0
    assert fake_core.behaviour.finished == 29
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "whole")
    assert outputs(Path("o")) == outputs(Path("whole"))


def test_ctrl_c_before_anything_is_finished_leaves_earlier_tables(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
    before = outputs(Path("o"))
    fake_core.reset()
    fake_core.behaviour.interrupt_after = 0
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=5", "--seeds", 1, "--out", "o")
    assert ran.status == 130 and "nothing is kept" in ran.err
    assert outputs(Path("o")) == before


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
    assert set(one) == {"mean", "ci95", "interval", "unit", "values"}
    assert one["mean"] == pytest.approx(sum(one["values"]) / 2) and len(one["interval"]) == 2
    assert found["runs"] == {"planned": 12, "finished": 12}
    assert found["cautions"][0].startswith("FEW SEEDS: intervals of 2 seeds are rough")
    assert (
        found["cautions"][1].startswith("few samples: ") and "QCT p95, p99, p99.9 (7)" in found["cautions"][1]
    )


def test_some_variants_and_metrics_may_be_chosen(command: Command, scenario: Path) -> None:
    chosen = ("--variants", "bounce,drop", "--metric", "fct_mean", "--metric", "hops_max")
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 2, *chosen)
    assert ran.status == 0 and fake_core.behaviour.finished == 8
    assert "FCT mean (ms)" in ran.out and "hops max (links)" in ran.out and "QCT" not in ran.out
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
    assert ran.status == 2 and "no sweep of overspill" in ran.err
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
    with cache.held(tmp_path / "o"):
        ran = command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o")
        assert ran.status == 2 and "another sweep is writing there" in ran.err
    assert (
        command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--seeds", 1, "--out", "o").status
        == 0
    )


def test_changed_tables_are_not_loaded(scenario: Path, tmp_path: Path) -> None:
    overspill.sweep(scenario, {"switch.x": [1]}, seeds=1, out=tmp_path / "o")
    with (tmp_path / "o/summary.csv").open("a") as file:
        file.write("x\n")
    with pytest.raises(BadInput, match=r"summary\.csv"):
        Sweep.load(tmp_path / "o")
    with pytest.raises(BadInput, match=r"no manifest\.json"):
        Sweep.load(tmp_path)


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
    assert all("was changed while the sweep went on" in line for line in made.failures)
    assert len(made.failures) == 3


def test_another_metrics_code_or_core_makes_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {module.__name__ for module in keys.needed(metrics)}
    assert {"overspill.metrics", "overspill.measures", "overspill.quantiles", "overspill.rundata"} <= names
    build = keys.build()
    known = keys.config({"a": 1}, {}, build)
    assert known == keys.config({"a": 1, "name": "x", "seed": 5}, {}, build)
    for other in (keys.Build("9", build.core, build.metrics), keys.Build(build.version, "", build.metrics)):
        assert keys.config({"a": 1}, {}, other) != known
    assert keys.config({"a": 1}, {"f": "1"}, build) != known
    assert keys.run(known, 1, None) != keys.run(known, 1, 5) != keys.run(known, 2, 5)


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
    why = "its flows are kept only with --tables flows: export takes a folder of `overspill run`"
    assert ran.err == f"o: is a sweep; {why}\n"
    assert command("run", scenario, "--out", "o", "--no-report").status == 2


@pytest.mark.parametrize("name", ["report", "export"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "here/manifest.json: found no JSON; expected a folder that `overspill run`"),
        ("\xff", "here/manifest.json: found no JSON"),
        ("[]", "here/manifest.json: found no object of JSON"),
        ("{}", "here/manifest.json: found another format"),
        ('{"format": 1}', "here/manifest.json: not a whole manifest"),
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


def test_an_interrupted_sweep_leaves_no_page_of_earlier_tables(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--seeds", 2, "--jobs", 1, "--out", "o")
    command(*args, "--over", "switch.x=1")
    drawn = sorted(Path("o/figures").glob("sweep-*"))
    assert drawn and Path("o/report.html").is_file()
    Path("o/figures/mine.png").write_bytes(b"mine")
    # The same tables again: the page is still theirs.
    command(*args, "--over", "switch.x=1", "--no-report")
    assert Path("o/report.html").is_file() and sorted(Path("o/figures").glob("sweep-*")) == drawn
    fake_core.reset()
    fake_core.behaviour.interrupt_after = 3
    ran = command(*args, *OVER)
    assert ran.status == 130
    assert "no report: interrupted; overspill report o draws one\n" in ran.err
    assert not Path("o/report.html").exists() and os.listdir("o/figures") == ["mine.png"]
    fake_core.reset()
    assert command("report", "o").status == 0 and Path("o/report.html").is_file()
    command(*args, *OVER, "--no-report")
    assert not Path("o/report.html").exists()


def test_points_are_run_scattered_over_the_grid_and_told_in_its_order(scenario: Path) -> None:
    begun: list[str] = []

    class Order(Watch):
        """Notes which point has a run finished."""

        def kept(self, task: Task, hops: int) -> None:
            """Note it."""
            begun.append(task.label.partition("=")[2])

    options = Options({"switch.x": "0..9:1"}, seeds=1, variants=["drop"], jobs=1, watch=Order())
    made = execute(scenario, options)
    assert begun == ["0", "5", "2", "7", "4", "9", "1", "6", "3", "8"]
    assert list(dict.fromkeys(made.table.column("switch.x").to_pylist())) == list("0123456789")


def test_the_time_left_is_estimated_by_the_nearest_known_point_of_the_variant() -> None:
    meter = Meter()
    runs = [Task(variant, seed, point) for point in range(10) for variant in "ab" for seed in (1, 2)]
    meter.begin(runs, [])
    for task in runs:
        if task.seed == 1 and task.variant == "a" and task.point in (0, 8):
            meter.ended(task, 100 if task.point == 0 else 900)
    found = meter.expected()
    assert [found[point, "a"] for point in range(10)] == [100.0] * 5 + [900.0] * 5
    assert found[3, "b"] == 500.0


def test_few_seeds_and_few_samples_are_said_once_in_terminal_and_page(
    command: Command, scenario: Path
) -> None:
    args = ("sweep", scenario, "--over", "switch.x=1,2", "--out", "o")
    ran = command(*args, "--seeds", 3)
    assert ran.out.count("FEW SEEDS") == 1 and "intervals of 3 seeds are rough" in ran.out
    few = [line for line in ran.out.splitlines() if line.startswith("few samples")]
    assert len(few) == 1 and few[0].endswith("(samples): QCT p99 (7)")
    assert "(Student's t)" in ran.out and "BCa" not in ran.out
    page = Path("o/report.html").read_text()
    assert "intervals of 3 seeds are rough" in page and "QCT p95, p99, p99.9 (7)" in page
    # What lies in the store knows of how many samples.
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
    row = {"n": 10, "mean": 2.2, "ci95": 3.0, "low": 1.0, "high": 7.0, "censored": False}
    assert show.text(row, 1.0) == "2.2 [1.0, 7.0]"
    assert show.text({**row, "low": 0.2, "high": 4.2, "ci95": 2.0}, 1.0) == "2.2 ± 2.0"
    assert show.text({**row, "ci95": None, "low": None, "high": None}, 1.0) == "2.200"
    assert show.text({**row, "ci95": None, "low": None, "high": None, "censored": True}, 1.0) == "> 2.200"
    assert show.text(None, 1.0) == "-"


def test_the_cells_of_a_sweep_are_those_of_a_plain_run(command: Command, scenario: Path) -> None:
    swept = command("sweep", scenario, "--no-report", "--over", "switch.x=1", "--metric", "fct_p99").out
    plain = command("run", scenario, "--no-report", "--set", "switch.x=1", "--seeds", 10).out
    row = next(line for line in swept.splitlines() if line.split()[:1] == ["1"])
    wanted = next(line for line in plain.splitlines() if line.startswith("FCT p99 ("))
    cells = [one.replace(" *", "").strip() for one in re.split(r"  +", wanted)[1:] if one.strip(" *")]
    assert len(cells) == 3 and [one for one in re.split(r"  +", row.strip())[1:]] == cells
