"""Table I: the constants, as the runs of figure 6 have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overspill.engine.phase import size
from overspill.papers.common import measured
from overspill.papers.qcn_os.schemes import OS, Sweeps
from overspill.papers.spec import Figure, Measured


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
    """A size in KB."""
    return size(text) / 1e3


FIGURES: dict[str, Figure] = {"tab1": Figure(table_1)}
