//! How much may be under way: slow start, congestion avoidance, fast recovery (RFC 5681, RFC 6582, RFC
//! 6675), and what a mark does, which is where the congestion controls differ.
//!
//! Windows are whole bytes. Growth stops at the receiver's window (but for Linux's CUBIC): a larger cwnd
//! would change nothing but blunt the next cut. A mark never takes cwnd below two segments (the floor of RFC
//! 5681 eq. 4), so that RFC 3168's sending by timer at one segment does not arise.

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
use super::config::{EcnMode, Law as Kind, Recovery};
use super::kernel::Kernel;
use super::ticks::Ticks;
use core::ops::Range;
use cubic::Cubic;
use cubic_linux::CubicLinux;
use dctcp::Dctcp;
use linux::Linux;
pub(super) use linux_2_6_38::Counted;
use linux_2_6_38::Linux2_6_38;
pub use undo::Saved;
use units::{Dur, Time};
use usage::Usage;

/// An ACK, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Bytes that it newly acknowledges.
    pub bytes: u32,
    /// First byte not acknowledged after it.
    pub una: u64,
    /// Next byte to send.
    pub nxt: u64,
    /// Whether it carries an echo of congestion.
    pub ece: bool,
    /// Whether the window may grow: no loss is being recovered.
    pub open: bool,
    /// The receiver's window, bytes.
    pub rwnd: u32,
    /// When it came.
    pub now: Time,
    /// Bytes that were outstanding before it.
    pub flight: u32,
    /// The smoothed round-trip time; zero before the first sample.
    pub srtt: Dur,
    /// The round-trip time that it tells.
    pub rtt: Option<Dur>,
    /// Its sample was taken, and use of the window noted, apart from this (`Congestion::sample`, `Congestion::note_use`).
    pub sampled: bool,
}

/// New data that left, or did not fit, as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// First byte not acknowledged.
    pub una: u64,
    /// Next byte to send.
    pub nxt: u64,
    /// The window had no room for more.
    pub limited: bool,
    /// No recovery is under way.
    pub open: bool,
    /// The retransmission timeout.
    pub timeout: Dur,
    /// When it left.
    pub now: Time,
}

/// A loss, as a congestion control sees it.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The bytes taken for lost.
    pub range: Range<u64>,
    /// FlightSize of RFC 5681 eq. 4: bytes outstanding, without those of limited transmit.
    pub flight: u32,
    /// One past the highest byte sent.
    pub sent: u64,
    /// Segments that have left the network since: the duplicate ACKs that showed the loss. None where
    /// a scoreboard knows them (RFC 6675).
    pub left: u32,
    /// When it was seen.
    pub now: Time,
}

/// The window and its threshold, bytes.
#[derive(Clone, Copy, Debug)]
struct Windows {
    cwnd: u32,
    ssthresh: u32,
}

#[derive(Clone, Debug)]
enum Law {
    Halving,
    Dctcp(Dctcp),
    PFabric,
    Open,
    /// Apart, so that the others stay as small.
    Cubic(Box<Cubic>),
    Linux(Box<Linux>),
    CubicLinux(Box<CubicLinux>),
    Linux2_6_38(Box<Linux2_6_38>),
}

/// The congestion window of one sender.
#[derive(Clone, Debug)]
pub struct Congestion {
    cwnd: u32,
    ssthresh: u32,
    /// Marks count again from an ACK beyond this byte: one cut a window of data. 0 before any cut.
    cut_until: u64,
    law: Law,
}

