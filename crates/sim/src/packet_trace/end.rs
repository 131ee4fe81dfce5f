//! How a run ended while a packet was under way, or because of it.

use super::steps::Steps;
use crate::World;
use crate::deadlock::Deadlock;
use crate::driver::{BrokenRuleAt, LosslessViolationAt};
use scenario::Scenario;
use units::Time;

/// How a run ended while a packet was under way, or because of it.
#[derive(Clone, Debug)]
pub struct RunEnd {
    /// When.
    pub at: Time,
    /// The links that waited for each other for ever.
    pub deadlock: Option<Deadlock>,
    /// The packet that should never have been lost, whose loss ended the run.
    pub lost: Option<LosslessViolationAt>,
    /// The rule that a mechanism broke, which ended the run.
    pub broken: Option<BrokenRuleAt>,
}

impl RunEnd {
    /// Of a run that goes on no more; `None` where the packet had ended before.
    pub(super) fn from_world(world: &mut World<Steps>) -> Option<RunEnd> {
        world.look_for_deadlock();
        let told = !world.observer().ended || world.state.failed().is_some();
        let (lost, broken) = (world.state.lost, world.state.broken);
        told.then(|| RunEnd { at: world.now, deadlock: world.deadlock.clone(), lost, broken })
    }

    /// Describes why the run failed, if it did.
    pub fn describe_failure(&self, scenario: &Scenario) -> Option<String> {
        let lost = || self.lost.map(|lost| lost.describe(scenario));
        self.broken.map(|broken| broken.describe(scenario)).or_else(lost)
    }
}
