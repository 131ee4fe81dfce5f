//! Tests that the trace of a packet agrees with the tables of an ordinary run.

use crate::common::{column, run_with, scenario, total, two_senders, world};
use sim::{
    Column, Options, PacketChoice, PacketId, PacketProperty, PacketStep, Results, StepKind, Table, TraceError, Tracer,
};
use std::sync::Arc;
use units::Time;

/// Scenario of queries to random hosts of a fat-tree, which overload its ports.
const QUERIES: &str = r#"
name = "queries"
duration = "12ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "20pkt" }
marking = { kind = "ecn_threshold", k = "5pkt" }
overflow = { kind = "detour" }
[transport]
kind = "dctcp"
min_rto = "5ms"
dupack_threshold = "off"
[measure]
packets = true
[[traffic]]
name = "query"
kind = "incast"
senders = 15
receiver = "random"
size = "30KB"
start = "1ms"
interval = "3ms"
repeat = 3
[variants.in_turn]
[variants.snapshot]
switch.simultaneous = "snapshot"
[variants.slow_stack]
host.stack_delay = "3us"
host.stack_jitter = "2us"
[variants.drop]
switch.overflow = { kind = "tail_drop" }
[variants.bounce]
switch.overflow = { kind = "bounce", theta = 0.8, lambda = 50, bounce_size = "20pkt" }
"#;

fn trace(variant: &str, wanted: PacketChoice, slice: u64) -> Result<Tracer, TraceError> {
    trace_at(QUERIES, variant, (wanted, None), slice)
}

type Asked = (PacketChoice, Option<[Time; 3]>);

fn trace_at(text: &str, variant: &str, (wanted, at): Asked, slice: u64) -> Result<Tracer, TraceError> {
    let mut tracer = Tracer::new(Arc::new(scenario(text, variant)), 1, wanted, at)?;
    let mut pass = 1;
    loop {
        let stage = tracer.advance(slice)?;
        assert!(stage.pass >= pass, "passes come one after the other");
        pass = stage.pass;
        if stage.is_done {
            return Ok(tracer);
        }
    }
}

fn table<'a>(tables: &'a [Table], name: &str, column: &str) -> &'a Column {
    let table = tables.iter().find(|table| table.name == name).expect("the table exists");
    &table.columns.iter().find(|(found, _)| found == column).expect("the column exists").1
}

/// Row of the table `packets`.
#[derive(Debug, PartialEq)]
struct Row {
    id: PacketId,
    sent: u64,
    end: u64,
    hops: usize,
    detours: usize,
    bounces: usize,
    node: u32,
    fate: u8,
}

fn packets(results: &Results) -> Vec<Row> {
    let names = ["flow", "reverse", "emission", "sent_ps", "end_ps", "hops", "detours", "bounces", "node", "fate"];
    let columns = names.map(|name| column(results, "packets", name));
    let row = |i: usize| {
        let [flow, reverse, emission, sent, end, hops, detours, bounces, node, fate] =
            std::array::from_fn(|c| columns[c][i]);
        let id = PacketId::from_emission(flow as u32, reverse == 1, emission as u32);
        let [hops, detours, bounces] = [hops, detours, bounces].map(|n| n as usize);
        Row { id, sent, end, hops, detours, bounces, node: node as u32, fate: fate as u8 }
    };
    (0..columns[0].len()).map(row).collect()
}

fn count(steps: &[PacketStep], what: StepKind) -> usize {
    steps.iter().filter(|step| step.kind == what).count()
}

/// Returns the row of the table `packets` that corresponds to a packet trace.
fn describe(tracer: &Tracer) -> Row {
    let steps = tracer.steps();
    let (first, last) = (steps[0], steps[steps.len() - 1]);
    assert_eq!(first.kind, StepKind::Emitted);
    assert!(tracer.has_ended());
    Row {
        id: tracer.id(),
        sent: first.at.now.0,
        end: last.at.now.0,
        hops: count(steps, StepKind::Arrived),
        detours: count(steps, StepKind::Detoured),
        bounces: count(steps, StepKind::Bounced),
        node: last.at.node,
        fate: if let StepKind::Dropped(reason) = last.kind { 1 + reason as u8 } else { 0 },
    }
}

