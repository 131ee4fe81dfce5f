"""ABQ's figures, table and claims, by their ids."""

from overspill.papers.abq import incast, oscillation, scale, times
from overspill.papers.spec import Code

CODE = Code(oscillation.FIGURES | incast.FIGURES | times.FIGURES | scale.FIGURES)
