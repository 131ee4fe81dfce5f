"""The example of a paper of one's own is checked, run, published and drawn again by the ordinary commands."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_paper_command(folder: Path, *arguments: str) -> str:
    """Prints of `overspill paper own_paper` in this folder."""
    command = [sys.executable, "-m", "overspill", "paper", "own_paper", "--papers", "mine", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_own_paper_is_whole_and_its_page_names_its_folder(tmp_path: Path) -> None:
    shutil.copytree(
        EXAMPLES / "papers/own_paper", tmp_path / "mine/own_paper", ignore=shutil.ignore_patterns("__*")
    )
    assert "1 claim" in run_paper_command(tmp_path, "--check")
    rows = json.loads(run_paper_command(tmp_path, "--json", "--publish"))
    assert [(row["measured"], row["verdict"]) for row in rows] == [
        (50, "holds"), (62.5, "holds"), (68.75, "holds"),
    ]  # fmt: skip
    page = (tmp_path / "mine/own_paper/README.md").read_text()
    for option in ("", " --list", " --redraw"):
        assert f"overspill paper own_paper --papers mine{option}" in page
    run_paper_command(tmp_path, "--redraw")
    assert (tmp_path / "out/papers/own_paper/published/figures/fig1.svg").stat().st_size > 5_000


def test_published_files_name_no_folder_of_the_machine(tmp_path: Path) -> None:
    shutil.copytree(
        EXAMPLES / "papers/own_paper", tmp_path / "far/own_paper", ignore=shutil.ignore_patterns("__*")
    )
    (tmp_path / "here").mkdir()
    command = [
        sys.executable,
        "-m",
        "overspill",
        "paper",
        "own_paper",
        "--papers",
        str(tmp_path / "far"),
        "--publish",
    ]
    assert subprocess.run(command, cwd=tmp_path / "here", capture_output=True, check=False).returncode == 0
    for name in ("README.md", "rows.json"):
        text = (tmp_path / "far/own_paper" / name).read_text()
        assert "overspill paper own_paper --papers DIR" in text and str(tmp_path) not in text
