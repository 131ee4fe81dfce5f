//! Conservation of packets over random small scenarios of all features: every packet is counted when it is made and
//! when it is lost.

use crate::common::draw::{Draw, drawn_run};
use crate::common::{POOLS, column, drops, scenario, total, world};
use property::for_all;
use sim::{Options, Results, StopReason};
use std::collections::{BTreeMap, BTreeSet};

const SCENARIOS: u32 = 40;

/// Returns a random workload as lines of a scenario file.
fn traffic(draw: &mut Draw) -> String {
    let class = draw.pick(&["", "class = 0", "class = 3", "class = 7"]);
    let jitter = draw.pick(&["", "jitter = \"20us\""]);
    let kind = draw.pick(&[
        "kind = \"incast\"\nsenders = 6\nreceiver = \"random\"\nsize = \"20KB\"\ninterval = \"1ms\"\nrepeat = 3",
        "kind = \"incast\"\nsenders = 3\nreceiver = \"h0\"\nsize = \"1B\"\nstart = \"500us\"",
        "kind = \"permutation\"\nsize = \"60KB\"",
        "kind = \"poisson\"\nsizes = \"hadoop\"\nload = { fraction = 0.6, of = \"host\" }\nstop = \"3ms\"",
        "kind = \"constant\"\nsource = \"h1\"\ndestination = \"h0\"\nrate = \"700Mbps\"\nstop = \"4ms\"",
        "kind = \"bursts\"\nsources = [\"h1\", \"h2\"]\ndestination = \"h0\"\npackets = 60\ninterval = \"9us\"\n\
         pause = \"1ms\"\npayload = \"900B\"\nstop = \"4ms\"",
    ]);
    format!("{kind}\n{class}\n{jitter}\n")
}

