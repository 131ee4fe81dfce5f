//! Tests of overflow mechanisms in a switch with input memory.
//! An output is full by its backlog, wherever it is queued.

use super::*;
use mech::Registry;
use units::{Bytes, Dur};

/// Creates an overflow mechanism of the catalogue, with `values` and otherwise default parameters.
fn overflow_mechanism<const N: usize>(kind: &str, values: [(&str, Value); N]) -> OverflowSlot {
    let given = values.map(|(name, value)| (name.to_string(), value)).into_iter().collect();
    Registry::catalogue().make::<OverflowSlot>(kind, &Values(given)).unwrap()
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

/// Creates a `bounce` mechanism that bounces frames whose queue is full, and no others.
pub(super) fn bounces(bounce_size: u64, bounce_full: &str) -> OverflowSlot {
    let size = Value::Amount(Amount::Packets(bounce_size));
    let values = [("theta", Value::Number(0.99)), ("lambda", Value::Number(50.0)), ("round_to", Value::Count(0))];
    let words = [("rounding", word("places")), ("back_port", word("source")), ("bounce_full", word(bounce_full))];
    let [theta, lambda, round_to] = values;
    let [rounding, back_port, bounce_full] = words;
    overflow_mechanism("bounce", [theta, lambda, round_to, rounding, back_port, bounce_full, ("bounce_size", size)])
}

/// Creates a frame of 1000 B from its number, input and output; its source is the host behind its input.
fn frame_from_host(n: u32, (input, output): (u16, u16)) -> Pkt {
    let mut pkt = frame(n, 1000, (input, output.into()), 0);
    pkt.head.src = HostId(u32::from(input));
    pkt
}

/// Creates a frame of 1000 B that was bounced once.
fn bounced_frame(n: u32, way: (u16, u16)) -> Pkt {
    let mut pkt = frame_from_host(n, way);
    pkt.head.bounces = 1;
    pkt
}

fn counts(switch: &Switch, port: usize) -> crate::PortCounts {
    switch.core.ports()[port].counts()
}

fn numbers(asked: &CallRecording) -> Vec<u32> {
    asked.sent.iter().map(|(.., n)| *n).collect()
}

/// Frame 2 is bounced, since frame 0 in transfer and frame 1 at its input fill an output with space for two.
/// Nothing has reached the output's buffer. Frame 2 crosses back to its input port immediately.
#[test]
fn backlog_at_inputs_causes_a_bounce_that_crosses_back() {
    let mut switch = switch_with_overflow(bounces(9, "drop"), Amount::Packets(2), Amount::Packets(9));
    let asked = run(
        &mut switch,
        &[(0, frame_from_host(0, (0, 2))), (1, frame_from_host(1, (1, 2))), (2, frame_from_host(2, (3, 2)))],
    );
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (6_000_000, 3, 2), (12_160_000, 2, 1)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (1, vec![]));
}

/// A frame in transfer fills a bounce queue of one frame, so the second frame goes back to its source.
/// Nothing waits at any input.
#[test]
fn frame_in_transfer_counts_as_bounce_queue_backlog() {
    let mut switch = switch_with_overflow(bounces(1, "drop"), Amount::Packets(2), Amount::Packets(9));
    let asked = run(&mut switch, &[(0, bounced_frame(0, (0, 2))), (1, bounced_frame(1, (3, 2)))]);
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (5_000_000, 3, 1)]);
    assert_eq!(counts(&switch, 2).bounced, 1);
}

