//! Changes of the network: the links that nodes treat as dead, and the routes in use, instant by instant. They are
//! computed when the run is built. What happens to frames on links is part of the links' [courses](crate::link).

use crate::clocks::rate_of;
use crate::costs::{Closing, Losses, Places};
use crate::queue::Key;
use dataplane::DeadPort;
use mech::PortId;
use scenario::Scenario;
use scenario::events::{Change, Event, Sender};
use scenario::routes::{Dead, Routes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::{Clock, Time};

/// Timer index that no node uses, of an event at each change. Without it, nodes could push events at a change that
/// precede the event taken last, which the queue does not allow.
pub(crate) const NETWORK_CHANGES: u32 = Key::MAX_INDEX - 1;

/// Changes at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// Numbers of the scenario's events at this instant.
    pub(crate) events: Vec<usize>,
    pub(crate) clocks: Vec<(Sender, Clock)>,
    /// Ports whose links are treated as dead from now on, by node.
    pub(crate) died: BTreeMap<u32, Vec<PortId>>,
    /// Ports whose links are treated as dead from now on, each with the number of the event that closes it.
    pub(crate) closed: Vec<(usize, Sender)>,
    pub(crate) returned: Vec<Sender>,
    pub(crate) routes: Option<Arc<Routes>>,
}

impl Turn {
    /// Nodes that treat a link as dead, or as alive again, from now on.
    pub(crate) fn touched(&self) -> impl Iterator<Item = u32> {
        self.died.keys().copied().chain(self.returned.iter().map(|(node, _)| *node))
    }
}

/// All changes of the network in a run.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) turns: Vec<(Time, Turn)>,
    pub(crate) next: usize,
    pub(crate) dead_port: DeadPort,
    /// Routes of the network at time zero.
    pub(crate) first_routes: Arc<Routes>,
    /// Link directions on which each event loses frames; `None` if it loses none on its link.
    pub(crate) places: Vec<Option<Places>>,
    /// Losses on the directions of each past event, counted before the event.
    pub(crate) before: Vec<Losses>,
    /// Ports closed by the events so far.
    pub(crate) closings: Vec<Closing>,
}

impl Changes {
    /// Returns the changes of a scenario; `None` if it has no events.
    pub(crate) fn new(scenario: &Scenario, seed: u64, routes: &Arc<Routes>) -> Option<Changes> {
        if scenario.events.is_empty() {
            return None;
        }
        let mut turns: BTreeMap<Time, Turn> = BTreeMap::new();
        for (n, event) in scenario.events.iter().enumerate() {
            let turn = turns.entry(event.at).or_default();
            turn.events.push(n);
            if let Change::Rate(rate) = event.change {
                let clock = |sender: &Sender| rate_of(scenario, seed, *sender, rate).clock();
                turn.clocks.extend(event.senders.iter().map(|sender| (*sender, clock(sender))));
            }
        }
        Knowledge::new(scenario, routes).tell(&mut turns);
        Some(Changes {
            turns: turns.into_iter().collect(),
            next: 0,
            dead_port: scenario.dead_port,
            first_routes: routes.clone(),
            places: scenario.events.iter().map(Places::from_event).collect(),
            before: Vec::new(),
            closings: Vec::new(),
        })
    }

    /// Returns the instant of the next change.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.turns.get(self.next).map(|(at, _)| *at)
    }

    /// Returns every instant with a change.
    pub(crate) fn instants(&self) -> impl Iterator<Item = Time> {
        self.turns.iter().map(|(at, _)| *at)
    }
}

/// Links that nodes treat as dead, as time goes on.
struct Knowledge<'a> {
    scenario: &'a Scenario,
    /// Link directions that are down.
    down: BTreeSet<Sender>,
    /// Ports of dead links with the event that closed them, in the order of events.
    closed: Vec<(usize, Dead)>,
    known: BTreeMap<Dead, Arc<Routes>>,
}

