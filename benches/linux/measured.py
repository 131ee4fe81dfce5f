"""What the kernel was measured to do, kept in `out/bench-linux` so that an interrupted bench goes on."""

import json
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import kernel
from cases import Case, Plan
from netns import BURST_FRAMES, SYSCTLS
from outcome import Flow, Outcome

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "out" / "bench-linux" / "kernel"
Tell = Callable[[str], None]


def conditions(settings: dict[str, str], spread_us: int) -> dict[str, Any]:
    """What a stored run depends on, beside its case and repeat."""
    return {
        "release": platform.release(),
        "sysctls": SYSCTLS | settings,
        "burst_frames": BURST_FRAMES,
        "spread_us": spread_us,
    }


def load(file: Path, under: dict[str, Any]) -> tuple[Outcome, dict[str, int]] | None:
    """A stored run, unless it was made under other conditions."""
    try:
        found = json.loads(file.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if found["conditions"] != under:
        return None
    return Outcome([Flow(**flow) for flow in found["flows"]], found["drops"]), found["counted"]


def store(file: Path, under: dict[str, Any], outcome: Outcome, counted: dict[str, int]) -> None:
    """A run, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"conditions": under, "counted": counted, **asdict(outcome)}) + "\n")
    part.rename(file)


def measure(
    case: Case, plan: Plan, settings: dict[str, str], tell: Tell
) -> list[tuple[Outcome, dict[str, int]]]:
    """Every repeat of a case on the kernel; those that are there are not run again."""
    under, found = conditions(settings, plan.spread_us), []
    named = "".join(f",{name}={value}" for name, value in sorted(settings.items()))
    for repeat in range(plan.repeats):
        file = FOLDER / (case.name + named) / f"{repeat}.json"
        run = load(file, under)
        if run is None:
            run = kernel.run(case, case.starts_ns(repeat, plan.spread_us), settings)
            store(file, under, *run)
            tell(f"kernel: {case.name}{named}, repeat {repeat + 1} of {plan.repeats}")
        found.append(run)
    return found
