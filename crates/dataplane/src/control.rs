//! PAUSE and PFC frames as packets: MAC control frames, which cross one link and are read at its far end.

use crate::{NO_EXT, Pkt};
use mech::pause::CONTROL_FRAME;
use mech::{ClassSet, Flags, HostId, PacketKind};

/// What a PAUSE or PFC frame says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrame {
    /// Classes to be silent.
    pub xoff: ClassSet,
    /// Classes that are resumed: those whose quanta are 0.
    pub xon: ClassSet,
    /// For how long, in units of 512 bit times.
    pub quanta: u16,
    /// Whether it is PAUSE of 802.3x, for the whole port, and not PFC.
    pub whole: bool,
}

impl PauseFrame {
    /// The packet that says it: the n-th of its node, for the far end of a link. A switch looks no further than
    /// its kind, so its destination there is any host, and at a host nobody.
    pub(crate) fn packet(self, node: u32, n: u32, to_switch: bool) -> Pkt {
        let mut pkt = Pkt { ext: NO_EXT, seq: u32::from(self.quanta), emission: n, ..Pkt::default() };
        pkt.ack = u32::from(self.xoff.0) | u32::from(self.xon.0) << 8 | u32::from(self.whole) << 16;
        pkt.head.src = HostId(node);
        pkt.head.dst = if to_switch { HostId(0) } else { HostId(u32::MAX) };
        (pkt.head.size, pkt.head.orig_size) = (CONTROL_FRAME, CONTROL_FRAME);
        pkt.head.flags = Flags::of_kind(PacketKind::Pause);
        pkt.head.set_class(7);
        pkt
    }

    /// The frame in a packet's words. PRECONDITION: the packet is a [`PacketKind::Pause`].
    pub(crate) fn read(pkt: &Pkt) -> PauseFrame {
        let [xoff, xon, whole, _] = pkt.ack.to_le_bytes();
        PauseFrame { xoff: ClassSet(xoff), xon: ClassSet(xon), quanta: pkt.seq as u16, whole: whole > 0 }
    }

    /// What a packet says; `None` where it is no such frame.
    pub fn from_packet(pkt: &Pkt) -> Option<PauseFrame> {
        (pkt.head.kind() == PacketKind::Pause).then(|| PauseFrame::read(pkt))
    }

    /// Says more before it is sent: of each class, what is said last.
    pub(crate) fn add(&mut self, other: PauseFrame) {
        self.xoff = self.xoff.minus(other.xon).union(other.xoff);
        self.xon = self.xon.minus(other.xoff).union(other.xon);
        self.quanta = self.quanta.max(other.quanta);
        self.whole |= other.whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_frame_says_is_in_its_packet() {
        let (xoff, xon) = (ClassSet(0b1001_0000), ClassSet(0b10));
        for whole in [false, true] {
            let frame = PauseFrame { xoff, xon, quanta: 65_535, whole };
            assert_eq!(PauseFrame::from_packet(&frame.packet(7, 0, true)), Some(frame));
        }
        assert_eq!(PauseFrame::from_packet(&Pkt::default()), None);
    }

    #[test]
    fn a_frame_that_waits_says_the_last_word_on_each_class() {
        let pause = |classes| PauseFrame { xoff: ClassSet(classes), quanta: 9, ..PauseFrame::default() };
        let resume = |classes| PauseFrame { xon: ClassSet(classes), ..PauseFrame::default() };
        let mut frame = pause(0b011);
        frame.add(resume(0b110));
        assert_eq!((frame.xoff, frame.xon, frame.quanta), (ClassSet(0b001), ClassSet(0b110), 9));
        frame.add(pause(0b100));
        assert_eq!((frame.xoff, frame.xon), (ClassSet(0b101), ClassSet(0b010)));
    }
}
