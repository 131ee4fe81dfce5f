//! Tests of runs with a bound on events: they end with the same instant however the run is driven or divided.

use crate::common::digest::whole;
use crate::common::{scenario, world};
use scenario::Scenario;
use sim::{Options, Recorder, Results, StopReason};
use units::Time;

fn run_to_bound(s: &Scenario, bound: u64, partitions: u32) -> Results {
    let options = Options { max_events: Some(bound), partitions, ..Options::default() };
    let mut world = whole(s, 1, options, Recorder::from_scenario(s));
    let results = world.results(s);
    assert!(results.conserved, "{:?}", world.describe_imbalance());
    results
}

/// Returns the instants of a run, from the first one, with the number of events at each.
fn instants(s: &Scenario, most: u64) -> Vec<(Time, u64)> {
    let mut world = world(s, 1, Options::default());
    let mut all: Vec<(Time, u64)> = Vec::new();
    let mut before = 0;
    while world.progress().stop.is_none() && before < most {
        let progress = world.advance(1);
        match all.last_mut() {
            Some((at, events)) if *at == progress.now => *events += progress.events - before,
            _ => all.push((progress.now, progress.events - before)),
        }
        before = progress.events;
    }
    all
}

/// Scenario in which many hosts start at one instant on links without jitter, so that instants have many events.
const IN_STEP: &str = r#"
name = "in_step"
duration = "1ms"
[topology]
kind = "fat_tree"
k = 4
[transport]
kind = "dctcp"
[measure]
packets = true
queues = true
from = "20us"
[[traffic]]
name = "all"
kind = "permutation"
size = "100KB"
start = "1us"
"#;

/// Scenario with flows that all begin within 131 ns, from a source a million times as fast as its link.
const IN_NO_TIME: &str = r#"
name = "in_no_time"
duration = "10ms"
[topology]
kind = "star"
n = 5
link = { rate = "1bps", delay = "1us" }
[transport]
kind = "dctcp"
[[traffic]]
kind = "constant"
source = "h2"
bytes = "wire"
gaps = "exponential"
flows = 20_000
name = "t0"
destination = "h3"
rate = "4Tbps"
"#;

#[test]
fn a_cut_run_ends_with_the_instant_that_reaches_the_bound() {
    for text in [IN_STEP, IN_NO_TIME] {
        let s = scenario(text, "");
        let instants = instants(&s, 3000);
        for bound in [1, 2, 17, 100, 1000, 2500] {
            let (mut events, mut last) = (0, Time::ZERO);
            for (at, more) in &instants {
                (events, last) = (events + more, *at);
                if events >= bound {
                    break;
                }
            }
            let results = run_to_bound(&s, bound, 0);
            assert_eq!(results.progress.stop, Some(StopReason::MaxEvents));
            assert_eq!((results.progress.events, results.end()), (events, Time(last.0 + 1)), "bound {bound}");
        }
    }
}

#[test]
fn a_bound_cuts_any_number_of_partitions_at_one_instant() {
    for text in [IN_STEP, IN_NO_TIME] {
        let s = scenario(text, "");
        for bound in [1, 100, 777, 1600, 2500] {
            let usual = run_to_bound(&s, bound, 0);
            for partitions in [1, 2, 3, 8] {
                let divided = run_to_bound(&s, bound, partitions);
                assert_eq!(usual.progress, divided.progress, "bound {bound}, {partitions} partitions");
                assert!(usual == divided, "bound {bound}: tables of {partitions} partitions");
            }
        }
    }
}

#[test]
fn a_cut_does_not_depend_on_how_the_run_is_driven() {
    let s = scenario(IN_STEP, "");
    for bound in [1, 100, 1600] {
        let usual = run_to_bound(&s, bound, 0);
        for chunk in [1, 7, 1000] {
            let options = Options { max_events: Some(bound), ..Options::default() };
            let mut world = world(&s, 1, options);
            while world.advance_rows(chunk, usize::MAX).stop.is_none() {}
            assert!(world.results(&s) == usual, "bound {bound}, {chunk} events at a time");
        }
    }
}