/// Returns the text of a random scenario, with or without traces of queues.
pub fn random(draw: &mut Draw, queues: bool) -> String {
    let topology = draw.pick(&[
        "kind = \"star\"\nn = 5",
        "kind = \"dumbbell\"\nn = 3\nbottleneck = { rate = \"300Mbps\", delay = \"5us\" }",
        "kind = \"chain_tree\"\nn = 3\ndepth = 2",
        "kind = \"leaf_spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2",
        "kind = \"fat_tree\"\nk = 4",
    ]);
    let sliced = format!(
        "{POOLS}, slices = 2, pipes = [0, 1], slice_of = [0, 1, 1, 0], class_to_queue = [2, 1, 0, 4, 3, 5, 6, 7], \
         release = \"end\""
    );
    let reacting = format!("{POOLS}, class_to_group = [0, 0, 0, 3, 0, 0, 0, 0], react = \"pool\"");
    let buffer = draw.pick(&[
        "kind = \"per_port\", size = \"8pkt\"",
        "kind = \"per_port\", size = \"1pkt\"",
        "kind = \"per_port\", size = \"9KB\"",
        "kind = \"shared\", size = \"40KB\", alpha = 1, reserved = \"2KB\"",
        "kind = \"shared\", size = \"12KB\", alpha = 0.5, reserved = \"0B\"",
        "kind = \"unlimited\"",
        POOLS,
        &sliced,
        &reacting,
    ]);
    let size = if buffer.contains("pkt") { "6pkt" } else { "7KB" };
    let overflow = match draw.pick(&["tail_drop", "detour", "bounce", "ingress"]) {
        "bounce" => format!("kind = \"bounce\", theta = 0.5, bounce_size = \"{size}\""),
        "ingress" => format!("kind = \"bounce\", lambda = 0, back_port = \"ingress\", bounce_size = \"{size}\""),
        other => format!("kind = \"{other}\""),
    };
    let marking = draw.pick(&[
        "kind = \"none\"",
        "kind = \"ecn_threshold\", k = \"3pkt\"",
        "kind = \"red\", min = \"2pkt\", max = \"6pkt\"",
    ]);
    let routing = draw.pick(&["ecmp", "spray", "weighted"]);
    let scheduler = draw.pick(&["fifo", "strict_priority"]);
    let simultaneous = draw.pick(&["in_turn", "snapshot"]);
    let ties = draw.pick(&["random", "port"]);
    let fib = match topology.contains("star") || topology.contains("dumbbell") || topology.contains("chain_tree") {
        true => draw.pick(&[
            "kind = \"static\"",
            "kind = \"learning\"",
            "kind = \"learning\", ageing = \"200us\"",
            "kind = \"learning\", preset = [\"h0\"], ageing = \"1us\"",
        ]),
        false => "kind = \"static\"",
    };
    let pools = buffer.contains("pools");
    let pause = match (draw.pick(&["no", "fixed", "no", "whole", "free"]), buffer.contains("shared")) {
        ("fixed" | "free" | "whole", _) if pools => "kind = \"pfc\", response = \"500ns\", lossless = false",
        ("fixed", _) => "kind = \"pfc\", xoff = \"4KB\", xon = \"1KB\", lossless = false",
        ("whole", _) => {
            "kind = \"pause\", xoff = \"3KB\", xon = \"0B\", quanta = 20, response = \"700ns\", lossless = false"
        }
        ("free", true) => "kind = \"pfc\", alpha = 0.3, classes = [0, 3, 7], refresh = \"off\", lossless = false",
        _ => "kind = \"none\"",
    };
    // Times so short that usual pauses are storms.
    let watchdog = match pause.contains("pfc") {
        true => draw.pick(&[
            "",
            ", watchdog = \"drop\", detection_time = \"2us\", restoration_time = \"3us\", poll_interval = \"1us\"",
            ", watchdog = \"drop\", detection_time = \"1us\", restoration_time = \"40us\"",
            ", watchdog = \"forward\", detection_time = \"3us\", restoration_time = \"3us\"",
            ", watchdog = \"alert\", detection_time = \"9us\", restoration_time = \"1us\"",
        ]),
        false => "",
    };
    // Other models only where they are allowed: inputs share no memory, and copies of flooded frames do not cross.
    let model = match buffer.contains("shared") || pools || fib.contains("learning") {
        false => draw.pick(&[
            "",
            "model = \"cioq\"\ninput_buffer = \"9pkt\"\n",
            "model = \"cioq\"\ninput_buffer = \"12KB\"\nspeedup = 1.3\narbiter = { kind = \"oldest_first\" }\n",
        ]),
        true => "",
    };
    let framing = draw.pick(&["", "[framing]\nkind = \"ethernet\"\nheader = \"0B\"\n"]);
    let host = draw.pick(&[
        "",
        "[host]\nstack_delay = \"3us\"\n",
        "[host]\nstack_delay = \"3us\"\nstack_jitter = \"9us\"\nnic_queue = \"12pkt\"\n",
        "[host]\nnic_queue = \"5KB\"\nnic_jitter = \"2us\"\nclock_ppm = 70\n",
    ]);
    let turns = "[host]\nnic = { kind = \"round_robin\" }\nstack_delay = \"3us\"\nstack_jitter = \"9us\"\n";
    let limited = "[host]\nnic = { kind = \"round_robin\", flow_rate = \"300Mbps\" }\n";
    let host = draw.pick(&[host, host, turns, limited]);
    let transport = draw.pick(&["newreno", "dctcp"]);
    let workloads: String =
        (0..=draw.number(0, 2)).map(|i| format!("[[traffic]]\nname = \"t{i}\"\n{}", traffic(draw))).collect();
    format!(
        "name = \"random\"\nduration = \"2s\"\n[topology]\n{topology}\n{framing}{host}[switch]\n{model}\
         pause = {{ {pause}{watchdog} }}\nfib = {{ {fib} }}\nbuffer = {{ {buffer} }}\noverflow = {{ {overflow} }}\nmarking = {{ {marking} }}\n\
         routing = {{ kind = \"{routing}\" }}\nscheduler = {{ kind = \"{scheduler}\" }}\n\
         simultaneous = \"{simultaneous}\"\nties = \"{ties}\"\n[transport]\nkind = \"{transport}\"\nmin_rto = \"1ms\"\n\
         [measure]\npackets = true\nqueues = {queues}\nbin = \"10ms\"\nallow_unfinished = true\n{workloads}"
    )
}

