//! Tests of switches with several stages in whole runs.
//!
//! Runs are exact to the picosecond if they can be worked out by hand; laws are checked over random scenarios.
//!
//! Frames have 1518 B, 1538 B on the wire, and links have 10 Gb/s and a delay of 1 us: a frame takes 1230.4 ns on one.
//! With a speedup of 2 it moves into a stage, across it and out of it in 607.2 ns each. An internal link of 2.5 Gb/s
//! takes 4857.6 ns. h0 and h1 are at the first stage, h2 and h3 at the second.

use crate::cioq;
use crate::common::digest::digest;
use crate::common::draw::drawn_run;
use crate::common::watched::watch;
use crate::common::{column, drops, run, scenario, total};
use dataplane::{OversizedFrame, Pkt};
use property::for_all;
use proptest::prelude::Strategy;
use sim::{EventLocation, Observer, Options};

const LINK: u64 = 1_230_400;
const DELAY: u64 = 1_000_000;
const STEP: u64 = 607_200;
const INSIDE: u64 = 4_857_600;
/// Time in ps at which the first frame of a burst that begins at 0 is stored at the switch.
const FIRST_ARRIVAL: u64 = LINK + DELAY;

fn star(switch: &str, traffic: &str) -> String {
    format!(
        "name = \"fabric\"\nduration = \"2ms\"\n[topology]\nkind = \"star\"\nn = 4\n\
         link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n[host]\nnic_jitter = \"0us\"\n\
         [switch]\nmodel = \"fabric\"\nbuffer = {{ kind = \"unlimited\" }}\n{switch}\n[measure]\npackets = true\n{traffic}"
    )
}

fn mesh(more: &str) -> String {
    format!("fabric = {{ kind = \"mesh\", link_rate = \"2.5Gbps\"{more} }}")
}

fn burst(from: u32, to: u32, frames: u32, more: &str) -> String {
    format!(
        "[[traffic]]\nname = \"b{from}_{to}\"\nkind = \"bursts\"\nsource = \"h{from}\"\ndestination = \"h{to}\"\n\
         payload = \"1460B\"\npackets = {frames}\ninterval = \"1230400ps\"\npause = \"1s\"\n{more}\n"
    )
}

/// Record of events of frames: deliveries by destination and number, departures from the memory of their input,
/// releases of their copies, and the internal buffers that they reached.
#[derive(Clone, Default)]
struct Seen {
    delivered: Vec<(u64, u32, u32)>,
    crossed: Vec<u64>,
    acknowledged: Vec<u64>,
    moved: Vec<u16>,
    /// Number of frames delivered by 2 ms, by traffic class.
    by_class: [u64; 8],
}

impl Observer for Seen {
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.delivered.push((at.now.0, at.node, pkt.emission));
        self.by_class[usize::from(pkt.head.class())] += u64::from(at.now.0 < 2_000_000_000);
    }
    fn on_input_dequeue(&mut self, at: EventLocation, _input: u32, _pkt: &Pkt) {
        self.crossed.push(at.now.0);
    }
    fn on_copy_freed(&mut self, at: EventLocation, _input: u32, _copy: &Pkt) {
        self.acknowledged.push(at.now.0);
    }
    fn on_stage_arrival(&mut self, _at: EventLocation, buffer: u16, _pkt: &Pkt) {
        self.moved.push(buffer);
    }
}

/// Returns the recorded events of a run; its counters must balance after every event.
fn seen(text: &str) -> Seen {
    let s = scenario(text, "");
    let mut world = watch(&s, 1, Options::default(), Seen::default());
    while world.progress().stop.is_none() {
        world.advance(1);
        assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
        world = world.clone();
    }
    world.observer().clone()
}

