//! Tests of fast retransmit and fast recovery (RFC 5681 §3.2, RFC 6582), and limited transmit (RFC 3042).

use super::*;
use crate::transport::tests::pair::{Direction, Fault, Pair};
use mech::Flags;

/// Returns a sender with ten segments in flight, of which the first is lost, after two duplicate ACKs.
fn two_duplicates() -> SenderHarness {
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert!(h.ack(0).is_empty() && h.ack(0).is_empty());
    h
}

#[test]
fn the_third_duplicate_ack_and_no_earlier_one_retransmits() {
    // RFC 5681 §3.2 steps 2 and 3.
    let mut h = two_duplicates();
    assert_eq!((h.cwnd(), h.stats().fast_retransmits), (10_000, 0));
    assert_eq!(h.ack(0), [0]);
    assert!(h.last[0].head.flags.has(Flags::RETRANSMIT));
    assert_eq!((h.ssthresh(), h.cwnd()), (5_000, 8_000));
    assert!(h.stats().in_recovery);
}

#[test]
fn ssthresh_is_half_the_flight_and_two_segments_at_least() {
    // RFC 5681 eq. 4.
    let mut h = SenderHarness::with_flow(3_000, "newreno", &[("dupack_threshold", Value::Count(2))]);
    h.start();
    h.ack(0);
    assert_eq!(h.ack(0), [0]);
    assert_eq!((h.ssthresh(), h.cwnd()), (2_000, 4_000));
}

#[test]
fn further_duplicates_inflate_the_window_and_send_new_data_when_it_allows() {
    // RFC 5681 §3.2 steps 4 and 5: 8000 after the third; new data fits above ten segments.
    let mut h = two_duplicates();
    h.ack(0);
    assert!(h.ack(0).is_empty());
    assert_eq!((h.ack(0), h.cwnd()), (vec![], 10_000));
    assert_eq!(h.ack(0), [10]);
    assert_eq!(h.ack(0), [11]);
}

#[test]
fn an_ack_of_everything_ends_recovery_at_the_smaller_of_ssthresh_and_the_flight_and_one() {
    // RFC 6582 §3.2 step 3, full acknowledgment, choice 1.
    let mut h = two_duplicates();
    h.ack(0);
    (0..6).for_each(|_| drop(h.ack(0)));
    assert_eq!(h.stats().next, 14_000);
    assert_eq!(h.ack(10), [14]);
    assert_eq!((h.cwnd(), h.stats().in_recovery), (5_000, false), "4 under way and 1, as ssthresh");
    let mut h = two_duplicates();
    h.ack(0);
    assert_eq!(h.ack(10), [10, 11]);
    assert_eq!(h.cwnd(), 2_000, "nothing under way: max(flight, SMSS) + SMSS");
}

#[test]
fn reno_leaves_recovery_at_ssthresh_with_the_first_ack_of_new_data() {
    // RFC 5681 §3.2 step 6.
    let mut h = SenderHarness::new("reno", &[]);
    h.start();
    (0..2).for_each(|_| assert!(h.ack(0).is_empty()));
    assert_eq!(h.ack(0), [0]);
    assert_eq!((h.ssthresh(), h.cwnd()), (5_000, 8_000));
    assert!(h.ack(4).is_empty(), "six under way, the window is five: the next hole waits");
    assert_eq!((h.cwnd(), h.stats().in_recovery), (5_000, false));
    let mut h = SenderHarness::new("reno", &[]);
    h.start();
    (0..3).for_each(|_| drop(h.ack(0)));
    assert_eq!(h.ack(10).len(), 5, "no bound by the flight: RFC 6582's is not Reno's");
}

#[test]
fn reno_retransmits_again_in_the_same_window() {
    // RFC 5681 §3.2: three duplicates, whatever was outstanding before.
    let mut h = SenderHarness::new("reno", &[]);
    h.start();
    (0..3).for_each(|_| drop(h.ack(0)));
    h.ack(4);
    assert!(h.ack(4).is_empty() && h.ack(4).is_empty());
    assert_eq!(h.ack(4), [4]);
    assert_eq!((h.stats().fast_retransmits, h.ssthresh(), h.cwnd()), (2, 3_000, 6_000));
}

#[test]
fn a_partial_ack_retransmits_the_next_hole_and_deflates() {
    // RFC 6582 §3.2 step 3, partial acknowledgment.
    let mut h = two_duplicates();
    h.ack(0);
    assert_eq!(h.ack(4)[0], 4);
    assert!(h.stats().in_recovery);
    assert_eq!(h.cwnd(), 8_000 - 4_000 + 1_000);
    assert_eq!(h.stats().fast_retransmits, 1);
    // 6 segments are in flight, and the window is 5: no new data.
    assert_eq!(h.last.len(), 1);
    h.ack_bytes(4_400, false);
    assert_eq!(h.cwnd(), 5_000 - 400, "less than a segment: nothing is added back");
    assert_eq!(h.ssthresh(), 5_000);
}

#[test]
fn only_the_first_partial_ack_restarts_the_timer() {
    // RFC 6582 §3.2 step 3; RFC 6298 (5.3) outside recovery.
    let mut h = two_duplicates();
    h.wait(Dur::ms(1));
    h.ack(0);
    assert_eq!(h.timer_in(), Some(Dur::ms(9)), "fast retransmit leaves the timer as it is");
    h.ack(2);
    assert_eq!(h.timer_in(), Some(Dur::ms(10)));
    h.wait(Dur::ms(1));
    h.ack(3);
    assert_eq!(h.timer_in(), Some(Dur::ms(9)));
}

