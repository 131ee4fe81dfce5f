//! A run that is divided into partitions leaves the same bits as one that is not, table by table.

use crate::common::digest::whole;
use crate::common::{scenario, total};
use crate::conservation::random;
use scenario::Scenario;
use sim::{Options, Recorder, Results};

fn results(s: &Scenario, seed: u64, partitions: u32) -> Results {
    let options = Options { max_events: Some(300_000), partitions, ..Options::default() };
    let mut world = whole(s, seed, options, Recorder::of(s));
    let results = world.results(s);
    assert!(results.conserved, "{:?}", world.imbalance());
    results
}

/// What one run leaves, having been seen to be left by two, three and eight partitions too.
fn the_same(text: &str, seed: u64) -> Results {
    let s = scenario(text, "");
    let usual = results(&s, seed, 0);
    for partitions in [1, 2, 3, 8] {
        let divided = results(&s, seed, partitions);
        for (a, b) in usual.tables.iter().zip(&divided.tables) {
            assert!(a == b, "table {} of {partitions} partitions\n{text}", a.name);
        }
        assert_eq!(usual.progress, divided.progress, "{partitions} partitions\n{text}");
        assert!(usual == divided, "{partitions} partitions\n{text}");
    }
    usual
}

const EVERYTHING: &str = "[measure]\ngoodput = \"flows\"\nlinks = true\nreordering = true\ndetours = 1\n";

#[test]
fn random_scenarios_leave_the_same_tables_divided_into_any_number_of_partitions() {
    let (mut paused, mut dropped, mut hops) = (0, 0, 0);
    for n in 0..40 {
        let text = random(n, n % 2 == 0).replace("[measure]\n", EVERYTHING);
        // Copies of a flooded frame share what is kept of bounces and detours, which partitions do not.
        if text.contains("\"learning\"") && (text.contains("\"bounce\"") || text.contains("\"detour\"")) {
            continue;
        }
        let results = the_same(&text, n);
        paused += total(&results, "pauses", "times");
        dropped += total(&results, "fates", "count");
        hops += results.progress.hops;
    }
    assert!(paused > 0 && dropped > 1000 && hops > 100_000, "{paused} pauses, {dropped} fates, {hops} hops");
}

/// Sessions on kept connections and on new ones, queries, and a ring, beside a load without end.
const CLOSED: &str = r#"
name = "closed"
duration = "6ms"
[topology]
kind = "fat_tree"
k = 4
[switch]
buffer = { kind = "per_port", size = "12pkt" }
overflow = { kind = "OVERFLOW" }
marking = { kind = "ecn_threshold", k = "6pkt" }
[transport]
kind = "dctcp"
min_rto = "1ms"
[measure]
goodput = "flows"
links = true
reordering = true
detours = 1
packets = true
queues = true
from = "1ms"
drain = "300ms"
[[traffic]]
name = "kept"
kind = "request_reply"
sessions = 12
reply = "20KB"
connection = "persistent"
think = "10us"
[[traffic]]
name = "new"
kind = "request_reply"
sessions = 6
reply = "9KB"
connection = "new"
jitter = "20us"
[[traffic]]
name = "asked"
kind = "query"
degree = 9
response = "15KB"
interval = "900us"
repeat = 4
[[traffic]]
name = "ring"
kind = "all_reduce"
size = "60KB"
repeat = 3
"#;

#[test]
fn what_follows_upon_messages_is_the_same_divided_into_any_number_of_partitions() {
    for overflow in ["tail_drop", "detour"] {
        let results = the_same(&CLOSED.replace("OVERFLOW", overflow), 3);
        assert!(results.progress.completed > 300, "{:?}", results.progress);
        assert!(total(&results, "fates", "count") > 0);
    }
}
