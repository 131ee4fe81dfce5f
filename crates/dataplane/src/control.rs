//! PAUSE and PFC frames as packets: MAC control frames, which cross one link and end at its far end.

use crate::{NO_EXT, Pkt};
use mech::pause::CONTROL_FRAME_BYTES;
use mech::{ClassSet, Flags, HostId, PacketKind};

/// Contents of a PAUSE or PFC frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrame {
    /// Traffic classes that the frame pauses.
    pub xoff: ClassSet,
    /// Traffic classes that the frame resumes: those whose quanta are 0.
    pub xon: ClassSet,
    /// Duration of the pause in quanta of 512 bit times.
    pub quanta: u16,
    /// True for PAUSE (802.3x) of the whole port, false for PFC.
    pub whole: bool,
}

impl PauseFrame {
    /// Returns the PAUSE or PFC frame as a packet; `n` is its number among the control frames of its node.
    pub(crate) fn packet(self, node: u32, n: u32, to_switch: bool) -> Pkt {
        let mut pkt = Pkt { ext: NO_EXT, seq: u32::from(self.quanta), emission: n, ..Pkt::default() };
        pkt.ack = u32::from(self.xoff.0) | u32::from(self.xon.0) << 8 | u32::from(self.whole) << 16;
        pkt.head.src = HostId(node);
        // A switch reads only the kind of the frame. But it predicts a route for every frame, so the destination must
        // be a host of the network. A frame to a host has the number of no host, so that the NIC takes it, not the
        // stack.
        pkt.head.dst = if to_switch { HostId(0) } else { HostId(u32::MAX) };
        (pkt.head.size, pkt.head.orig_size) = (CONTROL_FRAME_BYTES, CONTROL_FRAME_BYTES);
        pkt.head.flags = Flags::from_kind(PacketKind::Pause);
        pkt.head.set_class(7);
        pkt
    }

    /// Reads a PAUSE or PFC frame from the fields of a packet. PRECONDITION: the packet is a [`PacketKind::Pause`].
    pub(crate) fn from_packet_fields(pkt: &Pkt) -> PauseFrame {
        let [xoff, xon, whole, _] = pkt.ack.to_le_bytes();
        PauseFrame { xoff: ClassSet(xoff), xon: ClassSet(xon), quanta: pkt.seq as u16, whole: whole > 0 }
    }

    /// Returns the PAUSE or PFC frame in a packet; `None` if the packet is of another kind.
    pub fn from_packet(pkt: &Pkt) -> Option<PauseFrame> {
        (pkt.head.kind() == PacketKind::Pause).then(|| PauseFrame::from_packet_fields(pkt))
    }

    /// Merges another pause frame into this one before it is sent. The last request for each class counts.
    pub(crate) fn merge(&mut self, other: PauseFrame) {
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
    fn pause_frame_survives_encoding_as_a_packet() {
        let (xoff, xon) = (ClassSet(0b1001_0000), ClassSet(0b10));
        for whole in [false, true] {
            let frame = PauseFrame { xoff, xon, quanta: 65_535, whole };
            assert_eq!(PauseFrame::from_packet(&frame.packet(7, 0, true)), Some(frame));
        }
        assert_eq!(PauseFrame::from_packet(&Pkt::default()), None);
    }

    #[test]
    fn merge_keeps_the_last_request_for_each_class() {
        let pause = |classes| PauseFrame { xoff: ClassSet(classes), quanta: 9, ..PauseFrame::default() };
        let resume = |classes| PauseFrame { xon: ClassSet(classes), ..PauseFrame::default() };
        let mut frame = pause(0b011);
        frame.merge(resume(0b110));
        assert_eq!((frame.xoff, frame.xon, frame.quanta), (ClassSet(0b001), ClassSet(0b110), 9));
        frame.merge(pause(0b100));
        assert_eq!((frame.xoff, frame.xon), (ClassSet(0b101), ClassSet(0b010)));
    }
}
