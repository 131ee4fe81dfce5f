//! Tests of hosts that pause the network: NICs that send pause frames without end, and slow receivers. Single frames are
//! worked out by hand, and whole runs are tested as laws.

use crate::common::{
    POOLS, column, drops, full_frames, pauses, rows, run, run_with, same_again, scenario, small, total,
};
use crate::divided::assert_partitions_agree;
use sim::{Options, Results, StopReason};

/// Returns a scenario of three hosts with links of 1 Gb/s and 1 us at switch node 3. Host h0 sends full frames at
/// 1 Gb/s to h1 for 400 us.
///
/// Frame n = 1, 2, … is at the switch at 1 + 12.304 n us, and at h1 13.304 us later. A pause frame of h1 takes 672 ns
/// and the delay of 1 us to the switch.
fn line(events: &[&str], pause: &str) -> String {
    let star = "kind = \"star\"\nn = 3\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let events: String = events.iter().map(|event| format!("[[event]]\n{}\n", event.replace(", ", "\n"))).collect();
    let frames = full_frames("t", ["h0", "h1"], "400us");
    small("2ms", star, &format!("[switch]\npause = {{ {pause} }}\n[measure]\npackets = true\n{events}{frames}"))
}

const PFC: &str = "kind = \"pfc\", xoff = \"60KB\", xon = \"30KB\"";

/// Returns the instants in ps at which packets reached the stack of their host.
fn deliveries(results: &Results) -> Vec<u64> {
    let all = rows(results, "packets", ["end_ps", "fate"]);
    let mut ends: Vec<u64> = all.into_iter().filter(|[_, fate]| *fate == 0).map(|[end, _]| end).collect();
    ends.sort_unstable();
    ends
}

#[test]
fn storm_stops_the_switch_port_until_its_end() {
    let storm = "kind = \"pause_storm\", at = \"50us\", host = \"h1\", until = \"150us\"";
    let results = run(&line(&[storm], PFC), 1);
    assert_eq!(pauses(&results)[0], [51_672_000, 151_672_000, 3, 1, 0]);
    // Frame 3 began before the pause, at 37.912 + 1 us, and frame 4 is the first after it.
    let ends = deliveries(&results);
    assert_eq!((ends[2], ends[3]), (51_216_000, 63_520_000));
    assert_eq!((ends[4], drops(&results)), (151_672_000 + 13_304_000, 0));
    assert_eq!(rows(&results, "events", ["event", "lost", "dropped"]), [[0, 0, 0]]);
}

#[test]
fn storm_is_refreshed_before_its_pause_expires() {
    // A pause of 65,535 quanta lasts 33.55 ms at 1 Gb/s, and is refreshed every 16.78 ms.
    let storm = "kind = \"pause_storm\", at = \"50us\", host = \"h1\", until = \"80ms\"";
    let results = run(&line(&[storm], PFC).replace("duration = \"2ms\"", "duration = \"90ms\""), 1);
    let of_port: Vec<[u64; 5]> = pauses(&results).into_iter().filter(|row| row[2..4] == [3, 1]).collect();
    assert_eq!(of_port, [[51_672_000, 80_001_672_000, 3, 1, 0]]);
    let sent = rows(&results, "pauses", ["node", "port", "xoff_sent", "refreshes"]);
    assert!(sent.contains(&[1, 0, 5, 4]), "{sent:?}");
}

#[test]
fn storm_starts_again_when_its_link_is_back() {
    let events = [
        "kind = \"pause_storm\", at = \"50us\", host = \"h1\"",
        "kind = \"link_down\", at = \"200us\", link = \"h1\"",
        "kind = \"link_up\", at = \"300us\", link = \"h1\"",
    ];
    let text = line(&events, PFC).replace("duration", "dead_port = \"wait\"\nduration");
    let results = run(&text, 1);
    let of_port: Vec<[u64; 5]> = pauses(&results).into_iter().filter(|row| row[2..4] == [3, 1]).collect();
    assert_eq!(of_port, [[51_672_000, 200_000_000, 3, 1, 0], [301_672_000, 2_000_000_000, 3, 1, 0]]);
    assert_eq!(rows(&results, "events", ["lost", "dropped"]), [[0, 0]; 3]);
}

#[test]
fn storm_of_pause_frames_stops_all_classes() {
    let storm = "kind = \"pause_storm\", at = \"50us\", host = \"h1\", until = \"150us\"";
    let text = line(&[storm], &PFC.replace("pfc", "pause")).replace("stop =", "class = 2\nstop =");
    let classes = |results: &Results| {
        let of_port = pauses(results).into_iter().filter(|row| row[..4] == [51_672_000, 151_672_000, 3, 1]);
        let mut classes: Vec<u64> = of_port.map(|row| row[4]).collect();
        classes.sort_unstable();
        classes
    };
    assert_eq!(classes(&run(&text, 1)), [2], "the only class in use");
    let some = text.replace("kind = \"pause\"", "kind = \"pfc\"").replace("until =", "classes = [2, 5]\nuntil =");
    assert_eq!(classes(&run(&some, 1)), [2]);
}

