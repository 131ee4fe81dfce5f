//! What a mechanism may know of a packet.

use crate::{FlowId, HostId, Lane, PortId, QueueId};

/// The hot part of a packet: 36 bytes that mechanisms read and the dataplane writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// The host that sent it.
    pub src: HostId,
    /// The host it is for.
    pub dst: HostId,
    /// Hash of the 5-tuple, equal for all packets of one direction of a flow.
    pub hash: u32,
    /// Scheduling rank, lower leaves first (pFabric: bytes that remain).
    pub rank: u32,
    /// Bytes of the frame as it is now, without preamble and gap.
    pub size: u16,
    /// Bytes of the frame as it was sent, before any cut.
    pub orig_size: u16,
    /// The port of this node that it came in by.
    pub ingress: PortId,
    /// Links crossed so far.
    pub hops: u16,
    /// What it is: bits of [`Flags`].
    pub flags: Flags,
    /// DSCP in the upper six bits, ECN codepoint in the lower two (RFC 2474, RFC 3168 §5). The DSCP is the priority class in
    /// its upper three bits, and [`Head::NOT_TRIMMABLE`].
    pub tos: u8,
    /// Switches it may still enter, itself included; 0 is any number.
    pub ttl: u8,
    /// Times it was bounced (PABO: `np`), never lowered.
    pub bounces: u8,
    /// Times it was detoured.
    pub detours: u8,
}

/// The ECN codepoint of a packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct = 0,
    /// ECN-capable, ECT(1).
    Ect1 = 1,
    /// ECN-capable, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

/// What a packet is, and so what the words of its body mean and whom a host hands it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketKind {
    /// A segment of a transport, data or ACK, a cut or a returned one too.
    Segment = 0,
    /// A PAUSE or PFC frame, which crosses one link (IEEE 802.3 annex 31B).
    Pause = 1,
    /// A message about congestion for the source of a flow: CNM or CNP.
    Notice = 2,
    /// A packet that was sent and forgotten, without a transport.
    Raw = 3,
}

/// What a packet is: a set of bits, and its [`PacketKind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// The acknowledgement number counts (RFC 9293 §3.1).
    pub const ACK: Flags = Flags(1);
    /// It carries payload.
    pub const PAYLOAD: Flags = Flags(1 << 1);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(1 << 2);
    /// No more data.
    pub const FIN: Flags = Flags(1 << 3);
    /// Reset.
    pub const RST: Flags = Flags(1 << 4);
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(1 << 5);
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(1 << 6);
    /// The payload may be cut (CP §4.1: CPA).
    pub const CPA: Flags = Flags(1 << 7);
    /// The payload was cut, or this is a PACK (CP §4.1: PPL).
    pub const PPL: Flags = Flags(1 << 8);
    /// Sent back to its source by a switch, which is its destination now.
    pub const RETURNED: Flags = Flags(1 << 9);
    /// Sent before, in whole or in part.
    pub const RETRANSMIT: Flags = Flags(1 << 10);
    /// Travels from the flow's receiver to its sender.
    pub const REVERSE: Flags = Flags(1 << 11);
    /// One of the frames that a switch has made of it which did not know its destination.
    pub const FLOODED: Flags = Flags(1 << 12);
    /// Such a one, and not on the way to its destination: its end is not counted. No mechanism
    /// may decide by this.
    pub const MISDIRECTED: Flags = Flags(1 << 13);
    /// The bits that hold the packet's [`PacketKind`].
    const KIND: Flags = Flags(0b11 << 14);

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any bit of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Both sets together.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// This set without the other.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// The flags of a packet of this kind, and no other bit.
    pub const fn of_kind(kind: PacketKind) -> Flags {
        Flags((kind as u16) << 14)
    }
    /// The kind of the packet.
    #[inline]
    pub const fn kind(self) -> PacketKind {
        match self.0 >> 14 {
            0 => PacketKind::Segment,
            1 => PacketKind::Pause,
            2 => PacketKind::Notice,
            _ => PacketKind::Raw,
        }
    }
}

impl Head {
    /// Bit of `tos` by which a sender forbids that switches cut the payload: a DSCP other than those that UEC and SAI trim.
    pub const NOT_TRIMMABLE: u8 = 1 << 2;

