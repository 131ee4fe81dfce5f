//! What all flows of a run have in common: the validated parameters of a transport as plain data.

mod losses;
mod roce;

pub(super) use super::choices::Recovery;
use super::choices::{
    CongestionControl, Connection, OldCongestionControl, Priority, ProbePriority, RtoFloor, TimeoutFlight,
};
use super::fraction;
use super::kernel::{Kernel, SackRules};
use super::linux_pacing::PacingChoices;
use super::ticks::Ticks;
use crate::Framing;
use losses::threshold;
pub(super) use losses::{PackChoices, RackChoices};
use mech::host::WindowCut;
use mech::params::Values;
use mech::{Ecn, Head, HostId, hash_mix};
use units::{Amount, Dur};

/// Longest segment that is accepted, bytes of payload: a jumbo frame's.
pub const MAX_MSS: u64 = 9000;
/// Largest window that a 16-bit field and a scale of 14 can advertise (RFC 7323 §2.3).
pub(super) const MAX_WINDOW: u64 = 65_535 << 14;

/// What tells the phases of clocks from other draws of a run.
const TICKS: u64 = 0x7469_636b;

/// Bytes of the timestamps option with its padding (RFC 7323 §3, appendix A).
const TIMESTAMPS: u16 = 12;

/// Most ACKs in a row that are sent at once by `quick_acks`, as in Linux.
const QUICK_ACKS: u64 = 16;

/// Which congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// Half of what is under way (RFC 5681).
    Halving,
    Dctcp,
    /// Half of the window, at timeouts alone (pFabric §4.3).
    PFabric,
    /// RFC 9438.
    Cubic,
    /// BIC, which only Linux 2.6.38 has.
    Bic,
    /// Open for all that is written: the NIC says at which rate it is sent (RoCE).
    Open,
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
    /// Nothing is echoed: the NIC of the receiver tells of marks (DCQCN's CNP).
    Told,
}

/// What all flows of a run have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    pub(super) law: Law,
    pub(super) recovery: Recovery,
    pub(super) ecn: EcnMode,
    pub(super) framing: Framing,
    pub(super) mss: u16,
    /// Time to live of every packet, raw ones too; 0 where nothing takes from it.
    pub(crate) ttl: u8,
    pub(super) window_shift: u8,
    /// Bits that all data have in its `tos` beside the class of the flow and the ECN codepoint.
    pub(super) tos: u8,
    /// ECN codepoint of pure ACKs and of SYNs: not ECN-capable, except with the DCTCP patch of Linux 2.6.38.
    pub(super) ack_ecn: u8,
    /// Bytes of headers of data beyond those of the framing.
    pub(super) options: u16,
    /// Bytes of the frame of an ACK without options.
    pub(super) ack_size: u16,
    /// What is out of order is discarded and asked for again by a NAK, and the sender goes back to it (RoCE).
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
    /// ACKs that are sent at once at the start, and after what a sender may be waiting for; 0 where delayed ACKs
    /// know no others.
    pub(super) quick_acks: u8,
    pub(super) retransmission_timer: bool,
    pub(super) window_less_out_of_order: bool,
    pub(super) handshake: bool,
    /// The rank of data is what remains of the flow; else 0.
    pub(super) by_remaining: bool,
    pub(super) sack_opens_window: bool,
    /// A timeout halves what is in flight by the scoreboard, and not all that is not acknowledged cumulatively.
    pub(super) timeout_halves_pipe: bool,
    /// The rank of probes is that of data; else 0.
    pub(super) probes_as_data: bool,
    /// Timeouts in a row after which it probes; the largest number is never.
    pub(super) probe_after: u32,
    pub(super) max_window: u32,
    pub(super) initial_window: u32,
    pub(super) initial_ssthresh: u32,
    pub(super) receive_window: u32,
    /// The same at the other end, and by how many bits what that advertises is shifted.
    pub(super) peer_window: u32,
    pub(super) peer_shift: u8,
    pub(super) dupack_threshold: Option<u32>,
    /// g and the first alpha, in units of 2⁻³⁰.
    pub(super) g: u32,
    pub(super) initial_alpha: u32,
    pub(super) initial_rto: Dur,
    pub(super) min_rto: Dur,
    pub(super) max_rto: Dur,
    /// What timers are counted in; zero where time is continuous.
    pub(super) tick: Dur,
    /// What the handshake of a connection that was opened before measured; zero for nothing.
    pub(super) handshake_rtt: Dur,
    /// What the phases of the hosts' clocks are drawn from.
    pub(super) seed: u64,
    pub(super) granularity: Dur,
    pub(super) delayed_ack: Option<Dur>,
    pub(super) rto_floor: RtoFloor,
    /// What a sender does that finds losses by time.
    pub(super) rack: RackChoices,
    /// True if a new connection begins with the measurements of earlier ones to its destination.
    pub(super) keeps_metrics: bool,
    pub(super) pacing: PacingChoices,
    /// What both ends do with PACKs; `None` where either knows none.
    pub(super) pack: Option<PackChoices>,
    /// What frames that come back do to their flow's window; `None` is nothing.
    pub(super) bounce_signal: Option<WindowCut>,
}