#[test]
fn a_frame_goes_by_every_buffer_of_its_way_to_the_picosecond() {
    let own = seen(&star(&mesh(""), &burst(0, 1, 1, "")));
    assert_eq!(own.delivered, [(FIRST_ARRIVAL + 2 * STEP + LINK + DELAY, 1, 0)]);
    // The input buffer of port 0's stage, and no link.
    assert_eq!((own.moved, own.crossed), (vec![0], vec![FIRST_ARRIVAL + STEP]));
    let far = seen(&star(&mesh(""), &burst(0, 2, 1, "")));
    assert_eq!(far.delivered, [(FIRST_ARRIVAL + 3 * STEP + INSIDE + LINK + DELAY, 2, 0)]);
    // The buffer before the first link, and the one behind it.
    assert_eq!((far.moved, far.crossed), (vec![0, 4, 5], vec![FIRST_ARRIVAL + STEP]));
    let clos = "fabric = { kind = \"folded_clos\", cores = 1, link_rate = \"2.5Gbps\" }";
    let clos = seen(&star(clos, &burst(0, 2, 1, "")));
    assert_eq!(clos.delivered, [(FIRST_ARRIVAL + 4 * STEP + 2 * INSIDE + LINK + DELAY, 2, 0)]);
    // Up from the first stage, down to the second.
    assert_eq!(clos.moved, [0, 4, 5, 10, 11]);
}

/// Test of the table of internal buffers, with times computed by hand.
/// Buffer space is reserved from the start of a move to the buffer until the frame has left. In the stage of port 0
/// that is two steps, before the link a step and the link, behind it the link and a step.
#[test]
fn internal_buffer_table_is_exact_to_byte_and_picosecond() {
    let text = format!("{}[measure]\ninputs = true\nbin = \"5us\"\n", burst(0, 2, 1, ""));
    let text = star(&mesh(""), "").replace("[measure]\npackets = true\n", &text);
    let results = run(&text, 1);
    let of = |name: &str| column(&results, "fabric_buffers", name);
    assert_eq!(of("max_bytes"), [1518, 0, 0, 0, 1518, 1518, 0, 0]);
    assert_eq!(of("bytes"), [1518, 0, 0, 0, 1518, 1518, 0, 0]);
    let floats = |table: &str, name: &str| column(&results, table, name).into_iter().map(f64::from_bits);
    let area: Vec<u64> = floats("fabric_buffers", "byte_ps").map(|area| area as u64).collect();
    let link = STEP + INSIDE;
    assert_eq!(area, [1518 * 2 * STEP, 0, 0, 0, 1518 * link, 1518 * link, 0, 0]);
    assert_eq!((of("stage"), of("place")), (vec![0, 0, 1, 1, 0, 1, 1, 0], vec![0, 0, 0, 0, 1, 2, 1, 2]));
    assert_eq!(of("number"), [0, 1, 2, 3, 0, 0, 1, 1]);
    let (wide, narrow) = (2e10, 2.5e9);
    let rates: Vec<f64> = floats("fabric_buffers", "rate_bps").collect();
    assert_eq!(rates, [wide, wide, wide, wide, wide, narrow, wide, narrow]);
    // The frame arrives at 2.2304 us, is before the link from 2.8376 us on, and behind it at 8.3024 us.
    let trace = |name: &str| column(&results, "fabric_trace", name);
    assert_eq!((trace("bin"), trace("buffer")), (vec![0, 0, 0, 1, 1], vec![0, 4, 5, 4, 5]));
    assert_eq!(trace("max_bytes"), [1518; 5]);
    let (moved, crossed) = (5_000_000 - FIRST_ARRIVAL - 2 * STEP, FIRST_ARRIVAL + 2 * STEP + INSIDE - 5_000_000);
    assert_eq!(trace("busy_ps"), [STEP, STEP, moved, 0, crossed]);
    assert_eq!(of("busy_ps"), [STEP, 0, 0, 0, STEP, INSIDE, 0, 0]);
    let mean = floats("fabric_trace", "mean_bytes").sum::<f64>() * 5e6;
    assert!((mean - area.iter().sum::<u64>() as f64).abs() < 1.0, "{mean}");
}

