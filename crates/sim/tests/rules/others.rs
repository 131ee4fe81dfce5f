//! Tests of mechanisms of the other slots.

use super::{Make, run_to_broken_rule, star, with, wrong};
use crate::common::scenario_of;
use dataplane::SwitchSetup;
use mech::ack_hold::AckHoldSlot;
use mech::arbiter::{Arbiter, ArbiterSlot, Request};
use mech::fabric::{Fabric, FabricSlot, StageLink, StageParams};
use mech::fib::{AddressTable, FibSlot, LookupDecision};
use mech::host::{FlowAtNic, Reaction, ReactionSlot};
use mech::marking::{Marking, MarkingSlot};
use mech::notify::NotifySlot;
use mech::params::Spec;
use mech::routing::{Hop, Routing, RoutingSlot};
use mech::scheduler::{Scheduler, SchedulerSlot};
use mech::{
    Account, Act, Agent, AgentContext, ArrivalDecision, ClassSet, Env, FlowId, Head, HostId, Needs, Notice, PktId,
    PortId, PortView, QueueId, QueueView, Registry, Rule, TimerId,
};
use sim::{Options, RunHooks, StopReason, build_with_hooks};
use units::Time;

const NO_PORT: PortId = PortId(99);
const ARM: Act = Act::Arm(Time::ZERO, TimerId(0));

macro_rules! boxed {
    ($slot:ident) => {
        fn clone_boxed(&self) -> Box<dyn $slot> {
            Box::new(self.clone())
        }
    };
}

#[derive(Clone)]
struct Route(fn(&mut Env) -> usize, Option<PortId>);

