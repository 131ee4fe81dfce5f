//! Tests of held ACKs together with all other actions of switches: each packet ends once, every held ACK is released,
//! and the effect of asymmetric routes.

use crate::common::watched::{EMISSIONS, watch, watch_wanting};
use crate::common::{column, drops, run_with, scenario, total};
use dataplane::{EventLocation, ObservedEvents, Observer, Pkt};
use mech::overflow::DropReason;
use mech::{Flags, FlowId, Registry};
use scenario::declarations;
use scenario::load::{Source, load};
use sim::{Options, PacketId, Recorder, Results, StopReason, build};
use std::collections::HashMap;
use std::path::Path;
use units::Time;

/// Record of the outcome of every packet, by the packet's identity.
#[derive(Clone, Debug, Default)]
struct Ledger {
    all: HashMap<PacketId, Entry>,
    /// Bytes held at this time, by port; `most` is the maximum over time.
    now: HashMap<u32, u64>,
    most: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    held: u64,
    released: u64,
    delivered: u64,
    dropped: u64,
}

impl Ledger {
    fn at(&mut self, pkt: &Pkt) -> &mut Entry {
        self.all.get_mut(&PacketId::from_packet(pkt)).unwrap_or_else(|| panic!("nobody has sent {pkt:?}"))
    }
    fn sum(&self, of: impl Fn(&Entry) -> u64) -> u64 {
        self.all.values().map(of).sum()
    }
}

impl Observer for Ledger {
    const OBSERVED: ObservedEvents = ObservedEvents { emissions: true, ..ObservedEvents::NONE };

    fn on_emit(&mut self, pkt: &Pkt) {
        assert!(
            self.all.insert(PacketId::from_packet(pkt), Entry::default()).is_none(),
            "an identity is given once: {pkt:?}"
        );
    }
    fn on_hold(&mut self, at: EventLocation, pkt: &Pkt) {
        assert!(pkt.head.is_pure_ack() && !pkt.head.flags.has(Flags::PPL), "{pkt:?}");
        let now = self.now.entry(at.port).or_default();
        *now += u64::from(pkt.head.size);
        self.most = self.most.max(*now);
        self.at(pkt).held += 1;
    }
    fn on_release(&mut self, at: EventLocation, pkt: &Pkt) {
        assert!(pkt.head.flags.has(Flags::ECE), "{pkt:?}");
        *self.now.entry(at.port).or_default() -= u64::from(pkt.head.size);
        let entry = self.at(pkt);
        assert_eq!(entry.held, entry.released + 1, "{pkt:?}");
        entry.released += 1;
    }
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, _reason: DropReason) {
        self.at(pkt).dropped += 1;
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        self.at(pkt).delivered += 1;
    }
}

/// Default lines of scenarios: queries and flows that overload the ports of two racks, and raw packets in a class of
/// their own. All flows finish long before the end.
const BASE: [&str; 9] = [
    "topology = { kind = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 4, link = { rate = \"1Gbps\", delay = \"1us\" } }",
    "switch.buffer = { kind = \"per_port\", size = \"40KB\" }",
    "switch.ack_hold = { kind = \"abq\", k = \"9KB\" }",
    "transport = { kind = \"dctcp\", min_rto = \"1ms\" }",
    "duration = \"100ms\"",
    "name = \"holding\"",
    "host.nic_jitter = \"0us\"",
    "measure.drain = \"1s\"",
    "seed = 1",
];
const TRAFFIC: &str = r#"
[[traffic]]
name = "query"
kind = "incast"
senders = 7
receiver = "h0"
size = "30KB"
interval = "1ms"
repeat = 2
[[traffic]]
name = "across"
kind = "permutation"
size = "60KB"
[[traffic]]
name = "raw"
kind = "constant"
source = "h7"
destination = "h0"
rate = "200Mbps"
class = 2
stop = "2ms"
"#;

