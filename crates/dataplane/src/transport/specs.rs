//! Declarations of the transports that a scenario may name, and of their parameters.

mod losses;
mod roce;
mod windows;

use super::option_values::{Connection, Priority, ProbePriority};
use losses::{
    DSACK_UNDO, EIFEL, FACK, FRTO, LINUX_2_6_38_FRTO, LINUX_2_6_38_TICK, LINUX_2_6_38_TSO, LINUX_RTO_FLOOR, LINUX_TICK,
    LINUX_TIMER_SLACK, LINUX_TSO, METRICS_SAVE, PACING, PACING_CA_RATIO, PACING_SS_RATIO, PACK, PACK_DUPACK_THRESHOLD,
    PACK_REACTION, RACK, RECOVERY, RTO_FLOOR, TICK, TIMEOUT_FLIGHT, TIMER_SLACK, TLP, TSO, TSO_RTT_LOG,
    WINDOW_IN_RECOVERY,
};
use mech::params::{Param, ParamKind, Spec};
use windows::{
    CONGESTION_CONTROL, ECN, FAST_CONVERGENCE, G, HYSTART, INITIAL_ALPHA, LINUX_2_6_38_CONGESTION_CONTROL,
    LINUX_HYSTART, SHIFT_G,
};

macro_rules! tcp_params {
    (linux: $($more:expr),* $(,)?) => {
        tcp_params!(
            timer: [LINUX_MIN_RTO, LINUX_MAX_RTO, LINUX_INITIAL_RTO, LINUX_RTO_FLOOR, LINUX_HANDSHAKE_RTT, LINUX_CLOCK_GRANULARITY], mss: "1448B", modern: "true",
            initial_window: "10pkt", dupack_threshold: "3", restart_after_idle: "true", priority: "none",
            $($more),*
        )
    };
    (linux_2_6_38: $($more:expr),* $(,)?) => {
        tcp_params!(
            timer: [LINUX_MIN_RTO, LINUX_MAX_RTO, LINUX_2_6_38_INITIAL_RTO, LINUX_2_6_38_HANDSHAKE_RTT], mss: "1448B", modern: "true",
            initial_window: "3pkt", dupack_threshold: "3", restart_after_idle: "true", priority: "none",
            FACK, LINUX_2_6_38_FRTO, LINUX_2_6_38_TICK, LINUX_2_6_38_TSO, METRICS_SAVE, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION, $($more),*
        )
    };
    // For transports that may find losses by time. The two lists are parameters before and after those that all of
    // these transports share.
    (by_time: [$($before:expr),*], $($after:expr),* $(,)?) => {
        tcp_params!(
            $($before,)* RECOVERY, TIMEOUT_FLIGHT, TLP, WINDOW_IN_RECOVERY, FRTO, EIFEL, DSACK_UNDO, TIMER_SLACK, TICK, TSO,
            TSO_RTT_LOG, PACING, PACING_SS_RATIO, PACING_CA_RATIO, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION, $($after),*
        )
    };
    // For transports with TCP's defaults. The next arm is for transports with a timer and defaults of their own.
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
                kind: ParamKind::Size { min: 1 },
                default: Some($mss),
            },
            Param {
                name: "initial_window",
                doc: "Initial congestion window (IW), in segments or bytes, at least one segment (RFC 6928; 3 \
                      segments: RFC 3390).",
                kind: ParamKind::Amount { min: 1 },
                default: Some($window),
            },
            Param {
                name: "initial_ssthresh",
                doc: "Initial slow start threshold. The default is larger than any window (RFC 5681 §3.1).",
                kind: ParamKind::Size { min: 1 },
                default: Some("1GiB"),
            },
            Param {
                name: "receive_window",
                doc: "Window that the receiver advertises, rounded down to its scale (RFC 7323 §2.2).",
                kind: ParamKind::Size { min: 1 },
                default: Some("1GiB"),
            },
            $($timer,)*
            Param {
                name: "dupack_threshold",
                doc: "Number of duplicate ACKs that show a loss (RFC 5681 §3.2). With `off` there is no fast \
                      retransmit, only the timer.",
                kind: ParamKind::CountOrOff { min: 1, max: 1_000_000 },
                default: Some($dupacks),
            },
            Param {
                name: "limited_transmit",
                doc: "Sends new data on the first two duplicate ACKs (RFC 3042).",
                kind: ParamKind::Flag,
                default: Some("false"),
            },
            Param {
                name: "delayed_ack",
                doc: "Acknowledges every second segment instead of each. ACKs are immediate for segments out of order, \
                      and with `dctcp` where marks begin or end (RFC 5681 §4.2, RFC 8257 §3.2).",
                kind: ParamKind::Flag,
                default: Some($modern),
            },
            Param {
                name: "delayed_ack_timeout",
                doc: "Longest delay of an ACK; RFC 5681 §4.2 allows at most 500 ms. Keep it below `min_rto`, because \
                      the ACK of a last odd segment waits for this time.",
                kind: ParamKind::Time { min: 1 },
                default: Some("40ms"),
            },
            Param {
                name: "quick_acks",
                doc: "Sends up to 16 ACKs without delay (Linux), fewer if `receive_window` is below 32 segments. They \
                      follow the start of a connection (`linux`: 22, `linux_2_6_38`: 5), a duplicate, or with \
                      `timestamps` a silence longer than `min_rto`. Two ACKs are immediate where marks begin. ACKs of \
                      segments shorter than `mss`, or at the end of a burst, are always immediate. Only with \
                      `delayed_ack`.",
                kind: ParamKind::Flag,
                default: Some($modern),
            },
            Param {
                name: "timestamps",
                doc: "Adds timestamps to every segment, 12 B beside `mss`. Every ACK of new data then gives a sample \
                      of the round-trip time (RFC 7323 §3, §4).",
                kind: ParamKind::Flag,
                default: Some($modern),
            },
            Param {
                name: "nagle",
                doc: "Delays a segment shorter than `mss`, such as the last one of a flow, until all data before it is \
                      acknowledged (RFC 9293 §3.7.4).",
                kind: ParamKind::Flag,
                default: Some("false"),
            },
            Param {
                name: "tail_on_ack",
                doc: "Delays a short segment only until the next ACK, even if data is still outstanding after it \
                      (INET). Only with `nagle`.",
                kind: ParamKind::Flag,
                default: Some("false"),
            },
            Param {
                name: "short_segments",
                doc: "Sends a segment shorter than `mss` if the window has no space for more (INET). Otherwise data \
                      waits for space.",
                kind: ParamKind::Flag,
                default: Some("false"),
            },
            Param {
                name: "restart_after_idle",
                doc: "Limits the window to the initial window after an idle time longer than a timeout (RFC 5681 \
                      §4.1). Linux halves it for each timeout, down to the initial window.",
                kind: ParamKind::Flag,
                default: Some($restart),
            },
            Param {
                name: "retransmission_timer",
                doc: "Uses a retransmission timer (RFC 6298). Without it, a flow with a loss that only the timer could \
                      repair never finishes.",
                kind: ParamKind::Flag,
                default: Some("true"),
            },
            Param {
                name: "window_less_out_of_order",
                doc: "Subtracts bytes queued behind a gap from the advertised window, whose right edge never moves \
                      back (RFC 9293 §3.8.6). Reordering then slows a sender whose `receive_window` is small.",
                kind: ParamKind::Flag,
                default: Some("false"),
            },
            Param {
                name: "connection",
                doc: "State of the connection when a flow starts: `established`, or opened by a `handshake`, whose \
                      time is part of the FCT (RFC 9293 §3.5).",
                kind: Connection::KIND,
                default: Some("established"),
            },
            Param {
                name: "ttl",
                doc: "Time to live of every packet, also of raw sources. Each switch decrements it, and drops the \
                      packet at 0. `off` is for bridges, which do not decrement it.",
                kind: ParamKind::CountOrOff { min: 1, max: 255 },
                default: Some("255"),
            },
            Param {
                name: "priority",
                doc: "Rank of data, by which `srpt` and `evict` select packets. `remaining`: unacknowledged bytes of \
                      the flow when the packet is sent. `none`: 0, the most urgent, which is also the rank of ACKs.",
                kind: Priority::KIND,
                default: Some($priority),
            },
            $($more),*
        ]
    };
}

