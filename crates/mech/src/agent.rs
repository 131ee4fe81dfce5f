//! Agents: mechanisms that live at a port over time, as pausing, holding ACKs and telling sources do.
//!
//! An agent is not called for every packet. It says between which levels of an account it need not be called,
//! and is asked for them again after each call. What it wants done it appends to [`crate::Acts`]; the switch
//! does it, first in, first out, after the ends of transmission of an instant, after each arrival (after all of
//! them where they are decided on a snapshot) and after each timer.
//!
//! ```
//! use mech::{Account, Act, Agent, AgentContext, ClassSet, Env, PortId};
//!
//! /// Pauses the far end of a port while more than so many bytes that came in by it wait.
//! #[derive(Clone)]
//! struct Brake { most: u64, on: bool }
//!
//! impl Agent for Brake {
//!     fn levels(&self, of: Account) -> (u64, u64) {
//!         match of {
//!             Account::AllInput(_) if self.on => (self.most + 1, u64::MAX),
//!             Account::AllInput(_) => (0, self.most),
//!             _ => Account::UNWATCHED,
//!         }
//!     }
//!     fn on_level(&mut self, _: Account, _: u64, at: &AgentContext, env: &mut Env) {
//!         self.on = !self.on;
//!         env.acts.push(match self.on {
//!             true => Act::Pause(at.port, ClassSet::ALL, u16::MAX),
//!             false => Act::Resume(at.port, ClassSet::ALL),
//!         });
//!     }
//!     fn boxed(&self) -> Box<dyn Agent> {
//!         Box::new(self.clone())
//!     }
//! }
//!
//! let brake = Brake { most: 3000, on: false };
//! assert_eq!(brake.levels(Account::AllInput(PortId(0))), (0, 3000));
//! ```

use crate::pause_levels::Pausing;
use crate::{Beside, ClassSet, Env, Head, Needs, PortId, Report, Room, TimerId, View};
use units::Clock;

/// Bytes that a switch counts where an agent follows them. Messages about congestion are in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// That wait to leave by a port.
    Output(PortId),
    /// Of a class, that came in by a port and are still in the switch: queued or held. In a switch with memory at
    /// inputs: that are still in the memory of that input.
    Input(PortId, u8),
    /// The same of all classes.
    AllInput(PortId),
    /// Of a class, that were stored in the buffer in front of the link of a port since the run began, whatever has left.
    Arrived(PortId, u8),
    /// Of a class, that came in by a port and were stored since the run began, whatever has left.
    Entered(PortId, u8),
}

impl Account {
    /// The levels of an account that nothing is to be told of.
    pub const UNWATCHED: (u64, u64) = (0, u64::MAX);
    /// The levels of an account every change of which is to be told.
    pub const EVERY_CHANGE: (u64, u64) = (u64::MAX, 0);

    /// Whether so many bytes are outside of these levels.
    #[inline]
    pub const fn is_outside(bytes: u64, (low, high): (u64, u64)) -> bool {
        bytes < low || bytes > high
    }
    /// Everything that an agent at a port may follow, in the order in which it is told.
    pub fn of_port(port: PortId) -> impl Iterator<Item = Account> {
        let arrived = (0..8).map(move |class| Account::Arrived(port, class));
        let entered = (0..8).map(move |class| Account::Entered(port, class));
        let input = (0..8).map(move |class| Account::Input(port, class));
        let all = [Account::AllInput(port)];
        [Account::Output(port)].into_iter().chain(arrived).chain(entered).chain(input).chain(all)
    }
}

/// What an agent sees when it is called.
#[derive(Clone, Copy)]
pub struct AgentContext<'a> {
    /// The switch.
    pub view: &'a dyn View,
    /// The port of the agent.
    pub port: PortId,
    /// The frame that was stored just now, where that is why it is called.
    pub stored: Option<&'a Head>,
}

/// What becomes of a packet that has just come in by an agent's port, before lookup.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// On to lookup.
    Forward,
    /// Held, behind those already held.
    Hold,
    /// Lost: no room to hold it.
    Drop,
}