fn text(lines: &[&str]) -> String {
    let key = |line: &str| line.split(" =").next().unwrap().to_string();
    let own: Vec<String> = lines.iter().map(|line| key(line)).collect();
    let rest = BASE.into_iter().filter(|line| !own.contains(&key(line)));
    lines.iter().copied().chain(rest).collect::<Vec<_>>().join("\n") + TRAFFIC
}

/// Returns the results of a run, checked against the outcome of every packet, and the number of held ACKs.
fn audited(text: &str, seed: u64) -> (Results, u64) {
    let s = scenario(text, "");
    let mut world = watch_wanting::<_, EMISSIONS>(&s, seed, Options::default(), Ledger::default());
    for events in [10, 1000, 10_000] {
        world.advance(events);
        assert!(world.conserves_packets(), "on the way: {:?}\n{text}", world.describe_imbalance());
    }
    let stop = world.run().stop;
    assert!(world.conserves_packets(), "{:?}\n{text}", world.describe_imbalance());
    assert_eq!(
        (stop, world.packets_made_and_held().1),
        (Some(StopReason::Done), 0),
        "what is held goes on in the end: {text}"
    );

    let ledger = world.observer();
    let fair = |e: &Entry| e.delivered + e.dropped <= 1 && e.held == e.released;
    let odd = ledger.all.iter().find(|(_, entry)| !fair(entry));
    assert!(odd.is_none(), "a packet ends once, and none stays: {odd:?}\n{text}");
    assert!(ledger.most <= 120_000, "{}", ledger.most);

    let mut counted = build(&s, seed, Options::default(), Recorder::from_scenario(&s)).unwrap();
    counted.run();
    let results = counted.results(&s);
    assert!(results.conserved && results.deadlock.is_none() && results.unfinished == 0, "{text}");
    let held = ledger.sum(|e| e.held);
    if results.table("holds").is_some_and(|table| table.u64("held").is_some_and(|rows| !rows.is_empty())) {
        assert_eq!((total(&results, "holds", "held"), total(&results, "holds", "released")), (held, held), "{text}");
    }
    (results, held)
}

/// Row of a table on the page of `abq`: lines of a scenario, the outcome for ACKs, and other counters of ports, or the
/// reason.
struct Row<'a> {
    lines: Vec<&'a str>,
    verdict: &'a str,
    also: &'a str,
}

const PAGE: &str = include_str!("../../../docs/mechanisms/abq.md");

fn rows() -> Vec<Row<'static>> {
    let table = PAGE.split("| beside | ACKs are |").nth(1).expect("the page has the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let lines = cells[0].split('`').skip(1).step_by(2).collect();
        Row { lines, verdict: cells[1], also: cells.get(2).copied().unwrap_or("").trim_end_matches('|').trim() }
    };
    rows.map(row).collect()
}

