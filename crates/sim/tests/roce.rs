//! Tests of RoCE in whole runs: flows with a rate set by the NIC, over switches that pause and over switches that drop.

use crate::common::{column, run};
use sim::Results;

/// Returns a scenario of an incast of four RoCE flows of 2 MB, with settings of hosts and switches, and further lines.
fn text(host: &str, switch: &str, more: &str) -> String {
    format!(
        "name = \"roce\"\nduration = \"20ms\"\n[topology]\nkind = \"star\"\nn = 6\n\
         link = {{ rate = \"40Gbps\", delay = \"1us\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n{host}\n[switch]\n{switch}\n\
         [transport]\nkind = \"roce\"\nrto = \"1ms\"\n[measure]\ndrain = \"1s\"\n[[traffic]]\nname = \"writes\"\nkind = \"incast\"\n\
         senders = 4\nreceiver = \"h0\"\nsize = \"2MB\"\nstart = \"100us\"\n{more}"
    )
}

const DCQCN: &str = "reaction = { kind = \"dcqcn\" }";
const RED: &str =
    "marking = { kind = \"red\", min = \"160KB\", max = \"640KB\", max_p = 0.2, weight = 1, gaps = \"geometric\" }";
const PFC: &str =
    "buffer = { kind = \"per_port\", size = \"2MB\" }\npause = { kind = \"pfc\", xoff = \"200KB\", xon = \"150KB\" }";

fn sum(results: &Results, table: &str, name: &str) -> u64 {
    column(results, table, name).iter().sum()
}

/// Asserts that the payload of all flows has arrived, and returns the time at which the last flow ended.
fn end(results: &Results) -> u64 {
    assert_eq!(results.unfinished, 0);
    let (bytes, received) = (column(results, "flows", "bytes"), column(results, "flows", "received"));
    assert_eq!(bytes, received);
    column(results, "flows", "end_ps").into_iter().max().expect("flows")
}

/// Test of RoCE with PFC, against the time that the payload needs on the wire.
/// 8 MB in packets of 1000 B, 1086 B each on the wire of 40 Gb/s, take 1.7376 ms, and no packet is sent twice.
#[test]
fn where_switches_pause_nothing_is_lost_and_the_link_is_busy_from_first_to_last() {
    let results = run(&text("", PFC, ""), 1);
    let taken = end(&results) - 100_000_000;
    assert!((1_737_600_000..1_745_000_000).contains(&taken), "{taken}");
    assert_eq!(sum(&results, "flows", "retransmits"), 0);
    assert!(sum(&results, "pauses", "paused_ps") > 0);
}

#[test]
fn marks_slow_the_flows_before_they_are_paused() {
    let [alone, slowed] = [("", PFC.to_string()), (DCQCN, format!("{PFC}\n{RED}"))].map(|(host, switch)| {
        let results = run(&text(host, &switch, ""), 1);
        end(&results);
        assert_eq!(sum(&results, "flows", "retransmits"), 0);
        results
    });
    let [paused, less] = [&alone, &slowed].map(|results| sum(results, "pauses", "paused_ps"));
    println!("{paused} {less} {} {}", end(&alone), end(&slowed));
    assert!(less * 2 < paused, "{paused} {less}");
    assert!(sum(&slowed, "congestion_points", "cnps") > 0 && sum(&slowed, "ports", "marked") > 0);
}

#[test]
fn a_flow_alone_takes_the_time_of_the_closed_form() {
    for (size, ack_size) in [("1B", "64B"), ("2500B", "64B"), ("3MB", "200B")] {
        for fct_end in ["last_byte", "sender_ack"] {
            let alone = text("", "", "")
                .replace("senders = 4", "senders = 1")
                .replace("2MB", size)
                .replace("rto =", &format!("ack_size = \"{ack_size}\"\nrto ="))
                .replace("drain", &format!("fct_end = \"{fct_end}\"\ndrain"));
            let results = run(&alone, 1);
            let [start, end, ideal] = ["start_ps", "end_ps", "ideal_ps"].map(|name| column(&results, "flows", name)[0]);
            assert_eq!(end - start, ideal, "{size}, {ack_size}, {fct_end}");
        }
    }
}

/// Test of trimming with RoCE and TCP.
/// Switches that trim data of both classes trim only that of TCP, whose receivers send PACKs for headers.
#[test]
fn trim_drops_data_of_roce_and_cuts_that_of_tcp() {
    let trim =
        "buffer = { kind = \"per_port\", size = \"100KB\" }\noverflow = { kind = \"trim\", trimmable = \"any\" }";
    let tcp = "[[traffic]]\nname = \"tcp\"\nkind = \"incast\"\nsenders = 4\nreceiver = \"h1\"\nsize = \"1MB\"\n\
               start = \"100us\"\ntransport = { kind = \"sack\", pack = true, min_rto = \"1ms\" }\n";
    let alone = run(&text("", trim, ""), 1);
    end(&alone);
    assert_eq!(sum(&alone, "ports", "trimmed"), 0);
    assert!(sum(&alone, "ports", "drop_buffer_full") > 1000);
    let both = run(&text("", trim, tcp), 1);
    end(&both);
    let by_port = |name: &str| column(&both, "ports", name);
    let (trimmed, dropped) = (by_port("trimmed"), by_port("drop_buffer_full"));
    let of = |port: usize| (trimmed[port] > 0, dropped[port] > 0);
    let busy: Vec<(bool, bool)> = (0..trimmed.len()).map(of).filter(|one| *one != (false, false)).collect();
    let cut: Vec<bool> = busy.iter().map(|(is_cut, _)| *is_cut).collect();
    assert!(cut == [false, true] && busy[0].1, "RoCE to h0 is dropped, TCP to h1 is cut: {busy:?}");
}

/// Test of RoCE with losses: go-back-N retransmission.
/// Lost packets are sent again, with all after them, if a port holds 100 KB and no link is paused.
#[test]
fn what_is_lost_is_sent_again_until_all_has_arrived() {
    let small = "buffer = { kind = \"per_port\", size = \"100KB\" }";
    let results = run(&text("", small, ""), 1);
    end(&results);
    let dropped = sum(&results, "ports", "drop_buffer_full");
    let (again, naks) = (sum(&results, "flows", "retransmits"), sum(&results, "flows", "fast_retransmits"));
    println!("{dropped} {again} {naks} {}", sum(&results, "flows", "timeouts"));
    assert!(dropped > 1000 && again > dropped && naks > 10, "{dropped} {again} {naks}");
}
