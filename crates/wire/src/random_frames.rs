//! Random segments and frames for tests, and a plain checksum to compare with.

use crate::{CpPacket, LengthField, Segment, TcpFlags};
use dataplane::Timestamps;
use mech::{Stream, StreamPurpose};

/// Returns the random stream of a test.
pub(crate) fn test_stream(seed: u64) -> Stream {
    Stream::new(seed, 0, StreamPurpose::Hash)
}

/// Draws a random segment; its options are those of a SYN, or SACK blocks, since both do not fit.
pub(crate) fn draw_segment(draw: &mut Stream) -> Segment {
    let mut word = || draw.u32();
    let mut made = Segment {
        source_mac: [2, 0, 10, word() as u8, word() as u8, 1],
        destination_mac: [2, 0, 10, word() as u8, word() as u8, 2],
        source_port: word() as u16,
        destination_port: word() as u16,
        sequence: word(),
        acknowledgement: word(),
        flags: TcpFlags(word() as u16 & TcpFlags::ALL.0),
        window: word() as u16,
        urgent: word() as u16,
        payload: (word() % 9001) as u16,
        ..Segment::default()
    };
    (made.ip.source, made.ip.destination) = (word().to_be_bytes(), word().to_be_bytes());
    (made.ip.tos, made.ip.ttl, made.ip.identification) = (word() as u8, word() as u8, word() as u16);
    made.ip.dont_fragment = word() & 1 > 0;
    let options = &mut made.options;
    options.timestamps = (word() & 1 > 0).then_some(Timestamps { val: word(), ecr: word() });
    if word() & 3 == 0 {
        options.mss = (word() & 1 > 0).then_some(word() as u16);
        options.window_scale = (word() & 1 > 0).then_some((word() % 15) as u8);
        (options.sack_permitted, options.pack_permitted) = (word() & 1 > 0, word() & 1 > 0);
    } else {
        options.blocks = (word() % if options.timestamps.is_some() { 4 } else { 5 }) as u8;
        options.sack[..usize::from(options.blocks)].iter_mut().for_each(|block| *block = (word(), word()));
    }
    made
}

/// Draws the frame of a segment that is not cut, with random payload and correct checksums.
pub(crate) fn draw_frame(draw: &mut Stream, segment: &Segment) -> Vec<u8> {
    assert_ne!(segment.cp_packet(), CpPacket::Cut);
    let mut out = Vec::new();
    segment.write(LengthField::Ip, &mut out).unwrap();
    let payload = out.len() - usize::from(segment.payload);
    out[payload..].iter_mut().for_each(|byte| *byte = draw.u32() as u8);
    out[50..52].fill(0);
    let sum = tcp_sum(&out, out.len());
    out[50..52].copy_from_slice(&sum.to_be_bytes());
    out.resize(out.len().max(crate::MIN_FRAME_BYTES), 0);
    out
}

/// Returns the Internet checksum of bytes in which the checksum itself is 0 (RFC 1071 §1).
fn ones_complement_sum(bytes: impl Iterator<Item = u8>) -> u16 {
    let mut all = 0_u32;
    for (n, byte) in bytes.enumerate() {
        all += if n % 2 == 0 { u32::from(byte) << 8 } else { u32::from(byte) };
        all = (all & 0xffff) + (all >> 16);
    }
    !(all as u16)
}

/// Returns TCP's checksum of a frame without IPv4 options that ends at byte `end`.
pub(crate) fn tcp_sum(frame: &[u8], end: usize) -> u16 {
    let length = ((end - 34) as u16).to_be_bytes();
    let pseudo = frame[26..34].iter().copied().chain([0, 6]).chain(length);
    ones_complement_sum(pseudo.chain(frame[34..50].iter().copied()).chain([0, 0]).chain(frame[52..end].iter().copied()))
}

/// Returns IPv4's header checksum of a frame without IPv4 options.
pub(crate) fn ipv4_sum(frame: &[u8]) -> u16 {
    ones_complement_sum(frame[14..24].iter().copied().chain([0, 0]).chain(frame[26..34].iter().copied()))
}
