//! Tests that the wheel, the heap and the standard library's heap give the same order in all patterns of load.

use super::*;
use mech::{Stream, StreamPurpose};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use units::Time;

/// Wheel, heap and standard heap with the same events; their results are compared at every pop.
#[derive(Clone)]
struct ThreeQueues {
    wheel: EventQueue,
    heap: EventQueue,
    oracle: BinaryHeap<Reverse<Key>>,
    pending: BTreeSet<Key>,
    now: u64,
}

impl ThreeQueues {
    fn new() -> ThreeQueues {
        let (wheel, heap) = (EventQueue::wheel(), EventQueue::heap());
        ThreeQueues { wheel, heap, oracle: BinaryHeap::new(), pending: BTreeSet::new(), now: 0 }
    }
    /// Pushes an event of a random node at a time, unless an event with the same key is pending.
    fn push(&mut self, time: u64, rng: &mut Stream) {
        let phase = [StepPhase::Ended, StepPhase::Arrival, StepPhase::Timer][rng.uniform_below(3) as usize];
        let key = Key::new(Time(time), rng.uniform_below(64) as u32, phase, rng.uniform_below(8) as u32);
        if self.pending.insert(key) {
            self.wheel.push(key);
            self.heap.push(key);
            self.oracle.push(Reverse(key));
        }
    }
    fn pop(&mut self) -> Option<Key> {
        let expected = self.oracle.pop().map(|Reverse(key)| key);
        assert_eq!((self.wheel.peek(), self.heap.peek()), (expected, expected));
        assert_eq!((self.wheel.pop(), self.heap.pop()), (expected, expected));
        self.check_popped(expected);
        expected
    }
    fn pop_if_same_step(&mut self, key: Key) -> Option<Key> {
        let expected = self.oracle.peek().map(|&Reverse(next)| next).filter(|next| next.is_same_step(key));
        assert_eq!((self.wheel.pop_if_same_step(key), self.heap.pop_if_same_step(key)), (expected, expected));
        if expected.is_some() {
            self.oracle.pop();
        }
        self.check_popped(expected);
        expected
    }
    fn check_popped(&mut self, key: Option<Key>) {
        if let Some(key) = key {
            self.now = key.time().0;
            assert!(self.pending.remove(&key));
        }
        assert_eq!((self.wheel.len(), self.heap.len()), (self.oracle.len(), self.oracle.len()));
        assert_eq!(self.wheel.is_empty(), self.oracle.is_empty());
    }
    fn drain(&mut self) {
        while self.pop().is_some() {}
        assert_eq!(self.wheel.peek(), None);
    }
    fn reshapes(&self) -> u64 {
        match &self.wheel {
            EventQueue::Wheel(wheel) => wheel.shape_changes(),
            EventQueue::Heap(_) => 0,
        }
    }
    fn shape(&self) -> WheelShape {
        match &self.wheel {
            EventQueue::Wheel(wheel) => wheel.shape(),
            EventQueue::Heap(_) => unreachable!("a trio has a wheel"),
        }
    }
    /// Pops `count` events, and pushes a new one after each, later by a random `delta`.
    fn hold(&mut self, count: usize, rng: &mut Stream, mut delta: impl FnMut(&mut Stream) -> u64) {
        for _ in 0..count {
            self.pop();
            let later = self.now.saturating_add(delta(rng));
            self.push(later, rng);
        }
    }
}

fn stream(seed: u64) -> Stream {
    Stream::new(seed, 0, StreamPurpose::Custom(9))
}

/// Draws a length of time from 0 to `2^bits` ps; its order of magnitude is random too.
fn draw_duration(rng: &mut Stream, bits: u64) -> u64 {
    let scale = rng.uniform_below(bits + 1);
    rng.uniform_below(1 << scale)
}

#[test]
fn random_pushes_and_pops_have_one_order_in_wheel_and_heap() {
    for seed in 0..60 {
        let mut rng = stream(seed);
        let mut trio = ThreeQueues::new();
        // Time scales range from one instant to seconds, and the mixes of pushes and pops from draining to growing
        // queues.
        let (bits, growth) = (rng.uniform_below(44), 35 + rng.uniform_below(30));
        for _ in 0..4000 {
            if rng.uniform_below(100) < growth {
                let time = trio.now + draw_duration(&mut rng, bits);
                trio.push(time, &mut rng);
            } else if let Some(key) = trio.pop() {
                while rng.uniform_below(2) == 0 && trio.pop_if_same_step(key).is_some() {}
            }
        }
        trio.drain();
    }
}

#[test]
fn a_push_at_the_time_just_popped_comes_next_even_for_a_smaller_node() {
    for mut queue in [EventQueue::wheel(), EventQueue::heap()] {
        let key = |time, node| Key::new(Time(time), node, StepPhase::Arrival, 0);
        queue.push(key(10_000_000, 5));
        queue.push(key(10_000_000, 7));
        queue.push(key(10_000_001, 0));
        assert_eq!(queue.pop(), Some(key(10_000_000, 5)));
        queue.push(key(10_000_000, 2));
        queue.push(key(10_000_000, 6));
        for (time, node) in [(10_000_000, 2), (10_000_000, 6), (10_000_000, 7), (10_000_001, 0)] {
            assert_eq!(queue.peek(), Some(key(time, node)));
            assert_eq!(queue.pop(), Some(key(time, node)));
        }
        assert_eq!(queue.pop(), None);
    }
}

