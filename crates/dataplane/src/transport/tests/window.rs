//! Tests of slow start, congestion avoidance, and the limits of both windows.

use super::*;
use crate::transport::FlowInfo;
use crate::transport::tests::pair::{Direction, Fault, Pair, values};
use crate::{Framing, NO_EXT};
use mech::{Ecn, Flags};

#[test]
fn the_initial_window_is_what_was_asked_for_in_segments_or_bytes() {
    // RFC 5681 §3.1, RFC 6928.
    assert_eq!(SenderHarness::new("newreno", &[]).start().len(), 10);
    assert_eq!(SenderHarness::new("newreno", &[("initial_window", packets(1))]).start(), [0]);
    let bytes = Value::Amount(Amount::Bytes(3500));
    assert_eq!(SenderHarness::new("newreno", &[("initial_window", bytes)]).start(), [0, 1, 2]);
}

#[test]
fn slow_start_sends_two_segments_for_each_one_acknowledged() {
    // RFC 5681 eq. 2.
    let mut h = SenderHarness::new("newreno", &[("initial_window", packets(1))]);
    h.start();
    assert_eq!(h.ack(1), [1, 2]);
    assert_eq!(h.ack(2), [3, 4]);
    assert_eq!(h.ack(3), [5, 6]);
    assert_eq!(h.cwnd(), 4000);
}

#[test]
fn slow_start_grows_by_one_segment_at_most_for_an_ack_of_many() {
    // RFC 5681 eq. 2: min(N, SMSS).
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    h.ack(5);
    assert_eq!(h.cwnd(), 11_000);
    h.ack_bytes(5300, false);
    assert_eq!(h.cwnd(), 11_300);
}

#[test]
fn the_window_doubles_every_round_trip_of_a_pair() {
    let pair = Pair::new(62_000, config("newreno", &[("initial_window", packets(2))])).run();
    // Rounds of 2, 4, 8, 16 and the last 32 segments; each begins a round trip of 110 us or more later.
    let firsts: Vec<Time> = [0usize, 2, 6, 14, 30].iter().map(|i| pair.data[*i].sent).collect();
    assert_eq!(firsts[..3], [Time::ZERO, Time::ZERO + Dur::us(110), Time::ZERO + Dur::us(220)]);
    assert!(firsts.windows(2).all(|w| w[1] - w[0] == Dur::us(110)), "{firsts:?}");
    assert_eq!(pair.data.len(), 62);
}

#[test]
fn congestion_avoidance_adds_a_segments_square_over_the_window_for_each_ack() {
    // RFC 5681 eq. 3.
    let mut h = SenderHarness::new("newreno", &[("initial_ssthresh", size(4000)), ("initial_window", packets(4))]);
    h.start();
    assert_eq!((h.ack(1), h.cwnd()), (vec![4], 4250));
    assert_eq!((h.ack(2), h.cwnd()), (vec![5], 4250 + 1_000_000 / 4250));
    assert_eq!((h.ack(3), h.ack(4).len(), h.ack(5).len()), (vec![6], 1, 2));
    // 4000, +250, +235, +222, +212, +203.
    assert_eq!(h.cwnd(), 5_122, "five ACKs at four segments add a little more than one");
}

#[test]
fn slow_start_ends_at_ssthresh() {
    // RFC 5681 §3.1: slow start below ssthresh, congestion avoidance above.
    let mut h = SenderHarness::new("newreno", &[("initial_ssthresh", size(11_500))]);
    h.start();
    h.ack(1);
    h.ack(2);
    assert_eq!(h.cwnd(), 12_000);
    h.ack(3);
    assert_eq!(h.cwnd(), 12_083);
}

#[test]
fn the_receive_window_bounds_what_is_sent() {
    // RFC 5681 §3.1: min(cwnd, rwnd); RFC 7323 §2.2: the field is scaled.
    let mut h = SenderHarness::new("newreno", &[("receive_window", size(3000))]);
    assert_eq!(h.start(), [0, 1, 2]);
    assert_eq!(h.ack(1), [3]);
    assert_eq!(h.ack(3), [4, 5]);
    let scaled = config("newreno", &[("receive_window", size(256_000))]);
    assert_eq!((scaled.receive_window, scaled.window_shift, scaled.window_field()), (256_000, 2, 64_000));
    let odd = config("newreno", &[("receive_window", size(70_001))]);
    assert_eq!((odd.receive_window, odd.window_shift), (70_000, 1));
    let default = config("newreno", &[]);
    assert_eq!((default.receive_window, default.window_shift), (65_535 << 14, 14));
}

#[test]
fn a_window_that_ends_inside_a_segment_sends_no_silly_one() {
    // RFC 9293 §3.8.6.2.1 (2), (3).
    let mut h = SenderHarness::new("newreno", &[("receive_window", size(2500))]);
    assert_eq!(h.start(), [0, 1]);
    let mut h = SenderHarness::new("newreno", &[("receive_window", size(600))]);
    h.start();
    assert_eq!(h.last.iter().map(|p| p.payload).collect::<Vec<_>>(), [600]);
    let pair = Pair::new(10_000, config("newreno", &[("receive_window", size(600))])).run();
    assert!(pair.receiver.is_complete() && pair.expiries.is_empty());
}

