//! Tests of agents at ports and of overflow mechanisms that trim, in real switches.
//!
//! The network is two hosts and a switch: 10 Gb/s from h0, 1 Gb/s to h1, frames of 1518 B. A frame takes 1230.4 ns to
//! arrive and 12304 ns to leave. So ten frames arrive for each one that leaves, and that one leaves before the eleventh
//! arrival is processed.

use crate::common::watched::{Watching, watch_with_hooks};
use crate::common::{Bursts, column, run_with, scenario, scenario_of};
use dataplane::{Pkt, SwitchSetup};
use mech::host::{FlowAtNic, Reaction, ReactionSlot};
use mech::marking::{Marking, MarkingSlot};
use mech::params::Spec;
use mech::{
    Account, Act, Agent, AgentContext, AgentSlot, Env, Flags, Head, HostId, Mechanism, Notice, PortId, QueueView,
    Registry, TimerId,
};
use sim::{EventLocation, Observer, Options, RunHooks};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use units::{Bytes, Rate, Time};

mod at_inputs;
mod congestion;
mod cut_delay;
mod cutting;

/// Number of frames in the burst that tests send.
const FRAMES: u64 = 40;
/// Transmission time of a frame in ps at 1 Gb/s; `FAST` is that at 10 Gb/s.
const SLOW: u64 = 12_304_000;
const FAST: u64 = 1_230_400;
/// Delay of a link in ps.
const DELAY: u64 = 1_000_000;
/// Port of the switch toward h1.
const TO_H1: u16 = 1;

/// Packets delivered to transports: time in ps, host, packet.
#[derive(Clone, Default)]
struct Delivered(Vec<(u64, u32, Pkt)>);

impl Observer for Delivered {
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.0.push((at.now.0, at.node, *pkt));
    }
}

impl Delivered {
    /// Returns the times at which packets that satisfy a condition were delivered to a host.
    fn at(&self, host: u32, like: impl Fn(&Head) -> bool) -> Vec<u64> {
        self.0.iter().filter(|(_, node, pkt)| *node == host && like(&pkt.head)).map(|(at, ..)| *at).collect()
    }
}

fn text(switch: &str, traffic: &str) -> String {
    format!(
        "name = \"two\"\nduration = \"2ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{{ name = \"h0\", kind = \"host\" }}, {{ name = \"h1\", kind = \"host\" }}, \
         {{ name = \"s\", kind = \"switch\" }}]\n\
         link = [{{ a = \"s\", b = \"h0\", rate = \"10Gbps\", delay = \"1us\" }}, \
         {{ a = \"s\", b = \"h1\", rate = \"1Gbps\", delay = \"1us\" }}]\n[switch]\n{switch}\n{traffic}"
    )
}

/// Returns a workload with a burst of raw frames, `interval` apart.
fn burst(frames: u64, interval: &str) -> String {
    Bursts { packets: frames, interval, ..Bursts::ONE_FRAME }.text()
}

type Refit<'a> = &'a dyn Fn(u32, &mut SwitchSetup);

/// Hook that leaves a switch as its scenario sets it up.
const AS_NAMED: Refit = &|_, _| {};

fn world(text: &str, options: Options, switch: Refit) -> Watching<Delivered> {
    let hooks = RunHooks { observer: Delivered::default(), tap: (), change_switch: switch };
    watch_with_hooks(&scenario(text, ""), 1, options, hooks)
}

/// Runs a scenario, and checks that the run is identical with stepped departures, with the heap, and cloned halfway.
fn run(text: &str, switch: Refit) -> Watching<Delivered> {
    let mut whole = world(text, Options::default(), switch);
    whole.run();
    assert!(whole.conserves_packets(), "{:?}", whole.describe_imbalance());
    let stepped = Options { step_departures: true, ..Options::default() };
    let heap = Options { heap: true, ..Options::default() };
    let mut others = vec![world(text, stepped, switch), world(text, heap, switch), world(text, heap, switch)];
    others[2].advance(60);
    others[2] = others[2].clone();
    for other in &mut others {
        other.run();
        assert!(other.conserves_packets(), "{:?}", other.describe_imbalance());
        assert!(other.observer().0 == whole.observer().0, "other packets, or at other times");
        assert_eq!(other.packets_made_and_held(), whole.packets_made_and_held());
    }
    whole
}

fn at_h1(setup: &mut SwitchSetup, agent: AgentSlot) {
    setup.core.ports[usize::from(TO_H1)].agents.push(agent);
}

