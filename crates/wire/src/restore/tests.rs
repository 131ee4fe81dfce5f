use super::*;
use crate::random_frames::{any_blocks, any_timestamps};
use crate::{PacketOnLink, is_pure_ack, set_ece, write_frame};
use mech::HostId;
use property::for_all;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use std::collections::BTreeSet;

const WITHOUT_PLAN: NetworkFormat =
    NetworkFormat { framing: Framing::ETHERNET, plan: None, dscps: DscpTable::CLASS_SELECTORS };

/// Returns a packet with its options: data, an ACK, a SYN, or a cut packet.
fn any_packet(framing: Framing) -> impl Strategy<Value = (Pkt, PacketExtension)> {
    let window_scale = option::of(Just(7));
    let syn = (any::<u16>(), window_scale, any::<(bool, bool)>()).prop_map(|(mss, window_scale, permitted)| {
        let (sack_permitted, pack_permitted) = permitted;
        let syn = Some(SynOptions { mss, window_scale, sack_permitted, pack_permitted });
        PacketExtension { syn, ..PacketExtension::default() }
    });
    let sack = any_blocks(4).prop_map(|(blocks, sack)| PacketExtension { blocks, sack, ..PacketExtension::default() });
    let ext = (prop_oneof![7 => sack, 1 => syn], any_timestamps(), any::<bool>())
        .prop_map(|(ext, timestamps, push)| PacketExtension { timestamps, push, ..ext });
    // True if the packet was sent with payload, and the number of payload bytes.
    let payload = (any::<bool>(), 1..=1460_u16);
    let head = (any::<(u32, u32, u32)>(), 0..54_u32, 0..54_u32, any::<(u16, u16, u16, u8, u8, u8, u8)>());
    let numbers = any::<(u32, u32, u32, u16, u32)>();
    (ext, payload, head, numbers).prop_map(move |(ext, (is_data, bytes), head, numbers)| {
        let ((flow, hash, rank), src, dst, (ingress, hops, flags, tos, ttl, bounces, detours)) = head;
        let mut flags = Flags(flags & 0b0011_1111_1111_1101).without(Flags::SYN);
        if ext.syn.is_some() {
            flags = flags.with(Flags::SYN);
        }
        let cut = flags.has(Flags::CPA.with(Flags::PPL));
        let sent = if cut || is_data { bytes } else { 0 };
        let payload = if cut { 0 } else { sent };
        if payload > 0 {
            flags = flags.with(Flags::PAYLOAD);
        }
        let head = Head {
            flow: FlowId(flow),
            src: HostId(src),
            dst: HostId(dst),
            hash,
            rank,
            size: framing.frame_size(payload, ext.option_bytes()),
            orig_size: framing.frame_size(sent, ext.option_bytes()),
            ingress: PortId(ingress),
            hops,
            flags,
            tos,
            ttl: ttl & 3,
            bounces,
            detours,
        };
        let (seq, ack, emission, window, time) = numbers;
        let sent = Time(u64::from(time) << 20);
        (Pkt { sent, head, seq, ack, emission, ext: NO_EXT, payload, window }, ext)
    })
}

fn write_and_restore(network: &NetworkFormat, pkt: &Pkt, ext: &PacketExtension, push: bool) -> RestoredSegment {
    let mut frame = Vec::new();
    let ext = (*ext != PacketExtension::default()).then_some(ext);
    write_frame(&PacketOnLink { pkt, ext, push, plan: network.plan, roce: None, dscps: &network.dscps }, &mut frame);
    assert_eq!(is_pure_ack(&frame), Ok(pkt.head.is_pure_ack()), "bytes and flags say the same: {pkt:?}");
    let (mut echoes, mut released, mut expected) = (*pkt, frame.clone(), Vec::new());
    echoes.head.flags = echoes.head.flags.with(Flags::ECE);
    write_frame(
        &PacketOnLink { pkt: &echoes, ext, push, plan: network.plan, roce: None, dscps: &network.dscps },
        &mut expected,
    );
    set_ece(&mut released).unwrap();
    assert_eq!(released, expected, "a frame with ECE set later differs from one written with ECE: {pkt:?}");
    network.restore(&frame, &SideData::from_packet(pkt, ext)).unwrap()
}

#[test]
fn all_fields_are_restored_from_a_frame() {
    let mut cut = 0;
    for plan in [None, Some(AddressPlan::new(6))] {
        let network = NetworkFormat { plan, ..WITHOUT_PLAN };
        for_all(3000, (any_packet(network.framing), any::<bool>()), |((pkt, ext), write)| {
            cut += u32::from(pkt.head.flags.has(Flags::CPA.with(Flags::PPL)));
            let some = (ext != PacketExtension::default()).then_some(ext);
            let expected = RestoredSegment { pkt, ext: some, push: write || ext.push };
            assert_eq!(write_and_restore(&network, &pkt, &ext, write), expected);
        });
    }
    assert!(cut > 1000, "{cut} that were cut");
}

/// Returns a random table of the DSCPs of a run, as the loader makes it: up to four DSCPs of each class.
fn any_dscps() -> impl Strategy<Value = DscpTable> {
    vec((0..8_u8, any::<bool>()), DscpTable::DSCPS).prop_map(|all| {
        let classes: [u8; DscpTable::DSCPS] = std::array::from_fn(|dscp| all[dscp].0);
        let code_points = std::array::from_fn(|class| {
            let used = (0..64_u8).filter(|dscp| all[usize::from(*dscp)] == (class as u8, true));
            let used: Vec<u8> = used.take(DscpTable::PER_CLASS).collect();
            std::array::from_fn(|number| used.get(number).or(used.first()).copied().unwrap_or(class as u8 * 8))
        });
        DscpTable::new(classes, code_points)
    })
}

