//! Go-back-N of RoCE's reliable connections, at the sender (IBTA §9.7.5.1, §9.7.5.2).

use super::{AckFields, Sender};
use crate::Pkt;
use crate::transport::{Io, segment};

impl Sender {
    /// Processes an ACK or a NAK of RoCE, which both acknowledge everything before `ack`.
    /// At a NAK the sender goes back to `ack`, and sends from there as the NIC requests. Old ones have no effect.
    #[inline(never)]
    pub(super) fn receive_in_order(&mut self, pkt: &Pkt, ack: u64, io: &mut Io) {
        if ack < self.una {
            return;
        }
        let is_new = ack > self.una;
        if is_new {
            self.advance(AckFields { ack, ece: false, sacked: false, rtt: None }, true, io);
            self.nxt = self.nxt.max(self.una);
            self.loss.expiries = 0;
        }
        let goes_back = segment::is_nak(pkt) && self.nxt > self.una;
        if goes_back {
            self.nxt = self.una;
            self.fast_retransmits += 1;
            self.timing.clear();
        }
        if is_new || goes_back {
            self.restart_timer(io.now, io.cfg);
        }
        self.send(io);
    }
}
