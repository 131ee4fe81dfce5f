//! Collectives and flows without end, checked against values computed by hand.

use crate::common::{column, run};

/// Time in ps of a frame with 1460 B of payload on a link of 1 Gb/s; `ACK` is that of an ACK: a frame of 64 B, 84 B
/// with preamble and gap.
const DATA: u64 = 12_304_000;
const ACK: u64 = 672_000;
const DELAY: u64 = 1_000_000;
/// Time in ps that a message of one segment takes from one host of the star to another.
const HOP: u64 = 2 * DATA + 2 * DELAY;

fn job(hosts: u32, more: &str) -> String {
    format!(
        r#"
name = "job"
duration = "10ms"
[topology]
kind = "star"
n = {hosts}
link = {{ rate = "1Gbps", delay = "1us" }}
[transport]
kind = "newreno"
[[traffic]]
name = "job"
kind = "all_reduce"
{more}
"#
    )
}

/// Returns the first start and the last end of each query.
fn spans(results: &sim::Results) -> Vec<(u64, u64)> {
    let (query, start) = (column(results, "flows", "query"), column(results, "flows", "start_ps"));
    let end = column(results, "flows", "end_ps");
    let mut spans = vec![(u64::MAX, 0); *query.iter().max().unwrap() as usize + 1];
    for (i, query) in query.iter().enumerate() {
        let (from, to) = &mut spans[*query as usize];
        (*from, *to) = ((*from).min(start[i]), (*to).max(end[i]));
    }
    spans
}

#[test]
fn a_ring_on_a_star_takes_its_closed_form_to_the_picosecond() {
    for connection in ["persistent", "new"] {
        for n in [2u64, 3, 5] {
            let more =
                format!("size = \"{}B\"\nrepeat = 3\ncompute = \"100us\"\nconnection = \"{connection}\"", n * 1460);
            let results = run(&job(n as u32, &more), 1);
            // 2 (N-1) steps of a chunk; before each but the first, the received chunk is acknowledged.
            let steps = 2 * (n - 1);
            let whole = steps * HOP + (steps - 1) * ACK;
            let begin = |i: u64| i * (whole + 100_000_000);
            let expected: Vec<_> = (0..3).map(|i| (begin(i), begin(i) + whole)).collect();
            assert_eq!(spans(&results), expected, "{connection} {n}");
            assert_eq!(column(&results, "flows", "flow").len() as u64, 3 * steps * n);
            assert_eq!(results.unfinished, 0);
            let connections =
                column(&results, "flows", "connection").into_iter().collect::<std::collections::BTreeSet<_>>();
            assert_eq!(connections.len() as u64, if connection == "persistent" { n } else { 3 * steps * n });
        }
    }
}

#[test]
fn a_tree_on_a_star_takes_its_closed_form_to_the_picosecond() {
    // Two ranks: up, an ACK, and down.
    let two = run(&job(2, "algorithm = \"tree\"\nsize = \"1460B\""), 1);
    assert_eq!(spans(&two), [(0, 2 * HOP + ACK)]);
    // Three ranks: the two leaves' chunks meet at the root's link, and so do the two that come back.
    let three = run(&job(3, "algorithm = \"tree\"\nsize = \"1460B\""), 1);
    assert_eq!(spans(&three), [(0, 2 * (HOP + DATA) + ACK)]);
    assert_eq!(column(&three, "flows", "flow").len(), 4);
}

#[test]
fn jobs_have_iterations_and_hosts_of_their_own() {
    let more = "size = \"4KB\"\njobs = 3\nranks = 2\nrepeat = 2\nplacement = \"random\"";
    let results = run(&job(8, more), 4);
    let (src, dst) = (column(&results, "flows", "src"), column(&results, "flows", "dst"));
    let query = column(&results, "flows", "query");
    let mut hosts = vec![std::collections::BTreeSet::new(); 3];
    for (i, query) in query.iter().enumerate() {
        hosts[(query % 3) as usize].extend([src[i], dst[i]]);
    }
    assert!(hosts.iter().all(|pair| pair.len() == 2), "{hosts:?}");
    assert_eq!(hosts.iter().flatten().collect::<std::collections::BTreeSet<_>>().len(), 6);
    assert_eq!(query.iter().max(), Some(&5));
}

#[test]
fn flows_without_end_share_the_link_and_never_count_as_unfinished() {
    let text = job(4, "size = \"1KB\"");
    let traffic = text.find("[[traffic]]").unwrap();
    let long = "[[traffic]]\nname = \"long\"\nkind = \"long_lived\"\nsources = [\"h0\", \"h1\"]\ndestination = \"h2\"\n\
                stagger = \"1ms\"\n";
    let results = run(&format!("{}{long}", &text[..traffic]), 1);
    assert_eq!(column(&results, "flows", "start_ps"), [0, 1_000_000_000]);
    assert_eq!(column(&results, "flows", "bytes"), [0, 0]);
    assert_eq!(column(&results, "flows", "ideal_ps"), [0, 0]);
    assert_eq!(column(&results, "flows", "measured"), [0, 0]);
    assert_eq!((results.unfinished, results.measured, results.progress.now.0), (0, 0, 10_000_000_000));
    // Together they fill the link to h2 after the first round trip: a segment every 12.304 us.
    let received = column(&results, "flows", "received");
    assert!(received.iter().all(|bytes| *bytes > 100_000), "{received:?}");
    let (sum, whole) = (received.iter().sum::<u64>(), 10_000_000_000 / DATA * 1460);
    assert!(sum <= whole && sum > whole * 97 / 100, "{sum} of {whole}");
}
