//! Calls the agents (stateful mechanisms at ports, such as `pause` or `abq`), and lists the actions that they request.
//!
//! An agent is called when a byte count leaves the range between its levels, when a packet arrives, and when a timer
//! expires. It is also called when its port sends a pause frame, and when its link goes down or comes back.
//!
//! The requested actions are in one list, first in, first out. `Switch::do_pending_work` handles it, since only the
//! switch has the forwarding table. Packets that agents release or create are returned to it one by one, for lookup.
//! Other actions are performed when their turn in the list comes.

use super::alarm::{AgentKey, Alarm};
use super::{Core, StepContext};
use crate::accounts::AccountDelta;
use crate::arena::Queue;
use crate::control::PauseFrame;
use crate::end_table::PacketTally;
use crate::packet_store::{Fib, NodeView};
use crate::{Observer, Out, Pkt};
use mech::overflow::DropReason;
use mech::pause::Pausing;
use mech::{Account, Act, Acts, Agent, AgentContext, AgentSlot, Env, Head};
use mech::{ArrivalDecision, MemorySampling, Needs, PortId, Rule, Stream, StreamPurpose, TimerId};
use units::Time;

/// Work that a node has not done yet: an act of an agent, or a packet to look up.
#[derive(Clone)]
pub(crate) enum PendingWork {
    /// Act, such as a pause, that an agent has requested.
    Act(AgentKey, Act),
    /// Packet whose output port must be looked up.
    Packet(Pkt),
}

/// All agents of a node, by port.
#[derive(Clone)]
pub(crate) struct Agents {
    ports: Vec<PortAgents>,
    acts: Acts,
    /// Tally of the congestion messages that agents of this node made.
    pub(crate) created: PacketTally,
}

/// Agents of a port, and the packets that they hold.
#[derive(Clone)]
struct PortAgents {
    agents: Vec<AgentState>,
    /// Accounts that any agent of the port follows.
    follows: Vec<Account>,
    /// True if any agent of the port is called for each arrival before lookup.
    holds: bool,
    held: Queue,
}

#[derive(Clone)]
struct AgentState {
    agent: Box<dyn Agent>,
    /// Name of the slot that the agent fills.
    slot: &'static str,
    /// Instant at which a timer of the agent last expired, and the number of earlier expiries at that instant.
    last_timers: (Time, u32),
    rng: Stream,
    timers: [Alarm; 8],
}

/// Names of the slots of a port that agents fill, in the order of [`super::PortSetup::agents`].
const AGENT_SLOTS: [&str; 3] = ["ack_hold", "notify", "pause"];

/// Rule that an agent breaks if it holds a packet without declaring it.
const UNDECLARED_HOLD: Rule =
    Rule::Undeclared { used: "`ArrivalDecision::Hold`", declare: "`hold_memory: Some(bytes)` in `needs()`" };

/// Largest number of timers of one agent that may expire at one instant.
/// An agent that sets more would stop simulated time.
const MAX_TIMERS_PER_INSTANT: u32 = 1024;

/// Entry of the list that is processed at the end of a step: an idle port, or pending work.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReadyEntry {
    /// Idle port that has something to send.
    Port(PortId),
    /// Pending acts of agents, or packets to look up.
    /// The position of this entry in the list decides which ports start before the work is done.
    Work,
}

/// Returns the accounts that an agent at a port follows.
pub(super) fn followed_accounts(agent: &dyn Agent, port: PortId) -> impl Iterator<Item = Account> {
    Account::accounts_of_port(port).filter(|account| agent.range_without_call(*account) != Account::UNWATCHED)
}

impl AgentState {
    /// Counts a timer that has expired, and returns true if there are too many at this instant.
    fn has_too_many_timers(&mut self, now: Time) -> bool {
        let (last, count) = self.last_timers;
        self.last_timers = (now, if last == now { count.saturating_add(1) } else { 0 });
        self.last_timers.1 > MAX_TIMERS_PER_INSTANT
    }
}

impl Agents {
    /// Creates the agents of all ports from the ports' slots; `None` if all slots are empty.
    pub(super) fn new(ports: Vec<Vec<AgentSlot>>, seed: u64, node: u32) -> Option<Box<Agents>> {
        let at_port = |(port, slots): (usize, Vec<AgentSlot>)| {
            let port = PortId(port as u16);
            let agents: Vec<AgentState> = slots
                .into_iter()
                .zip(AGENT_SLOTS.into_iter().chain(std::iter::repeat("agent")))
                .filter_map(|(slot, name)| Some((slot.into_agent()?, name)))
                .zip(0..)
                .map(|((agent, slot), which)| AgentState {
                    agent,
                    slot,
                    last_timers: (Time::NEVER, 0),
                    rng: Stream::new(seed, node, StreamPurpose::Agent(port.0, which)),
                    timers: [Alarm::OFF; 8],
                })
                .collect();
            let mut follows: Vec<Account> =
                agents.iter().flat_map(|one| followed_accounts(&*one.agent, port)).collect();
            follows.sort_unstable();
            follows.dedup();
            let holds = agents.iter().any(|one| one.agent.handles_arrivals());
            PortAgents { agents, follows, holds, held: Queue::default() }
        };
        let ports: Vec<PortAgents> = ports.into_iter().enumerate().map(at_port).collect();
        let some = ports.iter().any(|at| !at.agents.is_empty());
        some.then(|| Box::new(Agents { ports, acts: Acts::default(), created: PacketTally::default() }))
    }

