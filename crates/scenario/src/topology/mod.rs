//! Networks: nodes, ports and links of each kind of topology.

mod bisection;
mod builder;
mod chain_tree;
mod counts;
mod custom;
mod dumbbell;
mod fat_tree;
mod graph_file;
mod graphml;
mod hpcc;
mod htsim;
mod hyperx;
mod jellyfish;
mod leaf_spine;
mod linear;
mod links;
mod star;

pub(crate) use counts::{Counts, MAX_ROUTE_ENTRIES};
pub use custom::{CustomGraph, CustomLink, CustomNode};
pub(crate) use hpcc::{Configuration, Setting, Thresholds};
pub use links::Link;

use crate::fault::Fault;
use mech::HostId;
use mech::params::{Spec, Values};
use mech::routing::AddressPlan;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use units::{Dur, Rate};

/// Nodes and links of a network. Hosts come first: host `i` is node `i`, and switch `s` is node `hosts + s`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Number of hosts.
    pub hosts: u32,
    /// Addresses of a `fat_tree`, which `two_level` routing uses.
    pub plan: Option<AddressPlan>,
}

/// Host or switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name of the node: `h0`, `edge3`, or as in the file.
    pub name: String,
    /// Tier of the node: `host`, `edge`, `agg`, `core`, `leaf`, `spine`, `switch`, or as in the file.
    pub tier: String,
    /// Ports of the node, in order; a host has one.
    pub ports: Vec<Port>,
}

/// Port of a node: one end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// Node at the far end.
    pub peer: u32,
    /// Port number at the far end.
    pub peer_port: u16,
    /// Rate of the link out of this port.
    pub rate: Rate,
    /// Propagation delay of the link out of this port, at least 1 ps.
    pub delay: Dur,
    /// Weight of this port among next hops if routing is `weighted`.
    pub weight: f64,
}

/// Topologies that a scenario may name.
pub const SPECS: &[&Spec] = &[
    &star::SPEC,
    &dumbbell::SPEC,
    &chain_tree::SPEC,
    &leaf_spine::SPEC,
    &fat_tree::SPEC,
    &hyperx::SPEC,
    &jellyfish::SPEC,
    &linear::SPEC,
    &custom::SPEC,
    &hpcc::SPEC,
    &htsim::SPEC,
];

/// Inputs for building a network, in addition to its parameters.
#[derive(Clone, Copy)]
pub struct TopologyInputs<'a> {
    /// Nodes and links that the scenario lists for the kind `custom`.
    pub graph: Option<&'a CustomGraph>,
    /// Function that returns the text of a file that the scenario names, or the reason why it cannot be read.
    pub files: &'a dyn Fn(&str) -> Result<String, String>,
    /// Receiver of notes about the network for the user; `None` discards them.
    pub notes: Option<&'a RefCell<Vec<String>>>,
    /// Receiver of the links that corrupt frames according to the network's file; `None` discards them.
    pub corrupted: Option<&'a RefCell<Vec<CorruptedLink>>>,
    /// Receiver of the contents of HPCC's configuration file, if the topology names one; `None` discards them.
    pub(crate) configuration: Option<&'a RefCell<Option<Configuration>>>,
}

/// Link that corrupts frames in both directions, as declared in the network's file.
#[derive(Clone, Debug, PartialEq)]
pub struct CorruptedLink {
    /// Name of the link, as in events.
    pub link: String,
    /// Probability that a frame is corrupted.
    pub probability: f64,
}

impl TopologyInputs<'_> {
    /// Returns inputs without a graph, files, or receivers of notes.
    pub fn empty() -> TopologyInputs<'static> {
        let files = &|_: &str| Err("cannot be read, because this scenario has no files".into());
        TopologyInputs { graph: None, files, notes: None, corrupted: None, configuration: None }
    }
    fn add_note(&self, note: String) {
        self.notes.into_iter().for_each(|notes| notes.borrow_mut().push(note.clone()));
    }
}

/// Builds a network of the given kind. A network that is too large is refused, before it is built if its parameters
/// determine its size.
///
/// # Errors
/// Returns a [`Fault`] for each wrong parameter, node or link, and for each wrong line of a file. A fault without a
/// field is about the network as a whole.
pub fn build(kind: &str, values: &Values, given: &TopologyInputs) -> Result<Topology, Vec<Fault>> {
    let fits = |counts: Counts| match counts.find_excess() {
        Some((found, rule)) => Err(vec![Fault { field: String::new(), found, rule }]),
        None => Ok(()),
    };
    counts_of(kind, values).map_or(Ok(()), fits)?;
    let net = build_unchecked(kind, values, given)?;
    fits(Counts::from_network(&net))?;
    Ok(net)
}

