"""Overspill: a packet-level simulator of what switches do when their buffers overflow."""

import importlib
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput, Failed, OverspillError, Unwritable

if TYPE_CHECKING:
    from overspill import plots
    from overspill.engine import topology
    from overspill.engine.core import curve, version
    from overspill.engine.options import Options
    from overspill.engine.plan import Plan, prepare
    from overspill.engine.run import run, run_plans, sweep
    from overspill.engine.task import Listener, Task
    from overspill.results import columns, export, formats, metrics
    from overspill.results.axes import Axis
    from overspill.results.line_labels import Line
    from overspill.results.metric_key import Key
    from overspill.results.results import Results
    from overspill.results.rundata import RunData
    from overspill.results.warnings import warnings
    from overspill.stats import quantiles
    from overspill.stats.quantiles import Value
    from overspill.tracing import PacketTrace, trace

__all__ = [
    "Axis",
    "BadInput",
    "Failed",
    "Key",
    "Line",
    "Listener",
    "Options",
    "OverspillError",
    "PacketTrace",
    "Plan",
    "Results",
    "RunData",
    "Task",
    "Unwritable",
    "Value",
    "columns",
    "curve",
    "export",
    "formats",
    "metrics",
    "plots",
    "prepare",
    "quantiles",
    "run",
    "run_plans",
    "sweep",
    "topology",
    "trace",
    "version",
    "warnings",
]

# Public names are imported on first use, so that the command starts quickly.
MODULE_OF_NAME = {
    "Axis": "results.axes",
    "Key": "results.metric_key",
    "Line": "results.line_labels",
    "Listener": "engine.task",
    "Options": "engine.options",
    "PacketTrace": "tracing",
    "Plan": "engine.plan",
    "Results": "results.results",
    "RunData": "results.rundata",
    "Task": "engine.task",
    "Value": "stats.quantiles",
    "curve": "engine.core",
    "prepare": "engine.plan",
    "run": "engine.run",
    "run_plans": "engine.run",
    "sweep": "engine.run",
    "trace": "tracing",
    "version": "engine.core",
    "warnings": "results.warnings",
}
PUBLIC_MODULES = {
    "columns": "results.columns",
    "export": "results.export",
    "formats": "results.formats",
    "metrics": "results.metrics",
    "plots": "plots",
    "quantiles": "stats.quantiles",
    "topology": "engine.topology",
}


# Former names, which still work with a `DeprecationWarning`.
FORMER_NAMES = {"together": "run_plans"}


def __getattr__(name: str) -> Any:
    """Imports a public name on first use."""
    if name in FORMER_NAMES:
        text = f"overspill.{name} is now overspill.{FORMER_NAMES[name]}"
        importlib.import_module("warnings").warn(text, DeprecationWarning, stacklevel=2)
        name = FORMER_NAMES[name]
    if name == "__version__":
        return importlib.import_module("overspill.engine.core").version()
    if name in PUBLIC_MODULES:
        return importlib.import_module(f"overspill.{PUBLIC_MODULES[name]}")
    if name not in MODULE_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"overspill.{MODULE_OF_NAME[name]}"), name)
