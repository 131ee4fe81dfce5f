//! Priority flow control (IEEE 802.1Qbb; 802.1Q §36): what came in by a port is counted class by class,
//! wherever it waits, and a class of which there is too much is stopped at the far end, the others not.

use super::Pause;
use super::rules::{self, Rules, Signal};
use crate::params::{Kind, Param, Spec, Values};
use crate::{Act, Change, ClassSet, Env, PortId, QueueView, TimerId, Watch};
use units::{Clock, Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pfc {
    rules: Rules,
    classes: ClassSet,
    stopped: ClassSet,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pfc",
    doc: "Pauses a class at the far end of a port whose frames of that class hold too much memory.",
    cite: "IEEE 802.1Qbb; 802.1Q §36",
    params: &[
        rules::XOFF,
        rules::XON,
        rules::ALPHA,
        rules::OFFSET,
        Param {
            name: "classes",
            doc: "The classes that are counted and paused, 0 to 7; all by default. The others are lossy.",
            kind: Kind::Counts { min: 0, max: 7 },
            default: Some(""),
        },
        rules::QUANTA,
        rules::REFRESH,
        rules::RESPONSE,
        rules::LOSSLESS,
    ],
};

impl Pfc {
    /// From validated parameters, for a port of this rate.
    pub fn new(values: &Values, clock: Clock) -> Pfc {
        let classes = match values.has("classes") {
            true => values.counts("classes").iter().fold(ClassSet::NONE, |set, n| set.union(ClassSet::of(*n as u8))),
            false => ClassSet::ALL,
        };
        Pfc { rules: Rules::new(values, clock), classes, stopped: ClassSet::NONE }
    }

    fn say(&mut self, say: Signal, (port, class): (PortId, u8), env: &mut Env) {
        let set = ClassSet::of(class);
        let timer = TimerId(u16::from(class));
        match say {
            Signal::Xoff => {
                self.stopped = self.stopped.union(set);
                env.acts.push(Act::Pause(port, set, self.rules.quanta));
                let again = self.rules.refresh.map(|refresh| Act::Arm(env.now + refresh, timer));
                again.into_iter().for_each(|act| env.acts.push(act));
            }
            Signal::Xon => {
                self.stopped = self.stopped.minus(set);
                env.acts.push(Act::Resume(port, set));
                env.acts.push(Act::Arm(Time::NEVER, timer));
            }
        }
    }
}

impl Watch for Pfc {
    fn changed(&mut self, q: &QueueView, why: Change, env: &mut Env) {
        let (head, stored) = match why {
            Change::Enqueued(head) => (head, true),
            Change::Started(head) | Change::Left(head) => (head, false),
            _ => return,
        };
        let class = head.class();
        if !self.classes.has(class) {
            return;
        }
        let used = q.view.allocated(head.ingress, class);
        let say = self.rules.turn(self.stopped.has(class), (used, stored), q.view.pool_free());
        say.into_iter().for_each(|say| self.say(say, (head.ingress, class), env));
    }

    fn timer(&mut self, id: TimerId, q: &QueueView, env: &mut Env) {
        let class = id.0 as u8;
        if self.stopped.has(class) {
            let say = self.rules.again(q.view.allocated(q.port, class), q.view.pool_free());
            self.say(say, (q.port, class), env);
        }
    }
}

impl Pause for Pfc {
    fn pause_group(&self, class: u8) -> ClassSet {
        if self.classes.has(class) { ClassSet::of(class) } else { ClassSet::NONE }
    }
    fn stopped(&self) -> ClassSet {
        self.stopped
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
        self.stopped = ClassSet::NONE;
    }
    fn boxed(&self) -> Box<dyn Pause> {
        Box::new(self.clone())
    }
}
