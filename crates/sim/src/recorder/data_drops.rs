//! Number of lost data packets of each flow, counted over the whole run, as retransmissions are.

use dataplane::Pkt;
use mech::Flags;
use std::collections::BTreeMap;

/// Number of lost data packets of each flow that lost any.
#[derive(Clone, Debug, Default)]
pub(crate) struct DataDrops {
    // A map, since few flows ever lose a packet. A packet of a persistent connection has the flow number of the message
    // that opened the connection.
    flows: BTreeMap<u32, u32>,
}

impl DataDrops {
    /// Counts a packet that was lost, if it has data, or had data before a switch trimmed it.
    pub(super) fn count_lost_packet(&mut self, pkt: &Pkt) {
        let flags = pkt.head.flags;
        let cut = flags.has(Flags::PPL) && !flags.has(Flags::REVERSE);
        if (flags.has(Flags::PAYLOAD) || cut) && !flags.has(Flags::MISDIRECTED) {
            *self.flows.entry(pkt.head.flow.0).or_default() += 1;
        }
    }

    /// Returns the number of lost data packets of a flow.
    pub(crate) fn drops_of_flow(&self, flow: u32) -> u32 {
        self.flows.get(&flow).copied().unwrap_or_default()
    }

    /// Adds the counts of another partition.
    pub(super) fn add_all(&mut self, other: &DataDrops) {
        other.flows.iter().for_each(|(flow, lost)| *self.flows.entry(*flow).or_default() += lost);
    }

    /// Replaces the numbers of flows by those in the whole run.
    pub(super) fn renumber_flows(&mut self, flow_numbers: &[u32]) {
        let flows = std::mem::take(&mut self.flows);
        self.flows = flows.into_iter().map(|(flow, lost)| (flow_numbers[flow as usize], lost)).collect();
    }
}
