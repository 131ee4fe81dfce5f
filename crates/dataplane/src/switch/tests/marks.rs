//! Tests of ECN marks for simultaneous arrivals: each sees the frames before it, except on a snapshot.

use super::detours::{Direct, IgnoringDriver, switch_with, switch_with_classes};
use crate::switch::*;
use crate::{NO_EXT, PortCounts};
use mech::Ecn;
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::{Value, Values};
use mech::testing::toml_values;
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

/// Lets a frame of each of these classes arrive, a picosecond apart, at a port with random early detection.
/// Returns which frames of class 0 and of the others are marked.
fn red_marks(classes: &[u8], max_p: f64) -> [Vec<bool>; 2] {
    let values = [
        ("min", Value::Amount(Amount::Packets(5))),
        ("max", Value::Amount(Amount::Packets(30))),
        ("max_p", Value::Number(max_p)),
        ("weight", Value::Number(0.25)),
        ("gentle", Value::Flag(false)),
        ("not_ect", Value::Word("drop".into())),
        ("gaps", Value::Word("uniform".into())),
        ("idle_packet", Value::Time(units::Dur::us(12))),
    ];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into_iter().collect());
    let registry = mech::Registry::catalogue();
    let overflow = registry.make::<OverflowSlot>("tail_drop", &Values::default()).unwrap();
    let marking = registry.make("red", &values).unwrap();
    let mut switch = switch_with_classes(BufferSlot::per_port(None), overflow, &marking, (false, true), 3);
    let mut marks = [Vec::new(), Vec::new()];
    for (at, class) in classes.iter().enumerate() {
        let head = Head { ingress: PortId(1), size: 1500, ttl: 9, ..Head::default() };
        let mut pkt = Pkt { head, ext: NO_EXT, ..Pkt::default() };
        pkt.head.set_class(*class);
        pkt.head.set_ecn(Ecn::Ect0);
        let mut arrivals = [pkt];
        switch.step(&[], &mut arrivals, step_at!(Time(at as u64), &mut IgnoringDriver(())));
        marks[usize::from(*class > 0)].push(arrivals[0].head.ecn() == Ecn::Ce);
    }
    marks
}

#[test]
fn red_average_of_a_long_queue_marks_no_frame_of_another_class() {
    let [long, short] = red_marks(&[[0; 60].as_slice(), &[3; 8]].concat(), 1.0);
    assert_eq!(long[40..], [true; 20], "the average of class 0 is above max");
    // Before these frames, 0 to 7 wait: with a weight of 1/4 the average is below 5.
    assert_eq!(short, [false; 8]);
}

#[test]
fn red_marks_of_a_class_do_not_depend_on_frames_of_others() {
    let [alone, _] = red_marks(&[0; 90], 0.4);
    let mixed: Vec<u8> = (0..90).flat_map(|n| [0, 1 + n % 3, 2]).collect();
    assert_eq!(red_marks(&mixed, 0.4)[0], alone);
    assert!(alone.iter().any(|mark| *mark) && alone.iter().rev().take(60).any(|mark| !mark), "some, by chance");
}

#[test]
fn profile_without_ecn_drops_frames_that_are_due_for_a_mark() {
    // A frame of each class, not ECN-capable and ECN-capable, at queues with one frame: the other is on the link.
    let outcome = |class: u8, ecn: Ecn| {
        let given = "queues = [{ queue = [0], min = \"1500B\", max = \"1500B\" }, \
                     { queue = [3], min = \"1500B\", max = \"1500B\", ecn = \"none\" }]";
        let registry = mech::Registry::catalogue();
        let spec = registry.switch_specs("marking").into_iter().find(|spec| spec.kind == "wred").unwrap();
        let marking = registry.make("wred", &toml_values(spec, given)).unwrap();
        let overflow = registry.make::<OverflowSlot>("tail_drop", &Values::default()).unwrap();
        let mut switch = switch_with_classes(BufferSlot::per_port(None), overflow, &marking, (false, true), 3);
        for at in 0..3 {
            let head = Head { ingress: PortId(1), size: 1500, ttl: 9, ..Head::default() };
            let mut pkt = Pkt { head, ext: NO_EXT, ..Pkt::default() };
            pkt.head.set_class(class);
            pkt.head.set_ecn(ecn);
            switch.step(&[], &mut [pkt], step_at!(Time(at), &mut IgnoringDriver(())));
            assert!(switch.conserves_packets());
        }
        let PortCounts { marked, dropped, .. } = counts(&switch);
        (marked, dropped[DropReason::EarlyDrop as usize])
    };
    let outcomes = |class| [Ecn::NotEct, Ecn::Ect0, Ecn::Ce].map(|ecn| outcome(class, ecn));
    assert_eq!(outcomes(0), [(0, 1), (1, 0), (0, 0)], "a frame with CE keeps it");
    assert_eq!(outcomes(3), [(0, 1); 3]);
    assert_eq!(outcomes(1), [(0, 0); 3], "a queue without a profile");
}
