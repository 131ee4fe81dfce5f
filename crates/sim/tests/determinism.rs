//! Tests that a scenario and a seed give bit-identical results, however the run is executed.

use crate::common::{self, run_with, scenario, world};
use sim::{Options, Results};

const QUERY: &str = r#"
name = "query"
duration = "20ms"
[topology]
kind = "fat_tree"
k = 4
[host]
stack_delay = "2us"
stack_jitter = "1us"
[switch]
buffer = { kind = "per_port", size = "30pkt" }
marking = { kind = "ecn_threshold", k = "10pkt" }
[transport]
kind = "dctcp"
min_rto = "5ms"
[[traffic]]
name = "query"
kind = "incast"
senders = 12
receiver = "random"
size = "20KB"
start = "1ms"
interval = "2ms"
repeat = 5
jitter = "5us"
[[traffic]]
name = "background"
kind = "poisson"
sizes = "imc10"
load = { fraction = 0.2, of = "host", bytes = "wire" }
[variants.drop]
[variants.red]
switch.marking = { kind = "red", min = "5pkt", max = "15pkt" }
[variants.detour]
switch.overflow = { kind = "detour" }
[variants.bounce]
switch.buffer = { kind = "per_port", size = "15pkt" }
switch.overflow = { kind = "bounce", bounce_size = "15pkt" }
transport.dupack_threshold = "off"
[variants.snapshot]
switch.simultaneous = "snapshot"
switch.buffer = { kind = "shared", size = "120KB", alpha = 1, reserved = "3KB" }
[variants.spray]
switch.routing = { kind = "spray" }
[variants.classes]
switch.ties = "port"
traffic = [
  { name = "urgent", kind = "incast", senders = 12, receiver = "h0", size = "20KB", start = "1ms", class = 7 },
  { name = "bulk", kind = "permutation", size = "100KB", start = "1ms" },
]
[variants.plain]
measure.queues = false
"#;

const VARIANTS: [&str; 8] = ["drop", "red", "detour", "bounce", "snapshot", "spray", "classes", "plain"];

/// Removes the number of events from results, since it may depend on how a run is executed.
fn bits(mut results: Results) -> Results {
    results.progress.events = 0;
    results
}

#[test]
fn twice_the_same_seed_gives_the_same_bits_and_another_seed_others() {
    for variant in VARIANTS {
        let s = scenario(QUERY, variant);
        let first = run_with(&s, 1, Options::default());
        assert_eq!(first, run_with(&s, 1, Options::default()), "{variant}");
        if variant != "classes" {
            assert_ne!(bits(first), bits(run_with(&s, 2, Options::default())), "{variant}");
        }
    }
}

#[test]
fn wheel_and_heap_give_the_same_bits() {
    for variant in VARIANTS {
        let s = scenario(QUERY, variant);
        let heap = run_with(&s, 3, Options { heap: true, ..Options::default() });
        assert_eq!(run_with(&s, 3, Options::default()), heap, "{variant}");
    }
}

#[test]
fn departures_computed_ahead_give_the_same_bits_in_fewer_events() {
    for variant in ["drop", "detour", "spray", "plain"] {
        let s = scenario(QUERY, variant);
        let ahead = run_with(&s, 4, Options::default());
        let stepped = run_with(&s, 4, Options { step_departures: true, ..Options::default() });
        assert!(ahead.progress.events < stepped.progress.events, "{variant}");
        assert_eq!(bits(ahead), bits(stepped), "{variant}");
    }
}

#[test]
fn a_world_cloned_in_the_middle_ends_with_the_same_bits() {
    for variant in VARIANTS {
        let s = scenario(QUERY, variant);
        let mut original = world(&s, 5, Options::default());
        for events in [1, 100, 5_000] {
            original.advance(events);
        }
        let mut copy = original.clone();
        original.run();
        copy.run();
        assert_eq!(original.results(&s), copy.results(&s), "{variant}");
        assert_eq!(bits(original.results(&s)), bits(run_with(&s, 5, Options::default())), "{variant}");
    }
}

/// Test of the order of rows in tables over time.
/// Rows are ordered by step of time and place, so that the order does not depend on when rows were written.
#[test]
fn rows_are_in_order_of_time_bin_and_place_or_of_packet_end() {
    let text = QUERY.replace(
        "duration = \"20ms\"",
        "duration = \"20ms\"\nmeasure = { packets = true, goodput = \"flows\", bin = \"100us\" }",
    );
    let s = scenario(&text, "bounce");
    let results = run_with(&s, 1, Options::default());
    let orders = [
        ("queue_trace", ["bin", "node", "port"]),
        ("activity", ["bin", "node", "kind"]),
        ("host_goodput", ["bin", "node", "bin"]),
        ("flow_goodput", ["bin", "flow", "bin"]),
        ("packets", ["end_ps", "node", "end_ps"]),
    ];
    for (table, names) in orders {
        let rows = common::rows(&results, table, names);
        assert!(rows.len() > 100 && rows.is_sorted(), "{table}");
    }
}

#[test]
fn variants_meet_bit_identical_arrivals() {
    let flows = |variant: &str| {
        let results = run_with(&scenario(QUERY, variant), 6, Options::default());
        ["start_ps", "src", "dst", "bytes", "traffic", "query"].map(|c| common::column(&results, "flows", c))
    };
    let drop = flows("drop");
    assert!(drop[0].len() > 60, "there is traffic to compare");
    // Load continues while unfinished flows drain, so that a variant that drains longer has more of it.
    for variant in ["detour", "bounce", "snapshot", "spray"] {
        for (a, b) in drop.iter().zip(flows(variant)) {
            let n = a.len().min(b.len());
            assert_eq!(a[..n], b[..n], "{variant}");
        }
    }
}
