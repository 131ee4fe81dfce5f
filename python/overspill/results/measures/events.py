"""Counts of switches, hosts and senders: drops, marks, detours, bounces, retransmissions."""

import numpy as np

from overspill.results.columns import distinct_values
from overspill.results.measures import workloads
from overspill.results.measures.declare import WINDOW_SCOPE_NOTE, Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.names import DROP_REASONS, FRAME_OUTCOMES
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

LINK_LOSS_REASONS = ("link_down", "link_loss", "corrupted")  # lost on a link, or waiting for one that is down
FLOWS_FORMULA = "Σ over measured flows"
BY_WORKLOAD_NOTE = "Also by workload if there are several."

DROP_METRICS = [
    Metric(
        "drops",
        "drops",
        "packets",
        f"Frames lost at switches and hosts. {WINDOW_SCOPE_NOTE} {BY_WORKLOAD_NOTE}",
        "lower",
        formula="Σ drops over ports and reasons",
    ),
    Metric(
        "drop_ratio",
        "drops per frame sent",
        "1",
        "Frames lost, divided by the frames that hosts sent, including ACKs and retransmissions. "
        f"{WINDOW_SCOPE_NOTE}",
        "lower",
        formula="drops / Σ frames sent by hosts",
    ),
    *(
        Metric(
            f"drops_by_{part}",
            "drops",
            "packets",
            f"Frames lost, by {words}. {WINDOW_SCOPE_NOTE}",
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
            f"{doc} {WINDOW_SCOPE_NOTE} {BY_WORKLOAD_NOTE}",
            zero_shown=False,
            formula=f"Σ {name} over ports",
        )
        for name, title, doc in (
            ("marks", "ECN marks", "Number of congestion marks that were set."),
            ("detours", "detours", "Number of detours of frames."),
            ("bounces", "bounces", "Number of bounces of frames."),
        )
    ),
    Metric(
        "trims",
        "cut packets",
        "packets",
        "Number of packets that were cut to their headers, including those lost afterwards. "
        f"{WINDOW_SCOPE_NOTE} "
        f"{BY_WORKLOAD_NOTE}",
        zero_shown=False,
        formula="Σ trims over ports",
    ),
    Metric(
        "returned",
        "returned headers",
        "packets",
        "Headers that did not fit and were returned to their source, if a switch returns headers. "
        f"{WINDOW_SCOPE_NOTE}",
        zero_shown=False,
        formula="Σ returned over ports of hosts",
    ),
    Metric(
        "bounces_by_tier",
        "bounces",
        "packets",
        f"Number of bounces of frames, by tier of the switch. {WINDOW_SCOPE_NOTE}",
        zero_shown=False,
        formula="Σ bounces over ports with the same tier",
    ),
]
DATA_DROPS_METRIC = Metric(
    "data_drops",
    "data drops, measured flows",
    "packets",
    "Data packets of measured flows that were lost in the whole run, including the drain. A packet that "
    "was cut before the loss counts. Retransmissions count over the same time; `drops` counts all "
    "traffic in the measurement window.",
    "lower",
    formula=f"{FLOWS_FORMULA} of lost data packets",
)
SENDER_METRICS = [
    Metric(
        "retransmits",
        "retransmissions, measured flows",
        "packets",
        "Segments of measured flows that senders retransmitted.",
        "lower",
        formula=f"{FLOWS_FORMULA} of retransmitted segments",
    ),
    Metric(
        "fast_retransmits",
        "fast retransmits, measured flows",
        "events",
        "Recoveries of measured flows that began with duplicate ACKs or loss reports, before the timer "
        "expired.",
        "lower",
        zero_shown=False,
        formula=f"{FLOWS_FORMULA} of recoveries that began with duplicate ACKs or loss reports",
    ),
    Metric(
        "timeouts",
        "RTOs, measured flows",
        "events",
        "Retransmission timeouts of measured flows.",
        "lower",
        formula=f"{FLOWS_FORMULA} of expiries of the timer",
    ),
    Metric(
        "ece_acks",
        "marked ACKs",
        "packets",
        "ACKs with ECN-Echo for measured flows.",
        formula=f"{FLOWS_FORMULA} of ACKs with ECN-Echo",
    ),
    Metric(
        "packs",
        "PACKs",
        "packets",
        "PACKs that senders of measured flows received, with `transport.pack` (CP §4.3). PACKs count "
        "over the life of a flow, cut packets only in the window: a short window has more PACKs than "
        "cuts.",
        "lower",
        zero_shown=False,
        formula=f"{FLOWS_FORMULA} of PACKs",
    ),
    Metric(
        "tlp_probes",
        "tail loss probes",
        "packets",
        "Tail loss probes of measured flows: segments that senders sent because no ACK came for two "
        "round trips (RACK-TLP).",
        zero_shown=False,
        formula=f"{FLOWS_FORMULA} of probes (RFC 8985 §7)",
    ),
    Metric(
        "undos",
        "undone recoveries",
        "events",
        "Spurious recoveries and timeouts of measured flows that senders undid, with RACK-TLP or with "
        "hosts of 2011 (`linux_2_6_38`).",
        "lower",
        zero_shown=False,
        formula=f"{FLOWS_FORMULA} of recoveries and timeouts that F-RTO, timestamps or DSACKs undid",
    ),
]


