//! Tests of changing networks in whole runs: to the picosecond and the packet if a run can be worked out by hand,
//! otherwise as laws.

use crate::common::{column, drops, full_frames, rows, run, run_with, same_again, scenario, total};
use sim::{Options, Results, StopReason};

/// Returns a scenario in which host a sends full frames at 1 Gb/s to host b over one switch, from 0 to 130 us.
///
/// These are eleven frames of 12.304 us on each link, with a delay of 1 us. Frame n = 1, 2, … begins at 12.304 (n - 1)
/// us, is at the switch at 1 + 12.304 n us, and at its host 13.304 us later.
fn line(events: &str) -> String {
    let frames = full_frames("t", ["a", "b"], "130us");
    format!(
        r#"
name = "line"
duration = "2ms"
{events}
[topology]
kind = "custom"
node = [{{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}, {{ name = "s", kind = "switch" }}]
link = [
  {{ a = "a", b = "s", rate = "1Gbps", delay = "1us" }},
  {{ a = "s", b = "b", rate = "1Gbps", delay = "1us" }},
]
[measure]
packets = true
{frames}"#
    )
}

/// Formats events as a list in one line of the file, so that they may precede the tables.
fn events(each: &[&str]) -> String {
    let each: Vec<String> = each.iter().map(|event| format!("{{ {event} }}")).collect();
    format!("event = [{}]", each.join(", "))
}

fn lost(results: &Results, reason: &str) -> u64 {
    total(results, "ports", &format!("drop_{reason}"))
}

/// Returns the numbers, from 0 on, of the frames that reached their host.
fn delivered(results: &Results) -> Vec<u64> {
    let (n, fate) = (column(results, "packets", "emission"), column(results, "packets", "fate"));
    let mut all: Vec<u64> = n.into_iter().zip(fate).filter(|(_, fate)| *fate == 0).map(|(n, _)| n).collect();
    all.sort_unstable();
    all
}

#[test]
fn without_events_every_frame_arrives() {
    let results = run(&line(""), 1);
    assert_eq!(delivered(&results), (0..11).collect::<Vec<_>>());
    assert!(column(&results, "events", "event").is_empty());
}

/// Test of a frame that is on the wire at the instant of an outage, with times computed by hand.
/// Frame 3 (number 2 from 0) leaves the switch toward b from 37.912 to 50.216 us and arrives at 51.216 us. An outage
/// from 51.216 us on spares it, and one a picosecond earlier does not. Frame 4 arrives at 63.52 us. An outage that ends
/// at 50.216 lets frame 4 begin.
#[test]
fn a_frame_on_the_wire_at_the_instant_of_an_outage_is_lost_and_one_that_has_just_crossed_is_not() {
    let outage = |from: &str, to: &str| {
        let down = format!("kind = \"link_down\", at = \"{from}\", link = \"s>b\"");
        let up = format!("kind = \"link_up\", at = \"{to}\", link = \"s>b\"");
        let results = run(&line(&format!("reroute_delay = \"1ms\"\n{}", events(&[&down, &up]))), 1);
        let arrived = delivered(&results);
        let missing: Vec<u64> = (0..11).filter(|n| !arrived.contains(n)).collect();
        assert_eq!(lost(&results, "link_down"), missing.len() as u64);
        assert_eq!(total(&results, "events", "lost"), missing.len() as u64);
        missing
    };
    assert_eq!(outage("51216ns", "51217ns"), [3]);
    assert_eq!(outage("51215999ps", "51216ns"), [2, 3]);
    assert_eq!(outage("50216ns", "50217ns"), [2, 3], "the last bit of one and the first of the other");
    assert_eq!(outage("40us", "50216ns"), [2]);
    assert_eq!(outage("37912ns", "37913ns"), [1, 2]);
}

/// Test of an outage with a `reroute_delay`.
/// No switch reacts to the outage for 40 us, so that frames go into the dead link. After that, host b has no route.
#[test]
fn until_the_reroute_delay_is_over_frames_go_into_the_dead_link_and_then_there_is_no_route() {
    let down = events(&["kind = \"link_down\", at = \"40us\", link = \"b\""]);
    let results = run(&line(&format!("reroute_delay = \"40us\"\n{down}")), 1);
    // Frames reach the switch by 40 us at 13.304, 25.608 and 37.912 us; the first two arrive at 26.608 and 38.912 us.
    // Routes change at 80 us: the frames at 50.216, 62.52 and 74.824 us went into the dead link, and five more follow.
    assert_eq!(delivered(&results), [0, 1]);
    assert_eq!((lost(&results, "link_down"), lost(&results, "no_route")), (4, 5));
    assert_eq!(rows(&results, "events", ["lost", "dropped"]), [[4, 5]]);
    assert_eq!(results.progress.stop, Some(StopReason::Done));
}

/// Frames queue at the NIC of a, whose link dies at 20 us and which reacts immediately. Frame 2 is in flight; all later
/// frames are dropped, wait, or have no other path.
#[test]
fn what_waits_for_a_dead_port_is_dropped_or_waits_until_the_link_is_back() {
    let both = events(&[
        "kind = \"link_down\", at = \"20us\", link = \"a\"",
        "kind = \"link_up\", at = \"1ms\", link = \"a\"",
    ]);
    for (then, arrive, down) in [("drop", 1, 10), ("look_up", 1, 10), ("wait", 10, 1)] {
        let results = run(&line(&format!("dead_port = \"{then}\"\n{both}")), 1);
        assert_eq!((delivered(&results).len(), lost(&results, "link_down")), (arrive, down), "{then}");
    }
    // The double rate has frame 1 on the wire at 20 us, and 2 and 3 queued.
    let twice = |then: &str| {
        line(&format!("dead_port = \"{then}\"\n{both}")).replace("rate = \"1Gbps\"\nbytes", "rate = \"2Gbps\"\nbytes")
    };
    let results = run(&twice("wait"), 1);
    assert_eq!(delivered(&results), [vec![0], (2..22).collect::<Vec<_>>()].concat());
    assert_eq!(rows(&results, "events", ["lost", "dropped"]), [[1, 0], [0, 0]]);
    assert_eq!(rows(&run(&twice("drop"), 1), "events", ["lost", "dropped"]), [[1, 20], [0, 0]]);
    let results = run(&line(&format!("dead_port = \"wait\"\n{both}")), 1);
    let ends = column(&results, "packets", "end_ps");
    // The first queued frame begins at 1 ms and crosses two links.
    assert_eq!(ends.iter().filter(|end| **end > 1_000_000_000).min(), Some(&(1_000_000_000 + 2 * 13_304_000)));
}

/// Returns the scenario of [`line`] with two paths of 100 Mb/s links: over x, the second port of s, and over y, the
/// third.
fn two_paths(keys: &str) -> String {
    let between = ["s x", "s y", "x t", "y t"].map(|pair| pair.split_once(' ').unwrap());
    let links =
        between.map(|(a, b)| format!("  {{ a = \"{a}\", b = \"{b}\", rate = \"100Mbps\", delay = \"1us\" }},\n"));
    let nodes = ["s", "x", "y", "t"].map(|name| format!("{{ name = \"{name}\", kind = \"switch\" }}"));
    line(keys)
        .replace("{ name = \"s\", kind = \"switch\" }", &nodes.join(", "))
        .replace("  { a = \"s\", b = \"b\"", &format!("{}  {{ a = \"t\", b = \"b\"", links.concat()))
        .replace("duration = \"2ms\"", "duration = \"9ms\"")
}

/// Test of `dead_port`: frames that are queued when their link dies are dropped, rerouted, or wait.
/// Two paths of 100 Mb/s links connect s and t, and all frames of the flow take one of them. A frame takes 123.04 us
/// there. When the link of s dies at 40 us, frame 0 is on it, 1 and 2 are queued for it, and 3 to 10 have not arrived
/// yet.
#[test]
fn what_waits_in_a_switch_is_dropped_takes_the_other_path_or_waits_until_the_link_is_back() {
    let text = two_paths;
    let usual = run(&text(""), 1);
    assert_eq!(delivered(&usual).len(), 11);
    let s = 2;
    let taken = if sent(&usual, s, 1) == 11 { "x" } else { "y" };
    let both = events(&[
        &format!("kind = \"link_down\", at = \"40us\", link = \"s:{taken}\""),
        &format!("kind = \"link_up\", at = \"5ms\", link = \"s:{taken}\""),
    ]);
    for (then, arrive, at_port) in [("drop", 3..11, 2), ("look_up", 1..11, 0), ("wait", 1..11, 0)] {
        let results = run(&text(&format!("dead_port = \"{then}\"\n{both}")), 1);
        assert_eq!(delivered(&results), arrive.collect::<Vec<_>>(), "{then}");
        assert_eq!(rows(&results, "events", ["lost", "dropped"]), [[1, at_port], [0, 0]], "{then}");
        let late = column(&results, "packets", "end_ps").iter().filter(|end| **end > 5_000_000_000).count();
        assert_eq!(late, if then == "wait" { 2 } else { 0 }, "{then}");
    }
}

/// Returns a scenario in which the only link to host b is down from 40 us to 1 ms; frames reach the switch until
/// 136.344 us.
fn down_to_b(keys: &str) -> String {
    let both = events(&[
        "kind = \"link_down\", at = \"40us\", link = \"b\"",
        "kind = \"link_up\", at = \"1ms\", link = \"b\"",
    ]);
    line(&format!("{keys}\n{both}"))
}

/// Returns the numbers of frames that the outage of [`down_to_b`] cost: on the link, and at ports.
fn cost_of_outage(results: &Results) -> [u64; 2] {
    rows(results, "events", ["lost", "dropped"])[0]
}

/// Test of the frames that count as the cost of an outage.
/// Frames 0 and 1 arrive; 2 is on the link at 40 us, and 3 to 5 follow it until 80 us if routes change only then.
#[test]
fn frames_without_a_route_count_for_the_outage() {
    for then in ["drop", "look_up"] {
        for (delay, cost) in [("0us", [1, 8]), ("40us", [4, 5])] {
            let results = run(&down_to_b(&format!("dead_port = \"{then}\"\nreroute_delay = \"{delay}\"")), 1);
            assert_eq!((delivered(&results), cost_of_outage(&results)), (vec![0, 1], cost), "{then}, {delay}");
        }
    }
}

#[test]
fn frames_for_an_unreachable_host_wait_for_its_link() {
    for (delay, first, back) in [("0us", 3, 1_000_000_000), ("40us", 6, 1_040_000_000)] {
        let results = run(&down_to_b(&format!("dead_port = \"wait\"\nreroute_delay = \"{delay}\"")), 1);
        assert_eq!(delivered(&results), [vec![0, 1], (first..11).collect()].concat(), "{delay}");
        assert_eq!(cost_of_outage(&results), [first - 2, 0], "{delay}");
        let ends = column(&results, "packets", "end_ps");
        let late = ends.iter().filter(|end| **end > 900_000_000).min();
        assert_eq!(late, Some(&(back + 13_304_000)), "the first leaves as the link is known to be back");
    }
}

#[test]
fn full_buffer_of_a_dead_port_counts_for_the_outage() {
    let small = "dead_port = \"wait\"\nswitch.buffer = { kind = \"per_port\", size = \"3pkt\" }";
    let results = run(&down_to_b(small), 1);
    assert_eq!((delivered(&results), lost(&results, "buffer_full")), (vec![0, 1, 3, 4, 5], 5));
    assert_eq!(cost_of_outage(&results), [1, 5]);
}

#[test]
fn frames_that_wait_for_a_dead_link_pause_their_source() {
    let pfc = "dead_port = \"wait\"\nswitch.buffer = { kind = \"per_port\", size = \"200KB\" }\n\
               switch.pause = { kind = \"pfc\", xoff = \"3KB\", xon = \"1500B\" }";
    let results = run(&down_to_b(pfc), 1);
    assert_eq!((delivered(&results).len(), cost_of_outage(&results)), (10, [1, 0]));
    let most = column(&results, "ports", "max_packets");
    assert!(most.iter().all(|packets| *packets <= 9) && total(&results, "pauses", "paused_ps") > 800_000_000);
    assert!(results.deadlock.is_none());
}

/// Test of the cost of two overlapping outages.
/// Both paths of the test above die, that of the flow at 40 us, the other at 60 us, and come back in the reverse order.
/// Frame 3 is on the second at 60 us; 4 to 10 arrive later.
#[test]
fn overlapping_outages_count_what_the_ports_they_closed_lost() {
    let [first, second] = if sent(&run(&two_paths(""), 1), 2, 1) == 11 { ["x", "y"] } else { ["y", "x"] };
    let all = events(&[
        &format!("kind = \"link_down\", at = \"40us\", link = \"s:{first}\""),
        &format!("kind = \"link_down\", at = \"60us\", link = \"s:{second}\""),
        &format!("kind = \"link_up\", at = \"1ms\", link = \"s:{second}\""),
        &format!("kind = \"link_up\", at = \"5ms\", link = \"s:{first}\""),
    ]);
    let with = |then: &str| run(&two_paths(&format!("dead_port = \"{then}\"\n{all}")), 1);
    let waits = with("wait");
    assert_eq!(delivered(&waits), [vec![1, 2], (4..11).collect()].concat());
    assert_eq!(rows(&waits, "events", ["lost", "dropped"]), [[1, 0], [1, 0], [0, 0], [0, 0]]);
    let ends = column(&waits, "packets", "end_ps");
    let late = |after: u64| ends.iter().filter(|end| **end > after).count();
    assert_eq!((late(1_000_000_000), late(5_000_000_000)), (9, 2), "1 and 2 wait for their own link, not for a route");
    let drops = with("drop");
    assert_eq!(rows(&drops, "events", ["lost", "dropped"]), [[1, 2], [1, 7], [0, 0], [0, 0]]);
    let again = with("look_up");
    assert_eq!(rows(&again, "events", ["lost", "dropped"]), [[1, 0], [1, 9], [0, 0], [0, 0]]);
}

/// Test of a link whose rate changes, with times computed by hand.
/// The link to b has a tenth of the rate from 30 us on. Frames 1 and 2 take 12.304 us; frame 3, which begins at 37.912
/// us, and all later ones take 123.04 us.
#[test]
fn a_rate_that_changes_holds_for_the_frames_that_begin_after_it() {
    let slow = events(&["kind = \"rate\", at = \"30us\", link = \"s>b\", rate = \"100Mbps\""]);
    let results = run(&line(&slow), 1);
    let mut ends = column(&results, "packets", "end_ps");
    ends.sort_unstable();
    let first = [26_608_000, 38_912_000, 37_912_000 + 123_040_000 + 1_000_000];
    assert_eq!(ends[..3], first);
    let later: Vec<u64> = (1..9).map(|n| first[2] + n * 123_040_000).collect();
    assert_eq!(ends[3..], later);
    // The rate returns while frames are queued: the frame on the wire continues at the old rate. From 160.952 us on a
    // frame takes its 123.04 us, until 283.992 us.
    let both = events(&[
        "kind = \"rate\", at = \"30us\", link = \"s>b\", rate = \"100Mbps\"",
        "kind = \"rate\", at = \"200us\", link = \"s>b\", rate = \"1Gbps\"",
    ]);
    let mut ends = column(&run(&line(&both), 1), "packets", "end_ps");
    ends.sort_unstable();
    assert_eq!(ends[3..5], [284_992_000, 284_992_000 + 12_304_000]);
}

/// Test of a link whose delay changes, with times computed by hand.
/// A delay of 101 us from 30 us on applies to frame 2, whose last bit leaves the switch at 37.912 us.
#[test]
fn a_delay_that_changes_holds_for_frames_whose_last_bit_leaves_after_it_and_none_overtakes() {
    let far = events(&["kind = \"delay\", at = \"30us\", link = \"s>b\", delay = \"101us\""]);
    let mut ends = column(&run(&line(&far), 1), "packets", "end_ps");
    ends.sort_unstable();
    assert_eq!(ends[..3], [26_608_000, 138_912_000, 151_216_000]);
    let near = events(&[
        "kind = \"delay\", at = \"30us\", link = \"s>b\", delay = \"101us\"",
        "kind = \"delay\", at = \"60us\", link = \"s>b\", delay = \"1us\"",
    ]);
    let results = run(&line(&near), 1);
    assert_eq!(column(&results, "packets", "emission"), (0..11).collect::<Vec<_>>(), "in their order");
    let ends = column(&results, "packets", "end_ps");
    assert_eq!(ends[3..5], [151_216_000 + 12_304_000, 151_216_000 + 2 * 12_304_000]);
}

#[test]
fn one_direction_of_a_link_goes_down_alone_and_routes_leave_the_whole_link() {
    let way = |link: &str| {
        let down = events(&[&format!("kind = \"link_down\", at = \"40us\", link = \"{link}\"")]);
        run(&line(&format!("reroute_delay = \"1ms\"\n{down}")), 1)
    };
    assert_eq!(lost(&way("b>s"), "link_down"), 0, "nothing comes from b");
    assert_eq!(lost(&way("s>b"), "link_down"), 9);
    for direction in ["b>s", "s>b"] {
        let down = events(&[&format!("kind = \"link_down\", at = \"40us\", link = \"{direction}\"")]);
        assert!(lost(&run(&line(&down), 1), "no_route") > 0, "whoever loses {direction} uses neither");
    }
}

/// Returns a scenario of two leaves and four spines, with flows from the hosts of one leaf to those of the other
/// throughout the run.
fn spines(events: &str, more: &str) -> String {
    format!(
        r#"
name = "spines"
duration = "2ms"
{events}
[topology]
kind = "leaf_spine"
leaves = 2
spines = 4
hosts_per_leaf = 16
link = {{ rate = "1Gbps", delay = "1us" }}
fabric = {{ rate = "10Gbps", delay = "1us" }}
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
queues = false
allow_unfinished = true
drain = "1s"
[[traffic]]
name = "t"
kind = "permutation"
size = "150KB"
{more}
"#
    )
}

/// Returns the number of frames that this port of a switch sent.
fn sent(results: &Results, node: u64, port: u64) -> u64 {
    let [nodes, ports, sent] = ["node", "port", "sent"].map(|name| column(results, "ports", name));
    let at = (0..nodes.len()).find(|i| (nodes[*i], ports[*i]) == (node, port)).unwrap();
    sent[at]
}

#[test]
fn flows_are_spread_over_what_is_left_and_none_is_stranded() {
    let leaf = 32;
    let before = run(&spines("", ""), 1);
    assert!((16..20).all(|port| sent(&before, leaf, port) > 0));
    let down = events(&[
        "kind = \"link_down\", at = \"0us\", link = \"leaf0:spine1\"",
        "kind = \"link_down\", at = \"0us\", link = \"leaf0:spine2\"",
    ]);
    let after = run(&spines(&down, ""), 1);
    assert_eq!([17, 18].map(|port| sent(&after, leaf, port)), [0, 0]);
    assert!([16, 19].iter().all(|port| sent(&after, leaf, *port) > sent(&before, leaf, *port)));
    assert_eq!((drops(&after), after.unfinished), (0, 0));
}

#[test]
fn flows_survive_a_failure_in_their_middle_and_use_the_link_again_when_it_is_back() {
    let both = events(&[
        "kind = \"link_down\", at = \"400us\", link = \"leaf0:spine1\"",
        "kind = \"link_up\", at = \"800us\", link = \"leaf0:spine1\"",
    ]);
    for then in ["drop", "wait", "look_up"] {
        let keys = format!("reroute_delay = \"100us\"\ndead_port = \"{then}\"\n{both}");
        let results = run(&spines(&keys, ""), 1);
        assert_eq!(results.unfinished, 0, "{then}");
        assert!(lost(&results, "link_down") > 0, "{then}");
        assert_eq!(lost(&results, "no_route"), 0, "{then}: there is always another spine");
        assert!(sent(&results, 32, 17) > 100, "{then}");
    }
}

#[test]
fn unreachable_hosts_leave_flows_that_never_finish() {
    let down = events(&["kind = \"link_down\", at = \"100us\", link = \"h3\""]);
    let results = run(&spines(&down, ""), 1);
    assert_eq!(results.progress.stop, Some(StopReason::DrainedOut));
    assert!(results.unfinished > 0 && lost(&results, "no_route") > 0);
}

#[test]
fn random_losses_are_as_frequent_as_asked_and_apart_by_their_reasons() {
    let both = events(&[
        "kind = \"loss\", at = \"0us\", link = \"s>b\", probability = 0.2",
        "kind = \"corruption\", at = \"0us\", link = \"s>b\", probability = 0.1",
    ]);
    let text = line(&both).replace("stop = \"130us\"", "stop = \"130ms\"").replace("\"2ms\"", "\"200ms\"");
    let results = run(&text, 1);
    let frames = column(&results, "packets", "emission").len() as f64;
    assert!(frames > 10_000.0);
    for (reason, p) in [("link_loss", 0.2), ("corrupted", 0.8 * 0.1)] {
        let (found, expected) = (lost(&results, reason) as f64, frames * p);
        assert!((found - expected).abs() < 5.0 * (expected * (1.0 - p)).sqrt(), "{reason}: {found} of {expected}");
    }
}

/// Test that variants of a switch lose the same frames on a link with random loss.
/// Variants of the switch treat its frames differently, and the same frames are lost on the link from a.
#[test]
fn variants_have_the_same_draws() {
    let loss = events(&["kind = \"loss\", at = \"0us\", link = \"a>s\", probability = 0.5"]);
    let missing = |switch: &str| {
        let arrived = delivered(&run(&format!("{}\n[switch]\n{switch}", line(&loss)), 7));
        (0..11).filter(|n| !arrived.contains(n)).collect::<Vec<u64>>()
    };
    let first = missing("marking = { kind = \"none\" }");
    assert!(!first.is_empty() && first.len() < 11);
    for other in ["ties = \"port\"", "buffer = { kind = \"shared\", size = \"90KB\", alpha = 1 }"] {
        assert_eq!(missing(other), first, "{other}");
    }
}

/// Test of a paused host whose link dies and comes back.
/// Sixteen hosts send over one link with PFC, and are paused most of the time; the link of one that is paused dies.
#[test]
fn pause_of_a_dead_link_ends_and_its_host_sends_again() {
    let text = |events: &str| {
        spines(&format!("dead_port = \"wait\"\n{events}"), "")
            .replace("spines = 4", "spines = 1")
            .replace("rate = \"10Gbps\"", "rate = \"1Gbps\"")
            .replace(
                "[transport]",
                "[switch]\nbuffer = { kind = \"per_port\", size = \"2MB\" }\n\
                 pause = { kind = \"pfc\", xoff = \"15KB\", xon = \"8KB\" }\n[transport]",
            )
    };
    let pauses_of_hosts = |results: &Results| {
        let pauses = rows(results, "pause_trace", ["from_ps", "to_ps", "node"]);
        pauses.into_iter().filter(|[.., node]| *node < 32).collect::<Vec<_>>()
    };
    let usual = pauses_of_hosts(&run(&text(""), 1));
    let [from, to, host] = *usual.iter().max_by_key(|[from, to, _]| to - from).expect("hosts are paused");
    let outage = from.midpoint(to);
    let both = events(&[
        &format!("kind = \"link_down\", at = \"{outage}ps\", link = \"h{host}\""),
        &format!("kind = \"link_up\", at = \"{}ps\", link = \"h{host}\"", outage + 400_000_000),
    ]);
    let results = run(&text(&both), 1);
    assert_eq!(results.unfinished, 0);
    assert!(results.deadlock.is_none());
    assert!(pauses_of_hosts(&results).contains(&[from, outage, host]), "its pause ends with its link");
    same_again(&text(&both), 1);
}

#[test]
fn runs_that_change_are_the_same_by_wheel_and_heap_and_with_departures_stepped() {
    let all = events(&[
        "kind = \"link_down\", at = \"400us\", link = \"leaf0:spine1\"",
        "kind = \"loss\", at = \"300us\", link = \"leaf1:spine3\", probability = 0.02",
        "kind = \"rate\", at = \"500us\", link = \"h7\", rate = \"300Mbps\"",
        "kind = \"link_up\", at = \"800us\", link = \"leaf0:spine1\"",
    ]);
    let s = scenario(&spines(&format!("reroute_delay = \"50us\"\n{all}"), ""), "");
    let tables =
        |heap, step_departures| run_with(&s, 3, Options { heap, step_departures, ..Options::default() }).tables;
    let usual = tables(false, false);
    for (heap, stepped) in [(true, false), (false, true), (true, true)] {
        assert_eq!(tables(heap, stepped), usual, "heap {heap}, stepped {stepped}");
    }
}
