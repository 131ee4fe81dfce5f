//! Tests of results on congestion: messages of congestion points, rate limits of flows, memory of inputs, and sent
//! bytes.

use crate::common::{Bursts, column, rows, run_with, scenario, total};
use mech::{Notice, PortId};
use scenario::Scenario;
use sim::{Options, PacketChoice, PacketOrigin, PacketProperty, Results, StepKind, Tracer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns a scenario in which h0 sends a frame of 1518 B every 2 us over 10 Gb/s, and h1 receives over 1 Gb/s.
fn two(measure: &str) -> Scenario {
    let notify = "kind = \"qcn\", q_eq = \"6000B\", interval = \"15180B\", jitter = 0";
    let text = format!(
        "name = \"two\"\nduration = \"2ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{{ name = \"h0\", kind = \"host\" }}, {{ name = \"h1\", kind = \"host\" }}, \
         {{ name = \"s\", kind = \"switch\" }}]\n\
         link = [{{ a = \"s\", b = \"h0\", rate = \"10Gbps\", delay = \"1us\" }}, \
         {{ a = \"s\", b = \"h1\", rate = \"1Gbps\", delay = \"1us\" }}]\n[switch]\n\
         buffer = {{ kind = \"per_port\", size = \"100pkt\" }}\nnotify = {{ {notify} }}\n[measure]\n{measure}\n{}",
        Bursts { packets: 17, interval: "2us", ..Bursts::ONE_FRAME }.text()
    );
    scenario(&text, "")
}

/// Test of the table of congestion messages, with times computed by hand.
/// Frame i is at the switch 2 (i - 1) us after the start, 1230.4 ns for its bytes and 1 us for its link. `agents.rs`
/// works out which frames are sampled, the queue at that time and the feedback; lengths are in units of 64 B.
#[test]
fn every_message_of_a_congestion_point_is_a_row_and_counted_at_its_port_and_for_its_flow() {
    let results = run_with(&two("bin = \"10us\"\nnotices = true"), 1, Options::default());
    let names = ["time_ps", "node", "port", "flow", "feedback", "q_off", "q_delta"];
    let at = |frame: u64| 2_000_000 * (frame - 1) + 1_230_400 + 1_000_000;
    let row =
        |frame, feedback, q_off: u64, q_delta: u64| [at(frame), 2, 1, 0, feedback, q_off / 64 * 64, q_delta / 64 * 64];
    let expected =
        [row(10, 63, 6144, 12144), row(12, 32, 9180, 3036), row(14, 28, 10698, 1518), row(17, 51, 15252, 4554)];
    assert_eq!(rows(&results, "notices", names), expected);
    let points = rows(&results, "congestion_points", ["node", "port", "cnms", "feedback", "max_feedback"]);
    assert_eq!(points, [[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [2, 0, 0, 0, 0], [2, 1, 4, 63 + 32 + 28 + 51, 63]]);
    assert_eq!(rows(&results, "fates", ["traffic", "kind", "count"]), [[0, 5, 4]]);
    assert_eq!(rows(&results, "activity", ["bin", "node", "kind", "count"]), [[2, 2, 5, 3], [3, 2, 5, 1]]);
}

#[test]
fn messages_that_nobody_asks_for_are_counted_in_the_window_and_not_written_down() {
    let results = run_with(&two("from = \"22us\"\nto = \"30us\""), 1, Options::default());
    assert_eq!(column(&results, "notices", "time_ps"), [0; 0]);
    let counts = ["cnms", "feedback", "max_feedback"].map(|name| total(&results, "congestion_points", name));
    assert_eq!(counts, [2, 32 + 28, 32]);
    assert_eq!(rows(&results, "fates", ["kind", "count"]), [[5, 2]]);
}

/// Test of the trace of the first congestion message, with times computed by hand.
/// Frame 10 is stored at 20230.4 ns. 64 B with gap take 67.2 ns at 10 Gb/s, and the link takes 1 us.
#[test]
fn the_first_message_is_followed_from_its_switch_to_the_source_of_its_flow() {
    let mut tracer = Tracer::new(Arc::new(two("")), 1, PacketChoice::MostOften(PacketProperty::Notice), None).unwrap();
    while !tracer.advance(1 << 20).unwrap().is_done {}
    assert_eq!((tracer.id().origin, tracer.id().flow, tracer.id().emission), (PacketOrigin::Notice(2), 0, 0));
    let says = Notice::Cnm { feedback: 63, q_off: 6144, q_delta: 12144 / 64 * 64, point: PortId(1) };
    assert_eq!(tracer.notice(), Some(says));
    let steps: Vec<_> = tracer.steps().iter().map(|step| (step.kind, step.at.node, step.at.now.0, step.size)).collect();
    let (made, came) = (20_230_400, 20_230_400 + 67_200 + 1_000_000);
    let expected = [
        (StepKind::Emitted, 2, made, 64),
        (StepKind::Stored, 2, made, 64),
        (StepKind::Started, 2, made, 64),
        (StepKind::Arrived, 0, came, 64),
        (StepKind::Delivered, 0, came, 64),
    ];
    assert_eq!(steps, expected);
    assert!(tracer.has_ended());
}

#[test]
fn where_nobody_tells_of_congestion_there_is_no_first_message() {
    let quiet = scenario(&SENDING.replace("NIC", "fifo").replace("EVENT", ""), "");
    let mut tracer = Tracer::new(Arc::new(quiet), 1, PacketChoice::MostOften(PacketProperty::Notice), None).unwrap();
    let why = loop {
        if let Err(why) = tracer.advance(1 << 20) {
            break why.to_string();
        }
    };
    assert_eq!(
        why,
        "packet: found first_cnm; expected a run with congestion notification messages, because this run \
                     had none"
    );
}

const SENDING: &str = r#"
name = "sending"
duration = "2ms"
EVENT
[topology]
kind = "star"
n = 6
link = { rate = "1Gbps", delay = "1us" }
[host]
nic = { kind = "NIC" }
[transport]
kind = "newreno"
min_rto = "1ms"
[measure]
bin = "20us"
links = true
sent = true
allow_unfinished = true
drain = "0ms"
[[traffic]]
name = "endless"
kind = "long_lived"
sources = ["h1", "h2", "h2"]
destinations = ["h0", "h0", "h3"]
[[traffic]]
name = "raw"
kind = "constant"
source = "h4"
destination = "h5"
payload = "1000B"
rate = "1500Mbps"
"#;

/// Returns the bytes that left each host, by time bin and host.
fn by_host(results: &Results) -> BTreeMap<(u64, u64), u64> {
    let mut sums = BTreeMap::new();
    for [bin, host, bytes] in rows(results, "sent_trace", ["bin", "host", "wire_bytes"]) {
        *sums.entry((bin, host)).or_default() += bytes;
    }
    sums
}

/// Test of the bytes that flows sent over time, compared with the links of their hosts.
/// Several frames wait for their NIC at the end of the run, and their departures are computed.
#[test]
fn what_the_flows_of_a_host_send_is_what_leaves_by_its_port_step_by_step() {
    let faster = "event = [{ kind = \"rate\", link = \"h1\", at = \"1ms\", rate = \"10Gbps\" }]";
    for (nic, event) in [("fifo", ""), ("round_robin", ""), ("fifo", faster)] {
        let text = SENDING.replace("NIC", nic).replace("EVENT", event);
        let results = run_with(&scenario(&text, ""), 1, Options::default());
        let links = rows(&results, "links", ["bin", "node", "bits"]);
        let of_hosts =
            links.into_iter().filter(|[_, node, _]| *node < 6).map(|[bin, node, bits]| ((bin, node), bits / 8));
        assert_eq!(by_host(&results), of_hosts.collect::<BTreeMap<_, _>>(), "{nic} {event}");
        let trace = rows(&results, "sent_trace", ["bin", "host", "flow"]);
        assert!(trace.is_sorted() && trace.len() > 300, "{} rows", trace.len());
        let [source, flows, traffic] = ["src", "flow", "traffic"].map(|name| column(&results, "flows", name));
        let of = |host: u64| flows.iter().zip(&source).filter(move |(_, src)| **src == host).map(|(flow, _)| *flow);
        for host in [1, 2, 4] {
            let sent: Vec<u64> = of(host).filter(|flow| trace.iter().any(|row| row[1..] == [host, *flow])).collect();
            assert_eq!(sent, of(host).collect::<Vec<_>>(), "every flow of the host sends");
        }
        let raw: Vec<u64> = of(4).collect();
        assert_eq!((raw.len(), traffic[raw[0] as usize]), (1, 1), "flows of raw traffic are in the table of flows");
    }
}

#[test]
fn bytes_that_flows_send_are_counted_only_where_that_is_asked() {
    let text = SENDING.replace("NIC", "fifo").replace("EVENT", "").replace("sent = true\n", "");
    let results = run_with(&scenario(&text, ""), 1, Options::default());
    assert_eq!(column(&results, "sent_trace", "bin"), [0; 0]);
}
