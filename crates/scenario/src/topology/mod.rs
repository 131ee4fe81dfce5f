//! Who is connected to whom.

use units::{Dur, Rate};

/// Nodes and links. Hosts come first: host `i` is node `i`; switch `s` is node `hosts + s`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Every node.
    pub nodes: Vec<Node>,
    /// Number of hosts.
    pub hosts: u32,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name: `h0`, `edge3`, or as in the file.
    pub name: String,
    /// Its tier: `host`, `edge`, `agg`, `core`, `leaf`, `spine`, `switch`, or as in the file.
    pub tier: String,
    /// Its ports, in their order; a host has one.
    pub ports: Vec<Port>,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// The node at the far end.
    pub peer: u32,
    /// The far end's port.
    pub peer_port: u16,
    /// Rate out of this port.
    pub rate: Rate,
    /// Propagation delay out of this port, at least 1 ps.
    pub delay: Dur,
    /// Share of this port where routing is `weighted`.
    pub weight: f64,
}