/// Test of `abq`, which holds ACKs while a queue is long, with times computed by hand.
/// The queue has i - floor(i / 10) frames after the arrival of frame i, since frames queue as soon as the first has
/// started. So frame 22 exceeds K = 30000 B (20 frames), and the longest queue is 36 frames, 54648 B. X = min(54648 -
/// K, K) = 24648 B is a little more than 16 frames: when frame 23 starts, 24 frames have started and 16 are queued.
/// Then X is halved: 12324 B are 8 frames, when frame 31 starts; 6162 B are 4 frames, when frame 35 starts; 3081 B are
/// below 4 MTU, so that nothing is held any more. The ACK of frame j arrives 2672 ns after the frame's end; to be held,
/// it must arrive before its batch is released.
#[test]
fn abq_holds_acks_while_the_queue_is_long_and_releases_them_at_x() {
    let flow = "[transport]\nkind = \"newreno\"\ninitial_window = \"40pkt\"\n[[traffic]]\nname = \"f\"\n\
                kind = \"incast\"\nsenders = 1\npick = \"first\"\nreceiver = \"h1\"\nsize = \"58400B\"\n";
    let text = text("buffer = { kind = \"unlimited\" }\nack_hold = { kind = \"abq\" }", flow);
    let world = run(&text, AS_NAMED);
    let data = world.observer().at(1, |head| head.flags.has(Flags::PAYLOAD));
    assert_eq!(data.len() as u64, FRAMES);
    // Time at which frame 0 starts at the switch.
    let start = data[0] - SLOW - DELAY;
    let ece = world.observer().at(0, |head| head.flags.has(Flags::ECE));
    let plain = world.observer().at(0, |head| !head.flags.has(Flags::ECE));
    let batch = |frame: u64, acks: u64| {
        let goes = start + frame * SLOW;
        (1..=acks).map(move |n| goes + n * 67_200 + DELAY)
    };
    // ACKs 1 to 21, 22 to 29 and 30 to 33; 84 B on the wire take 67.2 ns at 10 Gb/s.
    let expected: Vec<u64> = batch(23, 21).chain(batch(31, 8)).chain(batch(35, 4)).collect();
    assert_eq!(ece, expected);
    // ACK 0 arrives before the queue is long, and the last six arrive after; each crosses 1 Gb/s, two links, and 10
    // Gb/s.
    let passes = |frame: u64| start + (frame + 1) * SLOW + DELAY + 672_000 + DELAY + 67_200 + DELAY;
    assert_eq!(plain, [0, 34, 35, 36, 37, 38, 39].map(passes));
    assert_eq!(world.packets_made_and_held(), (0, 0));
}

#[test]
fn what_is_held_is_counted_at_any_instant_and_lost_where_there_is_no_room() {
    let flow = "[transport]\nkind = \"newreno\"\ninitial_window = \"40pkt\"\n[[traffic]]\nname = \"f\"\n\
                kind = \"incast\"\nsenders = 1\npick = \"first\"\nreceiver = \"h1\"\nsize = \"58400B\"\n";
    let at_hosts =
        "[[override]]\nwhere = { port = \"host\" }\nswitch.ack_hold = { kind = \"abq\", capacity = \"320B\" }\n";
    let text = text("buffer = { kind = \"unlimited\" }", &format!("{at_hosts}{flow}"));
    let mut world = world(&text, Options::default(), AS_NAMED);
    let mut most = 0;
    while world.progress().stop.is_none() {
        world.advance(1);
        most = most.max(world.packets_made_and_held().1);
        assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    }
    assert_eq!(most, 5);
    // Each time, the memory holds five of the 21, 8 and 4 ACKs.
    assert_eq!(world.observer().at(0, |head| head.flags.has(Flags::ECE)).len(), 5 + 5 + 4);
}

/// Returns the settings of a congestion point with a set point of 6000 B, which samples after ten frames.
fn qcn() -> String {
    let notify = "kind = \"qcn\", q_eq = \"6000B\", interval = \"15180B\", jitter = 0";
    format!("buffer = {{ kind = \"per_port\", size = \"100pkt\" }}\nnotify = {{ {notify} }}")
}

