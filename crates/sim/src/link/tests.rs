//! Tests of frames in flight and their order.

use super::*;

fn pkt(emission: u32) -> Pkt {
    Pkt { emission, ..Pkt::default() }
}

#[test]
fn links_keep_their_order_and_share_one_memory() {
    let mut wires = Links::default();
    wires.add_link(1, 3, Dur(5));
    wires.add_link(2, 4, Dur(7));
    assert_eq!(wires.send_frame(0, &pkt(0), Time(0), Time(10)), Some((Time(15), 1)));
    assert_eq!(wires.send_frame(0, &pkt(1), Time(0), Time(20)), None, "only a link's first frame is an event");
    assert_eq!(wires.send_frame(1, &pkt(2), Time(0), Time(10)), Some((Time(17), 2)));
    let mut got = Vec::new();
    let mut arrive = |wires: &mut Links, link| {
        let arrived = wires.take_arrival(link);
        let mut pkt = *wires.arrived_frame(arrived);
        arrived.write_ingress(&mut pkt);
        assert_eq!((pkt.head.hops, pkt.head.ingress), (1, PortId(link as u16 + 3)));
        got.push(pkt.emission);
        arrived.next_at
    };
    assert_eq!(arrive(&mut wires, 0), Time(25));
    assert_eq!(wires.send_frame(1, &pkt(3), Time(0), Time(11)), None);
    assert_eq!(wires.frames.len(), 3, "a freed place is used again");
    assert_eq!(arrive(&mut wires, 0), Time::NEVER);
    assert_eq!(arrive(&mut wires, 1), Time(18));
    assert_eq!(arrive(&mut wires, 1), Time::NEVER);
    assert_eq!(got, [0, 1, 2, 3]);
    assert_eq!(wires.frames_in_flight(), 0);
}

/// Test of the payload on a link while three back-to-back segments of 1000 B share a slot.
#[test]
fn payload_on_a_link_includes_every_back_to_back_segment() {
    let head = mech::Head { flags: mech::Flags::PAYLOAD, ..mech::Head::default() };
    let mut released = dataplane::transport::ReleasedPackets::default();
    (0..3).for_each(|n| released.push(Pkt { seq: 1000 * n, emission: n, payload: 1000, head, ..Pkt::default() }));
    let run = *released.runs_mut().next().unwrap();
    let mut wires = Links::default();
    wires.add_link(1, 3, Dur(5));
    wires.send_run(0, &run, Time(0), (Time(10), Dur(4)));
    wires.send_frame(0, &pkt(77), Time(25), Time(30));
    for left in [3000, 2000, 1000, 0, 0] {
        assert_eq!((wires.payload_counts().waiting, wires.payload_counts().dropped), (left, 0));
        if wires.frames_in_flight() > 0 {
            let _ = wires.take_arrival(0);
        }
    }
}

#[test]
fn back_to_back_segments_share_a_slot_and_arrive_first() {
    let run = |count: u32| {
        let mut released = dataplane::transport::ReleasedPackets::default();
        let segment = |n| Pkt { seq: 1000 * n, emission: n, payload: 1000, ..Pkt::default() };
        (0..count).for_each(|n| released.push(segment(n)));
        *released.runs_mut().next().unwrap()
    };
    let mut wires = Links::default();
    wires.add_link(1, 3, Dur(5));
    assert_eq!(wires.send_run(0, &run(3), Time(0), (Time(10), Dur(4))), Some((Time(15), 1)));
    assert_eq!(wires.send_frame(0, &pkt(77), Time(25), Time(30)), None);
    assert_eq!(wires.send_run(0, &run(2), Time(30), (Time(40), Dur(4))), None);
    assert_eq!((wires.frames_in_flight(), wires.slots_in_use()), (6, 3));
    let mut clone = wires.clone();
    for wires in [&mut wires, &mut clone] {
        let mut got = Vec::new();
        for _ in 0..6 {
            assert_eq!(wires.first_frame(0).map(|pkt| pkt.head.hops), Some(0));
            let arrived = wires.take_arrival(0);
            let pkt = wires.arrived_frame(arrived);
            got.push((pkt.emission, pkt.seq, arrived.next_at));
        }
        let expected = [(0, 0, 19), (1, 1000, 23), (2, 2000, 35), (77, 0, 45), (0, 0, 49), (1, 1000, u64::MAX)];
        assert_eq!(got, expected.map(|(emission, seq, next)| (emission, seq, Time(next))));
        assert_eq!(
            (wires.frames_in_flight(), wires.slots_in_use(), wires.runs.len() - wires.free_runs.len()),
            (0, 0, 0)
        );
    }
}
