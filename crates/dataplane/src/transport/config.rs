//! Configuration of a transport: its validated parameters as plain data, shared by all flows that use it.

mod losses;
mod roce;

use super::fraction;
use super::kernel::{Kernel, SackRules};
use super::linux_pacing::PacingChoices;
pub(super) use super::option_values::Recovery;
use super::option_values::{
    CongestionControl, CongestionControl2_6_38, Connection, Priority, ProbePriority, RtoFloor, TimeoutFlight,
};
use super::tick_clock::TickClock;
use crate::Framing;
use losses::threshold;
pub(super) use losses::{PackChoices, RackChoices};
use mech::host::WindowCut;
use mech::params::Values;
use mech::{Ecn, Head, HostId, hash_mix};
use units::{Amount, Dur};

/// Largest payload of a segment in bytes, that of a jumbo frame.
pub const MAX_MSS: u64 = 9000;
/// Largest window that a 16-bit field and a scale of 14 can advertise (RFC 7323 §2.3).
pub(super) const MAX_WINDOW: u64 = 65_535 << 14;

/// Hash domain that separates the random phases of host clocks from other random draws of a run.
const CLOCK_PHASE_DOMAIN: u64 = 0x7469_636b;

/// Bytes of the timestamps option with its padding (RFC 7323 §3, appendix A).
const TIMESTAMP_OPTION_BYTES: u16 = 12;

/// Largest number of consecutive ACKs without delay under `quick_acks`, as in Linux (`TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u64 = 16;

/// Congestion control of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CongestionKind {
    /// Reno: a loss halves FlightSize (RFC 5681 eq. 4).
    Reno,
    Dctcp,
    /// pFabric: only timeouts halve the window (pFabric §4.3).
    PFabric,
    /// CUBIC (RFC 9438).
    Cubic,
    /// BIC, available for Linux 2.6.38 only.
    Bic,
    /// No congestion window: the NIC limits the rate of the flow (RoCE).
    NicRate,
}

/// ECN of a transport: if its data is ECN-capable, and how receivers echo marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EcnMode {
    /// No ECN: data packets are not ECN-capable.
    Off,
    /// ECN-Echo in every ACK after a mark, until CWR arrives (RFC 3168 §6.1.3).
    Latched,
    /// ECN-Echo that reports for each acknowledged byte if it was marked (DCTCP, RFC 8257 §3.2).
    Exact,
    /// No ECN-Echo in ACKs: the receiver's NIC reports marks (DCQCN's CNP).
    ByNic,
}

