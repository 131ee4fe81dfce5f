//! Tests of hosts with different transports.

use crate::common::digest::digest;
use crate::common::draw::{Draw, drawn_run};
use crate::common::{column, run, run_with, scenario};
use property::for_all;
use sim::Options;

/// Returns a scenario of a star with two incasts and messages between all hosts, followed by transport and overrides.
fn star(more: &str) -> String {
    format!(
        "name = \"mixed\"\nduration = \"20ms\"\n[topology]\nkind = \"star\"\nn = 5\n[switch]\n\
         buffer = {{ kind = \"per_port\", size = \"20pkt\" }}\nmarking = {{ kind = \"ecn_threshold\", k = \"5pkt\" }}\n\
         [measure]\ndrain = \"20s\"\n\
         [[traffic]]\nname = \"i\"\nkind = \"incast\"\nsenders = 4\nreceiver = \"h0\"\nsize = \"90KB\"\n\
         [[traffic]]\nname = \"j\"\nkind = \"incast\"\nsenders = 4\nreceiver = \"h1\"\nsize = \"30KB\"\nstart = \"5ms\"\n\
         [[traffic]]\nname = \"r\"\nkind = \"request_reply\"\nclients = [\"h2\", \"h0\"]\nservers = [\"h3\", \"h1\"]\nreply = \"20KB\"\n\
         requests = 3\nthink = \"1ms\"\n{more}"
    )
}

const KINDS: [&str; 8] = [
    "kind = \"newreno\"",
    "kind = \"reno\", delayed_ack = true",
    "kind = \"newreno\", ecn = true, timestamps = true",
    "kind = \"sack\", receive_window = \"20KB\"",
    "kind = \"dctcp\", min_rto = \"2ms\", initial_rto = \"2ms\"",
    "kind = \"dctcp\", recovery = \"newreno\", timestamps = true",
    "kind = \"cubic\", initial_window = \"4pkt\"",
    "kind = \"cubic\", recovery = \"rack\", timestamps = true",
];

#[test]
fn a_transport_that_all_hosts_have_of_their_own_is_that_of_the_scenario() {
    let hosts = "where = { hosts = [\"h0\", \"h1\", \"h2\", \"h3\", \"h4\"] }";
    for kind in KINDS {
        let own = star(&format!("[transport]\nkind = \"pfabric\"\n[[override]]\n{hosts}\ntransport = {{ {kind} }}\n"));
        let of_all = star(&format!("transport = {{ {kind} }}\n"));
        let of_all =
            of_all.replacen("[topology]", &format!("[transport]\n{}\n[topology]", kind.replace(", ", "\n")), 1);
        let of_all = of_all.replace(&format!("transport = {{ {kind} }}\n"), "");
        let [own, of_all] = [own, of_all].map(|text| digest(&scenario(&text, ""), 3, Options::default()));
        assert_eq!(own, of_all, "{kind}");
    }
}

#[test]
fn marks_are_for_flows_whose_both_ends_have_ecn() {
    let text = star(
        "[transport]\nkind = \"dctcp\"\n[[override]]\nwhere = { hosts = [\"h1\", \"h4\"] }\ntransport = { kind = \"newreno\" }\n",
    );
    let results = run(&text, 1);
    let [src, dst, marks, received, bytes] =
        ["src", "dst", "ece_acks", "received", "bytes"].map(|name| column(&results, "flows", name));
    let is_old = |host: u64| host == 1 || host == 4;
    let mut heard = 0;
    for i in 0..src.len() {
        assert_eq!(received[i], bytes[i]);
        assert!(marks[i] == 0 || !(is_old(src[i]) || is_old(dst[i])), "flow {i}");
        heard += marks[i];
    }
    assert!(heard > 0, "two of the senders to h0 and h0 itself have DCTCP");
}

