//! The transports that a scenario may name, and their parameters as plain data.

use super::congestion::dctcp;
use crate::Framing;
use mech::host::WindowCut;
use mech::params::{Kind, Param, Spec, Values};
use units::{Amount, Dur};

/// Longest segment that is accepted, bytes of payload: a jumbo frame's.
pub const MAX_MSS: u64 = 9000;
/// Largest window that a 16-bit field and a scale of 14 can advertise (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 65_535 << 14;

macro_rules! tcp_params {
    ($($more:expr),* $(,)?) => {
        &[
            Param {
                name: "mss",
                doc: "Largest payload of a segment (SMSS), at most 9000 B.",
                kind: Kind::Size { min: 1 },
                default: Some("1460B"),
            },
            Param {
                name: "initial_window",
                doc: "Congestion window at the start (IW), in segments or bytes, at least one segment; RFC 6928.",
                kind: Kind::Amount { min: 1 },
                default: Some("10pkt"),
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
            Param {
                name: "min_rto",
                doc: "Lower bound of the retransmission timeout; RFC 6298 (2.4) says 1 s, 10 ms is usual in data centers.",
                kind: Kind::Time { min: 1 },
                default: Some("10ms"),
            },
            Param {
                name: "max_rto",
                doc: "Upper bound of the retransmission timeout (RFC 6298 (2.5)); not below `min_rto`.",
                kind: Kind::Time { min: 1 },
                default: Some("60s"),
            },
            Param {
                name: "initial_rto",
                doc: "Retransmission timeout before the first sample, at least `min_rto`; RFC 6298 (2.1) says 1 s.",
                kind: Kind::Time { min: 1 },
                default: Some("10ms"),
            },
            Param {
                name: "clock_granularity",
                doc: "Clock granularity G: a timeout is longer than the smoothed round-trip time by at least this \
                      (RFC 6298 (2.2), (2.3)); the tick of `timestamps`.",
                kind: Kind::Time { min: 0 },
                default: Some("1us"),
            },
            Param {
                name: "dupack_threshold",
                doc: "Duplicate ACKs that show a loss (RFC 5681 §3.2), or `off`: no fast retransmit, only the timer.",
                kind: Kind::CountOrOff { min: 1, max: 1_000_000 },
                default: Some("3"),
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
                default: Some("false"),
            },
            Param {
                name: "delayed_ack_timeout",
                doc: "Longest that a delayed ACK waits; RFC 5681 §4.2 says at most 500 ms. Keep it below min_rto: a last odd segment waits so long.",
                kind: Kind::Time { min: 1 },
                default: Some("40ms"),
            },
            Param {
                name: "timestamps",
                doc: "Every segment carries timestamps, 12 B beside `mss`, and every ACK of new data gives a sample of the \
                      round-trip time (RFC 7323 §3, §4).",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "nagle",
                doc: "A segment shorter than `mss`, as a flow's last may be, waits until all before it is acknowledged \
                      (RFC 9293 §3.7.4).",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "restart_after_idle",
                doc: "After nothing was sent for more than a timeout, the window is at most the initial one (RFC 5681 §4.1).",
                kind: Kind::Flag,
                default: Some("true"),
            },
            Param {
                name: "retransmission_timer",
                doc: "Whether there is a retransmission timer (RFC 6298); without it, a flow whose loss only the timer could \
                      mend never finishes.",
                kind: Kind::Flag,
                default: Some("true"),
            },
            Param {
                name: "window_less_out_of_order",
                doc: "Bytes that wait beyond a gap are taken from the advertised window, whose right edge never moves back \
                      (RFC 9293 §3.8.6): reordering then slows a sender whose `receive_window` is small.",
                kind: Kind::Flag,
                default: Some("false"),
            },
            Param {
                name: "connection",
                doc: "`established` before the flow starts, or opened by a `handshake`, whose time is part of the FCT \
                      (RFC 9293 §3.5).",
                kind: Kind::Choice(&["established", "handshake"]),
                default: Some("established"),
            },
            Param {
                name: "ttl",
                doc: "Time to live of every packet: each switch takes one, and at 0 the packet is lost. `off` is for \
                      switches that bridge, which leave it alone.",
                kind: Kind::CountOrOff { min: 1, max: 255 },
                default: Some("255"),
            },
            $($more),*
        ]
    };
}

const ECN: Param = Param {
    name: "ecn",
    doc: "Data are ECN-capable, and a mark halves the window, at most once a round trip (RFC 3168 §6.1).",
    kind: Kind::Flag,
    default: Some("false"),
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
        doc: "TCP that halves its window at a loss. In fast recovery each partial ACK mends one more: several losses in a \
              window take a round trip each.",
        cite: "RFC 5681, RFC 6582, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "sack",
        doc: "TCP that halves its window at a loss. Selective acknowledgements tell what is lost: several losses in a window \
              are mended together.",
        cite: "RFC 5681, RFC 2018, RFC 2883, RFC 6675, RFC 6298, RFC 3168",
        params: tcp_params![ECN],
    },
    &Spec {
        slot: "transport",
        kind: "dctcp",
        doc: "TCP that cuts its window by half the fraction of its bytes that were marked, and halves it at a loss; always \
              ECN-capable.",
        cite: "RFC 8257; Alizadeh et al., SIGCOMM 2010",
        params: tcp_params![
            Param {
                name: "recovery",
                doc: "How losses are mended: as by `reno` (RFC 5681), `newreno` (RFC 6582) or `sack` (RFC 6675).",
                kind: Kind::Choice(&["reno", "newreno", "sack"]),
                default: Some("sack"),
            },
            Param {
                name: "g",
                doc: "Weight g of the newest window in the estimate (RFC 8257 §4.2).",
                kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
                default: Some("0.0625"),
            },
            Param {
                name: "initial_alpha",
                doc: "The estimate α at the start (RFC 8257 §4.1: 1).",
                kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
                default: Some("1"),
            },
        ],
    },
];

