//! Tests of what is measured: the measurement window, warm-up, drain, unfinished flows, and the end of a flow.

use crate::common::{column, drops, run, run_with, scenario, total, world};
use scenario::traffic::LoadOf;
use sim::{Options, Results, StopReason};

/// Scenario of one constant source of 100 Mb/s for 10 ms in a star of 1 Gb/s links, measured from 2 to 7 ms.
const CONSTANT: &str = r#"
name = "constant"
duration = "10ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[measure]
from = "2ms"
to = "7ms"
[[traffic]]
name = "c"
kind = "constant"
source = "h0"
destination = "h3"
rate = "100Mbps"
payload = "1210B"
"#;

fn carried(results: &Results, of: LoadOf) -> Option<(u64, f64)> {
    results.carried_bits.iter().find(|level| level.level == of).map(|level| (level.bits, level.capacity_bps))
}

#[test]
fn a_constant_source_carries_its_rate_times_the_window_and_nothing_of_warm_up_or_drain() {
    // 1210 B of payload are 1288 B on the wire, one frame every 103.04 us at 100 Mb/s: frames 20 to 67 begin inside 2
    // to 7 ms. The switch forwards each within 12 us: still 48 frames.
    let bits = 48 * 1288 * 8;
    for options in [Options::default(), Options { step_departures: true, ..Options::default() }] {
        for queues in ["true", "false"] {
            let text = CONSTANT.replace("[measure]", &format!("[measure]\nqueues = {queues}"));
            let results = run_with(&scenario(&text, ""), 1, options);
            assert_eq!(carried(&results, LoadOf::Host), Some((bits, 4e9)));
            // All hosts are at one switch, so that there is no uplink; two halves of two hosts each.
            assert_eq!(carried(&results, LoadOf::TorUplink), None);
            assert_eq!(carried(&results, LoadOf::Bisection), Some((bits, 2e9)));
            // 98 frames in total, 20 before the window and 30 after it. Packets received inside the window were sent
            // 12.3 us before: 48 packets as well.
            assert_eq!(column(&results, "ports", "sent")[0], 48);
            assert_eq!(results.received, [48 * 1210]);
        }
    }
}

#[test]
fn data_drops_and_retransmissions_count_over_the_same_time() {
    // Two flows of 2 MB through 100 Mb/s end long after the window, and lose data before and after its end. SACK
    // retransmits exactly the lost data.
    let text = r#"
name = "drained"
duration = "100ms"
[topology]
kind = "star"
n = 3
link = { rate = "100Mbps", delay = "2ms" }
[switch]
buffer = { kind = "per_port", size = "20pkt" }
[transport]
kind = "sack"
min_rto = "200ms"
[measure]
drain = "60s"
[[traffic]]
name = "f"
kind = "incast"
senders = 2
receiver = "h2"
size = "2MB"
"#;
    let results = run(text, 1);
    let [lost, again] = ["data_drops", "retransmits"].map(|name| total(&results, "flows", name));
    assert_eq!(lost, again);
    assert!(drops(&results) < lost && drops(&results) > 0, "{} of {lost} in the window", drops(&results));
}

#[test]
fn a_frame_that_begins_at_the_edge_of_the_window_counts_once() {
    // 1288 B at 103.04 us: whole picoseconds, so that frames 10 and 20 begin exactly on the edges.
    let text = CONSTANT.replace("from = \"2ms\"\nto = \"7ms\"", "from = \"1030400ns\"\nto = \"2060800ns\"");
    for options in [Options::default(), Options { step_departures: true, ..Options::default() }] {
        for queues in ["true", "false"] {
            let text = text.replace("[measure]", &format!("[measure]\nqueues = {queues}"));
            let results = run_with(&scenario(&text, ""), 1, options);
            assert_eq!(carried(&results, LoadOf::Host), Some((10 * 1288 * 8, 4e9)));
            assert_eq!(column(&results, "ports", "sent")[0], 10);
        }
    }
}

