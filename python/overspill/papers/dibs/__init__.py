"""DIBS's figures, tables and claims, by their ids."""

from overspill.papers.dibs import buffers, claims, extremes, limits, loads, pfabric
from overspill.papers.spec import Code

SECTIONS_5_4_AND_5_5 = loads.FIGURES | buffers.FIGURES | limits.FIGURES
SECTIONS_5_7_AND_5_8 = extremes.FIGURES | pfabric.FIGURES

CODE = Code(claims.FIGURES | SECTIONS_5_4_AND_5_5 | SECTIONS_5_7_AND_5_8)
