//! Tests of a host's NIC: one queue, or one for each flow, served in turn.

use crate::common::{column, drops, run, run_with, same_again, scenario, total};
use sim::{Options, Results};

/// Transmission time in ps of a segment of 1460 B at 1 Gb/s, with preamble and gap.
const SLOT: u64 = 12_304_000;
/// Time in ps from the first bit of a full segment at `h0` to its last bit at the receiver.
const PATH: u64 = 2 * SLOT + 2_000_000;

/// Returns a scenario in which `h0` sends a hundred segments to each of `h1` and `h2` in one window.
///
/// The second flow starts a microsecond later.
fn two(nic: &str, more: &str) -> String {
    let flow = |i: u32| {
        format!(
            "[[traffic]]\nname = \"f{i}\"\nkind = \"incast\"\nsenders = 1\npick = \"first\"\nreceiver = \"h{i}\"\n\
             size = \"146000B\"\nstart = \"{i}us\"\nclass = {}\n",
            i - 1
        )
    };
    format!(
        "name = \"two\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 3\n\
         link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[host]\nnic = {nic}\n{more}\n\
         [switch]\nbuffer = {{ kind = \"unlimited\" }}\n[transport]\nkind = \"newreno\"\n\
         initial_window = \"200pkt\"\n{}{}",
        flow(1),
        flow(2)
    )
}

fn ends(results: &Results) -> Vec<u64> {
    assert_eq!((results.unfinished, drops(results)), (0, 0));
    column(results, "flows", "end_ps")
}

const FIFO: &str = "{ kind = \"fifo\" }";
const TURNS: &str = "{ kind = \"round_robin\" }";

/// Gives both flows of a scenario the same traffic class.
fn in_one_class(text: &str) -> String {
    text.replace("class = 1", "class = 0")
}

#[test]
fn one_queue_is_left_in_the_order_of_release_and_a_queue_for_each_flow_in_turn() {
    // One after the other: the second flow waits for all of the first.
    let start = 1_000_000;
    assert_eq!(ends(&run(&in_one_class(&two(FIFO, "")), 1)), [start + 99 * SLOT + PATH, start + 199 * SLOT + PATH]);
    // In turn: when the second flow starts, the first has a frame on the wire and precedes it in the ring. So its
    // hundredth frame is the 198th in total.
    assert_eq!(ends(&run(&in_one_class(&two(TURNS, "")), 1)), [start + 197 * SLOT + PATH, start + 199 * SLOT + PATH]);
}

#[test]
fn of_a_queue_for_each_flow_the_highest_class_is_served_first() {
    // The first flow's first frame is on the wire when the second starts.
    let start = 1_000_000;
    assert_eq!(ends(&run(&two(TURNS, ""), 1)), [start + 199 * SLOT + PATH, start + 100 * SLOT + PATH]);
}

#[test]
fn a_flow_at_a_tenth_of_the_rate_sends_to_the_byte_at_a_tenth() {
    let limited = in_one_class(&two("{ kind = \"round_robin\", flow_rate = \"100Mbps\" }", ""));
    // Each flow has its own limiter. They meet at the wire once, a microsecond after the first has begun.
    let (first, second) = (1_000_000, 1_000_000 + SLOT);
    assert_eq!(ends(&run(&limited, 1)), [first + 990 * SLOT + PATH, second + 990 * SLOT + PATH]);
    // The limit equals the rate of the link, so that the wire is never idle; a flow that waits for its limiter has no
    // turn yet.
    let rate = run(&in_one_class(&two("{ kind = \"round_robin\", flow_rate = \"1Gbps\" }", "")), 1);
    assert_eq!(ends(&rate), [first + 198 * SLOT + PATH, first + 199 * SLOT + PATH]);
}

#[test]
fn a_segment_is_made_when_it_is_sent() {
    let text = format!("{}[measure]\npackets = true\n", in_one_class(&two(TURNS, "")));
    let results = run(&text, 1);
    let [reverse, sent, end] = ["reverse", "sent_ps", "end_ps"].map(|c| column(&results, "packets", c));
    let data: Vec<usize> = (0..sent.len()).filter(|i| reverse[*i] == 0).collect();
    assert_eq!(data.len(), 200);
    assert!(data.iter().all(|i| end[*i] - sent[*i] == PATH), "none waits at its host");
}

#[test]
fn stack_delay_applies_to_packets_once_and_not_to_nic_requests() {
    let delayed = in_one_class(&two(TURNS, "stack_delay = \"5us\""));
    let start = 1_000_000 + 5_000_000;
    let up = 5_000_000;
    assert_eq!(ends(&run(&delayed, 1)), [start + 197 * SLOT + PATH + up, start + 199 * SLOT + PATH + up]);
    let jitter = run(&in_one_class(&two(TURNS, "stack_jitter = \"9us\"")), 1);
    assert_eq!(total(&jitter, "flows", "received"), 2 * 146_000);
}

