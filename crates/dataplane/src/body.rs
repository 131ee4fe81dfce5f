//! What a packet's twelve words of body mean: a view of them by the packet's kind.
//!
//! A packet is one cache line, so all kinds share the same words. Nobody reads a word without having asked
//! what the packet is, but a transport, to which a host hands nothing but segments.

use crate::{NO_EXT, PauseFrame, Pkt};
use mech::{Flags, FlowId, Head, HostId, Notice, PacketKind, PortId};

/// A packet's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Of a transport.
    Segment(Segment),
    /// A PAUSE or PFC frame.
    Pause(PauseFrame),
    /// A message to the source of the flow that the packet names.
    Notice(Notice),
    /// So many bytes, sent and forgotten.
    Raw(u16),
}

/// What a segment says beside its flags and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload byte, modulo 2³² (RFC 9293 §3.4).
    pub seq: u32,
    /// Acknowledgement number, modulo 2³².
    pub ack: u32,
    /// Bytes of payload.
    pub payload: u16,
    /// Advertised receive window in units of the connection's scale (RFC 7323 §2).
    pub window: u16,
}

/// A message about congestion as it is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeSetup {
    /// What it says.
    pub notice: Notice,
    /// The flow that it is about.
    pub flow: FlowId,
    /// That flow's source.
    pub to: HostId,
    /// The node that says it.
    pub node: u32,
    /// Which of that node's messages it is, from 0.
    pub n: u32,
    /// Bytes of its frame.
    pub size: u16,
}

/// A CNM gives lengths of queues in units of so many bytes (802.1Qau §33.4.5).
pub const CNM_UNIT: i64 = 64;

/// Bytes as a CNM gives them: whole units toward the smaller, as many as 16 bits hold.
fn units(bytes: i64) -> u16 {
    bytes.div_euclid(CNM_UNIT).clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16 as u16
}

fn bytes(units: u32) -> i64 {
    i64::from(units as u16 as i16) * CNM_UNIT
}

impl Pkt {
    /// What its words say.
    pub fn body(&self) -> Body {
        match self.head.kind() {
            PacketKind::Segment => {
                let Pkt { seq, ack, payload, window, .. } = *self;
                Body::Segment(Segment { seq, ack, payload, window })
            }
            PacketKind::Pause => Body::Pause(PauseFrame::read(self)),
            PacketKind::Notice => Body::Notice(self.notice()),
            PacketKind::Raw => Body::Raw(self.payload),
        }
    }

    fn notice(&self) -> Notice {
        match self.window {
            0 => Notice::Cnp,
            feedback => Notice::Cnm {
                feedback: feedback as u8,
                q_off: bytes(self.ack >> 16),
                q_delta: bytes(self.ack),
                point: PortId(self.seq as u16),
            },
        }
    }
}

impl NoticeSetup {
    /// The packet that says it.
    pub fn packet(self) -> Pkt {
        let head = Head {
            flow: self.flow,
            src: HostId(self.node),
            dst: self.to,
            // Not of the flow's number, which is another where the run is divided.
            hash: mech::hash_mix(u64::from(self.to.0), u64::from(self.node)) as u32,
            size: self.size,
            orig_size: self.size,
            flags: Flags::of_kind(PacketKind::Notice),
            ..Head::default()
        };
        let mut pkt = Pkt { head, emission: self.n, ext: NO_EXT, ..Pkt::default() };
        pkt.head.set_class(7);
        if let Notice::Cnm { feedback, q_off, q_delta, point } = self.notice {
            // No message without feedback is sent (802.1Qau §32.8.5): 0 is none.
            pkt.window = u16::from(feedback.clamp(1, 63));
            pkt.ack = u32::from(units(q_off)) << 16 | u32::from(units(q_delta));
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
    fn a_notice_is_in_the_words_of_its_packet() {
        let cnm = |q_off, q_delta| Notice::Cnm { feedback: 34, q_off, q_delta, point: PortId(7) };
        for (said, read) in [
            (cnm(1472, -64), cnm(1472, -64)),
            (cnm(1500, -1), cnm(1472, -64)),
            (cnm(i64::MAX, i64::MIN), cnm(32_767 * 64, -32_768 * 64)),
            (Notice::Cnp, Notice::Cnp),
        ] {
            let pkt = packet(said);
            assert_eq!(pkt.body(), Body::Notice(read));
            assert_eq!((pkt.head.flow, pkt.head.dst, pkt.head.src), (FlowId(8), HostId(3), HostId(21)));
            assert_eq!((pkt.emission, pkt.head.size, pkt.head.kind()), (5, 64, PacketKind::Notice));
        }
    }

    #[test]
    fn the_same_words_are_read_by_the_kind_of_the_packet() {
        let mut pkt = Pkt { seq: 1, ack: 0b10, payload: 3, window: 4, ..Pkt::default() };
        let words = Segment { seq: 1, ack: 2, payload: 3, window: 4 };
        assert_eq!(pkt.body(), Body::Segment(words));
        pkt.head.flags = Flags::of_kind(PacketKind::Raw);
        assert_eq!(pkt.body(), Body::Raw(3));
        pkt.head.flags = Flags::of_kind(PacketKind::Pause);
        let frame = PauseFrame { xoff: mech::ClassSet(2), quanta: 1, ..PauseFrame::default() };
        assert_eq!(pkt.body(), Body::Pause(frame));
    }
}
