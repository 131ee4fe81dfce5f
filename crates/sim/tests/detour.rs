//! Detours go to switches with room, and to nobody else.

mod common;

use common::{drops, scenario, total};
use dataplane::Pkt;
use mech::overflow::DropReason;
use sim::{Options, Probe, Recorder, Spot, build};

/// Queries into random hosts of a fat-tree, far too much for their ports.
const QUERIES: &str = r#"
name = "queries"
duration = "20ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "20pkt" }
overflow = { kind = "detour" }
[transport]
kind = "dctcp"
min_rto = "5ms"
dupack_threshold = "off"
[measure]
queues = false
[[traffic]]
name = "query"
kind = "incast"
senders = 15
receiver = "random"
size = "30KB"
start = "1ms"
interval = "3ms"
repeat = 5
[variants.in_turn]
[variants.snapshot]
switch.simultaneous = "snapshot"
"#;

const LIMIT: u32 = 20;

/// Watches every detour to the port where the packet is stored.
#[derive(Clone)]
struct Watch {
    hosts: u32,
    /// By port over the whole network: whether a host is at the far end.
    to_host: Vec<bool>,
    under_way: Option<Spot>,
    detours: u64,
    to_hosts: u64,
    onto_the_same_port: u64,
    into_full_ports: u64,
    strays: u64,
    lost: [u64; DropReason::ALL.len()],
    most_detours: u8,
}

impl Probe for Watch {
    fn follows_queues(&self) -> bool {
        true
    }
    fn stored(&mut self, at: Spot, _queue: mech::QueueId, (before, _slot): (u32, Option<mech::PktId>), _pkt: &Pkt) {
        if at.node >= self.hosts && before >= LIMIT {
            self.into_full_ports += 1;
        }
        if let Some(from) = self.under_way.take() {
            assert_eq!((from.now, from.node), (at.now, at.node), "a detour is applied at once");
            self.to_hosts += u64::from(self.to_host[at.port as usize]);
            self.onto_the_same_port += u64::from(from.port == at.port);
        }
    }
    fn dropped(&mut self, at: Spot, _pkt: &Pkt, reason: DropReason) {
        self.under_way = None;
        self.strays += u64::from(at.node < self.hosts);
        self.lost[reason as usize] += 1;
    }
    fn detoured(&mut self, at: Spot, _taken: u32, _pkt: &Pkt) {
        self.detours += 1;
        self.under_way = Some(at);
    }
    fn delivered(&mut self, _at: Spot, pkt: &Pkt) {
        self.most_detours = self.most_detours.max(pkt.head.detours);
    }
}

fn watched(variant: &str, seed: u64) -> Watch {
    let s = scenario(QUERIES, variant);
    let hosts = s.topology.hosts;
    let ports = s.topology.nodes.iter().flat_map(|node| &node.ports);
    let watch = Watch {
        hosts,
        to_host: ports.map(|port| port.peer < hosts).collect(),
        under_way: None,
        detours: 0,
        to_hosts: 0,
        onto_the_same_port: 0,
        into_full_ports: 0,
        strays: 0,
        lost: Default::default(),
        most_detours: 0,
    };
    let mut world = build(&s, seed, Options::default(), watch).unwrap();
    world.run();
    assert!(world.conserves());
    world.probe().clone()
}

#[test]
fn a_detour_never_leads_to_a_host_nor_to_a_full_port() {
    for seed in 1..=4 {
        for variant in ["in_turn", "snapshot"] {
            let seen = watched(variant, seed);
            assert!(seen.detours > 1000, "{variant}: there is something to watch: {}", seen.detours);
            assert!(seen.most_detours > 1, "{variant}: some packets are detoured again");
            assert_eq!((seen.to_hosts, seen.strays), (0, 0), "{variant}");
            assert_eq!((seen.onto_the_same_port, seen.into_full_ports), (0, 0), "{variant}");
        }
    }
}

#[test]
fn a_full_port_has_the_last_word_only_where_simultaneous_arrivals_chose_the_same_place() {
    let full = |variant| (1..=4).map(|seed| watched(variant, seed).lost[DropReason::BufferFull as usize]).sum::<u64>();
    // Decided one after the other, a detour is only to a port with room, and it still has it.
    assert_eq!(full("in_turn"), 0);
    assert!(full("snapshot") > 0);
}

#[test]
fn detours_save_what_tail_drop_loses() {
    let s = scenario(QUERIES, "in_turn");
    let tail = scenario(&QUERIES.replace("kind = \"detour\"", "kind = \"tail_drop\""), "in_turn");
    let lost = |s: &scenario::Scenario| {
        let mut world = build(s, 1, Options::default(), Recorder::of(s)).unwrap();
        world.run();
        let results = world.results(s);
        (drops(&results), total(&results, "ports", "detoured"))
    };
    let ((detour, detoured), (tail, none)) = (lost(&s), lost(&tail));
    assert!(detour * 10 < tail && detoured > 1000 && none == 0, "{detour} lost with detours, {tail} without");
}
