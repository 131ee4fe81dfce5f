//! Tests of QCN together with other buffers and overflow mechanisms: which hosts are notified of frames that were
//! bounced, detoured or trimmed.
//!
//! `h0` and `h1` send by `a` and `b` to `h2`, whose link takes a tenth of the rate of one of them. So only frames that
//! `b` sends back or detours ever leave `b` toward `a`.

use crate::common::watched::{Watching, watch};
use crate::common::{run_with, scenario, total};
use dataplane::{PacketBody, Pkt};
use mech::{HostId, Notice, PacketKind};
use sim::{EventLocation, Observer, Options};
use std::collections::BTreeMap;

/// Numbers of the nodes, and of the ports of both switches toward each other.
const A: u32 = 3;
const B: u32 = 4;
const A_TO_B: u16 = 2;
const B_TO_A: u16 = 0;

fn text(switch: &str, notify: &str, host: &str) -> String {
    let flow = |n: u32| {
        format!(
            "[[traffic]]\nname = \"f{n}\"\nkind = \"constant\"\nsource = \"h{n}\"\ndestination = \"h2\"\npayload = \"1460B\"\n\
             rate = \"500Mbps\"\nbytes = \"wire\"\njitter = \"1us\"\nstop = \"2ms\"\n"
        )
    };
    let host_of = |n: u32| format!("{{ name = \"h{n}\", kind = \"host\" }}, ");
    let link = |a: &str, b: &str, mbps: u32| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"{mbps}Mbps\", delay = \"1us\" }}, ")
    };
    let links = [link("a", "h0", 1000), link("a", "h1", 1000), link("a", "b", 1000), link("b", "h2", 100)].concat();
    format!(
        "name = \"beside\"\nduration = \"4ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{}{{ name = \"a\", kind = \"switch\" }}, {{ name = \"b\", kind = \"switch\" }}]\nlink = [{links}]\n\
         [host]\nnic = {{ kind = \"round_robin\" }}\n{host}\n[switch]\n{switch}\nnotify = {{ kind = \"qcn\", {notify} }}\n\
         [measure]\nallow_unfinished = true\ndrain = \"0ms\"\n{}{}",
        (0..3).map(host_of).collect::<String>(),
        flow(0),
        flow(1)
    )
}

/// Record of congestion messages, by node and port of their congestion point and by flow.
#[derive(Clone, Default)]
struct MessageCounts {
    made: BTreeMap<(u32, u16, u32), u64>,
    came: u64,
    /// Number of congestion messages, by the host that they reached and by flow.
    hosts: BTreeMap<(u32, u32), u64>,
    limits: u64,
}

impl Observer for MessageCounts {
    fn on_notice_sent(&mut self, at: EventLocation, pkt: &Pkt) {
        let PacketBody::Notice(Notice::Cnm { point, .. }) = pkt.body() else { panic!("{pkt:?}") };
        assert_eq!(pkt.head.src, HostId(at.node), "from its switch");
        *self.made.entry((at.node, point.0, pkt.head.flow.0)).or_default() += 1;
    }
    fn on_notice_received(&mut self, at: EventLocation, pkt: &Pkt) {
        assert_eq!((pkt.head.kind(), pkt.head.dst), (PacketKind::Notice, HostId(at.node)));
        self.came += 1;
        *self.hosts.entry((at.node, pkt.head.flow.0)).or_default() += 1;
    }
    fn on_rate_limit(&mut self, _at: EventLocation, _flow: mech::FlowId, _rate: Option<units::Rate>) {
        self.limits += 1;
    }
}

impl MessageCounts {
    /// Returns the numbers of messages that a congestion point sent about each of the two flows.
    fn at(&self, node: u32, port: u16) -> [u64; 2] {
        [0, 1].map(|flow| self.made.get(&(node, port, flow)).copied().unwrap_or(0))
    }
}

/// Runs a scenario by wheel and by heap, and checks the conservation of packets throughout.
fn run(text: &str) -> Watching<MessageCounts> {
    let worlds = [false, true].map(|heap| {
        let options = Options { heap, ..Options::default() };
        let mut world = watch(&scenario(text, ""), 1, options, MessageCounts::default());
        while world.progress().stop.is_none() {
            world.advance(100);
            assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
        }
        world
    });
    let [wheel, heap] = worlds;
    assert_eq!(wheel.observer().made, heap.observer().made);
    assert_eq!(wheel.observer().hosts, heap.observer().hosts);
    wheel
}

/// Settings of a congestion point whose set point one frame exceeds, and that samples every frame.
const EVERY_FRAME: &str = "q_eq = \"1000B\", interval = \"1B\", jitter = 0";
const OWN_SIDE: [(&str, u32, u16); 2] = [("outputs", B, B_TO_A), ("inputs", A, A_TO_B)];

