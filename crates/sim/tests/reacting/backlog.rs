//! Tests of sources with a constant rate that are paused half of the time.

use super::{SETTING, Seen, Setting, half};

/// Time in ps between frames of a source of 5 Gb/s.
const EVEN: u64 = 2_467_200;
/// Script of four pauses of the host, 2 ms each and 2 ms apart, the first after 2 ms.
const SCRIPT: &str = "pause = [2000000000, 6000000000, 10000000000, 14000000000], \
                      resume = [4000000000, 8000000000, 12000000000, 16000000000]";

/// Returns the frames that a source with this further line sends while it is paused half of the time.
fn sent(backlog: &str) -> Seen {
    Setting { script: SCRIPT, traffic: &format!("{}{backlog}", half(10)), ..SETTING }.run()
}

/// Returns the rate at which a host sent frames between two times in ms, in Gb/s on the wire.
fn gbps(seen: &Seen, from: u64, to: u64) -> f64 {
    let frames = seen.sent.iter().filter(|at| (from * 1_000_000_000..to * 1_000_000_000).contains(*at)).count();
    frames as f64 * 1542.0 * 8.0 / ((to - from) as f64 * 1e6)
}

/// Test of a source with a limited backlog.
/// Three frames wait at the end of each pause, 4566 of 4000 B, and the frame on the wire at its start is early.
#[test]
fn a_source_that_is_stopped_half_of_the_time_sends_half_and_its_own_rate_afterwards() {
    let seen = sent("backlog = \"4KB\"\n");
    assert!((gbps(&seen, 0, 2) - 5.0).abs() < 0.02, "{}", gbps(&seen, 0, 2));
    assert!((gbps(&seen, 2, 18) - 2.5).abs() < 0.02, "{}", gbps(&seen, 2, 18));
    let after: Vec<u64> = seen.sent.iter().copied().filter(|at| *at > 16_010_000_000).collect();
    assert!(after.windows(2).all(|two| two[1] - two[0] == EVEN), "its clock, and no more");
    assert!(gbps(&seen, 17, 30) < 5.01);
    // Only three frames after each pause are later than planned.
    let late = |from: u64| seen.sent.iter().filter(|at| (from..from + 2 * 1_233_600 + 1_100_000).contains(*at)).count();
    assert_eq!([4, 8, 12, 16].map(|ms| late(ms * 1_000_000_000)), [3; 4]);
}

#[test]
fn a_larger_backlog_is_sent_after_each_stop() {
    // 43 frames are 65,446 B, 42 are 63,924 B.
    let [small, large] = ["backlog = \"4KB\"\n", "backlog = \"64KB\"\n"].map(|line| sent(line).sent.len());
    assert_eq!(large - small, 4 * (43 - 3));
}

/// Test of a source without a limit of its backlog.
/// The source sends as many frames as without pauses, at the rate of the link until the waiting ones have left.
#[test]
fn without_a_backlog_all_that_waited_is_sent_later() {
    let seen = sent("");
    let free = Setting { traffic: &half(10), ..SETTING }.run();
    assert_eq!(seen.sent.len(), free.sent.len());
    assert!((gbps(&seen, 4, 6) - 10.0).abs() < 0.02);
    assert!((gbps(&seen, 20, 30) - 5.0).abs() < 0.01);
}

#[test]
fn a_backlog_that_is_never_reached_changes_nothing() {
    let [endless, bounded] =
        ["", "backlog = \"64KB\"\n"].map(|line| Setting { traffic: &format!("{}{line}", half(10)), ..SETTING }.run());
    assert!(endless == bounded && endless.sent.len() > 12_000);
}
