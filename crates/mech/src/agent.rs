//! Agents: mechanisms that keep state at a port, such as pausing, ACK holding and congestion notification.
//!
//! An agent is not called for every packet. It declares two levels for each account, and no call is needed while the
//! account is between them. The switch reads the levels again after each call.
//!
//! The agent appends its requests to [`crate::Acts`]. The switch performs them in first-in, first-out order: after the
//! ends of transmission of an instant, after each arrival, and after each timer. In a switch with a snapshot, it
//! performs them after all arrivals of the instant.

use crate::pause_levels::Pausing;
use crate::{CheckContext, ClassSet, Env, Head, Needs, PortId, PortThresholds, Report, TimerId, View};
use units::ByteClock;

/// Byte count that a switch keeps if an agent follows it. No account includes congestion messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// Bytes queued for departure by a port.
    Output(PortId),
    /// Bytes of a class that came in by a port and are still in the switch, queued or held. In a switch with input
    /// memory: bytes that are still in the memory of that input.
    Input(PortId, u8),
    /// Bytes of all classes that came in by a port and are still there, as in [`Account::Input`].
    AllInput(PortId),
    /// Bytes of a class stored in the output buffer of a port since the run began. Departures do not lower it.
    Arrived(PortId, u8),
    /// Bytes of a class that came in by a port and were stored since the run began. Departures do not lower it.
    Entered(PortId, u8),
    /// State of a priority group of a port, in memory with pools: 1 from the arrival at which the shared memory of the
    /// group reaches its limit until a departure lowers its use to the level of XON, otherwise 0. The levels have no
    /// effect on this account: the agent is called for each change.
    Group(PortId, u8),
}

impl Account {
    /// Levels for an account that never causes a call of the agent: no byte count is outside of them.
    pub const UNWATCHED: (u64, u64) = (0, u64::MAX);
    /// Levels for an account whose every change causes a call of the agent: all byte counts are outside of them.
    pub const EVERY_CHANGE: (u64, u64) = (u64::MAX, 0);

    /// Returns true if a byte count is below the low or above the high level.
    #[inline]
    pub const fn is_outside(bytes: u64, (low, high): (u64, u64)) -> bool {
        bytes < low || bytes > high
    }
    /// Returns every account that an agent at a port may follow, in the order of calls.
    pub fn accounts_of_port(port: PortId) -> impl Iterator<Item = Account> {
        let arrived = (0..8).map(move |class| Account::Arrived(port, class));
        let entered = (0..8).map(move |class| Account::Entered(port, class));
        let input = (0..8).map(move |class| Account::Input(port, class));
        let all = [Account::AllInput(port)];
        let groups = (0..8).map(move |group| Account::Group(port, group));
        [Account::Output(port)].into_iter().chain(arrived).chain(entered).chain(input).chain(all).chain(groups)
    }
}

/// Context of a call to an agent: the switch, the agent's port, and a frame that was just stored.
#[derive(Clone, Copy)]
pub struct AgentContext<'a> {
    /// Read-only view of the switch.
    pub view: &'a dyn View,
    /// Port to which the agent belongs.
    pub port: PortId,
    /// Head of the frame that was just stored, if this is the cause of the call.
    pub stored: Option<&'a Head>,
}

/// Decision about a packet that has just come in by an agent's port, before lookup.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalDecision {
    /// Forwards the packet to the table lookup.
    Forward,
    /// Holds the packet behind those already held.
    Hold,
    /// Drops the packet, because the memory for held packets is full.
    Drop,
}

