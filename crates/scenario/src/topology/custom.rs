//! Network that the scenario lists node by node and link by link.

use super::builder::{Builder, Link, LinkDirection};
use super::{Node, Topology};
use crate::diag::check_name;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec};
use std::collections::{BTreeMap, BTreeSet};
use units::{Dur, Rate};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "custom",
    doc: "Network of nodes and links, from lists in the scenario or from a GraphML file. Every link has its rate and \
          delay. Hosts are numbered in the order of the file, ports in the order of the links.",
    cite: "",
    params: &[
        Param {
            name: "file",
            doc: "GraphML file that replaces `node` and `link`. Names of nodes are their ids. `kind` or `type` of a \
                  node is `host` or `server`, `switch` or `router`; `tier` is as in `topology.node`. `rate`, `delay` \
                  and `weight` of an edge are as in `topology.link`. Opposite arcs of a directed graph are one link, \
                  each with the rate and delay of its direction.",
            kind: ParamKind::Text,
            default: Some(""),
        },
        Param {
            name: "link.rate",
            doc: "Rate of the edges in `file` that have no rate.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
        Param {
            name: "link.delay",
            doc: "Propagation delay of the edges in `file` that have no delay.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
    ],
};

/// Custom network as a list of nodes and links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CustomGraph {
    /// Hosts and switches, in any order.
    pub nodes: Vec<CustomNode>,
    /// Links between the nodes.
    pub links: Vec<CustomLink>,
}

/// Node of a [`CustomGraph`].
#[derive(Clone, Debug, PartialEq)]
pub struct CustomNode {
    /// Name of the node.
    pub name: String,
    /// True if the node is a host.
    pub host: bool,
    /// Tier of the node; empty means `host` or `switch`.
    pub tier: String,
}

/// Link of a [`CustomGraph`].
#[derive(Clone, Debug, PartialEq)]
pub struct CustomLink {
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Rate from `a` to `b`.
    pub rate: Rate,
    /// Propagation delay from `a` to `b`.
    pub delay: Dur,
    /// Rate and propagation delay from `b` to `a`.
    pub back: (Rate, Dur),
    /// Weight of the link if routing is `weighted`.
    pub weight: f64,
}

/// Nodes in order, hosts first, and their indices by name.
struct NodeNames<'a> {
    order: Vec<&'a CustomNode>,
    hosts: u32,
    at: BTreeMap<&'a str, u32>,
}

fn make_fault(field: String, found: impl Into<String>, rule: impl Into<String>) -> Fault {
    Fault { field, found: found.into(), rule: rule.into() }
}

impl<'a> NodeNames<'a> {
    fn new(graph: &'a CustomGraph, faults: &mut Vec<Fault>) -> NodeNames<'a> {
        let hosts = graph.nodes.iter().filter(|node| node.host);
        let switches = graph.nodes.iter().filter(|node| !node.host);
        let order: Vec<_> = hosts.chain(switches).collect();
        let at = order.iter().enumerate().map(|(i, node)| (node.name.as_str(), i as u32)).collect();
        let mut seen = BTreeSet::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            let field = format!("nodes[{i}].name");
            if let Some((found, rule)) = check_name(&node.name) {
                faults.push(make_fault(field, found, rule));
            } else if !seen.insert(node.name.as_str()) {
                faults.push(make_fault(
                    field,
                    format!("a second node `{}`", node.name),
                    "different names for all nodes",
                ));
            }
        }
        for (i, node) in graph.nodes.iter().enumerate().filter(|(_, node)| !node.tier.is_empty()) {
            let wrong = check_name(&node.tier);
            faults.extend(wrong.map(|(found, rule)| make_fault(format!("nodes[{i}].tier"), found, rule)));
        }
        NodeNames { hosts: order.iter().filter(|node| node.host).count() as u32, order, at }
    }
}