fn ordinary(variant: &str) -> Vec<Row> {
    packets(&run_with(&scenario(QUERIES, variant), 1, Options::default()))
}

#[test]
fn the_most_detoured_packet_has_the_maximum_of_the_table_and_is_the_first_to_end_with_it() {
    for variant in ["in_turn", "snapshot", "slow_stack"] {
        let rows = ordinary(variant);
        let most = rows.iter().map(|row| row.detours).max().unwrap();
        assert!(most > 3, "{variant}: {most} detours are a packet trace");
        let first = rows.iter().find(|row| row.detours == most).unwrap();
        let tracer = trace(variant, PacketChoice::MostOften(PacketProperty::Detoured), 1 << 20).unwrap();
        assert_eq!(describe(&tracer), *first, "{variant}");
    }
}

#[test]
fn the_most_bounced_packet_has_the_maximum_of_the_table() {
    let rows = ordinary("bounce");
    let most = rows.iter().map(|row| row.bounces).max().unwrap();
    assert!(most > 1, "{most} bounces");
    let first = rows.iter().find(|row| row.bounces == most).unwrap();
    assert_eq!(describe(&trace("bounce", PacketChoice::MostOften(PacketProperty::Bounced), 1 << 20).unwrap()), *first);
}

#[test]
fn a_lost_packet_may_be_the_most_detoured() {
    let text = QUERIES.replace("dupack_threshold = \"off\"", "dupack_threshold = \"off\"\nttl = 12");
    let s = scenario(&text, "in_turn");
    let rows = packets(&run_with(&s, 1, Options::default()));
    let most = rows.iter().map(|row| row.detours).max().unwrap();
    let first = rows.iter().find(|row| row.detours == most).unwrap();
    assert!(first.fate > 0, "it was detoured so often that its time to live ran out");
    assert_eq!(
        describe(
            &trace_at(&text, "in_turn", (PacketChoice::MostOften(PacketProperty::Detoured), None), 1 << 20).unwrap()
        ),
        *first
    );
}

#[test]
fn any_packet_can_be_followed_whatever_becomes_of_it() {
    for variant in ["in_turn", "snapshot", "slow_stack", "drop", "bounce"] {
        let rows = ordinary(variant);
        let delivered = rows.iter().filter(|row| row.fate == 0).step_by(rows.len() / 4);
        let lost = rows.iter().filter(|row| row.fate > 0).take(2);
        let acks = rows.iter().filter(|row| row.id.is_reverse()).step_by(rows.len() / 4);
        let often = rows.iter().filter(|row| row.detours + row.bounces > 1).take(2);
        let chosen: Vec<&Row> = delivered.chain(lost).chain(acks).chain(often).collect();
        assert!(chosen.len() > 4, "{variant}: {}", chosen.len());
        for row in chosen {
            assert_eq!(describe(&trace(variant, PacketChoice::Identity(row.id), 1 << 20).unwrap()), *row, "{variant}");
        }
    }
    assert!(ordinary("drop").iter().any(|row| row.fate > 0), "some are lost");
}

/// Returns the scenario `QUERIES` with switches that trim, with further parameters of `trim`.
fn cutting(more: &str) -> String {
    let trim = format!("overflow = {{ kind = \"trim\", trimmable = \"any\"{more} }}");
    QUERIES.replace("overflow = { kind = \"detour\" }", &trim).replace("size = \"20pkt\"", "size = \"30KB\"")
}

fn first_cut(more: &str) -> Tracer {
    trace_at(&cutting(more), "in_turn", (PacketChoice::MostOften(PacketProperty::Trimmed), None), 1 << 20).unwrap()
}

