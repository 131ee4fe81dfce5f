//! Answers to overflow where arrivals wait at inputs: an output is full by what waits for it, wherever that lies.

use super::*;
use mech::Registry;

/// An answer of the catalogue with its default values, but for these.
fn answer<const N: usize>(kind: &str, values: [(&str, Value); N]) -> OverflowSlot {
    let given = values.map(|(name, value)| (name.to_string(), value)).into_iter().collect();
    Registry::catalogue().make::<OverflowSlot>(kind, &Values(given)).unwrap()
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

/// Bounces what finds its queue full and nothing else.
fn bounces(bounce_size: u64, bounce_full: &str) -> OverflowSlot {
    let size = Value::Amount(Amount::Packets(bounce_size));
    let values = [("theta", Value::Number(0.99)), ("lambda", Value::Number(50.0)), ("round_to", Value::Count(0))];
    let words = [("rounding", word("places")), ("back_port", word("source")), ("bounce_full", word(bounce_full))];
    let [theta, lambda, round_to] = values;
    let [rounding, back_port, bounce_full] = words;
    answer("bounce", [theta, lambda, round_to, rounding, back_port, bounce_full, ("bounce_size", size)])
}

/// A frame of 1000 B: number, input, output; from the host behind its input.
fn from(n: u32, (input, output): (u16, u16)) -> Pkt {
    let mut pkt = frame(n, 1000, (input, output.into()), 0);
    pkt.head.src = HostId(u32::from(input));
    pkt
}

/// The same, bounced once.
fn bounced(n: u32, way: (u16, u16)) -> Pkt {
    let mut pkt = from(n, way);
    pkt.head.bounces = 1;
    pkt
}

fn counts(switch: &Switch, port: usize) -> crate::PortCounts {
    switch.core.ports()[port].counts()
}

fn numbers(asked: &Asked) -> Vec<u32> {
    asked.sent.iter().map(|(.., n)| *n).collect()
}

/// Frame 0 crosses from 0 us and 1 waits at its input: with room for two, the output is full for 2 although nothing has
/// reached its buffer. 2 crosses to the port that it came in by, at once.
#[test]
fn a_frame_is_bounced_for_what_waits_at_inputs_and_crosses_back_from_its_own() {
    let mut switch = with_answer(bounces(9, "drop"), Amount::Packets(2), Amount::Packets(9));
    let asked = run(&mut switch, &[(0, from(0, (0, 2))), (1, from(1, (1, 2))), (2, from(2, (3, 2)))]);
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (6_000_000, 3, 2), (12_160_000, 2, 1)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (1, vec![]));
}

/// A bounce queue of one is full of what crosses to it: the second goes back, although nothing waits at any input.
#[test]
fn what_crosses_to_a_bounce_queue_counts_as_waiting_for_it() {
    let mut switch = with_answer(bounces(1, "drop"), Amount::Packets(2), Amount::Packets(9));
    let asked = run(&mut switch, &[(0, bounced(0, (0, 2))), (1, bounced(1, (3, 2)))]);
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (5_000_000, 3, 1)]);
    assert_eq!(counts(&switch, 2).bounced, 1);
}

/// Frames 1 to 3 find output 2 full and go back to port 3, one at a time through its bounce queue of one frame: 1 leaves
/// from 5 us on, 2 crosses while it does, and 3 when 2 has begun to.
#[test]
fn what_is_sent_back_to_a_full_bounce_queue_waits_at_its_input() {
    let mut switch = with_answer(bounces(1, "drop"), Amount::Packets(1), Amount::Packets(3));
    let back = [1, 2, 3].map(|n| (1, from(n, (3, 2))));
    let asked = run(&mut switch, &[&[(0, from(0, (0, 2)))][..], &back].concat());
    let leaves = |n: u64| 5_000_000 + n * 8_160_000;
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (leaves(0), 3, 1), (leaves(1), 3, 2), (leaves(2), 3, 3)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (3, vec![]));
}

/// With `forward` only the first goes back; the others wait at their input for output 2, which they leave by after 0.
#[test]
fn what_tries_its_own_queue_again_waits_at_its_input_for_that() {
    let mut switch = with_answer(bounces(1, "forward"), Amount::Packets(1), Amount::Packets(3));
    let back = [1, 2, 3].map(|n| (1, from(n, (3, 2))));
    let asked = run(&mut switch, &[&[(0, from(0, (0, 2)))][..], &back].concat());
    let leaves = |n: u64| 4_000_000 + n * 8_160_000;
    assert_eq!(asked.sent, [(leaves(0), 2, 0), (5_000_000, 3, 1), (leaves(1), 2, 2), (leaves(2), 2, 3)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (1, vec![]));
}

/// Frame 0 takes all of its input until 4 us. 1 would be bounced, and 2 would be stored: neither has memory.
#[test]
fn what_its_input_has_no_room_for_is_lost_there_and_not_bounced() {
    let mut switch = with_answer(bounces(9, "drop"), Amount::Packets(1), Amount::Packets(1));
    let asked = run(&mut switch, &[(0, from(0, (0, 2))), (1, from(1, (0, 2))), (2, from(2, (0, 1)))]);
    assert_eq!(asked.lost, [(1, DropReason::InputFull), (2, DropReason::InputFull)]);
    assert_eq!((numbers(&asked), counts(&switch, 2).bounced, counts(&switch, 1).bounced), (vec![0], 0, 0));
    assert_eq!([1, 2].map(|port| counts(&switch, port).dropped[DropReason::InputFull as usize]), [1, 1]);
}

/// Frame 9 comes at 13 us, when 3 crosses. It crosses next, until 20 us, since its queue is empty, and strict priority finds
/// it there when 1 has left at 20.32 us.
#[test]
fn a_bounced_frame_crosses_before_those_that_have_more_at_the_output() {
    let mut switch = with_answer(bounces(9, "drop"), Amount::Packets(9), Amount::Packets(9));
    let normal = [0, 1, 2, 3, 4].map(|n| (0, from(n, (0, 2))));
    let asked = run(&mut switch, &[&normal[..], &[(13, bounced(9, (3, 2)))]].concat());
    assert_eq!(numbers(&asked), [0, 1, 9, 2, 3, 4]);
}
