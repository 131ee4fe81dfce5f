//! Congestion control: slow start, congestion avoidance, fast recovery, and reactions to marks.
//!
//! The rules are those of RFC 5681, RFC 6582 and RFC 6675. Congestion controls differ in their reaction to marks.
//!
//! Windows are whole bytes. Growth stops at the receiver's window, except with Linux's CUBIC: a larger cwnd would
//! change nothing but weaken the next cut.
//! A mark never reduces cwnd below two segments (the floor of RFC 5681 eq. 4). So RFC 3168's sending by timer at one
//! segment does not arise.

mod bic;
mod cubic;
mod cubic_linux;
mod dctcp;
mod halving;
mod hystart;
mod linux;
mod linux_2_6_38;
mod pfabric;
mod undo;
mod usage;

use super::TcpConfig;
use super::config::{CongestionKind as Kind, EcnMode, Recovery};
use super::kernel::Kernel;
use super::tick_clock::TickClock;
use core::ops::Range;
use cubic::Cubic;
use cubic_linux::CubicLinux;
use dctcp::Dctcp;
use linux::LinuxRenoDctcp;
pub(super) use linux_2_6_38::DctcpAck;
use linux_2_6_38::Linux2_6_38;
pub use undo::SavedWindow;
use units::{Dur, Time};
use usage::WindowUsage;

/// Properties of an ACK that congestion control needs.
#[derive(Clone, Copy, Debug)]
pub struct AckInfo {
    /// Bytes that the ACK newly acknowledges.
    pub bytes: u32,
    /// First byte not acknowledged after the ACK.
    pub una: u64,
    /// Next byte to send.
    pub nxt: u64,
    /// True if the ACK carries ECN-Echo.
    pub ece: bool,
    /// True if the window may grow, because no loss is being recovered.
    pub open: bool,
    /// Receiver's window, in bytes.
    pub rwnd: u32,
    /// Time at which the ACK arrived.
    pub now: Time,
    /// Bytes outstanding before the ACK.
    pub flight: u32,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// Round-trip sample of the ACK; `None` if it gives none.
    pub rtt: Option<Dur>,
    /// True if the round-trip sample and window use of the ACK were processed before (`Congestion::on_sample`,
    /// `Congestion::note_window_use`).
    pub sampled: bool,
}

/// Properties of new data that left, or did not fit into the congestion window.
#[derive(Clone, Copy, Debug)]
pub struct SendInfo {
    /// First byte not acknowledged.
    pub una: u64,
    /// Next byte to send.
    pub nxt: u64,
    /// True if the congestion window had no space for more data.
    pub limited: bool,
    /// True if no recovery is in progress.
    pub open: bool,
    /// Retransmission timeout.
    pub timeout: Dur,
    /// Time at which the data left.
    pub now: Time,
}

/// Properties of a loss that congestion control needs.
#[derive(Clone, Debug)]
pub struct LossInfo {
    /// Bytes that are considered lost.
    pub range: Range<u64>,
    /// FlightSize of RFC 5681 eq. 4: bytes outstanding, without those of limited transmit.
    pub flight: u32,
    /// End of the data sent, one past its highest byte.
    pub sent: u64,
    /// Segments that have left the network since the loss: the duplicate ACKs that showed it.
    /// Zero if a scoreboard counts them (RFC 6675).
    pub left: u32,
    /// Time at which the loss was detected.
    pub now: Time,
}

/// Congestion window and slow start threshold, in bytes.
#[derive(Clone, Copy, Debug)]
struct CongestionWindows {
    cwnd: u32,
    ssthresh: u32,
}

#[derive(Clone, Debug)]
enum CongestionState {
    Reno,
    Dctcp(Dctcp),
    PFabric,
    NicRate,
    /// CUBIC of RFC 9438. Boxed like the variants below, so that senders with other controls stay small.
    Cubic(Box<Cubic>),
    Linux(Box<LinuxRenoDctcp>),
    CubicLinux(Box<CubicLinux>),
    Linux2_6_38(Box<Linux2_6_38>),
}

