//! Tests of arrivals at the same instant at one switch: each decided and applied before the next, or all decided on the
//! state before any is stored.

use crate::common::{column, drops, run, total};
use sim::Results;

/// Returns the results of a run in which `n` packets reach a leaf at the same instant, for a host whose port holds
/// three.
fn meet(n: u64, simultaneous: &str, overflow: &str) -> Results {
    let sources: Vec<String> = (1..=n).map(|i| format!("\"h{i}\"")).collect();
    run(
        &format!(
            "name = \"meet\"\nduration = \"1ms\"\n[topology]\nkind = \"leaf_spine\"\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 6\nlink = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[switch]\nsimultaneous = \"{simultaneous}\"\n\
             buffer = {{ kind = \"per_port\", size = \"3pkt\" }}\noverflow = {{ {overflow} }}\n\
             [[traffic]]\nname = \"b\"\nkind = \"bursts\"\nsources = [{}]\ndestination = \"h0\"\n\
             payload = \"1460B\"\npackets = 1\ninterval = \"1us\"\npause = \"1s\"\n",
            sources.join(", ")
        ),
        1,
    )
}

fn lost(results: &Results, reason: &str) -> u64 {
    total(results, "ports", &format!("drop_{reason}"))
}

#[test]
fn in_turn_the_last_of_five_sees_the_first_three_and_leaves_by_another_port() {
    let results = meet(5, "in_turn", "kind = \"detour\"");
    // Two detours at the leaf; both packets come back from the spine when there is space.
    assert_eq!((total(&results, "ports", "detoured"), drops(&results)), (2, 0));
    assert_eq!(total(&results, "flows", "received"), 5 * 1460);
}

#[test]
fn in_a_snapshot_five_see_an_empty_queue_and_two_of_them_are_lost() {
    let results = meet(5, "snapshot", "kind = \"detour\"");
    assert_eq!(total(&results, "ports", "detoured"), 0);
    assert_eq!((lost(&results, "buffer_full"), drops(&results)), (2, 2));
    assert_eq!(total(&results, "flows", "received"), 3 * 1460);
}

#[test]
fn two_arrivals_fit_either_way() {
    for simultaneous in ["in_turn", "snapshot"] {
        let results = meet(2, simultaneous, "kind = \"detour\"");
        assert_eq!((total(&results, "ports", "detoured"), drops(&results)), (0, 0), "{simultaneous}");
        assert_eq!(column(&results, "ports", "max_packets").iter().max(), Some(&2));
    }
}

#[test]
fn bounces_see_the_queue_as_detours_do() {
    let bounce = "kind = \"bounce\", bounce_size = \"3pkt\", round_to = 1";
    let results = meet(5, "in_turn", bounce);
    assert_eq!((total(&results, "ports", "bounced"), drops(&results)), (2, 0), "sent again by their hosts");
    assert_eq!(total(&results, "flows", "received"), 5 * 1460);
    let results = meet(5, "snapshot", bounce);
    assert_eq!((total(&results, "ports", "bounced"), lost(&results, "buffer_full")), (0, 2));
}

#[test]
fn the_last_word_is_the_same_for_tail_drop_both_ways() {
    for simultaneous in ["in_turn", "snapshot"] {
        let results = meet(5, simultaneous, "kind = \"tail_drop\"");
        assert_eq!((lost(&results, "buffer_full"), drops(&results)), (2, 2), "{simultaneous}");
    }
}

#[test]
fn ties_by_port_always_favour_the_first_port_and_random_ties_do_not() {
    let text = |ties: &str| {
        format!(
            "name = \"ties\"\nduration = \"50ms\"\n[topology]\nkind = \"star\"\nn = 3\n[switch]\nties = \"{ties}\"\n\
             buffer = {{ kind = \"per_port\", size = \"1pkt\" }}\n[[traffic]]\nname = \"b\"\nkind = \"bursts\"\n\
             sources = [\"h1\", \"h2\"]\ndestination = \"h0\"\npayload = \"1460B\"\npackets = 1000\n\
             interval = \"40us\"\npause = \"1s\"\n"
        )
    };
    let received = |ties: &str| column(&run(&text(ties), 1), "flows", "received");
    assert_eq!(received("port"), [1000 * 1460, 0]);
    let random = received("random");
    assert_eq!(random.iter().sum::<u64>(), 1000 * 1460);
    // A fair coin 1000 times: four deviations are 63.
    assert!(random.iter().all(|bytes| (bytes / 1460).abs_diff(500) < 64), "{random:?}");
}

#[test]
fn with_tail_drop_a_snapshot_changes_what_marking_and_arrivals_see_and_nothing_else() {
    let text = |simultaneous: &str, k: u32| {
        format!(
            "name = \"burst\"\nduration = \"20ms\"\n[topology]\nkind = \"fat_tree\"\nk = 4\n[switch]\n\
             simultaneous = \"{simultaneous}\"\nbuffer = {{ kind = \"shared\", size = \"12KB\" }}\n\
             marking = {{ kind = \"ecn_threshold\", k = \"{k}pkt\" }}\n[transport]\nkind = \"dctcp\"\n\
             [measure]\nsub_queues = true\n[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"60KB\"\n\
             [[traffic]]\nname = \"i\"\nkind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"20KB\"\n"
        )
    };
    let runs = |k| ["in_turn", "snapshot"].map(|simultaneous| run(&text(simultaneous, k), 3));
    let [turn, snapshot] = runs(2);
    assert!(drops(&turn) > 0 && total(&turn, "ports", "marked") > 0);
    assert_ne!(total(&turn, "ports", "marked"), total(&snapshot, "ports", "marked"), "marking does not see them");
    // The threshold is so high that no queue reaches it.
    let [turn, snapshot] = runs(1000);
    assert!(drops(&turn) > 0 && total(&turn, "ports", "marked") == 0);
    let both = turn.tables.iter().zip(&snapshot.tables);
    let changed: Vec<&str> = both.filter(|(one, other)| one != other).map(|(one, _)| one.name).collect();
    assert_eq!(changed, ["sub_queue_hist"], "arrivals of an instant do not see each other");
}
