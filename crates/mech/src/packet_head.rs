//! Packet head: the fields of a packet that mechanisms read.

use crate::{FlowId, HostId, Lane, PortId, QueueId};

/// Frequently used part of a packet: 36 bytes that mechanisms read and the dataplane writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Flow of the packet.
    pub flow: FlowId,
    /// Host that sent the packet.
    pub src: HostId,
    /// Destination host of the packet.
    pub dst: HostId,
    /// Hash of the 5-tuple, equal for all packets of one direction of a flow.
    pub hash: u32,
    /// Scheduling rank; the lowest rank leaves first (pFabric: remaining bytes).
    pub rank: u32,
    /// Current size of the frame in bytes, without preamble and gap.
    pub size: u16,
    /// Size of the frame in bytes when it was sent, before any cut.
    pub orig_size: u16,
    /// Port of this node that the packet came in by.
    pub ingress: PortId,
    /// Number of links that the packet has crossed.
    pub hops: u16,
    /// Kind and properties of the packet, as bits of [`Flags`].
    pub flags: Flags,
    /// Traffic class in bits 7 to 5, DSCP number in bits 4 and 3, [`Head::NOT_TRIMMABLE`] in bit 2, and the ECN
    /// codepoint in bits 1 and 0 (RFC 3168 §5). [`DscpTable`](crate::DscpTable) gives the DSCP of the upper six bits.
    pub tos: u8,
    /// Time to live. Each switch decrements it and drops a packet that arrives with 1; 0 means no limit.
    pub ttl: u8,
    /// Number of times that the packet was bounced (PABO: `np`), never lowered.
    pub bounces: u8,
    /// Number of times that the packet was detoured.
    pub detours: u8,
}

/// ECN codepoint of a packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable transport (Not-ECT).
    NotEct = 0,
    /// ECN-capable transport, ECT(1).
    Ect1 = 1,
    /// ECN-capable transport, ECT(0).
    Ect0 = 2,
    /// Congestion experienced (CE).
    Ce = 3,
}

/// Kind of a packet. It gives the meaning of the body, and a host dispatches the packet by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PacketKind {
    /// Segment of a transport, data or ACK, including cut and returned ones.
    Segment = 0,
    /// PAUSE or PFC frame, which crosses one link (IEEE 802.3 annex 31B).
    Pause = 1,
    /// Congestion message to the source of a flow: CNM or CNP.
    Notice = 2,
    /// Packet of a raw source, without a transport: it is not retransmitted.
    Raw = 3,
}

