//! PAUSE (IEEE 802.3x; 802.3 annex 31B): all that came in by a port is counted, and where there is too
//! much of it the whole far end is stopped.

use super::Pausing;
use super::rules::{self, Rules, Signal};
use crate::params::{Spec, Values};
use crate::{Account, Act, Agent, AgentContext, ClassSet, Env, PortId, TimerId};
use units::{Clock, Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct PortPause {
    rules: Rules,
    stopped: bool,
    /// The bytes at the last call, which tell a frame stored from one gone.
    last: u64,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pause",
    doc: "Pauses the far end of a port whose frames hold too much memory, whatever their class.",
    cite: "IEEE 802.3x; 802.3 annex 31B",
    params: &[
        rules::XOFF,
        rules::XON,
        rules::ALPHA,
        rules::OFFSET,
        rules::QUANTA,
        rules::REFRESH,
        rules::RESPONSE,
        rules::LOSSLESS,
    ],
};

const REFRESH: TimerId = TimerId(0);

impl PortPause {
    /// From validated parameters, for a port of this rate.
    pub fn new(values: &Values, clock: Clock) -> PortPause {
        PortPause { rules: Rules::new(values, clock), stopped: false, last: 0 }
    }

    fn say(&mut self, say: Signal, port: PortId, env: &mut Env) {
        self.stopped = say == Signal::Xoff;
        if self.stopped {
            env.acts.push(Act::Pause(port, ClassSet::ALL, self.rules.quanta));
            let again = self.rules.refresh.map(|refresh| Act::Arm(env.now + refresh, REFRESH));
            again.into_iter().for_each(|act| env.acts.push(act));
        } else {
            env.acts.push(Act::Resume(port, ClassSet::ALL));
            env.acts.push(Act::Arm(Time::NEVER, REFRESH));
        }
    }
}

impl Agent for PortPause {
    fn levels(&self, of: Account) -> (u64, u64) {
        match of {
            Account::AllInput(_) => self.rules.levels(self.stopped),
            _ => Account::UNWATCHED,
        }
    }

    fn on_level(&mut self, _of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        let change = (bytes, bytes > std::mem::replace(&mut self.last, bytes));
        let say = self.rules.turn(self.stopped, change, at.view.pool_free());
        say.into_iter().for_each(|say| self.say(say, at.port, env));
    }

    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        if self.stopped {
            let used = (0..8).map(|class| at.view.allocated(at.port, class)).sum();
            let say = self.rules.again(used, at.view.pool_free());
            self.say(say, at.port, env);
        }
    }

    fn on_link_change(&mut self) {
        self.stopped = false;
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        Some(self)
    }

    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Pausing for PortPause {
    fn pause_group(&self, _class: u8) -> ClassSet {
        ClassSet::ALL
    }
    fn stopped(&self) -> ClassSet {
        if self.stopped { ClassSet::ALL } else { ClassSet::NONE }
    }
    fn thresholds(&self, free: Option<u64>) -> (u64, u64) {
        self.rules.level.at(free)
    }
    fn duration(&self) -> (Dur, Option<Dur>) {
        (self.rules.duration, self.rules.refresh)
    }
    fn lossless(&self) -> bool {
        self.rules.lossless
    }
}