#[test]
fn a_sender_keeps_to_the_window_that_the_other_host_advertises() {
    let flow = |src: &str, dst: &str| {
        let text = format!(
            "name = \"windows\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 2\nlink = {{ rate = \"1Gbps\", delay = \"100us\" }}\n\
             [transport]\nkind = \"newreno\"\ninitial_window = \"10pkt\"\nreceive_window = \"1MB\"\n\
             [[override]]\nwhere = {{ hosts = [\"h0\"] }}\ntransport.receive_window = \"2920B\"\n\
             [[traffic]]\nname = \"t\"\nkind = \"incast\"\nsenders = 1\nreceiver = \"{dst}\"\npick = \"first\"\nsize = \"14600B\"\n"
        );
        assert_eq!(column(&run(&text, 1), "flows", "src"), [u64::from(src == "h1")]);
        column(&run(&text, 1), "flows", "end_ps")[0]
    };
    // Ten segments in one window: 12.304 us each on two links, the first of them on both, and 200 us.
    assert_eq!(flow("h0", "h1"), 11 * 12_304_000 + 200_000_000);
    // Two at a time: an ACK for each takes 672 ns on two links and 200 us back, and the next segment leaves with it.
    let round = 2 * 12_304_000 + 200_000_000 + 2 * 672_000 + 200_000_000;
    assert_eq!(flow("h1", "h0"), 4 * round + 3 * 12_304_000 + 200_000_000);
}

#[test]
fn any_two_transports_finish_all_flows_between_them_and_none_is_faster_than_alone() {
    let scenarios = drawn_run(|draw| {
        let connection = draw.pick(&["", "connection = \"handshake\"\n", "connection = \"handshake\"\n"]);
        let kind = |draw: &mut Draw| draw.pick(&KINDS).replace(", ", "\n");
        let mut more = format!("[transport]\n{connection}{}\n", kind(draw));
        for _ in 0..draw.number(1, 3) {
            let host = draw.number(0, 4);
            let own = kind(draw);
            more += &format!("[[override]]\nwhere = {{ hosts = [\"h{host}\", \"h{}\"] }}\n", (host + 2) % 5);
            more += &format!("[override.transport]\n{connection}{own}\n");
        }
        star(&more)
    });
    for_all(40, scenarios, |(text, n)| {
        let results = run_with(&scenario(&text, ""), n, Options::default());
        let [start, end, ideal] = ["start_ps", "end_ps", "ideal_ps"].map(|name| column(&results, "flows", name));
        for i in 0..end.len() {
            assert!(end[i] < u64::MAX, "flow {i} does not finish\n{text}");
            assert!(end[i] - start[i] >= ideal[i], "flow {i}\n{text}");
        }
    });
}

/// Test of trimming if some hosts support CP (`pack`) and others do not.
/// Hosts with CP use it between each other, in switches that trim packets whose CPA flag permits it. If one of two
/// hosts does not support it, the other behaves as without it. If switches trim any packet, a trimmed packet is a loss
/// for hosts without CP.
#[test]
fn payload_is_cut_and_told_of_for_flows_whose_both_ends_have_cp() {
    let old = [1, 4];
    let hosts = "[[override]]\nwhere = { hosts = [\"h1\", \"h4\"] }\ntransport.pack = false\n";
    for connection in ["established", "handshake"] {
        for (trimmable, all_know) in [("cpa", false), ("any", false), ("cpa", true)] {
            let transport = format!("[transport]\nkind = \"sack\"\npack = true\nconnection = \"{connection}\"\n");
            let text = star(&format!("{transport}{}", if all_know { "" } else { hosts }));
            let buffer = "buffer = { kind = \"per_port\", size = \"20pkt\" }";
            assert!(text.contains(buffer));
            let cut = format!(
                "buffer = {{ kind = \"per_port\", size = \"20KB\" }}\noverflow = {{ kind = \"trim\", trimmable = \"{trimmable}\" }}"
            );
            let results = run(&text.replace(buffer, &cut), 1);
            let [src, dst, packs, received, bytes] =
                ["src", "dst", "packs", "received", "bytes"].map(|name| column(&results, "flows", name));
            let (mut heard, mut between) = (0, 0);
            for i in 0..src.len() {
                let knows = all_know || !(old.contains(&src[i]) || old.contains(&dst[i]));
                assert_eq!(received[i], bytes[i], "flow {i}, {connection}, {trimmable}");
                assert!(packs[i] == 0 || knows, "flow {i}, {connection}, {trimmable}");
                heard += packs[i];
                between += u64::from(knows);
            }
            assert!(heard > 0 && between > 0, "{connection}, {trimmable}");
            let trimmed: u64 = column(&results, "ports", "trimmed").into_iter().sum();
            assert!(trimmed >= heard && (trimmable == "cpa" || trimmed > heard + 20), "{trimmed} {heard}");
        }
    }
}