#[test]
fn what_moves_over_internal_links_and_fills_their_buffers_is_measured_in_the_window() {
    let switch = mesh(", link_buffer = \"3036B\", stage_buffer = \"4554B\"");
    let text = star(&switch, &burst(0, 2, 30, ""));
    let results = run(&text, 1);
    let of = |results, name: &str| column(results, "fabric_buffers", name);
    assert_eq!(of(&results, "max_bytes"), [4554, 0, 0, 0, 3036, 3036, 0, 0]);
    assert_eq!(of(&results, "bytes"), [30 * 1518, 0, 0, 0, 30 * 1518, 30 * 1518, 0, 0]);
    assert!(column(&results, "fabric_trace", "bin").is_empty(), "buffers are not followed");
    // The link carries a frame every 4.8576 us: in 50 us that begin long after the first, ten or eleven.
    let window = text.replace("[measure]\n", "[measure]\nfrom = \"40us\"\nto = \"90us\"\n");
    let inside = run(&window, 1);
    assert!([10 * 1518, 11 * 1518].contains(&of(&inside, "bytes")[5]), "{:?}", of(&inside, "bytes"));
    assert_eq!(of(&inside, "busy_ps")[5], 50_000_000, "it is never idle");
    let short = run(&text.replace("[measure]\n", "[measure]\nfrom = \"40us\"\nto = \"42us\"\n"), 1);
    assert_eq!(of(&short, "busy_ps")[5], 2_000_000, "less than a frame takes");
    assert_eq!(of(&inside, "max_bytes")[4], 3036);
    let idle = run(&text.replace("[measure]\n", "[measure]\nfrom = \"1ms\"\n"), 1);
    assert_eq!((of(&idle, "max_bytes"), of(&idle, "bytes")), (vec![0; 8], vec![0; 8]));
}

#[test]
fn an_internal_link_that_is_slower_sets_the_pace_and_loses_nothing() {
    let switch = mesh(", link_buffer = \"3036B\", stage_buffer = \"3036B\"");
    let text = star(&switch, &burst(0, 2, 30, ""));
    let first = FIRST_ARRIVAL + 3 * STEP + INSIDE + LINK + DELAY;
    let expected: Vec<_> = (0..30).map(|n| (first + n * INSIDE, 2, n as u32)).collect();
    assert_eq!(seen(&text).delivered, expected);
    assert_eq!(drops(&run(&text, 1)), 0);
}

/// Test of losses, which happen only at inputs.
/// The stage's buffer holds two frames and that of the link two; with the one on the link this makes five, and the
/// input holds six. Of 30 frames, which arrive four times as fast as they leave, some are lost, all at the input.
#[test]
fn packets_are_lost_at_inputs_and_never_in_internal_buffers() {
    let switch = format!("input_buffer = \"6pkt\"\n{}", mesh(", link_buffer = \"3036B\", stage_buffer = \"3036B\""));
    let results = run(&star(&switch, &burst(0, 2, 30, "")), 1);
    let lost = total(&results, "ports", "drop_input_full");
    assert!((8..20).contains(&lost), "{lost}");
    assert_eq!(drops(&results), lost);
}

/// Test of head-of-line blocking with one list of frames for all next hops.
/// h0 sends to h2, whose path is four times as slow, and then to h1. With one list the frames for h1 wait behind those
/// for h2. With a list for each next hop they pass, as long as the stage's buffer has free space.
#[test]
fn with_one_list_a_frame_waits_behind_those_for_another_way() {
    let traffic = [burst(0, 2, 8, ""), burst(0, 1, 4, "start = \"9843200ps\"")].concat();
    let last = |lists: &str| {
        let more = format!(", lists = \"{lists}\", link_buffer = \"3036B\", stage_buffer = \"9108B\"");
        let all = seen(&star(&mesh(&more), &traffic)).delivered;
        all.into_iter().filter(|(_, node, _)| *node == 1).map(|(at, _, _)| at).max().expect("some came")
    };
    let alone = FIRST_ARRIVAL + 11 * LINK + 2 * STEP + LINK + DELAY;
    assert_eq!(last("by_exit"), alone);
    assert!(last("fifo") > alone + 3 * INSIDE, "{} after {alone}", last("fifo"));
}

#[test]
fn a_copy_stays_at_the_input_until_the_buffer_of_the_output_has_acknowledged_the_frame() {
    let switch = mesh(", end_to_end = true, ack_delay = \"3us\"");
    let kept = seen(&star(&switch, &burst(0, 2, 3, "")));
    let there = FIRST_ARRIVAL + 3 * STEP + INSIDE;
    assert_eq!(kept.acknowledged, [0, 1, 2].map(|n| there + n * INSIDE + 3_000_000));
    assert!(kept.crossed.is_empty(), "no memory is free before");
    let plain = seen(&star(&mesh(""), &burst(0, 2, 3, "")));
    assert_eq!(kept.delivered, plain.delivered, "copies delay nothing");
    assert_eq!(plain.crossed, [0, 1, 2].map(|n| FIRST_ARRIVAL + n * LINK + STEP));
}

