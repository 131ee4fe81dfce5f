//! Tests that the wheel, the heap and the standard library's heap give the same order in all patterns of load.

use super::*;
use mech::{Stream, StreamPurpose};
use property::for_all;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Strategy, any};
use proptest::sample::{Index, select};
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
        let phase = PHASES[rng.uniform_below(3) as usize];
        self.push_key(Key::new(Time(time), rng.uniform_below(64) as u32, phase, rng.uniform_below(8) as u32));
    }
    fn push_key(&mut self, key: Key) {
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
    /// Pops the next event for each of `events`, and pushes the given one less than `2^bits` ps later.
    fn replace(&mut self, events: &[DrawnEvent], bits: usize) {
        for event in events {
            self.pop();
            self.push_key(event.key_at(self.now.saturating_add(event.duration(bits))));
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

const PHASES: [StepPhase; 3] = [StepPhase::Ended, StepPhase::Arrival, StepPhase::Timer];

/// Event of a random node at a random time.
#[derive(Clone, Debug)]
struct DrawnEvent {
    scale: Index,
    time: u64,
    node: u32,
    phase: StepPhase,
    index: u32,
}

impl DrawnEvent {
    /// Returns a duration below `2^bits` ps, with a random order of magnitude.
    fn duration(&self, bits: usize) -> u64 {
        self.time.checked_shr(64 - self.scale.index(bits + 1) as u32).unwrap_or(0)
    }
    fn key_at(&self, time: u64) -> Key {
        Key::new(Time(time), self.node, self.phase, self.index)
    }
}

fn any_event() -> impl Strategy<Value = DrawnEvent> {
    (any::<Index>(), any::<u64>(), 0..64_u32, select(&PHASES), 0..8_u32)
        .prop_map(|(scale, time, node, phase, index)| DrawnEvent { scale, time, node, phase, index })
}

#[test]
fn random_pushes_and_pops_have_one_order_in_wheel_and_heap() {
    // Time scales range from one instant to seconds, and the mixes of pushes and pops from draining to growing queues.
    // After each pop, up to as many further events of the same step are taken as `further` has trailing one bits.
    let step = (0..100, any::<u8>(), any_event());
    for_all(120, (0..44_usize, 35..65, vec(step, 0..=4000)), |(bits, growth, steps)| {
        let mut trio = ThreeQueues::new();
        for (kind, further, event) in steps {
            if kind < growth {
                trio.push_key(event.key_at(trio.now + event.duration(bits)));
            } else if let Some(key) = trio.pop() {
                (0..further.trailing_ones()).all(|_| trio.pop_if_same_step(key).is_some());
            }
        }
        trio.drain();
    });
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
    // Half of the popped events cause a new event at their own time.
    let caused = vec(option::of(any_event()), 0..=1000);
    for_all(4, (vec(any_event(), 1..=1000), caused), |(waiting, caused)| {
        let mut trio = ThreeQueues::new();
        waiting.iter().for_each(|event| trio.push_key(event.key_at(1_000_000)));
        let mut caused = caused.into_iter();
        while trio.pop().is_some() {
            if let Some(event) = caused.next().flatten() {
                trio.push_key(event.key_at(trio.now));
            }
        }
        assert_eq!(trio.now, 1_000_000);
    });
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
    // Events of a burst, and events that replace popped ones.
    let burst = (vec(any_event(), 0..=800), any_event(), vec(any_event(), 0..=1200));
    for_all(4, vec(burst, 0..=20), |bursts| {
        let mut trio = ThreeQueues::new();
        for (n, (events, last, later)) in (0..).zip(bursts) {
            let start = trio.now + n % 4 * 1_500_000_000_000;
            events.iter().for_each(|event| trio.push_key(event.key_at(start + event.duration(24))));
            trio.push_key(last.key_at(start + 10_000_000_000));
            trio.replace(&later, 22);
            if n % 5 == 4 {
                trio.drain();
            }
        }
        trio.drain();
    });
}

#[test]
fn times_up_to_the_end_of_the_clock_keep_the_order() {
    let ends = (any_event(), any_event());
    for_all(4, (ends, vec(any_event(), 0..=600), vec(any_event(), 0..=10_000)), |((first, last), events, later)| {
        let mut trio = ThreeQueues::new();
        trio.push_key(first.key_at(u64::MAX - (1 << 40)));
        events.iter().for_each(|event| trio.push_key(event.key_at(u64::MAX - event.duration(45))));
        trio.replace(&later, 36);
        trio.push_key(last.key_at(u64::MAX));
        trio.drain();
        assert_eq!(trio.now, u64::MAX);
    });
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
    let before = (vec(any_event(), 0..=1000), vec(any_event(), 0..=6000));
    for_all(8, (before, vec(any_event(), 0..=12_000)), |((events, before), after)| {
        let mut trio = ThreeQueues::new();
        events.iter().for_each(|event| trio.push_key(event.key_at(event.duration(34))));
        trio.replace(&before, 24);
        let mut copy = trio.clone();
        trio.replace(&after, 20);
        copy.replace(&after, 20);
        assert_eq!(copy.shape(), trio.shape());
        assert_eq!(copy.reshapes(), trio.reshapes());
        while let Some(key) = trio.pop() {
            assert_eq!(copy.pop(), Some(key));
        }
        assert_eq!(copy.pop(), None);
    });
}
