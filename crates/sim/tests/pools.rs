//! Tests of memory with pools: frames until a mark, a pause and a loss against a real switch chip, and whole runs.

use crate::common::{POOLS, column, drops, pauses, rows, run, run_with, same_again, scenario, small, total};
use mech::overflow::DropReason;
use sim::{MemoryProbe, Options, ProbeCounts, ProbeError, ProbeStream, Results, StopReason, probe_memory};

/// Chip of 32 ports of 100 Gb/s with cells of 208 B and four slices, as public SONiC files describe it.
const CHIP: &str = include_str!("pools/chip.toml");

/// Measures the chip with frames of 64 B from port 0 to port 5. Other streams fill lossless groups of the inputs of its
/// slice, or lossy queues of the outputs: of this class and then of the next one.
fn chip(change: (&str, &str), class: u8, congested: usize) -> ProbeCounts {
    let scenario = scenario(&CHIP.replace(change.0, change.1), "");
    let lossless = class == 3;
    let stream = |port, class| if lossless { (port, 5, class) } else { (0, port, class) };
    let ports = if lossless { [0, 1, 2, 3, 4, 6, 7] } else { [5, 1, 2, 3, 4, 6, 7] };
    let all = [class, class + 1].into_iter().flat_map(|class| ports.map(|port| stream(port, class)));
    let probe = MemoryProbe { switch: 0, streams: all.take(congested).collect(), size: 64 };
    probe_memory(&scenario, &probe).expect("the switch has the ports")
}

/// Sets the headroom of lossless groups, in cells of 208 B.
fn headroom(cells: u64) -> String {
    format!("xoff = \"{}B\"", cells * 208)
}

const XOFF: &str = "xoff = \"268736B\"";

#[test]
fn groups_are_paused_after_as_many_frames_as_those_of_the_chip() {
    // SONiC's tests of the device: 6542, 2620, 1458 and 1194 frames. B / (1 + n) of a slice, and six cells of reserve.
    for (congested, device) in [(1, 6542), (4, 2620), (8, 1458), (10, 1194)] {
        let found = chip(("", ""), 3, congested).pause.expect("a pause");
        assert!(found.abs_diff(device) <= 1, "{congested} groups: {found} frames, device {device}");
    }
    assert_eq!(chip(("", ""), 3, 1).pause, Some(6542));
}

#[test]
fn lossless_group_loses_after_its_headroom_as_that_of_the_chip() {
    // Headroom by speed: 40, 50 and 100 Gb/s.
    for (cells, device) in [(520, 7063), (682, 7225), (1292, 7835)] {
        let found = chip((XOFF, &headroom(cells)), 3, 1);
        assert_eq!((found.ingress_loss, found.headroom), (Some(device), Some(cells)));
    }
    // The last of n groups has what the whole headroom of the others leaves of 5041 cells.
    for (congested, cells, device) in [(4, 1292, 1165), (8, 682, 267), (10, 520, 361)] {
        let found = chip((XOFF, &headroom(cells)), 3, congested).headroom.expect("a pause");
        assert!(found.abs_diff(device) <= 4, "{congested} groups: {found} cells, device {device}");
    }
}

#[test]
fn lossy_queue_loses_as_that_of_the_chip() {
    // 8/9 of 11,110 cells and eight of reserve are 9883.6; the device loses the 9887th frame.
    let found = chip(("", ""), 0, 1);
    let loss = found.egress_loss.expect("a loss");
    assert!(loss.abs_diff(9887) <= 4, "{loss}");
    assert_eq!((found.pause, found.ingress_loss), (None, None));
    // Nine queues at their limits: 8 B / (1 + 72) each.
    let nine = chip(("", ""), 0, 9).egress_loss.expect("a loss");
    assert!(nine.abs_diff(8 * 11_110 / 73 + 8) <= 2, "{nine}");
}