/// Test of a slow receiver with times worked out by hand. The host takes a frame of 1518 B in 24.288 us.
///
/// Frame 4 arrives at 63.52 us as the third in the buffer and causes XOFF, which reaches the switch at 65.192 us.
/// Frame 5 has begun at 62.52 us and follows. At 123.76 us frame 4 is drained and frame 5 is left, which causes XON.
#[test]
fn slow_receiver_delivers_drained_frames_and_pauses_between_its_thresholds() {
    let slow = "kind = \"slow_receiver\", at = \"0us\", host = \"h1\", rate = \"500Mbps\", xoff = \"4554B\", \
                xon = \"1518B\"";
    let results = run(&line(&[slow], PFC), 1);
    assert_eq!(pauses(&results)[0], [65_192_000, 125_432_000, 3, 1, 0]);
    assert_eq!(deliveries(&results)[..5], [50_896_000, 75_184_000, 99_472_000, 123_760_000, 148_048_000]);
    // Frames 4 and 5 wait at 100 us, when all that waits is delivered and the switch resumed.
    let results = run(&line(&[&format!("{slow}, until = \"100us\"")], PFC), 1);
    assert_eq!(pauses(&results)[0], [65_192_000, 101_672_000, 3, 1, 0]);
    assert_eq!(deliveries(&results)[2..6], [99_472_000, 100_000_000, 100_000_000, 114_976_000]);
}

#[test]
fn storm_and_slow_receiver_resume_a_class_only_together() {
    let events = [
        "kind = \"slow_receiver\", at = \"0us\", host = \"h1\", rate = \"500Mbps\", xoff = \"4554B\", xon = \"1518B\"",
        "kind = \"pause_storm\", at = \"80us\", host = \"h1\", until = \"140us\"",
    ];
    // The buffer falls to XON at 123.76 us, but the storm lasts.
    assert_eq!(pauses(&run(&line(&events, PFC), 1))[0], [65_192_000, 141_672_000, 3, 1, 0]);
    let events = [events[0], &events[1].replace("140us", "100us")];
    assert_eq!(pauses(&run(&line(&events, PFC), 1))[0], [65_192_000, 125_432_000, 3, 1, 0]);
}

#[test]
fn slow_receiver_delays_no_other_class() {
    let star = "kind = \"star\"\nn = 3\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
    let flow = |name: &str, from: &str, rate: &str, class: u8| {
        full_frames(name, [from, "h1"], "9ms").replace("\"1Gbps\"", rate) + &format!("class = {class}\n")
    };
    let slow = "[[event]]\nkind = \"slow_receiver\"\nat = \"0us\"\nhost = \"h1\"\nrate = \"100Mbps\"\nxoff = \"9KB\"\n\
                xon = \"3KB\"\nclasses = [1]\n";
    let flows = [flow("a", "h0", "\"100Mbps\"", 0), flow("b", "h2", "\"1Gbps\"", 1)].concat();
    let text = small("10ms", star, &format!("[switch]\npause = {{ {PFC} }}\n{slow}{flows}"));
    let results = run(&text, 1);
    // 9 ms of frames every 123.04 us, and 10 ms of the slow rate.
    let received = column(&results, "flows", "received");
    assert_eq!(received[0], 74 * 1460);
    assert!(received[1].abs_diff(82 * 1460) <= 2 * 1460, "{received:?}");
}

/// Returns a scenario in which h0 sends class 3 to h1 and to h2, through a switch with lossless pools.
fn spreading(event: &str) -> String {
    let star = "kind = \"star\"\nn = 4\nlink = { rate = \"10Gbps\", delay = \"1us\" }";
    let flow = |name: &str, to: &str, rate: &str| {
        let frames = full_frames(name, ["h0", to], "20ms").replace("\"1Gbps\"", rate);
        frames + "class = 3\n"
    };
    let flows = [flow("culprit", "h1", "\"5Gbps\""), flow("victim", "h2", "\"4Gbps\"")].concat();
    let pools = POOLS.replace("xoff = \"8KB\", ", "").replace("size = \"50KB\"", "size = \"10MB\"");
    let pools = pools.replace("threshold = { kind = \"dynamic\", alpha = 1 }", "threshold = { kind = \"static\" }");
    let tables = format!("[switch]\npause = {{ kind = \"pfc\" }}\nbuffer = {{ {pools} }}\n{event}{flows}");
    small("20ms", star, &tables)
}

