//! The transports that a scenario may name, and their parameters.

mod losses;
mod roce;
mod windows;

use super::choices::{Connection, Priority, ProbePriority};
use losses::{
    DSACK_UNDO, EIFEL, FACK, FRTO, LINUX_RTO_FLOOR, LINUX_TICK, LINUX_TIMER_SLACK, LINUX_TSO, METRICS_SAVE, OLD_FRTO,
    OLD_TICK, OLD_TSO, PACING, PACING_CA_RATIO, PACING_SS_RATIO, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION, RACK,
    RECOVERY, RTO_FLOOR, TICK, TIMEOUT_FLIGHT, TIMER_SLACK, TLP, TSO, TSO_RTT_LOG, WINDOW_IN_RECOVERY,
};
use mech::params::{Kind, Param, Spec};
use windows::{
    CONGESTION_CONTROL, ECN, FAST_CONVERGENCE, G, HYSTART, INITIAL_ALPHA, LINUX_HYSTART, OLD_CONGESTION_CONTROL,
    SHIFT_G,
};

macro_rules! tcp_params {
    // A Linux host's defaults.
    (linux: $($more:expr),* $(,)?) => {
        tcp_params!(
            timer: [LINUX_MIN_RTO, LINUX_MAX_RTO, LINUX_INITIAL_RTO, LINUX_RTO_FLOOR, LINUX_HANDSHAKE_RTT, LINUX_CLOCK_GRANULARITY], mss: "1448B", modern: "true",
            initial_window: "10pkt", dupack_threshold: "3", restart_after_idle: "true", priority: "none",
            $($more),*
        )
    };
    // Defaults of a Linux 2.6.38 host.
    (linux_2_6_38: $($more:expr),* $(,)?) => {
        tcp_params!(
            timer: [LINUX_MIN_RTO, LINUX_MAX_RTO, OLD_INITIAL_RTO, OLD_HANDSHAKE_RTT], mss: "1448B", modern: "true",
            initial_window: "3pkt", dupack_threshold: "3", restart_after_idle: "true", priority: "none",
            FACK, OLD_FRTO, OLD_TICK, OLD_TSO, METRICS_SAVE, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION, $($more),*
        )
    };
    // One that may find losses by time: what it has before those choices, and after.
    (by_time: [$($before:expr),*], $($after:expr),* $(,)?) => {
        tcp_params!(
            $($before,)* RECOVERY, TIMEOUT_FLIGHT, TLP, WINDOW_IN_RECOVERY, FRTO, EIFEL, DSACK_UNDO, TIMER_SLACK, TICK, TSO,
            TSO_RTT_LOG, PACING, PACING_SS_RATIO, PACING_CA_RATIO, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION, $($after),*
        )
    };
    // A transport after TCP's defaults, or with its own timer and these defaults.
    ($($more:expr),* $(,)?) => {
        tcp_params!(
            timer: [MIN_RTO, MAX_RTO, INITIAL_RTO, RTO_FLOOR, HANDSHAKE_RTT, CLOCK_GRANULARITY], mss: "1460B", modern: "false",
            initial_window: "10pkt", dupack_threshold: "3", restart_after_idle: "true", priority: "none",
            $($more),*
        )
    };
    (timer: [$($timer:expr),*], mss: $mss:literal, modern: $modern:literal, initial_window: $window:literal,
     dupack_threshold: $dupacks:literal, restart_after_idle: $restart:literal, priority: $priority:literal,
     $($more:expr),* $(,)?) => {
        &[
            Param {
                name: "mss",
                doc: "Largest payload of a segment (SMSS), at most 9000 B.",
                kind: Kind::Size { min: 1 },
                default: Some($mss),
            },
            Param {
                name: "initial_window",
                doc: "Congestion window at the start (IW), in segments or bytes, at least one segment (RFC 6928; 3 segments: RFC 3390).",
                kind: Kind::Amount { min: 1 },
                default: Some($window),
            },
            Param {
                name: "initial_ssthresh",
                doc: "Slow start threshold at the start; the default is above every window (RFC 5681 §3.1).",
                kind: Kind::Size { min: 1 },
                default: Some("1GiB"),
            },
            Param {
                name: "receive_window",
                doc: "Window that the receiver advertises, rounded down to its scale (RFC 7323 §2.2).",
                kind: Kind::Size { min: 1 },
                default: Some("1GiB"),
            },
            $($timer,)*
            Param {
                name: "dupack_threshold",
                doc: "Duplicate ACKs that show a loss (RFC 5681 §3.2), or `off`: no fast retransmit, only the timer.",
                kind: Kind::CountOrOff { min: 1, max: 1_000_000 },
                default: Some($dupacks),
            },
            Param {
                name: "limited_transmit",
                doc: "Send new data on the first two duplicate ACKs (RFC 3042).",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "delayed_ack",
                doc: "ACK every second segment instead of each; out of order, and with `dctcp` where marks begin or end, at \
                      once (RFC 5681 §4.2, RFC 8257 §3.2).",
                kind: Kind::Flag,
                default: Some($modern),
            },
            Param {
                name: "delayed_ack_timeout",
                doc: "Longest that a delayed ACK waits; RFC 5681 §4.2 says at most 500 ms. Keep it below min_rto: a last odd segment waits so long.",
                kind: Kind::Time { min: 1 },
                default: Some("40ms"),
            },
            Param {
                name: "quick_acks",
                doc: "With `delayed_ack`, 16 ACKs are sent at once (fewer where `receive_window` is below 32 segments): the first \
                      (`linux`: 22, `linux_2_6_38`: 5), and after a duplicate or, with `timestamps`, a silence of more than `min_rto`; two where marks begin; and \
                      those of segments shorter than `mss`, or at the end of a burst (Linux).",
                kind: Kind::Flag,
                default: Some($modern),
            },
            Param {
                name: "timestamps",
                doc: "Every segment carries timestamps, 12 B beside `mss`, and every ACK of new data gives a sample of the \
                      round-trip time (RFC 7323 §3, §4).",
                kind: Kind::Flag,
                default: Some($modern),
            },
            Param {
                name: "nagle",
                doc: "A segment shorter than `mss`, as a flow's last may be, waits until all before it is acknowledged \
                      (RFC 9293 §3.7.4).",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "tail_on_ack",
                doc: "With `nagle`, a short segment waits for the next ACK alone, whatever is outstanding after it (INET).",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "short_segments",
                doc: "A segment shorter than `mss` is sent where the window has no room for more (INET); else data wait until \
                      there is.",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "restart_after_idle",
                doc: "After nothing was sent for more than a timeout, the window is at most the initial one (RFC 5681 §4.1). Linux halves it for \
                      each timeout, to the initial window.",
                kind: Kind::Flag,
                default: Some($restart),
            },
            Param {
                name: "retransmission_timer",
                doc: "Whether there is a retransmission timer (RFC 6298); without it, a flow with a loss that only the timer \
                      could repair never finishes.",
                kind: Kind::Flag,
                default: Some("true"),
            },
            Param {
                name: "window_less_out_of_order",
                doc: "Bytes that wait behind a gap are subtracted from the advertised window, whose right edge never moves back \
                      (RFC 9293 §3.8.6): reordering then slows a sender whose `receive_window` is small.",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "connection",
                doc: "`established` before the flow starts, or opened by a `handshake`, whose time is part of the FCT \
                      (RFC 9293 §3.5).",
                kind: Connection::KIND,
                default: Some("established"),
            },
            Param {
                name: "ttl",
                doc: "Time to live of every packet, those of raw sources too: each switch decrements it, and at 0 the packet is \
                      dropped. `off` is for bridges, which do not decrement it.",
                kind: Kind::CountOrOff { min: 1, max: 255 },
                default: Some("255"),
            },
            Param {
                name: "priority",
                doc: "The rank of data, by which `srpt` and `evict` choose: `remaining` is the bytes of the flow that were \
                      not acknowledged as they left, `none` is 0, the most urgent, as that of ACKs always is.",
                kind: Priority::KIND,
                default: Some($priority),
            },
            $($more),*
        ]
    };
}