#[test]
fn class_and_code_point_are_restored_from_named_dscps() {
    let (mut dscps, mut refused) = (BTreeSet::new(), 0);
    for_all(3000, (any_dscps(), any_packet(Framing::ETHERNET)), |(table, (mut pkt, ext))| {
        let network = NetworkFormat { dscps: table, ..WITHOUT_PLAN };
        let (class, ip) = (pkt.head.class(), table.ipv4_tos(pkt.head.tos));
        if table.classes()[usize::from(ip >> 2)] != class {
            // The class has no DSCP, so the loader refuses workloads of it.
            refused += 1;
            return;
        }
        // A DSCP number without a DSCP of its own stands for number 0.
        let first = pkt.head.tos & !(0b11 << 3);
        if table.ipv4_tos(first) == ip {
            pkt.head.tos = first;
        }
        assert_eq!((ip & 3, pkt.head.class()), (pkt.head.tos & 3, class));
        assert_eq!(write_and_restore(&network, &pkt, &ext, false).pkt, pkt);
        dscps.insert(ip >> 2);
    });
    assert!(dscps.len() == 64 && refused < 1000, "{dscps:?}, {refused} of classes without a DSCP");
}

#[test]
fn frame_with_a_dscp_of_no_packet_is_refused() {
    let code_points = std::array::from_fn(|class| [class as u8 * 8; DscpTable::PER_CLASS]);
    let dscps = DscpTable::new(*DscpTable::CLASS_SELECTORS.classes(), code_points);
    let network = NetworkFormat { dscps, ..WITHOUT_PLAN };
    for_all(100, any_packet(Framing::ETHERNET), |(mut pkt, _)| {
        (pkt.head.tos, pkt.head.flags) = (26 << 2, Flags::ACK);
        let mut frame = Vec::new();
        let packet = PacketOnLink {
            pkt: &pkt,
            ext: None,
            push: false,
            plan: None,
            roce: None,
            dscps: &DscpTable::CLASS_SELECTORS,
        };
        write_frame(&packet, &mut frame);
        let said = network.restore(&frame, &SideData::from_packet(&pkt, None)).unwrap_err();
        assert_eq!(said.to_string(), "DSCP 26; expected a DSCP that packets of the run have");
    });
}

#[test]
fn side_data_does_not_repeat_header_fields() {
    for_all(100, any_packet(Framing::ETHERNET), |(mut one, _)| {
        (one.emission, one.head.flags, one.head.ttl) = (0x1_0000, Flags::ACK.with(Flags::RETRANSMIT), 9);
        let side = SideData::from_packet(&one, None);
        (one.seq, one.ack, one.window, one.payload, one.emission) = (1, 2, 3, 4, 0x1_0005);
        let told = [Flags::SYN, Flags::FIN, Flags::RST, Flags::ECE, Flags::CWR, Flags::CPA, Flags::PPL, Flags::REVERSE];
        one.head.flags = told.into_iter().fold(one.head.flags, Flags::with).with(Flags::PAYLOAD).without(Flags::ACK);
        one.head.tos |= !Head::NOT_TRIMMABLE;
        (one.head.ttl, one.head.size, one.head.orig_size) = (8, 64, 1518);
        (one.head.src, one.head.dst) = (HostId(1), HostId(2));
        assert_eq!(SideData::from_packet(&one, None), side);
        assert_eq!(side.flags, Flags::RETRANSMIT);
    });
}

#[test]
fn uncut_packets_of_a_shorter_framing_are_restored() {
    let network = NetworkFormat { framing: Framing { header: 40, link: 0, min_frame: 0, gap: 0 }, ..WITHOUT_PLAN };
    for_all(500, any_packet(network.framing), |(mut pkt, ext)| {
        pkt.head.flags = pkt.head.flags.without(Flags::PPL);
        pkt.head.orig_size = pkt.head.size;
        assert_eq!(write_and_restore(&network, &pkt, &ext, false).pkt, pkt);
    });
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
    for_all(100, any_packet(Framing::ETHERNET), |(mut pkt, _)| {
        pkt.head.flags = Flags::ACK.with(Flags::SYN);
        let mut frame = Vec::new();
        write_frame(
            &PacketOnLink {
                pkt: &pkt,
                ext: None,
                push: false,
                plan: None,
                roce: None,
                dscps: &DscpTable::CLASS_SELECTORS,
            },
            &mut frame,
        );
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
    });
}

#[test]
fn frame_of_another_flow_or_unknown_host_is_refused() {
    for_all(100, any_packet(Framing::ETHERNET), |(mut pkt, ext)| {
        (pkt.head.flow, pkt.head.flags) = (FlowId(4001), Flags::ACK);
        let mut frame = Vec::new();
        write_frame(
            &PacketOnLink {
                pkt: &pkt,
                ext: Some(&ext),
                push: false,
                plan: None,
                roce: None,
                dscps: &DscpTable::CLASS_SELECTORS,
            },
            &mut frame,
        );
        let other = SideData { flow: FlowId(1), ..SideData::from_packet(&pkt, None) };
        let said = WITHOUT_PLAN.restore(&frame, &other).unwrap_err();
        assert_eq!(
            said.to_string(),
            "found source port 37101 and destination port 50001; expected the ports of flow 1"
        );
        frame[26] = 192;
        let said = WITHOUT_PLAN.restore(&frame, &SideData::from_packet(&pkt, None)).unwrap_err();
        assert!(said.to_string().starts_with("address 192.0.0."), "{said}");
    });
}
