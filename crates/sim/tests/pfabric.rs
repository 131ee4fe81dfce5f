//! Tests of pFabric in whole runs: short flows overtake long ones, a short timer recovers losses, and the counters of
//! evicted packets are right.

use crate::common::watched::watch;
use crate::common::{self, column, run, run_with, scenario, total};
use dataplane::Pkt;
use mech::Flags;
use mech::overflow::DropReason;
use sim::{EventLocation, Observer, Options, Results};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a scenario with the switch and the transport of pFabric at 1 Gb/s (DIBS §5.8), with this topology and
/// traffic.
fn pfabric(topology: &str, traffic: &str) -> String {
    format!(
        "name = \"pfabric\"\nduration = \"1s\"\n[topology]\n{topology}\n[switch]\n\
         buffer = {{ kind = \"per_port\", size = \"24pkt\" }}\noverflow = {{ kind = \"evict\" }}\n\
         scheduler = {{ kind = \"srpt\" }}\n[host]\nscheduler = {{ kind = \"srpt\" }}\n\
         [transport]\nkind = \"pfabric\"\nrto = \"350us\"\n{traffic}"
    )
}

const STAR: &str = "kind = \"star\"\nn = 42\nlink = { rate = \"1Gbps\", delay = \"1us\" }";

/// Returns a workload with one flow of `bytes` bytes to h0, from h1 (`first`) or a random host.
fn flow(name: &str, from: &str, bytes: u64, start: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"incast\"\nsenders = 1\npick = \"{from}\"\nreceiver = \"h0\"\n\
         size = \"{bytes}B\"\nstart = \"{start}\"\n"
    )
}

/// Returns the flow completion times in ps, by flow.
fn fcts(results: &Results) -> Vec<u64> {
    let [start, end] = ["start_ps", "end_ps"].map(|name| column(results, "flows", name));
    end.iter().zip(start).map(|(end, start)| end - start).collect()
}

/// Returns the slowdown of each flow: its FCT divided by that of the same flow alone.
fn slowdowns(results: &Results) -> Vec<f64> {
    let ideal = column(results, "flows", "ideal_ps");
    fcts(results).iter().zip(ideal).map(|(fct, ideal)| *fct as f64 / ideal as f64).collect()
}

#[test]
fn a_flow_alone_takes_the_time_of_the_closed_form_where_its_window_does_not_limit_it() {
    for bytes in [1, 1460, 20_000, 1_000_000] {
        let alone = run(&pfabric(STAR, &flow("one", "first", bytes, "3us")), 1);
        assert_eq!(fcts(&alone), column(&alone, "flows", "ideal_ps"), "{bytes} B");
        assert_eq!(total(&alone, "flows", "timeouts"), 0);
    }
    // A window of 24 over a longer round trip is a limit.
    let far = STAR.replace("1us", "200us");
    let long = run(&pfabric(&far, &flow("one", "first", 1_000_000, "3us")).replace("350us", "5ms"), 1);
    let (fct, trip) = (fcts(&long)[0], 4 * 200_000_000 + 3 * 12_304_000);
    let windows = 685 / 24;
    assert!(slowdowns(&long)[0] > 1.5 && fct > windows * trip, "{fct}");
}

#[test]
fn a_short_flow_overtakes_a_long_one_and_the_long_one_ends_as_if_they_came_in_turn() {
    let both = flow("long", "first", 3_000_000, "0us") + &flow("short", "random", 100_000, "5ms");
    let text = pfabric(STAR, &both);
    let results = run(&text, 1);
    assert_ne!(column(&results, "flows", "src")[0], column(&results, "flows", "src")[1]);
    let of = slowdowns(&results);
    // The short flow waits for the frame that is on the wire when its first one arrives, and no more, unless one is
    // lost.
    assert!(of[1] < 1.0 + 2.0 * 12_304.0 / 850_000.0, "{of:?}");
    assert!(of[0] < 1.06, "{of:?}: the short one is 3 % of its bytes");
    let fifo = text.replace("kind = \"srpt\"", "kind = \"strict_priority\"").replace("evict", "tail_drop");
    let dctcp = fifo.replace("kind = \"pfabric\"\nrto = \"350us\"", "kind = \"dctcp\"\nmin_rto = \"10ms\"");
    assert!(slowdowns(&run(&dctcp, 1))[1] > 1.3);
}

