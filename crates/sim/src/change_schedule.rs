//! Changes of the network: the links that nodes treat as dead, and the routes in use, instant by instant. They are
//! computed when the run is built. What happens to frames on links is part of the links' [courses](crate::link).

use crate::clocks::actual_port_rate;
use crate::event_costs::{LossCounts, LossyDirections, PortClosure};
use crate::queue::Key;
use dataplane::DeadPortPolicy;
use mech::PortId;
use scenario::Scenario;
use scenario::events::{Event, LinkChange, SendingPort};
use scenario::routes::{DeadPorts, Routes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::{ByteClock, Time};

/// Timer index, used by no node, of the event at each change of the network. Without it, nodes could push events at a
/// change that precede the event taken last, which the queue does not allow.
pub(crate) const NETWORK_CHANGES: u32 = Key::MAX_INDEX - 1;

/// Changes of the network at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkChange {
    /// Numbers of the scenario's events at this instant.
    pub(crate) events: Vec<usize>,
    pub(crate) clocks: Vec<(SendingPort, ByteClock)>,
    /// Ports whose links nodes treat as dead from this instant on, by node.
    pub(crate) dead_ports: BTreeMap<u32, Vec<PortId>>,
    /// Ports whose links nodes treat as dead from this instant on, each with the number of the event that closes it.
    pub(crate) closed_ports: Vec<(usize, SendingPort)>,
    pub(crate) returned_ports: Vec<SendingPort>,
    pub(crate) routes: Option<Arc<Routes>>,
}

impl NetworkChange {
    /// Returns the nodes that treat a link as dead, or as alive again, from this instant on.
    pub(crate) fn affected_nodes(&self) -> impl Iterator<Item = u32> {
        self.dead_ports.keys().copied().chain(self.returned_ports.iter().map(|(node, _)| *node))
    }
}

/// All changes of the network in a run.
#[derive(Clone, Debug)]
pub(crate) struct ChangeSchedule {
    pub(crate) changes: Vec<(Time, NetworkChange)>,
    pub(crate) next: usize,
    pub(crate) dead_port: DeadPortPolicy,
    /// Routes of the network at time zero.
    pub(crate) first_routes: Arc<Routes>,
    /// Link directions on which each event loses frames; `None` if the event loses none on its link.
    pub(crate) lossy_directions: Vec<Option<LossyDirections>>,
    /// Losses on the link directions of each past event, counted until the event happened.
    pub(crate) losses_before: Vec<LossCounts>,
    /// Ports that past events closed because their links are dead.
    pub(crate) closings: Vec<PortClosure>,
}

impl ChangeSchedule {
    /// Returns the changes of a scenario; `None` if it has no events.
    pub(crate) fn new(scenario: &Scenario, seed: u64, routes: &Arc<Routes>) -> Option<ChangeSchedule> {
        if scenario.events.is_empty() {
            return None;
        }
        let mut changes: BTreeMap<Time, NetworkChange> = BTreeMap::new();
        for (n, event) in scenario.events.iter().enumerate() {
            let change = changes.entry(event.at).or_default();
            change.events.push(n);
            if let Some((LinkChange::Rate(rate), senders)) = event.link_change() {
                let clock = |sender: &SendingPort| actual_port_rate(scenario, seed, *sender, rate).clock();
                change.clocks.extend(senders.iter().map(|sender| (*sender, clock(sender))));
            }
        }
        KnownDeadLinks::new(scenario, routes).add_detections(&mut changes);
        Some(ChangeSchedule {
            changes: changes.into_iter().collect(),
            next: 0,
            dead_port: scenario.dead_port,
            first_routes: routes.clone(),
            lossy_directions: scenario.events.iter().map(LossyDirections::from_event).collect(),
            losses_before: Vec::new(),
            closings: Vec::new(),
        })
    }

    /// Returns the instant of the next change.
    pub(crate) fn next_instant(&self) -> Option<Time> {
        self.changes.get(self.next).map(|(at, _)| *at)
    }

    /// Returns every instant with a change.
    pub(crate) fn instants(&self) -> impl Iterator<Item = Time> {
        self.changes.iter().map(|(at, _)| *at)
    }
}

/// Links that nodes treat as dead, updated event by event while the schedule is computed.
struct KnownDeadLinks<'a> {
    scenario: &'a Scenario,
    /// Link directions that are down.
    down_links: BTreeSet<SendingPort>,
    /// Ports of dead links with the event that closed them, in the order of events.
    closed_by_event: Vec<(usize, DeadPorts)>,
    known: BTreeMap<DeadPorts, Arc<Routes>>,
}

