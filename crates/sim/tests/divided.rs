//! Tests that a run divided into partitions is bit-identical to an undivided one, table by table.

use crate::common::digest::whole;
use crate::common::draw::drawn_run;
use crate::common::{rows, scenario, total};
use crate::conservation::random;
use property::for_all;
use scenario::Scenario;
use sim::{Options, Recorder, Results};

fn results(s: &Scenario, seed: u64, partitions: u32) -> Results {
    let options = Options { max_events: Some(300_000), partitions, ..Options::default() };
    let mut world = whole(s, seed, options, Recorder::from_scenario(s));
    let results = world.results(s);
    assert!(results.conserved, "{:?}", world.describe_imbalance());
    results
}

/// Returns the results of a run, after a check that one, two, three and eight partitions give the same ones.
pub fn assert_partitions_agree(text: &str, seed: u64) -> Results {
    assert_partitions_agree_on(&scenario(text, ""), text, seed)
}

fn assert_partitions_agree_on(s: &Scenario, text: &str, seed: u64) -> Results {
    let usual = results(s, seed, 0);
    for partitions in [1, 2, 3, 8] {
        let divided = results(s, seed, partitions);
        for (a, b) in usual.tables.iter().zip(&divided.tables) {
            assert!(a == b, "table {} of {partitions} partitions\n{text}", a.name);
        }
        assert_eq!(usual.progress, divided.progress, "{partitions} partitions\n{text}");
        assert!(usual == divided, "{partitions} partitions\n{text}");
    }
    usual
}

const EVERYTHING: &str = "[measure]\ngoodput = \"flows\"\nlinks = true\nsent = true\nreordering = true\ndetours = 1\n";

#[test]
fn random_scenarios_leave_the_same_tables_divided_into_any_number_of_partitions() {
    let (mut paused, mut dropped, mut hops) = (0, 0, 0);
    let scenarios = drawn_run(|draw| {
        let queues = draw.flag();
        random(draw, queues).replace("[measure]\n", EVERYTHING)
    });
    for_all(40, scenarios, |(text, n)| {
        // Copies of a flooded frame share their records of bounces and detours; partitions do not share these.
        if text.contains("\"learning\"") && (text.contains("\"bounce\"") || text.contains("\"detour\"")) {
            return;
        }
        let results = assert_partitions_agree(&text, n);
        paused += total(&results, "pauses", "times");
        dropped += total(&results, "fates", "count");
        hops += results.progress.hops;
    });
    assert!(paused > 0 && dropped > 1000 && hops > 100_000, "{paused} pauses, {dropped} fates, {hops} hops");
}

