"""Drawings of DIBS's figures, by their ids."""

from . import completion_times, detours, distributions

DRAWINGS = completion_times.DRAWINGS | detours.DRAWINGS | distributions.DRAWINGS
