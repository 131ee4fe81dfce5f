//! Tests of senders and receivers with PACK (Cut Payload), over a network that trims packets.

use super::*;
use crate::transport::tests::chaos::{bytes, faults};
use crate::transport::tests::pair::{Chaos, Direction, Fault, Pair};
use mech::{Flags, Stream, StreamPurpose};

/// Transports that detect losses by PACKs, and by counting SACKed segments.
const BY_COUNT: [&str; 3] = ["sack", "dctcp", "cubic"];

/// Returns parameters with `pack` on, and further options from the bits of `n`.
fn packing(kind: &str, n: u64) -> Vec<(&'static str, Value)> {
    let bit = |i: u64| n >> i & 1 == 1;
    let reaction = if bit(0) { "mark" } else { "loss" };
    let mut set = vec![
        ("pack", Value::Flag(true)),
        ("pack_reaction", word(reaction)),
        ("timestamps", Value::Flag(bit(1))),
        ("delayed_ack", Value::Flag(bit(2))),
        ("connection", word(if bit(3) { "handshake" } else { "established" })),
        ("delayed_ack_timeout", time(Dur::ms(1))),
        ("max_rto", time(Dur::ms(80))),
        ("initial_window", packets(1 + n % 12)),
    ];
    match n % 5 {
        0 => set.push(("pack_dupack_threshold", Value::Off)),
        1 => set.push(("pack_dupack_threshold", Value::Count(1 + n % 7))),
        2 => set.push(("receive_window", size(700 + n * 997 % 40_000))),
        _ => {}
    }
    if kind != "dctcp" && !kind.ends_with("_dctcp") {
        set.push(("ecn", Value::Flag(bit(4))));
    }
    set
}

/// Returns faults that trim this percentage of data packets, and no other faults.
fn cuts(seed: u64, percent: u64) -> Chaos {
    Chaos { stream: Stream::new(seed, 0, StreamPurpose::Custom(0)), lose: 0, late: 0, twice: 0, mark: 0, cut: percent }
}

#[test]
fn what_is_cut_is_sent_again_and_nothing_else_without_a_timeout() {
    let mut cut = 0;
    for n in 0..768 {
        let kind = BY_COUNT[n as usize % 3];
        let mut pair = Pair::new(bytes(n), config(kind, &packing(kind, n)));
        pair.chaos = Some(cuts(n, 1 + n % 90));
        let pair = pair.run();
        let (s, r) = (pair.sender.stats(), pair.receiver.stats());
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "{kind} {n}");
        assert_eq!(s.retransmissions, pair.cut, "{kind} {n}: each cut packet once");
        assert_eq!((s.timeouts, r.duplicates), (0, 0), "{kind} {n}");
        assert_eq!((r.packs, s.packs), (pair.cut, pair.cut), "{kind} {n}");
        let data = |pkt: &&Pkt| pkt.payload > 0;
        assert!(pair.data.iter().filter(data).all(|pkt| pkt.head.flags.has(Flags::CPA)));
        let of_its_header = |pkt: &Pkt| (pkt.head.class() == 6) == pkt.head.flags.has(Flags::PPL);
        assert!(pair.acks.iter().all(of_its_header), "{kind} {n}");
        cut += pair.cut;
    }
    assert!(cut > 10_000, "{cut}");
}

#[test]
fn every_byte_arrives_through_cuts_and_all_else() {
    let (mut cut, mut fast, mut timeouts) = (0, 0, 0);
    for n in 0..1024 {
        let kind = ["sack", "dctcp", "cubic", "linux", "linux_dctcp"][n as usize % 5];
        let mut pair = Pair::new(bytes(n), config(kind, &packing(kind, n / 5)));
        pair.chaos = Some(Chaos { cut: n % 50, ..faults(n) });
        let pair = pair.run();
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "{kind} {n}");
        let s = pair.sender.stats();
        cut += pair.cut;
        fast += s.fast_retransmits;
        timeouts += s.timeouts;
    }
    assert!(cut > 10_000 && fast > 1000 && timeouts > 1000, "{cut} {fast} {timeouts}");
}

#[test]
fn a_whole_window_that_is_cut_takes_two_round_trips_and_no_timeout() {
    let mut pair = Pair::new(10_000, config("sack", &[("pack", Value::Flag(true))]));
    for n in 0..10 {
        pair = pair.fault(Direction::Data, n, Fault::Cut);
    }
    let pair = pair.run();
    assert_eq!((pair.cut, pair.sender.stats().timeouts, pair.sender.stats().retransmissions), (10, 0, 10));
    assert_eq!(pair.sender.stats().fast_retransmits, 1);
    // Half of a window is five segments. After the first PACK one leaves; five PACKs later four are in flight.
    assert!(pair.completed.unwrap() < Time::ZERO + Dur::us(450), "{:?}", pair.completed);
}

#[test]
fn a_pack_is_a_loss_or_a_mark_to_linux() {
    for kind in ["linux", "linux_dctcp"] {
        let of = |reaction: &'static str| {
            let set = [("pack", Value::Flag(true)), ("pack_reaction", word(reaction))];
            let pair = Pair::new(20_000, config(kind, &set)).fault(Direction::Data, 4, Fault::Cut).run();
            let s = pair.sender.stats();
            (s.timeouts, s.retransmissions, s.fast_retransmits, s.cuts)
        };
        assert_eq!(of("loss"), (0, 1, 1, 0), "{kind}");
        assert_eq!(of("mark"), (0, 1, 0, 1), "{kind}");
    }
}

#[test]
fn a_pack_that_is_lost_is_told_again_by_the_next_one() {
    let set = [("pack", Value::Flag(true))];
    let pair = Pair::new(10_000, config("sack", &set))
        .fault(Direction::Data, 4, Fault::Cut)
        .fault(Direction::Data, 5, Fault::Cut)
        .fault(Direction::Ack, 4, Fault::Lose);
    let pair = pair.run();
    assert_eq!((pair.sender.stats().timeouts, pair.sender.stats().retransmissions), (0, 2));
}

#[test]
fn a_header_that_is_lost_is_found_by_duplicate_acks_or_by_the_timer() {
    let lost = |threshold: u64| {
        let set = [("pack", Value::Flag(true)), ("pack_dupack_threshold", Value::Count(threshold))];
        let pair = Pair::new(20_000, config("sack", &set)).fault(Direction::Data, 4, Fault::Lose).run();
        (pair.sender.stats().timeouts, pair.sender.stats().retransmissions)
    };
    assert_eq!(lost(3), (0, 1));
    // Beyond it are 15 segments, fewer than the thirty of the threshold.
    let (timeouts, retransmissions) = lost(30);
    assert!(timeouts == 1 && retransmissions >= 1);
}

#[test]
fn without_cuts_every_byte_is_sent_once() {
    for n in 0..256 {
        let kind = BY_COUNT[n as usize % 3];
        let pair = Pair::new(bytes(n), config(kind, &packing(kind, n))).run();
        assert_eq!(pair.data.iter().map(|p| u64::from(p.payload)).sum::<u64>(), bytes(n), "{kind} {n}");
        assert!(pair.expiries.is_empty() && pair.receiver.stats().duplicates == 0, "{kind} {n}");
    }
}
