//! The books of a whole network: no packet is made or lost on the way without being counted.

use super::World;
use crate::probe::Probe;
use crate::tap::Tap;
use dataplane::{Host, Port, PortCounts, Switch};
use units::Time;

impl<P: Probe, T: Tap> World<P, T> {
    /// What has passed every port by `now`, in the numbering over the whole network.
    pub(crate) fn port_counts(&mut self, now: Time) -> Vec<PortCounts> {
        self.hosts.iter_mut().for_each(|host| host.nic_mut().settle(now));
        self.switches.iter_mut().for_each(|switch| switch.core_mut().settle(now));
        let nics = self.hosts.iter().flat_map(|host| host.nic().ports());
        nics.chain(self.switches.iter().flat_map(|s| s.core().ports())).map(Port::counts).collect()
    }

    /// Checks that no packet was made or lost on the way without being counted: at every queue, at
    /// every node, and between nodes.
    pub fn conserves(&mut self) -> bool {
        let counts = self.port_counts(self.settled());
        let on_links: u64 = self.state.wires.under_way();
        let waiting_ahead: u64 = self.cores().map(|core| core.waiting_ahead()).sum();
        let said: u64 = self.cores().map(|core| core.control_frames().0).sum();
        let sent: u64 = counts.iter().map(|c| c.sent).sum::<u64>() + said;
        let received: u64 =
            self.hosts.iter().map(Host::received).chain(self.switches.iter().map(Switch::received)).sum();
        sent + waiting_ahead == received + on_links
            && self.hosts.iter().all(Host::conserves)
            && self.switches.iter().all(Switch::conserves)
    }

    /// The first node whose books do not balance, if any.
    pub fn imbalance(&self) -> Option<String> {
        let host = self.hosts.iter().position(|host| !host.conserves()).map(|h| format!("host {h}"));
        let switch = || self.switches.iter().position(|s| !s.conserves()).map(|s| format!("switch {s}"));
        host.or_else(switch)
    }
}
