//! Packet in a node, in one cache line of 64 bytes.

use mech::overflow::CutEffect;
use mech::{Flags, Head};
use units::Time;

/// Value of [`Pkt::ext`] for a packet without an extension (TCP options).
pub const NO_EXT: u32 = u32::MAX;

/// Packet: the head that mechanisms see, and the fields of its body.
/// The fields are named as those of a segment; [`Pkt::body`] reads them by the packet's kind. The identity of a packet
/// is (flow, origin, n-th emission), never its slot in a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
pub struct Pkt {
    /// Instant at which the transport of the packet's host emitted it.
    pub sent: Time,
    /// Head of the packet: the part that mechanisms see.
    pub head: Head,
    /// Sequence number of the first payload byte, modulo 2³² (RFC 9293 §3.4).
    pub seq: u32,
    /// Acknowledgement number, modulo 2³².
    pub ack: u32,
    /// Number of the packet among those emitted in this direction of its flow, from 0.
    pub emission: u32,
    /// Index of the packet's TCP options in [`ExtensionSlab`](crate::ExtensionSlab), or [`NO_EXT`].
    pub ext: u32,
    /// Number of payload bytes.
    pub payload: u16,
    /// Advertised receive window in units of the connection's scale (RFC 7323 §2).
    pub window: u16,
}

impl Pkt {
    /// Cuts off the payload of a packet, and returns by how many bytes its frame is shorter.
    /// The frame is no shorter than the smallest frame. A packet that would not get shorter stays as it is.
    pub(crate) fn cut(&mut self, cut: &CutEffect, min_frame: u16) -> u16 {
        let before = self.head.size;
        let after = cut.size_after_cut(before, (before - self.payload).max(min_frame));
        if after < before {
            // `keep` may leave payload bytes in the frame, but no receiver can use a part of a segment.
            (self.head.size, self.payload) = (after, 0);
            cut.mark_as_cut(&mut self.head);
        }
        before - after
    }
    /// Returns the bytes of payload in the packet; 0 for kinds without payload, whose fields mean something else.
    #[inline]
    pub fn payload_bytes(&self) -> u64 {
        if self.head.flags.has(Flags::PAYLOAD) { u64::from(self.payload) } else { 0 }
    }
    /// Returns the payload bytes with which a segment was sent, even if they were cut off since (CP §4.3).
    /// `options` are the option bytes of its header. Padded frames are never cut, so that this is exact.
    pub fn original_payload(&self, framing: &Framing, options: u16) -> u16 {
        let headers = framing.header + framing.link + options;
        if self.head.is_cut() { self.head.orig_size.saturating_sub(headers) } else { self.payload }
    }
}

/// Sizes of headers, frames and gaps, which determine the bytes of a payload's frame in memory and on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// IP and transport header without options, in bytes.
    pub header: u16,
    /// Link-layer header and check sequence in bytes; part of the frame that buffers hold.
    pub link: u16,
    /// Smallest frame in bytes; shorter ones are padded.
    pub min_frame: u16,
    /// Preamble and gap in bytes; on the link only.
    pub gap: u16,
}

impl Framing {
    /// Ethernet frames with headers of IPv4 and TCP (IEEE 802.3 §3.1, §4.4.2).
    /// Ethernet has 14 B of header, 4 B of FCS, 8 B of preamble, 12 B of gap, and frames of at least 64 B. IPv4 and TCP
    /// have 20 B each.
    pub const ETHERNET: Framing = Framing { header: 40, link: 18, min_frame: 64, gap: 20 };

    /// Returns the bytes of the frame that carries `payload` bytes behind `options` bytes of header options.
    #[inline]
    pub fn frame_size(&self, payload: u16, options: u16) -> u16 {
        (payload + options + self.header + self.link).max(self.min_frame)
    }
    /// Returns the bytes that a frame of `size` bytes takes on the link, with preamble and gap.
    pub fn wire_size(&self, size: u16) -> u64 {
        u64::from(size) + u64::from(self.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::Flags;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<Head>(), 36);
        assert_eq!((size_of::<Pkt>(), align_of::<Pkt>()), (64, 64));
    }

    /// Creates a segment of `payload` bytes, with timestamps.
    fn segment(framing: &Framing, payload: u16) -> Pkt {
        let size = framing.frame_size(payload, 12);
        let flags = Flags::ACK.with(Flags::PAYLOAD).with(Flags::CPA);
        Pkt { head: Head { size, orig_size: size, flags, ..Head::default() }, payload, ..Pkt::default() }
    }

    #[test]
    fn cut_packet_keeps_its_original_payload_size() {
        let framing = Framing::ETHERNET;
        for payload in [1, 5, 6, 1448, 8948] {
            for keep in [0, 128] {
                let whole = segment(&framing, payload);
                let mut pkt = whole;
                let is_shorter = pkt.cut(&CutEffect { min_size: keep, ..CutEffect::default() }, framing.min_frame) > 0;
                assert_eq!(is_shorter, whole.head.size > pkt.head.size);
                assert_eq!((pkt.head.is_cut(), whole.head.is_cut()), (is_shorter, false));
                assert_eq!(
                    (pkt.original_payload(&framing, 12), whole.original_payload(&framing, 12)),
                    (payload, payload)
                );
                assert_eq!(pkt.payload, if is_shorter { 0 } else { payload });
            }
        }
    }

    #[test]
    fn pack_does_not_count_as_a_cut_packet() {
        let mut pack = segment(&Framing::ETHERNET, 0);
        pack.head.flags = Flags::ACK.with(Flags::PPL);
        assert!(!pack.head.is_cut());
    }

    #[test]
    fn a_full_segment_takes_12304_ns_at_a_gigabit() {
        let frame = Framing::ETHERNET.frame_size(1460, 0);
        assert_eq!(frame, 1518);
        assert_eq!(units::Rate::gbps(1).time(Framing::ETHERNET.wire_size(frame)), units::Dur::ns(12_304));
        assert_eq!(Framing::ETHERNET.wire_size(Framing::ETHERNET.frame_size(0, 0)), 84);
    }
}
