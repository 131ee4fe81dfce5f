//! Tests of switches with combined input and output queueing in whole runs.
//!
//! Runs are exact to the picosecond if they can be worked out by hand; laws are checked over random scenarios.
//!
//! Frames have 1518 B, 1538 B on the wire, and links have a delay of 1 us. A frame takes 1230.4 ns on a link of 10 Gb/s
//! and 12304 ns at 1 Gb/s. With a speedup of 2 it crosses to an output of 10 Gb/s in 607.2 ns, to one of 1 Gb/s in 6072
//! ns.

use crate::common::digest::digest;
use crate::common::draw::{Draw, drawn_run};
use crate::common::watched::watch;
use crate::common::{column, drops, rows, run, run_with, scenario, total, world};
use dataplane::Pkt;
use property::for_all;
use sim::{EventLocation, Observer, Options, Results};

/// Transmission time of a frame at 10 Gb/s in ps; `SLOW` is that at 1 Gb/s, and `DELAY` is the delay of a link.
const FAST: u64 = 1_230_400;
const SLOW: u64 = 12_304_000;
const DELAY: u64 = 1_000_000;

/// Returns a scenario of a star with hosts h0, h1 and so on, by the rates of their links, which are the switch ports in
/// order.
fn star(rates: &[&str], switch: &str, traffic: &str) -> String {
    let hosts = (0..rates.len()).map(|n| format!("{{ name = \"h{n}\", kind = \"host\" }}, ")).collect::<String>();
    let link =
        |(n, rate): (usize, &&str)| format!("{{ a = \"s\", b = \"h{n}\", rate = \"{rate}\", delay = \"1us\" }}, ");
    let links = rates.iter().enumerate().map(link).collect::<String>();
    format!(
        "name = \"cioq\"\nduration = \"2ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{hosts}{{ name = \"s\", kind = \"switch\" }}]\nlink = [{links}]\n[switch]\n{switch}\n\
         [measure]\npackets = true\n{traffic}"
    )
}

/// Returns a workload with a burst of `frames` raw frames, back to back at 10 Gb/s.
fn burst(from: u32, to: u32, frames: u32, more: &str) -> String {
    format!(
        "[[traffic]]\nname = \"b{from}_{to}\"\nkind = \"bursts\"\nsource = \"h{from}\"\ndestination = \"h{to}\"\n\
         payload = \"1460B\"\npackets = {frames}\ninterval = \"1230400ps\"\npause = \"1s\"\n{more}\n"
    )
}

/// Record of packets delivered to transports: time in ps, source, destination, and the packet's number.
#[derive(Clone, Default)]
struct Delivered(Vec<(u64, u32, u32, u32)>);

impl Observer for Delivered {
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.0.push((at.now.0, pkt.head.src.0, at.node, pkt.emission));
    }
}

/// Returns all deliveries of a run, which must be identical by wheel, by heap and cloned midway. Counters must balance
/// after every event.
fn deliveries(text: &str) -> Vec<(u64, u32, u32, u32)> {
    let s = scenario(text, "");
    let ran = |options| {
        let mut world = watch(&s, 1, options, Delivered::default());
        while world.progress().stop.is_none() {
            world.advance(1);
            assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
            world = world.clone();
        }
        world.observer().0.clone()
    };
    let whole = ran(Options::default());
    assert_eq!(whole, ran(Options { heap: true, ..Options::default() }));
    whole
}

fn lost(results: &Results, reason: &str) -> u64 {
    total(results, "ports", &format!("drop_{reason}"))
}

const UNLIMITED: &str = "model = \"cioq\"\nbuffer = { kind = \"unlimited\" }";