#[test]
fn a_waiting_frame_that_begins_at_the_edge_of_the_window_counts_once() {
    // A packet every 10 us takes 12.304 us on the wire: packets queue, and begin every 12.304 us.
    let text = "name = \"edge\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 2\n\
         link = { rate = \"1Gbps\", delay = \"1us\" }\n[measure]\nqueues = false\nfrom = \"123040ns\"\n\
         to = \"246080ns\"\n[[traffic]]\nname = \"b\"\nkind = \"bursts\"\nsource = \"h0\"\n\
         destination = \"h1\"\npayload = \"1460B\"\npackets = 100\ninterval = \"10us\"\npause = \"1s\"\n";
    for options in [Options::default(), Options { step_departures: true, ..Options::default() }] {
        let results = run_with(&scenario(text, ""), 1, options);
        assert_eq!(carried(&results, LoadOf::Host), Some((10 * 1538 * 8, 2e9)));
        assert_eq!(column(&results, "ports", "sent")[0], 10);
    }
}

#[test]
fn loads_of_rack_uplinks_and_bisection_are_separate() {
    let leaves = "kind = \"leaf_spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 2";
    let text = CONSTANT.replace("kind = \"star\"\nn = 4", leaves);
    let to = |destination: &str| {
        let results = run(&text.replace("\"h3\"", &format!("\"{destination}\"")), 1);
        [LoadOf::Host, LoadOf::TorUplink, LoadOf::Bisection].map(|of| carried(&results, of))
    };
    let bits = 48 * 1288 * 8;
    let level = |frames: u64, capacity: f64| Some((frames * 1288 * 8, capacity));
    assert_eq!(to("h1"), [Some((bits, 8e9)), level(0, 8e9), level(0, 4e9)], "inside a rack");
    assert_eq!(to("h2"), [Some((bits, 8e9)), level(48, 8e9), level(0, 4e9)], "inside the first half");
    // Traffic across is counted on arrival, four slots later: frame 19, sent at 1.958 ms, arrives inside the window.
    assert_eq!(to("h7"), [Some((bits, 8e9)), level(48, 8e9), level(49, 4e9)], "across");
}

/// Scenario of six flows of one segment each, 1 ms apart, from 0.5 ms on.
const FLOWS: &str = r#"
name = "flows"
duration = "6ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[transport]
kind = "newreno"
[measure]
from = "2ms"
to = "5ms"
[[traffic]]
name = "f"
kind = "incast"
senders = 1
receiver = "h0"
pick = "first"
size = "1460B"
start = "500us"
interval = "1ms"
"#;

#[test]
fn flows_that_start_before_or_after_the_window_do_not_count() {
    let results = run(FLOWS, 1);
    assert_eq!(column(&results, "flows", "measured"), [0, 0, 1, 1, 1, 0]);
    assert_eq!((results.measured, results.unfinished), (3, 0));
    assert_eq!(results.progress.stop, Some(StopReason::Done));
    assert_eq!(results.progress.completed, 6);
    // The first two packets belong to the warm-up and the last one is after the window; three remain, and their ACKs.
    assert_eq!(column(&results, "ports", "sent")[..2], [3, 3]);
    assert_eq!(results.received, [3 * 1460]);
}

#[test]
fn a_run_drains_until_the_flows_that_count_have_finished_and_no_longer() {
    // 1 MB needs about 8.5 ms from 5 ms on; flows that start during the drain continue but do not count.
    let text = FLOWS.replace("1460B", "1MB").replace("start = \"500us\"\ninterval = \"1ms\"", "start = \"4.5ms\"");
    let whole = run(&text, 1);
    let end = column(&whole, "flows", "end_ps")[0];
    assert!(end > 12_000_000_000 && end < 20_000_000_000, "{end}");
    assert_eq!(whole.progress.stop, Some(StopReason::Done));
    assert!(whole.end().0 >= end && whole.end().0 < end + 1_000_000_000, "{:?}", whole.end());
    let cut = run(&text.replace("[measure]", "[measure]\ndrain = \"2ms\""), 1);
    assert_eq!(cut.progress.stop, Some(StopReason::DrainedOut));
    assert_eq!((cut.measured, cut.unfinished), (1, 1));
    assert_eq!(column(&cut, "flows", "end_ps"), [u64::MAX]);
    assert_eq!(cut.end().0, 8_000_000_000, "duration and drain");
    let received = column(&cut, "flows", "received")[0];
    assert!(received > 100_000 && received < 1_000_000, "{received} bytes of an unfinished flow have arrived");
}

