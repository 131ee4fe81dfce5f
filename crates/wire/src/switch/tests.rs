use super::*;
use crate::random_frames::{self, any_segment, frame_with_payload};
use crate::{Checksums, LostRange, Segment, read_checksums};
use property::for_all;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;

const LENGTH_FIELDS: [LengthField; 2] = [LengthField::Ip, LengthField::Payload];
const VALID_CHECKSUMS: Checksums = Checksums { ipv4: true, tcp: true };

/// Returns a segment of one of these kinds, and the seed of its payload.
fn any_packet(kinds: &'static [CpPacket]) -> impl Strategy<Value = (Segment, u64)> {
    (any_segment(), select(kinds), any::<u64>()).prop_map(|(mut segment, packet, seed)| {
        segment.flags = segment.flags.with_cp_packet(packet);
        (segment, seed)
    })
}

#[test]
fn cut_frame_reports_its_loss_and_nothing_else_changes() {
    for_all(1000, (any_packet(&[CpPacket::Enabled]), select(&LENGTH_FIELDS)), |((segment, seed), length)| {
        let mut bytes = frame_with_payload(&segment, seed);
        let Ok(stays) = cut_payload(&mut bytes, length) else {
            assert!(segment.payload <= 2, "{segment:?}");
            return;
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
    });
}

#[test]
fn normal_packets_and_packs_are_not_cut() {
    for_all(100, any_packet(&[CpPacket::Normal, CpPacket::Pack]), |(segment, seed)| {
        let whole = frame_with_payload(&segment, seed);
        for length in LENGTH_FIELDS {
            let mut bytes = whole.clone();
            assert_eq!(cut_payload(&mut bytes, length), Err(CutError::NotCpEnabled(segment.cp_packet())));
            assert_eq!(bytes, whole);
        }
    });
}

#[test]
fn changed_bits_keep_checksums_correct() {
    let packet = any_packet(&[CpPacket::Normal, CpPacket::Enabled, CpPacket::Pack]);
    for_all(2000, (packet, any::<(u16, bool, u8)>()), |((segment, seed), (bits, on, codepoint))| {
        let mut bytes = frame_with_payload(&segment, seed);
        let end = 54 + segment.options.to_bytes().len() + usize::from(segment.payload);
        set_flags(&mut bytes, TcpFlags(bits), on).unwrap();
        set_ece(&mut bytes).unwrap();
        set_dscp(&mut bytes, codepoint).unwrap();
        let marked = set_ce(&mut bytes).unwrap();
        assert_eq!(read_word(&bytes, 24), random_frames::ipv4_sum(&bytes));
        assert_eq!(read_word(&bytes, 50), random_frames::tcp_sum(&bytes, end));
        assert_eq!(marked, segment.ip.tos & 3 != 0);
        assert_eq!(bytes[15], codepoint << 2 | if marked { 3 } else { 0 });
        let bits = TcpFlags(bits & 0xdff);
        let flags = if on { segment.flags.with(bits) } else { segment.flags.without(bits) };
        assert_eq!(read_word(&bytes, 46) & 0xfff, flags.with(TcpFlags::ECE).0, "no other flag");
    });
}

#[test]
fn bounded_window_keeps_the_checksum_correct() {
    let mut bounded = 0;
    for_all(500, (any_packet(&[CpPacket::Normal]), any::<u16>()), |((segment, seed), most)| {
        let whole = frame_with_payload(&segment, seed);
        let mut bytes = whole.clone();
        let end = 54 + segment.options.to_bytes().len() + usize::from(segment.payload);
        assert_eq!(bound_window(&mut bytes, most), Ok(segment.window > most));
        assert_eq!(read_word(&bytes, 48), segment.window.min(most));
        assert_eq!(read_word(&bytes, 50), random_frames::tcp_sum(&bytes, end));
        let same = |bytes: &[u8]| [&bytes[..48], &bytes[52..]].concat();
        assert_eq!(same(&bytes), same(&whole));
        bounded += u32::from(segment.window > most);
    });
    assert!((100..400).contains(&bounded), "{bounded}");
}

#[test]
fn updates_keep_a_wrong_checksum_wrong() {
    for_all(100, any_packet(&[CpPacket::Normal]), |(segment, seed)| {
        let mut bytes = frame_with_payload(&segment, seed);
        bytes[38] ^= 0x10;
        bytes[22] ^= 0x10;
        set_ece(&mut bytes).unwrap();
        set_dscp(&mut bytes, 9).unwrap();
        assert_eq!(read_checksums(&bytes, LengthField::Ip), Ok(Checksums { ipv4: false, tcp: false }));
    });
}

#[test]
fn trimmed_frame_has_its_first_bytes_and_a_new_length() {
    for_all(500, (any_packet(&[CpPacket::Normal]), select(&[64, 128, 256])), |((segment, seed), bytes)| {
        let whole = frame_with_payload(&segment, seed);
        let trim = Trim { bytes, trimmable: Some(segment.ip.tos >> 2), trimmed: 11 };
        let mut bytes = whole.clone();
        let end = 14 + usize::from(read_word(&whole, 16));
        let did = trim.apply(&mut bytes);
        if end <= trim.bytes {
            assert_eq!(did, Err(CutError::NothingToCut(end)));
            assert_eq!(bytes, whole);
            return;
        }
        assert_eq!(did, Ok(trim.bytes));
        assert_eq!(usize::from(read_word(&bytes, 16)), trim.bytes - 14);
        assert_eq!(read_word(&bytes, 24), random_frames::ipv4_sum(&bytes));
        assert_eq!(bytes[15], 11 << 2 | segment.ip.tos & 3);
        let same = |bytes: &[u8]| [&bytes[..15], &bytes[18..24], &bytes[26..trim.bytes]].concat();
        assert_eq!(same(&bytes), same(&whole));
        let other = Trim { trimmable: Some(segment.ip.tos >> 2 ^ 1), ..trim };
        assert_eq!(other.apply(&mut whole.clone()), Err(CutError::NotTrimmable(segment.ip.tos >> 2)));
    });
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
    for_all(3000, (vec(any::<u8>(), 0..120), any::<bool>()), |(mut bytes, is_tcp)| {
        if is_tcp && bytes.len() > 24 {
            bytes[12..15].copy_from_slice(&[8, 0, 0x45]);
            (bytes[20], bytes[21], bytes[23]) = (0, 0, 6);
        }
        call_every_function(&bytes);
    });
}

#[test]
fn truncated_and_corrupted_frames_cause_no_panic() {
    // Bit mask for all bytes, or a separate mask for each byte.
    let change = prop_oneof![Just(vec![1]), Just(vec![0x80]), Just(vec![0xff]), vec(any::<u8>(), 128)];
    for_all(60, (any_packet(&[CpPacket::Enabled]), change), |((mut segment, seed), change)| {
        segment.payload %= 20;
        let whole = frame_with_payload(&segment, seed);
        (0..=whole.len()).for_each(|end| call_every_function(&whole[..end]));
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] ^= change[at % change.len()];
            call_every_function(&wrong);
        }
    });
}

/// A switch recognises an ACK to hold by flags and lengths, and sets one bit when it releases the ACK.
#[test]
fn pure_ack_is_recognised_and_released_with_ece() {
    let mut acks = 0;
    let packet = any_packet(&[CpPacket::Normal, CpPacket::Enabled, CpPacket::Pack]);
    for_all(4000, (packet, any::<(bool, bool)>()), |((mut segment, seed), (is_empty, is_plain))| {
        if is_empty {
            segment.payload = 0;
        }
        if is_plain {
            segment.flags = segment.flags.without(TcpFlags(7)).with(TcpFlags::ACK);
        }
        let whole = frame_with_payload(&segment, seed);
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
    });
    assert!(acks > 500, "{acks}");
    assert!(is_pure_ack(&[0; 20]).is_err());
}