/// Test of the congestion points that sample bounced and detoured frames.
/// Congestion points at outputs sample these frames in the queue of `b` toward `a`; those at inputs sample them on
/// arrival at `a`. This holds for both models of a switch, and with PFC.
#[test]
fn a_frame_that_goes_back_or_aside_is_sampled_where_it_waits_and_its_own_source_is_told() {
    let pause = "\npause = { kind = \"pfc\", xoff = \"14KB\", xon = \"9KB\", lossless = false }";
    let [models, answers] =
        [["output_queued", "cioq"], ["kind = \"bounce\", theta = 0.5, bounce_size = \"20pkt\"", "kind = \"detour\""]];
    let beside = models.iter().flat_map(|model| answers.map(|answer| ["", pause].map(|more| (model, answer, more))));
    for (model, answer, more) in beside.flatten() {
        let buffer = "buffer = { kind = \"per_port\", size = \"8pkt\" }";
        let switch = format!("model = \"{model}\"\n{buffer}\noverflow = {{ {answer} }}{more}");
        for ((at, node, port), culprit) in OWN_SIDE.iter().flat_map(|side| [(side, "arrival"), (side, "occupancy")]) {
            let notify = format!("{EVERY_FRAME}, at = \"{at}\", culprit = \"{culprit}\"");
            let world = run(&text(&switch, &notify, ""));
            let seen = world.observer();
            let name = format!("{switch}, {at}, {culprit}: {:?}", seen.made);
            assert!(seen.at(*node, *port).iter().all(|times| *times >= 3), "{name}");
            assert!(seen.hosts.keys().all(|(host, flow)| host == flow), "its source is told; {name}");
            assert!(seen.came > 0 && seen.came <= world.packets_made_and_held().0, "{name}");
        }
    }
}

/// Test that congestion points send no messages for the reverse direction if no frame is sent back.
/// No frame is sampled in the reverse direction if none is sent back.
#[test]
fn without_bounces_and_detours_nothing_is_told_of_the_way_back() {
    for (at, node, port) in OWN_SIDE {
        let world = run(&text(
            "buffer = { kind = \"per_port\", size = \"8pkt\" }",
            &format!("{EVERY_FRAME}, at = \"{at}\""),
            "",
        ));
        assert_eq!(world.observer().at(node, port), [0, 0]);
        let forward: u64 = world.observer().made.values().sum();
        assert!(forward > 100, "{at}: {forward}");
    }
}

/// Test of the host that is notified about a header that was returned to its sender.
/// A header that is returned to its sender has its addresses swapped (NDP): its source is the receiver. No message is
/// lost, although every frame of each other class is compared with the buffer for headers or that for data.
#[test]
fn message_about_a_returned_header_goes_to_its_source_field() {
    let trim = "kind = \"trim\", trimmable = \"any\", header_class = 1, no_room = \"return\", extra = \"128B\"";
    let switch = format!("buffer = {{ kind = \"per_port\", size = \"12KB\" }}\noverflow = {{ {trim} }}");
    let notify = "q_eq = \"10B\", interval = \"1B\", jitter = 0, class = 1";
    let world = run(&text(&switch, notify, "reaction = { kind = \"qcn\" }"));
    let seen = world.observer();
    // Headers pass `b` toward `h2`; returned ones pass it toward `a`, and `a` toward both hosts.
    let [forward, back] = [&[(B, 1 - B_TO_A)][..], &[(B, B_TO_A), (A, 0), (A, 1)]]
        .map(|points| points.iter().flat_map(|(node, port)| seen.at(*node, *port)).sum::<u64>());
    let came = |ends: [(u32, u32); 2]| -> u64 { ends.iter().filter_map(|end| seen.hosts.get(end)).sum() };
    assert!(forward > 5 && back > 5, "{:?}", seen.made);
    assert_eq!([came([(0, 0), (1, 1)]), came([(2, 0), (2, 1)])], [forward, back]);
}

/// Test of QCN with a shared buffer.
/// A shared buffer, at outputs and at inputs, with and without PFC: both culprits are notified, their rates fall, and
/// fewer packets are lost.
#[test]
fn beside_a_shared_buffer_sources_are_told_and_slow_down() {
    for pause in ["", "pause = { kind = \"pfc\", xoff = \"30KB\", xon = \"15KB\" }"] {
        for at in ["outputs", "inputs"] {
            let switch = format!("buffer = {{ kind = \"shared\", size = \"200KB\", alpha = 1 }}\n{pause}");
            let notify = format!("q_eq = \"10KB\", interval = \"10KB\", at = \"{at}\"");
            let of = |host: &str| text(&switch, &notify, host);
            let reaction = "reaction = { kind = \"qcn\", byte_counter = \"10KB\" }";
            let world = run(&of(reaction));
            let seen = world.observer();
            assert!(seen.hosts.keys().all(|(host, flow)| host == flow) && seen.hosts.len() == 2, "{:?}", seen.hosts);
            assert!(seen.limits >= seen.came && seen.came == world.packets_made_and_held().0, "{pause} {at}");
            let [with, without] = [reaction, ""].map(|host| {
                let results = run_with(&scenario(&of(host), ""), 1, Options::default());
                let most = crate::common::column(&results, "ports", "max_bytes").into_iter().max().unwrap();
                (most, total(&results, "ports", "drop_buffer_full"))
            });
            assert!(with.0 < without.0 && with.1 == 0, "{pause} {at}: {with:?}, {without:?}");
        }
    }
}
