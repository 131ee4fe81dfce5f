//! Random segments and frames for tests, and a plain checksum to compare with.

use crate::{CpPacket, LengthField, Segment, TcpFlags, TcpOptions};
use dataplane::Timestamps;
use mech::{Stream, StreamPurpose};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Strategy, any};

/// Returns timestamps, or none in half of the cases.
pub(crate) fn any_timestamps() -> impl Strategy<Value = Option<Timestamps>> {
    option::of(any::<(u32, u32)>().prop_map(|(val, ecr)| Timestamps { val, ecr }))
}

/// Returns a strategy for fewer than `many` SACK blocks: their number, and the blocks.
pub(crate) fn any_blocks(many: usize) -> impl Strategy<Value = (u8, [(u32, u32); 4])> {
    vec(any::<(u32, u32)>(), 0..many).prop_map(|list| {
        let mut blocks = [(0, 0); 4];
        blocks[..list.len()].copy_from_slice(&list);
        (list.len() as u8, blocks)
    })
}

/// Returns options of a SYN, or SACK blocks, since both do not fit.
fn any_options() -> BoxedStrategy<TcpOptions> {
    let syn = (option::of(any::<u16>()), option::of(0..15_u8), any::<(bool, bool)>());
    let syn = (any_timestamps(), syn).prop_map(|(timestamps, (mss, window_scale, permitted))| {
        let (sack_permitted, pack_permitted) = permitted;
        TcpOptions { timestamps, mss, window_scale, sack_permitted, pack_permitted, ..TcpOptions::default() }
    });
    let sack = any_timestamps().prop_flat_map(|timestamps| {
        let with_blocks = move |(blocks, sack)| TcpOptions { timestamps, blocks, sack, ..TcpOptions::default() };
        any_blocks(if timestamps.is_some() { 4 } else { 5 }).prop_map(with_blocks)
    });
    proptest::prop_oneof![3 => sack, 1 => syn].boxed()
}

/// Returns a segment with at most 9000 bytes of payload.
pub(crate) fn any_segment() -> impl Strategy<Value = Segment> {
    let addresses = (any::<[u8; 4]>(), any::<[u8; 4]>(), any::<[u8; 4]>());
    let ip = (any::<(u8, u8, u16, bool)>(), any_options());
    let numbers = any::<(u16, u16, u32, u32, u16, u16, u16)>();
    (addresses, ip, numbers, 0..=9000_u16).prop_map(|((mac, source, destination), ip, numbers, payload)| {
        let (source_port, destination_port, sequence, acknowledgement, flags, window, urgent) = numbers;
        let ((tos, ttl, identification, dont_fragment), options) = ip;
        let mut made = Segment {
            source_mac: [2, 0, 10, mac[0], mac[1], 1],
            destination_mac: [2, 0, 10, mac[2], mac[3], 2],
            source_port,
            destination_port,
            sequence,
            acknowledgement,
            flags: TcpFlags(flags & TcpFlags::ALL.0),
            window,
            urgent,
            payload,
            options,
            ..Segment::default()
        };
        (made.ip.source, made.ip.destination, made.ip.tos, made.ip.ttl) = (source, destination, tos, ttl);
        (made.ip.identification, made.ip.dont_fragment) = (identification, dont_fragment);
        made
    })
}

/// Returns the frame of a segment that is not cut, with correct checksums. The payload is random, from a seed.
pub(crate) fn frame_with_payload(segment: &Segment, seed: u64) -> Vec<u8> {
    assert_ne!(segment.cp_packet(), CpPacket::Cut);
    let mut out = Vec::new();
    segment.write(LengthField::Ip, &mut out).unwrap();
    let payload = out.len() - usize::from(segment.payload);
    let mut bytes = Stream::new(seed, 0, StreamPurpose::Hash);
    out[payload..].iter_mut().for_each(|byte| *byte = bytes.u32() as u8);
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
