//! Tests of deadlocks of paused links in whole runs: a ring has one, and similar situations have none.

use crate::common::{column, drops, pauses, run, same_again, scenario};

/// Returns a ring of switches with one host each; every host sends to the host two switches further clockwise.
pub(crate) fn ring(switches: usize, buffer: &str) -> String {
    let node =
        |i: usize| format!("  {{ name = \"h{i}\", kind = \"host\" }},\n  {{ name = \"s{i}\", kind = \"switch\" }},\n");
    let link = |i: usize| {
        format!(
            "  {{ a = \"h{i}\", b = \"s{i}\", rate = \"1Gbps\", delay = \"1us\" }},\n  {{ a = \"s{i}\", b = \"s{}\", rate \
             = \"1Gbps\", delay = \"1us\" }},\n",
            (i + 1) % switches
        )
    };
    let flow = |i: usize| {
        format!(
            "[[traffic]]\nname = \"t{i}\"\nkind = \"constant\"\nsource = \"h{i}\"\ndestination = \"h{}\"\npayload = \
             \"1460B\"\nrate = \"1Gbps\"\nbytes = \"wire\"\nstart = \"{}us\"\n",
            (i + 2) % switches,
            37 * i
        )
    };
    let all = |one: &dyn Fn(usize) -> String| (0..switches).map(one).collect::<String>();
    format!(
        "name = \"ring\"\nduration = \"5ms\"\n[topology]\nkind = \"custom\"\nnode = [\n{}]\nlink = \
         [\n{}]\n[switch]\n{buffer}\n[measure]\nallow_unfinished = true\ndrain = \"1ms\"\n{}",
        all(&node),
        all(&link),
        all(&flow)
    )
}

pub(crate) const RING: &str = r#"
buffer = { kind = "per_port", size = "200KB" }
pause = { kind = "pfc", xoff = "20KB", xon = "10KB" }
"#;

#[test]
fn a_ring_deadlocks_and_the_cycle_is_named() {
    let text = ring(5, RING);
    let results = run(&text, 1);
    let found = results.deadlock.clone().expect("every link waits for the next");
    assert_eq!(found.cycle.len(), 5);
    assert_eq!(found.class, 0);
    let s = scenario(&text, "");
    // Each port is followed by the switch at its far end.
    for (at, next) in found.cycle.iter().zip(found.cycle.iter().cycle().skip(1)) {
        assert_eq!(s.topology.nodes[at.0 as usize].ports[usize::from(at.1)].peer, next.0);
    }
    let last = pauses(&results).iter().filter(|row| row[2] >= 5).map(|row| row[0]).max();
    assert_eq!(Some(found.at.0), last, "that is when the last of them was paused for good");
    // Nothing arrives any more.
    let arrived = column(&results, "host_goodput", "bin").into_iter().max().unwrap();
    assert!(arrived * s.measure.bin.0 < 2_000_000_000, "{arrived}");
    assert_eq!(drops(&results), 0);
}

/// Test of a deadlock on long links, whose pauses are refreshed in time.
/// A pause takes effect 33 us after it is generated, but 20.7 us of this are the same for every pause. A refresh after
/// 30.72 of 51.2 us that is up to 12.304 us late is still in time.
#[test]
fn a_ring_of_long_links_deadlocks_where_stops_are_said_again_in_time() {
    let far = |text: &str| ring(5, text).replace("delay = \"1us\"", "delay = \"20us\"");
    let again = |quanta: u64| RING.replace("xon =", &format!("quanta = 100, refresh = {quanta}, xon ="));
    assert!(run(&far(&again(60)), 1).deadlock.is_some());
    assert_eq!(run(&far(&again(76)), 1).deadlock, None, "38.912 and 12.304 are more than 51.2");
}

#[test]
fn a_ring_whose_links_are_fast_enough_or_that_may_lose_does_not_deadlock() {
    let fast = ring(5, RING).replace("rate = \"1Gbps\"\nbytes", "rate = \"400Mbps\"\nbytes");
    assert_eq!(run(&fast, 1).deadlock, None);
    let off = ring(5, &RING.replace("kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\"", "kind = \"none\""));
    assert_eq!(run(&off, 1).deadlock, None);
    let expires = ring(5, &RING.replace("xon =", "refresh = \"off\", xon ="));
    let expires = run(&expires, 1);
    assert!(pauses(&expires).iter().any(|row| row[1] == expires.progress.now.0), "a port is paused in the end");
    assert_eq!(expires.deadlock, None, "pauses that expire are no deadlock");
}

#[test]
fn a_deadlock_is_the_same_with_heap_and_wheel_and_in_a_clone_from_the_middle() {
    same_again(&ring(5, RING), 3);
}
