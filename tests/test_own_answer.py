"""Tests that an external overflow mechanism is built, explained and run as its how-to page says."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/own_answer"
# Replacements that the page describes in a copy with another name, in another folder.
RENAMED = {
    "Cargo.toml": [("own_answer", "mine"), ("../..", ROOT.as_posix())],
    "Makefile": [("own_answer", "mine"), ("drop_front", "drop_oldest")],
    "scenario.toml": [("own_answer", "mine"), ("drop_front", "drop_oldest")],
    "src/lib.rs": [("fn own_answer", "fn mine"), ('kind: "drop_front"', 'kind: "drop_oldest"')],
}


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
    names = [read_toml(path)["package"]["name"] for path in sorted(ROOT.glob("crates/*/Cargo.toml"))]
    for name in [*names, "mine"]:
        lines += [f"[profile.release.package.{name}]", "opt-level = 0", "codegen-units = 16"]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a copy of the example outside of the repository, changed as the page says."""
    folder = tmp_path_factory.mktemp("mine")
    assert not folder.is_relative_to(ROOT)
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    for name, replaced in RENAMED.items():
        text = (folder / name).read_text(encoding="utf-8")
        for before, after in replaced:
            assert before in text, f"{name}: {before}"
            text = text.replace(before, after)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(cargo_settings(), encoding="utf-8")
    # Uses the same library versions, so that Cargo downloads and compiles no other libraries for this test.
    shutil.copy(ROOT / "Cargo.lock", folder)
    return folder


def test_copy_in_any_folder_runs_by_the_ordinary_command(copy: Path) -> None:
    binaries = Path(sys.executable).parent
    command = ["make", "run", f"ROOT={ROOT}", f"BIN={binaries}", f"OUT={copy}/out", "LOCKED=--offline"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A full queue loses its oldest packet" in done.stdout
    assert re.search(r"tail_drop.*drop_oldest", done.stdout, re.DOTALL)
    assert (copy / "out/report.html").is_file()


def test_the_example_and_its_test_take_less_than_a_hundred_lines() -> None:
    assert len((EXAMPLE / "src/lib.rs").read_text().splitlines()) < 100


def test_without_its_core_the_name_is_refused() -> None:
    command = [sys.executable, "-m", "overspill", "run", str(EXAMPLE / "scenario.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "drop_front" in done.stderr and "`tail_drop`" in done.stderr
