//! Fastest paths in a network with detours. A detoured packet follows the routes of the switch that it comes to, and
//! so may overtake packets on the path of its flow.

use super::path_links::link_rate_and_delay;
use mech::HostId;
use scenario::topology::Topology;
use scenario::{PathLink, Scenario};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Cost in picoseconds of the fastest path to each node from a root, with the previous node and its port.
type ReachedNodes = Vec<(u64, u32, u16)>;

/// Cache of searches for fastest paths, by root switch and frame size.
pub(super) struct Shortcuts<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// True if all routes are shortest paths over equal links: no path is then faster than the flow's own.
    is_uniform: bool,
    searches: BTreeMap<(u32, u64), ReachedNodes>,
}

impl<'a> Shortcuts<'a> {
    /// Creates the search for fastest paths; `None` if no switch of the network detours.
    pub fn new(scenario: &'a Scenario, seed: u64) -> Option<Shortcuts<'a>> {
        let mut detouring = scenario.switches.iter().map(|switch| switch.overflow.slot.peek().needs().detours);
        let any = detouring.any(|aside| aside);
        any.then(|| Shortcuts { scenario, seed, is_uniform: has_uniform_links(scenario), searches: BTreeMap::new() })
    }

    /// Returns the fastest path for frames of `wire` bytes, if detoured packets on it may be faster than those on
    /// `own`: because a single frame is, or because frames split before a slow link.
    pub fn faster_path(&mut self, (src, dst): (HostId, HostId), own: &[PathLink], wire: u64) -> Option<Vec<PathLink>> {
        let (last, first) = (own.last()?, own.first()?);
        let time = |link: &PathLink| link.rate.time(wire);
        let is_slow = own.iter().any(|link| time(link) > time(first).max(time(last)));
        let is_single = own.iter().enumerate().all(|(hop, link)| link.hop as usize == hop);
        if self.is_uniform && (!is_slow || !is_single) {
            return None;
        }
        let path = if self.is_uniform { own.to_vec() } else { self.fastest_path(src, dst, wire) };
        let cost = |ways: &[PathLink]| ways.iter().map(|link| time(link).0.saturating_add(link.delay.0)).sum::<u64>();
        if !is_slow && is_single && cost(&path) >= cost(own) {
            return None;
        }
        // Each link between the ends is listed twice. Two links at a hop mean that frames may split there and never
        // wait for each other, which keeps the result a lower bound.
        let ends = path.len().saturating_sub(1) as u32;
        let twice = |link: &PathLink| vec![*link; if link.hop == 0 || link.hop == ends { 1 } else { 2 }];
        Some(path.iter().flat_map(twice).collect())
    }

    /// Returns the fastest path of a frame, hop by hop; empty if the network has none.
    fn fastest_path(&mut self, src: HostId, dst: HostId, wire: u64) -> Vec<PathLink> {
        let (scenario, seed) = (self.scenario, self.seed);
        let root = scenario.topology.nodes[src.0 as usize].ports[0].peer;
        let reached =
            self.searches.entry((root, wire)).or_insert_with(|| search_fastest_paths(scenario, seed, root, wire));
        let (mut node, mut back) = (dst.0, Vec::new());
        while node != root {
            let (cost, before, port) = reached[node as usize];
            if cost == u64::MAX {
                return Vec::new();
            }
            back.push((before, port));
            node = before;
        }
        back.push((src.0, 0));
        let hop = |(hop, (node, port)): (u32, (u32, u16))| {
            let (rate, delay) = link_rate_and_delay(scenario, seed, (node, port));
            PathLink { hop, from: 0, to: 0, rate, delay }
        };
        (0..).zip(back.into_iter().rev()).map(hop).collect()
    }
}

/// Returns true if all routes are shortest paths, and all links between switches have one rate and one delay.
fn has_uniform_links(scenario: &Scenario) -> bool {
    let net: &Topology = &scenario.topology;
    let ports = net.switches().iter().flat_map(|switch| &switch.ports).filter(|port| !net.is_host(port.peer));
    let mut links = ports.map(|port| (port.rate, port.delay));
    let first = links.next();
    let shortest = scenario.switches.iter().all(|switch| switch.routing.slot.peek().needs_paths().is_none());
    shortest && links.all(|link| Some(link) == first)
}

/// Computes the costs of the fastest paths from a switch to all nodes (Dijkstra); no path leads through a host.
fn search_fastest_paths(scenario: &Scenario, seed: u64, root: u32, wire: u64) -> ReachedNodes {
    let net = &scenario.topology;
    let mut reached: ReachedNodes = vec![(u64::MAX, 0, 0); net.nodes.len()];
    reached[root as usize].0 = 0;
    let mut waiting = BinaryHeap::from([Reverse((0, root))]);
    while let Some(Reverse((cost, node))) = waiting.pop() {
        if cost > reached[node as usize].0 || net.is_host(node) {
            continue;
        }
        for (port, link) in (0..).zip(&net.nodes[node as usize].ports) {
            let (rate, delay) = link_rate_and_delay(scenario, seed, (node, port));
            let there = cost.saturating_add(rate.time(wire).0).saturating_add(delay.0);
            if there < reached[link.peer as usize].0 {
                reached[link.peer as usize] = (there, node, port);
                waiting.push(Reverse((there, link.peer)));
            }
        }
    }
    reached
}
