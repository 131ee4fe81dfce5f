//! When a deadlock is looked for.

use super::World;
use crate::deadlock::Standing;
use crate::driver::RunState;
use crate::probe::Probe;
use crate::tap::Tap;

impl<P: Probe, T: Tap> World<P, T> {
    /// Looks for a deadlock, until one has been found.
    pub(crate) fn look_for_deadlock(&mut self) {
        if self.pauses && self.deadlock.is_none() {
            let RunState { wires, base, .. } = &self.state;
            self.deadlock = Standing { hosts: &self.hosts, switches: &self.switches, wires, base }.deadlock();
        }
    }
}
