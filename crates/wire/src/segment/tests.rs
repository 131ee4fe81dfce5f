use super::*;
use crate::random_frames::{self, any_segment};
use etherparse::{LaxSlicedPacket, SlicedPacket, TransportSlice};
use property::for_all;

const LENGTH_FIELDS: [LengthField; 2] = [LengthField::Ip, LengthField::Payload];

#[test]
fn segment_is_read_back_with_either_length_field() {
    for_all(2000, any_segment(), |segment| {
        for length in LENGTH_FIELDS {
            let frame = segment.to_frame(length).unwrap();
            assert_eq!(Segment::read(&frame, length), Ok(segment));
            assert_eq!(read_checksums(&frame, length), Ok(Checksums { ipv4: true, tcp: true }));
        }
    });
}

#[test]
fn written_checksums_equal_a_plain_sum() {
    for_all(2000, any_segment(), |segment| {
        for length in LENGTH_FIELDS {
            let mut frame = Vec::new();
            segment.write(length, &mut frame).unwrap();
            assert_eq!(read_word(&frame, 24), random_frames::ipv4_sum(&frame));
            assert_eq!(read_word(&frame, 50), random_frames::tcp_sum(&frame, frame.len()));
        }
    });
}

#[test]
fn another_parser_reads_the_written_segments() {
    let mut cut = 0;
    for_all(2000, any_segment(), |segment| {
        let frame = segment.to_frame(LengthField::Ip).unwrap();
        let lax = LaxSlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = lax.transport else { panic!("no TCP in {segment:?}") };
        assert_eq!((tcp.source_port(), tcp.destination_port()), (segment.source_port, segment.destination_port));
        assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (segment.sequence, segment.acknowledgement));
        assert_eq!((tcp.window_size(), tcp.urgent_pointer()), (segment.window, segment.urgent));
        let flags = [tcp.fin(), tcp.syn(), tcp.rst(), tcp.psh(), tcp.ack(), tcp.urg(), tcp.ece(), tcp.cwr(), tcp.ns()];
        assert_eq!(flags, std::array::from_fn(|bit| segment.flags.0 >> bit & 1 > 0));
        if segment.cp_packet() == CpPacket::Cut {
            cut += 1;
            return;
        }
        assert_eq!(tcp.payload().len(), usize::from(segment.payload));
        assert!(SlicedPacket::from_ethernet(&frame).is_ok(), "all that IPv4 says is there");
    });
    assert!(cut > 100, "{cut} of 2000");
}

#[test]
fn checksums_detect_a_wrong_bit_in_any_byte() {
    let segment =
        Segment { payload: 100, flags: TcpFlags::ACK.with_cp_packet(CpPacket::Enabled), ..Segment::default() };
    let frame = segment.to_frame(LengthField::Ip).unwrap();
    for at in 14..frame.len() {
        let mut wrong = frame.clone();
        wrong[at] ^= 1;
        let right = Ok(Checksums { ipv4: true, tcp: true });
        assert_ne!(read_checksums(&wrong, LengthField::Ip), right, "byte {at}");
    }
}

#[test]
fn padding_of_a_cut_packet_is_in_no_checksum() {
    let segment = Segment { payload: 1460, flags: TcpFlags::ACK.with_cp_packet(CpPacket::Cut), ..Segment::default() };
    for (length, behind) in [(LengthField::Ip, 54), (LengthField::Payload, 56)] {
        let mut frame = segment.to_frame(length).unwrap();
        assert_eq!(frame.len(), MIN_FRAME_BYTES);
        frame[behind..].fill(0xab);
        assert_eq!(read_checksums(&frame, length), Ok(Checksums { ipv4: true, tcp: true }));
        assert_eq!(Segment::read(&frame, length), Ok(segment));
    }
}

#[test]
fn only_cut_packets_lose_and_only_packs_report_a_loss() {
    let mut segment = Segment { payload: 10, sequence: u32::MAX - 4, ..Segment::default() };
    segment.options.report_loss(LostRange { left: 1, right: 2 });
    let ranges = [CpPacket::Normal, CpPacket::Enabled, CpPacket::Cut, CpPacket::Pack].map(|packet| {
        segment.flags = segment.flags.with_cp_packet(packet);
        (segment.lost_range(), segment.reported_loss())
    });
    let lost = LostRange { left: u32::MAX - 4, right: 5 };
    let reported = LostRange { left: 1, right: 2 };
    assert_eq!(ranges, [(None, None), (None, None), (Some(lost), None), (None, Some(reported))]);
}

#[test]
fn too_long_segment_is_refused() {
    let mut segment = Segment { payload: u16::MAX - 39, ..Segment::default() };
    let mut out = Vec::new();
    assert_eq!(
        segment.write(LengthField::Ip, &mut out),
        Err(Malformed::TooLong { options: 0, payload: u16::MAX - 39 })
    );
    assert!(out.is_empty());
    segment.payload -= 1;
    assert_eq!(segment.write(LengthField::Ip, &mut out), Ok(()));
    assert_eq!(out.len(), 14 + 65_535);
    (segment.options.blocks, segment.options.timestamps, segment.payload) = (4, Some(Default::default()), 0);
    let said = segment.write(LengthField::Ip, &mut out).unwrap_err();
    assert_eq!(
        said.to_string(),
        "48 B of options, 0 B of payload; expected at most 40 B of options, and at most 65,535 B in total"
    );
}
