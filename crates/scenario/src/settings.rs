//! The tables of a scenario that are no mechanisms: declared as mechanisms are, so that checks,
//! schema, help and documents come from one place.
//!
//! A default that is a word and no value (`unlimited`, `duration`) says what happens where the key
//! is left out; the word itself may be written too. An empty default only says that the key may be
//! left out.

mod measure;

pub use measure::MEASURE;

use crate::choices::{ModelKind, NicJitter, NodeKind, Simultaneous, Ties};
use dataplane::DeadPort;
use mech::params::{Kind, Param, Spec, Values};

/// The keys of the file itself.
pub const SCENARIO: Spec = Spec {
    slot: "",
    kind: "",
    doc: "A scenario: one network, its traffic, and variants to compare.",
    cite: "",
    params: &[
        Param {
            name: "name",
            doc: "Name of the scenario and of the folder of its results: letters, digits, `-` and `_`.",
            kind: Kind::Text,
            default: None,
        },
        Param { name: "duration", doc: "Flows start before this instant.", kind: Kind::Time { min: 1 }, default: None },
        Param {
            name: "seed",
            doc: "Seed of the first run; further runs use the numbers after it.",
            kind: Kind::Count { min: 0, max: i64::MAX as u64 },
            default: Some("1"),
        },
        Param {
            name: "reroute_delay",
            doc: "Time from a `link_down` or `link_up` until both ends of the link and all routes take account of it.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "dead_port",
            doc: "Frames that wait for a port then whose link is down: they are dropped, wait until it is back, or are \
                  looked up again once. What is sent there later is dropped or waits likewise.",
            kind: DeadPort::KIND,
            default: Some("drop"),
        },
        Param { name: "description", doc: "What the scenario shows.", kind: Kind::Text, default: Some("") },
    ],
};

/// `[host]`
pub const HOST: Spec = Spec {
    slot: "host",
    kind: "",
    doc: "Every host: its stack and its NIC.",
    cite: "",
    params: &[
        Param {
            name: "stack_delay",
            doc: "Time of one traversal of the stack, in either direction.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "stack_jitter",
            doc: "Added to it, uniform from 0 to this.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "nic_jitter",
            doc: "Mean of the time that a frame spends between the NIC's queue and the wire: interrupts, DMA and the \
                  NIC's own scheduling. Frames stay in order, and the wire is as fast as before. `tenth_frame` is a \
                  tenth of the time of a full frame on the host's link.",
            kind: Kind::Time { min: 0 },
            default: Some("tenth_frame"),
        },
        Param {
            name: "nic_jitter_distribution",
            doc: "Its distribution.",
            kind: NicJitter::KIND,
            default: Some("exponential"),
        },
        CLOCK_PPM,
        Param {
            name: "nic_queue",
            doc: "Size of the NIC's queue.",
            kind: Kind::Amount { min: 1 },
            default: Some("unlimited"),
        },
    ],
};

/// How far the clocks of ports are off.
const CLOCK_PPM: Param = Param {
    name: "clock_ppm",
    doc: "The clock of each port is faster or slower than its rate says by up to so many millionths, uniform, drawn \
          once for each port and seed (IEEE 802.3 allows 100).",
    kind: Kind::Number { min: 0.0, max: 1000.0, below_max: false },
    default: Some("0"),
};

/// `[switch]`, beside its slots.
pub const SWITCH: Spec = Spec {
    slot: "switch",
    kind: "",
    doc: "Every switch: its model, its slots, and how it treats simultaneous arrivals.",
    cite: "",
    params: &[
        Param {
            name: "model",
            doc: "Where frames wait: at the output that they leave by, or first in the memory of the input that they \
                  came in by, in virtual output queues, and then at the output (combined input and output queueing), or \
                  with stages between these two, joined as the slot `fabric` says.",
            kind: ModelKind::KIND,
            default: Some("output_queued"),
        },
        Param {
            name: "input_buffer",
            doc: "Memory of an input, shared by its virtual output queues; only with `model = \"cioq\"` or `\"fabric\"` (QCN-OS, \
                  Table I: 150 KB).",
            kind: Kind::Amount { min: 1 },
            default: Some("150KB"),
        },
        Param {
            name: "speedup",
            doc: "How many times as fast as the link of its output a frame crosses the fabric, to six decimals; in a \
                  fabric, each of its stages; only with `model = \"cioq\"` or `\"fabric\"`.",
            kind: Kind::Number { min: 1.0, max: 100.0, below_max: false },
            default: Some("2"),
        },
        Param {
            name: "simultaneous",
            doc: "Arrivals at the same instant: each decided, marked and stored before the next, or all decided and \
                  marked on the state before any is stored.",
            kind: Simultaneous::KIND,
            default: Some("in_turn"),
        },
        Param {
            name: "ties",
            doc: "Their order: permuted by the seed, anew at every instant, or by port number.",
            kind: Ties::KIND,
            default: Some("random"),
        },
        CLOCK_PPM,
    ],
};

