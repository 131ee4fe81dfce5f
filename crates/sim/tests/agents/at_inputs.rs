//! Tests of agents in switches with input buffers: their calls, and the path of their messages.
//!
//! A frame arrives at the switch FAST + DELAY after its transmission starts. It crosses to h1 in 6072 ns and to h0 in
//! 607.2 ns.

use super::{DELAY, FAST, Refit, SLOW, TO_H1, burst, text};
use crate::common::scenario;
use crate::common::watched::{Watching, watch_with_hooks};
use dataplane::{Pkt, SwitchSetup};
use mech::{Account, Act, Agent, AgentContext, AgentSlot, Env, FlowId, Head, HostId, Lane, LaneLimit, Needs, Notice};
use mech::{MemorySampling, MemorySide, PacketKind, PortId};
use sim::{EventLocation, Observer, Options, RunHooks};
use std::sync::{Arc, Mutex};
use units::{Bytes, Time};

const CROSSES: u64 = 6_072_000;
/// Arrival time of the first frame.
const FIRST_ARRIVAL: u64 = FAST + DELAY;

/// Frames that crossed a switch (time, input, output, packet), and times and ports at which messages left.
#[derive(Clone, Default)]
struct Seen {
    crossed: Vec<(u64, u32, u32, u32)>,
    messages: Vec<(u64, u32)>,
}

impl Observer for Seen {
    fn on_input_dequeue(&mut self, at: EventLocation, input: u32, pkt: &Pkt) {
        self.crossed.push((at.now.0, input, at.port, pkt.emission));
    }
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, _end: Time) {
        if pkt.head.kind() == PacketKind::Notice {
            self.messages.push((at.now.0, at.port));
        }
    }
}

fn ran(text: &str, switch: Refit) -> Watching<Seen> {
    let world = |options| {
        let hooks = RunHooks { observer: Seen::default(), tap: (), change_switch: switch };
        watch_with_hooks(&scenario(text, ""), 1, options, hooks)
    };
    let mut world = world(Options::default());
    while world.progress().stop.is_none() {
        world.advance(1);
        assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    }
    world
}

fn cioq(more: &str, traffic: &str) -> String {
    text(&format!("model = \"cioq\"\nbuffer = {{ kind = \"per_port\", size = \"2pkt\" }}\n{more}"), traffic)
}

/// Call of an agent by its switch: time, account, bytes, and the frame stored just before.
type Call = (u64, Account, u64, Option<u16>);

/// Agent that records every change of the accounts of its port.
#[derive(Clone, Default)]
struct Follower(Arc<Mutex<Vec<Call>>>);

