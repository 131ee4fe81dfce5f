//! Tests of data written in pieces: Nagle's algorithm (RFC 9293 §3.7.4) and idle restart (RFC 5681 §4.1).

use super::*;

fn opened(set: &[(&str, Value)]) -> SenderHarness {
    let mut h = SenderHarness::new("newreno", set);
    assert!(h.call(|s, io| s.open(io)).is_empty());
    h
}

#[test]
fn what_is_written_leaves_at_once_and_only_the_flows_bytes_count() {
    let mut h = SenderHarness::with_flow(2_600, "newreno", &[]);
    h.call(|s, io| s.open(io));
    assert_eq!((h.write(100), h.write(100), h.write(1_300)), (vec![100], vec![100], vec![1000, 300]));
    h.ack_bytes(1_500, false);
    assert!(!h.sender.is_done(), "more may be written");
    assert_eq!(h.write(u64::MAX), [1000, 100]);
    assert!(h.write(5).is_empty() && !h.sender.is_done());
    h.ack_bytes(2_600, false);
    assert!(h.sender.is_done());
}

#[test]
fn with_nagle_a_short_segment_waits_while_anything_is_outstanding() {
    let mut h = opened(&[("nagle", Value::Flag(true))]);
    assert_eq!(h.write(100), [100], "nothing outstanding");
    assert!(h.write(100).is_empty());
    assert_eq!(h.write(1_000), [1000], "a full segment leaves");
    h.ack_bytes(100, false);
    assert!(h.last.is_empty());
    h.ack_bytes(1_100, false);
    assert_eq!(h.payloads(), [100]);
    let mut h = SenderHarness::with_flow(2_500, "newreno", &[("nagle", Value::Flag(true))]);
    assert_eq!(h.start(), [0, 1], "the short end of a flow waits too");
    assert!(h.ack(1).is_empty());
    assert_eq!(h.ack(2), [2]);
    h.expire();
    assert_eq!(h.payloads(), [500], "no retransmission waits");
}

/// Returns how many of thirty segments leave after this idle time, and the slow start threshold then.
/// Ten acknowledged segments precede the idle time.
fn after(idle: Dur, set: &[(&str, Value)]) -> (usize, u32) {
    let mut h = opened(set);
    h.wait(Dur::ms(20));
    h.write(10_000);
    let last = h.now;
    h.wait(Dur::us(100));
    (1..=10).for_each(|n| drop(h.ack(n)));
    assert_eq!((h.cwnd(), h.stats().rto), (20_000, Dur::ms(10)));
    h.now = last + idle;
    (h.write(30_000).len(), h.ssthresh())
}

#[test]
fn after_more_than_a_timeout_without_sending_the_window_is_the_initial_one() {
    // RFC 5681 §4.1: RW = min(IW, cwnd), from the last segment sent, not the last ACK.
    let off = [("restart_after_idle", Value::Flag(false))];
    assert_eq!(after(Dur::ms(10), &[]).0, 20, "not exceeded");
    assert_eq!(after(Dur::ms(10) + Dur::ps(1), &[]).0, 10);
    assert_eq!(after(Dur::s(1), &off).0, 20);
    assert_eq!(after(Dur::s(1), &[]).1, after(Dur::ZERO + Dur::ms(1), &[]).1, "ssthresh stays");
}

#[test]
fn a_window_below_the_initial_one_stays_when_idle() {
    let mut h = opened(&[]);
    h.write(10_000);
    h.expire();
    h.ack(10);
    assert_eq!(h.cwnd(), 2_000);
    h.wait(Dur::s(1));
    assert_eq!(h.write(30_000).len(), 2);
}
