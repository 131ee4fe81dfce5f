//! Tests of bursts of new data, as Linux sends them for segmentation offload, and of their effects.

use super::*;

/// Returns a Linux sender with a continuous clock.
fn linux(more: &[(&'static str, Value)]) -> SenderHarness {
    let given = [("tick", time(Dur::ZERO)), ("congestion_control", word("reno"))];
    SenderHarness::with_flow(1 << 30, "linux", &[&given[..], more].concat())
}
/// Returns a Linux sender that has started, with first segments that are 900 us old.
fn started(more: &[(&'static str, Value)]) -> SenderHarness {
    let mut h = linux(more);
    h.start();
    h.wait(Dur::us(900));
    h
}
/// Numbers of the segments sent last that carry PSH.
fn pushed(h: &SenderHarness) -> Vec<u32> {
    let is_pushed = |p: &&Pkt| h.exts.get(p.ext).is_some_and(|ext| ext.push);
    h.last.iter().filter(is_pushed).map(|p| p.seq / 1000).collect()
}

#[test]
fn a_burst_is_half_of_the_window_at_most_and_its_last_segment_is_pushed() {
    let mut h = linux(&[("initial_window", packets(9))]);
    assert_eq!(h.start(), (0..9).collect::<Vec<_>>());
    assert_eq!(pushed(&h), [3, 7], "four, four, and one that is no burst");
    let mut h = linux(&[("initial_window", packets(9)), ("tso", Value::Flag(false))]);
    h.start();
    assert_eq!(pushed(&h), [0; 0]);
}

#[test]
fn a_burst_is_what_offload_takes_at_most() {
    let mut h = linux(&[("initial_window", packets(200))]);
    h.start();
    assert_eq!(pushed(&h), [64, 129, 194, 199], "64 KiB are 65 segments");
    // Over 20 ms a burst has no bonus for short paths: 1/1024 s at 1.2 windows per round trip.
    let far = [("initial_window", packets(200)), ("initial_ssthresh", size(1)), ("handshake_rtt", time(Dur::ms(20)))];
    let mut h = linux(&far);
    h.start();
    assert_eq!(pushed(&h)[..3], [10, 21, 32], "1.2 200 / 20.48 are 11.7");
}

#[test]
fn the_end_of_a_piece_leaves_as_soon_as_there_is_room_for_it() {
    // Half of the receiver's window is ten segments: pieces end after 12, 22, 32.
    let mut h = started(&[("initial_window", packets(12)), ("receive_window", size(20_000))]);
    assert_eq!([h.ack(1), h.ack(2)], [vec![], vec![]]);
    assert_eq!(h.ack(3), (12..18).collect::<Vec<_>>(), "room for six, of a window of 15");
    assert_eq!([h.ack(4), h.ack(5)], [vec![], vec![18, 19, 20, 21]], "room for four, of 17");
    let mut h = started(&[("initial_window", packets(12))]);
    let sent: Vec<_> = (1..6).map(|n| h.ack(n).len()).collect();
    assert_eq!(sent, [0, 0, 6, 0, 0]);
}

#[test]
fn a_probe_takes_along_what_was_waiting() {
    let mut h = started(&[]);
    assert_eq!(h.ack(1), [0; 0]);
    assert_eq!((h.expire(), pushed(&h)), (vec![10, 11], vec![11]));
    let mut h = started(&[("tso", Value::Flag(false))]);
    h.ack(1);
    assert_eq!(h.expire(), [12]);
}

#[test]
fn what_waits_for_a_larger_burst_uses_the_window_all_the_same() {
    let mut h = started(&[("initial_ssthresh", size(1))]);
    // Half of the window leaves, and too little space remains for the next burst: twice.
    assert_eq!(h.ack(7), (10..15).collect::<Vec<_>>());
    h.wait(Dur::us(900));
    assert_eq!((h.ack(11), h.cwnd()), ((15..20).collect(), 11_000));
    // Nine of eleven are in flight when a new round trip begins. Its ACKs count: 11 to 21 are a window.
    (12..=20).for_each(|n| _ = h.ack(n));
    assert_eq!(h.cwnd(), 11_000);
    h.ack(21);
    assert_eq!(h.cwnd(), 12_000, "a segment for each window");
}

#[test]
fn a_window_is_reduced_from_what_it_was_and_by_whole_segments() {
    let mut h = started(&[("initial_window", packets(20))]);
    assert_eq!(h.ack(1), [0; 0]);
    // The window falls from 21 to 10, with 15 in flight. Three of 21 have arrived: 1.4 of ten.
    assert_eq!(h.sack(1, &[(2, 5)]), [1, 20]);
    assert_eq!(h.sack(1, &[(2, 6)]), [0; 0], "1.9");
    assert_eq!(h.sack(1, &[(2, 7)]), [21], "2.4");
}

#[test]
fn timeout_in_recovery_starts_no_frto() {
    let mut h = started(&[]);
    assert_eq!(h.sack(0, &[(1, 4)]), [0, 10]);
    assert_eq!(h.expire(), [0]);
    assert_eq!(h.ack(4), [4, 5], "what is lost, and no new data");
}

#[test]
fn while_a_probe_is_under_way_its_time_passes_before_that_of_the_timeout() {
    let set = [("congestion_control", word("reno")), ("min_rto", time(Dur::ms(10)))];
    let mut h = SenderHarness::with_flow(1 << 30, "linux", &set);
    h.start();
    assert_eq!(h.expire(), [10], "the probe");
    h.wait(Dur::ms(12));
    h.ack(1);
    let timeouts = h.stats().timeouts;
    assert_eq!((h.expire(), h.stats().timeouts), (vec![], timeouts));
    // The timeout is over by now. It still waits for one tick, which takes two from a tick on.
    let left = h.timer_in().unwrap();
    assert!(left > Dur::ms(7) && left < Dur::ms(9), "{left}");
}

#[test]
fn a_timer_that_is_set_for_the_same_tick_again_keeps_its_place() {
    let (cfg, host) = (config("linux", &[]), mech::HostId(0));
    let (mut exts, mut out, mut timers_set) = (ExtensionSlab::default(), ReleasedPackets::default(), 0);
    let mut set = |now: Dur, pending: Time| {
        let (exts, out, timers_set) = (&mut exts, &mut out, &mut timers_set);
        Io { now: Time::ZERO + now, cfg: &cfg, exts, out, timers_set }.timer_expiry(host, Dur::ms(10), pending)
    };
    let tick = set(Dur::ms(100), Time::NEVER);
    // Ticks are 4 ms apart, so one of the two times around this one has the same tick.
    let again = [Dur::ms(98), Dur::ms(102)].map(|now| set(now, tick));
    assert!(again.contains(&tick), "{again:?}");
    let other = set(Dur::ms(104), tick);
    assert!(other > tick, "a later tick");
    assert!(set(Dur::ms(100), Time::NEVER) < tick, "set last, handled first");
}