/// Returns a scenario in which `h0` sends to a slow host in class 3, which PFC pauses, and to another in class 0.
fn paused(nic: &str) -> String {
    format!(
        r#"
name = "paused"
duration = "5ms"
[topology]
kind = "custom"
node = [
  {{ name = "h0", kind = "host" }}, {{ name = "slow", kind = "host" }}, {{ name = "fast", kind = "host" }},
  {{ name = "s", kind = "switch" }},
]
link = [
  {{ a = "h0", b = "s", rate = "10Gbps", delay = "1us" }},
  {{ a = "slow", b = "s", rate = "100Mbps", delay = "1us" }},
  {{ a = "fast", b = "s", rate = "10Gbps", delay = "1us" }},
]
[host]
nic = {nic}
[switch]
buffer = {{ kind = "shared", size = "400KB", alpha = 8 }}
pause = {{ kind = "pfc", xoff = "20KB", xon = "10KB" }}
[transport]
kind = "newreno"
initial_window = "400pkt"
min_rto = "100ms"
[[traffic]]
name = "slow"
kind = "incast"
senders = 1
pick = "first"
receiver = "slow"
size = "292000B"
class = 3
[[traffic]]
name = "fast"
kind = "incast"
senders = 1
pick = "first"
receiver = "fast"
size = "292000B"
start = "100us"
class = 0
"#
    )
}

#[test]
fn a_class_that_is_stopped_waits_and_the_others_go_on() {
    let results = run(&paused(TURNS), 1);
    let end = ends(&results);
    assert!(total(&results, "pauses", "times") > 0);
    // Time of the flow alone: 200 segments of 1230.4 ns, one more through the switch, and the links.
    let alone = 201 * 1_230_400 + 2_000_000;
    let fast = end[1] - 100_000_000;
    assert!((alone..alone + 20 * 1_230_400).contains(&fast), "{fast} is not about {alone}");
    assert!(end[0] > 200 * 123_040_000, "as fast as the slow link");
}

#[test]
fn heap_and_wheel_and_a_clone_from_the_middle_give_the_same_bits_with_queues_for_flows() {
    same_again(&paused("{ kind = \"round_robin\", flow_rate = \"3Gbps\" }"), 1);
}

#[test]
fn a_nic_with_a_queue_for_each_flow_is_stepped() {
    let text = in_one_class(&two(TURNS, ""));
    let stepped = run_with(&scenario(&text, ""), 1, Options { step_departures: true, ..Options::default() });
    assert_eq!(ends(&stepped), ends(&run(&text, 1)));
}

/// Returns `max_packets`, `marked` and `drop_buffer_full` of the NIC of `h0`, and the results of a run with computed
/// departures.
fn at_nic(text: &str) -> ([u64; 3], Results) {
    let results = run(&format!("{text}[measure]\nqueues = false\n"), 1);
    (["max_packets", "marked", "drop_buffer_full"].map(|name| column(&results, "ports", name)[0]), results)
}

#[test]
fn a_window_that_opens_wide_is_marked_and_lost_frame_by_frame_where_the_nic_has_limits() {
    let dctcp = |more: &str| in_one_class(&two(FIFO, more)).replace("newreno", "dctcp");
    // 99 of the first flow's hundred frames are queued when those of the second arrive.
    let ([_, marked, _], _) = at_nic(&dctcp("marking = { kind = \"ecn_threshold\", k = \"150pkt\" }"));
    assert_eq!(marked, 49, "those that find 150 or more");
    let ([most, _, lost], results) = at_nic(&dctcp("nic_queue = \"150pkt\""));
    assert_eq!((most, lost), (150, 49));
    assert_eq!((results.unfinished, total(&results, "flows", "received")), (0, 2 * 146_000));
}

#[test]
fn a_window_that_opens_wide_gives_the_same_bits_in_one_run_and_frame_by_frame() {
    for kind in ["newreno", "dctcp"] {
        // A limit that is never reached makes the NIC handle single frames instead of runs.
        let [runs, frames] = ["", "nic_queue = \"100000pkt\""].map(|limit| {
            let text = in_one_class(&two(FIFO, limit)).replace("newreno", kind);
            at_nic(&format!("{text}[[traffic]]\nname = \"back\"\nkind = \"permutation\"\nsize = \"700001B\"\n"))
        });
        assert!(runs.0[0] >= 199, "{kind}: {:?}", runs.0);
        assert_eq!((runs.0, runs.1.progress, runs.1.tables), (frames.0, frames.1.progress, frames.1.tables), "{kind}");
    }
}
