//! PACKs: immediate replies of a receiver to trimmed packets, with the range of lost bytes (Cut Payload §4.3).

use super::{OutOfOrderState, Receiver};
use crate::Pkt;
use crate::transport::Io;
use crate::transport::config::EcnMode;
use crate::transport::segment::{self, is_marked};
use mech::Flags;

/// Last range of lost bytes that a PACK has reported, and the number of PACKs sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastLostRange {
    /// Range of lost bytes in the last PACK.
    range: Option<(u64, u64)>,
    /// Number of PACKs (precise ACKs of Cut Payload) sent.
    packs: u32,
}

/// Returns a lost range as a SACK block with swapped edges (Cut Payload §4.3).
fn block(range: (u64, u64)) -> (u32, u32) {
    (range.1 as u32, range.0 as u32)
}

impl Receiver {
    /// Processes a trimmed packet: its congestion mark is echoed as usual, and a PACK reports its lost bytes.
    pub(super) fn on_cut(&mut self, pkt: &Pkt, io: &mut Io) {
        let Some(lost) = segment::cut_range(pkt, self.next, io) else { return };
        let marked = is_marked(pkt);
        self.marked += u32::from(marked);
        match io.cfg.ecn {
            EcnMode::Off | EcnMode::ByNic => {}
            EcnMode::Latched => self.latch_echo(pkt, marked),
            EcnMode::Exact if marked != self.echo => self.on_echo_change(marked, io),
            EcnMode::Exact => {}
        }
        self.send_pack((lost.start, lost.end), pkt.head.class(), io);
    }

    /// Sends a PACK for a range of lost bytes, which also acknowledges all data in order.
    /// Its first block is the lost range. The second is that of the last PACK while still missing, in case that PACK
    /// was lost (CP §4.6). The ranges beyond the gap follow (RFC 2018 §4).
    /// A PACK has the class of the header that it answers, as control packets have in NDP (§3.1). In the class of data
    /// it would be lost with the data if only headers have buffer space of their own.
    fn send_pack(&mut self, lost: (u64, u64), class: u8, io: &mut Io) {
        let mut pkt = segment::ack_segment(&self.flow, self.next, self.echo, io.cfg);
        pkt.head.flags = pkt.head.flags.with(Flags::PPL);
        pkt.head.set_class(class);
        segment::stamp_packet(&mut pkt, io.now, &mut self.emission);
        pkt.window = self.advertise(io.cfg);
        let mut ext = self.timestamp_option(io);
        ext.sack[0] = block(lost);
        ext.blocks = 1;
        let before = self.swap_last_lost_range(lost);
        if let Some(before) = before.filter(|range| *range != lost && self.is_missing(*range)) {
            ext.sack[1] = block(before);
            ext.blocks = 2;
        }
        self.add_sack_blocks(None, io.cfg.is_linux(), &mut ext);
        segment::add_options(&mut pkt, ext, io);
        io.out.push(pkt);
        self.reset_pending_acks();
    }

    /// Stores the lost range of a PACK, and returns that of the PACK before.
    fn swap_last_lost_range(&mut self, lost: (u64, u64)) -> Option<(u64, u64)> {
        let kept = &mut self.aside.get_or_insert_default().lost;
        kept.packs += 1;
        kept.range.replace(lost)
    }

    /// Returns true if no byte of a range has arrived.
    fn is_missing(&self, range: (u64, u64)) -> bool {
        let waits = |aside: &OutOfOrderState| aside.reorder.overlap(range.0, range.1).is_some();
        range.0 >= self.next && !self.out_of_order_state().is_some_and(waits)
    }

    /// Number of PACKs (precise ACKs of Cut Payload) sent.
    pub(super) fn packs(&self) -> u32 {
        self.aside.as_ref().map_or(0, |aside| aside.lost.packs)
    }
}
