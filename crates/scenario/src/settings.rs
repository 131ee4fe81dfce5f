//! Declarations of a scenario's fixed tables, in the form of mechanisms' declarations, so that checks, schema, help and
//! documentation have one source.
//!
//! A default that is a word and no value (`unlimited`, `duration`) describes what happens without the key; the word may
//! also be written. An empty default only says that the key is optional.

mod measure;

pub use measure::MEASURE;

use crate::choices::{ModelKind, NicJitter, NodeKind, SimultaneousArrivals, TieOrder};
use dataplane::DeadPortPolicy;
use mech::params::{Param, ParamKind, Spec, Values};

/// Newest form of scenario files that this version reads. A change that gives an old file another meaning raises it.
pub const NEWEST_FORMAT: i64 = 1;

/// Declaration of the top-level keys of a scenario.
pub const SCENARIO: Spec = Spec {
    slot: "",
    kind: "",
    doc: "Scenario with one network, its traffic, and variants to compare.",
    cite: "",
    params: &[
        Param {
            name: "name",
            doc: "Name of the scenario and of the folder of its results: letters, digits, `-` and `_`.",
            kind: ParamKind::Text,
            default: None,
        },
        Param {
            name: "duration",
            doc: "Length of the run without its drain. Workloads begin, and measured flows start, before its end.",
            kind: ParamKind::Time { min: 1 },
            default: None,
        },
        Param {
            name: "seed",
            doc: "Seed of the first run; further runs use the following integers.",
            kind: ParamKind::Count { min: 0, max: i64::MAX as u64 },
            default: Some("1"),
        },
        Param {
            name: "format",
            doc: "Form of the scenario file. A version of Overspill that is too old for a file refuses it by this \
                  number.",
            kind: ParamKind::Count { min: 1, max: NEWEST_FORMAT as u64 },
            default: Some("1"),
        },
        Param {
            name: "reroute_delay",
            doc: "Time from a `link_down` or `link_up` until both ends of the link and all routes react.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "dead_port",
            doc: "Treatment of frames at a port whose link is down, once `reroute_delay` has passed. `drop`: they are \
                  dropped, as are later frames to the port. `wait`: all of them wait until the link is back. \
                  `look_up`: queued frames are looked up again once, and later frames are dropped.",
            kind: DeadPortPolicy::KIND,
            default: Some("drop"),
        },
        Param {
            name: "dscp_to_class",
            doc: "Traffic class of the packets with a DSCP, in all hosts and switches (SONiC: DSCP_TO_TC_MAP). A DSCP \
                  that is left out has the class of its three high bits.",
            kind: ParamKind::DscpClasses,
            default: Some(""),
        },
        Param {
            name: "description",
            doc: "Description of the purpose of the scenario.",
            kind: ParamKind::Text,
            default: Some(""),
        },
    ],
};

/// Declaration of the table `[host]`.
pub const HOST: Spec = Spec {
    slot: "host",
    kind: "",
    doc: "Network stack and NIC of every host.",
    cite: "",
    params: &[
        Param {
            name: "stack_delay",
            doc: "Time that a packet spends in the network stack of a host, in either direction.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "stack_jitter",
            doc: "Maximum of a random addition to `stack_delay`, drawn uniformly between 0 and this value for each \
                  packet.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "nic_jitter",
            doc: "Mean time that a frame spends between the queue of the NIC and the link, because of interrupts, DMA \
                  and scheduling in the NIC. Frames stay in order, and the rate of the link does not change. \
                  `tenth_frame` is a tenth of the transmission time of a full frame on the host's link.",
            kind: ParamKind::Time { min: 0 },
            default: Some("tenth_frame"),
        },
        Param {
            name: "nic_jitter_distribution",
            doc: "Distribution of `nic_jitter`.",
            kind: NicJitter::KIND,
            default: Some("exponential"),
        },
        CLOCK_PPM,
        Param {
            name: "nic_queue",
            doc: "Size of the NIC's queue.",
            kind: ParamKind::Amount { min: 1 },
            default: Some("unlimited"),
        },
    ],
};

