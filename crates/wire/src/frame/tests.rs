use super::*;
use crate::address::ipv4_address;
use crate::random_frames::{any_blocks, any_timestamps};
use dataplane::{Framing, MAX_BLOCKS, SynOptions};
use etherparse::{SlicedPacket, TcpOptionElement as Element, TransportSlice};
use mech::{Ecn, FlowId, HostId, PacketKind};
use property::for_all;
use proptest::option;
use proptest::prelude::{Strategy, any};
use proptest::prop_oneof;

fn frame(pkt: &Pkt, ext: Option<&PacketExtension>, push: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame(&PacketOnLink { pkt, ext, push, plan: None, roce: None, dscps: &DscpTable::CLASS_SELECTORS }, &mut out);
    out
}

fn packet(flags: Flags, payload: u16, options: u16) -> Pkt {
    let mut pkt = Pkt { payload, ..Pkt::default() };
    pkt.head.flags = flags;
    (pkt.head.src, pkt.head.dst, pkt.head.ttl) = (HostId(1), HostId(2), 64);
    pkt.head.size = Framing::ETHERNET.frame_size(payload, options);
    pkt.head.orig_size = pkt.head.size;
    pkt
}

#[test]
fn ack_frame_equals_bytes_computed_by_hand() {
    let mut pkt = packet(Flags::ACK.with(Flags::REVERSE).with(Flags::ECE), 0, 0);
    (pkt.ack, pkt.window, pkt.emission, pkt.head.flow) = (0x0102_0304, 0xfff0, 0x1_0007, FlowId(1));
    pkt.head.set_class(1);
    let ethernet = [2, 0, 10, 0, 0, 3, 2, 0, 10, 0, 0, 2, 0x08, 0x00];
    // The checksum 26a5 is the complement of d95a, the sum of the words of the header: 4520 0028 0007 4000 4006 0000
    // 0a00 0002 0a00 0003.
    let ip = [0x45, 0x20, 0, 40, 0, 7, 0x40, 0, 64, 6, 0x26, 0xa5, 10, 0, 0, 2, 10, 0, 0, 3];
    // The checksum 435b is the complement of bca4, which is the sum 2bca2 with its carry added. The sum is that of
    // pseudo-header 0a00 0002 0a00 0003 0006 0014 and header c350 90ed 0000 0000 0102 0304 5050 fff0 0000 0000.
    let tcp = [0xc3, 0x50, 0x90, 0xed, 0, 0, 0, 0, 1, 2, 3, 4, 0x50, 0x50, 0xff, 0xf0, 0x43, 0x5b, 0, 0];
    let mut expected = [&ethernet[..], &ip, &tcp].concat();
    expected.resize(60, 0);
    assert_eq!(frame(&pkt, None, false), expected);
}

#[test]
fn raw_packet_is_a_udp_datagram_that_fills_its_frame() {
    let bytes = frame(&packet(Flags::from_kind(PacketKind::Raw).with(Flags::PAYLOAD), 1500, 0), None, false);
    assert_eq!(bytes.len(), 1554);
    let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { panic!("no datagram") };
    assert_eq!((udp.source_port(), udp.destination_port(), udp.length()), (37_100, 50_000, 1520));
    let zero = UdpHeader { checksum: 0, ..udp.to_header() };
    assert_eq!(udp.checksum(), zero.calc_checksum_ipv4_raw([10, 0, 0, 2], [10, 0, 0, 3], udp.payload()).unwrap());
}

#[test]
fn frame_has_headers_that_its_framing_leaves_out() {
    let mut pkt = packet(Flags::ACK.with(Flags::PAYLOAD), 1460, 0);
    pkt.head.size = 1460;
    assert_eq!(frame(&pkt, None, false).len(), 1514);
    pkt.head.size = 1522;
    assert_eq!(frame(&pkt, None, false).len(), 1518, "and what it has beyond Ethernet is padding");
    let mut ack = packet(Flags::ACK, 0, 0);
    ack.head.size = 40;
    assert_eq!(frame(&ack, None, false).len(), MIN_FRAME_BYTES, "no frame is shorter than Ethernet's shortest");
}

#[test]
fn syn_ack_has_the_number_before_its_first_byte() {
    let flags = Flags::SYN.with(Flags::ACK);
    let sequence = |flags: Flags| {
        let bytes = frame(&packet(flags, 0, 0), None, false);
        u32::from_be_bytes(bytes[38..42].try_into().unwrap())
    };
    assert_eq!([sequence(flags.with(Flags::REVERSE)), sequence(flags)], [u32::MAX, 0]);
}

