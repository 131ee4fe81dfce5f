"""Every metric: its name, unit and meaning, declared once for tables, JSON and `overspill explain`."""

from dataclasses import dataclass
from typing import Literal

from overspill import measures
from overspill.quantiles import PERCENTILES, Value
from overspill.rundata import RunData

Better = Literal["lower", "higher", "none"]


@dataclass(frozen=True)
class Metric:
    """A metric; `unit` is that of the JSON document, tables may scale it."""

    name: str
    title: str
    unit: str
    doc: str
    better: Better = "none"
    shown: bool = True  # in the table, where it has a value
    zero_shown: bool = True  # in the table, even where it is 0 for every variant


RANK = "Percentiles are by nearest rank: the smallest sample with at least p % of all samples at or below it."
BUCKET = "Given as the middle of its bucket, within 1 %."
CENSORED = (
    "Unfinished flows are right-censored: a value that depends on them is a lower bound, printed `> x`."
)
STATISTIC = {"mean": "mean", **PERCENTILES}


def family(name: str, metric: Metric, hidden: tuple[str, ...] = ()) -> list[Metric]:
    """A mean and its percentiles."""
    rows = []
    for part in STATISTIC:
        doc = f"{metric.doc} {RANK if part != 'mean' else ''} {CENSORED}".replace("  ", " ")
        title = f"{metric.title} {part}"
        rows.append(Metric(f"{name}_{part}", title, metric.unit, doc, metric.better, part not in hidden))
    return rows


PLACES = {
    "busiest": (
        "busiest queue",
        "at the busiest switch port",
        "Busiest is the port with the highest time-weighted mean in that run.",
    ),
    "all": ("all queues", "over all switch ports", "Every port has the same weight."),
}


def over_time(place: str, hidden: tuple[str, ...]) -> list[Metric]:
    """Queue occupancy at a place, over time and as arrivals see it."""
    title, where, note = PLACES[place]
    common = f"Frames that wait (the one on the wire excluded), {where}, in the measurement window;"
    rows = []
    for part in ("mean", "p50", "p99", "max"):
        name, doc = f"queue_{place}_{part}", f"{common} weighted by time. {RANK if part[0] == 'p' else note}"
        shown = part not in hidden
        rows.append(Metric(name, f"{title} {part}", "packets", doc.strip(), "lower", shown))
    for part in ("mean", "p50", "p99"):
        name, doc = f"queue_{place}_arrival_{part}", f"{common} as arriving frames find it."
        shown = part == "p99" and place == "busiest"
        rows.append(Metric(name, f"{title} {part} seen", "packets", doc, "lower", shown))
    return rows


FLOW = "of measured flows (those that start in the measurement window, raw sources excluded)."
WHOLE = "Counted in the measurement window, of all traffic."

