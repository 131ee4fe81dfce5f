//! Tests of the PFC watchdog in whole runs: it breaks a deadlock of a ring, and its losses break no promise.

use crate::common::digest::whole;
use crate::common::{drops, pauses, rows, run, scenario, total};
use crate::deadlock::{RING, ring};
use sim::{Options, Recorder, Results, StopReason};

/// Returns a ring of five switches that deadlocks without a watchdog, with a watchdog of this action.
fn watched_ring(action: &str) -> String {
    let watchdog = format!(
        "xon = \"10KB\", watchdog = \"{action}\", poll_interval = \"100us\", detection_time = \"300us\", \
         restoration_time = \"200us\""
    );
    ring(5, &RING.replace("xon = \"10KB\"", &watchdog))
}

/// Returns the storms: instants of detection and restoration, node, port, queue and packets dropped.
fn storms(results: &Results) -> Vec<[u64; 6]> {
    rows(results, "pause_storms", ["from_ps", "to_ps", "node", "port", "queue", "dropped"])
}

/// Returns the payload that hosts received after 3 ms, long after the ring has deadlocked.
fn received_late(results: &Results, text: &str) -> u64 {
    let bin = scenario(text, "").measure.bin.0;
    let late = |row: &&[u64; 2]| row[0] * bin >= 3_000_000_000;
    rows(results, "host_goodput", ["bin", "bytes"]).iter().filter(late).map(|row| row[1]).sum()
}

#[test]
fn drop_breaks_the_deadlock_of_a_ring_again_and_again() {
    let text = watched_ring("drop");
    let results = run(&text, 1);
    let storms = storms(&results);
    assert_eq!(results.deadlock, None, "no port waits forever");
    assert!(!storms.is_empty() && received_late(&results, &text) > 0);
    for [from, to, _, _, queue, _] in &storms {
        assert_eq!((from % 100_000_000, queue), (0, &0), "polls are at multiples of 100 us");
        assert!(*to == u64::MAX || (to - from) % 100_000_000 == 0 && to - from >= 200_000_000);
    }
    // All losses are those of the watchdog, and they end no run.
    let dropped = total(&results, "ports", "drop_watchdog");
    assert_eq!((drops(&results), storms.iter().map(|row| row[5]).sum::<u64>()), (dropped, dropped));
    assert!(dropped > 0 && results.lost.is_none());
}

#[test]
fn storm_begins_when_a_port_has_been_paused_for_the_detection_time() {
    let results = run(&watched_ring("drop"), 1);
    let [from, _, node, port, ..] = storms(&results)[0];
    // The pause that the storm ended began at most one poll before the three polls that count.
    let ended: Vec<u64> = pauses(&results)
        .iter()
        .filter(|row| (row[1], row[2], row[3]) == (from, node, port))
        .map(|row| row[0])
        .collect();
    assert_eq!(ended.len(), 1);
    assert!((200_000_000..=400_000_000).contains(&(from - ended[0])), "{} ps", from - ended[0]);
}

#[test]
fn forward_may_overflow_the_far_end_without_an_error() {
    let text = watched_ring("forward").replace("200KB", "55KB");
    let results = run(&text, 1);
    assert!(results.deadlock.is_none() && received_late(&results, &text) > 0);
    assert_eq!(total(&results, "ports", "drop_watchdog"), 0);
    assert!(total(&results, "ports", "drop_buffer_full") > 0, "frames arrive although the far end paused them");
    assert!(results.lost.is_none());
    assert_ne!(results.progress.stop, Some(StopReason::LosslessViolation));
}

#[test]
fn alert_records_storms_and_leaves_the_deadlock() {
    let results = run(&watched_ring("alert"), 1);
    let storms = storms(&results);
    assert!(results.deadlock.is_some() && storms.len() >= 5);
    assert!(storms.iter().all(|row| row[5] == 0));
    assert!(storms.iter().any(|row| row[1] == u64::MAX), "the deadlock lasts");
    let without = run(&ring(5, RING), 1);
    assert_eq!(pauses(&results), pauses(&without), "an alert changes nothing");
    assert!(without.pause_storms.is_none() && self::storms(&without).is_empty());
}

#[test]
fn partitions_and_queues_of_events_give_the_same_storms() {
    for action in ["alert", "drop", "forward"] {
        let s = scenario(&watched_ring(action).replace("200KB", "55KB"), "");
        let of = |options: Options| {
            let mut world = whole(&s, 1, options, Recorder::from_scenario(&s));
            let results = world.results(&s);
            assert!(results.conserved, "{action}: {:?}", world.describe_imbalance());
            results
        };
        let usual = of(Options::default());
        assert!(usual == of(Options { heap: true, ..Options::default() }), "{action}");
        for partitions in [1, 2, 5] {
            assert!(usual == of(Options { partitions, ..Options::default() }), "{action}, {partitions} partitions");
        }
    }
}