#[test]
fn copies_count_against_the_memory_of_the_input() {
    let lost = |more: &str| {
        let switch = format!("input_buffer = \"4pkt\"\n{}", mesh(more));
        total(&run(&star(&switch, &burst(0, 2, 12, "")), 1), "ports", "drop_input_full")
    };
    assert_eq!(lost(""), 0, "16 frames have room inside");
    assert!(lost(", end_to_end = true") > 4);
}

/// Test of marking, which counts frames in internal buffers.
/// 32 frames arrive in 40 us, of which about eight leave meanwhile. The internal buffers hold more than the rest, so
/// that the virtual output queues are almost empty.
#[test]
fn queue_length_for_marking_includes_internal_buffers() {
    let traffic = "[[traffic]]\nname = \"c\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h2\"\nrate = \"10Gbps\"\n\
                   ecn = true\nstop = \"40us\"\n";
    let switch = format!("marking = {{ kind = \"ecn_threshold\", k = \"5pkt\" }}\n{}", mesh(""));
    let marked = total(&run(&star(&switch, traffic), 1), "ports", "marked");
    assert!((24..=28).contains(&marked), "{marked}");
}

/// Test of the shares of traffic classes on an internal link.
/// Three classes offer 5 Gb/s each to an internal link of 2.5 Gb/s, and class 7 offers almost nothing. Each of the
/// three gets a third of the link, and no class waits for one without frames.
#[test]
fn classes_that_are_backlogged_share_an_internal_link_frame_by_frame() {
    let flow = |class: u32, rate: &str| {
        format!(
            "[[traffic]]\nname = \"c{class}\"\nkind = \"constant\"\nsource = \"h{}\"\ndestination = \"h{}\"\nrate = \"{rate}\"\n\
             class = {class}\nbacklog = \"9KB\"\nstop = \"2ms\"\n",
            class % 2,
            2 + class % 2
        )
    };
    let traffic = [flow(0, "5Gbps"), flow(1, "5Gbps"), flow(2, "4Gbps"), flow(7, "20Mbps")].concat();
    for kind in ["mesh", "folded_clos\", cores = 1, lists = \"fifo"] {
        let switch = format!("fabric = {{ kind = \"{kind}\", link_rate = \"2.5Gbps\" }}");
        let text = star(&switch, &traffic)
            .replace("nic_jitter = \"0us\"\n", "nic_jitter = \"0us\"\nnic = { kind = \"round_robin\" }\n");
        let all = seen(&text).by_class;
        let third = all[..3].iter().sum::<u64>() / 3;
        assert!(all[..3].iter().all(|own| own.abs_diff(third) < third / 20), "{kind}: {all:?}");
        assert!(all[7] >= 2, "{kind}: {all:?}");
    }
}

/// Test of two-sample culprit selection, with an internal link that is congested.
/// Occupancy sampling names f1 and f2 equally often, since their backlogs are equal. Of two samples, the one whose path
/// is more congested is named: that of f2.
#[test]
fn two_samples_notify_the_flow_on_the_congested_internal_link() {
    let flow = |n: u32, to: u32| {
        format!(
            "[[traffic]]\nname = \"f{n}\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h{to}\"\nrate = \"5Gbps\"\n\
             payload = \"1464B\"\njitter = \"2467200ps\"\nbacklog = \"64KB\"\n"
        )
    };
    let told = |culprit: &str| {
        let switch = format!(
            "{}\narbiter = {{ kind = \"oldest_first\" }}\npause = {{ kind = \"pfc\", xoff = \"110KB\", xon = \"44KB\" }}\n\
             notify = {{ kind = \"qcn\", at = \"inputs\", culprit = \"{culprit}\", interval = \"15KB\" }}",
            mesh("")
        );
        let text = star(&switch, &[flow(1, 1), flow(2, 2)].concat());
        let text = text.replace("nic_jitter = \"0us\"\n", "nic_jitter = \"0us\"\nnic = { kind = \"round_robin\" }\n");
        let text = text.replace("packets = true", "notices = true").replace("\"2ms\"", "\"12ms\"");
        let results = run(&text, 1);
        let flows = column(&results, "notices", "flow");
        let first = flows.iter().filter(|flow| **flow == *flows.iter().min().expect("some are told")).count();
        (flows.len(), first as f64 / flows.len() as f64)
    };
    let (one, two) = (told("occupancy"), told("two_samples"));
    assert!(one.0 > 100 && two.0 > 100, "{one:?} and {two:?}");
    assert!((0.4..0.6).contains(&one.1) && two.1 < 0.4, "{one:?} and {two:?}");
}