    /// Returns the accounts that agents of any port follow.
    pub(super) fn all_followed_accounts(&self) -> Vec<Account> {
        self.ports.iter().flat_map(|at| at.follows.iter().copied()).collect()
    }
    /// Returns for each port the memory from which an agent there draws samples, if any.
    pub(super) fn samples_by_port(&self) -> Vec<Option<MemorySampling>> {
        let of = |at: &PortAgents| at.agents.iter().find_map(|one| one.agent.needs().samples);
        self.ports.iter().map(of).collect()
    }
    /// Returns true if any agent is called for each arrival before lookup.
    pub(super) fn has_arrival_agents(&self) -> bool {
        self.ports.iter().any(|at| at.holds)
    }
    /// Returns the levels of an account between which no agent of a port needs a call.
    fn levels(&self, port: PortId, account: Account) -> (u64, u64) {
        let each = self.ports[usize::from(port.0)].agents.iter().map(|one| one.agent.range_without_call(account));
        each.fold(Account::UNWATCHED, |all, own| (all.0.max(own.0), all.1.min(own.1)))
    }
    /// Returns the number and the bytes of the packets that agents of all ports hold.
    pub(crate) fn held_total(&self) -> (u64, u64) {
        let each = self.ports.iter().map(|at| (u64::from(at.held.packets()), at.held.bytes()));
        each.fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }
    /// Returns the bytes of the packets that agents hold at a port.
    pub(super) fn held_bytes_at(&self, port: PortId) -> u64 {
        self.ports[usize::from(port.0)].held.bytes()
    }
    /// Returns the queue of the packets that agents hold at a port.
    pub(super) fn held_mut(&mut self, port: PortId) -> &mut Queue {
        &mut self.ports[usize::from(port.0)].held
    }
    fn get(&mut self, at: AgentKey) -> Option<&mut AgentState> {
        self.ports[usize::from(at.port.0)].agents.get_mut(usize::from(at.which))
    }
    /// Returns the alarm of an agent's timer; `None` if there is no such agent.
    pub(super) fn alarm(&mut self, at: AgentKey, id: TimerId) -> Option<&mut Alarm> {
        let one = self.get(at)?;
        Some(&mut one.timers[usize::from(id.0 & 7)])
    }
}

/// Returns the port that an account belongs to.
fn port_of(account: Account) -> PortId {
    match account {
        Account::Output(port) | Account::AllInput(port) => port,
        Account::Arrived(port, _) | Account::Entered(port, _) | Account::Input(port, _) => port,
        Account::Group(port, _) => port,
    }
}

impl Core {
    /// Adds a change to the accounts, and calls each agent that finds an account outside of its levels.
    /// PRECONDITION: the node has agents.
    #[inline]
    pub(super) fn count_bytes<F: Fib, O>(
        &mut self,
        delta: AccountDelta,
        stored: Option<&Head>,
        step: &StepContext<F, O>,
    ) {
        // While every account is between its levels, this comparison is the only cost of a frame.
        if self.store.accounts.apply_delta(&delta) {
            self.call_agents_outside_levels(&delta, stored, step);
        }
    }

    #[cold]
    fn call_agents_outside_levels<F: Fib, O>(
        &mut self,
        delta: &AccountDelta,
        stored: Option<&Head>,
        step: &StepContext<F, O>,
    ) {
        for (account, _) in delta.accounts() {
            let Some(bytes) = self.store.accounts.bytes_outside_levels(account) else { continue };
            let port = port_of(account);
            for at in self.agents_at(port) {
                // The levels in the account are the narrowest of all agents of the port, so each agent is compared with
                // its own here.
                let outside = |agent: &dyn Agent| Account::is_outside(bytes, agent.range_without_call(account));
                self.call_agent(at, stored, step, |agent, at, env| {
                    if outside(agent) {
                        agent.on_level(account, bytes, at, env);
                    }
                });
            }
            // Levels may depend on an agent's state, so each call may change them.
            self.update_levels(port, Some(account));
        }
    }

