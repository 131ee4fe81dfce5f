//! Steps of the recording dataplane: arrivals, decisions of the slots, and their effects.

mod acts;

use super::script::Setup;
use super::state::{Memory, State};
use crate::buffer::PerPort;
use crate::marking::MarkingSlot;
use crate::overflow::{DropReason, Fate, OverflowSlot};
use crate::scheduler::SchedulerSlot;
use crate::{Account, Act, Acts, Agent, AgentContext, AgentSlot, ClassSet, Ecn, Env, Flags, ForwardingContext, Head};
use crate::{Lane, PacketKind, Pass, PktId, PortId, QueueId, QueueView, Stream, TimerId, View};
use std::collections::{BTreeMap, VecDeque};
use units::{Dur, Time};

/// Order of the decisions about simultaneous arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each arrival is decided and applied before the next.
    InTurn,
    /// All arrivals are decided on the state before any is stored.
    Snapshot,
}

/// Packet on its way through the slots: its name and its head.
type Passing = (String, Head);

/// Decision about a packet: the output port of lookup, its fate, and a mark if requested.
struct Decision(PortId, Fate, Acts);

/// Queued work of requested actions, first in, first out.
enum Work {
    Act(PortId, Which, Act),
    Packet(String, Head),
}

/// Number of an agent at its port: `ack_hold`, `notify`, `pause`.
type Which = usize;

/// Mechanisms of one port.
struct PortSlots {
    agents: [AgentSlot; 3],
    marking: MarkingSlot,
    scheduler: SchedulerSlot,
    held: VecDeque<Passing>,
    paused: ClassSet,
}

/// Switch that records its events.
pub struct Recorder {
    pub state: State,
    order: Order,
    overflow: OverflowSlot,
    slots: Vec<PortSlots>,
    cut_size: u16,
    pub rng: Stream,
    now: Time,
    work: VecDeque<Work>,
    /// Headers in the process of cutting that return to their sources, each until an instant.
    going_back: VecDeque<(Time, Passing)>,
    timers: BTreeMap<(PortId, Which, u16), Time>,
    /// Backlog of each queue when the first arrival of a snapshot was stored there, while the snapshot is applied.
    before: Option<BTreeMap<(PortId, QueueId), (u32, u64)>>,
    lines: Vec<String>,
}

/// Returns the name of a queue in tables: `0` for port 0's normal queue of class 0, `0/c3`, `0/b`, `0/b3`.
pub fn place((port, queue): (PortId, QueueId)) -> String {
    match (queue.lane() == Lane::Bounce, queue.class()) {
        (false, 0) => format!("{}", port.0),
        (false, class) => format!("{}/c{class}", port.0),
        (true, 0) => format!("{}/b", port.0),
        (true, class) => format!("{}/b{class}", port.0),
    }
}

fn classes(set: ClassSet) -> String {
    if set == ClassSet::ALL {
        return "all".into();
    }
    (0..8).filter(|class| set.has(*class)).map(|class| class.to_string()).collect()
}

