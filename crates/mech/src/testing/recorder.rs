//! Steps of the recording dataplane of tests: arrivals, decisions of the slots, and their effects.

mod actions;

use super::script::Setup;
use super::state::{BufferModel, SwitchState};
use crate::buffer::PerPort;
use crate::marking::MarkingSlot;
use crate::overflow::{DropReason, Fate, OverflowSlot};
use crate::scheduler::SchedulerSlot;
use crate::{Account, Act, Acts, Agent, AgentContext, AgentSlot, ClassSet, Ecn, Env, Flags, ForwardingContext, Head};
use crate::{ArrivalDecision, Lane, PacketKind, PktId, PortId, QueueId, QueueView, Stream, TimerId, View};
use std::collections::{BTreeMap, VecDeque};
use units::{Dur, Time};

/// Order of the decisions about simultaneous arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionOrder {
    /// Decides and stores each arrival before the next.
    InTurn,
    /// Decides all arrivals on one state, before any of them is stored.
    Snapshot,
}

/// Packet on its way through the slots: its name and its head.
type NamedPacket = (String, Head);

/// Decision about a packet: the output port of lookup, its fate, and a mark if requested.
struct Decision(PortId, Fate, Acts);

/// Item of the work queue: an action that an agent requested, or a packet to forward.
enum QueuedWork {
    Act(PortId, AgentIndex, Act),
    Packet(String, Head),
}

/// Index of an agent at its port, in the order `ack_hold`, `notify`, `pause`.
type AgentIndex = usize;

/// Mechanisms of one port, with its held packets and paused classes.
struct PortSlots {
    agents: [AgentSlot; 3],
    /// Marking mechanism of each class.
    marking: [MarkingSlot; 8],
    scheduler: SchedulerSlot,
    held: VecDeque<NamedPacket>,
    paused: ClassSet,
}

/// Switch for tests, which records its events as lines of text.
pub struct Recorder {
    pub state: SwitchState,
    order: DecisionOrder,
    overflow: OverflowSlot,
    slots: Vec<PortSlots>,
    cut_size: u16,
    pub rng: Stream,
    now: Time,
    work: VecDeque<QueuedWork>,
    /// Cut headers that return to their sources, each with the time at which its cut is done.
    returning_headers: VecDeque<(Time, NamedPacket)>,
    timers: BTreeMap<(PortId, AgentIndex, u16), Time>,
    /// Backlog of each queue when the first of simultaneous arrivals was stored there, while a snapshot is applied.
    before: Option<BTreeMap<(PortId, QueueId), (u32, u64)>>,
    lines: Vec<String>,
}

/// Formats a queue as in conformance tables: `0` for port 0's normal queue of class 0, `0/c3`, `0/b`, `0/b3`.
pub fn format_queue((port, queue): (PortId, QueueId)) -> String {
    match (queue.lane() == Lane::Bounce, queue.class()) {
        (false, 0) => format!("{}", port.0),
        (false, class) => format!("{}/c{class}", port.0),
        (true, 0) => format!("{}/b", port.0),
        (true, class) => format!("{}/b{class}", port.0),
    }
}

fn format_classes(set: ClassSet) -> String {
    if set == ClassSet::ALL {
        return "all".into();
    }
    (0..8).filter(|class| set.has(*class)).map(|class| class.to_string()).collect()
}

