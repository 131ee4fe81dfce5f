//! Tests of sojourn times, goodput, links and packet order: to the picosecond if a run can be worked out by hand,
//! otherwise as identities.

use crate::common::{self, column, rows, run, run_with, scenario, total, two_senders, world};
use sim::{Options, Results};

const MEASURE: &str = "[measure]\nbin = \"10us\"\ngoodput = \"flows\"\nlinks = true\nreordering = true";
const STOPS: [&str; 2] = ["30us", "20us"];

/// Test of two senders and one port, with times computed by hand.
/// `a` sends at 0, 12.304 and 24.608 us, `b` at 0 and 12.304 us. Frames are at the switch 13.304 us after they are
/// sent. There, port 2 sends for 12.304 us each:
/// - the first of `a` at 13.304 us;
/// - the first of `b` at 25.608 us (queued for 12.304 us);
/// - the second of `a` at 37.912 us (arrived at 25.608, queued for 12.304);
/// - the second of `b` at 50.216 us (24.608);
/// - the third of `a` at 62.520 us (arrived at 37.912, queued for 24.608).
///
/// Each is at its host 13.304 us later: 26.608, 38.912, 51.216, 63.520, 75.824 us.
#[test]
fn two_senders_and_one_port_give_what_is_worked_out_by_hand() {
    let results = run(&two_senders(MEASURE, STOPS), 1);
    let sojourn = rows(&results, "queue_sojourn", ["node", "port", "low", "count"]);
    assert!(sojourn.iter().all(|row| (row[0], row[1]) == (3, 2)), "{sojourn:?}");
    let highs = column(&results, "queue_sojourn", "high");
    let holds = |value: u64| sojourn.iter().zip(&highs).find(|(row, high)| (row[2]..**high).contains(&value));
    let counts = [0, 12_304_000, 24_608_000].map(|value| holds(value).map(|(row, _)| row[3]));
    assert_eq!((counts, sojourn.len()), ([Some(1), Some(2), Some(2)], 3));
    let sums: Vec<f64> = column(&results, "queue_sojourn", "sum").into_iter().map(f64::from_bits).collect();
    assert_eq!(sums.iter().sum::<f64>(), 73_824_000.0);

    let goodput = rows(&results, "host_goodput", ["bin", "node", "bytes"]);
    assert_eq!(goodput, [2, 3, 5, 6, 7].map(|bin| [bin, 2, 1460]));
    let mut flows = rows(&results, "flow_goodput", ["flow", "bin", "bytes"]);
    flows.sort_unstable();
    assert_eq!(flows, [[0, 2, 1460], [0, 5, 1460], [0, 7, 1460], [1, 3, 1460], [1, 6, 1460]]);

    // 1538 bytes with preamble and gap; node 3 is the switch.
    let links = rows(&results, "links", ["bin", "node", "port", "bits"]);
    let hosts = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0]];
    let switch = [[1, 3, 2], [2, 3, 2], [3, 3, 2], [5, 3, 2], [6, 3, 2]];
    let mut expected: Vec<_> =
        hosts.into_iter().chain(switch).map(|[bin, node, port]| [bin, node, port, 12_304]).collect();
    expected.sort_unstable();
    assert_eq!(links, expected);

    // Both flows arrive in order: displacement 0, empty reorder buffers, three and two packets.
    let order = rows(&results, "reorder", ["traffic", "metric", "value", "count"]);
    assert_eq!(order, [[0, 0, 0, 3], [0, 1, 0, 3], [0, 3, 0, 3], [1, 0, 0, 2], [1, 1, 0, 2], [1, 3, 0, 2]]);
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let off = two_senders("[measure]\nbin = \"10us\"\ngoodput = \"none\"\nqueues = false", STOPS);
    let results = run(&off, 1);
    for table in ["queue_sojourn", "host_goodput", "flow_goodput", "links", "reorder"] {
        let first = results.table(table).unwrap().columns[0].0.clone();
        assert_eq!(column(&results, table, &first), [0; 0], "{table}");
    }
    let usual = run(&two_senders("[measure]\nbin = \"10us\"", STOPS), 1);
    let given = |table: &str| !column(&usual, table, if table == "reorder" { "metric" } else { "bytes" }).is_empty();
    assert!(given("host_goodput") && !given("flow_goodput") && !given("reorder"));
    assert!(!column(&usual, "queue_sojourn", "count").is_empty() && column(&usual, "links", "bits").is_empty());
}