/// Builds the network of a graph.
pub(super) fn build(graph: &CustomGraph) -> Result<Topology, Vec<Fault>> {
    let mut faults = Vec::new();
    let names = NodeNames::new(graph, &mut faults);
    for (i, link) in graph.links.iter().enumerate() {
        check_link(i, link, &names, &mut faults);
    }
    if names.hosts == 0 {
        faults.push(make_fault("nodes".into(), "no host", "at least one host"));
    }
    check_ports(graph, &names, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let net = assemble(graph, &names);
    match find_unreached_node(&net) {
        None => Ok(net),
        Some(name) => {
            let found = format!("no path from `{}` to `{name}`", net.nodes[0].name);
            Err(vec![make_fault("links".into(), found, "a connected network")])
        }
    }
}

fn check_link(i: usize, link: &CustomLink, names: &NodeNames, faults: &mut Vec<Fault>) {
    let mut ends = [None; 2];
    for (end, (key, name)) in ends.iter_mut().zip([("a", &link.a), ("b", &link.b)]) {
        *end = names.at.get(name.as_str()).copied();
        if end.is_none() {
            faults.push(make_fault(format!("links[{i}].{key}"), format!("`{name}`"), "the name of a node"));
        }
    }
    if let [Some(a), Some(b)] = ends {
        if a == b {
            faults.push(make_fault(
                format!("links[{i}].b"),
                format!("`{}` at both ends", link.b),
                "two different nodes",
            ));
        } else if a < names.hosts && b < names.hosts {
            let found = format!("a link between hosts `{}` and `{}`", link.a, link.b);
            faults.push(make_fault(format!("links[{i}]"), found, "a switch at one end at least"));
        }
    }
    // Partitions of a divided run advance in windows of at most the shortest delay between them, which must not be 0.
    if link.delay == Dur::ZERO || link.back.1 == Dur::ZERO {
        faults.push(make_fault(format!("links[{i}].delay"), "0ps", "at least 1ps"));
    }
    if !link.weight.is_finite() || link.weight < 0.0 {
        faults.push(make_fault(format!("links[{i}].weight"), link.weight.to_string(), "a finite number, at least 0"));
    }
}

/// Checks that a host has one link, and a switch at most as many as port numbers allow.
fn check_ports(graph: &CustomGraph, names: &NodeNames, faults: &mut Vec<Fault>) {
    let mut links = vec![0usize; names.order.len()];
    for link in &graph.links {
        for end in [&link.a, &link.b] {
            if let Some(at) = names.at.get(end.as_str()) {
                links[*at as usize] += 1;
            }
        }
    }
    for (i, node) in graph.nodes.iter().enumerate() {
        let n = links[names.at[node.name.as_str()] as usize];
        let found = format!("`{}` with {n} links", node.name);
        if node.host && n != 1 {
            faults.push(make_fault(format!("nodes[{i}]"), found, "exactly one link for a host"));
        } else if n > 65_535 {
            faults.push(make_fault(format!("nodes[{i}]"), found, "at most 65535 links"));
        }
    }
}

fn assemble(graph: &CustomGraph, names: &NodeNames) -> Topology {
    let node = |node: &CustomNode| {
        let tier = match (node.tier.as_str(), node.host) {
            ("", true) => "host",
            ("", false) => "switch",
            (tier, _) => tier,
        };
        Node { name: node.name.clone(), tier: tier.into(), ports: Vec::new() }
    };
    let mut net = Builder::with_nodes(names.order.iter().map(|n| node(n)).collect(), names.hosts);
    for link in &graph.links {
        let (there, (rate, delay)) = (LinkDirection { rate: link.rate, delay: link.delay }, link.back);
        let ends = Link { forward: there, reverse: LinkDirection { rate, delay } };
        net.connect_weighted(names.at[link.a.as_str()], names.at[link.b.as_str()], ends, link.weight);
    }
    net.finish()
}

/// Returns the name of the first node that has no path from node 0.
fn find_unreached_node(net: &Topology) -> Option<&str> {
    let mut seen = vec![false; net.nodes.len()];
    let mut open = vec![0u32];
    seen[0] = true;
    while let Some(node) = open.pop() {
        for port in &net.nodes[node as usize].ports {
            if !std::mem::replace(&mut seen[port.peer as usize], true) {
                open.push(port.peer);
            }
        }
    }
    seen.iter().position(|s| !s).map(|at| net.nodes[at].name.as_str())
}
