//! Tests of captures: the frames that a tap records, and the absence of any effect on the run.

use crate::common::{column, scenario, world};
use scenario::Scenario;
use sim::{Capture, CaptureFiles, CapturedLink, Options, Recorder, World, build_with_tap, parse_links};

const CROWDED: &str = r#"
name = "crowded"
duration = "10ms"
[topology]
kind = "fat_tree"
k = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "12pkt" }
overflow = { kind = "detour", policy = "random" }
[transport]
kind = "sack"
min_rto = "1ms"
[measure]
packets = true
[[traffic]]
name = "burst"
kind = "incast"
senders = 12
receiver = "h0"
size = "20KB"
start = "1ms"
"#;

fn chosen(scenario: &Scenario) -> Vec<CapturedLink> {
    let texts = ["h0", "edge0:agg1", "core3:agg7"].map(String::from);
    parse_links(&scenario.topology, &texts).unwrap()
}

fn tapped(scenario: &Scenario) -> World<Recorder, Capture> {
    let ports = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
    let capture = Capture::new(&chosen(scenario), ports);
    build_with_tap(scenario, 1, Options::default(), Recorder::from_scenario(scenario), capture).unwrap()
}

/// Returns the captured frames as a pcapng file for each link, written `at_most` frames at a time.
fn files(world: &mut World<Recorder, Capture>, scenario: &Scenario, at_most: usize) -> Vec<Vec<u8>> {
    let links = chosen(scenario);
    let mut dump = CaptureFiles::new("a test", &links, None, scenario.address_plan(), scenario.dscps.table).unwrap();
    let mut whole = |link| {
        let mut file = Vec::new();
        loop {
            match dump.next_bytes(world, link, at_most).unwrap() {
                more if more.is_empty() => return file,
                more => file.extend(more),
            }
        }
    };
    (0..links.len()).map(&mut whole).collect()
}

/// Returns the number of enhanced packet blocks (pcapng §4.3) in a file, found by their lengths.
fn frames(file: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut count) = (0, 0);
    while at < file.len() {
        let length = word(at + 4) as usize;
        assert_eq!(word(at + length - 4) as usize, length, "both lengths of a block agree");
        count += usize::from(word(at) == 6);
        at += length;
    }
    count
}

#[test]
fn a_tap_changes_nothing_and_sees_what_ports_count() {
    let scenario = scenario(CROWDED, "");
    let (mut with, mut without) = (tapped(&scenario), world(&scenario, 1, Options::default()));
    with.run();
    without.run();
    let (results, plain) = (with.results(&scenario), without.results(&scenario));
    assert_eq!(results, plain);
    let (node, peer, sent) =
        (column(&plain, "ports", "node"), column(&plain, "ports", "peer"), column(&plain, "ports", "sent"));
    let number = |name: &str| u64::from(scenario.topology.find_node(name).unwrap());
    for (link, file) in chosen(&scenario).iter().zip(files(&mut with, &scenario, 64)) {
        let (a, b) = link.name.split_once(':').map(|(a, b)| (number(a), number(b))).unwrap();
        let here = |i: &usize| [(a, b), (b, a)].contains(&(node[*i], peer[*i]));
        let expected: u64 = (0..node.len()).filter(here).map(|i| sent[i]).sum();
        assert_eq!(frames(&file) as u64, expected, "{}", link.name);
        assert!(expected > 0, "{}", link.name);
    }
}

#[test]
fn a_world_that_is_cloned_in_the_middle_goes_on_with_the_same_capture() {
    let scenario = scenario(CROWDED, "");
    let mut first = tapped(&scenario);
    first.advance(2000);
    let mut second = first.clone();
    first.run();
    while second.progress().stop.is_none() {
        second.advance(77);
    }
    assert_eq!(files(&mut first, &scenario, usize::MAX), files(&mut second, &scenario, 5));
}
