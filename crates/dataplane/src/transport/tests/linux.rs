//! Tests of Linux's rules beyond RFCs that would need too long a conformance case.

use super::*;

#[test]
fn growth_is_whole_segments_and_loses_none() {
    let set = [
        ("congestion_control", word("reno")),
        ("recovery", word("sack")),
        ("initial_window", packets(4000)),
        ("initial_ssthresh", size(1)),
    ];
    let mut h = SenderHarness::with_flow(1 << 40, "linux", &set);
    h.start();
    for n in 1..4000 {
        h.ack(n);
    }
    assert_eq!(h.cwnd(), 4_000_000);
    h.ack(4000);
    assert_eq!(h.cwnd(), 4_001_000, "a segment for a window");
}

#[test]
fn a_threshold_remembers_three_quarters_of_the_window_before_an_idle_time() {
    let set = [("initial_window", packets(6)), ("initial_ssthresh", size(1)), ("recovery", word("sack"))];
    let mut h = SenderHarness::with_flow(1 << 40, "linux", &set);
    h.write(5000);
    h.wait(Dur::ms(1));
    h.ack(5);
    h.wait(Dur::s(9));
    h.write(9000);
    assert_eq!((h.cwnd(), h.ssthresh()), (6000, 4000), "a half and a quarter, each in whole segments");
}
