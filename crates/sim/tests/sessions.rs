//! Flows that start when others have ended, by hand: sessions of requests and replies.

mod common;

use common::{column, run, run_with, scenario, world};
use sim::Options;

/// Two hosts at 1 Gb/s, 1 us a link: a request of 200 B is a frame of 258 B, a slot of 278 B and 2.224 us on
/// a link; a reply of 1460 B is 12.304 us.
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
    for connection in ["kept", "new"] {
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
        assert_eq!(of, if connection == "kept" { [0, 1, 0, 1, 0, 1] } else { [0, 1, 2, 3, 4, 5] });
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