impl Knowledge<'_> {
    fn new<'a>(scenario: &'a Scenario, routes: &Arc<Routes>) -> Knowledge<'a> {
        let known = BTreeMap::from([(Dead::new(), routes.clone())]);
        Knowledge { scenario, down: BTreeSet::new(), closed: Vec::new(), known }
    }

    /// Adds to each instant the links that went down or came up `reroute_delay` earlier, since nodes react then.
    fn tell(mut self, turns: &mut BTreeMap<Time, Turn>) {
        let events = &self.scenario.events;
        let same_instant = |a: &Event, b: &Event| a.at == b.at;
        let mut first = 0;
        for group in events.chunk_by(same_instant) {
            for event in group {
                match event.change {
                    Change::Down => self.down.extend(&event.senders),
                    Change::Up => self.down.retain(|sender| !event.senders.contains(sender)),
                    _ => {}
                }
            }
            let at = group[0].at.saturating_add(self.scenario.reroute_delay);
            self.turn_to(first, group, (at, turns));
            first += group.len();
        }
    }

    /// Returns both ends of every link of which one of the given directions is down.
    fn both_ends<'s>(&self, down: impl Iterator<Item = &'s Sender>) -> Dead {
        down.flat_map(|sender| [*sender, self.scenario.topology.far_end(*sender)]).collect()
    }

    fn dead(&self) -> Dead {
        self.closed.iter().flat_map(|(_, ports)| ports).copied().collect()
    }

    /// Adds to the turn of an instant the effect on links of a group of simultaneous events, numbered from `first`
    /// on.
    fn turn_to(&mut self, first: usize, group: &[Event], (at, turns): (Time, &mut BTreeMap<Time, Turn>)) {
        let (was, dead) = (self.dead(), self.both_ends(self.down.iter()));
        if was == dead {
            return;
        }
        let turn = turns.entry(at).or_default();
        turn.returned.extend(was.difference(&dead));
        self.closed.iter_mut().for_each(|(_, ports)| ports.retain(|port| dead.contains(port)));
        self.closed.retain(|(_, ports)| !ports.is_empty());
        let mut left: Dead = dead.difference(&was).copied().collect();
        for (event, n) in group.iter().zip(first..).filter(|(event, _)| event.change == Change::Down) {
            let ends = self.both_ends(event.senders.iter());
            let closes: Dead = left.intersection(&ends).copied().collect();
            left.retain(|port| !closes.contains(port));
            for (node, port) in &closes {
                turn.died.entry(*node).or_default().push(PortId(*port));
                turn.closed.push((n, (*node, *port)));
            }
            if !closes.is_empty() {
                self.closed.push((n, closes));
            }
        }
        turn.died.values_mut().for_each(|ports| ports.sort_unstable());
        // If frames are flooded, there is one path to each host, and only the copy on that path is the packet. The
        // path stays the same, dead or not.
        if !self.scenario.floods() {
            turn.routes = Some(self.routes());
        }
    }

    /// Returns the routes around dead links. Dead links may cut switches off from hosts. If frames wait at dead
    /// ports, those for such hosts follow earlier routes up to a dead port. Otherwise the earlier routes show which
    /// dead port cut a switch off. All switches joined by live links lack the same hosts and use the same earlier
    /// routes, so that no frame loops.
    fn routes(&mut self) -> Arc<Routes> {
        let mut dead = self.dead();
        let now = self.around(&dead);
        if now.is_whole() {
            return now;
        }
        let (all, mut before) = (dead.clone(), Vec::new());
        for ports in self.closed.iter().rev().map(|(_, ports)| ports.clone()).collect::<Vec<_>>() {
            dead.retain(|port| !ports.contains(port));
            let earlier = self.around(&dead);
            let is_whole = earlier.is_whole();
            before.push(earlier);
            if is_whole {
                break;
            }
        }
        let now = (*now).clone();
        Arc::new(if self.waits() { now.go_on_by(&before) } else { now.remember(all, before) })
    }

    /// Returns the routes around some links. If frames wait at dead ports, links of hosts count as alive, since a
    /// host with a dead link is still behind its own link.
    fn around(&mut self, dead: &Dead) -> Arc<Routes> {
        let topology = &self.scenario.topology;
        let is_host = |node: u32| topology.is_host(node);
        let counts = |port: &Sender| !self.waits() || !(is_host(port.0) || is_host(topology.far_end(*port).0));
        let dead: Dead = dead.iter().copied().filter(counts).collect();
        let made = self.known.entry(dead).or_insert_with_key(|dead| Arc::new(Routes::around(topology, dead, false)));
        made.clone()
    }

    fn waits(&self) -> bool {
        self.scenario.dead_port == DeadPort::Wait
    }
}