/// Bound of the clock error of ports, in parts per million.
const CLOCK_PPM: Param = Param {
    name: "clock_ppm",
    doc: "Largest deviation of the clock of a port, in parts per million. The deviation is uniform in both directions \
          and drawn once for each port and seed (IEEE 802.3 allows 100).",
    kind: ParamKind::Number { min: 0.0, max: 1000.0, below_max: false },
    default: Some("0"),
};

/// Declaration of the table `[switch]` without its slots.
pub const SWITCH: Spec = Spec {
    slot: "switch",
    kind: "",
    doc: "Model of every switch, its mechanisms, and its treatment of simultaneous arrivals.",
    cite: "",
    params: &[
        Param {
            name: "model",
            doc: "Location of queues. `output_queued`: at outputs. `cioq`: at inputs in virtual output queues, and \
                  then at outputs (combined input and output queueing). `fabric`: also in stages between the two, \
                  connected as the slot `fabric` sets.",
            kind: ModelKind::KIND,
            default: Some("output_queued"),
        },
        Param {
            name: "input_buffer",
            doc: "Memory of an input, shared by its virtual output queues; only with `model = \"cioq\"` or `\"fabric\"` (QCN-OS, \
                  Table I: 150 KB).",
            kind: ParamKind::Amount { min: 1 },
            default: Some("150KB"),
        },
        Param {
            name: "speedup",
            doc: "Ratio of the rate across the fabric, or across each stage of `fabric`, to that of the output link, \
                  to six decimals. Only with `model = \"cioq\"` or `\"fabric\"`.",
            kind: ParamKind::Number { min: 1.0, max: 100.0, below_max: false },
            default: Some("2"),
        },
        Param {
            name: "simultaneous",
            doc: "Treatment of arrivals at the same instant. `in_turn`: each is decided, marked and stored before the \
                  next. `snapshot`: all are decided and marked by the state before any is stored.",
            kind: SimultaneousArrivals::KIND,
            default: Some("in_turn"),
        },
        Param {
            name: "ties",
            doc: "Order of simultaneous arrivals: a permutation drawn from the seed at every instant (`random`), or \
                  the order of port numbers (`port`).",
            kind: TieOrder::KIND,
            default: Some("random"),
        },
        CLOCK_PPM,
    ],
};