impl Recorder {
    pub fn new(setup: Setup, order: DecisionOrder, draws: &[f64]) -> Recorder {
        let mut state = SwitchState::new(setup.ports, setup.routing, setup.buffer);
        state.switch_ports = setup.switch_ports.clone();
        state.fib = setup.fib.into_iter().collect();
        state.bounce = setup.overflow.peek().needs().bounce_lane.map(PerPort::with_size);
        state.memory = setup.memory;
        state.samples = setup.agents.iter().find_map(|slot| slot.peek()?.needs().samples);
        let filled = |port: u16| setup.at.is_empty() || setup.at.contains(&port);
        let agents =
            |port: u16| setup.agents.clone().map(|slot| slot.keep_if_for_port(setup.switch_ports.contains(&port)));
        let slots = (0..setup.ports).map(|port| PortSlots {
            agents: if filled(port) { agents(port) } else { Default::default() },
            marking: std::array::from_fn(|_| setup.marking.clone()),
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
            returning_headers: VecDeque::new(),
            timers: BTreeMap::new(),
            before: None,
            lines: Vec::new(),
        }
    }
    /// Returns the recorded events since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
    fn add_line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Advances to an instant; timers that expire earlier run at their own time.
    pub fn advance_to(&mut self, to: Time) {
        self.finish_cuts(|due| due < to);
        while let Some((&(port, who, id), &at)) = self.timers.iter().min_by_key(|(key, at)| (**at, **key)) {
            if at >= to {
                break;
            }
            self.now = at;
            self.run_timer(port, who, id);
            self.perform_queued();
        }
        self.now = to;
    }
    /// Runs the timers that expire now, after the arrivals of this instant.
    pub fn run_due_timers(&mut self) {
        let now = self.now;
        self.finish_cuts(|due| due <= now);
        let due: Vec<_> = self.timers.iter().filter(|(_, at)| **at <= self.now).map(|(key, _)| *key).collect();
        for (port, who, id) in due {
            self.run_timer(port, who, id);
        }
        self.perform_queued();
    }
    /// Queues or forwards the headers of cut packets whose cut delay is over, first to last.
    fn finish_cuts(&mut self, is_over: impl Fn(Time) -> bool) {
        while let Some(&(_, id)) = self.state.cutting.front().filter(|(due, _)| is_over(*due)) {
            self.state.cutting.pop_front();
            let to = (self.state.stored[&id].port, self.state.stored[&id].queue);
            self.state.append_to_queue(id);
            self.add_line(format!("{}: joins {}", self.state.stored[&id].name, format_queue(to)));
        }
        while self.returning_headers.front().is_some_and(|(due, _)| is_over(*due)) {
            let goes = self.returning_headers.pop_front();
            self.work.extend(goes.map(|(_, (name, head))| QueuedWork::Packet(name, head)));
        }
        self.perform_queued();
    }
    fn run_timer(&mut self, port: PortId, which: AgentIndex, id: u16) {
        self.timers.remove(&(port, which, id));
        self.call_agent(port, which, None, |agent, at, env| agent.on_timer(TimerId(id), at, env));
    }
    /// Calls an agent of a port, and queues the actions that it requests.
    fn call_agent<T>(
        &mut self,
        port: PortId,
        which: AgentIndex,
        stored: Option<&Head>,
        ask: impl FnOnce(&mut dyn Agent, &AgentContext, &mut Env) -> T,
    ) -> Option<T> {
        let mut acts = Acts::default();
        let agent = self.slots[usize::from(port.0)].agents[which].get()?;
        let at = AgentContext { view: &self.state, port, stored };
        let answer = ask(agent, &at, &mut Env { now: self.now, rng: &mut self.rng, acts: &mut acts });
        self.work.extend(acts.list.into_iter().map(|act| QueuedWork::Act(port, which, act)));
        Some(answer)
    }

    /// Stores a packet at the start of a test case, past all slots and unrecorded.
    pub fn store_unrecorded(&mut self, passing: NamedPacket, to: (PortId, QueueId)) {
        self.state.push(passing.0, passing.1, to);
    }
    /// Handles all packets that arrive at this instant.
    pub fn handle_arrivals(&mut self, arrivals: Vec<NamedPacket>) {
        match self.order {
            DecisionOrder::InTurn => {
                for passing in arrivals {
                    if let Some(passing) = self.pass_input_agents(passing) {
                        self.forward(passing);
                    }
                }
            }
            DecisionOrder::Snapshot => {
                let entered: Vec<_> =
                    arrivals.into_iter().filter_map(|passing| self.pass_input_agents(passing)).collect();
                let all: Vec<_> = entered.into_iter().filter_map(|passing| self.decide(passing)).collect();
                self.before = Some(BTreeMap::new());
                all.into_iter().for_each(|(passing, decision)| self.apply_decision(passing, decision));
                self.before = None;
            }
        }
        self.perform_queued();
    }
    /// Passes a packet through the agents of its input port; `None` if one holds or drops it.
    fn pass_input_agents(&mut self, (name, head): NamedPacket) -> Option<NamedPacket> {
        for which in 0..3 {
            match self.call_agent(head.ingress, which, None, |agent, at, env| agent.on_arrival(&head, at, env)) {
                None | Some(ArrivalDecision::Forward) => {}
                Some(ArrivalDecision::Hold) => {
                    self.add_line(format!("{name}: hold"));
                    self.slots[usize::from(head.ingress.0)].held.push_back((name, head));
                    return None;
                }
                Some(ArrivalDecision::Drop) => {
                    self.add_line(format!("{name}: drop {}", DropReason::HoldFull.name()));
                    return None;
                }
            }
        }
        Some((name, head))
    }
    fn forward(&mut self, passing: NamedPacket) {
        if let Some((passing, decision)) = self.decide(passing) {
            self.apply_decision(passing, decision);
        }
    }
    /// Decides the fate of a packet: time to live, lookup, routing, overflow.
    fn decide(&mut self, (name, mut head): NamedPacket) -> Option<(NamedPacket, Decision)> {
        head.ttl = head.ttl.saturating_sub(1);
        let hops = self.state.fib.get(&head.dst.0).cloned().unwrap_or_default();
        let lost = match (head.ttl, hops.len()) {
            (0, _) => Some(DropReason::TtlExpired),
            (_, 0) => Some(DropReason::NoRoute),
            _ => None,
        };
        if let Some(reason) = lost {
            self.add_line(format!("{name}: drop {}", reason.name()));
            return None;
        }
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let hop = if hops.len() > 1 { self.state.routing.get().choose_hop(&head, &hops, &mut env) } else { 0 };
        let decision = self.call_overflow(&head, hops[hop].port);
        Some(((name, head), decision))
    }
    fn call_overflow(&mut self, head: &Head, out: PortId) -> Decision {
        self.state.ingress = head.ingress;
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let at = ForwardingContext { view: &self.state, ingress: head.ingress, output: out };
        let fate = self.overflow.get().admit(head, &at, &mut env);
        Decision(out, fate, acts)
    }
    fn apply_decision(&mut self, (name, mut head): NamedPacket, Decision(out, fate, acts): Decision) {
        assert!(acts.list.is_empty(), "an overflow mechanism may request a mark and no other action");
        let mark = acts.mark;
        match fate {
            Fate::Enqueue(queue) => self.store_packet(name, head, "enqueue", ((out, queue), mark)),
            Fate::Bounce(back) => {
                head.bounces = head.bounces.saturating_add(1);
                let queue = QueueId::new(head.class(), Lane::Bounce);
                self.store_packet(name, head, "bounce", ((back, queue), mark));
            }
            Fate::Detour(port, queue) => {
                head.detours = head.detours.saturating_add(1);
                self.store_packet(name, head, "detour", ((port, queue), mark));
            }
            Fate::Trim(_) | Fate::TrimAndReturn => match (self.cut_packet(&mut head), fate) {
                (None, _) => self.add_line(format!("{name}: drop {}", DropReason::BufferFull.name())),
                (Some(due), Fate::Trim(queue)) => self.store_packet(name, head, "trim", ((out, queue), mark || due)),
                _ => self.send_back(name, head, "trim_back"),
            },
            Fate::ReturnToSource => self.send_back(name, head, "send_back"),
            Fate::TrimQueued(id) => {
                self.cut_queued_packet(id);
                let again = self.call_overflow(&head, out);
                self.apply_decision((name, head), again);
            }
            Fate::Evict(id) => {
                if let Some(victim) = self.state.remove_from_queue(id) {
                    self.add_line(format!("{}: drop {}", victim.name, DropReason::Evicted.name()));
                    self.state.free_memory(id);
                    self.call_agents_on_change((victim.port, &victim.head), false);
                }
                let again = self.call_overflow(&head, out);
                self.apply_decision((name, head), again);
            }
            Fate::Drop(reason) => self.add_line(format!("{name}: drop {}", reason.name())),
        }
    }
    /// Cuts a packet, and returns true if it must be marked when it is stored; `None` if the cut would not shorten it.
    fn cut_packet(&self, head: &mut Head) -> Option<bool> {
        let (cut, before) = (self.overflow.peek().cut_effect(), *head);
        head.size = cut.size_after_cut(before.size, self.cut_size);
        if head.size == before.size {
            return None;
        }
        cut.mark_as_cut(head);
        let due = head.ecn() == Ecn::Ce && before.ecn() != Ecn::Ce;
        if due {
            head.set_ecn(before.ecn());
        }
        Some(due)
    }
    /// Cuts a queued packet, which may move to the queue of its new class.
    fn cut_queued_packet(&mut self, id: PktId) {
        let Some(waiting) = self.state.stored.get(&id).cloned() else { return };
        let mut head = waiting.head;
        let due = self.cut_packet(&mut head).unwrap_or_else(|| panic!("{}: nothing to cut", waiting.name));
        if head.queue() == waiting.queue {
            let line = format!("{}: cut {}", waiting.name, format_queue((waiting.port, waiting.queue)));
            self.add_line(if due { format!("{line} ce") } else { line });
            if due {
                head.set_ecn(Ecn::Ce);
            }
            self.state.stored.get_mut(&id).expect("it waits").head = head;
            return;
        }
        self.state.remove_from_queue(id);
        self.state.free_memory(id);
        self.store_packet(waiting.name, head, "cut", ((waiting.port, head.queue()), due));
    }
    /// Returns a packet to its source by the switch's own tables.
    fn send_back(&mut self, name: String, mut head: Head, what: &str) {
        if head.flags.has(Flags::RETURNED) {
            return self.add_line(format!("{name}: drop {}", DropReason::BufferFull.name()));
        }
        self.add_line(format!("{name}: {what}"));
        (head.src, head.dst) = (head.dst, head.src);
        head.flags = head.flags.with(Flags::RETURNED);
        match self.overflow.peek().cut_effect().delay {
            delay if what == "trim_back" && delay > Dur::ZERO => {
                self.returning_headers.push_back((self.now + delay, (name, head)));
            }
            _ => self.work.push_back(QueuedWork::Packet(name, head)),
        }
    }
    /// Stores a packet if its queue has capacity, after marking it, and calls the agents that follow the bytes.
    fn store_packet(&mut self, name: String, mut head: Head, what: &str, to: ((PortId, QueueId), bool)) {
        let (to, mark) = to;
        let line = format!("{name}: {what} {}", format_queue(to));
        self.state.ingress = head.ingress;
        let extra = self.overflow.peek().extra_memory(&head);
        if !self.state.accepts(to, head.size, extra) {
            let reason = DropReason::lane_full(to.1.lane());
            return self.add_line(format!("{line}, drop {}", reason.name()));
        }
        let (due, drops) = self.decide_mark(&head, to);
        if due && drops {
            return self.add_line(format!("{line}, drop {}", DropReason::EarlyDrop.name()));
        }
        let marked = (mark || due) && head.is_ect() && head.ecn() != Ecn::Ce;
        if marked {
            head.set_ecn(Ecn::Ce);
        }
        self.add_line(if marked { format!("{line} ce") } else { line });
        match self.overflow.peek().cut_effect().delay {
            delay if matches!(what, "trim" | "cut") && delay > Dur::ZERO => {
                let id = self.state.allocate(name, head, to);
                self.state.cutting.push_back((self.now + delay, id));
            }
            _ => _ = self.state.push(name, head, to),
        }
        self.call_agents_on_change((to.0, &head), true);
    }
    /// Returns true if a packet is due for a mark, and true if it is then dropped instead.
    fn decide_mark(&mut self, head: &Head, to: (PortId, QueueId)) -> (bool, bool) {
        let slot = &mut self.slots[usize::from(to.0.0)].marking[usize::from(to.1.class())];
        let Some(marking) = slot.get_if_active() else { return (false, false) };
        let mut acts = Acts::default();
        let mut env = Env { now: self.now, rng: &mut self.rng, acts: &mut acts };
        let mut q = QueueView::new(&self.state, to.0, to.1);
        if let Some(before) = &mut self.before {
            (q.packets, q.bytes) = *before.entry(to).or_insert((q.packets, q.bytes));
        }
        let due = marking.mark(head, &q, &mut env);
        (due, if head.is_ect() { !marking.marks_queue(to.1) } else { marking.drops_not_ect() })
    }
    /// Calls agents after a frame was stored at a port or its memory was freed.
    /// An agent is called if a byte count is outside its [`Agent::range_without_call`].
    fn call_agents_on_change(&mut self, (port, head): (PortId, &Head), stored: bool) {
        let (class, ingress) = (head.class(), head.ingress);
        if stored && head.kind() != PacketKind::Notice {
            *self.state.entered.entry((ingress, class)).or_default() += u64::from(head.size);
            if self.state.memory == BufferModel::Output {
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
        for account in accounts {
            let (at, bytes) = self.account_bytes(account);
            for which in 0..3 {
                let agent = self.slots[usize::from(at.0)].agents[which].peek();
                if agent.is_some_and(|agent| Account::is_outside(bytes, agent.range_without_call(account))) {
                    self.call_agent(at, which, stored.then_some(head), |agent, at, env| {
                        agent.on_level(account, bytes, at, env)
                    });
                }
            }
        }
    }
    /// Returns the port of an account, and its byte count.
    fn account_bytes(&self, account: Account) -> (PortId, u64) {
        match account {
            Account::Output(port) => (port, self.state.port_backlog(port).1),
            Account::Arrived(port, class) => (port, self.state.total_bytes_stored_at_output(port, class)),
            Account::Entered(port, class) => (port, self.state.total_bytes_stored_from_input(port, class)),
            Account::Input(port, class) => (port, View::allocated_bytes(&self.state, port, class)),
            // The tables of conformance have no memory with pools.
            Account::Group(port, _) => (port, 0),
            Account::AllInput(port) => {
                (port, (0..8).map(|class| View::allocated_bytes(&self.state, port, class)).sum())
            }
        }
    }
}
