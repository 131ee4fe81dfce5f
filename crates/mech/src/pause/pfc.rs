//! Priority flow control (IEEE 802.1Qbb; 802.1Q §36). Frames that came in by a port are counted by class, wherever they
//! are queued. A class with too many bytes is paused at the far end; other classes are not.

use super::given::{Frames, Thresholds};
use super::thresholds::{Rules, Signal};
use super::{Level, Pausing};
use crate::params::{Kind, Spec, Values, joined};
use crate::{Account, Act, Agent, AgentContext, Beside, ClassSet, Env, PortId, Report, TimerId, params};
use std::collections::BTreeSet;
use units::{Clock, Dur, Time};

/// PFC at one port.
#[derive(Clone, Debug)]
pub struct Pfc {
    rules: Rules,
    classes: ClassSet,
    /// Classes as listed in the scenario.
    given: Option<Vec<u64>>,
    /// Classes that are paused at the far end.
    paused: ClassSet,
    /// Bytes of each class at the last call; the difference distinguishes a stored frame from a departure.
    last: [u64; 8],
}

params! {
    /// Counted classes.
    pub(crate) struct Classes {
        classes: Option<Vec<u64>> = {
            doc: "Classes that are counted and paused, 0 to 7. The default is all. The others are lossy.",
            kind: Kind::Counts { min: 0, max: 7 },
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pfc",
    doc: "Pauses a class at the far end of a port whose frames of that class hold too much memory.",
    cite: "IEEE 802.1Qbb; 802.1Q §36",
    params: &joined::<9>(&[Thresholds::PARAMS, Classes::PARAMS, Frames::PARAMS]),
};

impl Pfc {
    /// Creates the mechanism from validated parameters, for no port yet.
    pub fn new(values: &Values) -> Pfc {
        let (rules, given) =
            (Rules::new(Thresholds::read(values), Frames::read(values)), Classes::read(values).classes);
        let listed = |list: &Vec<u64>| list.iter().fold(ClassSet::NONE, |set, n| set.union(ClassSet::single(*n as u8)));
        let classes = given.as_ref().map_or(ClassSet::ALL, listed);
        Pfc { rules, classes, given, paused: ClassSet::NONE, last: [0; 8] }
    }

    fn signal(&mut self, signal: Signal, port: PortId, class: u8, env: &mut Env) {
        let set = ClassSet::single(class);
        let timer = TimerId(u16::from(class));
        match signal {
            Signal::Xoff => {
                self.paused = self.paused.union(set);
                env.acts.push(Act::Pause(port, set, self.rules.quanta()));
                let again = self.rules.refresh.map(|refresh| Act::Arm(env.now + refresh, timer));
                again.into_iter().for_each(|act| env.acts.push(act));
            }
            Signal::Xon => {
                self.paused = self.paused.minus(set);
                env.acts.push(Act::Resume(port, set));
                env.acts.push(Act::Arm(Time::NEVER, timer));
            }
        }
    }
}

impl Agent for Pfc {
    fn levels(&self, of: Account) -> (u64, u64) {
        match of {
            Account::Input(_, class) if self.classes.has(class) => self.rules.levels(self.paused.has(class)),
            _ => Account::UNWATCHED,
        }
    }

    fn for_port(&mut self, clock: Clock) {
        self.rules.for_port(clock);
    }

    /// Thresholds and quanta must fit each other, and classes must be some of the eight.
    fn check(&self, beside: &Beside, report: &mut Report) {
        self.rules.check(beside, report);
        let Some(classes) = &self.given else { return };
        let once: BTreeSet<u64> = classes.iter().copied().collect();
        if classes.is_empty() || once.len() < classes.len() {
            report.wrong("classes", format!("{classes:?}"), "one or more whole numbers from 0 to 7, each once");
        }
    }

    fn on_level(&mut self, of: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        let Account::Input(port, class) = of else { return };
        let before = std::mem::replace(&mut self.last[usize::from(class)], bytes);
        let signal = self.rules.turn(self.paused.has(class), bytes, bytes > before, at.view.pool_free());
        signal.into_iter().for_each(|signal| self.signal(signal, port, class, env));
    }

    fn on_timer(&mut self, id: TimerId, at: &AgentContext, env: &mut Env) {
        let class = id.0 as u8;
        if self.paused.has(class) {
            let signal = self.rules.again(at.view.allocated(at.port, class), at.view.pool_free());
            self.signal(signal, at.port, class, env);
        }
    }

    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        // The far end has lost its pause state with the link, so nothing is paused there. The switch clears the timers.
        self.paused = ClassSet::NONE;
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
        if self.classes.has(class) { ClassSet::single(class) } else { ClassSet::NONE }
    }
    fn paused(&self) -> ClassSet {
        self.paused
    }
    fn level(&self) -> Level {
        self.rules.level
    }
    fn duration(&self) -> (Dur, Option<Dur>) {
        (self.rules.duration, self.rules.refresh)
    }
    fn response(&self) -> Dur {
        self.rules.response()
    }
    fn lossless(&self) -> bool {
        self.rules.lossless()
    }
}