impl TcpConfig {
    /// The configuration of the transport named `kind`; `None` where there is none of that name.
    ///
    /// Values that [`TcpConfig::check`] refuses are brought to the nearest that it accepts.
    pub fn new(kind: &str, values: &Values, framing: Framing) -> Option<TcpConfig> {
        let law = match kind {
            "roce" => return Some(roce::config(values, framing)),
            "reno" | "newreno" | "sack" => Law::Halving,
            "dctcp" => Law::Dctcp,
            "pfabric" => Law::PFabric,
            "cubic" => Law::Cubic,
            "linux" => match values.get("congestion_control") {
                CongestionControl::Cubic => Law::Cubic,
                CongestionControl::Reno => Law::Halving,
            },
            "linux_2_6_38" => match values.get("congestion_control") {
                OldCongestionControl::Reno => Law::Halving,
                OldCongestionControl::Bic => Law::Bic,
            },
            "linux_dctcp" | "linux_2_6_38_dctcp" => Law::Dctcp,
            _ => return None,
        };
        let recovery = match kind {
            "reno" => Recovery::Reno,
            "newreno" => Recovery::NewReno,
            "dctcp" | "cubic" | "linux" | "linux_dctcp" => values.get("recovery"),
            _ => Recovery::Sack,
        };
        let ecn = match law {
            Law::Dctcp => EcnMode::Exact,
            Law::PFabric => EcnMode::Off,
            Law::Halving | Law::Cubic | Law::Bic if values.flag("ecn") => EcnMode::Latched,
            Law::Halving | Law::Cubic | Law::Bic | Law::Open => EcnMode::Off,
        };
        let [g, initial_alpha] = estimate(law, values);
        let mss = values.size("mss").clamp(1, MAX_MSS);
        let (receive_window, window_shift) = scaled(values.size("receive_window"));
        let fixed = law == Law::PFabric;
        let kernel = Kernel::of_transport(kind);
        let handshake = values.get::<Connection>("connection") == Connection::Handshake;
        // Linux 2.6.38 forgets the sample of a handshake without timestamps (`tcp_init_metrics`), which its peer decides as well.
        let begins = kernel == Kernel::Linux6_18 && !handshake;
        let [min_rto, max_rto, initial_rto] = match fixed {
            true => ["rto"; 3],
            false => ["min_rto", "max_rto", "initial_rto"],
        }
        .map(|name| values.time(name));
        let by_segment = kernel.keeps_segments(recovery);
        let tick = if by_segment { values.time("tick") } else { Dur::ZERO };
        // What timers are counted in, the least of them is, too.
        let min_rto = if tick == Dur::ZERO { min_rto } else { Dur(min_rto.0.div_ceil(tick.0).saturating_mul(tick.0)) };
        let max_rto = max_rto.max(min_rto);
        let initial_window = window(values, "initial_window", mss).clamp(mss, MAX_WINDOW);
        let max_window = if fixed { window(values, "max_window", mss).max(initial_window) } else { MAX_WINDOW };
        Some(TcpConfig {
            law,
            recovery,
            ecn,
            framing,
            mss: mss as u16,
            ttl: values.count_or_off("ttl").map_or(0, |n| n.clamp(1, 255) as u8),
            window_shift,
            tos: 0,
            ack_ecn: if kernel == Kernel::Linux2_6_38 && law == Law::Dctcp { Ecn::Ect0 as u8 } else { 0 },
            options: if values.flag("timestamps") { TIMESTAMPS } else { 0 },
            ack_size: framing.frame(0, 0),
            go_back_n: false,
            limited_transmit: values.flag("limited_transmit"),
            timestamps: values.flag("timestamps"),
            nagle: values.flag("nagle"),
            restart_after_idle: values.flag("restart_after_idle"),
            kernel,
            fast_convergence: law == Law::Cubic && values.flag("fast_convergence"),
            hystart: law == Law::Cubic && values.flag("hystart"),
            tail_on_ack: values.flag("tail_on_ack"),
            short_segments: values.flag("short_segments"),
            quick_acks: match values.flag("quick_acks") {
                true => (u64::from(receive_window) / (2 * mss)).clamp(2, QUICK_ACKS) as u8,
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
            // The clock of timestamps of Linux 2.6.38 is that of its timers.
            granularity: if kernel == Kernel::Linux2_6_38 { tick } else { values.time("clock_granularity") },
            delayed_ack: values.flag("delayed_ack").then(|| delayed_ack(kernel, values, [min_rto, tick])),
            rto_floor: if values.has("rto_floor") { values.get("rto_floor") } else { RtoFloor::Sum },
            rack: match (kernel, by_segment) {
                (Kernel::Linux2_6_38, _) => RackChoices::of_linux_2_6_38(values),
                (_, true) => RackChoices::new(values).with(recovery),
                (_, false) => RackChoices::default(),
            },
            keeps_metrics: kernel == Kernel::Linux2_6_38 && values.flag("metrics_save"),
            pacing: PacingChoices::new(values, by_segment),
            pack: PackChoices::new(values).filter(|_| recovery.has_sack()),
            bounce_signal: None,
        })
    }

    /// The same with senders that react to their bounced frames by this law (PABO §II-G).
    pub fn with_bounce_signal(self, law: Option<WindowCut>) -> TcpConfig {
        TcpConfig { bounce_signal: law, ..self }
    }

    /// The same in a run of this seed.
    pub fn with_seed(self, seed: u64) -> TcpConfig {
        TcpConfig { seed, ..self }
    }

    /// The clock of a host. When it was started is not known: any phase is as likely.
    #[inline]
    pub(super) fn ticks(&self, host: HostId) -> Ticks {
        let phase = match self.tick {
            Dur::ZERO => 0,
            every => hash_mix(hash_mix(self.seed, TICKS), u64::from(host.0)) % every.0,
        };
        Ticks { every: self.tick, phase: Dur(phase), wheel: self.kernel.wheel() }
    }

    /// Whether the NIC of a receiver is to tell of its marked data (CNPs): ACKs do not.
    pub fn is_told_of_marks(&self) -> bool {
        self.ecn == EcnMode::Told
    }

    /// Whether its data can carry marks.
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn != EcnMode::Off
    }

