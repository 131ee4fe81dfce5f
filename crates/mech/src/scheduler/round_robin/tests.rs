//! Tests of deficit round robin: shares of classes, saved bytes, strict classes, and refused parameters.

use super::*;
use crate::testing::{DecisionInputs, SwitchState, buffer_of_packets, parse_head, switch_without_packets, values};
use crate::{Lane, PortId};

const PORT: PortId = PortId(0);

/// Creates deficit round robin at a port with Ethernet's preamble and gap.
fn round_robin(given: &str) -> RoundRobin {
    let mut scheduler = RoundRobin::new(&values(&SPEC, given));
    scheduler.set_gap(20);
    scheduler
}
/// Returns the classes of the first `n` frames that leave a port.
/// Frames of these (class, bytes) are always queued there.
fn departure_classes(given: &str, waiting: &[(u8, u16)], n: usize) -> Vec<u8> {
    let mut state = switch_without_packets(1, buffer_of_packets(10_000));
    for (class, size) in waiting {
        state.fill_up(n as u32, parse_head(&format!("class={class} size={size}")), (PORT, QueueId::normal(*class)));
    }
    let mut scheduler = round_robin(given);
    (0..n).map(|_| remove_next(&mut scheduler, &mut state, u32::MAX).expect("something waits").class()).collect()
}
/// Removes the packet that leaves next, among the queues of the bit set `allowed`.
fn remove_next(scheduler: &mut RoundRobin, state: &mut SwitchState, allowed: u32) -> Option<QueueId> {
    let occupied = (0..QueueId::COUNT).filter(|queue| crate::View::backlog(state, PORT, QueueId(*queue)).0 > 0);
    let eligible = occupied.fold(0, |bits, queue| bits | 1 << queue) & allowed;
    let view = PortView { view: state, port: PORT, eligible };
    let (queue, pkt) = scheduler.next_packet(&view, &mut DecisionInputs::with_draws(&[]).env())?;
    state.remove_from_queue(pkt);
    state.free_memory(pkt);
    Some(queue)
}
fn bytes_of_class(order: &[u8], class: u8, size: u64) -> u64 {
    order.iter().filter(|other| **other == class).count() as u64 * size
}

#[test]
fn equal_frames_of_equal_classes_alternate() {
    assert_eq!(departure_classes("", &[(0, 1518), (3, 1518)], 6), [0, 3, 0, 3, 0, 3]);
}

#[test]
fn class_of_weight_3_sends_three_frames_a_turn() {
    assert_eq!(departure_classes("weights=1,3 count=stored", &[(0, 1518), (1, 1518)], 8), [0, 1, 1, 1, 0, 1, 1, 1]);
}

#[test]
fn classes_share_the_link_by_bytes_not_by_frames() {
    let order = departure_classes("weights=2,1 count=stored", &[(0, 1518), (1, 64)], 500);
    let (large, small) = (bytes_of_class(&order, 0, 1518), bytes_of_class(&order, 1, 64));
    // A class is never further ahead than a frame and a turn.
    assert!(large.abs_diff(2 * small) <= 1518 + 2 * 1518, "{large} and twice {small}");
}

#[test]
fn unused_quantum_is_saved_for_the_next_turn() {
    // With 1000 bytes a turn, frames of 1500 leave in the second and the third of three turns.
    assert_eq!(departure_classes("quantum=1000B count=stored", &[(0, 1500), (1, 1000)], 7), [1, 0, 1, 0, 1, 1, 0]);
}

#[test]
fn empty_or_paused_class_saves_no_quantum() {
    let mut state = switch_without_packets(1, buffer_of_packets(100));
    let mut scheduler = round_robin("quantum=1000B count=stored");
    for class in [0, 1] {
        state.fill_up(20, parse_head(&format!("class={class} size=1000")), (PORT, QueueId::normal(class)));
    }
    let paused = !(0b1111 << QueueId::LANES);
    for _ in 0..5 {
        assert_eq!(remove_next(&mut scheduler, &mut state, paused), Some(QueueId::normal(0)));
    }
    let after: Vec<u8> =
        (0..4).filter_map(|_| remove_next(&mut scheduler, &mut state, u32::MAX)).map(|q| q.class()).collect();
    assert_eq!(after, [1, 0, 1, 0], "five turns that it could not use are gone");
}

#[test]
fn bounced_packets_of_a_class_leave_first() {
    let mut state = switch_without_packets(1, buffer_of_packets(100));
    state.fill_up(1, parse_head(""), (PORT, QueueId::normal(0)));
    state.fill_up(1, parse_head("np=1"), (PORT, QueueId::new(0, Lane::Bounce)));
    let mut scheduler = round_robin("");
    assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), Some(QueueId::new(0, Lane::Bounce)));
    assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), Some(QueueId::normal(0)));
    assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), None);
}

/// Returns the shares of these classes in the bytes on the wire that leave with the first `n` frames of a port. Frames
/// of these (class, bytes) always wait there.
fn wire_shares<const N: usize>(given: &str, waiting: [(u8, u16); N], n: usize) -> [f64; N] {
    let mut state = switch_without_packets(1, buffer_of_packets(10_000));
    let push = |state: &mut SwitchState, (class, size): (u8, u16)| {
        state.fill_up(1, parse_head(&format!("class={class} size={size}")), (PORT, QueueId::normal(class)));
    };
    waiting.iter().for_each(|frame| push(&mut state, *frame));
    let (mut scheduler, mut wire) = (round_robin(given), [0u64; N]);
    for _ in 0..n {
        let class = remove_next(&mut scheduler, &mut state, u32::MAX).expect("something waits").class();
        let i = waiting.iter().position(|(other, _)| *other == class).expect("a class that waits");
        wire[i] += u64::from(waiting[i].1) + 20;
        push(&mut state, waiting[i]);
    }
    let all: u64 = wire.iter().sum();
    wire.map(|bytes| bytes as f64 / all as f64)
}

