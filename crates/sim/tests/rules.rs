//! Tests of custom mechanisms that break a rule of their slot.
//!
//! No run hangs or panics, and each ends with an error that names the mechanism, its slot, the place and the remedy.

use crate::common::{run_with, scenario_of, total};
use mech::overflow::{DropReason, Fate, Overflow, OverflowSlot};
use mech::params::Spec;
use mech::{
    Act, AdmitCalls, Env, ForwardingContext, Head, HostId, Lane, Mechanism, Needs, PktId, PortId, QueueId, Registry,
    RegistrySlot, Rule,
};
use sim::{Options, Recorder, StopReason, run_divided};
use units::{Amount, Bytes, Time};

mod others;

/// Function that creates a mechanism from its parameters.
type Make<S> = fn(&mech::params::Values) -> S;

/// Returns the catalogue with one more mechanism, `wrong`, for this slot.
fn with<S: RegistrySlot>(spec: &'static Spec, make: Make<S>) -> Registry {
    Registry::catalogue().with_mechanism(Mechanism::new(spec, make).allowed_at_nic())
}

/// Returns the declaration of a mechanism `wrong` for this slot.
const fn wrong(slot: &'static str) -> Spec {
    Spec { slot, kind: "wrong", doc: "Breaks a rule.", cite: "", params: &[] }
}

/// Returns a scenario of a star with two overloaded ports and two senders to each; `more` has settings of the switch.
fn star(more: &str, rest: &str) -> String {
    let flow = |from: u32, to: u32| {
        format!(
            "[[traffic]]\nname = \"f{from}\"\nkind = \"constant\"\nsource = \"h{from}\"\ndestination = \"h{to}\"\n\
             payload = \"1000B\"\nrate = \"1Gbps\"\nstop = \"200us\"\n"
        )
    };
    let flows: String = [(0, 2), (1, 2), (3, 5), (4, 5)].map(|(from, to)| flow(from, to)).concat();
    format!(
        "name = \"rules\"\nduration = \"1ms\"\n[topology]\nkind = \"star\"\nn = 6\n\
         link = {{ rate = \"1Gbps\", delay = \"1us\" }}\n[switch]\n{more}\n{rest}\n{flows}"
    )
}

/// Runs a scenario whose mechanism breaks a rule, undivided and in two partitions; returns the broken rule and the
/// error message.
fn run_to_broken_rule(text: &str, registry: Registry) -> (Rule, String) {
    let scenario = scenario_of(text, registry);
    let results = run_with(&scenario, 1, Options::default());
    let found = results.broken.unwrap_or_else(|| panic!("no rule is broken: {text}"));
    assert_eq!(results.progress.stop, Some(StopReason::BrokenRule));
    let options = Options { partitions: 2, ..Options::default() };
    let mut divided = run_divided(&scenario, 1, options, Recorder::from_scenario(&scenario)).unwrap();
    assert_eq!(divided.progress().stop, Some(StopReason::BrokenRule));
    assert!(divided.conserves_packets(), "{:?}", divided.describe_imbalance());
    (found.broken.rule, found.describe(&scenario))
}

const OVERFLOW: Spec = wrong("switch.overflow");

/// Overflow mechanism whose decision is a given function.
#[derive(Clone)]
struct Full {
    needs: Needs,
    asks: AdmitCalls,
    admit: fn(&Head, &ForwardingContext, &mut Env) -> Fate,
}

