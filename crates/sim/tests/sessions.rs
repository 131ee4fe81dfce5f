//! Flows that start when others have ended, checked against values computed by hand: sessions of requests and replies.

use crate::common::{column, run, run_with, scenario, world};
use sim::Options;

/// Returns a scenario of a session between two hosts, over links of 1 Gb/s and 1 us.
///
/// A request of 200 B is a frame of 258 B, a slot of 278 B and 2.224 us on a link; a reply of 1460 B takes 12.304 us.
fn session(more: &str) -> String {
    format!(
        r#"
name = "session"
duration = "1ms"
[topology]
kind = "star"
n = 2
link = {{ rate = "1Gbps", delay = "1us" }}
[transport]
kind = "newreno"
[[traffic]]
name = "rpc"
kind = "request_reply"
clients = ["h0"]
servers = ["1"]
request = "200B"
reply = "1460B"
requests = 3
{more}
"#
    )
}

const REQUEST: u64 = 2 * 2_224_000 + 2 * 1_000_000;
const REPLY: u64 = 2 * 12_304_000 + 2 * 1_000_000;

#[test]
fn a_request_is_answered_and_the_reply_followed_by_the_next_one_after_a_time_to_think() {
    for connection in ["persistent", "new"] {
        let more = format!("connection = \"{connection}\"\nthink = \"10us\"\nservice = \"5us\"");
        let results = run(&session(&more), 1);
        let round = REQUEST + 5_000_000 + REPLY + 10_000_000;
        let starts: Vec<u64> = (0..3).flat_map(|n| [n * round, n * round + REQUEST + 5_000_000]).collect();
        let ends: Vec<u64> = (0..3).flat_map(|n| [n * round + REQUEST, (n + 1) * round - 10_000_000]).collect();
        assert_eq!(column(&results, "flows", "start_ps"), starts, "{connection}");
        assert_eq!(column(&results, "flows", "end_ps"), ends, "{connection}");
        assert_eq!(column(&results, "flows", "query"), [0, 0, 1, 1, 2, 2]);
        assert_eq!(column(&results, "flows", "role"), [1, 0, 1, 0, 1, 0]);
        assert_eq!(column(&results, "flows", "src"), [0, 1, 0, 1, 0, 1]);
        assert_eq!(column(&results, "flows", "bytes"), [200, 1460, 200, 1460, 200, 1460]);
        assert_eq!(column(&results, "flows", "received"), [200, 1460, 200, 1460, 200, 1460]);
        assert_eq!(column(&results, "flows", "ideal_ps"), [REQUEST, REPLY, REQUEST, REPLY, REQUEST, REPLY]);
        let of = column(&results, "flows", "connection");
        assert_eq!(of, if connection == "persistent" { [0, 1, 0, 1, 0, 1] } else { [0, 1, 2, 3, 4, 5] });
        assert_eq!((results.unfinished, results.measured), (0, 6));
    }
}

#[test]
fn a_copy_made_in_the_middle_ends_with_the_same_bits() {
    let more = "think = \"10us\"\nthink_gaps = \"exponential\"\nservice = \"1us\"\nservice_jitter = \"3us\"";
    let s = scenario(&session(more), "");
    let whole = run_with(&s, 7, Options::default());
    for events in [1, 5, 9, 20] {
        let mut first = world(&s, 7, Options::default());
        first.advance(events);
        let mut copy = first.clone();
        first.run();
        copy.run();
        assert_eq!(first.results(&s), copy.results(&s));
        assert_eq!(first.results(&s), whole);
    }
}

