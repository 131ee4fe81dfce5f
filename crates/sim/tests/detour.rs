//! Tests that detours go to switches with free buffer space only.

use crate::common::digest::digest;
use crate::common::watched::{DEPARTURES, watch, watch_wanting};
use crate::common::{self, drops, scenario, total};
use dataplane::Pkt;
use mech::Flags;
use mech::overflow::DropReason;
use scenario::Scenario;
use sim::{EnqueuedFrame, EventLocation, ObservedEvents, Observer, Options, Recorder, build};

/// Scenario of queries to random hosts of a fat-tree, which overload its ports.
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

/// Settings of all detour policies, with different values of their other parameters.
const POLICIES: [&str; 9] = [
    "policy = \"random\"",
    "policy = \"random\", ingress = false, max_detours = 3",
    "policy = \"load_aware\"",
    "policy = \"load_aware\", ingress = false",
    "policy = \"flow_based\"",
    "policy = \"flow_based\", flows = \"short\", flow_size = \"12KB\"",
    "policy = \"flow_based\", flows = \"long\", flow_size = \"6KB\", flow_table = 64",
    "policy = \"flow_based\", flows = \"hosts\", hosts = [\"h1\", \"h2\", \"h3\", \"h4\", \"h5\", \"h6\"]",
    "policy = \"probabilistic\", lo = 0.3, hi = 0.9",
];

/// Returns the scenario of queries with these parameters of the detour mechanism.
fn with(detour: &str) -> String {
    QUERIES.replace("kind = \"detour\"", &format!("kind = \"detour\", {detour}"))
}

/// Observer that follows every detour to the port at which the packet is stored.
#[derive(Clone)]
struct Watch {
    hosts: u32,
    /// True, by port of the network, if the far end of the port is a host.
    to_host: Vec<bool>,
    /// Number of each node's first port, counted over the whole network.
    base: Vec<u32>,
    /// Location of the detour in progress, and the port by which the packet arrived.
    under_way: Option<(EventLocation, u32)>,
    detours: u64,
    to_hosts: u64,
    onto_the_same_port: u64,
    back: u64,
    into_full_ports: u64,
    misdirected: u64,
    lost: [u64; DropReason::ALL.len()],
    most_detours: u8,
}

impl Observer for Watch {
    const OBSERVED: ObservedEvents = ObservedEvents::DEPARTURES;

    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, _pkt: &Pkt) {
        if at.node >= self.hosts && frame.before >= LIMIT {
            self.into_full_ports += 1;
        }
        if let Some((from, ingress)) = self.under_way.take() {
            assert_eq!((from.now, from.node), (at.now, at.node), "a detour is applied at once");
            self.back += u64::from(ingress == at.port);
            self.to_hosts += u64::from(self.to_host[at.port as usize]);
            self.onto_the_same_port += u64::from(from.port == at.port);
        }
    }
    fn on_drop(&mut self, at: EventLocation, _pkt: &Pkt, reason: DropReason) {
        self.under_way = None;
        self.misdirected += u64::from(at.node < self.hosts);
        self.lost[reason as usize] += 1;
    }
    fn on_detour(&mut self, at: EventLocation, _taken: u32, pkt: &Pkt) {
        self.detours += 1;
        self.under_way = Some((at, self.base[at.node as usize] + u32::from(pkt.head.ingress.0)));
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        self.most_detours = self.most_detours.max(pkt.head.detours);
    }
}

fn watched(text: &str, variant: &str, seed: u64) -> Watch {
    let s = scenario(text, variant);
    let hosts = s.topology.hosts;
    let ports = s.topology.nodes.iter().flat_map(|node| &node.ports);
    let base = s.topology.nodes.iter().scan(0, |next, node| {
        let own = *next;
        *next += node.ports.len() as u32;
        Some(own)
    });
    let watch = Watch {
        hosts,
        to_host: ports.map(|port| port.peer < hosts).collect(),
        base: base.collect(),
        under_way: None,
        detours: 0,
        to_hosts: 0,
        onto_the_same_port: 0,
        back: 0,
        into_full_ports: 0,
        misdirected: 0,
        lost: Default::default(),
        most_detours: 0,
    };
    let mut world = watch_wanting::<_, DEPARTURES>(&s, seed, Options::default(), watch);
    world.run();
    assert!(world.conserves_packets());
    world.observer().clone()
}