/// Parameters of a transport at one end of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    pub(super) law: CongestionKind,
    pub(super) recovery: Recovery,
    pub(super) ecn: EcnMode,
    pub(super) framing: Framing,
    pub(super) mss: u16,
    /// Time to live of every packet, raw packets included; 0 if switches do not decrement it.
    pub(crate) ttl: u8,
    pub(super) window_shift: u8,
    /// Bits that all data packets have in `tos`, beside the flow's class and the ECN codepoint.
    pub(super) tos: u8,
    /// ECN codepoint of pure ACKs and of SYNs: not ECN-capable, except with the DCTCP patch of Linux 2.6.38.
    pub(super) ack_ecn: u8,
    /// Header bytes of a data frame beyond those of `framing`: TCP options, or RoCE's headers.
    pub(super) options: u16,
    /// Size in bytes of the frame of an ACK without options.
    pub(super) ack_size: u16,
    /// True for go-back-N (RoCE): the receiver discards out-of-order data, and its NAK makes the sender go back.
    pub(super) go_back_n: bool,
    pub(super) limited_transmit: bool,
    pub(super) timestamps: bool,
    pub(super) nagle: bool,
    pub(super) restart_after_idle: bool,
    /// Linux kernel whose rules replace or complete those of the RFCs.
    pub(super) kernel: Kernel,
    pub(super) fast_convergence: bool,
    pub(super) hystart: bool,
    pub(super) tail_on_ack: bool,
    pub(super) short_segments: bool,
    /// Number of ACKs without delay at the start, and when the sender may be waiting for one; 0 turns quick ACKs off.
    pub(super) quick_acks: u8,
    pub(super) retransmission_timer: bool,
    pub(super) window_less_out_of_order: bool,
    pub(super) handshake: bool,
    /// True if the rank of a data packet (pFabric priority) is the remaining bytes of its flow; otherwise it is 0.
    pub(super) by_remaining: bool,
    pub(super) sack_opens_window: bool,
    /// True if a timeout sets ssthresh to half of the pipe (RFC 6675 §5), not of FlightSize with its SACKed bytes.
    pub(super) timeout_halves_pipe: bool,
    /// True if pFabric's one-byte probes have the rank of data; otherwise their rank is 0.
    pub(super) probes_as_data: bool,
    /// Number of consecutive timeouts after which a pFabric sender only sends probes; `u32::MAX` for never.
    pub(super) probe_after: u32,
    pub(super) max_window: u32,
    pub(super) initial_window: u32,
    pub(super) initial_ssthresh: u32,
    pub(super) receive_window: u32,
    /// Receive window of the other end in bytes, and the shift of its window field.
    pub(super) peer_window: u32,
    pub(super) peer_shift: u8,
    pub(super) dupack_threshold: Option<u32>,
    /// DCTCP's weight g and initial α, in units of 2⁻³⁰.
    pub(super) g: u32,
    pub(super) initial_alpha: u32,
    pub(super) initial_rto: Dur,
    pub(super) min_rto: Dur,
    pub(super) max_rto: Dur,
    /// Length of a tick of the host's timers; zero if timers are exact.
    pub(super) tick: Dur,
    /// Round-trip time measured by the handshake of an established connection; zero for none.
    pub(super) handshake_rtt: Dur,
    /// Seed from which the phases of the hosts' clocks are drawn.
    pub(super) seed: u64,
    pub(super) granularity: Dur,
    pub(super) delayed_ack: Option<Dur>,
    pub(super) rto_floor: RtoFloor,
    /// Loss detection and recovery of a sender that keeps the state of every segment.
    pub(super) rack: RackChoices,
    /// True if a new connection starts with the measurements of earlier ones to its destination.
    pub(super) keeps_metrics: bool,
    pub(super) pacing: PacingChoices,
    /// Reaction to PACKs (precise ACKs of Cut Payload); `None` if either end does not support them.
    pub(super) pack: Option<PackChoices>,
    /// Window cut for bounced frames of a flow (PABO §II-G); `None` if the sender ignores them.
    pub(super) bounce_signal: Option<WindowCut>,
}

