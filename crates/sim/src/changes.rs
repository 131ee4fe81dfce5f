//! The network changes: what nodes are told, and which routes hold, instant by instant. All of it is computed when
//! the run is built; what becomes of frames on links is in their [courses](crate::link).

use crate::clocks::rate_of;
use crate::costs::{Losses, Places};
use crate::queue::Key;
use dataplane::DeadPort;
use mech::PortId;
use scenario::Scenario;
use scenario::events::{Change, Event, Sender};
use scenario::routes::{Dead, Routes};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::{Clock, Time};

/// The index of a timer that no node has: the event queue is at an instant of a change, not beyond it.
pub(crate) const NETWORK_CHANGES: u32 = Key::MAX_INDEX - 1;

/// What changes at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    /// The numbers of the scenario's events that happen now.
    pub(crate) events: Vec<usize>,
    pub(crate) clocks: Vec<(Sender, Clock)>,
    /// Ports whose links are known to be dead from now on, by node, and back.
    pub(crate) died: BTreeMap<u32, Vec<PortId>>,
    pub(crate) returned: Vec<Sender>,
    pub(crate) routes: Option<Arc<Routes>>,
}

impl Turn {
    /// The nodes that learn of links.
    pub(crate) fn touched(&self) -> impl Iterator<Item = u32> {
        self.died.keys().copied().chain(self.returned.iter().map(|(node, _)| *node))
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Changes {
    pub(crate) turns: Vec<(Time, Turn)>,
    pub(crate) next: usize,
    pub(crate) dead_port: DeadPort,
    /// The routes of the network as it starts.
    pub(crate) first_routes: Arc<Routes>,
    /// By event, where its losses are counted.
    pub(crate) places: Vec<Option<Places>>,
    /// By event that has happened, what was lost at its places before it.
    pub(crate) before: Vec<Losses>,
}

impl Changes {
    /// `None` where nothing changes.
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
            places: scenario.events.iter().map(|event| Places::of(event, &scenario.topology)).collect(),
            before: Vec::new(),
        })
    }

    /// When something changes next.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.turns.get(self.next).map(|(at, _)| *at)
    }

    /// Every instant at which something changes.
    pub(crate) fn instants(&self) -> impl Iterator<Item = Time> {
        self.turns.iter().map(|(at, _)| *at)
    }
}

/// Which links nodes take for dead, as time goes on.
struct Knowledge<'a> {
    scenario: &'a Scenario,
    /// Directions that are down.
    down: BTreeSet<Sender>,
    dead: Dead,
    known: BTreeMap<Dead, Arc<Routes>>,
}

impl Knowledge<'_> {
    fn new<'a>(scenario: &'a Scenario, routes: &Arc<Routes>) -> Knowledge<'a> {
        let known = BTreeMap::from([(Dead::new(), routes.clone())]);
        Knowledge { scenario, down: BTreeSet::new(), dead: Dead::new(), known }
    }

    /// Adds to each instant what nodes learn then of links that went down or came back `reroute_delay` before.
    fn tell(mut self, turns: &mut BTreeMap<Time, Turn>) {
        let events = &self.scenario.events;
        let same_instant = |a: &Event, b: &Event| a.at == b.at;
        for group in events.chunk_by(same_instant) {
            for event in group {
                match event.change {
                    Change::Down => self.down.extend(&event.senders),
                    Change::Up => self.down.retain(|sender| !event.senders.contains(sender)),
                    _ => {}
                }
            }
            let dead = self.both_ends();
            if dead != self.dead {
                let at = group[0].at.saturating_add(self.scenario.reroute_delay);
                self.turn_to(dead, turns.entry(at).or_default());
            }
        }
    }

    /// Both ends of every link of which a direction is down.
    fn both_ends(&self) -> Dead {
        self.down.iter().flat_map(|sender| [*sender, self.scenario.topology.far_end(*sender)]).collect()
    }

    fn turn_to(&mut self, dead: Dead, turn: &mut Turn) {
        for (node, port) in dead.difference(&self.dead) {
            turn.died.entry(*node).or_default().push(PortId(*port));
        }
        turn.returned.extend(self.dead.difference(&dead));
        // Where frames are flooded there is one path to each host, and one of the copies is the packet: that which
        // takes it, dead or not.
        if !self.scenario.floods() {
            let routes = self.known.entry(dead.clone());
            let made = routes.or_insert_with(|| Arc::new(Routes::around(&self.scenario.topology, &dead, false)));
            turn.routes = Some(made.clone());
        }
        self.dead = dead;
    }
}
