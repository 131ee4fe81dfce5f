use super::*;
use crate::queue::StepPhase;
use units::Time;

fn key_at(time: u64) -> Key {
    Key::new(Time(time), 0, StepPhase::Arrival, 0)
}

#[test]
fn events_beyond_the_wheel_go_to_the_heap() {
    let mut wheel = Wheel::new();
    let horizon = (wheel.shape.slots as u64) << wheel.shape.shift;
    wheel.push(key_at(horizon - 1));
    assert_eq!((wheel.events_in_slots, wheel.heap.len()), (1, 0));
    wheel.push(key_at(horizon));
    assert_eq!((wheel.events_in_slots, wheel.heap.len()), (1, 1));
}

#[test]
fn wheel_continues_at_the_first_event_after_a_silence() {
    let mut wheel = Wheel::new();
    wheel.push(key_at(1_000_000_000_000));
    assert_eq!(wheel.pop(), Some(key_at(1_000_000_000_000)));
    wheel.push(key_at(1_000_001_000_000));
    assert_eq!((wheel.events_in_slots, wheel.heap.len()), (1, 0));
}

#[test]
fn an_open_slot_hands_costly_insertions_to_the_heap() {
    let mut wheel = Wheel::new();
    (1..=100).rev().for_each(|time| wheel.push(key_at(time)));
    assert!(wheel.open.len() <= MAX_PASSED_EVENTS + 1 && wheel.heap.len() >= 99 - MAX_PASSED_EVENTS);
    (1..=100).for_each(|time| assert_eq!(wheel.pop(), Some(key_at(time))));
}

#[test]
fn a_steady_run_takes_no_new_memory() {
    let mut wheel = Wheel::new();
    (0..200).for_each(|node| wheel.push(Key::new(Time(0), node, StepPhase::Timer, 0)));
    let turn = |wheel: &mut Wheel, turns: u64| {
        for i in 0..turns {
            let key = wheel.pop().expect("one is pushed for each that is popped");
            let later = Time(key.time().0 + 1 + i * 7_919 % 3_000_000);
            wheel.push(Key::new(later, key.node(), StepPhase::Timer, 0));
        }
    };
    turn(&mut wheel, 50_000);
    let sizes = |w: &Wheel| (w.nodes.capacity(), w.open.capacity(), w.heads.capacity());
    let before = sizes(&wheel);
    turn(&mut wheel, 200_000);
    assert_eq!(sizes(&wheel), before);
}
