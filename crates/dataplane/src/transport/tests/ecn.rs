//! Tests of marks: RFC 3168 for NewReno, RFC 8257 for DCTCP.

use super::*;
use crate::transport::fraction::{FRACTION_ONE, to_fraction};
use crate::transport::tests::pair::{Direction, Fault, Pair};
use crate::transport::{FinishedReceiver, FlowInfo, Receiver, ack_of_finished};
use mech::{Ecn, Flags};

fn ecn() -> (&'static str, Value) {
    ("ecn", Value::Flag(true))
}

#[test]
fn data_is_ect_and_what_is_sent_again_is_so_only_for_dctcp() {
    // RFC 3168 §6.1.2, §6.1.5; pure ACKs §6.1.4.
    for (kind, set, again) in [("newreno", vec![ecn()], Ecn::NotEct), ("dctcp", vec![], Ecn::Ect0)] {
        let mut h = SenderHarness::new(kind, &set);
        h.start();
        assert!(h.last.iter().all(|p| p.head.ecn() == Ecn::Ect0));
        h.expire();
        assert_eq!(h.last[0].head.ecn(), again, "{kind}");
        assert_eq!(segment::ack_segment(&flow(0), 0, true, &h.cfg).head.ecn(), Ecn::NotEct);
    }
    let mut h = SenderHarness::new("newreno", &[]);
    h.start();
    assert!(h.last.iter().all(|p| p.head.ecn() == Ecn::NotEct));
    h.ack_ece(1);
    assert_eq!((h.cwnd(), h.stats().echoes), (11_000, 0), "an echo that nobody asked for");
}

#[test]
fn an_echo_halves_once_a_window_and_the_next_new_segment_says_so() {
    // RFC 3168 §6.1.2.
    let mut h = SenderHarness::new("newreno", &[ecn()]);
    h.start();
    assert!(h.ack_ece(1).is_empty());
    assert_eq!((h.cwnd(), h.ssthresh(), h.stats().cuts), (5_000, 5_000, 1));
    for n in 2..=5 {
        h.ack_ece(n);
    }
    assert_eq!(h.cwnd(), 5_000, "neither cut again nor opened by an echo");
    assert_eq!(h.ack_ece(6), [10]);
    assert!(h.last[0].head.flags.has(Flags::CWR));
    assert_eq!(h.ack_ece(7), [11]);
    assert!(!h.last[0].head.flags.has(Flags::CWR), "said once");
    h.ack_ece(10);
    assert_eq!(h.stats().cuts, 1, "the last segment sent before the cut");
    h.ack_ece(11);
    assert_eq!((h.stats().cuts, h.cwnd()), (2, 2_500));
}

#[test]
fn a_mark_leaves_two_segments() {
    let mut h = SenderHarness::new("newreno", &[ecn(), ("initial_window", packets(3))]);
    h.start();
    h.ack_ece(1);
    assert_eq!(h.cwnd(), 2_000);
    h.expire();
    h.ack(3);
    assert_eq!(h.cwnd(), 2_000);
    h.ack_ece(4);
    assert_eq!((h.cwnd(), h.ssthresh()), (2_000, 2_000));
}

#[test]
fn any_reduction_is_told_by_cwr() {
    // RFC 3168 §6.1.2: a timeout, a fast retransmit, or an echo.
    let mut h = SenderHarness::new("newreno", &[ecn()]);
    h.start();
    (0..3).for_each(|_| drop(h.ack(0)));
    assert!(!h.last[0].head.flags.has(Flags::CWR), "not the retransmission");
    h.ack(10);
    assert!(h.last[0].head.flags.has(Flags::CWR));
    let mut h = SenderHarness::new("newreno", &[ecn()]);
    h.start();
    h.expire();
    h.ack(10);
    assert!(h.last[0].head.flags.has(Flags::CWR) && !h.last[1].head.flags.has(Flags::CWR));
}

#[test]
fn a_loss_and_a_mark_of_one_window_reduce_once() {
    // RFC 3168 §6.1.2.
    let mut h = SenderHarness::new("newreno", &[ecn()]);
    h.start();
    h.ack_ece(1);
    (0..3).for_each(|_| drop(h.ack(1)));
    assert_eq!((h.ssthresh(), h.cwnd()), (5_000, 8_000), "the loss after the mark");
    let mut h = SenderHarness::new("newreno", &[ecn()]);
    h.start();
    (0..3).for_each(|_| drop(h.ack(0)));
    h.ack_ece(2);
    h.ack_ece(10);
    assert_eq!((h.ssthresh(), h.stats().cuts), (5_000, 0), "the mark after the loss");
}

