"""Terms of the field that are no names in this project: meanings, metrics and settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overspill.results import metrics


@dataclass(frozen=True)
class Term:
    """Term of the field: its meaning, the metrics and parameters that concern it, and its kinds."""

    words: tuple[str, ...]
    meaning: str
    metrics: tuple[str, ...] = ()  # prefixes of names
    parameters: tuple[str, ...] = ()  # `min_rto`, or `host.reaction.target` if the name is ambiguous
    kinds: tuple[str, ...] = ()  # `newreno`, or `host.reaction.qcn` if the name is ambiguous
    page: str = ""  # file in `docs/mechanisms`


TERMS = (
    Term(
        ("FCT", "flow completion time"),
        "Flow completion time: from the hand-over of a flow's first byte to its transport until its last "
        "byte is at the receiver, or acknowledged at the sender (`measure.fct_end`).",
        ("fct_",),
        ("fct_end",),
    ),
    Term(
        ("QCT", "query completion time"),
        "Query completion time: from the start of the first message of a query until the last byte of "
        "its last message has arrived.",
        ("qct_",),
    ),
    Term(
        ("slowdown",),
        "FCT divided by the FCT of the same flow alone in the network, headers included. The smallest "
        "possible value is 1.",
        ("slowdown_",),
    ),
    Term(
        ("RTO", "RTOs", "retransmission timeout", "retransmission timeouts"),
        "Retransmission timeout: time without an acknowledgement after which a sender considers data in "
        "flight lost and retransmits the data (RFC 6298). Each expiry of the timer is one RTO.",
        ("timeouts",),
        ("min_rto", "initial_rto", "rto"),
    ),
    Term(
        ("TCP",),
        "Transport of most flows, with a window, acknowledgements and retransmissions. Its kinds differ "
        "in loss detection and recovery, and in their reaction to marks.",
        ("retransmits", "fast_retransmits", "timeouts", "ece_acks"),
        (),
        (
            "linux",
            "linux_dctcp",
            "linux_2_6_38",
            "linux_2_6_38_dctcp",
            "reno",
            "newreno",
            "sack",
            "cubic",
            "dctcp",
        ),
    ),
    Term(
        ("CNM", "CNMs", "congestion notification message", "congestion notification messages", "first_cnm"),
        "Congestion notification message (IEEE 802.1Qau): a frame of 64 B by which a congestion point "
        "informs the source of a flow about its congestion. It carries a feedback of six bits, from 1 to "
        "63, of which 63 is the strongest. It also carries the bytes in the memory above its set point "
        "(q_off), and their increase since the last sample (q_delta). It leaves before data and is never "
        "paused. `overspill trace SCENARIO --packet first_cnm` follows the first one.",
        ("cnm",),
        ("notices",),
        ("switch.notify.qcn", "host.reaction.qcn"),
        "qcn.md",
    ),
    Term(
        ("CNP", "congestion notification packet", "congestion notification packets"),
        "Congestion notification packet (DCQCN): a frame of 64 B by which the receiver of a flow informs "
        "its source about a marked packet, at most once in each `cnp_interval`. It leaves before data "
        "and is never paused. Its feedback in the table `notices` is 0.",
        ("cnps",),
        ("notices", "cnp_interval"),
        ("host.reaction.dcqcn",),
        "dcqcn.md",
    ),
    Term(
        ("q_off",),
        "Bytes in the memory that a congestion point samples above its set point: q - Q_eq, negative "
        "below it (IEEE 802.1Qau §30-33; QCN-OS §II-C). A CNM carries it in units of 64 B; the table "
        "`notices` has it in bytes. The feedback is computed from q_off and w times q_delta.",
        ("cnm",),
        ("notices", "q_eq"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("q_delta",),
        "Growth in bytes of the memory that a congestion point samples since its last sample, negative "
        "if it shrank (IEEE 802.1Qau §30-33; QCN-OS §II-C). A CNM carries it in units of 64 B; the table "
        "`notices` has it in bytes. Its weight in the feedback is w, beside q_off.",
        ("cnm",),
        ("notices", "w"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("CIOQ", "combined input and output queueing"),
        "Model `cioq` of a switch: a frame waits in the memory of its input in a virtual output queue, "
        "crosses when the arbiter of its output selects it, and then waits at the output (QCN-OS §IV).",
        ("input_bytes",),
        ("model", "input_buffer", "speedup", "inputs"),
        ("switch.arbiter.round_robin", "switch.arbiter.oldest_first"),
        "cioq.md",
    ),
    Term(
        ("VOQ", "VOQs", "virtual output queue", "virtual output queues"),
        "Virtual output queue: FIFO queue at an input of a `cioq` switch for the frames of one output, "
        "class and lane. The queues of an input share its memory. A frame for an idle output never waits "
        "for one for a congested output.",
        ("input_bytes",),
        ("model", "input_buffer", "inputs"),
        ("switch.arbiter.round_robin", "switch.arbiter.oldest_first"),
        "cioq.md",
    ),
    Term(
        ("saturation tree", "internal blocking", "multi-stage fabric"),
        "If a link cannot carry all arriving traffic and nothing may be lost, buffers upstream fill hop "
        "by hop. Each one stops those behind it, by PAUSE between switches or by flow control between "
        "the stages of a switch. Flows that never use the link are delayed as well (QCN-OS §V).",
        ("saturation_trees", "internal_link", "link_buffer_bytes", "stage_buffer_bytes"),
        ("model", "link_rate", "link_buffer", "stage_buffer", "lists", "end_to_end"),
        ("switch.fabric.mesh", "switch.fabric.folded_clos"),
        "fabric.md",
    ),
    Term(
        ("congestion point", "congestion points", "sampling interval"),
        "Mechanism that samples the memory of a port, each time after a number of bytes has arrived, and "
        "informs the source of a culprit flow by a CNM (IEEE 802.1Qau; QCN-OS §III). Each port with "
        "`switch.notify` has one.",
        ("cnm",),
        ("q_eq", "w", "culprit", "keep_alive"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("reaction point", "reaction points", "RP", "rate limiter", "rate limiters"),
        "Rate limiter at the NIC of a host, for a flow about which CNMs have arrived (IEEE 802.1Qau). "
        "Each message reduces its rate. A byte counter and a timer increase the rate until it is that of "
        "the link, and the limiter is removed. It is set by `host.reaction`, with a NIC that has a queue "
        "for each flow.",
        ("rate_limit",),
        ("rate_limits", "byte_counter", "r_ai", "r_hai", "host.reaction.target"),
        ("host.reaction.qcn", "host.nic.round_robin"),
        "qcn.md",
    ),
    Term(
        ("censored", "right-censored", "lower bound"),
        "Value of which only a lower limit is known, printed `> x`. Examples are the FCT of a flow that did "
        "not finish before the run ended, and every value that depends on this FCT. A lower bound has no "
        "interval, and no variant is called best. A longer `measure.drain` gives flows more time.",
        ("unfinished_flows",),
        ("drain", "allow_unfinished"),
    ),
    Term(
        ("retransmission", "retransmissions"),
        "Segment that a sender sends again, after a timeout or after reports that later segments have "
        "arrived. With `sack` there are about as many as losses; with `reno` and `newreno` more.",
        ("retransmits", "fast_retransmits", "timeouts"),
        ("dupack_threshold",),
    ),
    Term(
        ("percentile", "p50", "p95", "p99", "p99.9", "median"),
        "The p-th percentile of n samples is the k-th smallest, where k is the smallest whole number "
        "with k/n ≥ p/100. At least p% of all samples are at or below it, and nothing is interpolated. "
        "It is taken in each seed; tables show the mean over seeds.",
    ),
    Term(
        ("mean",),
        "Sum of values divided by their number. Tables show the mean over seeds; `FCT mean` is the mean "
        "over seeds of each seed's mean over flows.",
    ),
    Term(
        ("override", "overrides", "[[override]]"),
        "Settings of some ports, switches or hosts that replace the common ones. `where` selects the "
        "nodes or ports. The table `switch`, or `transport` for hosts, is merged into `[switch]` or "
        "`[transport]`, as a variant is merged into the file.",
        (),
        tuple(f"override.where.{one}" for one in ("tier", "node", "port", "rate", "hosts")),
    ),
    Term(
        ("phase effect", "phase effects", "phase-locked", "in step", "check-phase", "--check-phase"),
        "Frames of several senders are phase-locked: they reach a full queue in the same order again and "
        "again, since rates and starts are exactly equal. One frame always finds free buffer space, "
        "another never (Floyd and Jacobson 1992). `overspill run --check-phase` moves all starts by less "
        "than the time of a frame and names the metrics that change by more than their interval. Flows "
        "that are locked at any start are revealed by another `host.nic_jitter` or by modern Linux hosts "
        "(`linux`).",
        ("jain", "flow_goodput_min"),
        ("jitter", "nic_jitter"),
    ),
    Term(
        ("packet-hop", "packet-hops", "packet hop", "packet hops"),
        "One packet, data or ACK, that crosses one link. The line `simulated` has the number of packet-hops "
        "of all runs, a measure of their work.",
    ),
    Term(
        ("Holm", "Holm's method", "Holm correction", "Holm-corrected"),
        "Correction of intervals for several comparisons (Holm 1979). The best variant of a row is compared "
        "with every other. With m comparisons left, the next interval has a confidence of 1 − 0.05/m. All "
        "comparisons of a row together then have a confidence of 95%.",
    ),
    Term(
        ("PG", "PGs", "priority group", "priority groups"),
        "Priority group: the frames of an input port for which a switch counts bytes together, as SONiC and "
        "SAI name it. In Overspill, each class of a port is such a group with `pfc`, and the whole port "
        "with `pause`.",
        ("pauses", "paused_fraction"),
        ("xoff", "xon", "classes"),
        ("switch.pause.pfc", "switch.pause.pause"),
        "pause.md",
    ),
    Term(
        ("MMU", "memory management unit"),
        "Memory management unit of a switch chip: it divides the packet buffer between ports, and decides "
        "if an arriving packet is stored. In Overspill, `switch.buffer` is the memory, `switch.overflow` "
        "decides about a packet that does not fit, and `switch.pause` about pauses.",
        ("port_bytes_max",),
        ("switch.buffer.size", "switch.buffer.alpha", "switch.buffer.reserved"),
        ("switch.buffer.per_port", "switch.buffer.shared"),
        "buffer.md",
    ),
    Term(
        ("memory", "switch memory"),
        "Memory of a switch, `switch.buffer`. `overspill explain memory SCENARIO` prints how many packets a "
        "switch stores until a mark, a pause and a loss, by closed form and by running the dataplane. "
        "Options: `--size 64B`, `--groups N` (congested groups or queues), `--class`, `--port`, `--egress`, "
        "`--switch`, `--variant`, `--set` and `--json`. `docs/howto/switch_memory.md` has an example.",
        ("input_bytes_", "port_bytes_max"),
        (),
        ("switch.buffer.pools", "switch.buffer.per_port", "switch.buffer.shared"),
        "memory.md",
    ),
    Term(("pkt",), "Packets of any size: unit of counts, of buffers and of thresholds (`100pkt`)."),
)
TERM_OF_WORD = {word.casefold(): term for term in TERMS for word in term.words}


def explain_term(word: str, specs: Sequence[dict[str, Any]]) -> str | None:
    """Returns the meaning of a word, with its metrics and settings; `None` if it is no term."""
    term = TERM_OF_WORD.get(word.strip().casefold())
    if term is None:
        return None
    lines = [f"{term.words[0]}: {term.meaning}"]
    kinds = [(name, one["doc"]) for one in specs for name in entry_names(one) if name in term.kinds]
    lines += format_list("kinds", kinds)
    lines += format_list(
        "metrics",
        [
            (one.name, describe_metric(one))
            for one in metrics.ALL_METRICS
            if one.name.startswith(term.metrics)
        ],
    )
    lines += format_list(
        "settings", [(name.rpartition(".")[2], describe_owners(name, specs)) for name in term.parameters]
    )
    lines += format_list("page", [(f"docs/mechanisms/{term.page}", "")] if term.page else [])
    return "\n".join(lines)


def entry_names(spec: dict[str, Any]) -> list[str]:
    """Returns the names of an entry, alone and with its slot; empty for a table without kinds."""
    return [spec["kind"], f"{spec['slot']}.{spec['kind']}"] if spec["kind"] else []


def find_by_title(word: str) -> metrics.Metric | str | None:
    """Returns the metric whose title has these words, or a list of several as text; `None` without any."""
    wanted = pad_words(word)
    found = [one for one in metrics.ALL_METRICS if wanted.strip() and wanted in pad_words(one.title)]
    if len(found) < 2:
        return found[0] if found else None
    return "\n".join(
        [
            f"{word}: in several metrics",
            *format_list("metrics", [(one.name, describe_metric(one)) for one in found]),
        ]
    )


def pad_words(text: str) -> str:
    """Returns the words of a text in lower case, with a blank on either side of each."""
    letters = "".join(letter if letter.isalnum() or letter in ".'" else " " for letter in text.casefold())
    return f" {' '.join(letters.split())} "


def describe_metric(metric: metrics.Metric) -> str:
    """Describes a metric by its title and unit."""
    return metric.title if metric.unit == "1" else f"{metric.title}, in {metric.unit}"


def describe_owners(name: str, specs: Sequence[dict[str, Any]]) -> str:
    """Describes the entries that have a parameter, or only those of the slot given before its name."""
    slot, _, bare = name.rpartition(".")
    every = (
        spec
        for spec in specs
        if slot in ("", spec["slot"]) and any(one["name"] == bare for one in spec["params"])
    )
    return "of " + ", ".join(dict.fromkeys(f"{one['slot']} {one['kind']}".strip() for one in every))


def format_list(title: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Returns lines with a title, and names with their descriptions below; empty without names."""
    wide = max((len(name) for name, _ in pairs), default=0)
    return [f"  {title}", *(f"    {name:{wide}}  {what}".rstrip() for name, what in pairs)] if pairs else []