/// Test of two inputs that take turns at an output, with times computed by hand.
/// Frames A of h0 and B of h1 reach the switch at the same instants, 2230.4 ns and every 1230.4 ns from then on. A0
/// crosses until 2837.6 ns and leaves; B0 crosses until 3444.8 ns and waits for the link. Turns alternate like this, A
/// first.
#[test]
fn two_inputs_take_turns_at_an_output_to_the_picosecond() {
    let traffic = [burst(0, 2, 3, ""), burst(1, 2, 3, "")].concat();
    let found = deliveries(&star(&["10Gbps"; 4], UNLIMITED, &traffic));
    let first = FAST + DELAY + 607_200 + FAST + DELAY;
    let expected: Vec<_> = (0..6).map(|n| (first + n * FAST, n as u32 % 2, 2, n as u32 / 2)).collect();
    assert_eq!(found, expected);
}

/// Test of two inputs and two outputs without contention.
/// h0 sends to h2 and h1 to h3, and vice versa two frames later: an input feeds both outputs simultaneously.
#[test]
fn two_inputs_and_two_outputs_cross_without_meeting() {
    let later = "start = \"2460800ps\"";
    let traffic = [burst(0, 2, 2, ""), burst(1, 3, 2, ""), burst(0, 3, 2, later), burst(1, 2, 2, later)].concat();
    let mut found = deliveries(&star(&["10Gbps"; 4], UNLIMITED, &traffic));
    found.sort_unstable();
    let first = FAST + DELAY + 607_200 + FAST + DELAY;
    let row = |n: u64, ends: [(u32, u32); 2]| ends.map(|(from, to)| (first + n * FAST, from, to, n as u32 % 2));
    let straight = [(0, 2), (1, 3)];
    let crossed = [(0, 3), (1, 2)];
    assert_eq!(found, [row(0, straight), row(1, straight), row(2, crossed), row(3, crossed)].concat());
}

/// Test of the time that a frame takes to cross the switch, by speedup.
/// Frames of a single sender meet no contention: each is later by its transfer only. 12144 bits take 1214.4 ns at 10
/// Gb/s, and 173485.7 ps at seven times that rate.
#[test]
fn without_contention_a_frame_is_later_by_its_transfer_rounded_up() {
    let traffic = burst(0, 1, 20, "");
    let plain = deliveries(&star(&["10Gbps"; 2], "buffer = { kind = \"unlimited\" }", &traffic));
    assert_eq!(plain.len(), 20);
    for (speedup, transfer) in [("1", 1_214_400), ("1.25", 971_520), ("2.0", 607_200), ("7", 173_486), ("100", 12_144)]
    {
        let found = deliveries(&star(&["10Gbps"; 2], &format!("{UNLIMITED}\nspeedup = {speedup}"), &traffic));
        let expected: Vec<_> = plain.iter().map(|(at, a, b, n)| (at + transfer, *a, *b, *n)).collect();
        assert_eq!(found, expected, "speedup {speedup}");
    }
}

/// Test of an input that is full, with times computed by hand.
/// Times from the first arrival on, in ns. Frame 0 crosses from 0 to 6072. Frame 1 arrives at 1230.4 and fills the
/// input's 3036 B, since frame 0 stays there until it has crossed. Frames 2, 3 and 4 are lost. 5 arrives at 6152 and
/// fits; 1 crosses until 12144, and 6 to 9 are lost.
#[test]
fn an_input_holds_a_frame_until_it_has_crossed_and_loses_what_has_no_room() {
    let switch = "model = \"cioq\"\ninput_buffer = \"3036B\"\nbuffer = { kind = \"per_port\", size = \"2pkt\" }";
    let text = star(&["10Gbps", "1Gbps"], switch, &burst(0, 1, 10, ""));
    let first = FAST + DELAY + 6_072_000 + SLOW + DELAY;
    let expected = [(first, 0, 1, 0), (first + SLOW, 0, 1, 1), (first + 2 * SLOW, 0, 1, 5)];
    assert_eq!(deliveries(&text), expected);
    let results = run(&text, 1);
    assert_eq!((lost(&results, "input_full"), drops(&results)), (7, 7));
    // A limit in packets gives the same result.
    assert_eq!(deliveries(&text.replace("3036B", "2pkt")), expected);
}

