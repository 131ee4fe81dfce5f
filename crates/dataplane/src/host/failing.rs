//! Links of a host that die and return.

use super::{Host, HostStep, NIC};
use crate::Out;
use crate::core::DeadPort;
use units::Clock;

impl Host {
    /// Closes the NIC, whose link is known to be dead. There is no other link, so queued frames are dropped unless they
    /// are to wait. The caller calls [`Host::finish`].
    pub fn link_died<O: Out>(&mut self, then: DeadPort, step: &mut HostStep<O>) {
        let step = &mut step.of_nic();
        self.nic.close(NIC, then == DeadPort::Wait, step);
        if then != DeadPort::Wait {
            self.nic.drop_waiting(NIC, step);
        }
    }

    /// Reopens the NIC, whose link is known to be back. The caller calls [`Host::finish`].
    pub fn link_returned<O: Out>(&mut self, step: &mut HostStep<O>) {
        self.nic.reopen(NIC, &mut step.of_nic());
    }

    /// Changes the rate of the NIC from now on.
    pub fn set_clock(&mut self, clock: Clock) {
        self.nic.set_clock(NIC, clock);
    }
}
