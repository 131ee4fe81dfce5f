"""Overspill: what should a switch do when its buffer overflows?"""

import importlib
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput, Failed, OverspillError

if TYPE_CHECKING:
    from overspill.execution import Options, run
    from overspill.results import Results
    from overspill.sweeps import Axis, Sweep, sweep
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


def __getattr__(name: str) -> Any:
    """Load what takes long only when it is asked for, so that the command can be stopped before."""
    if name == "Results":
        return getattr(importlib.import_module("overspill.results"), name)
    if name in ("Options", "run"):
        return getattr(importlib.import_module("overspill.execution"), name)
    if name in ("Axis", "Sweep", "sweep"):
        return getattr(importlib.import_module("overspill.sweeps"), name)
    if name in ("PacketTrace", "trace"):
        return getattr(importlib.import_module("overspill.tracing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