def measure_counters(run: RunData) -> dict[Key, Value]:
    """Measures drops by reason and tier, marks, detours, bounces, and the counts of senders."""
    counted = measure_drops(run) | measure_port_counters(run)
    # Events without rows in `fates` are from a run that did not distinguish workloads: their numbers by
    # workload are unknown, not 0.
    if run.recorded("fates") or not any(counted.values()):
        counted |= measure_workload_events(run)
    return without_missing_values(counted | measure_senders(run))


# Metrics of ports and their columns; `trimmed` exists if some switch trims packets, `returned` if one sends
# headers back.
PORT_COUNTERS = (
    ("marks", "marked"),
    ("detours", "detoured"),
    ("bounces", "bounced"),
    ("trims", "trimmed"),
    ("returned", "returned"),
)


def has_window_counts(run: RunData) -> bool:
    """Returns true if the run reached its measurement window, so that ports counted events."""
    return run.recorded("ports") and run.window_ps[1] > run.window_ps[0]


def measure_drops(run: RunData) -> dict[str, float | None]:
    """Measures drops by reason and tier; empty if no reason was counted."""
    known = run.column_names("ports")
    columns = {reason: f"drop_{reason}" for reason in DROP_REASONS if f"drop_{reason}" in known}
    if not columns or not has_window_counts(run):
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


def measure_port_counters(run: RunData) -> dict[str, float | None]:
    """Measures marks, detours, bounces, trims and returned headers at ports, and bounces by tier."""
    found: dict[str, float | None] = {}
    known = run.column_names("ports")
    if not has_window_counts(run):
        return found
    for name, column in PORT_COUNTERS:
        if column in known:
            found[name] = int(run.column("ports", column).sum())
    if "bounced" in known:
        node, back = run.columns("ports", "node", "bounced")
        for tier in dict.fromkeys(run.tiers[~run.is_host]):
            found[Key("bounces", tier=tier)] = int(back[run.tiers[node] == tier].sum())
    return found


def measure_workload_events(run: RunData) -> dict[str, float | None]:
    """Measures drops, marks, detours, bounces, trims and CNMs of each of several workloads, 0 without any."""
    found: dict[str, float | None] = {}
    if "fates" not in run.names or not has_window_counts(run) or len(run.summary["traffic"]) < 2:
        return found
    traffic, kind, count = run.columns("fates", "traffic", "kind", "count")
    known = run.column_names("ports")
    for which, name in enumerate(FRAME_OUTCOMES):
        # No metric, not 0, if no switch can trim. Also none for older results with trims, which do not know
        # the workload of a trimmed packet.
        if name == "trims":
            cut = run.column("ports", "trimmed") if "trimmed" in known else None
            if cut is None or (cut.any() and not (kind == which).any()):
                continue
        if name == "cnms" and not run.recorded("congestion_points"):
            continue
        for workload in range(len(run.summary["traffic"])):
            mine = (kind == which) & (traffic == workload)
            found[Key(name, **workloads.workload_label(run, workload))] = int(count[mine].sum())
    return found


def measure_senders(run: RunData) -> dict[str, float | None]:
    """Measures counts of the senders of measured flows, also by workload; raw packets are never resent."""
    measured, raw, traffic = run.columns("flows", "measured", "raw", "traffic")
    keep = (measured != 0) & (raw == 0)
    known = run.column_names("flows")
    counts = {one.name: run.column("flows", one.name)[keep] for one in SENDER_METRICS if one.name in known}
    found = {
        Key(name, **label): int(column[mine].sum())
        for label, mine in workloads.split_by_workload(run, traffic[keep])
        for name, column in counts.items()
    }
    return measure_data_drops(run, keep) | found


def measure_data_drops(run: RunData, keep: np.ndarray) -> dict[str, float | None]:
    """Measures lost data of the flows to `keep`; no value if they are only some messages of a connection.

    The flow that opened a connection has the count of the whole connection.
    """
    if "data_drops" not in run.column_names("flows"):
        return {}
    traffic, opened_by, lost = run.columns("flows", "traffic", "connection", "data_drops")
    left_out = np.zeros(len(keep), bool)
    left_out[opened_by[~keep].astype(np.int64)] = True
    found: dict[str, float | None] = {}
    for label, mine in workloads.split_by_workload(run, traffic[keep]):
        connections = distinct_values(opened_by[keep][mine].astype(np.int64))
        whole = not (left_out[connections] & (lost[connections] > 0)).any()
        found[Key("data_drops", **label)] = int(lost[connections].sum()) if whole else None
    return found
