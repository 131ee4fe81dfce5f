//! The steps of the recording dataplane: what arrives, what the slots answer, what becomes of it.

mod acts;

use super::script::Setup;
use super::state::{Memory, State};
use crate::ack_hold::{AckHold, Pass};
use crate::buffer::PerPort;
use crate::marking::MarkingSlot;
use crate::notify::Notify;
use crate::overflow::{DropReason, Fate, OverflowSlot};
use crate::pause::PauseSlot;
use crate::scheduler::SchedulerSlot;
use crate::{Act, Acts, Change, ClassSet, Ecn, Env, Flags, ForwardingContext, Head, Lane, PortId};
use crate::{QueueId, QueueView, Stream, TimerId};
use std::collections::{BTreeMap, VecDeque};
use units::Time;

/// Whether simultaneous arrivals see each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each is decided and applied before the next.
    InTurn,
    /// All are decided on the state before any is stored.
    Snapshot,
}

/// A packet on its way through the slots.
type Passing = (String, Head);

/// What was decided of a packet: where lookup sends it, its fate, whether it is to be marked.
struct Decision(PortId, Fate, Acts);

/// What acts leave to do, first in first out.
enum Work {
    Act(PortId, Watcher, Act),
    Packet(String, Head),
}

/// The mechanisms of a port that may arm timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Watcher {
    AckHold,
    Notify,
    Pause,
    Switch,
}

/// The answers of one port.
struct PortSlots {
    ack_hold: Option<Box<dyn AckHold>>,
    notify: Option<Box<dyn Notify>>,
    pause: PauseSlot,
    marking: MarkingSlot,
    scheduler: SchedulerSlot,
    held: VecDeque<Passing>,
    paused: ClassSet,
}

/// A switch that writes down what happens in it.
pub struct Recorder {
    pub state: State,
    order: Order,
    overflow: OverflowSlot,
    slots: Vec<PortSlots>,
    cut_size: u16,
    pub rng: Stream,
    now: Time,
    work: VecDeque<Work>,
    timers: BTreeMap<(PortId, Watcher, u16), Time>,
    lines: Vec<String>,
}

