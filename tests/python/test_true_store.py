"""Tests that a store contains complete results of the file that was read, or that a message reports it."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

import overspill
from overspill import Results
from overspill.engine import keys, point_checks
from overspill.engine.source import Source
from overspill.errors import BadInput, Failed
from overspill.results.axes import Point

HERE = Point(0, {}, ())
TEXT = 'file = "m.csv"\n'


def base(folder: Path) -> point_checks.CommonInputs:
    """Returns a scenario that names a file."""
    where = str(folder / "s.toml")
    return point_checks.CommonInputs(Source(where, TEXT), (), keys.FileHashes(where), keys.Build("", "", ""))


def replace_text(path: Path, text: str) -> None:
    """Replaces a file by another one of the same age."""
    other = path.with_suffix(".new")
    other.write_text(text)
    old = path.stat()
    os.utime(other, ns=(old.st_atime_ns, old.st_mtime_ns))
    other.replace(path)


def edit_while_reading(monkeypatch: pytest.MonkeyPatch, path: Path, changes: list[str]) -> list[str]:
    """Returns the texts that the core reads, from a file that changes each time after it was read."""
    seen: list[str] = []

    def scenario(*_: object) -> object:
        seen.append(path.read_text())
        if changes:
            replace_text(path, changes.pop(0))
        return object()

    monkeypatch.setattr(point_checks.core, "load_scenario", scenario)
    monkeypatch.setattr(point_checks.core, "document_of", lambda _: {"resolved": {"a": {"file": "m.csv"}}})
    return seen


def test_a_file_that_changes_while_it_is_read_is_read_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "m.csv"
    path.write_text("old")
    seen = edit_while_reading(monkeypatch, path, ["new"])
    _, _, files = point_checks.read_point(base(tmp_path), HERE)
    assert seen == ["old", "new"]
    assert files == {"a": {"m.csv": hashlib.sha256(b"new").hexdigest()}}


def test_a_folder_of_a_name_that_is_mentioned_may_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "m.csv"
    path.mkdir()
    seen = []

    def scenario(*_: object) -> object:
        seen.append(path / str(len(seen)))
        seen[-1].touch()
        return object()

    monkeypatch.setattr(point_checks.core, "load_scenario", scenario)
    monkeypatch.setattr(point_checks.core, "document_of", lambda _: {"resolved": {"a": {"file": "m.csv"}}})
    assert point_checks.read_point(base(tmp_path), HERE)[2] == {"a": {}}
    assert len(seen) == 1


def test_a_file_that_never_stays_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0")
    edit_while_reading(monkeypatch, path, [str(n) for n in range(100)])
    with pytest.raises(Failed, match="changes while it is read"):
        point_checks.read_point(base(tmp_path), HERE)


def test_a_file_of_the_same_size_and_age_in_the_place_of_another_is_another(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("old")
    files = keys.FileHashes(str(tmp_path / "s.toml"))
    first = files.digest("m.csv")
    replace_text(path, "new")
    assert files.digest("m.csv") == hashlib.sha256(b"new").hexdigest() != first


def test_a_sweep_says_where_its_store_is_damaged(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    overspill.sweep(scenario, {"fake.x": [1, 2]}, seeds=2, out=out, tables="flows")
    assert len(list(Results.load(out).each())) == Results.load(out).finished
    tables = sorted((out / "store").rglob("flows.parquet"))
    first, second = tables[:2]
    whole = first.read_bytes()
    shutil.copy(second, first)
    with first.open("ab") as file:
        file.write(b"x")
    with pytest.raises(BadInput, match="no longer has the table of these results"):
        Results.load(out).table("flows")
    first.unlink()
    with pytest.raises(BadInput, match="no longer has the table of these results"):
        Results.load(out).table("flows")
    first.write_bytes(whole)
    entry = first.parent.with_suffix(".parquet")
    kept = entry.read_bytes()
    entry.write_bytes(kept[:100])
    with pytest.raises(BadInput, match=r"deleted or damaged; expected .* with seed"):
        list(Results.load(out).each())
    entry.unlink()
    with pytest.raises(BadInput, match=r"deleted or damaged; expected .* with seed"):
        list(Results.load(out).each())
    entry.write_bytes(kept)
    assert len(list(Results.load(out).each())) == Results.load(out).finished