/// Declaration of the table `where` of `[[override]]`.
pub const WHERE: Spec = Spec {
    slot: "override.where",
    kind: "",
    doc: "Switches, ports of switches, or hosts to which an override applies. If several overrides match, the last one \
          applies.",
    cite: "",
    params: &[
        Param {
            name: "tier",
            doc: "Tier of the switches; any tier by default.",
            kind: ParamKind::Text,
            default: Some(""),
        },
        Param {
            name: "node",
            doc: "Name of the switch; any switch by default.",
            kind: ParamKind::Text,
            default: Some(""),
        },
        Param {
            name: "port",
            doc: "Kind of node at the far end of the ports; only for `marking`, `ack_hold`, `notify`, `pause` and \
                  `scheduler`.",
            kind: NodeKind::KIND,
            default: Some("any"),
        },
        Param {
            name: "rate",
            doc: "Rate of the ports at the start of the run; only for the slots that `port` allows.",
            kind: ParamKind::Rate,
            default: Some("any"),
        },
        Param {
            name: "hosts",
            doc: "Hosts that use the override's `transport`; not allowed with other keys of `where` or with `switch`.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
    ],
};

/// Declaration of the keys of every workload (`[[traffic]]`), whatever its kind.
pub const TRAFFIC: Spec = Spec {
    slot: "traffic",
    kind: "",
    doc: "Keys of every kind of traffic. Workloads with a transport also accept `transport`, a table that is merged \
          into `[transport]` for their flows.",
    cite: "",
    params: &[
        Param {
            name: "name",
            doc: "Name of the workload in the results: letters, digits, `-` and `_`.",
            kind: ParamKind::Text,
            default: None,
        },
        Param {
            name: "dscp",
            doc: "DSCP of the workload's packets, ACKs and replies. The table `dscp_to_class` gives their `class`. By \
                  default, the DSCP is 8 times `class`, or the lowest DSCP of that class.",
            kind: ParamKind::Count { min: 0, max: 63 },
            default: Some(""),
        },
    ],
};

/// Declaration of the table `[[topology.node]]` of a custom topology.
pub const NODE: Spec = Spec {
    slot: "topology.node",
    kind: "",
    doc: "Node of a custom topology; hosts are numbered in the order of the file.",
    cite: "",
    params: &[
        Param { name: "name", doc: "Name of the node.", kind: ParamKind::Text, default: None },
        Param { name: "kind", doc: "Kind of the node.", kind: NodeKind::KIND, default: None },
        Param { name: "tier", doc: "Tier of the node; its kind by default.", kind: ParamKind::Text, default: Some("") },
    ],
};

/// Declaration of the table `[[topology.link]]` of a custom topology.
pub const LINK: Spec = Spec {
    slot: "topology.link",
    kind: "",
    doc: "Link of a custom topology, the same in both directions unless `back` sets the reverse direction.",
    cite: "",
    params: &[
        Param { name: "a", doc: "Name of the node at one end.", kind: ParamKind::Text, default: None },
        Param { name: "b", doc: "Name of the node at the other end.", kind: ParamKind::Text, default: None },
        Param { name: "rate", doc: "Rate of the link.", kind: ParamKind::Rate, default: None },
        Param { name: "delay", doc: "Propagation delay of the link.", kind: ParamKind::Time { min: 1 }, default: None },
        Param {
            name: "back.rate",
            doc: "Rate of the link from `b` to `a`.",
            kind: ParamKind::Rate,
            default: Some("rate"),
        },
        Param {
            name: "back.delay",
            doc: "Propagation delay of the link from `b` to `a`.",
            kind: ParamKind::Time { min: 1 },
            default: Some("delay"),
        },
        Param {
            name: "weight",
            doc: "Weight of the link in the `weighted` routing.",
            kind: ParamKind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some("1"),
        },
    ],
};

macro_rules! framing {
    ($name:ident, $kind:literal, $doc:literal, $cite:literal, $header:literal, $link:literal, $min:literal, $gap:literal) => {
        const $name: Spec = Spec {
            slot: "framing",
            kind: $kind,
            doc: $doc,
            cite: $cite,
            params: &[
                Param {
                    name: "header",
                    doc: "Size of the IP and transport headers, without options.",
                    kind: ParamKind::Size { min: 0 },
                    default: Some($header),
                },
                Param {
                    name: "link",
                    doc: "Size of the link-layer header and check sequence, which are part of frames in buffers.",
                    kind: ParamKind::Size { min: 0 },
                    default: Some($link),
                },
                Param {
                    name: "min_frame",
                    doc: "Size of the smallest frame; shorter frames are padded.",
                    kind: ParamKind::Size { min: 1 },
                    default: Some($min),
                },
                Param {
                    name: "gap",
                    doc: "Size of the preamble and gap, which are on the link only.",
                    kind: ParamKind::Size { min: 0 },
                    default: Some($gap),
                },
            ],
        };
    };
}

framing!(ETHERNET, "ethernet", "Complete Ethernet frames.", "IEEE 802.3 §3.1, §4.4.2", "40B", "18B", "64B", "20B");
framing!(MTU, "mtu", "IP packets only, as in papers that count the MTU.", "RFC 791 §3.1", "40B", "0B", "40B", "0B");
framing!(PAYLOAD, "payload", "Payload bytes only; an ACK counts as one byte.", "", "0B", "0B", "1B", "0B");

/// Kinds of `[framing]`; the first is the default.
pub const FRAMING: &[&Spec] = &[&ETHERNET, &MTU, &PAYLOAD];

/// Fixed tables, in the order of the file.
pub const TABLES: &[&Spec] =
    &[&SCENARIO, &NODE, &LINK, &HOST, &SWITCH, &WHERE, &MEASURE, &TRAFFIC, &crate::events::EVENT];

/// Kind of transport in a scenario without `[transport]`.
pub const DEFAULT_TRANSPORT: &str = "linux";
/// Kind of transport that cannot interoperate with any other.
pub(crate) const ROCE_KIND: &str = "roce";

/// Returns the bound of the clock error of these ports, in parts per billion.
pub(crate) fn clock_error_ppb(values: &Values) -> u32 {
    (values.number("clock_ppm") * 1000.0).round() as u32
}