/// Test that a frame crosses only if its output has buffer space, computed by hand.
/// Six frames fit at the input and one at the output. 1 crosses until 12144 and waits for the link, which 0 uses until
/// 18376. So 2 may not cross before, and has crossed at 24448. The input, five frames after 6072, is full with 6 at
/// 7382.4; 10 arrives at 12304, when 1 is gone, and fills it again; 20 arrives at 24608, when 2 is gone.
#[test]
fn a_frame_crosses_only_when_the_buffer_of_its_output_has_room_for_it() {
    let switch = "model = \"cioq\"\ninput_buffer = \"6pkt\"\nbuffer = { kind = \"per_port\", size = \"1pkt\" }";
    let text = star(&["10Gbps", "1Gbps"], switch, &burst(0, 1, 21, ""));
    let numbers: Vec<u32> = deliveries(&text).into_iter().map(|(.., n)| n).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 10, 20]);
    assert_eq!(lost(&run(&text, 1), "input_full"), 12);
}

/// Test of a frame that is larger than the buffer of its output.
/// A frame that does not fit even into an empty output buffer would wait forever.
#[test]
fn a_frame_that_is_larger_than_the_buffer_of_its_output_is_lost_at_once() {
    let switch = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"1000B\" }";
    let results = run(&star(&["10Gbps"; 2], switch, &burst(0, 1, 3, "")), 1);
    assert_eq!((lost(&results, "buffer_full"), drops(&results)), (3, 3));
}

/// Test that virtual output queues avoid head-of-line blocking.
/// A frame for an idle output does not wait behind fifteen frames for a slow output.
#[test]
fn a_frame_for_an_idle_output_is_not_behind_those_for_a_congested_one() {
    let switch = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"1pkt\" }";
    let traffic = [burst(0, 1, 15, ""), burst(0, 2, 1, "start = \"18456ns\"")].concat();
    let found = deliveries(&star(&["10Gbps", "1Gbps", "10Gbps"], switch, &traffic));
    let alone = found.iter().find(|(_, _, to, _)| *to == 2).expect("it arrives");
    assert_eq!(alone.0, 16 * FAST + DELAY + 607_200 + FAST + DELAY);
    assert_eq!(found.len(), 16);
}

/// Test of the shares of inputs at an output: max-min fairness.
/// Three inputs offer an output more than its rate: the first 10, the second 5, the third 2.5 Gb/s. The third gets all
/// that it offers, and the others share the rest in turns.
#[test]
fn inputs_share_an_output_max_min_fairly() {
    let every = |n: u64| {
        format!(
            "[[traffic]]\nname = \"c{n}\"\nkind = \"bursts\"\nsource = \"h{n}\"\n\
         destination = \"h3\"\npayload = \"1460B\"\npackets = 1000000\ninterval = \"{}ps\"\npause = \"1s\"\nstop = \"2ms\"\n",
            FAST << n
        )
    };
    let switch = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"20pkt\" }";
    let text = star(&["10Gbps"; 4], switch, &(0..3).map(every).collect::<String>());
    let mut world = watch(&scenario(&text, ""), 1, Options::default(), Delivered::default());
    world.run();
    let counted = |from: u32| {
        let steady = |at: u64| (500_000_000..1_500_000_000).contains(&at);
        world.observer().0.iter().filter(|(at, src, ..)| *src == from && steady(*at)).count() as f64
    };
    let all = 1e9 / FAST as f64;
    for (from, share) in [(0, 0.375), (1, 0.375), (2, 0.25)] {
        assert!((counted(from) / all - share).abs() < 0.005, "h{from}: {}", counted(from) / all);
    }
}

