"""What switches, hosts and senders counted."""

import numpy as np

from overspill.results.columns import distinct
from overspill.results.key import Key
from overspill.results.measures import workloads
from overspill.results.measures.declare import WHOLE, Metric, present
from overspill.results.names import FATES, REASONS
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

ON_LINKS = ("link_down", "link_loss", "corrupted")  # lost on the way, or waiting for a link that is down
OF_FLOWS = "Σ over measured flows"
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
            zero_shown=False,
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
            zero_shown=False,
            formula=f"Σ {name} over ports",
        )
        for name, title, doc in (
            ("marks", "ECN marks", "Congestion marks set."),
            ("detours", "detours", "Times a frame was detoured."),
            ("bounces", "bounces", "Times a frame was bounced."),
        )
    ),
    Metric(
        "trims",
        "cut packets",
        "packets",
        f"Times a packet was cut to its header, those included that were lost then. {WHOLE} {BY_WORKLOAD}",
        zero_shown=False,
        formula="Σ trims over ports",
    ),
    Metric(
        "returned",
        "returned headers",
        "packets",
        f"Headers that found no room and came back to their source, where a switch returns them. {WHOLE}",
        zero_shown=False,
        formula="Σ returned over ports of hosts",
    ),
    Metric(
        "bounces_by_tier",
        "bounces",
        "packets",
        f"Times a frame was bounced, by tier of the switch. {WHOLE}",
        zero_shown=False,
        formula="Σ bounces over ports with the same tier",
    ),
]
DATA_DROPS = Metric(
    "data_drops",
    "data drops, measured flows",
    "packets",
    "Data packets of measured flows that were lost anywhere in the whole run, drain included; packets cut "
    "before the loss count. Retransmissions count over the same time. `drops` counts all traffic in the "
    "measurement window.",
    "lower",
    formula=f"{OF_FLOWS} of lost data packets",
)
SENDERS = [
    Metric(
        "retransmits",
        "retransmissions, measured flows",
        "packets",
        "Segments that senders sent again, of measured flows.",
        "lower",
        formula=f"{OF_FLOWS} of segments sent again",
    ),
    Metric(
        "fast_retransmits",
        "fast retransmits, measured flows",
        "events",
        "Recoveries that duplicate ACKs or reports of losses began, before the timer, of measured flows.",
        "lower",
        zero_shown=False,
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
        formula=f"{OF_FLOWS} of ACKs with ECN-Echo",
    ),
    Metric(
        "packs",
        "PACKs",
        "packets",
        "PACKs that came to senders, of measured flows, with `transport.pack` (CP §4.3). Counted over the "
        "life of a flow, cut packets in the window: in a short one there are more PACKs than cuts.",
        "lower",
        zero_shown=False,
        formula=f"{OF_FLOWS} of PACKs",
    ),
    Metric(
        "tlp_probes",
        "tail loss probes",
        "packets",
        "Segments that senders sent since no ACK came for two round trips, of measured flows, with RACK-TLP.",
        zero_shown=False,
        formula=f"{OF_FLOWS} of probes (RFC 8985 §7)",
    ),
    Metric(
        "undos",
        "undone recoveries",
        "events",
        "Spurious recoveries and timeouts of measured flows, which senders undid, with RACK-TLP and with "
        "hosts of 2011 (`linux_2_6_38`).",
        "lower",
        zero_shown=False,
        formula=f"{OF_FLOWS} of recoveries and timeouts that F-RTO, timestamps or DSACKs undid",
    ),
]


def counters(run: RunData) -> dict[Key, Value]:
    """Drops by reason and place, marks, detours, bounces, and what senders counted."""
    counted = drops(run) | forwarded(run)
    # Without rows nothing happened to any packet of any workload, unless nobody told workloads apart.
    if run.recorded("fates") or not any(counted.values()):
        counted |= fates(run)
    return present(counted | senders(run))


# What ports count, and in which column; `trimmed` is there where some switch cuts packets, `returned` where
# one sends headers back.
COUNTED = (
    ("marks", "marked"),
    ("detours", "detoured"),
    ("bounces", "bounced"),
    ("trims", "trimmed"),
    ("returned", "returned"),
)


