//! What a host does when it learns that its link is dead, or back.

use super::{Host, HostStep, NIC};
use crate::Out;
use crate::core::DeadPort;
use units::Clock;

impl Host {
    /// Its link is known to be dead; there is no other, so that what waits is dropped unless it is to wait. The
    /// caller calls [`Host::finish`].
    pub fn link_died<O: Out>(&mut self, then: DeadPort, step: &mut HostStep<O>) {
        let step = &mut step.of_nic();
        self.nic.close(NIC, then == DeadPort::Wait, step);
        if then != DeadPort::Wait {
            self.nic.drop_waiting(NIC, step);
        }
    }

    /// Its link is known to be back. The caller calls [`Host::finish`].
    pub fn link_returned<O: Out>(&mut self, step: &mut HostStep<O>) {
        self.nic.reopen(NIC, &mut step.of_nic());
    }

    /// Its NIC sends at another rate from now on.
    pub fn set_clock(&mut self, clock: Clock) {
        self.nic.set_clock(NIC, clock);
    }
}