const MIN_RTO: Param = Param {
    name: "min_rto",
    doc: "Lower bound of the retransmission timeout; RFC 6298 (2.4) says 1 s, 10 ms is usual in data centers.",
    kind: Kind::Time { min: 1 },
    default: Some("10ms"),
};
const MAX_RTO: Param = Param {
    name: "max_rto",
    doc: "Upper bound of the retransmission timeout (RFC 6298 (2.5)); not below `min_rto`.",
    kind: Kind::Time { min: 1 },
    default: Some("60s"),
};
const INITIAL_RTO: Param = Param {
    name: "initial_rto",
    doc: "Retransmission timeout before the first sample, at least `min_rto`; RFC 6298 (2.1) says 1 s.",
    kind: Kind::Time { min: 1 },
    default: Some("10ms"),
};
const HANDSHAKE_RTT: Param = Param {
    name: "handshake_rtt",
    doc: "With `established` connections: the round-trip time that their handshake measured, before the flow; the first \
          sample (RFC 6298 (2.2)). With 0us there was none, and the first timeout is `initial_rto`.",
    kind: Kind::Time { min: 0 },
    default: Some("0us"),
};
/// That of an idle data center, more or less.
const LINUX_HANDSHAKE_RTT: Param = Param {
    doc: "With `established` connections: the round-trip time that their handshake measured, before the flow; the first \
          sample (RFC 6298 (2.2)). With 0us none is taken, and the first timeout is `min_rto`, as of a handshake in no time.",
    default: Some("100us"),
    ..HANDSHAKE_RTT
};
const LINUX_MIN_RTO: Param = Param { default: Some("200ms"), ..MIN_RTO };
const LINUX_MAX_RTO: Param = Param { default: Some("120s"), ..MAX_RTO };
const LINUX_INITIAL_RTO: Param = Param {
    doc: "Retransmission timeout of a handshake, at least `min_rto`, until its first sample (RFC 6298 (2.1)); a connection that \
          is open already has had one, and begins with `min_rto` unless `handshake_rtt` says more.",
    default: Some("1s"),
    ..INITIAL_RTO
};
const OLD_INITIAL_RTO: Param = Param {
    doc: "Retransmission timeout of a handshake, at least `min_rto`, until its first sample; without `timestamps` that of data, \
          too, since the kernel then forgets the sample of the handshake.",
    default: Some("3s"),
    ..INITIAL_RTO
};
const OLD_HANDSHAKE_RTT: Param = Param {
    doc: "With `established` connections and `timestamps`: the round-trip time that their handshake measured, before the flow, \
          in whole ticks and at least one (RFC 6298 (2.2)).",
    default: Some("100us"),
    ..HANDSHAKE_RTT
};
const CLOCK_GRANULARITY: Param = Param {
    name: "clock_granularity",
    doc: "Clock granularity G: a timeout is longer than the smoothed round-trip time by at least this \
          (RFC 6298 (2.2), (2.3)); the tick of `timestamps`.",
    kind: Kind::Time { min: 0 },
    default: Some("1us"),
};
const LINUX_CLOCK_GRANULARITY: Param = Param {
    doc: "Tick of `timestamps`, which a kernel counts in milliseconds; a segment is old, and dropped, if its timestamp is more \
          than one tick behind the last one in order (RFC 7323 §5.3 R1). A timeout is longer than the smoothed round-trip time \
          by at least a tick.",
    default: Some("1ms"),
    ..CLOCK_GRANULARITY
};
/// The timer of pFabric: one length.
const RTO: Param = Param {
    name: "rto",
    doc: "Fixed retransmission timeout, without measured round-trip times and without back-off; about three round trips.",
    kind: Kind::Time { min: 1 },
    default: Some("45us"),
};