/// Returns a PAUSE or PFC frame from a switch that is node 7.
fn pause_frame(stop: u8, go: u8, whole: bool) -> Vec<u8> {
    let mut pkt = packet(Flags::from_kind(PacketKind::Pause), 0, 0);
    (pkt.head.src, pkt.head.dst) = (HostId(7), HostId(u32::MAX));
    (pkt.seq, pkt.ack) = (0x1234, u32::from(stop) | u32::from(go) << 8 | u32::from(whole) << 16);
    frame(&pkt, None, false)
}

#[test]
fn pause_and_pfc_are_mac_control_frames_byte_by_byte() {
    let head = [0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 10, 0, 0, 8, 0x88, 0x08];
    let padded = |rest: &[u8]| {
        let mut all = [&head[..], rest].concat();
        all.resize(60, 0);
        all
    };
    assert_eq!(pause_frame(0xff, 0, true), padded(&[0, 1, 0x12, 0x34]));
    assert_eq!(pause_frame(0, 0xff, true), padded(&[0, 1, 0, 0]), "of 0 quanta: go on");
    let mut pfc = vec![1, 1, 0, 0b1000_0011];
    pfc.extend([0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34]);
    assert_eq!(pause_frame(0b1000_0001, 0b10, false), padded(&pfc));
}

#[test]
fn oversized_packet_is_written_as_a_frame_of_maximum_length() {
    for flags in [Flags::PAYLOAD, Flags::ACK.with(Flags::PAYLOAD)] {
        let mut pkt = packet(flags, 0, 0);
        (pkt.payload, pkt.head.size) = (u16::MAX, u16::MAX);
        let ext = PacketExtension { blocks: MAX_BLOCKS as u8, ..PacketExtension::default() };
        let bytes = frame(&pkt, Some(&ext), false);
        assert_eq!(bytes.len(), 14 + 65_535);
        assert!(SlicedPacket::from_ethernet(&bytes).is_ok());
    }
}

/// Returns a packet and its options.
fn any_packet() -> impl Strategy<Value = (Pkt, PacketExtension)> {
    let syn = (any_timestamps(), any::<u16>(), option::of(0..15_u8), any::<bool>());
    let syn = syn.prop_map(|(timestamps, mss, window_scale, sack_permitted)| {
        let syn = Some(SynOptions { mss, window_scale, sack_permitted, pack_permitted: false });
        PacketExtension { timestamps, syn, ..PacketExtension::default() }
    });
    let sack = any_timestamps().prop_flat_map(|timestamps| {
        let with_blocks =
            move |(blocks, sack)| PacketExtension { timestamps, blocks, sack, ..PacketExtension::default() };
        any_blocks(if timestamps.is_some() { 4 } else { 5 }).prop_map(with_blocks)
    });
    let head = (any::<(u16, u8, u8, u32)>(), 0..65_536_u32, 0..65_536_u32);
    let numbers = any::<(u32, u32, u16, u32)>();
    (prop_oneof![3 => sack, 1 => syn], 0..=9000_u16, head, numbers).prop_map(|(ext, payload, head, numbers)| {
        let ((flags, tos, ttl, flow), src, dst) = head;
        let mut flags = Flags(flags & 0b110_0011).with(Flags::ACK);
        if ext.syn.is_some() {
            flags = flags.with(Flags::SYN);
        }
        let mut pkt = packet(flags, payload, ext.option_bytes());
        (pkt.seq, pkt.ack, pkt.window, pkt.emission) = numbers;
        (pkt.head.tos, pkt.head.ttl, pkt.head.flow) = (tos, ttl, FlowId(flow));
        (pkt.head.src, pkt.head.dst) = (HostId(src), HostId(dst));
        (pkt, ext)
    })
}

/// Returns the TCP options that a parser should find, without padding.
fn expected_options(ext: &PacketExtension) -> Vec<Element> {
    let mut all = Vec::new();
    let permitted = ext.syn.filter(|syn| syn.sack_permitted).map(|_| Element::SelectiveAcknowledgementPermitted);
    all.extend(ext.syn.map(|syn| Element::MaximumSegmentSize(syn.mss)));
    all.extend(permitted);
    all.extend(ext.timestamps.map(|stamps| Element::Timestamp(stamps.val, stamps.ecr)));
    all.extend(ext.syn.and_then(|syn| syn.window_scale).map(Element::WindowScale));
    if ext.blocks > 0 {
        let block = |i: usize| (i < usize::from(ext.blocks)).then(|| ext.sack[i]);
        all.push(Element::SelectiveAcknowledgement(ext.sack[0], [block(1), block(2), block(3)]));
    }
    all
}