/// Test of QCN messages and their feedback, computed by hand.
/// Frames arrive 2 us apart; after i arrivals, 1 + floor(2 i us / 12.304 us) frames have started. Sampling intervals
/// are 15180 B, ten frames, times 37, 60 and 75 of 300 parts by the feedback, in whole frames:
///
/// | frame | queued | q_off | q_delta | Fb, at most 30000 | of 63 |
/// | --- | --- | --- | --- | --- | --- |
/// | 10 | 8, 12144 B | 6144 | 12144 | 30432 | 63 |
/// | 12 | 10, 15180 B | 9180 | 3036 | 15252 | 32 |
/// | 14 | 11, 16698 B | 10698 | 1518 | 13734 | 28 |
/// | 17 | 14, 21252 B | 15252 | 4554 | 24360 | 51 |
#[test]
fn qcn_tells_the_source_how_congested_its_queue_is() {
    let text = text(&qcn(), &burst(17, "2us"));
    for (frames, feedback, q_off, q_delta) in [(10, 63, 6144, 12144), (12, 32, 9180, 3036), (17, 51, 15252, 4554)] {
        let text = text.replace("packets = 17", &format!("packets = {frames}"));
        let world = run(&text, AS_NAMED);
        let told = [10, 12, 14, 17].iter().filter(|at| **at <= frames).count() as u64;
        // Messages give lengths in units of 64 B.
        let last = Notice::Cnm { feedback, q_off: q_off / 64 * 64, q_delta: q_delta / 64 * 64, point: PortId(TO_H1) };
        assert_eq!(world.host(HostId(0)).notice_stats(mech::FlowId(0)), (told, Some(last)));
        assert_eq!(world.host(HostId(1)).notice_stats(mech::FlowId(0)), (0, None));
        assert_eq!(world.packets_made_and_held(), (told, 0));
        assert_eq!(world.observer().at(1, |_| true).len() as u64, frames);
    }
}

/// Reaction point that limits a flow to a tenth of its NIC's rate forever.
#[derive(Clone)]
struct ATenth;

impl Reaction for ATenth {
    fn on_notice(&mut self, _: &Notice, flow: &mut FlowAtNic) {
        flow.set_rate_limit(Rate::gbps(1));
    }
    fn clone_boxed(&self) -> Box<dyn Reaction> {
        Box::new(self.clone())
    }
}

/// Test of a custom reaction point, which limits its flow after the first message.
/// Frames leave h0 back to back. The tenth is stored at 13304 ns, and its message reaches h0 at 14371.2 ns, while the
/// 12th leaves. The 13th passes the new limiter and arrives at 16995.2 ns, when two frames have started: 11 are queued.
/// From then on, one frame arrives for each that leaves. Without a reaction 36 are queued, as in the first test.
#[test]
fn a_reaction_that_a_scenario_names_limits_the_flow_that_it_is_told_of() {
    const A_TENTH: Spec = Spec { slot: "host.reaction", kind: "a_tenth", doc: "A tenth.", cite: "", params: &[] };
    let all = Registry::catalogue().with_mechanism(Mechanism::new(&A_TENTH, |_| ReactionSlot::new(ATenth)));
    for (reaction, longest) in [("a_tenth", 11), ("none", 36)] {
        let host = format!("[host]\nnic = {{ kind = \"round_robin\" }}\nreaction = {{ kind = \"{reaction}\" }}\n");
        let text = text(&qcn(), &format!("{host}{}", burst(FRAMES, "1us")));
        let results = run_with(&scenario_of(&text, all.clone()), 1, Options::default());
        assert_eq!(column(&results, "ports", "max_packets").into_iter().max(), Some(longest), "{reaction}");
    }
}

/// Agent that holds packets at its port, and releases them as soon as a frame starts to leave by it.
#[derive(Clone)]
struct UntilAStart {
    waits: u64,
}

impl mech::Agent for UntilAStart {
    fn needs(&self) -> mech::Needs {
        mech::Needs { hold_memory: Some(Bytes(1000)), sets_ece: true, ..mech::Needs::default() }
    }
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        if account == Account::Output(PortId(TO_H1)) { Account::EVERY_CHANGE } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _: Account, bytes: u64, at: &mech::AgentContext, env: &mut Env) {
        if bytes < self.waits {
            env.acts.push(mech::Act::ReleaseHeld { port: at.port, max: 1, set_ece: true, window: None });
        }
        self.waits = bytes;
    }
    fn handles_arrivals(&self) -> bool {
        true
    }
    fn on_arrival(&mut self, _: &Head, _: &mech::AgentContext, _: &mut Env) -> mech::ArrivalDecision {
        mech::ArrivalDecision::Hold
    }
    fn clone_boxed(&self) -> Box<dyn mech::Agent> {
        Box::new(self.clone())
    }
}

