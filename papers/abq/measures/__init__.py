"""ABQ's figures, table and claims, by their ids."""

from . import comparisons, incast, scale

MEASURES = incast.MEASURES | scale.MEASURES | comparisons.MEASURES