#[test]
fn a_detour_never_leads_to_a_host_nor_to_a_full_port() {
    for detour in POLICIES {
        for (seed, variant) in [(1, "in_turn"), (2, "in_turn"), (1, "snapshot"), (2, "snapshot")] {
            let seen = watched(&with(detour), variant, seed);
            assert!(seen.detours > 50, "{detour}, {variant}: there is something to watch: {}", seen.detours);
            assert!(seen.most_detours > 1, "{detour}, {variant}: some packets are detoured again");
            assert_eq!((seen.to_hosts, seen.misdirected), (0, 0), "{detour}, {variant}");
            assert_eq!((seen.onto_the_same_port, seen.into_full_ports), (0, 0), "{detour}, {variant}");
            assert_eq!(seen.back > 0, !detour.contains("ingress = false"), "{detour}, {variant}: {}", seen.back);
        }
    }
}

#[test]
fn detours_find_full_ports_only_in_snapshots() {
    let lost = |policy: &str, variant: &str| {
        (1..=4).map(|seed| watched(&with(policy), variant, seed).lost[DropReason::BufferFull as usize]).sum::<u64>()
    };
    for policy in ["policy = \"random\"", "policy = \"load_aware\"", "policy = \"flow_based\""] {
        // In turn, each detour is decided when its port has free buffer space, and the space is still free when it is
        // stored.
        assert_eq!(lost(policy, "in_turn"), 0, "{policy}");
        assert!(lost(policy, "snapshot") > 0, "{policy}");
    }
}

#[test]
fn a_cap_on_detours_is_met_and_never_exceeded() {
    for most in [1u8, 3, 6] {
        for policy in ["random", "load_aware", "flow_based", "probabilistic"] {
            let seen = watched(&with(&format!("policy = \"{policy}\", max_detours = {most}")), "in_turn", 1);
            assert_eq!(seen.most_detours, most, "{policy}");
            assert!(seen.lost[DropReason::DetoursSpent as usize] > 0, "{policy}: {most}");
        }
    }
    let free = watched(QUERIES, "in_turn", 1);
    assert!(free.most_detours > 6 && free.lost[DropReason::DetoursSpent as usize] == 0, "{}", free.most_detours);
}

#[test]
fn packets_of_flows_that_are_not_detoured_meet_tail_drop() {
    #[derive(Clone, Default)]
    struct CountsByHostSelection {
        detoured: [u64; 2],
        lost: [u64; 2],
    }
    impl CountsByHostSelection {
        fn named(pkt: &Pkt) -> usize {
            usize::from([pkt.head.src.0, pkt.head.dst.0].iter().any(|host| (1..=6).contains(host)))
        }
    }
    impl Observer for CountsByHostSelection {
        fn on_detour(&mut self, _at: EventLocation, _taken: u32, pkt: &Pkt) {
            self.detoured[CountsByHostSelection::named(pkt)] += 1;
        }
        fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, reason: DropReason) {
            self.lost[CountsByHostSelection::named(pkt)] += u64::from(reason == DropReason::BufferFull);
        }
    }
    let s = scenario(&with(POLICIES[7]), "in_turn");
    let mut world = watch(&s, 1, Options::default(), CountsByHostSelection::default());
    world.run();
    let CountsByHostSelection { detoured, lost } = world.observer();
    assert!(detoured[0] == 0 && detoured[1] > 500 && lost[0] > 100 && lost[1] == 0, "{detoured:?} {lost:?}");
}

