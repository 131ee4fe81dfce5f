//! Counts of packets of lossless groups that were lost for lack of memory.

use super::PoolAccounts;
use mech::PortId;
use units::Time;

/// Packets of a lossless group that a switch lost for lack of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLosses {
    /// Input port of the group.
    pub port: PortId,
    /// Number of the group, from 0 to 7.
    pub group: u8,
    /// Number of lost packets.
    pub packets: u64,
    /// Time of the first loss.
    pub first: Time,
}

impl PoolAccounts {
    /// Counts a lost packet of this input port and class, if its group is lossless.
    pub(crate) fn count_loss(&mut self, port: PortId, class: u8, now: Time) {
        let group = self.group_number(class);
        if usize::from(port.0) >= self.ports || !self.layout.is_lossless(port, group) {
            return;
        }
        match self.losses.iter_mut().find(|own| (own.port, own.group) == (port, group)) {
            Some(own) => own.packets += 1,
            None => self.losses.push(GroupLosses { port, group, packets: 1, first: now }),
        }
    }
    /// Returns the losses of lossless groups, in the order of their first loss.
    pub(crate) fn losses(&self) -> &[GroupLosses] {
        &self.losses
    }
}