impl TcpConfig {
    /// Returns the configuration of the transport named `kind`, or `None` if no transport has that name.
    ///
    /// Values that [`TcpConfig::check`] refuses are replaced by the nearest accepted ones.
    pub fn new(kind: &str, values: &Values, framing: Framing) -> Option<TcpConfig> {
        let law = match kind {
            "roce" => return Some(roce::roce_config(values, framing)),
            "reno" | "newreno" | "sack" => CongestionKind::Reno,
            "dctcp" => CongestionKind::Dctcp,
            "pfabric" => CongestionKind::PFabric,
            "cubic" => CongestionKind::Cubic,
            "linux" => match values.get("congestion_control") {
                CongestionControl::Cubic => CongestionKind::Cubic,
                CongestionControl::Reno => CongestionKind::Reno,
            },
            "linux_2_6_38" => match values.get("congestion_control") {
                CongestionControl2_6_38::Reno => CongestionKind::Reno,
                CongestionControl2_6_38::Bic => CongestionKind::Bic,
            },
            "linux_dctcp" | "linux_2_6_38_dctcp" => CongestionKind::Dctcp,
            _ => return None,
        };
        let recovery = match kind {
            "reno" => Recovery::Reno,
            "newreno" => Recovery::NewReno,
            "dctcp" | "cubic" | "linux" | "linux_dctcp" => values.get("recovery"),
            _ => Recovery::Sack,
        };
        let ecn = match law {
            CongestionKind::Dctcp => EcnMode::Exact,
            CongestionKind::PFabric => EcnMode::Off,
            CongestionKind::Reno | CongestionKind::Cubic | CongestionKind::Bic if values.flag("ecn") => {
                EcnMode::Latched
            }
            CongestionKind::Reno | CongestionKind::Cubic | CongestionKind::Bic | CongestionKind::NicRate => {
                EcnMode::Off
            }
        };
        let [g, initial_alpha] = dctcp_estimate(law, values);
        let mss = values.size("mss").clamp(1, MAX_MSS);
        let (receive_window, window_shift) = scaled_window(values.size("receive_window"));
        let fixed = law == CongestionKind::PFabric;
        let kernel = Kernel::for_transport(kind);
        let handshake = values.get::<Connection>("connection") == Connection::Handshake;
        // An established connection of Linux 6.18 has a sample and begins with the minimum RTO. Linux 2.6.38 forgets
        // the sample of a handshake without timestamps (`tcp_init_metrics`), which depends on the peer too.
        let begins = kernel == Kernel::Linux6_18 && !handshake;
        let [min_rto, max_rto, initial_rto] = match fixed {
            true => ["rto"; 3],
            false => ["min_rto", "max_rto", "initial_rto"],
        }
        .map(|name| values.time(name));
        let by_segment = kernel.keeps_segments(recovery);
        let tick = if by_segment { values.time("tick") } else { Dur::ZERO };
        // Timers count in ticks, so the minimum RTO is a whole number of them.
        let min_rto = if tick == Dur::ZERO { min_rto } else { Dur(min_rto.0.div_ceil(tick.0).saturating_mul(tick.0)) };
        let max_rto = max_rto.max(min_rto);
        let initial_window = window_bytes(values, "initial_window", mss).clamp(mss, MAX_WINDOW);
        let max_window = if fixed { window_bytes(values, "max_window", mss).max(initial_window) } else { MAX_WINDOW };
        Some(TcpConfig {
            law,
            recovery,
            ecn,
            framing,
            mss: mss as u16,
            ttl: values.count_or_off("ttl").map_or(0, |n| n.clamp(1, 255) as u8),
            window_shift,
            tos: 0,
            ack_ecn: if kernel == Kernel::Linux2_6_38 && law == CongestionKind::Dctcp { Ecn::Ect0 as u8 } else { 0 },
            options: if values.flag("timestamps") { TIMESTAMP_OPTION_BYTES } else { 0 },
            ack_size: framing.frame_size(0, 0),
            go_back_n: false,
            limited_transmit: values.flag("limited_transmit"),
            timestamps: values.flag("timestamps"),
            nagle: values.flag("nagle"),
            restart_after_idle: values.flag("restart_after_idle"),
            kernel,
            fast_convergence: law == CongestionKind::Cubic && values.flag("fast_convergence"),
            hystart: law == CongestionKind::Cubic && values.flag("hystart"),
            tail_on_ack: values.flag("tail_on_ack"),
            short_segments: values.flag("short_segments"),
            quick_acks: match values.flag("quick_acks") {
                true => (u64::from(receive_window) / (2 * mss)).clamp(2, MAX_QUICK_ACKS) as u8,
                false => 0,
            },
            retransmission_timer: values.flag("retransmission_timer"),
            window_less_out_of_order: values.flag("window_less_out_of_order"),
            handshake,
            by_remaining: values.get::<Priority>("priority") == Priority::Remaining,
            timeout_halves_pipe: recovery == Recovery::Sack
                && values.has("timeout_flight")
                && values.get::<TimeoutFlight>("timeout_flight") == TimeoutFlight::Pipe,
            sack_opens_window: fixed && values.flag("sack_opens_window"),
            probes_as_data: fixed && values.get::<ProbePriority>("probe_priority") == ProbePriority::Priority,
            probe_after: match fixed {
                true => values.count_or_off("probe_after").map_or(u32::MAX, |n| n as u32),
                false => u32::MAX,
            },
            max_window: max_window.min(MAX_WINDOW) as u32,
            initial_window: initial_window as u32,
            initial_ssthresh: values.size("initial_ssthresh").min(MAX_WINDOW) as u32,
            receive_window,
            peer_window: receive_window,
            peer_shift: window_shift,
            dupack_threshold: threshold(values, "dupack_threshold"),
            g,
            initial_alpha,
            initial_rto: if begins { min_rto } else { initial_rto.clamp(min_rto, max_rto) },
            min_rto,
            max_rto,
            tick,
            handshake_rtt: if fixed { Dur::ZERO } else { values.time("handshake_rtt") },
            seed: 0,
            // Linux 2.6.38 takes timestamps from the clock of its timers.
            granularity: if kernel == Kernel::Linux2_6_38 { tick } else { values.time("clock_granularity") },
            delayed_ack: values.flag("delayed_ack").then(|| delayed_ack(kernel, values, [min_rto, tick])),
            rto_floor: if values.has("rto_floor") { values.get("rto_floor") } else { RtoFloor::Sum },
            rack: match (kernel, by_segment) {
                (Kernel::Linux2_6_38, _) => RackChoices::for_linux_2_6_38(values),
                (_, true) => RackChoices::new(values).with_recovery(recovery),
                (_, false) => RackChoices::default(),
            },
            keeps_metrics: kernel == Kernel::Linux2_6_38 && values.flag("metrics_save"),
            pacing: PacingChoices::new(values, by_segment),
            pack: PackChoices::new(values).filter(|_| recovery.has_sack()),
            bounce_signal: None,
        })
    }

