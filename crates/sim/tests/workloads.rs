//! Tests of the outcomes of packets, by workload of the scenario's traffic.

use crate::common::{column, drops, run_with, scenario, total};
use sim::{Options, Results};
use std::collections::BTreeMap;

/// Scenario of queries, background flows, and a raw source to a host that a query overloads too.
const MIXED: &str = r#"
name = "mixed"
duration = "20ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "20pkt" }
marking = { kind = "ecn_threshold", k = "5pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
dupack_threshold = "off"
[measure]
from = "3ms"
to = "14ms"
packets = true
allow_unfinished = true
[[traffic]]
name = "query"
kind = "incast"
senders = 12
receiver = "h0"
size = "30KB"
start = "1ms"
interval = "2ms"
repeat = 8
[[traffic]]
name = "background"
kind = "poisson"
sizes = "web_search"
load = { fraction = 0.3, of = "host" }
[[traffic]]
name = "raw"
kind = "constant"
source = "h5"
destination = "h0"
rate = "300Mbps"
[variants.drop]
[variants.detour]
switch.overflow = { kind = "detour" }
[variants.bounce]
switch.overflow = { kind = "bounce", bounce_size = "20pkt" }
"#;

const QUERY: u64 = 0;
const RAW: u64 = 2;

/// Returns the number of packet outcomes of a kind, by workload and by whether the packet was data.
fn fates(results: &Results, kind: u64) -> BTreeMap<(u64, u64), u64> {
    let [traffic, data, kinds, count] = ["traffic", "data", "kind", "count"].map(|name| column(results, "fates", name));
    (0..count.len()).filter(|i| kinds[*i] == kind).map(|i| ((traffic[i], data[i]), count[i])).collect()
}

/// Returns the number of packets whose `fate`, `sent_ps` and `end_ps` satisfy a condition, by workload.
fn packets(results: &Results, holds: impl Fn([u64; 3]) -> bool) -> BTreeMap<u64, u64> {
    let of = column(results, "flows", "traffic");
    let [flow, fate, sent, end] = ["flow", "fate", "sent_ps", "end_ps"].map(|name| column(results, "packets", name));
    let mut found = BTreeMap::new();
    for i in (0..flow.len()).filter(|i| holds([fate[*i], sent[*i], end[*i]])) {
        *found.entry(of[flow[i] as usize]).or_default() += 1;
    }
    found
}

/// Sums counts over ACKs and data, by workload.
fn by_workload(counts: impl IntoIterator<Item = ((u64, u64), u64)>) -> BTreeMap<u64, u64> {
    let mut found = BTreeMap::new();
    counts.into_iter().for_each(|((traffic, _), count)| *found.entry(traffic).or_default() += count);
    found
}

/// Returns the number of packets in the histograms of a metric, by workload and by whether they were data.
fn delivered(results: &Results, metric: u64) -> BTreeMap<(u64, u64), u64> {
    let [traffic, data, metrics, count] =
        ["traffic", "data", "metric", "count"].map(|name| column(results, "packet_hist", name));
    let mut found = BTreeMap::new();
    for i in (0..count.len()).filter(|i| metrics[*i] == metric) {
        *found.entry((traffic[i], data[i])).or_default() += count[i];
    }
    found
}

fn in_window(at: u64) -> bool {
    (3_000_000_000..14_000_000_000).contains(&at)
}

#[test]
fn counts_of_workloads_add_up_to_those_of_ports() {
    for (variant, queues) in [("drop", true), ("detour", true), ("bounce", true), ("drop", false), ("detour", false)] {
        let mut s = scenario(MIXED, variant);
        s.measure.queues = queues;
        let results = run_with(&s, 1, Options::default());
        let all = |kind| fates(&results, kind).values().sum::<u64>();
        assert_eq!(all(0), drops(&results), "{variant}: drops");
        for (kind, name) in [(1, "marked"), (2, "detoured"), (3, "bounced")] {
            assert_eq!(all(kind), total(&results, "ports", name), "{variant}: {name}");
        }
        let some = [("drop", 0), ("detour", 2), ("bounce", 3)].into_iter().find(|(name, _)| *name == variant);
        let several = by_workload(fates(&results, some.unwrap().1));
        assert!(
            several.len() == 3 && several[&QUERY] > 100,
            "{variant}: there is something to tell apart: {several:?}"
        );
    }
}

#[test]
fn losses_and_deliveries_of_a_workload_are_those_of_its_packets_in_the_window() {
    let results = run_with(&scenario(MIXED, "drop"), 2, Options::default());
    let lost = packets(&results, |[fate, _, end]| fate > 0 && in_window(end));
    assert_eq!(by_workload(fates(&results, 0)), lost);
    let arrived = packets(&results, |[fate, sent, _]| fate == 0 && in_window(sent));
    assert_eq!(arrived.len(), 3);
    for metric in 0..4 {
        assert_eq!(by_workload(delivered(&results, metric)), arrived, "metric {metric}");
    }
}

#[test]
fn a_source_without_a_transport_has_neither_marks_nor_acks() {
    let results = run_with(&scenario(MIXED, "drop"), 1, Options::default());
    let marks = by_workload(fates(&results, 1));
    assert!(marks[&QUERY] > 0 && !marks.contains_key(&RAW), "{marks:?}");
    let delivered = delivered(&results, 1);
    assert!(delivered[&(RAW, 1)] > 0 && !delivered.contains_key(&(RAW, 0)) && delivered[&(QUERY, 0)] > 0);
}

/// Scenario of one raw source within a leaf, and one to the other leaf.
const NEAR_AND_FAR: &str = r#"
name = "near-and-far"
duration = "1ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 2
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[[traffic]]
name = "near"
kind = "constant"
source = "h0"
destination = "h1"
rate = "100Mbps"
payload = "1250B"
stop = "500us"
[[traffic]]
name = "far"
kind = "constant"
source = "h1"
destination = "h2"
rate = "200Mbps"
payload = "1250B"
stop = "500us"
"#;

/// Test of the number of links that packets crossed, by workload.
/// 1250 B at 100 and at 200 Mb/s are a packet every 100 and every 50 us.
#[test]
fn packets_of_two_workloads_have_crossed_the_links_of_their_own_way() {
    let results = run_with(&scenario(NEAR_AND_FAR, ""), 1, Options::default());
    let [traffic, data, metric, low, count, sum] =
        ["traffic", "data", "metric", "low", "count", "sum"].map(|name| column(&results, "packet_hist", name));
    let hops: Vec<_> = (0..count.len()).filter(|i| metric[*i] == 1).collect();
    let rows: Vec<_> = hops.iter().map(|i| (traffic[*i], data[*i], low[*i], count[*i])).collect();
    assert_eq!(rows, [(0, 1, 2, 5), (1, 1, 4, 10)]);
    assert_eq!(hops.iter().map(|i| f64::from_bits(sum[*i])).collect::<Vec<_>>(), [10.0, 40.0]);
    assert_eq!(column(&results, "fates", "count"), [0; 0], "nothing happened to any");
}