impl KnownDeadLinks<'_> {
    fn new<'a>(scenario: &'a Scenario, routes: &Arc<Routes>) -> KnownDeadLinks<'a> {
        let known = BTreeMap::from([(DeadPorts::new(), routes.clone())]);
        KnownDeadLinks { scenario, down_links: BTreeSet::new(), closed_by_event: Vec::new(), known }
    }

    /// Adds to each instant the links that went down or came up `reroute_delay` earlier, since nodes react then.
    fn add_detections(mut self, changes: &mut BTreeMap<Time, NetworkChange>) {
        let events = &self.scenario.events;
        let same_instant = |a: &Event, b: &Event| a.at == b.at;
        let mut first = 0;
        for group in events.chunk_by(same_instant) {
            for event in group {
                match event.link_change() {
                    Some((LinkChange::Down, senders)) => self.down_links.extend(senders),
                    Some((LinkChange::Up, senders)) => self.down_links.retain(|sender| !senders.contains(sender)),
                    _ => {}
                }
            }
            let at = group[0].at.saturating_add(self.scenario.reroute_delay);
            self.apply_events(first, group, (at, changes));
            first += group.len();
        }
    }

    /// Returns both ends of every link of which one of the given directions is down.
    fn both_ends<'s>(&self, down: impl Iterator<Item = &'s SendingPort>) -> DeadPorts {
        down.flat_map(|sender| [*sender, self.scenario.topology.far_end(*sender)]).collect()
    }

    fn dead_links(&self) -> DeadPorts {
        self.closed_by_event.iter().flat_map(|(_, ports)| ports).copied().collect()
    }

    /// Adds to the changes of an instant the dead links and routes that follow from simultaneous events, numbered from
    /// `first` on.
    fn apply_events(
        &mut self,
        first: usize,
        group: &[Event],
        (at, changes): (Time, &mut BTreeMap<Time, NetworkChange>),
    ) {
        let (was, dead) = (self.dead_links(), self.both_ends(self.down_links.iter()));
        if was == dead {
            return;
        }
        let change = changes.entry(at).or_default();
        change.returned_ports.extend(was.difference(&dead));
        self.closed_by_event.iter_mut().for_each(|(_, ports)| ports.retain(|port| dead.contains(port)));
        self.closed_by_event.retain(|(_, ports)| !ports.is_empty());
        let mut left: DeadPorts = dead.difference(&was).copied().collect();
        for (event, n) in group.iter().zip(first..) {
            let Some((LinkChange::Down, senders)) = event.link_change() else { continue };
            let ends = self.both_ends(senders.iter());
            let closes: DeadPorts = left.intersection(&ends).copied().collect();
            left.retain(|port| !closes.contains(port));
            for (node, port) in &closes {
                change.dead_ports.entry(*node).or_default().push(PortId(*port));
                change.closed_ports.push((n, (*node, *port)));
            }
            if !closes.is_empty() {
                self.closed_by_event.push((n, closes));
            }
        }
        change.dead_ports.values_mut().for_each(|ports| ports.sort_unstable());
        // A network that may flood has a single path to each host, and only the copy on that path is the packet. A dead
        // link leaves no other path, so the routes stay as they are.
        if !self.scenario.may_flood() {
            change.routes = Some(self.compute_routes());
        }
    }

    /// Returns the routes around links that nodes treat as dead. Dead links may cut switches off from hosts. If frames
    /// wait at dead ports, those for such hosts follow earlier routes up to a dead port. Otherwise the earlier routes
    /// show which dead port cut a switch off. All switches joined by live links lack the same hosts and use the same
    /// earlier routes, so that no frame loops.
    fn compute_routes(&mut self) -> Arc<Routes> {
        let mut dead = self.dead_links();
        let now = self.routes_around(&dead);
        if now.is_complete() {
            return now;
        }
        let (all, mut before) = (dead.clone(), Vec::new());
        for ports in self.closed_by_event.iter().rev().map(|(_, ports)| ports.clone()).collect::<Vec<_>>() {
            dead.retain(|port| !ports.contains(port));
            let earlier = self.routes_around(&dead);
            let is_whole = earlier.is_complete();
            before.push(earlier);
            if is_whole {
                break;
            }
        }
        let now = (*now).clone();
        Arc::new(if self.frames_wait_at_dead_ports() {
            now.fill_from_earlier(&before)
        } else {
            now.with_earlier_routes(all, before)
        })
    }

    /// Returns the routes around these dead links. If frames wait at dead ports, links of hosts count as alive, since
    /// frames for a host with a dead link wait at that link.
    fn routes_around(&mut self, dead: &DeadPorts) -> Arc<Routes> {
        let topology = &self.scenario.topology;
        let is_host = |node: u32| topology.is_host(node);
        let counts = |port: &SendingPort| {
            !self.frames_wait_at_dead_ports() || !(is_host(port.0) || is_host(topology.far_end(*port).0))
        };
        let dead: DeadPorts = dead.iter().copied().filter(counts).collect();
        let made = self
            .known
            .entry(dead)
            .or_insert_with_key(|dead| Arc::new(Routes::avoiding_dead_links(topology, dead, false)));
        made.clone()
    }

    fn frames_wait_at_dead_ports(&self) -> bool {
        self.scenario.dead_port == DeadPortPolicy::Wait
    }
}
