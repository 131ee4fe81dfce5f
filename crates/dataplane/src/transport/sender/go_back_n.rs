//! Go-back-N: what RoCE's reliable connections do about acknowledgements (IBTA §9.7.5.1, §9.7.5.2).

use super::{Arrived, Sender};
use crate::Pkt;
use crate::transport::{Io, segment};

impl Sender {
    /// An ACK or a NAK has come. Both acknowledge everything before `ack`; at a NAK it goes back to that, and sends from there as
    /// the NIC takes it. Old ones do nothing.
    #[inline(never)]
    pub(super) fn receive_in_order(&mut self, pkt: &Pkt, ack: u64, io: &mut Io) {
        if ack < self.una {
            return;
        }
        let is_new = ack > self.una;
        if is_new {
            self.advance(Arrived { ack, ece: false, sacked: false, rtt: None }, true, io);
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
            self.rearm(io.now, io.cfg);
        }
        self.send(io);
    }
}
