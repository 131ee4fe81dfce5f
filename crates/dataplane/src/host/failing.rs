//! What a host does when it learns that its link is dead, or back.

use super::{Host, NIC, OneWay};
use crate::Out;
use crate::core::{DeadPort, Step};
use units::{Clock, Time};

impl Host {
    /// Its link is known to be dead; there is no other, so that what waits is dropped unless it is to wait. The
    /// caller calls [`Host::finish`].
    pub fn link_died<O: Out>(&mut self, now: Time, then: DeadPort, out: &mut O) {
        let step = &mut Step { now, fib: &OneWay, out };
        self.nic.close(NIC, then == DeadPort::Wait, step);
        if then != DeadPort::Wait {
            self.nic.drop_waiting(NIC, step);
        }
    }

    /// Its link is known to be back. The caller calls [`Host::finish`].
    pub fn link_returned<O: Out>(&mut self, now: Time, out: &mut O) {
        self.nic.reopen(NIC, &mut Step { now, fib: &OneWay, out });
    }

    /// Its NIC sends at another rate from now on.
    pub fn set_clock(&mut self, clock: Clock) {
        self.nic.set_clock(NIC, clock);
    }
}
