//! Tests of switches of different kinds in one network.

use crate::common::{column, drops, run_with, scenario, total};
use sim::Options;

/// Scenario in which only the first aggregation switch bounces; the switches that its packets return to do not.
const ONE_BOUNCES: &str = r#"
name = "mixed"
duration = "20ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "400pkt" }
[[override]]
where = { tier = "edge" }
switch.buffer = { kind = "per_port", size = "20pkt" }
switch.overflow = { kind = "bounce", bounce_size = "200pkt" }
[transport]
kind = "newreno"
dupack_threshold = "off"
[[traffic]]
name = "q"
kind = "incast"
senders = 12
receiver = "h0"
pick = "spread"
size = "20KB"
start = "1ms"
"#;

#[test]
fn a_bounced_packet_waits_with_the_others_in_a_switch_that_does_not_bounce() {
    let results = run_with(&scenario(ONE_BOUNCES, ""), 1, Options::default());
    assert!(
        total(&results, "ports", "bounced") > 50,
        "the edge switch bounces: {}",
        total(&results, "ports", "bounced")
    );
    assert_eq!(drops(&results), 0, "and the switches above it take its packets");
    assert!(column(&results, "flows", "end_ps").iter().all(|end| *end < u64::MAX));
}

/// Scenario in which ports toward hosts mark at random, and those toward switches from a fixed length on.
const TWO_WAYS_TO_MARK: &str = r#"
name = "marks"
duration = "5ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "30pkt" }
marking = { kind = "ecn_threshold", k = "5pkt" }
overflow = { kind = "detour" }
[[override]]
where = { port = "host" }
switch.marking = { kind = "red", min = "3pkt", max = "15pkt", weight = 0.1 }
[transport]
kind = "dctcp"
[measure]
queues = false
[[traffic]]
name = "q"
kind = "incast"
senders = 12
receiver = "random"
size = "20KB"
start = "1ms"
interval = "500us"
repeat = 5
[variants.two]
[variants.one]
override = []
[variants.red]
switch.marking = { kind = "red", min = "3pkt", max = "15pkt", weight = 0.1 }
"#;

#[test]
fn ports_that_mark_by_a_threshold_are_computed_beside_one_that_does_not() {
    let events = |variant: &str| {
        let s = scenario(TWO_WAYS_TO_MARK, variant);
        let computed = run_with(&s, 1, Options::default());
        let stepped = run_with(&s, 1, Options { step_departures: true, ..Options::default() });
        assert_eq!((&computed.tables, computed.progress.now), (&stepped.tables, stepped.progress.now), "{variant}");
        assert!(total(&computed, "ports", "marked") > 0 && total(&computed, "ports", "detoured") > 0, "{variant}");
        computed.progress.events as f64 / stepped.progress.events as f64
    };
    let (two, one, red) = (events("two"), events("one"), events("red"));
    assert!(one < two && two < red && red < 1.0, "{one} {two} {red}");
}

/// Scenario with two sources of two classes, each at the rate of the link that they share.
const TWO_CLASSES: &str = r#"
name = "shares"
duration = "10ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100000pkt" }
scheduler = { kind = "round_robin", weights = [3, 1] }
[measure]
packets = true
allow_unfinished = true
[[traffic]]
name = "heavy"
kind = "constant"
source = "h0"
destination = "h2"
payload = "1460B"
rate = "1Gbps"
stop = "10ms"
[[traffic]]
name = "light"
kind = "constant"
source = "h1"
destination = "h2"
payload = "400B"
rate = "1Gbps"
stop = "10ms"
class = 1
"#;

/// Test of a weighted scheduler with frames of two sizes.
/// A frame of 1518 B takes 12.304 us and one of 458 B 3.824 us. At the receiver, while both are queued, they share the
/// link as 3 to 1, by bytes on the wire or by bytes of frames, whatever their sizes.
#[test]
fn two_classes_share_a_port_by_bytes_as_their_weights() {
    for (count, gap) in [("wire", 20.0), ("stored", 0.0)] {
        let text = TWO_CLASSES.replace("weights = [3, 1]", &format!("weights = [3, 1], count = \"{count}\""));
        share_as_3_to_1(&text, gap);
    }
    share_as_3_to_1(TWO_CLASSES, 20.0);
}

/// Checks the shares of both classes by bytes of frames with a gap of this size.
fn share_as_3_to_1(text: &str, gap: f64) {
    let results = run_with(&scenario(text, ""), 1, Options::default());
    let (packets, hosts) = (column(&results, "packets", "end_ps"), column(&results, "packets", "flow"));
    let got = |flow: u64| packets.iter().zip(&hosts).filter(|(at, of)| **of == flow && **at < 10_000_000_000).count();
    let (heavy, light) = (got(0) as f64 * (1518.0 + gap), got(1) as f64 * (458.0 + gap));
    assert!((heavy / light - 3.0).abs() < 0.05, "{heavy} to {light}");
    let busy = got(0) as f64 * 12.304 + got(1) as f64 * 3.824;
    assert!(busy > 9_950.0 && busy < 10_000.0, "the link is never idle: {busy} us");
}

/// Test of a maximum rate, with the scenario's own traffic: each class has 1 Gb/s to send.
/// A class of 200 Mb/s gets 200 Mb/s over 10 ms, to a burst and a frame, and the other one gets the rest.
#[test]
fn maximum_rate_of_a_class_leaves_the_rest_to_the_other() {
    for kind in ["strict_priority", "round_robin"] {
        let limited = format!("{{ kind = \"{kind}\", max_rate = [\"off\", \"200Mbps\"] }}");
        let text = TWO_CLASSES.replace("{ kind = \"round_robin\", weights = [3, 1] }", &limited);
        let results = run_with(&scenario(&text, ""), 1, Options::default());
        let (ends, flows) = (column(&results, "packets", "end_ps"), column(&results, "packets", "flow"));
        let wire = |flow: u64, size: f64| {
            let got = ends.iter().zip(&flows).filter(|(at, of)| **of == flow && **at < 10_000_000_000).count();
            got as f64 * (size + 20.0)
        };
        let (heavy, light) = (wire(0, 1518.0), wire(1, 458.0));
        // 250,000 B of class 1 in 10 ms, and 1,250,000 B together. Frames need 17 us to the receiver.
        assert!((light - 250_000.0).abs() < 2.0 * 1518.0, "{kind}: {light}");
        assert!((heavy + light - 1_250_000.0).abs() < 3.0 * 1538.0, "{kind}: {heavy} and {light}");
    }
}
