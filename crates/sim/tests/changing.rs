//! Laws of changing networks, over random small scenarios with random events.
//!
//! Every packet ends once, a run is a function of scenario and seed however it is executed, and variants share their
//! draws.

use crate::common::digest::{digest, whole};
use crate::common::draw::{Draw, drawn_run};
use crate::common::watched::watch;
use crate::common::{drops, rows, scenario, total, world};
use crate::conservation::random;
use dataplane::Pkt;
use mech::overflow::DropReason;
use property::for_all;
use proptest::prelude::Strategy;
use scenario::Scenario;
use scenario::topology::Topology;
use sim::{EventLocation, Observer, Options, Recorder, Results, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the names of both ends of each link of a network.
fn links(net: &Topology) -> Vec<[String; 2]> {
    let ports = (0u32..).zip(&net.nodes).flat_map(|(n, node)| node.ports.iter().map(move |port| (n, port.peer)));
    let name = |node: u32| net.nodes[node as usize].name.clone();
    ports.filter(|(a, b)| a < b).map(|(a, b)| [name(a), name(b)]).collect()
}

/// Returns random events of one link, for both of its directions or for one.
fn course(draw: &mut Draw, [a, b]: &[String; 2]) -> Vec<String> {
    let link = [format!("{a}:{b}"), format!("{a}>{b}"), format!("{b}>{a}")][draw.number(0, 2) as usize].clone();
    let event = |kind: &str, at: u64, more: String| {
        format!("{{ kind = \"{kind}\", at = \"{at}ns\", link = \"{link}\"{more} }}")
    };
    let mut all = Vec::new();
    let mut at = draw.number(0, 3_000_000);
    for _ in 0..draw.number(0, 3) {
        all.push(event("link_down", at, String::new()));
        at += draw.number(1, 900_000);
        // Some links stay down.
        if draw.number(0, 9) == 0 {
            break;
        }
        all.push(event("link_up", at, String::new()));
        at += draw.number(1, 900_000);
    }
    for kind in ["rate", "delay", "loss", "corruption"] {
        let mut at = draw.number(0, 2_000_000);
        for _ in 0..draw.number(0, 2) {
            let more = match kind {
                "rate" => format!(", rate = \"{}Mbps\"", draw.number(50, 3_000)),
                "delay" => format!(", delay = \"{}ns\"", draw.number(1, 60_000)),
                _ => format!(", probability = 0.{:02}", draw.number(0, 40)),
            };
            all.push(event(kind, at, more));
            at += draw.number(1, 2_000_000);
        }
    }
    all
}

/// Returns a random scenario with random events, with or without traces of queues.
fn changing(draw: &mut Draw, queues: bool) -> String {
    let text = random(draw, queues);
    let links = links(&scenario(&text, "").topology);
    let mut chosen = BTreeSet::new();
    chosen.extend((0..draw.number(1, 4)).map(|_| draw.number(0, links.len() as u64 - 1)).collect::<Vec<_>>());
    let events: Vec<String> = chosen.into_iter().flat_map(|at| course(draw, &links[at as usize])).collect();
    let keys = format!(
        "reroute_delay = \"{}us\"\ndead_port = \"{}\"\nevent = [{}]\n",
        draw.pick(&["0", "1", "70", "900"]),
        draw.pick(&["drop", "wait", "look_up"]),
        events.join(", ")
    );
    text.replacen("[topology]", &format!("{keys}[topology]"), 1)
}

/// Returns a strategy for scenarios with random events, about half of them with traces of queues.
fn any_changing() -> impl Strategy<Value = (String, u64)> {
    drawn_run(|draw| {
        let queues = draw.flag();
        changing(draw, queues)
    })
}

const BOUND: u64 = 300_000;

fn options() -> Options {
    Options { max_events: Some(BOUND), ..Options::default() }
}

#[test]
fn counters_balance_and_every_packet_ends_once_whatever_changes() {
    let (mut by_reason, mut quiet, mut waits) = (BTreeMap::new(), 0, 0);
    for_all(60, any_changing(), |(text, n)| {
        let s = scenario(&text, "");
        let mut world = world(&s, n, options());
        for events in [10, 100, 1000, 10_000] {
            world.advance(events);
            assert!(world.conserves_packets(), "after some events: {:?}\n{text}", world.describe_imbalance());
        }
        world.run();
        let results = world.results(&s);
        assert!(results.conserved, "{:?}\n{text}", world.describe_imbalance());
        if results.progress.stop == Some(StopReason::Done) && results.end().0 < s.duration.0 {
            assert_eq!(world.packet_extensions(), 0, "extensions of packets that are gone\n{text}");
            quiet += 1;
        }
        let mut ended = BTreeSet::new();
        for who in rows(&results, "packets", ["flow", "reverse", "emission"]) {
            assert!(ended.insert(who), "{who:?} ends twice\n{text}");
        }
        let fates = rows(&results, "packets", ["fate", "end_ps"]);
        let lost = |end: u64, wanted: &dyn Fn(u64) -> bool| {
            fates.iter().filter(|[fate, at]| *fate > 0 && *at < end && wanted(*fate - 1)).count() as u64
        };
        assert_eq!(lost(s.duration.0, &|_| true), drops(&results), "losses by packet and by port\n{text}");
        for reason in ["link_down", "link_loss", "corrupted", "no_route"] {
            *by_reason.entry(reason).or_insert(0) += total(&results, "ports", &format!("drop_{reason}"));
        }
        // Ports count up to the end of the window, events up to that of the run.
        let told = total(&results, "events", "lost") + total(&results, "events", "dropped");
        let by_links = [DropReason::LinkDown, DropReason::LinkLoss, DropReason::Corrupted, DropReason::NoRoute];
        let counted = lost(u64::MAX, &|reason| by_links.iter().any(|one| *one as u64 == reason));
        if text.contains("\"wait\"") {
            // Frames queued at a dead port may also be lost for lack of memory.
            assert!((counted..=lost(u64::MAX, &|_| true)).contains(&told), "{told} {counted}\n{text}");
            assert_eq!(lost(u64::MAX, &|reason| reason == DropReason::NoRoute as u64), 0, "{text}");
            waits += told;
        } else {
            assert_eq!(told, counted, "losses by event and by packet\n{text}");
        }
    });
    let is_seen = quiet > 0 && waits > 50 && by_reason.values().all(|count| *count > 50);
    assert!(is_seen, "{quiet} quiet, {waits} lost while others waited, {by_reason:?}");
}

#[test]
fn a_run_is_the_same_however_it_is_run() {
    for_all(16, drawn_run(|draw| changing(draw, false)), |(text, n)| {
        let s = scenario(&text, "");
        let usual = digest(&s, n, options());
        let (heap, step_departures) =
            (Options { heap: true, ..options() }, Options { step_departures: true, ..options() });
        for other in [options(), heap, step_departures] {
            assert_eq!(digest(&s, n, other), usual, "{other:?}\n{text}");
        }
        let mut first = world(&s, n, options());
        first.advance(3_000);
        let mut second = first.clone();
        let ends = [&mut first, &mut second].map(|world| {
            world.run();
            world.results(&s)
        });
        assert!(ends[0] == ends[1], "cloned on the way\n{text}");
    });
}

/// Returns the results of a run, after a check that any number of partitions gives the same results.
fn assert_partitions_agree(text: &str, seed: u64, options: Options) -> Results {
    let s = scenario(text, "");
    let results = |partitions| {
        let mut world = whole(&s, seed, Options { partitions, ..options }, Recorder::from_scenario(&s));
        let results = world.results(&s);
        assert!(results.conserved, "scenario {seed}: {:?}", world.describe_imbalance());
        results
    };
    let usual = results(0);
    for partitions in [1, 2, 3, 8] {
        let divided = results(partitions);
        for (a, b) in usual.tables.iter().zip(&divided.tables) {
            assert!(a == b, "scenario {seed}: table {} of {partitions} partitions\n{text}", a.name);
        }
        assert!(usual == divided, "scenario {seed}: {partitions} partitions\n{text}");
    }
    usual
}

/// Test of partitions on links whose delay falls during the run.
/// Links of 100 us, whose delay falls to almost 0 from 300 us on, and whose rates change all the time.
#[test]
fn partitions_go_on_no_further_than_a_change_or_the_shortest_delay_that_a_link_will_have() {
    let mut events: Vec<String> =
        (0..4).map(|h| format!("{{ kind = \"delay\", at = \"300us\", link = \"h{h}\", delay = \"1ns\" }}")).collect();
    // A rate change at the time of every frame makes a late change visible.
    let rate = |n: u64| format!("at = \"{}ns\", rate = \"{}Mbps\"", 301_000 + 7_300 * n, [100, 1000][n as usize % 2]);
    let rates = (0..4).flat_map(|h| (0..80).map(move |n| (h, rate(n))));
    events.extend(rates.map(|(h, rate)| format!("{{ kind = \"rate\", link = \"h{h}\", {rate} }}")));
    let text = format!(
        "name = \"near\"\nduration = \"2s\"\nevent = [{}]\n[topology]\nkind = \"star\"\nn = 4\n\
         link = {{ rate = \"1Gbps\", delay = \"100us\" }}\n[measure]\npackets = true\n\
         [[traffic]]\nname = \"t\"\nkind = \"permutation\"\nsize = \"90KB\"\n",
        events.join(", ")
    );
    // Without a bound on events, windows are as long as delays and the instants at which a run may end allow.
    assert!(assert_partitions_agree(&text, 1, Options::default()).progress.hops > 500);
}

#[test]
fn partitions_leave_the_same_tables_where_the_network_changes() {
    let (mut lost, mut crossed) = (0, 0);
    for_all(40, any_changing(), |(text, n)| {
        // Copies of a flooded frame share their records of bounces and detours; partitions do not share these.
        if text.contains("\"learning\"") && (text.contains("\"bounce\"") || text.contains("\"detour\"")) {
            return;
        }
        let usual = assert_partitions_agree(&text, n, options());
        lost += total(&usual, "events", "lost");
        crossed += usual.progress.hops;
    });
    assert!(lost > 1000 && crossed > 100_000, "{lost} lost, {crossed} hops");
}

/// Record of frames lost on links, by direction of the link, frame and reason.
#[derive(Clone, Default)]
struct Lost(BTreeSet<(u32, u32, u32, u8)>);

impl Observer for Lost {
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, reason: DropReason) {
        if matches!(reason, DropReason::LinkDown | DropReason::LinkLoss | DropReason::Corrupted) {
            self.0.insert((at.port, pkt.head.flow.0, pkt.emission, reason as u8));
        }
    }
}

