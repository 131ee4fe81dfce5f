"""Cases of `cases.toml`."""

import itertools
import random
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES_FILE = Path(__file__).resolve().parent / "cases.toml"
GRID_AXES = ("buffer_packets", "rate_mbps", "rto_min_ms", "congestion_control")


@dataclass(frozen=True)
class Case:
    """Incast over one bottleneck: number of flows, bytes of each flow, and the settings of both sides."""

    flows: int
    bytes: int
    buffer_packets: int
    rate_mbps: int
    rto_min_ms: int
    congestion_control: str

    @property
    def name(self) -> str:
        """Name made of all settings."""
        return (
            f"{self.congestion_control}-n{self.flows}-{self.bytes}B-q{self.buffer_packets}"
            f"-{self.rate_mbps}M-rto{self.rto_min_ms}"
        )

    def starts_ns(self, repeat: int, spread_us: int) -> list[int]:
        """Start time of each flow in ns, in order; every call returns the same times."""
        draw = random.Random(f"{self.name} {repeat}")
        return sorted(draw.randrange(spread_us * 1000) for _ in range(self.flows))


@dataclass(frozen=True)
class Tolerance:
    """Allowed differences from the kernel, as shares of the kernel's mean."""

    completion_median: float
    retransmissions: float
    timeouts: float


@dataclass(frozen=True)
class Plan:
    """Contents of `cases.toml`."""

    cases: list[Case]
    repeats: int
    replays: int
    further_repeats: int
    spread_us: int
    tolerance: Tolerance


def expand_grid(grid: dict[str, Any]) -> list[Case]:
    """Returns every combination of the values of a grid."""
    return [
        Case(load["flows"], load["bytes"], *rest)
        for load, *rest in itertools.product(grid["load"], *(grid[axis] for axis in GRID_AXES))
    ]


def read_plan(file: Path = CASES_FILE) -> Plan:
    """Reads `cases.toml` and expands its grids."""
    raw = tomllib.loads(file.read_text())
    cases = [case for grid in raw["grid"] for case in expand_grid(grid)]
    if len({case.name for case in cases}) != len(cases):
        raise ValueError(f"{file}: a case occurs twice")
    return Plan(
        cases, raw["repeats"], raw["replays"], raw["further"], raw["spread_us"], Tolerance(**raw["tolerance"])
    )
