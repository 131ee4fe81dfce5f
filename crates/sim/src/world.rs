//! The world: nodes, links, the event queue, and how a run goes on.

use crate::changes::Changes;
use crate::deadlock::Deadlock;
use crate::driver::{Driver, RunState};
use crate::progress::{Progress, Stop};
use crate::tap::Tap;
use dataplane::transport::{Released, Stacks};
use dataplane::{Exts, FlowTable, Host, HostStep, Observer, Pkt, Switch};
use mech::routing::{Hop, NextHops};
use mech::{FlowId, HostId, PortId};
use scenario::routes::Routes;
use scenario::traffic::{FlowSpec, Flows};
use std::sync::Arc;
use units::{Dur, Time};

/// One instant at a switch; not a method, for the switch and the lists of its step are used beside it.
macro_rules! at_switch {
    ($world:ident, $driver:ident) => {
        &mut SwitchStep { now: $world.now, routes: &$world.net, exts: &mut $world.exts, out: &mut $driver }
    };
}

pub(crate) mod closed_loop;
mod counters;
mod deadlock;
mod divided;
mod milestones;
mod network_changes;
mod predicted;
mod schedule;
mod steps;

pub(crate) use counters::Counters;
pub(crate) use divided::{Part, Partitions};
pub(crate) use schedule::Schedule;

use closed_loop::ClosedLoop;
pub(crate) use predicted::Predicted;

/// The routes of the whole network, as the dataplane asks for them.
#[derive(Clone)]
pub(crate) struct Net(pub(crate) Arc<Routes>);

impl dataplane::Routes for Net {
    #[inline]
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_> {
        self.0.next_hops(switch, host)
    }
    fn hosts(&self) -> u32 {
        self.0.hosts()
    }
    fn dead_end(&self, switch: u32, host: HostId, choose: &dyn Fn(&[Hop]) -> PortId) -> Option<(u32, PortId)> {
        self.0.dead_end(switch, host, choose)
    }
}

/// A run: plain data, so that it can be cloned at any instant and both copies end with the same
/// bits.
#[derive(Clone)]
pub struct World<O: Observer, T: Tap = ()> {
    pub(crate) state: RunState<O>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) net: Net,
    pub(crate) flows: FlowTable,
    pub(crate) exts: Exts,
    pub(crate) tcp: Arc<Stacks>,
    pub(crate) seed: u64,
    pub(crate) pending: Flows,
    pub(crate) next: Option<FlowSpec>,
    /// How many raw sources and flows of the scenario's list come before it.
    pub(crate) listed: u64,
    pub(crate) closed_loop: ClosedLoop,
    pub(crate) schedule: Schedule,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) hops: u64,
    /// Number of events at which the run next checks if it is overloaded, or if links wait for each other.
    pub(crate) check_at: u64,
    /// Number of events at which the run next checks if it is far beyond its bounds.
    pub(crate) guard_at: u64,
    pub(crate) stop: Option<Stop>,
    /// Whether the run ended before anything was done at the instant that it has reached.
    pub(crate) is_before: bool,
    /// Whether any port may be paused by its far end.
    pub(crate) pauses: bool,
    /// The first deadlock that was found.
    pub(crate) deadlock: Option<Deadlock>,
    /// Nothing but steps happens before this instant.
    pub(crate) milestone: Time,
    /// The counters at the start of the measurement window, where that is not the start of the run.
    pub(crate) baseline: Option<Counters>,
    /// The counters at the end of the measurement window, once it is over.
    pub(crate) baseline_end: Option<Counters>,
    /// What transports make in a call, on its way to their NIC.
    pub(crate) released: Released,
    pub(crate) arrivals: Vec<Pkt>,
    /// Timers of a switch that run out in its step.
    pub(crate) timers: Vec<u32>,
    pub(crate) predicted: Predicted,
    /// Whether ways are known ahead: no switch learns them.
    pub(crate) predicts_routes: bool,
    /// What changes in the network, where anything does.
    pub(crate) changes: Option<Box<Changes>>,
    /// Who sees what crosses links.
    pub(crate) tap: T,
    /// Which part of a run it is, where that is divided.
    pub(crate) part: Option<Part>,
}