#[test]
fn requests_by_the_clock_do_not_wait_for_replies_and_queue_on_their_connection() {
    // The second request starts before the first has arrived: 2.224 us on each link, 1 us apart.
    let results = run(&session("clock = \"1us\"\nservice = \"50us\""), 1);
    let of = |name: &str, role: u64| -> Vec<u64> {
        let rows = column(&results, "flows", name).into_iter().zip(column(&results, "flows", "role"));
        rows.filter(|(_, r)| *r == role).map(|(value, _)| value).collect()
    };
    assert_eq!(of("start_ps", 1), [0, 1_000_000, 2_000_000]);
    assert_eq!(of("end_ps", 1), [REQUEST, REQUEST + 2_224_000, REQUEST + 2 * 2_224_000]);
    assert_eq!(of("connection", 1), [0, 0, 0]);
    let first = REQUEST + 50_000_000;
    assert_eq!(of("start_ps", 0), [first, first + 2_224_000, first + 2 * 2_224_000]);
    assert_eq!(of("end_ps", 0), [first + REPLY, first + REPLY + 12_304_000, first + REPLY + 2 * 12_304_000]);
}

#[test]
fn a_kept_connection_shakes_hands_once_and_a_new_one_every_time() {
    // A SYN with 8 bytes of options is a frame of 66 B, a slot of 86 B: 0.688 us; the SYN-ACK is as long.
    let hands = 4 * 688_000 + 4 * 1_000_000;
    let fct = |connection: &str| -> Vec<u64> {
        let text = session(&format!("connection = \"{connection}\"\nthink = \"5us\"\nservice = \"5us\""));
        let results = run(&text.replace("kind = \"newreno\"", "kind = \"newreno\"\nconnection = \"handshake\""), 1);
        let (starts, ends) = (column(&results, "flows", "start_ps"), column(&results, "flows", "end_ps"));
        let took: Vec<u64> = starts.iter().zip(ends).map(|(start, end)| end - start).collect();
        assert_eq!(took, column(&results, "flows", "ideal_ps"), "{connection}");
        took
    };
    let opened = [REQUEST + hands, REPLY + hands];
    assert_eq!(fct("persistent"), [&opened[..], &[REQUEST, REPLY, REQUEST, REPLY]].concat());
    assert_eq!(fct("new"), [opened, opened, opened].concat());
}

#[test]
fn a_kept_connection_that_was_idle_starts_again_from_its_initial_window() {
    // Twelve segments from a window of two: 2, 4 and 6 in three round trips.
    let took = |restart: bool| -> Vec<(u64, u64)> {
        let text = session("think = \"100ms\"\nservice = \"1us\"").replace("reply = \"1460B\"", "reply = \"17520B\"");
        let text = text.replace("duration = \"1ms\"", "duration = \"1s\"");
        let tcp = format!("kind = \"newreno\"\ninitial_window = \"2pkt\"\nrestart_after_idle = {restart}");
        let text = text.replace("delay = \"1us\"", "delay = \"1ms\"");
        let results = run(&text.replace("kind = \"newreno\"", &tcp), 1);
        let (starts, ends) = (column(&results, "flows", "start_ps"), column(&results, "flows", "end_ps"));
        let rows = starts.iter().zip(ends).zip(column(&results, "flows", "ideal_ps"));
        rows.map(|((start, end), ideal)| (end - start, ideal)).skip(1).step_by(2).collect()
    };
    let (slow, fast) = (took(true), took(false));
    let (first, ideal) = slow[0];
    assert!(first > ideal + 2 * 3_900_000_000, "three round trips: {first} against {ideal}");
    assert_eq!(slow, [(first, ideal); 3], "after 100 ms the window is the initial one again");
    assert_eq!(fast, [(first, ideal), (ideal, ideal), (ideal, ideal)], "and otherwise it is what it had become");
}

