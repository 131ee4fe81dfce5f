//! Tests of Linux 2.6.38 that conformance cases cannot express: a peer without SACK, and memory between connections.

use super::*;
use crate::transport::loss::RackTlp;
use crate::transport::metrics_cache::Metrics;

const PLAIN: [(&str, Value); 3] = [
    ("tso", Value::Flag(false)),
    ("timestamps", Value::Flag(false)),
    ("initial_window", Value::Amount(Amount::Packets(10))),
];

/// Returns a sender whose peer has no SACK.
fn without_sack(set: &[(&str, Value)]) -> SenderHarness {
    let mut h = SenderHarness::new("linux_2_6_38", set);
    h.cfg = h.cfg.with_peer(&config("newreno", &[]));
    h.sender = Sender::new(&flow(1_000_000), &h.cfg);
    h
}

#[test]
fn without_sack_the_third_duplicate_begins_a_recovery() {
    let mut h = without_sack(&PLAIN);
    assert_eq!(h.start(), (0..10).collect::<Vec<u32>>());
    h.wait(Dur::ms(1));
    assert_eq!([h.ack(0), h.ack(0)], [[10], [11]], "each counts as delivered");
    assert_eq!((h.ack(0), h.cwnd(), h.ssthresh()), (vec![0], 9000, 5000), "12 - 3 - 1 in flight, and one");
    assert_eq!((h.ack(0), h.cwnd()), (vec![], 8000));
    assert_eq!((h.ack(0), h.cwnd()), (vec![12], 8000));
    // Four of five duplicates are used up; a partial ACK shows the next loss.
    assert_eq!((h.ack(5), h.cwnd()), (vec![5], 7000));
    assert_eq!((h.ack(13), h.cwnd()), (vec![13, 14, 15], 3000), "nothing in flight, and three");
    assert!(!h.stats().in_recovery && h.stats().fast_retransmits == 1);
}

#[test]
fn without_sack_a_recovery_lasts_until_a_byte_beyond() {
    let mut h = without_sack(&PLAIN);
    h.start();
    h.wait(Dur::ms(1));
    (0..3).for_each(|_| _ = h.ack(0));
    assert_eq!(h.ack(12), [12, 13, 14]);
    (0..3).for_each(|_| _ = h.ack(12));
    let stats = h.stats();
    assert_eq!((stats.fast_retransmits, stats.retransmissions), (1, 1), "12 was sent after the recovery began");
}

#[test]
fn without_sack_frto_takes_a_duplicate_for_a_loss() {
    let mut h = without_sack(&[("min_rto", time(Dur::ms(10))), ("tso", Value::Flag(false))]);
    h.start();
    assert_eq!(h.expire(), [0]);
    assert_eq!(h.ack(1), [3, 4]);
    assert_eq!((h.ack(1), h.cwnd()), (vec![1, 2, 3], 3000), "nothing is in flight, and three may leave");
}

#[test]
fn without_timestamps_the_first_timeout_is_three_seconds() {
    let mut h = without_sack(&[("min_rto", time(Dur::ms(10)))]);
    assert!(!h.cfg.timestamps);
    h.start();
    assert_eq!(h.stats().rto, Dur::s(3));
}

#[test]
fn a_message_before_the_opening_is_timed_by_the_handshake() {
    let mut h = SenderHarness::new("linux_2_6_38", &[("min_rto", time(Dur::ms(10)))]);
    h.write(1000);
    let at = h.timer_in().unwrap();
    h.call(|s, io| s.open(io));
    assert_eq!((h.timer_in(), h.stats().rto), (Some(at), Dur::ms(11)));
    assert!(at > Dur::ms(10), "11 ticks: {at}");
}