#[test]
fn drops_of_the_warm_up_do_not_count() {
    // Bursts of 20 from two phase-locked sources to a queue of 10 lose 10 each, at 0, 3, 6 and 9 ms.
    let text = |measure: &str| {
        format!(
            "name = \"b\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 3\n\
             [switch]\nbuffer = {{ kind = \"per_port\", size = \"10pkt\" }}\n[measure]\n{measure}\n\
             [[traffic]]\nname = \"b\"\nkind = \"bursts\"\nsources = [\"h1\", \"h2\"]\ndestination = \"h0\"\n\
             payload = \"1460B\"\npackets = 20\ninterval = \"12304ns\"\npause = \"2766224ns\"\n"
        )
    };
    assert_eq!(drops(&run(&text(""), 1)), 40);
    assert_eq!(drops(&run(&text("from = \"2ms\""), 1)), 30);
    assert_eq!(drops(&run(&text("from = \"9.9ms\""), 1)), 0);
}

#[test]
fn a_flow_may_end_where_its_sender_knows_it() {
    let text = FLOWS.replace("from = \"2ms\"\nto = \"5ms\"", "");
    let last_byte = run(&text, 1);
    let sender_ack = run(&text.replace("[measure]", "[measure]\nfct_end = \"sender_ack\""), 1);
    let fct = |results: &Results| {
        let (start, end) = (column(results, "flows", "start_ps"), column(results, "flows", "end_ps"));
        start.iter().zip(end).map(|(start, end)| end - start).collect::<Vec<_>>()
    };
    // Data: two slots of 12.304 us and two delays of 1 us. ACK of 84 B on the wire: 672 ns and 1 us for each link, sent
    // immediately, since no further data is expected.
    let there = 2 * 12_304_000 + 2_000_000;
    let back = 2 * 672_000 + 2_000_000;
    assert_eq!(fct(&last_byte), [there; 6]);
    assert_eq!(fct(&sender_ack), [there + back; 6]);
    // A flow alone on its path has a slowdown of 1 by either convention.
    assert_eq!(column(&last_byte, "flows", "ideal_ps"), fct(&last_byte));
    assert_eq!(column(&sender_ack, "flows", "ideal_ps"), fct(&sender_ack));
}

#[test]
fn a_run_cut_by_its_bound_on_events_is_partial_and_its_books_balance() {
    let text = FLOWS.replace("1460B", "1MB");
    let s = scenario(&text, "");
    let whole = run_with(&s, 1, Options::default());
    for bound in [1, 7, 1_000, 3_000] {
        let cut = run_with(&s, 1, Options { max_events: Some(bound), ..Options::default() });
        assert!(cut.is_partial(), "{bound} events");
        assert_eq!(cut.progress.stop, Some(StopReason::MaxEvents));
        // The excess is at most the events of an instant, in which each of ten links takes one frame.
        assert!(cut.progress.events >= bound && cut.progress.events < bound + 50, "{}", cut.progress.events);
        assert!(cut.end() < whole.end());
        assert!(total(&cut, "flows", "received") < total(&whole, "flows", "received"));
    }
    let beyond = run_with(&s, 1, Options { max_events: Some(whole.progress.events + 1), ..Options::default() });
    assert!(!beyond.is_partial());
    assert_eq!(beyond, whole);
}

#[test]
fn a_run_that_never_reached_its_window_has_carried_and_counted_nothing() {
    let s = scenario(CONSTANT, "");
    let mut world = world(&s, 1, Options { max_events: Some(20), ..Options::default() });
    world.run();
    let cut = world.results(&s);
    assert!(cut.is_partial() && cut.end().0 < 2_000_000_000 && cut.progress.hops > 4);
    assert_eq!(carried(&cut, LoadOf::Host), Some((0, 4e9)));
    assert_eq!(total(&cut, "ports", "sent"), 0);
}

#[test]
fn a_load_without_bound_is_stopped_before_it_fills_the_memory() {
    let text = CONSTANT.replace("100Mbps", "100Tbps").replace("1210B", "1B");
    let results = run(&text, 1);
    assert_eq!(results.progress.stop, Some(StopReason::Overloaded));
    assert!(results.is_partial());
}

#[test]
fn a_bound_on_events_that_the_run_just_reaches_does_not_cut_it() {
    let s = scenario(FLOWS, "");
    let events = run_with(&s, 1, Options::default()).progress.events;
    for (bound, stop) in
        [(events, StopReason::Done), (events + 1, StopReason::Done), (events - 1, StopReason::MaxEvents)]
    {
        let options = Options { max_events: Some(bound), ..Options::default() };
        assert_eq!(run_with(&s, 1, options).progress.stop, Some(stop), "bound {bound} of {events}");
    }
}
