//! Hosts that switches cannot reach because of dead links, and earlier routes to them.

use super::{DeadPorts, NO_NODE, Routes, SINGLE_HOP_FLAG};
use mech::routing::{Hop, NextHops};
use mech::{HostId, PortId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Earlier routes, for switches that have none after links died.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EarlierRoutes {
    /// Ports at both ends of each dead link.
    dead_ports: DeadPorts,
    /// Earlier routes, the latest first.
    routes: Vec<Arc<Routes>>,
}

impl Routes {
    /// Returns true if every switch has a route to every host.
    pub fn is_complete(&self) -> bool {
        self.edges.iter().all(|edge| edge.node != NO_NODE) && self.missing_entries().next().is_none()
    }

    /// Returns the indices of table entries in which a switch has no next hop toward another edge switch.
    fn missing_entries(&self) -> impl Iterator<Item = usize> {
        let width = self.width as usize;
        let roots = self.roots();
        let is_own = move |at: usize| roots.get(at % width) == Some(&(self.hosts + (at / width) as u32));
        let is_empty = |entry: &u32| entry & SINGLE_HOP_FLAG == 0 && self.groups[*entry as usize].1 == 0;
        let empty = self.table.iter().enumerate().filter(move |(_, entry)| is_empty(entry));
        empty.map(|(at, _)| at).filter(move |at| !is_own(*at))
    }

    /// Adds next hops of earlier routes, the latest first, for switches that cannot reach a host.
    ///
    /// A frame for that host then takes the earlier path up to the port with the dead link, where `dead_port` applies.
    /// With `wait` the frame stays queued there, so that PFC pauses its source, instead of being dropped without a
    /// route. PRECONDITION: no link of a host is dead in any of them.
    pub fn fill_from_earlier(mut self, before: &[Arc<Routes>]) -> Routes {
        for earlier in before {
            let missing: Vec<usize> = self.missing_entries().collect();
            let mut groups = BTreeMap::new();
            for at in missing {
                let entry = earlier.table[at];
                self.table[at] = if entry & SINGLE_HOP_FLAG != 0 {
                    entry
                } else {
                    *groups.entry(entry).or_insert_with(|| self.add_group(earlier.next_hop_set(entry)))
                };
            }
        }
        self
    }

    fn add_group(&mut self, hops: &[Hop]) -> u32 {
        self.groups.push((self.hops.len() as u32, hops.len() as u32));
        self.hops.extend_from_slice(hops);
        self.groups.len() as u32 - 1
    }

    /// Stores earlier routes, the latest first, for switches that cannot reach a host.
    pub fn with_earlier_routes(self, dead: DeadPorts, before: Vec<Arc<Routes>>) -> Routes {
        Routes { cut_off: Some(Box::new(EarlierRoutes { dead_ports: dead, routes: before })), ..self }
    }

    /// Returns the first dead link, as node and port, on the latest earlier route from a switch to a host. `choose`
    /// returns the port at this switch if that route had several; at later switches the first port is taken.
    pub fn find_dead_port(&self, switch: u32, dst: HostId, choose: &dyn Fn(&[Hop]) -> PortId) -> Option<(u32, PortId)> {
        let EarlierRoutes { dead_ports: dead, routes: before } = self.cut_off.as_deref()?;
        let earlier = before.iter().find(|routes| !matches!(routes.next_hops(switch, dst), NextHops::None))?;
        let mut node = switch;
        while node != dst.0 {
            let port = match earlier.next_hops(node, dst) {
                NextHops::None => return None,
                NextHops::Only(port) => port,
                NextHops::Several(hops) if node == switch => choose(hops),
                NextHops::Several(hops) => hops[0].port,
            };
            if dead.contains(&(node, port.0)) {
                return Some((node, port));
            }
            node = self.far_node(node, port);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::topology::tests::custom;

    /// Network in which hosts 0 and 1 are at switches 2 and 3, which are joined through 4 and through 5.
    fn square_network() -> Topology {
        let links = ["h0 a 1", "h1 b 1", "a c 1", "a d 1", "c b 1", "d b 1"];
        custom(&["h0 host", "h1 host", "a", "b", "c", "d"], &links).unwrap()
    }

    #[test]
    fn dead_port_is_on_the_latest_route_that_led_to_the_host() {
        let net = square_network();
        let first = |hops: &[Hop]| hops[0].port;
        let port = |node: u32, peer: u32| {
            let ports = &net.nodes[node as usize].ports;
            ports.iter().position(|port| port.peer == peer).expect("neighbours") as u16
        };
        let link = |a: u32, b: u32| DeadPorts::from([(a, port(a, b)), (b, port(b, a))]);
        let whole = Arc::new(Routes::compute(&net));
        assert!(whole.is_complete());
        let one = link(4, 3);
        let around_one = Arc::new(Routes::avoiding_dead_links(&net, &one, false));
        assert!(around_one.is_complete(), "over 5");
        let both: DeadPorts = one.union(&link(2, 5)).copied().collect();
        let cut = Routes::avoiding_dead_links(&net, &both, false);
        assert!(!cut.is_complete());
        let before = vec![around_one.clone(), whole.clone()];
        let remembered = cut.clone().with_earlier_routes(both.clone(), before.clone());
        assert_eq!(remembered.find_dead_port(2, HostId(1), &first), Some((2, PortId(port(2, 5)))));
        assert_eq!(remembered.find_dead_port(4, HostId(1), &first), Some((2, PortId(port(2, 5)))), "over 2, as before");
        assert_eq!(remembered.find_dead_port(2, HostId(0), &first), None, "it has a route");
        let waits = cut.fill_from_earlier(&before);
        assert!(waits.is_complete());
        assert!(matches!(waits.next_hops(2, HostId(1)), NextHops::Only(PortId(n)) if n == port(2, 5)));
        assert!(matches!(waits.next_hops(4, HostId(1)), NextHops::Only(PortId(n)) if n == port(4, 2)));
    }

    #[test]
    fn dead_port_to_a_host_is_that_of_its_edge_switch() {
        let net = square_network();
        let dead = DeadPorts::from([(1, 0), net.far_end((1, 0))]);
        let (node, port) = net.far_end((1, 0));
        let cut = Routes::avoiding_dead_links(&net, &dead, false);
        assert!(!cut.is_complete());
        let routes = cut.with_earlier_routes(dead, vec![Arc::new(Routes::compute(&net))]);
        assert_eq!(routes.find_dead_port(2, HostId(1), &|hops| hops[0].port), Some((node, PortId(port))));
    }
}
