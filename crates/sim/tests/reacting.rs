//! Tests of a reaction point at a host that gets scripted messages, and of sources that a NIC holds back.
//!
//! h0 sends to h1 by a switch. The switch's port to h1 generates messages, and pauses class 0 of h0, at the times of a
//! script. Frames have 1522 B, 1542 B with preamble and gap.

use crate::common::watched::{Watching, watch_with_hooks};
use crate::common::{column, run, scenario_of};
use dataplane::Pkt;
use mech::notify::NotifySlot;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{
    Account, Act, Agent, AgentContext, ClassSet, Env, FlowId, HostId, Mechanism, Needs, Notice, PortId, Registry,
    TimerId,
};
use sim::{EventLocation, Observer, Options, RunHooks};
use units::{Dur, Rate, Time};

mod backlog;
mod bounced;

/// Size of a frame in bytes; `WIRE` is its size on the wire.
const FRAME: u64 = 1522;
const WIRE: u64 = 1542;
/// Time in ps that a congestion message of 64 B takes over a link of 10 Gb/s, with the link's delay.
const MESSAGE_DELAY: u64 = 67_200 + 1_000_000;

const fn list(name: &'static str, kind: ParamKind) -> Param {
    Param { name, doc: "", kind, default: Some("") }
}

const SCRIPT: Spec = Spec {
    slot: "switch.notify",
    kind: "script",
    doc: "Does what a test says.",
    cite: "",
    params: &[
        list("tell", ParamKind::Counts { min: 0, max: u64::MAX }),
        list("feedback", ParamKind::Counts { min: 1, max: 63 }),
        list("pause", ParamKind::Counts { min: 0, max: u64::MAX }),
        list("resume", ParamKind::Counts { min: 0, max: u64::MAX }),
    ],
};

/// Agent of a switch that performs these actions at these times in ps.
#[derive(Clone, Default)]
struct Script {
    todo: Vec<(u64, Act)>,
    begun: bool,
}

impl Script {
    fn new(values: &Values) -> Script {
        let list = |name| if values.has(name) { values.counts(name).to_vec() } else { Vec::new() };
        let told = list("tell").into_iter().zip(list("feedback")).map(|(at, feedback)| {
            let notice = Notice::Cnm { feedback: feedback as u8, q_off: 0, q_delta: 0, point: PortId(1) };
            (at, Act::Emit { notice, flow: FlowId(0), to: HostId(0) })
        });
        let paused = list("pause").into_iter().map(|at| (at, Act::Pause(PortId(0), ClassSet::single(0), u16::MAX)));
        let resumed = list("resume").into_iter().map(|at| (at, Act::Resume(PortId(0), ClassSet::single(0))));
        let mut todo: Vec<(u64, Act)> = told.chain(paused).chain(resumed).collect();
        todo.sort_by_key(|(at, _)| *at);
        Script { todo, begun: false }
    }
    fn perform_due_actions(&mut self, env: &mut Env) {
        while !self.todo.is_empty() && Time(self.todo[0].0) <= env.now {
            env.acts.push(self.todo.remove(0).1);
        }
        self.todo.first().into_iter().for_each(|(at, _)| env.acts.push(Act::Arm(Time(*at), TimerId(0))));
    }
}

impl Agent for Script {
    fn needs(&self) -> Needs {
        Needs { sends_notices: true, ..Needs::default() }
    }
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        if account == Account::Output(PortId(1)) && !self.begun { Account::EVERY_CHANGE } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _: Account, _: u64, at: &AgentContext, env: &mut Env) {
        if at.port == PortId(1) && !self.begun {
            self.begun = true;
            self.perform_due_actions(env);
        }
    }
    fn on_timer(&mut self, _: TimerId, _: &AgentContext, env: &mut Env) {
        self.perform_due_actions(env);
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

fn registry() -> Registry {
    Registry::catalogue().with_mechanism(Mechanism::new(&SCRIPT, |values| NotifySlot::new(Script::new(values))))
}

/// Record of start times of frames from h0, and of rate limits of flows.
#[derive(Clone, Default, PartialEq)]
struct Seen {
    sent: Vec<u64>,
    limits: Vec<(u64, Option<Rate>)>,
    /// Time in ps that a byte takes on the wire.
    byte: u64,
}

impl Observer for Seen {
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, end: Time) {
        if at.node == 0 {
            self.sent.push(end.0 - (u64::from(pkt.head.size) + WIRE - FRAME) * self.byte);
        }
    }
    fn on_rate_limit(&mut self, at: EventLocation, flow: FlowId, rate: Option<Rate>) {
        assert_eq!((at.node, flow), (0, FlowId(0)), "nobody else is told of");
        self.limits.push((at.now.0, rate));
    }
}