/// Counts hosts, switches and links from the parameters of a network; `None` for kinds that a file or the scenario
/// lists.
fn counts_of(kind: &str, values: &Values) -> Option<Counts> {
    Some(match kind {
        "star" => star::counts(values),
        "dumbbell" => dumbbell::counts(values),
        "chain_tree" => chain_tree::counts(values),
        "leaf_spine" => leaf_spine::counts(values),
        "fat_tree" => fat_tree::counts(values),
        "hyperx" => hyperx::counts(values),
        "jellyfish" => jellyfish::counts(values),
        "linear" => linear::counts(values),
        _ => return None,
    })
}

fn build_unchecked(kind: &str, values: &Values, given: &TopologyInputs) -> Result<Topology, Vec<Fault>> {
    match kind {
        "star" => Ok(star::build(values)),
        "dumbbell" => Ok(dumbbell::build(values)),
        "chain_tree" => chain_tree::build(values),
        "leaf_spine" => leaf_spine::build(values),
        "fat_tree" => fat_tree::build(values),
        "hyperx" => hyperx::build(values),
        "jellyfish" => jellyfish::build(values),
        "linear" => linear::build(values),
        "custom" if values.has("file") => graphml::build(values, given),
        "custom" => custom::build(given.graph.unwrap_or(&CustomGraph::default())),
        "hpcc" => hpcc::build(values, given),
        "htsim" => htsim::build(values, given),
        _ => {
            let kinds: Vec<_> = SPECS.iter().map(|spec| format!("`{}`", spec.kind)).collect();
            Err(vec![Fault { field: "kind".into(), found: format!("`{kind}`"), rule: kinds.join(", ") }])
        }
    }
}

impl Topology {
    /// Returns the host with this name.
    pub fn find_host(&self, name: &str) -> Option<HostId> {
        let hosts = &self.nodes[..self.hosts as usize];
        // In built-in networks, host 3 is `h3`, so the name gives the number without a search.
        let numbered = name.strip_prefix('h').and_then(|number| number.parse::<usize>().ok());
        let at = numbered.filter(|at| hosts.get(*at).is_some_and(|node| node.name == name));
        at.or_else(|| hosts.iter().position(|node| node.name == name)).map(|at| HostId(at as u32))
    }
    /// Returns the host or switch with this name.
    pub fn find_node(&self, name: &str) -> Option<u32> {
        self.nodes.iter().position(|node| node.name == name).map(|at| at as u32)
    }
    /// Returns true if a node is a host.
    pub fn is_host(&self, node: u32) -> bool {
        node < self.hosts
    }
    /// Returns the switches, in order of their nodes.
    pub fn switches(&self) -> &[Node] {
        &self.nodes[self.hosts as usize..]
    }
    /// Returns the node of the switch that a host is attached to.
    ///
    /// # Panics
    /// Panics if there is no such host.
    pub fn edge_switch(&self, host: HostId) -> u32 {
        self.nodes[host.0 as usize].ports[0].peer
    }
    /// Returns the number of switches with hosts.
    pub fn count_edge_switches(&self) -> usize {
        let mut edge = vec![false; self.nodes.len()];
        self.nodes[..self.hosts as usize].iter().for_each(|host| edge[host.ports[0].peer as usize] = true);
        edge.into_iter().filter(|edge| *edge).count()
    }
    /// Returns the node and port at the far end of a link.
    pub fn far_end(&self, (node, port): (u32, u16)) -> (u32, u16) {
        let port = &self.nodes[node as usize].ports[usize::from(port)];
        (port.peer, port.peer_port)
    }
    /// Returns, for each switch, the node of the first switch of its tier.
    pub fn first_switch_of_tier(&self) -> Vec<u32> {
        let mut first = BTreeMap::new();
        let nodes = self.switches().iter().zip(self.hosts..);
        nodes.map(|(switch, node)| *first.entry(switch.tier.as_str()).or_insert(node)).collect()
    }
    /// Returns the names of the tiers, each once, in the order of the nodes.
    pub fn tiers(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        self.nodes.iter().map(|node| node.tier.as_str()).filter(|tier| seen.insert(*tier)).collect()
    }
    /// Returns the capacity in bits per second, one way, between the first and the second half of the hosts in their
    /// order. It is the maximum flow over links, host links included.
    pub fn bisection_bandwidth(&self) -> f64 {
        bisection::bisection_capacity(self)
    }
}

#[cfg(test)]
pub(crate) mod tests;
