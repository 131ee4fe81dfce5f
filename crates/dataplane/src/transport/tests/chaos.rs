//! Whatever the network does, all bytes arrive once and in order, and the same seed does the same.

use super::*;
use crate::transport::pair::{Pair, chaos};

fn settings(seed: u64) -> (&'static str, Vec<(&'static str, Value)>) {
    let kind = if seed % 2 == 0 { "newreno" } else { "dctcp" };
    let mut set = vec![
        ("max_rto", time(Dur::ms(80))),
        ("limited_transmit", Value::Flag(seed % 3 == 0)),
        ("delayed_ack", Value::Flag(seed % 5 == 0)),
        ("delayed_ack_timeout", time(Dur::ms(1))),
        ("initial_window", packets(1 + seed % 12)),
    ];
    match seed % 4 {
        0 => set.push(("dupack_threshold", Value::Off)),
        1 => set.push(("dupack_threshold", Value::Count(1 + seed % 7))),
        2 => set.push(("receive_window", size(700 + seed * 997 % 40_000))),
        _ => {}
    }
    if kind == "newreno" {
        set.push(("ecn", Value::Flag(seed % 8 < 4)));
    }
    (kind, set)
}

fn run(seed: u64, lose: u64) -> Pair {
    let (kind, set) = settings(seed);
    let mut pair = Pair::new(1 + seed * 7919 % 400_000, config(kind, &set));
    pair.chaos = Some(chaos(seed, lose));
    pair.run()
}

#[test]
fn every_byte_arrives_through_loss_reordering_duplication_and_marks() {
    // The bench asserts at each step that new data stays within min(cwnd, rwnd), that nothing is
    // acknowledged that has not arrived, that a sender with data under way has a deadline, and that
    // packets emitted and copied are delivered, lost or under way.
    let (mut retransmissions, mut cuts, mut fast) = (0, 0, 0);
    for seed in 0..600 {
        let pair = run(seed, seed % 31);
        assert!(pair.sender.done() && pair.receiver.complete(), "seed {seed}");
        assert_eq!(pair.receiver.stats().waiting, 0, "seed {seed}");
        let s = pair.sender.stats();
        retransmissions += s.retransmissions;
        cuts += s.cuts;
        fast += s.fast_retransmits;
    }
    assert!(retransmissions > 1000 && cuts > 100 && fast > 100, "{retransmissions} {cuts} {fast}");
}

#[test]
fn without_faults_every_byte_is_sent_once() {
    for seed in 0..100 {
        let (kind, set) = settings(seed);
        let bytes = 1 + seed * 7919 % 400_000;
        let pair = Pair::new(bytes, config(kind, &set)).run();
        assert_eq!(pair.data.iter().map(|p| u64::from(p.payload)).sum::<u64>(), bytes, "seed {seed}");
        assert!(pair.expiries.is_empty() && pair.receiver.stats().duplicates == 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_packets_and_a_copy_ends_alike() {
    for seed in [3, 14, 27] {
        let (a, b) = (run(seed, 9), run(seed, 9));
        assert_eq!((a.data, a.acks, a.now), (b.data, b.acks, b.now));
    }
    assert_ne!(run(3, 9).now, run(5, 9).now);
}
