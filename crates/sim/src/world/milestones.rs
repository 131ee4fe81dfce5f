//! Work between the steps of a run: copies of counters, changes of the network, and the end of the run.

use super::World;
use super::schedule::{MAX_OPEN_FLOWS, RunSchedule, RunStatus, Verdict};
use crate::progress::StopReason;
use crate::tap::Tap;
use dataplane::{Host, Observer};
use scenario::limits::MAX_PACKETS;
use units::Time;

/// Largest number of live senders and receivers; a run with more is stopped.
pub(super) const MAX_LIVE_ENDS: u64 = 4_000_000;
/// Factor by which a run may exceed its bounds on packets and flows before it ends between two grid instants.
const GUARD_FACTOR: u64 = 2;
/// Number of events between two checks for a run far beyond its bounds on packets and flows.
const GUARD_INTERVAL_EVENTS: u64 = 1 << 17;
/// Number of events for each node between two checks for a run far beyond its bounds, if their sum exceeds
/// [`GUARD_INTERVAL_EVENTS`].
const GUARD_INTERVAL_EVENTS_PER_NODE: u64 = 16;
/// Number of events between two checks of all nodes for overload and for deadlocks.
pub(super) const CHECK_INTERVAL_EVENTS: u64 = 1 << 16;

impl<O: Observer, T: Tap> World<O, T> {
    /// Does the work due before the next event, at `at`: copies counters at both ends of the measurement window,
    /// checks at instants of the grid if the run ends, and changes the network. Returns true if the run has ended.
    #[cold]
    pub(super) fn handle_milestones(&mut self, at: Time) -> bool {
        let verdict = self.schedule.verdict(&self.run_status(), at);
        // A window end between the end of the run and the next event is not reached, so no counters are copied for it.
        self.copy_counters_at_window_ends(verdict.last_instant_at(at));
        match verdict {
            Verdict::GoOn => {}
            Verdict::Check(instant) => self.check_nodes(instant),
            Verdict::End(stop, instant) => self.stop_run(stop, instant),
        }
        if self.stop.is_none() && self.next_change().is_some_and(|change| at >= change) {
            self.change_network(at);
        }
        let change = self.next_change().filter(|change| *change > at).unwrap_or(Time::NEVER);
        self.milestone = self.schedule.milestone_after(at).min(change);
        self.stop.is_some()
    }

    /// Keeps a copy of the counters at those ends of the measurement window that the run has reached by `at`.
    pub(super) fn copy_counters_at_window_ends(&mut self, at: Time) {
        let RunSchedule { from, to, .. } = self.schedule;
        if at >= from && self.baseline.is_none() && from > Time::ZERO {
            self.baseline = Some(self.counters_before(from));
            self.hosts.iter_mut().for_each(|host| host.nic_mut().restart_maxima());
            self.switches.iter_mut().for_each(|switch| switch.core_mut().restart_maxima());
        }
        if at >= to && self.baseline_end.is_none() {
            self.baseline_end = Some(self.counters_before(to));
        }
    }

    /// Returns the facts about the run from which the schedule decides if it ends.
    pub(super) fn run_status(&self) -> RunStatus {
        RunStatus {
            now: self.now,
            events: self.events,
            check_at: self.check_at,
            unfinished: self.state.unfinished_messages(),
            started: self.state.records.len() as u64,
            ended: self.state.completed,
            failure: self.state.failure(),
        }
    }

    /// Ends the run at an instant, before the events of that instant.
    pub(super) fn stop_run(&mut self, stop: StopReason, instant: Time) {
        (self.stop, self.now) = (Some(stop), instant);
        self.ended_before_now = true;
    }

    /// Performs the checks that visit every node: overload and deadlock.
    fn check_nodes(&mut self, instant: Time) {
        self.check_at = self.events + CHECK_INTERVAL_EVENTS;
        if self.is_overloaded() {
            self.stop_run(StopReason::Overloaded, instant);
        }
        self.look_for_deadlock();
    }

    fn is_overloaded(&self) -> bool {
        let (packets, ends) = self.count_packets_and_ends();
        packets > MAX_PACKETS || ends > MAX_LIVE_ENDS
    }

    /// Ends a run that is far beyond its bounds on packets and flows before the next grid instant, since an unbounded
    /// load might fill the memory by then. The check depends on counts of events, and not on the size of the steps in
    /// which a caller advances the run.
    #[cold]
    pub(super) fn check_guard(&mut self) {
        let nodes = (self.hosts.len() + self.switches.len()) as u64;
        self.guard_at = self.events + GUARD_INTERVAL_EVENTS.max(GUARD_INTERVAL_EVENTS_PER_NODE * nodes);
        let (packets, ends) = self.count_packets_and_ends();
        let open = self.state.records.len() as u64 - self.state.completed;
        if exceeds_guard(packets, ends, open) {
            self.stop = self.stop.or(Some(StopReason::Overloaded));
        }
    }

    /// Returns the number of packets in the network, and the number of senders and receivers that are not finished.
    pub(super) fn count_packets_and_ends(&self) -> (u64, u64) {
        let held: usize = self.cores().map(dataplane::Core::held_packets).sum();
        let ends: usize = self.hosts.iter().map(Host::live_ends).sum();
        let at_host = |host: &Host| host.frames_in_flow_queues() + host.frames_in_receive_buffer();
        let held = held as u64 + self.hosts.iter().map(at_host).sum::<u64>();
        (held + self.state.wires.slots_in_use(), ends as u64)
    }
}

/// Returns true if there are too many packets, live senders and receivers, or open flows to wait for the next grid
/// instant.
fn exceeds_guard(packets: u64, ends: u64, open: u64) -> bool {
    [(packets, MAX_PACKETS), (ends, MAX_LIVE_ENDS), (open, MAX_OPEN_FLOWS)]
        .into_iter()
        .any(|(found, most)| found > GUARD_FACTOR * most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_stops_a_run_only_above_twice_a_bound() {
        let (packets, ends, open) = (2 * MAX_PACKETS, 2 * MAX_LIVE_ENDS, 2 * MAX_OPEN_FLOWS);
        assert!(!exceeds_guard(packets, ends, open));
        let more = [(packets + 1, 0, 0), (0, ends + 1, 0), (0, 0, open + 1)];
        assert!(more.into_iter().all(|(packets, ends, open)| exceeds_guard(packets, ends, open)));
    }
}