impl Routing for Route {
    fn choose_hop(&mut self, _pkt: &Head, _hops: &[Hop], env: &mut Env) -> usize {
        (self.0)(env)
    }
    fn hop_by_hash(&self, _host: HostId, _hash: u32, _hops: &[Hop]) -> usize {
        7
    }
    fn choose_port(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> PortId {
        self.1.unwrap_or_else(|| mech::routing::hop_port(hops, self.choose_hop(pkt, hops, env)))
    }
    boxed!(Routing);
}

const ROUTING: Spec = wrong("switch.routing");

#[test]
fn routing_to_no_hop_or_port_ends_the_run() {
    let cases: [(Rule, Make<RoutingSlot>); 3] = [
        (Rule::NoHop, |_| RoutingSlot::custom(Route(|_| 7, None))),
        (Rule::NoPort(NO_PORT), |_| RoutingSlot::custom(Route(|_| 0, Some(NO_PORT)))),
        (Rule::ForbiddenAction, |_| {
            let push = |env: &mut Env| {
                env.acts.push(ARM);
                0
            };
            RoutingSlot::custom(Route(push, None))
        }),
    ];
    let text = "name = \"r\"\nduration = \"1ms\"\n[topology]\nkind = \"leaf_spine\"\nleaves = 2\nspines = 2\n\
                hosts_per_leaf = 2\n[switch]\nrouting = { kind = \"wrong\" }\n[[traffic]]\nname = \"t\"\nkind = \"incast\"\n\
                senders = 2\npick = \"first\"\nreceiver = \"h3\"\nsize = \"10KB\"\n";
    for (wanted, make) in cases {
        let (rule, message) = run_to_broken_rule(text, with(&ROUTING, make));
        assert_eq!(rule, wanted, "{message}");
        assert!(message.contains("`wrong`") && message.contains("`routing`"), "{message}");
    }
}

#[derive(Clone)]
struct Order(fn(&PortView, &mut Env) -> Option<(QueueId, PktId)>, Needs);

impl Scheduler for Order {
    fn next_packet(&mut self, port: &PortView, env: &mut Env) -> Option<(QueueId, PktId)> {
        (self.0)(port, env)
    }
    fn needs(&self) -> Needs {
        self.1
    }
    boxed!(Scheduler);
}

const REORDERS: Needs = Needs { reorders: true, ..super::NONE };
const SCHEDULER: Spec = wrong("switch.scheduler");

#[test]
fn scheduler_that_chooses_no_waiting_packet_ends_the_run() {
    let queue = QueueId(0);
    let cases: [(Rule, Make<SchedulerSlot>); 4] = [
        (Rule::NotEligible(QueueId(200)), |_| {
            SchedulerSlot::custom(Order(|_, _| Some((QueueId(200), PktId(0))), REORDERS))
        }),
        (Rule::NotEligible(QueueId(1)), |_| {
            SchedulerSlot::custom(Order(|_, _| Some((QueueId(1), PktId(0))), REORDERS))
        }),
        (Rule::NotQueued(queue, PktId(99)), |_| {
            SchedulerSlot::custom(Order(|_, _| Some((QueueId(0), PktId(99))), REORDERS))
        }),
        (Rule::ForbiddenAction, |_| {
            let push = |_: &PortView, env: &mut Env| {
                env.acts.push(ARM);
                None
            };
            SchedulerSlot::custom(Order(push, REORDERS))
        }),
    ];
    for (wanted, make) in cases {
        let text = star("buffer = { kind = \"unlimited\" }\nscheduler = { kind = \"wrong\" }", "");
        let (rule, message) = run_to_broken_rule(&text, with(&SCHEDULER, make));
        assert_eq!(rule, wanted, "{message}");
    }
}

#[test]
fn scheduler_reorders_only_if_it_declares_so() {
    let other = "[[traffic]]\nname = \"u\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h2\"\n\
                 payload = \"1000B\"\nrate = \"1Gbps\"\nstop = \"200us\"\nclass = 1\n";
    let text = star("buffer = { kind = \"unlimited\" }\nscheduler = { kind = \"wrong\" }", other);
    let make: Make<SchedulerSlot> = |_| {
        let last = |port: &PortView, _: &mut Env| {
            let mut found = None;
            let queue = QueueId::iter_set(port.eligible).next()?;
            port.view.visit_packets(port.port, queue, &mut |id, _| found = Some((queue, id)));
            found
        };
        SchedulerSlot::custom(Order(last, super::NONE))
    };
    let (rule, message) = run_to_broken_rule(&text, with(&SCHEDULER, make));
    assert!(matches!(rule, Rule::Undeclared { .. }) && message.contains("reorders"), "{message}");
}

#[derive(Clone)]
struct Mark(fn(&QueueView, &mut Env));

impl Marking for Mark {
    fn mark(&mut self, _pkt: &Head, q: &QueueView, env: &mut Env) -> bool {
        (self.0)(q, env);
        false
    }
    boxed!(Marking);
}

const MARKING: Spec = wrong("switch.marking");

#[test]
fn marking_that_pushes_acts_or_names_no_port_ends_the_run() {
    let cases: [(Rule, Make<MarkingSlot>); 2] = [
        (Rule::ForbiddenAction, |_| MarkingSlot::custom(Mark(|_, env| env.acts.push(ARM)))),
        (Rule::NoPort(NO_PORT), |_| MarkingSlot::custom(Mark(|q, _| _ = q.view.backlog(NO_PORT, q.queue)))),
    ];
    for (wanted, make) in cases {
        let (rule, message) = run_to_broken_rule(&star("marking = { kind = \"wrong\" }", ""), with(&MARKING, make));
        assert_eq!(rule, wanted, "{message}");
    }
}

#[derive(Clone)]
struct Grant;

impl Arbiter for Grant {
    fn grant(&mut self, _output: PortId, _requests: &[Request], _env: &mut Env) -> Option<PortId> {
        Some(NO_PORT)
    }
    boxed!(Arbiter);
}

const ARBITER: Spec = wrong("switch.arbiter");

#[test]
fn arbiter_that_grants_no_request_ends_the_run() {
    for model in &super::MODELS[1..] {
        let text = star(&format!("arbiter = {{ kind = \"wrong\" }}{model}"), "");
        let (rule, message) = run_to_broken_rule(&text, with(&ARBITER, |_| ArbiterSlot::custom(Grant)));
        assert_eq!(rule, Rule::NotRequested(NO_PORT), "{message}");
        assert!(message.contains("`wrong`"), "{message}");
    }
}

#[derive(Clone)]
struct Astray(FabricSlot);

impl Fabric for Astray {
    fn stage_params(&self) -> Option<&StageParams> {
        self.0.peek().stage_params()
    }
    fn edge_stages(&self) -> u16 {
        self.0.peek().edge_stages()
    }
    fn links(&self) -> Vec<StageLink> {
        self.0.peek().links()
    }
    fn next_link(&self, _at: u16, _to: u16, _hash: u32) -> usize {
        1 << 40
    }
    boxed!(Fabric);
}

#[test]
fn fabric_that_chooses_no_link_of_the_stage_ends_the_run() {
    let across = "[[traffic]]\nname = \"across\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"h5\"\n\
                  payload = \"1000B\"\nrate = \"100Mbps\"\nstop = \"200us\"\n";
    let scenario = scenario_of(&star(super::MODELS[2], across), Registry::catalogue());
    let astray = |_: u32, setup: &mut SwitchSetup| {
        let stages = setup.core.inputs.as_mut().and_then(|inputs| inputs.stages.as_mut()).expect("it has stages");
        stages.fabric = FabricSlot::custom(Astray(stages.fabric.clone()));
    };
    let hooks = RunHooks { observer: (), tap: (), change_switch: &astray };
    let mut world = build_with_hooks(&scenario, 1, Options::default(), hooks).unwrap();
    assert_eq!(world.run().stop, Some(StopReason::BrokenRule));
    assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
}

#[derive(Clone)]
struct Table;

impl AddressTable for Table {
    fn is_preset(&self, _host: HostId) -> bool {
        false
    }
    fn learned_port(&self, _host: HostId, _now: Time) -> Option<PortId> {
        Some(NO_PORT)
    }
    fn learn(&mut self, _pkt: &Head, _now: Time) {}
    fn decide(&self, _pkt: &Head, (out, _): (Option<PortId>, Option<PortId>)) -> LookupDecision {
        out.map_or(LookupDecision::Flood, LookupDecision::Forward)
    }
    boxed!(AddressTable);
}

const FIB: Spec = wrong("switch.fib");

#[test]
fn address_behind_no_port_ends_the_run() {
    let (rule, message) =
        run_to_broken_rule(&star("fib = { kind = \"wrong\" }", ""), with(&FIB, |_| FibSlot::from_table(Table)));
    assert_eq!(rule, Rule::NoPort(NO_PORT), "{message}");
    assert!(message.contains("`fib`"), "{message}");
}

/// Agent that requests an act, made by a function, on every change at the output of its port.
#[derive(Clone)]
struct Push(fn(PortId) -> Act, Needs, ArrivalDecision);

impl Agent for Push {
    fn needs(&self) -> Needs {
        self.1
    }
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        if matches!(account, Account::Output(_)) { Account::EVERY_CHANGE } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _account: Account, _bytes: u64, at: &AgentContext, env: &mut Env) {
        env.acts.push((self.0)(at.port));
    }
    fn handles_arrivals(&self) -> bool {
        self.2 != ArrivalDecision::Forward
    }
    fn on_arrival(&mut self, _pkt: &Head, _at: &AgentContext, _env: &mut Env) -> ArrivalDecision {
        self.2
    }
    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        env.acts.push((self.0)(at.port));
    }
    boxed!(Agent);
}