    /// Returns this configuration with senders that react to bounced frames by `law` (PABO §II-G).
    pub fn with_bounce_signal(self, law: Option<WindowCut>) -> TcpConfig {
        TcpConfig { bounce_signal: law, ..self }
    }

    /// Returns this configuration for a run with this seed, which determines the phases of host clocks.
    pub fn with_seed(self, seed: u64) -> TcpConfig {
        TcpConfig { seed, ..self }
    }

    /// Returns the tick clock of a host. Every phase is equally likely, since hosts boot at unknown times.
    #[inline]
    pub(super) fn host_ticks(&self, host: HostId) -> TickClock {
        let phase = match self.tick {
            Dur::ZERO => 0,
            // A hash, not a draw from a stream: the phase must not depend on the order in which hosts appear.
            every => hash_mix(hash_mix(self.seed, CLOCK_PHASE_DOMAIN), u64::from(host.0)) % every.0,
        };
        TickClock { every: self.tick, phase: Dur(phase), wheel: self.kernel.timer_wheel() }
    }

    /// Returns true if the receiver's NIC reports marked data (CNPs), because ACKs do not echo marks.
    pub fn uses_cnps(&self) -> bool {
        self.ecn == EcnMode::ByNic
    }

    /// Returns true if data can carry marks.
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn != EcnMode::Off
    }

    /// Returns true if the windows that this end advertises are scaled by more than 1 (RFC 7323 §2).
    pub fn scales_windows(&self) -> bool {
        self.window_shift > 0
    }

    /// Returns true if a window field of this value lets a sender with nothing in flight send a segment.
    /// The window needs space for a full segment, unless the sender sends shorter ones (RFC 9293 §3.8.6.2.1).
    pub fn can_send_into(&self, field: u64) -> bool {
        self.short_segments || field << self.window_shift >= u64::from(self.mss)
    }

    /// Returns true if losses are detected by the send time of each segment (RFC 8985).
    pub fn detects_losses_by_time(&self) -> bool {
        self.recovery == Recovery::Rack
    }

    /// Returns true if senders may undo spurious recoveries and timeouts.
    pub fn undoes_recoveries(&self) -> bool {
        self.detects_losses_by_time() || self.follows_linux_2_6_38()
    }

    /// Returns true if the transport follows a Linux kernel.
    #[inline]
    pub(super) fn is_linux(&self) -> bool {
        self.kernel.is_linux()
    }

    /// Returns true if round-trip times come from timestamps (RFC 7323 §4.1). Timestamps of Linux are too coarse.
    #[inline]
    pub(super) fn measures_rtt_by_timestamps(&self) -> bool {
        self.timestamps && !self.is_linux()
    }

    /// Returns true if loss recovery follows the states of Linux 6.18's sender, with or without SACK.
    #[inline]
    pub(super) fn follows_linux_6_18(&self) -> bool {
        self.kernel == Kernel::Linux6_18 && self.keeps_segments()
    }

    /// Returns true if the sender keeps the state of every segment.
    #[inline]
    pub(super) fn keeps_segments(&self) -> bool {
        self.kernel.keeps_segments(self.recovery)
    }

    /// Returns true if the sender follows Linux 2.6.38.
    #[inline]
    pub(super) fn follows_linux_2_6_38(&self) -> bool {
        self.kernel == Kernel::Linux2_6_38
    }

    /// Returns the rules for SACK blocks of the Linux kernel that the transport follows.
    pub(super) fn sack_rules(&self) -> SackRules {
        self.kernel.sack_rules(self.rack.fack, self.rack.tso)
    }

    /// Returns true if hosts keep measurements of a connection for later ones to the same destination.
    pub fn keeps_metrics(&self) -> bool {
        self.keeps_metrics
    }

    /// Returns true if both ends support PACK: switches may trim data, and receivers reply with PACKs (Cut Payload §4).
    pub fn supports_packs(&self) -> bool {
        self.pack.is_some()
    }

    /// Returns true if switches may trim the payload of data. RoCE forbids it: go-back-N cannot use a header alone.
    pub fn allows_trimming(&self) -> bool {
        self.tos & Head::NOT_TRIMMABLE == 0
    }

    /// Returns true if senders cut their window when their frames bounce.
    pub fn reacts_to_bounces(&self) -> bool {
        self.bounce_signal.is_some()
    }

    /// Checks the parameter values for limits that their declared ranges cannot express.
    ///
    /// # Errors
    /// The faulty parameter, and the rule that it breaks.
    pub fn check(values: &Values) -> Result<(), (&'static str, &'static str)> {
        let mss = values.size("mss");
        if mss > MAX_MSS {
            return Err(("mss", "must be at most 9000B"));
        }
        if values.has("ack_size") {
            return roce::check_roce(values);
        }
        if window_bytes(values, "initial_window", mss) < mss {
            return Err(("initial_window", "must be at least one segment (mss)"));
        }
        if values.has("max_window")
            && window_bytes(values, "max_window", mss) < window_bytes(values, "initial_window", mss)
        {
            return Err(("max_window", "must not be below initial_window"));
        }
        // The largest window that can be advertised is slightly below 1 GiB. The default of 1 GiB must be accepted too.
        if values.size("receive_window") > MAX_WINDOW.next_power_of_two() {
            return Err(("receive_window", "must be at most 1GiB"));
        }
        let is_without_sack = values.has("recovery") && !values.get::<Recovery>("recovery").has_sack();
        if is_without_sack && values.has("pack") && values.flag("pack") {
            return Err((
                "pack",
                "must be false unless recovery is \"sack\" or \"rack\", because PACKs need a scoreboard (CP §4.4)",
            ));
        }
        if values.has("max_rto") && values.time("max_rto") < values.time("min_rto") {
            return Err(("max_rto", "must not be below min_rto"));
        }
        Ok(())
    }

    /// Returns the first frame size parameter that is too small for the framing's headers, with its minimum in bytes.
    /// Only RoCE's frames have sizes of their own; TCP's consist of the framing's headers and options.
    pub fn undersized_frame(values: &Values, framing: &Framing) -> Option<(&'static str, u64)> {
        if values.has("ack_size") { roce::undersized_roce_frame(values, framing) } else { None }
    }

    /// Returns the largest number of bytes that a flow may have in flight at its start.
    pub fn initial_window_bytes(&self) -> u64 {
        u64::from(self.initial_window.min(self.receive_window))
    }
    /// Returns the timeout of go-back-N, which does not back off; `None` for transports without go-back-N.
    pub fn go_back_timeout(&self) -> Option<Dur> {
        self.go_back_n.then_some(self.initial_rto)
    }
    /// Largest payload of a segment in bytes.
    pub fn mss(&self) -> u16 {
        self.mss
    }

    /// Bytes of headers in every data segment beyond those of the framing: timestamps if any, or RoCE's headers.
    pub fn data_option_bytes(&self) -> u16 {
        self.options
    }
    /// Header bytes of an ACK without SACK blocks, beyond those of the framing.
    pub fn ack_option_bytes(&self) -> u16 {
        if self.go_back_n {
            self.ack_size.saturating_sub(self.framing.header + self.framing.link)
        } else {
            self.options
        }
    }
    /// Returns true if the transport has no window and needs a NIC that sets the rate of each flow.
    pub fn is_rate_based(&self) -> bool {
        self.law == CongestionKind::NicRate
    }
    /// Returns true if ACKs echo congestion marks, and CWR confirms the echo.
    pub(crate) fn echoes_marks(&self) -> bool {
        matches!(self.ecn, EcnMode::Latched | EcnMode::Exact)
    }

    pub(super) fn window_field(&self) -> u16 {
        (self.receive_window >> self.window_shift) as u16
    }
}

