//! Parameters of the RoCE transport.

use mech::params::{Param, ParamKind, Spec};

pub(super) const ROCE: Spec = Spec {
    slot: "transport",
    kind: "roce",
    doc: "RoCEv2: sends at the rate that the NIC gives a flow, without a window. After a NAK or a timeout, a sender \
          goes back to the lost packet (go-back-N). For networks without loss, with `host.reaction` = `dcqcn` or \
          `qcn`.",
    cite: "InfiniBand Architecture Specification 1 §9.7, annex A17; Zhu et al., SIGCOMM 2015",
    params: &[
        Param {
            name: "mss",
            doc: "Payload of a packet (MTU), at most 9000 B.",
            kind: ParamKind::Size { min: 1 },
            default: Some("1000B"),
        },
        Param {
            name: "header",
            doc: "Headers of a data packet beside Ethernet's, at most 512 B: IPv4 20, UDP 8, base transport header 12, \
                  invariant CRC 4, and 4 more. At least `framing.header`.",
            kind: ParamKind::Size { min: 0 },
            default: Some("48B"),
        },
        Param {
            name: "ack_size",
            doc: "Size of the frame of an ACK or a NAK, at most 512 B, and at least `framing.header` and \
                  `framing.link` together.",
            kind: ParamKind::Size { min: 64 },
            default: Some("64B"),
        },
        Param {
            name: "rto",
            doc: "Time without an acknowledgement after which a sender goes back to the first packet without one. The \
                  default is 4.096 us times 2^14, the local ACK timeout that benchmarks of NICs set.",
            kind: ParamKind::Time { min: 1 },
            default: Some("67.108864ms"),
        },
        Param {
            name: "ecn",
            doc: "Makes data ECN-capable. ACKs and NAKs are not.",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        Param {
            name: "ttl",
            doc: "Time to live of every packet, also of raw sources. Each switch decrements it, and drops the packet \
                  at 0. `off` is for bridges, which do not decrement it.",
            kind: ParamKind::CountOrOff { min: 1, max: 255 },
            default: Some("255"),
        },
    ],
};
