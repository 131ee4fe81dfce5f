"""Overspill: what should a switch do when its buffer overflows?"""

from overspill.errors import BadInput, Failed, OverspillError
from overspill.results import Options, Results, run

__all__ = ["BadInput", "Failed", "Options", "OverspillError", "Results", "run"]