/// Test of the scheduler of an output if most frames wait at inputs.
/// Two inputs send frames of two classes, each at the output's rate. The effect of its scheduler is not limited to its
/// buffer, which holds three frames.
#[test]
fn the_scheduler_of_an_output_has_its_way_although_most_frames_wait_at_inputs() {
    let shares = |scheduler: &str| {
        let switch = format!(
            "model = \"cioq\"\nscheduler = {{ {scheduler} }}\nbuffer = {{ kind = \"per_port\", size = \"3pkt\" }}"
        );
        let traffic = [burst(0, 2, 1000, "class = 0"), burst(1, 2, 1000, "class = 3")].concat();
        let found = deliveries_by_class(&star(&["10Gbps"; 3], &switch, &traffic));
        found.iter().filter(|class| **class == 3).count()
    };
    // The first frames of class 0 cross before any other frame has arrived.
    assert!(shares("kind = \"strict_priority\"") >= 397, "{}", shares("kind = \"strict_priority\""));
    let halves = shares("kind = \"round_robin\"");
    assert!(halves.abs_diff(200) <= 3, "{halves}");
    let three = shares("kind = \"round_robin\", weights = [1, 1, 1, 3]");
    assert!(three.abs_diff(300) <= 4, "{three}");
}

/// Returns the traffic classes of the first 400 frames that arrive.
fn deliveries_by_class(text: &str) -> Vec<u8> {
    #[derive(Clone, Default)]
    struct Classes(Vec<u8>);
    impl Observer for Classes {
        fn on_delivery(&mut self, _at: EventLocation, pkt: &Pkt) {
            self.0.push(pkt.head.class());
        }
    }
    let mut world = watch(&scenario(text, ""), 1, Options::default(), Classes::default());
    world.run();
    world.observer().0[..400].to_vec()
}

/// Test of the queue length that marking uses, which includes frames at inputs.
/// The output's buffer of two never reaches a threshold of six, since frames at inputs for it count as well. The
/// longest queue is the sum of both.
#[test]
fn queue_length_for_marking_includes_frames_at_inputs() {
    let flows = "[transport]\nkind = \"dctcp\"\n[[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 3\n\
                 receiver = \"h3\"\nsize = \"60KB\"\n";
    let switch = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"2pkt\" }\n\
                  marking = { kind = \"ecn_threshold\", k = \"6pkt\" }";
    let results = run(&star(&["10Gbps"; 4], switch, flows), 1);
    let longest = column(&results, "ports", "max_packets").into_iter().max();
    assert!(total(&results, "ports", "marked") > 10 && longest > Some(6), "{longest:?}");
    assert_eq!(drops(&results), 0);
}

/// Test of frames that are lost with the link of their output, with times computed by hand.
/// Frame 0 leaves from 8302.4 to 20606.4 ns, so that 0, 1 and 2 have arrived at 50 us, when the link dies. Frame 3 is
/// on the wire then, 4 is at the output, 5 has been crossing since 3 began to leave at 45214.4 ns, and 24 are at the
/// input.
#[test]
fn frames_at_inputs_and_on_the_way_across_are_lost_with_the_link_of_their_output() {
    let switch = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"2pkt\" }";
    let text = star(&["10Gbps", "1Gbps"], switch, &burst(0, 1, 30, ""));
    let lose = |dead_port: &str, up: &str| {
        let down = "{ kind = \"link_down\", at = \"50us\", link = \"s:h1\" }";
        let events = format!("dead_port = \"{dead_port}\"\nevent = [{down}, {up}]\n[topology]");
        let results = run(&text.replace("[topology]", &events), 1);
        let arrived = column(&results, "packets", "fate").iter().filter(|fate| **fate == 0).count();
        assert_eq!((arrived as u64 + drops(&results), total(&results, "ports", "queued")), (30, 0), "{dead_port}");
        ["link_down", "no_route", "input_full"].map(|reason| lost(&results, reason))
    };
    assert_eq!(lose("drop", ""), [27, 0, 0]);
    // Frames that are looked up again have no route any more; the frame that is crossing is not looked up again.
    assert_eq!(lose("look_up", ""), [2, 25, 0]);
    assert_eq!(lose("wait", "{ kind = \"link_up\", at = \"1ms\", link = \"s:h1\" }"), [1, 0, 0]);
}

