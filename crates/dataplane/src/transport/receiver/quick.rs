//! ACKs that are not delayed although they might be, as in Linux: where a sender may be waiting for them.

use super::Receiver;
use crate::Pkt;
use crate::transport::{Io, TcpConfig};
use units::Time;

/// A kernel's window grows to so many bytes by its first segments; meanwhile no ACK takes one of those that are sent
/// at once, for so many segments.
const GROWN: u64 = 80 << 10;
const WHILE_GROWING: u8 = 6;
/// ACKs that are sent at once where marks begin.
const AT_MARKS: u8 = 2;

/// How many ACKs are sent at once at first.
pub(super) fn at_first(cfg: &TcpConfig) -> u8 {
    let grows = cfg.as_linux && cfg.quick_acks > 0 && u64::from(cfg.receive_window) > GROWN;
    cfg.quick_acks + if grows { WHILE_GROWING } else { 0 }
}

impl Receiver {
    /// A segment has come, before it is taken in: marks begin, or nothing came for so long that the sender
    /// begins with a small window again. The silence is known by timestamps alone.
    #[inline(never)]
    pub(super) fn quicken(&mut self, marked: bool, io: &Io) {
        if marked && !self.echo {
            self.count = self.count.max(AT_MARKS);
        }
        if self.recent_at != Time::NEVER && io.now.since(self.recent_at) > io.cfg.min_rto {
            self.count = io.cfg.quick_acks;
        }
    }

    /// Whether this segment is acknowledged at once: one of the first, one that ends a burst, or a short one, which
    /// ends what an application wrote.
    #[inline(never)]
    pub(super) fn is_quick(&self, pkt: &Pkt, io: &Io) -> bool {
        let pushed = || io.exts.get(pkt.ext).is_some_and(|ext| ext.push);
        io.cfg.quick_acks > 0 && (self.count > 0 || pkt.payload < io.cfg.mss || pushed())
    }
}