const MIN_RTO: Param = Param {
    name: "min_rto",
    doc: "Lower bound of the retransmission timeout (minimum RTO). RFC 6298 (2.4) says 1 s; 10 ms is usual in data \
          centers.",
    kind: ParamKind::Time { min: 1 },
    default: Some("10ms"),
};
const MAX_RTO: Param = Param {
    name: "max_rto",
    doc: "Upper bound of the retransmission timeout, not below `min_rto` (RFC 6298 (2.5)).",
    kind: ParamKind::Time { min: 1 },
    default: Some("60s"),
};
const INITIAL_RTO: Param = Param {
    name: "initial_rto",
    doc: "Retransmission timeout before the first sample, at least `min_rto`. RFC 6298 (2.1) says 1 s.",
    kind: ParamKind::Time { min: 1 },
    default: Some("10ms"),
};
const HANDSHAKE_RTT: Param = Param {
    name: "handshake_rtt",
    doc: "Round-trip time that the handshake of an `established` connection measured. This is the first sample (RFC \
          6298 (2.2)). With 0us there is no such sample, and the first timeout is `initial_rto`.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};
/// Parameter `handshake_rtt` with about the round-trip time of an idle data center as default.
const LINUX_HANDSHAKE_RTT: Param = Param {
    doc: "Round-trip time that the handshake of an `established` connection measured. This is the first sample (RFC \
          6298 (2.2)). With 0us there is no such sample, and the first timeout is `min_rto`, as after an instantaneous \
          handshake.",
    default: Some("100us"),
    ..HANDSHAKE_RTT
};
const LINUX_MIN_RTO: Param = Param { default: Some("200ms"), ..MIN_RTO };
const LINUX_MAX_RTO: Param = Param { default: Some("120s"), ..MAX_RTO };
const LINUX_INITIAL_RTO: Param = Param {
    doc: "Retransmission timeout of a handshake until its first sample, at least `min_rto` (RFC 6298 (2.1)). An \
          `established` connection has a sample already and begins with `min_rto`, unless `handshake_rtt` gives more.",
    default: Some("1s"),
    ..INITIAL_RTO
};
const LINUX_2_6_38_INITIAL_RTO: Param = Param {
    doc: "Retransmission timeout of a handshake until its first sample, at least `min_rto`. Without `timestamps` it is \
          also that of data, since the kernel then discards the sample of the handshake.",
    default: Some("3s"),
    ..INITIAL_RTO
};
const LINUX_2_6_38_HANDSHAKE_RTT: Param = Param {
    doc: "Round-trip time that the handshake of an `established` connection with `timestamps` measured, in whole ticks \
          and at least one (RFC 6298 (2.2)).",
    default: Some("100us"),
    ..HANDSHAKE_RTT
};
const CLOCK_GRANULARITY: Param = Param {
    name: "clock_granularity",
    doc: "Clock granularity G, and tick of `timestamps`. A timeout exceeds the smoothed round-trip time by at least G \
          (RFC 6298 (2.2), (2.3)).",
    kind: ParamKind::Time { min: 0 },
    default: Some("1us"),
};
const LINUX_CLOCK_GRANULARITY: Param = Param {
    doc: "Tick of `timestamps`, in a kernel a millisecond. A segment is old, and dropped, if its timestamp is more \
          than one tick behind the last one in order (RFC 7323 §5.3 R1). A timeout exceeds the smoothed round-trip \
          time by at least a tick.",
    default: Some("1ms"),
    ..CLOCK_GRANULARITY
};
/// Parameter `rto` of pFabric: retransmission timeout of fixed length.
const RTO: Param = Param {
    name: "rto",
    doc: "Fixed retransmission timeout, about three round trips. It does not follow measured round-trip times and has \
          no back-off.",
    kind: ParamKind::Time { min: 1 },
    default: Some("45us"),
};

/// Declarations of all transports that a scenario may name.
pub const SPECS: &[&Spec] = &[
    &Spec {
        slot: "transport",
        kind: "reno",
        doc: "TCP that halves its window at a loss. The first new ACK ends fast recovery, so that most losses wait for \
              the timer if a window has several.",
        cite: "RFC 5681, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "newreno",
        doc: "TCP that halves its window at a loss. In fast recovery each partial ACK repairs one more loss, so that \
              several losses in a window take a round trip each.",
        cite: "RFC 5681, RFC 6582, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "sack",
        doc: "TCP that halves its window at a loss. Selective acknowledgements show which segments are lost, so that \
              several losses in a window are repaired together.",
        cite: "RFC 5681, RFC 2018, RFC 2883, RFC 6675, RFC 6298, RFC 3168; CP §4",
        params: tcp_params![ECN, TIMEOUT_FLIGHT, PACK, PACK_DUPACK_THRESHOLD, PACK_REACTION],
    },
    &Spec {
        slot: "transport",
        kind: "cubic",
        doc: "TCP that cuts its window to 70% at a loss. The window then grows with the cube of the elapsed time, or \
              as Reno's if that is faster.",
        cite: "RFC 9438, RFC 8985, RFC 6298, RFC 3168",
        params: tcp_params![by_time: [ECN], FAST_CONVERGENCE, HYSTART],
    },
    &Spec {
        slot: "transport",
        kind: "dctcp",
        doc: "TCP that cuts its window by half the fraction of marked bytes, and halves the window at a loss. Always \
              ECN-capable.",
        cite: "RFC 8257, RFC 8985; Alizadeh et al., SIGCOMM 2010",
        params: tcp_params![by_time: [], G, INITIAL_ALPHA],
    },
    &Spec {
        slot: "transport",
        kind: "linux",
        doc: "Modern Linux host: TCP of Linux 6.18 with its defaults, and CUBIC or Reno. mechanisms/hosts.md lists \
              what is left out.",
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
        doc: "Modern Linux host in a data center that marks: as `linux`, with DCTCP. mechanisms/hosts.md lists what is \
              left out.",
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
        doc: "Host of 2011, such as those of CP's testbed: TCP of Linux 2.6.38.3, with Reno or BIC. \
              mechanisms/hosts_2011.md explains when to use it.",
        cite: "Linux 2.6.38.3; Mathis and Mahdavi, SIGCOMM 1996 (FACK); RFC 4138, RFC 3522, RFC 2861, RFC 7323; CP §4",
        params: tcp_params![linux_2_6_38: LINUX_2_6_38_CONGESTION_CONTROL, ECN],
    },
    &Spec {
        slot: "transport",
        kind: "linux_2_6_38_dctcp",
        doc: "Host of 2011 in a data center that marks: as `linux_2_6_38`, with DCTCP by its authors' patch. \
              mechanisms/hosts_2011.md explains when to use it.",
        cite: "Linux 2.6.38.3 with the DCTCP patch, rev. 1.1.0 of September 2011; Alizadeh et al., SIGCOMM 2010; CP §4",
        params: tcp_params![linux_2_6_38: SHIFT_G],
    },
    &Spec {
        slot: "transport",
        kind: "pfabric",
        doc: "pFabric's minimal rate control, for switches with `evict` and `srpt`. It starts with a full window, \
              detects losses only by a short fixed timer, and sends only probes after several timeouts in a row. It is \
              not ECN-capable.",
        cite: "Alizadeh et al., SIGCOMM 2013, §4.3",
        params: tcp_params![
            timer: [RTO, CLOCK_GRANULARITY], mss: "1460B", modern: "false",
            initial_window: "12pkt", dupack_threshold: "off", restart_after_idle: "false", priority: "remaining",
            Param {
                name: "max_window",
                doc: "Largest congestion window, in segments or bytes, at least `initial_window`.",
                kind: ParamKind::Amount { min: 1 },
                default: Some("24pkt"),
            },
            Param {
                name: "sack_opens_window",
                doc: "Frees window space for SACKed data immediately. With `false`, SACKed data counts as in flight \
                      until the gap before it is filled or the timer expires.",
                kind: ParamKind::Flag,
                default: Some("true"),
            },
            Param {
                name: "probe_after",
                doc: "Number of timeouts in a row, with nothing acknowledged in between, after which the sender only \
                      probes: one byte each `rto`. Once something is acknowledged, slow start follows. With `off` it \
                      never probes.",
                kind: ParamKind::CountOrOff { min: 1, max: 255 },
                default: Some("5"),
            },
            Param {
                name: "probe_priority",
                doc: "Rank of probes. `priority`: the rank of data. `urgent`: 0, the rank of ACKs.",
                kind: ProbePriority::KIND,
                default: Some("priority"),
            },
        ],
    },
    &roce::ROCE,
];