/// Test of the steps of a packet that is trimmed at its arrival.
/// Later steps of a trimmed packet are those of its header.
#[test]
fn a_cut_is_a_step_and_from_then_on_the_frame_is_as_short_as_what_is_left() {
    let tracer = first_cut("");
    let steps = tracer.steps();
    let at = steps.iter().position(|step| step.kind == StepKind::Trimmed).unwrap();
    assert_eq!(count(steps, StepKind::Trimmed), 1, "a packet is cut once");
    assert!(steps[..at].iter().all(|step| step.size == 1518) && steps[at..].iter().all(|step| step.size == 64));
    let around = [at - 1, at + 1].map(|at| steps[at].kind);
    assert_eq!((around, steps[at + 1].at.now), ([StepKind::Arrived, StepKind::Stored], steps[at].at.now));
}

/// Test of the steps of a packet that is trimmed in a queue.
/// The first packet that the coin selects is queued, is trimmed, and moves to the queue of headers.
#[test]
fn a_packet_is_cut_where_it_waits() {
    let rows = packets(&run_with(&scenario(&cutting(COIN), "in_turn"), 1, Options::default()));
    let follow =
        |row: &Row| trace_at(&cutting(COIN), "in_turn", (PacketChoice::Identity(row.id), None), 1 << 20).unwrap();
    let waited = rows.iter().filter(|row| !row.id.is_reverse() && row.fate == 0).map(follow).find(|tracer| {
        tracer.steps().windows(2).any(|pair| (pair[0].kind, pair[1].kind) == (StepKind::Stored, StepKind::Trimmed))
    });
    let found = waited.expect("the coin falls on the tail of a queue");
    let steps = found.steps();
    let at = steps.iter().position(|step| step.kind == StepKind::Trimmed).unwrap();
    assert_eq!((steps[at - 1].at.port, steps[at + 1].kind), (steps[at].at.port, StepKind::Stored));
    assert_eq!((steps[at - 1].size, steps[at].size), (1518, 64));
}
const COIN: &str = ", header_class = 6, victim = \"coin\"";

/// Test of the steps of a header that is returned to its source.
/// The header turns round at a switch that has no buffer space for it, and ends at its source.
#[test]
fn a_header_that_comes_back_has_ended_and_is_found() {
    let tracer = first_cut(", extra = \"0B\", no_room = \"return\"");
    let steps = tracer.steps();
    let (first, last) = (steps[0], steps[steps.len() - 1]);
    assert_eq!((count(steps, StepKind::Trimmed), count(steps, StepKind::ReturnedToSource)), (1, 1));
    assert_eq!((last.kind, last.at.node), (StepKind::ReturnedToSource, first.at.node));
    assert!(tracer.has_ended() && tracer.run_end().is_none(), "it is not under way when the run ends");
}

#[test]
fn the_first_that_was_cut_is_the_first_to_end_of_those_that_were() {
    let text = cutting("");
    let rows = packets(&run_with(&scenario(&text, "in_turn"), 1, Options::default()));
    let found = describe(&first_cut(""));
    let place = rows.iter().position(|row| *row == found).unwrap();
    for row in &rows[..place] {
        let tracer = trace_at(&text, "in_turn", (PacketChoice::Identity(row.id), None), 1 << 20).unwrap();
        assert_eq!(count(tracer.steps(), StepKind::Trimmed), 0, "{row:?}");
    }
}

/// Test of the order of steps in a packet trace.
/// Every step follows from the one before. A transmitted frame arrives at the far end of that link, and a detoured one
/// is queued at the port that was taken.
#[test]
fn steps_are_a_chain_in_the_order_of_time() {
    let rows = ordinary("in_turn");
    for reverse in [false, true] {
        let most = rows.iter().filter(|row| row.id.is_reverse() == reverse).max_by_key(|row| row.detours).unwrap();
        assert!(most.detours > 1, "{most:?}");
        let tracer = trace("in_turn", PacketChoice::Identity(most.id), 1 << 20).unwrap();
        is_a_chain(tracer.steps());
        // Data is marked once, if it finds more than 5 queued packets or is detoured; ACKs are never marked.
        assert_eq!(count(tracer.steps(), StepKind::Marked), usize::from(!reverse));
    }
}

