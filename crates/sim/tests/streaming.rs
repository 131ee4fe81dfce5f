//! Tests of tables that grow with simulated time and are taken out during the run.

use crate::common::{self, run_with, scenario, world};
use sim::{Column, Options, Results, Table};

const BUSY: &str = r#"
name = "busy"
duration = "20ms"
[topology]
kind = "star"
n = 9
link = { rate = "10Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
pause = { kind = "pfc", xoff = "3KB", xon = "1KB", lossless = false }
marking = { kind = "ecn_threshold", k = "5pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
packets = true
bin = "10us"
goodput = "flows"
links = true
sent = true
sub_queues = true
[[traffic]]
name = "query"
kind = "incast"
senders = 8
receiver = "random"
size = "64KB"
interval = "1ms"
repeat = 20
start = "0ms"
"#;

const GROWING: [&str; 12] = [
    "packets",
    "queue_trace",
    "sub_queue_trace",
    "activity",
    "host_goodput",
    "flow_goodput",
    "links",
    "pause_trace",
    "hold_trace",
    "input_trace",
    "fabric_trace",
    "sent_trace",
];

fn append(whole: &mut Table, part: Table) {
    for ((_, column), (_, more)) in whole.columns.iter_mut().zip(part.columns) {
        match (column, more) {
            (Column::U8(a), Column::U8(b)) => a.extend(b),
            (Column::U16(a), Column::U16(b)) => a.extend(b),
            (Column::U32(a), Column::U32(b)) => a.extend(b),
            (Column::U64(a), Column::U64(b)) => a.extend(b),
            (Column::I64(a), Column::I64(b)) => a.extend(b),
            (Column::F64(a), Column::F64(b)) => a.extend(b),
            (a, b) => panic!("{a:?} and {b:?} are of two types"),
        }
    }
}

fn rows(table: &Table) -> usize {
    match &table.columns[0].1 {
        Column::U32(v) => v.len(),
        Column::U64(v) => v.len(),
        other => panic!("{other:?}"),
    }
}

/// Runs a scenario in which the rows of a table are taken out once it has `max_rows`, and joins these pieces. Returns
/// the results and the number of pieces.
fn pieces(text: &str, max_rows: usize, events: u64) -> (Results, usize) {
    let s = scenario(text, "");
    let mut world = world(&s, 1, Options::default());
    let mut parts = Vec::new();
    while world.advance_rows(events, max_rows).stop.is_none() {
        parts.extend(world.take_rows(max_rows));
        assert!(world.rows_waiting() < max_rows, "what was full has been taken");
    }
    let mut results = world.results(&s);
    let count = parts.len();
    for name in GROWING {
        let mut whole: Option<Table> = None;
        let Some(rest) = results.tables.iter_mut().find(|table| table.name == name) else { continue };
        let last = rest.clone();
        for part in parts.iter().filter(|part| part.name == name).cloned().chain([last]) {
            match &mut whole {
                Some(whole) => append(whole, part),
                None => whole = Some(part),
            }
        }
        *rest = whole.expect("there is at least the rest");
    }
    (results, count)
}

/// Test that tables taken out during the run are complete.
/// Ports that may be paused are stepped; departures at the others are computed.
#[test]
fn tables_taken_during_a_run_match_those_at_its_end() {
    let pause = BUSY.lines().find(|line| line.starts_with("pause")).expect("its ports may be paused");
    let hold = BUSY.replace(pause, "ack_hold = { kind = \"abq\", k = \"9KB\" }");
    let stages = "model = \"fabric\"\nfabric = { kind = \"mesh\", link_rate = \"8Gbps\" }";
    let fabric = BUSY.replace(pause, stages).replace("[measure]", "[measure]\ninputs = true");
    let paused = (BUSY.to_string(), ["pause_trace"].as_slice());
    let (plain, held) = ((BUSY.replace(pause, ""), [].as_slice()), (hold, ["hold_trace"].as_slice()));
    for (text, own) in [paused, plain, held, (fabric, ["input_trace", "fabric_trace"].as_slice())] {
        let whole = run_with(&scenario(&text, ""), 1, Options::default());
        for table in GROWING.iter().filter_map(|name| whole.table(name)) {
            let of_some = ["pause_trace", "hold_trace", "input_trace", "fabric_trace"].contains(&table.name);
            let many = if of_some { 50 } else { 500 };
            assert!(
                rows(table) > many || (of_some && !own.contains(&table.name)),
                "{} has rows to compare",
                table.name
            );
        }
        for (max_rows, events) in [(1, 100), (100, 1_000), (1_000, 5_000)] {
            let (streamed, count) = pieces(&text, max_rows, events);
            assert!(count > 5, "{count} pieces");
            assert_eq!(streamed, whole, "{max_rows} rows, {events} events");
        }
    }
}

#[test]
fn a_run_whose_rows_nobody_takes_goes_on_to_its_end() {
    let s = scenario(&BUSY.replace("64KB", "320KB"), "");
    let mut world = world(&s, 1, Options::default());
    let mut calls = 0;
    while world.advance_rows(1 << 20, 1).stop.is_none() {
        calls += 1;
        assert!(calls < 1_000, "every call takes some events");
    }
    assert!(calls > 0, "a full table ends a call early");
    assert_eq!(world.results(&s), run_with(&s, 1, Options::default()));
}

#[test]
fn rows_of_a_queue_and_of_all_packets_come_in_the_order_of_time() {
    let results = run_with(&scenario(BUSY, ""), 1, Options::default());
    let column = |table, name| common::column(&results, table, name);
    assert!(column("packets", "end_ps").is_sorted());
    let queues = column("queue_trace", "node").into_iter().zip(column("queue_trace", "port"));
    let mut rows: Vec<_> = queues.zip(column("queue_trace", "bin")).collect();
    assert!(!rows.is_sorted(), "queues are mixed as time goes on");
    rows.sort_by_key(|(queue, _)| *queue);
    assert!(rows.windows(2).all(|w| w[0].0 != w[1].0 || w[0].1 < w[1].1), "a queue has one row a step");
}
