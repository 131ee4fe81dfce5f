//! Results on packets that lossless groups lost for lack of memory.

use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;
use dataplane::GroupLosses;

/// Lossless groups that lost packets during a run, each with the node of its switch, in the order of nodes.
pub type LosslessLosses = Vec<(u32, GroupLosses)>;

impl<T: Tap> World<Recorder, T> {
    /// Returns the lossless groups that lost packets for lack of memory.
    pub(super) fn lossless_losses(&self) -> LosslessLosses {
        let switches = (self.hosts.len() as u32..).zip(&self.switches);
        switches.flat_map(|(node, switch)| switch.core().group_losses().iter().map(move |one| (node, *one))).collect()
    }
}
