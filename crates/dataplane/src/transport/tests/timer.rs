//! Tests of the retransmission timer (RFC 6298), and of the effects of its expiry (RFC 5681 §3.1).

use super::*;
use crate::transport::tests::pair::{Direction, Fault, Pair};

fn wide() -> Vec<(&'static str, Value)> {
    vec![("min_rto", time(Dur::ps(1))), ("initial_rto", time(Dur::s(1))), ("clock_granularity", time(Dur::ZERO))]
}

#[test]
fn before_a_sample_the_timeout_is_the_initial_one_within_its_bounds() {
    // RFC 6298 (2.1).
    let rto = |set: &[(&str, Value)]| SenderHarness::new("newreno", set).stats().rto;
    assert_eq!(rto(&[("initial_rto", time(Dur::s(3)))]), Dur::s(3));
    assert_eq!(rto(&[("min_rto", time(Dur::ms(200)))]), Dur::ms(200));
    assert_eq!(rto(&[("initial_rto", time(Dur::s(90)))]), Dur::s(60));
}

#[test]
fn the_first_sample_sets_and_later_ones_smooth() {
    // RFC 6298 (2.2), (2.3): R = 80 us, then 160 us.
    let mut h = SenderHarness::new("newreno", &wide());
    h.start();
    h.wait(Dur::us(80));
    h.ack(1);
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(80)), Dur::us(80 + 4 * 40)));
    h.wait(Dur::us(80));
    h.ack(2);
    // RTTVAR = 3/4 40 + 1/4 80 = 50, SRTT = 7/8 80 + 1/8 160 = 90.
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(90)), Dur::us(90 + 4 * 50)));
}

#[test]
fn the_granularity_is_the_least_spread() {
    // RFC 6298 (2.3): max(G, K RTTVAR).
    let mut set = wide();
    set[2].1 = time(Dur::ms(1));
    let mut h = SenderHarness::new("newreno", &set);
    h.start();
    h.wait(Dur::us(80));
    h.ack(1);
    assert_eq!(h.stats().rto, Dur::us(1080));
}

#[test]
fn the_least_and_the_longest_timeout_hold() {
    // RFC 6298 (2.4), (2.5).
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    h.wait(Dur::us(80));
    h.ack(1);
    assert_eq!(h.stats().rto, Dur::ms(10));
    let mut h = SenderHarness::new("newreno", &[("max_rto", time(Dur::ms(35)))]);
    h.start();
    let waits: Vec<Dur> = (0..4)
        .map(|_| {
            let d = h.timer_in().unwrap();
            h.expire();
            d
        })
        .collect();
    assert_eq!(waits, [Dur::ms(10), Dur::ms(20), Dur::ms(35), Dur::ms(35)]);
}

#[test]
fn each_expiry_doubles_the_timeout_and_a_sample_of_new_data_ends_that() {
    // RFC 6298 (5.5), (5.6) and the note after (5.7); Karn's rule, §3.
    let mut h = SenderHarness::new("newreno", &[("initial_window", packets(1))]);
    h.start();
    assert_eq!((h.expire(), h.timer_in()), (vec![0], Some(Dur::ms(20))));
    assert_eq!((h.expire(), h.timer_in()), (vec![0], Some(Dur::ms(40))));
    h.wait(Dur::us(50));
    assert_eq!(h.ack(1), [1, 2]);
    assert_eq!((h.stats().srtt, h.timer_in()), (None, Some(Dur::ms(40))), "no sample of what was sent again");
    h.wait(Dur::us(50));
    h.ack(2);
    assert_eq!((h.stats().srtt, h.timer_in()), (Some(Dur::us(50)), Some(Dur::ms(10))));
}

#[test]
fn nothing_sent_before_a_retransmission_is_sampled_after_it() {
    // RFC 6298 §3.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    (0..3).for_each(|_| drop(h.ack(0)));
    h.wait(Dur::us(500));
    h.ack(5);
    h.ack(10);
    assert_eq!(h.stats().srtt, None);
}

#[test]
fn new_data_sent_in_recovery_is_not_sampled() {
    // The ACK of the timed segment waits for the holes before it.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    (0..7).for_each(|_| drop(h.ack(0)));
    assert_eq!(h.stats().next, 12_000);
    h.wait(Dur::us(500));
    h.ack(12);
    assert_eq!(h.stats().srtt, None);
    h.wait(Dur::us(70));
    h.ack(13);
    assert_eq!(h.stats().srtt, Some(Dur::us(70)));
}

#[test]
fn every_ack_of_a_burst_is_a_sample() {
    // RFC 6298 §3.
    let mut h = SenderHarness::new("newreno", &wide());
    h.start();
    h.wait(Dur::us(100));
    h.ack(1);
    (2..=10).for_each(|n| {
        h.wait(Dur::us(10));
        h.ack(n);
    });
    // Samples 100, 110 .. 190 us through (2.3): SRTT is between 100 and 190, and well above the first.
    let srtt = h.stats().srtt.unwrap();
    assert!(srtt > Dur::us(130) && srtt < Dur::us(190), "{srtt}");
}

#[test]
fn the_timer_starts_with_data_restarts_with_new_acks_and_stops_when_all_is_acknowledged() {
    // RFC 6298 (5.1), (5.3), (5.2).
    let mut h = SenderHarness::with_flow(3_000, "newreno", &[]);
    assert_eq!(h.sender.deadline(), None);
    h.start();
    assert_eq!(h.timer_in(), Some(Dur::ms(10)));
    h.wait(Dur::ms(4));
    h.ack(0);
    assert_eq!(h.timer_in(), Some(Dur::ms(6)), "a duplicate does not restart it");
    h.ack(1);
    assert!(h.timer_in().unwrap() >= Dur::ms(10));
    h.ack(3);
    assert_eq!(h.sender.deadline(), None);
}

