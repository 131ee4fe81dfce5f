//! Tests of ECN marks for simultaneous arrivals: each sees the frames before it, except on a snapshot.

use super::detours::{Direct, IgnoringDriver, switch_with};
use crate::switch::*;
use crate::{NO_EXT, PortCounts};
use mech::Ecn;
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::{Value, Values};
use units::Amount;

fn threshold(k: Amount) -> MarkingSlot {
    let values = Values([("k".to_string(), Value::Amount(k))].into_iter().collect());
    mech::Registry::catalogue().make("ecn_threshold", &values).unwrap()
}
/// Creates a switch with a port that marks from a queue length of K on.
/// Departures are computed or stepped.
fn switch(k: Amount, snapshot: bool, may_compute: bool) -> Switch {
    let overflow = mech::Registry::catalogue().make::<OverflowSlot>("tail_drop", &Values::default()).unwrap();
    switch_with(BufferSlot::per_port(Some(Amount::Packets(100))), overflow, &threshold(k), (snapshot, may_compute))
}
/// Lets `frames` frames of 1500 B for host 0 arrive at an instant, and returns which of them are marked.
/// Each comes in by another port.
fn arrive(switch: &mut Switch, at: u64, frames: u16) -> Vec<bool> {
    let pkt = |n| {
        let head = Head { ingress: PortId(1 + n), size: 1500, ttl: 9, ..Head::default() };
        let mut pkt = Pkt { head, ext: NO_EXT, ..Pkt::default() };
        pkt.head.set_ecn(Ecn::Ect0);
        pkt
    };
    let mut arrivals: Vec<Pkt> = (0..frames).map(pkt).collect();
    switch.step(&[], &mut arrivals, step_at!(Time(at), &mut IgnoringDriver(())));
    assert!(switch.conserves_packets());
    arrivals.iter().map(|pkt| pkt.head.ecn() == Ecn::Ce).collect()
}
fn counts(switch: &Switch) -> PortCounts {
    switch.core.ports()[0].counts()
}

#[test]
fn snapshot_marking_ignores_arrivals_of_the_same_instant() {
    for may_compute in [true, false] {
        for k in [Amount::Packets(5), Amount::Bytes(7500)] {
            let mut turn = switch(k, false, may_compute);
            let marked = arrive(&mut turn, 0, 11);
            assert_eq!(marked, [[false; 5].as_slice(), &[true; 6]].concat(), "{k:?}: from the sixth on");
            let mut snapshot = switch(k, true, may_compute);
            assert_eq!(arrive(&mut snapshot, 0, 11), [false; 11], "{k:?}, computed: {may_compute}");
            assert_eq!((counts(&turn).marked, counts(&snapshot).marked), (6, 0));
            assert_eq!((counts(&turn).enqueued, counts(&snapshot).enqueued), (11, 11));
        }
    }
}

#[test]
fn snapshot_marking_counts_arrivals_of_earlier_instants() {
    for may_compute in [true, false] {
        // One of four frames is on the link. Three are queued, then five, which is K.
        let mut snapshot = switch(Amount::Packets(5), true, may_compute);
        assert_eq!(arrive(&mut snapshot, 0, 4), [false; 4]);
        assert_eq!(arrive(&mut snapshot, 1, 2), [false; 2], "three wait");
        assert_eq!(arrive(&mut snapshot, 2, 1), [true], "alone, five wait");
        assert_eq!(arrive(&mut snapshot, 3, 3), [true; 3], "six wait");
    }
}

#[test]
fn single_arrivals_are_marked_the_same_with_a_snapshot() {
    let alone = |snapshot| {
        let mut switch = switch(Amount::Packets(2), snapshot, false);
        (0..6).map(|at| arrive(&mut switch, at, 1)[0]).collect::<Vec<bool>>()
    };
    assert_eq!(alone(true), [false, false, false, true, true, true]);
    assert_eq!(alone(false), alone(true));
}