/// Set of bits with the properties of a packet and its [`PacketKind`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// ACK: the acknowledgement number is valid (RFC 9293 §3.1).
    pub const ACK: Flags = Flags(1);
    /// Flag of a packet that has payload.
    pub const PAYLOAD: Flags = Flags(1 << 1);
    /// SYN: synchronises sequence numbers.
    pub const SYN: Flags = Flags(1 << 2);
    /// FIN: the sender has no more data.
    pub const FIN: Flags = Flags(1 << 3);
    /// RST: resets the connection.
    pub const RST: Flags = Flags(1 << 4);
    /// ECE: ECN echo (RFC 3168 §6.1).
    pub const ECE: Flags = Flags(1 << 5);
    /// CWR: congestion window reduced (RFC 3168 §6.1).
    pub const CWR: Flags = Flags(1 << 6);
    /// CPA: switches may cut the payload (CP §4.1).
    pub const CPA: Flags = Flags(1 << 7);
    /// PPL: the payload was cut, or the packet is a PACK (CP §4.1).
    pub const PPL: Flags = Flags(1 << 8);
    /// Flag of a packet that a switch returned to its source, which is the destination now.
    pub const RETURNED: Flags = Flags(1 << 9);
    /// Flag of a retransmission, in whole or in part.
    pub const RETRANSMIT: Flags = Flags(1 << 10);
    /// Flag of packets in the direction from the flow's receiver to its sender.
    pub const REVERSE: Flags = Flags(1 << 11);
    /// Flag of a copy of a flooded frame, made by a switch without an entry for the destination.
    pub const FLOODED: Flags = Flags(1 << 12);
    /// Flag of a flooded copy off the path to its destination; its end is not counted. No mechanism may decide by it.
    pub const MISDIRECTED: Flags = Flags(1 << 13);
    /// Bits that hold the packet's [`PacketKind`].
    const KIND: Flags = Flags(0b11 << 14);

    /// Returns true if all flags of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns true if any flag of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Returns the union of two sets of flags.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// Returns this set without the flags of `other`.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// Returns flags with this packet kind and no other bit set.
    pub const fn from_kind(kind: PacketKind) -> Flags {
        Flags((kind as u16) << 14)
    }
    /// Returns the kind of the packet.
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
    /// Bit of `tos` by which a sender forbids cuts of the payload: a DSCP other than those that UEC and SAI trim.
    /// Frames show the bit only in a run that names no DSCPs.
    pub const NOT_TRIMMABLE: u8 = 1 << 2;

    /// Returns the kind of the packet.
    #[inline]
    pub const fn kind(&self) -> PacketKind {
        self.flags.kind()
    }
    /// Returns the priority class of the packet, 0 to 7; 7 is the most urgent.
    #[inline]
    pub const fn class(&self) -> u8 {
        self.tos >> 5
    }
    /// Sets the priority class. A packet whose class changes gets DSCP number 0, because DSCP numbers count the DSCPs
    /// of one class. PRECONDITION: `class < 8`.
    pub const fn set_class(&mut self, class: u8) {
        if class != self.class() {
            self.tos = self.tos & 0b111 | class << 5;
        }
    }
    /// Returns the DSCP number of the packet: the number of its DSCP among those of its class, 0 to 3.
    pub const fn code_point(&self) -> u8 {
        self.tos >> 3 & 0b11
    }
    /// Returns a value of `tos` with this class and DSCP number alone. PRECONDITION: `class < 8` and `code_point < 4`.
    #[inline]
    pub const fn tos_of(class: u8, code_point: u8) -> u8 {
        class << 5 | code_point << 3
    }
    /// Returns true if the sender allows switches to cut the payload.
    #[inline]
    pub const fn is_trimmable(&self) -> bool {
        self.tos & Head::NOT_TRIMMABLE == 0
    }
    /// Returns the ECN codepoint of the packet.
    #[inline]
    pub const fn ecn(&self) -> Ecn {
        match self.tos & 0b11 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
    /// Sets the ECN codepoint of the packet.
    pub const fn set_ecn(&mut self, ecn: Ecn) {
        self.tos = self.tos & !0b11 | ecn as u8;
    }
    /// Returns true if the packet is ECN-capable or already marked.
    #[inline]
    pub const fn is_ect(&self) -> bool {
        self.tos & 0b11 != 0
    }
    /// Returns true if the packet only acknowledges: no payload, not even a cut one (CP §4.1), and none of SYN, FIN,
    /// RST.
    pub const fn is_pure_ack(&self) -> bool {
        let cut = Flags::CPA.with(Flags::KIND);
        let other = Flags::PAYLOAD.with(Flags::SYN).with(Flags::FIN).with(Flags::RST).with(cut);
        self.flags.has(Flags::ACK) && !self.flags.any(other)
    }
    /// Returns true if a switch has cut the packet. A PACK has PPL too (CP §5.1), but its size is as sent.
    #[inline]
    pub const fn is_cut(&self) -> bool {
        self.flags.has(Flags::PPL) && self.size < self.orig_size
    }
    /// Returns the queue for the packet's kind and history. Congestion messages and bounced packets have lanes of their
    /// own (PABO §II-E).
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
    use super::{Flags, Head, PacketKind};
    use crate::testing::parse_head;

    #[test]
    fn pure_ack_has_no_payload_no_syn_and_no_fin() {
        assert!(parse_head("ack").is_pure_ack() && parse_head("ack ppl").is_pure_ack());
        for other in ["", "ack data", "ack syn", "ack fin", "ack cpa data", "ack cpa ppl", "syn"] {
            assert!(!parse_head(other).is_pure_ack(), "{other}");
        }
    }

    #[test]
    fn packet_kind_and_flags_do_not_overlap() {
        for kind in [PacketKind::Segment, PacketKind::Pause, PacketKind::Notice, PacketKind::Raw] {
            let flags = Flags::from_kind(kind).with(Flags::MISDIRECTED).with(Flags::ACK);
            assert_eq!((flags.kind(), flags.without(Flags::ACK).kind()), (kind, kind));
            assert!(!Flags::from_kind(kind).any(Flags(0x3fff)));
        }
        let mut notice = parse_head("ack");
        notice.flags = notice.flags.with(Flags::from_kind(PacketKind::Notice));
        assert!(!notice.is_pure_ack());
    }

    #[test]
    fn class_ecn_and_not_trimmable_are_independent_bits_of_tos() {
        let mut pkt = parse_head("class=5 ect not_trimmable");
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_trimmable()), (5, crate::Ecn::Ect0, false));
        pkt.set_class(2);
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_trimmable()), (2, crate::Ecn::Ect0, false));
        let mut pkt = parse_head("class=5 ect");
        assert!(pkt.is_trimmable());
        pkt.set_ecn(crate::Ecn::Ce);
        assert_eq!((pkt.class(), pkt.ecn()), (5, crate::Ecn::Ce));
        pkt.set_class(7);
        assert_eq!((pkt.class(), pkt.ecn(), pkt.is_ect()), (7, crate::Ecn::Ce, true));
        assert!(!parse_head("class=7").is_ect());
    }

    #[test]
    fn only_another_class_resets_the_code_point() {
        let mut pkt = parse_head("class=3 ect not_trimmable");
        pkt.tos |= Head::tos_of(0, 2);
        pkt.set_class(3);
        assert_eq!((pkt.class(), pkt.code_point(), pkt.tos & 0b111), (3, 2, 0b110));
        pkt.set_class(6);
        assert_eq!((pkt.class(), pkt.code_point(), pkt.tos & 0b111), (6, 0, 0b110));
    }
}
