//! Quick ACKs, as in Linux: ACKs without delay at times when the sender may be waiting for one.

use super::{Arrival, Receiver, ReceiverFlags};
use crate::Pkt;
use crate::transport::{Io, TcpConfig, segment};
use mech::Flags;
use units::{Dur, Time};

/// Size in bytes to which the first segments grow a Linux receive window, and number of these segments.
/// Until then ACKs use up no quick ACKs, so these segments add to their number.
const INITIAL_WINDOW_GROWTH: u64 = 80 << 10;
const QUICK_ACKS_WHILE_GROWING: u8 = 6;
/// Number of quick ACKs after congestion marks begin.
const QUICK_ACKS_AT_MARKS: u8 = 2;

/// Number of quick ACKs at the start in Linux 2.6.38: half of the receiver's first window of ten segments.
const QUICK_ACKS_OF_FIRST_WINDOW: u8 = 5;

/// Returns the number of quick ACKs at the start of a connection.
pub(super) fn initial_quick_acks(cfg: &TcpConfig) -> u8 {
    if cfg.follows_linux_2_6_38() {
        return cfg.quick_acks.min(QUICK_ACKS_OF_FIRST_WINDOW);
    }
    let grows = cfg.is_linux() && cfg.quick_acks > 0 && u64::from(cfg.receive_window) > INITIAL_WINDOW_GROWTH;
    cfg.quick_acks + if grows { QUICK_ACKS_WHILE_GROWING } else { 0 }
}

/// Returns the idle time beyond which a sender is assumed to restart with a small window: its timeout.
/// Linux takes the receiver's own timeout after the handshake.
fn idle_threshold(cfg: &TcpConfig) -> Dur {
    if !cfg.is_linux() || cfg.tick == Dur::ZERO {
        return cfg.min_rto;
    }
    let timeout = cfg.min_rto.saturating_add(cfg.handshake_rtt.max(Dur::us(1)));
    Dur(timeout.0.div_ceil(cfg.tick.0).saturating_mul(cfg.tick.0))
}

impl Receiver {
    /// Allows quick ACKs if marks begin, or if the sender starts again after a silence.
    /// It is called before the segment is added.
    /// The silence is measured by timestamps, or on Linux by the last segment in order.
    #[inline(never)]
    pub(super) fn allow_quick_acks(&mut self, pkt: &Pkt, range: (u64, u64), io: &Io) {
        let is_in_order = range.0 <= self.next && self.next < range.1;
        let begins = !self.echo || io.cfg.is_linux() && pkt.head.flags.has(Flags::CWR);
        let is_old = io.cfg.is_linux() && range.1 <= self.next;
        if segment::is_marked(pkt) && begins && !is_old {
            // Linux: a mark on data beyond a gap, before any data in order has arrived, cancels the quick ACKs with
            // which a connection starts.
            let is_first = io.cfg.is_linux() && self.next == 0 && !is_in_order;
            self.count = if is_first { 0 } else { self.count.max(QUICK_ACKS_AT_MARKS) };
        }
        let looks = is_in_order || !io.cfg.is_linux();
        if looks && self.recent_at != Time::NEVER && self.was_idle(io) {
            self.count = io.cfg.quick_acks;
        }
        if io.cfg.is_linux() && is_in_order && !self.bits.any(ReceiverFlags::TIMESTAMPS) {
            self.recent_at = io.now;
        }
    }

    /// Returns true if no data came for longer than [`idle_threshold`]; Linux counts it in whole ticks of the host's
    /// clock.
    fn was_idle(&self, io: &Io) -> bool {
        let ticks = io.cfg.host_ticks(self.flow.dst);
        match io.cfg.is_linux() {
            true => ticks.ticks_at(io.now) - ticks.ticks_at(self.recent_at) > ticks.ticks_of(idle_threshold(io.cfg)),
            false => io.now.since(self.recent_at) > idle_threshold(io.cfg),
        }
    }

    /// Allows quick ACKs after a duplicate, which shows that its ACK was lost or that the sender had a timeout.
    /// On Linux only a duplicate of acknowledged data counts. If it ends before the last ACK, its own ACK uses up no
    /// quick ACK.
    #[inline(never)]
    pub(super) fn allow_quick_acks_after_duplicate(&mut self, range: (u64, u64), cfg: &TcpConfig) {
        match (cfg.is_linux(), range.1 <= self.next) {
            (true, true) => {
                let is_old = range.1 < self.next - u64::from(self.unacked);
                self.count = cfg.quick_acks + u8::from(is_old);
            }
            (true, false) => {}
            (false, _) => self.count = cfg.quick_acks,
        }
    }

    /// Latches ECN-Echo by RFC 3168 §6.1.3, with Linux's exceptions.
    /// Linux ignores segments that end before the last ACK. The mark of a duplicate counts only while its data waits
    /// beyond a gap.
    pub(super) fn latch_echo_as_linux(&mut self, pkt: &Pkt, range: (u64, u64), arrival: Arrival) {
        if arrival == Arrival::Duplicate && range.1 < self.next - u64::from(self.unacked) {
            return;
        }
        let is_old = arrival == Arrival::Duplicate && range.1 <= self.next;
        self.latch_echo(pkt, segment::is_marked(pkt) && !is_old);
    }

    /// Returns true if this segment is acknowledged without delay.
    /// It is one of the first, ends a burst, or is short and so ends what an application wrote.
    #[inline(never)]
    pub(super) fn is_quick(&self, pkt: &Pkt, io: &Io) -> bool {
        let pushed = || io.exts.get(pkt.ext).is_some_and(|ext| ext.push);
        io.cfg.quick_acks > 0 && (self.count > 0 || pkt.payload < io.cfg.mss || pushed())
    }
}