/// Returns the weight g and the initial value of DCTCP's α, in units of 2⁻³⁰; zeros for other transports.
/// The patch for Linux 2.6.38 has a weight that is a power of two, and a first value of 0.
fn dctcp_estimate(law: CongestionKind, values: &Values) -> [u32; 2] {
    match law {
        CongestionKind::Dctcp if values.has("shift_g") => [1 << (30 - values.count("shift_g")), 0],
        CongestionKind::Dctcp => ["g", "initial_alpha"].map(|name| fraction::to_fraction(values.number(name))),
        _ => [0; 2],
    }
}

/// Returns the longest time for which a receiver delays an ACK.
/// Linux 6.18 bounds it by the minimum RTO less one tick (`tcp_delack_max`; 1 ms for an exact clock). If half of the
/// minimum RTO is longer, that is the bound. Linux 2.6.38 has no such bound.
fn delayed_ack(kernel: Kernel, values: &Values, [min_rto, tick]: [Dur; 2]) -> Dur {
    let asked = values.time("delayed_ack_timeout");
    let tick = if tick == Dur::ZERO { Dur::ms(1) } else { tick };
    let below = Dur(min_rto.0.saturating_sub(tick.0).max(min_rto.0 / 2));
    if kernel == Kernel::Linux6_18 { asked.min(below) } else { asked }
}

pub(super) fn window_bytes(values: &Values, name: &str, mss: u64) -> u64 {
    match values.amount(name) {
        Amount::Packets(n) => n.saturating_mul(mss),
        Amount::Bytes(n) => n,
    }
}

/// Returns the largest window that can be advertised up to `window`, and the smallest scale for it (RFC 7323 §2.2).
fn scaled_window(window: u64) -> (u32, u8) {
    let window = window.min(MAX_WINDOW);
    let shift = (0..14).find(|s| window >> s <= 65_535).unwrap_or(14);
    ((window >> shift << shift) as u32, shift as u8)
}
