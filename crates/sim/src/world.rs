//! The world: nodes, links and the event queue, with the functions that advance a run.

use crate::change_schedule::ChangeSchedule;
use crate::deadlock::Deadlock;
use crate::driver::{Driver, RunState};
use crate::progress::{Progress, StopReason};
use crate::tap::Tap;
use dataplane::transport::{ReleasedPackets, TransportTable};
use dataplane::{ExtensionSlab, FlowTable, Host, HostStep, Observer, Pkt, Switch};
use mech::routing::{Hop, NextHops};
use mech::{FlowId, HostId, PortId};
use scenario::TrafficDscps;
use scenario::routes::Routes;
use scenario::traffic::{FlowSpec, Flows};
use std::sync::Arc;
use units::{Dur, Time};

/// Builds the `SwitchStep` of a switch at the present instant. A method would borrow the whole world, but the switch
/// and the lists of its step are borrowed beside it.
macro_rules! at_switch {
    ($world:ident, $driver:ident) => {
        &mut SwitchStep {
            now: $world.now,
            routes: &$world.routes,
            exts: &mut $world.packet_extensions,
            out: &mut $driver,
        }
    };
}

pub(crate) mod closed_loop;
mod counters;
mod deadlock;
mod milestones;
mod network_changes;
mod partitions;
mod predicted_route;
mod schedule;
mod steps;

pub(crate) use counters::Counters;
pub(crate) use partitions::{PartitionId, Partitions};
pub(crate) use schedule::RunSchedule;

use closed_loop::ClosedLoop;
pub(crate) use predicted_route::PredictedRoute;

/// Routes of the whole network, in the form in which the dataplane looks them up.
#[derive(Clone)]
pub(crate) struct WorldRoutes(pub(crate) Arc<Routes>);

impl dataplane::Routes for WorldRoutes {
    #[inline]
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_> {
        self.0.next_hops(switch, host)
    }
    fn network_hosts(&self) -> u32 {
        self.0.hosts()
    }
    fn first_dead_link(&self, switch: u32, host: HostId, choose: &dyn Fn(&[Hop]) -> PortId) -> Option<(u32, PortId)> {
        self.0.find_dead_port(switch, host, choose)
    }
}

/// State of a run, as plain data: a clone at any instant ends with the same results, bit for bit.
#[derive(Clone)]
pub struct World<O: Observer, T: Tap = ()> {
    pub(crate) state: RunState<O>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) routes: WorldRoutes,
    pub(crate) flows: FlowTable,
    pub(crate) packet_extensions: ExtensionSlab,
    pub(crate) tcp: Arc<TransportTable>,
    pub(crate) dscps: Arc<TrafficDscps>,
    pub(crate) seed: u64,
    pub(crate) pending: Flows,
    pub(crate) next: Option<FlowSpec>,
    /// Number of raw sources and planned flows of the scenario before the next flow to start.
    pub(crate) planned_flows: u64,
    pub(crate) closed_loop: ClosedLoop,
    pub(crate) schedule: RunSchedule,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) hops: u64,
    /// Number of events at which the run next checks all nodes for overload and for deadlocks.
    pub(crate) check_at: u64,
    /// Number of events at which the run next checks if it is far beyond its bounds on packets and flows.
    pub(crate) guard_at: u64,
    pub(crate) stop: Option<StopReason>,
    /// True if the run ended before the events of the instant `now`.
    pub(crate) ended_before_now: bool,
    /// True if the far end of any port may pause it.
    pub(crate) pauses: bool,
    /// Latest instant at which the run may end.
    pub(crate) latest_end: Time,
    /// First deadlock that was found.
    pub(crate) deadlock: Option<Deadlock>,
    /// Instant before which the run only processes steps, without other work.
    pub(crate) milestone: Time,
    /// Counters at the start of the measurement window; `None` before it, or if the window starts with the run.
    pub(crate) baseline: Option<Counters>,
    /// Counters at the end of the measurement window, once it is over.
    pub(crate) baseline_end: Option<Counters>,
    /// Buffer for packets that a transport releases in a call, before they reach their NIC.
    pub(crate) released: ReleasedPackets,
    pub(crate) arrivals: Vec<Pkt>,
    /// Timers of a switch that expire in its current step.
    pub(crate) timers: Vec<u32>,
    pub(crate) predicted: PredictedRoute,
    /// True if next hops are computed before a packet arrives: no switch learns addresses.
    pub(crate) predicts_routes: bool,
    /// Planned changes of the network; `None` if the scenario has no events.
    pub(crate) changes: Option<Box<ChangeSchedule>>,
    /// Tap that sees each frame that crosses a link.
    pub(crate) tap: T,
    /// Partition that this world is; `None` in an undivided run.
    pub(crate) part: Option<PartitionId>,
}