#[test]
fn no_second_fast_retransmit_starts_until_an_ack_covers_more_than_recover() {
    // RFC 6582 §3.2 step 1 and §4.1.
    let mut h = two_duplicates();
    h.ack(0);
    h.ack(10);
    assert!((0..5).all(|_| h.ack(10).is_empty()), "recover itself is not covered by more");
    h.ack(11);
    h.ack(11);
    h.ack(11);
    assert_eq!(h.ack(11)[0], 11);
    assert_eq!(h.stats().fast_retransmits, 2);
}

#[test]
fn duplicates_after_a_timeout_start_no_fast_retransmit() {
    // RFC 6582 §4.1.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert_eq!(h.expire(), [0]);
    assert!((0..9).all(|_| h.ack(0).is_empty()));
    assert_eq!((h.cwnd(), h.stats().fast_retransmits), (1_000, 0));
}

#[test]
fn a_timeout_in_recovery_ends_it() {
    // RFC 6582 §3.2 step 4.
    let mut h = two_duplicates();
    h.ack(0);
    assert_eq!(h.expire(), [0]);
    assert_eq!((h.stats().in_recovery, h.cwnd(), h.ssthresh()), (false, 1_000, 5_000));
    assert_eq!(h.ack(4), [4, 5], "from here it goes back to what is not acknowledged");
}

#[test]
fn a_duplicate_ack_is_one_only_with_data_outstanding_and_the_same_window() {
    // RFC 5681 §2.
    let mut h = SenderHarness::with_flow(1_000, "newreno", &[]);
    h.start();
    h.ack(1);
    assert!((0..4).all(|_| h.ack(1).is_empty()));
    let mut h = two_duplicates();
    let mut pkt = segment::ack_segment(&flow(0), 0, false, &h.cfg);
    pkt.window -= 1;
    assert!(h.call(|s, io| s.receive(&pkt, io)).is_empty());
    assert_eq!(h.stats().fast_retransmits, 0);
}

#[test]
fn data_between_two_duplicates_starts_the_count_anew() {
    let mut h = two_duplicates();
    h.ack(1);
    h.ack(1);
    h.ack(1);
    assert_eq!(h.stats().fast_retransmits, 0);
    assert_eq!(h.ack(1), [1]);
}

#[test]
fn off_means_no_fast_retransmit_and_no_inflation() {
    let mut h =
        SenderHarness::new("newreno", &[("dupack_threshold", Value::Off), ("limited_transmit", Value::Flag(true))]);
    h.start();
    assert!((0..50).all(|_| h.ack(0).is_empty()));
    assert_eq!((h.cwnd(), h.stats().in_recovery), (10_000, false));
    assert_eq!(h.expire(), [0]);
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_two_duplicates_and_does_not_count_it() {
    // RFC 3042 §2; RFC 5681 §3.2 step 2: not in the FlightSize of eq. 4.
    let mut h = SenderHarness::new("newreno", &[("limited_transmit", Value::Flag(true))]);
    h.start();
    assert_eq!((h.ack(0), h.ack(0)), (vec![10], vec![11]));
    assert_eq!(h.cwnd(), 10_000);
    assert_eq!(h.ack(0), [0]);
    assert_eq!(h.ssthresh(), 5_000);
}

#[test]
fn two_losses_in_a_window_are_mended_without_a_timeout() {
    let pair = Pair::new(100_000, config("newreno", &[]));
    let pair = pair.fault(Direction::Data, 20, Fault::Lose).fault(Direction::Data, 24, Fault::Lose).run();
    let s = pair.sender.stats();
    assert_eq!((s.retransmissions, s.fast_retransmits, s.timeouts), (2, 1, 0));
    assert!(pair.receiver.is_complete());
    let again: Vec<u32> =
        pair.data.iter().filter(|p| p.head.flags.has(Flags::RETRANSMIT)).map(|p| p.seq / 1000).collect();
    assert_eq!(again, [20, 24]);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let first = Pair::new(60_000, config("newreno", &[])).fault(Direction::Data, 20, Fault::Lose).run();
    let at = first.data.iter().find(|p| p.head.flags.has(Flags::RETRANSMIT)).unwrap().emission;
    let pair = Pair::new(60_000, config("newreno", &[]));
    let pair = pair.fault(Direction::Data, 20, Fault::Lose).fault(Direction::Data, at, Fault::Lose).run();
    let s = pair.sender.stats();
    assert_eq!((s.fast_retransmits, s.timeouts), (1, 1));
    assert!(pair.receiver.is_complete());
}

#[test]
fn a_lost_last_segment_waits_for_the_timer() {
    let pair = Pair::new(8_000, config("newreno", &[])).fault(Direction::Data, 7, Fault::Lose).run();
    assert_eq!(pair.segments(), [0, 1, 2, 3, 4, 5, 6, 7, 7]);
    assert_eq!(pair.expiries.len(), 1);
    // Restarted by the last ACK: 7 segments of 10 us, 100 us of delay, and the minimum RTO.
    assert_eq!(pair.expiries[0], Time::ZERO + Dur::us(170) + Dur::ms(10));
}

#[test]
fn reordering_by_less_than_the_threshold_retransmits_nothing_and_by_more_what_was_under_way() {
    // RFC 6582 §3.2 step 3: once in recovery by mistake, every ACK in order is a partial one.
    let by = |us| Pair::new(50_000, config("newreno", &[])).fault(Direction::Data, 12, Fault::Late(Dur::us(us))).run();
    let (near, far) = (by(25), by(45));
    assert_eq!((near.sender.stats().retransmissions, near.receiver.stats().out_of_order), (0, 2));
    let s = far.sender.stats();
    assert_eq!((s.fast_retransmits, s.retransmissions), (1, far.receiver.stats().duplicates));
    assert!(s.retransmissions > 10);
    assert!(far.receiver.is_complete() && far.expiries.is_empty());
}
