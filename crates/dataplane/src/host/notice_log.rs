//! Log of the congestion messages that a host has received, by flow.

use mech::{FlowId, Notice};
use std::collections::BTreeMap;

/// Number of congestion messages and the last one, for each flow that had any.
#[derive(Clone, Debug, Default)]
pub(super) struct NoticeLog {
    told: BTreeMap<FlowId, (u64, Notice)>,
}

impl NoticeLog {
    /// Records a congestion message about a flow.
    pub(super) fn on_notice(&mut self, flow: FlowId, notice: Notice) {
        let told = self.told.entry(flow).or_insert((0, notice));
        *told = (told.0 + 1, notice);
    }
    /// Returns the number of congestion messages about a flow, and the last of them.
    pub(super) fn notices_about(&self, flow: FlowId) -> (u64, Option<Notice>) {
        self.told.get(&flow).map_or((0, None), |(count, last)| (*count, Some(*last)))
    }
}
