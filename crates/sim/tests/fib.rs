//! Tests of learning forwarding tables: floods, learnt addresses, and one end for every packet.

use crate::common::digest::digest;
use crate::common::watched::watch;
use crate::common::{column, drops, run_with, scenario, total, world};
use dataplane::Pkt;
use mech::Flags;
use sim::{CrossedFrame, EventLocation, Observer, Options, Results, Tap};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a scenario of flows of one segment in a star of five hosts, one after the other, and further lines.
fn star(fib: &str, more: &str) -> String {
    format!(
        "name = \"star\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 5\nlink = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         [switch]\nfib = {{ {fib} }}\n[transport]\nkind = \"newreno\"\n[[traffic]]\nname = \"f\"\nkind = \"incast\"\n\
         senders = 1\nreceiver = \"h0\"\npick = \"first\"\nsize = \"1000B\"\n{more}"
    )
}

/// Returns the numbers of flooded copies that were made and that were discarded, after a run without drops.
fn flooded(text: &str) -> (u64, u64) {
    let s = scenario(text, "");
    let mut world = world(&s, 1, Options::default());
    world.run();
    let results = world.results(&s);
    assert!(results.conserved, "{:?}", world.describe_imbalance());
    assert_eq!((drops(&results), world.packet_extensions()), (0, 0));
    assert!(column(&results, "flows", "end_ps").iter().all(|end| *end != u64::MAX));
    world.flooded_frames()
}

#[test]
fn unknown_destination_is_flooded_and_its_reply_is_not() {
    // Four ports besides the ingress; h2, h3 and h4 discard their copies. The table has h1 when the ACK arrives.
    assert_eq!(flooded(&star("kind = \"learning\"", "")), (3, 3));
    assert_eq!(flooded(&star("kind = \"static\"", "")), (0, 0));
    assert_eq!(flooded(&star("kind = \"learning\", preset = \"all\"", "")), (0, 0));
    assert_eq!(flooded(&star("kind = \"learning\", preset = [\"h0\"]", "")), (0, 0));
}

#[test]
fn what_was_learnt_lasts_until_it_has_aged() {
    let again = "repeat = 3\ninterval = \"1ms\"\n";
    assert_eq!(flooded(&star("kind = \"learning\"", again)), (3, 3));
    assert_eq!(flooded(&star("kind = \"learning\", ageing = \"500us\"", again)), (9, 9));
    // The ACK, about 20 us after the data, finds the source expired as well.
    assert_eq!(flooded(&star("kind = \"learning\", ageing = \"1us\"", again)), (18, 18));
}

#[test]
fn copies_cross_switches_and_come_back_from_none() {
    // 3 switches on each sender's side, 7 in all, in a tree: the frame reaches every host but its own.
    let text =
        star("kind = \"learning\"", "").replace("kind = \"star\"\nn = 5", "kind = \"chain_tree\"\nn = 3\ndepth = 2");
    let receiver = text.replace("receiver = \"h0\"", "receiver = \"h3\"");
    // Four hosts: the sender gets no copy, the receiver the packet, and two copies are discarded.
    assert_eq!(flooded(&receiver), (2, 2));
}

#[test]
fn extensions_are_shared_by_copies_and_freed_once() {
    for transport in ["timestamps = true", "timestamps = true\nconnection = \"handshake\""] {
        let text = star("kind = \"learning\", ageing = \"30us\"", "repeat = 4\ninterval = \"1ms\"\n")
            .replace("kind = \"newreno\"", &format!("kind = \"sack\"\n{transport}"))
            .replace("size = \"1000B\"", "size = \"20KB\"");
        let (made, ended) = flooded(&text);
        assert!(made >= 12 && made == ended, "{made} {ended}");
    }
}

const CROWDED: &str = r#"
name = "crowded"
duration = "40ms"
[topology]
kind = "chain_tree"
n = 4
depth = 2
link = { rate = "1Gbps", delay = "1us" }
[host]
nic_queue = "500pkt"
[switch]
buffer = { kind = "per_port", size = "20pkt" }
overflow = { kind = "bounce", theta = 0.5, bounce_size = "200pkt" }
[transport]
kind = "dctcp"
dupack_threshold = "off"
min_rto = "100ms"
[[traffic]]
name = "q"
kind = "incast"
senders = 4
receiver = "h4"
size = "60KB"
interval = "5ms"
repeat = 4
[variants.static]
[variants.learning]
switch.fib = { kind = "learning" }
[variants.preset]
switch.fib = { kind = "learning", preset = "all" }
[variants.short]
switch.fib = { kind = "learning", ageing = "100us" }
[variants.detour]
switch.fib = { kind = "learning" }
switch.overflow = { kind = "detour" }
switch.buffer = { kind = "per_port", size = "60pkt" }
"#;

fn finished(results: &Results) -> bool {
    column(results, "flows", "end_ps").iter().all(|end| *end != u64::MAX)
}

#[test]
fn bouncing_loses_nothing_where_tables_learn() {
    for variant in ["static", "learning", "short"] {
        let results = run_with(&scenario(CROWDED, variant), 1, Options::default());
        assert!(finished(&results) && drops(&results) == 0, "{variant}");
        assert!(total(&results, "ports", "bounced") > 100, "{variant}");
    }
}

#[test]
fn detouring_finds_its_way_where_tables_learn() {
    let results = run_with(&scenario(CROWDED, "detour"), 1, Options::default());
    assert!(finished(&results) && total(&results, "ports", "detoured") > 0);
}