impl Congestion {
    /// At its initial window, on a host with this clock.
    pub(super) fn new(cfg: &TcpConfig, clock: Ticks) -> Congestion {
        let law = match cfg.law {
            Kind::Halving if cfg.kernel == Kernel::Linux2_6_38 => Law::Linux2_6_38(Box::new(Linux2_6_38::reno(clock))),
            Kind::Dctcp if cfg.kernel == Kernel::Linux2_6_38 => Law::Linux2_6_38(Box::new(Linux2_6_38::dctcp(clock))),
            Kind::Bic => Law::Linux2_6_38(Box::new(Linux2_6_38::bic(clock))),
            Kind::Halving if cfg.as_linux() => Law::Linux(Box::new(Linux::new(None))),
            Kind::Dctcp if cfg.as_linux() => {
                Law::Linux(Box::new(Linux::new(Some(linux::Estimate::new(cfg.initial_alpha)))))
            }
            Kind::Cubic if cfg.as_linux() => Law::CubicLinux(Box::new(CubicLinux::new(clock))),
            Kind::Halving => Law::Halving,
            Kind::Dctcp => Law::Dctcp(Dctcp::new(cfg.initial_alpha)),
            Kind::PFabric => Law::PFabric,
            Kind::Open => Law::Open,
            Kind::Cubic => Law::Cubic(Box::new(Cubic::new())),
        };
        Congestion { cwnd: cfg.initial_window, ssthresh: cfg.initial_ssthresh, cut_until: 0, law }
    }
    /// New data is acknowledged: RFC 5681 eq. 2 in slow start, eq. 3 after. An ACK with an echo
    /// does not open the window (RFC 3168 §6.1.2).
    #[inline]
    pub fn on_ack(&mut self, ack: &Acked, cfg: &TcpConfig) {
        match &mut self.law {
            Law::Halving | Law::PFabric | Law::Open => {}
            Law::Dctcp(d) => d.on_ack(ack, cfg.g),
            Law::Cubic(c) => {
                let at = Windows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                Windows { cwnd: self.cwnd, ssthresh: self.ssthresh } = c.on_ack(at, ack, cfg);
                return;
            }
            Law::CubicLinux(c) => {
                let at = Windows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                Windows { cwnd: self.cwnd, ssthresh: self.ssthresh } = c.on_ack(at, ack, cfg);
                return;
            }
            Law::Linux(l) => {
                let at = Windows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                self.cwnd = l.on_ack(at, ack, cfg);
                return;
            }
            // Grows by `Congestion::grow`, which knows what was in flight before the ACK.
            Law::Linux2_6_38(_) => return,
        }
        if !ack.open || ack.ece || self.cwnd >= ack.rwnd {
            return;
        }
        let mss = u32::from(cfg.mss);
        self.cwnd += match self.cwnd < self.ssthresh {
            true => ack.bytes.min(mss),
            false => (mss * mss / self.cwnd).max(1),
        };
        if let Law::PFabric = self.law {
            self.cwnd = self.cwnd.min(cfg.max_window);
        }
    }
    /// Takes the sample of an ACK before anything follows from it, as Linux does: HyStart's, and DCTCP's estimate, which counts
    /// what was `reported` by this ACK and acknowledged by earlier ones (segments).
    pub fn sample(&mut self, ack: &Acked, reported: u32, cfg: &TcpConfig) {
        match &mut self.law {
            Law::CubicLinux(c) => {
                let at = Windows { cwnd: self.cwnd, ssthresh: self.ssthresh };
                self.ssthresh = c.sample(at, ack, cfg);
            }
            Law::Linux(l) => l.sample(ack, reported, cfg),
            _ => {}
        }
    }
    /// Record of how far a Linux sender has used its window.
    fn usage(&mut self) -> Option<&mut Usage> {
        match &mut self.law {
            Law::CubicLinux(c) => Some(&mut c.usage),
            Law::Linux(l) => Some(&mut l.usage),
            _ => None,
        }
    }
    /// New data left, or did not fit; `limited` says that it was the window that had no room for more. Where it was not used for
    /// a timeout, half of what was not used is given up, if no recovery is under way (`open`).
    pub fn note_use(&mut self, sent: &Sending, cfg: &TcpConfig) {
        let at = Windows { cwnd: self.cwnd, ssthresh: self.ssthresh };
        let Some(usage) = self.usage() else { return };
        usage.note_sent(sent.una, sent.nxt, sent.limited);
        if usage.is_full(at) {
            return usage.note_full(sent.now);
        }
        let outstanding = (sent.nxt - sent.una) as u32;
        let Some(used) = usage.unused_for(outstanding, sent.timeout, sent.now) else { return };
        let (used, mss) = (used.max(cfg.initial_window), u32::from(cfg.mss));
        if sent.open && cfg.restart_after_idle && used < self.cwnd {
            self.ssthresh = self.ssthresh.max(linux::remembered(self.cwnd, mss));
            self.cwnd = (self.cwnd + used) / mss / 2 * mss;
        }
    }
    /// The window has changed, or might have, at this instant (`snd_cwnd_stamp`).
    pub fn note_stamp(&mut self, now: Time) {
        if let Some(usage) = self.usage() {
            usage.note_stamp(now);
        }
    }
    /// The window is to fall to a new threshold, by and by: because of a mark, or of a loss.
    pub fn begin_reduction(&mut self, by_mark: bool, cfg: &TcpConfig) {
        let cut = match &mut self.law {
            Law::Linux(l) if by_mark => l.after_mark(self.cwnd, u32::from(cfg.mss)),
            _ => self.after_loss(self.cwnd, cfg),
        };
        self.ssthresh = cut.max(2 * u32::from(cfg.mss));
    }
    /// A loss where the window is being reduced already: DCTCP alone halves it once more.
    pub fn on_lost_in_reduction(&mut self, cfg: &TcpConfig) {
        if self.alpha().is_some() {
            self.begin_reduction(false, cfg);
        }
    }
    /// The window is the threshold.
    pub fn end_reduction(&mut self) {
        self.cwnd = self.ssthresh;
    }
    /// An ACK carries an echo of congestion: cuts the window, once a window of data (RFC 3168
    /// §6.1.2, RFC 8257 §3.3). Whether it did.
    pub fn on_mark(&mut self, ack: &Acked, cfg: &TcpConfig) -> bool {
        if !self.may_cut(ack.una) {
            return false;
        }
        let floor = 2 * u32::from(cfg.mss);
        let cut = match &mut self.law {
            Law::Halving | Law::PFabric | Law::Open => halving::after_mark(self.cwnd),
            Law::Dctcp(d) => d.after_mark(self.cwnd),
            Law::Cubic(c) => c.cut(self.cwnd, self.cwnd, cfg),
            Law::Linux(l) => l.after_mark(self.cwnd, u32::from(cfg.mss)),
            Law::CubicLinux(c) => c.cut(self.cwnd, cfg),
            Law::Linux2_6_38(old) => old.threshold(self.cwnd / u32::from(cfg.mss)) * u32::from(cfg.mss),
        };
        self.ssthresh = cut.max(floor);
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.cut_until = ack.nxt;
        true
    }
    /// A loss was seen by duplicate ACKs (RFC 5681 §3.2 steps 2 and 3, RFC 6675 §5 (4.2)).
    pub fn on_lost(&mut self, lost: &Lost, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        let already_cut = cfg.ecn == EcnMode::Latched && lost.range.start < self.cut_until;
        if !already_cut {
            self.ssthresh = self.after_loss(lost.flight, cfg).max(2 * mss);
        }
        self.cwnd = self.ssthresh.saturating_add(lost.left.saturating_mul(mss));
        self.cut_until = lost.sent;
    }
    /// The slow start threshold after a loss with so many bytes under way, before its floor (RFC 5681 eq. 4,
    /// RFC 9438 §4.6).
    fn after_loss(&mut self, flight: u32, cfg: &TcpConfig) -> u32 {
        let flight = if cfg.as_linux() { self.cwnd } else { flight };
        match &mut self.law {
            Law::Halving | Law::Dctcp(_) | Law::PFabric | Law::Open => flight / 2,
            Law::Linux(l) => l.cut(self.cwnd, u32::from(cfg.mss)),
            Law::Cubic(c) => c.cut(self.cwnd, flight, cfg),
            Law::CubicLinux(c) => c.cut(self.cwnd, cfg),
            Law::Linux2_6_38(old) => old.threshold(self.cwnd / u32::from(cfg.mss)) * u32::from(cfg.mss),
        }
    }
    /// A further duplicate ACK in recovery: a segment has left the network (RFC 5681 §3.2 step 4).
    #[inline]
    pub fn on_duplicate(&mut self, cfg: &TcpConfig) {
        self.cwnd = self.cwnd.saturating_add(u32::from(cfg.mss));
    }
    /// A partial ACK of so many bytes in recovery: deflates (RFC 6582 §3.2 step 3).
    pub fn on_partial(&mut self, acked: u32, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        let back = if acked >= mss { mss } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + back).max(mss);
    }
    /// Recovery is over with so many bytes outstanding: ssthresh (RFC 5681 §3.2 step 6), no more than
    /// one segment beyond the flight (RFC 6582 §3.2 step 3, choice 1), or as it is (RFC 6675 §5 (A)); with RACK ssthresh (RFC 9937 §6).
    pub fn on_recovered(&mut self, flight: u32, cfg: &TcpConfig) {
        let mss = u32::from(cfg.mss);
        self.cwnd = match cfg.recovery {
            Recovery::Reno => self.ssthresh,
            Recovery::NewReno => self.ssthresh.min(flight.max(mss) + mss),
            Recovery::Sack => self.cwnd,
            Recovery::Rack => self.ssthresh,
        };
    }
    /// Nothing was sent for longer than so many retransmission timeouts: the restart window (RFC 5681
    /// §4.1), or what Linux leaves, whose threshold remembers the window.
    pub fn on_idle(&mut self, timeouts: u64, cfg: &TcpConfig) {
        if cfg.as_linux() {
            let mss = u32::from(cfg.mss);
            self.ssthresh = self.ssthresh.max(linux::remembered(self.cwnd, mss));
            self.cwnd = linux::after_idle(self.cwnd, timeouts, cfg.initial_window, mss);
            return;
        }
        self.cwnd = self.cwnd.min(cfg.initial_window);
    }
    /// Data leaves when nothing was outstanding; the last left at this time.
    pub fn on_rest(&mut self, now: Time, last_sent: Time) {
        match &mut self.law {
            Law::Cubic(c) => c.on_rest(now),
            Law::CubicLinux(c) => c.on_rest(now, last_sent),
            Law::Halving | Law::Dctcp(_) | Law::PFabric | Law::Open | Law::Linux(_) | Law::Linux2_6_38(_) => {}
        }
    }
    /// The SYN had to be sent again: the initial window is one segment (RFC 5681 §3.1).
    pub fn on_lost_syn(&mut self, cfg: &TcpConfig) {
        self.cwnd = u32::from(cfg.mss);
    }
    /// The retransmission timer expired (RFC 5681 §3.1, eq. 4): one segment, and half of what was
    /// outstanding unless this segment was already sent again by the timer.
    pub fn on_timeout(&mut self, lost: &Lost, again: bool, cfg: &TcpConfig) {
        if let Law::Open = self.law {
            return;
        }
        let mss = u32::from(cfg.mss);
        if let Law::PFabric = self.law {
            self.ssthresh = pfabric::after_timeout(self.cwnd, mss);
        } else if !again {
            self.ssthresh = self.after_loss(lost.flight, cfg).max(2 * mss);
        }
        match &mut self.law {
            Law::Cubic(c) => c.on_timeout(),
            Law::CubicLinux(c) => c.on_timeout(lost),
            Law::Linux(l) => l.on_timeout(),
            Law::Halving | Law::Dctcp(_) | Law::PFabric | Law::Open | Law::Linux2_6_38(_) => {}
        }
        self.cwnd = mss;
        self.cut_until = lost.sent;
    }
    /// Whether the window was not cut yet in this window of data.
    pub fn may_cut(&self, una: u64) -> bool {
        self.cut_until == 0 || una > self.cut_until
    }
    /// It is cut now, for what is sent up to this byte. What it was.
    pub fn begin_cut(&mut self, nxt: u64, cfg: &TcpConfig) -> u32 {
        self.cut_until = nxt;
        match &mut self.law {
            Law::Cubic(c) => _ = c.cut(self.cwnd, self.cwnd, cfg),
            Law::CubicLinux(c) => _ = c.cut(self.cwnd, cfg),
            Law::Halving | Law::Dctcp(_) | Law::PFabric | Law::Open | Law::Linux(_) | Law::Linux2_6_38(_) => {}
        }
        self.cwnd
    }
    /// Cuts the window by so many bytes, to two segments at least; nothing where it is no larger.
    pub fn cut_by(&mut self, bytes: u32, cfg: &TcpConfig) {
        let window = self.cwnd.saturating_sub(bytes).max(2 * u32::from(cfg.mss));
        if window < self.cwnd {
            self.cwnd = window;
            self.ssthresh = window;
            match &mut self.law {
                Law::Cubic(c) => c.begin_anew(),
                Law::CubicLinux(c) => c.begin_anew(),
                Law::Halving | Law::Dctcp(_) | Law::PFabric | Law::Open | Law::Linux(_) | Law::Linux2_6_38(_) => {}
            }
        }
    }
    /// The congestion window, bytes.
    #[inline]
    pub fn window(&self) -> u32 {
        self.cwnd
    }
    /// The slow start threshold, bytes.
    pub fn ssthresh(&self) -> u32 {
        self.ssthresh
    }
    /// DCTCP's estimate α in units of 2⁻³⁰; `None` for others.
    pub fn alpha(&self) -> Option<u32> {
        match &self.law {
            Law::Halving | Law::PFabric | Law::Open | Law::Cubic(_) | Law::CubicLinux(_) => None,
            Law::Dctcp(d) => Some(d.alpha()),
            Law::Linux(l) => l.dctcp.as_ref().map(linux::Estimate::alpha),
            Law::Linux2_6_38(old) => old.alpha(),
        }
    }
}
