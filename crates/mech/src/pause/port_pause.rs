//! PAUSE (IEEE 802.3x; 802.3 annex 31B). All frames that came in by a port are counted; with too many bytes, the whole
//! far end is paused.

use super::parameters::{PauseFrames, PauseThresholds};
use super::thresholds::{PauseRules, PauseSignal};
use super::{PauseLevels, Pausing};
use crate::params::{Spec, Values, join_params};
use crate::{Account, Act, Agent, AgentContext, CheckContext, ClassSet, Env, PortId, PriorityGroups, Report, TimerId};
use units::{ByteClock, Dur, Time};

/// PAUSE (802.3x) at one port, for all classes together.
#[derive(Clone, Debug)]
pub struct PortPause {
    rules: PauseRules,
    /// True if the far end is paused.
    paused: bool,
    /// Byte count at the last call; the difference distinguishes a stored frame from a departure.
    last: u64,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.pause",
    kind: "pause",
    doc: "Pauses the far end of a port whose frames hold too much memory, whatever their class.",
    cite: "IEEE 802.3x; 802.3 annex 31B",
    params: &join_params::<9>(&[PauseThresholds::PARAMS, PauseFrames::PARAMS]),
};

const REFRESH_TIMER: TimerId = TimerId(0);

impl PortPause {
    /// Creates PAUSE from validated parameters, for no port yet.
    pub fn new(values: &Values) -> PortPause {
        PortPause {
            rules: PauseRules::new(PauseThresholds::read(values), PauseFrames::read(values)),
            paused: false,
            last: 0,
        }
    }

    fn send_signal(&mut self, signal: PauseSignal, port: PortId, env: &mut Env) {
        self.paused = signal == PauseSignal::Xoff;
        if self.paused {
            env.acts.push(Act::Pause(port, ClassSet::ALL, self.rules.quanta()));
            let again = self.rules.refresh.map(|refresh| Act::Arm(env.now + refresh, REFRESH_TIMER));
            again.into_iter().for_each(|act| env.acts.push(act));
        } else {
            env.acts.push(Act::Resume(port, ClassSet::ALL));
            env.acts.push(Act::Arm(Time::NEVER, REFRESH_TIMER));
        }
    }
}

impl Agent for PortPause {
    fn range_without_call(&self, account: Account) -> (u64, u64) {
        match account {
            Account::AllInput(_) => self.rules.levels_without_pause_frames(self.paused),
            _ => Account::UNWATCHED,
        }
    }

    fn for_port(&mut self, clock: ByteClock) {
        self.rules.for_port(clock);
    }

    /// Reports thresholds and pause times that conflict, and priority groups, whose thresholds would have no effect.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if matches!(beside.groups, PriorityGroups::Lossy | PriorityGroups::Lossless) {
            let rule = "`pfc`, which pauses the classes of a lossless group at its limit, because `pause` does not \
                        follow groups and stops all classes of the port";
            return report.add_error("kind", "`pause` beside `pools` with priority groups", rule);
        }
        self.rules.check(beside, report);
    }

    fn on_level(&mut self, _account: Account, bytes: u64, at: &AgentContext, env: &mut Env) {
        let before = std::mem::replace(&mut self.last, bytes);
        let signal = self.rules.signal_after_change(self.paused, bytes, bytes > before, at.view.free_pool_bytes());
        signal.into_iter().for_each(|signal| self.send_signal(signal, at.port, env));
    }

    fn on_timer(&mut self, _id: TimerId, at: &AgentContext, env: &mut Env) {
        if self.paused {
            let used = (0..8).map(|class| at.view.allocated_bytes(at.port, class)).sum();
            let signal = self.rules.refresh_signal(used, at.view.free_pool_bytes());
            self.send_signal(signal, at.port, env);
        }
    }

    fn on_link_change(&mut self, _at: PortId, _env: &mut Env) {
        // The far end has lost its pause state with the link, so nothing is paused there. The switch clears the timer.
        self.paused = false;
    }

    fn pausing(&self) -> Option<&dyn Pausing> {
        Some(self)
    }

    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

impl Pausing for PortPause {
    fn pause_group(&self, _class: u8) -> ClassSet {
        ClassSet::ALL
    }
    fn paused_classes(&self) -> ClassSet {
        if self.paused { ClassSet::ALL } else { ClassSet::NONE }
    }
    fn pause_levels(&self) -> PauseLevels {
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
}