#[test]
fn address_plan_sets_mac_and_ipv4_addresses() {
    let plan = Some(AddressPlan::new(4));
    for flags in [Flags::ACK, Flags::from_kind(PacketKind::Raw)] {
        let pkt = packet(flags, 100, 0);
        let mut bytes = Vec::new();
        write_frame(
            &PacketOnLink { pkt: &pkt, ext: None, push: false, plan, roce: None, dscps: &DscpTable::CLASS_SELECTORS },
            &mut bytes,
        );
        // Addresses of hosts 1 and 2 in a fat-tree of switches with 4 ports (PABO §VI-A).
        assert_eq!(bytes[..12], [0x0A, 0xAA, 10, 0, 1, 2, 0x0A, 0xAA, 10, 0, 0, 3]);
        assert_eq!(bytes[26..34], [10, 0, 0, 3, 10, 0, 1, 2]);
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        let etherparse::NetSlice::Ipv4(ip) = sliced.net.unwrap() else { panic!("not IPv4") };
        let ip = ip.header().to_header();
        assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    }
}

#[test]
fn another_parser_reads_the_written_packets() {
    for_all(3000, (any_packet(), any::<bool>()), |((pkt, ext), push)| {
        let head = pkt.head;
        let bytes = frame(&pkt, Some(&ext), push);
        assert_eq!(bytes.len(), usize::from(head.size - FCS_BYTES));
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        let etherparse::NetSlice::Ipv4(ip) = sliced.net.unwrap() else { panic!("not IPv4") };
        let ip = ip.header().to_header();
        assert_eq!((ip.source, ip.destination), (ipv4_address(head.src), ipv4_address(head.dst)));
        assert_eq!(ip.dscp.value() << 2 | ip.ecn.value(), head.tos);
        assert_eq!(ip.ecn.value() == 3, head.ecn() == Ecn::Ce);
        assert_eq!(
            (ip.time_to_live, ip.identification),
            (if head.ttl == 0 { 64 } else { head.ttl }, pkt.emission as u16)
        );
        assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        let Some(TransportSlice::Tcp(slice)) = sliced.transport else { panic!("not TCP") };
        assert_eq!(slice.payload(), vec![0; usize::from(pkt.payload)], "padding is no payload");
        assert_eq!(usize::from(ip.total_len), 20 + slice.header_len() + usize::from(pkt.payload));
        let tcp = slice.to_header();
        assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, slice.payload()).unwrap());
        assert_eq!((tcp.source_port, tcp.destination_port), flow_ports(head.flow));
        assert_eq!((tcp.sequence_number, tcp.acknowledgment_number, tcp.window_size), (pkt.seq, pkt.ack, pkt.window));
        let told = [tcp.ack, tcp.syn, tcp.fin, tcp.rst, tcp.ece, tcp.cwr];
        let flags = [Flags::ACK, Flags::SYN, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR];
        assert_eq!(told, flags.map(|flag| head.flags.has(flag)));
        assert_eq!((tcp.psh, tcp.urg, tcp.ns), (push, false, false));
        let found = tcp.options_iterator().map(Result::unwrap).filter(|option| *option != Element::Noop);
        assert_eq!(found.collect::<Vec<_>>(), expected_options(&ext));
    });
}

#[test]
fn cnm_frame_has_the_expected_bytes() {
    let mut pkt = packet(Flags::from_kind(PacketKind::Notice), 0, 0);
    // Feedback 34 from port 7 of node 33; the queue is 2 units above its set point and 1 shorter than before.
    (pkt.window, pkt.seq, pkt.ack, pkt.head.src) = (34, 7, 0x0002_ffff, HostId(33));
    let bytes = frame(&pkt, None, false);
    assert_eq!(bytes[12..16], [0x22, 0xe7, 0, 34]);
    assert_eq!(bytes[16..28], [0, 0, 0, 0, 0, 33, 0, 7, 0, 2, 0xff, 0xff]);
    assert_eq!(bytes.len(), MIN_FRAME_BYTES);
}
