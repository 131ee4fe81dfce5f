"""Helpers shared by tests of sweeps."""

from collections.abc import Callable
from pathlib import Path

from conftest import SCENARIO, Ran

Command = Callable[..., Ran]
OUTPUTS = ("manifest.json", "summary.csv", "summary.parquet", "sweep.csv", "sweep.parquet")
OVER = ("--over", "switch.x=1,2", "--over", "switch.y=a,b,c")


def write_scenario(folder: Path) -> Path:
    """Returns a scenario whose variants differ, unlike the fake's usual ones."""
    path = folder / "incast.toml"
    path.write_text(SCENARIO)
    return path


def read_outputs(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in OUTPUTS}


def store_entries(folder: Path) -> list[Path]:
    return sorted((folder / "store").glob("??/*.parquet"))
