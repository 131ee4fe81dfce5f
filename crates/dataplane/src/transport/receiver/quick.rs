//! ACKs that are not delayed although they might be, as in Linux: where a sender may be waiting for them.

use super::{Arrival, Bits, Receiver};
use crate::Pkt;
use crate::transport::{Io, TcpConfig, segment};
use mech::Flags;
use units::{Dur, Time};

/// A kernel's window grows to so many bytes by its first segments; meanwhile no ACK takes one of those that are sent
/// at once, for so many segments.
const GROWN: u64 = 80 << 10;
const WHILE_GROWING: u8 = 6;
/// ACKs that are sent at once where marks begin.
const AT_MARKS: u8 = 2;

/// Number of immediate ACKs at the start of a connection in Linux 2.6.38: half of its first receive window of ten segments.
const OF_FIRST_WINDOW: u8 = 5;

/// How many ACKs are sent at once at first.
pub(super) fn at_first(cfg: &TcpConfig) -> u8 {
    if cfg.follows_linux_2_6_38() {
        return cfg.quick_acks.min(OF_FIRST_WINDOW);
    }
    let grows = cfg.as_linux() && cfg.quick_acks > 0 && u64::from(cfg.receive_window) > GROWN;
    cfg.quick_acks + if grows { WHILE_GROWING } else { 0 }
}

/// Silence after which a sender begins with a small window again: longer than its timeout. Linux takes the receiver's own
/// timeout after the handshake.
fn silence(cfg: &TcpConfig) -> Dur {
    if !cfg.as_linux() || cfg.tick == Dur::ZERO {
        return cfg.min_rto;
    }
    let timeout = cfg.min_rto.saturating_add(cfg.handshake_rtt.max(Dur::us(1)));
    Dur(timeout.0.div_ceil(cfg.tick.0).saturating_mul(cfg.tick.0))
}

impl Receiver {
    /// A segment has come, before it is taken in: marks begin, or nothing came for so long that the sender
    /// begins with a small window again. The silence is known by timestamps, or on Linux by the last segment in order.
    #[inline(never)]
    pub(super) fn quicken(&mut self, pkt: &Pkt, range: (u64, u64), io: &Io) {
        let is_in_order = range.0 <= self.next && self.next < range.1;
        let begins = !self.echo || io.cfg.as_linux() && pkt.head.flags.has(Flags::CWR);
        let is_old = io.cfg.as_linux() && range.1 <= self.next;
        if segment::is_marked(pkt) && begins && !is_old {
            // A mark before the first data in order leaves Linux without the sixteen of a start.
            let is_first = io.cfg.as_linux() && self.next == 0 && !is_in_order;
            self.count = if is_first { 0 } else { self.count.max(AT_MARKS) };
        }
        let looks = is_in_order || !io.cfg.as_linux();
        if looks && self.recent_at != Time::NEVER && self.has_been_silent(io) {
            self.count = io.cfg.quick_acks;
        }
        if io.cfg.as_linux() && is_in_order && !self.bits.any(Bits::STAMPS) {
            self.recent_at = io.now;
        }
    }

    /// Returns true if no data came for longer than [`silence`], in whole ticks of the host's clock if Linux counts them.
    fn has_been_silent(&self, io: &Io) -> bool {
        let ticks = io.cfg.ticks(self.flow.dst);
        match io.cfg.as_linux() {
            true => ticks.passed(io.now) - ticks.passed(self.recent_at) > ticks.ticks_of(silence(io.cfg)),
            false => io.now.since(self.recent_at) > silence(io.cfg),
        }
    }

    /// A duplicate has come: its ACK was lost, or the sender has had a timeout. On Linux that is one of what is acknowledged, and
    /// its own ACK is none of those where it ends before the last ACK.
    #[inline(never)]
    pub(super) fn quicken_again(&mut self, range: (u64, u64), cfg: &TcpConfig) {
        match (cfg.as_linux(), range.1 <= self.next) {
            (true, true) => {
                let is_old = range.1 < self.next - u64::from(self.unacked);
                self.count = cfg.quick_acks + u8::from(is_old);
            }
            (true, false) => {}
            (false, _) => self.count = cfg.quick_acks,
        }
    }

    /// RFC 3168 §6.1.3 as Linux has it: what ends before the last ACK is not looked at, and of what has come again a mark counts
    /// only while it waits beyond a gap.
    pub(super) fn latch_as_linux(&mut self, pkt: &Pkt, range: (u64, u64), arrival: Arrival) {
        if arrival == Arrival::Duplicate && range.1 < self.next - u64::from(self.unacked) {
            return;
        }
        let is_old = arrival == Arrival::Duplicate && range.1 <= self.next;
        self.latch(pkt, segment::is_marked(pkt) && !is_old);
    }

    /// Whether this segment is acknowledged at once: one of the first, one that ends a burst, or a short one, which
    /// ends what an application wrote.
    #[inline(never)]
    pub(super) fn is_quick(&self, pkt: &Pkt, io: &Io) -> bool {
        let pushed = || io.exts.get(pkt.ext).is_some_and(|ext| ext.push);
        io.cfg.quick_acks > 0 && (self.count > 0 || pkt.payload < io.cfg.mss || pushed())
    }
}
