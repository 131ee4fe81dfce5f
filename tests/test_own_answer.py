"""Tests that an external overflow mechanism is built, explained and run as its how-to page says.

Its crate depends on the crates of Overspill by path, or on a tag of a Git repository.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/own_answer"
# Replacements that the page describes in a copy with another name, in another folder.
RENAMED = {
    "Cargo.toml": [("own_answer", "mine")],
    "Makefile": [("own_answer", "mine"), ("drop_front", "drop_oldest")],
    "scenario.toml": [("own_answer", "mine"), ("drop_front", "drop_oldest")],
    "src/lib.rs": [("fn own_answer", "fn mine"), ('kind: "drop_front"', 'kind: "drop_oldest"')],
}

TAG = "v0.2.0"
REPOSITORY = "overspill-with-a-tag"
# Parts of the repository that Cargo reads to find its crates.
WORKSPACE_PARTS = ("Cargo.toml", "Cargo.lock", "crates", "examples", "benches")


def read_toml(path: Path) -> dict[str, Any]:
    """Returns the contents of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def cargo_settings() -> str:
    """Returns settings with which Cargo reuses the libraries that the repository's core was built with.

    Cargo compiles the crates of Overspill again for another workspace; with optimization in minutes.
    """
    profile = read_toml(ROOT / "Cargo.toml")["profile"]["release"]
    lines = ["[build]", f"target-dir = {json.dumps(str(ROOT / 'target'))}", "[profile.release]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in profile.items()]
    crates = [read_toml(path)["package"] for path in sorted(ROOT.glob("crates/*/Cargo.toml"))]
    names = [crate["name"] for crate in crates if crate.get("publish", True)]
    for name in [*names, "mine"]:
        lines += [f"[profile.release.package.{name}]", "opt-level = 0", "codegen-units = 16"]
    return "\n".join(lines)


def copy_example(folder: Path, dependency: str) -> None:
    """Copies the example to a folder outside of the repository, changed as the page says.

    `dependency` replaces the path of each crate of Overspill; `{}` in it becomes that path in the repository.
    """
    assert not folder.is_relative_to(ROOT)
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    for name, replaced in RENAMED.items():
        text = (folder / name).read_text(encoding="utf-8")
        for before, after in replaced:
            assert before in text, f"{name}: {before}"
            text = text.replace(before, after)
        (folder / name).write_text(text, encoding="utf-8")
    manifest = folder / "Cargo.toml"
    text, count = re.subn(
        r'path = "\.\./\.\./([^"]+)"',
        lambda found: dependency.format(found[1]),
        manifest.read_text(encoding="utf-8"),
    )
    assert count == 4 and "../.." not in text
    manifest.write_text(text, encoding="utf-8")
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(cargo_settings(), encoding="utf-8")
    # Uses the same library versions, so that Cargo downloads and compiles no other libraries for this test.
    shutil.copy(ROOT / "Cargo.lock", folder)


def check_example(folder: Path, locked: str) -> None:
    """Builds a copy of the example, and checks that the ordinary command explains and runs its mechanism."""
    binaries = Path(sys.executable).parent
    command = ["make", "run", f"ROOT={ROOT}", f"BIN={binaries}", f"OUT={folder}/out", f"LOCKED={locked}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A full queue loses its oldest packet" in done.stdout
    assert re.search(r"tail_drop.*drop_oldest", done.stdout, re.DOTALL)
    assert (folder / "out/report.html").is_file()


def make_tagged_repository(folder: Path) -> str:
    """Makes a Git repository of the crates with one tagged commit; returns the hash of the commit."""
    folder.mkdir()
    left_out = shutil.ignore_patterns("target", "out", "__pycache__", "*.so")
    for name in WORKSPACE_PARTS:
        part = ROOT / name
        if part.is_dir():
            shutil.copytree(part, folder / name, ignore=left_out)
        else:
            shutil.copy(part, folder)

    def git(*arguments: str) -> str:
        settings = [
            "user.name=test",
            "user.email=test@example.invalid",
            "commit.gpgsign=false",
            "tag.gpgsign=false",
        ]
        command = ["git", *(part for one in settings for part in ("-c", one)), *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "crates of Overspill")
    git("tag", TAG)
    return git("rev-parse", "HEAD")


def lock_to_commit(lock: Path, source: str) -> None:
    """Changes the source of the crates of Overspill in a lock file, so that Cargo needs no registry."""
    text, count = re.subn(
        r'(\[\[package\]\]\nname = "overspill-\w+"\nversion = "[^"]*"\n)',
        rf'\1source = "{source}"\n',
        lock.read_text(encoding="utf-8"),
    )
    assert count >= 7
    lock.write_text(text, encoding="utf-8")


@pytest.fixture
def checkouts() -> Iterator[Path]:
    """Yields the folder in which Cargo keeps clones; those of this file's repository are removed afterwards.

    Cargo compiles the libraries of another CARGO_HOME again, so that the test uses the ordinary one.
    """
    folder = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo") / "git"
    yield folder / "checkouts"
    for path in folder.glob(f"*/{REPOSITORY}-*"):
        shutil.rmtree(path)


def test_copy_in_any_folder_runs_by_the_ordinary_command(tmp_path: Path) -> None:
    copy_example(tmp_path, f'path = "{ROOT.as_posix()}/{{}}"')
    check_example(tmp_path, "--offline")


def test_copy_that_depends_on_a_tag_runs_by_the_ordinary_command(tmp_path: Path, checkouts: Path) -> None:
    repository, mine = tmp_path / REPOSITORY, tmp_path / "mine"
    commit = make_tagged_repository(repository)
    copy_example(mine, f'git = "{repository.as_uri()}", tag = "{TAG}"')
    lock_to_commit(mine / "Cargo.lock", f"git+{repository.as_uri()}?tag={TAG}#{commit}")
    # Cargo treats a local repository as the network, which `--offline` forbids.
    check_example(mine, "")
    assert list(checkouts.glob(f"{REPOSITORY}-*/{commit[:7]}*/crates/mech"))


def test_the_example_and_its_test_take_less_than_a_hundred_lines() -> None:
    assert len((EXAMPLE / "src/lib.rs").read_text().splitlines()) < 100


def test_without_its_core_the_name_is_refused() -> None:
    command = [sys.executable, "-m", "overspill", "run", str(EXAMPLE / "scenario.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "drop_front" in done.stderr and "`tail_drop`" in done.stderr
