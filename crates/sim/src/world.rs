//! The world: nodes, links, the event queue, and the loop that moves packets between them.

use crate::changes::{Changes, NETWORK_CHANGES};
use crate::deadlock::Deadlock;
use crate::driver::{Driver, RunState};
use crate::grid::Grid;
use crate::link::Arrived;
use crate::progress::{Progress, Stop};
use crate::queue::{Key, Phase};
use crate::tap::{Crossed, Tap};
use dataplane::transport::{Released, TcpConfig};
use dataplane::{Exts, FLOW_START, FlowTable, Host, HostStep, MESSAGE_START, Observer, Pkt, Switch, SwitchStep};
use mech::routing::NextHops;
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

mod changing;
pub(crate) mod closed_loop;
mod counters;
mod deadlock;
mod divided;
#[cfg(test)]
mod tests;

pub(crate) use counters::Counters;
pub(crate) use divided::{Part, Partitions};

use closed_loop::ClosedLoop;

/// The routes of the whole network, as the dataplane asks for them.
#[derive(Clone)]
pub(crate) struct Net(pub(crate) Arc<Routes>);

impl dataplane::Routes for Net {
    #[inline]
    fn next_hops(&self, switch: u32, host: HostId) -> NextHops<'_> {
        self.0.next_hops(switch, host)
    }
}

/// A run with more packets under way than this is stopped: they would take more than a gigabyte.
const MOST_PACKETS: u64 = 10_000_000;
/// And one with more live senders and receivers than this.
const MOST_ENDS: u64 = 4_000_000;
/// And one that has begun more flows than this, or has more that have not ended: what is kept of each would not fit.
/// That is looked at whenever a run may end, since one event may begin as many flows as a host has to send.
const MOST_FLOWS: u64 = 40_000_000;
const MOST_OPEN: u64 = 4_000_000;
/// After so many events the rest is looked at again.
const CHECK_EVERY: u64 = 1 << 16;

/// When things count and when the run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) from: Time,
    pub(crate) to: Time,
    pub(crate) duration: Time,
    pub(crate) drain: Dur,
    pub(crate) max_events: Option<u64>,
    pub(crate) grid: Grid,
}

/// What is seen at a milestone.
struct Seen {
    /// The last step.
    now: Time,
    events: u64,
    check_at: u64,
    unfinished: u64,
    /// Flows that have begun, and those of them that have ended.
    begun: u64,
    ended: u64,
    /// Whether a packet was lost that should never be.
    failed: bool,
}

/// What follows from it.
enum Verdict {
    GoOn,
    Check(Time),
    End(Stop, Time),
}

impl Schedule {
    /// The instant at which a run ends that has unfinished flows still.
    fn last_instant(&self) -> Time {
        self.duration.saturating_add(self.drain)
    }

    /// The first instant after `at` at which something else than a step may happen.
    fn milestone_after(&self, at: Time) -> Time {
        let next = if self.max_events.is_some() { self.grid.finest().after(at) } else { self.grid.after(at) };
        let marks = [self.from, self.to, self.last_instant()];
        marks.into_iter().filter(|mark| *mark > at).fold(next, Time::min)
    }

    /// Whether the run ends, at the first instant of the grid since the last step, before what happens at `at`.
    fn verdict(&self, seen: &Seen, at: Time) -> Verdict {
        let (instant, last) = (self.grid.after(seen.now), self.last_instant());
        let over = instant.max(self.duration).min(last);
        let cut = self.grid.finest().after(seen.now);
        if instant <= at && seen.failed {
            Verdict::End(Stop::LosslessViolation, instant)
        } else if over <= at && seen.unfinished == 0 {
            Verdict::End(Stop::Done, over)
        } else if cut <= at && self.max_events.is_some_and(|bound| seen.events >= bound) {
            Verdict::End(Stop::MaxEvents, cut)
        } else if at >= last {
            Verdict::End(Stop::DrainedOut, last)
        } else if instant <= at && seen.has_too_many_flows() {
            Verdict::End(Stop::Overloaded, instant)
        } else if instant <= at && seen.events >= seen.check_at {
            Verdict::Check(instant)
        } else {
            Verdict::GoOn
        }
    }
}

impl Seen {
    fn has_too_many_flows(&self) -> bool {
        self.begun > MOST_FLOWS || self.begun - self.ended > MOST_OPEN
    }