/// Which congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Half of what is under way (RFC 5681).
    Halving,
    Dctcp,
}

/// How losses are mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recovery {
    /// RFC 5681 §3.2: the first ACK of new data ends it.
    Reno,
    /// RFC 6582: partial ACKs go on with it.
    NewReno,
    /// RFC 6675: selective acknowledgements tell what is lost.
    Sack,
}

/// How marks are asked for and echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EcnMode {
    /// Not ECN-capable.
    Off,
    /// The echo is latched until CWR (RFC 3168 §6.1.3).
    Latched,
    /// The echo says of each byte whether it was marked (RFC 8257 §3.2).
    Exact,
}

/// What all flows of a run have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    pub(super) law: Law,
    pub(super) recovery: Recovery,
    pub(super) ecn: EcnMode,
    pub(super) framing: Framing,
    pub(super) mss: u16,
    pub(super) ttl: u8,
    pub(super) window_shift: u8,
    pub(super) limited_transmit: bool,
    pub(super) timestamps: bool,
    pub(super) nagle: bool,
    pub(super) restart_after_idle: bool,
    pub(super) retransmission_timer: bool,
    pub(super) window_less_out_of_order: bool,
    pub(super) handshake: bool,
    pub(super) initial_window: u32,
    pub(super) initial_ssthresh: u32,
    pub(super) receive_window: u32,
    pub(super) dupack_threshold: Option<u32>,
    /// g and the first alpha, in units of 2⁻³⁰.
    pub(super) g: u32,
    pub(super) initial_alpha: u32,
    pub(super) initial_rto: Dur,
    pub(super) min_rto: Dur,
    pub(super) max_rto: Dur,
    pub(super) granularity: Dur,
    pub(super) delayed_ack: Option<Dur>,
    /// What frames that come back do to their flow's window; `None` is nothing.
    pub(super) bounce_signal: Option<WindowCut>,
}

