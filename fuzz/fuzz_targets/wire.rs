#![no_main]
//! Reads bytes as a frame: nothing panics.
//!
//! A segment that is read is the same after writing it. A cut frame reports what it lost, a refused frame stays
//! unchanged, and valid read_checksums stay valid.

use dataplane::Framing;
use libfuzzer_sys::fuzz_target;
use mech::{DscpTable, FlowId};
use mech::routing::AddressPlan;
use wire::{
    Checksums, CpPacket, LengthField, NetworkFormat, PacketOnLink, Segment, SideData, TcpFlags, Trim, cut_payload,
    read_checksums, set_ce, set_dscp, set_flags, write_frame,
};

fuzz_target!(|frame: &[u8]| {
    for length in [LengthField::Ip, LengthField::Payload] {
        read(frame, length);
        shorten(frame, length);
    }
    [34, 64, 128, usize::MAX].into_iter().for_each(|bytes| trim(frame, bytes));
    change(frame);
    [None, Some(AddressPlan::new(64))].into_iter().for_each(|plan| restore(frame, plan));
});

fn read(frame: &[u8], length: LengthField) {
    match Segment::read(frame, length) {
        Ok(segment) => {
            assert_eq!(segment.lost_range().is_some(), segment.cp_packet() == CpPacket::Cut);
            // Options may exceed the limit with the padding of this writer.
            let Ok(written) = segment.to_frame(length) else { return };
            assert_eq!(Segment::read(&written, length), Ok(segment));
            assert_eq!(read_checksums(&written, length), Ok(Checksums { ipv4: true, tcp: true }));
        }
        Err(why) => assert!(why.to_string().contains("expected") || why.to_string().contains("option")),
    }
}

/// Restores a segment of the flow that its ports encode, and writes it again.
fn restore(frame: &[u8], plan: Option<AddressPlan>) {
    let network = NetworkFormat { framing: Framing::ETHERNET, plan, dscps: DscpTable::CLASS_SELECTORS };
    let Ok(Segment { source_port, destination_port, .. }) = Segment::read(frame, LengthField::Ip) else { return };
    let number =
        |from: u16, to: u16| Some(u32::from(from.checked_sub(37_100)?) + 4000 * u32::from(to.checked_sub(50_000)?));
    let flow = number(source_port, destination_port).or(number(destination_port, source_port)).unwrap_or(0);
    let side = SideData { flow: FlowId(flow), ..SideData::default() };
    let Ok(found) = network.restore(frame, &side) else { return };
    let mut again = Vec::new();
    write_frame(
        &PacketOnLink {
            pkt: &found.pkt,
            ext: found.ext.as_ref(),
            push: found.push,
            plan,
            roce: None,
            dscps: &network.dscps,
        },
        &mut again,
    );
    let back = network.restore(&again, &side).expect("what is restored is written");
    assert_eq!(back.pkt, found.pkt);
    assert_eq!((back.ext, back.push), (found.ext, found.push));
}

fn shorten(frame: &[u8], length: LengthField) {
    let mut bytes = frame.to_vec();
    let Ok(stays) = cut_payload(&mut bytes, length) else {
        assert_eq!(bytes, frame);
        return;
    };
    assert!(stays <= frame.len());
    bytes.truncate(stays);
    assert!(read_checksums(&bytes, length).is_ok_and(|sums| sums.tcp));
    let (before, after) = (Segment::read(frame, length), Segment::read(&bytes, length));
    let uncut = after.map(|segment| Segment { flags: segment.flags.with_cp_packet(CpPacket::Enabled), ..segment });
    assert_eq!(uncut, before);
    assert!(cut_payload(&mut bytes, length).is_err(), "never twice");
}

fn trim(frame: &[u8], bytes: usize) {
    let mut trimmed = frame.to_vec();
    match (Trim { bytes, trimmable: None, trimmed: 11 }).apply(&mut trimmed) {
        Ok(stays) => assert_eq!((stays, trimmed.len()), (bytes, frame.len())),
        Err(_) => assert_eq!(trimmed, frame),
    }
}

fn change(frame: &[u8]) {
    let mut bytes = frame.to_vec();
    let before = read_checksums(&bytes, LengthField::Ip);
    let _ = set_flags(&mut bytes, TcpFlags::ECE.with(TcpFlags::CWR), frame.len() % 2 == 0);
    let _ = set_ce(&mut bytes);
    let _ = set_dscp(&mut bytes, frame.len() as u8);
    assert_eq!(read_checksums(&bytes, LengthField::Ip), before, "right sums stay right, and wrong ones wrong");
}
