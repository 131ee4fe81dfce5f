//! Tests of frames that bounce back to their source's host (PABO §II-G).

use super::*;
use crate::transport::tests::pair::{Direction, Fault, Pair};
use mech::host::WindowCut;
use mech::params::Values;

fn window_cut(window: Dur, threshold: u64, cut: f64) -> Option<WindowCut> {
    let all = [("window", time(window)), ("threshold", Value::Count(threshold)), ("cut", Value::Number(cut))];
    let all = all.map(|(name, value)| (name.to_string(), value));
    Some(WindowCut::new(&Values(all.into_iter().collect())))
}

/// Returns a sender with 20 segments in flight, which cuts its window for bounced frames by this law.
fn sender_with_cut(law: Option<WindowCut>) -> SenderHarness {
    let mut h = SenderHarness::new("newreno", &[("initial_window", packets(20))]);
    h.cfg = h.cfg.clone().with_bounce_signal(law);
    assert_eq!(h.start().len(), 20);
    h
}

fn return_frames(h: &mut SenderHarness, frames: u32) {
    (0..frames).for_each(|_| h.notice(&Notice::Bounced(1000)));
}

#[test]
fn the_window_is_cut_by_half_the_share_of_the_flight_that_came_back() {
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 1, 0.5));
    return_frames(&mut h, 1);
    assert_eq!((h.cwnd(), h.ssthresh()), (19_500, 19_500));
    return_frames(&mut h, 9);
    assert_eq!((h.cwnd(), h.ssthresh()), (15_000, 15_000));
    return_frames(&mut h, 10);
    assert_eq!((h.cwnd(), h.stats().cuts, h.stats().notices), (10_000, 1, 20));
    return_frames(&mut h, 10);
    assert_eq!(h.cwnd(), 10_000, "the whole flight is all there is");
}

#[test]
fn bounces_cut_nothing_without_a_law_or_below_its_threshold() {
    let mut h = sender_with_cut(None);
    return_frames(&mut h, 20);
    assert_eq!((h.cwnd(), h.stats().notices), (20_000, 20));
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 4, 0.5));
    return_frames(&mut h, 3);
    assert_eq!((h.cwnd(), h.stats().cuts), (20_000, 0));
    return_frames(&mut h, 1);
    assert_eq!(h.cwnd(), 18_000);
}

#[test]
fn frames_of_another_window_of_time_do_not_add_up() {
    let mut h = sender_with_cut(window_cut(Dur::us(100), 4, 0.5));
    return_frames(&mut h, 3);
    h.wait(Dur::us(100));
    return_frames(&mut h, 3);
    assert_eq!(h.cwnd(), 20_000);
    return_frames(&mut h, 1);
    assert_eq!(h.cwnd(), 18_000);
    // A further time window within the round trip neither cuts again nor restores anything.
    h.wait(Dur::us(100));
    return_frames(&mut h, 4);
    assert_eq!((h.cwnd(), h.stats().cuts), (18_000, 1));
}

#[test]
fn it_is_cut_again_once_what_was_under_way_is_acknowledged() {
    let mut h = sender_with_cut(window_cut(Dur::s(1), 1, 1.0));
    return_frames(&mut h, 5);
    assert_eq!((h.cwnd(), h.stats().cuts), (15_000, 1));
    (1..=20).for_each(|n| drop(h.ack(n)));
    return_frames(&mut h, 1);
    assert_eq!(h.stats().cuts, 1, "up to the last byte of that flight it counts as the same");
    h.ack(21);
    let (before, flight) = (h.cwnd(), (h.stats().next - h.stats().acked) as u32);
    return_frames(&mut h, 1);
    assert!(h.cwnd().abs_diff(before - before / (flight / 1000)) <= 1, "{before} to {}", h.cwnd());
    assert_eq!(h.stats().cuts, 2);
}

#[test]
fn two_segments_are_left_and_a_smaller_window_stays() {
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 1, 1.0));
    return_frames(&mut h, 20);
    assert_eq!((h.cwnd(), h.ssthresh()), (2_000, 2_000));
    let mut h = SenderHarness::new("newreno", &[("initial_window", packets(1))]);
    h.cfg = h.cfg.clone().with_bounce_signal(window_cut(Dur::ms(1), 1, 1.0));
    h.start();
    let before = h.ssthresh();
    return_frames(&mut h, 1);
    assert_eq!((h.cwnd(), h.ssthresh()), (1_000, before));
}

#[test]
fn a_mark_and_a_frame_that_came_back_cut_once_between_them() {
    let ecn = ("ecn", Value::Flag(true));
    let mut h = SenderHarness::new("newreno", &[("initial_window", packets(20)), ecn]);
    h.cfg = h.cfg.clone().with_bounce_signal(window_cut(Dur::ms(1), 1, 0.5));
    h.start();
    h.ack_ece(1);
    assert_eq!((h.cwnd(), h.stats().cuts), (10_000, 1));
    return_frames(&mut h, 5);
    assert_eq!((h.cwnd(), h.stats().cuts), (10_000, 1));
}

#[test]
fn nothing_is_cut_while_a_loss_is_mended_or_nothing_is_under_way() {
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 1, 1.0));
    (0..4).for_each(|_| drop(h.ack(0)));
    assert!(h.stats().in_recovery);
    let before = h.cwnd();
    return_frames(&mut h, 10);
    assert_eq!((h.cwnd(), h.stats().cuts), (before, 0));
    // A cut that began before the loss does not grow either.
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 1, 0.5));
    return_frames(&mut h, 1);
    (0..4).for_each(|_| drop(h.ack(0)));
    assert!(h.stats().in_recovery);
    let before = h.cwnd();
    return_frames(&mut h, 10);
    assert_eq!((h.cwnd(), h.stats().cuts), (before, 1));
    let mut h = sender_with_cut(window_cut(Dur::ms(1), 1, 1.0));
    h.cfg = h.cfg.clone();
    let mut h = SenderHarness { sender: Sender::new(&flow(20_000), &h.cfg), ..h };
    h.start();
    h.ack(20);
    let before = h.cwnd();
    return_frames(&mut h, 1);
    assert_eq!((h.cwnd(), h.stats().cuts, h.sender.is_done()), (before, 0, true));
}

#[test]
fn a_flow_whose_frames_come_back_sends_more_slowly_and_arrives_whole() {
    let run = |law| {
        let mut cfg = config("newreno", &[("dupack_threshold", Value::Off), ("initial_window", packets(20))]);
        cfg = cfg.with_bounce_signal(law);
        let pair = (5..15).fold(Pair::new(400_000, cfg), |pair, n| pair.fault(Direction::Data, n, Fault::Back));
        pair.run()
    };
    let (uninformed, informed) = (run(None), run(window_cut(Dur::ms(1), 1, 0.5)));
    for pair in [&uninformed, &informed] {
        assert!(pair.sender.is_done() && pair.receiver.is_complete());
        assert_eq!(pair.sender.stats().retransmissions, 0);
        assert_eq!(pair.sender.stats().notices, 10);
    }
    assert_eq!((uninformed.sender.stats().cuts, informed.sender.stats().cuts), (0, 1));
    assert!(informed.sender.stats().cwnd < uninformed.sender.stats().cwnd);
    assert!(informed.completed > uninformed.completed);
}
