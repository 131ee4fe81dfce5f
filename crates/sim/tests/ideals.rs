//! Tests that no flow is faster than it would be alone, in any network and with any choice among next hops.

use crate::common::draw::{Draw, drawn_run};
use crate::common::{column, run_with, scenario, total};
use property::for_all;
use sim::{Options, Results};

const RATES: [&str; 5] = ["100Mbps", "333Mbps", "1Gbps", "2500Mbps", "10Gbps"];
const DELAYS: [&str; 4] = ["1ps", "100ns", "3us", "40us"];

fn link(draw: &mut Draw, a: &str, b: &str, weighted: bool) -> String {
    let (rate, delay) = (draw.pick(&RATES), draw.pick(&DELAYS));
    let weight = if weighted { format!(", weight = {}", draw.pick(&["0", "1", "2.5"])) } else { String::new() };
    let back = back(draw);
    format!("{{ a = \"{a}\", b = \"{b}\", rate = \"{rate}\", delay = \"{delay}\"{weight}{back} }}, ")
}

/// Returns settings with a random other rate, delay, or both for the reverse direction of a link, or no settings.
fn back(draw: &mut Draw) -> String {
    let (rate, delay) = (draw.pick(&RATES), draw.pick(&DELAYS));
    match draw.number(0, 5) {
        0..=2 => String::new(),
        3 => format!(", back.delay = \"{delay}\""),
        4 => format!(", back.rate = \"{rate}\""),
        _ => format!(", back = {{ rate = \"{rate}\", delay = \"{delay}\" }}"),
    }
}

/// Returns a custom topology of four hosts at randomly connected switches; layers of switches make equal-cost paths
/// likely.
fn custom(draw: &mut Draw, weighted: bool) -> String {
    let (mut nodes, mut links) = (String::new(), String::new());
    let (layers, width) = (draw.number(2, 4), draw.number(1, 3));
    for host in 0..4 {
        nodes += &format!("{{ name = \"h{host}\", kind = \"host\" }}, ");
        let layer = if host < 2 { 0 } else { layers - 1 };
        links += &link(draw, &format!("h{host}"), &format!("s{layer}x0"), false);
    }
    for layer in 0..layers {
        for place in 0..width {
            nodes += &format!("{{ name = \"s{layer}x{place}\", kind = \"switch\" }}, ");
            for below in (0..width).filter(|_| layer > 0) {
                // The first switches of the layers are connected, and each switch to the first of the layer below it.
                if below == 0 || draw.number(0, 2) > 0 {
                    let (up, down) = (format!("s{layer}x{place}"), format!("s{}x{below}", layer - 1));
                    links += &link(draw, &down, &up, weighted);
                }
            }
        }
    }
    links += &(1..width).map(|place| link(draw, "s0x0", &format!("s0x{place}"), weighted)).collect::<String>();
    format!("kind = \"custom\"\nnode = [{nodes}]\nlink = [{links}]")
}

fn topology(draw: &mut Draw, routing: &str) -> String {
    let shape =
        if routing == "two_level" { "fat_tree" } else { draw.pick(&["custom", "custom", "leaf_spine", "fat_tree"]) };
    let (rate, slow, delay) = (draw.pick(&RATES), draw.pick(&RATES), draw.pick(&DELAYS));
    let each = format!("link = {{ rate = \"{rate}\", delay = \"{delay}\"{} }}", back(draw));
    match shape {
        "custom" => custom(draw, routing == "weighted"),
        "leaf_spine" => {
            let fabric = format!("fabric = {{ rate = \"{slow}\", delay = \"1us\"{} }}", back(draw));
            format!("kind = \"leaf_spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 2\n{each}\n{fabric}")
        }
        _ => format!("kind = \"fat_tree\"\nk = 4\n{each}"),
    }
}

fn random(draw: &mut Draw) -> String {
    let routing = draw.pick(&["ecmp", "spray", "weighted", "two_level", "k_shortest", "spray", "weighted"]);
    let topology = topology(draw, routing);
    let paths = if routing == "k_shortest" { ", k = 3" } else { "" };
    let buffer = draw.pick(&["kind = \"unlimited\"", "kind = \"per_port\", size = \"9pkt\""]);
    let (kind, mss) = (draw.pick(&["newreno", "sack", "dctcp"]), draw.pick(&["1460B", "700B", "1460B"]));
    let (more, end) = (
        draw.pick(&["", "connection = \"handshake\"\n", "dupack_threshold = \"off\"\n"]),
        draw.pick(&["last_byte", "sender_ack"]),
    );
    let stack = draw.pick(&["0us", "2us"]);
    let traffic: String = (0..draw.number(1, 3))
        .map(|i| {
            let (src, dst) = draw.pick(&["h0 h2", "h1 h3", "h0 h1", "h3 h0", "h2 h1"]).split_once(' ').unwrap();
            let size =
                [draw.number(1, 3000), draw.number(1, 40_000), 1460 * draw.number(1, 9)][draw.number(0, 2) as usize];
            format!(
                "[[traffic]]\nname = \"t{i}\"\nkind = \"request_reply\"\nclients = [\"{src}\"]\nservers = [\"{dst}\"]\n\
                 reply = \"{size}B\"\nrequests = {}\nconnection = \"{}\"\nthink = \"1ms\"\n",
                draw.number(1, 6),
                draw.pick(&["new", "persistent"]),
            )
        })
        .collect();
    format!(
        "name = \"ideals\"\nduration = \"2s\"\n[topology]\n{topology}\n[host]\nstack_delay = \"{stack}\"\n[switch]\n\
         routing = {{ kind = \"{routing}\"{paths} }}\nbuffer = {{ {buffer} }}\n[transport]\nkind = \"{kind}\"\nmss = \"{mss}\"\n\
         initial_window = \"100pkt\"\nmin_rto = \"20ms\"\n{more}[measure]\nfct_end = \"{end}\"\nqueues = false\n\
         allow_unfinished = true\n{traffic}"
    )
}

