"""Scenario of a small fat-tree with an incast, whose packets tests trace."""

SCENARIO = """
name = "few"
duration = "5ms"
[host]
nic_jitter = "0us"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[transport]
kind = "dctcp"
min_rto = "5ms"
dupack_threshold = "off"
[measure]
packets = true
detours = 2
[[traffic]]
name = "burst"
kind = "incast"
senders = 15
receiver = "h0"
size = "20KB"
start = "1ms"
[variants.drop]
[variants.bounce]
switch.overflow = { kind = "bounce", theta = 0.8, lambda = 50, bounce_size = "20pkt" }
[variants.detour]
switch.overflow = { kind = "detour" }
"""
