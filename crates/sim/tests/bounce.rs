//! Tests of bounced packets in whole runs (Shi et al., Computer Communications 2018).
//!
//! The tests cover the paper's example, the effect of its parameters, and sources that are informed of returned
//! packets.

use crate::common::digest::digest;
use crate::common::{Bursts, PABO_TREE, column, drops, run_with, scenario, small, total};
use sim::{Options, Results};

/// Returns PABO fig. 1: F1 from H1 by S1 and S4, F2 from H2 by S2, S3 and S4, both to H3, all at 1 Gb/s.
fn figure_1(packets: u64) -> String {
    let link = |a: &str, b: &str| format!("{{ a = \"{a}\", b = \"{b}\", rate = \"1Gbps\", delay = \"1us\" }},");
    let links = [("h1", "s1"), ("h2", "s2"), ("s1", "s4"), ("s2", "s3"), ("s3", "s4"), ("s4", "h3")];
    let links: String = links.iter().map(|(a, b)| link(a, b)).collect();
    let node = |name: &str| {
        let kind = if name.starts_with('h') { "host" } else { "switch" };
        format!("{{ name = \"{name}\", kind = \"{kind}\" }},")
    };
    let nodes: String = ["h1", "h2", "h3", "s1", "s2", "s3", "s4"].iter().map(|name| node(name)).collect();
    let flow = |name: &str, source: &str, rate: u64| {
        // 1538 B on the wire for 1460 B of payload.
        let us = packets * 1460 * 8 / rate;
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"constant\"\nsource = \"{source}\"\ndestination = \"h3\"\n\
             rate = \"{rate}Mbps\"\npayload = \"1460B\"\nstop = \"{us}us\"\n"
        )
    };
    format!(
        "name = \"example\"\nduration = \"20ms\"\n[topology]\nkind = \"custom\"\nnode = [{nodes}]\nlink = [{links}]\n\
         [switch]\nbuffer = {{ kind = \"per_port\", size = \"4pkt\" }}\n\
         overflow = {{ kind = \"bounce\", theta = 0.5, bounce_size = \"20pkt\" }}\n{}{}",
        flow("f1", "h1", 600),
        flow("f2", "h2", 500)
    )
}

/// Returns the number of bounces at each switch, in the order of switches.
fn bounces(results: &Results, hosts: u64) -> Vec<u64> {
    let (node, bounced) = (column(results, "ports", "node"), column(results, "ports", "bounced"));
    let mut at = vec![0; (node.last().unwrap() + 1 - hosts) as usize];
    node.iter()
        .zip(bounced)
        .filter(|(node, _)| **node >= hosts)
        .for_each(|(node, n)| at[(*node - hosts) as usize] += n);
    at
}

#[test]
fn the_papers_example_loses_nothing_and_bounces_at_the_switch_before_the_receiver() {
    for seed in 1..=5 {
        let s = scenario(&figure_1(60), "");
        let results = run_with(&s, seed, Options::default());
        let sent = total(&results, "flows", "received") / 1460;
        assert!((100..=124).contains(&sent), "{sent} packets arrive");
        assert_eq!(drops(&results), 0);
        let at = bounces(&results, 3);
        assert!(at[3] > 5 && at[3] > 4 * (at[0] + at[1] + at[2]), "S1 to S4: {at:?}");
        // Without bounces, the same buffer before H3 drops packets.
        let mut plain = s.clone();
        let tail_drop = std::sync::Arc::new(mech::overflow::TailDrop.into());
        plain.switches.iter_mut().for_each(|switch| switch.overflow.slot = std::sync::Arc::clone(&tail_drop));
        assert!(drops(&run_with(&plain, seed, Options::default())) > 0);
    }
}

fn tree(theta: f64, lambda: f64) -> String {
    let bursts = Bursts {
        sources: &["h0", "h1", "h2"],
        destination: "h3",
        packets: 150,
        interval: "12304ns",
        pause: "20ms",
        ..Bursts::ONE_FRAME
    };
    let more = format!(
        "[host]\nnic_queue = \"1500pkt\"\n\
         [switch]\nbuffer = {{ kind = \"per_port\", size = \"100pkt\" }}\n\
         overflow = {{ kind = \"bounce\", theta = {theta}, lambda = {lambda}, bounce_size = \"500pkt\" }}\n{}",
        bursts.text()
    );
    small("50ms", PABO_TREE, &more)
}

