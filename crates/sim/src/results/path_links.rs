//! Links on the paths that packets of a flow may take, by the routing tables at time zero.

use crate::clocks::actual_port_rate;
use crate::world::World;
use dataplane::{Observer, Switch};
use mech::routing::NextHops;
use mech::{HostId, PortId};
use scenario::routes::Routes;
use scenario::{PathLink, Scenario};
use units::{Dur, Rate};

/// Search for the links that packets of a flow may cross.
pub(super) struct PathLinks<'a> {
    scenario: &'a Scenario,
    seed: u64,
    switches: &'a [Switch],
    routes: &'a Routes,
    /// Index of each node among the nodes that send at a hop, and the number of the search that set it.
    hop_index: Vec<(u32, u64)>,
    search: u64,
}

impl<'a> PathLinks<'a> {
    pub fn new<O: Observer, T: crate::Tap>(world: &'a World<O, T>, scenario: &'a Scenario) -> PathLinks<'a> {
        let hop_index = vec![(0, 0); scenario.topology.nodes.len()];
        let (seed, switches, routes) = (world.seed, &world.switches, world.initial_routes());
        PathLinks { scenario, seed, switches, routes, hop_index, search: 0 }
    }

    /// Returns the links that packets with this hash may cross, hop by hop; none if there is no path.
    pub fn links_between(&mut self, src: HostId, dst: HostId, hash: u32) -> Vec<PathLink> {
        let (mut ways, mut here, mut ports) = (Vec::new(), vec![src.0], Vec::new());
        for hop in 0..self.hop_index.len() as u32 {
            self.search += 1;
            let mut next = Vec::new();
            for (from, node) in (0..).zip(&here) {
                ports.clear();
                self.output_ports(*node, (src, dst), hash, &mut ports);
                for port in &ports {
                    let link = &self.scenario.topology.nodes[*node as usize].ports[usize::from(port.0)];
                    let (rate, delay) = link_rate_and_delay(self.scenario, self.seed, (*node, port.0));
                    let to = self.index_of_node(link.peer, &mut next);
                    ways.push(PathLink { hop, from, to, rate, delay });
                }
            }
            match next[..] {
                [] => return Vec::new(),
                [only] if only == dst.0 => return ways,
                _ => here = next,
            }
        }
        Vec::new()
    }

    /// Adds the ports by which packets may leave a node to `out`.
    fn output_ports(&self, node: u32, ends: (HostId, HostId), hash: u32, out: &mut Vec<PortId>) {
        let Some(switch) = node.checked_sub(self.scenario.topology.hosts) else { return out.push(PortId(0)) };
        match self.routes.next_hops(node, ends.1) {
            NextHops::None => {}
            NextHops::Only(port) => out.push(port),
            NextHops::Several(hops) => self.switches[switch as usize].possible_ports(ends, hash, hops, out),
        }
    }

    /// Returns the index of a node among the nodes of the next hop, and adds the node if it is new.
    fn index_of_node(&mut self, node: u32, next: &mut Vec<u32>) -> u32 {
        let known = &mut self.hop_index[node as usize];
        if known.1 != self.search {
            *known = (next.len() as u32, self.search);
            next.push(node);
        }
        known.0
    }
}

/// Returns the rate of a link by the clock of its port, and its delay.
pub(super) fn link_rate_and_delay(scenario: &Scenario, seed: u64, (node, port): (u32, u16)) -> (Rate, Dur) {
    let link = &scenario.topology.nodes[node as usize].ports[usize::from(port)];
    (actual_port_rate(scenario, seed, (node, port), link.rate), link.delay)
}
