//! End of a run while a packet was in flight, or by a failure.

use super::steps::StepRecorder;
use crate::World;
use crate::deadlock::Deadlock;
use crate::driver::{BrokenRuleAt, LosslessViolationAt};
use scenario::Scenario;
use units::Time;

/// End of a run while a packet was in flight, or by a failure.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// Instant of the end.
    pub at: Time,
    /// Links that waited for each other forever.
    pub deadlock: Option<Deadlock>,
    /// Loss of a packet in a lossless class, which ended the run.
    pub lost: Option<LosslessViolationAt>,
    /// Rule that a mechanism broke, which ended the run.
    pub broken: Option<BrokenRuleAt>,
}

impl RunEnd {
    /// Returns the end of a run; `None` if the packet had ended before and the run did not fail.
    pub(super) fn from_world(world: &mut World<StepRecorder>) -> Option<RunEnd> {
        world.look_for_deadlock();
        let told = !world.observer().ended || world.state.failure().is_some();
        let (lost, broken) = (world.state.lost, world.state.broken);
        told.then(|| RunEnd { at: world.now, deadlock: world.deadlock.clone(), lost, broken })
    }

    /// Describes why the run failed, if it did.
    pub fn describe_failure(&self, scenario: &Scenario) -> Option<String> {
        let lost = || self.lost.map(|lost| lost.describe(scenario));
        self.broken.map(|broken| broken.describe(scenario)).or_else(lost)
    }
}