#[test]
fn dctcp_reacts_to_a_loss_as_newreno_does_even_after_a_mark() {
    // RFC 8257 §3.5.
    let mut h = SenderHarness::new("dctcp", &[("recovery", word("newreno"))]);
    h.start();
    h.ack_ece(1);
    (0..3).for_each(|_| drop(h.ack(1)));
    assert_eq!((h.ssthresh(), h.cwnd()), (4_500, 7_500), "half of the nine under way");
    h.expire();
    assert_eq!(h.cwnd(), 1_000);
}

#[test]
fn with_selective_acknowledgements_too_a_loss_and_a_mark_of_one_window_reduce_once() {
    // RFC 3168 §6.1.2; RFC 8257 §3.5 for DCTCP, whose cut by a mark does not replace that by a loss.
    let loss_after_mark = |kind, set: &[(&str, Value)]| {
        let mut h = SenderHarness::new(kind, set);
        h.start();
        h.ack_ece(1);
        h.sack(1, &[(2, 5)]);
        assert_eq!((h.stats().fast_retransmits, h.stats().cuts), (1, 1));
        (h.ssthresh(), h.cwnd())
    };
    assert_eq!(loss_after_mark("sack", &[ecn()]), (5_000, 5_000));
    assert_eq!(loss_after_mark("dctcp", &[]), (4_500, 4_500), "half of the nine under way");
    let mut h = SenderHarness::new("sack", &[ecn()]);
    h.start();
    h.sack(0, &[(1, 4)]);
    h.ack_ece(2);
    h.ack_ece(10);
    assert_eq!((h.ssthresh(), h.stats().cuts), (5_000, 0), "the mark after the loss");
}

#[test]
fn the_receiver_latches_the_echo_until_cwr() {
    // RFC 3168 §6.1.3.
    let cfg = config("newreno", &[ecn()]);
    let mut pair = Pair::new(40_000, cfg).fault(Direction::Data, 2, Fault::Mark);
    pair.gap = Dur::us(20);
    let pair = pair.run();
    let echoed: Vec<bool> = pair.acks.iter().map(|p| p.head.flags.has(Flags::ECE)).collect();
    let cwr = pair.data.iter().position(|p| p.head.flags.has(Flags::CWR)).unwrap();
    assert!(echoed[..2].iter().all(|e| !e) && echoed[2..cwr].iter().all(|e| *e) && echoed[cwr..].iter().all(|e| !e));
    assert_eq!((pair.sender.stats().cuts, pair.receiver.stats().marked), (1, 1));
}

fn segment_of(n: u64, ce: bool, cwr: bool, cfg: &TcpConfig) -> Pkt {
    let mut pkt = segment::data_segment(&flow(100_000), (n * 1000, 1000), 0, cfg);
    pkt.head.set_ecn(if ce { Ecn::Ce } else { Ecn::Ect0 });
    if cwr {
        pkt.head.flags = pkt.head.flags.with(Flags::CWR);
    }
    pkt
}

/// Returns the echoes of the ACKs of segments (number, marked, CWR), in order.
fn echoes(cfg: &TcpConfig, segments: &[(u64, bool, bool)]) -> Vec<(u32, bool)> {
    let mut receiver = Receiver::new(&flow(100_000), cfg);
    let out = sent(Time::ZERO, cfg, |io| {
        for (n, ce, cwr) in segments {
            receiver.receive(&segment_of(*n, *ce, *cwr, cfg), io);
        }
    });
    out.iter().map(|p| (p.ack / 1000, p.head.flags.has(Flags::ECE))).collect()
}

#[test]
fn a_marked_segment_with_cwr_starts_the_latch_anew_and_a_mark_on_old_data_does_not() {
    // RFC 3168 §6.1.3, §6.1.5.
    let cfg = config("newreno", &[ecn()]);
    assert_eq!(
        echoes(&cfg, &[(0, true, false), (1, true, true), (2, false, false)]),
        [(1, true), (2, true), (3, true)]
    );
    assert_eq!(
        echoes(&cfg, &[(0, false, false), (0, true, false), (1, false, false)]),
        [(1, false), (1, false), (2, false)]
    );
}

#[test]
fn dctcp_echoes_the_mark_of_each_segment_exactly() {
    // RFC 8257 §3.2, one ACK per segment.
    let cfg = config("dctcp", &[]);
    let marks = [true, false, true, true, false];
    let segments: Vec<_> = marks.iter().enumerate().map(|(n, m)| (n as u64, *m, false)).collect();
    assert_eq!(echoes(&cfg, &segments).iter().map(|(_, e)| *e).collect::<Vec<_>>(), marks);
}