#[test]
fn tables_that_know_everything_are_the_static_ones_to_the_bit() {
    let of = |text: &str, variant, seed| digest(&scenario(text, variant), seed, Options::default());
    for seed in 1..=3 {
        assert_eq!(of(CROWDED, "preset", seed), of(CROWDED, "static", seed));
    }
    // Loops are allowed in this case, and any routing.
    for routing in ["ecmp", "spray"] {
        let tree = CROWDED
            .replace("kind = \"chain_tree\"\nn = 4\ndepth = 2", "kind = \"fat_tree\"\nk = 4")
            .replace("[switch]\n", &format!("[switch]\nrouting = {{ kind = \"{routing}\" }}\n"));
        let tree = tree.split("[variants.learning]").next().unwrap().to_string()
            + "[variants.preset]\nswitch.fib = { kind = \"learning\", preset = \"all\" }\n";
        assert_eq!(of(&tree, "preset", 1), of(&tree, "static", 1), "{routing}");
    }
}

/// Record of packet events, by flow, direction and emission number.
#[derive(Clone, Default)]
struct Watch {
    /// Largest number of bounces of each packet so far.
    bounces: BTreeMap<(u32, bool, u32), u8>,
    delivered: BTreeMap<(u32, bool, u32), u32>,
    fallen: u64,
    copies_bounced: u64,
}

impl Observer for Watch {
    fn on_transmit(&mut self, _at: EventLocation, pkt: &Pkt, _end: units::Time) {
        let head = &pkt.head;
        if head.flags.has(Flags::MISDIRECTED) {
            self.copies_bounced += u64::from(head.bounces > 0);
            return;
        }
        let most = self.bounces.entry((head.flow.0, head.flags.has(Flags::REVERSE), pkt.emission)).or_default();
        self.fallen += u64::from(head.bounces < *most);
        *most = head.bounces.max(*most);
    }
    fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
        let who = (pkt.head.flow.0, pkt.head.flags.has(Flags::REVERSE), pkt.emission);
        *self.delivered.entry(who).or_default() += 1;
    }
}

#[test]
fn np_never_falls_no_copy_is_bounced_and_every_packet_arrives_once() {
    for variant in ["static", "learning", "short"] {
        let mut world = watch(&scenario(CROWDED, variant), 2, Options::default(), Watch::default());
        world.run();
        let seen = world.observer();
        assert_eq!((seen.fallen, seen.copies_bounced), (0, 0), "{variant}");
        assert!(seen.bounces.values().any(|n| *n > 0), "{variant}: some are bounced");
        assert!(seen.delivered.values().all(|n| *n == 1), "{variant}");
        assert_eq!(seen.delivered.len(), seen.bounces.len(), "{variant}: what is sent arrives");
    }
}

/// Raw packets for h0 through a small buffer that bounces, while addresses age out within a few frames.
const FORGETFUL: &str = r#"
name = "forgetful"
duration = "200ms"
[topology]
kind = "dumbbell"
n = 3
bottleneck = { rate = "300Mbps", delay = "5us" }
[host]
nic_queue = "5KB"
nic_jitter = "2us"
clock_ppm = 70
[switch]
fib = { kind = "learning", ageing = "200us" }
buffer = { kind = "per_port", size = "8pkt" }
overflow = { kind = "bounce", theta = 0.5, bounce_size = "6pkt" }
[[traffic]]
name = "bursts"
kind = "bursts"
sources = ["h1", "h2"]
destination = "h0"
packets = 60
interval = "9us"
pause = "1ms"
payload = "900B"
jitter = "20us"
stop = "4ms"
[[traffic]]
name = "others"
kind = "permutation"
size = "60KB"
"#;

#[test]
fn a_copy_of_a_flooded_bounced_packet_never_turns_back_to_the_destination() {
    let mut bounced = 0;
    for seed in 250..270 {
        let mut world = watch(&scenario(FORGETFUL, ""), seed, Options::default(), Watch::default());
        world.run();
        let seen = world.observer();
        assert!(seen.delivered.values().all(|n| *n == 1), "seed {seed}");
        bounced += u64::from(seen.copies_bounced > 0);
    }
    assert!(bounced > 0, "bounced packets are flooded");
}

/// Tap that records each packet's extension (TCP options) on its first link, and compares it on all others.
#[derive(Clone, Default)]
struct Carried(BTreeMap<(u32, bool, u32), Option<dataplane::PacketExtension>>, Arc<AtomicU32>);

impl Tap for Carried {
    fn on_frame_crossed(&mut self, frame: &CrossedFrame<'_>) {
        let head = &frame.pkt.head;
        let who = (head.flow.0, head.flags.has(Flags::REVERSE), frame.pkt.emission);
        let first = *self.0.entry(who).or_insert(frame.ext.copied());
        assert_eq!(first, frame.ext.copied(), "{who:?} on link {}", frame.link);
        self.1.fetch_add(u32::from(head.flags.has(Flags::MISDIRECTED)), Ordering::Relaxed);
    }
}

#[test]
fn copies_carry_the_options_of_their_packet_to_the_end() {
    let text = star("kind = \"learning\", ageing = \"1us\"", "repeat = 4\ninterval = \"1ms\"\n")
        .replace("kind = \"newreno\"", "kind = \"sack\"\ntimestamps = true");
    let text = text.replace("size = \"1000B\"", "size = \"20KB\"");
    let tap = Carried::default();
    let copies = tap.1.clone();
    sim::build_with_tap(&scenario(&text, ""), 1, Options::default(), (), tap).unwrap().run();
    assert!(copies.load(Ordering::Relaxed) > 20, "{copies:?}");
}