/// Test of the error for a lossless frame that is larger than an internal buffer.
/// The message names the internal buffer as the cause, not the memory of the port or its threshold.
#[test]
fn a_lossless_frame_that_is_larger_than_a_buffer_inside_ends_the_run_and_that_is_what_is_said() {
    let told = |buffers: &str, size: &str| {
        let pause = "pause = { kind = \"pfc\", xoff = \"50KB\", xon = \"20KB\" }\noverflow = { kind = \"tail_drop\" }";
        let text = star(&format!("{}\n{pause}", mesh(buffers)), &burst(0, 2, 3, "").replace("1460B", size));
        let lost = run(&text, 1).lost;
        lost.map(|lost| (lost.lost.inside, lost.describe(&scenario(&text, ""))))
    };
    let small = ", stage_buffer = \"9KB\", link_buffer = \"1000B\"";
    let (inside, text) = told(small, "1460B").expect("it never has room there");
    assert_eq!(inside, Some(OversizedFrame { size: 1518, stage_buffer: 9000, link_buffer: 1000 }));
    assert_eq!(
        text,
        "a packet of a lossless class was lost, because no memory was free: switch s0, port 0 (from h0), class 0, at \
         2.2304us. This frame of 1518B does not fit in a buffer of 1KB inside the switch, even if it is empty. A \
         larger link_buffer prevents such a loss; with `lossless = false`, such a loss is counted and the run continues"
    );
    let (_, text) = told(", stage_buffer = \"1517B\", link_buffer = \"999B\"", "1460B").expect("nor there");
    assert!(text.contains("a buffer of 1517B or 999B inside the switch"), "{text}");
    assert!(text.contains("A larger stage_buffer and link_buffer prevent such"), "{text}");
    assert_eq!(told(small, "942B"), None, "1000 B fit");
}

/// Returns a strategy for scenarios of the tests of `cioq`, one for each of four fabrics with several stages.
/// Two of the fabrics have events that change the network.
fn one_of_each_fabric() -> impl Strategy<Value = [(String, u64); 4]> {
    [
        ("kind = \"mesh\", link_rate = \"700Mbps\", link_buffer = \"5KB\", stage_buffer = \"4KB\"", false),
        ("kind = \"mesh\", link_rate = \"2Gbps\", lists = \"fifo\", link_buffer = \"3KB\", stage_buffer = \"3KB\", end_to_end = true", true),
        ("kind = \"folded_clos\", link_rate = \"1Gbps\", cores = 3, lists = \"fifo\", stage_buffer = \"6KB\"", false),
        ("kind = \"folded_clos\", link_rate = \"400Mbps\", cores = 1, end_to_end = true, ack_delay = \"40us\"", true),
    ]
    .map(|(fabric, with_events)| {
        drawn_run(move |draw| {
            let text = cioq::random(draw, with_events);
            text.replace("model = \"cioq\"\n", &format!("model = \"fabric\"\nfabric = {{ {fabric} }}\n"))
        })
    })
}

#[test]
fn nothing_is_lost_uncounted_over_random_scenarios_with_stages() {
    let mut inside = 0;
    for_all(6, one_of_each_fabric(), |scenarios| {
        for (text, n) in scenarios {
            cioq::audited(n, &text, 600_000);
            let s = scenario(&text, "");
            let mut watched = watch(&s, n, Options { max_events: Some(20_000), ..Options::default() }, Seen::default());
            watched.run();
            inside += watched.observer().moved.len();
        }
    });
    assert!(inside > 10_000, "{inside} moves");
}

#[test]
fn runs_with_stages_are_the_same_divided_into_any_number_of_partitions() {
    for_all(1, one_of_each_fabric(), |scenarios| {
        for (text, n) in scenarios {
            let s = scenario(&text, "");
            let whole = digest(&s, n, Options::default());
            for partitions in [2, 3] {
                let options = Options { partitions, ..Options::default() };
                assert!(whole == digest(&s, n, options), "{partitions} partitions\n{text}");
            }
        }
    });
}