#[test]
fn with_delayed_acks_a_change_of_marks_acknowledges_what_came_before_with_its_own_echo() {
    // RFC 8257 §3.2.
    let cfg = config("dctcp", &[("delayed_ack", Value::Flag(true))]);
    let plain = |n| (n, false, false);
    let marked = |n| (n, true, false);
    assert_eq!(
        echoes(&cfg, &[plain(0), plain(1), plain(2), marked(3), marked(4), marked(5), marked(6), plain(7)]),
        [(2, false), (3, false), (4, true), (6, true), (7, true), (8, false)]
    );
}

#[test]
fn alpha_follows_the_marked_fraction_of_each_window_byte_by_byte() {
    // RFC 8257 §3.3 steps 1 to 8. The first observation window ends with the first ACK (WindowEnd =
    // SND.UNA), later ones with the first ACK beyond SND.NXT of the one before.
    let mut h = SenderHarness::new("dctcp", &[("g", Value::Number(0.25)), ("initial_ssthresh", size(1))]);
    let alpha = |h: &SenderHarness| f64::from(h.stats().alpha.unwrap()) / f64::from(FRACTION_ONE);
    h.start();
    assert_eq!(alpha(&h), 1.0);
    h.ack(1);
    assert_eq!((alpha(&h), h.stats().next), (0.75, 11_000), "nothing marked: 1 - g; the window ends at 10 or 11");
    let end = 10;
    (2..=end).for_each(|n| drop(if n <= 4 { h.ack_ece(n) } else { h.ack(n) }));
    assert_eq!(alpha(&h), 0.75, "still within");
    h.ack(end + 1);
    // Segments 2 to 11: 3 of 10 marked.
    let want = 0.75 * 0.75 + 0.25 * 0.3;
    assert!((alpha(&h) - want).abs() < 2e-9, "{} {want}", alpha(&h));
}

#[test]
fn dctcp_cuts_by_half_of_alpha_once_a_window() {
    // RFC 8257 §3.3 step 9, §3.4.
    let set = [("initial_alpha", Value::Number(0.25)), ("g", Value::Number(0.0)), ("initial_window", packets(16))];
    let mut h = SenderHarness::new("dctcp", &set);
    h.start();
    h.ack_ece(1);
    assert_eq!((h.cwnd(), h.ssthresh()), (14_000, 14_000));
    (2..=16).for_each(|n| drop(h.ack_ece(n)));
    assert_eq!((h.cwnd(), h.stats().cuts), (14_000, 1));
    h.ack_ece(17);
    assert_eq!((h.cwnd(), h.stats().cuts), (12_250, 2));
}

#[test]
fn alpha_stays_at_one_under_marks_and_decays_to_zero_without() {
    let set = [("initial_window", packets(1)), ("initial_ssthresh", size(1))];
    let mut h = SenderHarness::new("dctcp", &set);
    h.start();
    (1..=50).for_each(|n| drop(h.ack_ece(n)));
    assert_eq!(h.stats().alpha, Some(FRACTION_ONE));
    let mut h = SenderHarness::with_flow(100_000_000, "dctcp", &set);
    h.start();
    (1..=90_000).for_each(|n| drop(h.ack(n)));
    assert_eq!(h.stats().alpha, Some(0));
    assert_eq!(
        (to_fraction(0.0625), to_fraction(1.0), to_fraction(7.0), to_fraction(-1.0)),
        (FRACTION_ONE / 16, FRACTION_ONE, FRACTION_ONE, 0)
    );
}

#[test]
fn the_reply_to_a_packet_of_a_finished_flow_acknowledges_all_and_echoes_for_dctcp() {
    let f = FlowInfo { bytes: (1 << 32) + 5000, ..flow(0) };
    for (cfg, echo) in [(config("dctcp", &[]), true), (config("newreno", &[ecn()]), false)] {
        let mut left = FinishedReceiver { acks: 41, recent: 0 };
        let mut reply = |ce| {
            let pkt = segment_of(3, ce, false, &cfg);
            sent(Time::ZERO, &cfg, |io| ack_of_finished(&f, &pkt, &mut left, io))[0]
        };
        let ack = reply(true);
        assert_eq!((ack.ack, ack.emission, ack.head.flags.has(Flags::ECE)), (5000, 41, echo));
        assert!(ack.head.is_pure_ack() && ack.head.flags.has(Flags::REVERSE));
        assert!(!reply(false).head.flags.has(Flags::ECE));
        assert_eq!(left.acks, 43);
    }
}

#[test]
fn a_notice_is_counted_and_changes_nothing() {
    let mut h = SenderHarness::new("dctcp", &[]);
    h.start();
    let before = h.stats();
    for notice in [Notice::Cnm(63), Notice::Bounced(2)] {
        h.notice(&notice);
    }
    assert_eq!(h.stats(), SenderStats { notices: 2, ..before });
}
