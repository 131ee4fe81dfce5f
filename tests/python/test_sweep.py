"""Tests of sweeps over the fake core: which runs happen, and which results are kept."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import fake_core
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import sweep_folders
from sweep_folders import OVER, Command, read_outputs, store_entries

import overspill
from overspill import BadInput, Results, stats
from overspill.results import metrics
from overspill.results.summary_tables import confidence_intervals, summarise_values
from overspill.stats.quantiles import Value

INCAST = Path(__file__).parents[2] / "scenarios/incast.toml"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return sweep_folders.write_scenario(tmp_path)


def test_a_grid_ends_in_one_tidy_table(command: Command, scenario: Path) -> None:
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2)
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == "results: out/incast-sweep"
    assert "6 points, 3 variants, 36 runs" in ran.out
    made = Results.load("out/incast-sweep")
    assert made.metrics.column_names == [
        "switch.x", "switch.y", "variant", "seed", "metric", "by", "of", "unit", "value", "censored",
    ]  # fmt: skip
    assert made.summary.column_names == [
        *("switch.x", "switch.y", "variant", "metric", "by", "of", "unit"),
        *("n", "mean", "ci95", "low", "high", "censored"),
    ]  # fmt: skip
    rows = made.metrics.to_pylist()
    runs = {(row["switch.x"], row["switch.y"], row["variant"], row["seed"]) for row in rows}
    assert len(runs) == 36 == made.finished == made.planned
    assert len(store_entries(Path("out/incast-sweep"))) == 36
    assert [axis.path for axis in made.axes] == ["switch.x", "switch.y"]
    assert made.axes[0].numbers == [1.0, 2.0] and made.axes[1].numbers is None
    assert pc.read_csv("out/incast-sweep/sweep.csv").num_rows == made.metrics.num_rows
    assert pq.ParquetFile("out/incast-sweep/sweep.parquet").read().equals(made.metrics)


def test_document_of_a_sweep_begins_with_its_version(command: Command, scenario: Path) -> None:
    document = json.loads(command("sweep", scenario, "--json", "--no-report", *OVER, "--seeds", 1).out)
    assert next(iter(document.items())) == ("overspill", fake_core.version())


def test_values_are_those_of_a_plain_run(scenario: Path) -> None:
    made = overspill.sweep(scenario, {"switch.x": [1]}, seeds=3)
    plain = overspill.run(scenario, seeds=3, sets=["switch.x=1"])
    found = {
        (row["variant"], row["seed"], metrics.key_of_row(row)): Value(row["value"], row["censored"])
        for row in made.metrics.to_pylist()
    }
    wanted = {
        (variant, seed, name): value
        for variant, by_seed in plain.values.items()
        for seed, values in by_seed.items()
        for name, value in values.items()
    }
    assert found == wanted
    assert made.metric_names == list(next(iter(plain.values["drop"].values())))
    row = next(one for one in made.summary.to_pylist() if metrics.key_of_row(one) == "fct_mean")
    values = [found[row["variant"], seed, "fct_mean"].value for seed in (1, 2, 3)]
    assert row["mean"] == stats.mean(values) and row["ci95"] == pytest.approx(stats.half_width(values))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(row["ci95"]) and row["n"] == 3
    assert row["unit"] == metrics.REGISTRY["fct_mean"].unit


def test_a_censored_value_makes_a_lower_bound_without_an_interval() -> None:
    made = summarise_values([Value(1.0), Value(3.0, True)], (0.0, 4.0))
    assert (made.mean, made.ci95, made.low, made.high, made.censored) == (2.0, None, None, None, True)
    assert summarise_values([Value(1.0)], None).ci95 is None


def test_a_percentile_over_ten_seeds_is_resampled_and_a_mean_is_not() -> None:
    known = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 9.0]
    values = [Value(one) for one in known]
    tail, middle, few = confidence_intervals(
        [("fct_p99", values), ("fct_mean", values), ("fct_p99", values[:9])]
    )
    assert tail == stats.mean_interval(known, True) != stats.mean_interval(known) == middle
    assert few == stats.mean_interval(known[:9])


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


@pytest.mark.parametrize("values", ["lin(1Gbp,10Gbp,10)", "lin(1gbps,10gbps,10)"])
def test_a_misspelt_unit_of_ten_swept_values_is_one_line(
    command: Command, compiled: None, values: str
) -> None:
    ran = command("sweep", INCAST, "--over", f"topology.link.rate={values}")
    (line,) = ran.err.splitlines()
    first = values[4:].partition(",")[0]
    assert ran.status == 2 and line.startswith(f'--over: topology.link.rate: found "{first}", whose unit')
    assert line.endswith(f" (at 10 of 10 points, first topology.link.rate={first})")


def test_a_misspelt_unit_of_the_file_is_one_line_over_ten_points(
    command: Command, compiled: None, tmp_path: Path
) -> None:
    text = INCAST.read_text(encoding="utf-8")
    assert '"1Gbps"' in text
    (tmp_path / "misspelt.toml").write_text(text.replace('"1Gbps"', '"1Gbp"'))
    ran = command("sweep", "misspelt.toml", "--over", "switch.buffer.size=10pkt..100pkt:10pkt")
    assert ran.status == 2 and re.match(r'misspelt\.toml:\d+: topology\.link\.rate: found "1Gbp"', ran.err)
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option"),
        (["--over", "x"], "--over: found 'x'"),
        (["--over", "switch.x=1,2", "--set", "switch.x=3"], "found it in --set as well"),
        (["--over", "switch.x=1", "--seeds", 0], "--seeds"),
        (["--over", "switch.x=1", "--jobs", 0], "--jobs"),
        (["--over", "switch.x=1", "--variants", "drop,nope"], "--variants: found nope"),
        (["--over", "switch.x=1", "--variants", ","], "--variants: found nothing"),
        (["--over", "switch.x=1", "--metric", "speed"], "--metric: found speed"),
        (["--over", "switch.x=1", "--metric", "qct_p98"], "did you mean qct_p9"),
        (["--over", "switch.x=1", "--tables", "flow"], "--tables: found flow"),
        (["--over", "switch.x=1", "--on", "somewhere"], "--on: found 'somewhere'"),
        (["--over", "switch.x=1", "--on", "foo://bar:1"], "--on: found 'foo://bar:1'"),
        (
            ["--over", "switch.x=1", "--on", "local:2", "--jobs", 2],
            "--jobs: found with --on; expected only one of them",
        ),
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
    before, stamps = read_outputs(Path("o")), [path.stat() for path in store_entries(Path("o"))]
    fake_core.behaviour.finished = 0
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 2, "--out", "o")
    assert ran.status == 0 and "36/36 runs, 36 from the store" in ran.err
    assert fake_core.behaviour.finished == 0
    assert read_outputs(Path("o")) == before
    assert [(one.st_ino, one.st_mtime_ns) for one in stamps] == [
        (path.stat().st_ino, path.stat().st_mtime_ns) for path in store_entries(Path("o"))
    ]


def test_another_grid_takes_what_it_shares(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 2, "--out", "o")
    fake_core.behaviour.finished = 0
    text = scenario.read_text()
    # Comments, and the name of the scenario, change no run.
    scenario.write_text("# more words\n" + text.replace('"incast"', '"other"'))
    ran = command("sweep", scenario, "--no-report", "--over", "switch.x=2,3", "--seeds", 3, "--out", "o")
    assert "18 runs, 6 from the store" in " ".join(ran.err.split())
    assert fake_core.behaviour.finished == 12
    assert Results.load("o").points == [{"switch.x": "2"}, {"switch.x": "3"}]


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
    assert read_outputs(Path("one")) == read_outputs(Path("many")) == read_outputs(Path("pieces"))


def test_equal_configurations_are_run_once_and_that_is_said(command: Command, scenario: Path) -> None:
    ran = command(
        "sweep", scenario, "--no-report", "--over", "variants.bounce.x=1,2", "--seeds", 2, "--out", "o"
    )
    assert ran.status == 0
    assert "2 of 6 configurations (point and variant) equal another one and are run once" in ran.out
    assert fake_core.behaviour.finished == 8 == len(store_entries(Path("o")))
    made = Results.load("o")
    assert made.finished == 12
    drop = [row for row in made.metrics.to_pylist() if row["variant"] == "drop"]
    one, two = (
        [{**row, "variants.bounce.x": ""} for row in drop if row["variants.bounce.x"] == at] for at in "12"
    )
    assert one == two and one


def flip_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0x10
    path.write_bytes(data)


def change_value(path: Path) -> None:
    """Writes a valid Parquet file with another value."""
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
        flip_byte,
        change_value,
    ],
    ids=["truncated", "empty", "text", "of another run", "a bit flipped", "another value"],
)
def test_a_damaged_file_is_noticed_and_run_again(
    command: Command, scenario: Path, damage: Callable[[Path], object]
) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    before = read_outputs(Path("o"))
    victim = store_entries(Path("o"))[0]
    whole = victim.read_bytes()
    damage(victim)
    fake_core.behaviour.finished = 0
    ran = command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    assert ran.status == 0 and fake_core.behaviour.finished == 1
    assert ran.err.count("run again, since its file in the store is damaged") == 1
    assert victim.read_bytes() == whole and read_outputs(Path("o")) == before


def test_what_a_killed_writer_left_is_taken_away(command: Command, scenario: Path) -> None:
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    victim = store_entries(Path("o"))[0]
    left = victim.with_name(f".{victim.stem}.77.new")
    left.write_bytes(b"half")
    (Path("o") / "store/.staging/x").mkdir(parents=True)
    command("sweep", scenario, "--no-report", *OVER, "--seeds", 1, "--out", "o")
    assert not left.exists() and not (Path("o") / "store/.staging").exists()


def test_tables_are_kept_where_asked_for(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1, "--out", "o")
    command("sweep", scenario, "--no-report", "--over", "switch.x=1,2", "--seeds", 1, "--out", "o")
    assert not list(Path("o").rglob("flows.parquet"))
    with pytest.raises(BadInput, match="not kept"):
        Results.load("o").table("flows")
    before = {path.name: pq.ParquetFile(path).read() for path in store_entries(Path("o"))}
    fake_core.behaviour.finished = 0
    ran = command(*args, "--tables", "flows,packets")
    assert ran.status == 0 and fake_core.behaviour.finished == 6
    assert all(pq.ParquetFile(path).read().equals(before[path.name]) for path in store_entries(Path("o")))
    flows = Results.load("o").table("flows")
    plain = overspill.run(scenario, sets=["switch.x=1"]).flows
    assert flows.num_rows == 2 * plain.num_rows
    assert flows.column_names == ["switch.x", *plain.column_names]
    assert flows.column("bytes").to_pylist()[: plain.num_rows] == plain.column("bytes").to_pylist()
    fake_core.behaviour.finished = 0
    # A table that no run writes, or a smaller set of tables, causes no new run.
    command(*args, "--tables", "packets")
    assert fake_core.behaviour.finished == 0
    next(Path("o").rglob("flows.parquet")).write_bytes(b"")
    ran = command(*args, "--tables", "flows")
    assert fake_core.behaviour.finished == 1 and "not the file that was written" in ran.err
