//! How a run ended while a packet was under way, or because of it.

use super::steps::Steps;
use crate::World;
use crate::deadlock::Deadlock;
use crate::driver::LosslessViolationAt;
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
}

impl RunEnd {
    /// Of a run that goes on no more; `None` where the packet had ended before.
    pub(super) fn of(world: &mut World<Steps>) -> Option<RunEnd> {
        world.look_for_deadlock();
        let told = !world.observer().ended || world.state.lost.is_some();
        told.then(|| RunEnd { at: world.now, deadlock: world.deadlock.clone(), lost: world.state.lost })
    }
}