#[test]
fn dctcp_with_ranks_and_srpt_is_a_configuration() {
    let both = flow("long", "first", 3_000_000, "0us") + &flow("short", "random", 100_000, "10ms");
    let of = |transport: &str| {
        let text = pfabric(STAR, &both).replace("kind = \"pfabric\"\nrto = \"350us\"", transport);
        slowdowns(&run(&text, 1))[1]
    };
    let (without, with) = (of("kind = \"dctcp\""), of("kind = \"dctcp\"\npriority = \"remaining\""));
    assert!(with < 1.05 && without > 1.3, "{with} {without}");
}

#[test]
fn the_nic_serves_the_flow_with_the_fewest_bytes_to_go() {
    let both = flow("long", "first", 1_000_000, "0us") + &flow("short", "first", 14_600, "100us");
    let text = pfabric(STAR, &both);
    let of = |text: &str| slowdowns(&run(text, 1))[1];
    // At most the frame on the wire precedes it.
    assert!(of(&text) < 1.1);
    assert!(of(&text.replace("[host]\nscheduler = { kind = \"srpt\" }\n", "")) > 1.5);
}

#[test]
fn the_nic_loses_its_least_urgent_packet_where_it_may_evict() {
    let both = flow("long", "first", 1_000_000, "0us") + &flow("short", "first", 14_600, "100us");
    let nic = |overflow: &str| format!("[host]\nnic_queue = \"8pkt\"\noverflow = {{ kind = \"{overflow}\" }}\n");
    let of = |overflow| run(&pfabric(STAR, &both).replace("[host]\n", &nic(overflow)), 1);
    let lost = |results: &Results, reason: &str| column(results, "ports", reason)[1];
    let (tail, evict) = (of("tail_drop"), of("evict"));
    assert!(lost(&tail, "drop_buffer_full") > 0 && lost(&tail, "drop_evicted") == 0);
    assert!(lost(&evict, "drop_evicted") > 0 && slowdowns(&evict)[1] < slowdowns(&tail)[1]);
}

fn incast(senders: u32, bytes: u32) -> String {
    format!(
        "[[traffic]]\nname = \"query\"\nkind = \"incast\"\nsenders = {senders}\nreceiver = \"h0\"\nsize = \"{bytes}B\"\n\
         start = \"1us\"\njitter = \"5us\"\n[variants.in_turn]\n[variants.snapshot]\nswitch.simultaneous = \"snapshot\"\n"
    )
}

#[test]
fn an_incast_into_24_packets_ends_by_retransmissions_and_its_flows_one_after_the_other() {
    let text = pfabric(STAR, &incast(40, 20_000));
    for variant in ["in_turn", "snapshot"] {
        let results = run_with(&scenario(&text, variant), 1, Options::default());
        assert_eq!(column(&results, "flows", "received"), vec![20_000; 40], "{variant}");
        assert!(total(&results, "ports", "drop_evicted") > 40, "{variant}");
        assert!(total(&results, "flows", "timeouts") > 40 && total(&results, "flows", "fast_retransmits") == 0);
        // The link is never idle for long: 40 flows take hardly longer than their bytes.
        let last = column(&results, "flows", "end_ps").into_iter().max().unwrap();
        let bytes = 40 * (13 * 1538 + 1098) * 8_000;
        assert!(last > bytes && last < bytes + bytes / 5, "{variant}: {last} of {bytes}");
        let mut ends = fcts(&results);
        ends.sort_unstable();
        assert!(ends[4] < last / 4, "{variant}: the first flows do not wait for the last: {ends:?}");
    }
}

/// Returns a scenario of queries and long flows over a fat-tree.
fn busy(more: &str) -> String {
    let tree = "kind = \"fat_tree\"\nk = 4\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let traffic = "[[traffic]]\nname = \"query\"\nkind = \"incast\"\nsenders = 14\nreceiver = \"random\"\nsize = \"20KB\"\n\
                   start = \"1ms\"\ninterval = \"2ms\"\nrepeat = 5\njitter = \"5us\"\n\
                   [[traffic]]\nname = \"long\"\nkind = \"permutation\"\nsize = \"300KB\"\nstart = \"1ms\"\n";
    pfabric(tree, &format!("{traffic}{more}"))
}