    /// What it is.
    #[inline]
    pub const fn kind(&self) -> PacketKind {
        self.flags.kind()
    }
    /// Priority class, 0 to 7, 7 the most urgent.
    #[inline]
    pub const fn class(&self) -> u8 {
        self.tos >> 5
    }
    /// Sets the priority class. PRECONDITION: `class < 8`.
    pub const fn set_class(&mut self, class: u8) {
        self.tos = self.tos & 0b1_1111 | class << 5;
    }
    /// Returns true if the sender allows that a switch cuts the payload.
    #[inline]
    pub const fn is_trimmable(&self) -> bool {
        self.tos & Head::NOT_TRIMMABLE == 0
    }
    /// The ECN codepoint.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        match self.tos & 0b11 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
    /// Sets the ECN codepoint.
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.tos = self.tos & !0b11 | ecn as u8;
    }
    /// Whether a mark may be set on it.
    #[inline]
    pub const fn is_ect(&self) -> bool {
        self.tos & 0b11 != 0
    }
    /// Whether it only acknowledges: no payload, none that was cut off (CP §4.1), and none of SYN,
    /// FIN, RST.
    pub const fn is_pure_ack(&self) -> bool {
        let cut = Flags::CPA.with(Flags::KIND);
        let other = Flags::PAYLOAD.with(Flags::SYN).with(Flags::FIN).with(Flags::RST).with(cut);
        self.flags.has(Flags::ACK) && !self.flags.any(other)
    }
    /// Whether a switch has cut it. A PACK says PPL as well (CP §5.1), and is as long as it was sent.
    #[inline]
    pub const fn is_cut(&self) -> bool {
        self.flags.has(Flags::PPL) && self.size < self.orig_size
    }
    /// The queue that its kind and its history put it in: messages about congestion have a lane of their own, and
    /// so have packets that were bounced (PABO §II-E).
    #[inline]
    pub fn queue(&self) -> QueueId {
        let lane = match self.kind() {
            PacketKind::Notice => Lane::Notice,
            _ if self.bounces > 0 => Lane::Bounce,
            _ => Lane::Normal,
        };
        QueueId::new(self.class(), lane)
    }
}

#[cfg(test)]
mod tests {
    use super::{Flags, PacketKind};
    use crate::testing::head;

    #[test]
    fn an_ack_is_pure_without_payload_even_a_cut_one_and_without_syn_and_fin() {
        assert!(head("ack").is_pure_ack() && head("ack ppl").is_pure_ack());
        for other in ["", "ack data", "ack syn", "ack fin", "ack cpa data", "ack cpa ppl", "syn"] {
            assert!(!head(other).is_pure_ack(), "{other}");
        }
    }

    #[test]
    fn a_kind_lies_beside_the_other_flags() {
        for kind in [PacketKind::Segment, PacketKind::Pause, PacketKind::Notice, PacketKind::Raw] {
            let flags = Flags::of_kind(kind).with(Flags::MISDIRECTED).with(Flags::ACK);
            assert_eq!((flags.kind(), flags.without(Flags::ACK).kind()), (kind, kind));
            assert!(!Flags::of_kind(kind).any(Flags(0x3fff)));
        }
        let mut notice = head("ack");
        notice.flags = notice.flags.with(Flags::of_kind(PacketKind::Notice));
        assert!(!notice.is_pure_ack());
    }

    #[test]
    fn class_mark_and_trimmable_share_a_byte_without_harm() {
        let mut pkt = head("class=5 ect not_trimmable");
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_trimmable()), (5, crate::Ecn::Ect0, false));
        pkt.set_class(2);
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_trimmable()), (2, crate::Ecn::Ect0, false));
        let mut pkt = head("class=5 ect");
        assert!(pkt.is_trimmable());
        pkt.set_ecn(crate::Ecn::Ce);
        assert_eq!((pkt.class(), pkt.ecn()), (5, crate::Ecn::Ce));
        pkt.set_class(7);
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_ect()), (7, crate::Ecn::Ce, true));
        assert!(!head("class=7").is_ect());
    }
}