#[test]
fn profile_that_drops_instead_of_marking_does_not_end_a_measurement() {
    let wred = |ecn: &str| {
        let profile = format!("{{ queue = [0], min = \"9KB\", max = \"9KB\", ecn = {ecn:?} }}");
        let marking = format!("[switch]\nmarking = {{ kind = \"wred\", queues = [{profile}] }}");
        chip(("[switch]", &marking), 0, 1)
    };
    let (marks, drops) = (wred("all"), wred("none"));
    // 141 frames of 64 B are the first 9 KB or more.
    assert_eq!((marks.mark, drops.mark), (Some(142), None));
    assert_eq!(drops, chip(("", ""), 0, 1));
    assert_eq!(drops.egress_loss, marks.egress_loss);
}

#[test]
fn chip_resumes_a_group_after_seven_departures() {
    assert_eq!(chip(("", ""), 3, 1).resume, Some(7));
    // A level of XON at 1000 cells is reached after 5536 of 6536 departures.
    assert_eq!(
        chip(("xon = \"2288B\", xon_offset = \"2288B\"", "xon_offset = \"2GB\", xon = \"208000B\""), 3, 1).resume,
        Some(5536)
    );
}

#[test]
fn frames_take_whole_cells_and_slices_divide_pools() {
    let big = scenario(CHIP, "");
    let counts = |size: u16, ingress: u16, egress: u16| {
        let probe = MemoryProbe { switch: 0, streams: vec![(ingress, egress, 3)], size };
        probe_memory(&big, &probe).expect("a measurement").pause
    };
    assert_eq!((counts(208, 0, 5), counts(209, 0, 5), counts(1500, 0, 5)), (Some(6542), Some(3271), Some(818)));
    assert!((0..32).step_by(8).all(|port| counts(64, port, 31) == Some(6542)), "slices are alike");
    let one = scenario(
        &CHIP.replace("slices = 4", "slices = 1").replace(
            "slice_of = [0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 0, 0, 1, 1]",
            "slice_of = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
        ),
        "",
    );
    let probe = |streams: &[ProbeStream]| MemoryProbe { switch: 0, streams: streams.to_vec(), size: 64 };
    assert_eq!(
        probe_memory(&one, &probe(&[(0, 5, 3)])).expect("a measurement").pause,
        Some(52_284 / 2 + 6),
        "the whole pool"
    );
    assert_eq!(probe_memory(&one, &probe(&[(0, 5, 3), (0, 99, 3)])), Err(ProbeError::NoPort(99)));
    assert_eq!(probe_memory(&one, &probe(&[])), Err(ProbeError::NoStream));
}

#[test]
fn marks_in_headroom_are_counted() {
    let marking = "[switch]\nmarking = { kind = \"ecn_threshold\", k = \"7000pkt\" }";
    // One group is paused at 6542 frames, and the mark is in its headroom. Two groups share the queue: they are paused
    // at about 4363 frames each, and the mark comes first.
    assert_eq!(chip(("[switch]", marking), 3, 1).mark, Some(7001));
    assert_eq!(chip(("[switch]", marking), 3, 2).mark, Some(3501));
    // With 9000 packets, the second group finds the threshold in its headroom. It is paused at 4363 frames, and the first
    // one at 4364.
    let late = chip(("[switch]", &marking.replace("7000", "9000")), 3, 2);
    assert_eq!((late.pause, late.mark), (Some(4363), Some(9000 - 4364 + 1)));
}

