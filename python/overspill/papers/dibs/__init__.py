"""DIBS's figures, tables and claims, by their ids."""

from overspill.papers.dibs import (
    beside,
    buffers,
    claims,
    detoured,
    extremes,
    flow_control,
    hot_links,
    limits,
    loads,
    one_incast,
    pfabric,
    testbed,
)
from overspill.papers.spec import Code

FIGURES_1_TO_6 = detoured.FIGURES | one_incast.FIGURES | hot_links.FIGURES | testbed.FIGURES
SECTIONS_5_4_AND_5_5 = loads.FIGURES | buffers.FIGURES | limits.FIGURES
SECTIONS_5_7_AND_5_8 = extremes.FIGURES | pfabric.FIGURES
COMPARISONS = beside.FIGURES | flow_control.FIGURES

CODE = Code(FIGURES_1_TO_6 | claims.FIGURES | SECTIONS_5_4_AND_5_5 | SECTIONS_5_7_AND_5_8 | COMPARISONS)