impl<O: Observer, T: Tap> World<O, T> {
    /// Advances the run by about `max_events` events. It may return a few events later, since the step of a node at
    /// an instant is never split.
    pub fn advance(&mut self, max_events: u64) -> Progress {
        let until = self.events.saturating_add(max_events);
        let bound = self.schedule.max_events.unwrap_or(u64::MAX);
        self.step_until(until.min(bound));
        if self.schedule.is_at_bound(self.events) {
            // The run stops only after all events of this instant: a stop within it would depend on the order of nodes.
            self.milestone = self.milestone.min(self.now.saturating_add(Dur(1)));
            self.step_until(until);
        }
        self.progress()
    }

    /// Advances the run until it has processed `until` events in total, or ends.
    #[inline]
    fn step_until(&mut self, until: u64) {
        while self.stop.is_none() && self.events < until {
            let pause = until.min(self.guard_at);
            while self.stop.is_none() && self.events < pause {
                self.step();
            }
            if self.events >= self.guard_at {
                self.check_guard();
            }
        }
    }

    /// Advances the run to its end.
    pub fn run(&mut self) -> Progress {
        while self.stop.is_none() {
            self.advance(1 << 20);
        }
        self.progress()
    }

    /// Returns the number of packet extensions (TCP options of packets) in use.
    pub fn packet_extensions(&self) -> usize {
        self.packet_extensions.live_count()
    }

    /// Returns the number of copies that switches made of frames for unknown addresses, and the number of them that
    /// were discarded at switches and hosts.
    pub fn flooded_frames(&self) -> (u64, u64) {
        let at_hosts = self.hosts.iter().map(Host::flood_copies_discarded).sum();
        let each = self.switches.iter().map(Switch::flood_counts);
        each.fold((0, at_hosts), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// Returns the output sides of all nodes: NICs of hosts, then cores of switches.
    pub(crate) fn cores(&self) -> impl Iterator<Item = &dataplane::Core> {
        self.hosts.iter().map(Host::nic).chain(self.switches.iter().map(Switch::core))
    }

    /// Returns the number of PAUSE and PFC frames that nodes have made, and the number that reached their far ends.
    pub fn control_frames(&self) -> (u64, u64) {
        let each = self.cores().map(dataplane::Core::pause_frame_counts);
        each.fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// Returns the number of congestion notification messages made by switches, and of packets that switches hold
    /// back.
    pub fn packets_made_and_held(&self) -> (u64, u64) {
        let each = self.cores().map(dataplane::Core::notice_and_hold_counts);
        each.fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// Returns a host by its number.
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    /// Returns the routes of the network at time zero.
    pub(crate) fn initial_routes(&self) -> &Routes {
        self.changes.as_ref().map_or(&self.routes.0, |changes| &changes.first_routes)
    }

    /// Returns the observer of the run.
    pub fn observer(&self) -> &O {
        &self.state.observer
    }

    /// Returns the progress of the run.
    pub fn progress(&self) -> Progress {
        Progress {
            stop: self.stop,
            now: self.now,
            events: self.events,
            hops: self.hops,
            started: self.state.records.len() as u64,
            completed: self.state.completed,
        }
    }

    /// Returns the last instant of which all events have happened.
    pub(crate) fn settled_until(&self) -> Time {
        Time(self.now.0.saturating_sub(u64::from(self.ended_before_now)))
    }

    /// Returns a host, and the `HostStep` for its methods: instant, tables of the run, and driver.
    #[inline]
    pub(crate) fn host_with_step(&mut self, h: usize) -> (&mut Host, HostStep<'_, Driver<'_, O>>) {
        let driver = self.state.driver(h as u32, self.now);
        let step = HostStep {
            now: self.now,
            flows: &mut self.flows,
            tcp: &self.tcp,
            exts: &mut self.packet_extensions,
            released: &mut self.released,
            out: driver,
        };
        (&mut self.hosts[h], step)
    }

    /// Adds a source of raw packets to a host, before the run.
    pub(crate) fn add_raw(&mut self, host: HostId, setup: dataplane::RawSetup, flow: FlowId) {
        let mut driver = self.state.driver(host.0, Time::ZERO);
        self.hosts[host.0 as usize].add_raw(setup, flow, &self.flows, &mut driver);
    }
}