#[test]
fn refused_frame_pauses_a_group_and_departures_resume_it() {
    let static_limit = CHIP.replace("kind = \"dynamic\", dynamic_th = 0", "kind = \"static\", limit = \"60MB\"");
    assert_ne!(static_limit, CHIP);
    let counts = |text: &str| {
        let probe = MemoryProbe { switch: 0, streams: vec![(0, 5, 3)], size: 64 };
        probe_memory(&scenario(text, ""), &probe).expect("a measurement")
    };
    let (stored, refused) = (counts(&static_limit), counts(&static_limit.replace(XOFF, "xoff = \"0B\"")));
    // 13,071 cells of the pool and six of reserve: the next frame takes headroom, or is lost.
    assert_eq!((stored.pause, stored.headroom, stored.resume), (Some(13_078), Some(1291), Some(1)));
    assert_eq!((refused.pause, refused.ingress_loss, refused.resume), (Some(13_078), Some(13_078), Some(1)));
}

/// Returns a scenario of four constant sources of classes 0 to 3, each at the rate of the one output.
fn four_classes(payloads: [u32; 4], scheduler: &str, more: &str) -> String {
    let source = |class: usize| {
        format!(
            "[[traffic]]\nname = \"c{class}\"\nkind = \"constant\"\nsource = \"h{class}\"\ndestination = \"h4\"\n\
             rate = \"10Gbps\"\npayload = \"{}B\"\nclass = {class}\n",
            payloads[class]
        )
    };
    let star = "kind = \"star\"\nn = 5\nlink = { rate = \"10Gbps\", delay = \"1us\" }";
    let tables = format!(
        "[switch]\nscheduler = {{ {scheduler} }}\nbuffer = {{ {more}kind = \"pools\", pools = {{ out = {{ side = \"egress\", size = \
         \"2MB\" }} }}, profiles = {{ queue = {{ pool = \"out\", reserve = \"3KB\", threshold = {{ kind = \"dynamic\" \
         }} }} }}, queues = [{{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"queue\" }}] }}\n[measure]\nfrom = \"2ms\"\n"
    );
    small("10ms", star, &format!("{tables}{}", (0..4).map(source).collect::<String>()))
}

/// Returns the payload bytes that each of four workloads delivered.
fn delivered(results: &Results) -> Vec<u64> {
    column(results, "flows", "received")
}

#[test]
fn overloaded_classes_share_the_link_by_weight_and_the_highest_loses_nothing_under_strict_priority() {
    let equal = delivered(&run(&four_classes([1460; 4], "kind = \"round_robin\"", ""), 1));
    let all: u64 = equal.iter().sum();
    assert!(equal.iter().all(|own| own.abs_diff(all / 4) * 100 <= all / 4), "{equal:?}");
    let weighted = delivered(&run(&four_classes([1460; 4], "kind = \"round_robin\", weights = [1, 2, 3, 4]", ""), 1));
    for (class, own) in (1..).zip(&weighted) {
        assert!(own.abs_diff(all * class / 10) * 100 <= all * class / 10, "{weighted:?}");
    }
    let strict = delivered(&run(&four_classes([1460; 4], "kind = \"strict_priority\"", ""), 1));
    assert!(strict[3] * 1000 > all * 999 && strict[..3].iter().all(|own| *own * 1000 < all), "{strict:?}");
    // Classes 3 and 0 have changed queues, so that class 0 is served first.
    let map = "class_to_queue = [3, 1, 2, 0, 4, 5, 6, 7], ";
    let swapped = delivered(&run(&four_classes([1460; 4], "kind = \"strict_priority\"", map), 1));
    assert!(swapped[0] * 1000 > all * 999, "{swapped:?}");
}

/// Returns a scenario of an incast into one port with lossless class 3, PFC, and these changes of [`POOLS`].
fn incast(pools: &str, pfc: &str) -> String {
    let star = "kind = \"star\"\nn = 9\nlink = { rate = \"10Gbps\", delay = \"1us\" }";
    let tables = format!(
        "[switch]\npause = {{ kind = \"pfc\"{pfc} }}\nbuffer = {{ {pools} }}\n[measure]\nqueues = true\n[[traffic]]\n\
         name = \"t\"\nkind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"100KB\"\nclass = 3\n"
    );
    small("20ms", star, &tables)
}

