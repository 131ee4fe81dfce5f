//! Declaration of `[measure]`.

use crate::choices::{FctEnd, Goodput};
use mech::params::{Kind, Param, Spec};

/// Table `[measure]`.
pub const MEASURE: Spec = Spec {
    slot: "measure",
    kind: "",
    doc: "Measurement of the flows that start in a window. Load continues until they finish or the drain ends.",
    cite: "",
    params: &[
        Param {
            name: "from",
            doc: "Start of the measurement window; flows that start from here on are measured.",
            kind: Kind::Time { min: 0 },
            default: Some("0ms"),
        },
        Param {
            name: "to",
            doc: "End of the measurement window; flows that start before it are measured.",
            kind: Kind::Time { min: 1 },
            default: Some("duration"),
        },
        Param {
            name: "drain",
            doc: "Longest continuation of the run after its duration, while measured flows are unfinished, or queries \
                  whose first message is measured.",
            kind: Kind::Time { min: 0 },
            default: Some("1s"),
        },
        Param {
            name: "fct_end",
            doc: "End of a flow: its last byte at the receiver (`last_byte`), or the last acknowledgement at the \
                  sender (`sender_ack`).",
            kind: FctEnd::KIND,
            default: Some("last_byte"),
        },
        Param {
            name: "allow_unfinished",
            doc: "Allows a run to end with unfinished measured flows.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "bin",
            doc: "Width of a bin of the traces over time; by default duration/200, and at least 1us.",
            kind: Kind::Time { min: 1_000_000 },
            default: Some("auto"),
        },
        Param {
            name: "queues",
            doc: "Records exact queue lengths as histograms and traces.",
            kind: Kind::Flag,
            default: Some("true"),
        },
        Param {
            name: "sub_queues",
            doc: "Records the queues of every switch port separately: one for each class, and one for bounced \
                  packets; needs `queues`.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "packets",
            doc: "Records every delivered or lost packet.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "detours",
            doc: "Smallest number of detours of a packet from which on all its detours are recorded.",
            kind: Kind::CountOrOff { min: 1, max: 1_000_000 },
            default: Some("off"),
        },
        Param {
            name: "goodput",
            doc: "Goodput that is recorded over time: of every host (`hosts`), also of every flow (`flows`), or none.",
            kind: Goodput::KIND,
            default: Some("hosts"),
        },
        Param {
            name: "links",
            doc: "Records the bits sent by every port over time. A frame counts when its transmission starts, with \
                  preamble and gap.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "notices",
            doc: "Records every congestion notification message (CNM, 802.1Qau) and every CNP.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "rate_limits",
            doc: "Records every change of the rate limit of a flow at its host.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "inputs",
            doc: "Records the memory of every input of `cioq` switches over time, by output; for `fabric` switches \
                  also the buffers inside.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "sent",
            doc: "Records the bytes sent by every flow over time. A frame counts when its transmission by the NIC \
                  starts, with preamble and gap.",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "reordering",
            doc: "Measures the order in which data arrives (RFC 5236, RFC 4737).",
            kind: Kind::Flag,
            default: Some("false"),
        },
        Param {
            name: "displacement_threshold",
            doc: "Largest displacement of a packet, in packets, that does not count as a loss in measures of order \
                  (RFC 5236: DT).",
            kind: Kind::Count { min: 1, max: 100_000 },
            default: Some("100"),
        },
    ],
};