fn is_a_chain(steps: &[PacketStep]) {
    let s = scenario(QUERIES, "in_turn");
    let mut chain = Vec::new();
    for pair in steps.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        assert!(a.at.now <= b.at.now, "{a:?} {b:?}");
        match (a.kind, b.kind) {
            (StepKind::Started, StepKind::Arrived) => {
                let base: u32 = s.topology.nodes[..a.at.node as usize].iter().map(|node| node.ports.len() as u32).sum();
                let port = &s.topology.nodes[a.at.node as usize].ports[(a.at.port - base) as usize];
                let takes = port.rate.time(s.framing.wire_size(a.size)) + port.delay;
                assert_eq!((b.at.node, b.at.now), (port.peer, a.at.now + takes));
            }
            (StepKind::Detoured, _) => {
                assert_ne!(a.detour_port, Some(a.at.port));
                let stored =
                    steps.iter().find(|step| step.kind == StepKind::Stored && step.at.now == a.at.now).unwrap();
                assert_eq!((Some(stored.at.port), stored.at.node), (a.detour_port, a.at.node));
                assert!(stored.before.unwrap() < 20);
            }
            _ => assert_eq!(a.at.node, b.at.node, "{a:?} {b:?}"),
        }
        chain.push((a.kind, b.kind));
    }
    assert!(
        chain.contains(&(StepKind::Stored, StepKind::Started))
            && chain.contains(&(StepKind::Arrived, StepKind::Detoured))
    );
}

#[test]
fn it_does_not_matter_in_which_slices_a_packet_trace_is_followed() {
    let [whole, slices] =
        [1 << 30, 333].map(|slice| trace("in_turn", PacketChoice::MostOften(PacketProperty::Detoured), slice).unwrap());
    assert_eq!(whole.tables(), slices.tables());
    assert_eq!((whole.id(), whole.window(), whole.instants()), (slices.id(), slices.window(), slices.instants()));
}

#[test]
fn error_for_a_missing_packet_says_which_packets_exist() {
    let said = |variant: &str, wanted| trace(variant, wanted, 1 << 20).err().unwrap().to_string();
    let this = |flow, reverse, emission| PacketChoice::Identity(PacketId::from_emission(flow, reverse, emission));
    assert_eq!(
        said("drop", PacketChoice::MostOften(PacketProperty::Detoured)),
        "packet: found most_detoured; expected a run that detours packets, because this run detoured none"
    );
    assert_eq!(
        said("in_turn", PacketChoice::MostOften(PacketProperty::Bounced)),
        "packet: found most_bounced; expected a run that bounces packets, because this run bounced none"
    );
    assert_eq!(
        said("in_turn", PacketChoice::MostOften(PacketProperty::Trimmed)),
        "packet: found first_trimmed; expected a run that trims packets, because this run trimmed none"
    );
    assert_eq!(said("in_turn", this(45, false, 0)), "packet: found flow=45,n=0; expected a flow from 0 to 44");
    let sent = ordinary("in_turn").iter().filter(|row| row.id.flow == 3 && !row.id.is_reverse()).count();
    assert_eq!(
        said("in_turn", this(3, false, 9_999)),
        format!(
            "packet: found flow=3,n=9999; expected n from 0 to {}: the sender of flow 3 sent {sent} packets",
            sent - 1
        )
    );
    let acks = ordinary("in_turn").iter().filter(|row| row.id.flow == 3 && row.id.is_reverse()).count();
    assert!(said("in_turn", this(3, true, 9_999)).ends_with(&format!("the receiver of flow 3 sent {acks} packets")));
}

/// Returns a scenario of two hosts that send simultaneously to a third, through one port of 1 Gb/s; full frames take
/// 12.304 us.
///
/// `over_time.rs` works out when each frame is at the port.
fn two() -> String {
    two_senders("", ["30us", "20us"])
}