#[test]
fn a_query_asks_many_and_each_answers_what_it_has_been_asked() {
    let text = r#"
name = "query"
duration = "1ms"
[topology]
kind = "star"
n = 4
link = { rate = "1Gbps", delay = "1us" }
[transport]
kind = "newreno"
[[traffic]]
name = "query"
kind = "query"
degree = 3
target = "h0"
responders = "first"
response = "1460B"
service = "7us"
"#;
    let results = run(text, 1);
    let asked = |i: u64| REQUEST + i * 2_224_000;
    // Replies wait for each other on the link to h0.
    let answered = |i: u64| asked(0) + 7_000_000 + REPLY + i * 12_304_000;
    let starts = [0, 0, 0, asked(0) + 7_000_000, asked(1) + 7_000_000, asked(2) + 7_000_000];
    assert_eq!(column(&results, "flows", "start_ps"), starts);
    let ends = [asked(0), asked(1), asked(2), answered(0), answered(1), answered(2)];
    assert_eq!(column(&results, "flows", "end_ps"), ends);
    assert_eq!(column(&results, "flows", "query"), [0; 6]);
    assert_eq!(column(&results, "flows", "role"), [1, 1, 1, 0, 0, 0]);
    assert_eq!(column(&results, "flows", "src"), [0, 0, 0, 1, 2, 3]);
    assert_eq!(column(&results, "flows", "dst"), [1, 2, 3, 0, 0, 0]);
}

const MIXED: &str = r#"
name = "mixed"
duration = "6ms"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
[host]
stack_delay = "1us"
stack_jitter = "1us"
[switch]
buffer = { kind = "per_port", size = "12pkt" }
[transport]
kind = "newreno"
min_rto = "1ms"
initial_rto = "1ms"
[measure]
from = "1ms"
drain = "1s"
[[traffic]]
name = "rpc"
kind = "request_reply"
sessions = 12
reply = "hadoop"
think = "100us"
think_gaps = "exponential"
service_jitter = "20us"
jitter = "50us"
requests = 30
[[traffic]]
name = "clock"
kind = "request_reply"
clients = ["h1", "h2"]
servers = ["h5", "h6"]
pairs = "all"
reply = "6KB"
clock = "700us"
[[traffic]]
name = "query"
kind = "query"
degree = 6
response = "20KB"
qps = 1000
service = "2us"
service_jitter = "5us"
[variants.drop]
[variants.marks]
switch.marking = { kind = "ecn_threshold", k = "4pkt" }
transport.kind = "dctcp"
[variants.computed]
measure.queues = false
[variants.handshake]
transport.connection = "handshake"
transport.delayed_ack = true
transport.nagle = true
"#;