/// Returns the smallest slowdown of all finished flows, and the number of these flows.
fn least_slowdown(results: &Results) -> (f64, usize) {
    let [start, end, ideal] = ["start_ps", "end_ps", "ideal_ps"].map(|name| column(results, "flows", name));
    let ended = (0..end.len()).filter(|i| end[*i] < u64::MAX);
    let slowdowns: Vec<f64> = ended.map(|i| (end[i] - start[i]) as f64 / ideal[i] as f64).collect();
    assert!(ideal.iter().all(|ideal| *ideal > 0));
    (slowdowns.iter().copied().fold(f64::INFINITY, f64::min), slowdowns.len())
}

#[test]
fn detoured_flow_is_never_faster_than_its_ideal() {
    let (mut detours, mut flows) = (0, 0);
    let scenarios = drawn_run(|draw| {
        let policy = draw.pick(&["random", "load_aware"]);
        let buffer =
            format!("overflow = {{ kind = \"detour\", policy = \"{policy}\" }}\nbuffer = {{ kind = \"per_port\", ");
        let text = random(draw)
            .replace("buffer = { kind = \"unlimited\" }", "buffer = { kind = \"per_port\", size = \"9pkt\" }");
        text.replace("buffer = { kind = \"per_port\", ", &buffer).replace("9pkt", draw.pick(&["1pkt", "2pkt", "5pkt"]))
    });
    for_all(300, scenarios, |(text, n)| {
        let results = run_with(&scenario(&text, ""), n, Options::default());
        let (least, count) = least_slowdown(&results);
        assert!(least >= 1.0 || count == 0, "slowdown {least}\n{text}");
        detours += total(&results, "ports", "detoured");
        flows += count;
    });
    assert!(detours > 10_000 && flows > 1000, "{detours} detours, {flows} flows");
}

#[test]
fn no_flow_of_a_random_network_is_faster_than_alone_by_any_routing() {
    let (mut flows, mut alone, mut drawn) = (0, 0, 0);
    for_all(1000, drawn_run(random), |(text, n)| {
        let results = run_with(&scenario(&text, ""), n, Options::default());
        let (least, count) = least_slowdown(&results);
        assert!(least >= 1.0 || count == 0, "slowdown {least}\n{text}");
        flows += count;
        alone += usize::from(least == 1.0);
        drawn += usize::from(least == 1.0 && (text.contains("spray") || text.contains("weighted")));
    });
    assert!(
        flows > 6000 && alone > 300 && drawn > 100,
        "{flows} flows; the bound is met in {alone} runs, {drawn} drawn"
    );
}

/// Returns a scenario with two paths between two switches: one link each, of 10 Gb/s and of 100 Mb/s.
fn two_ways(routing: &str, weights: [u32; 2]) -> String {
    let nodes = ["h0\", kind = \"host", "h1\", kind = \"host", "l", "r", "f", "s"].map(|name| {
        let switch = if name.len() == 1 { "\", kind = \"switch" } else { "" };
        format!("{{ name = \"{name}{switch}\" }}, ")
    });
    let link = |a, b, rate, weight| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"{rate}\", delay = \"1us\", weight = {weight} }}, ")
    };
    let [fast, slow] = weights;
    let links = [
        link("h0", "l", "10Gbps", 1),
        link("h1", "r", "10Gbps", 1),
        link("l", "f", "10Gbps", fast),
        link("f", "r", "10Gbps", fast),
        link("l", "s", "100Mbps", slow),
        link("s", "r", "100Mbps", slow),
    ];
    format!(
        "name = \"two\"\nduration = \"1s\"\n[topology]\nkind = \"custom\"\nnode = [{}]\nlink = [{}]\n[switch]\n\
         routing = {{ kind = \"{routing}\" }}\n[[traffic]]\nname = \"t\"\nkind = \"incast\"\nsenders = 1\n\
         receiver = \"h1\"\nsize = \"14600B\"\ninterval = \"10ms\"\nrepeat = 40\n",
        nodes.concat(),
        links.concat()
    )
}

#[test]
fn ideal_fct_uses_the_fastest_path_only_if_hops_are_random() {
    let ideals = |routing: &str, weights| {
        let results = run_with(&scenario(&two_ways(routing, weights), ""), 1, Options::default());
        assert!(least_slowdown(&results).0 >= 1.0, "{routing}");
        let mut ideals = column(&results, "flows", "ideal_ps");
        ideals.sort_unstable();
        ideals.dedup();
        ideals
    };
    // Ten frames of 1538 B: 1.2304 us each at 10 Gb/s, a hundred times as long at 100 Mb/s; four links of 1 us.
    let fast = (4 + 9) * 1_230_400 + 4_000_000;
    let slow = 2 * 1_230_400 + (2 + 9) * 123_040_000 + 4_000_000;
    assert_eq!(ideals("spray", [1, 1]), [fast]);
    assert_eq!(ideals("weighted", [1, 9]), [fast], "seldom, but it may be");
    assert_eq!(ideals("weighted", [0, 1]), [slow], "a way of weight 0 is never taken");
    assert_eq!(ideals("ecmp", [1, 1]), [fast, slow], "each flow has its own");
}