/// A queue as tables name it: `0` for port 0's normal queue of class 0, `0/c3`, `0/b`, `0/b3`.
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
        state.switch_ports = setup.switch_ports;
        state.fib = setup.fib.into_iter().collect();
        state.bounce = setup.overflow.peek().needs().back.map(PerPort::of);
        state.memory = setup.memory;
        let filled = |port: u16| setup.at.is_empty() || setup.at.contains(&port);
        let slots = (0..setup.ports).map(|port| PortSlots {
            ack_hold: setup.ack_hold.as_ref().filter(|_| filled(port)).map(|m| m.boxed()),
            notify: setup.notify.as_ref().filter(|_| filled(port)).map(|m| m.boxed()),
            pause: if filled(port) { setup.pause.clone() } else { PauseSlot::None },
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
            timers: BTreeMap::new(),
            lines: Vec::new(),
        }
    }
    /// What has happened since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
    fn say(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Moves on to an instant; timers that run out before it run out at their own time.
    pub fn until(&mut self, to: Time) {
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
    /// Timers that run out now, after what has arrived now.
    pub fn timers(&mut self) {
        let due: Vec<_> = self.timers.iter().filter(|(_, at)| **at <= self.now).map(|(key, _)| *key).collect();
        for (port, who, id) in due {
            self.ring(port, who, id);
        }
        self.settle();
    }
    fn ring(&mut self, port: PortId, who: Watcher, id: u16) {
        self.timers.remove(&(port, who, id));
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let q = memory_view(&self.state, port, QueueId::normal(0));
        let slots = &mut self.slots[usize::from(port.0)];
        match who {
            Watcher::AckHold => slots.ack_hold.as_mut().map(|m| m.timer(TimerId(id), &q, &mut env)),
            Watcher::Notify => slots.notify.as_mut().map(|m| m.timer(TimerId(id), &q, &mut env)),
            Watcher::Pause => slots.pause.get().map(|m| m.timer(TimerId(id), &q, &mut env)),
            Watcher::Switch => None,
        };
        self.note(port, who, acts);
    }
    fn note(&mut self, port: PortId, who: Watcher, acts: Acts) {
        self.work.extend(acts.list.into_iter().map(|act| Work::Act(port, who, act)));
    }

    /// Puts packets where a case begins, past all slots and unrecorded.
    pub fn put(&mut self, passing: Passing, to: (PortId, QueueId)) {
        self.state.push(passing.0, passing.1, to);
    }
    /// Everything that arrives at this instant.
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
                all.into_iter().for_each(|(passing, decision)| self.apply(passing, decision));
            }
        }
        self.settle();
    }
    /// The ack_hold slot of the port that a packet comes in by.
    fn enter(&mut self, (name, head): Passing) -> Option<Passing> {
        let slots = &mut self.slots[usize::from(head.ingress.0)];
        let Some(mechanism) = &mut slots.ack_hold else { return Some((name, head)) };
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let q = QueueView::new(&self.state, head.ingress, QueueId::normal(0));
        let pass = mechanism.arrive(&head, &q, &mut env);
        self.note(head.ingress, Watcher::AckHold, acts);
        let held = &mut self.slots[usize::from(head.ingress.0)].held;
        match pass {
            Pass::Forward => return Some((name, head)),
            Pass::Hold => held.push_back((name.clone(), head)),
            Pass::Replace => match held.iter_mut().find(|(_, other)| other.flow == head.flow) {
                Some(place) => *place = (name.clone(), head),
                None => held.push_back((name.clone(), head)),
            },
            Pass::Drop => {
                self.say(format!("{name}: drop {}", DropReason::HoldFull.name()));
                return None;
            }
        }
        self.say(format!("{name}: hold"));
        None
    }
    fn forward(&mut self, passing: Passing) {
        if let Some((passing, decision)) = self.decide(passing) {
            self.apply(passing, decision);
        }
    }
    /// Time to live, lookup, routing, overflow.
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
        let mark = acts.mark;
        self.note(out, Watcher::Switch, acts);
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
            Fate::Trim(queue) => {
                head.size = self.cut_size;
                head.flags = head.flags.with(Flags::PPL).without(Flags::PAYLOAD);
                self.store(name, head, "trim", ((out, queue), mark));
            }
            Fate::Evict(id) => {
                if let Some(victim) = self.state.unqueue(id) {
                    self.say(format!("{}: drop {}", victim.name, DropReason::Evicted.name()));
                    self.state.free(id);
                    self.changed((victim.port, victim.queue), &victim.head, Change::Left(&victim.head));
                }
                let again = self.ask(&head, out);
                self.apply((name, head), again);
            }
            Fate::Drop(reason) => self.say(format!("{name}: drop {}", reason.name())),
        }
    }
    /// Capacity, which has the last word; then marking, storing, watching.
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
        self.state.push(name, head, to);
        self.changed(to, &head, Change::Enqueued(&head));
    }
    fn due_mark(&mut self, head: &Head, to: (PortId, QueueId)) -> (bool, bool) {
        let Some(marking) = self.slots[usize::from(to.0.0)].marking.active() else { return (false, false) };
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let q = QueueView::new(&self.state, to.0, to.1);
        (marking.mark(head, &q, &mut env), marking.drops_not_ect())
    }
    /// Tells the mechanisms that follow a queue or the memory of an input.
    fn changed(&mut self, (port, queue): (PortId, QueueId), head: &Head, why: Change) {
        let mut acts = [Acts::default(), Acts::default(), Acts::default()];
        let [hold, notify, pause] = &mut acts;
        let (now, rng) = (self.now, &mut self.rng);
        let follows = if self.state.memory == Memory::Output { port } else { head.ingress };
        let q = QueueView::new(&self.state, port, queue);
        if let Some(m) = &mut self.slots[usize::from(port.0)].ack_hold {
            m.changed(&q, why, &mut Env { now, rng, acts: hold });
        }
        if let Some(m) = &mut self.slots[usize::from(follows.0)].notify {
            let q = memory_view(&self.state, follows, queue);
            m.changed(&q, why, &mut Env { now, rng, acts: notify });
        }
        if let Some(m) = self.slots[usize::from(head.ingress.0)].pause.get() {
            m.changed(&q, why, &mut Env { now, rng, acts: pause });
        }
        let [hold, notify, pause] = acts;
        self.note(port, Watcher::AckHold, hold);
        self.note(follows, Watcher::Notify, notify);
        self.note(head.ingress, Watcher::Pause, pause);
    }
}

/// The queue of an output port, or all the memory of an input, as its mechanisms see it.
fn memory_view(state: &State, port: PortId, queue: QueueId) -> QueueView<'_> {
    let mut q = QueueView::new(state, port, queue);
    if state.memory != Memory::Output {
        (q.packets, q.bytes) = (0, 0);
        crate::View::leases(state, port, queue, &mut |lease| {
            q.packets += 1;
            q.bytes += u64::from(lease.bytes);
        });
    }
    q
}
