"""What switches, hosts and senders counted."""

import numpy as np

from overspill.results.measures import workloads
from overspill.results.measures.declare import WHOLE, Metric, present
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

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
OF_FLOWS = "Σ over measured flows"
KINDS = ("drops", "marks", "detours", "bounces")  # in the order of their numbers in the table `fates`
BY_WORKLOAD = "By workload, too, where there are several."

DROPS = [
    Metric(
        "drops",
        "drops",
        "packets",
        f"Frames lost, at switches and hosts. {WHOLE} {BY_WORKLOAD}",
        "lower",
        formula="Σ drops over ports and reasons",
    ),
    Metric(
        "drop_ratio",
        "drops per frame sent",
        "1",
        f"Frames lost over frames that hosts sent, ACKs and retransmissions included. {WHOLE}",
        "lower",
        formula="drops / Σ frames sent by hosts",
    ),
    *(
        Metric(
            f"drops_by_{part}",
            "drops",
            "packets",
            f"Frames lost, by {words}. {WHOLE}",
            "lower",
            True,
            False,
            formula=f"Σ drops over ports with the same {part}" if part == "tier" else "Σ drops over ports",
        )
        for part, words in (("reason", "reason"), ("tier", "tier of the node"))
    ),
    *(
        Metric(
            name,
            title,
            "packets",
            f"{doc} {WHOLE} {BY_WORKLOAD}",
            "none",
            True,
            False,
            formula=f"Σ {name} over ports",
        )
        for name, title, doc in (
            ("marks", "ECN marks", "Congestion marks set."),
            ("detours", "detours", "Times a frame was detoured."),
            ("bounces", "bounces", "Times a frame was bounced."),
        )
    ),
    Metric(
        "bounces_by_tier",
        "bounces",
        "packets",
        f"Times a frame was bounced, by tier of the switch. {WHOLE}",
        "none",
        True,
        False,
        formula="Σ bounces over ports with the same tier",
    ),
]
SENDERS = [
    Metric(
        "retransmits",
        "retransmissions, measured flows",
        "packets",
        "Of measured flows.",
        "lower",
        formula=f"{OF_FLOWS} of segments sent again",
    ),
    Metric(
        "fast_retransmits",
        "fast retransmits, measured flows",
        "events",
        "Of measured flows.",
        "lower",
        True,
        False,
        formula=f"{OF_FLOWS} of recoveries that duplicates or reports began",
    ),
    Metric(
        "timeouts",
        "RTOs, measured flows",
        "events",
        "Retransmission timeouts, of measured flows.",
        "lower",
        formula=f"{OF_FLOWS} of expiries of the timer",
    ),
    Metric(
        "ece_acks",
        "marked ACKs",
        "packets",
        "ACKs with ECN-Echo, of measured flows.",
        "none",
        False,
        formula=f"{OF_FLOWS} of ACKs with ECN-Echo",
    ),
]


def counters(run: RunData) -> dict[str, Value]:
    """Drops by reason and place, marks, detours, bounces, and what senders counted."""
    node, sent = run.columns("ports", "node", "sent")
    if len(node) == 0:
        return {}
    reasons = {reason: run.column("ports", f"drop_{reason}").astype(np.int64) for reason in REASONS}
    lost = sum(reasons.values(), np.zeros(len(node), np.int64))
    found: dict[str, float | None] = {"drops": int(lost.sum())}
    by_hosts = int(sent[run.is_host[node]].sum())
    found["drop_ratio"] = int(lost.sum()) / by_hosts if by_hosts else None
    for reason, column in reasons.items():
        found[f"drops[reason={reason}]"] = int(column.sum())
    for tier in dict.fromkeys(run.tiers):
        found[f"drops[tier={tier}]"] = int(lost[run.tiers[node] == tier].sum())
    for name, column_name in (("marks", "marked"), ("detours", "detoured"), ("bounces", "bounced")):
        found[name] = int(run.column("ports", column_name).sum())
    back = run.column("ports", "bounced")
    for tier in dict.fromkeys(run.tiers[~run.is_host]):
        found[f"bounces[tier={tier}]"] = int(back[run.tiers[node] == tier].sum())
    found.update(fates(run) | senders(run))
    return present(found)


def fates(run: RunData) -> dict[str, float]:
    """Drops, marks, detours and bounces of each of several workloads, 0 where a workload has none."""
    found: dict[str, float] = {}
    if "fates" not in run.names or len(run.summary["traffic"]) < 2:
        return found
    traffic, kind, count = run.columns("fates", "traffic", "kind", "count")
    for which, name in enumerate(KINDS):
        for workload in range(len(run.summary["traffic"])):
            mine = (kind == which) & (traffic == workload)
            found[f"{name}{workloads.label(run, workload)}"] = int(count[mine].sum())
    return found


def senders(run: RunData) -> dict[str, float]:
    """What the senders of measured flows counted, of all and by workload; raw packets are never resent."""
    measured, raw, traffic = run.columns("flows", "measured", "raw", "traffic")
    keep = (measured != 0) & (raw == 0)
    counts = {one.name: run.column("flows", one.name)[keep] for one in SENDERS}
    return {
        f"{name}{label}": int(column[mine].sum())
        for label, mine in workloads.split(run, traffic[keep])
        for name, column in counts.items()
    }