#[test]
fn queues_at_three_instants_are_what_is_worked_out_by_hand() {
    let id = PacketId::from_emission(0, false, 1);
    let at = [30, 20, 60].map(|us| Time(us * 1_000_000));
    let tracer = trace_at(&two(), "", (PacketChoice::Identity(id), Some(at)), 1 << 20).unwrap();
    let tables = tracer.tables();
    assert_eq!(table(&tables, "occupancy", "at_ps"), &Column::U64(vec![20_000_000, 30_000_000, 60_000_000]));
    assert_eq!(table(&tables, "occupancy", "node"), &Column::U32(vec![3; 3]));
    assert_eq!(table(&tables, "occupancy", "port"), &Column::U16(vec![2; 3]));
    assert_eq!(table(&tables, "occupancy", "packets"), &Column::U32(vec![1, 2, 1]));

    let us = |step: &PacketStep| step.at.now.0 as f64 / 1e6;
    let steps: Vec<(StepKind, f64, Option<u32>)> = tracer.steps().iter().map(|s| (s.kind, us(s), s.before)).collect();
    let expected = [
        (StepKind::Emitted, 12.304, None),
        (StepKind::Stored, 12.304, Some(0)),
        (StepKind::Started, 12.304, None),
        (StepKind::Arrived, 25.608, None),
        (StepKind::Stored, 25.608, Some(0)),
        (StepKind::Started, 37.912, None),
        (StepKind::Arrived, 51.216, None),
        (StepKind::Delivered, 51.216, None),
    ];
    assert_eq!(steps, expected);
}

/// Test of the queue lengths in a packet trace.
/// The first frames of `a` and of `b` reach the switch at 13.304 us.
#[test]
fn queues_are_seen_after_all_that_happens_at_an_instant() {
    let id = PacketId::from_emission(0, false, 1);
    let seen = |ns: u64| {
        let at = [Time(ns * 1_000), Time(900_000_000), Time(900_000_000)];
        let tracer = trace_at(&two(), "", (PacketChoice::Identity(id), Some(at)), 1 << 20).unwrap();
        table(&tracer.tables(), "occupancy", "packets").clone()
    };
    let [before, at, empty] = [13_303, 13_304, 75_000].map(seen);
    assert_eq!(before, Column::U32(vec![]));
    assert_eq!(at, Column::U32(vec![1]), "of two that come at once one waits");
    assert_eq!(empty, Column::U32(vec![]));
}

#[test]
fn all_detours_of_a_run_are_around_a_packet_trace_that_has_all_of_it_in_its_window() {
    let results = run_with(&scenario(QUERIES, "in_turn"), 1, Options::default());
    let most = PacketChoice::MostOften(PacketProperty::Detoured);
    let whole = [Time::ZERO, Time(1), results.progress.now];
    let tracer = trace_at(QUERIES, "in_turn", (most, Some(whole)), 1 << 20).unwrap();
    let times = |tracer: &Tracer| match table(&tracer.tables(), "detours", "time_ps") {
        Column::U64(times) => times.clone(),
        other => panic!("{other:?}"),
    };
    let all = times(&tracer);
    assert_eq!(all.len() as u64, total(&results, "ports", "detoured"));
    let detoured: Vec<Row> = packets(&results).into_iter().filter(|row| row.detours > 1).collect();
    for row in [&detoured[0], &detoured[detoured.len() - 1]] {
        let near = trace("in_turn", PacketChoice::Identity(row.id), 1 << 20).unwrap();
        let (from, to) = near.window();
        let inside: Vec<u64> = all.iter().copied().filter(|at| *at >= from.0 && *at <= to.0).collect();
        assert_eq!(times(&near), inside);
        assert!(!inside.is_empty() && inside.len() < all.len());
    }
}

const STEPS: [&str; 8] = ["flow", "n", "reverse", "step", "node", "wanted", "taken", "time_ps"];

fn detour_steps(results: &Results) -> Vec<[u64; 8]> {
    let columns = STEPS.map(|name| column(results, "detour_steps", name));
    (0..columns[0].len()).map(|i| std::array::from_fn(|c| columns[c][i])).collect()
}

