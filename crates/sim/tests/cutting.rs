//! Tests of trimming together with all other actions of switches: all payload is delivered, dropped or trimmed.

use crate::common::watched::{EMISSIONS, watch_wanting};
use crate::common::{column, scenario, total};
use dataplane::{EventLocation, ObservedEvents, Observer, Pkt};
use mech::overflow::DropReason;
use mech::{HostId, Registry};
use scenario::declarations;
use scenario::load::{Source, load};
use sim::{Options, PacketId, Recorder, Results, StopReason, build};
use std::collections::HashMap;
use std::path::Path;

/// Record of every packet's payload when it was sent and when it ended, by the packet's identity.
#[derive(Clone, Debug, Default)]
struct Ledger(HashMap<PacketId, Entry>);

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Payload of the packet when it was sent, in bytes.
    payload: u64,
    /// Payload of the packet when it ended, in bytes.
    left: u64,
    delivered: u64,
    dropped: u64,
    cut: u64,
}

impl Ledger {
    fn at(&mut self, pkt: &Pkt) -> &mut Entry {
        self.0.get_mut(&PacketId::from_packet(pkt)).unwrap_or_else(|| panic!("nobody has sent {pkt:?}"))
    }
    fn sum(&self, of: impl Fn(&Entry) -> u64) -> u64 {
        self.0.values().map(of).sum()
    }
}

impl Observer for Ledger {
    const OBSERVED: ObservedEvents = ObservedEvents { emissions: true, ..ObservedEvents::NONE };

    fn on_emit(&mut self, pkt: &Pkt) {
        let before =
            self.0.insert(PacketId::from_packet(pkt), Entry { payload: pkt.payload_bytes(), ..Entry::default() });
        assert!(before.is_none(), "an identity is given once: {pkt:?}");
    }
    fn on_trim(&mut self, _at: EventLocation, bytes: u16, pkt: &Pkt) {
        assert!(bytes > 0 && pkt.payload == 0 && pkt.head.is_cut(), "{pkt:?}");
        self.at(pkt).cut += 1;
    }
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, _reason: DropReason) {
        let entry = self.at(pkt);
        (entry.dropped, entry.left) = (entry.dropped + 1, pkt.payload_bytes());
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        let entry = self.at(pkt);
        (entry.delivered, entry.left) = (entry.delivered + 1, pkt.payload_bytes());
    }
}