/// Test of a `cioq` switch that is paused by its neighbour.
/// Spines are output-queued and pause the leaves, whose frames then stay at their inputs. Inputs send no pauses, so
/// that the network drops packets only there.
#[test]
fn a_switch_that_is_paused_holds_frames_at_its_inputs() {
    let text = "name = \"mixed\"\nduration = \"2ms\"\n[topology]\nkind = \"leaf_spine\"\nleaves = 3\nspines = 1\n\
                hosts_per_leaf = 4\nlink = { rate = \"10Gbps\", delay = \"1us\" }\n\
                fabric = { rate = \"10Gbps\", delay = \"1us\" }\n\
                [switch]\nbuffer = { kind = \"per_port\", size = \"300KB\" }\n\
                pause = { kind = \"pfc\", xoff = \"30KB\", xon = \"15KB\" }\n\
                [[override]]\nwhere = { tier = \"leaf\" }\nswitch.model = \"cioq\"\nswitch.input_buffer = \"30KB\"\n\
                switch.pause = { kind = \"none\" }\nswitch.buffer = { kind = \"per_port\", size = \"20KB\" }\n\
                [measure]\npackets = true\nallow_unfinished = true\ndrain = \"50ms\"\n[transport]\nmin_rto = \"1ms\"\n\
                [[traffic]]\nname = \"i\"\nkind = \"incast\"\nsenders = 8\nreceiver = \"h0\"\nsize = \"200KB\"\n";
    let s = scenario(text, "");
    let results = run_with(&s, 1, Options::default());
    let lost_at = |tier: &str| {
        let of = |node: u64| s.topology.nodes[node as usize].tier == tier;
        rows(&results, "ports", ["node", "drop_input_full", "drop_buffer_full"])
            .into_iter()
            .filter(|[node, ..]| of(*node))
            .fold([0, 0], |sum, [_, input, buffer]| [sum[0] + input, sum[1] + buffer])
    };
    assert!(total(&results, "pauses", "times") > 0 && lost_at("leaf")[0] > 0);
    assert_eq!((lost_at("leaf")[1], lost_at("spine")), (0, [0, 0]));
    let unlike = |options| results.tables != run_with(&s, 1, options).tables;
    assert!(!unlike(Options { heap: true, ..Options::default() }));
}

