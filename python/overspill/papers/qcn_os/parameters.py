"""Table I: the constants, as the runs of figure 6 have them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from overspill.papers.common import measured
from overspill.papers.qcn_os.schemes import OS, Sweeps
from overspill.papers.spec import Figure, Measured

# In KB, which are 1000 B.
UNITS = {"B": 1e-3, "KB": 1.0, "MB": 1e3, "KiB": 1.024, "MiB": 1048.576}


def table_1(sweeps: Sweeps) -> Iterator[Measured]:
    """Every row of the table."""
    [switch] = sweeps["hotspot"].settings(OS)["switches"]
    yield measured("switch", "input_buffer", [kb(switch["input_buffer"])])
    yield measured("switch", "output_buffer", [kb(switch["buffer"]["size"])])
    yield measured("PFC", "stop_threshold", [kb(switch["pause"]["xoff"])])
    yield measured("PFC", "go_threshold", [kb(switch["pause"]["xon"])])
    notify: Mapping[str, Any] = switch["notify"]
    yield measured("QCN", "equilibrium", [kb(notify["q_eq"])])
    yield measured("QCN", "weight_of_velocity", [float(notify["w"])])
    yield measured("QCN", "base_sampling_interval", [kb(notify["interval"])])


def kb(text: str) -> float:
    """A size as a resolved scenario has it, in KB.

    Raises ValueError where it is none.
    """
    parts = re.fullmatch(r"([0-9.]+)(B|KB|MB|KiB|MiB)", text)
    if parts is None:
        raise ValueError(f"{text} is no size")
    return float(parts[1]) * UNITS[parts[2]]


FIGURES: dict[str, Figure] = {"tab1": Figure(table_1)}