/// Returns the number of packets that were never bounced, as a mean over seeds; asserts that no packet is lost.
fn count_never_bounced(theta: f64, lambda: f64) -> f64 {
    let one = |seed| {
        let results = run_with(&scenario(&tree(theta, lambda), ""), seed, Options::default());
        assert_eq!(drops(&results), 0, "theta {theta}, lambda {lambda}");
        let [metric, low, count] = ["metric", "low", "count"].map(|name| column(&results, "packet_hist", name));
        const BOUNCES: u64 = 3;
        (0..count.len()).filter(|i| metric[*i] == BOUNCES && low[*i] == 0).map(|i| count[i]).sum::<u64>() as f64
    };
    (1..=5).map(one).sum::<f64>() / 5.0
}

#[test]
fn fewer_packets_are_bounced_as_theta_rises_and_more_as_lambda_does() {
    let by_theta = [0.0, 0.5, 0.9].map(|theta| count_never_bounced(theta, 5.0));
    assert!(by_theta[0] < by_theta[1] && by_theta[1] < by_theta[2], "{by_theta:?}");
    let by_lambda = [0.0, 5.0, 50.0].map(|lambda| count_never_bounced(0.5, lambda));
    assert!(by_lambda[0] > by_lambda[1] && by_lambda[1] > by_lambda[2], "{by_lambda:?}");
}

/// Scenario of two senders to h0, and traffic of a higher class that keeps the return path to one of them busy.
const BUSY_WAY_BACK: &str = r#"
name = "busy"
duration = "20ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "100pkt" }
overflow = { kind = "bounce", theta = 0.2, bounce_size = "5pkt" }
[[traffic]]
name = "b"
kind = "bursts"
sources = ["h1", "h2"]
destination = "h0"
payload = "1460B"
packets = 150
interval = "12304ns"
pause = "1s"
[[traffic]]
name = "up"
kind = "constant"
source = "h3"
destination = "h1"
rate = "1Gbps"
payload = "1460B"
class = 7
stop = "10ms"
[variants.plain]
[variants.drop]
switch.overflow.bounce_full = "drop"
[variants.forward]
switch.overflow.bounce_full = "forward"
"#;

#[test]
fn a_full_way_back_loses_packets_unless_they_may_try_their_own_queue() {
    let lost = |variant| {
        let results = run_with(&scenario(BUSY_WAY_BACK, variant), 1, Options::default());
        let of = |reason| total(&results, "ports", reason);
        assert_eq!(drops(&results), of("drop_bounce_queue_full") + of("drop_buffer_full"), "{variant}");
        of("drop_bounce_queue_full")
    };
    let (dropped, forwarded) = (lost("drop"), lost("forward"));
    assert_eq!(lost("plain"), dropped);
    assert!(dropped > forwarded + 20, "{dropped} and {forwarded}");
}

const INCAST: &str = r#"
name = "incast"
duration = "40ms"
[topology]
kind = "star"
n = 9
link = { rate = "1Gbps", delay = "1us" }
[host]
nic_queue = "400pkt"
[switch]
buffer = { kind = "per_port", size = "20pkt" }
overflow = { kind = "bounce", theta = 0.5, bounce_size = "400pkt" }
[transport]
kind = "newreno"
dupack_threshold = "off"
min_rto = "1s"
initial_rto = "1s"
[measure]
drain = "1s"
[[traffic]]
name = "q"
kind = "incast"
senders = 8
receiver = "h0"
size = "300KB"
[variants.uninformed]
[variants.none]
host.bounce_signal = { kind = "none" }
[variants.informed]
host.bounce_signal = { kind = "window_cut" }
[variants.patient]
host.bounce_signal = { kind = "window_cut", threshold = 1000000 }
[variants.no_cut]
host.bounce_signal = { kind = "window_cut", cut = 0 }
"#;

#[test]
fn sources_that_hear_of_what_comes_back_send_less_that_does() {
    let of = |variant| {
        let results = run_with(&scenario(INCAST, variant), 1, Options::default());
        assert_eq!(drops(&results), 0, "{variant}");
        assert!(column(&results, "flows", "end_ps").iter().all(|end| *end != u64::MAX), "{variant}");
        assert_eq!(total(&results, "flows", "retransmits"), 0, "{variant}");
        total(&results, "ports", "bounced")
    };
    let (uninformed, informed) = (of("uninformed"), of("informed"));
    assert!(
        uninformed > 1000 && 5 * informed < 4 * uninformed,
        "{uninformed} bounces, {informed} where sources are informed"
    );
}

#[test]
fn a_signal_that_is_off_or_asks_for_nothing_changes_nothing() {
    let of = |variant| digest(&scenario(INCAST, variant), 3, Options::default());
    for variant in ["none", "patient", "no_cut"] {
        assert_eq!(of(variant), of("uninformed"), "{variant}");
    }
    assert_ne!(of("informed"), of("uninformed"));
}
