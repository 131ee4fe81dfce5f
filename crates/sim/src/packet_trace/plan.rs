//! Ports in the numbering over the whole network, and where their links lead.

use dataplane::Spot;
use scenario::topology::Topology;
use units::{Dur, Time};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The first port of each node.
    pub(super) base: Vec<u32>,
    /// By port: node and port at the far end, and the delay.
    links: Vec<(u32, u32, Dur)>,
}

impl Plan {
    pub(super) fn new(topology: &Topology) -> Plan {
        let counts = topology.nodes.iter().map(|node| node.ports.len() as u32);
        let base: Vec<u32> = counts.scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect();
        let ports = topology.nodes.iter().flat_map(|node| &node.ports);
        let far = |peer: u32, port: u16| base[peer as usize] + u32::from(port);
        let links = ports.map(|port| (port.peer, far(port.peer, port.peer_port), port.delay)).collect();
        Plan { base, links }
    }

    /// All ports.
    pub(super) fn ports(&self) -> usize {
        self.links.len()
    }

    /// Where a port's link leads, at no time, and how long that takes.
    pub(super) fn far_end(&self, port: u32) -> (Spot, Dur) {
        let (node, port, delay) = self.links[port as usize];
        (Spot { now: Time::ZERO, node, port }, delay)
    }

    /// The node of a port, and its number there.
    pub(super) fn place(&self, port: u32) -> (u32, u16) {
        let node = self.base.partition_point(|first| *first <= port) - 1;
        (node as u32, (port - self.base[node]) as u16)
    }
}