/// Three bounced frames wait at their input, and pass a bounce queue of one frame one after the other.
/// Frames 1 to 3 find output 2 full and go back to port 3. Frame 1 leaves from 5 us on, frame 2 crosses while it does,
/// and frame 3 crosses when frame 2 has begun to leave.
#[test]
fn bounced_frames_for_a_full_bounce_queue_wait_at_their_input() {
    let mut switch = switch_with_overflow(bounces(1, "drop"), Amount::Packets(1), Amount::Packets(3));
    let back = [1, 2, 3].map(|n| (1, frame_from_host(n, (3, 2))));
    let asked = run(&mut switch, &[&[(0, frame_from_host(0, (0, 2)))][..], &back].concat());
    let leaves = |n: u64| 5_000_000 + n * 8_160_000;
    assert_eq!(asked.sent, [(4_000_000, 2, 0), (leaves(0), 3, 1), (leaves(1), 3, 2), (leaves(2), 3, 3)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (3, vec![]));
}

/// Only the first of three frames is bounced with `bounce_full = "forward"`.
/// The others wait at their input for output 2, by which they leave after frame 0.
#[test]
fn bounce_full_forward_leaves_frames_waiting_at_their_input() {
    let mut switch = switch_with_overflow(bounces(1, "forward"), Amount::Packets(1), Amount::Packets(3));
    let back = [1, 2, 3].map(|n| (1, frame_from_host(n, (3, 2))));
    let asked = run(&mut switch, &[&[(0, frame_from_host(0, (0, 2)))][..], &back].concat());
    let leaves = |n: u64| 4_000_000 + n * 8_160_000;
    assert_eq!(asked.sent, [(leaves(0), 2, 0), (5_000_000, 3, 1), (leaves(1), 2, 2), (leaves(2), 2, 3)]);
    assert_eq!((counts(&switch, 2).bounced, asked.lost), (1, vec![]));
}

/// A full input loses frames that would be bounced and frames that would be stored.
/// Frame 0 fills its input until 4 us. Frame 1 would be bounced, and frame 2 would be stored.
#[test]
fn full_input_loses_a_frame_instead_of_bouncing_it() {
    let mut switch = switch_with_overflow(bounces(9, "drop"), Amount::Packets(1), Amount::Packets(1));
    let asked = run(
        &mut switch,
        &[(0, frame_from_host(0, (0, 2))), (1, frame_from_host(1, (0, 2))), (2, frame_from_host(2, (0, 1)))],
    );
    assert_eq!(asked.lost, [(1, DropReason::InputFull), (2, DropReason::InputFull)]);
    assert_eq!((numbers(&asked), counts(&switch, 2).bounced, counts(&switch, 1).bounced), (vec![0], 0, 0));
    assert_eq!([1, 2].map(|port| counts(&switch, port).dropped[DropReason::InputFull as usize]), [1, 1]);
}

/// A bounced frame crosses before earlier frames, since its queue is empty at the output.
/// Frame 9 arrives at 13 us, while frame 3 crosses. It crosses next, until 20 us. Strict priority finds it there when
/// frame 1 has left, at 20.32 us.
#[test]
fn bounced_frame_crosses_first_to_an_empty_bounce_queue() {
    let mut switch = switch_with_overflow(bounces(9, "drop"), Amount::Packets(9), Amount::Packets(9));
    let normal = [0, 1, 2, 3, 4].map(|n| (0, frame_from_host(n, (0, 2))));
    let asked = run(&mut switch, &[&normal[..], &[(13, bounced_frame(9, (3, 2)))]].concat());
    assert_eq!(numbers(&asked), [0, 1, 9, 2, 3, 4]);
}

/// Creates a `detour` mechanism that detours frames without space by any port, and marks none.
fn detours(max_detours: Value) -> OverflowSlot {
    let flags = [("mark_detoured", Value::Flag(false)), ("ingress", Value::Flag(true))];
    let [mark, ingress] = flags;
    overflow_mechanism("detour", [("policy", word("random")), mark, ingress, ("max_detours", max_detours)])
}

/// Returns three frames that begin to cross at 0 us, one to every output except 3. Each output has space for one frame.
fn all_but_3() -> [(u64, Pkt); 3] {
    [(0, frame_from_host(0, (0, 2))), (0, frame_from_host(10, (1, 0))), (0, frame_from_host(11, (2, 1)))]
}

/// Frame 1 is detoured to output 3, since the frame in transfer to output 2 fills it and only output 3 has space.
#[test]
fn backlog_at_inputs_detours_a_frame_to_a_port_with_space() {
    let mut switch = switch_with_overflow(detours(Value::Off), Amount::Packets(1), Amount::Packets(9));
    let asked = run(&mut switch, &[&all_but_3()[..], &[(1, frame_from_host(1, (1, 2)))]].concat());
    assert_eq!(asked.sent.last(), Some(&(5_000_000, 3, 1)));
    assert_eq!((counts(&switch, 2).detoured, asked.lost), (1, vec![]));
}

/// Frame 1 waits at its input and leaves by its own port if it cannot be detoured.
/// It may not be detoured, or no other port has space. An output-queued switch would lose it.
#[test]
fn frame_that_cannot_be_detoured_waits_at_its_input() {
    for (detours, more) in
        [(detours(Value::Count(1)), vec![]), (detours(Value::Off), vec![(0, frame_from_host(12, (3, 3)))])]
    {
        let mut switch = switch_with_overflow(detours, Amount::Packets(1), Amount::Packets(9));
        let mut late = frame_from_host(1, (1, 2));
        late.head.detours = 1;
        let asked = run(&mut switch, &[&all_but_3()[..], &more, &[(1, late)]].concat());
        assert_eq!(asked.sent.last(), Some(&(12_160_000, 2, 1)));
        assert_eq!((counts(&switch, 2).detoured, asked.lost), (0, vec![]));
    }
}

/// A frame that does not fit the memory of its input is lost and not detoured.
/// Input 1 has space for one frame, which crosses.
#[test]
fn full_input_loses_a_frame_instead_of_detouring_it() {
    let mut switch = switch_with_overflow(detours(Value::Off), Amount::Packets(1), Amount::Packets(1));
    let asked = run(
        &mut switch,
        &[&all_but_3()[..], &[(1, frame_from_host(1, (1, 2))), (1, frame_from_host(2, (3, 2)))]].concat(),
    );
    assert_eq!((asked.lost, counts(&switch, 2).detoured), (vec![(1, DropReason::InputFull)], 1));
    assert_eq!(counts(&switch, 2).dropped[DropReason::InputFull as usize], 1);
}

/// Creates a `trim` mechanism that cuts all data above the threshold to 64 B.
/// Headers may use `extra` more bytes.
fn trims(extra: u64, no_room: &str) -> OverflowSlot {
    let size = |bytes| Value::Size(Bytes(bytes));
    let sizes = [("extra", size(extra)), ("trim_size", size(0)), ("header_class", Value::Off)];
    let words = [("trimmable", word("any")), ("ecn", word("keep")), ("victim", word("arrival"))];
    let ([extra, trim_size, class], [trimmable, ecn, victim]) = (sizes, words);
    let delay = ("cut_delay", Value::Time(Dur::ZERO));
    overflow_mechanism("trim", [extra, trim_size, class, trimmable, ecn, victim, ("no_room", word(no_room)), delay])
}

/// Creates a frame of 1000 B, with 950 B of payload.
fn data_frame(n: u32, way: (u16, u16)) -> Pkt {
    let mut pkt = frame_from_host(n, way);
    (pkt.head.flags, pkt.payload) = (Flags::PAYLOAD, 950);
    pkt
}

/// Frames 3 and 4 are trimmed, since 3000 B wait for output 2 and the threshold is 2000.
/// Of these bytes, 1000 are in transfer. The headers of frames 3 and 4 wait at the input.
#[test]
fn backlog_at_inputs_counts_toward_the_trim_threshold() {
    let mut switch = switch_with_overflow(trims(128, "drop"), Amount::Bytes(2000), Amount::Bytes(1000));
    let headers = [data_frame(3, (3, 2)), data_frame(4, (3, 2))].map(|pkt| (1, pkt));
    let asked = run(&mut switch, &[&[0, 1, 2].map(|n| (0, data_frame(n, (n as u16, 2))))[..], &headers].concat());
    let [whole, short] = [1020 * 8000, 84 * 8000];
    let starts = [0, whole, 2 * whole, 3 * whole, 3 * whole + short].map(|after| 4_000_000 + after);
    assert_eq!(asked.sent.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), starts);
    assert_eq!((counts(&switch, 2).trimmed, counts(&switch, 2).trimmed_bytes, asked.lost), (2, 2 * 936, vec![]));
}

