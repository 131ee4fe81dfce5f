"""Overspill: what should a switch do when its buffer overflows?"""

import importlib
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput, Failed, OverspillError

if TYPE_CHECKING:
    from overspill.engine.options import Options
    from overspill.engine.run import run, sweep
    from overspill.engine.task import Listener, Task
    from overspill.results.axes import Axis
    from overspill.results.results import Results
    from overspill.results.rundata import RunData
    from overspill.tracing import PacketTrace, trace

__all__ = [
    "Axis",
    "BadInput",
    "Failed",
    "Listener",
    "Options",
    "OverspillError",
    "PacketTrace",
    "Results",
    "RunData",
    "Task",
    "run",
    "sweep",
    "trace",
]

# Loaded when first asked for, so that the command starts at once.
PLACES = {
    "Axis": "results.axes",
    "Listener": "engine.task",
    "Options": "engine.options",
    "PacketTrace": "tracing",
    "Results": "results.results",
    "RunData": "results.rundata",
    "Task": "engine.task",
    "run": "engine.run",
    "sweep": "engine.run",
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