/// Returns [`POOLS`] without limits at egress, whose lossless groups have this headroom.
fn lossless_pools(xoff: &str) -> String {
    let size = "size = \"50KB\"";
    let text = POOLS.replace("xoff = \"8KB\", ", xoff).replace(size, "size = \"10MB\"");
    text.replace("threshold = { kind = \"dynamic\", alpha = 1 }", "threshold = { kind = \"static\" }")
}

#[test]
fn lossless_classes_lose_nothing_with_computed_headroom_and_a_report_names_the_group_without_it() {
    let results = run(&incast(&lossless_pools(""), ""), 1);
    assert_eq!((drops(&results), results.progress.stop), (0, Some(StopReason::Done)));
    assert!(results.lossless_losses.is_empty());
    assert!(total(&results, "pauses", "times") > 0, "the far ends are paused");
    assert!(pauses(&results).iter().all(|[.., class]| *class == 3));
    let small = scenario(&incast(&lossless_pools("xoff = \"400B\", "), ""), "");
    let lost = run_with(&small, 1, Options::default()).lost.expect("a packet is lost");
    let group = lost.lost.group.expect("a group");
    assert_eq!((group.number, group.headroom.limit, lost.lost.class), (3, Some(400), 3));
    let told = lost.describe(&small);
    assert!(told.contains("Priority group 3 of this port used") && told.contains("of its headroom of 400B"), "{told}");
    let counted = run(&incast(&lossless_pools("xoff = \"400B\", "), ", lossless = false"), 1);
    let table = counted.table("ports").expect("a table");
    let name = format!("drop_{}", DropReason::InputFull.name());
    assert!(table.columns.iter().any(|(own, _)| *own == name));
    assert!(total(&counted, "ports", &name) > 0 && total(&counted, "ports", &name) == drops(&counted));
    // Groups of lossy classes have no such losses, and the first loss is the one that ends the run otherwise.
    let losses = &counted.lossless_losses;
    assert_eq!(losses.iter().map(|(_, one)| one.packets).sum::<u64>(), drops(&counted));
    assert!(losses.iter().all(|(node, one)| (*node, one.group) == (9, 3)), "{losses:?}");
    let first = losses.iter().min_by_key(|(_, one)| one.first).map(|(_, one)| (one.first, one.port));
    assert_eq!(first, Some((lost.at, lost.lost.ingress)));
}

#[test]
fn classes_of_one_group_are_paused_together_and_hold_until_the_last_is_resumed() {
    let map = lossless_pools("").replace("cell", "class_to_group = [3, 3, 3, 3, 0, 0, 0, 0], cell");
    let other =
        "[[traffic]]\nname = \"other\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h1\"\nsize = \"1KB\"\nclass = 0\n";
    let results = run(&format!("{}\n{other}", incast(&map, "")), 1);
    assert_eq!(drops(&results), 0);
    // The frames name all four classes of the group; the tables have those in use.
    let of_class = |class: u64| pauses(&results).iter().filter(|row| row[4] == class).count();
    assert!(of_class(3) > 0 && of_class(0) == of_class(3) && of_class(1) + of_class(2) == 0);
}

#[test]
fn runs_with_pools_are_repeatable_by_heap_and_by_clone() {
    same_again(&incast(&lossless_pools(""), ""), 3);
    let more = lossless_pools("").replace("cell", "react = \"pool\", release = \"end\", cell");
    same_again(&incast(&more, ", response = \"300ns\""), 3);
}

