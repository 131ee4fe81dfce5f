//! Parameters of how losses are found and mended.

use crate::transport::choices::{PackReaction, Recovery, RecoveryWindow, RtoFloor, TimeoutFlight};
use mech::params::{Kind, Param};

/// How losses are repaired, where that is a choice.
pub(super) const RECOVERY: Param = Param {
    name: "recovery",
    doc: "How losses are found and repaired: as by `reno` (RFC 5681), `newreno` (RFC 6582), `sack` (RFC 6675), or by the \
          time of each sending: `rack` (RACK-TLP, RFC 8985), as hosts of today do.",
    kind: Recovery::KIND,
    default: Some("sack"),
};
/// The same, by time unless told otherwise.
pub(super) const RACK: Param = Param { default: Some("rack"), ..RECOVERY };
/// Bytes that count as in flight at a timeout.
pub(super) const TIMEOUT_FLIGHT: Param = Param {
    name: "timeout_flight",
    doc: "Bytes that a timeout halves to get the slow start threshold, with SACK (RFC 6675). `flight_size`: all bytes without \
          a cumulative ACK, SACKed bytes included (RFC 5681 eq. 4). `pipe`: bytes in flight by the scoreboard (RFC 6675 §5).",
    kind: TimeoutFlight::KIND,
    default: Some("flight_size"),
};
/// With `rack`: the rest.
pub(super) const TLP: Param = Param {
    name: "tlp",
    doc: "With `rack`: where no ACK comes for two round trips, a probe asks for what is lost at the end of a flight \
          (RFC 8985 §7).",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const WINDOW_IN_RECOVERY: Param = Param {
    name: "window_in_recovery",
    doc: "With `rack`: the window while losses are repaired, `prr` (RFC 9937) or the `threshold` at once.",
    kind: RecoveryWindow::KIND,
    default: Some("prr"),
};
pub(super) const FRTO: Param = Param {
    name: "frto",
    doc: "With `rack`: a timeout is undone where data that was sent once arrives after it (F-RTO, RFC 5682).",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const EIFEL: Param = Param {
    name: "eifel",
    doc: "With `rack` and `timestamps`: a recovery or a timeout is undone where the echoed timestamp is older than its \
          first retransmission (Eifel, RFC 3522).",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const DSACK_UNDO: Param = Param {
    name: "dsack_undo",
    doc: "With `rack`: a recovery or a timeout is undone where the receiver reports all of its retransmissions as \
          duplicates (RFC 3708, RFC 2883).",
    kind: Kind::Flag,
    default: Some("true"),
};
/// What timers are counted in.
pub(super) const TICK: Param = Param {
    name: "tick",
    doc: "With `rack`: what a host's timers are counted in. They are rounded up to whole ticks, `min_rto` as well, and fire at \
          the tick after, those of 63 ticks and more at every 8th, then every 64th alone, as Linux's do (4 ms at 250 Hz). \
          Each host's ticks have a phase of their own, drawn from the seed. With 0us timers are exact.",
    kind: Kind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const TSO: Param = Param {
    name: "tso",
    doc: "With `rack`: new data leave in bursts of half of the window at most, and wait until a third of it may leave at \
          once, while the last segment left less than 1 ms ago, as Linux lets them for segmentation offload \
          (`tcp_tso_win_divisor`); the end of a burst is acknowledged at once.",
    kind: Kind::Flag,
    default: Some("false"),
};
pub(super) const TSO_RTT_LOG: Param = Param {
    name: "tso_rtt_log",
    doc: "With `tso`: beside what leaves in a 1024th of a second at the rate of pacing a burst may have 64 KiB, halved for each \
          2^`tso_rtt_log` microseconds of the least round-trip time (Linux: `tcp_tso_rtt_log`).",
    kind: Kind::Count { min: 0, max: 31 },
    default: Some("9"),
};
/// Linux's own pacing.
pub(super) const PACING: Param = Param {
    name: "pacing",
    doc: "With `rack`: after a burst (with `tso`, else a segment) the next one waits for as long as it takes at the rate of \
          pacing; not in the first ten segments, and not before a sample of the round-trip time. Linux does so under `fq`, and where a \
          socket asks for it.",
    kind: Kind::Flag,
    default: Some("false"),
};
pub(super) const PACING_SS_RATIO: Param = Param {
    name: "pacing_ss_ratio",
    doc: "The rate of pacing in slow start, below half of the threshold: per cent of a window a smoothed round-trip time (Linux: \
          `tcp_pacing_ss_ratio`). Bursts of `tso` and HyStart go by it, too.",
    kind: Kind::Count { min: 1, max: 1000 },
    default: Some("200"),
};
pub(super) const PACING_CA_RATIO: Param = Param {
    name: "pacing_ca_ratio",
    doc: "The same from there on (Linux: `tcp_pacing_ca_ratio`).",
    kind: Kind::Count { min: 1, max: 1000 },
    default: Some("120"),
};
pub(super) const TIMER_SLACK: Param = Param {
    name: "timer_slack",
    doc: "With `rack`: what the timer of reordering waits longer, and that of a probe with more than one segment \
          outstanding; Linux has 2 ms there.",
    kind: Kind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const LINUX_TIMER_SLACK: Param = Param { default: Some("2ms"), ..TIMER_SLACK };
/// 250 Hz, as most distributions of it have.
pub(super) const LINUX_TICK: Param = Param { default: Some("4ms"), ..TICK };
pub(super) const LINUX_TSO: Param = Param { default: Some("true"), ..TSO };
/// Tick of a Linux 2.6.38 host.
pub(super) const OLD_TICK: Param = Param {
    name: "tick",
    doc: "Tick of a host's clock (1 ms at 1000 Hz), in which timers, timestamps and round-trip times are counted. A timer of n \
          ticks fires at the n-th from now, up to a tick early. Each host's ticks have a phase of their own, drawn from the seed.",
    kind: Kind::Time { min: 1_000_000 },
    default: Some("1ms"),
};
pub(super) const OLD_TSO: Param = Param {
    name: "tso",
    doc: "Segmentation offload: new data wait until a third of the window is free, at most two ticks after the last deferral. \
          The first burst after an idle time has the size of the old window.",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const OLD_FRTO: Param = Param {
    name: "frto",
    doc: "Detection of spurious timeouts (F-RTO, RFC 4138; `tcp_frto` 2): a timeout resends the first segment, then sends two \
          new ones. Everything else is lost only if their ACKs show a loss.",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const FACK: Param = Param {
    name: "fack",
    doc: "Forward acknowledgements (`tcp_fack`): segments more than `dupack_threshold` below the highest SACK are lost, and so \
          are retransmissions that later data overtakes. Reordering turns it off for a connection. `false` counts SACKed \
          segments (RFC 3517), and a lost retransmission waits for a timeout.",
    kind: Kind::Flag,
    default: Some("true"),
};
pub(super) const METRICS_SAVE: Param = Param {
    name: "metrics_save",
    doc: "Memory between connections (`tcp_no_metrics_save` 0): a new connection begins with the slow start threshold, \
          round-trip time, deviation and reordering of earlier ones from its host to the same destination.",
    kind: Kind::Flag,
    default: Some("true"),
};
/// CP at the hosts.
pub(super) const PACK: Param = Param {
    name: "pack",
    doc: "CP (§4): data says that it may be cut (CPA), receivers answer a cut packet with a PACK at once, and senders send \
          again what a PACK says was lost. It needs switches that cut (`trim`), and selective acknowledgements.",
    kind: Kind::Flag,
    default: Some("false"),
};
pub(super) const PACK_DUPACK_THRESHOLD: Param = Param {
    name: "pack_dupack_threshold",
    doc: "With `pack`: the duplicate ACKs that show a loss, in place of `dupack_threshold`, or `off`. CP §4.4 asks for a \
          relatively large number, since only what is lost as a header or a PACK needs them.",
    kind: Kind::CountOrOff { min: 1, max: 1_000_000 },
    default: Some("30"),
};
pub(super) const PACK_REACTION: Param = Param {
    name: "pack_reaction",
    doc: "With `pack`: what a PACK does to the window: a `loss` cuts it once a recovery (CP §4.4), a `mark` does what an \
          echo of congestion does, as some senders have it where switches trim.",
    kind: PackReaction::KIND,
    default: Some("loss"),
};
/// What the least timeout bounds.
pub(super) const RTO_FLOOR: Param = Param {
    name: "rto_floor",
    doc: "What `min_rto` bounds: the `sum`, which is the timeout (RFC 6298 (2.4)); the `deviation`, which is added to the \
          smoothed round-trip time, as Linux has it; or what `backoff` makes of the estimate, so that the first doublings may \
          stay below it (ns-3 until 3.13).",
    kind: RtoFloor::KIND,
    default: Some("sum"),
};
pub(super) const LINUX_RTO_FLOOR: Param = Param { default: Some("deviation"), ..RTO_FLOOR };
