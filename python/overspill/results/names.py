"""Names of the core: tables, reasons, and what numbers in tables stand for; by `make docs`."""

TABLES = (
    "flows",
    "ports",
    "queue_hist",
    "sub_queues",
    "sub_queue_hist",
    "queue_sojourn",
    "packet_hist",
    "fates",
    "reorder",
    "pauses",
    "holds",
    "events",
    "queue_trace",
    "sub_queue_trace",
    "activity",
    "host_goodput",
    "flow_goodput",
    "links",
    "packets",
    "detour_steps",
    "pause_trace",
    "hold_trace",
)
REASONS = (
    "buffer_full",
    "bounce_queue_full",
    "no_detour",
    "ttl_expired",
    "evicted",
    "early_drop",
    "no_route",
    "hold_full",
    "detours_spent",
    "link_down",
    "link_loss",
    "corrupted",
    "input_full",
)
DOING = (
    "emitted",
    "arrived",
    "detoured",
    "bounced",
    "marked",
    "trimmed",
    "held",
    "released",
    "stored",
    "started",
    "delivered",
)
FATES = (
    "drops",
    "marks",
    "detours",
    "bounces",
    "trims",
)
PACKET_HIST = (
    "delay",
    "hops",
    "detours",
    "bounces",
    "max_bounced_distance",
)
REORDER = (
    "displacement",
    "waiting",
    "extent",
    "received",
)
