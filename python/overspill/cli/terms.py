"""Words of the field that are no name of anything here: what they mean, and what counts and sets it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from overspill.results import metrics


@dataclass(frozen=True)
class Term:
    """What a word means, the metrics and parameters that are of it, and the kinds that are one."""

    words: tuple[str, ...]
    text: str
    metrics: tuple[str, ...] = ()  # by the beginning of their names
    parameters: tuple[
        str, ...
    ] = ()  # `min_rto`, or `host.reaction.target` where others have one of that name
    kinds: tuple[str, ...] = ()  # `newreno`, or `host.reaction.qcn` where several have that name
    page: str = ""  # in `docs/mechanisms`


TERMS = (
    Term(
        ("FCT", "flow completion time"),
        "Flow completion time: from when the first byte of a flow is handed to its transport to when its "
        "last byte is at the receiver, or as `measure.fct_end` says, acknowledged at the sender.",
        ("fct_",),
        ("fct_end",),
    ),
    Term(
        ("QCT", "query completion time"),
        "Query completion time: from when the first message of a query starts to when the last byte of "
        "its last one has arrived.",
        ("qct_",),
    ),
    Term(
        ("slowdown",),
        "FCT over the FCT that the same flow has alone in the network, headers and all: 1 is the best "
        "there is.",
        ("slowdown_",),
    ),
    Term(
        ("RTO", "RTOs", "retransmission timeout", "retransmission timeouts"),
        "Retransmission timeout: the time without an acknowledgement after which a sender takes what is "
        "on its way for lost and sends it again (RFC 6298). Each expiry of that timer is one RTO.",
        ("timeouts",),
        ("min_rto", "initial_rto", "rto"),
    ),
    Term(
        ("TCP",),
        "The transport of most flows: a window, acknowledgements, retransmissions. Its kinds differ in "
        "how they find and repair losses, and in what they do about marks.",
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
        "Congestion notification message (IEEE 802.1Qau): a frame of 64 B by which a congestion point tells "
        "the source of a flow how congested it is. It says a feedback of six bits, 1 to 63, of which 63 is "
        "the strongest; how many bytes are in the memory above its set point (q_off), and how many more than "
        "at the last sample (q_delta). It leaves before data, and is never paused. `overspill trace SCENARIO "
        "--packet first_cnm` follows the first one.",
        ("cnm",),
        ("notices",),
        ("switch.notify.qcn", "host.reaction.qcn"),
        "qcn.md",
    ),
    Term(
        ("CNP", "congestion notification packet", "congestion notification packets"),
        "Congestion notification packet (DCQCN): a frame of 64 B by which the receiver of a flow tells its "
        "source that a packet came marked, one in each `cnp_interval` at most. It leaves before data, and is "
        "never paused. The table `notices` has it with a feedback of 0.",
        ("cnps",),
        ("notices", "cnp_interval"),
        ("host.reaction.dcqcn",),
        "dcqcn.md",
    ),
    Term(
        ("q_off",),
        "How far the memory that a congestion point samples is above its set point: q - Q_eq, below 0 where "
        "less is there (IEEE 802.1Qau §30-33; QCN-OS §II-C). A CNM says it in units of 64 B; the table "
        "`notices` has it in bytes. With w times q_delta it makes the feedback.",
        ("cnm",),
        ("notices", "q_eq"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("q_delta",),
        "How much the memory that a congestion point samples has grown since its last sample, below 0 where "
        "it shrank (IEEE 802.1Qau §30-33; QCN-OS §II-C). A CNM says it in units of 64 B; the table `notices` "
        "has it in bytes. It counts w times in the feedback, beside q_off.",
        ("cnm",),
        ("notices", "w"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("CIOQ", "combined input and output queueing"),
        'What a switch with `model = "cioq"` does: a frame waits in the memory of the input that it came in '
        "by, in a virtual output queue, crosses when the arbiter of its output takes it, and then waits at "
        "the output (QCN-OS §IV).",
        ("input_bytes",),
        ("model", "input_buffer", "speedup", "inputs"),
        ("switch.arbiter.round_robin", "switch.arbiter.oldest_first"),
        "cioq.md",
    ),
    Term(
        ("VOQ", "VOQs", "virtual output queue", "virtual output queues"),
        "Virtual output queue: at an input of a `cioq` switch the frames for one output, first in, first "
        "out, one queue for each output, class and lane. Those of an input share its memory, so a frame for "
        "an idle output never waits for one for a congested output.",
        ("input_bytes",),
        ("model", "input_buffer", "inputs"),
        ("switch.arbiter.round_robin", "switch.arbiter.oldest_first"),
        "cioq.md",
    ),
    Term(
        ("saturation tree", "internal blocking", "multi-stage fabric"),
        "Where a link has less than what is sent to it and nothing may be lost, the buffers behind it fill "
        "and stop those behind them, hop by hop, by PAUSE between switches or by flow control inside one of "
        "several stages; flows that never cross that link are held up too (QCN-OS §V).",
        ("saturation_trees", "internal_link", "link_buffer_bytes", "stage_buffer_bytes"),
        ("model", "link_rate", "link_buffer", "stage_buffer", "lists", "end_to_end"),
        ("switch.fabric.mesh", "switch.fabric.folded_clos"),
        "fabric.md",
    ),
    Term(
        ("congestion point", "congestion points", "sampling interval"),
        "What samples the memory of a port, each time so many bytes have come, and tells the source of a "
        "culprit flow by a CNM (IEEE 802.1Qau; QCN-OS §III). One for each port that has `switch.notify`.",
        ("cnm",),
        ("q_eq", "w", "culprit", "keep_alive"),
        ("switch.notify.qcn",),
        "qcn.md",
    ),
    Term(
        ("reaction point", "reaction points", "RP", "rate limiter", "rate limiters"),
        "What a host has for a flow that it was told of by CNMs (IEEE 802.1Qau): a rate limiter at the NIC. "
        "Each message cuts its rate; a byte counter and a timer raise it again, until it is that of the link "
        "and the limiter goes. `host.reaction`, beside a NIC with a queue for each flow.",
        ("rate_limit",),
        ("rate_limits", "byte_counter", "r_ai", "r_hai", "host.reaction.target"),
        ("host.reaction.qcn", "host.nic.round_robin"),
        "qcn.md",
    ),
    Term(
        ("censored", "right-censored", "lower bound"),
        "Of a flow that did not finish before the run ended only a lower bound of its FCT is known. A "
        "value that depends on such flows is a lower bound too and is printed `> x`; it has no interval, "
        "and no variant is called best. `measure.drain` gives flows longer to finish.",
        ("unfinished_flows",),
        ("drain", "allow_unfinished"),
    ),
    Term(
        ("retransmission", "retransmissions"),
        "A segment that is sent again, after a timeout or after reports that later ones have arrived. "
        "With `sack` about as many as were lost; with `reno` and `newreno` more.",
        ("retransmits", "fast_retransmits", "timeouts"),
        ("dupack_threshold",),
    ),
    Term(
        ("percentile", "p50", "p95", "p99", "p99.9", "median"),
        "The p-th percentile of n samples is the k-th smallest, k the smallest whole number with k/n ≥ "
        "p/100: at least p % of all samples are at or below it, and nothing is interpolated. Taken in "
        "each seed; tables show the mean over seeds.",
    ),
    Term(
        ("mean",),
        "The sum over the number. Tables show the mean over seeds; `FCT mean` is the mean over seeds of "
        "each seed's mean over flows.",
    ),
    Term(
        ("override", "overrides", "[[override]]"),
        "What some ports, switches or hosts have in place of what all have: `where` names them, and `switch` "
        "or, of hosts, `transport` is laid upon `[switch]` or `[transport]`, as a variant is upon the file.",
        (),
        tuple(f"override.where.{one}" for one in ("tier", "node", "port", "rate", "hosts")),
    ),
    Term(
        ("phase effect", "phase effects", "in step", "check-phase", "--check-phase"),
        "Frames of several senders reach a full queue in the same order again and again, since rates and "
        "starts are exactly equal: one finds room every time, another never (Floyd and Jacobson 1992). "
        "`overspill run --check-phase` moves all starts by less than the time of a frame and names the "
        "metrics that move by more than their interval. What stays locked wherever starts are, another "
        "`host.nic_jitter` and hosts of today (`linux`) tell.",
        ("jain", "flow_goodput_min"),
        ("jitter", "nic_jitter"),
    ),
    Term(("pkt",), "Packets of whatever size: a unit of counts, of buffers and of thresholds (`100pkt`)."),
)
BY_WORD = {word.casefold(): term for term in TERMS for word in term.words}


def explained(word: str, specs: Sequence[dict[str, Any]]) -> str | None:
    """What a word means, with what is counted and set by it; nothing where it is no word of the field."""
    term = BY_WORD.get(word.strip().casefold())
    if term is None:
        return None
    lines = [f"{term.words[0]}: {term.text}"]
    kinds = [(name, one["doc"]) for one in specs for name in names(one) if name in term.kinds]
    lines += listed("kinds", kinds)
    lines += listed(
        "metrics", [(one.name, headed(one)) for one in metrics.ALL if one.name.startswith(term.metrics)]
    )
    lines += listed("settings", [(name.rpartition(".")[2], owners(name, specs)) for name in term.parameters])
    lines += listed("page", [(f"docs/mechanisms/{term.page}", "")] if term.page else [])
    return "\n".join(lines)


def names(spec: dict[str, Any]) -> list[str]:
    """What a kind is called, alone and with its slot; nothing where an entry is none."""
    return [spec["kind"], f"{spec['slot']}.{spec['kind']}"] if spec["kind"] else []


def titled(word: str) -> metrics.Metric | str | None:
    """The metric in whose title these words stand, or a list of those that have them."""
    wanted = plain(word)
    found = [one for one in metrics.ALL if wanted.strip() and wanted in plain(one.title)]
    if len(found) < 2:
        return found[0] if found else None
    return "\n".join(
        [f"{word}: in several metrics", *listed("metrics", [(one.name, headed(one)) for one in found])]
    )


def plain(text: str) -> str:
    """Words alone, with a blank on either side of each."""
    letters = "".join(letter if letter.isalnum() or letter in ".'" else " " for letter in text.casefold())
    return f" {' '.join(letters.split())} "


def headed(metric: metrics.Metric) -> str:
    """A metric by its title and unit."""
    return metric.title if metric.unit == "1" else f"{metric.title}, in {metric.unit}"


def owners(name: str, specs: Sequence[dict[str, Any]]) -> str:
    """What has a parameter, or only those of the slot that stands before its name."""
    slot, _, bare = name.rpartition(".")
    every = (
        spec
        for spec in specs
        if slot in ("", spec["slot"]) and any(one["name"] == bare for one in spec["params"])
    )
    return "of " + ", ".join(dict.fromkeys(f"{one['slot']} {one['kind']}".strip() for one in every))


def listed(title: str, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Names with what they are, under a title; nothing where there are none."""
    wide = max((len(name) for name, _ in pairs), default=0)
    return [f"  {title}", *(f"    {name:{wide}}  {what}".rstrip() for name, what in pairs)] if pairs else []
