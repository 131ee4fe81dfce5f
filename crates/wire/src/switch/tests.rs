use super::*;
use crate::{Checksums, LostRange, Segment, random_frames, read_checksums};
use mech::Stream;

const LENGTH_FIELDS: [LengthField; 2] = [LengthField::Ip, LengthField::Payload];
const VALID_CHECKSUMS: Checksums = Checksums { ipv4: true, tcp: true };

/// Draws a random segment that is not cut, and its frame with random payload.
fn frame(draw: &mut Stream, packet: CpPacket) -> (Segment, Vec<u8>) {
    let mut segment = random_frames::draw_segment(draw);
    segment.flags = segment.flags.with_cp_packet(packet);
    let frame = random_frames::draw_frame(draw, &segment);
    (segment, frame)
}

#[test]
fn cut_frame_reports_its_loss_and_nothing_else_changes() {
    let mut draw = random_frames::test_stream(21);
    for round in 0..1000 {
        let (segment, whole) = frame(&mut draw, CpPacket::Enabled);
        let length = LENGTH_FIELDS[round % 2];
        let mut bytes = whole.clone();
        let Ok(stays) = cut_payload(&mut bytes, length) else {
            assert!(segment.payload <= 2, "{segment:?}");
            continue;
        };
        bytes.truncate(stays);
        let headers = 54 + segment.options.to_bytes().len() + usize::from(length.bytes());
        assert_eq!(stays, headers.max(MIN_FRAME_BYTES));
        assert_eq!(read_checksums(&bytes, length), Ok(VALID_CHECKSUMS));
        let expected = Segment { flags: segment.flags.with_cp_packet(CpPacket::Cut), ..segment };
        assert_eq!(bytes, expected.to_frame(length).unwrap(), "as it would have been written");
        let numbers = u32::from(segment.flags.0 & 1) + u32::from(segment.flags.0 >> 1 & 1);
        let right = segment.sequence.wrapping_add(numbers + u32::from(segment.payload));
        assert_eq!(
            Segment::read(&bytes, length).unwrap().lost_range(),
            Some(LostRange { left: segment.sequence, right })
        );
        assert_eq!(cut_payload(&mut bytes, length), Err(CutError::NotCpEnabled(CpPacket::Cut)), "never twice");
    }
}

#[test]
fn normal_packets_and_packs_are_not_cut() {
    let mut draw = random_frames::test_stream(22);
    for packet in [CpPacket::Normal, CpPacket::Pack] {
        for length in LENGTH_FIELDS {
            let (_, whole) = frame(&mut draw, packet);
            let mut bytes = whole.clone();
            assert_eq!(cut_payload(&mut bytes, length), Err(CutError::NotCpEnabled(packet)));
            assert_eq!(bytes, whole);
        }
    }
}

#[test]
fn changed_bits_keep_checksums_correct() {
    let mut draw = random_frames::test_stream(23);
    for round in 0..2000 {
        let (segment, mut bytes) = frame(&mut draw, [CpPacket::Normal, CpPacket::Enabled, CpPacket::Pack][round % 3]);
        let end = 54 + segment.options.to_bytes().len() + usize::from(segment.payload);
        let (bits, on) = (TcpFlags(draw.u32() as u16), draw.u32() & 1 > 0);
        set_flags(&mut bytes, bits, on).unwrap();
        set_ece(&mut bytes).unwrap();
        let codepoint = draw.u32() as u8;
        set_dscp(&mut bytes, codepoint).unwrap();
        let marked = set_ce(&mut bytes).unwrap();
        assert_eq!(read_word(&bytes, 24), random_frames::ipv4_sum(&bytes));
        assert_eq!(read_word(&bytes, 50), random_frames::tcp_sum(&bytes, end));
        assert_eq!(marked, segment.ip.tos & 3 != 0);
        assert_eq!(bytes[15], codepoint << 2 | if marked { 3 } else { 0 });
        let bits = TcpFlags(bits.0 & 0xdff);
        let flags = if on { segment.flags.with(bits) } else { segment.flags.without(bits) };
        assert_eq!(read_word(&bytes, 46) & 0xfff, flags.with(TcpFlags::ECE).0, "no other flag");
    }
}

#[test]
fn bounded_window_keeps_the_checksum_correct() {
    let mut draw = random_frames::test_stream(27);
    let mut bounded = 0;
    for _ in 0..500 {
        let (segment, whole) = frame(&mut draw, CpPacket::Normal);
        let (mut bytes, most) = (whole.clone(), draw.u32() as u16);
        let end = 54 + segment.options.to_bytes().len() + usize::from(segment.payload);
        assert_eq!(bound_window(&mut bytes, most), Ok(segment.window > most));
        assert_eq!(read_word(&bytes, 48), segment.window.min(most));
        assert_eq!(read_word(&bytes, 50), random_frames::tcp_sum(&bytes, end));
        let same = |bytes: &[u8]| [&bytes[..48], &bytes[52..]].concat();
        assert_eq!(same(&bytes), same(&whole));
        bounded += u32::from(segment.window > most);
    }
    assert!((100..400).contains(&bounded), "{bounded}");
}

#[test]
fn updates_keep_a_wrong_checksum_wrong() {
    let mut draw = random_frames::test_stream(24);
    let (_, mut bytes) = frame(&mut draw, CpPacket::Normal);
    bytes[38] ^= 0x10;
    bytes[22] ^= 0x10;
    set_ece(&mut bytes).unwrap();
    set_dscp(&mut bytes, 9).unwrap();
    assert_eq!(read_checksums(&bytes, LengthField::Ip), Ok(Checksums { ipv4: false, tcp: false }));
}