/// Default lines of scenarios: queries and flows that overload the ports of two racks, and raw packets in a class of
/// their own.
const BASE: [&str; 8] = [
    "topology = { kind = \"leaf_spine\", leaves = 2, spines = 2, hosts_per_leaf = 4, link = { rate = \"1Gbps\", delay = \"1us\" } }",
    "switch.buffer = { kind = \"per_port\", size = \"14KB\" }",
    "switch.overflow = { kind = \"trim\", trimmable = \"any\" }",
    "transport = { kind = \"dctcp\", pack = true, min_rto = \"1ms\" }",
    "duration = \"40ms\"",
    "name = \"cutting\"",
    "host.nic_jitter = \"0us\"",
    "measure.drain = \"1s\"",
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

/// Returns the results of a run, checked against the outcome of every packet, and the number of trimmed packets.
fn audited(text: &str, seed: u64) -> (Results, u64) {
    let s = scenario(text, "");
    let mut world = watch_wanting::<_, EMISSIONS>(&s, seed, Options::default(), Ledger::default());
    for events in [10, 1000, 10_000] {
        world.advance(events);
        assert!(world.conserves_packets(), "on the way: {:?}\n{text}", world.describe_imbalance());
    }
    let stop = world.run().stop;
    assert!(world.conserves_packets(), "{:?}\n{text}", world.describe_imbalance());
    let payload = world.payload();
    assert_eq!((stop, payload.waiting), (Some(StopReason::Done), 0), "nothing is stuck: {text}");
    let returned: u64 = (0..s.topology.hosts).map(|host| world.host(HostId(host)).packets_returned()).sum();

    let ledger = world.observer();
    let fair = |e: &Entry| e.delivered + e.dropped <= 1 && e.cut <= 1 && (e.cut == 0 || e.left == 0);
    let odd = ledger.0.iter().find(|(_, entry)| !fair(entry));
    assert!(odd.is_none(), "a packet ends once and is cut once: {odd:?}\n{text}");
    // ACKs are still in flight when all flows have ended.
    let untold = ledger.sum(|e| 1 - e.delivered - e.dropped);
    assert!(untold >= returned, "what comes back is no delivery: {untold} of {returned}\n{text}");
    let sent = ledger.sum(|e| e.payload);
    let delivered = ledger.sum(|e| e.delivered * e.left);
    let dropped = ledger.sum(|e| e.dropped * e.left);
    let cut = ledger.sum(|e| e.cut * e.payload);
    assert_eq!(sent, delivered + dropped + cut, "{text}");
    // Copies of flooded frames have no sender, and end without a notice.
    let copies = payload.sent - sent;
    assert!(copies == 0 || text.contains("learning"), "{text}");
    assert_eq!([payload.delivered, payload.dropped, payload.cut], [delivered + copies, dropped, cut], "{text}");

    let mut counted = build(&s, seed, Options::default(), Recorder::from_scenario(&s)).unwrap();
    counted.run();
    let results = counted.results(&s);
    assert!(results.conserved && results.deadlock.is_none() && results.unfinished == 0, "{text}");
    let packets = ledger.sum(|e| e.cut);
    assert!(packets == 0 || packets == total(&results, "ports", "trimmed"), "{text}");
    // Tables by workload and by time have the same counts; only data is trimmed.
    let told = |table: &str| {
        let [kind, count] = ["kind", "count"].map(|name| column(&results, table, name));
        kind.iter().zip(count).filter(|(kind, _)| **kind == 4).map(|(_, count)| count).sum::<u64>()
    };
    let [kind, data] = ["kind", "data"].map(|name| column(&results, "fates", name));
    assert_eq!([told("fates"), told("activity")], [packets; 2], "{text}");
    assert!(kind.iter().zip(data).all(|(kind, data)| *kind != 4 || data == 1), "{text}");
    let came_back = results.table("ports").unwrap().columns.iter().any(|(name, _)| name == "returned");
    assert_eq!(came_back, text.contains("return"), "{text}");
    assert!(!came_back || total(&results, "ports", "returned") == returned, "{text}");
    (results, packets)
}

/// Row of a table on the page of `trim`: lines of a scenario, the outcome for packets, and other counters of ports, or
/// the reason.
struct Row<'a> {
    lines: Vec<&'a str>,
    verdict: &'a str,
    also: &'a str,
}

const PAGE: &str = include_str!("../../../docs/mechanisms/trim.md");

fn rows() -> Vec<Row<'static>> {
    let table = PAGE.split("| beside | packets are |").nth(1).expect("the page has the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let lines = cells[0].split('`').skip(1).step_by(2).collect();
        Row { lines, verdict: cells[1], also: cells.get(2).copied().unwrap_or("").trim_end_matches('|').trim() }
    };
    rows.map(row).collect()
}

#[test]
fn trim_page_table_matches_what_happens_to_packets() {
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
        let (mut cut, mut counted) = (0, vec![0; named.len()]);
        for seed in 1..=3 {
            let (results, packets) = audited(&text, seed);
            cut += packets;
            counted.iter_mut().zip(&named).for_each(|(sum, name)| *sum += total(&results, "ports", name));
        }
        let is_so = if row.verdict == "cut" { cut > 20 } else { row.verdict == "never cut" && cut == 0 };
        if !is_so || counted.contains(&0) {
            wrong.push(format!("{:?}: {cut} are cut, {named:?} {counted:?}", row.lines));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_tells_of_everything_that_a_switch_may_have_beside_trim() {
    let told: Vec<&str> = rows().iter().flat_map(|row| row.lines.clone()).collect();
    let slots = ["fib", "routing", "buffer", "overflow", "marking", "scheduler", "pause"];
    for spec in declarations(&Registry::catalogue()) {
        let Some(slot) = spec.slot.strip_prefix("switch.").filter(|slot| slots.contains(slot)) else { continue };
        let kind = format!("{slot} = {{ kind = \"{}\"", spec.kind);
        let plain = ["none", "static", "ecmp", "two_level", "weighted", "k_shortest"].contains(&spec.kind);
        assert!(plain || told.iter().any(|line| line.contains(&kind)), "{kind}");
    }
}
