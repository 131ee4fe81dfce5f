"""PABO's figures, tables and claims, by their ids.

`raw_packets`: figures 1 and 7 to 9, and table I. `parameters`: figures 3, 5 and 6. `fat_tree`: figure 10.
`bounces_and_drops`: figure 11 and table II. `arrival_times`: figures 12 to 15. `claims` and
`retransmission`: claims of the text.
"""

from . import arrival_times, bounces_and_drops, claims, fat_tree, parameters, raw_packets, retransmission

SECTIONS_2_TO_5 = raw_packets.MEASURES | parameters.MEASURES
SECTION_6 = fat_tree.MEASURES | bounces_and_drops.MEASURES | arrival_times.MEASURES

MEASURES = SECTIONS_2_TO_5 | SECTION_6 | claims.MEASURES | retransmission.MEASURES
