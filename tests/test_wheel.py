"""Tests of the wheel and the source package that `make wheel` builds.

The wheel is tried in an environment without Rust and without the repository.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
WHEEL = os.environ.get("OVERSPILL_WHEEL", "")
MAX_BYTES = 12_000_000
# Folders of a working tree that no package may have.
FOLDERS_LEFT_OUT = {"target", "out", "dist", "shared", "shipped", ".venv", ".git", "__pycache__"}
LIBRARY_SUFFIXES = (".so", ".pyd", ".dylib")
BUILD_FILES = {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"}

pytestmark = pytest.mark.skipif(
    not WHEEL, reason="OVERSPILL_WHEEL names no wheel; `make wheel` builds and tests one"
)


class Installed:
    """Environment into which only the wheel is installed."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.work = folder / "work"
        self.work.mkdir()
        # Neither Rust nor the repository's environment can be found.
        system = "" if os.name == "nt" else f"{os.pathsep}/usr/bin{os.pathsep}/bin"
        self.environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self.environment["PATH"] = f"{self.bin}{system}"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        wheel = f"{(ROOT / WHEEL).resolve()}[notebook]"
        subprocess.run([self.bin / "python", "-m", "pip", "install", "--quiet", wheel], check=True)

    def run(self, *command: str) -> str:
        """Runs a command in the environment, and returns what it prints."""
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("wheel"))


def test_no_rust_is_in_reach(installed: Installed) -> None:
    assert shutil.which("cargo", path=installed.environment["PATH"]) is None


def test_demo_prints_the_table_of_the_readme(installed: Installed) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = [
        line for line in readme.splitlines() if " ± " in line and line.startswith(("FCT", "QCT", "drops"))
    ]
    printed = [line.rstrip() for line in installed.run("overspill", "demo").splitlines()]
    assert len(table) >= 5
    assert [line for line in table if line not in printed] == []
    assert (installed.work / "out/incast/report.html").is_file()


def test_a_figure_of_a_paper_is_reproduced(installed: Installed) -> None:
    printed = installed.run("overspill", "paper", "pabo", "tab1", "--out", "paper")
    assert "tab1" in printed
    assert list((installed.work / "paper").rglob("rows.json"))


def test_a_new_scenario_runs(installed: Installed) -> None:
    text = installed.run("overspill", "new", "leaf_spine", "--overflow", "detour")
    (installed.work / "mine.toml").write_text(text, encoding="utf-8")
    assert "detour" in installed.run("overspill", "run", "mine.toml")


def test_a_notebook_cell_draws_a_figure(installed: Installed) -> None:
    kernel = installed.run("python", "-m", "ipykernel", "install", "--sys-prefix", "--name", "wheel")
    assert "wheel" in kernel
    cell = (
        "from overspill import plots, run, shipped_files\n"
        "results = run(shipped_files.find_example('linear'))\n"
        "figure = plots.queue_over_time(results)\n"
        "print(sorted(results.values), len(figure.axes) > 0)\n"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    paths = {"JUPYTER_PATH": str(installed.bin.parent / "share/jupyter")}
    before = {name: os.environ.get(name) for name in paths}
    os.environ.update(paths)
    try:
        resources = {"metadata": {"path": str(installed.work)}}
        NotebookClient(notebook, kernel_name="wheel", timeout=120, resources=resources).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    (output,) = notebook.cells[0].outputs
    assert output["text"].endswith("True\n")


def test_wheel_is_for_many_linux_systems_and_carries_papers_and_examples() -> None:
    path = ROOT / WHEEL
    assert path.stat().st_size < MAX_BYTES
    assert "-cp311-abi3-" in path.name
    assert sys.platform != "linux" or "manylinux" in path.name
    names = zipfile.ZipFile(path).namelist()
    for paper in ("abq", "cp", "dibs", "pabo", "qcn-os"):
        assert f"overspill/shipped/papers/{paper}/paper.toml" in names
    examples = {f"overspill/shipped/scenarios/{file.name}" for file in (ROOT / "scenarios").iterdir()}
    assert examples <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".png")]


def files_of_source_package() -> set[str]:
    """Returns the files of the source package beside the wheel, without its outermost folder."""
    (path,) = (ROOT / WHEEL).parent.glob("overspill-*.tar.gz")
    with tarfile.open(path) as package:
        names = {one.name for one in package if one.isfile()}
    (outermost,) = {name.partition("/")[0] for name in names}
    assert outermost == path.name.removesuffix(".tar.gz")
    return {name.partition("/")[2] for name in names}


def is_left_out(name: str) -> bool:
    """Returns true if no package may have a file of the repository."""
    return bool(FOLDERS_LEFT_OUT & set(name.split("/")[:-1])) or name.endswith(LIBRARY_SUFFIXES)


def files_in_repository(*folders: Path) -> set[str]:
    """Returns the files in folders of the repository that a package needs."""
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {name for path in found if not is_left_out(name := path.relative_to(ROOT).as_posix())}


def test_source_package_has_all_files_that_a_build_needs() -> None:
    names = files_of_source_package()
    crates = [path.parent for path in ROOT.glob("crates/*/Cargo.toml")]
    needed = BUILD_FILES | files_in_repository(ROOT / "python", *(crate / "src" for crate in crates))
    for crate in crates:
        files = ("Cargo.toml", "build.rs")
        needed |= {(crate / file).relative_to(ROOT).as_posix() for file in files if (crate / file).exists()}
    assert len(crates) >= 7 and len(needed) > 500
    assert sorted(needed - names) == []


def test_source_package_has_the_papers_and_examples_of_the_wheel() -> None:
    shipped = "overspill/shipped/"
    carried = zipfile.ZipFile(ROOT / WHEEL).namelist()
    copies = {name.removeprefix(shipped) for name in carried if name.startswith(shipped)}
    assert {name.partition("/")[0] for name in copies} == {"papers", "scenarios"}
    assert sorted(copies - files_of_source_package()) == []


def test_source_package_has_no_files_of_a_build_or_of_git() -> None:
    assert sorted(name for name in files_of_source_package() if is_left_out(name)) == []
