//! Tests with a chaotic network: all bytes arrive once and in order, and a seed gives the same run again.
//!
//! The bench asserts at each step:
//! - New data stays inside both windows, and only data that has arrived is acknowledged.
//! - Data known to have arrived is not sent again, unless a timeout came since.
//! - A sender with data in flight has a deadline.
//! - Packets emitted and copied are delivered, lost or in flight, and extensions are those of packets in flight.

use super::*;
use crate::transport::tests::pair::{Chaos, Pair};
use mech::{Stream, StreamPurpose};

const COMBINATIONS: u64 = 12 * 64;

/// Returns combination `n` of congestion control, loss recovery and flags. Other parameters vary with the seed.
fn settings(n: u64, seed: u64) -> (&'static str, Vec<(&'static str, Value)>) {
    let recovery = ["reno", "newreno", "sack"][n as usize % 3];
    let law = n / 3 % 4;
    let mut bits = n / 12 % 64;
    let mut flag = || {
        let set = bits % 2 == 1;
        bits /= 2;
        Value::Flag(set)
    };
    let mut set = vec![
        ("timestamps", flag()),
        ("delayed_ack", flag()),
        ("nagle", flag()),
        ("limited_transmit", flag()),
        ("window_less_out_of_order", flag()),
        ("connection", Value::Word(if flag() == Value::Flag(true) { "handshake" } else { "established" }.into())),
        ("delayed_ack_timeout", time(Dur::ms(1))),
        ("max_rto", time(Dur::ms(80))),
        ("initial_window", packets(1 + seed % 12)),
        ("restart_after_idle", Value::Flag(seed % 3 != 0)),
    ];
    match seed % 5 {
        0 => set.push(("dupack_threshold", Value::Off)),
        1 => set.push(("dupack_threshold", Value::Count(1 + seed % 7))),
        2 => set.push(("receive_window", size(700 + seed * 997 % 40_000))),
        3 => set.push(("receive_window", size(66_000 + seed * 997 % 100_000))),
        _ => {}
    }
    match law {
        0 => set.push(("ecn", Value::Flag(false))),
        1 => set.push(("ecn", Value::Flag(true))),
        _ => {
            set.push(("recovery", Value::Word(recovery.into())));
            return (if law == 2 { "dctcp" } else { "cubic" }, set);
        }
    }
    (recovery, set)
}

pub(super) fn bytes(seed: u64) -> u64 {
    1 + seed * 7919 % 200_000
}

/// Returns random faults for data and ACKs: loss, delay by up to 400 us (which reorders), duplication and marks.
pub(super) fn faults(seed: u64) -> Chaos {
    Chaos {
        stream: Stream::new(seed, 0, StreamPurpose::Custom(0)),
        lose: seed % 31,
        late: 10 + seed % 13,
        twice: 3 + seed % 5,
        mark: 10,
        cut: 0,
    }
}

fn run(n: u64, seed: u64) -> Pair {
    let (kind, set) = settings(n, seed);
    let mut pair = Pair::new(bytes(seed), config(kind, &set));
    pair.chaos = Some(faults(seed));
    pair.run()
}

#[test]
fn every_byte_arrives_through_loss_reordering_duplication_and_marks() {
    let (mut retransmissions, mut cuts, mut fast, mut timeouts, mut options) = (0, 0, 0, 0, 0);
    for n in 0..COMBINATIONS {
        // 5 and 31 do not divide the count, so every combination meets other seeds.
        for seed in [n, n + COMBINATIONS + 7] {
            let pair = run(n, seed);
            assert!(pair.sender.is_done() && pair.receiver.is_complete(), "combination {n}, seed {seed}");
            assert_eq!(pair.receiver.stats().waiting, 0, "combination {n}, seed {seed}");
            let s = pair.sender.stats();
            retransmissions += s.retransmissions;
            cuts += s.cuts;
            fast += s.fast_retransmits;
            timeouts += s.timeouts;
            options += pair.acks.iter().filter(|p| p.ext != crate::NO_EXT).count();
        }
    }
    let all = [retransmissions, cuts, fast, timeouts];
    assert!(all.iter().all(|n| *n > 1000) && options > 10_000, "{all:?} {options}");
}