/// Test of the instant at which held packets leave.
/// h1 replies to each of ten frames with one of its own, far apart. A reply is held until the next frame starts toward
/// h1, and is released in that very instant.
#[test]
fn ack_released_at_a_frame_start_leaves_in_that_instant() {
    let back = "[[traffic]]\nname = \"back\"\nkind = \"bursts\"\nsource = \"h1\"\ndestination = \"h0\"\n\
                payload = \"100B\"\npackets = 3\ninterval = \"5us\"\npause = \"1s\"\n";
    let there = burst(10, "50us");
    let text = text("buffer = { kind = \"per_port\", size = \"100pkt\" }", &format!("{there}{back}"));
    let world = run(&text, &|_, setup| at_h1(setup, AgentSlot::new(UntilAStart { waits: 0 })));
    // Frames arrive 50 us apart, so that each starts on arrival, FAST and DELAY after it was sent.
    let starts: Vec<u64> = world.observer().at(1, |_| true).iter().map(|at| at - SLOW - DELAY).collect();
    assert_eq!(starts[..2], [FAST + DELAY, 50_000_000 + FAST + DELAY]);
    // 158 B and a gap of 20 B take 142.4 ns at 10 Gb/s. The first frame started before anything was held.
    let expected: Vec<u64> = starts[1..4].iter().map(|start| start + 142_400 + DELAY).collect();
    assert_eq!(world.observer().at(0, |_| true), expected);
}

/// Agent that counts changes of its link, and expiries of its timer.
#[derive(Clone)]
struct Probe(Arc<[AtomicU64; 2]>);

impl Agent for Probe {
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        if matches!(account, Account::Output(_)) { Account::EVERY_CHANGE } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _account: Account, _bytes: u64, _at: &AgentContext, env: &mut Env) {
        env.acts.push(Act::Arm(Time(700_000_000), TimerId(0)));
    }
    fn on_timer(&mut self, _id: TimerId, _at: &AgentContext, _env: &mut Env) {
        self.0[1].fetch_add(1, Relaxed);
    }
    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        self.0[0].fetch_add(1, Relaxed);
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

#[test]
fn an_agent_is_told_that_its_link_is_dead_and_its_timers_stop_whether_or_not_anything_is_paused() {
    for pause in ["", "pause = { kind = \"pfc\", lossless = false, xoff = \"4KB\", xon = \"1KB\" }"] {
        let event = "event = [{ kind = \"link_down\", at = \"500us\", link = \"s:h1\" }]\n[topology]";
        let text = text(pause, &burst(3, "2us")).replace("[topology]", event);
        let told = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let probe = |_: u32, setup: &mut SwitchSetup| {
            setup.core.ports[usize::from(TO_H1)].agents.push(AgentSlot::new(Probe(told.clone())));
        };
        world(&text, Options::default(), &probe).run();
        assert_eq!([told[0].load(Relaxed), told[1].load(Relaxed)], [1, 0], "{pause}");
    }
}

/// Marking mechanism that counts the calls for an empty queue.
#[derive(Clone)]
struct Idle(Arc<AtomicU64>);

impl Marking for Idle {
    fn mark(&mut self, _pkt: &Head, _queue: &QueueView, _env: &mut Env) -> bool {
        false
    }
    fn on_queue_empty(&mut self, _env: &mut Env) {
        self.0.fetch_add(1, Relaxed);
    }
    fn clone_boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}

/// Test of the call of a marking mechanism when its queue becomes empty.
/// Ten frames arrive while one leaves. The queue becomes empty once: when the last frame leaves, or when all are lost
/// with their link. In a switch with input buffers it is no earlier than that, however small the output's own buffer
/// is.
#[test]
fn a_queue_has_run_empty_when_nothing_waits_for_it_any_more_and_whenever_that_happens() {
    let down = "event = [{ kind = \"link_down\", at = \"60us\", link = \"s:h1\" }]\n";
    let cioq = "model = \"cioq\"\nbuffer = { kind = \"per_port\", size = \"1pkt\" }";
    // The first frame leaves its queue empty, unless the second arrives before the first has crossed.
    // Frame 1 is queued, and the eight after it are being trimmed until all have arrived.
    let cut = "buffer = { kind = \"per_port\", size = \"1000B\" }\n\
               overflow = { kind = \"trim\", trimmable = \"any\", cut_delay = \"30us\" }";
    for (switch, event, calls) in [("", "", 2), ("", down, 2), (cioq, "", 1), (cut, "", 2)] {
        let text = text(switch, &burst(10, "1230400ps")).replace("[topology]", &format!("{event}[topology]"));
        let count = Arc::new(AtomicU64::new(0));
        let marking = |_: u32, setup: &mut SwitchSetup| {
            setup.core.ports[usize::from(TO_H1)].marking = MarkingSlot::custom(Idle(count.clone()));
        };
        world(&text, Options::default(), &marking).run();
        assert_eq!(count.load(Relaxed), calls, "{switch} {event}");
    }
}
