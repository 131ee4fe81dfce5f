//! Ports in the numbering over the whole network.

use scenario::topology::Topology;

/// Ports of all nodes of a network, numbered over the whole network.
#[derive(Clone, Debug)]
pub(super) struct PortTable {
    /// Number of each node's first port, counted over the whole network.
    pub(super) base: Vec<u32>,
    /// Number of all ports.
    pub(super) ports: usize,
}

impl PortTable {
    pub(super) fn new(topology: &Topology) -> PortTable {
        let counts = topology.nodes.iter().map(|node| node.ports.len() as u32);
        let base: Vec<u32> = counts.scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect();
        PortTable { base, ports: topology.nodes.iter().map(|node| node.ports.len()).sum() }
    }

    /// Returns the node of a port, and the port's number at that node.
    pub(super) fn node_and_port(&self, port: u32) -> (u32, u16) {
        let node = self.base.partition_point(|first| *first <= port) - 1;
        (node as u32, (port - self.base[node]) as u16)
    }
}