/// Data of go-back-N arrives in order, with a timer that is sometimes shorter than the round trip.
#[test]
fn roce_delivers_every_byte_in_order_through_the_same_faults() {
    let (mut retransmissions, mut naks, mut timeouts) = (0, 0, 0);
    for seed in 0..200 {
        let rto = Dur::us(if seed % 3 == 0 { 120 } else { 3000 });
        let mut pair = Pair::new(bytes(seed), config("roce", &[("rto", time(rto))]));
        pair.chaos = Some(faults(seed));
        let pair = pair.run();
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "seed {seed}");
        let (s, r) = (pair.sender.stats(), pair.receiver.stats());
        assert_eq!((r.waiting, s.cuts, s.echoes), (0, 0, 0), "seed {seed}");
        assert!(pair.acks.iter().all(|ack| ack.ext == crate::NO_EXT));
        retransmissions += s.retransmissions;
        naks += s.fast_retransmits;
        timeouts += s.timeouts;
    }
    assert!([retransmissions, naks, timeouts].iter().all(|n| *n > 200), "{retransmissions} {naks} {timeouts}");
}

/// Transports that find losses by time: with CUBIC, with DCTCP, and as in Linux.
const RACK_KINDS: [&str; 4] = ["dctcp", "cubic", "linux", "linux_dctcp"];

/// Returns a transport with RACK-TLP, whose options follow from the bits of `n`.
fn rack_transport(n: u64) -> (&'static str, Vec<(&'static str, Value)>) {
    let bit = |i: u64| n >> i & 1 == 1;
    let flag = |i: u64| Value::Flag(bit(i));
    // All bits of `n` are in use, so these are bits of a hash.
    let other = |i: u64| mech::hash_mix(n, 7) >> i & 1 == 1;
    let kind = RACK_KINDS[usize::from(bit(8)) + if other(0) { 2 } else { 0 }];
    let mut set = vec![
        ("recovery", word("rack")),
        ("tso", Value::Flag(other(1))),
        ("tso_rtt_log", Value::Count(if other(6) { 9 } else { 0 })),
        ("pacing", Value::Flag(other(7))),
        ("pacing_ca_ratio", Value::Count(if other(8) { 120 } else { 10 })),
        ("quick_acks", Value::Flag(other(2))),
        ("tick", time(Dur::us([0, 70, 1000][n as usize % 3]))),
        ("handshake_rtt", time(Dur::us(if other(3) { 90 } else { 0 }))),
        ("timestamps", flag(0)),
        ("tlp", flag(1)),
        ("window_in_recovery", word(if bit(2) { "prr" } else { "threshold" })),
        ("frto", flag(3)),
        ("eifel", flag(4)),
        ("dsack_undo", flag(5)),
        ("rto_floor", word(if bit(6) { "deviation" } else { "sum" })),
        ("delayed_ack", flag(7)),
        ("nagle", flag(8)),
        ("connection", word(if bit(9) { "handshake" } else { "established" })),
        ("delayed_ack_timeout", time(Dur::ms(1))),
        // Sometimes below the round-trip time, so that timeouts come without a loss.
        ("min_rto", time(Dur::us(if n % 3 == 0 { 120 } else { 3000 }))),
        ("initial_rto", time(Dur::ms(3))),
        ("max_rto", time(Dur::ms(80))),
        ("initial_window", packets(1 + n % 12)),
        ("timer_slack", time(Dur::us(n % 4 * 10))),
    ];
    match n % 5 {
        0 => set.push(("dupack_threshold", Value::Off)),
        1 => set.push(("window_less_out_of_order", Value::Flag(true))),
        2 => set.push(("receive_window", size(700 + n * 997 % 40_000))),
        _ => {}
    }
    if matches!(kind, "cubic" | "linux") {
        set.push(("hystart", Value::Flag(other(4))));
    }
    if kind == "linux" {
        set.push(("congestion_control", word(if other(5) { "cubic" } else { "reno" })));
    }
    (kind, set)
}