#[test]
fn abq_page_table_matches_what_happens_to_acks() {
    let mut wrong = Vec::new();
    for row in rows() {
        let (text, named) = (text(&row.lines), row.also.split('`').skip(1).step_by(2).collect::<Vec<_>>());
        if row.verdict == "refused" {
            let found = load(&Source::new("page.toml", &text, Path::new("")), &[]).err().unwrap_or_default();
            let said: Vec<String> = found.iter().map(ToString::to_string).collect();
            if said.len() != 1 || !said[0].contains(named[0]) {
                wrong.push(format!("{:?}: {said:?}", row.lines));
            }
            continue;
        }
        let (mut held, mut counted) = (0, vec![0; named.len()]);
        for seed in 1..=3 {
            let (results, acks) = audited(&text, seed);
            held += acks;
            counted.iter_mut().zip(&named).for_each(|(sum, name)| *sum += total(&results, "ports", name));
        }
        let is_so = if row.verdict == "held" { held > 20 } else { row.verdict == "never held" && held == 0 };
        if !is_so || counted.contains(&0) {
            wrong.push(format!("{:?}: {held} are held, {named:?} {counted:?}", row.lines));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_tells_of_everything_that_a_switch_may_have_beside_abq() {
    let told: Vec<&str> = rows().iter().flat_map(|row| row.lines.clone()).collect();
    let slots = ["fib", "routing", "buffer", "overflow", "marking", "scheduler", "pause"];
    for spec in declarations(&Registry::catalogue()) {
        let Some(slot) = spec.slot.strip_prefix("switch.").filter(|slot| slots.contains(slot)) else { continue };
        let kind = format!("{slot} = {{ kind = \"{}\"", spec.kind);
        let plain = ["none", "static", "two_level", "weighted", "k_shortest", "tail_drop"].contains(&spec.kind);
        assert!(plain || told.iter().any(|line| line.contains(&kind)), "{kind}");
    }
}

/// Returns the tables of a run's results, except those on held packets.
fn tables(text: &str) -> Vec<sim::Table> {
    let results = run_with(&scenario(text, ""), 1, Options::default());
    results.tables.into_iter().filter(|table| !["holds", "hold_trace"].contains(&table.name)).collect()
}

#[test]
fn where_no_queue_is_longer_than_k_nothing_changes() {
    let none = tables(&text(&["switch.ack_hold = { kind = \"none\" }"]));
    let never = tables(&text(&["switch.ack_hold = { kind = \"abq\", k = \"40KB\" }"]));
    let held = tables(&text(&[]));
    assert_eq!(none, never);
    assert_ne!(none, held);
}

#[test]
fn a_sender_without_ecn_ignores_the_ece_of_released_acks() {
    for (transport, heeds) in [("newreno", false), ("sack", false), ("dctcp", true)] {
        let kind = format!("transport = {{ kind = \"{transport}\", min_rto = \"1ms\" }}");
        let with = |corrector: bool| {
            let abq = format!("switch.ack_hold = {{ kind = \"abq\", k = \"9KB\", corrector = {corrector} }}");
            tables(&text(&[&kind, &abq]))
        };
        assert_eq!(with(true) != with(false), heeds, "{transport}");
    }
}

/// Receive windows in ACKs: those of released ACKs, and those of all delivered ones.
#[derive(Clone, Debug, Default)]
struct Windows {
    released: Vec<u16>,
    delivered: Vec<u16>,
}

impl Observer for Windows {
    const OBSERVED: ObservedEvents = ObservedEvents::NONE;

    fn on_release(&mut self, _at: EventLocation, pkt: &Pkt) {
        self.released.push(pkt.window);
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        if pkt.head.is_pure_ack() {
            self.delivered.push(pkt.window);
        }
    }
}

#[test]
fn windows_of_released_acks_are_bounded_where_that_is_asked_and_no_others() {
    let windows = |release: &str| {
        let abq = format!("switch.ack_hold = {{ kind = \"abq\", k = \"9KB\", {release} }}");
        let mut world = watch(&scenario(&text(&[&abq]), ""), 1, Options::default(), Windows::default());
        assert_eq!(world.run().stop, Some(StopReason::Done));
        world.observer().clone()
    };
    let plain = windows("release = \"all\"");
    let own = plain.released[0];
    assert!(own > 9_000 && plain.released.iter().all(|window| *window == own));
    let bounded = windows("release = \"window\", window_min = \"2000B\"");
    assert!(bounded.released.len() > 20 && bounded.released.iter().all(|window| (2_000..=9_000).contains(window)));
    assert!(bounded.delivered.iter().all(|window| *window == own || *window <= 9_000));
    assert!(bounded.delivered.contains(&own), "what was not held says what its host did");
}

#[test]
fn acks_that_find_no_room_are_lost_for_a_reason_of_their_own() {
    let small = text(&["switch.ack_hold = { kind = \"abq\", k = \"9KB\", capacity = \"128B\" }"]);
    let results = run_with(&scenario(&small, ""), 1, Options::default());
    assert!(total(&results, "ports", "drop_hold_full") > 20);
    assert_eq!(column(&results, "holds", "max_bytes").into_iter().max(), Some(128));
    assert_eq!(results.unfinished, 0, "later ACKs tell as much");
}

/// Record of the ports by which the data that each ACK acknowledges left, and of the number of ACKs held for data that
/// left elsewhere.
#[derive(Clone, Debug, Default)]
struct Ways {
    of_data: HashMap<PacketId, Vec<u32>>,
    last: HashMap<FlowId, Vec<u32>>,
    of_acks: HashMap<PacketId, Vec<u32>>,
    held: u64,
    wrong: u64,
}

impl Observer for Ways {
    const OBSERVED: ObservedEvents = ObservedEvents { emissions: true, ..ObservedEvents::NONE };

    fn on_emit(&mut self, pkt: &Pkt) {
        if pkt.head.is_pure_ack() {
            let ways = self.last.get(&pkt.head.flow).cloned().unwrap_or_default();
            self.of_acks.insert(PacketId::from_packet(pkt), ways);
        }
    }
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, _end: units::Time) {
        if pkt.head.flags.has(Flags::PAYLOAD) {
            self.of_data.entry(PacketId::from_packet(pkt)).or_default().push(at.port);
        }
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        if let Some(ways) = self.of_data.remove(&PacketId::from_packet(pkt)) {
            self.last.insert(pkt.head.flow, ways);
        }
    }
    fn on_hold(&mut self, at: EventLocation, pkt: &Pkt) {
        self.held += 1;
        self.wrong += u64::from(!self.of_acks[&PacketId::from_packet(pkt)].contains(&at.port));
    }
}

/// Scenario in which every host sends to every other one, through too few links between two racks.
const SHUFFLE: &str = r#"
name = "shuffle"
duration = "20ms"
measure.drain = "1s"
topology = { kind = "leaf_spine", leaves = 2, spines = 3, hosts_per_leaf = 6, link = { rate = "1Gbps", delay = "1us" } }
switch.buffer = { kind = "per_port", size = "60KB" }
transport = { kind = "dctcp", min_rto = "1ms" }
[[traffic]]
name = "shuffle"
kind = "all_to_all"
size = "20KB"
"#;

/// Returns the number of held ACKs, and the number of those whose data did not leave by the port that held them.
fn count_held_acks(routing: &str, ports: &str) -> (u64, u64) {
    let routing = format!("switch.routing = {routing}");
    let abq = format!("switch.ack_hold = {{ kind = \"abq\", k = \"9KB\", ports = \"{ports}\" }}");
    let mut all = (0, 0);
    for seed in 1..=3 {
        let s = scenario(&format!("{routing}\n{abq}{SHUFFLE}"), "");
        let mut world = watch_wanting::<_, EMISSIONS>(&s, seed, Options::default(), Ways::default());
        world.run();
        let found = world.observer();
        all = (all.0 + found.held, all.1 + found.wrong);
    }
    all
}

/// Test of held ACKs if routes are asymmetric.
/// The port of a host is on the path of all its data, whatever routes do. Between switches, ACKs may return by a link
/// that their data did not take.
#[test]
fn between_switches_acks_of_other_links_are_held_unless_routes_are_symmetric() {
    const SPRAY: &str = "{ kind = \"spray\" }";
    const ECMP: &str = "{ kind = \"ecmp\" }";
    const SYMMETRIC: &str = "{ kind = \"ecmp\", symmetric = true }";
    for routing in [SPRAY, ECMP, SYMMETRIC] {
        let (held, wrong) = count_held_acks(routing, "host");
        assert!(held > 50 && wrong == 0, "{routing} at hosts: {wrong} of {held}");
    }
    for routing in [SPRAY, ECMP] {
        let (held, wrong) = count_held_acks(routing, "all");
        assert!(wrong * 10 > held, "{routing} everywhere: {wrong} of {held}");
    }
    let (at_hosts, (held, wrong)) = (count_held_acks(SYMMETRIC, "host").0, count_held_acks(SYMMETRIC, "all"));
    assert!(held > at_hosts && wrong == 0, "symmetric everywhere: {wrong} of {held}, {at_hosts} at hosts");
}

/// Scenario of the article on ABQ: thirty senders start together, with one packet each at first, to a port of 80
/// packets.
const INCAST: &str = r#"
name = "article"
duration = "50ms"
measure.drain = "1s"
topology = { kind = "star", n = 31, link = { rate = "1Gbps", delay = "40us" } }
switch.buffer = { kind = "per_port", size = "120000B" }
switch.marking = { kind = "ecn_threshold", k = "60000B" }
transport = { kind = "dctcp", initial_window = "1pkt", min_rto = "10ms", initial_rto = "10ms" }
[[traffic]]
name = "incast"
kind = "incast"
senders = 30
receiver = "h0"
size = "32768B"
start = "1ms"
jitter = "100us"
"#;

/// Record of ACKs that are held when the link of their port goes down, and of those that are released in that instant.
#[derive(Clone, Debug)]
struct Outage {
    down: Time,
    held: u64,
    released: u64,
}

impl Observer for Outage {
    const OBSERVED: ObservedEvents = ObservedEvents::NONE;

    fn on_hold(&mut self, at: EventLocation, _pkt: &Pkt) {
        self.held += u64::from(at.now < self.down);
    }
    fn on_release(&mut self, at: EventLocation, _pkt: &Pkt) {
        self.held -= u64::from(at.now < self.down);
        self.released += u64::from(at.now == self.down);
    }
}

/// Test of held ACKs when the link of their port goes down.
/// Held ACKs are released whatever happens to the frames queued for the port: if these stay queued, no later event
/// would call the agent.
#[test]
fn where_its_link_goes_down_acks_go_on_at_once_whatever_waits_for_it() {
    for then in ["drop", "wait", "look_up"] {
        let mut all = 0;
        for at in [1500, 1600, 1700, 1800, 1900] {
            let lines = format!(
                "dead_port = \"{then}\"\nswitch.ack_hold = {{ kind = \"abq\", k = \"30000B\" }}\nevent = [\
                 {{ kind = \"link_down\", link = \"s0:h0\", at = \"{at}us\" }}, \
                 {{ kind = \"link_up\", link = \"s0:h0\", at = \"20ms\" }}]"
            );
            let s = scenario(&format!("{lines}{INCAST}"), "");
            let outage = Outage { down: Time(at * 1_000_000), held: 0, released: 0 };
            let mut world = watch(&s, 1, Options::default(), outage);
            world.run();
            let found = world.observer();
            assert_eq!(found.released, found.held, "{then}: {found:?}");
            all += found.held;
        }
        assert!(all > 20, "{then}: {all}");
    }
}

/// Returns the integral of queue lengths at switches over time.
fn area(results: &Results) -> f64 {
    let (packets, times) = (column(results, "queue_hist", "packets"), column(results, "queue_hist", "time_ps"));
    packets.iter().zip(&times).map(|(packets, time)| *packets as f64 * *time as f64).sum()
}

#[test]
fn beside_any_marking_and_any_answer_to_overflow_queues_are_shorter() {
    let others = [
        "",
        "switch.marking = { kind = \"red\", min = \"20000B\", max = \"90000B\" }\n",
        "switch.overflow = { kind = \"detour\" }\n",
        "switch.overflow = { kind = \"trim\" }\ntransport = { kind = \"dctcp\", initial_window = \"1pkt\", pack = true }\n",
    ];
    for other in others {
        let run = |abq: &str| {
            let key = |line: &str| line.split(" =").next().unwrap_or_default().to_string();
            let own = |line: &&str| !other.lines().any(|one| key(one) == key(line));
            let base: Vec<&str> = INCAST.lines().filter(own).collect();
            let results = run_with(&scenario(&format!("{other}{abq}{}", base.join("\n")), ""), 1, Options::default());
            assert_eq!(results.unfinished, 0, "{other}");
            (area(&results), drops(&results), results.table("holds").map(|_| total(&results, "holds", "held")))
        };
        let (plain, abq) = (run(""), run("switch.ack_hold = { kind = \"abq\" }\n"));
        assert!(abq.0 < plain.0 && abq.1 <= plain.1 && abq.2 > Some(50), "{other}: {plain:?} {abq:?}");
    }
}