/// Mechanism with state at one port. All methods except [`Agent::clone_boxed`] have a default.
///
/// ```
/// use mech::{Account, Act, Agent, AgentContext, ClassSet, Env, PortId};
///
/// /// Pauses the far end of a port while more than `most` bytes that came in by the port are in the switch.
/// #[derive(Clone)]
/// struct Brake { most: u64, on: bool }
///
/// impl Agent for Brake {
///     fn range_without_call(&self, account: Account) -> (u64, u64) {
///         match account {
///             Account::AllInput(_) if self.on => (self.most + 1, u64::MAX),
///             Account::AllInput(_) => (0, self.most),
///             _ => Account::UNWATCHED,
///         }
///     }
///     fn on_level(&mut self, _: Account, _: u64, at: &AgentContext, env: &mut Env) {
///         self.on = !self.on;
///         env.acts.push(match self.on {
///             true => Act::Pause(at.port, ClassSet::ALL, u16::MAX),
///             false => Act::Resume(at.port, ClassSet::ALL),
///         });
///     }
///     fn clone_boxed(&self) -> Box<dyn Agent> {
///         Box::new(self.clone())
///     }
/// }
///
/// let brake = Brake { most: 3000, on: false };
/// assert_eq!(brake.range_without_call(Account::AllInput(PortId(0))), (0, 3000));
/// ```
pub trait Agent: Send + Sync {
    /// Assigns the agent to a port with this transmission time per byte. Before this call it belongs to no port.
    fn for_port(&mut self, _clock: ByteClock) {}
    /// Assigns priority groups to the agent, in memory with pools: the classes of each lossless group, and no class for
    /// lossy groups. The memory then has the thresholds for pauses.
    fn for_groups(&mut self, _lossless: &[ClassSet; 8]) {}
    /// Returns the features that the agent requires of its switch.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Returns true if the agent is for ports toward switches (`to_switch`), or otherwise for ports toward hosts.
    fn is_for_port(&self, _to_switch: bool) -> bool {
        true
    }
    /// Returns the backlog of the agent's port up to which the agent never acts; `None` if it is unknown.
    fn inactive_up_to(&self) -> Option<PortThresholds> {
        None
    }
    /// Returns the used input memory of a port up to which the agent never acts; `None` if it is unknown.
    fn input_inactive_up_to(&self) -> Option<PortThresholds> {
        None
    }
    /// Reports conflicts between the agent's parameters, or between them and the rest of the switch.
    fn check(&self, _beside: &CheckContext, _report: &mut Report) {}
    /// Returns the lowest and the highest byte count of an account for which the agent needs no call.
    ///
    /// The switch reads all levels once when it is built. An account that is [`Account::UNWATCHED`] then never causes a
    /// call. Later it reads the levels after each call: after [`Agent::on_level`] those of that account, after other
    /// calls those of all accounts that agents follow.
    fn range_without_call(&self, _account: Account) -> (u64, u64) {
        Account::UNWATCHED
    }
    /// Handles a byte count of an account that is outside the agent's levels.
    fn on_level(&mut self, _account: Account, _bytes: u64, _at: &AgentContext, _env: &mut Env) {}
    /// Returns true if the switch must call [`Agent::on_arrival`] for arrivals by the agent's port.
    fn handles_arrivals(&self) -> bool {
        false
    }
    /// Decides about a packet that has just come in by the agent's port. A held packet continues by
    /// [`crate::Act::ReleaseHeld`] and does not pass this method again.
    fn on_arrival(&mut self, _pkt: &Head, _at: &AgentContext, _env: &mut Env) -> ArrivalDecision {
        ArrivalDecision::Forward
    }
    /// Handles a pause frame that the port has sent, which pauses the classes `xoff` and resumes `xon`.
    fn on_pause_sent(&mut self, _xoff: ClassSet, _xon: ClassSet, _env: &mut Env) {}
    /// Handles the expiry of one of the agent's timers, which have numbers from 0 to 7.
    fn on_timer(&mut self, _id: TimerId, _at: &AgentContext, _env: &mut Env) {}
    /// Handles a change of the link of port `at`, which went down or came back.
    /// The far end has lost its pause state, and all timers of the agent are cleared.
    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {}
    /// Returns the interface for headroom checks and deadlock detection, if the agent pauses the far end of its port.
    fn pausing(&self) -> Option<&dyn Pausing> {
        None
    }
    /// Returns a boxed copy of the agent, with its state.
    fn clone_boxed(&self) -> Box<dyn Agent>;
}

impl Clone for Box<dyn Agent> {
    fn clone(&self) -> Box<dyn Agent> {
        self.clone_boxed()
    }
}

/// Agent in one of the slots `ack_hold`, `notify` and `pause` of a port, or none.
#[derive(Clone, Default)]
pub struct AgentSlot(Option<Box<dyn Agent>>);

impl AgentSlot {
    /// Slot without an agent.
    pub const NONE: AgentSlot = AgentSlot(None);

    /// Creates a slot with an agent of the catalogue or of another crate.
    pub fn new(agent: impl Agent + 'static) -> AgentSlot {
        AgentSlot(Some(Box::new(agent)))
    }
    /// Returns a copy of the slot, with its agent assigned to a port with this transmission time per byte.
    pub fn for_port(&self, clock: ByteClock) -> AgentSlot {
        let mut own = self.clone();
        own.get().into_iter().for_each(|agent| agent.for_port(clock));
        own
    }
    /// Returns the slot, with the classes of each lossless group assigned to its agent.
    #[must_use]
    pub fn for_groups(mut self, lossless: &[ClassSet; 8]) -> AgentSlot {
        self.get().into_iter().for_each(|agent| agent.for_groups(lossless));
        self
    }
    /// Returns the slot, emptied if its agent is not for ports toward switches (`to_switch`) or hosts (otherwise).
    #[must_use]
    pub fn keep_if_for_port(self, to_switch: bool) -> AgentSlot {
        AgentSlot(self.0.filter(|agent| agent.is_for_port(to_switch)))
    }
    /// Returns the agent of the slot, mutable; `None` if the slot is empty.
    pub fn get(&mut self) -> Option<&mut (dyn Agent + 'static)> {
        self.0.as_deref_mut()
    }
    /// Returns the agent of the slot, read-only; `None` if the slot is empty.
    pub fn peek(&self) -> Option<&dyn Agent> {
        self.0.as_deref()
    }
    /// Takes the agent out of its slot; `None` if the slot is empty.
    pub fn into_agent(self) -> Option<Box<dyn Agent>> {
        self.0
    }
    /// Returns the pausing interface of the slot's agent; `None` if there is no agent, or if it never pauses.
    pub fn pausing(&self) -> Option<&dyn Pausing> {
        self.peek()?.pausing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_themselves_are_inside_their_range() {
        for (bytes, outside) in [(2, true), (3, false), (5, false), (6, true)] {
            assert_eq!(Account::is_outside(bytes, (3, 5)), outside);
        }
        for bytes in [0, 1, u64::MAX] {
            assert!(!Account::is_outside(bytes, Account::UNWATCHED));
            assert!(Account::is_outside(bytes, Account::EVERY_CHANGE));
        }
    }

    #[test]
    fn accounts_of_port_lists_each_account_once() {
        let mut all: Vec<Account> = Account::accounts_of_port(PortId(3)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 1 + 8 + 8 + 8 + 1 + 8);
    }
}
