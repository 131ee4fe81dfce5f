//! Body of a packet: the fields beside its head, whose meaning depends on the kind of the packet.
//!
//! A packet is one cache line, so all kinds share the same words. They are read only after a test of the kind, except
//! in transports, which get nothing but segments.

use crate::{NO_EXT, PauseFrame, Pkt};
use mech::{Flags, FlowId, Head, HostId, Notice, PacketKind, PortId};

/// Decoded body of a packet, which depends on the kind of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketBody {
    /// Segment of a transport, such as TCP.
    Segment(Segment),
    /// PAUSE or PFC frame.
    Pause(PauseFrame),
    /// Congestion message (CNM or CNP) to the source of the flow that the packet names.
    Notice(Notice),
    /// Number of payload bytes of a packet that is sent without a transport.
    Raw(u16),
}

/// Sequence number, acknowledgement number, payload and window of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload byte, modulo 2³² (RFC 9293 §3.4).
    pub seq: u32,
    /// Acknowledgement number, modulo 2³².
    pub ack: u32,
    /// Number of payload bytes.
    pub payload: u16,
    /// Advertised receive window in units of the connection's scale (RFC 7323 §2).
    pub window: u16,
}

/// Congestion message (CNM or CNP) before it becomes a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeSetup {
    /// Contents of the congestion message.
    pub notice: Notice,
    /// Flow that the congestion message is about.
    pub flow: FlowId,
    /// Host that gets the congestion message: the source of the flow.
    pub to: HostId,
    /// Number of the node that sends the congestion message.
    pub node: u32,
    /// Number of the congestion message among those of its node, from 0.
    pub n: u32,
    /// Size of the congestion message as a frame, in bytes.
    pub size: u16,
}

/// Unit of queue lengths in a congestion notification message (CNM), in bytes (802.1Qau §33.4.5).
pub const CNM_UNIT: i64 = 64;

/// Converts a signed difference of queue lengths in bytes to units of a CNM, rounded down and bounded to 16 bits.
fn to_cnm_units(bytes: i64) -> u16 {
    bytes.div_euclid(CNM_UNIT).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16 as u16
}

fn from_cnm_units(units: u32) -> i64 {
    i64::from(units as u16 as i16) * CNM_UNIT
}

impl Pkt {
    /// Returns the fields of the packet's body, decoded by the kind of the packet.
    pub fn body(&self) -> PacketBody {
        match self.head.kind() {
            PacketKind::Segment => {
                let Pkt { seq, ack, payload, window, .. } = *self;
                PacketBody::Segment(Segment { seq, ack, payload, window })
            }
            PacketKind::Pause => PacketBody::Pause(PauseFrame::from_packet_fields(self)),
            PacketKind::Notice => PacketBody::Notice(self.notice()),
            PacketKind::Raw => PacketBody::Raw(self.payload),
        }
    }

    fn notice(&self) -> Notice {
        match self.window {
            0 => Notice::Cnp,
            feedback => Notice::Cnm {
                feedback: feedback as u8,
                q_off: from_cnm_units(self.ack >> 16),
                q_delta: from_cnm_units(self.ack),
                point: PortId(self.seq as u16),
            },
        }
    }
}

impl NoticeSetup {
    /// Returns the congestion message as a packet.
    pub fn packet(self) -> Pkt {
        let head = Head {
            flow: self.flow,
            src: HostId(self.node),
            dst: self.to,
            // Flow numbers differ if a run is divided into partitions, so the hash must not depend on them.
            hash: mech::hash_mix(u64::from(self.to.0), u64::from(self.node)) as u32,
            size: self.size,
            orig_size: self.size,
            flags: Flags::from_kind(PacketKind::Notice),
            ..Head::default()
        };
        let mut pkt = Pkt { head, emission: self.n, ext: NO_EXT, ..Pkt::default() };
        pkt.head.set_class(7);
        if let Notice::Cnm { feedback, q_off, q_delta, point } = self.notice {
            // A CNM without feedback is never sent (802.1Qau §32.8.5), so 0 stands for a CNP.
            pkt.window = u16::from(feedback.clamp(1, 63));
            pkt.ack = u32::from(to_cnm_units(q_off)) << 16 | u32::from(to_cnm_units(q_delta));
            pkt.seq = u32::from(point.0);
        }
        pkt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(notice: Notice) -> Pkt {
        NoticeSetup { notice, flow: FlowId(8), to: HostId(3), node: 21, n: 5, size: 64 }.packet()
    }

    #[test]
    fn notice_survives_encoding_as_a_packet() {
        let cnm = |q_off, q_delta| Notice::Cnm { feedback: 34, q_off, q_delta, point: PortId(7) };
        for (said, read) in [
            (cnm(1472, -64), cnm(1472, -64)),
            (cnm(1500, -1), cnm(1472, -64)),
            (cnm(i64::MAX, i64::MIN), cnm(32_767 * 64, -32_768 * 64)),
            (Notice::Cnp, Notice::Cnp),
        ] {
            let pkt = packet(said);
            assert_eq!(pkt.body(), PacketBody::Notice(read));
            assert_eq!((pkt.head.flow, pkt.head.dst, pkt.head.src), (FlowId(8), HostId(3), HostId(21)));
            assert_eq!((pkt.emission, pkt.head.size, pkt.head.kind()), (5, 64, PacketKind::Notice));
        }
    }

    #[test]
    fn packet_kind_decides_how_fields_are_decoded() {
        let mut pkt = Pkt { seq: 1, ack: 0b10, payload: 3, window: 4, ..Pkt::default() };
        let words = Segment { seq: 1, ack: 2, payload: 3, window: 4 };
        assert_eq!(pkt.body(), PacketBody::Segment(words));
        pkt.head.flags = Flags::from_kind(PacketKind::Raw);
        assert_eq!(pkt.body(), PacketBody::Raw(3));
        pkt.head.flags = Flags::from_kind(PacketKind::Pause);
        let frame = PauseFrame { xoff: mech::ClassSet(2), quanta: 1, ..PauseFrame::default() };
        assert_eq!(pkt.body(), PacketBody::Pause(frame));
    }
}