/// A mechanism that lives at a port. All calls but [`Agent::boxed`] may be left out.
pub trait Agent: Send + Sync {
    /// Takes the rate of its port; before that it is of no port in particular.
    fn for_port(&mut self, _clock: Clock) {}
    /// What it needs of the switches that it is in.
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Whether it is to be at a port whose far end is a switch, or a host.
    fn is_for_port(&self, _to_switch: bool) -> bool {
        true
    }
    /// It does nothing while no more than this has ever waited at its port; `None` where that is not known.
    fn rests_up_to(&self) -> Option<Room> {
        None
    }
    /// The same of what its port has in memory of an input, where the switch has inputs.
    fn input_rests_up_to(&self) -> Option<Room> {
        None
    }
    /// What is wrong with it beside the other mechanisms of its switch.
    fn check(&self, _beside: &Beside, _report: &mut Report) {}
    /// The least and the most bytes of an account for which it need not be called. It is asked once when the
    /// switch is built, and an account that it leaves [`Account::UNWATCHED`] then is never told to it; later it
    /// is asked after each call: about the account of the call, after others about all that it follows.
    fn levels(&self, _of: Account) -> (u64, u64) {
        Account::UNWATCHED
    }
    /// An account of its port has got outside of its levels, and has so many bytes.
    fn on_level(&mut self, _of: Account, _bytes: u64, _at: &AgentContext, _env: &mut Env) {}
    /// Whether [`Agent::on_arrival`] is wanted.
    fn holds(&self) -> bool {
        false
    }
    /// A packet has come in by its port; what it holds goes on by [`crate::Act::ReleaseHeld`], past this call.
    fn on_arrival(&mut self, _pkt: &Head, _at: &AgentContext, _env: &mut Env) -> Pass {
        Pass::Forward
    }
    /// The far end of its port is being told to pause the first of these classes and to resume the second.
    fn on_pause_sent(&mut self, _xoff: ClassSet, _xon: ClassSet, _env: &mut Env) {}
    /// A timer that it armed, of number 0 to 7, has run out.
    fn on_timer(&mut self, _id: TimerId, _at: &AgentContext, _env: &mut Env) {}
    /// The link of its port, `at`, has gone down, or is back: the far end knows nothing of what it was told, and no
    /// timer of this agent runs any more.
    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {}
    /// What it holds back at the far end of its port, for headroom and the search for deadlocks.
    fn pausing(&self) -> Option<&dyn Pausing> {
        None
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Agent>;
}

impl Clone for Box<dyn Agent> {
    fn clone(&self) -> Box<dyn Agent> {
        self.boxed()
    }
}

/// The agent of one of the slots `ack_hold`, `notify` and `pause` of a port, or none.
#[derive(Clone, Default)]
pub struct AgentSlot(Option<Box<dyn Agent>>);

impl AgentSlot {
    /// Nobody.
    pub const NONE: AgentSlot = AgentSlot(None);

    /// An agent, of the catalogue or from outside.
    pub fn new(agent: impl Agent + 'static) -> AgentSlot {
        AgentSlot(Some(Box::new(agent)))
    }
    /// A copy for a port of this rate.
    pub fn for_port(&self, clock: Clock) -> AgentSlot {
        let mut own = self.clone();
        own.get().into_iter().for_each(|agent| agent.for_port(clock));
        own
    }
    /// Nobody, where it is not for such a port.
    #[must_use]
    pub fn if_for(self, to_switch: bool) -> AgentSlot {
        AgentSlot(self.0.filter(|agent| agent.is_for_port(to_switch)))
    }
    /// The agent.
    pub fn get(&mut self) -> Option<&mut (dyn Agent + 'static)> {
        self.0.as_deref_mut()
    }
    /// The agent, to read.
    pub fn peek(&self) -> Option<&dyn Agent> {
        self.0.as_deref()
    }
    /// The agent, out of its slot.
    pub fn into_agent(self) -> Option<Box<dyn Agent>> {
        self.0
    }
    /// How it pauses, where it does.
    pub fn pausing(&self) -> Option<&dyn Pausing> {
        self.peek()?.pausing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_inside_themselves() {
        for (bytes, outside) in [(2, true), (3, false), (5, false), (6, true)] {
            assert_eq!(Account::is_outside(bytes, (3, 5)), outside);
        }
        for bytes in [0, 1, u64::MAX] {
            assert!(!Account::is_outside(bytes, Account::UNWATCHED));
            assert!(Account::is_outside(bytes, Account::EVERY_CHANGE));
        }
    }

    #[test]
    fn every_account_of_a_port_is_told_once() {
        let mut all: Vec<Account> = Account::of_port(PortId(3)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 1 + 8 + 8 + 8 + 1);
    }
}
