//! Tests of a handshake at its sender (RFC 9293 §3.5, §3.10.7).

use super::*;
use crate::transport::syn_options::syn_options;
use crate::{SynOptions, Timestamps};
use mech::{Ecn, Flags};

const SHAKE: &str = "connection";

fn handshake_sender(kind: &str, set: &[(&'static str, Value)]) -> SenderHarness {
    handshake_sender_of(1_000_000, kind, set)
}

fn handshake_sender_of(bytes: u64, kind: &str, set: &[(&'static str, Value)]) -> SenderHarness {
    let mut all = vec![(SHAKE, word("handshake"))];
    all.extend(set.iter().cloned());
    SenderHarness::with_flow(bytes, kind, &all)
}

/// Delivers a SYN-ACK, and returns the numbers of the segments sent for it.
fn deliver_syn_ack(h: &mut SenderHarness, ecr: u32) -> Vec<u32> {
    let mut pkt = segment::ack_segment(&flow(0), 0, false, &h.cfg);
    pkt.head.flags = pkt.head.flags.with(Flags::SYN);
    pkt.window = h.cfg.syn_window();
    pkt.ext = h.exts.allocate(syn_options(&h.cfg, Timestamps { val: 7, ecr }));
    let sent = h.call(|s, io| s.receive(&pkt, io));
    h.exts.free(pkt.ext);
    sent
}

#[test]
fn the_first_packet_is_a_syn_with_what_the_transport_has() {
    // RFC 9293 §3.5, RFC 7323 §2.2, RFC 2018 §2; RFC 3168 §6.1.1.
    let mut h = handshake_sender("dctcp", &[]);
    h.start();
    let [syn] = h.last[..] else { panic!("{:?}", h.last) };
    assert_eq!(syn.head.flags, Flags::SYN.with(Flags::ECE).with(Flags::CWR));
    assert_eq!((syn.seq, syn.payload, syn.head.ecn(), syn.window), (u32::MAX, 0, Ecn::NotEct, 65_535));
    assert_eq!((syn.head.size, syn.head.src.0, syn.head.rank), (70, 3, 0));
    let options = h.exts.get(syn.ext).unwrap();
    assert_eq!(
        options.syn,
        Some(SynOptions { mss: 1000, window_scale: Some(14), sack_permitted: true, pack_permitted: false })
    );
    assert_eq!((h.timer_in(), h.sender.is_done()), (Some(Dur::ms(10)), false));
    let mut h = handshake_sender("newreno", &[("timestamps", Value::Flag(true))]);
    h.wait(Dur::us(3));
    h.start();
    let options = h.exts.get(h.last[0].ext).unwrap();
    assert_eq!((h.last[0].head.flags, options.timestamps), (Flags::SYN, Some(Timestamps { val: 3, ecr: 0 })));
}

#[test]
fn syn_ack_gives_an_rtt_sample_and_releases_the_first_window() {
    // RFC 9293 §3.5, RFC 6298 (2.2).
    let mut h = handshake_sender("newreno", &[("min_rto", time(Dur::ps(1)))]);
    h.start();
    h.wait(Dur::us(100));
    assert_eq!(deliver_syn_ack(&mut h, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(100)), Dur::us(300)));
    assert_eq!((h.last[0].emission, h.last[0].head.flags), (1, Flags::ACK.with(Flags::PAYLOAD)));
    assert_eq!(h.timer_in(), Some(Dur::us(300)));
}

#[test]
fn window_of_a_syn_ack_is_not_scaled() {
    // RFC 7323 §2.2.
    let mut h = handshake_sender("newreno", &[("initial_window", packets(100)), ("receive_window", size(300_000))]);
    h.start();
    assert_eq!(deliver_syn_ack(&mut h, 0).len(), 65);
    assert_eq!(h.stats().rwnd, 65_535);
    h.ack(1);
    assert_eq!(h.stats().rwnd, 300_000);
    assert_eq!(h.stats().next, 102_000);
}

#[test]
fn lost_syn_leaves_a_window_of_one_segment_and_an_rto_of_3_s() {
    // RFC 6298 (5.5), (5.7), RFC 5681 §3.1; a SYN that was sent twice gives no sample.
    let mut h = handshake_sender("newreno", &[]);
    h.start();
    h.expire();
    assert_eq!(h.last[0].head.flags, Flags::SYN.with(Flags::RETRANSMIT));
    assert_eq!((h.timer_in(), h.stats().timeouts, h.stats().retransmissions), (Some(Dur::ms(20)), 1, 1));
    h.expire();
    assert_eq!(h.timer_in(), Some(Dur::ms(40)));
    h.wait(Dur::us(100));
    assert_eq!(deliver_syn_ack(&mut h, 0), [0]);
    assert_eq!((h.stats().srtt, h.cwnd(), h.stats().rto), (None, 1_000, Dur::s(3)));
    h.wait(Dur::us(100));
    assert_eq!(h.ack(1), [1, 2]);
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(100)), Dur::ms(10)));
    let mut h = handshake_sender("newreno", &[("max_rto", time(Dur::ms(500)))]);
    h.start();
    h.expire();
    deliver_syn_ack(&mut h, 0);
    assert_eq!(h.stats().rto, Dur::ms(500), "no more than the run's longest");
}

