"""CP's figures, tables and claims, by their ids."""

from . import claims, fair_shares, incast, realistic

MEASURES = claims.MEASURES | incast.MEASURES | fair_shares.MEASURES | realistic.MEASURES
