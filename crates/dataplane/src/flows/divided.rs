//! Flows of a run that is divided: every partition knows all flows, and has the ends of those that end in it.

use super::persistent::Persistent;
use super::{Ends, FlowTable, NONE};
use crate::transport::FlowInfo;
use mech::FlowId;

impl FlowTable {
    /// Flows that are entered from now on have the numbers `first`, `first + step` and so on.
    pub fn share_numbers(&mut self, first: u32, step: u32) {
        self.shared = Some((first, step));
    }

    /// The number that the next flow gets.
    pub fn next_number(&self) -> u32 {
        self.shared.map_or(self.info.len() as u32, |(next, _)| next)
    }

    /// Enters a flow that another partition has entered.
    pub fn copy(&mut self, info: FlowInfo) {
        self.put(info, Ends::NEW);
    }

    /// A message was written to a persistent connection by a host of another partition.
    pub fn copy_message(&mut self, connection: FlowId, message: FlowId) {
        if !self.is_persistent(connection) {
            self.make_persistent(connection);
        }
        self.write(connection, message);
    }

    /// One table of those of all partitions: the flows of `order` in that order, each with the partitions of its
    /// sender and of its receiver.
    pub fn gather(
        parts: &[&FlowTable],
        order: &[(FlowId, usize, usize)],
        rank: impl Fn(FlowId) -> FlowId,
    ) -> FlowTable {
        let mut whole = FlowTable::default();
        for (flow, src, dst) in order {
            let (at, from, to) = (flow.0 as usize, parts[*src], parts[*dst]);
            let Ends { receiver, left, raw_received, .. } = to.ends[at];
            let mut ends = Ends { receiver, left, raw_received, ..from.ends[at] };
            if ends.persistent != NONE {
                let mut persistent: Persistent = from.persistent[ends.persistent as usize].clone();
                persistent.renumber(&rank);
                ends.persistent = whole.persistent.len() as u32;
                whole.persistent.push(persistent);
            }
            whole.put(FlowInfo { flow: rank(*flow), ..from.info[at] }, ends);
        }
        whole
    }
}
