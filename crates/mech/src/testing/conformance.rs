//! Runner of the tables of `conformance/`: each case runs with simultaneous arrivals in turn and on a snapshot.

use super::recorder::{DecisionOrder, Recorder};
use super::script::{Setup, parse_packet, text, texts};
use crate::{ClassSet, Head, Lane, PortId, QueueId};
use toml::{Table, Value as Toml};
use units::Time;

fn tables_of<'a>(table: &'a Table, key: &str) -> Vec<&'a Table> {
    let all = table.get(key).and_then(Toml::as_array).into_iter().flatten();
    all.map(|one| one.as_table().expect(key)).collect()
}

/// Parses the packets of a test step; `n=3` in a line means three equal packets.
fn parse_packets(lines: Vec<String>, common: &str) -> Vec<(String, Head)> {
    let each = |line: String| {
        let (name, head, many) = parse_packet(&line, common);
        let numbered = move |i| if many == 1 { name.clone() } else { format!("{name}.{i}") };
        (1..=many).map(move |i| (numbered(i), head))
    };
    lines.into_iter().flat_map(each).collect()
}

/// Parses a port and queue of a conformance table: `0`, `0/b`, `0/c3` or `0/b3`.
fn parse_queue(place: &str) -> (PortId, QueueId) {
    let (port, queue) = place.split_once('/').unwrap_or((place, "c0"));
    let class = queue[1..].parse().unwrap_or(0);
    let lane = if queue.starts_with('b') { Lane::Bounce } else { Lane::Normal };
    let id = QueueId::new(class, lane);
    (PortId(port.parse().expect(place)), id)
}

fn run_step(recorder: &mut Recorder, step: &Table, common: &str) {
    if let Some(at) = step.get("at").and_then(Toml::as_str) {
        recorder.advance_to(Time(units::parse_dur(at).expect(at).0));
    }
    for line in texts(step, "put") {
        let (to, line) = line.split_once(' ').expect("a queue and a packet");
        for packet in parse_packets(vec![line.to_owned()], common) {
            recorder.store_unrecorded(packet, parse_queue(to));
        }
    }
    for line in texts(step, "receive") {
        let words: Vec<_> = line.split_whitespace().collect();
        let set = ClassSet::single(words[2].parse().expect("a class"));
        recorder.on_pause_frame(PortId(words[0].parse().expect("a port")), words[1] == "pause", set);
    }
    for port in step.get("start").and_then(Toml::as_array).into_iter().flatten() {
        recorder.start_transmission(PortId(port.as_integer().expect("a port") as u16));
    }
    texts(step, "left").iter().for_each(|name| recorder.free_memory_of_left_frame(name));
    texts(step, "ack").iter().for_each(|name| recorder.free_memory_of_acknowledged_frame(name));
    recorder.handle_arrivals(parse_packets(texts(step, "arrive"), common));
    recorder.run_due_timers();
}

fn run_case(case: &Table, order: DecisionOrder) {
    let name = text(case, "name");
    let key = match order {
        DecisionOrder::Snapshot if case.contains_key("snapshot_draws") => "snapshot_draws",
        _ => "draws",
    };
    let draws = case.get(key).and_then(Toml::as_array).into_iter().flatten();
    let draws: Vec<f64> = draws.map(|u| u.as_float().expect("a draw")).collect();
    let setup = Setup::read_setup(case["switch"].as_table().expect("switch"));
    let mut recorder = Recorder::new(setup, order, &draws);
    for (i, row) in tables_of(case, "step").into_iter().enumerate() {
        run_step(&mut recorder, row, text(case, "packets"));
        let (expect, snapshot) = (texts(row, "expect"), texts(row, "snapshot"));
        let own = row.contains_key("snapshot");
        assert!(!own || expect != snapshot, "{name}, step {}: `snapshot` is equal to `expect`; remove it", i + 1);
        let wanted = if own && order == DecisionOrder::Snapshot { snapshot } else { expect };
        assert_eq!(recorder.take_lines(), wanted, "{name}, step {}, {order:?}", i + 1);
    }
    assert_eq!(recorder.rng.remaining_draws(), 0, "{name}, {order:?}: some listed draws were not used");
}

fn check_conformance(mechanism: &str) {
    let path = format!("{}/../../conformance/{mechanism}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    let table: Table = text.parse().expect(&path);
    let (mut arrivals, mut together) = (0, false);
    for case in tables_of(&table, "case") {
        let counts = tables_of(case, "step").into_iter().map(|row| texts(row, "arrive").len());
        counts.for_each(|n| {
            arrivals += n;
            together |= n >= 2;
        });
        run_case(case, DecisionOrder::InTurn);
        run_case(case, DecisionOrder::Snapshot);
    }
    assert!(arrivals >= 5 && together, "{mechanism}: {arrivals} arrivals");
}

macro_rules! conforms {
    ($($test:ident: $table:literal;)*) => {$(
        #[test]
        fn $test() {
            check_conformance($table);
        }
    )*};
}

conforms! {
    tail_drop_conforms_to_its_table: "tail_drop";
    detour_conforms_to_its_table: "detour";
    bounce_conforms_to_its_table: "bounce";
    two_level_routing_conforms_to_its_table: "two_level";
    abq_conforms_to_its_table: "abq";
    qcn_with_arrival_culprits_conforms_to_its_table: "qcn_arrival";
    qcn_with_occupancy_culprits_conforms_to_its_table: "qcn_occupancy";
    qcn_with_two_samples_conforms_to_its_table: "qcn_two_samples";
    pfc_conforms_to_its_table: "pfc";
    evict_with_srpt_conforms_to_its_table: "evict_srpt";
    trim_conforms_to_its_table: "trim";
    marks_of_simultaneous_arrivals_conform_to_their_table: "marking";
}