#[test]
fn every_policy_gives_the_same_bits_with_computed_and_stepped_departures() {
    for detour in POLICIES {
        for variant in ["in_turn", "snapshot"] {
            let s = scenario(&with(detour), variant);
            let stepped = Options { step_departures: true, ..Options::default() };
            assert!(digest(&s, 1, Options::default()) == digest(&s, 1, stepped), "{detour}, {variant}");
        }
    }
}

/// Record of all calls to an observer before the first queue is full, and the time of that.
#[derive(Clone, Default)]
struct CallsBeforeFullQueue {
    told: Vec<[u64; 5]>,
    full_at: Option<u64>,
}

impl CallsBeforeFullQueue {
    fn record(&mut self, what: u64, at: EventLocation, more: [u64; 2]) {
        if self.full_at.is_none() {
            self.told.push([what, at.now.0, u64::from(at.port), more[0], more[1]]);
        }
    }
}

impl Observer for CallsBeforeFullQueue {
    const OBSERVED: ObservedEvents = ObservedEvents::DEPARTURES;

    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, _pkt: &Pkt) {
        self.record(0, at, [u64::from(frame.queue.0), u64::from(frame.before)]);
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.record(1, at, [u64::from(pkt.head.flow.0), u64::from(pkt.emission)]);
    }
    fn on_mark(&mut self, at: EventLocation, pkt: &Pkt) {
        self.record(2, at, [u64::from(pkt.head.flow.0), u64::from(pkt.emission)]);
    }
    fn on_drop(&mut self, at: EventLocation, _pkt: &Pkt, _reason: DropReason) {
        self.full_at.get_or_insert(at.now.0);
    }
    fn on_detour(&mut self, at: EventLocation, _taken: u32, _pkt: &Pkt) {
        self.full_at.get_or_insert(at.now.0);
    }
}

#[test]
fn until_a_queue_is_full_every_policy_but_probabilistic_is_tail_drop_bit_by_bit() {
    let before = |s: &Scenario, seed| {
        let mut world = watch_wanting::<_, DEPARTURES>(s, seed, Options::default(), CallsBeforeFullQueue::default());
        world.run();
        let CallsBeforeFullQueue { told, full_at } = world.observer();
        (told.clone(), *full_at)
    };
    for detour in POLICIES {
        let late = !detour.contains("probabilistic");
        for (seed, variant) in [(1, "in_turn"), (2, "snapshot")] {
            let tail = scenario(&QUERIES.replace("kind = \"detour\"", "kind = \"tail_drop\""), variant);
            let (plain, own) = (before(&tail, seed), before(&scenario(&with(detour), variant), seed));
            assert!(plain.1.is_some() && plain.0.len() > 100);
            assert_eq!(plain == own, late, "{detour}, {variant}: {:?} {:?}", plain.1, own.1);
        }
        // If no queue is ever full, the whole runs are identical.
        let roomy = |text: &str| scenario(&text.replace("20pkt", "4000pkt"), "in_turn");
        let digests = [with(detour), QUERIES.replace("kind = \"detour\"", "kind = \"tail_drop\"")];
        let [own, plain] = digests.map(|text| digest(&roomy(&text), 1, Options::default()));
        assert!(own == plain, "{detour}");
    }
}

/// Returns a large incast across a fat-tree, whose packets may cross `ttl` switches.
fn across(ttl: u32) -> String {
    format!(
        r#"
name = "across"
duration = "100ms"
[topology]
kind = "fat_tree"
k = 8
[switch]
buffer = {{ kind = "per_port", size = "8pkt" }}
overflow = {{ kind = "detour" }}
[transport]
kind = "dctcp"
dupack_threshold = "off"
ttl = {ttl}
[measure]
queues = false
allow_unfinished = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 127
receiver = "h0"
size = "15KB"
"#
    )
}