/// Returns a scenario of three hosts that send by their own clocks over changing links of their own.
fn clocked_sources(draw: &mut Draw) -> String {
    let source = |i: u64, draw: &mut Draw| {
        let gaps = draw.pick(&["even", "exponential"]);
        format!(
            "[[traffic]]\nname = \"t{i}\"\nkind = \"constant\"\nsource = \"h{i}\"\ndestination = \"h0\"\n\
             rate = \"{}Mbps\"\npayload = \"700B\"\ngaps = \"{gaps}\"\nstop = \"3ms\"\n",
            draw.number(200, 900)
        )
    };
    let traffic: String = (1..=3).map(|i| source(i, draw)).collect();
    let links = [1, 2, 3].map(|i| [format!("h{i}"), "s0".to_string()]);
    let events: Vec<String> = links.iter().flat_map(|link| course(draw, link)).collect();
    let (delay, then) = (draw.pick(&["0", "90"]), draw.pick(&["drop", "wait"]));
    format!(
        "name = \"t\"\nduration = \"20ms\"\nreroute_delay = \"{delay}us\"\ndead_port = \"{then}\"\n\
         event = [{}]\n[topology]\nkind = \"star\"\nn = 4\n[switch]\n{traffic}",
        events.join(", ")
    )
}

/// Test that variants of the switch lose the same frames before the switch.
/// Hosts send by their own clocks over changing links of their own: whatever the switch does with the arrivals, the
/// same frames are lost before it.
#[test]
fn variants_lose_the_same_frames_on_the_links_where_they_send_the_same() {
    let (mut losses, mut others) = (0, 0);
    for_all(25, drawn_run(clocked_sources), |(head, n)| {
        let lost = |switch: &str| {
            let s: Scenario = scenario(&head.replacen("[switch]\n", &format!("[switch]\n{switch}\n"), 1), "");
            let mut world = watch(&s, n, Options::default(), Lost::default());
            world.run();
            assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
            (world.observer().0.clone(), world.progress().hops)
        };
        let (first, hops) = lost("buffer = { kind = \"per_port\", size = \"4pkt\" }");
        for switch in [
            "buffer = { kind = \"unlimited\" }",
            "buffer = { kind = \"shared\", size = \"30KB\", alpha = 1 }\nties = \"port\"",
            "buffer = { kind = \"per_port\", size = \"9KB\" }\nsimultaneous = \"snapshot\"\nmarking = { kind = \"red\" }",
        ] {
            let (other, other_hops) = lost(switch);
            assert_eq!(other, first, "{switch}\n{head}");
            others += u64::from(other_hops != hops);
        }
        losses += first.len();
    });
    assert!(losses > 1000 && others > 25, "{losses} losses; {others} variants that differ behind the links");
}
