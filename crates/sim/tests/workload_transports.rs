//! Tests of workloads with different transports in whole runs: RoCE and TCP in one network.

use crate::common::digest::digest;
use crate::common::{column, run, run_with, scenario};
use sim::{Options, Results};

/// Returns a scenario of a star at 40 Gb/s with DCTCP, lines of hosts and switches, and workloads.
fn star(host: &str, switch: &str, more: &str) -> String {
    format!(
        "name = \"beside\"\nduration = \"20ms\"\n[topology]\nkind = \"star\"\nn = 7\n\
         link = {{ rate = \"40Gbps\", delay = \"1us\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n{host}\n[switch]\n{switch}\n\
         [transport]\nkind = \"dctcp\"\nmin_rto = \"5ms\"\n[measure]\ndrain = \"1s\"\nnotices = true\nrate_limits = true\n{more}"
    )
}

/// Returns a workload in which four hosts send a flow each to h0.
fn incast(name: &str, size: &str, own: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\nkind = \"incast\"\nsenders = 4\nreceiver = \"h0\"\nsize = \"{size}\"\nstart = \"100us\"\n\
         {own}\n"
    )
}

const ROCE: &str = "transport = { kind = \"roce\", rto = \"1ms\" }\nclass = 3";
const DCQCN: &str = "reaction = { kind = \"dcqcn\" }";
const RED: &str = "marking = { kind = \"red\", min = \"160KB\", max = \"640KB\", max_p = 0.2, weight = 1, \
                   gaps = \"geometric\" }\nscheduler = { kind = \"round_robin\" }\nbuffer = { kind = \"unlimited\" }";

/// Returns the values in a column of the table of flows, separately for each workload.
fn of_flows(results: &Results, name: &str) -> [Vec<u64>; 2] {
    let (traffic, values) = (column(results, "flows", "traffic"), column(results, "flows", name));
    [0, 1].map(|i| traffic.iter().zip(&values).filter(|(one, _)| **one == i).map(|(_, value)| *value).collect())
}

/// Returns the number of rows of a table that are about flows of each workload.
fn count_rows_by_workload(results: &Results, table: &str) -> [usize; 2] {
    let (traffic, flows) = (column(results, "flows", "traffic"), column(results, table, "flow"));
    [0, 1].map(|i| flows.iter().filter(|flow| traffic[**flow as usize] == i).count())
}

/// Test of the completion time of a single flow, for RoCE and TCP, against the closed form.
/// Sizes are a byte, and a full segment and more of each transport: RoCE segments have 1000 B and 66 B of headers, and
/// ACKs of 64 B take 84 B on the wire.
#[test]
fn a_flow_alone_takes_the_time_of_the_closed_form_of_its_own_transport() {
    for size in ["1B", "2500B", "13KB"] {
        for fct_end in ["last_byte", "sender_ack"] {
            let alone = |name: &str, start: &str, own: &str| {
                let one = incast(name, size, own).replace("senders = 4", "senders = 1");
                one.replace("100us", start)
            };
            let both = [alone("tcp", "1ms", ""), alone("storage", "9ms", ROCE)].concat();
            let text = star("", "", &both).replace("drain", &format!("fct_end = \"{fct_end}\"\ndrain"));
            let results = run(&text, 1);
            let [start, end, ideal] = ["start_ps", "end_ps", "ideal_ps"].map(|name| of_flows(&results, name).concat());
            assert_eq!([end[0] - start[0], end[1] - start[1]], [ideal[0], ideal[1]], "{size}, {fct_end}");
            assert_ne!(ideal[0], ideal[1], "{size}, {fct_end}");
        }
    }
}

