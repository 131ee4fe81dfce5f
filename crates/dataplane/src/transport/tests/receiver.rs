//! What is acknowledged when (RFC 5681 §4.2, RFC 9293 §3.10.7.4).

use super::*;
use crate::transport::Receiver;
use mech::Flags;

struct End {
    cfg: TcpConfig,
    receiver: Receiver,
    now: Time,
}

impl End {
    fn new(bytes: u64, set: &[(&str, Value)]) -> End {
        let cfg = config("newreno", set);
        End { receiver: Receiver::new(&flow(bytes), &cfg), cfg, now: Time::ZERO }
    }
    /// Bytes `start..start + len` arrive; the ACK numbers that leave.
    fn bytes(&mut self, start: u64, len: u32) -> Vec<u32> {
        let pkt = segment::data(&flow(0), (start, len), 0, &self.cfg);
        let out = sent(self.now, &self.cfg, |io| self.receiver.receive(&pkt, io));
        out.iter().map(|p| p.ack).collect()
    }
    fn segment(&mut self, n: u64) -> Vec<u32> {
        self.bytes(n * 1000, 1000)
    }
}

fn delayed() -> (&'static str, Value) {
    ("delayed_ack", Value::Flag(true))
}

#[test]
fn every_segment_is_acknowledged_and_a_gap_repeats_the_number_of_what_is_missing() {
    // RFC 5681 §4.2.
    let mut e = End::new(10_000, &[]);
    assert_eq!(e.segment(0), [1000]);
    assert_eq!((e.segment(2), e.segment(4), e.segment(5)), (vec![1000], vec![1000], vec![1000]));
    assert_eq!((e.receiver.received(), e.receiver.stats().waiting), (1000, 3000));
    assert_eq!(e.segment(1), [3000]);
    assert_eq!(e.segment(3), [6000]);
    assert_eq!((e.receiver.stats().out_of_order, e.receiver.stats().duplicates), (3, 0));
    assert!(!e.receiver.complete());
}

#[test]
fn duplicates_before_and_beyond_the_gap_are_acknowledged_and_counted() {
    let mut e = End::new(10_000, &[]);
    e.segment(0);
    assert_eq!(e.segment(0), [1000]);
    e.segment(2);
    assert_eq!(e.segment(2), [1000]);
    assert_eq!((e.receiver.stats().duplicates, e.receiver.stats().segments), (2, 4));
}

#[test]
fn a_segment_that_is_new_only_in_part_counts_what_is_new() {
    let mut e = End::new(10_000, &[]);
    e.segment(0);
    assert_eq!(e.bytes(500, 1000), [1500]);
    e.bytes(2000, 1000);
    assert_eq!(e.bytes(1500, 1000), [3000]);
}

#[test]
fn nothing_beyond_the_receive_window_is_kept() {
    let mut e = End::new(100_000, &[("receive_window", size(3000))]);
    assert_eq!(e.segment(3), [0]);
    assert_eq!(e.receiver.stats().waiting, 0);
    e.segment(2);
    assert_eq!(e.receiver.stats().waiting, 1000);
}

#[test]
fn what_is_no_data_does_nothing() {
    let mut e = End::new(10_000, &[]);
    let ack = segment::ack(&flow(0), 0, false, &e.cfg);
    let out = sent(e.now, &e.cfg, |io| e.receiver.receive(&ack, io));
    assert!(out.is_empty() && e.receiver.stats().segments == 0);
}

#[test]
fn a_delayed_ack_leaves_with_every_second_segment_or_in_time() {
    // RFC 5681 §4.2.
    let mut e = End::new(10_000, &[delayed()]);
    assert_eq!(e.segment(0), []);
    assert_eq!(e.receiver.deadline(), Some(Time::ZERO + Dur::ms(40)));
    assert_eq!(e.segment(1), [2000]);
    assert_eq!(e.receiver.deadline(), None);
    e.now += Dur::ms(1);
    assert_eq!(e.segment(2), []);
    let mut timer = |ms| sent(Time::ZERO + Dur::ms(ms), &e.cfg, |io| e.receiver.timer(io));
    assert!(timer(40).is_empty(), "too early");
    let out = timer(41);
    assert_eq!((out[0].ack, out[0].head.flags), (3000, Flags::ACK.with(Flags::REVERSE)));
    assert_eq!(e.receiver.deadline(), None);
}

#[test]
fn no_ack_is_delayed_at_a_gap_while_it_fills_or_at_the_end() {
    // RFC 5681 §4.2.
    let mut e = End::new(5_000, &[delayed()]);
    assert_eq!(e.segment(1), [0]);
    assert_eq!(e.segment(3), [0]);
    assert_eq!(e.segment(0), [2000]);
    assert_eq!(e.segment(2), [4000]);
    assert_eq!(e.segment(4), [5000], "the last byte");
    assert!(e.receiver.complete() && e.receiver.deadline().is_none());
}

#[test]
fn the_window_that_is_advertised_never_moves_back() {
    // RFC 9293 §3.8.6: the right edge.
    let mut e = End::new(50_000, &[("receive_window", size(45_535))]);
    let mut edge = 0;
    for n in [0, 2, 1, 5, 3, 4, 4] {
        let pkt = segment::data(&flow(0), (n * 1000, 1000), 0, &e.cfg);
        let out = sent(e.now, &e.cfg, |io| e.receiver.receive(&pkt, io));
        let now = out.last().map(|p| p.ack + u32::from(p.window)).unwrap();
        assert!(now >= edge);
        edge = now;
    }
    assert_eq!(edge, 6000 + 45_535);
}
