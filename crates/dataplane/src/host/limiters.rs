//! Where the network's messages about flows end that a host sends: at the rate limiters of its NIC.

use mech::{FlowId, Notice};
use std::collections::BTreeMap;

/// What each flow that was ever told about has been told; few flows ever are.
#[derive(Clone, Debug, Default)]
pub(super) struct Limiters {
    told: BTreeMap<FlowId, (u64, Notice)>,
}

impl Limiters {
    /// A message about a flow.
    pub(super) fn on_notice(&mut self, flow: FlowId, notice: Notice) {
        let told = self.told.entry(flow).or_insert((0, notice));
        *told = (told.0 + 1, notice);
    }
    /// How many messages about a flow have come, and the last of them.
    pub(super) fn notices_of(&self, flow: FlowId) -> (u64, Option<Notice>) {
        self.told.get(&flow).map_or((0, None), |(count, last)| (*count, Some(*last)))
    }
}