#[test]
fn transport_of_every_workload_equals_that_of_the_scenario() {
    for kind in
        ["kind = \"roce\"\nrto = \"500us\"", "kind = \"newreno\"\nmss = \"900B\"\nttl = 9", "kind = \"linux_dctcp\""]
    {
        let small =
            "buffer = { kind = \"per_port\", size = \"60KB\" }\nmarking = { kind = \"ecn_threshold\", k = \"5pkt\" }";
        let own = format!("transport = {{ {} }}", kind.replace('\n', ", "));
        let both = |own: &str| {
            let sessions = "[[traffic]]\nname = \"r\"\nkind = \"request_reply\"\nclients = [\"h2\", \"h0\"]\nservers = [\"h3\", \"h1\"]\n\
                            reply = \"20KB\"\nrequests = 3\nthink = \"1ms\"\n";
            star("", small, &format!("{}{sessions}{own}\n", incast("i", "90KB", own)))
        };
        let of_all = both("").replace("kind = \"dctcp\"\nmin_rto = \"5ms\"", kind);
        let [own, of_all] = [both(&own), of_all].map(|text| digest(&scenario(&text, ""), 3, Options::default()));
        assert_eq!(own, of_all, "{kind}");
    }
}

/// Test of ECN marks: CNPs notify RoCE senders, and ACKs notify TCP senders.
/// Both share the port of h0, which serves the two classes in turn.
#[test]
fn marks_are_told_by_cnps_for_roce_alone_and_echoed_by_acks_for_tcp_alone() {
    let text = star(DCQCN, RED, &[incast("tcp", "4MB", ""), incast("storage", "4MB", ROCE)].concat());
    let results = run(&text, 1);
    assert_eq!(results.unfinished, 0);
    let [tcp, roce] = of_flows(&results, "ece_acks").map(|all| all.iter().sum::<u64>());
    assert!(tcp > 0 && roce == 0, "{tcp} {roce}");
    let [tcp, roce] = count_rows_by_workload(&results, "notices");
    assert!(tcp == 0 && roce > 4, "{tcp} {roce}");
    let [tcp, roce] = count_rows_by_workload(&results, "limited_flows");
    assert_eq!((tcp, roce), (0, 4));
    // TCP without RoCE gets the same marks and no CNP: the reaction point does not affect it.
    let alone = |host: &str| digest(&scenario(&star(host, RED, &incast("tcp", "4MB", "")), ""), 1, Options::default());
    assert_eq!(alone(DCQCN), alone(""));
}

/// Test of PFC in a network with RoCE and TCP.
/// A pause of one class does not affect the other: TCP does not wait at hosts that pause RoCE, unless both are in one
/// class.
#[test]
fn pause_of_roce_does_not_affect_tcp_in_another_class() {
    let pfc = "buffer = { kind = \"per_port\", size = \"4MB\" }\npause = { kind = \"pfc\", classes = [3], xoff = \"50KB\", xon = \"40KB\" }\n\
               scheduler = { kind = \"round_robin\" }";
    // The flow goes from the same hosts to another one, so that it makes no port of the switch busy.
    let web = |class: u8| {
        incast("web", "200KB", &format!("class = {class}"))
            .replace("\"h0\"", "\"h6\"")
            .replace("senders = 4", "senders = 1")
            .replace("100us", "400us")
    };
    let slowest = |class: u8| {
        let storage = incast("storage", "2MB", &format!("{ROCE}\npick = \"first\""));
        let text = star("", pfc, &[web(class).replace("size", "pick = \"first\"\nsize"), storage].concat());
        let results = run(&text, 1);
        assert_eq!(results.unfinished, 0);
        assert!(column(&results, "pauses", "paused_ps").iter().sum::<u64>() > 0);
        let [start, end] = ["start_ps", "end_ps"].map(|name| of_flows(&results, name)[0][0]);
        (end - start, of_flows(&results, "ideal_ps")[0][0])
    };
    let ((apart, ideal), (together, _)) = (slowest(0), slowest(3));
    println!("{apart} {together} {ideal}");
    assert!(apart < ideal * 3 && together > apart * 2, "{apart} {together}, alone {ideal}");
}

/// Test that the results of a run with RoCE and TCP do not depend on how it is executed.
#[test]
fn a_mixed_run_is_the_same_by_heap_and_stepped() {
    let text = star(DCQCN, RED, &[incast("tcp", "400KB", ""), incast("storage", "400KB", ROCE)].concat());
    let digests = [(false, false), (true, false), (false, true)].map(|(heap, step_departures)| {
        digest(&scenario(&text, ""), 5, Options { heap, step_departures, ..Options::default() })
    });
    assert!(digests.iter().all(|one| *one == digests[0]));
    let results = run_with(&scenario(&text, ""), 5, Options::default());
    let [tcp, roce] = of_flows(&results, "received").map(|all| all.iter().sum::<u64>());
    assert_eq!((tcp, roce), (1_600_000, 1_600_000));
}

