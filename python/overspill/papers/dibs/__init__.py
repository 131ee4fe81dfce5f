"""DIBS's figures, tables and claims, by their ids."""

from overspill.papers.dibs import detoured, hot_links, one_incast, testbed
from overspill.papers.spec import Code

FIGURES_1_TO_6 = detoured.FIGURES | one_incast.FIGURES | hot_links.FIGURES | testbed.FIGURES

CODE = Code(FIGURES_1_TO_6)