const VARIANTS: &str = "[variants.packets]\n[variants.bytes]\nswitch.buffer.size = \"20KB\"\n[variants.shared]\n\
                        switch.buffer = { kind = \"shared\", size = \"100KB\", alpha = 0.5 }\n\
                        [variants.snapshot]\nswitch.simultaneous = \"snapshot\"\n[variants.nic]\n\
                        host = { nic_queue = \"20pkt\", scheduler = { kind = \"srpt\" }, overflow = { kind = \"evict\" } }\n";

const NAMES: [&str; 5] = ["packets", "bytes", "shared", "snapshot", "nic"];

/// Record of delivered and lost packets, and of the order of arrival in each flow and direction.
#[derive(Clone, Default)]
struct Ends {
    arrived: BTreeSet<(u32, bool, u32)>,
    lost: BTreeMap<(u32, bool, u32), DropReason>,
    newest: BTreeMap<(u32, bool), u32>,
    reordered: u64,
    twice: u64,
}

impl Observer for Ends {
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        let (flow, back) = (pkt.head.flow.0, pkt.head.flags.has(Flags::REVERSE));
        self.twice += u64::from(!self.arrived.insert((flow, back, pkt.emission)));
        let last = self.newest.insert((flow, back), pkt.emission);
        self.reordered += u64::from(last.is_some_and(|last| last > pkt.emission));
    }
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, reason: DropReason) {
        let who = (pkt.head.flow.0, pkt.head.flags.has(Flags::REVERSE), pkt.emission);
        self.twice += u64::from(self.lost.insert(who, reason).is_some());
    }
}

#[test]
fn a_packet_is_evicted_or_delivered_and_none_overtakes_another_of_its_flow() {
    for name in NAMES {
        let s = scenario(&busy(VARIANTS), name);
        let mut world = watch(&s, 1, Options::default(), Ends::default());
        world.run();
        assert!(world.conserves_packets(), "{name}: {:?}", world.describe_imbalance());
        let seen = world.observer();
        let evicted = seen.lost.values().filter(|reason| **reason == DropReason::Evicted).count();
        assert!(evicted > 100 && seen.arrived.len() > 5000, "{name}: {evicted}");
        assert_eq!((seen.reordered, seen.twice), (0, 0), "{name}");
        assert!(seen.lost.keys().all(|who| !seen.arrived.contains(who)), "{name}");
    }
}

#[test]
fn what_was_stored_was_sent_or_evicted_and_only_what_was_sent_is_timed() {
    for name in NAMES {
        let results = run_with(&scenario(&busy(VARIANTS), name), 2, Options::default());
        let [enqueued, sent, evicted, queued] =
            ["enqueued", "sent", "drop_evicted", "queued"].map(|c| column(&results, "ports", c));
        assert!(evicted.iter().sum::<u64>() > 100 && queued.iter().all(|n| *n == 0), "{name}");
        for port in 0..enqueued.len() {
            assert_eq!(enqueued[port], sent[port] + evicted[port], "{name}, port {port}");
        }
        let switches: BTreeSet<u64> = column(&results, "queue_sojourn", "node").into_iter().collect();
        let of = column(&results, "ports", "node").into_iter().zip(&sent);
        let sent: u64 = of.filter(|(node, _)| switches.contains(node)).map(|(_, sent)| sent).sum();
        assert_eq!(total(&results, "queue_sojourn", "count"), sent, "{name}");
    }
}

#[test]
fn the_bits_are_the_same_by_wheel_and_by_heap_and_from_a_copy() {
    let bits = |mut results: Results| {
        results.progress.events = 0;
        results
    };
    for name in NAMES {
        let s = scenario(&busy(VARIANTS), name);
        let wheel = bits(run_with(&s, 3, Options::default()));
        let heap = Options { heap: true, step_departures: true, ..Options::default() };
        assert_eq!(wheel, bits(run_with(&s, 3, heap)), "{name}");
        assert_ne!(wheel, bits(run_with(&s, 4, Options::default())), "{name}");
        let mut world = common::world(&s, 3, Options::default());
        world.advance(20_000);
        let mut copy = world.clone();
        world.run();
        copy.run();
        assert_eq!(bits(world.results(&s)), bits(copy.results(&s)), "{name}");
        assert_eq!(wheel, bits(copy.results(&s)), "{name}");
    }
}
