//! Tests of timestamps at the sender (RFC 7323 §3, §4).

use super::*;
use crate::Timestamps;

const ON: (&str, Value) = ("timestamps", Value::Flag(true));

fn precise() -> Vec<(&'static str, Value)> {
    vec![ON, ("min_rto", time(Dur::ps(1))), ("clock_granularity", time(Dur::us(1)))]
}

fn stamped(val: u32, ecr: u32) -> PacketExtension {
    PacketExtension { timestamps: Some(Timestamps { val, ecr }), ..PacketExtension::default() }
}

#[test]
fn every_segment_carries_the_clock_and_the_latest_of_the_peer() {
    // RFC 7323 §3.2, §4.3; 12 bytes of options that `mss` does not count.
    let mut h = SenderHarness::new("newreno", &[ON]);
    h.now = Time::ZERO + Dur::us(700);
    h.start();
    let stamps =
        |h: &SenderHarness| h.last.iter().map(|p| h.exts.get(p.ext).unwrap().timestamps.unwrap()).collect::<Vec<_>>();
    assert!(h.last.iter().all(|p| (p.payload, p.head.size) == (1000, 1070)));
    assert_eq!(stamps(&h), vec![Timestamps { val: 700, ecr: 0 }; 10]);
    h.wait(Dur::us(90));
    h.ack_with(1_000, stamped(41, 700));
    assert_eq!(stamps(&h), [Timestamps { val: 790, ecr: 41 }; 2]);
    h.ack_with(2_000, stamped(39, 700));
    assert_eq!(stamps(&h)[0].ecr, 41, "an older one that comes later");
    h.expire();
    assert_eq!(stamps(&h)[0].ecr, 41, "retransmissions too");
}

#[test]
fn an_ack_of_new_data_is_a_sample_of_what_it_echoes_and_a_duplicate_is_none() {
    // RFC 7323 §4.1.
    let mut h = SenderHarness::new("newreno", &precise());
    h.start();
    h.now = Time::ZERO + Dur::us(80);
    h.ack_with(0, stamped(1, 30));
    assert_eq!(h.stats().srtt, None);
    h.ack_with(1_000, stamped(2, 0));
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(80)), Dur::us(80 + 4 * 40)));
    h.now = Time::ZERO + Dur::us(180);
    h.ack_with(2_000, stamped(3, 20));
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(90)), Dur::us(90 + 4 * 50)));
}

#[test]
fn a_retransmission_gives_a_sample_and_ends_the_backoff() {
    // RFC 7323 §4.1: Karn's rule is not needed.
    let mut h = SenderHarness::new("newreno", &precise()[..2]);
    h.start();
    h.expire();
    let again = h.exts.get(h.last[0].ext).unwrap().timestamps.unwrap().val;
    assert_eq!(again, 10_000);
    h.wait(Dur::us(50));
    h.ack_with(1_000, stamped(5, again));
    assert_eq!(h.stats().srtt, Some(Dur::us(50)));
    assert_eq!(h.stats().rto, Dur::us(150));
}

#[test]
fn the_clock_wraps() {
    // RFC 7323 §5.4: one tick a nanosecond wraps after 4.3 s.
    let mut h =
        SenderHarness::new("newreno", &[ON, ("min_rto", time(Dur::ps(1))), ("clock_granularity", time(Dur::ZERO))]);
    h.now = Time::ZERO + Dur::ns((1 << 32) - 100);
    h.start();
    h.wait(Dur::ns(700));
    h.ack_with(1_000, stamped(1, u32::MAX - 99));
    assert_eq!(h.stats().srtt, Some(Dur::ns(700)));
}

#[test]
fn without_timestamps_none_are_sent_or_read() {
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert!(h.last.iter().all(|p| p.ext == crate::NO_EXT));
    h.wait(Dur::us(80));
    h.ack_with(1_000, stamped(1, 79));
    assert_eq!(h.stats().srtt, Some(Dur::us(80)));
}