#[test]
fn weights_share_the_bytes_on_the_wire_whatever_the_frame_sizes() {
    let sizes = [[64; 4], [1518; 4], [64, 1518, 64, 1518], [1518, 64, 1518, 64]];
    for sizes in sizes {
        let frames = [0, 1, 2, 3].map(|class| (class as u8, sizes[class]));
        let found = wire_shares("weights=1,2,3,4", frames, 40_000);
        for (share, weight) in found.into_iter().zip(1..) {
            let wanted = f64::from(weight) / 10.0;
            assert!((share / wanted - 1.0).abs() < 0.01, "{sizes:?}: {found:?}");
        }
    }
}

#[test]
fn stored_bytes_give_short_frames_more_of_the_wire() {
    // A frame of 64 B takes 84 B of the link, 31% more. One of 1518 B takes 1538 B, 1.3% more.
    let ratio = |given: &str| {
        let [short, long] = wire_shares(given, [(0, 64), (1, 1518)], 40_000);
        short / long
    };
    assert!((ratio("") - 1.0).abs() < 0.01, "{}", ratio(""));
    let wanted = (84.0 / 64.0) / (1538.0 / 1518.0);
    assert!((ratio("count=stored") / wanted - 1.0).abs() < 0.01, "{}", ratio("count=stored"));
    let [short, rest] = wire_shares("count=stored weights=1,1", [(0, 64), (1, 64)], 1000);
    assert!((short / rest - 1.0).abs() < 0.01, "equal frames share equally by any count");
}

#[test]
fn strict_classes_leave_first_and_the_highest_of_them_before_others() {
    let mut state = switch_without_packets(1, buffer_of_packets(100));
    for class in [0, 1, 5, 7] {
        state.fill_up(2, parse_head(&format!("class={class} size=1518")), (PORT, QueueId::normal(class)));
    }
    state.fill_up(1, parse_head("class=5 size=64 np=1"), (PORT, QueueId::new(5, Lane::Bounce)));
    let mut scheduler = round_robin("strict=5,7");
    let order: Vec<QueueId> = std::iter::from_fn(|| remove_next(&mut scheduler, &mut state, u32::MAX)).collect();
    let normal = [0, 1, 0, 1].map(QueueId::normal);
    let strict = [QueueId::normal(7), QueueId::normal(7), QueueId::new(5, Lane::Bounce), QueueId::normal(5)];
    assert_eq!(order, [&strict[..], &[QueueId::normal(5)], &normal[..]].concat());
}

#[test]
fn weighted_classes_share_what_strict_classes_leave() {
    // Class 7 sends every other frame. The others share the rest as 1 to 3, as if class 7 were not there.
    let mut state = switch_without_packets(1, buffer_of_packets(10_000));
    for class in [0, 1] {
        state.fill_up(500, parse_head(&format!("class={class} size=1000")), (PORT, QueueId::normal(class)));
    }
    let mut scheduler = round_robin("weights=1,3 strict=7");
    let mut sent = [0u32; 8];
    for _ in 0..400 {
        state.fill_up(1, parse_head("class=7 size=1000"), (PORT, QueueId::normal(7)));
        let first = remove_next(&mut scheduler, &mut state, u32::MAX).expect("three classes wait");
        assert_eq!(first.class(), 7);
        let next = remove_next(&mut scheduler, &mut state, u32::MAX).expect("two classes wait");
        sent[usize::from(next.class())] += 1;
    }
    assert!(sent[0].abs_diff(100) <= 2 && sent[1].abs_diff(300) <= 2, "{sent:?}");
}

/// Returns the errors of these parameters: the name of the parameter, and what was found.
fn errors(given: &str) -> Vec<(String, String)> {
    let mut report = Report::default();
    round_robin(given).check(&CheckContext::EMPTY, &mut report);
    report.errors.into_iter().map(|error| (error.key.to_string(), error.found)).collect()
}

#[test]
fn strict_class_listed_twice_or_with_a_weight_is_refused() {
    assert_eq!(errors("strict=7,6 weights=1,2,3"), []);
    assert_eq!(errors("strict=1 weights=3,1,2"), [], "1 only holds the place of class 1");
    assert_eq!(errors("strict=7,3,7"), [("strict".into(), "class 7 twice".to_string())]);
    assert_eq!(errors("strict=1 weights=3,2"), [("weights".into(), "weight 2 for class 1".to_string())]);
    assert_eq!(errors("weights=1,1,1,1,1,1,1,1,9"), [("weights".into(), "9 weights".to_string())]);
}

#[test]
fn settings_of_classes_are_listed_with_their_classes() {
    let settings = round_robin("weights=1,3 strict=7 max_rate=1Gbps,off").class_settings();
    let single = ClassSet::single;
    assert_eq!(settings, [("weight", single(1)), ("strict priority", single(7)), ("max_rate", single(0))]);
}