/// Returns the text of a random scenario, with or without events that change the network.
pub(crate) fn random(draw: &mut Draw, with_events: bool) -> String {
    let (topology, link) = match draw.pick(&["star", "dumbbell", "leaf_spine", "fat_tree"]) {
        "star" => ("kind = \"star\"\nn = 5", "h0:hub"),
        "dumbbell" => ("kind = \"dumbbell\"\nn = 3\nbottleneck = { rate = \"300Mbps\", delay = \"5us\" }", "h0"),
        "leaf_spine" => ("kind = \"leaf_spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2", "leaf0:spine1"),
        _ => ("kind = \"fat_tree\"\nk = 4", "edge0:agg0"),
    };
    let link = if link == "h0:hub" { "h0" } else { link };
    let input = draw.pick(&["3pkt", "9KB", "40KB", "150KB"]);
    let speedup = draw.pick(&["1", "1.1", "2", "3.7"]);
    let buffer = draw.pick(&[
        "kind = \"per_port\", size = \"4pkt\"",
        "kind = \"per_port\", size = \"1518B\"",
        "kind = \"per_port\", size = \"20KB\"",
        "kind = \"unlimited\"",
    ]);
    let size = if buffer.contains("pkt") { "3pkt" } else { "6KB" };
    let kinds = ["tail_drop", "bounce", "forward", "detour", "load_aware", "trim", "trim", "trim"];
    let overflow = match draw.pick(&kinds) {
        "bounce" => format!("kind = \"bounce\", theta = 0.5, bounce_size = \"{size}\""),
        "forward" => format!(
            "kind = \"bounce\", lambda = 0, back_port = \"ingress\", bounce_full = \"forward\", bounce_size = \"{size}\""
        ),
        "load_aware" => "kind = \"detour\", policy = \"load_aware\", ingress = false, max_detours = 2".into(),
        "trim" if buffer.contains("pkt") => "kind = \"trim\", trimmable = \"any\", extra = \"100B\"".into(),
        "trim" => {
            "kind = \"trim\", trimmable = \"any\", header_class = 6, extra = \"200B\", no_room = \"return\"".into()
        }
        other => format!("kind = \"{other}\""),
    };
    let ack_hold = draw.pick(&["none\"", "abq\", k = \"5KB\""]);
    let marking = draw.pick(&[
        "kind = \"none\"",
        "kind = \"ecn_threshold\", k = \"2pkt\"",
        "kind = \"red\", min = \"2pkt\", max = \"6pkt\"",
    ]);
    let routing = draw.pick(&["ecmp", "spray", "weighted"]);
    let scheduler = draw.pick(&["fifo", "strict_priority", "round_robin", "srpt"]);
    let (simultaneous, ties) = (draw.pick(&["in_turn", "snapshot"]), draw.pick(&["random", "port"]));
    let transport = draw.pick(&["newreno", "dctcp", "dctcp"]);
    let class = draw.pick(&["", "class = 5"]);
    let incast = draw.pick(&["senders = 4\nreceiver = \"h0\"", "senders = 5\nreceiver = \"random\""]);
    let ports = draw.pick(&["", "[[override]]\nwhere = { port = \"host\" }\nswitch.marking = { kind = \"none\" }\n"]);
    let dead_port = draw.pick(&["drop", "wait", "look_up"]);
    let pause = draw.pick(&[
        "kind = \"none\"",
        "kind = \"pfc\", lossless = false, xoff = \"12KB\", xon = \"4KB\"",
        "kind = \"pause\", lossless = false, xoff = \"6KB\", xon = \"3KB\"",
    ]);
    let events = match with_events {
        true => format!(
            "dead_port = \"{dead_port}\"\nreroute_delay = \"30us\"\nevent = [\
             {{ kind = \"link_down\", at = \"300us\", link = \"{link}\" }}, \
             {{ kind = \"link_up\", at = \"900us\", link = \"{link}\" }}, \
             {{ kind = \"rate\", at = \"1ms\", link = \"{link}\", rate = \"400Mbps\" }}, \
             {{ kind = \"loss\", at = \"1500us\", link = \"{link}\", probability = 0.05 }}]\n"
        ),
        false => String::new(),
    };
    format!(
        "name = \"random\"\nduration = \"4ms\"\n{events}[topology]\n{topology}\n[switch]\nmodel = \"cioq\"\n\
         input_buffer = \"{input}\"\nspeedup = {speedup}\nbuffer = {{ {buffer} }}\noverflow = {{ {overflow} }}\n\
         marking = {{ {marking} }}\nack_hold = {{ kind = \"{ack_hold} }}\npause = {{ {pause} }}\nrouting = {{ kind = \"{routing}\" }}\nscheduler = {{ kind = \"{scheduler}\" }}\n\
         simultaneous = \"{simultaneous}\"\nties = \"{ties}\"\n{ports}[transport]\nkind = \"{transport}\"\nmin_rto = \"1ms\"\n\
         [measure]\npackets = true\nbin = \"10us\"\nallow_unfinished = true\ndrain = \"20ms\"\n\
         [[traffic]]\nname = \"i\"\nkind = \"incast\"\n{incast}\nsize = \"30KB\"\ninterval = \"1ms\"\nrepeat = 3\n{class}\n\
         [[traffic]]\nname = \"b\"\nkind = \"bursts\"\nsources = [\"h1\", \"h2\"]\ndestination = \"h0\"\npackets = 40\n\
         interval = \"9us\"\npause = \"1ms\"\npayload = \"900B\"\nstop = \"4ms\"\n\
         [[traffic]]\nname = \"p\"\nkind = \"permutation\"\nsize = \"40KB\"\n"
    )
}

