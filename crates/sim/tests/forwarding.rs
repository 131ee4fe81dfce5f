//! Tests of the treatment of every packet at every switch: TTL, and marks for packets that may carry them.

use crate::common::{drops, run, total};
use sim::Results;

const BYTES: u64 = 20_000;

/// Returns the results of one flow that crosses a leaf, a spine and a leaf, all of which mark every packet. Departures
/// are computed if queues are not recorded.
fn crossing(transport: &str, queues: bool) -> Results {
    run(
        &format!(
            "name = \"crossing\"\nduration = \"1ms\"\n[topology]\nkind = \"leaf_spine\"\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 1\n[switch]\nmarking = {{ kind = \"ecn_threshold\", k = \"0pkt\" }}\n\
             [measure]\nqueues = {queues}\n[transport]\nretransmission_timer = false\nmss = \"1000B\"\n{transport}\n\
             [[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\nreceiver = \"h0\"\npick = \"spread\"\n\
             size = \"{BYTES}B\"\nstart = \"1us\"\n"
        ),
        1,
    )
}

#[test]
fn a_packet_is_lost_where_its_time_to_live_is_used_up() {
    let of = |ttl: u32| crossing(&format!("kind = \"newreno\"\nttl = {ttl}"), true);
    let received = |ttl| total(&of(ttl), "flows", "received");
    assert_eq!([received(1), received(2), received(3), received(4)], [0, 0, 0, BYTES]);
    assert_eq!(total(&crossing("kind = \"newreno\"\nttl = \"off\"", true), "flows", "received"), BYTES);
}

#[test]
fn only_packets_that_are_ecn_capable_are_marked_and_once() {
    let marked = |transport: &str, queues| {
        let results = crossing(transport, queues);
        assert_eq!((total(&results, "flows", "received"), drops(&results)), (BYTES, 0));
        total(&results, "ports", "marked")
    };
    for queues in [true, false] {
        assert_eq!(marked("kind = \"newreno\"", queues), 0);
        assert_eq!(marked("kind = \"dctcp\"", queues), BYTES / 1000, "data at the first switch, ACKs never");
    }
}

#[test]
fn packets_of_a_raw_source_live_as_long_as_the_transport_says() {
    let line = |ttl: &str| {
        format!(
            r#"
name = "line"
duration = "1ms"
[topology]
kind = "linear"
switches = 4
hosts_per_switch = 1
link = {{ rate = "1Gbps", delay = "1us" }}
[transport]
kind = "newreno"
ttl = {ttl}
[[traffic]]
name = "t"
kind = "bursts"
source = "h0"
destination = "h3"
packets = 10
interval = "20us"
pause = "1s"
stop = "1ms"
"#
        )
    };
    let expired = |ttl: &str| total(&run(&line(ttl), 1), "ports", "drop_ttl_expired");
    assert_eq!(["4", "5", "255", "\"off\""].map(expired), [10, 0, 0, 0], "four switches take one each");
}