/// Parts of a scenario: rate of all links in Gb/s, settings of the reaction point, script, traffic, and further lines.
#[derive(Clone, Copy)]
struct Setting<'a> {
    gbps: u64,
    reaction: &'a str,
    script: &'a str,
    traffic: &'a str,
    more: &'a str,
}

const SETTING: Setting = Setting { gbps: 10, reaction: "jitter = 0", script: "", traffic: "", more: "" };

impl Setting<'_> {
    fn text(&self) -> String {
        let Setting { gbps, reaction, script, traffic, more } = self;
        format!(
            "name = \"reacting\"\nduration = \"30ms\"\n[topology]\nkind = \"star\"\nn = 2\n\
             link = {{ rate = \"{gbps}Gbps\", delay = \"1us\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
             reaction = {{ kind = \"qcn\", {reaction} }}\n{more}\n[switch]\nbuffer = {{ kind = \"unlimited\" }}\n\
             pause = {{ kind = \"pfc\", xoff = \"900MB\", xon = \"800MB\", lossless = false }}\n\
             notify = {{ kind = \"script\", {script} }}\n{traffic}"
        )
    }
    fn world(&self, seed: u64, options: Options) -> Watching<Seen> {
        let seen = Seen { byte: 8000 / self.gbps, ..Seen::default() };
        let hooks = RunHooks { observer: seen, tap: (), change_switch: &|_, _| {} };
        watch_with_hooks(&scenario_of(&self.text(), registry()), seed, options, hooks)
    }
    /// Runs the scenario, and checks that the run is identical by wheel and heap, and cloned halfway.
    fn run(&self) -> Seen {
        let mut whole = self.world(1, Options::default());
        whole.run();
        assert!(whole.conserves_packets(), "{:?}", whole.describe_imbalance());
        let heap = Options { heap: true, ..Options::default() };
        let mut others = [self.world(1, heap), self.world(1, heap)];
        others[1].advance(20_000);
        others[1] = others[1].clone();
        for other in &mut others {
            other.run();
            assert!(other.conserves_packets() && other.observer() == whole.observer());
        }
        whole.observer().clone()
    }
}

/// Returns a workload of frames at half of the rate of a link, without end.
fn half(gbps: u64) -> String {
    format!(
        "[[traffic]]\nname = \"f\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\npayload = \"1464B\"\n\
         rate = \"{}Mbps\"\n",
        gbps * 500
    )
}

/// Returns the rate limit of this number of bits per second.
fn at(bps: u64) -> Option<Rate> {
    Some(Rate::bps(bps))
}

/// Test of the rate limit after three messages, and of its recovery by the byte counter, computed by hand.
/// Three messages of feedback 63 leave 65, 65 and 65 of 128 parts of the rate. Frames always wait, so that only the
/// limiter determines when each begins. At the 99th frame since the first message, the byte counter has counted 150 678
/// B, and the rate goes up.
#[test]
fn a_flow_is_cut_by_messages_and_gets_its_rate_back_by_bytes() {
    for gbps in [10, 100] {
        let traffic = half(2 * gbps);
        let script = "tell = [1000000000, 1000100000, 1000200000], feedback = [63, 63, 63]";
        let reaction = "jitter = 0, timer = \"1s\"";
        let seen = Setting { gbps, script, traffic: &traffic, reaction, ..SETTING }.run();
        let line = gbps * 1_000_000_000;
        let told = 1_000_000 + 672_000 / gbps;
        let mut rate = line;
        for (n, limit) in seen.limits[..3].iter().enumerate() {
            rate = rate * 65 / 128;
            assert_eq!(*limit, (1_000_000_000 + n as u64 * 100_000 + told, at(rate)));
        }
        let first = seen.sent.iter().position(|at| *at > seen.limits[2].0).expect("it goes on");
        let before = seen.sent[..first].iter().filter(|at| **at > seen.limits[0].0).count() as i64;
        let (mut left, mut stage) = (150_000 - before * FRAME as i64, 0);
        let (mut begins, mut target, mut raised) = (seen.sent[first], line, seen.limits[3..].iter());
        for (n, sent) in seen.sent[first..].iter().enumerate().take(650) {
            assert_eq!(*sent, begins, "frame {n} after the cut at {gbps} Gb/s");
            let time = Rate::bps(rate).time(WIRE).0;
            left -= FRAME as i64;
            if left > 0 {
                begins += time;
                continue;
            }
            stage += 1;
            (left, target) = if stage < 5 { (150_000, target) } else { (75_000, target + 5_000_000) };
            let next = line.min((rate + target).div_ceil(2));
            assert_eq!(raised.next(), Some(&(*sent, at(next))), "stage {stage}");
            begins += (u128::from(time) * u128::from(rate)).div_ceil(u128::from(next)) as u64;
            rate = next;
        }
        assert!(stage >= 7, "{stage}");
    }
}

/// Test of a slow flow, whose rate limit recovers by the timer.
/// Only the timer raises the rate: the source sends a frame every 10 ms, so that no byte counter expires.
#[test]
fn a_flow_that_sends_little_gets_its_rate_back_by_time() {
    let traffic = half(10).replace("5000Mbps", "1233600bps");
    let reaction = "jitter = 0, timer = \"2ms\", threshold = 3, r_ai = \"1Gbps\"";
    let seen = Setting { script: "tell = [0], feedback = [32]", traffic: &traffic, reaction, ..SETTING }.run();
    assert_eq!(seen.sent.len(), 3);
    // The script begins with the first frame, which is stored on arrival.
    let told = 1_233_600 + 1_000_000 + MESSAGE_DELAY;
    let expired = |n: u64| told + n * 2_000_000_000;
    assert_eq!(
        seen.limits,
        [
            (told, at(7_500_000_000)),
            (expired(1), at(8_750_000_000)),
            (expired(2), at(9_375_000_000)),
            // TR is 11 Gb/s, CR is the line rate, and no frame waits.
            (expired(3), None),
        ]
    );
}

#[test]
fn limiter_is_removed_at_line_rate_with_nothing_waiting() {
    let reaction = "jitter = 0, threshold = 1, r_ai = \"4Gbps\"";
    let traffic = half(10);
    let script = "tell = [1000000000, 2000000000], feedback = [16, 16]";
    let seen = Setting { script, traffic: &traffic, reaction, ..SETTING }.run();
    // 99 frames of 2467.2 ns later, which wait only for their source's clock.
    let nth = |from: u64| *seen.sent.iter().filter(|at| **at > from).nth(98).expect("it goes on");
    let [first, second] = [1_000_000_000 + MESSAGE_DELAY, 2_000_000_000 + MESSAGE_DELAY];
    assert_eq!(
        seen.limits,
        [(first, at(8_750_000_000)), (nth(first), None), (second, at(8_750_000_000)), (nth(second), None)]
    );
    assert!(seen.sent.windows(2).all(|two| two[1] - two[0] == 2_467_200), "8.75 Gb/s limit nobody who sends 5");
}

/// Test of a reaction point while PFC pauses the class of its flow.
/// The class is paused from 1.2 ms to 6.2 ms: no byte is counted meanwhile, and the timer expires each millisecond.
#[test]
fn while_pfc_stops_a_class_its_byte_counter_stands_still_and_its_timer_does_not() {
    let traffic = half(10);
    let script = "tell = [1000000000, 1000100000, 1000200000], feedback = [63, 63, 63], \
                  pause = [1200000000, 4000000000], resume = [6200000000]";
    let seen = Setting { script, traffic: &traffic, reaction: "jitter = 0, timer = \"1ms\"", ..SETTING }.run();
    let told = seen.limits[2].0;
    let paused = |at: u64| (1_200_000_000..6_200_000_000).contains(&at);
    let by_time: Vec<u64> = seen.limits[3..].iter().map(|(at, _)| *at).filter(|at| paused(*at)).collect();
    let second = 1_000_000_000;
    assert_eq!(by_time, (1..=4).map(|n| told + n * second).chain([told + 5 * second]).collect::<Vec<_>>());
    let sent = |from: u64, to: u64| seen.sent.iter().filter(|at| (from..to).contains(*at)).count();
    // PAUSE arrives after a microsecond and a frame, and the frame on the wire leaves.
    assert_eq!(sent(1_205_000_000, 6_200_000_000), 0);
    let expired = seen.limits.iter().map(|(at, _)| *at).find(|at| *at > 6_200_000_000 && seen.sent.contains(at));
    let expired = expired.expect("a byte counter expires");
    assert_eq!(sent(told + 1, expired + 1), 99, "the frames before the pause and after it");
}

/// Test of the rate limit of a flow that ends.
/// A limit ends with its flow. The second message arrives after the end.
#[test]
fn a_flow_that_is_over_has_no_limit_any_more_and_gets_none() {
    let traffic = "[[traffic]]\nname = \"f\"\nkind = \"incast\"\nsenders = 1\npick = \"first\"\nreceiver = \"h1\"\n\
                   size = \"1460000B\"\n";
    let script = "tell = [100000000, 20000000000], feedback = [32, 32]";
    let seen = Setting { script, traffic, ..SETTING }.run();
    assert_eq!(seen.limits[0], (100_000_000 + MESSAGE_DELAY, at(7_500_000_000)));
    let (over, last) = seen.limits[seen.limits.len() - 1];
    assert!(last.is_none() && over < 20_000_000_000, "{:?}", seen.limits);
    assert_eq!(seen.limits.iter().filter(|(_, rate)| rate.is_none()).count(), 1);
    // A shorter flow ends while it is limited.
    let traffic = &traffic.replace("1460000B", "292000B");
    let seen = Setting { script, traffic, ..SETTING }.run();
    let [.., before, last] = &seen.limits[..] else { panic!("{:?}", seen.limits) };
    assert!(before.1.is_some_and(|rate| rate < Rate::gbps(9)) && last.1.is_none(), "{:?}", seen.limits);
    assert!(last.0 < 1_000_000_000, "{:?}", seen.limits);
}

#[test]
fn the_byte_counter_of_a_host_varies_by_draws_of_its_own() {
    let traffic = half(10);
    let script = "tell = [1000000000, 1000100000, 1000200000], feedback = [63, 63, 63]";
    let setting = Setting { script, traffic: &traffic, reaction: "timer = \"1s\"", ..SETTING };
    let limits = |text: &str, seed| {
        let seen = Seen { byte: 800, ..Seen::default() };
        let hooks = RunHooks { observer: seen, tap: (), change_switch: &|_, _| {} };
        let mut world = watch_with_hooks(&scenario_of(text, registry()), seed, Options::default(), hooks);
        world.run();
        world.observer().limits.clone()
    };
    let (own, more) = (setting.text(), setting.text().replace("n = 2", "n = 3"));
    assert_eq!(limits(&own, 1), limits(&more, 1), "another host changes nothing");
    assert_ne!(limits(&own, 1), limits(&own, 2));
    let even = Setting { reaction: "jitter = 0, timer = \"1s\"", ..setting };
    assert_ne!(limits(&own, 1), limits(&even.text(), 1));
}

/// Test of a reaction point that has a maximum rate of each flow.
/// `flow_rate` is the maximum rate of a flow, before a message and after its limiter has gone.
#[test]
fn the_rate_of_every_flow_is_what_a_reaction_point_starts_from_and_returns_to() {
    let traffic = half(10);
    let reaction = "jitter = 0, threshold = 1, r_ai = \"4Gbps\"";
    let setting = Setting { script: "tell = [1000000000], feedback = [16]", traffic: &traffic, reaction, ..SETTING };
    let text = setting.text().replace("kind = \"round_robin\"", "kind = \"round_robin\", flow_rate = \"4Gbps\"");
    let seen = Seen { byte: 800, ..Seen::default() };
    let hooks = RunHooks { observer: seen, tap: (), change_switch: &|_, _| {} };
    let mut world = watch_with_hooks(&scenario_of(&text, registry()), 1, Options::default(), hooks);
    world.run();
    let Seen { sent, limits, .. } = world.observer();
    assert_eq!(limits[0], (1_000_000_000 + MESSAGE_DELAY, at(3_500_000_000)));
    assert_eq!((limits.len(), limits[1].1), (2, None), "the 99th frame makes 4 Gb/s of it");
    let after = sent.iter().filter(|at| **at > limits[1].0 + 10_000_000).collect::<Vec<_>>();
    assert!(after.len() > 1000 && after.windows(2).all(|two| two[1] - two[0] == 3_084_000), "1542 B at 4 Gb/s");
}

#[test]
fn reaction_point_without_messages_changes_nothing() {
    let text = |reaction: &str| {
        format!(
            "name = \"quiet\"\nduration = \"5ms\"\n[topology]\nkind = \"star\"\nn = 3\n\
             link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
             reaction = {{ kind = \"{reaction}\" }}\n[transport]\nkind = \"dctcp\"\n[[traffic]]\nname = \"f\"\n\
             kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"200KB\"\n"
        )
    };
    let [with, without] = ["qcn", "none"].map(|reaction| run(&text(reaction), 1));
    assert!(column(&with, "flows", "end_ps").iter().all(|end| *end > Dur::ms(1).0));
    assert_eq!((with.progress, with.tables), (without.progress, without.tables));
}
