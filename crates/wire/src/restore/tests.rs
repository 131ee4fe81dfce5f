use super::*;
use crate::{PacketOnLink, is_pure_ack, random_frames, set_ece, write_frame};
use dataplane::Timestamps;
use mech::{HostId, Stream};

const WITHOUT_PLAN: NetworkFormat = NetworkFormat { framing: Framing::ETHERNET, plan: None };

/// Draws a random packet with its options: data, an ACK, a SYN, or a cut packet.
fn packet(draw: &mut Stream, framing: Framing) -> (Pkt, PacketExtension) {
    let mut word = || draw.u32();
    let timestamps = (word() & 1 > 0).then_some(Timestamps { val: word(), ecr: word() });
    let mut ext = PacketExtension { timestamps, push: word() & 1 > 0, ..PacketExtension::default() };
    let mut flags = Flags(word() as u16 & 0b0011_1111_1111_1101).without(Flags::SYN);
    if word() & 7 == 0 {
        flags = flags.with(Flags::SYN);
        let window_scale = (word() & 1 > 0).then_some(7);
        ext.syn = Some(SynOptions {
            mss: word() as u16,
            window_scale,
            sack_permitted: word() & 1 > 0,
            pack_permitted: word() & 1 > 0,
        });
    } else {
        ext.blocks = (word() % 4) as u8;
        ext.sack[..usize::from(ext.blocks)].iter_mut().for_each(|block| *block = (word(), word()));
    }
    let cut = flags.has(Flags::CPA.with(Flags::PPL));
    let sent = if cut || word() & 1 > 0 { 1 + word() % 1460 } else { 0 } as u16;
    let payload = if cut { 0 } else { sent };
    if payload > 0 {
        flags = flags.with(Flags::PAYLOAD);
    }
    let head = Head {
        flow: FlowId(word()),
        src: HostId(word() % 54),
        dst: HostId(word() % 54),
        hash: word(),
        rank: word(),
        size: framing.frame_size(payload, ext.option_bytes()),
        orig_size: framing.frame_size(sent, ext.option_bytes()),
        ingress: PortId(word() as u16),
        hops: word() as u16,
        flags,
        tos: word() as u8,
        ttl: word() as u8 & 3,
        bounces: word() as u8,
        detours: word() as u8,
    };
    let (seq, ack, emission, window) = (word(), word(), word(), word() as u16);
    let sent = Time(u64::from(word()) << 20);
    (Pkt { sent, head, seq, ack, emission, ext: NO_EXT, payload, window }, ext)
}

fn write_and_restore(network: &NetworkFormat, pkt: &Pkt, ext: &PacketExtension, push: bool) -> RestoredSegment {
    let mut frame = Vec::new();
    let ext = (*ext != PacketExtension::default()).then_some(ext);
    write_frame(&PacketOnLink { pkt, ext, push, plan: network.plan, roce: None }, &mut frame);
    assert_eq!(is_pure_ack(&frame), Ok(pkt.head.is_pure_ack()), "bytes and flags say the same: {pkt:?}");
    let (mut echoes, mut released, mut expected) = (*pkt, frame.clone(), Vec::new());
    echoes.head.flags = echoes.head.flags.with(Flags::ECE);
    write_frame(&PacketOnLink { pkt: &echoes, ext, push, plan: network.plan, roce: None }, &mut expected);
    set_ece(&mut released).unwrap();
    assert_eq!(released, expected, "a frame with ECE set later differs from one written with ECE: {pkt:?}");
    network.restore(&frame, &SideData::from_packet(pkt, ext)).unwrap()
}

#[test]
fn all_fields_are_restored_from_a_frame() {
    let mut draw = random_frames::test_stream(31);
    let mut cut = 0;
    for plan in [None, Some(AddressPlan::new(6))] {
        let network = NetworkFormat { plan, ..WITHOUT_PLAN };
        for round in 0..3000 {
            let (pkt, ext) = packet(&mut draw, network.framing);
            cut += usize::from(pkt.head.flags.has(Flags::CPA.with(Flags::PPL)));
            let (write, some) = (round % 2 > 0, (ext != PacketExtension::default()).then_some(ext));
            let expected = RestoredSegment { pkt, ext: some, push: write || ext.push };
            assert_eq!(write_and_restore(&network, &pkt, &ext, write), expected);
        }
    }
    assert!(cut > 1000, "{cut} that were cut");
}

