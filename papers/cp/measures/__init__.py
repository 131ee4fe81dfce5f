"""CP's figures, tables and claims, by their ids.

`incast`: figures 1, 3 and 8. `fair_shares`: figures 2, 10 to 12 and 14. `realistic`: figures 15 and 16.
`claims`: claims of the text.
"""

from . import claims, fair_shares, incast, realistic

MEASURES = claims.MEASURES | incast.MEASURES | fair_shares.MEASURES | realistic.MEASURES
