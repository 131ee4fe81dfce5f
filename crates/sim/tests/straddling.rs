//! Tests of queries that begin inside the measurement window and continue beyond its end.

use crate::common::digest::whole;
use crate::common::{column, run, run_with, scenario};
use scenario::Scenario;
use sim::{Options, Recorder, Results, StopReason};

/// Returns a scenario of queries that begin within the measurement window of 5 ms.
fn text(topology: &str, measure: &str, traffic: &str) -> String {
    format!(
        "name = \"straddling\"\nduration = \"5ms\"\n[topology]\n{topology}\n\
         link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[transport]\nkind = \"newreno\"\n[measure]\n{measure}\n\
         [[traffic]]\nname = \"q\"\n{traffic}\n"
    )
}

const STAR: &str = "kind = \"star\"\nn = 9";
const FAT_TREE: &str = "kind = \"fat_tree\"\nk = 4";
const JITTER: &str =
    "kind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"5KB\"\nstart = \"1ms\"\njitter = \"8ms\"";
const ASKED: &str = "kind = \"query\"\ndegree = 8\ntarget = \"h0\"\nresponse = \"5KB\"\nstart = \"1ms\"\njitter = \"8ms\"\n\
                     service = \"3ms\"";
const SHIFTED: &str = "kind = \"all_to_all\"\nsize = \"2KB\"\norder = \"shifted\"\ngap = \"1ms\"\nstart = \"1ms\"";
const RING: &str = "kind = \"all_reduce\"\nsize = \"20KB\"\nstart = \"1ms\"\njitter = \"8ms\"";

/// Returns the end of each message of the first query, and whether the message itself is measured.
fn first(results: &Results) -> (Vec<u64>, Vec<u64>) {
    let of = |name| {
        let rows = column(results, "flows", name).into_iter().zip(column(results, "flows", "query"));
        rows.filter(|(_, query)| *query == 0).map(|(value, _)| value).collect()
    };
    (of("end_ps"), of("measured"))
}

#[test]
fn a_run_waits_for_every_message_of_a_query_that_began_inside_the_window() {
    for (traffic, messages) in [(JITTER, 8), (ASKED, 16), (SHIFTED, 72), (RING, 144)] {
        let results = run(&text(STAR, "", traffic), 3);
        let (ends, measured) = first(&results);
        assert_eq!((ends.len(), results.progress.stop), (messages, Some(StopReason::Done)), "{traffic}");
        assert!(ends.iter().all(|end| *end <= results.end().0), "{traffic}");
        let alone = measured.iter().sum::<u64>();
        assert!(alone > 0 && alone < messages as u64, "{alone} messages count by themselves: {traffic}");
        assert_eq!((results.unfinished, results.measured), (0, messages as u64), "{traffic}");
        assert!(results.unstarted_by_query.is_empty());
        // The run ends no later than at the next instant of the grid after the last end.
        assert!(results.end().0 - ends.iter().max().unwrap() < 1_000_000_000, "{traffic}");
    }
}

#[test]
fn messages_of_a_query_missing_after_the_drain_are_unfinished() {
    for (traffic, messages) in [(JITTER, 8), (ASKED, 16), (SHIFTED, 72), (RING, 144)] {
        let results = run(&text(STAR, "drain = \"1.5ms\"", traffic), 3);
        let (ends, _) = first(&results);
        let finished = ends.iter().filter(|end| **end < u64::MAX).count() as u64;
        assert!(finished < messages && !ends.is_empty(), "{finished} messages: {traffic}");
        assert_eq!((results.unfinished, results.measured), (messages - finished, messages), "{traffic}");
        assert_eq!(results.unstarted_by_query, [(0, 0, messages - ends.len() as u64)], "{traffic}");
        assert_eq!(results.progress.stop, Some(StopReason::DrainedOut), "{traffic}");
    }
}

#[test]
fn a_message_that_would_start_after_the_drain_is_missed_though_nothing_is_left_to_happen() {
    let results = run(&text(STAR, "drain = \"100us\"", &JITTER.replace("5KB", "1KB")), 3);
    let (ends, _) = first(&results);
    assert!(!ends.is_empty() && ends.len() < 8 && ends.iter().all(|end| *end < u64::MAX), "{ends:?}");
    assert_eq!((results.unfinished, results.measured), (8 - ends.len() as u64, 8));
    assert_eq!(results.progress.stop, Some(StopReason::DrainedOut));
}

#[test]
fn a_query_that_began_before_the_window_is_not_waited_for() {
    let from = "from = \"4.95ms\"\nto = \"5ms\"\ndrain = \"1s\"";
    let results = run(&text(STAR, from, &SHIFTED.replace("gap = \"1ms\"", "gap = \"1.96ms\"")), 3);
    let (_, measured) = first(&results);
    assert_eq!(measured.iter().sum::<u64>(), 0, "the rounds of 2.96 and 4.92 ms are not inside the window");
    assert_eq!((results.unfinished, results.unstarted_by_query.len()), (0, 0));
    assert_eq!(results.end().0, 5_000_000_000);
}

#[test]
fn answers_to_requests_of_the_window_are_waited_for_where_the_query_began_before_it() {
    let asked = ASKED.replace("service = \"3ms\"", "service = \"30ms\"");
    let results = run(&text(STAR, "from = \"3ms\"", &asked), 3);
    let (ends, measured) = first(&results);
    let counted: Vec<u64> =
        ends.into_iter().zip(&measured).filter(|(_, counts)| **counts == 1).map(|(end, _)| end).collect();
    assert!(measured[0] == 0 && counted.len() % 2 == 0 && !counted.is_empty(), "{measured:?}");
    assert!(counted.iter().max() > Some(&30_000_000_000) && counted.iter().all(|end| *end < u64::MAX));
    assert_eq!((results.unfinished, results.measured), (0, counted.len() as u64));
}

#[test]
fn rounds_that_a_workload_leaves_out_are_not_waited_for() {
    let results = run(&text(STAR, "", &format!("{SHIFTED}\nstop = \"7.5ms\"")), 3);
    assert_eq!((results.unfinished, results.measured), (0, 7 * 9));
    assert!(results.end().0 < 10_000_000_000);
}

fn divided(s: &Scenario, partitions: u32) -> Results {
    whole(s, 3, Options { partitions, ..Options::default() }, Recorder::from_scenario(s)).results(s)
}

#[test]
fn such_queries_are_waited_for_alike_in_any_number_of_partitions() {
    for traffic in [JITTER, ASKED, SHIFTED, RING] {
        for measure in ["", "drain = \"2.5ms\"", "from = \"2ms\""] {
            let s = scenario(&text(FAT_TREE, measure, traffic), "");
            let usual = run_with(&s, 3, Options::default());
            for partitions in [1, 2, 3, 8] {
                assert!(usual == divided(&s, partitions), "{partitions} partitions, {measure}, {traffic}");
            }
        }
    }
}
