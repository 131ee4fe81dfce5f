//! Flags of a TCP header, with the two that CP (cutting payload) adds, and the packet types that they encode.

/// Flags of a TCP header, twelve in all: the four bits that RFC 9293 §3.1 reserves, followed by its control bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// FIN: the sender has no more data.
    pub const FIN: TcpFlags = TcpFlags(1);
    /// SYN: synchronises sequence numbers.
    pub const SYN: TcpFlags = TcpFlags(1 << 1);
    /// RST: resets the connection.
    pub const RST: TcpFlags = TcpFlags(1 << 2);
    /// PSH: push function.
    pub const PSH: TcpFlags = TcpFlags(1 << 3);
    /// ACK: the acknowledgement number is valid.
    pub const ACK: TcpFlags = TcpFlags(1 << 4);
    /// URG: the urgent pointer is valid.
    pub const URG: TcpFlags = TcpFlags(1 << 5);
    /// ECE: ECN echo (RFC 3168 §6.1).
    pub const ECE: TcpFlags = TcpFlags(1 << 6);
    /// CWR: congestion window reduced (RFC 3168 §6.1).
    pub const CWR: TcpFlags = TcpFlags(1 << 7);
    /// AE: accurate ECN (RFC 9768 §3.1), formerly the nonce sum.
    pub const AE: TcpFlags = TcpFlags(1 << 8);
    /// PPL, precise packet loss (CP §5.1): the payload was cut off, or the packet is a PACK.
    /// Bit 5 of the header's 13th byte, counted from the most significant: the second of the three bits that are still
    /// reserved.
    pub const PPL: TcpFlags = TcpFlags(1 << 10);
    /// CPA, CP available (CP §5.1): the payload may be cut off.
    /// Bit 4, the first of the three reserved bits. So the bit next to [`AE`](TcpFlags::AE), where ECN would grow next,
    /// stays free. The paper does not name its two bits.
    pub const CPA: TcpFlags = TcpFlags(1 << 11);
    /// All flags that have a meaning. The remaining bit is reserved: it is sent as zero and ignored.
    pub const ALL: TcpFlags = TcpFlags(0xdff);

    /// Returns true if every bit of `other` is set.
    pub const fn has(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Returns the union of two sets of flags.
    pub const fn with(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
    /// Returns this set without the flags of `other`.
    pub const fn without(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 & !other.0)
    }
    /// Returns the type of packet in CP (cutting payload) that the flags encode.
    pub const fn cp_packet(self) -> CpPacket {
        match (self.has(TcpFlags::CPA), self.has(TcpFlags::PPL)) {
            (false, false) => CpPacket::Normal,
            (true, false) => CpPacket::Enabled,
            (true, true) => CpPacket::Cut,
            (false, true) => CpPacket::Pack,
        }
    }
    /// Returns these flags, changed to another type of packet in CP (cutting payload).
    pub const fn with_cp_packet(self, packet: CpPacket) -> TcpFlags {
        let others = self.without(TcpFlags::CPA).without(TcpFlags::PPL);
        match packet {
            CpPacket::Normal => others,
            CpPacket::Enabled => others.with(TcpFlags::CPA),
            CpPacket::Cut => others.with(TcpFlags::CPA).with(TcpFlags::PPL),
            CpPacket::Pack => others.with(TcpFlags::PPL),
        }
    }
}

/// Type of packet in CP (cutting payload, §4.1), encoded in two bits (§5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CpPacket {
    /// Packet of a sender without CP, or any packet without payload; dropped if there is no free buffer space.
    #[default]
    Normal,
    /// Packet whose payload may be cut off.
    Enabled,
    /// Packet whose payload was cut off.
    Cut,
    /// Report of a cut packet by its receiver (PACK).
    Pack,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_flag_bits_encode_the_four_types_of_cp_packet() {
        let told = [0, 0x800, 0xc00, 0x400].map(|bits| TcpFlags(bits | 0x18).cp_packet());
        assert_eq!(told, [CpPacket::Normal, CpPacket::Enabled, CpPacket::Cut, CpPacket::Pack]);
        for packet in told {
            let flags = TcpFlags(0xdff).with_cp_packet(packet);
            assert_eq!(flags.cp_packet(), packet);
            assert_eq!(flags.0 & 0x1ff, 0x1ff, "no other flag changes");
        }
    }
}