#[test]
fn trimmed_frame_has_its_first_bytes_and_a_new_length() {
    let mut draw = random_frames::test_stream(25);
    for round in 0..500 {
        let (segment, whole) = frame(&mut draw, CpPacket::Normal);
        let trim = Trim { bytes: [64, 128, 256][round % 3], trimmable: Some(segment.ip.tos >> 2), trimmed: 11 };
        let mut bytes = whole.clone();
        let end = 14 + usize::from(read_word(&whole, 16));
        let did = trim.apply(&mut bytes);
        if end <= trim.bytes {
            assert_eq!(did, Err(CutError::NothingToCut(end)));
            assert_eq!(bytes, whole);
            continue;
        }
        assert_eq!(did, Ok(trim.bytes));
        assert_eq!(usize::from(read_word(&bytes, 16)), trim.bytes - 14);
        assert_eq!(read_word(&bytes, 24), random_frames::ipv4_sum(&bytes));
        assert_eq!(bytes[15], 11 << 2 | segment.ip.tos & 3);
        let same = |bytes: &[u8]| [&bytes[..15], &bytes[18..24], &bytes[26..trim.bytes]].concat();
        assert_eq!(same(&bytes), same(&whole));
        let other = Trim { trimmable: Some(segment.ip.tos >> 2 ^ 1), ..trim };
        assert_eq!(other.apply(&mut whole.clone()), Err(CutError::NotTrimmable(segment.ip.tos >> 2)));
    }
}

/// Passes bytes to every function that reads or changes a frame, and checks that a segment is unchanged by writing it.
fn call_every_function(bytes: &[u8]) {
    for length in LENGTH_FIELDS {
        let _ = read_checksums(bytes, length);
        if let Ok(segment) = Segment::read(bytes, length) {
            let again = segment.to_frame(length).map(|frame| Segment::read(&frame, length));
            assert!(again.is_err() || again == Ok(Ok(segment)), "{segment:?}");
        }
        let mut frame = bytes.to_vec();
        if let Ok(stays) = cut_payload(&mut frame, length) {
            let kept = Segment::read(&frame[..stays], length);
            let lost = |segment: Segment| segment.payload;
            assert_eq!(kept.map(lost), Segment::read(bytes, length).map(lost));
            assert!(read_checksums(&frame[..stays], length).unwrap().tcp);
        } else {
            assert_eq!(frame, bytes);
        }
    }
    for keep in [0, 34, 64, 70_000] {
        let mut frame = bytes.to_vec();
        let did = Trim { bytes: keep, trimmable: None, trimmed: 3 }.apply(&mut frame);
        assert!(did.is_err() || did == Ok(keep));
    }
    let mut frame = bytes.to_vec();
    let _ = (set_flags(&mut frame, TcpFlags::ALL, true), set_ce(&mut frame), set_dscp(&mut frame, 0xff));
}

#[test]
fn random_bytes_cause_no_panic() {
    let mut draw = random_frames::test_stream(26);
    for round in 0..3000 {
        let length = draw.u32() as usize % 120;
        let mut bytes: Vec<u8> = (0..length).map(|_| draw.u32() as u8).collect();
        if round % 2 == 0 && length > 24 {
            bytes[12..15].copy_from_slice(&[8, 0, 0x45]);
            (bytes[20], bytes[21], bytes[23]) = (0, 0, 6);
        }
        call_every_function(&bytes);
    }
}

#[test]
fn truncated_and_corrupted_frames_cause_no_panic() {
    let mut draw = random_frames::test_stream(27);
    for round in 0..60 {
        let mut segment = random_frames::draw_segment(&mut draw);
        (segment.payload, segment.flags) = (segment.payload % 20, segment.flags.with_cp_packet(CpPacket::Enabled));
        let whole = random_frames::draw_frame(&mut draw, &segment);
        (0..=whole.len()).for_each(|end| call_every_function(&whole[..end]));
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= [1, 0x80, 0xff, draw.u32() as u8][round % 4];
            call_every_function(&wrong);
        }
    }
}

/// A switch recognises an ACK to hold by flags and lengths, and sets one bit when it releases the ACK.
#[test]
fn pure_ack_is_recognised_and_released_with_ece() {
    let mut draw = random_frames::test_stream(27);
    let mut acks = 0;
    for round in 0..4000 {
        let (mut segment, _) = frame(&mut draw, [CpPacket::Normal, CpPacket::Enabled, CpPacket::Pack][round % 3]);
        if draw.u32() & 1 > 0 {
            segment.payload = 0;
        }
        if draw.u32() & 1 > 0 {
            segment.flags = segment.flags.without(TcpFlags(7)).with(TcpFlags::ACK);
        }
        let whole = random_frames::draw_frame(&mut draw, &segment);
        let none = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST].iter().all(|flag| !segment.flags.has(*flag));
        let is_ack = segment.flags.has(TcpFlags::ACK) && none && segment.payload == 0;
        let is_pure = is_ack && segment.cp_packet() != CpPacket::Enabled;
        assert_eq!(is_pure_ack(&whole), Ok(is_pure), "{segment:?}");
        acks += u32::from(is_pure);
        let mut released = whole.clone();
        set_ece(&mut released).unwrap();
        assert_eq!(read_checksums(&released, LengthField::Ip), Ok(VALID_CHECKSUMS));
        let changed: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != released[*at]).collect();
        let was_set = segment.flags.has(TcpFlags::ECE);
        let allowed = changed.iter().all(|at| [47, 50, 51].contains(at));
        assert!(allowed && changed.is_empty() == was_set && released[47] == whole[47] | 0x40, "{changed:?}");
    }
    assert!(acks > 500, "{acks}");
    assert!(is_pure_ack(&[0; 20]).is_err());
}