/// Counts for data packets from other pods: the most links and detours of those that arrived, and the fewest detours of
/// those whose TTL expired.
#[derive(Clone, Default)]
struct Budget {
    arrived: u64,
    /// Largest number of detours of a packet each of whose detours cost two links.
    ///
    /// A detour on the way up may lead to an equal-cost port, which costs nothing; `aside` counts packets with such
    /// detours.
    most: u8,
    links: u16,
    aside: u64,
    least: Option<u8>,
}

impl Budget {
    fn is_counted(pkt: &Pkt) -> bool {
        pkt.head.flags.has(Flags::PAYLOAD) && pkt.head.src.0 >= 16
    }
}

impl Observer for Budget {
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        if Budget::is_counted(pkt) {
            let all_back = u32::from(pkt.head.hops) == 6 + 2 * u32::from(pkt.head.detours);
            self.arrived += 1;
            self.aside += u64::from(!all_back);
            self.most = self.most.max(if all_back { pkt.head.detours } else { 0 });
            self.links = self.links.max(pkt.head.hops);
        }
    }
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, reason: DropReason) {
        if Budget::is_counted(pkt) && reason == DropReason::TtlExpired {
            self.least = Some(self.least.map_or(pkt.head.detours, |least| least.min(pkt.head.detours)));
        }
    }
}

#[test]
fn a_time_to_live_allows_the_detours_that_fit_into_it_on_the_way_across_a_fat_tree() {
    // A path has five switches, and each detour adds two. A packet may enter one switch less than its TTL: 5 + 2 d <=
    // TTL - 1.
    for (ttl, detours) in [(12, 3), (24, 9), (48, 21)] {
        let s = scenario(&across(ttl), "");
        let mut world = watch(&s, 1, Options::default(), Budget::default());
        world.run();
        let seen = world.observer();
        assert_eq!((seen.most, seen.least), (detours, Some(detours + 1)), "TTL {ttl}");
        assert_eq!(u32::from(seen.links), ttl, "a link more than switches, of which one fewer than the TTL");
        assert!(seen.arrived > 1000 && seen.aside * 10 < seen.arrived, "{} of {}", seen.aside, seen.arrived);
    }
}

#[test]
fn a_shared_memory_that_one_port_has_used_up_still_lends_its_reserves_to_detours() {
    let shared = |overflow: &str, reserved: &str| {
        let buffer = format!("kind = \"shared\", size = \"90KB\", alpha = 1000000000, reserved = \"{reserved}\"");
        let text = QUERIES.replace("kind = \"per_port\", size = \"20pkt\"", &buffer);
        let s = scenario(&text.replace("kind = \"detour\"", overflow), "in_turn");
        let results = common::run_with(&s, 1, Options::default());
        (drops(&results), total(&results, "ports", "detoured"))
    };
    let (tail, _) = shared("kind = \"tail_drop\"", "7500B");
    let (without, _) = shared("kind = \"detour\"", "0B");
    for policy in ["random", "load_aware", "flow_based"] {
        let (lost, detoured) = shared(&format!("kind = \"detour\", policy = \"{policy}\""), "7500B");
        assert!(lost * 10 < tail && detoured > 100, "{policy}: {lost} lost, {detoured} detoured; tail drop {tail}");
        assert!(lost < without, "{policy}: {lost} lost, {without} without reserves");
    }
}

#[test]
fn detours_save_what_tail_drop_loses() {
    let s = scenario(QUERIES, "in_turn");
    let tail = scenario(&QUERIES.replace("kind = \"detour\"", "kind = \"tail_drop\""), "in_turn");
    let lost = |s: &scenario::Scenario| {
        let mut world = build(s, 1, Options::default(), Recorder::from_scenario(s)).unwrap();
        world.run();
        let results = world.results(s);
        (drops(&results), total(&results, "ports", "detoured"))
    };
    let ((detour, detoured), (tail, none)) = (lost(&s), lost(&tail));
    assert!(detour * 10 < tail && detoured > 1000 && none == 0, "{detour} lost with detours, {tail} without");
}
