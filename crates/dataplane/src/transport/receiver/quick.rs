//! ACKs that are not delayed although they might be, as in Linux: where a sender may be waiting for them.

use super::Receiver;
use crate::Pkt;
use crate::transport::{Io, TcpConfig};
use units::Time;

/// ACKs that are sent at once where marks begin.
const AT_MARKS: u8 = 2;

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

    /// Whether this segment is acknowledged at once: one of the first, or a short one, which ends what an
    /// application wrote.
    #[inline(never)]
    pub(super) fn is_quick(&mut self, pkt: &Pkt, cfg: &TcpConfig) -> bool {
        let quick = cfg.quick_acks > 0 && (self.count > 0 || pkt.payload < cfg.mss);
        self.count -= u8::from(self.count > 0 && quick);
        quick
    }
}
