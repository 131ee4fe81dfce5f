//! Tests of packets that switches generate, return or detour, under every routing, network and switch model: each has a
//! route. Combinations that a scenario may not have are refused by the loader.

use crate::common::draw::{Draw, drawn};
use property::for_all;
use scenario::load::{Source, load};
use sim::{Options, Recorder, build};
use std::collections::BTreeSet;

/// Settings of a feature that generates or returns packets or changes their path, by key of the scenario.
type Feature = &'static [(&'static str, &'static str)];

const FEATURES: [Feature; 22] = [
    &[("switch.notify", r#"{ kind = "qcn", q_eq = "6KB" }"#), NIC, ("host.reaction", r#"{ kind = "qcn" }"#)],
    &[
        ("switch.marking", r#"{ kind = "ecn_threshold", k = "3pkt" }"#),
        NIC,
        ("host.reaction", r#"{ kind = "dcqcn" }"#),
        ("transport", r#"{ kind = "roce" }"#),
    ],
    &[("switch.pause", r#"{ kind = "pfc", xoff = "20KB", xon = "10KB", lossless = false }"#)],
    &[("switch.pause", r#"{ kind = "pause", xoff = "20KB", xon = "10KB", lossless = false }"#)],
    &[("switch.overflow", r#"{ kind = "bounce", theta = 0.3, bounce_size = "10pkt" }"#)],
    &[("switch.overflow", r#"{ kind = "bounce", bounce_size = "3pkt", back_port = "ingress" }"#), SACK],
    &[("switch.overflow", r#"{ kind = "detour" }"#)],
    &[("switch.overflow", r#"{ kind = "detour", max_detours = 2 }"#)],
    &[
        (
            "switch.overflow",
            r#"{ kind = "trim", header_class = 1, no_room = "return", trimmable = "any", extra = "200B" }"#,
        ),
        BYTES,
        SACK,
        PACK,
    ],
    &[("switch.overflow", r#"{ kind = "trim" }"#), SACK, PACK],
    &[("switch.overflow", r#"{ kind = "trim", victim = "coin" }"#), BYTES, SACK, PACK],
    &[
        ("switch.overflow", r#"{ kind = "trim", trimmable = "any", no_room = "return" }"#),
        ("transport", r#"{ kind = "roce" }"#),
        BYTES,
    ],
    &[("switch.overflow", r#"{ kind = "evict" }"#), ("transport", r#"{ kind = "pfabric" }"#)],
    &[("switch.overflow", r#"{ kind = "evict" }"#), ("switch.simultaneous", r#""snapshot""#)],
    &[("switch.ack_hold", r#"{ kind = "abq" }"#)],
    &[("switch.fib", r#"{ kind = "learning" }"#)],
    &[("switch.fib", r#"{ kind = "learning", preset = "all" }"#)],
    &[("transport", r#"{ kind = "roce" }"#)],
    &[SACK, PACK],
    &[("switch.buffer", r#"{ kind = "shared", size = "60KB" }"#)],
    &[("switch.scheduler", r#"{ kind = "srpt" }"#), ("transport", r#"{ kind = "dctcp" }"#)],
    &[("switch.simultaneous", r#""snapshot""#), ("host.nic_queue", r#""5pkt""#)],
];
const NIC: (&str, &str) = ("host.nic", r#"{ kind = "round_robin" }"#);
const SACK: (&str, &str) = ("transport.kind", r#""sack""#);
const PACK: (&str, &str) = ("transport.pack", "true");
const BYTES: (&str, &str) = ("switch.buffer", r#"{ kind = "per_port", size = "12KB" }"#);

const ROUTINGS: [&str; 6] = [
    r#"{ kind = "ecmp" }"#,
    r#"{ kind = "ecmp", symmetric = true }"#,
    r#"{ kind = "spray" }"#,
    r#"{ kind = "weighted" }"#,
    r#"{ kind = "two_level" }"#,
    r#"{ kind = "k_shortest", k = 4 }"#,
];
const NETWORKS: [&str; 8] = [
    "kind = \"leaf_spine\"\nleaves = 3\nspines = 3\nhosts_per_leaf = 2",
    "kind = \"fat_tree\"\nk = 4",
    "kind = \"jellyfish\"\nswitches = 6\ndegree = 3\nhosts_per_switch = 2",
    "kind = \"hyperx\"\ndims = [2, 3]\nhosts_per_switch = 1",
    "kind = \"linear\"\nswitches = 4\nhosts_per_switch = 2",
    "kind = \"dumbbell\"\nn = 3",
    "kind = \"chain_tree\"\nn = 4\ndepth = 2\nreceivers = 2",
    "kind = \"star\"\nn = 6",
];
const MODELS: [&str; 3] = [
    "",
    "model = \"cioq\"\nspeedup = 2\ninput_buffer = \"12pkt\"",
    "model = \"fabric\"\nspeedup = 2\ninput_buffer = \"12pkt\"\nfabric = { kind = \"mesh\", elements = 2, link_rate = \"4Gbps\" }",
];

/// Features, routings, networks and switch models of which random scenarios are made, each with its index.
type Parts = BTreeSet<(&'static str, usize)>;

/// Returns the text of a random scenario and its parts. It has at most two features, of which the first
/// determines a common key.
fn random(draw: &mut Draw) -> (String, Parts) {
    let (mut keys, mut parts) = (Vec::<(&str, &str)>::new(), Parts::new());
    let mut pick = |what: &'static str, many: usize| {
        let place = draw.number(0, many as u64 - 1) as usize;
        parts.insert((what, place));
        place
    };
    for _ in 0..2 {
        for (key, value) in FEATURES[pick("feature", FEATURES.len())] {
            let meets = |other: &str| {
                other == *key || other.starts_with(&format!("{key}.")) || key.starts_with(&format!("{other}."))
            };
            if !keys.iter().any(|(other, _)| meets(other)) {
                keys.push((key, value));
            }
        }
    }
    let network = NETWORKS[pick("network", NETWORKS.len())];
    let routing = ROUTINGS[pick("routing", ROUTINGS.len())];
    let model = MODELS[pick("model", MODELS.len())];
    let lines = |table: &str| -> String {
        let own = keys.iter().filter_map(|(key, value)| Some((key.strip_prefix(table)?, value)));
        own.map(|(key, value)| format!("{key} = {value}\n")).collect()
    };
    let has = |name: &str| keys.iter().any(|(key, _)| key.starts_with(name));
    let transport = if has("transport") { "" } else { "transport.kind = \"newreno\"\n" };
    let transport = format!(
        "{transport}{}",
        if has("transport.pack") && !has("transport.kind") { "transport.kind = \"sack\"\n" } else { "" }
    );
    let roots: String = keys
        .iter()
        .filter(|(key, _)| key.starts_with("transport"))
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    let buffer = if has("switch.buffer") { "" } else { "buffer = { kind = \"per_port\", size = \"8pkt\" }\n" };
    let text = format!(
        "name = \"returning\"\nduration = \"3ms\"\n{transport}{roots}[topology]\n{}\nlink = {{ rate = \"10Gbps\", delay = \"1us\" }}\n\
         [host]\nnic_jitter = \"0us\"\n{}[switch]\nrouting = {}\n{}\n{buffer}{}\
         [measure]\nallow_unfinished = true\n\
         [[traffic]]\nname = \"t\"\nkind = \"incast\"\nsenders = {}\nreceiver = \"{}\"\nsize = \"{}KB\"\n\
         interval = \"300us\"\nrepeat = 3\n",
        network,
        lines("host."),
        routing,
        model,
        lines("switch."),
        draw.number(2, 5),
        draw.pick(&["h0", "h3", "random"]),
        draw.number(1, 60),
    );
    (text, parts)
}

/// Runs random scenarios for `events` events each.
///
/// Returns the number of scenarios that the loader accepted, and their parts.
fn run_all(scenarios: u32, events: u64) -> (u64, Parts) {
    let (mut ran, mut seen) = (0, Parts::new());
    for_all(scenarios, drawn(|draw| (random(draw), draw.number(0, 999))), |((text, parts), n)| {
        let Ok(loaded) = load(&Source::new("test.toml", &text, std::path::Path::new("")), &[]) else { return };
        let scenario = &loaded.variants[0];
        let options = Options { max_events: Some(events), ..Options::default() };
        let mut world = build(scenario, n, options, Recorder::from_scenario(scenario)).unwrap();
        world.run();
        assert!(world.conserves_packets(), "{:?}\n{text}", world.describe_imbalance());
        let broken = world.results(scenario).broken;
        assert!(broken.is_none(), "{broken:?}\n{text}");
        ran += 1;
        seen.extend(parts);
    });
    (ran, seen)
}

#[test]
fn every_packet_that_is_made_or_returned_has_a_route() {
    let (ran, seen) = run_all(400, 3000);
    assert!(ran > 120, "{ran} of 400 scenarios ran");
    assert_eq!(seen.len(), FEATURES.len() + NETWORKS.len() + ROUTINGS.len() + MODELS.len(), "{seen:?}");
}

/// Test of many more random scenarios, which is run by hand.
/// Larger draw, run by hand: `RETURNING=20000 cargo test --release -p overspill-sim --test all -- --ignored returning
/// --nocapture`.
#[test]
#[ignore = "takes minutes; the number of scenarios is RETURNING"]
fn many_more_scenarios_run() {
    let many = std::env::var("RETURNING").ok().and_then(|many| many.parse().ok()).unwrap_or(2000);
    let (ran, _) = run_all(many, 20_000);
    println!("{ran} of {many} ran");
    assert!(ran > u64::from(many) / 4);
}