#[test]
fn without_sack_reordering_that_was_learnt_stays() {
    let rules = config("linux_2_6_38", &[]).sack_rules();
    let mut r = RackTlp::default();
    (0..5).for_each(|n| r.on_sent(n * 1000..(n + 1) * 1000, Time::ZERO));
    (0..5).for_each(|_| _ = r.assume_delivered(1000, &rules));
    assert_eq!(
        (r.segments.assumed_delivered(), r.reordering_degree(Some(3))),
        (4, 5),
        "a fifth duplicate of five segments is reordering"
    );
    _ = r.segments.pop_before(1000);
    _ = r.assume_delivered(1000, &rules);
    assert_eq!((r.segments.assumed_delivered(), r.reordering_degree(Some(3))), (3, 5), "four segments are less");
}

/// Returns the measurements that a loss-free connection of this many segments leaves.
fn measured(segments: u64, set: &[(&str, Value)]) -> Metrics {
    let mut h = SenderHarness::with_flow(segments * 1000, "linux_2_6_38", set);
    h.start();
    h.wait(Dur::ms(1));
    (1..=segments).for_each(|n| _ = h.ack(n));
    assert!(h.sender.is_done());
    let mut metrics = Metrics::default();
    h.sender.update_metrics(&mut metrics, &h.cfg);
    metrics
}

#[test]
fn a_new_connection_begins_with_an_old_threshold_and_three_segments() {
    let metrics = measured(30, &[("initial_ssthresh", size(4000)), ("tso", Value::Flag(false))]);
    // The threshold at which connections begin was never set by a connection, so it is not kept.
    assert_eq!(metrics.ssthresh, 0);
    let mut h = SenderHarness::new("linux_2_6_38", &[("tso", Value::Flag(false)), ("min_rto", time(Dur::ms(10)))]);
    h.sender.apply_metrics(&Metrics { ssthresh: 4, srtt: 40, rttvar: 60, ..Metrics::default() }, &h.cfg);
    assert_eq!((h.start(), h.ssthresh()), (vec![0, 1, 2], 4000));
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::ms(5)), Dur::ms(65)), "5 ticks and 60");
    h.wait(Dur::ms(1));
    assert_eq!([h.ack(1), h.ack(2), h.ack(3)], [vec![3, 4], vec![5, 6], vec![7]], "slow start ends above 4");
}

#[test]
fn learnt_reordering_turns_forward_acknowledgements_off_for_later_connections() {
    let begin = |reordering: u32| {
        let mut h = SenderHarness::new("linux_2_6_38", &PLAIN);
        h.sender.apply_metrics(&Metrics { reordering, ..Metrics::default() }, &h.cfg);
        h.start();
        h.wait(Dur::ms(1));
        h.sack(0, &[(6, 7)])
    };
    assert_eq!((begin(0), begin(9)), (vec![0], vec![10]));
}

#[test]
fn a_loss_leaves_its_threshold_once_the_window_is_above_it() {
    let mut h = SenderHarness::with_flow(60_000, "linux_2_6_38", &PLAIN);
    h.start();
    h.wait(Dur::ms(1));
    h.sack(0, &[(1, 5)]);
    let mut at = 0;
    while !h.sender.is_done() {
        at = h.stats().next / 1000;
        h.wait(Dur::us(100));
        h.ack(at);
    }
    let mut metrics = Metrics::default();
    h.sender.update_metrics(&mut metrics, &h.cfg);
    assert_eq!((at, h.ssthresh()), (60, 5000));
    assert!(metrics.ssthresh >= 5, "{metrics:?}");
}

#[test]
fn a_second_message_after_an_idle_time_is_sent_whole() {
    let mut h = SenderHarness::with_flow(1 << 40, "linux_2_6_38", &[("min_rto", time(Dur::ms(10)))]);
    for message in 1..=3u64 {
        let before = h.stats().segments;
        h.write(41_600);
        while h.stats().acked < message * 41_600 {
            let next = h.stats().next;
            assert!(next > h.stats().acked, "{:?}", h.stats());
            h.wait(Dur::us(300));
            h.ack_bytes(next, false);
        }
        assert_eq!(h.stats().segments - before, 42);
        h.wait(Dur::ms(60));
    }
}
