"""Sweeps: a scenario at every point of a grid, kept run by run, in one tidy table."""

from overspill.sweeps.grid import Axis
from overspill.sweeps.results import Sweep
from overspill.sweeps.run import sweep

__all__ = ["Axis", "Sweep", "sweep"]