/// Returns true if the overflow mechanism of a scenario text is of this kind.
fn overflows_by(text: &str, kind: &str) -> bool {
    text.contains(&format!("overflow = {{ kind = \"{kind}\""))
}

/// Returns the results of a scenario, with checks of its counters on the way, and of a copy of the run made midway.
///
/// Each of its packets ends once.
pub(crate) fn audited(n: u64, text: &str, max_events: u64) -> Results {
    let s = scenario(text, "");
    let mut world = world(&s, n, Options { max_events: Some(max_events), ..Options::default() });
    for events in [1, 10, 100, 1000, 3000, 10_000] {
        world.advance(events);
        assert!(world.conserves_packets(), "after some events: {:?}\n{text}", world.describe_imbalance());
    }
    let mut copy = world.clone();
    copy.run();
    world.run();
    let results = world.results(&s);
    assert!(results.conserved, "{:?}\n{text}", world.describe_imbalance());
    assert_eq!(results.tables, copy.results(&s).tables, "copied midway");
    let mut ends = rows(&results, "packets", ["flow", "reverse", "emission"]);
    let all = ends.len();
    ends.sort_unstable();
    ends.dedup();
    assert_eq!(ends.len(), all, "a packet has two fates");
    results
}

/// Test of packet conservation over random scenarios.
/// Every packet is counted when it is made and when it is lost, at any instant; each ends once; and inputs do fill.
#[test]
fn nothing_is_lost_uncounted_over_random_scenarios() {
    let (mut full, mut marked, mut answered) = (0, 0, [0; 4]);
    let scenarios = drawn_run(|draw| {
        let with_events = draw.flag();
        random(draw, with_events)
    });
    for_all(40, scenarios, |(text, n)| {
        let (s, results) = (scenario(&text, ""), audited(n, &text, 1_000_000));
        let heap = run_with(&s, n, Options { heap: true, max_events: Some(1_000_000), ..Options::default() });
        assert_eq!(results.tables, heap.tables, "by heap");
        full += u64::from(lost(&results, "input_full") > 0);
        marked += u64::from(total(&results, "ports", "marked") > 0);
        let happened = |kind: &str| total(&results, "ports", kind) > 0;
        let cut = overflows_by(&text, "trim") && happened("trimmed");
        let held = column(&results, "holds", "held").iter().any(|held| *held > 0);
        answered
            .iter_mut()
            .zip([happened("bounced"), happened("detoured"), cut, held])
            .for_each(|(sum, one)| *sum += u64::from(one));
        let elsewhere = ["buffer_full", "bounce_queue_full", "no_detour", "detours_spent"];
        assert_eq!(elsewhere.map(|reason| lost(&results, reason)), [0; 4], "inputs have the last word");
    });
    assert!(full > 4 && marked > 4, "{full} with full inputs, {marked} with marks");
    assert!(answered.iter().all(|count| *count > 2), "{answered:?} with bounces, detours, cuts and held ACKs");
}

#[test]
fn runs_are_the_same_divided_into_any_number_of_partitions() {
    for_all(6, drawn_run(|draw| random(draw, false)), |(text, n)| {
        let s = scenario(&text, "");
        let whole = digest(&s, n, Options::default());
        for partitions in [1, 2, 3, 8] {
            assert!(whole == digest(&s, n, Options { partitions, ..Options::default() }), "{partitions} partitions");
        }
    });
}
