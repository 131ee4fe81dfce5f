//! Tests of PAUSE and PFC in whole runs: to the picosecond if a run can be worked out by hand, otherwise as laws.

use crate::common::{column, drops, full_frames, pauses, rows, run, same_again, total};
use sim::StopReason;

/// Returns a scenario in which host a sends full frames at 1 Gb/s to host b, whose link has 0.1 Gb/s, over one switch.
///
/// A frame takes 12.304 us on the first link and 123.04 us on the second; delays are 1 us.
pub fn slow(pause: &str, more: &str) -> String {
    let frames = full_frames("t", ["a", "b"], "130us");
    format!(
        r#"
name = "slow"
duration = "2ms"
[topology]
kind = "custom"
node = [{{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}, {{ name = "s", kind = "switch" }}]
link = [
  {{ a = "a", b = "s", rate = "1Gbps", delay = "1us" }},
  {{ a = "s", b = "b", rate = "100Mbps", delay = "1us" }},
]
[switch]
buffer = {{ kind = "per_port", size = "100KB" }}
pause = {pause}
{more}
[measure]
drain = "100ms"
{frames}"#
    )
}

/// Test of a pause and its resume, with times computed by hand.
/// Frame n = 1, 2, … is at the switch at 1 us + 12.304 us n. The first is forwarded immediately. With the fourth, at
/// 50.216 us, three are queued, which is `xoff`. The control frame takes 84 bytes of wire, 0.672 us, and 1 us: the NIC
/// is paused at 51.888 us, and its fifth frame, on the wire, still arrives. From 136.344 us on a frame leaves every
/// 123.04 us: one of four is left at 382.424 us, and the NIC resumes at 384.096 us.
#[test]
fn a_stop_and_a_go_take_effect_to_the_picosecond() {
    let results = run(&slow(r#"{ kind = "pfc", xoff = "4554B", xon = "1518B" }"#, ""), 1);
    let first = pauses(&results)[0];
    assert_eq!(first, [51_888_000, 384_096_000, 0, 0, 0]);
    assert_eq!(drops(&results), 0);
    // Eleven frames, each sent by the NIC and by the switch; control frames have counters of their own.
    assert_eq!(total(&results, "ports", "sent"), 22);
    assert!(results.deadlock.is_none() && results.lost.is_none());
}

/// Test of a pause that expires.
/// The pause lasts for 100 quanta of 512 ns.
#[test]
fn a_stop_whose_quanta_run_out_ends_by_itself() {
    let short = r#"{ kind = "pfc", xoff = "4554B", xon = "1518B", quanta = 100, refresh = "off" }"#;
    let results = run(&slow(short, ""), 1);
    assert_eq!(pauses(&results)[0], [51_888_000, 51_888_000 + 51_200_000, 0, 0, 0]);
    // Without refresh, the switch sends the pause only once.
    assert_eq!(total(&results, "pauses", "times"), 1);
    assert_eq!(total(&results, "pauses", "refreshes"), 0);
}

/// Test of a pause that is refreshed in time.
/// The pause is refreshed after 60 quanta, before its 100 quanta have expired.
#[test]
fn a_refresh_in_time_leaves_no_gap() {
    let short = r#"{ kind = "pfc", xoff = "4554B", xon = "1518B", quanta = 100, refresh = 60 }"#;
    let results = run(&slow(short, ""), 1);
    assert_eq!(pauses(&results)[0], [51_888_000, 384_096_000, 0, 0, 0]);
    // Refreshes follow every 30.72 us, from 50.216 us until 382.424 us.
    let refreshes = (382_424_000u64 - 50_216_000) / 30_720_000;
    let first = rows(&results, "pauses", ["node", "port", "xoff_sent", "refreshes"]);
    let switch = first.iter().find(|row| row[..2] == [2, 0]).expect("the switch's port toward a");
    assert!(switch[3] >= refreshes && switch[2] > switch[3], "{switch:?}");
}

#[test]
fn a_response_time_delays_both_stop_and_go() {
    let late = r#"{ kind = "pfc", xoff = "4554B", xon = "1518B", response = "3us" }"#;
    let first = pauses(&run(&slow(late, ""), 1))[0];
    assert_eq!(first, [54_888_000, 387_096_000, 0, 0, 0]);
}

#[test]
fn pause_stops_the_whole_port_and_pfc_the_class() {
    let other = "[[traffic]]\nname = \"other\"\nkind = \"constant\"\nsource = \"a\"\ndestination = \"b\"\nrate = \
                 \"1Mbps\"\nstop = \"1us\"\n";
    for (kind, classes) in [("pause", vec![0, 2]), ("pfc", vec![2])] {
        let text = slow(&format!(r#"{{ kind = "{kind}", xoff = "4554B", xon = "1518B" }}"#), other).replacen(
            "stop = \"130us\"",
            "stop = \"130us\"\nclass = 2",
            1,
        );
        let results = run(&text, 1);
        let mut paused: Vec<u64> = pauses(&results).iter().map(|row| row[4]).collect();
        paused.sort_unstable();
        paused.dedup();
        assert_eq!(paused, classes, "{kind}");
        assert_eq!(drops(&results), 0);
    }
}

/// Returns a scenario in which twenty hosts send 100 KB each to one host, simultaneously.
fn incast(switch: &str) -> String {
    format!(
        r#"
name = "incast"
duration = "50ms"
[topology]
kind = "star"
n = 21
link = {{ rate = "1Gbps", delay = "1us" }}
[switch]
{switch}
[transport]
kind = "newreno"
[measure]
packets = true
drain = "5s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 20
receiver = "h0"
size = "100KB"
"#
    )
}

const TAIL_DROP: &str = r#"buffer = { kind = "per_port", size = "300KB" }"#;
const PFC: &str = r#"
buffer = { kind = "per_port", size = "300KB" }
pause = { kind = "pfc", xoff = "8000B", xon = "4000B" }
"#;

#[test]
fn an_incast_that_loses_with_tail_drop_loses_nothing_with_either_pause() {
    let before = run(&incast(TAIL_DROP), 1);
    assert!(drops(&before) > 0 && column(&before, "pauses", "times").is_empty());
    for pfc in [PFC.to_string(), PFC.replace("\"pfc\"", "\"pause\"")] {
        let results = run(&incast(&pfc), 1);
        assert_eq!((drops(&results), results.unfinished), (0, 0));
        assert_eq!(results.progress.stop, Some(StopReason::Done));
        let retransmits = total(&results, "flows", "timeouts");
        assert_eq!(retransmits, 0);
        assert!(total(&results, "pauses", "times") > 20);
        assert!(total(&results, "pauses", "xoff_sent") > 20);
        // No port is paused at the end, and every control frame has arrived.
        assert_eq!(results.progress.completed, 20);
    }
}

#[test]
fn too_little_memory_for_the_headroom_ends_the_run_and_says_where_or_only_counts() {
    let tight = PFC.replace("300KB", "100KB");
    let results = run(&incast(&tight), 1);
    assert_eq!(results.progress.stop, Some(StopReason::LosslessViolation));
    let lost = results.lost.expect("a packet was lost");
    assert_eq!((lost.node, lost.lost.class, lost.lost.xoff), (21, 0, 8000));
    // The run ends at the next instant of its grid, whose step is shorter than a 4096th of the duration.
    assert!(results.progress.now > lost.at && results.progress.now.since(lost.at).0 <= 50_000_000_000 / 4096);
    // 1 Gb/s: 1538 + 84 bytes until the pause leaves and twice 125 bytes of delay: one frame, and 334 bytes of which
    // 314 are a frame.
    assert_eq!(lost.lost.headroom, 1517 + 1518 + 314 + 1518);
    assert_eq!(lost.lost.fill.limit, Some(100_000));
    let counted = run(&incast(&tight.replace("xon =", "lossless = false, xon =")), 1);
    assert!(drops(&counted) > 0 && counted.lost.is_none());
    assert_ne!(counted.progress.stop, Some(StopReason::LosslessViolation));
}

/// Returns a scenario in which h0 and h1 share a link to h2, which is slow, and to h3, which is fast.
///
/// The victims are h1's frames for h3.
fn victim(kind: &str, class: u8) -> String {
    format!(
        r#"
name = "victim"
duration = "20ms"
[topology]
kind = "custom"
node = [
  {{ name = "h0", kind = "host" }}, {{ name = "h1", kind = "host" }}, {{ name = "h2", kind = "host" }},
  {{ name = "h3", kind = "host" }}, {{ name = "s0", kind = "switch" }}, {{ name = "s1", kind = "switch" }},
]
link = [
  {{ a = "h0", b = "s0", rate = "1Gbps", delay = "1us" }},
  {{ a = "h1", b = "s0", rate = "1Gbps", delay = "1us" }},
  {{ a = "s0", b = "s1", rate = "2Gbps", delay = "1us" }},
  {{ a = "h2", b = "s1", rate = "100Mbps", delay = "1us" }},
  {{ a = "h3", b = "s1", rate = "1Gbps", delay = "1us" }},
]
[switch]
buffer = {{ kind = "per_port", size = "500KB" }}
scheduler = {{ kind = "fifo" }}
pause = {{ kind = "{kind}", xoff = "20KB", xon = "10KB" }}
[host]
nic_queue = "100pkt"
[measure]
allow_unfinished = true
[[traffic]]
name = "culprit"
kind = "constant"
source = "h0"
destination = "h2"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
[[traffic]]
name = "victim"
kind = "constant"
source = "h1"
destination = "h3"
payload = "1460B"
rate = "900Mbps"
bytes = "wire"
class = {class}
"#
    )
}

#[test]
fn a_victim_suffers_under_pause_and_under_pfc_only_in_the_culprits_class() {
    let got = |kind, class| run(&victim(kind, class), 1).received[1] as f64 * 8.0 / 20e-3 / 900e6;
    let [pause, same, other] = [got("pause", 1), got("pfc", 0), got("pfc", 1)];
    assert!(other > 0.9, "in a class of its own it is not concerned: {other}");
    assert!(pause < 0.4 && same < 0.4, "paused with the culprit: {pause}, {same}");
}

#[test]
fn a_long_line_of_stopped_links_is_no_deadlock() {
    let results = run(&victim("pause", 0), 1);
    assert!(total(&results, "pauses", "times") > 10 && results.deadlock.is_none());
}

#[test]
fn heap_and_wheel_and_a_clone_from_the_middle_give_the_same_bits() {
    let shared = r#"
buffer = { kind = "shared", size = "1MB", alpha = 8, reserved = "2KB" }
marking = { kind = "ecn_threshold", k = "20pkt" }
pause = { kind = "pfc", alpha = 0.008, offset = "2KB", response = "500ns", quanta = 200 }
"#;
    for text in [incast(PFC), incast(shared).replace("newreno", "dctcp")] {
        same_again(&text, 3);
    }
}

#[test]
fn memory_by_ingress_follows_packets_that_are_detoured_and_bounced() {
    let tree = |switch: &str| {
        format!(
            r#"
name = "tree"
duration = "20ms"
[topology]
kind = "fat_tree"
k = 4
link = {{ rate = "1Gbps", delay = "1us" }}
[switch]
{switch}
[transport]
kind = "dctcp"
[measure]
drain = "2s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 12
receiver = "h0"
size = "50KB"
class = 3
"#
        )
    };
    let buffer = r#"buffer = { kind = "per_port", size = "30KB" }"#;
    let pause = r#"pause = { kind = "pfc", xoff = "15KB", xon = "5KB", lossless = false }"#;
    for overflow in [
        r#"{ kind = "detour", policy = "random" }"#,
        r#"{ kind = "bounce", theta = 0.8, lambda = 50, bounce_size = "30KB" }"#,
    ] {
        let results = run(&tree(&format!("{buffer}\n{pause}\noverflow = {overflow}")), 1);
        assert!(total(&results, "pauses", "times") > 0, "{overflow}");
        assert!(total(&results, "ports", "detoured") + total(&results, "ports", "bounced") > 0, "{overflow}");
        assert_eq!(results.unfinished, 0, "{overflow}");
    }
}