    /// Whether the windows that it advertises have a scale other than 1 (RFC 7323 §2).
    pub fn scales_windows(&self) -> bool {
        self.window_shift > 0
    }

    /// Whether a sender with nothing under way sends a full segment into a window whose field says so much, or what of
    /// one there is room for (RFC 9293 §3.8.6.2.1).
    pub fn sends_into(&self, field: u64) -> bool {
        self.short_segments || field << self.window_shift >= u64::from(self.mss)
    }

    /// Whether losses are found by the time of each sending (RFC 8985).
    pub fn finds_by_time(&self) -> bool {
        self.recovery == Recovery::Rack
    }

    /// Returns true if senders may undo spurious recoveries and timeouts.
    pub fn undoes_recoveries(&self) -> bool {
        self.finds_by_time() || self.follows_linux_2_6_38()
    }

    /// Returns true if the transport follows a Linux kernel.
    #[inline]
    pub(super) fn as_linux(&self) -> bool {
        self.kernel.is_linux()
    }

    /// Returns true if round trips are those of timestamps (RFC 7323 §4.1); those of Linux are too coarse for it.
    #[inline]
    pub(super) fn times_by_stamps(&self) -> bool {
        self.timestamps && !self.as_linux()
    }

    /// Returns true if recoveries follow the states of Linux 6.18's sender, with or without SACK.
    #[inline]
    pub(super) fn follows_linux(&self) -> bool {
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

    /// Returns the kernel's rules for SACK blocks.
    pub(super) fn sack_rules(&self) -> SackRules {
        self.kernel.sack_rules(self.rack.fack, self.rack.tso)
    }

    /// Returns true if hosts keep measurements of a connection for later ones to the same destination.
    pub fn keeps_metrics(&self) -> bool {
        self.keeps_metrics
    }

    /// Whether data may be cut, and receivers answer with PACKs (CP §4).
    pub fn takes_packs(&self) -> bool {
        self.pack.is_some()
    }

    /// Returns true if switches may cut its data. Go-back-N cannot use a header without its payload, so RoCE forbids it.
    pub fn allows_cuts(&self) -> bool {
        self.tos & Head::NOT_TRIMMABLE == 0
    }

    /// Whether senders want to be told of their frames that come back.
    pub fn wants_bounces(&self) -> bool {
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
        if values.has("ack_size") {
            return roce::check(values);
        }
        if window(values, "initial_window", mss) < mss {
            return Err(("initial_window", "must be at least one segment (mss)"));
        }
        if values.has("max_window") && window(values, "max_window", mss) < window(values, "initial_window", mss) {
            return Err(("max_window", "must not be below initial_window"));
        }
        // The default is the round number; what it is rounded down to is the largest there is.
        if values.size("receive_window") > MAX_WINDOW.next_power_of_two() {
            return Err(("receive_window", "must be at most 1GiB"));
        }
        let is_without_sack = values.has("recovery") && !values.get::<Recovery>("recovery").has_sack();
        if is_without_sack && values.has("pack") && values.flag("pack") {
            return Err((
                "pack",
                "must be false unless recovery is \"sack\" or \"rack\": PACKs need a scoreboard (CP §4.4)",
            ));
        }
        if values.has("max_rto") && values.time("max_rto") < values.time("min_rto") {
            return Err(("max_rto", "must not be below min_rto"));
        }
        Ok(())
    }

    /// Which frames, of those whose sizes are given, are shorter than the headers that the framing gives every frame: the
    /// parameter at fault, and the bytes that it must have at least. TCP's have what the framing gives, and options beside.
    pub fn too_short(values: &Values, framing: &Framing) -> Option<(&'static str, u64)> {
        if values.has("ack_size") { roce::too_short(values, framing) } else { None }
    }

    /// Bytes that a flow may have under way at its start, at most.
    pub fn first_window(&self) -> u64 {
        u64::from(self.initial_window.min(self.receive_window))
    }
    /// Timeout of go-back-N, which does not back off; `None` for transports that recover losses one by one.
    pub fn go_back_timeout(&self) -> Option<Dur> {
        self.go_back_n.then_some(self.initial_rto)
    }
    /// Largest payload of a segment, bytes.
    pub fn mss(&self) -> u16 {
        self.mss
    }

    /// Bytes of headers in every data segment beyond those of the framing: timestamps or none, and those of RoCE.
    pub fn options(&self) -> u16 {
        self.options
    }
    /// The same in an ACK that says nothing more.
    pub fn ack_options(&self) -> u16 {
        if self.go_back_n {
            self.ack_size.saturating_sub(self.framing.header + self.framing.link)
        } else {
            self.options
        }
    }
    /// Whether it sends all that is written as soon as the NIC takes it, and asks for a NIC that gives each flow a rate.
    pub fn is_rate_based(&self) -> bool {
        self.law == Law::Open
    }
    /// Whether marks are echoed by ACKs, and answered by CWR.
    pub(crate) fn echoes(&self) -> bool {
        matches!(self.ecn, EcnMode::Latched | EcnMode::Exact)
    }

    pub(super) fn window_field(&self) -> u16 {
        (self.receive_window >> self.window_shift) as u16
    }
}

/// Weight and first value of DCTCP's estimate, in units of 2⁻³⁰; zeros for other transports. The weight of the patch for
/// Linux 2.6.38 is a power of two, and its first value is 0.
fn estimate(law: Law, values: &Values) -> [u32; 2] {
    match law {
        Law::Dctcp if values.has("shift_g") => [1 << (30 - values.count("shift_g")), 0],
        Law::Dctcp => ["g", "initial_alpha"].map(|name| fraction::fixed(values.number(name))),
        _ => [0; 2],
    }
}

/// How long an ACK waits. On Linux 6.18 it waits no longer than the minimum RTO less one tick of the clock (1 ms for an exact
/// clock), or half of the minimum RTO if that is at most two ticks. Linux 2.6.38 has no such bound.
fn delayed_ack(kernel: Kernel, values: &Values, [min_rto, tick]: [Dur; 2]) -> Dur {
    let asked = values.time("delayed_ack_timeout");
    let tick = if tick == Dur::ZERO { Dur::ms(1) } else { tick };
    let below = Dur(min_rto.0.saturating_sub(tick.0).max(min_rto.0 / 2));
    if kernel == Kernel::Linux6_18 { asked.min(below) } else { asked }
}

pub(super) fn window(values: &Values, name: &str, mss: u64) -> u64 {
    match values.amount(name) {
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
