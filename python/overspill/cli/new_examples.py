"""Values, and settings that mechanisms need, by which `overspill new` makes a scenario that shows an effect.

Names and descriptions come from the catalogue of the core. A name without an entry here gets values by their
type.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]
LINK: Settings = {"link.rate": "10Gbps", "link.delay": "1us"}
MOST_SENDERS = 24


@dataclass(frozen=True)
class Network:
    """Facts about a network that values of traffic depend on."""

    hosts: tuple[str, ...]
    has_loop: bool

    @property
    def receiver(self) -> str:
        """Name of the last host, which receives an incast; in a `chain_tree` it is at the last switch."""
        return self.hosts[-1]

    def senders(self, most: int = MOST_SENDERS) -> list[str]:
        """Returns the first hosts, at most `most`, without the receiver."""
        return list(self.hosts[:-1][:most])


@dataclass(frozen=True)
class Need:
    """Settings that a mechanism needs in a table to have an effect.

    An empty `kind` leaves the mechanism of the table as it is, and `beside` is the kind that the table must
    have. With `with_it`, the settings are part of the variant with the mechanism, and not of the baseline.
    """

    table: str
    kind: str
    settings: Settings
    why: str
    with_it: bool = False
    beside: str = ""
    only_if: Callable[[Network], bool] = field(default=lambda _: True)


# Networks of 8 to 64 hosts.
TOPOLOGIES: Mapping[str, Settings] = {
    "star": {"n": 17, **LINK},
    "dumbbell": {"n": 8, **LINK},
    "chain_tree": {"n": 16, **LINK},
    "leaf_spine": {"leaves": 4, "spines": 2, "hosts_per_leaf": 8, **LINK},
    "fat_tree": {"k": 4, **LINK},
    "hyperx": {"dims": [3, 3], "hosts_per_switch": 2, **LINK},
    "jellyfish": {"switches": 8, "degree": 3, "hosts_per_switch": 2, **LINK},
    "linear": {"switches": 3, "hosts_per_switch": 6, **LINK},
}

# Network of two racks and two paths, for topologies that are drawn node by node.
DRAWN_LINK = 'rate = "10Gbps", delay = "1us"'
DRAWN_HOSTS = {f"h{n}": "left" if n < 4 else "right" for n in range(8)}
DRAWN_NODES = (
    *(f'{{ name = "{host}", kind = "host" }}' for host in DRAWN_HOSTS),
    *(f'{{ name = "{name}", kind = "switch", tier = "leaf" }}' for name in ("left", "right")),
    *(f'{{ name = "{name}", kind = "switch", tier = "spine" }}' for name in ("upper", "lower")),
)


def drawn_links(weighted: bool) -> list[str]:
    """Returns the links of the drawn network; with weights, the upper path gets two thirds of the load."""
    links = [f'{{ a = "{host}", b = "{leaf}", {DRAWN_LINK} }}' for host, leaf in DRAWN_HOSTS.items()]
    for leaf in ("left", "right"):
        for spine, weight in (("upper", 2), ("lower", 1)):
            end = f", weight = {weight}" if weighted else ""
            links.append(f'{{ a = "{leaf}", b = "{spine}", {DRAWN_LINK}{end} }}')
    return links


# Kinds of traffic without a transport.
RAW_TRAFFIC = ("constant", "bursts")


def traffic_values(kind: str, network: Network) -> dict[str, Any]:
    """Returns the values of a kind of traffic in a network; empty for a kind without an example."""
    last, count = network.receiver, len(network.senders())
    values: dict[str, dict[str, Any]] = {
        "incast": {"senders": count, "receiver": last, "size": "64KB", "start": "1ms", "jitter": "10us"},
        "permutation": {"size": "1MB", "start": "1ms"},
        "all_to_all": {"size": "64KB", "start": "1ms"},
        "poisson": {"sizes": "web_search", "load.fraction": 0.2, "stop": "10ms"},
        "query": {"degree": count, "target": last, "response": "64KB", "start": "1ms"},
        "request_reply": {
            "clients": [last],
            "pairs": "all",
            "reply": "64KB",
            "requests": 2,
            "think": "1ms",
            "start": "1ms",
        },
        "all_reduce": {"size": "1MB", "start": "1ms"},
        "long_lived": {"sources": network.senders(4), "destination": last, "jitter": "10us"},
        "constant": {
            "sources": network.senders(3),
            "destination": last,
            "rate": "4Gbps",
            "ecn": True,
            "jitter": "10us",
        },
        "bursts": {
            "sources": network.senders(4),
            "destination": last,
            "packets": 100,
            "interval": "2us",
            "pause": "1ms",
            "jitter": "10us",
        },
    }
    return values.get(kind, {})


def second_class(network: Network) -> dict[str, Any]:
    """Returns the values of a small constant stream in class 1 to the same receiver."""
    return {"source": network.hosts[0], "destination": network.receiver, "rate": "1Gbps", "class": 1}


# RED of DCQCN: thresholds in proportion to the rate of the link, 160 and 640 KB at 40 Gb/s.
RED = {
    "min": "40KB",
    "max": "160KB",
    "max_p": 0.2,
    "weight": 1,
    "gentle": False,
    "gaps": "geometric",
    "not_ect": "pass",
}
XOFF = {"xoff": "15KB", "xon": "8KB"}

# Values of mechanisms that differ from the defaults, or that have no default.
VALUES: Mapping[str, Settings] = {
    "switch.buffer.per_port": {"size": "100pkt"},
    "switch.buffer.shared": {"size": "400KB"},
    "switch.buffer.pools": {
        "pools": {"out": {"side": "egress", "size": "400KB"}},
        "profiles": {
            "queue": {"pool": "out", "reserve": "3KB", "threshold": {"kind": "dynamic", "alpha": 1}},
        },
        "queues": [{"queue": list(range(8)), "profile": "queue"}],
    },
    "switch.overflow.bounce": {"bounce_size": "50pkt"},
    "switch.overflow.trim": {"extra": "4KB"},
    "switch.ack_hold.abq": {"capacity": "150KB"},
    "switch.pause.pause": XOFF,
    "switch.pause.pfc": {**XOFF, "classes": [0], "lossless": False},
    "switch.fabric.mesh": {"link_rate": "10Gbps"},
    "switch.fabric.folded_clos": {"link_rate": "10Gbps"},
    "switch.scheduler.round_robin": {"weights": [1, 3]},
    "switch.marking.ecn_threshold": {"k": "65pkt"},
    "switch.marking.red": {"min": "30pkt", "max": "90pkt"},
    "switch.marking.wred": {
        "queues": [{"queue": [0], "min": "40KB", "max": "160KB", "probability": 0.2}],
    },
}

# Reasons for some of these values, instead of the description of the parameter.
REASONS: Mapping[str, Mapping[str, str]] = {
    "switch.pause.pfc": {
        "classes": "Only frames of class 0 are paused. Without this key all classes are.",
        "lossless": "Allows losses: class 1 is not paused, and may take the memory that class 0 needs.",
    },
}

CLASSES = Need(
    "traffic", "constant", {"class": 1}, "Second class of traffic, so that classes make a difference."
)
ECN = Need("transport", "", {"ecn": True}, "Data is ECN-capable, so that switches can mark it.", with_it=True)
RANKS = Need(
    "transport",
    "",
    {"priority": "remaining"},
    "Packets carry the remaining bytes of their flow.",
    with_it=True,
)
MARKS = Need(
    "switch.marking",
    "ecn_threshold",
    {"k": "65pkt"},
    "Marks, to which these hosts react; without marks they are Reno.",
)
LONG_FLOWS = Need("traffic", "", {"size": "1MB"}, "Long flows: a rate changes only after some round trips.")
FLOW_QUEUES = Need("host.nic", "round_robin", {}, "A queue and a rate limit for each flow.")
PAUSE_SPACE = "Memory for the frames that arrive until a pause takes effect."
INPUTS = Need("switch", "", {"model": "cioq"}, "Frames wait at inputs, where the arbiter selects them.")


def per_port(size: str, why: str) -> Need:
    """Returns the need of a buffer with this memory for each port."""
    return Need("switch.buffer", "per_port", {"size": size}, why)


def less_buffer(size: str, why: str) -> Need:
    """Returns the need of a smaller buffer, so that both variants have equal memory."""
    return Need("switch.buffer", "", {"size": size}, why, with_it=True, beside="per_port")


NEEDS: Mapping[str, tuple[Need, ...]] = {
    "switch.fib.learning": (
        Need(
            "switch.fib",
            "",
            {"preset": "all"},
            "Frames for unknown addresses are flooded, and would circulate in a loop of switches.",
            only_if=lambda network: network.has_loop,
        ),
    ),
    "switch.overflow.trim": (
        per_port("154KB", "Memory in bytes, since a cut packet has fewer bytes."),
        less_buffer("150KB", "Cut packets have the other 4 KB (`extra`), so that the memory is equal."),
        Need(
            "transport",
            "",
            {"pack": True},
            "Senders mark data that may be cut, and receivers report cuts.",
            with_it=True,
        ),
    ),
    "switch.overflow.bounce": (less_buffer("50pkt", "The bounce queue has the other half of the memory."),),
    "switch.overflow.evict": (RANKS,),
    "switch.marking.ecn_threshold": (ECN,),
    "switch.marking.red": (ECN,),
    "switch.marking.wred": (ECN,),
    "switch.ack_hold.abq": (
        per_port("300KB", "Memory in bytes, of which queues of held ACKs have a half."),
        less_buffer("150KB", "At ports toward hosts, held ACKs have the other half (`capacity`)."),
        Need(
            "switch.marking", "ecn_threshold", {"k": "65pkt"}, "Marks; released ACKs also report congestion."
        ),
    ),
    "switch.notify.qcn": (
        Need("host.reaction", "qcn", {}, "Sources cut their rate at each message.", with_it=True),
        LONG_FLOWS,
    ),
    "switch.pause.pause": (per_port("400KB", PAUSE_SPACE),),
    "switch.pause.pfc": (per_port("400KB", PAUSE_SPACE), CLASSES),
    "switch.scheduler.fifo": (CLASSES,),
    "switch.scheduler.strict_priority": (CLASSES,),
    "switch.scheduler.round_robin": (CLASSES,),
    "switch.scheduler.srpt": (RANKS,),
    "switch.arbiter.round_robin": (INPUTS,),
    "switch.arbiter.oldest_first": (INPUTS,),
    "switch.fabric.mesh": (
        Need("switch", "", {"model": "fabric"}, "Only this model has stages.", with_it=True),
    ),
    "switch.fabric.folded_clos": (
        Need("switch", "", {"model": "fabric"}, "Only this model has stages.", with_it=True),
    ),
    "switch.model.cioq": (
        per_port("300KB", "Memory of a port, of which its input has a half in `cioq`."),
        less_buffer("150KB", "The input of the port has the other half (`input_buffer`)."),
    ),
    "switch.model.fabric": (
        Need("switch.fabric", "mesh", {"link_rate": "10Gbps"}, "Stages and their links.", with_it=True),
    ),
    "host.bounce_signal.window_cut": (
        Need("switch.overflow", "bounce", {}, "The signal concerns packets that come back."),
        LONG_FLOWS,
    ),
    "host.reaction.qcn": (
        Need("switch.notify", "qcn", {}, "Switches send the messages to which sources react.", with_it=True),
        LONG_FLOWS,
        FLOW_QUEUES,
    ),
    "host.reaction.dcqcn": (
        Need("transport", "roce", {}, "The reaction limits the rate of RoCE flows."),
        Need(
            "switch.marking",
            "red",
            RED,
            "RED as in DCQCN (Zhu et al., SIGCOMM 2015): marks depend on the instantaneous queue, in bytes. "
            "Thresholds are in proportion to the rate of the link: 160 and 640 KB at 40 Gb/s. Receivers "
            "report marked packets to sources.",
        ),
        LONG_FLOWS,
        FLOW_QUEUES,
    ),
    "transport.dctcp": (MARKS,),
    "transport.linux_dctcp": (MARKS,),
    "transport.linux_2_6_38_dctcp": (MARKS,),
    "transport.pfabric": (
        per_port("24pkt", "pFabric uses small buffers."),
        Need("switch.overflow", "evict", {}, "A full queue drops the packet with the most remaining bytes."),
        Need("switch.scheduler", "srpt", {}, "Ports send the flow with the fewest remaining bytes first."),
        Need("host.scheduler", "srpt", {}, "NICs send the flow with the fewest remaining bytes first."),
    ),
    "transport.roce": (
        FLOW_QUEUES,
        Need("switch.pause", "pfc", XOFF, "RoCE has no window: PFC pauses senders before packets are lost."),
        per_port("1MB", PAUSE_SPACE),
    ),
}

# Values of transports. Every other transport with `min_rto` has 10ms, as is usual in data centers. Hosts of
# 2011 delay ACKs by up to 40ms, and timeouts must be longer.
TRANSPORTS: Mapping[str, Settings] = {
    kind: {"min_rto": "50ms"} for kind in ("linux_2_6_38", "linux_2_6_38_dctcp")
}
MIN_RTO = {"min_rto": "10ms"}