/// Scenario of queries through small buffers, some of which overflow; each variant handles overflow differently.
const BUSY: &str = r#"
name = "busy"
duration = "3s"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "12pkt" }
marking = { kind = "ecn_threshold", k = "6pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
drain = "1s"
bin = "20us"
goodput = "flows"
links = true
reordering = true
packets = true
[[traffic]]
name = "query"
kind = "incast"
senders = 12
receiver = "random"
size = "33KB"
start = "0ms"
interval = "1ms"
repeat = 6
[[traffic]]
name = "bulk"
kind = "permutation"
size = "200KB"
[variants.drop]
[variants.detour]
switch.overflow = { kind = "detour" }
transport.dupack_threshold = "off"
[variants.bounce]
switch.overflow = { kind = "bounce", bounce_size = "12pkt" }
transport.dupack_threshold = "off"
[variants.classes]
traffic = [
  { name = "urgent", kind = "incast", senders = 12, receiver = "h0", size = "33KB", start = "0ms", class = 7 },
  { name = "bulk", kind = "permutation", size = "200KB" },
]
[variants.spray]
switch.routing = { kind = "spray" }
"#;

const VARIANTS: [&str; 5] = ["drop", "detour", "bounce", "classes", "spray"];

/// Test of Little's law for the waiting times in queues.
/// Little's law, exactly: every frame of every queue has waited for the time by which it made the queue longer,
/// whatever the number of queues and priorities.
#[test]
fn all_sojourn_together_is_the_area_under_the_queues() {
    for variant in VARIANTS {
        let results = run_with(&scenario(BUSY, variant), 1, Options::default());
        assert_eq!(total(&results, "ports", "queued"), 0, "{variant}: everything has drained");
        let mut areas = std::collections::BTreeMap::<(u64, u64), (u64, u64)>::new();
        for [node, port, length, time] in rows(&results, "queue_hist", ["node", "port", "packets", "time_ps"]) {
            areas.entry((node, port)).or_default().0 += length * time;
        }
        for [node, port, sum] in rows(&results, "queue_sojourn", ["node", "port", "sum"]) {
            areas.entry((node, port)).or_default().1 += f64::from_bits(sum) as u64;
        }
        assert!(areas.values().filter(|(area, _)| *area > 1_000_000_000).count() > 5, "{variant}: queues were long");
        for (at, (area, sojourn)) in areas {
            assert_eq!(area, sojourn, "{variant}: {at:?}");
        }
        let hosts = 16;
        let sent: u64 =
            rows(&results, "ports", ["node", "sent"]).into_iter().filter(|r| r[0] >= hosts).map(|r| r[1]).sum();
        assert_eq!(total(&results, "queue_sojourn", "count"), sent, "{variant}: every frame that left is counted");
    }
}

#[test]
fn goodput_adds_up_to_what_every_flow_and_every_host_received() {
    for variant in VARIANTS {
        let results = run_with(&scenario(BUSY, variant), 2, Options::default());
        let received = column(&results, "flows", "received");
        let mut flows = vec![0; received.len()];
        rows(&results, "flow_goodput", ["flow", "bytes"]).iter().for_each(|r| flows[r[0] as usize] += r[1]);
        assert_eq!(flows, received, "{variant}");
        let (mut to, mut hosts) = (vec![0; 16], vec![0; 16]);
        column(&results, "flows", "dst").iter().zip(&received).for_each(|(dst, bytes)| to[*dst as usize] += bytes);
        rows(&results, "host_goodput", ["node", "bytes"]).iter().for_each(|r| hosts[r[0] as usize] += r[1]);
        assert_eq!(hosts, to, "{variant}");
    }
}

/// Test that link bits over time agree with the counters of ports.
/// The bits of links by step add up to the ports' counters, computed or stepped, even if the run is cut off.
#[test]
fn links_add_up_to_what_the_ports_sent_and_are_the_same_with_computed_departures() {
    for duration in ["3s", "4ms"] {
        let text = BUSY.replace("duration = \"3s\"", &format!("duration = \"{duration}\""));
        let text = text.replace("drain = \"1s\"", "drain = \"0s\"\nallow_unfinished = true\nqueues = false");
        let s = scenario(&text, "drop");
        let ahead = run_with(&s, 3, Options::default());
        let stepped = run_with(&s, 3, Options { step_departures: true, ..Options::default() });
        assert!(ahead.progress.events < stepped.progress.events);
        assert!(ahead.table("links") == stepped.table("links"), "{duration}");
        let mut sent = std::collections::BTreeMap::new();
        for [node, port, frames, bytes] in rows(&ahead, "ports", ["node", "port", "sent", "sent_bytes"]) {
            sent.insert((node, port), (bytes + 20 * frames) * 8);
        }
        let left = column(&ahead, "ports", "queued");
        assert_eq!(left.iter().sum::<u64>() > 0, duration == "4ms", "a cut run has frames that never began");
        for [node, port, bits] in rows(&ahead, "links", ["node", "port", "bits"]) {
            *sent.get_mut(&(node, port)).unwrap() -= bits;
        }
        assert!(sent.values().all(|bits| *bits == 0), "{sent:?}");
        let bins = rows(&ahead, "links", ["bin", "node", "port"]);
        assert!(bins.len() > 1000 && bins.is_sorted(), "in the order of time, nodes and ports");
    }
}

/// Computes the order of arrival from the table `packets`: the first copies of each flow's data, by rank of first
/// emission.
fn order_by_packets(results: &Results) -> Vec<[u64; 4]> {
    let traffic = column(results, "flows", "traffic");
    let mut emitted = std::collections::BTreeMap::<u64, std::collections::BTreeSet<u64>>::new();
    let names = ["flow", "reverse", "emission", "fate"];
    let data: Vec<_> = rows(results, "packets", names).into_iter().filter(|row| row[1] == 0).collect();
    data.iter().for_each(|row| assert!(emitted.entry(row[0]).or_default().insert(row[2]), "sent once"));
    let mut arrived = std::collections::BTreeMap::<u64, Vec<u64>>::new();
    data.iter().filter(|row| row[3] == 0).for_each(|row| arrived.entry(row[0]).or_default().push(row[2]));
    let mut counts = std::collections::BTreeMap::<[u64; 3], u64>::new();
    for (flow, order) in arrived {
        assert!(emitted[&flow].iter().copied().eq(0..order.len() as u64), "nothing is lost or sent again");
        for (i, seq) in order.iter().enumerate() {
            let mut add = |metric, value: i64| {
                *counts.entry([traffic[flow as usize], metric, value as u64 ^ 1 << 63]).or_default() += 1;
            };
            add(0, i as i64 - *seq as i64);
            let expected = (0..).find(|s| !order[..=i].contains(s)).unwrap_or(0);
            add(1, order[..=i].iter().filter(|s| **s > expected).count() as i64);
            if let Some(j) = order[..i].iter().position(|s| s > seq) {
                add(2, (i - j) as i64);
            }
            add(3, 0);
        }
    }
    counts.into_iter().map(|([traffic, metric, value], count)| [traffic, metric, value ^ 1 << 63, count]).collect()
}

#[test]
fn reorder_table_matches_the_packets_table_without_losses() {
    let text =
        BUSY.replace("12pkt", "400pkt").replace("6pkt", "200pkt").replace("min_rto = \"1ms\"", "min_rto = \"1s\"");
    let text = text.replace("[transport]", "[transport]\ndupack_threshold = \"off\"");
    let results = run_with(&scenario(&text, "spray"), 4, Options::default());
    assert_eq!(common::drops(&results), 0);
    let found = rows(&results, "reorder", ["traffic", "metric", "value", "count"]);
    assert!(found.iter().filter(|row| row[1] == 2).count() > 3, "spraying reorders");
    assert_eq!(found, order_by_packets(&results));
}

/// Test that each segment is counted once in the order of arrival.
/// Retransmissions have the place of the packets that they replace: whatever is lost, all data arrives, so that every
/// segment is counted once or is too late.
#[test]
fn every_segment_is_counted_once_however_often_it_is_sent() {
    for variant in VARIANTS {
        let text = BUSY.replace("reordering = true", "reordering = true\ndisplacement_threshold = 100000");
        let results = run_with(&scenario(&text, variant), 5, Options::default());
        let segments = |traffic: u64| -> u64 {
            let flows = rows(&results, "flows", ["traffic", "bytes"]).into_iter();
            flows.filter(|row| row[0] == traffic).map(|row| row[1].div_ceil(1460)).sum()
        };
        if variant == "drop" {
            assert!(total(&results, "flows", "retransmits") > 20 && total(&results, "flows", "timeouts") > 0);
        }
        for traffic in [0, 1] {
            let count = |metric: u64| -> u64 {
                let table = rows(&results, "reorder", ["traffic", "metric", "count"]);
                table.iter().filter(|row| row[0] == traffic && row[1] == metric).map(|row| row[2]).sum()
            };
            assert_eq!([0, 1, 3].map(count), [segments(traffic); 3], "{variant}");
            assert!(count(2) < count(3));
        }
    }
}

#[test]
fn order_costs_no_memory_where_everything_has_arrived() {
    let s = scenario(BUSY, "drop");
    let mut world = world(&s, 1, Options::default());
    world.run();
    assert_eq!(world.observer().incomplete_streams(), 0);
}