/// Returns the workload, query, role, source, destination, bytes, start and end of every message.
fn messages(results: &sim::Results) -> Vec<[u64; 8]> {
    let names = ["traffic", "query", "role", "src", "dst", "bytes", "start_ps", "end_ps"];
    let columns = names.map(|name| column(results, "flows", name));
    let mut rows: Vec<[u64; 8]> = (0..columns[0].len()).map(|i| columns.each_ref().map(|c| c[i])).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn variants_move_instants_and_neither_hosts_nor_sizes_nor_times_to_think() {
    let all = ["drop", "marks", "handshake"].map(|name| {
        let results = run_with(&scenario(MIXED, name), 3, Options::default());
        assert_eq!(results.unfinished, 0, "{name}");
        messages(&results)
    });
    let who = |rows: &[[u64; 8]]| -> std::collections::BTreeMap<[u64; 3], (u64, u64, u64)> {
        rows.iter().map(|m| ([m[0], m[1], m[2] << 32 | m[3] << 16 | m[4]], (m[3], m[4], m[5]))).collect()
    };
    let thoughts = |rows: &[[u64; 8]]| -> std::collections::BTreeMap<u64, u64> {
        let of = |role| rows.iter().filter(move |m| m[0] == 0 && m[2] == role);
        let ends: std::collections::BTreeMap<u64, u64> = of(0).map(|m| (m[1], m[7])).collect();
        of(1).filter_map(|m| Some((m[1], m[6] - ends.get(&m[1].checked_sub(12)?)?))).collect()
    };
    for rows in &all[1..] {
        assert_ne!(rows, &all[0], "instants differ");
        let (a, b) = (who(&all[0]), who(rows));
        let shared = a.keys().filter(|key| b.contains_key(*key)).count();
        assert!(shared > 300, "{shared}");
        assert!(a.iter().all(|(key, what)| b.get(key).is_none_or(|other| other == what)));
        let (a, b) = (thoughts(&all[0]), thoughts(rows));
        assert!(a.len() > 50 && a.iter().all(|(key, time)| b.get(key).is_none_or(|other| other == time)));
    }
}

#[test]
fn every_way_to_run_gives_the_same_bits_and_a_copy_too() {
    for variant in ["drop", "marks", "computed", "handshake"] {
        let s = scenario(MIXED, variant);
        let bits = |options| {
            let mut results = run_with(&s, 5, options);
            results.progress.events = 0;
            results
        };
        let whole = bits(Options::default());
        assert!(column(&whole, "flows", "retransmits").iter().sum::<u64>() > 0, "{variant}");
        for (heap, step_departures) in [(true, false), (false, true)] {
            assert_eq!(bits(Options { heap, step_departures, ..Options::default() }), whole, "{variant}");
        }
        let mut first = world(&s, 5, Options::default());
        first.advance(20_000);
        let mut copy = first.clone();
        first.run();
        copy.run();
        assert_eq!(first.results(&s), copy.results(&s), "{variant}");
    }
}

#[test]
fn a_query_counts_as_a_whole_by_when_it_began() {
    let results = run_with(&scenario(MIXED, "drop"), 5, Options::default());
    let measured = column(&results, "flows", "measured");
    let rows: Vec<(u64, u64, u64, u64, u64)> = (0..measured.len())
        .map(|i| {
            let of = |name: &str| column(&results, "flows", name)[i];
            (of("traffic"), of("query"), of("role"), of("start_ps"), measured[i])
        })
        .collect();
    let mut late = 0;
    for (traffic, query, _, start, counts) in &rows {
        let asked = rows.iter().find(|r| (r.0, r.1, r.2) == (*traffic, *query, 1)).unwrap();
        let inside = (1_000_000_000..6_000_000_000).contains(&asked.3);
        assert_eq!(*counts == 1, inside, "{traffic} {query} {start}");
        late += u64::from(inside && *start >= 6_000_000_000);
    }
    assert!(late > 0, "some answer started after the window and counts");
}

#[test]
fn an_endless_session_neither_keeps_a_run_alive_nor_ends_before_what_counts() {
    let text = session("").replace("requests = 3\n", "");
    let results = run(&text, 1);
    assert_eq!(results.progress.stop, Some(sim::StopReason::Done));
    assert_eq!(results.unfinished, 0);
    let last = results.end().0;
    assert!((1_000_000_000..1_000_000_000 + REQUEST + REPLY).contains(&last), "{last}");
    let stopped = run(&text.replace("request = \"200B\"", "request = \"200B\"\nstop = \"500us\""), 1);
    let starts = column(&stopped, "flows", "start_ps");
    assert!(starts.iter().max() < Some(&(500_000_000 + REQUEST)));
    assert_eq!(starts.len() % 2, 0, "what was asked is answered");
}

#[test]
fn messages_that_are_under_way_at_the_end_are_told_with_what_has_arrived_of_them() {
    // 50 segments of a reply together, 12.304 us each, behind the ACK of the request. The run is cut off in the middle,
    // when 47 of the first reply's have arrived.
    let text = session("clock = \"10us\"").replace("reply = \"1460B\"", "reply = \"73000B\"");
    let text = text.replace("kind = \"newreno\"", "kind = \"newreno\"\ninitial_window = \"1000pkt\"");
    let text = text.replace("duration = \"1ms\"", "duration = \"600us\"\nmeasure.drain = \"0s\"");
    let results = run(&text, 1);
    assert_eq!((results.unfinished, results.measured), (3, 6));
    let received = column(&results, "flows", "received");
    let replies: Vec<u64> = received.into_iter().filter(|bytes| *bytes != 200).collect();
    assert_eq!(replies, [47 * 1460, 0, 0]);
}

#[test]
fn reply_that_never_starts_is_counted_as_unfinished() {
    let results = run(
        &session("service = \"700000s\"").replace("duration = \"1ms\"", "duration = \"1ms\"\nmeasure.drain = \"1ms\""),
        1,
    );
    assert_eq!((results.unfinished, results.measured), (1, 2));
    assert_eq!(results.progress.stop, Some(sim::StopReason::DrainedOut));
    assert_eq!(column(&results, "flows", "role"), [1], "the answer has not started");
}

#[test]
fn what_a_lossy_kept_connection_did_is_divided_among_its_messages() {
    // Sixty segments together to a queue of ten frames: every reply loses some, no request does.
    let text = session("think = \"1ms\"\nservice = \"1us\"").replace("reply = \"1460B\"", "reply = \"87600B\"");
    let tcp = "kind = \"sack\"\ninitial_window = \"60pkt\"\nmin_rto = \"1ms\"\ninitial_rto = \"1ms\"";
    let text = text
        .replace("kind = \"newreno\"", tcp)
        .replace("duration = \"1ms\"", "duration = \"20ms\"\nmeasure.packets = true");
    let lossy = text.replace("[transport]", "[host]\nnic_queue = \"10pkt\"\n[transport]");
    let results = run(&lossy, 1);
    let (again, role) = (column(&results, "flows", "retransmits"), column(&results, "flows", "role"));
    let of =
        |which: u64| -> Vec<u64> { again.iter().zip(&role).filter(|(_, r)| **r == which).map(|(n, _)| *n).collect() };
    assert_eq!(of(1), [0, 0, 0]);
    assert_eq!(results.unfinished, 0);
    assert!(of(0).iter().all(|n| *n > 0) && of(0)[0] > of(0)[1], "the window is smaller after the first: {again:?}");
    let rows = column(&results, "packets", "flow").into_iter().zip(column(&results, "packets", "reverse"));
    let sent = rows.filter(|row| *row == (1, 0)).count() as u64;
    assert_eq!(of(0).iter().sum::<u64>(), sent - 3 * 60, "each of sixty segments was sent once, and these again");
}

/// Test of messages that start at the same instant at one host.
/// Requests reach h2 at 6.448 us, from h0, and at 9.448 us, from h1; both replies start at 14.448 us. The reply of the
/// first workload leaves first, though it was planned last.
#[test]
fn messages_of_one_instant_start_in_the_order_of_their_workloads() {
    let text = session("service = \"5us\"\nstart = \"3us\"").replace("n = 2", "n = 3");
    let text = text.replace("\"h0\"", "\"h1\"").replace("\"1\"", "\"h2\"").replace("requests = 3", "requests = 1");
    let traffic = text.find("[[traffic]]").unwrap();
    let other = text[traffic..].replace("\"h1\"", "\"h0\"").replace("\"rpc\"", "\"other\"");
    let other = other.replace("5us", "8us").replace("3us", "0us");
    let results = run(&format!("{text}\n{other}"), 1);
    let both = REQUEST + 8_000_000;
    assert_eq!(column(&results, "flows", "start_ps"), [0, 3_000_000, both, both]);
    assert_eq!(column(&results, "flows", "traffic"), [1, 0, 0, 1]);
    assert_eq!(column(&results, "flows", "dst"), [2, 2, 1, 0]);
    let first = both + REPLY;
    assert_eq!(column(&results, "flows", "end_ps")[2..], [first, first + 12_304_000]);
}

#[test]
fn what_starts_when_the_window_ends_does_not_count() {
    let text = session("clock = \"10us\"").replace("duration = \"1ms\"", "duration = \"1ms\"\nmeasure.to = \"20us\"");
    let results = run(&text, 1);
    let rows = column(&results, "flows", "query").into_iter().zip(column(&results, "flows", "measured"));
    let counts: Vec<_> = rows.filter(|(_, counts)| *counts == 1).map(|(query, _)| query).collect();
    assert_eq!(counts, [0, 0, 1, 1], "the requests of 0 and 10 us and their answers; 20 us is the end");
}