/// Frame 1 is trimmed, since its input has 100 B left, which only its header fits. Output 2 has no backlog.
#[test]
fn input_with_space_for_a_header_only_trims_the_packet() {
    let mut switch = switch_with_overflow(trims(0, "drop"), Amount::Bytes(2000), Amount::Bytes(1100));
    let asked = run(&mut switch, &[(0, data_frame(0, (0, 1))), (1, data_frame(1, (0, 2)))]);
    assert_eq!(asked.sent, [(1_256_000, 2, 1), (4_000_000, 1, 0)]);
    assert_eq!((counts(&switch, 2).trimmed, asked.lost), (1, vec![]));
}

/// Frames above the threshold that cannot be stored at the output wait at their input, whole or as a header.
/// Some cannot be cut, and for the headers even `extra` is too small.
#[test]
fn uncuttable_frames_and_headers_without_space_wait_at_inputs() {
    let mut switch = switch_with_overflow(trims(0, "drop"), Amount::Bytes(1000), Amount::Bytes(9000));
    let full = [data_frame(0, (0, 2)), data_frame(1, (1, 2))].map(|pkt| (0, pkt));
    let late = [frame_from_host(2, (3, 2)), data_frame(3, (3, 2)), data_frame(4, (3, 2))].map(|pkt| (1, pkt));
    let asked = run(&mut switch, &[full.to_vec(), late.to_vec()].concat());
    assert_eq!((numbers(&asked).len(), counts(&switch, 2).trimmed, asked.lost), (5, 2, vec![]));
}

/// The header of frame 3 does not fit and goes back to the host behind port 3, by which the frame came in.
#[test]
fn header_without_space_is_returned_to_its_source() {
    let mut switch = switch_with_overflow(trims(0, "return"), Amount::Bytes(1000), Amount::Bytes(9000));
    let full = [data_frame(0, (0, 2)), data_frame(1, (1, 2))].map(|pkt| (0, pkt));
    let asked = run(&mut switch, &[&full[..], &[(1, data_frame(3, (3, 2)))]].concat());
    assert_eq!(asked.sent[0], (1_256_000, 3, 3));
    assert_eq!((numbers(&asked).len(), counts(&switch, 2).trimmed, asked.lost), (3, 1, vec![]));
}

/// A frame of 64 B cannot be trimmed, since this is the smallest size, and waits whole at its input.
#[test]
fn frame_of_minimum_size_waits_whole_at_its_input() {
    let mut switch = switch_with_overflow(trims(0, "drop"), Amount::Bytes(1000), Amount::Bytes(9000));
    let full = [data_frame(0, (0, 2)), data_frame(1, (1, 2))].map(|pkt| (0, pkt));
    let mut small = data_frame(3, (3, 2));
    (small.head.size, small.payload) = (64, 6);
    let asked = run(&mut switch, &[&full[..], &[(1, small)]].concat());
    assert_eq!((numbers(&asked).len(), counts(&switch, 2).trimmed, asked.lost), (3, 0, vec![]));
}
