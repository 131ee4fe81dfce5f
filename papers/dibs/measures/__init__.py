"""DIBS's figures, tables and claims, by their ids."""

from . import burst, claims, comparisons, detour_paths, hot_links, loads, parameters, testbed

FIGURES_1_TO_6 = detour_paths.MEASURES | burst.MEASURES | hot_links.MEASURES | testbed.MEASURES
SECTIONS_5_3_TO_5_8 = claims.MEASURES | loads.MEASURES | parameters.MEASURES

MEASURES = FIGURES_1_TO_6 | SECTIONS_5_3_TO_5_8 | comparisons.MEASURES