#[test]
fn rack_delivers_every_byte_whatever_the_network_does() {
    let (mut fast, mut timeouts, mut probes, mut undos) = (0, 0, 0, 0);
    for n in 0..1024 {
        let (kind, set) = rack_transport(n);
        let mut pair = Pair::new(bytes(n), config(kind, &set));
        pair.chaos = Some(faults(n));
        let pair = pair.run();
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "combination {n}");
        let narrow = n % 5 == 2;
        let whole =
            |p: &Pkt| p.seq % 1000 == 0 && (p.payload == 1000 || u64::from(p.seq) + u64::from(p.payload) == bytes(n));
        assert!(
            narrow || pair.data.iter().filter(|p| p.payload > 0).all(whole),
            "combination {n}: a segment is sent as it was"
        );
        let s = pair.sender.stats();
        fast += s.fast_retransmits;
        timeouts += s.timeouts;
        probes += s.tlp_probes;
        undos += s.undos;
    }
    let all = [fast, timeouts, probes, undos];
    assert!(all.iter().all(|n| *n > 300), "{all:?}");
}

#[test]
fn rack_sends_nothing_twice_without_faults() {
    for n in 0..1024 {
        let (kind, mut set) = rack_transport(n);
        set.push(("min_rto", time(Dur::ms(3))));
        let pair = Pair::new(bytes(n), config(kind, &set)).run();
        assert_eq!(pair.data.iter().map(|p| u64::from(p.payload)).sum::<u64>(), bytes(n), "combination {n}");
    }
}

/// Returns a transport of Linux 2.6.38, whose options follow from the bits of `n`.
fn linux_2_6_38_transport(n: u64) -> (&'static str, Vec<(&'static str, Value)>) {
    let bit = |i: u64| mech::hash_mix(n, 11) >> i & 1 == 1;
    let flag = |i: u64| Value::Flag(bit(i));
    let kind = if bit(0) { "linux_2_6_38_dctcp" } else { "linux_2_6_38" };
    let mut set = vec![
        ("fack", flag(1)),
        ("frto", flag(2)),
        ("tso", flag(3)),
        ("timestamps", flag(4)),
        ("delayed_ack", flag(5)),
        ("quick_acks", flag(6)),
        ("nagle", flag(7)),
        ("connection", word(if bit(8) { "handshake" } else { "established" })),
        ("tick", time(Dur::us([20, 70, 1000][n as usize % 3]))),
        ("delayed_ack_timeout", time(Dur::ms(1))),
        // Sometimes below the round-trip time, so that timeouts come without a loss.
        ("min_rto", time(Dur::us(if n % 4 == 0 { 60 } else { 3000 }))),
        ("initial_rto", time(Dur::ms(3))),
        ("max_rto", time(Dur::ms(80))),
        ("initial_window", packets(1 + n % 12)),
    ];
    match n % 5 {
        0 => set.push(("dupack_threshold", Value::Off)),
        1 => set.push(("window_less_out_of_order", Value::Flag(true))),
        2 => set.push(("receive_window", size(700 + n * 997 % 40_000))),
        _ => {}
    }
    if kind == "linux_2_6_38" {
        set.push(("congestion_control", word(if bit(9) { "bic" } else { "reno" })));
        set.push(("ecn", flag(10)));
    }
    (kind, set)
}

#[test]
fn linux_2_6_38_delivers_every_byte_whatever_the_network_does() {
    let (mut fast, mut timeouts, mut undos, mut cuts) = (0, 0, 0, 0);
    for n in 0..1024 {
        let (kind, mut set) = linux_2_6_38_transport(n);
        let cfg = config(kind, &set);
        // Every seventh has a peer without SACK that otherwise equals its own host.
        set.retain(|(name, _)| ["timestamps", "receive_window"].contains(name));
        let cfg = if n % 7 == 0 { cfg.with_peer(&config("newreno", &set)) } else { cfg };
        let mut pair = Pair::new(bytes(n), cfg);
        pair.chaos = Some(faults(n));
        let pair = pair.run();
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "combination {n}");
        let s = pair.sender.stats();
        fast += s.fast_retransmits;
        timeouts += s.timeouts;
        undos += s.undos;
        cuts += s.cuts;
    }
    let all = [fast, timeouts, undos, cuts];
    assert!(all.iter().all(|n| *n > 300), "{all:?}");
}

