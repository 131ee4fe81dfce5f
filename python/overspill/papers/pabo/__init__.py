"""PABO's figures, tables and claims, by their ids."""

from overspill.papers.pabo import (
    curve,
    hops,
    losses,
    paths,
    places,
    rivals,
    served,
    sources,
    theta,
    timeouts,
    times,
    tree,
)
from overspill.papers.spec import Code

SECTIONS_2_TO_5 = hops.FIGURES | tree.FIGURES | curve.FIGURES
SECTION_6 = paths.FIGURES | places.FIGURES | times.FIGURES | theta.FIGURES
# Claims that no figure of the paper decides.
CLAIMS = rivals.FIGURES | served.FIGURES | sources.FIGURES | timeouts.FIGURES

CODE = Code(SECTIONS_2_TO_5 | SECTION_6 | losses.FIGURES | CLAIMS)