#[test]
fn sending_more_does_not_restart_a_timer_that_runs() {
    // RFC 6298 (5.1).
    let mut h = SenderHarness::new("newreno", &[("limited_transmit", Value::Flag(true))]);
    h.start();
    h.wait(Dur::ms(4));
    assert_eq!(h.ack(0), [10]);
    assert_eq!(h.timer_in(), Some(Dur::ms(6)));
}

#[test]
fn an_expiry_leaves_one_segment_and_half_the_flight() {
    // RFC 5681 §3.1, eq. 4; RFC 6298 (5.4).
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert_eq!(h.expire(), [0]);
    assert_eq!((h.cwnd(), h.ssthresh(), h.stats().timeouts), (1_000, 5_000, 1));
}

#[test]
fn a_second_expiry_for_the_same_segment_keeps_ssthresh() {
    // RFC 5681 §3.1.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    h.expire();
    h.expire();
    assert_eq!((h.cwnd(), h.ssthresh()), (1_000, 5_000));
    h.ack(1);
    h.expire();
    assert_eq!(h.ssthresh(), 2_000, "another segment: half of two, and two at least");
}

#[test]
fn after_an_expiry_it_goes_back_and_slow_starts_over_what_was_outstanding() {
    // RFC 5681 §3.1; RFC 6582 §3.2 step 4.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    h.expire();
    assert_eq!(h.ack(1), [1, 2]);
    assert_eq!(h.ack(2), [3, 4]);
    assert_eq!(h.stats().retransmissions, 5);
    assert_eq!(h.ack(10), [10, 11, 12, 13], "what had arrived is not sent again");
    assert_eq!(h.stats().retransmissions, 5);
}

#[test]
fn an_early_call_does_nothing() {
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    h.wait(Dur::ms(9));
    let before = h.stats();
    assert!(h.call(|s, io| s.on_timer(io)).is_empty());
    assert_eq!(h.stats(), before);
}

#[test]
fn a_whole_window_lost_comes_back_after_the_initial_timeout() {
    let mut pair = Pair::new(10_000, config("newreno", &[]));
    pair.script = (0..10).map(|n| (Direction::Data, n, Fault::Lose)).collect();
    let pair = pair.run();
    assert_eq!(pair.expiries, [Time::ZERO + Dur::ms(10)]);
    assert_eq!(pair.segments()[10..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_lost_ack_is_covered_by_the_next() {
    let pair = Pair::new(10_000, config("newreno", &[])).fault(Direction::Ack, 3, Fault::Lose).run();
    assert_eq!((pair.data.len(), pair.expiries.len()), (10, 0));
    let last = Pair::new(10_000, config("newreno", &[])).fault(Direction::Ack, 9, Fault::Lose).run();
    assert_eq!((last.data.len(), last.expiries.len(), last.receiver.stats().duplicates), (11, 1, 1));
}

#[test]
fn off_means_no_timer_for_data_or_a_syn() {
    let off = ("retransmission_timer", Value::Flag(false));
    let mut h = SenderHarness::new("newreno", std::slice::from_ref(&off));
    assert_eq!((h.start().len(), h.sender.deadline()), (10, None));
    h.wait(Dur::ms(5));
    h.ack(1);
    assert_eq!(h.sender.deadline(), None);
    (0..3).for_each(|_| drop(h.ack(1)));
    h.ack(4);
    assert_eq!((h.stats().fast_retransmits, h.sender.deadline()), (1, None), "nor in recovery");
    let mut h = SenderHarness::new("newreno", &[off, ("connection", word("handshake"))]);
    assert_eq!((h.start().len(), h.sender.deadline()), (1, None));
}

#[test]
fn below_the_floor_what_is_doubled_is_the_estimate() {
    // ns-3 until 3.13: max(minRTO, multiplier * estimate). Since then multiplier * max(minRTO, estimate), as RFC 6298
    // (5.5).
    let timeouts = |floor: &str| {
        let mut h = SenderHarness::new("newreno", &[("rto_floor", word(floor)), ("max_rto", time(Dur::ms(70)))]);
        h.start();
        h.wait(Dur::ms(1));
        h.ack(1);
        let mut found = vec![h.timer_in()];
        for _ in 0..5 {
            h.expire();
            found.push(h.timer_in());
        }
        found.into_iter().map(|one| one.map(|d| d.0 / Dur::ms(1).0)).collect::<Vec<_>>()
    };
    assert_eq!(timeouts("backoff"), [10, 10, 12, 24, 48, 70].map(Some), "an estimate of 3 ms");
    assert_eq!(timeouts("sum"), [10, 20, 40, 70, 70, 70].map(Some));
}

#[test]
fn the_floor_bounds_the_timeout_or_what_is_added_to_the_round_trip() {
    let rto = |floor: &str, round_trip: Dur| {
        let mut h = SenderHarness::new("newreno", &[("rto_floor", word(floor)), ("max_rto", time(Dur::ms(70)))]);
        h.start();
        h.wait(round_trip);
        h.ack(1);
        h.stats().rto
    };
    assert_eq!([rto("sum", Dur::ms(4)), rto("deviation", Dur::ms(4))], [Dur::ms(12), Dur::ms(14)]);
    assert_eq!([rto("sum", Dur::ms(6)), rto("deviation", Dur::ms(6))], [Dur::ms(18); 2], "above the floor");
    assert_eq!([rto("sum", Dur::ms(40)), rto("deviation", Dur::ms(40))], [Dur::ms(70); 2]);
}