const NOTIFY: Spec = wrong("switch.notify");
const NOTICES: Needs = Needs { sends_notices: true, ..super::NONE };

fn emit(flow: u32, to: u32) -> Act {
    Act::Emit { notice: Notice::Cnp, flow: FlowId(flow), to: HostId(to) }
}

macro_rules! push {
    ($needs:expr, $act:expr) => {
        |_| NotifySlot::new(Push($act, $needs, ArrivalDecision::Forward))
    };
}

#[test]
fn acts_of_agents_about_what_is_not_there_end_the_run() {
    let cases: [(&str, Make<NotifySlot>); 9] = [
        ("notices: true", push!(super::NONE, |_| emit(0, 0))),
        ("flow 4000000000", push!(NOTICES, |_| emit(4_000_000_000, 0))),
        ("host 6,", push!(NOTICES, |_| emit(0, 6))),
        ("pausing()", push!(super::NONE, |at| Act::Pause(at, ClassSet::ALL, 1))),
        ("port 99", push!(super::NONE, |_| Act::Turn { port: NO_PORT, state: 1, level: 0 })),
        ("timer 8", push!(super::NONE, |_| Act::Arm(Time(1 << 40), TimerId(8)))),
        ("again and again", push!(super::NONE, |_| ARM)),
        ("sets_ece", push!(super::NONE, |port| Act::ReleaseHeld { port, max: 1, set_ece: true, window: None })),
        ("port 99", push!(super::NONE, |_| Act::ReleaseHeld { port: NO_PORT, max: 1, set_ece: false, window: None })),
    ];
    for (wanted, make) in cases {
        let text = star("buffer = { kind = \"unlimited\" }\nnotify = { kind = \"wrong\" }", "");
        let (_, message) = run_to_broken_rule(&text, with(&NOTIFY, make));
        assert!(message.contains(wanted) && message.contains("`wrong`") && message.contains("`notify`"), "{message}");
    }
}

const ACK_HOLD: Spec = wrong("switch.ack_hold");

#[test]
fn agent_that_holds_packets_must_declare_their_memory() {
    let make: Make<AckHoldSlot> =
        |_| AckHoldSlot::new(Push(|_| Act::Arm(Time::NEVER, TimerId(0)), super::NONE, ArrivalDecision::Hold));
    let (rule, message) = run_to_broken_rule(&star("ack_hold = { kind = \"wrong\" }", ""), with(&ACK_HOLD, make));
    assert!(matches!(rule, Rule::Undeclared { .. }) && message.contains("hold_memory"), "{message}");
}

/// Reaction point whose timer expires again and again at the same instant.
#[derive(Clone, Default)]
struct StuckTimer(Option<(Time, FlowId)>);

impl Reaction for StuckTimer {
    fn sends_notices(&self) -> bool {
        true
    }
    fn on_marked(&mut self, _flow: FlowId, _now: Time) -> Option<Notice> {
        Some(Notice::Cnp)
    }
    fn on_notice(&mut self, _notice: &Notice, flow: &mut FlowAtNic) {
        self.0 = Some((flow.now, flow.flow));
    }
    fn next_timer(&self) -> Option<(Time, FlowId)> {
        self.0
    }
    boxed!(Reaction);
}

const REACTION: Spec = wrong("host.reaction");

#[test]
fn reaction_whose_timer_stands_ends_the_run() {
    let host = "[host]\nnic = { kind = \"round_robin\" }\nreaction = { kind = \"wrong\" }\n";
    let text = star("marking = { kind = \"ecn_threshold\", k = \"1pkt\" }", host);
    let text = text.replace("stop = \"200us\"\n", "stop = \"200us\"\necn = true\n");
    let (rule, message) = run_to_broken_rule(&text, with(&REACTION, |_| ReactionSlot::new(StuckTimer::default())));
    assert_eq!(rule, Rule::EndlessTimers, "{message}");
    assert!(message.contains("`wrong`") && message.contains("host h"), "{message}");
}