const SLOW: &str = "[[event]]\nkind = \"slow_receiver\"\nat = \"0us\"\nhost = \"h1\"\nrate = \"2Gbps\"\n";

#[test]
fn slow_receiver_sets_the_rate_of_its_flows_and_slows_those_of_the_same_sender() {
    let received = |event: &str| {
        let results = run(&spreading(event), 1);
        assert_eq!(drops(&results), 0);
        column(&results, "flows", "received")
    };
    let before = received("");
    // 20 ms of 2 Gb/s, of which 1460 of 1518 B are payload.
    let (slow, expected) = (received(SLOW), 20e-3 * 2e9 / 8.0 * 1460.0 / 1518.0);
    assert!((slow[0] as f64 / expected - 1.0).abs() < 0.01, "{slow:?}, expected {expected}");
    // The pauses of the switch stop h0 as a whole class: its other flow keeps the ratio of 4 to 5, beside the 256 KB
    // that the receive buffer holds.
    assert!(slow[1] * 2 < before[1], "{before:?} {slow:?}");
    assert!((slow[1] as f64 / (slow[0] as f64 + 256e3) - 0.8).abs() < 0.02, "{slow:?}");
}

#[test]
fn storm_without_end_spreads_to_senders_and_loses_nothing() {
    let storm = "[[event]]\nkind = \"pause_storm\"\nat = \"1ms\"\nhost = \"h1\"\n";
    let results = run(&spreading(storm), 1);
    // 9 Gb/s for 1 ms, of which 1460 of 1538 B are payload; at most 40 frames of h2 pass before h0 is paused.
    let before = 1e-3 * 9e9 / 8.0 * 1460.0 / 1538.0;
    let received = total(&results, "flows", "received") as f64;
    assert!(received > 0.99 * before && received < before + 40.0 * 1460.0, "{received}, {before}");
    // The switch, node 4, pauses h0 for class 3 until the end.
    assert_eq!(drops(&results), 0);
    assert!(pauses(&results).iter().any(|row| row[1..] == [20_000_000_000, 0, 0, 3]), "{:?}", pauses(&results));
    // A storm that ends lets all frames leave.
    let ends = storm.replace("host =", "until = \"3ms\"\nhost =");
    let results = run(&spreading(&ends), 1);
    assert_eq!(drops(&results), 0);
    let received = column(&results, "flows", "received");
    assert!(received.iter().all(|own| *own > 5_000_000), "{received:?}");
}

/// Mix of all events of hosts, under windows and retransmissions, with an outage in between.
fn mix() -> String {
    let topology = "kind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4";
    let tables = format!(
        "[host]\nstack_delay = \"2us\"\n[switch]\nbuffer = {{ kind = \"per_port\", size = \"4MB\" }}\n\
         pause = {{ {PFC}, response = \"300ns\" }}\n[transport]\nkind = \"newreno\"\nmin_rto = \"1ms\"\n\
         [measure]\nqueues = true\ndrain = \"3ms\"\n\
         [[event]]\nkind = \"slow_receiver\"\nat = \"30us\"\nhost = \"h0\"\nrate = \"1Gbps\"\nxoff = \"20KB\"\n\
         xon = \"10KB\"\nuntil = \"900us\"\n\
         [[event]]\nkind = \"slow_receiver\"\nat = \"900us\"\nhost = \"h0\"\nrate = \"300Mbps\"\n\
         [[event]]\nkind = \"pause_storm\"\nat = \"100us\"\nhost = \"h5\"\nuntil = \"400us\"\n\
         [[event]]\nkind = \"pause_storm\"\nat = \"2ms\"\nhost = \"h6\"\n\
         [[event]]\nkind = \"link_down\"\nat = \"150us\"\nlink = \"h5\"\n\
         [[event]]\nkind = \"link_up\"\nat = \"250us\"\nlink = \"h5\"\n\
         [[traffic]]\nname = \"a\"\nkind = \"incast\"\nsenders = 7\nreceiver = \"h0\"\nsize = \"200KB\"\n\
         [[traffic]]\nname = \"b\"\nkind = \"permutation\"\nsize = \"900KB\"\n"
    );
    small("3ms", topology, &tables)
}

#[test]
fn runs_with_events_of_hosts_are_bit_identical_by_heap_clone_and_partitions() {
    same_again(&mix(), 2);
    assert_partitions_agree(&mix(), 2);
}

#[test]
fn run_that_ends_in_a_storm_with_a_full_receive_buffer_conserves_all_packets() {
    for seed in 1..=3 {
        let results = run_with(&scenario(&mix(), ""), seed, Options::default());
        assert_eq!(results.progress.stop, Some(StopReason::DrainedOut), "h6 receives nothing");
        assert!(results.unfinished > 0);
    }
}