/// Runs a scenario, with checks of its counters on the way, and returns the results.
fn audited(text: &str, n: u64) -> Results {
    let s = scenario(text, "");
    let mut world = world(&s, n, Options { max_events: Some(3_000_000), ..Options::default() });
    for events in [1, 10, 100, 1000, 10_000] {
        world.advance(events);
        assert!(world.conserves_packets(), "after some events: {:?}\n{text}", world.describe_imbalance());
    }
    world.run();
    let results = world.results(&s);
    assert!(results.conserved, "{:?}\n{text}", world.describe_imbalance());
    let (sent, received) = world.control_frames();
    let under_way = results.progress.stop != Some(StopReason::Done) || results.end().0 >= 2_000_000_000_000;
    assert!(sent == received || under_way, "{sent} control frames are sent and {received} end\n{text}");
    results
}

/// Returns the emission numbers of packets that were delivered or lost, by flow and direction.
fn ends(results: &Results) -> BTreeMap<(u64, u64), Vec<u64>> {
    let [flow, reverse, emission] = ["flow", "reverse", "emission"].map(|c| column(results, "packets", c));
    let mut ends: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for i in 0..flow.len() {
        ends.entry((flow[i], reverse[i])).or_default().push(emission[i]);
    }
    ends.values_mut().for_each(|emissions| emissions.sort_unstable());
    ends
}

/// Columns of the table `ports`, in the order of the kinds of the table `fates` from 1 on.
const KINDS: [&str; 3] = ["marked", "detoured", "bounced"];

/// Returns the number of outcomes of this kind among packets of all workloads.
fn fates(results: &Results, kind: u64) -> u64 {
    let (kinds, counts) = (column(results, "fates", "kind"), column(results, "fates", "count"));
    kinds.iter().zip(counts).filter(|(of, _)| **of == kind).map(|(_, count)| count).sum()
}

#[test]
fn books_balance_and_every_packet_ends_once_in_random_scenarios() {
    let (mut quiet, mut lossy, mut paused, mut stormy, mut kinds) = (0, 0, 0, 0, BTreeSet::<&str>::new());
    for_all(SCENARIOS, drawn_run(|draw| random(draw, true)), |(text, n)| {
        let results = audited(&text, n);
        let lost = column(&results, "packets", "fate").iter().filter(|fate| **fate > 0).count() as u64;
        assert_eq!(lost, drops(&results), "losses by packet and by port");
        for (kind, counted) in
            [drops(&results)].into_iter().chain(KINDS.map(|c| total(&results, "ports", c))).enumerate()
        {
            assert_eq!(fates(&results, kind as u64), counted, "kind {kind} by workload and by port");
        }
        // If the run ended because no event was left, nothing is in flight.
        let is_quiet = results.progress.stop == Some(StopReason::Done) && results.end().0 < 2_000_000_000_000;
        for (who, emissions) in ends(&results) {
            assert!(emissions.windows(2).all(|pair| pair[0] < pair[1]), "{who:?} has a packet that ends twice");
            let whole = emissions.iter().zip(0..).all(|(emission, i)| *emission == i);
            assert!(whole || !is_quiet, "a packet of {who:?} is nowhere\n{text}");
        }
        let rows = column(&results, "packets", "flow").len() as u64;
        assert!(rows > 0, "it sends something");
        quiet += u64::from(is_quiet);
        lossy += u64::from(lost > 0);
        paused += u64::from(total(&results, "pauses", "times") > 0);
        stormy += u64::from(total(&results, "ports", "drop_watchdog") > 0);
        kinds.extend(KINDS.into_iter().filter(|c| total(&results, "ports", c) > 0));
    });
    assert!(quiet > u64::from(SCENARIOS) / 2, "{quiet} runs end with an empty network");
    assert!(lossy > u64::from(SCENARIOS) / 4, "{lossy} runs lose packets");
    assert!(paused > u64::from(SCENARIOS) / 8, "{paused} runs stop somebody");
    assert!(stormy > 0, "a watchdog drops packets in some run");
    assert_eq!(kinds.len(), 3, "detours, bounces and marks all happen: {kinds:?}");
}

#[test]
fn watching_queues_changes_nothing_in_random_scenarios() {
    for_all(SCENARIOS, drawn_run(|draw| random(draw, true)), |(text, n)| {
        let without = text.replace("queues = true", "queues = false");
        assert_ne!(text, without);
        let (watched, blind) = (audited(&text, n), audited(&without, n));
        for table in ["flows", "ports", "packets", "packet_hist", "fates", "activity"] {
            assert_eq!(watched.table(table), blind.table(table), "{table}\n{text}");
        }
        assert_eq!(watched.carried_bits, blind.carried_bits, "{text}");
    });
}
