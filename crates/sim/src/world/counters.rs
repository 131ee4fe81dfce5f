//! Counters of a whole network, and the check that each packet that is made or lost is counted.

use super::World;
use crate::tap::Tap;
use dataplane::Observer;
use dataplane::{Host, PayloadCounts, Port, PortCounts, Switch};
use mech::overflow::DropReason;
use units::Time;

/// Counts of a network up to an instant.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    /// Counters of each port, by the port's number over the whole network.
    pub(crate) ports: Vec<PortCounts>,
    /// Number of packets lost before a port was chosen, by node and reason.
    pub(crate) lost: Vec<[u64; DropReason::ALL.len()]>,
}

impl Counters {
    /// Copies the counters of another partition for the nodes and ports that it owns.
    pub(super) fn copy_partition(
        &mut self,
        other: &Counters,
        node: impl Fn(usize) -> bool,
        port: impl Fn(usize) -> bool,
    ) {
        (0..self.ports.len()).filter(|at| port(*at)).for_each(|at| self.ports[at] = other.ports[at]);
        (0..self.lost.len()).filter(|at| node(*at)).for_each(|at| self.lost[at] = other.lost[at]);
    }
}

impl<O: Observer, T: Tap> World<O, T> {
    /// Returns the counters of every port up to `now`, by the port's number over the whole network.
    pub(crate) fn port_counts(&mut self, now: Time) -> Vec<PortCounts> {
        self.hosts.iter_mut().for_each(|host| host.nic_mut().settle_departures(now));
        self.switches.iter_mut().for_each(|switch| switch.core_mut().settle_departures(now));
        let nics = self.hosts.iter().flat_map(|host| host.nic().ports());
        nics.chain(self.switches.iter().flat_map(|s| s.core().ports())).map(Port::counts).collect()
    }

    /// Returns the payload bytes of the whole network: those sent, and their outcomes.
    pub fn payload(&self) -> PayloadCounts {
        let nodes = self.hosts.iter().map(Host::payload_counts).chain(self.switches.iter().map(Switch::payload_counts));
        nodes.sum::<PayloadCounts>() + self.state.wires.payload_counts()
    }

    /// Checks that each packet is counted when it is made and when it is lost: at queues, at nodes and on links.
    /// Payload must balance over the whole network.
    pub fn conserves_packets(&mut self) -> bool {
        let counts = self.port_counts(self.settled_until());
        let on_links: u64 = self.state.wires.frames_in_flight();
        let frames_on_link: u64 = self.cores().map(|core| core.frames_on_link()).sum();
        let control: u64 = self.cores().map(|core| core.pause_frame_counts().0).sum();
        let sent: u64 = counts.iter().map(|c| c.sent).sum::<u64>() + control;
        let received: u64 =
            self.hosts.iter().map(Host::frames_received).chain(self.switches.iter().map(Switch::frames_received)).sum();
        let received = received + self.state.wires.total_losses();
        sent + frames_on_link == received + on_links
            && self.hosts.iter().all(Host::conserves_packets)
            && self.switches.iter().all(Switch::conserves_packets)
            && self.payload().is_conserved()
    }

    /// Returns the first node whose counters do not balance, or a description of the payload if that does not.
    pub fn describe_imbalance(&self) -> Option<String> {
        let host = self.hosts.iter().position(|host| !host.conserves_packets()).map(|h| format!("host {h}"));
        let switch = || self.switches.iter().position(|s| !s.conserves_packets()).map(|s| format!("switch {s}"));
        let payload = || Some(self.payload()).filter(|all| !all.is_conserved()).map(|all| all.to_string());
        host.or_else(switch).or_else(payload)
    }

    /// Returns the counters before any event of the instant `at`.
    pub(crate) fn counters_before(&mut self, at: Time) -> Counters {
        self.counters(Time(at.0.saturating_sub(1)))
    }

    fn counters(&mut self, now: Time) -> Counters {
        let mut ports = self.port_counts(now);
        self.add_lost_on_links(&mut ports);
        Counters { ports, lost: self.lost_before_a_port() }
    }

    /// Returns the counters at the start of the measurement window, or at the end of the run if it ended before.
    /// `None` if the window starts with the run.
    pub(crate) fn counters_at_start(&mut self) -> Option<Counters> {
        match (&self.baseline, self.schedule.from) {
            (None, Time::ZERO) => None,
            (None, _) => Some(self.counters(self.settled_until())),
            (Some(counters), _) => Some(counters.clone()),
        }
    }

    /// Returns the counters at the end of the measurement window, or of the run if that came first.
    pub(crate) fn counters_at_end(&mut self) -> Counters {
        self.baseline_end.clone().unwrap_or_else(|| self.counters(self.settled_until()))
    }

    /// Returns the packets lost before a port was chosen, by node and reason; tables show them at port 0.
    fn lost_before_a_port(&self) -> Vec<[u64; DropReason::ALL.len()]> {
        let host = |h: &dataplane::Host| {
            let mut lost = [0; DropReason::ALL.len()];
            lost[DropReason::NoRoute as usize] = h.frames_misdirected();
            lost
        };
        self.hosts.iter().map(host).chain(self.switches.iter().map(|s| *s.lookup_drops())).collect()
    }
}
