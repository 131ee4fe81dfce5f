//! Failure and return of a host's link.

use super::{Host, HostStep, NIC};
use crate::Out;
use crate::core::DeadPortPolicy;
use units::ByteClock;

impl Host {
    /// Closes the NIC, whose link is known to be dead, and drops its queued frames unless `then` lets them wait.
    /// A host has no other link for them. The caller calls [`Host::finish_step`].
    pub fn on_link_down<O: Out>(&mut self, then: DeadPortPolicy, step: &mut HostStep<O>) {
        let step = &mut step.nic_step();
        self.nic.close_port(NIC, then == DeadPortPolicy::Wait, step);
        if then != DeadPortPolicy::Wait {
            self.nic.drop_queued(NIC, step);
        }
    }

    /// Reopens the NIC, whose link is known to be back. The caller calls [`Host::finish_step`].
    pub fn on_link_up<O: Out>(&mut self, step: &mut HostStep<O>) {
        self.nic.reopen_port(NIC, &mut step.nic_step());
        self.repeat_pause_request(step);
    }

    /// Changes the link rate of the NIC from now on.
    pub fn set_clock(&mut self, clock: ByteClock) {
        self.nic.set_clock(NIC, clock);
    }
}
