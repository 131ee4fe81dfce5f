//! Search for deadlocks during a run.

use super::World;
use crate::deadlock::NetworkState;
use crate::driver::RunState;
use crate::tap::Tap;
use dataplane::Observer;

impl<O: Observer, T: Tap> World<O, T> {
    /// Searches for a deadlock of paused links, unless one has been found already.
    pub(crate) fn look_for_deadlock(&mut self) {
        if self.pauses && self.deadlock.is_none() {
            let RunState { wires, base, .. } = &self.state;
            let (hosts, switches, latest_end) = (&self.hosts, &self.switches, self.latest_end);
            self.deadlock = NetworkState { hosts, switches, wires, base, latest_end }.find_deadlock();
        }
    }
}
