"""Overspill: what should a switch do when its buffer overflows?"""

import importlib
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput, Failed, OverspillError

if TYPE_CHECKING:
    from overspill.engine.execution import Options, run
    from overspill.engine.grid import Axis
    from overspill.engine.sweep import sweep
    from overspill.results.results import Results
    from overspill.results.sweep import Sweep
    from overspill.tracing import PacketTrace, trace

__all__ = [
    "Axis",
    "BadInput",
    "Failed",
    "Options",
    "OverspillError",
    "PacketTrace",
    "Results",
    "Sweep",
    "run",
    "sweep",
    "trace",
]

# Loaded when first asked for, so that the command starts at once.
PLACES = {
    "Axis": "engine.grid",
    "Options": "engine.execution",
    "PacketTrace": "tracing",
    "Results": "results.results",
    "Sweep": "results.sweep",
    "run": "engine.execution",
    "sweep": "engine.sweep",
    "trace": "tracing",
}
MODULES = {"export": "results.export", "topology": "engine.topology"}


def __getattr__(name: str) -> Any:
    """What is not loaded yet."""
    if name in MODULES:
        return importlib.import_module(f"overspill.{MODULES[name]}")
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"overspill.{PLACES[name]}"), name)
