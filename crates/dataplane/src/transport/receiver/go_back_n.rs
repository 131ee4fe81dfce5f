//! Receiver of RoCE's reliable connections: it takes only the next packet (IBTA §9.7.5.1.2, §9.7.5.2.8).

use super::{Receiver, ReceiverFlags};
use crate::transport::{Io, segment};

impl Receiver {
    /// Processes data as a RoCE receiver: it acknowledges the next bytes, and old bytes again.
    /// Data beyond a gap is discarded. The first such packet gets a NAK, and there is no other until the gap is filled.
    #[inline(never)]
    pub(super) fn take_in_order(&mut self, (start, end): (u64, u64), io: &mut Io) {
        if start > self.next {
            self.out_of_order += 1;
            if !self.bits.any(ReceiverFlags::GAP) {
                self.bits = self.bits.with(ReceiverFlags::GAP);
                self.ack_in_order(true, io);
            }
            return;
        }
        if end > self.next {
            self.next = end;
            self.bits = self.bits.without(ReceiverFlags::GAP);
        } else {
            self.duplicates += 1;
        }
        self.ack_in_order(false, io);
    }

    fn ack_in_order(&mut self, is_nak: bool, io: &mut Io) {
        let mut pkt = match is_nak {
            true => segment::nak_segment(&self.flow, self.next, io.cfg),
            false => segment::ack_segment(&self.flow, self.next, false, io.cfg),
        };
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        io.out.push(pkt);
    }
}
