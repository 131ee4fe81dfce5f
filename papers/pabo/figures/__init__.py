"""Drawings of PABO's figures, by their ids."""

from . import fat_tree, parameters, raw_packets

DRAWINGS = fat_tree.DRAWINGS | parameters.DRAWINGS | raw_packets.DRAWINGS