impl Overflow for Full {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        (self.admit)(pkt, at, env)
    }
    fn admit_calls(&self) -> AdmitCalls {
        self.asks
    }
    fn needs(&self) -> Needs {
        self.needs
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

macro_rules! full {
    ($($need:ident: $value:expr),*; $admit:expr) => {
        (|_| {
            let needs = Needs { $($need: $value,)* ..NONE };
            OverflowSlot::custom(Full { needs, asks: AdmitCalls::WhenFull, admit: $admit })
        }) as Make<OverflowSlot>
    };
}

const NONE: Needs = Needs {
    bounce_lane: None,
    samples: None,
    timer_in_pause: false,
    sends_notices: false,
    detours: false,
    cut_memory: None,
    cut_class: None,
    returns_to_source: false,
    hold_memory: None,
    sets_ece: false,
    min_window: None,
    reads_packets: false,
    removes_packets: false,
    reorders: false,
    orders_by_rank: false,
    finds_least_urgent: false,
    finds_most_urgent: false,
};
const QUEUE: QueueId = QueueId::normal(0);
const DROP: Fate = Fate::Drop(DropReason::BufferFull);
const NO_PORT: PortId = PortId(99);
/// Mechanisms that do what they have not declared, each with the word of the declaration that the error must name.
const UNDECLARED: [(&str, Make<OverflowSlot>); 12] = [
    (
        "removes_packets",
        full!(reads_packets: true; |_, at, _| {
            at.view.first_packet(at.output, QUEUE).map_or(DROP, |(id, _)| Fate::Evict(id))
        }),
    ),
    ("removes_packets", full!(cut_memory: Some(Bytes(0)); |_, _, _| Fate::TrimQueued(PktId(0)))),
    ("reads_packets", full!(; |_, at, _| at.view.first_packet(at.output, QUEUE).map_or(DROP, |_| DROP))),
    ("reads_packets", full!(; |_, at, _| { at.view.visit_packets(at.output, QUEUE, &mut |_, _| {}); DROP })),
    ("detours", full!(; |_, _, _| Fate::Detour(PortId(0), QUEUE))),
    ("bounce_lane", full!(; |_, _, _| Fate::Bounce(PortId(0)))),
    ("cut_memory", full!(; |_, _, _| Fate::Trim(QUEUE))),
    ("cut_memory", full!(returns_to_source: true; |_, _, _| Fate::TrimAndReturn)),
    ("returns_to_source", full!(; |_, _, _| Fate::ReturnToSource)),
    ("returns_to_source", full!(cut_memory: Some(Bytes(0)); |_, _, _| Fate::TrimAndReturn)),
    ("samples", full!(; |_, at, _| at.view.occupant(at.output, 0).map_or(DROP, |_| DROP))),
    (
        "range_without_call",
        full!(; |_, at, _| match at.view.total_bytes_stored_from_input(at.ingress, 0) > 0 {
            true => DROP,
            false => Fate::Enqueue(QUEUE),
        }),
    ),
];

const SMALL: &str = "buffer = { kind = \"per_port\", size = \"3pkt\" }\noverflow = { kind = \"wrong\" }";
/// Settings of a switch for each queueing model.
const MODELS: [&str; 3] = [
    "",
    "\nmodel = \"cioq\"\nspeedup = 2\ninput_buffer = \"4pkt\"",
    "\nmodel = \"fabric\"\nspeedup = 2\ninput_buffer = \"4pkt\"\n\
     fabric = { kind = \"mesh\", elements = 2, link_rate = \"500Mbps\" }",
];

#[test]
fn undeclared_use_ends_the_run_and_names_the_declaration() {
    for (needed, make) in UNDECLARED {
        for model in MODELS {
            let (rule, text) = run_to_broken_rule(&star(&format!("{SMALL}{model}"), ""), with(&OVERFLOW, make));
            assert!(matches!(rule, Rule::Undeclared { .. }), "{needed}: {rule:?}");
            assert!(text.contains(needed) && text.contains("`wrong`") && text.contains("switch s0, port "), "{text}");
        }
    }
}

/// Mechanisms whose fate or query names a packet or port that does not exist, each with the rule that it breaks.
const ABSENT: [(Rule, Make<OverflowSlot>); 11] = [
    (Rule::NoPacket(PktId(1 << 20)), full!(removes_packets: true; |_, _, _| Fate::Evict(PktId(1 << 20)))),
    (Rule::NoPacket(PktId(u32::MAX)), full!(removes_packets: true; |_, _, _| Fate::Evict(PktId(u32::MAX)))),
    (
        Rule::NoPacket(PktId(u32::MAX)),
        full!(removes_packets: true, cut_memory: Some(Bytes(0)); |_, _, _| Fate::TrimQueued(PktId(u32::MAX))),
    ),
    (Rule::NoPort(NO_PORT), full!(detours: true; |_, _, _| Fate::Detour(NO_PORT, QUEUE))),
    (Rule::NoPort(NO_PORT), full!(bounce_lane: Some(Amount::Packets(5)); |_, _, _| Fate::Bounce(NO_PORT))),
    (Rule::NoPort(NO_PORT), full!(; |_, at, _| if at.fits(NO_PORT, QUEUE, 1) { Fate::Enqueue(QUEUE) } else { DROP })),
    (Rule::NoPort(NO_PORT), full!(; |_, at, _| at.fill(NO_PORT, QUEUE).limit.map_or(DROP, |_| DROP))),
    (Rule::NoHost(HostId(6)), full!(; |_, at, _| at.view.port_toward(HostId(6), 0).map_or(DROP, |_| DROP))),
    (Rule::NoQueue(QueueId(200)), full!(; |_, _, _| Fate::Enqueue(QueueId(200)))),
    (Rule::NoQueue(QueueId::new(0, Lane::Notice)), full!(; |_, _, _| Fate::Enqueue(QueueId::new(0, Lane::Notice)))),
    (Rule::ForbiddenAction, full!(; |_, _, env| { env.acts.push(Act::Arm(Time::ZERO, mech::TimerId(0))); DROP })),
];

#[test]
fn fates_about_what_is_not_there_end_the_run() {
    for (wanted, make) in ABSENT {
        let (rule, text) = run_to_broken_rule(&star(SMALL, ""), with(&OVERFLOW, make));
        assert_eq!(rule, wanted, "{text}");
    }
}

#[test]
fn eviction_at_another_port_ends_the_run() {
    let make = full!(removes_packets: true; |_, at, _| match at.view.first_packet(PortId(7 - at.output.0), QUEUE) {
        Some((id, _)) => Fate::Evict(id),
        None => DROP,
    });
    let (rule, text) = run_to_broken_rule(&star(SMALL, ""), with(&OVERFLOW, make));
    assert!(matches!(rule, Rule::QueuedElsewhere(_)), "{text}");
    assert!(text.contains("at.output"), "{text}");
}

#[test]
fn trimming_and_evicting_the_same_packets_comes_to_an_end() {
    let make = full!(removes_packets: true, cut_memory: Some(Bytes(0)); |_, at, _| {
        let mut whole = None;
        at.view.visit_packets(at.output, QUEUE, &mut |id, head| whole = whole.or((!head.is_cut()).then_some(id)));
        match (whole, at.view.first_packet(at.output, QUEUE)) {
            (Some(id), _) => Fate::TrimQueued(id),
            (None, Some((id, _))) => Fate::Evict(id),
            (None, None) => DROP,
        }
    });
    let traffic = "[[traffic]]\nname = \"t\"\nkind = \"incast\"\nsenders = 5\npick = \"first\"\nreceiver = \"h5\"\n\
                   size = \"50KB\"\n";
    let (rule, text) = run_to_broken_rule(&star(SMALL, traffic), with(&OVERFLOW, make));
    assert!(matches!(rule, Rule::TooManyRemovals { removals: 2..=4 }), "{text}");
}

#[test]
fn rules_hold_at_the_nic_of_a_host() {
    let host = "[host]\nnic_queue = \"2pkt\"\noverflow = { kind = \"wrong\" }\n[[traffic]]\nname = \"t\"\n\
                kind = \"incast\"\nsenders = 5\npick = \"first\"\nreceiver = \"h5\"\nsize = \"50KB\"\n";
    let make = full!(removes_packets: true; |_, _, _| Fate::Evict(PktId(77)));
    let (rule, text) = run_to_broken_rule(&star("buffer = { kind = \"unlimited\" }", host), with(&OVERFLOW, make));
    assert_eq!(rule, Rule::NoPacket(PktId(77)));
    assert!(text.contains("`wrong`") && text.contains("host h0, port 0"), "{text}");
}

#[test]
fn simultaneous_arrivals_may_evict_the_same_packet() {
    let make: Make<OverflowSlot> = |_| {
        let admit = |_: &Head, at: &ForwardingContext, _: &mut Env| match at.view.first_packet(at.output, QUEUE) {
            Some((id, _)) => Fate::Evict(id),
            None => Fate::Enqueue(QUEUE),
        };
        OverflowSlot::custom(Full { needs: Needs { removes_packets: true, ..NONE }, asks: AdmitCalls::Always, admit })
    };
    let switch = format!("{SMALL}\nsimultaneous = \"snapshot\"");
    let scenario = scenario_of(&star(&switch, ""), with(&OVERFLOW, make));
    let results = run_with(&scenario, 1, Options::default());
    assert_eq!(results.broken, None);
    assert!(total(&results, "ports", "drop_evicted") > 10);
}