/// The transports.
pub const SPECS: &[&Spec] = &[
    &Spec {
        slot: "transport",
        kind: "reno",
        doc: "TCP that halves its window at a loss. The first new ACK ends fast recovery: of several losses in a window, \
              most wait for the timer.",
        cite: "RFC 5681, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "newreno",
        doc: "TCP that halves its window at a loss. In fast recovery each partial ACK repairs one more loss: several losses in a \
              window take a round trip each.",
        cite: "RFC 5681, RFC 6582, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "sack",
        doc: "TCP that halves its window at a loss. Selective acknowledgements show what is lost: several losses in a window \
              are repaired together.",
        cite: "RFC 5681, RFC 2018, RFC 2883, RFC 6675, RFC 6298, RFC 3168; CP §4",
        params: tcp_params![ECN, TIMEOUT_FLIGHT, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION],
    },
    &Spec {
        slot: "transport",
        kind: "cubic",
        doc: "TCP that cuts its window to 0.7 of it at a loss; the window then grows with the cube of the time since, or as \
              Reno's would where that is faster.",
        cite: "RFC 9438, RFC 8985, RFC 6298, RFC 3168",
        params: tcp_params![by_time: [ECN], FAST_CONVERGENCE, HYSTART],
    },
    &Spec {
        slot: "transport",
        kind: "dctcp",
        doc: "TCP that cuts its window by half the fraction of its bytes that were marked, and halves it at a loss; always \
              ECN-capable.",
        cite: "RFC 8257, RFC 8985; Alizadeh et al., SIGCOMM 2010",
        params: tcp_params![by_time: [], G, INITIAL_ALPHA],
    },
    &Spec {
        slot: "transport",
        kind: "linux",
        doc: "A host of today: TCP as Linux 6.18 has it by default, with CUBIC or Reno. What is left out: mechanisms/hosts.md.",
        cite: "Linux 6.18; RFC 9438, RFC 8985, RFC 9937, RFC 5682, RFC 3522, RFC 7323",
        params: tcp_params![
            linux: CONGESTION_CONTROL,
            LINUX_HYSTART,
            FAST_CONVERGENCE,
            ECN,
            RACK,
            TLP,
            WINDOW_IN_RECOVERY,
            FRTO,
            EIFEL,
            DSACK_UNDO,
            LINUX_TIMER_SLACK,
            LINUX_TICK,
            LINUX_TSO,
            TSO_RTT_LOG,
            PACING,
            PACING_SS_RATIO,
            PACING_CA_RATIO,
            PACK,
            PACK_DUPACK_THRESHOLD,
            PACK_REACTION,
        ],
    },
    &Spec {
        slot: "transport",
        kind: "linux_dctcp",
        doc: "A host of today in a data center that marks: as `linux`, with DCTCP. What is left out: mechanisms/hosts.md.",
        cite: "Linux 6.18; RFC 8257, RFC 8985, RFC 9937, RFC 5682, RFC 3522, RFC 7323",
        params: tcp_params![
            linux: RACK,
            TLP,
            WINDOW_IN_RECOVERY,
            FRTO,
            EIFEL,
            DSACK_UNDO,
            LINUX_TIMER_SLACK,
            LINUX_TICK,
            LINUX_TSO,
            TSO_RTT_LOG,
            PACING,
            PACING_SS_RATIO,
            PACING_CA_RATIO,
            PACK,
            PACK_DUPACK_THRESHOLD,
            PACK_REACTION,
            G,
            INITIAL_ALPHA
        ],
    },
    &Spec {
        slot: "transport",
        kind: "linux_2_6_38",
        doc: "A host of 2011, such as those of CP's testbed: TCP as Linux 2.6.38.3 has it, with Reno or BIC. For which questions: \
              mechanisms/hosts_2011.md.",
        cite: "Linux 2.6.38.3; Mathis and Mahdavi, SIGCOMM 1996 (FACK); RFC 4138, RFC 3522, RFC 2861, RFC 7323; CP §4",
        params: tcp_params![linux_2_6_38: OLD_CONGESTION_CONTROL, ECN],
    },
    &Spec {
        slot: "transport",
        kind: "linux_2_6_38_dctcp",
        doc: "A host of 2011 in a data center that marks: as `linux_2_6_38`, with DCTCP by its authors' patch. For which \
              questions: mechanisms/hosts_2011.md.",
        cite: "Linux 2.6.38.3 with the DCTCP patch, rev. 1.1.0 of September 2011; Alizadeh et al., SIGCOMM 2010; CP §4",
        params: tcp_params![linux_2_6_38: SHIFT_G],
    },
    &Spec {
        slot: "transport",
        kind: "pfabric",
        doc: "pFabric's minimal rate control, for switches with `evict` and `srpt`: starts with a full window, detects \
              losses only by a short fixed timer, and sends only probes after several timeouts in a row; not ECN-capable.",
        cite: "Alizadeh et al., SIGCOMM 2013, §4.3",
        params: tcp_params![
            timer: [RTO, CLOCK_GRANULARITY], mss: "1460B", modern: "false",
            initial_window: "12pkt", dupack_threshold: "off", restart_after_idle: "false", priority: "remaining",
            Param {
                name: "max_window",
                doc: "Largest congestion window, in segments or bytes, at least `initial_window`.",
                kind: Kind::Amount { min: 1 },
                default: Some("24pkt"),
            },
            Param {
                name: "sack_opens_window",
                doc: "What was selectively acknowledged makes room in the window at once; `false` counts it as under way \
                      until the gap before it is filled or the timer expires.",
                kind: Kind::Flag,
                default: Some("true"),
            },
            Param {
                name: "probe_after",
                doc: "Timeouts in a row, with nothing acknowledged between, after which the sender only probes: one byte \
                      each `rto`, until something is acknowledged, then slow start; or `off`.",
                kind: Kind::CountOrOff { min: 1, max: 255 },
                default: Some("5"),
            },
            Param {
                name: "probe_priority",
                doc: "The rank of probes: `priority` is that of data, `urgent` is 0, as of ACKs.",
                kind: ProbePriority::KIND,
                default: Some("priority"),
            },
        ],
    },
    &roce::ROCE,
];
