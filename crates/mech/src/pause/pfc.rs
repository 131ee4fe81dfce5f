//! Priority flow control (IEEE 802.1Qbb; 802.1Q §36). Frames that came in by a port are counted by class, wherever they
//! are queued. A class with too many bytes is paused at the far end; other classes are not.

use super::parameters::{PauseFrames, PauseThresholds};
use super::thresholds::{PauseRules, PauseSignal};
use super::{PauseLevels, Pausing, Watchdog};
use crate::params::{ParamKind, Spec, Values, join_params};
use crate::watchdog::WatchdogParams;
use crate::{
    Account, Act, Agent, AgentContext, CheckContext, ClassSet, Env, PortId, PriorityGroups, Report, TimerId, params,
};
use std::collections::BTreeSet;
use units::{ByteClock, Dur, Time};

/// Priority flow control (PFC) at one port.
#[derive(Clone, Debug)]
pub struct Pfc {
    rules: PauseRules,
    classes: ClassSet,
    /// Classes to pause, as listed in the scenario.
    given: Option<Vec<u64>>,
    /// Classes of each lossless group, if the memory of the switch has groups. They replace classes and thresholds.
    groups: Option<[ClassSet; 8]>,
    /// Classes that are paused at the far end now.
    paused: ClassSet,
    /// Bytes of each class at the last call; the difference distinguishes a stored frame from a departure.
    last: [u64; 8],
    watchdog: WatchdogParams,
}