#[test]
fn with_timestamps_even_a_syn_sent_twice_is_a_sample() {
    // RFC 7323 §4.1; the timeout is 3 s nevertheless, RFC 6298 (5.7).
    let mut h = handshake_sender("newreno", &[("timestamps", Value::Flag(true))]);
    h.start();
    h.expire();
    h.wait(Dur::us(70));
    assert_eq!(deliver_syn_ack(&mut h, 10_000), [0]);
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(70)), Dur::s(3)));
    assert_eq!(h.exts.get(h.last[0].ext).unwrap().timestamps, Some(Timestamps { val: 10_070, ecr: 7 }));
}

#[test]
fn sender_ignores_all_but_a_valid_syn_ack_before_it_is_open() {
    // RFC 9293 §3.10.7.3.
    let mut h = handshake_sender("newreno", &[]);
    assert!(h.ack(0).is_empty());
    h.start();
    assert!(h.ack(0).is_empty() && h.ack(3).is_empty());
    h.wait(Dur::ms(1));
    assert!(h.call(|s, io| s.on_timer(io)).is_empty(), "too early");
    assert_eq!(h.stats().timeouts, 0);
    let mut wrong = segment::ack_segment(&flow(0), 5, false, &h.cfg);
    wrong.head.flags = wrong.head.flags.with(Flags::SYN);
    assert!(h.call(|s, io| s.receive(&wrong, io)).is_empty());
    assert_eq!(deliver_syn_ack(&mut h, 0).len(), 10);
}

#[test]
fn syn_ack_gets_a_pure_ack_if_repeated_or_without_data() {
    // RFC 9293 §3.10.7.4, §3.5.
    let mut h = handshake_sender("newreno", &[]);
    h.start();
    deliver_syn_ack(&mut h, 0);
    deliver_syn_ack(&mut h, 0);
    let [ack] = h.last[..] else { panic!("{:?}", h.last) };
    assert_eq!((ack.head.flags, ack.payload, ack.seq, ack.head.size), (Flags::ACK, 0, 10_000, 64));
    let mut h = handshake_sender_of(0, "newreno", &[("timestamps", Value::Flag(true))]);
    h.start();
    assert!(!h.sender.is_done());
    deliver_syn_ack(&mut h, 0);
    assert_eq!((h.last.len(), h.last[0].head.flags, h.last[0].head.size), (1, Flags::ACK, 70));
    assert!(h.sender.is_done() && h.sender.deadline().is_none());
}

#[test]
fn what_is_written_before_waits_for_the_connection() {
    let mut h = handshake_sender("newreno", &[]);
    assert!(h.write(500).is_empty());
    h.call(|s, io| s.open(io));
    assert_eq!(h.last.len(), 1);
    assert!(h.write(1_000).is_empty() && h.call(|s, io| s.open(io)).is_empty());
    deliver_syn_ack(&mut h, 0);
    assert_eq!(h.payloads(), [1000, 500]);
}