    /// Why a run ends that has no events any more.
    fn nothing_left(&self) -> Stop {
        match (self.failed, self.unfinished) {
            (true, _) => Stop::LosslessViolation,
            (false, 0) => Stop::Done,
            (false, _) => Stop::DrainedOut,
        }
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
    pub(crate) tcp: Arc<TcpConfig>,
    pub(crate) pending: Flows,
    pub(crate) next: Option<FlowSpec>,
    /// How many raw sources and flows of the scenario's list come before it.
    pub(crate) listed: u64,
    pub(crate) closed_loop: ClosedLoop,
    pub(crate) schedule: Schedule,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) hops: u64,
    /// From so many events on it is next looked at whether the run is overloaded, or links wait for each
    /// other.
    pub(crate) check_at: u64,
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
    /// An arrival at a switch, and the port that its packet is to leave by, where that is known.
    pub(crate) predicted: (Key, Option<PortId>),
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
        while self.stop.is_none() && self.events < until {
            self.step();
        }
        self.progress()
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

    /// What costs a look at every node.
    fn check(&mut self, instant: Time) {
        self.check_at = self.events + CHECK_EVERY;
        if self.is_overloaded() {
            self.end(Stop::Overloaded, instant);
        }
        self.look_for_deadlock();
    }

    fn is_overloaded(&self) -> bool {
        let (packets, ends) = self.load();
        packets > MOST_PACKETS || ends > MOST_ENDS
    }

