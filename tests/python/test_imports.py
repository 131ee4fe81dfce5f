"""Tests that commands load only the modules that they need: loading takes most of a short command's time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import overspill

HEAVY = {
    "scipy",
    "scipy.stats",
    "matplotlib",
    "plotly",
    "pyarrow",
    "pyarrow.compute",
    "numpy",
    "numpy.ma",
    "jinja2",
    "networkx",
    "dask",
    "pydantic",
    "overspill._core",
}
TOLD = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
"""
COMMAND = TOLD + "from overspill.cli import main\nmain(sys.argv[1:])"


def loaded_modules(code: str, *arguments: object, where: Path | None = None) -> set[str]:
    """Returns the modules that Python has loaded at its end; of `HEAVY` only those that are loaded."""
    python = Path(overspill.__file__).parents[1]
    line = [sys.executable, "-c", code, *map(str, arguments)]
    ran = subprocess.run(
        line, cwd=where, env={"PYTHONPATH": str(python)}, capture_output=True, text=True, check=True
    )
    return HEAVY & set(json.loads(ran.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "arguments", [("--help",), ("run", "--help"), ("sweep", "--help"), ("paper", "--help")]
)
def test_help_loads_nothing_that_computes_or_draws(arguments: tuple[str, ...]) -> None:
    assert loaded_modules(COMMAND, *arguments) == set()


def test_the_package_loads_nothing_that_computes_or_draws() -> None:
    assert loaded_modules(TOLD + "import overspill") == set()


@pytest.mark.parametrize("name", ["linear", "incast", "background"])
def test_a_run_of_one_seed_without_a_page_loads_no_statistics_and_no_drawing(
    name: str, tmp_path: Path
) -> None:
    scenario = Path(__file__).parents[2] / f"scenarios/{name}.toml"
    found = loaded_modules(COMMAND, "run", scenario, "--no-report", where=tmp_path)
    assert found == {"numpy", "pyarrow", "overspill._core"}


def test_intervals_of_many_seeds_load_only_the_special_functions() -> None:
    values = [1.0, 1.1, 1.2, 1.2, 1.3, 1.3, 1.4, 1.5, 1.7, 9.0]
    code = f"{TOLD}from overspill import stats\nstats.mean_interval({values}, True)"
    assert loaded_modules(code) - {"numpy.ma"} == {"numpy", "scipy"}