ALL: list[Metric] = [
    *family(
        "fct",
        Metric("", "FCT", "s", f"Flow completion time {FLOW} It ends as `measure.fct_end` says.", "lower"),
    ),
    *family(
        "slowdown",
        Metric("", "slowdown", "1", f"FCT over the FCT of the same flow alone on its path, {FLOW}", "lower"),
        ("p50", "p95", "p99.9"),
    ),
    *family(
        "qct",
        Metric(
            "",
            "QCT",
            "s",
            f"Query completion time: first start to last end among a query's flows, {FLOW}",
            "lower",
        ),
        ("p95", "p99.9"),
    ),
    Metric(
        "unfinished_flows",
        "unfinished flows",
        "flows",
        "Measured flows that were not finished when the run ended.",
        "lower",
    ),
    Metric(
        "goodput",
        "goodput",
        "bit/s",
        "Payload bits that arrived for the first time at receivers in the measurement window, over its "
        "length: of all traffic, raw sources included, and of each entry where there are several.",
        "higher",
    ),
    Metric(
        "goodput_last",
        "goodput to the last byte",
        "bit/s",
        "Payload bits of measured flows over the time from the first start to the last end among them; no "
        "value where one is unfinished.",
        "higher",
    ),
    Metric(
        "throughput",
        "throughput (wire)",
        "bit/s",
        "Bits of the frames that hosts began to send in the measurement window over its length: headers, "
        "ACKs, retransmissions and Ethernet's cost on the wire included.",
    ),
    Metric(
        "load_asked",
        "load, as asked",
        "1",
        "Payload of an entry that arrived for the first time in the measurement window, over its length, as "
        "the fraction in whose terms the entry asks for a load: compare with `load asked`.",
    ),
    Metric(
        "load_payload",
        "load, payload",
        "1",
        "Payload that arrived for the first time in the measurement window, over its length, as a fraction "
        "of all hosts' links.",
    ),
    Metric(
        "load_wire",
        "load, wire",
        "1",
        "Bits that the links of this level carried in the measurement window, over its length and capacity: "
        "frames with preamble and gap whose transmission began in it, ACKs and retransmissions included, out "
        "of all hosts (`host`) or up from all switches with hosts (`tor_uplink`); or frames that hosts of "
        "the second half got from hosts of the first (`bisection`).",
    ),
    *over_time("busiest", ()),
    *over_time("all", ("p50", "max")),
    Metric("delay_mean", "packet delay mean", "s", "Delay of delivered data packets, host to host.", "lower"),
    Metric(
        "delay_p50",
        "packet delay p50",
        "s",
        f"The same. {RANK} Given as the middle of its bucket, within 1 %.",
        "lower",
    ),
    Metric(
        "delay_p99",
        "packet delay p99",
        "s",
        f"The same. {RANK} Given as the middle of its bucket, within 1 %.",
        "lower",
    ),
    Metric("hops_mean", "hops mean", "links", "Links that a delivered data packet crossed."),
    Metric("hops_max", "hops max", "links", "The most links that a delivered data packet crossed."),
    Metric("drops", "drops", "packets", f"Frames lost, at switches and hosts. {WHOLE}", "lower"),
    Metric(
        "drop_share",
        "drops per frame sent",
        "1",
        f"Frames lost over frames that hosts sent, ACKs and retransmissions included. {WHOLE}",
        "lower",
    ),
    Metric("drops_by_reason", "drops", "packets", f"Frames lost, by reason. {WHOLE}", "lower", True, False),
    Metric(
        "drops_by_tier",
        "drops",
        "packets",
        f"Frames lost, by tier of the node. {WHOLE}",
        "lower",
        True,
        False,
    ),
    Metric("marks", "ECN marks", "packets", f"Congestion marks set. {WHOLE}", "none", True, False),
    Metric("detours", "detours", "packets", f"Times a frame was detoured. {WHOLE}", "none", True, False),
    Metric("bounces", "bounces", "packets", f"Times a frame was bounced. {WHOLE}", "none", True, False),
    Metric(
        "detoured_share",
        "detoured at least once",
        "1",
        "Share of delivered data packets.",
        "none",
        True,
        False,
    ),
    Metric(
        "bounced_share",
        "bounced at least once",
        "1",
        "Share of delivered data packets.",
        "none",
        True,
        False,
    ),
    Metric("retransmits", "retransmissions, measured flows", "packets", "Of measured flows.", "lower"),
    Metric(
        "fast_retransmits",
        "fast retransmits, measured flows",
        "events",
        "Of measured flows.",
        "lower",
        True,
        False,
    ),
    Metric(
        "timeouts", "RTOs, measured flows", "events", "Retransmission timeouts, of measured flows.", "lower"
    ),
    Metric("marked_acks", "marked ACKs", "packets", "ACKs with ECN-Echo, of measured flows.", "none", False),
]
REGISTRY: dict[str, Metric] = {metric.name: metric for metric in ALL}
# Of a breakdown by traffic entry or size, only these go to the table; JSON has all.
BREAKDOWN_SHOWN = ("fct_mean", "fct_p99")


def base(key: str) -> str:
    """`fct_p99[size=0-100KB]` is the metric `fct_p99`; `drops[reason=..]` is `drops_by_reason`."""
    name, bracket, label = key.partition("[")
    if bracket and name == "drops":
        return f"drops_by_{label.partition('=')[0]}"
    return name


def find(key: str) -> Metric:
    """The metric of a value's key, titled with what it is restricted to."""
    metric = REGISTRY[base(key)]
    _, bracket, label = key.partition("[")
    if not bracket:
        return metric
    shown = metric.shown and (
        not metric.name.startswith(("fct", "slowdown")) or metric.name in BREAKDOWN_SHOWN
    )
    which = label.removesuffix("]").partition("=")[2]
    return Metric(
        key, f"{metric.title} [{which}]", metric.unit, metric.doc, metric.better, shown, metric.zero_shown
    )


def measure(run: RunData) -> dict[str, Value]:
    """Every metric that this run has a value of, in the order of the registry."""
    found: dict[str, Value] = {}
    for part in (
        measures.flows,
        measures.queries,
        measures.goodput,
        measures.load,
        measures.queues,
        measures.packets,
    ):
        found.update(part(run))
    found.update(measures.counters(run))
    order = {name: index for index, name in enumerate(REGISTRY)}
    return dict(sorted(found.items(), key=lambda item: order[base(item[0])]))