fn measured(more: &str) -> scenario::Scenario {
    scenario(&QUERIES.replace("[measure]", &format!("[measure]\n{more}")), "in_turn")
}

#[test]
fn every_detour_of_packets_with_enough_of_them_is_a_row() {
    let s = measured("detours = 4\nfrom = \"3ms\"");
    let results = run_with(&s, 1, Options::default());
    let rows = detour_steps(&results);
    let enough = |row: &&Row| row.detours >= 4 && row.sent >= 3_000_000_000;
    let mut expected = Vec::new();
    for row in packets(&results).iter().filter(enough) {
        let tracer = trace("in_turn", PacketChoice::Identity(row.id), 1 << 20).unwrap();
        let detours = tracer.steps().iter().filter(|step| step.kind == StepKind::Detoured);
        for (step, n) in detours.zip(0..) {
            let base: u32 = s.topology.nodes[..step.at.node as usize].iter().map(|node| node.ports.len() as u32).sum();
            let id = [row.id.flow, row.id.emission, u32::from(row.id.is_reverse()), n, step.at.node].map(u64::from);
            let ports = [step.at.port - base, step.detour_port.unwrap() - base].map(u64::from);
            expected.push([id[0], id[1], id[2], id[3], id[4], ports[0], ports[1], step.at.now.0]);
        }
    }
    assert!(rows.len() > 8, "{} rows", rows.len());
    assert_eq!(rows, expected, "in the order in which packets end");
}

#[test]
fn rows_of_detours_may_be_taken_out_on_the_way_and_cost_nothing_else() {
    let s = measured("detours = 1");
    let whole = run_with(&s, 1, Options::default());
    let plain = run_with(&measured(""), 1, Options::default());
    assert_eq!(detour_steps(&plain), Vec::<[u64; 8]>::new());
    for table in plain.tables.iter().filter(|table| table.name != "detour_steps") {
        assert_eq!(whole.table(table.name), Some(table), "{}", table.name);
    }
    let (mut world, mut taken) = (world(&s, 1, Options::default()), 0);
    while world.advance_rows(1_000, 10).stop.is_none() {
        let parts = world.take_rows(10);
        let steps = parts.iter().filter(|part| part.name == "detour_steps");
        taken += steps
            .map(|part| {
                if let Column::U8(v) = table(std::slice::from_ref(part), "detour_steps", "reverse") {
                    v.len()
                } else {
                    0
                }
            })
            .sum::<usize>();
    }
    assert_eq!(world.observer().detours_kept(), 0, "all packets have ended");
    assert!(taken > 0);
    assert_eq!(taken + detour_steps(&world.results(&s)).len(), detour_steps(&whole).len());
    assert_eq!(detour_steps(&whole).len() as u64, total(&whole, "ports", "detoured"));
}

/// Test of arrival times in a packet trace with NIC jitter.
/// A switch handles a frame at its arrival. With NIC jitter, that is later than the link's time and delay alone.
#[test]
fn arrivals_are_those_of_the_run_despite_nic_jitter() {
    let text = QUERIES.replace("[measure]", "[host]\nnic_jitter = \"40us\"\n[measure]");
    let tracer = trace_at(&text, "drop", (PacketChoice::Identity(PacketId::from_emission(3, false, 4)), None), 1000)
        .expect("it is there");
    let steps = tracer.steps();
    let first = steps.iter().position(|step| step.kind == StepKind::Arrived).expect("it arrives");
    let [started, arrived, next] = [first - 1, first, first + 1].map(|at| steps[at]);
    assert_eq!((started.kind, next.at.now, next.at.node), (StepKind::Started, arrived.at.now, arrived.at.node));
    // At the fat-tree's links of 1 Gb/s, a frame and its delay take 13.4 us at most.
    assert!(arrived.at.now.0 - started.at.now.0 > 14_000_000, "{started:?} {arrived:?}");
}