#[test]
fn side_data_does_not_repeat_header_fields() {
    let (mut one, _) = packet(&mut random_frames::test_stream(32), Framing::ETHERNET);
    (one.emission, one.head.flags, one.head.ttl) = (0x1_0000, Flags::ACK.with(Flags::RETRANSMIT), 9);
    let side = SideData::from_packet(&one, None);
    (one.seq, one.ack, one.window, one.payload, one.emission) = (1, 2, 3, 4, 0x1_0005);
    let told = [Flags::SYN, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR, Flags::CPA, Flags::PPL, Flags::REVERSE];
    one.head.flags = told.into_iter().fold(one.head.flags, Flags::with).with(Flags::PAYLOAD).without(Flags::ACK);
    (one.head.tos, one.head.ttl, one.head.size, one.head.orig_size) = (0xff, 8, 64, 1518);
    (one.head.src, one.head.dst) = (HostId(1), HostId(2));
    assert_eq!(SideData::from_packet(&one, None), side);
    assert_eq!(side.flags, Flags::RETRANSMIT);
}

#[test]
fn uncut_packets_of_a_shorter_framing_are_restored() {
    let network = NetworkFormat { framing: Framing { header: 40, link: 0, min_frame: 0, gap: 0 }, plan: None };
    let mut draw = random_frames::test_stream(33);
    for _ in 0..500 {
        let (mut pkt, ext) = packet(&mut draw, network.framing);
        pkt.head.flags = pkt.head.flags.without(Flags::PPL);
        pkt.head.orig_size = pkt.head.size;
        assert_eq!(write_and_restore(&network, &pkt, &ext, false).pkt, pkt);
    }
}

#[test]
fn frame_longer_than_any_simulated_one_is_refused() {
    let (from, to) = flow_ports(FlowId(0));
    let mut segment = Segment { source_port: from, destination_port: to, ..Segment::default() };
    (segment.source_mac, segment.destination_mac) = ([2, 0, 10, 0, 0, 1], [2, 0, 10, 0, 0, 2]);
    (segment.ip.source, segment.ip.destination) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    (segment.ip.ttl, segment.ip.dont_fragment) = (64, true);
    let mut restore = |payload| {
        segment.payload = payload;
        let frame = segment.to_frame(LengthField::Ip).unwrap();
        WITHOUT_PLAN.restore(&frame, &SideData::default()).map(|restored| restored.pkt.head.size)
    };
    assert_eq!(restore(65_477), Ok(65_535));
    assert_eq!(restore(65_478), Err(Malformed::TooLong { options: 0, payload: 65_478 }));
}

#[test]
fn fields_of_no_simulated_segment_are_refused() {
    let (mut pkt, _) = packet(&mut random_frames::test_stream(35), Framing::ETHERNET);
    pkt.head.flags = Flags::ACK.with(Flags::SYN);
    let mut frame = Vec::new();
    write_frame(&PacketOnLink { pkt: &pkt, ext: None, push: false, plan: None, roce: None }, &mut frame);
    let (whole, side) = (Segment::read(&frame, LengthField::Ip).unwrap(), SideData::from_packet(&pkt, None));
    assert!(WITHOUT_PLAN.restore(&frame, &side).is_ok());
    let changes: [fn(&mut Segment); 6] = [
        |segment| segment.urgent = 1,
        |segment| segment.flags = segment.flags.with(TcpFlags::AE),
        |segment| segment.options.window_scale = Some(1),
        |segment| segment.options.pack_permitted = true,
        |segment| segment.ip.dont_fragment = false,
        |segment| segment.source_mac[5] ^= 1,
    ];
    for change in changes {
        let mut foreign = whole;
        change(&mut foreign);
        let frame = foreign.to_frame(LengthField::Ip).unwrap();
        assert_eq!(WITHOUT_PLAN.restore(&frame, &side), Err(Malformed::Foreign), "{foreign:?}");
    }
}

#[test]
fn frame_of_another_flow_or_unknown_host_is_refused() {
    let (mut pkt, ext) = packet(&mut random_frames::test_stream(34), Framing::ETHERNET);
    (pkt.head.flow, pkt.head.flags) = (FlowId(4001), Flags::ACK);
    let mut frame = Vec::new();
    write_frame(&PacketOnLink { pkt: &pkt, ext: Some(&ext), push: false, plan: None, roce: None }, &mut frame);
    let other = SideData { flow: FlowId(1), ..SideData::from_packet(&pkt, None) };
    let said = WITHOUT_PLAN.restore(&frame, &other).unwrap_err();
    assert_eq!(said.to_string(), "found source port 37101 and destination port 50001; expected the ports of flow 1");
    frame[26] = 192;
    let said = WITHOUT_PLAN.restore(&frame, &SideData::from_packet(&pkt, None)).unwrap_err();
    assert!(said.to_string().starts_with("address 192.0.0."), "{said}");
}