#[test]
fn zero_delay_events_interleave_with_waiting_ones() {
    let mut rng = stream(3);
    let mut trio = ThreeQueues::new();
    (0..500).for_each(|_| trio.push(1_000_000, &mut rng));
    // Half of the popped events cause a new event at their own time, until no event is left.
    while trio.pop().is_some() {
        if rng.uniform_below(2) == 0 {
            trio.push(trio.now, &mut rng);
        }
    }
    assert_eq!(trio.now, 1_000_000);
}

#[test]
fn only_events_of_the_same_step_are_taken_with_it() {
    for mut queue in [EventQueue::wheel(), EventQueue::heap()] {
        let key = |time, node, index| Key::new(Time(time), node, StepPhase::Arrival, index);
        let all = [key(70, 1, 0), key(70, 1, 1), key(70, 2, 0), key(71, 2, 0), key(1 << 60, 2, 0)];
        all.iter().rev().for_each(|&key| queue.push(key));
        assert_eq!(queue.pop_if_same_step(key(69, 1, 0)), None, "nothing of that step is pending");
        assert_eq!(queue.pop_if_same_step(key(70, 1, 7)), Some(all[0]), "before any pop");
        assert_eq!(queue.pop_if_same_step(all[0]), Some(all[1]));
        assert_eq!(queue.pop_if_same_step(all[1]), None);
        assert_eq!(queue.pop(), Some(all[2]));
        assert_eq!(queue.pop_if_same_step(all[2]), None, "the same node, 1 ps later");
        assert_eq!(queue.pop(), Some(all[3]));
        assert_eq!(queue.pop_if_same_step(all[3]), None);
        assert_eq!(queue.pop_if_same_step(key(1 << 60, 2, 3)), Some(all[4]), "far ahead");
        assert!(queue.is_empty());
    }
}

#[test]
fn bursts_and_silences_of_seconds_keep_the_order() {
    let mut rng = stream(4);
    let mut trio = ThreeQueues::new();
    for burst in 0..40u64 {
        let start = trio.now + burst % 4 * 1_500_000_000_000;
        (0..400).for_each(|_| {
            let time = start + draw_duration(&mut rng, 24);
            trio.push(time, &mut rng);
        });
        trio.push(start + 10_000_000_000, &mut rng);
        trio.hold(600, &mut rng, |rng| draw_duration(rng, 22));
        if burst % 5 == 4 {
            trio.drain();
        }
    }
    trio.drain();
}

#[test]
fn times_up_to_the_end_of_the_clock_keep_the_order() {
    let mut rng = stream(5);
    let mut trio = ThreeQueues::new();
    trio.push(u64::MAX - (1 << 40), &mut rng);
    (0..300).for_each(|_| {
        let time = u64::MAX - draw_duration(&mut rng, 45);
        trio.push(time, &mut rng);
    });
    trio.hold(20_000, &mut rng, |rng| draw_duration(rng, 36));
    trio.push(u64::MAX, &mut rng);
    trio.drain();
    assert_eq!(trio.now, u64::MAX);
}

#[test]
fn slot_width_follows_load_without_changing_order() {
    let mut rng = stream(6);
    let mut trio = ThreeQueues::new();
    (0..300).for_each(|i| trio.push(i * 50_000, &mut rng));
    let mut shapes = Vec::new();
    // The deltas are those of links at 1 Gb/s and at 100 Gb/s, of rare events, and of 1 Gb/s again.
    for most in [20_000_000, 200_000, 5_000_000_000, 20_000_000] {
        let before = trio.reshapes();
        trio.hold(60_000, &mut rng, |rng| 1 + rng.uniform_below(most));
        assert!(trio.reshapes() > before, "deltas up to {most} ps: {:?}", trio.shape());
        shapes.push(trio.shape());
        // With 300 pending events and uniform deltas up to `most`, the next events are most/600 apart on average.
        let width = 1u64 << trio.shape().shift;
        let gap = most / 600;
        assert!(width >= gap / 16 && width <= gap * 2, "{most}: {width} ps for events {gap} ps apart");
        let settled = trio.reshapes();
        trio.hold(20_000, &mut rng, |rng| 1 + rng.uniform_below(most));
        assert!(trio.reshapes() - settled <= 2, "{most}: a steady run settles");
    }
    assert!(shapes[1].shift < shapes[0].shift && shapes[2].shift > shapes[0].shift, "{shapes:?}");
    trio.drain();
}

#[test]
fn synchronised_events_do_not_narrow_the_slots_away() {
    let mut rng = stream(7);
    let mut trio = ThreeQueues::new();
    (0..600).for_each(|i| trio.push(i % 4 * 1000, &mut rng));
    // All nodes send full frames at 1 Gb/s: few instants with many events each.
    trio.hold(60_000, &mut rng, |_| 12_304_000);
    assert!(trio.shape().shift >= 8, "{:?}", trio.shape());
    trio.drain();
}

#[test]
fn clone_in_mid_run_pops_the_same_events() {
    for seed in 0..8 {
        let mut rng = stream(100 + seed);
        let mut trio = ThreeQueues::new();
        (0..500).for_each(|_| {
            let time = draw_duration(&mut rng, 34);
            trio.push(time, &mut rng);
        });
        trio.hold(500 + 700 * seed as usize, &mut rng, |rng| draw_duration(rng, 24));
        let (mut copy, mut same_draws) = (trio.clone(), rng.clone());
        trio.hold(6000, &mut rng, |rng| draw_duration(rng, 20));
        copy.hold(6000, &mut same_draws, |rng| draw_duration(rng, 20));
        assert_eq!(copy.shape(), trio.shape());
        assert_eq!(copy.reshapes(), trio.reshapes());
        while let Some(key) = trio.pop() {
            assert_eq!(copy.pop(), Some(key));
        }
        assert_eq!(copy.pop(), None);
    }
}
