"""The cases of `cases.toml`."""

import itertools
import random
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent / "cases.toml"
AXES = ("buffer_packets", "rate_mbps", "rto_min_ms", "congestion_control")


@dataclass(frozen=True)
class Case:
    """An incast: so many flows of so many bytes over one bottleneck."""

    flows: int
    bytes: int
    buffer_packets: int
    rate_mbps: int
    rto_min_ms: int
    congestion_control: str

    @property
    def name(self) -> str:
        """All of it in one word."""
        return (
            f"{self.congestion_control}-n{self.flows}-{self.bytes}B-q{self.buffer_packets}"
            f"-{self.rate_mbps}M-rto{self.rto_min_ms}"
        )

    def starts_ns(self, repeat: int, spread_us: int) -> list[int]:
        """When each flow starts, in order: the same in every call."""
        draw = random.Random(f"{self.name} {repeat}")
        return sorted(draw.randrange(spread_us * 1000) for _ in range(self.flows))


@dataclass(frozen=True)
class Tolerance:
    """Shares of the kernel's mean."""

    completion_median: float
    retransmissions: float
    timeouts: float


@dataclass(frozen=True)
class Plan:
    """The file."""

    cases: list[Case]
    repeats: int
    replays: int
    further: int
    spread_us: int
    tolerance: Tolerance


def expanded(grid: dict[str, Any]) -> list[Case]:
    """Every combination."""
    return [
        Case(load["flows"], load["bytes"], *rest)
        for load, *rest in itertools.product(grid["load"], *(grid[axis] for axis in AXES))
    ]


def read(file: Path = FILE) -> Plan:
    """The file, in full."""
    raw = tomllib.loads(file.read_text())
    cases = [case for grid in raw["grid"] for case in expanded(grid)]
    if len({case.name for case in cases}) != len(cases):
        raise ValueError(f"{file}: a case occurs twice")
    return Plan(
        cases, raw["repeats"], raw["replays"], raw["further"], raw["spread_us"], Tolerance(**raw["tolerance"])
    )