#[test]
fn memory_that_is_freed_at_the_end_holds_one_frame_less() {
    let text = |release: &str| {
        let star = "kind = \"star\"\nn = 3\nlink = { rate = \"1Gbps\", delay = \"1us\" }";
        let buffer = format!(
            "kind = \"pools\", release = \"{release}\", pools = {{ out = {{ side = \"egress\", size = \"6072B\" }} }}, \
             profiles = {{ queue = {{ pool = \"out\" }} }}, queues = [{{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \
             \"queue\" }}]"
        );
        let burst = "[[traffic]]\nname = \"b\"\nkind = \"bursts\"\nsources = [\"h0\", \"h1\"]\ndestination = \"h2\"\n\
                     payload = \"1460B\"\npackets = 20\ninterval = \"12304ns\"\npause = \"1s\"\n";
        small("2ms", star, &format!("[switch]\nbuffer = {{ {buffer} }}\n[measure]\nqueues = true\n{burst}"))
    };
    // Two packets arrive in the time of one: four frames of 1518 B fit beside the one in transmission, or with it.
    let most = |release: &str| {
        let results = run(&text(release), 1);
        let [queued] = *rows(&results, "ports", ["max_packets"]).iter().max().expect("a port");
        (queued, drops(&results))
    };
    let (start, end) = (most("start"), most("end"));
    assert_eq!((start.0, end.0), (4, 3));
    assert_eq!(end.1, start.1 + 1);
}

/// Two racks of eight hosts at 60% load with periodic incasts, in two lossless classes with computed headroom.
const LOSSLESS_RACKS: &str = include_str!("pools/racks.toml");

#[test]
fn groups_with_computed_headroom_never_lose() {
    // A static limit at a full pool and a large alpha fill the headroom often.
    for threshold in ["kind = \"dynamic\", alpha = 8", "kind = \"static\", limit = \"400KB\""] {
        let scenario = scenario(&LOSSLESS_RACKS.replace("kind = \"dynamic\", alpha = 8", threshold), "");
        for seed in 1..=3 {
            let results = run_with(&scenario, seed, Options::default());
            assert_eq!(results.progress.stop, Some(StopReason::Done), "{threshold}, seed {seed}");
            assert!(drops(&results) == 0 && !pauses(&results).is_empty(), "{threshold}, seed {seed}");
        }
    }
}

/// Test of the errors for lossless packets that are lost at ingress and at egress: they name keys of the profiles.
#[test]
fn lost_lossless_packets_are_described_with_the_keys_of_pools() {
    let fails = |profiles: &str, out: &str| {
        let text = format!(
            "name = \"few\"\nduration = \"1ms\"\nhost.nic = {{ kind = \"round_robin\" }}\nswitch.pause.kind = \"pfc\"\n\
             topology = {{ kind = \"star\", n = 4, link = {{ rate = \"100Gbps\", delay = \"600ns\" }} }}\n\
             transport = {{ kind = \"roce\", mss = \"4096B\" }}\n[switch.buffer]\nkind = \"pools\"\n\
             pools = {{ in = {{ side = \"ingress\", size = \"1MB\" }}, out = {{ side = \"egress\", size = \"{out}\" }} }}\n\
             profiles = {{ {profiles} }}\ngroups = [{{ group = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"l\" }}]\n\
             queues = [{{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"q\" }}]\n[[traffic]]\nname = \"a\"\n\
             kind = \"incast\"\nsenders = 3\nreceiver = \"h0\"\nsize = \"1MB\"\nclass = 3\n"
        );
        let lost = run(&text, 1).lost.expect("a packet is lost");
        lost.describe(&scenario(&text, ""))
    };
    let group = |limit: u32, more: &str| {
        let threshold = format!("threshold = {{ kind = \"static\", limit = \"{limit}KB\" }}");
        format!("l = {{ pool = \"in\", lossless = true, {threshold}{more} }}")
    };
    let ingress = fails(&format!("{}, q = {{ pool = \"out\" }}", group(10, ", xoff = \"1KB\"")), "30MB");
    assert!(ingress.contains("of its headroom of 1KB, and"), "{ingress}");
    assert!(ingress.contains("A larger `xoff` in the profile of the group, or more shared headroom,"), "{ingress}");
    let threshold = "threshold = { kind = \"dynamic\", alpha = 0.01 }";
    let queue = fails(&format!("{}, q = {{ pool = \"out\", {threshold} }}", group(500, "")), "30MB");
    assert!(queue.contains(", which falls as the shared memory fills. A larger limit or pool of the queue"), "{queue}");
    let fixed = "threshold = { kind = \"static\", limit = \"50KB\" }";
    let still = fails(&format!("{}, q = {{ pool = \"out\", {fixed} }}", group(500, "")), "30MB");
    assert!(still.contains("B in use, with a limit of 50KB. A larger limit or pool"), "{still}");
    let pool = fails(&format!("{}, q = {{ pool = \"out\" }}", group(500, "")), "100KB");
    assert!(pool.contains("in use, without a limit of its own, and its pool had no more memory. A larger"), "{pool}");
    for text in [ingress, queue, still, pool] {
        assert!(!text.contains("switch.pause") && !text.contains("18446744073709551615"), "{text}");
    }
}

