//! Flow table of a divided run: a partition has all flows, but senders and receivers only of its own hosts.

use super::persistent::Persistent;
use super::{EndSlots, FlowTable, NO_SLOT};
use crate::transport::FlowInfo;
use mech::FlowId;

impl FlowTable {
    /// Numbers flows that are added from now on `first`, `first + step` and so on.
    pub fn set_numbering(&mut self, first: u32, step: u32) {
        self.shared = Some((first, step));
    }

    /// Returns the number of the next flow.
    pub fn next_number(&self) -> u32 {
        self.shared.map_or(self.info.len() as u32, |(next, _)| next)
    }

    /// Adds a flow that another partition of the run has added.
    pub fn add_copy(&mut self, info: FlowInfo) {
        self.insert_flow(info, EndSlots::NEW);
    }

    /// Records a message that a host of another partition wrote to a persistent connection.
    pub fn add_message_copy(&mut self, connection: FlowId, message: FlowId) {
        if !self.is_persistent(connection) {
            self.make_persistent(connection);
        }
        self.append_message(connection, message);
    }

    /// Merges the tables of all partitions into one, with the flows of `order` in that order.
    /// For each flow, `order` has the partitions of its sender and of its receiver.
    pub fn merge(parts: &[&FlowTable], order: &[(FlowId, usize, usize)], rank: impl Fn(FlowId) -> FlowId) -> FlowTable {
        let mut whole = FlowTable::default();
        for (flow, src, dst) in order {
            let (at, from, to) = (flow.0 as usize, parts[*src], parts[*dst]);
            let EndSlots { receiver, finished_receiver, raw_received, .. } = to.ends[at];
            let mut ends = EndSlots { receiver, finished_receiver, raw_received, ..from.ends[at] };
            if ends.persistent != NO_SLOT {
                let mut persistent: Persistent = from.persistent[ends.persistent as usize].clone();
                persistent.renumber(&rank);
                ends.persistent = whole.persistent.len() as u32;
                whole.persistent.push(persistent);
            }
            whole.insert_flow(FlowInfo { flow: rank(*flow), ..from.info[at] }, ends);
        }
        whole
    }
}
