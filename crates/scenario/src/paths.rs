//! The k shortest paths of a network, and how many there may be.

use crate::topology::Topology;
use mech::PortId;
use mech::routing::{Ecmp, Graph, Paths};

/// The paths between the edge switches of a network; `pick` chooses among those of a pair.
pub fn paths(net: &Topology, k: usize, pick: Ecmp) -> Paths {
    let at = |node: u32| node - net.hosts;
    let toward = |switch: &crate::topology::Node| {
        let ports = switch.ports.iter().enumerate().filter(|(_, port)| !net.is_host(port.peer));
        ports.map(|(i, port)| (PortId(i as u16), at(port.peer))).collect()
    };
    let mut graph = Graph::new(net.switches().iter().map(toward).collect());
    let edges: Vec<u32> = net.nodes[..net.hosts as usize].iter().map(|host| at(host.ports[0].peer)).collect();
    Paths::new(&mut graph, &edges, (k, pick))
}
