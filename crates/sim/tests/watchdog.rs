//! Tests of the PFC watchdog in whole runs: it breaks a deadlock of a ring, and its losses break no promise.

use crate::common::digest::whole;
use crate::common::{drops, pauses, rows, run, scenario, total, world};
use crate::deadlock::{RING, ring};
use sim::{Options, Recorder, Results, StopReason};
use units::Time;

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

/// Test of the search in the middle of a run, while the ring is stuck and the watchdog has not acted.
#[test]
fn cycle_that_the_watchdog_will_end_is_no_deadlock() {
    let found = |action: &str| {
        let s = scenario(&watched_ring(action).replace("\"300us\"", "\"2ms\""), "");
        let mut world = world(&s, 1, Options::default());
        while world.progress().now < Time(1_800_000_000) {
            world.advance(10);
        }
        let results = world.results(&s);
        (results.deadlock.is_some(), storms(&results).len())
    };
    assert_eq!((found("alert"), found("drop")), ((true, 0), (false, 0)));
}

#[test]
fn deadlock_that_the_watchdog_cannot_end_in_time_is_one() {
    let slow = watched_ring("drop").replace("\"300us\"", "\"5ms\"");
    assert_eq!(run(&slow, 1).deadlock, run(&ring(5, RING), 1).deadlock);
    assert!(run(&slow, 1).deadlock.is_some() && storms(&run(&slow, 1)).is_empty());
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

/// Returns a scenario in which the NIC of h2 pauses its switch from 1 to 5 ms, and h0 sends to h2 and h1 to h3.
///
/// At 10 Gb/s the NIC refreshes its pause every 1.68 ms, so the watchdog finds no pause within 2 ms only after the end.
fn stormy(switch: &str) -> String {
    let thresholds = if switch.contains("pools") { "" } else { "xoff = \"60KB\"\nxon = \"30KB\"" };
    let flow = |name: &str, source: &str, destination: &str| {
        format!(
            r#"
[[traffic]]
name = "{name}"
kind = "constant"
source = "{source}"
destination = "{destination}"
rate = "4Gbps"
class = 3
"#
        )
    };
    format!(
        r#"
name = "stormy"
duration = "10ms"
[topology]
kind = "dumbbell"
n = 2
link = {{ rate = "10Gbps", delay = "1us" }}
bottleneck = {{ rate = "10Gbps", delay = "1us" }}
[switch]
{switch}
[switch.pause]
kind = "pfc"
{thresholds}
watchdog = "drop"
poll_interval = "100us"
detection_time = "300us"
restoration_time = "2ms"
[measure]
packets = true
[[event]]
kind = "pause_storm"
at = "1ms"
until = "5ms"
host = "h2"
{}{}"#,
        flow("stopped", "h0", "h2"),
        flow("beside", "h1", "h3"),
    )
}

const LOSSLESS_POOLS: &str = "buffer = { kind = \"pools\", cell = \"80B\", pools.all = { side = \"ingress\", size = \
    \"150KB\" }, profiles.lossless = { pool = \"all\", lossless = true, threshold = { kind = \"dynamic\", alpha = 1 } }, \
    groups = [{ group = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"lossless\" }] }";

#[test]
fn storm_of_a_host_is_cut_off_and_all_is_restored_after_it() {
    let cioq =
        "model = \"cioq\"\ninput_buffer = \"150KB\"\nspeedup = 2\nbuffer = { kind = \"per_port\", size = \"30KB\" }";
    for switch in ["buffer = { kind = \"per_port\", size = \"200KB\" }", LOSSLESS_POOLS, cioq] {
        let text = stormy(switch);
        let results = run(&text, 1);
        let found = storms(&results);
        let s = scenario(&text, "");
        let port = |row: &[u64; 6]| s.topology.nodes[row[2] as usize].ports[row[3] as usize].peer;
        let of_queue: Vec<_> = found.iter().filter(|row| port(row) == 2 && row[4] == 3).collect();
        let [[from, to, _, _, _, dropped]] = of_queue[..] else { panic!("{found:?}\n{switch}") };
        // The detection takes three polls or four. The last frame that pauses comes at 4.36 ms, and 20 polls follow.
        assert!((1_300_000_000..=1_500_000_000).contains(from), "{from}");
        assert_eq!(*to, 6_400_000_000);
        // The packets of 4 Gb/s are dropped while the storm lasts, and those that had waited.
        let sent = (to - from) / 1_000_000 * 500 / 1538;
        assert!(*dropped > sent * 9 / 10, "{dropped} of {sent}\n{switch}");
        assert!(found.iter().all(|row| row[5] == 0 || row[4] == 3), "other queues are empty");
        assert!(results.lost.is_none() && results.deadlock.is_none());
        // Both flows arrive until the end.
        let last = |flow: u64| {
            let rows = rows(&results, "packets", ["flow", "end_ps", "fate"]);
            rows.iter().filter(|row| row[0] == flow && row[2] == 0).map(|row| row[1]).max()
        };
        assert!((0..2).all(|flow| last(flow) > Some(9_900_000_000)), "{:?} {:?}\n{switch}", last(0), last(1));
    }
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
