//! Parameters of loss detection and recovery.

use crate::transport::option_values::{PackReaction, Recovery, RecoveryWindow, RtoFloor, TimeoutFlight};
use mech::params::{Param, ParamKind};

/// Parameter `recovery` of transports that let users choose the loss recovery.
pub(super) const RECOVERY: Param = Param {
    name: "recovery",
    doc: "Detection and repair of losses: as in `reno` (RFC 5681), `newreno` (RFC 6582) or `sack` (RFC 6675), or by \
          `rack`. `rack` uses the time of each transmission (RACK-TLP, RFC 8985), as modern Linux hosts do.",
    kind: Recovery::KIND,
    default: Some("sack"),
};
/// Parameter `recovery` with `rack` as default.
pub(super) const RACK: Param = Param { default: Some("rack"), ..RECOVERY };
/// Parameter `timeout_flight`: bytes that count as in flight at a timeout.
pub(super) const TIMEOUT_FLIGHT: Param = Param {
    name: "timeout_flight",
    doc: "Bytes that a timeout halves to get the slow start threshold, with SACK (RFC 6675). `flight_size`: all bytes \
          without a cumulative ACK, SACKed bytes included (RFC 5681 eq. 4). `pipe`: bytes in flight by the scoreboard \
          (RFC 6675 §5).",
    kind: TimeoutFlight::KIND,
    default: Some("flight_size"),
};
/// Parameter `tlp`: tail loss probes.
pub(super) const TLP: Param = Param {
    name: "tlp",
    doc: "Tail loss probe: if no ACK comes for two round trips, a probe detects losses at the end of a flight (RFC \
          8985 §7). Only with `rack`.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const WINDOW_IN_RECOVERY: Param = Param {
    name: "window_in_recovery",
    doc: "Window while losses are recovered: by `prr` (RFC 9937), or the slow start `threshold` from the start. Only \
          with `rack`.",
    kind: RecoveryWindow::KIND,
    default: Some("prr"),
};
pub(super) const FRTO: Param = Param {
    name: "frto",
    doc: "Undoes a timeout if data that was sent only once arrives after it (F-RTO, RFC 5682). Only with `rack`.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const EIFEL: Param = Param {
    name: "eifel",
    doc: "Undoes a recovery or a timeout if the echoed timestamp is older than its first retransmission (Eifel, RFC \
          3522). Only with `rack` and `timestamps`.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const DSACK_UNDO: Param = Param {
    name: "dsack_undo",
    doc: "Undoes a recovery or a timeout if the receiver reports all of its retransmissions as duplicates (RFC 3708, \
          RFC 2883). Only with `rack`.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
/// Parameter `tick`: length of a tick of a host's timers.
pub(super) const TICK: Param = Param {
    name: "tick",
    doc: "Tick of a host's timers. Timeouts and `min_rto` are rounded up to whole ticks, and timers fire at the tick \
          after. From 63 ticks on they fire only at every 8th tick, later at every 64th, as in Linux (4 ms at 250 Hz). \
          The ticks of each host have a phase of their own, drawn from the seed. With 0us timers are exact. Only with \
          `rack`.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const TSO: Param = Param {
    name: "tso",
    doc: "Segmentation offload as in Linux: new data leaves in bursts of at most half of the window. It waits until a \
          third of the window may leave together, while the last segment left less than 1 ms ago \
          (`tcp_tso_win_divisor`). The end of a burst is acknowledged immediately. Only with `rack`.",
    kind: ParamKind::Flag,
    default: Some("false"),
};
pub(super) const TSO_RTT_LOG: Param = Param {
    name: "tso_rtt_log",
    doc: "Length of bursts over short paths, with `tso`. A burst may have the data of a 1024th of a second at the \
          pacing rate, and 64 KiB more. The 64 KiB are halved for each 2^`tso_rtt_log` us of the minimum round-trip \
          time (Linux: `tcp_tso_rtt_log`).",
    kind: ParamKind::Count { min: 0, max: 31 },
    default: Some("9"),
};
/// Parameter `pacing`: TCP pacing by the sender, as in Linux.
pub(super) const PACING: Param = Param {
    name: "pacing",
    doc: "Paces a sender. After a burst (with `tso`) or a segment, the next one waits as long as the sent bytes take at \
          the pacing rate. The first ten segments, and all before a sample of the round-trip time, are not \
          paced. Linux paces with `fq`, or if a socket requests it. Only with `rack`.",
    kind: ParamKind::Flag,
    default: Some("false"),
};
pub(super) const PACING_SS_RATIO: Param = Param {
    name: "pacing_ss_ratio",
    doc: "Pacing rate in slow start, while the window is below half of the threshold: per cent of a window per \
          smoothed round-trip time (Linux: `tcp_pacing_ss_ratio`). Bursts of `tso` and HyStart use it as well.",
    kind: ParamKind::Count { min: 1, max: 1000 },
    default: Some("200"),
};
pub(super) const PACING_CA_RATIO: Param = Param {
    name: "pacing_ca_ratio",
    doc: "Pacing rate from half of the slow start threshold on, in per cent as `pacing_ss_ratio` (Linux: \
          `tcp_pacing_ca_ratio`).",
    kind: ParamKind::Count { min: 1, max: 1000 },
    default: Some("120"),
};
pub(super) const TIMER_SLACK: Param = Param {
    name: "timer_slack",
    doc: "Additional delay of the reordering timer, and of a probe with more than one segment outstanding. Linux has 2 \
          ms. Only with `rack`.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const LINUX_TIMER_SLACK: Param = Param { default: Some("2ms"), ..TIMER_SLACK };
/// Parameter `tick` of a 250 Hz kernel, the setting of most Linux distributions.
pub(super) const LINUX_TICK: Param = Param { default: Some("4ms"), ..TICK };
pub(super) const LINUX_TSO: Param = Param { default: Some("true"), ..TSO };
/// Parameter `tick` of a Linux 2.6.38 host.
pub(super) const LINUX_2_6_38_TICK: Param = Param {
    name: "tick",
    doc: "Tick of a host's clock, which counts timers, timestamps and round-trip times (1 ms at 1000 Hz). A timer of n \
          ticks fires at the n-th tick from now, so up to a tick early. The ticks of each host have a phase of their \
          own, drawn from the seed.",
    kind: ParamKind::Time { min: 1_000_000 },
    default: Some("1ms"),
};
pub(super) const LINUX_2_6_38_TSO: Param = Param {
    name: "tso",
    doc: "Segmentation offload: new data waits until a third of the window is free, or until two ticks have passed \
          since the sender last decided to hold it. The first burst after an idle time has the size of the old window.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const LINUX_2_6_38_FRTO: Param = Param {
    name: "frto",
    doc: "Detection of spurious timeouts (F-RTO, RFC 4138; `tcp_frto` 2): a timeout resends the first segment, then \
          sends two new ones. Everything else is lost only if their ACKs show a loss.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const FACK: Param = Param {
    name: "fack",
    doc: "Forward acknowledgements (`tcp_fack`): segments more than `dupack_threshold` below the highest SACK are \
          lost, and so are retransmissions that later data overtakes. Reordering turns it off for a connection. With \
          `false`, SACKed segments are counted (RFC 3517), and a lost retransmission waits for a timeout.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
pub(super) const METRICS_SAVE: Param = Param {
    name: "metrics_save",
    doc: "Memory between connections (`tcp_no_metrics_save` 0). A new connection begins with the slow start threshold, \
          round-trip time, deviation and reordering of earlier ones from its host to the same destination.",
    kind: ParamKind::Flag,
    default: Some("true"),
};
/// Parameter `pack`: support of PACKs (precise ACKs of Cut Payload) at hosts.
pub(super) const PACK: Param = Param {
    name: "pack",
    doc: "Hosts of CP (§4): senders mark data as trimmable (CPA), and receivers send a PACK immediately for a cut \
          packet. Senders retransmit the bytes that a PACK reports as lost. Needs switches that cut (`trim`), and \
          selective acknowledgements.",
    kind: ParamKind::Flag,
    default: Some("false"),
};
pub(super) const PACK_DUPACK_THRESHOLD: Param = Param {
    name: "pack_dupack_threshold",
    doc: "Number of duplicate ACKs that show a loss with `pack`, instead of `dupack_threshold`; or `off`. CP §4.4 \
          recommends a relatively large number: only losses of headers and PACKs need it.",
    kind: ParamKind::CountOrOff { min: 1, max: 1_000_000 },
    default: Some("30"),
};
pub(super) const PACK_REACTION: Param = Param {
    name: "pack_reaction",
    doc: "Effect of a PACK on the window, with `pack`. `loss`: a cut once per recovery (CP §4.4). `mark`: the same as \
          an echo of a mark, as in some senders for switches that trim.",
    kind: PackReaction::KIND,
    default: Some("loss"),
};
/// Parameter `rto_floor`: part of the timeout that the minimum RTO bounds.
pub(super) const RTO_FLOOR: Param = Param {
    name: "rto_floor",
    doc: "Quantity that `min_rto` bounds. `sum`: the timeout (RFC 6298 (2.4)). `deviation`: the part that is added to \
          the smoothed round-trip time, as in Linux. `backoff`: the timeout after back-off, which doubles the estimate \
          even while it is below `min_rto` (ns-3 until 3.13).",
    kind: RtoFloor::KIND,
    default: Some("sum"),
};
pub(super) const LINUX_RTO_FLOOR: Param = Param { default: Some("deviation"), ..RTO_FLOOR };
