//! Tests of rules that a host adds to its protocol: ticks of timers, samples of handshakes, and bursts for offload.

use super::*;

fn rack(more: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let given = [("recovery", word("rack")), ("rto_floor", word("deviation")), ("min_rto", time(Dur::ms(10)))];
    [&given[..], more].concat()
}

/// Checks that a wait that began between two ticks of 4 ms exceeds `least` ms, by at most one tick.
fn between(wait: Dur, least: u64) {
    assert!(wait > Dur::ms(least) && wait <= Dur::ms(least + 4), "{wait}: more than {least} ms, to the next tick");
}

#[test]
fn an_established_connection_begins_with_the_sample_of_its_handshake() {
    let mut h =
        SenderHarness::new("dctcp", &rack(&[("handshake_rtt", time(Dur::us(50))), ("initial_rto", time(Dur::s(1)))]));
    h.start();
    assert_eq!((h.stats().srtt, h.stats().rto), (Some(Dur::us(50)), Dur::us(10_050)));
    assert_eq!(h.timer_in(), Some(Dur::us(100)), "a probe after two round trips");
    let mut h = SenderHarness::new("sack", &[("handshake_rtt", time(Dur::us(50))), ("initial_rto", time(Dur::s(1)))]);
    h.start();
    assert_eq!((h.stats().srtt, h.timer_in()), (Some(Dur::us(50)), Some(Dur::ms(10))));
}

#[test]
fn timers_fire_at_ticks_and_the_least_timeout_is_whole_ticks() {
    let set = [("tick", time(Dur::ms(4))), ("handshake_rtt", time(Dur::us(50)))];
    let mut h = SenderHarness::new("dctcp", &rack(&[&set[..], &[("tlp", Value::Flag(false))]].concat()));
    h.start();
    // 12.05 ms are kept as four ticks.
    assert_eq!(h.stats().rto, Dur::ms(16));
    // The part of the current tick that has passed does not count.
    between(h.timer_in().unwrap(), 16);
    h.expire();
    // Eight ticks, counted from a tick on.
    let (wait, slack) = (h.timer_in().unwrap(), Dur::us(20));
    assert!(wait > Dur::ms(36) - slack && wait < Dur::ms(36) + slack, "{wait}");
}

#[test]
fn hosts_and_seeds_have_phases_of_their_own() {
    let cfg = config("dctcp", &rack(&[("tick", time(Dur::ms(4)))]));
    let phase = |seed: u64, host: u32| cfg.clone().with_seed(seed).host_ticks(mech::HostId(host)).phase;
    assert_eq!(phase(1, 0), phase(1, 0));
    assert!(phase(1, 0) != phase(1, 1) && phase(1, 0) != phase(2, 0));
    assert!((0..100).all(|host| phase(7, host) < Dur::ms(4)));
}

#[test]
fn new_data_wait_for_a_third_of_the_window_and_not_for_longer_than_half_a_round_trip() {
    let start = |more: &[(&'static str, Value)]| {
        let mut h = SenderHarness::new("dctcp", &rack(more));
        h.start();
        h.wait(Dur::us(900));
        h
    };
    let tso = [("tso", Value::Flag(true))];
    // The first ACK frees two segments of a window of eleven.
    let mut h = start(&[]);
    assert_eq!(h.ack(1), [10, 11]);
    let mut h = start(&tso);
    assert_eq!([h.ack(1), h.ack(2)], [vec![], vec![10, 11, 12, 13]]);
    // After a long silence, or with a SACK beyond a gap, new data leaves immediately.
    let mut h = start(&tso);
    h.wait(Dur::ms(1));
    assert_eq!(h.ack(1), [10, 11]);
}

#[test]
fn the_end_of_a_flow_waits_for_nothing() {
    let mut h = SenderHarness::with_flow(11_000, "dctcp", &rack(&[("tso", Value::Flag(true))]));
    h.start();
    h.wait(Dur::us(900));
    assert_eq!(h.ack(1), [10]);
}