/// Congestion control of one sender: window, slow start threshold and algorithm.
#[derive(Clone, Debug)]
pub struct Congestion {
    cwnd: u32,
    ssthresh: u32,
    /// End of the data sent at the last cut: only marks in ACKs beyond this byte cut again; 0 before any cut.
    cut_until: u64,
    law: CongestionState,
}

impl Congestion {
    /// Creates a congestion control at its initial window, on a host with this clock.
    pub(super) fn new(cfg: &TcpConfig, clock: TickClock) -> Congestion {
        let law = match cfg.law {
            Kind::Reno if cfg.kernel == Kernel::Linux2_6_38 => {
                CongestionState::Linux2_6_38(Box::new(Linux2_6_38::reno(clock)))
            }
            Kind::Dctcp if cfg.kernel == Kernel::Linux2_6_38 => {
                CongestionState::Linux2_6_38(Box::new(Linux2_6_38::dctcp(clock)))
            }
            Kind::Bic => CongestionState::Linux2_6_38(Box::new(Linux2_6_38::bic(clock))),
            Kind::Reno if cfg.is_linux() => CongestionState::Linux(Box::new(LinuxRenoDctcp::new(None))),
            Kind::Dctcp if cfg.is_linux() => CongestionState::Linux(Box::new(LinuxRenoDctcp::new(Some(
                linux::DctcpEstimate::new(cfg.initial_alpha),
            )))),
            Kind::Cubic if cfg.is_linux() => CongestionState::CubicLinux(Box::new(CubicLinux::new(clock))),
            Kind::Reno => CongestionState::Reno,
            Kind::Dctcp => CongestionState::Dctcp(Dctcp::new(cfg.initial_alpha)),
            Kind::PFabric => CongestionState::PFabric,
            Kind::NicRate => CongestionState::NicRate,
            Kind::Cubic => CongestionState::Cubic(Box::new(Cubic::new())),
        };
        Congestion { cwnd: cfg.initial_window, ssthresh: cfg.initial_ssthresh, cut_until: 0, law }
    }
    /// Increases the window after an ACK of new data: RFC 5681 eq. 2 in slow start, eq. 3 afterwards.
    /// An ACK with an echo does not increase it (RFC 3168 §6.1.2).
    #[inline]
    pub fn on_ack(&mut self, ack: &AckInfo, cfg: &TcpConfig) {
        match &mut self.law {
            CongestionState::Reno | CongestionState::PFabric | CongestionState::NicRate => {}
            CongestionState::Dctcp(d) => d.on_ack(ack, cfg.g),
            CongestionState::Cubic(c) => {
                let at = CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh } = c.on_ack(at, ack, cfg);
                return;
            }
            CongestionState::CubicLinux(c) => {
                let at = CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh } = c.on_ack(at, ack, cfg);
                return;
            }
            CongestionState::Linux(l) => {
                let at = CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                self.cwnd = l.on_ack(at, ack, cfg);
                return;
            }
            // The growth depends on the number of segments in flight before the ACK, which `ack` lacks:
            // `Congestion::grow` increases the window.
            CongestionState::Linux2_6_38(_) => return,
        }
        if !ack.open || ack.ece || self.cwnd >= ack.rwnd {
            return;
        }
        let mss = u32::from(cfg.mss);
        self.cwnd += match self.cwnd < self.ssthresh {
            true => ack.bytes.min(mss),
            // At least one byte: the quotient is 0 for large windows (RFC 5681 §3.1).
            false => (mss * mss / self.cwnd).max(1),
        };
        if let CongestionState::PFabric = self.law {
            self.cwnd = self.cwnd.min(cfg.max_window);
        }
    }
    /// Processes the round-trip sample and the mark of an ACK before its other effects, as Linux does.
    /// HyStart uses the sample, DCTCP the mark. `reported` is the number of segments newly SACKed by this ACK.
    pub fn on_sample(&mut self, ack: &AckInfo, reported: u32, cfg: &TcpConfig) {
        match &mut self.law {
            CongestionState::CubicLinux(c) => {
                let at = CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                self.ssthresh = c.on_sample(at, ack, cfg);
            }
            CongestionState::Linux(l) => l.on_sample(ack, reported, cfg),
            _ => {}
        }
    }
    /// Record of how far a Linux sender uses its window; `None` for other senders.
    fn window_usage(&mut self) -> Option<&mut WindowUsage> {
        match &mut self.law {
            CongestionState::CubicLinux(c) => Some(&mut c.usage),
            CongestionState::Linux(l) => Some(&mut l.usage),
            _ => None,
        }
    }
    /// Updates the record of window use after new data left or did not fit (`tcp_cwnd_validate`).
    /// If the window was not full for a timeout and no recovery is in progress, it loses half of its unused part (RFC
    /// 2861).
    pub fn note_window_use(&mut self, sent: &SendInfo, cfg: &TcpConfig) {
        let at = CongestionWindows { cwnd: self.cwnd, ssthresh: self.ssthresh };
        let Some(usage) = self.window_usage() else { return };
        usage.note_sent(sent.una, sent.nxt, sent.limited);
        if usage.is_full(at) {
            return usage.note_full(sent.now);
        }
        let outstanding = (sent.nxt - sent.una) as u32;
        let Some(used) = usage.idle_timeout_window(outstanding, sent.timeout, sent.now) else { return };
        let (used, mss) = (used.max(cfg.initial_window), u32::from(cfg.mss));
        if sent.open && cfg.restart_after_idle && used < self.cwnd {
            self.ssthresh = self.ssthresh.max(linux::remembered_threshold(self.cwnd, mss));
            self.cwnd = (self.cwnd + used) / mss / 2 * mss;
        }
    }
    /// Records the time of a change of the congestion window (`snd_cwnd_stamp`).
    pub fn note_window_change(&mut self, now: Time) {
        if let Some(usage) = self.window_usage() {
            usage.note_window_change(now);
        }
    }
    /// Sets the slow start threshold after a mark or a loss; the window then falls to it over a round trip.
    pub fn begin_reduction(&mut self, by_mark: bool, cfg: &TcpConfig) {
        let cut = match &mut self.law {
            CongestionState::Linux(l) if by_mark => l.window_after_mark(self.cwnd, u32::from(cfg.mss)),
            _ => self.threshold_after_loss(self.cwnd, cfg),
        };
        self.ssthresh = cut.max(2 * u32::from(cfg.mss));
    }
    /// Reacts to a loss while the window is being reduced: only DCTCP halves it again.
    pub fn on_lost_in_reduction(&mut self, cfg: &TcpConfig) {
        if self.alpha().is_some() {
            self.begin_reduction(false, cfg);
        }
    }
    /// Ends a reduction: the window becomes the slow start threshold.
    pub fn end_reduction(&mut self) {
        self.cwnd = self.ssthresh;
    }
    /// Cuts the window at an ACK with ECN-Echo, once per window of data (RFC 3168 §6.1.2, RFC 8257 §3.3).
    /// Returns true if it was cut.
    pub fn on_mark(&mut self, ack: &AckInfo, cfg: &TcpConfig) -> bool {
        if !self.may_cut(ack.una) {
            return false;
        }
        let floor = 2 * u32::from(cfg.mss);
        let cut = match &mut self.law {
            CongestionState::Reno | CongestionState::PFabric | CongestionState::NicRate => {
                halving::window_after_mark(self.cwnd)
            }
            CongestionState::Dctcp(d) => d.window_after_mark(self.cwnd),
            CongestionState::Cubic(c) => c.cut(self.cwnd, self.cwnd, cfg),
            CongestionState::Linux(l) => l.window_after_mark(self.cwnd, u32::from(cfg.mss)),
            CongestionState::CubicLinux(c) => c.cut(self.cwnd, cfg),
            CongestionState::Linux2_6_38(old) => {
                old.threshold_after_loss(self.cwnd / u32::from(cfg.mss)) * u32::from(cfg.mss)
            }
        };
        self.ssthresh = cut.max(floor);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.cut_until = ack.nxt;
        true
    }
    /// Cuts the window after duplicate ACKs showed a loss (RFC 5681 §3.2 steps 2 and 3, RFC 6675 §5 (4.2)).
    pub fn on_lost(&mut self, lost: &LossInfo, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        // A mark and a loss in one window of data cut once (RFC 3168 §6.1.2). DCTCP halves for a loss all the same (RFC
        // 8257 §3.5).
        let already_cut = cfg.ecn == EcnMode::Latched && lost.range.start < self.cut_until;
        if !already_cut {
            self.ssthresh = self.threshold_after_loss(lost.flight, cfg).max(2 * mss);
        }
        self.cwnd = self.ssthresh.saturating_add(lost.left.saturating_mul(mss));
        self.cut_until = lost.sent;
    }
    /// Returns the slow start threshold after a loss at `flight` bytes in flight, without its lower limit.
    /// See RFC 5681 eq. 4 and RFC 9438 §4.6.
    fn threshold_after_loss(&mut self, flight: u32, cfg: &TcpConfig) -> u32 {
        // Linux cuts the window, not FlightSize.
        let flight = if cfg.is_linux() { self.cwnd } else { flight };
        match &mut self.law {
            CongestionState::Reno | CongestionState::Dctcp(_) | CongestionState::PFabric | CongestionState::NicRate => {
                flight / 2
            }
            CongestionState::Linux(l) => l.cut(self.cwnd, u32::from(cfg.mss)),
            CongestionState::Cubic(c) => c.cut(self.cwnd, flight, cfg),
            CongestionState::CubicLinux(c) => c.cut(self.cwnd, cfg),
            CongestionState::Linux2_6_38(old) => {
                old.threshold_after_loss(self.cwnd / u32::from(cfg.mss)) * u32::from(cfg.mss)
            }
        }
    }
    /// Inflates the window at a further duplicate ACK in recovery (RFC 5681 §3.2 step 4).
    /// The duplicate shows that a segment has left the network.
    #[inline]
    pub fn on_duplicate(&mut self, cfg: &TcpConfig) {
        self.cwnd = self.cwnd.saturating_add(u32::from(cfg.mss));
    }
    /// Deflates the window at a partial ACK of `acked` bytes in recovery (RFC 6582 §3.2 step 3).
    pub fn on_partial(&mut self, acked: u32, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        // The segment added back reflects the additional one that has left the network (RFC 6582 §3.2 step 3).
        let back = if acked >= mss { mss } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + back).max(mss);
    }
    /// Sets the window at the end of a recovery, with `flight` bytes outstanding.
    /// - Reno: ssthresh (RFC 5681 §3.2 step 6).
    /// - NewReno: at most one segment beyond the flight (RFC 6582 §3.2 step 3, choice 1), which prevents a burst.
    /// - SACK: unchanged, since it is ssthresh already (RFC 6675 §5 (A)).
    /// - RACK: ssthresh (RFC 9937 §6).
    pub fn on_recovered(&mut self, flight: u32, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        self.cwnd = match cfg.recovery {
            Recovery::Reno => self.ssthresh,
            Recovery::NewReno => self.ssthresh.min(flight.max(mss) + mss),
            Recovery::Sack => self.cwnd,
            Recovery::Rack => self.ssthresh,
        };
    }
    /// Sets the window after an idle time of more than `timeouts` retransmission timeouts.
    /// It becomes the restart window (RFC 5681 §4.1). Linux instead halves the window for each timeout, and the
    /// threshold keeps three quarters of the old one.
    pub fn on_idle(&mut self, timeouts: u64, cfg: &TcpConfig) {
        if cfg.is_linux() {
            let mss = u32::from(cfg.mss);
            self.ssthresh = self.ssthresh.max(linux::remembered_threshold(self.cwnd, mss));
            self.cwnd = linux::window_after_idle(self.cwnd, timeouts, cfg.initial_window, mss);
            return;
        }
        self.cwnd = self.cwnd.min(cfg.initial_window);
    }
    /// Excludes an idle time from CUBIC's curve when new data ends it; the last data before left at `last_sent`.
    pub fn on_idle_end(&mut self, now: Time, last_sent: Time) {
        match &mut self.law {
            CongestionState::Cubic(c) => c.on_idle_end(now),
            CongestionState::CubicLinux(c) => c.on_idle_end(now, last_sent),
            CongestionState::Reno
            | CongestionState::Dctcp(_)
            | CongestionState::PFabric
            | CongestionState::NicRate
            | CongestionState::Linux(_)
            | CongestionState::Linux2_6_38(_) => {}
        }
    }
    /// Sets the initial window to one segment after the SYN had to be sent again (RFC 5681 §3.1).
    pub fn on_lost_syn(&mut self, cfg: &TcpConfig) {
        self.cwnd = u32::from(cfg.mss);
    }
    /// Reacts to a retransmission timeout (RFC 5681 §3.1, eq. 4).
    /// The window becomes one segment, and the threshold half of the bytes outstanding.
    /// The threshold stays if the timer has retransmitted this segment before (`again`).
    pub fn on_timeout(&mut self, lost: &LossInfo, again: bool, cfg: &TcpConfig) {
        if let CongestionState::NicRate = self.law {
            return;
        }
        let mss = u32::from(cfg.mss);
        if let CongestionState::PFabric = self.law {
            self.ssthresh = pfabric::threshold_after_timeout(self.cwnd, mss);
        } else if !again {
            self.ssthresh = self.threshold_after_loss(lost.flight, cfg).max(2 * mss);
        }
        match &mut self.law {
            CongestionState::Cubic(c) => c.on_timeout(),
            CongestionState::CubicLinux(c) => c.on_timeout(lost),
            CongestionState::Linux(l) => l.on_timeout(),
            CongestionState::Reno
            | CongestionState::Dctcp(_)
            | CongestionState::PFabric
            | CongestionState::NicRate
            | CongestionState::Linux2_6_38(_) => {}
        }
        self.cwnd = mss;
        self.cut_until = lost.sent;
    }
    /// Returns true if an ACK up to `una` may cut the window, which is cut once per window of data.
    pub fn may_cut(&self, una: u64) -> bool {
        self.cut_until == 0 || una > self.cut_until
    }
    /// Records a cut of the window for all data sent up to `nxt`, and returns the window, which does not change yet.
    pub fn begin_cut(&mut self, nxt: u64, cfg: &TcpConfig) -> u32 {
        self.cut_until = nxt;
        match &mut self.law {
            CongestionState::Cubic(c) => _ = c.cut(self.cwnd, self.cwnd, cfg),
            CongestionState::CubicLinux(c) => _ = c.cut(self.cwnd, cfg),
            CongestionState::Reno
            | CongestionState::Dctcp(_)
            | CongestionState::PFabric
            | CongestionState::NicRate
            | CongestionState::Linux(_)
            | CongestionState::Linux2_6_38(_) => {}
        }
        self.cwnd
    }
    /// Cuts the window by this number of bytes, down to two segments at least. Never increases it.
    pub fn cut_bytes(&mut self, bytes: u32, cfg: &TcpConfig) {
        let window = self.cwnd.saturating_sub(bytes).max(2 * u32::from(cfg.mss));
        if window < self.cwnd {
            self.cwnd = window;
            self.ssthresh = window;
            match &mut self.law {
                CongestionState::Cubic(c) => c.restart_epoch(),
                CongestionState::CubicLinux(c) => c.restart_epoch(),
                CongestionState::Reno
                | CongestionState::Dctcp(_)
                | CongestionState::PFabric
                | CongestionState::NicRate
                | CongestionState::Linux(_)
                | CongestionState::Linux2_6_38(_) => {}
            }
        }
    }
    /// Congestion window in bytes.
    #[inline]
    pub fn window(&self) -> u32 {
        self.cwnd
    }
    /// Slow start threshold in bytes.
    pub fn ssthresh(&self) -> u32 {
        self.ssthresh
    }
    /// DCTCP's estimate α in units of 2⁻³⁰; `None` for other congestion controls.
    pub fn alpha(&self) -> Option<u32> {
        match &self.law {
            CongestionState::Reno
            | CongestionState::PFabric
            | CongestionState::NicRate
            | CongestionState::Cubic(_)
            | CongestionState::CubicLinux(_) => None,
            CongestionState::Dctcp(d) => Some(d.alpha()),
            CongestionState::Linux(l) => l.dctcp.as_ref().map(linux::DctcpEstimate::alpha),
            CongestionState::Linux2_6_38(old) => old.alpha(),
        }
    }
}