impl<O: Observer, T: Tap> World<O, T> {
    /// Goes on for at most about so many events; the whole step of an instant at a node is done
    /// before it returns.
    pub fn advance(&mut self, max_events: u64) -> Progress {
        let until = self.events.saturating_add(max_events);
        let bound = self.schedule.max_events.unwrap_or(u64::MAX);
        self.step_until(until.min(bound));
        if self.schedule.is_at_bound(self.events) {
            // The instant is done to its end, so that the cut does not depend on the order of nodes in it.
            self.milestone = self.milestone.min(self.now.saturating_add(Dur(1)));
            self.step_until(until);
        }
        self.progress()
    }

    /// Steps until so many events have happened, or the run ends.
    #[inline]
    fn step_until(&mut self, until: u64) {
        while self.stop.is_none() && self.events < until {
            let pause = until.min(self.guard_at);
            while self.stop.is_none() && self.events < pause {
                self.step();
            }
            if self.events >= self.guard_at {
                self.guard();
            }
        }
    }

    /// Goes on to the end.
    pub fn run(&mut self) -> Progress {
        while self.stop.is_none() {
            self.advance(1 << 20);
        }
        self.progress()
    }

    /// Extensions that packets carry.
    pub fn extensions(&self) -> usize {
        self.exts.live()
    }

    /// Copies that switches made of frames whose destinations they did not know, and how many of them
    /// have ended where they were of no use, at switches and at hosts.
    pub fn flooded(&self) -> (u64, u64) {
        let at_hosts = self.hosts.iter().map(Host::flood_copies_discarded).sum();
        let each = self.switches.iter().map(Switch::flooded);
        each.fold((0, at_hosts), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// The output sides of all nodes.
    pub(crate) fn cores(&self) -> impl Iterator<Item = &dataplane::Core> {
        self.hosts.iter().map(Host::nic).chain(self.switches.iter().map(Switch::core))
    }

    /// PAUSE and PFC frames that nodes have made, and those that have reached their far ends.
    pub fn control_frames(&self) -> (u64, u64) {
        let each = self.cores().map(dataplane::Core::control_frames);
        each.fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// Messages about congestion that switches have made, and packets that they hold back.
    pub fn made_and_held(&self) -> (u64, u64) {
        let each = self.cores().map(dataplane::Core::made_and_held);
        each.fold((0, 0), |sum, at| (sum.0 + at.0, sum.1 + at.1))
    }

    /// A host.
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    /// The routes of the network as it starts.
    pub(crate) fn first_routes(&self) -> &Routes {
        self.changes.as_ref().map_or(&self.net.0, |changes| &changes.first_routes)
    }

    /// The listener.
    pub fn observer(&self) -> &O {
        &self.state.observer
    }

    /// How far the run is.
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

    /// The last instant of which everything has happened, or may have.
    pub(crate) fn settled(&self) -> Time {
        Time(self.now.0.saturating_sub(u64::from(self.is_before)))
    }

    /// A host, and what it needs beyond itself.
    #[inline]
    pub(crate) fn at_host(&mut self, h: usize) -> (&mut Host, HostStep<'_, Driver<'_, O>>) {
        let driver = self.state.driver(h as u32, self.now);
        let step = HostStep {
            now: self.now,
            flows: &mut self.flows,
            tcp: &self.tcp,
            exts: &mut self.exts,
            released: &mut self.released,
            out: driver,
        };
        (&mut self.hosts[h], step)
    }

    /// Sets up a raw source, before the run.
    pub(crate) fn add_raw(&mut self, host: HostId, setup: dataplane::RawSetup, flow: FlowId) {
        let mut driver = self.state.driver(host.0, Time::ZERO);
        self.hosts[host.0 as usize].add_raw(setup, flow, &self.flows, &mut driver);
    }
}