/// Tests of QCN at switches (802.1Qau) with RoCE and TCP: a NIC limits flows by CNMs, whatever their transport.
mod qcn {
    use super::*;

    const AT_OUTPUTS: &str =
        "buffer = { kind = \"unlimited\" }\nnotify = { kind = \"qcn\", class = 3, q_eq = \"60KB\" }";
    const QCN: &str = "reaction = { kind = \"qcn\", r_ai = \"20Mbps\", r_hai = \"200Mbps\" }";

    /// Runs two flows without end to h0 for 150 ms. Returns the results, and the mean queue of its port and each flow's
    /// share from 50 ms on.
    fn long(host: &str, own: &str) -> (Results, f64, [f64; 2]) {
        let two = format!(
            "queues = true\nfrom = \"50ms\"\nallow_unfinished = true\n[[traffic]]\nname = \"long\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\n\
             pick = \"first\"\nsize = \"100GB\"\njitter = \"10us\"\nclass = 3\n{own}\n"
        );
        let text = star(host, AT_OUTPUTS, &two).replace("20ms", "150ms").replace("drain = \"1s\"", "drain = \"0s\"");
        let results = run(&text.replace("40Gbps", "10Gbps"), 1);
        let at_port = |table: &str, of: &str| -> Vec<u64> {
            let [nodes, ports, all] = ["node", "port", of].map(|name| column(&results, table, name));
            (0..all.len()).filter(|i| nodes[*i] == 7 && ports[*i] == 0).map(|i| all[i]).collect()
        };
        let [packets, time] = ["packets", "time_ps"].map(|name| at_port("queue_hist", name));
        let area: f64 = packets.iter().zip(&time).map(|(n, time)| *n as f64 * *time as f64).sum();
        let received = column(&results, "flows", "received");
        let all = received.iter().sum::<u64>() as f64;
        let shares = [0, 1].map(|i| received[i] as f64 / all);
        (results, area / time.iter().sum::<u64>() as f64 * 1066.0, shares)
    }

    #[test]
    fn flows_of_roce_are_held_at_the_equilibrium_of_the_queue() {
        let (results, queue, shares) = long(QCN, "transport = { kind = \"roce\" }");
        let told = column(&results, "notices", "flow").len();
        println!("{told} {queue} {shares:?}");
        assert_eq!(column(&results, "limited_flows", "flow"), [0, 1]);
        assert!(told > 50 && (20_000.0..120_000.0).contains(&queue), "{told} messages, a queue of {queue} B");
        assert!(shares.iter().all(|share| (0.3..0.7).contains(share)), "{shares:?}");
        // The bytes that the port carries from 50 ms on: 1000 of 1086 bytes are payload.
        let received: u64 = column(&results, "flows", "received").iter().sum();
        assert!(received as f64 * 8.0 > 0.9 * 10e9 * 0.15 * 1000.0 / 1086.0, "{received}");
        let (without, endless, _) = long("", "transport = { kind = \"roce\" }");
        assert!(column(&without, "notices", "flow").len() > 50 && endless > 1e6, "nobody listens: {endless} B");
    }

    #[test]
    fn flows_of_tcp_on_the_same_hosts_are_limited_by_them_too() {
        let more = [incast("tcp", "4MB", "class = 3"), incast("storage", "4MB", ROCE)].concat();
        let results = run(&star(QCN, AT_OUTPUTS, &more), 1);
        assert_eq!(results.unfinished, 0);
        let [tcp, roce] = super::count_rows_by_workload(&results, "limited_flows");
        assert!(tcp > 0 && roce > 0, "{tcp} {roce}");
        let other = run(&star(QCN, AT_OUTPUTS, &more.replacen("class = 3", "class = 0", 1)), 1);
        let [tcp, roce] = super::count_rows_by_workload(&other, "limited_flows");
        assert!(tcp == 0 && roce > 0, "a congestion point is of one class: {tcp} {roce}");
    }
}