/// Scenario of sessions on persistent and on new connections, queries, and an all-reduce, with background load.
const CLOSED: &str = r#"
name = "closed"
duration = "6ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "12pkt" }
overflow = { kind = "OVERFLOW" }
marking = { kind = "ecn_threshold", k = "6pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
goodput = "flows"
links = true
sent = true
reordering = true
detours = 1
packets = true
queues = true
from = "1ms"
drain = "300ms"
[[traffic]]
name = "kept"
kind = "request_reply"
sessions = 12
reply = "20KB"
connection = "persistent"
think = "10us"
[[traffic]]
name = "new"
kind = "request_reply"
sessions = 6
reply = "9KB"
connection = "new"
jitter = "20us"
[[traffic]]
name = "asked"
kind = "query"
degree = 9
response = "15KB"
interval = "900us"
repeat = 4
[[traffic]]
name = "ring"
kind = "all_reduce"
size = "60KB"
repeat = 3
"#;

#[test]
fn follow_up_messages_do_not_depend_on_partitions() {
    for overflow in ["tail_drop", "detour"] {
        let results = assert_partitions_agree(&CLOSED.replace("OVERFLOW", overflow), 3);
        assert!(results.progress.completed > 300, "{:?}", results.progress);
        assert!(total(&results, "fates", "count") > 0);
    }
}

/// Scenario of a fat-tree whose switches hold ACKs, send congestion notifications and trim.
const AGENTS: &str = r#"
name = "agents"
duration = "5ms"
event = [{ kind = "link_down", at = "700us", link = "edge0:agg0" }, { kind = "link_up", at = "1100us", link = "edge0:agg0" }]
[topology]
kind = "fat_tree"
k = 4
[host]
nic = { kind = "NIC" }
[switch]
ack_hold = { kind = "abq", k = "6000B", capacity = "512B", ports = "all" }
notify = { kind = "qcn", q_eq = "6000B", interval = "9000B" }
overflow = { kind = "trim" }
buffer = { kind = "per_port", size = "20KB" }
[transport]
kind = "newreno"
min_rto = "1ms"
[measure]
packets = true
notices = true
sent = true
allow_unfinished = true
drain = "200ms"
[[traffic]]
name = "incast"
kind = "incast"
senders = 4
receiver = "h0"
size = "40KB"
interval = "1ms"
repeat = 3
[[traffic]]
name = "all"
kind = "permutation"
size = "50KB"
"#;

const TWO_SAMPLES: &str = ", at = \"inputs\", culprit = \"two_samples\", index = \"backlog\"";

#[test]
fn held_acks_and_messages_about_congestion_are_the_same_in_any_number_of_partitions() {
    let cut = "{ kind = \"trim\", trimmable = \"any\", extra = \"0B\", no_room = \"return\", cut_delay = \"3us\" }";
    for (seed, nic) in [(1, "fifo"), (2, "round_robin"), (3, "fifo"), (4, "round_robin")] {
        let cuts = seed > 2;
        let text =
            AGENTS.replace("NIC", nic).replace("{ kind = \"trim\" }", if cuts { cut } else { "{ kind = \"trim\" }" });
        let point = ["", ", at = \"inputs\", culprit = \"occupancy\"", ", culprit = \"occupancy\"", TWO_SAMPLES];
        let text =
            text.replace(", interval = \"9000B\"", &format!(", interval = \"9000B\"{}", point[seed as usize - 1]));
        let s = scenario(&text, "");
        let results = assert_partitions_agree_on(&s, &text, seed);
        assert!(results.progress.hops > 3000, "{} hops", results.progress.hops);
        let messages = whole(&s, seed, Options::default(), ()).packets_made_and_held().0;
        assert!(messages > 10, "{messages} messages");
        assert_eq!(rows(&results, "notices", ["time_ps"]).len() as u64, messages);
        assert!(rows(&results, "notices", ["time_ps", "node"]).is_sorted());
        assert_eq!(total(&results, "ports", "trimmed") > 50, cuts);
        assert!(!cuts || total(&results, "ports", "returned") > 0);
    }
}

#[test]
fn what_is_inside_switches_is_the_same_in_any_number_of_partitions() {
    let fabric = "[switch]\nmodel = \"fabric\"\nfabric = { kind = \"mesh\", elements = 2, link_rate = \"500Mbps\" }";
    let text =
        AGENTS.replace("NIC", "fifo").replace("[switch]", fabric).replace("[measure]", "[measure]\ninputs = true");
    let results = assert_partitions_agree(&text, 1);
    assert!(rows(&results, "fabric_trace", ["bin"]).len() > 1000);
    assert!(total(&results, "fabric_buffers", "bytes") > 1_000_000);
}

/// Test of the order of rows at an instant at which the network changes.
/// Frames queued for a dead port are lost at the switch. In the same instant another frame is lost on the link to a
/// host with a lower node number.
#[test]
fn rows_of_an_instant_at_which_the_network_changes_are_in_the_order_of_nodes() {
    let nodes = ["h0", "h1", "h2", "h3"].map(|name| format!("{{ name = \"{name}\", kind = \"host\" }}, ")).concat();
    let rates = [("h0", "10Gbps"), ("h1", "100Mbps"), ("h2", "1Gbps"), ("h3", "1Gbps")];
    let link = |(host, rate)| format!("{{ a = \"s\", b = \"{host}\", rate = \"{rate}\", delay = \"1us\" }}, ");
    let burst = |source, destination, packets| {
        format!(
            "[[traffic]]\nname = \"{source}\"\nkind = \"bursts\"\nsource = \"{source}\"\n\
             destination = \"{destination}\"\npayload = \"1460B\"\npackets = {packets}\n\
             interval = \"1230400ps\"\npause = \"1s\"\n"
        )
    };
    // 1518 B take 12304 ns to the switch, the same time from there, and two delays.
    let text = format!(
        "name = \"order\"\nduration = \"1ms\"\n\
         event = [{{ kind = \"loss\", at = \"0us\", link = \"s>h2\", probability = 1.0 }}, \
         {{ kind = \"link_down\", at = \"26608ns\", link = \"s:h1\" }}]\n[topology]\nkind = \"custom\"\n\
         node = [{nodes}{{ name = \"s\", kind = \"switch\" }}]\nlink = [{}]\n[measure]\npackets = true\n{}{}",
        rates.map(link).concat(),
        burst("h0", "h1", 5),
        burst("h3", "h2", 1)
    );
    let results = assert_partitions_agree(&text, 1);
    let ends = rows(&results, "packets", ["end_ps", "node"]);
    let at_once: Vec<u64> = ends.iter().filter(|[end, _]| *end == 26_608_000).map(|[_, node]| *node).collect();
    assert_eq!(at_once, [2, 4, 4, 4, 4]);
}
