//! Switches of different kinds in one network.

use crate::common::{column, drops, run_with, scenario, total};
use sim::Options;

/// Only the first aggregation switch bounces; the switches that its packets come back to do not.
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