    /// Calls the agents of groups that were stopped or released.
    #[inline]
    pub(super) fn signal_groups<F: Fib, O>(&mut self, step: &StepContext<F, O>) {
        if self.store.pools.as_ref().is_some_and(|pools| pools.has_signals()) {
            self.call_agents_of_groups(step);
        }
    }

    #[cold]
    fn call_agents_of_groups<F: Fib, O>(&mut self, step: &StepContext<F, O>) {
        while let Some((port, group)) = self.store.pools.as_mut().and_then(|pools| pools.take_signal()) {
            let stopped = self.store.pools.as_ref().is_some_and(|pools| pools.is_stopped(port, group));
            let account = Account::Group(port, group);
            for at in self.agents_at(port) {
                self.call_agent(at, None, step, |agent, at, env| {
                    if agent.range_without_call(account) != Account::UNWATCHED {
                        agent.on_level(account, u64::from(stopped), at, env);
                    }
                });
            }
        }
    }

    fn agents_at(&self, port: PortId) -> impl Iterator<Item = AgentKey> + use<> {
        let count = self.agents.as_ref().map_or(0, |agents| agents.ports[usize::from(port.0)].agents.len());
        (0..count as u8).map(move |which| AgentKey { port, which })
    }

    /// Calls an agent, and queues the acts that it requests.
    /// They are performed before the next idle port of this step sends, or after all ports if they need a lookup.
    fn call_agent<F: Fib, O, T>(
        &mut self,
        at: AgentKey,
        stored: Option<&Head>,
        step: &StepContext<F, O>,
        ask: impl FnOnce(&mut dyn Agent, &AgentContext, &mut Env) -> T,
    ) -> Option<T> {
        let agents = self.agents.as_mut()?;
        let look = NodeView::new(&self.store, step.fib, None);
        let context = AgentContext { view: &look, port: at.port, stored };
        let one = agents.ports[usize::from(at.port.0)].agents.get_mut(usize::from(at.which))?;
        let mut env = Env { now: step.now, rng: &mut one.rng, acts: &mut agents.acts };
        let answer = ask(&mut *one.agent, &context, &mut env);
        let (slot, seen) = (one.slot, look.broken_rule());
        self.queue_acts(at);
        if let Some((other, rule)) = seen {
            self.record_broken_rule(other.unwrap_or(slot), at.port, rule);
        }
        Some(answer)
    }

    /// Appends the acts that an agent has requested to the pending work of the node.
    fn queue_acts(&mut self, at: AgentKey) {
        let Some(agents) = &mut self.agents else { return };
        if !agents.acts.list.is_empty() {
            self.work.extend(agents.acts.list.drain(..).map(|act| PendingWork::Act(at, act)));
            self.ready.push(ReadyEntry::Work);
        }
    }

    /// Updates the levels of one account of a port, or of all accounts that its agents follow.
    fn update_levels(&mut self, port: PortId, account: Option<Account>) {
        let Some(agents) = &self.agents else { return };
        let own = account.is_none().then(|| agents.ports[usize::from(port.0)].follows.iter().copied());
        for account in account.into_iter().chain(own.into_iter().flatten()) {
            self.store.accounts.set_levels(account, agents.levels(port, account));
        }
    }

    /// Sets the levels of all accounts that agents follow, when the node is built.
    pub(super) fn update_all_levels(&mut self) {
        (0..self.store.ports.len()).for_each(|port| self.update_levels(PortId(port as u16), None));
    }

    /// Returns true if agents let a packet that has just come in go on to lookup; otherwise holds or drops it.
    pub(crate) fn agents_let_pass<F: Fib, O: Out>(&mut self, pkt: &Pkt, step: &mut StepContext<F, O>) -> bool {
        let port = pkt.head.ingress;
        if !self.agents.as_ref().is_some_and(|agents| agents.ports[usize::from(port.0)].holds) {
            return true;
        }
        let mut pass = ArrivalDecision::Forward;
        for at in self.agents_at(port) {
            // Slots are called in order, and the first that does not forward the packet decides.
            if pass == ArrivalDecision::Forward {
                let answer = self.call_agent(at, None, step, |agent, at, env| agent.on_arrival(&pkt.head, at, env));
                pass = answer.unwrap_or(ArrivalDecision::Forward);
                if pass == ArrivalDecision::Hold && self.agent_needs(at).is_none_or(|needs| needs.hold_memory.is_none())
                {
                    self.record_broken_agent_rule(at, UNDECLARED_HOLD);
                    pass = ArrivalDecision::Drop;
                }
            }
        }
        self.update_levels(port, None);
        match pass {
            ArrivalDecision::Forward => {}
            ArrivalDecision::Hold => self.hold_packet(pkt, step),
            ArrivalDecision::Drop => self.drop(pkt, port, DropReason::HoldFull, step),
        }
        pass == ArrivalDecision::Forward
    }

