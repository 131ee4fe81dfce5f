"""Tests that files are written completely or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import matplotlib.figure
import pytest

from overspill import atomic_files
from overspill.charts import figure_files
from overspill.papers import published_files, write_paper


def test_a_block_that_fails_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("before")
    with pytest.raises(OSError, match="disk"), atomic_files.replace_file(path) as new:
        new.write_text("half")
        raise OSError("no space left on the disk")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_a_new_version_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / f"{'a' * 240}.svg"
    for text in ("one\r\n", "two\n"):
        atomic_files.write_text(path, text)
        assert path.read_bytes() == text.encode() and list(tmp_path.iterdir()) == [path]


def test_links_stay_links_and_devices_are_written_directly(tmp_path: Path) -> None:
    path, link = tmp_path / "there.txt", tmp_path / "link.txt"
    path.write_text("before")
    link.symlink_to(path)
    atomic_files.write_text(link, "after")
    assert link.is_symlink() and path.read_text() == "after"
    atomic_files.write_text(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_a_writer_that_is_killed_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    path.write_text("whole")
    code = (
        "import os, pathlib, signal, sys\n"
        "from overspill import atomic_files\n"
        "with atomic_files.replace_file(pathlib.Path(sys.argv[1])) as new:\n"
        "    new.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    where = str(Path(atomic_files.__file__).parent.parent)
    ran = subprocess.run([sys.executable, "-c", code, path], env={**os.environ, "PYTHONPATH": where})
    assert ran.returncode == -signal.SIGKILL and path.read_text() == "whole"
    atomic_files.write_text(path, "next")
    assert list(tmp_path.iterdir()) == [path], "what was left is taken over by the next writer"


@pytest.mark.parametrize("kind", figure_files.FIGURE_FORMATS)
def test_a_figure_that_breaks_leaves_the_earlier_one(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(figure: object, path: Path, **_: object) -> None:
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    drawing = matplotlib.figure.Figure()
    (tmp_path / f"a.{kind}").write_bytes(b"whole")
    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", broken)
    with pytest.raises(KeyboardInterrupt):
        figure_files.save_figure(drawing, tmp_path, "a", [kind])
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"whole"]


def test_a_paper_keeps_its_files_until_the_new_are_whole(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in (published_files.ROWS_FILE, published_files.WHAT_IF_FILE, "figures/old.svg"):
        (tmp_path / name).write_text("before")
    (tmp_path / "sweeps").mkdir()
    before = write_paper.existing_files(tmp_path)
    assert len(before) == 3
    with pytest.raises(KeyboardInterrupt), write_paper.stage_files(tmp_path) as new:
        (new / published_files.ROWS_FILE).write_text("half")
        raise KeyboardInterrupt
    assert (
        write_paper.existing_files(tmp_path) == before
        and (tmp_path / published_files.ROWS_FILE).read_text() == "before"
    )
    with write_paper.stage_files(tmp_path) as new:
        (new / "figures").mkdir()
        (new / published_files.ROWS_FILE).write_text("after")
        (new / "figures/new.svg").write_text("after")
    assert write_paper.existing_files(tmp_path) == {Path(published_files.ROWS_FILE), Path("figures/new.svg")}
    assert (tmp_path / "sweeps").is_dir() and not list(tmp_path.glob(".*"))
