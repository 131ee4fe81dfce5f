//! Tests of the passive side of a handshake: RFC 9293 §3.5, RFC 3168 §6.1.1, RFC 6298.

use super::*;
use crate::SynOptions;
use crate::transport::syn_options::syn_options;
use mech::Ecn;

const ECN: Flags = Flags::ECE.with(Flags::CWR);

fn opened_by_handshake(kind: &str, more: &[(&'static str, Value)]) -> End {
    let mut set = vec![("connection", Value::Word("handshake".into())), ("initial_rto", time(Dur::ms(10)))];
    set.extend_from_slice(more);
    End::with_flow(100_000, kind, &set)
}

impl End {
    /// Delivers a SYN with these flags and the transport's options, and returns the flags of the packets that leave.
    fn syn(&mut self, flags: Flags) -> Vec<Flags> {
        let offer = syn_options(&self.cfg, Timestamps { val: self.stamp, ecr: 0 });
        self.syn_with(flags, offer)
    }
    fn syn_with(&mut self, flags: Flags, offer: PacketExtension) -> Vec<Flags> {
        let mut pkt = segment::data_segment(&flow(0), (0, 0), 0, &self.cfg);
        pkt.seq = u32::MAX;
        pkt.head.flags = Flags::SYN.with(flags);
        pkt.ext = self.exts.allocate(offer);
        self.packet(pkt);
        self.last.iter().map(|p| p.head.flags).collect()
    }
    fn ack(&mut self) -> Vec<u32> {
        let mut pkt = segment::data_segment(&flow(0), (0, 0), 0, &self.cfg);
        pkt.head.flags = Flags::ACK;
        self.packet(pkt)
    }
    fn expire(&mut self) -> usize {
        self.now = self.receiver.deadline().expect("a timer that runs");
        self.call(|r, io| r.on_timer(io)).len()
    }
}

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK).with(Flags::REVERSE);

#[test]
fn a_syn_is_answered_with_all_that_both_have() {
    let mut e = opened_by_handshake("sack", &[("receive_window", size(1 << 20))]);
    assert_eq!(e.syn(Flags(0)), [SYN_ACK]);
    let (pkt, ext) = e.sent();
    assert_eq!((pkt.ack, pkt.seq, pkt.emission, pkt.payload), (0, 0, 0, 0));
    // RFC 7323 §2.2: the window of a SYN is not scaled.
    assert_eq!((pkt.window, pkt.head.size, pkt.head.ecn()), (65_535, 70, Ecn::NotEct));
    assert_eq!(
        ext.syn,
        Some(SynOptions { mss: 1000, window_scale: Some(5), sack_permitted: true, pack_permitted: false })
    );
    assert!(!pkt.head.is_pure_ack());
    assert_eq!(e.segment(0), [1000]);
    assert_eq!(u32::from(e.sent().0.window) << 5, 1 << 20);
    assert_eq!((e.receiver.stats().acks, e.receiver.deadline()), (2, None));
}

#[test]
fn ecn_is_agreed_upon_by_ece_alone() {
    // RFC 3168 §6.1.1.
    for (kind, offer, agreed) in
        [("dctcp", ECN, true), ("dctcp", Flags(0), false), ("sack", ECN, false), ("dctcp", Flags::ECE, false)]
    {
        let mut e = opened_by_handshake(kind, &[]);
        let expected = if agreed { SYN_ACK.with(Flags::ECE) } else { SYN_ACK };
        assert_eq!(e.syn(offer), [expected], "{kind}");
        assert_eq!((e.expire(), e.last[0].head.flags), (1, expected), "the same again");
    }
}

#[test]
fn the_answer_is_repeated_at_doubling_intervals_until_an_ack_comes() {
    // RFC 6298 (5.4) to (5.6), (2.5).
    let mut e = opened_by_handshake("reno", &[("max_rto", time(Dur::ms(50)))]);
    e.now = Time::ZERO + Dur::ms(1);
    e.syn(Flags(0));
    let mut at = vec![];
    for _ in 0..5 {
        assert_eq!(e.expire(), 1);
        at.push((e.now - Time::ZERO).0 / Dur::ms(1).0);
    }
    assert_eq!(at, [11, 31, 71, 121, 171]);
    assert_eq!(e.sent().0.emission, 5);
    assert_eq!((e.ack(), e.receiver.deadline()), (vec![], None));
    let mut silent = opened_by_handshake("reno", &[("retransmission_timer", Value::Flag(false))]);
    assert_eq!((silent.syn(Flags(0)).len(), silent.receiver.deadline()), (1, None));
}

#[test]
fn a_repeated_syn_is_answered_again_and_later_by_an_ack() {
    // RFC 9293 §3.10.7.4.
    let mut e = opened_by_handshake("sack", &[]);
    e.syn(Flags(0));
    let first = e.receiver.deadline();
    e.now += Dur::ms(3);
    assert_eq!(e.syn(Flags(0)), [SYN_ACK]);
    assert_eq!(e.receiver.deadline(), first, "the timer runs on");
    e.segment(0);
    e.segment(1);
    assert_eq!(e.syn(Flags(0)), [SYN_ACK.without(Flags::SYN)]);
    assert_eq!(e.sent().0.ack, 2000);
    assert!(e.blocks().is_empty());
}

#[test]
fn before_a_syn_there_is_no_connection() {
    let mut e = opened_by_handshake("sack", &[]);
    assert_eq!((e.segment(0), e.ack()), (vec![], vec![]));
    assert_eq!((e.receiver.received_bytes(), e.receiver.stats().segments), (0, 0));
}

#[test]
fn what_the_syn_does_not_offer_is_not_used() {
    // RFC 2018 §2, RFC 7323 §2.2, §3.2.
    let mut e = opened_by_handshake("sack", &[("timestamps", Value::Flag(true)), ("receive_window", size(1 << 20))]);
    let syn = Some(SynOptions { mss: 1000, window_scale: None, sack_permitted: false, pack_permitted: false });
    e.syn_with(Flags(0), PacketExtension { syn, ..PacketExtension::default() });
    let ext = e.sent().1;
    assert_eq!((ext.syn.map(|s| (s.window_scale, s.sack_permitted)), ext.timestamps), (Some((None, false)), None));
    e.segment(2);
    assert_eq!((e.sent().0.window, e.sent().0.ext), (65_535, NO_EXT));
    // So nothing beyond that window is accepted.
    e.bytes(65_000, 1000);
    assert_eq!(e.receiver.stats().waiting, 1535);
    assert_eq!((e.segment(0), e.segment(1)), (vec![1000], vec![3000]));
}

#[test]
fn the_timestamp_of_the_syn_is_echoed_until_there_is_another() {
    // RFC 7323 §3.2, §4.3.
    let echo = |e: &End| e.sent().1.timestamps.map(|t| (t.val, t.ecr));
    let mut e = opened_by_handshake("sack", &[("timestamps", Value::Flag(true))]);
    e.now += Dur::us(50);
    e.stamp = 7;
    e.syn(Flags(0));
    assert_eq!((echo(&e), e.sent().0.head.size), (Some((50, 7)), 78));
    e.stamp = 9;
    e.segment(1);
    assert_eq!(echo(&e), Some((50, 7)));
    e.ack();
    e.segment(2);
    assert_eq!(echo(&e), Some((50, 9)), "an ACK without data has one, too");
    e.stamp = 6;
    assert_eq!((e.segment(0), echo(&e)), (vec![0], Some((50, 9))), "older than the SYN");
}
