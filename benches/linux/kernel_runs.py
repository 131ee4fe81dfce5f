"""Kernel runs stored in `out/bench-linux`, so that an interrupted benchmark can continue."""

import json
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import kernel
from cases import Case
from netns import BURST_FRAMES, SYSCTLS
from outcome import Flow, Outcome
from placement import Placement

ROOT = Path(__file__).resolve().parents[2]
RUNS_FOLDER = ROOT / "out" / "bench-linux" / "kernel"
PrintProgress = Callable[[str], None]


@dataclass(frozen=True)
class KernelSetup:
    """Settings shared by all runs of the kernel."""

    placement: Placement
    spread_us: int
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def conditions(self) -> dict[str, Any]:
        """Conditions, besides case and repeat, that a stored run depends on."""
        return {
            "release": platform.release(),
            "sysctls": SYSCTLS | self.settings,
            "burst_frames": BURST_FRAMES,
            "spread_us": self.spread_us,
            "placement": self.placement.kind,
        }

    @property
    def folder(self) -> Path:
        """Folder of the runs with these settings."""
        named = [self.placement.kind, *(f"{name}={value}" for name, value in sorted(self.settings.items()))]
        return RUNS_FOLDER / ",".join(named)


def load_run(file: Path, under: dict[str, Any]) -> tuple[Outcome, dict[str, int]] | None:
    """Reads a stored run; returns `None` if there is none, or if its conditions differ."""
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if found["conditions"] != under:
        return None
    return Outcome([Flow(**flow) for flow in found["flows"]], found["drops"]), found["counted"]


def store_run(file: Path, under: dict[str, Any], outcome: Outcome, counted: dict[str, int]) -> None:
    """Stores a run atomically: the file is complete or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"conditions": under, "counted": counted, **asdict(outcome)}) + "\n")
    part.rename(file)


def measure_repeats(
    case: Case, repeats: range, setup: KernelSetup, tell: PrintProgress
) -> list[tuple[Outcome, dict[str, int]]]:
    """Returns repeats of a case on the kernel; stored repeats are not run again."""
    found = []
    for repeat in repeats:
        file = setup.folder / case.name / f"{repeat}.json"
        run = load_run(file, setup.conditions)
        if run is None:
            starts = case.starts_ns(repeat, setup.spread_us)
            run = kernel.run_case(case, starts, setup.settings, setup.placement)
            store_run(file, setup.conditions, *run)
            tell(f"kernel: {case.name}, repeat {repeat + 1} of {repeats.stop}")
        found.append(run)
    return found
