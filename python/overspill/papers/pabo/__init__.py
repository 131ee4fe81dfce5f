"""PABO's figures, tables and claims, by their ids."""

from overspill.papers.pabo import curve, hops, losses, paths, places, theta, times, tree
from overspill.papers.spec import Code

SECTIONS_2_TO_5 = hops.FIGURES | tree.FIGURES | curve.FIGURES
SECTION_6 = paths.FIGURES | places.FIGURES | times.FIGURES | theta.FIGURES

CODE = Code(SECTIONS_2_TO_5 | SECTION_6 | losses.FIGURES)