#[test]
fn cwnd_does_not_grow_past_the_receive_window() {
    let pair = Pair::new(500_000, config("newreno", &[("receive_window", size(20_000))])).run();
    assert_eq!(pair.sender.stats().cwnd, 20_000);
}

#[test]
fn a_packet_is_complete() {
    let mut h = SenderHarness::with_flow(2_500, "newreno", &[]);
    h.start();
    let [first, _, last] = h.last[..] else { panic!("three segments") };
    assert_eq!((first.payload, first.head.size, first.head.orig_size), (1000, 1058, 1058));
    assert_eq!((last.payload, last.head.size, last.seq, last.emission), (500, 558, 2000, 2));
    assert_eq!((first.head.flow.0, first.head.src.0, first.head.dst.0, first.head.hash), (5, 3, 8, 77));
    assert_eq!((first.head.class(), first.head.ecn(), first.head.ttl), (2, Ecn::NotEct, 255));
    assert_eq!((first.head.rank, first.ext, first.sent), (0, NO_EXT, Time::ZERO));
    assert_eq!(first.head.flags, Flags::ACK.with(Flags::PAYLOAD));
    h.ack(1);
    assert!(h.last.is_empty() && !h.sender.is_done());
    h.ack_bytes(2500, false);
    assert!(h.sender.is_done());
}

#[test]
fn every_segment_has_class_and_code_point_of_its_flow() {
    let (flow, cfg) = (FlowInfo { code_point: 3, ..flow(2_500) }, config("dctcp", &[]));
    let made = [
        segment::data_segment(&flow, (0, 1000), 0, &cfg),
        segment::empty_segment(&flow, 0, Flags::SYN, &cfg),
        segment::ack_segment(&flow, 1000, true, &cfg),
        segment::nak_segment(&flow, 1000, &cfg),
    ];
    assert_eq!(made.map(|pkt| (pkt.head.class(), pkt.head.code_point())), [(2, 3); 4]);
}

#[test]
fn acks_of_what_was_never_sent_and_old_acks_do_nothing() {
    // RFC 9293 §3.10.7.4.
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert!(h.ack(11).is_empty());
    assert_eq!(h.stats().acked, 0);
    h.ack(5);
    let before = h.stats();
    assert!(h.ack(4).is_empty());
    assert_eq!(h.stats(), before);
}

#[test]
fn sequence_numbers_wrap_and_a_flow_beyond_four_gigabytes_arrives() {
    // RFC 9293 §3.4. One lost segment on either side of the wrap.
    let sets = [("mss", size(9000)), ("initial_window", packets(2000)), ("receive_window", size(18_000_000))];
    let cfg = TcpConfig::new("newreno", &values("newreno", &sets), Framing::ETHERNET).unwrap();
    let bytes = (1u64 << 32) + 20_000_000;
    let wrap = ((1u64 << 32) / 9000) as u32;
    let mut pair = Pair::new(bytes, cfg);
    pair.gap = Dur::us(1);
    pair.script = vec![(Direction::Data, wrap - 1, Fault::Lose), (Direction::Data, wrap + 900, Fault::Lose)];
    let pair = pair.run();
    assert!(pair.sender.is_done() && pair.receiver.received_bytes() == bytes);
    assert_eq!(pair.sender.stats().retransmissions, 2);
    assert!(pair.data.windows(2).any(|w| w[1].seq < w[0].seq / 2), "never wrapped");
}

#[test]
fn every_default_is_valid_and_what_ranges_cannot_say_is_checked() {
    for kind in ["newreno", "dctcp"] {
        let defaults = values(kind, &[]);
        assert_eq!(TcpConfig::check(&defaults), Ok(()));
        let cfg = TcpConfig::new(kind, &defaults, Framing::ETHERNET).unwrap();
        assert_eq!(
            (cfg.mss(), cfg.data_option_bytes(), cfg.min_rto, cfg.initial_rto),
            (1460, 0, Dur::ms(10), Dur::ms(10))
        );
    }
    let wrong = |set: &[(&str, Value)]| TcpConfig::check(&values("newreno", set)).unwrap_err().0;
    assert_eq!(wrong(&[("mss", size(9001))]), "mss");
    assert_eq!(wrong(&[("initial_window", Value::Amount(Amount::Bytes(1459)))]), "initial_window");
    assert_eq!(wrong(&[("max_rto", time(Dur::ms(9)))]), "max_rto");
    assert!(TcpConfig::new("vegas", &values("newreno", &[]), Framing::ETHERNET).is_none());
    let huge = values("newreno", &[("mss", size(u64::MAX)), ("initial_window", packets(u64::MAX))]);
    assert_eq!(TcpConfig::new("newreno", &huge, Framing::ETHERNET).unwrap().mss(), 9000);
}

#[test]
fn a_flow_of_no_bytes_is_done_before_it_starts() {
    let mut h = SenderHarness::with_flow(0, "newreno", &[]);
    assert!(h.start().is_empty() && h.sender.is_done() && h.sender.deadline().is_none());
}

#[test]
fn a_sender_and_a_receiver_are_small() {
    assert!(size_of::<Sender>() <= 256, "{}", size_of::<Sender>());
    assert!(size_of::<crate::transport::Receiver>() <= 96, "{}", size_of::<crate::transport::Receiver>());
}
