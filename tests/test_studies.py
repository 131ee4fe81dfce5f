"""Tests that studies run, and that their pages match their numbers."""

import gzip
import importlib
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import overspill
from studies import common

ROOT = Path(__file__).parents[1]
STUDIES = ROOT / "studies"
NAMES = ("bounce", "detour")
PLAIN_HEADER = b"\x1f\x8b\x08" + bytes(5)  # gzip: deflate, no flags and so no name, time 0
SERIES = ("policy", "aside", "swapped", "tune", "duel")
SMALL = {
    "duration": "2ms",
    "topology.k": 4,
    "measure.from": "500us",
    "traffic.background.stop": "2ms",
    "traffic.incast.start": "500us",
    "traffic.incast.stop": "2ms",
    "traffic.incast.senders": 12,
}
SHORT = {
    "duration": "6ms",
    "measure.from": "500us",
    "traffic.query.senders": 12,
    "traffic.query.stop": "6ms",
    "traffic.background.interarrival": "10ms",
    "traffic.background.stop": "6ms",
}


@pytest.fixture
def study(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"studies.{request.param}.__main__")


def folder_of(study: ModuleType) -> Path:
    assert study.__file__ is not None
    return Path(study.__file__).parent


def only_studies(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("study", names, indirect=True)


def scenario(name: str) -> dict[str, Any]:
    return tomllib.loads((STUDIES / name / "study.toml").read_text(encoding="utf-8"))


def run_again(study: ModuleType, made: list[Any], folder: Path) -> list[Any]:
    """Returns the rows as read back from their CSV."""
    assert all(row.n == 3 and row.low <= row.mean <= row.high for row in made)
    study.STUDY.write(made, folder / "numbers.csv.gz")
    read: list[Any] = study.STUDY.read(folder / "numbers.csv.gz")
    assert [row.mean for row in read] == pytest.approx([row.mean for row in made], rel=1e-5)
    assert [row.case for row in read] == [row.case for row in made]
    return read


@only_studies("bounce")
def test_a_tiny_study_runs_from_its_scenario_to_its_figures(study: ModuleType, tmp_path: Path) -> None:
    plan = study.Plan(thetas=(0.5, 0.9), lambdas=(1, 50), loads=(0.4,), seeds=3, jobs=1, sets=SMALL)
    made = study.run_study(plan, tmp_path / "runs")
    short = [row for row in made if row.metric == study.SHORT_FCT]
    assert len(short) == 6 + 2 * 4 + 11, (
        "baselines once, every bouncing variant at every point, all at a load"
    )
    rows = run_again(study, made, tmp_path)
    assert len(study.figures.draw(rows, tmp_path)) == 4
    assert all(text.count("\n") >= 5 for text in study.tables(rows).values())


@only_studies("detour")
def test_a_tiny_study_of_policies_has_every_series(study: ModuleType, tmp_path: Path) -> None:
    few = {
        "single_change_loads": {"fat_tree": 1000},
        "thetas": (0.8,),
        "lambdas": (1, 10),
        "alphas": (1,),
        "marking_thresholds": (20,),
    }
    loads = {"fat_tree": (1000,), "jellyfish, 8 paths": (1000,)}
    plan = study.Plan(loads=loads, tuned_loads=(1000,), seeds=3, tuning=3, jobs=1, sets=SHORT, **few)
    made = study.run_study(plan, tmp_path / "runs")
    queries = [row.case for row in made if row.metric == study.QCT]
    counts = [sum(case.series == name for case in queries) for name in SERIES]
    assert counts == [2 * 9, 12, 3, 4 + 2 + 1, 3 + 2 + 3]
    assert len(set(queries)) == len(queries)
    rows = [row for row in made if row.n == 3]
    assert {"random", "drop", "dibs_tuned"} == {name for row in rows for name in row.differences}
    beside = {row.case.variant for row in rows if "dibs_tuned" in row.differences}
    assert beside == {"drop", "drop_rto_1ms", "drop_shared", "dibs", "pabo", "pabo_tuned", "pool_tuned"}
    tuned = [row for row in rows if row.case.series == "tune"]
    assert study.chosen_setting(tuned, "pool").setting == "α 1, K 20pkt"
    assert study.chosen_setting(tuned, "pabo").setting in ("θ 0.8, λ 1, K 20pkt", "θ 0.8, λ 10, K 20pkt")
    rows = run_again(study, rows, tmp_path)
    assert len(study.figures.draw(rows, tmp_path)) == 3


@only_studies("detour")
def test_the_last_percent_of_short_background_flows_is_found(study: ModuleType) -> None:
    count = 200
    flows = pa.table(
        {
            "measured": [1] * count + [0, 1, 1],
            "traffic": [1] * count + [1, 0, 1],
            "bytes": [100_000] * count + [1, 1, 100_001],
            "start_ps": [5 * 10**9] * (count + 3),
            "end_ps": [5 * 10**9 + at * 10**9 for at in range(1, count + 1)] + [9 * 10**12] * 3,
        }
    )
    (value, unit), *others = numbers(study).short_flow_metrics(flows).values()
    assert (value, unit, others) == (pytest.approx(0.198), "s", [])


@only_studies("detour")
def test_detours_are_counted_of_data_packets_that_were_detoured(study: ModuleType) -> None:
    rows = [(1, 2, 0, 1, 900), (1, 2, 1, 2, 98), (1, 2, 7, 8, 2), (0, 2, 50, 51, 9), (1, 1, 50, 51, 9)]
    names = ("data", "metric", "low", "high", "count")
    hist = pa.table(dict(zip(names, np.array(rows).T, strict=True)))
    found = numbers(study).detour_metrics(hist)
    assert [value for value, _ in found.values()] == [pytest.approx((98 + 14) / 100), 7]


def numbers(study: ModuleType) -> Any:
    return importlib.import_module(f"{study.__package__}.numbers")


@only_studies(*NAMES)
def test_a_paired_difference_is_the_difference_of_the_means(study: ModuleType) -> None:
    found = study.STUDY.read(folder_of(study) / "numbers.csv.gz")
    known = {(row.case, row.metric): row for row in found}
    compared = [(row, name, less) for row in found for name, less in row.differences.items()]
    assert len(compared) > 1000
    for row, name, (mean, low, high) in compared:
        assert low <= mean <= high
        other = known[study.STUDY.reference(row.case, name), row.metric]
        if other.n == row.n:
            size = max(1e-9, row.mean, other.mean)
            assert mean == pytest.approx(row.mean - other.mean, rel=1e-3, abs=1e-5 * size), row


@only_studies(*NAMES)
def test_the_tables_of_the_page_are_those_of_the_committed_numbers(study: ModuleType) -> None:
    folder = folder_of(study)
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert common.insert_tables(text, study.tables(study.STUDY.read(folder / "numbers.csv.gz"))) == text, (
        f"run `python -m studies.{folder.name} --page`"
    )


def test_equal_lines_are_equal_compressed_files(tmp_path: Path) -> None:
    lines = [["a, b", 1, ""], ["c", 2, "θ"]]
    first, second = tmp_path / "first.csv.gz", tmp_path / "second.csv.gz"
    for path in (first, second):
        common.write_csv(path, ["name", "n", "sign"], lines)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes()[:8] == PLAIN_HEADER
    assert gzip.decompress(first.read_bytes()) == 'name,n,sign\n"a, b",1,\nc,2,θ\n'.encode()
    assert common.read_csv(first) == [["a, b", "1", ""], ["c", "2", "θ"]]


def test_committed_numbers_are_compressed_without_name_and_time() -> None:
    paths = sorted(STUDIES.glob("*/*.csv.gz"))
    assert len(paths) > len(list(STUDIES.glob("*/numbers.py"))) > len(NAMES), (
        "numbers of each study, and more"
    )
    assert not list(STUDIES.glob("*/*.csv"))
    assert {path.read_bytes()[:8] for path in paths} == {PLAIN_HEADER}


def test_baselines_and_bouncing_switches_have_the_same_memory() -> None:
    written = scenario("bounce")
    base = written["switch"]
    assert (base["buffer"]["size"], base["overflow"]["bounce_size"]) == ("50pkt", "50pkt")
    for name, variant in written["variants"].items():
        switch = variant.get("switch", {})
        alone = name.startswith(("drop", "dctcp"))
        pool = {"kind": "shared", "size": f"{8 * 100 * 1518}B", "alpha": 1}
        assert (switch.get("buffer") in ({"size": "100pkt"}, pool)) == alone, name
        assert (switch.get("overflow") == {"kind": "tail_drop"}) == alone, name


def test_detouring_and_bouncing_switches_have_the_same_memory() -> None:
    written = scenario("detour")
    assert written["switch"]["buffer"]["size"] == "100pkt"
    others = {
        name: (one["switch"]["buffer"], one["switch"].get("overflow", {}).get("bounce_size"))
        for name, one in written["variants"].items()
        if "buffer" in one.get("switch", {})
    }
    assert others == {
        "pabo": ({"kind": "per_port", "size": "50pkt"}, "50pkt"),
        "drop_shared": ({"kind": "shared", "size": f"{8 * 100 * 1518}B", "alpha": 1}, None),
    }


@only_studies("detour")
def test_the_networks_have_the_ports_that_the_page_says(study: ModuleType, tmp_path: Path) -> None:
    text = (STUDIES / "detour/README.md").read_text(encoding="utf-8")
    for name, count in {"fat_tree": 640, "hyperx": 224, "jellyfish": 224, "hyperx_wide": 448}.items():
        sweep = overspill.sweep(
            STUDIES / "detour/study.toml",
            over={numbers(study).QPS_PATH: [1000]},
            sets={**study.NETWORKS[name], **SHORT},
            variants=["random"],
            seeds=1,
            tables=["ports"],
            out=tmp_path / name,
        )
        assert sweep.table("ports").num_rows == count + 128, f"{name}: a port of each host, beside"
        assert f"{count} ports" in text, name