impl Agent for Follower {
    fn range_without_call(&self, _account: Account) -> (u64, u64) {
        Account::EVERY_CHANGE
    }
    fn on_level(&mut self, account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        if let Account::Input(port, class) = account {
            assert_eq!((at.view.allocated_bytes(port, class), class), (bytes, 0));
        }
        self.0.lock().unwrap().push((env.now.0, account, bytes, at.stored.map(|head| head.size)));
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

/// Returns the calls of an agent at the input of h0, and of one at the output to h1.
fn followed(text: &str) -> ([Vec<Call>; 2], Watching<Seen>) {
    let all = [Follower::default(), Follower::default()];
    let at_both = |_: u32, setup: &mut SwitchSetup| {
        for (port, follower) in setup.core.ports.iter_mut().zip(&all) {
            port.agents.push(AgentSlot::new(follower.clone()));
        }
    };
    let world = ran(text, &at_both);
    let calls = all.map(|follower| std::mem::take(&mut *follower.0.lock().unwrap()));
    (calls, world)
}

/// Test of the calls for two frames, with times computed by hand.
/// Frame 0 arrives at 2230.4 ns, crosses until 8302.4 ns and leaves immediately. Frame 1, 5 us later, crosses until
/// 14374.4 ns and leaves at 20606.4 ns.
#[test]
fn input_accounts_see_stores_and_transfers_outputs_see_arrivals() {
    let ([input, output], world) = followed(&cioq("", &burst(2, "5us")));
    let (in_0, to_1) = (PortId(0), PortId(TO_H1));
    let of_0 = |account: Account, bytes, stored| (account, bytes, stored);
    let stored = |at: u64, all: u64, now: u64| {
        [
            (at, of_0(Account::Entered(in_0, 0), all, Some(1518))),
            (at, of_0(Account::Input(in_0, 0), now, Some(1518))),
            (at, of_0(Account::AllInput(in_0), now, Some(1518))),
        ]
    };
    let crossed = |at: u64, now: u64| {
        [Account::Input(in_0, 0), Account::AllInput(in_0)].map(|account| (at, of_0(account, now, Some(1518))))
    };
    let (second, over) = (FIRST_ARRIVAL + 5_000_000, FIRST_ARRIVAL + CROSSES);
    let expected: Vec<Call> = [
        stored(FIRST_ARRIVAL, 1518, 1518).to_vec(),
        stored(second, 3036, 3036).to_vec(),
        crossed(over, 1518).to_vec(),
        crossed(over + CROSSES, 0).to_vec(),
    ]
    .concat()
    .into_iter()
    .map(|(at, (account, bytes, stored))| (at, account, bytes, stored))
    .collect();
    assert_eq!(input, expected);
    let waits = |at: u64, bytes: u64, stored: Option<u16>| (at, Account::Output(to_1), bytes, stored);
    let arrived = |at: u64, bytes: u64| (at, Account::Arrived(to_1, 0), bytes, Some(1518));
    let expected = [
        waits(FIRST_ARRIVAL, 1518, Some(1518)),
        waits(second, 3036, Some(1518)),
        arrived(over, 1518),
        waits(over, 1518, None),
        arrived(over + CROSSES, 3036),
        waits(over + SLOW, 0, None),
    ];
    assert_eq!(output, expected);
    assert_eq!(world.observer().crossed, [(over, 2, 3, 0), (over + CROSSES, 2, 3, 1)]);
}

/// Test of accounts when a link dies, with times computed by hand.
/// The link dies at 50 us. Frame 3 is on the wire then, 4 is in the output's buffer, 5 crosses, and four frames are at
/// the input. Frame 5 is lost when it has crossed, 12 us later.
#[test]
fn frames_lost_before_the_output_never_enter_its_account() {
    let event = "event = [{ kind = \"link_down\", at = \"50us\", link = \"s:h1\" }]\n[topology]";
    let text = cioq("", &burst(10, "1230400ps")).replace("[topology]", event);
    let ([input, output], world) = followed(&text);
    let last = |calls: &[Call], like: Account| calls.iter().rev().find(|(_, account, ..)| *account == like).copied();
    let crossed = FIRST_ARRIVAL + CROSSES + 3 * SLOW + CROSSES;
    assert_eq!(last(&input, Account::AllInput(PortId(0))), Some((crossed, Account::AllInput(PortId(0)), 0, None)));
    let to_h1 = Account::Output(PortId(TO_H1));
    assert_eq!(last(&output, to_h1), Some((crossed, to_h1, 0, None)));
    let arrived = last(&output, Account::Arrived(PortId(TO_H1), 0)).expect("five frames did");
    assert_eq!(arrived.2, 5 * 1518);
    let told = &world.observer().crossed;
    assert_eq!(told.iter().map(|(.., n)| *n).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 6, 7, 8, 9, 5]);
    assert!(told[5..9].iter().all(|(at, ..)| *at == 50_000_000) && told[9].0 == crossed);
}

/// Agent that sends h0 a message about its first flow whenever an account of its port has grown by a frame.
#[derive(Clone)]
struct MessageOnGrowth {
    follows: Account,
    next: u64,
}

impl Agent for MessageOnGrowth {
    fn needs(&self) -> Needs {
        Needs { sends_notices: true, ..Needs::default() }
    }
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        if account == self.follows { (0, self.next) } else { Account::UNWATCHED }
    }
    fn on_level(&mut self, _account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        self.next = bytes;
        let notice = Notice::Cnm { feedback: 9, q_off: 0, q_delta: 0, point: at.port };
        let Head { flow, src, .. } = *at.stored.expect("a frame was stored just now");
        env.acts.push(Act::Emit { notice, flow, to: src });
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

/// Test of the instants at which messages of an input and of an output leave.
/// The message of an input is on its link in the instant in which the frame is stored. The message of an output is made
/// when the frame has crossed, and crosses first, 64 B in 25.6 ns.
#[test]
fn a_message_of_an_input_leaves_at_once_and_one_of_an_output_when_it_has_crossed() {
    let told = |port: u16, follows: Account| {
        let teller = AgentSlot::new(MessageOnGrowth { follows, next: 0 });
        let at_port = |_: u32, setup: &mut SwitchSetup| {
            setup.core.lanes = setup.core.lanes.with(Lane::Notice, LaneLimit::Unlimited);
            setup.core.ports[usize::from(port)].agents.push(teller.clone());
        };
        let world = ran(&cioq("", &burst(2, "50us")), &at_port);
        assert_eq!((world.host(HostId(0)).notice_stats(FlowId(0)).0, world.observer().crossed.len()), (2, 2));
        world.observer().messages.clone()
    };
    let of_input = told(0, Account::Entered(PortId(0), 0));
    assert_eq!(of_input, [(FIRST_ARRIVAL, 2), (FIRST_ARRIVAL + 50_000_000, 2)]);
    let of_output = told(TO_H1, Account::Arrived(PortId(TO_H1), 0));
    let first = FIRST_ARRIVAL + CROSSES + 25_600;
    assert_eq!(of_output, [(first, 2), (first + 50_000_000, 2)]);
}

/// Agent that samples every unit of a memory of its port on each change, and keeps the largest number of occupied ones.
#[derive(Clone)]
struct Sampler {
    side: MemorySide,
    most: Arc<Mutex<u32>>,
}

impl Agent for Sampler {
    fn range_without_call(&self, _account: Account) -> (u64, u64) {
        Account::EVERY_CHANGE
    }
    fn needs(&self) -> Needs {
        Needs { samples: Some(MemorySampling { side: self.side, class: 0, unit: Bytes(256) }), ..Needs::default() }
    }
    fn on_level(&mut self, _account: Account, _bytes: u64, at: &AgentContext, _env: &mut Env) {
        let units = at.view.occupied_units(at.port);
        for unit in 0..units {
            let of = at.view.occupant(at.port, unit).expect("it is occupied");
            assert_eq!((of.flow, of.src, of.output), (FlowId(0), HostId(0), PortId(TO_H1)));
        }
        assert!(at.view.occupant(at.port, units).is_none());
        // Frames of 1518 B take six units each.
        assert_eq!(u64::from(units) * 253, at.view.bytes_in_memory(self.side, at.port, 0));
        let fill = at.view.output_fill(PortId(TO_H1));
        assert_eq!(fill.used, at.view.bytes_in_memory(MemorySide::Output, PortId(TO_H1), 0) / 1518);
        assert!(fill.limit.is_some_and(|limit| fill.used <= limit));
        let mut most = self.most.lock().unwrap();
        *most = units.max(*most);
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

/// Returns the largest number of memory units that were occupied. Samples are checked against the memory's content
/// after every event.
fn most_units(text: &str, port: u16, side: MemorySide) -> u32 {
    let sampler = Sampler { side, most: Arc::default() };
    let at_port = |_: u32, setup: &mut SwitchSetup| {
        setup.core.ports[usize::from(port)].agents.push(AgentSlot::new(sampler.clone()));
    };
    ran(text, &at_port);
    *sampler.most.lock().unwrap()
}

/// Test of sampling at inputs and outputs, with occupied units computed by hand.
/// Ten frames arrive while one leaves. In an output-queued switch all are queued for h1; when the last of 40 has
/// arrived, 4 have left. With inputs, 8 frames have crossed when the last arrives, at 6072 ns each or at the pace of
/// the link. Two are then at the output, and the rest at the input.
#[test]
fn an_agent_may_draw_the_units_of_its_input_or_of_its_output() {
    let queued = text("buffer = { kind = \"per_port\", size = \"100pkt\" }", &burst(40, "1230400ps"));
    for (port, side) in [(0, MemorySide::Input), (TO_H1, MemorySide::Output)] {
        assert_eq!(most_units(&queued, port, side), 36 * 6, "{side:?}");
    }
    assert_eq!((most_units(&queued, 0, MemorySide::Output), most_units(&queued, TO_H1, MemorySide::Input)), (0, 0));
    let at_inputs = cioq("", &burst(40, "1230400ps"));
    assert_eq!(most_units(&at_inputs, TO_H1, MemorySide::Output), 2 * 6);
    let most = most_units(&at_inputs, 0, MemorySide::Input);
    assert!((33 * 6..=35 * 6).contains(&most) && most % 6 == 0, "{most}");
}

/// Test that samples agree with the memory's content, whatever happens to the frames.
/// Links die, packets are trimmed and evicted from their queues, and others are paused in a class that is not sampled.
#[test]
fn sampled_memory_matches_the_stored_frames() {
    struct Case(&'static str, &'static str);
    let down = "event = [{ kind = \"link_down\", at = \"50us\", link = \"s:h1\" }, { kind = \"link_up\", at = \"90us\", link = \"s:h1\" }]\n";
    let queued = "buffer = { kind = \"per_port\", size = \"12144B\" }\n";
    let cut = "overflow = { kind = \"trim\", trimmable = \"any\", extra = \"600B\" }";
    let cut_tail = "overflow = { kind = \"trim\", trimmable = \"any\", extra = \"600B\", victim = \"coin\" }";
    let cut_slowly = "overflow = { kind = \"trim\", trimmable = \"any\", cut_delay = \"30us\" }";
    let inputs = "model = \"cioq\"\ninput_buffer = \"9pkt\"\n";
    for Case(switch, event) in [
        Case(queued, down),
        Case(inputs, down),
        Case(cut, ""),
        Case(cut_tail, ""),
        Case(cut_slowly, ""),
        Case("overflow = { kind = \"evict\" }", ""),
    ] {
        let buffer = if switch.starts_with("overflow") { queued } else { "" };
        let text = text(&format!("{buffer}{switch}"), &burst(40, "1230400ps"));
        let text = text.replace("[topology]", &format!("{event}[topology]"));
        for side in [MemorySide::Input, MemorySide::Output] {
            let both = |_: u32, setup: &mut SwitchSetup| {
                for port in &mut setup.core.ports {
                    port.agents.push(AgentSlot::new(Draws(side)));
                }
            };
            ran(&text, &both);
        }
    }
}

/// Agent that samples a memory of its port.
#[derive(Clone)]
struct Draws(MemorySide);

impl Agent for Draws {
    fn needs(&self) -> Needs {
        Needs { samples: Some(MemorySampling { side: self.0, class: 0, unit: Bytes(100) }), ..Needs::default() }
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}