params! {
    /// Parameter values: classes that PFC counts and pauses.
    pub(crate) struct PausedClasses {
        classes: Option<Vec<u64>> = {
            doc: "Classes that are counted and paused, 0 to 7. The default is all. The others are lossy.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pfc",
    doc: "Pauses a class at the far end of a port whose frames of that class hold too much memory.",
    cite: "IEEE 802.1Qbb; 802.1Q §36",
    params: &join_params::<14>(&[
        PauseThresholds::PARAMS,
        PausedClasses::PARAMS,
        PauseFrames::PARAMS,
        WatchdogParams::PARAMS,
    ]),
};

impl Pfc {
    /// Creates PFC from validated parameters, for no port yet.
    pub fn new(values: &Values) -> Pfc {
        let (rules, given) = (
            PauseRules::new(PauseThresholds::read(values), PauseFrames::read(values)),
            PausedClasses::read(values).classes,
        );
        let listed = |list: &Vec<u64>| list.iter().fold(ClassSet::NONE, |set, n| set.union(ClassSet::single(*n as u8)));
        let classes = given.as_ref().map_or(ClassSet::ALL, listed);
        let watchdog = WatchdogParams::read(values);
        Pfc { rules, classes, given, groups: None, paused: ClassSet::NONE, last: [0; 8], watchdog }
    }

    /// Returns the classes that are paused together: one class, or those of a priority group.
    fn classes_of(&self, number: u8) -> ClassSet {
        self.groups.map_or(ClassSet::single(number), |groups| groups[usize::from(number & 7)])
    }

    /// Reports parameters that groups replace, and groups that are never paused because none is lossless.
    fn check_for_groups(&self, groups: PriorityGroups, report: &mut Report) {
        if groups == PriorityGroups::Lossy {
            let rule = "`lossless = true` in switch.buffer.profiles for a profile of switch.buffer.groups, because PFC \
                        pauses lossless groups only";
            report.add_error("kind", "`pfc` beside `pools` without a lossless group", rule);
        }
        self.rules.check_for_groups(report);
        if self.given.is_some() {
            let rule = "no `classes` with a buffer of kind `pools`, whose lossless groups are paused";
            report.add_error("classes", "`classes` beside `pools`", rule);
        }
    }

    fn send_signal(&mut self, signal: PauseSignal, port: PortId, number: u8, env: &mut Env) {
        let set = self.classes_of(number);
        let timer = TimerId(u16::from(number));
        match signal {
            PauseSignal::Xoff => {
                self.paused = self.paused.union(set);
                env.acts.push(Act::Pause(port, set, self.rules.quanta()));
                let again = self.rules.refresh.map(|refresh| Act::Arm(env.now + refresh, timer));
                again.into_iter().for_each(|act| env.acts.push(act));
            }
            PauseSignal::Xon => {
                self.paused = self.paused.minus(set);
                env.acts.push(Act::Resume(port, set));
                env.acts.push(Act::Arm(Time::NEVER, timer));
            }
        }
    }
}

impl Agent for Pfc {
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        match account {
            Account::Group(_, group)
                if self.groups.is_some_and(|groups| groups[usize::from(group)] != ClassSet::NONE) =>
            {
                Account::EVERY_CHANGE
            }
            _ if self.groups.is_some() => Account::UNWATCHED,
            Account::Input(_, class) if self.classes.has(class) => {
                self.rules.levels_without_pause_frames(self.paused.has(class))
            }
            _ => Account::UNWATCHED,
        }
    }

    fn for_port(&mut self, clock: ByteClock) {
        self.rules.for_port(clock);
    }

    fn for_groups(&mut self, lossless: &[ClassSet; 8]) {
        self.groups = Some(*lossless);
    }

    /// Reports thresholds and pause times that conflict, and lists of classes that are empty or name a class twice.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        self.watchdog.check(report);
        match beside.groups {
            PriorityGroups::Lossy | PriorityGroups::Lossless => return self.check_for_groups(beside.groups, report),
            PriorityGroups::Absent if !self.rules.has_thresholds() => {
                let rule = "lossless groups (`side = \"ingress\"` in switch.buffer.pools, `lossless = true` in \
                            switch.buffer.profiles, and switch.buffer.groups), or xoff and xon";
                report.add_error("kind", "`pfc` beside `pools` without an ingress pool", rule);
            }
            PriorityGroups::Absent | PriorityGroups::Unsupported => self.rules.check(beside, report),
        }
        let Some(classes) = &self.given else { return };
        let once: BTreeSet<u64> = classes.iter().copied().collect();
        if classes.is_empty() || once.len() < classes.len() {
            report.add_error("classes", format!("{classes:?}"), "one or more whole numbers from 0 to 7, each once");
        }
    }

    fn on_level(&mut self, account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        if let Account::Group(port, group) = account {
            let signal = if bytes > 0 { PauseSignal::Xoff } else { PauseSignal::Xon };
            return self.send_signal(signal, port, group, env);
        }
        let Account::Input(port, class) = account else { return };
        let before = std::mem::replace(&mut self.last[usize::from(class)], bytes);
        let signal =
            self.rules.signal_after_change(self.paused.has(class), bytes, bytes > before, at.view.free_pool_bytes());
        signal.into_iter().for_each(|signal| self.send_signal(signal, port, class, env));
    }

    fn on_timer(&mut self, id: TimerId, at: &AgentContext, env: &mut Env) {
        let class = id.0 as u8;
        if self.groups.is_some() {
            // The group is stopped as long as the timer runs: its release cancels the timer.
            return self.send_signal(PauseSignal::Xoff, at.port, class, env);
        }
        if self.paused.has(class) {
            let signal = self.rules.refresh_signal(at.view.allocated_bytes(at.port, class), at.view.free_pool_bytes());
            self.send_signal(signal, at.port, class, env);
        }
    }

    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        // The far end has lost its pause state with the link, so nothing is paused there. The switch clears the timers.
        self.paused = ClassSet::NONE;
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        Some(self)
    }

    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Pausing for Pfc {
    fn pause_group(&self, class: u8) -> ClassSet {
        if let Some(groups) = &self.groups {
            return groups.iter().copied().find(|classes| classes.has(class)).unwrap_or(ClassSet::NONE);
        }
        if self.classes.has(class) { ClassSet::single(class) } else { ClassSet::NONE }
    }
    fn paused_classes(&self) -> ClassSet {
        self.paused
    }
    fn pause_levels(&self) -> PauseLevels {
        if self.groups.is_some() {
            return PauseLevels::OfGroups;
        }
        self.rules.level
    }
    fn duration_and_refresh(&self) -> (Dur, Option<Dur>) {
        (self.rules.duration, self.rules.refresh)
    }
    fn response_time(&self) -> Dur {
        self.rules.response_time()
    }
    fn is_lossless(&self) -> bool {
        self.rules.is_lossless()
    }
    fn watchdog(&self) -> Option<Watchdog> {
        self.watchdog.to_watchdog()
    }
}