    fn hold_packet<F: Fib, O: Out>(&mut self, pkt: &Pkt, step: &mut StepContext<F, O>) {
        let Some(agents) = &mut self.agents else { return };
        // A held packet is in no queue of a port, since it may still leave by any. It is in the account of its input
        // port.
        self.store.arena.push(&mut agents.ports[usize::from(pkt.head.ingress.0)].held, *pkt, 0);
        let at = step.out.event_location(pkt.head.ingress);
        step.out.observer().on_hold(at, pkt);
        self.count_bytes(AccountDelta::for_hold(&pkt.head), None, step);
    }

    /// Does pending work in order until it comes to a packet to look up, and returns that packet.
    pub(crate) fn next_packet_to_look_up<F: Fib, O: Out>(&mut self, step: &mut StepContext<F, O>) -> Option<Pkt> {
        loop {
            match self.work.pop_front()? {
                PendingWork::Packet(pkt) => return Some(pkt),
                PendingWork::Act(at, act) => self.perform_act(at, act, step),
            }
        }
    }

    /// Returns the needs that an agent declares, such as memory for held packets.
    pub(super) fn agent_needs(&self, at: AgentKey) -> Option<Needs> {
        Some(self.agent_at(at)?.agent.needs())
    }

    fn agent_at(&self, at: AgentKey) -> Option<&AgentState> {
        self.agents.as_ref()?.ports.get(usize::from(at.port.0))?.agents.get(usize::from(at.which))
    }

    /// Records that an agent broke a rule of its slot.
    #[cold]
    pub(super) fn record_broken_agent_rule(&mut self, at: AgentKey, rule: Rule) {
        let slot = self.agent_at(at).map_or("agent", |one| one.slot);
        self.record_broken_rule(slot, at.port, rule);
    }

    /// Handles the expiry of an agent's timer.
    pub(super) fn on_agent_timer<F: Fib, O>(&mut self, at: AgentKey, id: TimerId, step: &StepContext<F, O>) {
        let one = self.agents.as_mut().and_then(|agents| agents.get(at));
        if one.is_some_and(|one| one.has_too_many_timers(step.now)) {
            return self.record_broken_agent_rule(at, Rule::EndlessTimers);
        }
        self.call_agent(at, None, step, |agent, at, env| agent.on_timer(id, at, env));
        self.update_levels(at.port, None);
    }

    /// Informs the agents of a port that the port begins to send a pause frame.
    pub(super) fn on_pause_sent(&mut self, port: PortId, frame: &PauseFrame, now: Time) {
        for at in self.agents_at(port) {
            let Some(agents) = &mut self.agents else { return };
            let one = &mut agents.ports[usize::from(port.0)].agents[usize::from(at.which)];
            let mut env = Env { now, rng: &mut one.rng, acts: &mut agents.acts };
            one.agent.on_pause_sent(frame.xoff, frame.xon, &mut env);
            self.queue_acts(at);
        }
        self.update_levels(port, None);
    }

    /// Clears the timers of a port's agents, and informs the agents that the link went down or came back.
    pub(super) fn reset_agents(&mut self, port: PortId, now: Time) {
        if let Some(pools) = &mut self.store.pools {
            pools.forget_stopped(port);
        }
        for at in self.agents_at(port) {
            let Some(agents) = &mut self.agents else { return };
            let one = &mut agents.ports[usize::from(port.0)].agents[usize::from(at.which)];
            // Pauses sent over the dead link are void, so agents start again without timers.
            for timer in &mut one.timers {
                timer.set(Time::NEVER);
            }
            one.agent.on_link_change(port, &mut Env { now, rng: &mut one.rng, acts: &mut agents.acts });
            self.queue_acts(at);
        }
        self.update_levels(port, None);
    }

    /// Returns the mechanism that pauses the far end of a port; `None` if the port has none.
    pub(super) fn pausing_at(&self, port: PortId) -> Option<&dyn Pausing> {
        let at = self.agents.as_ref()?.ports.get(usize::from(port.0))?;
        at.agents.iter().find_map(|one| one.agent.pausing())
    }

    /// Returns the tally of congestion messages that agents made, and the number and bytes of packets that they hold.
    pub(crate) fn agents_tally(&self) -> (PacketTally, (u64, u64)) {
        self.agents.as_ref().map_or_else(Default::default, |agents| (agents.created, agents.held_total()))
    }
    /// Returns the number of congestion messages that agents of this node made, and of packets that they hold.
    pub fn notice_and_hold_counts(&self) -> (u64, u64) {
        let (created, (held, _)) = self.agents_tally();
        (created.packets, held)
    }
}
