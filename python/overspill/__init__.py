"""Overspill: what should a switch do when its buffer overflows?"""

import importlib
from typing import TYPE_CHECKING, Any

from overspill.errors import BadInput, Failed, OverspillError

if TYPE_CHECKING:
    from overspill.results import Options, Results, run

__all__ = ["BadInput", "Failed", "Options", "OverspillError", "Results", "run"]


def __getattr__(name: str) -> Any:
    """Load what takes long only when it is asked for, so that the command can be stopped before."""
    if name in ("Options", "Results", "run"):
        return getattr(importlib.import_module("overspill.results"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
