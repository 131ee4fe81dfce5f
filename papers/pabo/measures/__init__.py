"""PABO's figures, tables and claims, by their ids."""

from . import arrival_times, bounces_and_drops, claims, fat_tree, parameters, raw_packets, retransmission

SECTIONS_2_TO_5 = raw_packets.MEASURES | parameters.MEASURES
SECTION_6 = fat_tree.MEASURES | bounces_and_drops.MEASURES | arrival_times.MEASURES

MEASURES = SECTIONS_2_TO_5 | SECTION_6 | claims.MEASURES | retransmission.MEASURES