/// `where` of `[[override]]`
pub const WHERE: Spec = Spec {
    slot: "override.where",
    kind: "",
    doc: "Which switches, or which of their ports, an override applies to, or which hosts; the last that matches wins.",
    cite: "",
    params: &[
        Param {
            name: "tier",
            doc: "Switches of this tier; of any tier where not given.",
            kind: Kind::Text,
            default: Some(""),
        },
        Param {
            name: "node",
            doc: "The switch of this name; any where not given.",
            kind: Kind::Text,
            default: Some(""),
        },
        Param {
            name: "port",
            doc: "Ports whose far end is a host, or a switch; only for `marking`, `ack_hold`, `notify`, `pause` and `scheduler`.",
            kind: NodeKind::KIND,
            default: Some("any"),
        },
        Param {
            name: "rate",
            doc: "Ports that send at this rate at the start of the run; only for the slots that `port` allows.",
            kind: Kind::Rate,
            default: Some("any"),
        },
        Param {
            name: "hosts",
            doc: "The hosts that have this `transport`; it goes by no other key, and beside no `switch`.",
            kind: Kind::Texts,
            default: Some(""),
        },
    ],
};

/// What every workload (`[[traffic]]`) takes, whatever its kind.
pub const TRAFFIC: Spec = Spec {
    slot: "traffic",
    kind: "",
    doc: "What every kind of traffic takes. Beside these, `transport`, a table that is laid upon `[transport]` for the flows of \
          a workload; packets that are sent without one take none.",
    cite: "",
    params: &[Param {
        name: "name",
        doc: "Its name in the results: letters, digits, `-` and `_`.",
        kind: Kind::Text,
        default: None,
    }],
};

/// `[[topology.node]]` of a custom topology.
pub const NODE: Spec = Spec {
    slot: "topology.node",
    kind: "",
    doc: "A node of a custom topology; hosts are numbered in the order of the file.",
    cite: "",
    params: &[
        Param { name: "name", doc: "Its name.", kind: Kind::Text, default: None },
        Param { name: "kind", doc: "What it is.", kind: NodeKind::KIND, default: None },
        Param { name: "tier", doc: "Its tier; its kind where not given.", kind: Kind::Text, default: Some("") },
    ],
};

/// `[[topology.link]]` of a custom topology.
pub const LINK: Spec = Spec {
    slot: "topology.link",
    kind: "",
    doc: "A link of a custom topology, the same in both directions unless `back` says otherwise.",
    cite: "",
    params: &[
        Param { name: "a", doc: "The node at one end.", kind: Kind::Text, default: None },
        Param { name: "b", doc: "The node at the other end.", kind: Kind::Text, default: None },
        Param { name: "rate", doc: "Its rate.", kind: Kind::Rate, default: None },
        Param { name: "delay", doc: "Its propagation delay.", kind: Kind::Time { min: 1 }, default: None },
        Param { name: "back.rate", doc: "Its rate from `b` to `a`.", kind: Kind::Rate, default: Some("rate") },
        Param {
            name: "back.delay",
            doc: "Its propagation delay from `b` to `a`.",
            kind: Kind::Time { min: 1 },
            default: Some("delay"),
        },
        Param {
            name: "weight",
            doc: "Its share where routing is `weighted`.",
            kind: Kind::Number { min: 0.0, max: 1e9, below_max: false },
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
                    doc: "IP and transport header without options.",
                    kind: Kind::Size { min: 0 },
                    default: Some($header),
                },
                Param {
                    name: "link",
                    doc: "Link-layer header and check sequence; part of the frame that buffers hold.",
                    kind: Kind::Size { min: 0 },
                    default: Some($link),
                },
                Param {
                    name: "min_frame",
                    doc: "Smallest frame; shorter ones are padded.",
                    kind: Kind::Size { min: 1 },
                    default: Some($min),
                },
                Param {
                    name: "gap",
                    doc: "Preamble and gap; on the wire only.",
                    kind: Kind::Size { min: 0 },
                    default: Some($gap),
                },
            ],
        };
    };
}

framing!(ETHERNET, "ethernet", "Ethernet as it is.", "IEEE 802.3 §3.1, §4.4.2", "40B", "18B", "64B", "20B");
framing!(MTU, "mtu", "The IP packet only, as papers that count the MTU.", "RFC 791 §3.1", "40B", "0B", "40B", "0B");
framing!(PAYLOAD, "payload", "The payload only; an ACK still takes the time of a byte.", "", "0B", "0B", "1B", "0B");

/// The kinds of `[framing]`; the first is the default.
pub const FRAMING: &[&Spec] = &[&ETHERNET, &MTU, &PAYLOAD];

/// All fixed tables, in the order of the file.
pub const TABLES: &[&Spec] =
    &[&SCENARIO, &NODE, &LINK, &HOST, &SWITCH, &WHERE, &MEASURE, &TRAFFIC, &crate::events::EVENT];

/// What carries the flows where the scenario has no `[transport]`.
pub const TRANSPORT: &str = "linux";
/// The transport that only its like understands.
pub(crate) const ROCE: &str = "roce";

/// By how many thousand-millionths the clocks of these ports may be off.
pub(crate) fn ppb(values: &Values) -> u32 {
    (values.number("clock_ppm") * 1000.0).round() as u32
}