def in_window(run: RunData) -> bool:
    """Whether ports could count anything: a run that was cut before its window has no counts of it."""
    return run.recorded("ports") and run.window_ps[1] > run.window_ps[0]


def drops(run: RunData) -> dict[str, float | None]:
    """Drops by reason and place; nothing where no reason was counted."""
    known = run.column_names("ports")
    columns = {reason: f"drop_{reason}" for reason in REASONS if f"drop_{reason}" in known}
    if not columns or not in_window(run):
        return {}
    node, sent, *counts = run.columns("ports", "node", "sent", *columns.values())
    reasons = {reason: count.astype(np.int64) for reason, count in zip(columns, counts, strict=True)}
    lost = sum(reasons.values(), np.zeros(len(node), np.int64))
    found: dict[str, float | None] = {"drops": int(lost.sum())}
    by_hosts = int(sent[run.is_host[node]].sum())
    found["drop_ratio"] = int(lost.sum()) / by_hosts if by_hosts else None
    for reason, column in reasons.items():
        found[Key("drops", reason=reason)] = int(column.sum())
    for tier in dict.fromkeys(run.tiers):
        found[Key("drops", tier=tier)] = int(lost[run.tiers[node] == tier].sum())
    return found


def forwarded(run: RunData) -> dict[str, float | None]:
    """Marks, detours, bounces, cuts and returned headers, and bounces by tier, where ports counted them."""
    found: dict[str, float | None] = {}
    known = run.column_names("ports")
    if not in_window(run):
        return found
    for name, column in COUNTED:
        if column in known:
            found[name] = int(run.column("ports", column).sum())
    if "bounced" in known:
        node, back = run.columns("ports", "node", "bounced")
        for tier in dict.fromkeys(run.tiers[~run.is_host]):
            found[Key("bounces", tier=tier)] = int(back[run.tiers[node] == tier].sum())
    return found


def fates(run: RunData) -> dict[str, float | None]:
    """Drops, marks, detours, bounces, cuts and CNMs of each of several workloads, 0 where one has none."""
    found: dict[str, float | None] = {}
    if "fates" not in run.names or not in_window(run) or len(run.summary["traffic"]) < 2:
        return found
    traffic, kind, count = run.columns("fates", "traffic", "kind", "count")
    known = run.column_names("ports")
    for which, name in enumerate(FATES):
        # Where no switch cuts there are no cuts, and older results do not tell whose packets were cut.
        if name == "trims":
            cut = run.column("ports", "trimmed") if "trimmed" in known else None
            if cut is None or (cut.any() and not (kind == which).any()):
                continue
        if name == "cnms" and not run.recorded("congestion_points"):
            continue
        for workload in range(len(run.summary["traffic"])):
            mine = (kind == which) & (traffic == workload)
            found[Key(name, **workloads.label(run, workload))] = int(count[mine].sum())
    return found


def senders(run: RunData) -> dict[str, float | None]:
    """What the senders of measured flows counted, of all and by workload; raw packets are never resent."""
    measured, raw, traffic = run.columns("flows", "measured", "raw", "traffic")
    keep = (measured != 0) & (raw == 0)
    known = run.column_names("flows")
    counts = {one.name: run.column("flows", one.name)[keep] for one in SENDERS if one.name in known}
    found = {
        Key(name, **label): int(column[mine].sum())
        for label, mine in workloads.split(run, traffic[keep])
        for name, column in counts.items()
    }
    return data_drops(run, keep) | found


def data_drops(run: RunData, keep: np.ndarray) -> dict[str, float | None]:
    """Lost data of the flows to `keep`; no value if they are only some of a connection's messages.

    The flow that opened a connection has the count of the whole connection.
    """
    if "data_drops" not in run.column_names("flows"):
        return {}
    traffic, opened_by, lost = run.columns("flows", "traffic", "connection", "data_drops")
    left_out = np.zeros(len(keep), bool)
    left_out[opened_by[~keep].astype(np.int64)] = True
    found: dict[str, float | None] = {}
    for label, mine in workloads.split(run, traffic[keep]):
        connections = distinct(opened_by[keep][mine].astype(np.int64))
        whole = not (left_out[connections] & (lost[connections] > 0)).any()
        found[Key("data_drops", **label)] = int(lost[connections].sum()) if whole else None
    return found
