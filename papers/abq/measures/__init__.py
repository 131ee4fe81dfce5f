"""ABQ's figures, table and claims, by their ids.

`incast`: figures 1, 4, 5a and 5b. `scale`: figure 5c and table I. `comparisons`: claims of the text.
"""

from . import comparisons, incast, scale

MEASURES = incast.MEASURES | scale.MEASURES | comparisons.MEASURES
