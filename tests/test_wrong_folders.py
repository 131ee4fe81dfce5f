"""Tests of wrong input to commands that read and write tables: status 2 and a line, never a crash."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from overspill import BadInput, Results
from overspill.engine import axis_values
from overspill.results import results_folder, summary_tables

ROOT = Path(__file__).parents[1]
WRONG_VALUES: tuple[Any, ...] = (None, True, -1, 0.5, 2**70, "", "../x", "\0", [], [1], {}, {"a": 1})
REMOVED = object()


def run_overspill(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "overspill", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", params=["run", "sweep"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(request.param) / "out"
    over = ("--over", "switch.buffer.size=50pkt,100pkt") if request.param == "sweep" else ()
    done = run_overspill(
        request.param, "scenarios/linear.toml", "--no-report", "--seeds", 1, "--out", out, *over
    )
    assert done.returncode == 0, done.stderr
    return out


def value_paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the path of every value in a document; only the first two elements of a list."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from value_paths(value[key], (*at, key))
    elif isinstance(value, list):
        for index in range(min(len(value), 2)):
            yield from value_paths(value[index], (*at, index))


def with_value(document: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    found = copy.deepcopy(document)
    inner = found
    for key in at[:-1]:
        inner = inner[key]
    if new is REMOVED:
        del inner[at[-1]]
    else:
        inner[at[-1]] = new
    return found


def test_whatever_is_changed_in_a_manifest_is_bad_input(folder: Path) -> None:
    path = folder / "manifest.json"
    whole = path.read_text()
    document = json.loads(whole)
    tried = 0
    try:
        for number, at in enumerate(value_paths(document)):
            # Three values are tried in turn at each place: all of them would take a minute.
            in_turn = [WRONG_VALUES[(3 * number + more) % len(WRONG_VALUES)] for more in range(3)]
            for new in (*in_turn, REMOVED) if at else WRONG_VALUES:
                made = with_value(document, at, new)
                if made == document and repr(made) == repr(document):
                    continue
                path.write_text(json.dumps(made))
                with pytest.raises(BadInput) as told:
                    Results.load(folder)
                assert len(told.value.lines) == 1 and len(told.value.lines[0]) < 1000
                tried += 1
    finally:
        path.write_text(whole)
    assert tried > 200
    Results.load(folder)


def test_the_command_says_in_a_line_that_a_manifest_was_changed(folder: Path) -> None:
    path = folder / "manifest.json"
    whole = path.read_text()
    try:
        path.write_text(json.dumps(json.loads(whole) | {"variants": 7}))
        done = run_overspill("report", folder)
    finally:
        path.write_text(whole)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "manifest.json: changed since it was written" in done.stderr


def test_a_manifest_without_a_digest_is_refused_whoever_reads_it_and_the_message_says_what_to_do(
    folder: Path,
) -> None:
    path = folder / "manifest.json"
    whole = path.read_text()
    document = json.loads(whole)
    del document["digest"]
    over = ("--over", "switch.buffer.size=50pkt,100pkt") if "points" in document else ()
    again = ("sweep" if over else "run", "scenarios/linear.toml", "--seeds", 1, "--out", folder, *over)
    reads = [("report", folder), ("export", folder, "--format", "csv")]
    try:
        for changes in ({}, {"seeds": 7}, {"variants": None}):
            path.write_text(json.dumps(document | changes))
            for command, then in [
                *((one, "run again") for one in reads),
                (again, results_folder.NEW_FOLDER_ADVICE),
            ]:
                done = run_overspill(*command)
                assert (done.returncode, done.stdout) == (2, ""), done.stderr
                assert done.stderr.count("\n") == 1 and done.stderr.endswith(f" wrote; {then}\n")
                assert "manifest.json: found no digest; expected a folder that" in done.stderr
            assert json.loads(path.read_text()) == document | changes
    finally:
        path.write_text(whole)
    assert run_overspill(*again, "--no-report").returncode == 0


@pytest.mark.parametrize(
    "axis",
    [
        "lin(1e308KB,2e308KB,3)",
        "lin(1e400KB,1KB,3)",
        "log(1e308KB,1KB,4)",
        "1e308KB..2e308KB:1KB",
        "lin(1e999999999KB,1KB,3)",
        "1e999999999KB,1KB",
        "lin(" + "1" * 5000 + "KB,1KB,3)",
        "x" * 5000,
    ],
)
def test_values_beyond_all_bounds_are_bad_input_in_a_short_line(axis: str, tmp_path: Path) -> None:
    done = run_overspill(
        "sweep", "scenarios/linear.toml", "--over", f"switch.buffer.size={axis}", "--out", tmp_path / "out"
    )
    assert done.returncode == 2, done.stderr
    assert all(0 < len(line) <= 1000 for line in done.stderr.splitlines())


def test_values_within_bounds_are_what_they_were() -> None:
    assert axis_values.parse_values("x", "lin(1e3KB,2e3KB,3)") == ["1000KB", "1500KB", "2000KB"]
    assert axis_values.numbers_in_one_unit(["1KB", "1MB"]) == ([1.0, 1000.0], "KB")
    assert axis_values.numbers_in_one_unit(["1e308KB", "1KB"]) is None


def test_texts_that_a_spreadsheet_would_compute_are_no_formulas_in_csv(tmp_path: Path) -> None:
    texts = ["=1+1", "+x", "-y", "@z", "\t=1", "drop", "-5", "+1.5e3", "a=b"]
    table = pa.table({"variant": texts, "value": [-1.0] * len(texts)})
    csv, parquet = summary_tables.write_parquet_and_csv(table, tmp_path / "t.csv", {})[::-1]
    read = pc.read_csv(csv, convert_options=pc.ConvertOptions(column_types={"variant": pa.string()}))
    safe = ["'=1+1", "'+x", "'-y", "'@z", "'\t=1", "drop", "-5", "+1.5e3", "a=b"]
    assert read.column("variant").to_pylist() == safe
    assert read.column("value").to_pylist() == [-1.0] * len(texts)
    assert pa.parquet.read_table(parquet).equals(table) if hasattr(pa, "parquet") else parquet.is_file()