#[test]
fn linux_2_6_38_sends_nothing_twice_without_faults() {
    for n in 0..512 {
        let (kind, mut set) = linux_2_6_38_transport(n);
        set.push(("min_rto", time(Dur::ms(3))));
        let pair = Pair::new(bytes(n), config(kind, &set)).run();
        assert_eq!(pair.data.iter().map(|p| u64::from(p.payload)).sum::<u64>(), bytes(n), "combination {n}");
    }
}

/// Returns pFabric with options from the bits of `n`; its timer is longer or shorter than the round trip.
fn pfabric_transport(n: u64) -> (&'static str, Vec<(&'static str, Value)>) {
    let bit = |i: u64| n >> i & 1 == 1;
    let set = vec![
        ("rto", time(Dur::us(if bit(0) { 350 } else { 45 }))),
        ("sack_opens_window", Value::Flag(bit(1))),
        ("probe_after", if bit(2) { Value::Count(1 + n % 6) } else { Value::Off }),
        ("delayed_ack", Value::Flag(bit(3))),
        ("timestamps", Value::Flag(bit(4))),
        ("connection", Value::Word(if bit(5) { "handshake" } else { "established" }.into())),
        ("probe_priority", Value::Word(if bit(6) { "urgent" } else { "priority" }.into())),
        ("delayed_ack_timeout", time(Dur::us(20))),
    ];
    ("pfabric", set)
}

#[test]
fn pfabric_delivers_every_byte_whatever_the_network_does() {
    let (mut timeouts, mut probes) = (0, 0);
    for n in 0..256 {
        let (kind, set) = pfabric_transport(n);
        let mut pair = Pair::new(bytes(n), config(kind, &set));
        pair.chaos = Some(faults(n));
        let pair = pair.run();
        assert!(pair.sender.is_done() && pair.receiver.is_complete(), "combination {n}");
        let s = pair.sender.stats();
        assert_eq!(s.fast_retransmits, 0, "combination {n}");
        assert!(s.cwnd <= 24_000, "combination {n}");
        timeouts += s.timeouts;
        probes += pair.data.iter().filter(|p| p.payload == 1 && bytes(n) > 1).count();
    }
    assert!(timeouts > 10_000 && probes > 100, "{timeouts} {probes}");
}

#[test]
fn without_faults_every_byte_is_sent_once() {
    for n in 0..COMBINATIONS {
        let (kind, set) = settings(n, n);
        let pair = Pair::new(bytes(n), config(kind, &set)).run();
        assert_eq!(pair.data.iter().map(|p| u64::from(p.payload)).sum::<u64>(), bytes(n), "combination {n}");
        assert!(pair.expiries.is_empty() && pair.receiver.stats().duplicates == 0, "combination {n}");
    }
}

#[test]
fn flows_may_stall_without_a_retransmission_timer() {
    let (mut whole, mut stuck) = (0, 0);
    for n in 0..COMBINATIONS {
        let (kind, mut set) = settings(n, n);
        set.push(("retransmission_timer", Value::Flag(false)));
        set.push(("connection", Value::Word("established".into())));
        let mut pair = Pair::new(bytes(n), config(kind, &set));
        pair.chaos = Some(Chaos { lose: 1, ..faults(n) });
        let pair = pair.run();
        assert_eq!(pair.sender.stats().timeouts, 0);
        match pair.receiver.is_complete() {
            true => whole += 1,
            false => stuck += 1,
        }
    }
    assert!(whole > 50 && stuck > 50, "{whole} whole, {stuck} stuck");
}

#[test]
fn the_same_seed_gives_the_same_packets_and_a_copy_ends_alike() {
    for n in [3, 14, 27, 300, 571] {
        let (a, b) = (run(n, 9), run(n, 9));
        assert_eq!((a.data, a.acks, a.now), (b.data, b.acks, b.now));
    }
    assert_ne!(run(3, 9).now, run(5, 40).now);
}