impl TcpConfig {
    /// The configuration of the transport named `kind`; `None` where there is none of that name.
    ///
    /// Values that [`TcpConfig::check`] refuses are brought to the nearest that it accepts.
    pub fn new(kind: &str, values: &Values, framing: Framing) -> Option<TcpConfig> {
        let law = match kind {
            "reno" | "newreno" | "sack" => Law::Halving,
            "dctcp" => Law::Dctcp,
            _ => return None,
        };
        let recovery = match if kind == "dctcp" { values.word("recovery") } else { kind } {
            "reno" => Recovery::Reno,
            "newreno" => Recovery::NewReno,
            _ => Recovery::Sack,
        };
        let ecn = match law {
            Law::Dctcp => EcnMode::Exact,
            Law::Halving if values.flag("ecn") => EcnMode::Latched,
            Law::Halving => EcnMode::Off,
        };
        let fraction = |name| if law == Law::Dctcp { dctcp::fixed(values.number(name)) } else { 0 };
        let mss = values.size("mss").clamp(1, MAX_MSS);
        let (receive_window, window_shift) = scaled(values.size("receive_window"));
        let min_rto = values.time("min_rto");
        let max_rto = values.time("max_rto").max(min_rto);
        Some(TcpConfig {
            law,
            recovery,
            ecn,
            framing,
            mss: mss as u16,
            ttl: values.count_or_off("ttl").map_or(0, |n| n.clamp(1, 255) as u8),
            window_shift,
            limited_transmit: values.flag("limited_transmit"),
            timestamps: values.flag("timestamps"),
            nagle: values.flag("nagle"),
            restart_after_idle: values.flag("restart_after_idle"),
            retransmission_timer: values.flag("retransmission_timer"),
            window_less_out_of_order: values.flag("window_less_out_of_order"),
            handshake: values.word("connection") == "handshake",
            initial_window: initial_window(values, mss).clamp(mss, MAX_WINDOW) as u32,
            initial_ssthresh: values.size("initial_ssthresh").min(MAX_WINDOW) as u32,
            receive_window,
            dupack_threshold: values.count_or_off("dupack_threshold").map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            g: fraction("g"),
            initial_alpha: fraction("initial_alpha"),
            initial_rto: values.time("initial_rto").clamp(min_rto, max_rto),
            min_rto,
            max_rto,
            granularity: values.time("clock_granularity"),
            delayed_ack: values.flag("delayed_ack").then(|| values.time("delayed_ack_timeout")),
            bounce_signal: None,
        })
    }

    /// The same with senders that hear of their frames that come back, by this law (PABO §II-G).
    pub fn with_bounce_signal(self, law: Option<WindowCut>) -> TcpConfig {
        TcpConfig { bounce_signal: law, ..self }
    }

    /// Whether senders want to be told of their frames that come back.
    pub fn hears_bounces(&self) -> bool {
        self.bounce_signal.is_some()
    }

    /// What the declared ranges cannot say: how parameters bound each other.
    ///
    /// # Errors
    /// The parameter at fault and the rule that it breaks.
    pub fn check(values: &Values) -> Result<(), (&'static str, &'static str)> {
        let mss = values.size("mss");
        if mss > MAX_MSS {
            return Err(("mss", "must be at most 9000B"));
        }
        if initial_window(values, mss) < mss {
            return Err(("initial_window", "must be at least one segment (mss)"));
        }
        // The default is the round number; what it is rounded down to is the largest there is.
        if values.size("receive_window") > MAX_WINDOW.next_power_of_two() {
            return Err(("receive_window", "must be at most 1GiB"));
        }
        if values.time("max_rto") < values.time("min_rto") {
            return Err(("max_rto", "must not be below min_rto"));
        }
        Ok(())
    }

    /// Largest payload of a segment, bytes.
    pub fn mss(&self) -> u16 {
        self.mss
    }

    /// Bytes of header options in every data segment: timestamps or none.
    pub fn options(&self) -> u16 {
        if self.timestamps { 12 } else { 0 }
    }

    pub(super) fn window_field(&self) -> u16 {
        (self.receive_window >> self.window_shift) as u16
    }
}

fn initial_window(values: &Values, mss: u64) -> u64 {
    match values.amount("initial_window") {
        Amount::Packets(n) => n.saturating_mul(mss),
        Amount::Bytes(n) => n,
    }
}

/// The window as it can be advertised, and the smallest scale that holds it (RFC 7323 §2.2).
fn scaled(window: u64) -> (u32, u8) {
    let window = window.min(MAX_WINDOW);
    let shift = (0..14).find(|s| window >> s <= 65_535).unwrap_or(14);
    ((window >> shift << shift) as u32, shift as u8)
}
