//! Declaration of `[measure]`.

use crate::choices::{FctEnd, Goodput};
use mech::params::{Param, ParamKind, Spec};

/// Declaration of the table `[measure]`.
pub const MEASURE: Spec = Spec {
    slot: "measure",
    kind: "",
    doc: "Measurement of the flows that start in a time window. Load continues until these flows finish or the drain \
          ends.",
    cite: "",
    params: &[
        Param {
            name: "from",
            doc: "Start of the measurement window; flows that start from here on are measured.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0ms"),
        },
        Param {
            name: "to",
            doc: "End of the measurement window; flows that start before it are measured.",
            kind: ParamKind::Time { min: 1 },
            default: Some("duration"),
        },
        Param {
            name: "drain",
            doc: "Longest time for which a run continues after `duration`, so that measured flows and queries can \
                  finish.",
            kind: ParamKind::Time { min: 0 },
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
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "bin",
            doc: "Width of the time bins of traces. The default is duration/200, but at least 1us.",
            kind: ParamKind::Time { min: 1_000_000 },
            default: Some("auto"),
        },
        Param {
            name: "queues",
            doc: "Records exact queue lengths as histograms and traces.",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        Param {
            name: "sub_queues",
            doc: "Records the queues of every switch port separately: one for each class, and one for bounced \
                  packets; needs `queues`.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "packets",
            doc: "Records every delivered or lost packet.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "detours",
            doc: "Number of detours from which on a packet is recorded with all its detours.",
            kind: ParamKind::CountOrOff { min: 1, max: 1_000_000 },
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
            doc: "Records the bits that every port sends over time. A frame counts when its transmission starts, \
                  including preamble and gap.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "notices",
            doc: "Records every congestion notification message (CNM, 802.1Qau) and every CNP.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "rate_limits",
            doc: "Records every change of the rate limit of a flow at its host.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "inputs",
            doc: "Records the memory of every input of `cioq` switches over time, by output; for `fabric` switches \
                  also the buffers inside.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "sent",
            doc: "Records the bytes that every flow sends over time. A frame counts when its transmission by the NIC \
                  starts, including preamble and gap.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "reordering",
            doc: "Measures the order in which data arrives (RFC 5236, RFC 4737).",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        Param {
            name: "displacement_threshold",
            doc: "Threshold of displacement, in packets. In measures of order, a packet with a larger displacement \
                  counts as lost (RFC 5236: DT).",
            kind: ParamKind::Count { min: 1, max: 100_000 },
            default: Some("100"),
        },
    ],
};
