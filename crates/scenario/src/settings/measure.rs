//! What `[measure]` takes.

use crate::choices::{FctEnd, Goodput};
use mech::params::{Kind, Param, Spec};

/// `[measure]`
pub const MEASURE: Spec = Spec {
    slot: "measure",
    kind: "",
    doc: "What is measured: flows that start in the window. Load goes on until they finish or the drain ends.",
    cite: "",
    params: &[
        Param {
            name: "from",
            doc: "Flows that start from here on are measured.",
            kind: Kind::Time { min: 0 },
            default: Some("0ms"),
        },
        Param {
            name: "to",
            doc: "Flows that start before this instant are measured.",
            kind: Kind::Time { min: 1 },
            default: Some("duration"),
        },
        Param {
            name: "drain",
            doc: "The run goes on for up to so long after the duration while measured flows are unfinished, or a \
                  query whose first message is measured.",
            kind: Kind::Time { min: 0 },
            default: Some("1s"),
        },
        Param {
            name: "fct_end",
            doc: "A flow ends with its last byte at the receiver, or with the last acknowledgement at the sender.",
            kind: FctEnd::KIND,
            default: Some("last_byte"),
        },
        Param {
            name: "allow_unfinished",
            doc: "Whether a run may end with unfinished measured flows.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "bin",
            doc: "Width of a bin of the traces over time; by default duration/200, at least 1us.",
            kind: Kind::Time { min: 1_000_000 },
            default: Some("auto"),
        },
        Param {
            name: "queues",
            doc: "Whether queue lengths are recorded exactly: histograms and traces.",
            kind: Kind::Flag,
            default: Some("true"),
        },
        Param {
            name: "sub_queues",
            doc: "Whether the queues of every switch port are followed apart too: of each class, and of what was \
                  bounced; needs `queues`.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "packets",
            doc: "Whether every delivered or lost packet is recorded.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "detours",
            doc: "All detours of packets that were detoured at least so often are recorded.",
            kind: Kind::CountOrOff { min: 1, max: 1_000_000 },
            default: Some("off"),
        },
        Param {
            name: "goodput",
            doc: "Whose goodput is recorded over time: of every host, also of every flow, or of none.",
            kind: Goodput::KIND,
            default: Some("hosts"),
        },
        Param {
            name: "links",
            doc: "Whether the bits that begin to leave by every port are counted over time.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "notices",
            doc: "Whether every congestion notification message (CNM, 802.1Qau) is recorded that a switch makes.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "rate_limits",
            doc: "Whether every change of a flow's rate limit at its host is recorded.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "inputs",
            doc: "Whether the memory of every input of `cioq` switches is followed over time, by output; of `fabric` switches the \
                  buffers inside as well.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "sent",
            doc: "Whether the bytes of every flow that begin to leave its hosts are counted over time, with preamble and \
                  gap.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "reordering",
            doc: "Whether the order in which data arrive is measured (RFC 5236, RFC 4737).",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "displacement_threshold",
            doc: "A packet that is displaced by more packets counts as lost in measures of order (RFC 5236: DT).",
            kind: Kind::Count { min: 1, max: 100_000 },
            default: Some("100"),
        },
    ],
};
