//! PABO §V (Shi et al., Computer Communications 2018): bursts of raw packets through a tree of seven switches, bounced
//! and delivered without drops. Shares are those of Table I, places those of fig. 7a.

use crate::common::{Bursts, PABO_TREE, column, drops, run_with, scenario, small, total};
use sim::{Options, Results};

/// Returns the paper's scenario of bursts; `s0` to `s2` are at the senders (the paper's S1 to S3), and `s6` is the last
/// switch (S7).
fn bursts(packets: u64) -> String {
    let bursts = Bursts {
        sources: &["h0", "h1", "h2"],
        destination: "h3",
        payload: "1500B",
        packets,
        interval: "10us",
        pause: "200ms",
        ..Bursts::ONE_FRAME
    };
    let more = "[framing]\nkind = \"ethernet\"\nheader = \"0B\"\n\
         [host]\nnic_queue = \"1500pkt\"\n[measure]\nqueues = false\nbin = \"100ms\"\n\
         [switch]\nsimultaneous = \"snapshot\"\nbuffer = { kind = \"per_port\", size = \"500pkt\" }\n\
         overflow = { kind = \"bounce\", theta = 0.8, lambda = 50, bounce_size = \"500pkt\" }\n";
    small("1s", PABO_TREE, &format!("{more}{}", bursts.text()))
}

const HOPS: u64 = 1;
const BOUNCES: u64 = 3;
const DISTANCE: u64 = 4;

/// Returns the percentage of delivered packets whose value of a metric satisfies a condition.
fn share(results: &Results, of: u64, wanted: impl Fn(u64) -> bool) -> f64 {
    let [data, metric, low, count] =
        ["data", "metric", "low", "count"].map(|name| column(results, "packet_hist", name));
    let rows = (0..count.len()).filter(|i| data[*i] == 1 && metric[*i] == of);
    let (some, all) = rows.fold((0, 0), |(some, all), i| (some + count[i] * u64::from(wanted(low[i])), all + count[i]));
    100.0 * some as f64 / all as f64
}

/// Returns the percentage of delivered packets that were bounced at least once.
fn bounced_share(results: &Results) -> f64 {
    share(results, BOUNCES, |np| np > 0)
}

/// Returns the number of bounces at each of the seven switches.
fn bounces(results: &Results) -> [u64; 7] {
    let (node, bounced) = (column(results, "ports", "node"), column(results, "ports", "bounced"));
    let mut at = [0; 7];
    node.iter().zip(bounced).filter(|(node, _)| **node >= 4).for_each(|(node, n)| at[*node as usize - 4] += n);
    at
}

/// Runs bursts of `packets` packets with three seeds. Returns the mean share of bounced packets, and the bounces of
/// each seed by switch.
fn runs(packets: u64) -> (f64, Vec<[u64; 7]>) {
    runs_of(&bursts(packets), packets)
}

fn runs_of(text: &str, packets: u64) -> (f64, Vec<[u64; 7]>) {
    let s = scenario(text, "");
    let results: Vec<Results> = (1..=3).map(|seed| run_with(&s, seed, Options::default())).collect();
    for one in &results {
        // Five bursts of each of three senders.
        assert_eq!(drops(one), 0, "{packets} packets a burst");
        assert_eq!(total(one, "flows", "received"), 15 * packets * 1500);
    }
    let mean = results.iter().map(bounced_share).sum::<f64>() / results.len() as f64;
    (mean, results.iter().map(bounces).collect())
}

#[test]
fn a_mild_load_is_bounced_by_the_last_switch_alone() {
    let (share, places) = runs(501);
    assert!((share - 56.55).abs() <= 0.5, "{share} %");
    for at in places {
        assert!(at[..6] == [0; 6] && at[6] > 0, "{at:?}");
    }
}

#[test]
fn a_moderate_load_is_bounced_by_the_second_level_too() {
    let (share, places) = runs(1501);
    assert!((share - 85.27).abs() <= 0.5, "{share} %");
    for at in places {
        assert!(at[..3] == [0; 3] && at[3..].iter().all(|n| *n > 0), "{at:?}");
    }
}

#[test]
fn a_severe_load_is_bounced_by_every_switch_and_hosts_send_it_again() {
    let (share, places) = runs(2501);
    assert!((share - 91.18).abs() <= 0.5, "{share} %");
    for at in places {
        assert!(at.iter().all(|n| *n > 0), "{at:?}");
    }
}

/// Test of the paper's results in switches with input memory.
/// The paper assumes switches with input and output queues (§II-B, fig. 2), which change nothing essential. Frames at
/// inputs count for their output, so that the same switches bounce as many packets. No packet is lost, and the inputs
/// hold no more than their memory.
#[test]
fn switches_with_inputs_bounce_as_many_and_lose_none_either() {
    let places = [(501, [0, 0, 1]), (1501, [0, 1, 1]), (2501, [1, 1, 1])];
    for ((packets, levels), published) in places.into_iter().zip([56.55, 85.27, 91.18]) {
        let text = bursts(packets).replace("[switch]\n", "[switch]\nmodel = \"cioq\"\n");
        let (share, found) = runs_of(&text, packets);
        assert!((share - published).abs() <= 1.0, "{packets} packets a burst: {share} %");
        for at in found {
            let of_level = |from: usize, to: usize| u64::from(at[from..to].iter().all(|n| *n > 0));
            assert_eq!([of_level(0, 3), of_level(3, 6), of_level(6, 7)], levels, "{packets}: {at:?}");
        }
    }
}

/// Test of the distances and hops that the paper publishes.
/// Table I, the severe load: maxBouncedDistance is 0, 1 or 2, since a normal forward undoes a bounce. Fig. 7b:
/// totalHop, which is one less than the links crossed, is at most 11 for 86.64% of packets, and 3 without a bounce.
#[test]
fn packets_are_as_far_from_their_way_as_the_paper_counts() {
    let results = run_with(&scenario(&bursts(2501), ""), 1, Options::default());
    for (distance, published) in [(0, 8.82), (1, 84.14), (2, 7.04)] {
        let found = share(&results, DISTANCE, |one| one == distance);
        assert!((found - published).abs() <= 0.5, "{distance}: {found} %");
    }
    assert_eq!(share(&results, DISTANCE, |one| one > 2), 0.0);
    let short = share(&results, HOPS, |links| links - 1 <= 11);
    assert!((short - 86.64).abs() <= 0.7, "{short} %");
    assert_eq!(share(&results, HOPS, |links| links == 4), share(&results, BOUNCES, |np| np == 0));
}

#[test]
fn frames_that_come_back_to_a_host_are_sent_again_and_all_arrive() {
    let s = scenario(&bursts(2501), "");
    let results = run_with(&s, 4, Options::default());
    // NICs of the senders: each sends its own 5 x 2501 frames, and all returned frames once more.
    let sent: u64 = column(&results, "ports", "sent")[..3].iter().sum();
    let returned = sent - 15 * 2501;
    // Frames bounced by the senders' switches return to the hosts, and those bounced by the next level pass through
    // these switches.
    assert!(returned > 0 && returned >= bounces(&results)[..3].iter().sum::<u64>(), "{returned}");
    assert_eq!(total(&results, "flows", "received"), 15 * 2501 * 1500);
}
