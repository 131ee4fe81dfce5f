//! Tests that computed departures leave the same tables as stepped ones, over many random scenarios.
//!
//! The tests cover simultaneous arrivals, snapshots, marks, losses, windows that begin and end in the middle, queues
//! that outlast the run, and wide and narrow bins.

use crate::common::draw::{Draw, drawn, drawn_run};
use crate::common::{run_with, scenario, total, world};
use property::for_all;
use sim::{Column, Options, Results, Table};

const PATHS: [&str; 5] = [
    "kind = \"star\"\nn = 6",
    "kind = \"dumbbell\"\nn = 4\nbottleneck = { rate = \"300Mbps\", delay = \"5us\" }",
    "kind = \"leaf_spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2",
    "kind = \"leaf_spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 4\noversubscription = 4",
    "kind = \"fat_tree\"\nk = 4",
];

/// Returns a random scenario whose ports have a single queue, so that departures are computed.
///
/// Raw sources start together and send phase-locked, so that their frames meet at switches, and some begin to leave at
/// the very instant at which others arrive. The ends of windows and of the run are no such instants: they have an odd
/// number of nanoseconds.
fn plain(draw: &mut Draw) -> String {
    let topology = draw.pick(&PATHS);
    let buffer = draw.pick(&[
        "kind = \"per_port\", size = \"6pkt\"",
        "kind = \"per_port\", size = \"40KB\"",
        "kind = \"unlimited\"",
        "kind = \"unlimited\"",
    ]);
    let marking = draw.pick(&["kind = \"none\"", "kind = \"ecn_threshold\", k = \"3pkt\""]);
    let overflow = draw.pick(&[
        "kind = \"tail_drop\"",
        "kind = \"tail_drop\"",
        "kind = \"detour\"",
        "kind = \"detour\", policy = \"load_aware\", max_detours = 3",
        "kind = \"detour\", policy = \"probabilistic\", lo = 0.2, hi = 0.7",
    ]);
    let host = draw.pick(&[
        "",
        "[host]\nstack_delay = \"3us\"\nstack_jitter = \"9us\"\nnic_jitter = \"4us\"\nclock_ppm = 100\nnic_queue = \"30pkt\"\n",
    ]);
    let (ties, simultaneous) = (draw.pick(&["random", "port"]), draw.pick(&["in_turn", "snapshot"]));
    let (transport, routing) = (draw.pick(&["newreno", "dctcp"]), draw.pick(&["ecmp", "spray"]));
    let duration = 2 * draw.number(150_000, 2_000_000) + 1;
    let from = [0, 2 * draw.number(1, duration / 6) + 1][draw.number(0, 1) as usize];
    let to = [duration, duration - 2 * draw.number(1, duration / 6)][draw.number(0, 1) as usize];
    let (bin, drain) = (draw.number(1, 200) * 1_000, 2 * draw.number(0, 100_000));
    let (size, payload) = (draw.number(1, 90_000), draw.number(1, 1460));
    let (rate, second) = (draw.pick(&["400Mbps", "600Mbps", "1Gbps"]), draw.pick(&["0ms", "100us"]));
    format!(
        "name = \"plain\"\nduration = \"{duration}ns\"\n[topology]\n{topology}\n{host}[switch]\n\
         buffer = {{ {buffer} }}\nmarking = {{ {marking} }}\noverflow = {{ {overflow} }}\n\
         routing = {{ kind = \"{routing}\" }}\nties = \"{ties}\"\nsimultaneous = \"{simultaneous}\"\n\
         [transport]\nkind = \"{transport}\"\nmin_rto = \"1ms\"\n\
         [measure]\nfrom = \"{from}ns\"\nto = \"{to}ns\"\ndrain = \"{drain}ns\"\nbin = \"{bin}ns\"\n\
         allow_unfinished = true\nsub_queues = true\npackets = true\nlinks = true\nreordering = true\n\
         goodput = \"flows\"\n\
         [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nsenders = 5\nreceiver = \"random\"\nsize = \"{size}B\"\n\
         interval = \"90us\"\nrepeat = 2\n\
         [[traffic]]\nname = \"raw\"\nkind = \"constant\"\nsources = [\"h0\", \"h1\"]\ndestination = \"h3\"\n\
         rate = \"{rate}\"\npayload = \"{payload}B\"\n\
         [[traffic]]\nname = \"more\"\nkind = \"constant\"\nsources = [\"h2\"]\ndestination = \"h3\"\n\
         rate = \"{rate}\"\npayload = \"{payload}B\"\nstart = \"{second}\"\n"
    )
}

/// Removes the number of events from the results.
fn bits(mut results: Results) -> Results {
    results.progress.events = 0;
    results
}

/// Returns the number of rows of the table `queue_trace`, and 0 for any other table.
fn of_trace(table: &Table) -> usize {
    match (table.name, &table.columns[0].1) {
        ("queue_trace", Column::U32(bins)) => bins.len(),
        _ => 0,
    }
}

fn named_table<'a>(results: &'a Results, name: &str) -> &'a Table {
    results.table(name).expect("the table exists")
}

#[test]
fn every_table_is_the_same_with_computed_and_with_stepped_departures() {
    let (mut waited, mut lost, mut marked, mut cut) = (0, 0, 0, 0);
    for_all(80, drawn_run(plain), |(text, n)| {
        let s = scenario(&text, "");
        let stepped = run_with(&s, n, Options { step_departures: true, ..Options::default() });
        let ahead = run_with(&s, n, Options::default());
        assert!(ahead.progress.events < stepped.progress.events, "departures are computed\n{text}");
        waited += total(&ahead, "queue_trace", "max_packets");
        lost += total(&ahead, "ports", "drop_buffer_full");
        marked += total(&ahead, "ports", "marked");
        cut += u32::from(total(&ahead, "ports", "queued") > 0);
        let (ahead, stepped) = (bits(ahead), bits(stepped));
        for table in &stepped.tables {
            assert!(named_table(&ahead, table.name) == table, "{} differs\n{text}", table.name);
        }
        assert!(ahead == stepped, "the results differ\n{text}");
    });
    assert!(waited > 10_000 && lost > 1_000 && marked > 500, "{waited} {lost} {marked}");
    assert!(cut > 20, "queues outlast {cut} runs");
}

#[test]
fn rows_taken_during_a_run_complete_the_tables() {
    for_all(12, drawn(plain), |text| {
        let s = scenario(&text, "");
        let whole = run_with(&s, 1, Options::default());
        let (mut world, mut taken) = (world(&s, 1, Options::default()), 0);
        let rows = |table: &Table| of_trace(table);
        while world.advance_rows(700, 20).stop.is_none() {
            taken += world.take_rows(20).iter().map(rows).sum::<usize>();
        }
        let rest = world.results(&s);
        assert_eq!(taken + rows(named_table(&rest, "queue_trace")), rows(named_table(&whole, "queue_trace")), "{text}");
        for name in ["queue_hist", "queue_sojourn", "sub_queue_hist", "sub_queues"] {
            assert!(named_table(&rest, name) == named_table(&whole, name), "{name} differs\n{text}");
        }
    });
}
