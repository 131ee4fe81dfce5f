//! Tests of measurements of bounces (PABO §III) and of ports' separate queues (PABO §IV-B).
//!
//! Runs are exact to the picosecond if they can be worked out by hand; others are checked by identities.

use crate::common::{self, Bursts, PABO_TREE, column, rows, run, run_with, scenario, small, total, two_senders};
use sim::{Options, Results};
use std::collections::BTreeMap;

/// Settings of a switch in which only a full queue of two frames bounces packets.
const BOUNCING: &str = r#"buffer = { kind = "per_port", size = "2pkt" }
overflow = { kind = "bounce", theta = 0.5, lambda = 1000000, bounce_size = "3pkt", round_to = 0 }
[measure]
bin = "10us"
packets = true
sub_queues = true"#;

/// Test of a frame that is bounced once, with times computed by hand.
/// Frames of both senders reach the switch (node 3) at 13.304, 25.608 and 37.912 us, `a` first. Toward h2 one leaves
/// every 12.304 us from 13.304 us on. The arrivals find 0, 1, 0, 1, 1 and 2 queued frames. The last, the third of `b`,
/// is bounced to h1, which it reaches at 51.216 us and leaves immediately. It is back at 64.520 us, finds the bounce
/// queue empty and leaves when the link is idle, at 74.824 us.
#[test]
fn a_frame_that_is_bounced_once_gives_what_is_worked_out_by_hand() {
    let results = run(&two_senders(BOUNCING, ["30us", "30us"]), 1);
    let ends = rows(&results, "packets", ["flow", "emission", "hops", "bounces", "max_bounced_distance"]);
    let others = ends.iter().filter(|row| row[..2] != [1, 2]);
    assert!(others.clone().count() == 5 && others.into_iter().all(|row| row[2..] == [2, 0, 0]), "{ends:?}");
    assert!(ends.contains(&[1, 2, 4, 1, 1]), "{ends:?}");
    let distances = rows(&results, "packet_hist", ["metric", "traffic", "data", "low", "high", "count"]);
    let distances: Vec<_> = distances.into_iter().filter(|row| row[0] == 4).collect();
    assert_eq!(distances, [[4, 1, 1, 0, 1, 2], [4, 1, 1, 1, 2, 1]], "rows only where something was bounced");

    let limits = rows(&results, "sub_queues", ["node", "port", "queue", "limit", "data"]);
    let toward = |port, normal, bounced| [[3, port, 0, 2, normal], [3, port, 1, 3, bounced]];
    let ports = [toward(0, 0, 0), toward(1, 0, 0), toward(2, 6, 1)].into_iter().flatten();
    assert!(column(&results, "sub_queues", "theta").iter().all(|theta| f64::from_bits(*theta) == 0.5));
    assert_eq!(column(&results, "sub_queues", "full_from"), [2, 3].repeat(3), "round_to = 0");
    assert_eq!(limits, ports.collect::<Vec<_>>());
    let names = ["port", "queue", "packets", "time_ps", "arrivals", "decisions"];
    let lengths = rows(&results, "sub_queue_hist", names);
    let of = |port, queue| -> Vec<[u64; 4]> {
        let its = lengths.iter().filter(|row| row[..2] == [port, queue]);
        its.map(|row| [row[2], row[3], row[4], row[5]]).collect()
    };
    let empty = [[0, 1_000_000_000, 0, 0]];
    assert_eq!((of(0, 0), of(0, 1), of(1, 0)), (empty.into(), empty.into(), empty.into()));
    assert_eq!(of(1, 1), [[0, 1_000_000_000, 1, 0]], "bounced into a queue that nobody asked about");
    assert_eq!(of(2, 0), [[0, 950_784_000, 2, 2], [1, 24_608_000, 3, 3], [2, 24_608_000, 0, 1]]);
    assert_eq!(of(2, 1), [[0, 989_696_000, 1, 1], [1, 10_304_000, 0, 0]]);
    let course = rows(&results, "sub_queue_trace", ["bin", "port", "queue", "max_packets"]);
    let mut course: Vec<_> = course.into_iter().filter(|row| row[2] == 1).collect();
    course.sort_unstable();
    assert_eq!(course, [[3, 1, 1, 1], [6, 2, 1, 1], [7, 2, 1, 1]]);
}

/// Returns a tree of three senders with a flow in the opposite direction. That flow has a higher class and leaves
/// first, so that some bounced packets do not fit.
fn tree(simultaneous: &str) -> String {
    let bursts = |name: &str, (source, destination): (u32, u32), class: u8| {
        let sources = &[&*format!("h{source}")];
        let destination = &format!("h{destination}");
        let shape = Bursts { packets: 150, interval: "10us", pause: "4ms", ..Bursts::ONE_FRAME };
        Bursts { name, sources, destination, class, ..shape }.text()
    };
    let more = format!(
        "[switch]\nsimultaneous = \"{simultaneous}\"\n\
         buffer = {{ kind = \"per_port\", size = \"30pkt\" }}\n\
         overflow = {{ kind = \"bounce\", theta = 0.3, lambda = 5, bounce_size = \"3pkt\" }}\n\
         [measure]\nfrom = \"1ms\"\nto = \"15ms\"\npackets = true\nsub_queues = true\n{}{}{}{}",
        bursts("a", (0, 3), 0),
        bursts("b", (1, 3), 1),
        bursts("c", (2, 3), 1),
        bursts("d", (3, 0), 1)
    );
    small("20ms", PABO_TREE, &more)
}