/// Memory without priority groups, beside which PAUSE has thresholds of its own.
const EGRESS_POOLS: &str = "kind = \"pools\", cell = \"80B\", pools = { out = { side = \"egress\", size = \"50KB\" } }, \
    profiles = { queue = { pool = \"out\", reserve = \"2KB\", threshold = { kind = \"dynamic\", alpha = 1 } } }, \
    queues = [{ queue = [0, 1, 2, 3, 4, 5, 6, 7], profile = \"queue\" }]";

#[test]
fn every_mechanism_works_with_pools() {
    let overflows = [
        "kind = \"tail_drop\"",
        "kind = \"detour\"",
        "kind = \"bounce\", theta = 0.5, bounce_size = \"7KB\"",
        "kind = \"trim\"",
        "kind = \"trim\", victim = \"coin\", header_class = 6",
        "kind = \"evict\"",
    ];
    let others = [
        "marking = { kind = \"ecn_threshold\", k = \"6KB\" }",
        "marking = { kind = \"red\", min = \"3KB\", max = \"9KB\" }\nscheduler = { kind = \"round_robin\" }",
        "ack_hold = { kind = \"abq\" }\nscheduler = { kind = \"fifo\" }",
        "notify = { kind = \"qcn\", at = \"outputs\" }\nscheduler = { kind = \"srpt\" }",
        "pause = { kind = \"pfc\", lossless = false }\nsimultaneous = \"snapshot\"",
        "pause = { kind = \"pfc\", xoff = \"20KB\", xon = \"10KB\", lossless = false }",
        "pause = { kind = \"pause\", xoff = \"20KB\", xon = \"10KB\", lossless = false }",
    ];
    for overflow in overflows {
        for other in others {
            let topology = "kind = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 5";
            let buffer = if other.contains("xoff") { EGRESS_POOLS } else { POOLS };
            let tables = format!(
                "[switch]\noverflow = {{ {overflow} }}\nbuffer = {{ {buffer} }}\n{other}\n[transport]\nkind = \"dctcp\"\n\
                 min_rto = \"1ms\"\n[measure]\nqueues = true\n[[traffic]]\nname = \"a\"\nkind = \"incast\"\nsenders = 8\n\
                 receiver = \"h0\"\nsize = \"60KB\"\nclass = 3\n[[traffic]]\nname = \"b\"\nkind = \"incast\"\n\
                 senders = 5\nreceiver = \"h1\"\nsize = \"30KB\"\n"
            );
            let text = small("1s", topology, &tables);
            let results = run(&text, 1);
            // Packets that detour while PFC pauses links may wait for each other, and their flows then never end.
            let ends = !(overflow.contains("detour") && other.contains("pfc"));
            assert!(!ends || results.progress.stop == Some(StopReason::Done), "{overflow}, {other}");
            assert!(!ends || results.progress.completed == 13, "{overflow}, {other}: all flows end");
        }
    }
}