    /// Packets under way, and live ends of flows.
    fn load(&self) -> (u64, u64) {
        let held: usize = self.cores().map(dataplane::Core::held).sum();
        let ends: usize = self.hosts.iter().map(Host::live_ends).sum();
        let held = held as u64 + self.hosts.iter().map(Host::waiting_in_flows).sum::<u64>();
        (held + self.state.wires.places(), ends as u64)
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

    /// One instant at one node.
    fn step(&mut self) {
        let Some(key) = self.state.queue.pop() else {
            self.stop = Some(self.seen().nothing_left());
            return;
        };
        if key.time() >= self.milestone && self.passes_milestone(key.time()) {
            self.state.queue.push(key);
            return;
        }
        self.now = key.time();
        if let Some(ahead) = self.state.queue.ahead()
            && ahead.phase() == Phase::Arrival
        {
            self.state.wires.prefetch(ahead.index());
        }
        match (key.node() as usize) < self.hosts.len() {
            true => self.host_step(key),
            false => self.switch_step(key),
        }
        self.predict_route();
    }

    /// Finds the way of the packet that is likely to be next, and brings its port near the processor.
    #[inline(always)]
    fn predict_route(&mut self) {
        if self.predicts_routes
            && let Some(key) = self.state.queue.ahead()
            && key.phase() == Phase::Arrival
            && let Some(switch) = self.switches.get((key.node() as usize).wrapping_sub(self.hosts.len()))
            && let Some(pkt) = self.state.wires.first(key.index())
        {
            let port = switch.predict_route(&pkt.head, &self.net);
            self.predicted = (key, port);
            if O::WANTS.queues
                && let Some(port) = port
            {
                self.state.observer.prefetch(self.state.base[key.node() as usize] + u32::from(port.0));
            }
        }
    }

    /// The next event is at `at`, at or after a milestone: counters are kept at both ends of the
    /// measurement window, at the instants of the grid the run may end, and the network changes.
    #[cold]
    fn passes_milestone(&mut self, at: Time) -> bool {
        self.keep_baselines(at);
        match self.schedule.verdict(&self.seen(), at) {
            Verdict::GoOn => {}
            Verdict::Check(instant) => self.check(instant),
            Verdict::End(stop, instant) => self.end(stop, instant),
        }
        if self.stop.is_none() && self.next_change().is_some_and(|change| at >= change) {
            self.change_network(at);
        }
        let change = self.next_change().filter(|change| *change > at).unwrap_or(Time::NEVER);
        self.milestone = self.schedule.milestone_after(at).min(change);
        self.stop.is_some()
    }

    /// Keeps the counters at both ends of the measurement window, where the next event is at `at`.
    fn keep_baselines(&mut self, at: Time) {
        let Schedule { from, to, .. } = self.schedule;
        if at >= from && self.baseline.is_none() && from > Time::ZERO {
            self.baseline = Some(self.counters_before(from));
        }
        if at >= to && self.baseline_end.is_none() {
            self.baseline_end = Some(self.counters_before(to));
        }
    }

    fn seen(&self) -> Seen {
        Seen {
            now: self.now,
            events: self.events,
            check_at: self.check_at,
            unfinished: self.state.unfinished(),
            begun: self.state.records.len() as u64,
            ended: self.state.completed,
            failed: self.state.lost.is_some(),
        }
    }

    fn end(&mut self, stop: Stop, instant: Time) {
        (self.stop, self.now) = (Some(stop), instant);
        self.is_before = true;
    }

    /// The last instant of which everything has happened, or may have.
    pub(crate) fn settled(&self) -> Time {
        Time(self.now.0.saturating_sub(u64::from(self.is_before)))
    }

    /// A frame arrives with an event. Who calls copies it, once and whole, before it is written to.
    #[inline(always)]
    fn take_arrival(&mut self, key: Key) -> Arrived {
        let link = key.index();
        let arrived = self.state.wires.arrive(link);
        if arrived.next_at != Time::NEVER {
            self.state.queue.push(Key::new(arrived.next_at, key.node(), Phase::Arrival, link));
        }
        self.events += 1;
        arrived
    }

    /// Enters such a frame at its node, or loses it at the end of its link; whether it is lost.
    #[inline(always)]
    fn is_lost_on_link(&mut self, key: Key, arrived: Arrived, pkt: &mut Pkt) -> bool {
        arrived.enter(pkt);
        if let Some(reason) = self.state.wires.fate(arrived) {
            self.lose_on_link(key, pkt, reason);
            return true;
        }
        self.hops += 1;
        if T::LISTENS {
            self.tap(key.index(), pkt);
        }
        false
    }

    /// Tells of a frame whose last bit has just crossed a link.
    fn tap(&mut self, link: u32, pkt: &Pkt) {
        let (ext, flow_bytes) = (self.exts.get(pkt.ext), self.flows.info(pkt.head.flow).bytes);
        self.tap.crossed(&Crossed { at: self.now, link, pkt, ext, flow_bytes });
    }

    #[inline(always)]
    fn switch_step(&mut self, first: Key) {
        let s = first.node() as usize - self.hosts.len();
        let second = self.state.queue.pop_if_same_step(first);
        if second.is_none() && first.phase() == Phase::Arrival {
            let arrived = self.take_arrival(first);
            let mut pkt = *self.state.wires.frame(arrived);
            if self.is_lost_on_link(first, arrived, &mut pkt) {
                return;
            }
            let known = if self.predicted.0 == first { self.predicted.1 } else { None };
            let (now, switch) = (self.now, &mut self.switches[s]);
            if known.is_some_and(|port| {
                switch.passes_at_once(&mut pkt, port, now, &mut self.state.driver(first.node(), now))
            }) {
                return;
            }
            let mut driver = self.state.driver(first.node(), self.now);
            return self.switches[s].arrive_alone(&mut pkt, known, at_switch!(self, driver));
        }
        self.switch_events(s, first, second);
    }

    /// A step of a switch that is more than one arrival.
    fn switch_events(&mut self, s: usize, first: Key, mut next: Option<Key>) {
        self.arrivals.clear();
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                Phase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        self.arrivals.push(pkt);
                    }
                }
                Phase::Ended => {
                    self.events += 1;
                    let mut driver = self.state.driver(first.node(), self.now);
                    self.switches[s].ended(PortId(key.index() as u16), at_switch!(self, driver));
                }
                Phase::Timer => {
                    self.events += 1;
                    self.timers.push(key.index());
                }
            }
            event = next.take().or_else(|| self.state.queue.pop_if_same_step(first));
        }
        let mut driver = self.state.driver(first.node(), self.now);
        let (switch, step) = (&mut self.switches[s], at_switch!(self, driver));
        if !self.arrivals.is_empty() {
            switch.arrive(&mut self.arrivals, step);
        }
        for index in self.timers.drain(..) {
            switch.timer(index, step);
        }
        switch.finish(step);
    }

    fn host_step(&mut self, first: Key) {
        let h = first.node() as usize;
        let mut event = Some(first);
        while let Some(key) = event {
            match key.phase() {
                Phase::Arrival => {
                    let arrived = self.take_arrival(key);
                    let mut pkt = *self.state.wires.frame(arrived);
                    if !self.is_lost_on_link(key, arrived, &mut pkt) {
                        let (host, mut step) = self.at_host(h);
                        host.arrive(&mut pkt, &mut step);
                    }
                }
                Phase::Ended => {
                    self.events += 1;
                    let (host, mut step) = self.at_host(h);
                    host.ended(&mut step);
                }
                Phase::Timer => {
                    self.events += 1;
                    match key.index() {
                        FLOW_START => self.start_flows(h),
                        MESSAGE_START => self.start_messages(h),
                        NETWORK_CHANGES => {}
                        index => {
                            let (host, mut step) = self.at_host(h);
                            host.timer(index, &mut step);
                        }
                    }
                }
            }
            if !self.state.delivered.is_empty() {
                self.react();
            }
            event = self.state.queue.pop_if_same_step(first);
        }
        let (host, mut step) = self.at_host(h);
        host.finish(&mut step);
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