impl Recorder {
    pub fn new(setup: Setup, order: Order, draws: &[f64]) -> Recorder {
        let mut state = State::new(setup.ports, setup.routing, setup.buffer);
        state.switch_ports = setup.switch_ports.clone();
        state.fib = setup.fib.into_iter().collect();
        state.bounce = setup.overflow.peek().needs().back.map(PerPort::of_size);
        state.memory = setup.memory;
        state.samples = setup.agents.iter().find_map(|slot| slot.peek()?.needs().samples);
        let filled = |port: u16| setup.at.is_empty() || setup.at.contains(&port);
        let agents = |port: u16| setup.agents.clone().map(|slot| slot.if_for(setup.switch_ports.contains(&port)));
        let slots = (0..setup.ports).map(|port| PortSlots {
            agents: if filled(port) { agents(port) } else { Default::default() },
            marking: setup.marking.clone(),
            scheduler: setup.scheduler.clone(),
            held: VecDeque::new(),
            paused: ClassSet::NONE,
        });
        Recorder {
            state,
            order,
            overflow: setup.overflow.clone(),
            slots: slots.collect(),
            cut_size: setup.cut_size,
            rng: Stream::scripted(draws),
            now: Time::ZERO,
            work: VecDeque::new(),
            going_back: VecDeque::new(),
            timers: BTreeMap::new(),
            before: None,
            lines: Vec::new(),
        }
    }
    /// Returns the events since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
    fn say(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Advances to an instant; timers that expire earlier run at their own time.
    pub fn until(&mut self, to: Time) {
        self.end_cuts(|due| due < to);
        while let Some((&(port, who, id), &at)) = self.timers.iter().min_by_key(|(key, at)| (**at, **key)) {
            if at >= to {
                break;
            }
            self.now = at;
            self.ring(port, who, id);
            self.settle();
        }
        self.now = to;
    }
    /// Runs the timers that expire now, after the arrivals of this instant.
    pub fn timers(&mut self) {
        let now = self.now;
        self.end_cuts(|due| due <= now);
        let due: Vec<_> = self.timers.iter().filter(|(_, at)| **at <= self.now).map(|(key, _)| *key).collect();
        for (port, who, id) in due {
            self.ring(port, who, id);
        }
        self.settle();
    }
    /// Continues with headers whose cutting is over, first to last.
    fn end_cuts(&mut self, is_over: impl Fn(Time) -> bool) {
        while let Some(&(due, id)) = self.state.cutting.front()
            && is_over(due)
        {
            self.state.cutting.pop_front();
            let to = (self.state.stored[&id].port, self.state.stored[&id].queue);
            self.state.join(id);
            self.say(format!("{}: joins {}", self.state.stored[&id].name, place(to)));
        }
        while self.going_back.front().is_some_and(|(due, _)| is_over(*due)) {
            let goes = self.going_back.pop_front();
            self.work.extend(goes.map(|(_, (name, head))| Work::Packet(name, head)));
        }
        self.settle();
    }
    fn ring(&mut self, port: PortId, which: Which, id: u16) {
        self.timers.remove(&(port, which, id));
        self.call(port, which, None, |agent, at, env| agent.on_timer(TimerId(id), at, env));
    }
    /// Calls an agent of a port, and queues the actions that it requests.
    fn call<T>(
        &mut self,
        port: PortId,
        which: Which,
        stored: Option<&Head>,
        ask: impl FnOnce(&mut dyn Agent, &AgentContext, &mut Env) -> T,
    ) -> Option<T> {
        let mut acts = Acts::default();
        let agent = self.slots[usize::from(port.0)].agents[which].get()?;
        let at = AgentContext { view: &self.state, port, stored };
        let answer = ask(agent, &at, &mut Env { now: self.now, rng: &mut self.rng, acts: &mut acts });
        self.work.extend(acts.list.into_iter().map(|act| Work::Act(port, which, act)));
        Some(answer)
    }

    /// Stores packets at the start of a case, past all slots and unrecorded.
    pub fn put(&mut self, passing: Passing, to: (PortId, QueueId)) {
        self.state.push(passing.0, passing.1, to);
    }
    /// Handles all packets that arrive at this instant.
    pub fn arrive(&mut self, arrivals: Vec<Passing>) {
        match self.order {
            Order::InTurn => {
                for passing in arrivals {
                    if let Some(passing) = self.enter(passing) {
                        self.forward(passing);
                    }
                }
            }
            Order::Snapshot => {
                let entered: Vec<_> = arrivals.into_iter().filter_map(|passing| self.enter(passing)).collect();
                let all: Vec<_> = entered.into_iter().filter_map(|passing| self.decide(passing)).collect();
                self.before = Some(BTreeMap::new());
                all.into_iter().for_each(|(passing, decision)| self.apply(passing, decision));
                self.before = None;
            }
        }
        self.settle();
    }
    /// Passes a packet through the agents of its input port; `None` if one holds or drops it.
    fn enter(&mut self, (name, head): Passing) -> Option<Passing> {
        for which in 0..3 {
            match self.call(head.ingress, which, None, |agent, at, env| agent.on_arrival(&head, at, env)) {
                None | Some(Pass::Forward) => {}
                Some(Pass::Hold) => {
                    self.say(format!("{name}: hold"));
                    self.slots[usize::from(head.ingress.0)].held.push_back((name, head));
                    return None;
                }
                Some(Pass::Drop) => {
                    self.say(format!("{name}: drop {}", DropReason::HoldFull.name()));
                    return None;
                }
            }
        }
        Some((name, head))
    }
    fn forward(&mut self, passing: Passing) {
        if let Some((passing, decision)) = self.decide(passing) {
            self.apply(passing, decision);
        }
    }
    /// Decides about a packet: time to live, lookup, routing, overflow.
    fn decide(&mut self, (name, mut head): Passing) -> Option<(Passing, Decision)> {
        head.ttl = head.ttl.saturating_sub(1);
        let hops = self.state.fib.get(&head.dst.0).cloned().unwrap_or_default();
        let lost = match (head.ttl, hops.len()) {
            (0, _) => Some(DropReason::TtlExpired),
            (_, 0) => Some(DropReason::NoRoute),
            _ => None,
        };
        if let Some(reason) = lost {
            self.say(format!("{name}: drop {}", reason.name()));
            return None;
        }
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let hop = if hops.len() > 1 { self.state.routing.get().choose(&head, &hops, &mut env) } else { 0 };
        let decision = self.ask(&head, hops[hop].port);
        Some(((name, head), decision))
    }
    fn ask(&mut self, head: &Head, out: PortId) -> Decision {
        self.state.ingress = head.ingress;
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let at = ForwardingContext { view: &self.state, ingress: head.ingress, out };
        let fate = self.overflow.get().admit(head, &at, &mut env);
        Decision(out, fate, acts)
    }
    fn apply(&mut self, (name, mut head): Passing, Decision(out, fate, acts): Decision) {
        assert!(acts.list.is_empty(), "an overflow mechanism may request a mark and no other action");
        let mark = acts.mark;
        match fate {
            Fate::Enqueue(queue) => self.store(name, head, "enqueue", ((out, queue), mark)),
            Fate::Bounce(back) => {
                head.bounces = head.bounces.saturating_add(1);
                let queue = QueueId::new(head.class(), Lane::Bounce);
                self.store(name, head, "bounce", ((back, queue), mark));
            }
            Fate::Detour(port, queue) => {
                head.detours = head.detours.saturating_add(1);
                self.store(name, head, "detour", ((port, queue), mark));
            }
            Fate::Trim(_) | Fate::TrimBack => match (self.cut(&mut head), fate) {
                (None, _) => self.say(format!("{name}: drop {}", DropReason::BufferFull.name())),
                (Some(due), Fate::Trim(queue)) => self.store(name, head, "trim", ((out, queue), mark || due)),
                _ => self.send_back(name, head, "trim_back"),
            },
            Fate::SendBack => self.send_back(name, head, "send_back"),
            Fate::TrimWaiting(id) => {
                self.cut_waiting(id);
                let again = self.ask(&head, out);
                self.apply((name, head), again);
            }
            Fate::Evict(id) => {
                if let Some(victim) = self.state.unqueue(id) {
                    self.say(format!("{}: drop {}", victim.name, DropReason::Evicted.name()));
                    self.state.free(id);
                    self.changed((victim.port, &victim.head), false);
                }
                let again = self.ask(&head, out);
                self.apply((name, head), again);
            }
            Fate::Drop(reason) => self.say(format!("{name}: drop {}", reason.name())),
        }
    }
    /// Cuts a packet, and returns true if it is due for a mark when it is stored; `None` if the cut would not shorten
    /// it.
    fn cut(&self, head: &mut Head) -> Option<bool> {
        let (cut, before) = (self.overflow.peek().cut(), *head);
        head.size = cut.size(before.size, self.cut_size);
        if head.size == before.size {
            return None;
        }
        cut.mark(head);
        let due = head.ecn() == Ecn::Ce && before.ecn() != Ecn::Ce;
        if due {
            head.set_ecn(before.ecn());
        }
        Some(due)
    }
    /// Cuts a packet in its queue; it may move to the queue of its new class.
    fn cut_waiting(&mut self, id: PktId) {
        let Some(waiting) = self.state.stored.get(&id).cloned() else { return };
        let mut head = waiting.head;
        let due = self.cut(&mut head).unwrap_or_else(|| panic!("{}: nothing to cut", waiting.name));
        if head.queue() == waiting.queue {
            let line = format!("{}: cut {}", waiting.name, place((waiting.port, waiting.queue)));
            self.say(if due { format!("{line} ce") } else { line });
            if due {
                head.set_ecn(Ecn::Ce);
            }
            self.state.stored.get_mut(&id).expect("it waits").head = head;
            return;
        }
        self.state.unqueue(id);
        self.state.free(id);
        self.store(waiting.name, head, "cut", ((waiting.port, head.queue()), due));
    }
    /// Returns a packet to its source, by the tables.
    fn send_back(&mut self, name: String, mut head: Head, what: &str) {
        if head.flags.has(Flags::RETURNED) {
            return self.say(format!("{name}: drop {}", DropReason::BufferFull.name()));
        }
        self.say(format!("{name}: {what}"));
        (head.src, head.dst) = (head.dst, head.src);
        head.flags = head.flags.with(Flags::RETURNED);
        match self.overflow.peek().cut().delay {
            delay if what == "trim_back" && delay > Dur::ZERO => {
                self.going_back.push_back((self.now + delay, (name, head)));
            }
            _ => self.work.push_back(Work::Packet(name, head)),
        }
    }
    /// Stores a packet if its queue has capacity, after marking it, and calls the agents that follow the bytes.
    fn store(&mut self, name: String, mut head: Head, what: &str, to: ((PortId, QueueId), bool)) {
        let (to, mark) = to;
        let line = format!("{name}: {what} {}", place(to));
        self.state.ingress = head.ingress;
        let extra = self.overflow.peek().extra_room(&head);
        if !self.state.accepts(to, head.size, extra) {
            let reason = DropReason::of_full(to.1.lane());
            return self.say(format!("{line}, drop {}", reason.name()));
        }
        let (due, drops) = self.due_mark(&head, to);
        if due && drops && !head.is_ect() {
            return self.say(format!("{line}, drop {}", DropReason::EarlyDrop.name()));
        }
        let marked = (mark || due) && head.is_ect() && head.ecn() != Ecn::Ce;
        if marked {
            head.set_ecn(Ecn::Ce);
        }
        self.say(if marked { format!("{line} ce") } else { line });
        match self.overflow.peek().cut().delay {
            delay if matches!(what, "trim" | "cut") && delay > Dur::ZERO => {
                let id = self.state.allocate(name, head, to);
                self.state.cutting.push_back((self.now + delay, id));
            }
            _ => _ = self.state.push(name, head, to),
        }
        self.changed((to.0, &head), true);
    }
    fn due_mark(&mut self, head: &Head, to: (PortId, QueueId)) -> (bool, bool) {
        let Some(marking) = self.slots[usize::from(to.0.0)].marking.active() else { return (false, false) };
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let mut q = QueueView::new(&self.state, to.0, to.1);
        if let Some(before) = &mut self.before {
            (q.packets, q.bytes) = *before.entry(to).or_insert((q.packets, q.bytes));
        }
        (marking.mark(head, &q, &mut env), marking.drops_not_ect())
    }
    /// Handles a frame that was stored at a port, or whose memory was freed: agents are called if an account is outside
    /// of their levels.
    fn changed(&mut self, (port, head): (PortId, &Head), stored: bool) {
        let (class, ingress) = (head.class(), head.ingress);
        if stored && head.kind() != PacketKind::Notice {
            *self.state.entered.entry((ingress, class)).or_default() += u64::from(head.size);
            if self.state.memory == Memory::Output {
                *self.state.arrived.entry((port, class)).or_default() += u64::from(head.size);
            }
        }
        let accounts = [
            Account::Output(port),
            Account::Arrived(port, class),
            Account::Entered(ingress, class),
            Account::Input(ingress, class),
            Account::AllInput(ingress),
        ];
        for of in accounts {
            let (at, bytes) = self.account(of);
            for which in 0..3 {
                let agent = self.slots[usize::from(at.0)].agents[which].peek();
                if agent.is_some_and(|agent| Account::is_outside(bytes, agent.levels(of))) {
                    self.call(at, which, stored.then_some(head), |agent, at, env| agent.on_level(of, bytes, at, env));
                }
            }
        }
    }
    /// Returns the port of an account, and its bytes.
    fn account(&self, of: Account) -> (PortId, u64) {
        match of {
            Account::Output(port) => (port, self.state.port_backlog(port).1),
            Account::Arrived(port, class) => (port, self.state.arrived(port, class)),
            Account::Entered(port, class) => (port, self.state.entered(port, class)),
            Account::Input(port, class) => (port, View::allocated(&self.state, port, class)),
            Account::AllInput(port) => (port, (0..8).map(|class| View::allocated(&self.state, port, class)).sum()),
        }
    }
}
