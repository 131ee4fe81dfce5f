"""ABQ's figures, table and claims, by their ids."""

from overspill.papers.abq import incast, oscillation, own_queues, pairs, routes, scale, times
from overspill.papers.spec import Code

FIGURES_4_AND_5 = incast.FIGURES | times.FIGURES | scale.FIGURES
CLAIMS = own_queues.FIGURES | pairs.FIGURES | routes.FIGURES

CODE = Code(oscillation.FIGURES | FIGURES_4_AND_5 | CLAIMS)
