//! PAUSE (IEEE 802.3x; 802.3 annex 31B): all that came in by a port is counted, and where there is too
//! much of it the whole far end is stopped.

use super::Pause;
use super::rules::{self, Rules, Signal};
use crate::params::{Spec, Values};
use crate::{Act, Change, ClassSet, Env, PortId, QueueView, TimerId, Watch};
use units::{Clock, Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct PortPause {
    rules: Rules,
    stopped: bool,
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
        PortPause { rules: Rules::new(values, clock), stopped: false }
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

/// Bytes allocated to all that came in by a port.
fn used(q: &QueueView, port: PortId) -> u64 {
    (0..8).map(|class| q.view.allocated(port, class)).sum()
}

impl Watch for PortPause {
    fn changed(&mut self, q: &QueueView, why: Change, env: &mut Env) {
        let (head, stored) = match why {
            Change::Enqueued(head) => (head, true),
            Change::Started(head) | Change::Left(head) => (head, false),
            _ => return,
        };
        let used = used(q, head.ingress);
        let say = self.rules.turn(self.stopped, (used, stored), q.view.pool_free());
        say.into_iter().for_each(|say| self.say(say, head.ingress, env));
    }

    fn timer(&mut self, _id: TimerId, q: &QueueView, env: &mut Env) {
        if self.stopped {
            let say = self.rules.again(used(q, q.port), q.view.pool_free());
            self.say(say, q.port, env);
        }
    }
}

impl Pause for PortPause {
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
    fn forget(&mut self) {
        self.stopped = false;
    }
    fn boxed(&self) -> Box<dyn Pause> {
        Box::new(self.clone())
    }
}
