"""DIBS's figures, tables and claims, by their ids.

`detour_paths`: figure 1. `burst`: figure 2. `hot_links`: figures 3 to 5. `testbed`: figure 6. `loads`:
figures 7 to 10, and 13 to 15. `parameters`: figures 11 and 12, and sections 5.5 and 5.6. `comparisons`:
sections 4, 6 and 7. `claims`: claims of the text.
"""

from . import burst, claims, comparisons, detour_paths, hot_links, loads, parameters, testbed

FIGURES_1_TO_6 = detour_paths.MEASURES | burst.MEASURES | hot_links.MEASURES | testbed.MEASURES
SECTIONS_5_3_TO_5_8 = claims.MEASURES | loads.MEASURES | parameters.MEASURES

MEASURES = FIGURES_1_TO_6 | SECTIONS_5_3_TO_5_8 | comparisons.MEASURES