/// Returns, for each port, the integral of its queue length in frames times picoseconds, and its arrivals.
fn areas(results: &Results, table: &str) -> BTreeMap<(u64, u64), (u64, u64)> {
    let mut areas = BTreeMap::new();
    for [node, port, packets, time, arrivals] in
        rows(results, table, ["node", "port", "packets", "time_ps", "arrivals"])
    {
        let (area, seen) = areas.entry((node, port)).or_default();
        *area += packets * time;
        *seen += arrivals;
    }
    areas
}

#[test]
fn the_queues_of_a_port_are_together_what_the_port_holds() {
    for simultaneous in ["in_turn", "snapshot"] {
        let results = run(&tree(simultaneous), 3);
        assert!(common::drops(&results) > 0 && total(&results, "ports", "bounced") > 1000, "{simultaneous}");
        assert_eq!(areas(&results, "sub_queue_hist"), areas(&results, "queue_hist"), "{simultaneous}");
        let queues = rows(&results, "sub_queue_hist", ["node", "port", "queue"]);
        let mut times: BTreeMap<_, u64> = BTreeMap::new();
        for (queue, time) in queues.iter().zip(column(&results, "sub_queue_hist", "time_ps")) {
            *times.entry(queue).or_default() += time;
        }
        assert!(times.len() > 24 && times.values().all(|time| *time == 14_000_000_000), "the window, in every queue");
        let course = rows(&results, "sub_queue_trace", ["bin", "node", "port"]);
        let mut together: BTreeMap<_, f64> = BTreeMap::new();
        for (at, mean) in course.into_iter().zip(column(&results, "sub_queue_trace", "mean_packets")) {
            *together.entry(at).or_default() += f64::from_bits(mean);
        }
        let whole = rows(&results, "queue_trace", ["bin", "node", "port"]);
        for (at, mean) in whole.into_iter().zip(column(&results, "queue_trace", "mean_packets")) {
            assert!((together[&at] - f64::from_bits(mean)).abs() < 1e-9, "{at:?}");
        }
    }
}

#[test]
fn every_arrival_is_decided_about_once() {
    let all = tree("in_turn").replace("from = \"1ms\"\nto = \"15ms\"\n", "");
    let results = run(&all, 5);
    let decisions = total(&results, "sub_queue_hist", "decisions");
    let node = column(&results, "ports", "node");
    let at_switches = |name| -> u64 {
        node.iter().zip(column(&results, "ports", name)).filter(|(node, _)| **node >= 4).map(|(_, n)| n).sum()
    };
    let stored = at_switches("enqueued");
    let lost = at_switches("drop_buffer_full") + at_switches("drop_bounce_queue_full");
    assert!(lost > 0 && decisions == stored + lost, "{decisions} decisions, {stored} stored, {lost} lost");
}

/// Test that the distances and links of every packet fit its bounces.
/// The largest bounced distance of a packet is at most the number of its bounces, and at least 1 if there are any. A
/// packet that then goes straight on has crossed its four links, and two more for every bounce.
#[test]
fn distances_and_links_fit_the_bounces_of_every_packet() {
    let results = run(&tree("snapshot"), 4);
    let ends = rows(&results, "packets", ["bounces", "max_bounced_distance", "hops", "fate"]);
    assert!(ends.iter().any(|row| row[1] > 1) && ends.iter().any(|row| row[0] > row[1] && row[1] > 0));
    for row in &ends {
        let [bounces, farthest, hops, fate] = *row;
        assert!(farthest <= bounces && (farthest > 0) == (bounces > 0), "{row:?}");
        assert!(fate != 0 || hops == 4 + 2 * bounces, "{row:?}");
    }
}

#[test]
fn distances_are_the_same_whether_queues_are_followed_or_not() {
    let text = tree("in_turn");
    let blind = text.replace("sub_queues = true", "queues = false");
    let of = |text: &str, options: Options| run_with(&scenario(text, ""), 2, options);
    let (seen, unseen) = (of(&text, Options::default()), of(&blind, Options { heap: true, ..Options::default() }));
    assert!(
        seen.table("packet_hist") == unseen.table("packet_hist") && seen.table("packets") == unseen.table("packets")
    );
    for table in ["sub_queues", "sub_queue_hist", "sub_queue_trace"] {
        assert!(column(&unseen, table, "node").is_empty() && !column(&seen, table, "node").is_empty(), "{table}");
    }
}
