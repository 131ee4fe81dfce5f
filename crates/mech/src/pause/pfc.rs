//! Priority flow control (IEEE 802.1Qbb; 802.1Q §36): what came in by a port is counted class by class,
//! wherever it waits, and a class of which there is too much is stopped at the far end, the others not.

use super::Pausing;
use super::rules::{self, Rules, Signal};
use crate::params::{Kind, Param, Spec, Values};
use crate::{Account, Act, Agent, AgentContext, ClassSet, Env, PortId, TimerId};
use units::{Clock, Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub struct Pfc {
    rules: Rules,
    classes: ClassSet,
    stopped: ClassSet,
    /// By class: the bytes at the last call, which tell a frame stored from one gone.
    last: [u64; 8],
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
        Pfc { rules: Rules::new(values, clock), classes, stopped: ClassSet::NONE, last: [0; 8] }
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

impl Agent for Pfc {
    fn levels(&self, of: Account) -> (u64, u64) {
        match of {
            Account::Input(_, class) if self.classes.has(class) => self.rules.levels(self.stopped.has(class)),
            _ => Account::UNWATCHED,
        }
    }

    fn on_level(&mut self, of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        let Account::Input(port, class) = of else { return };
        let before = std::mem::replace(&mut self.last[usize::from(class)], bytes);
        let change = (bytes, bytes > before);
        let say = self.rules.turn(self.stopped.has(class), change, at.view.pool_free());
        say.into_iter().for_each(|say| self.say(say, (port, class), env));
    }

    fn on_timer(&mut self, id: TimerId, at: &AgentContext, env: &mut Env) {
        let class = id.0 as u8;
        if self.stopped.has(class) {
            let say = self.rules.again(at.view.allocated(at.port, class), at.view.pool_free());
            self.say(say, (at.port, class), env);
        }
    }

    fn on_link_change(&mut self) {
        self.stopped = ClassSet::NONE;
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        Some(self)
    }

    fn boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Pausing for Pfc {
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
}
