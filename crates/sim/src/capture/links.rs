//! Which links are meant by what a user types.

use scenario::topology::{Node, Topology};
use units::Rate;
use wire::Interface;

/// A link to be captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// `a:b`, the node with the lower number first; `a:b:n` where there are several.
    pub name: String,
    /// The port at its first end and at its second, counted over the whole network.
    pub(super) ports: [u32; 2],
    /// Its two directions.
    pub(super) interfaces: [Interface; 2],
}

/// How many names an error lists.
const LISTED: usize = 12;

/// The links that texts name, each once: a host stands for its only link, `a:b` for the link between
/// two nodes, `a:b:n` for the n-th of several, from 0, in the order of the ports of the node with the
/// lower number.
///
/// # Errors
/// A line for each text that names none, with what there is.
pub fn links(topology: &Topology, texts: &[String]) -> Result<Vec<Link>, Vec<String>> {
    let network = Network::new(topology);
    let (mut found, mut faults) = (Vec::<Link>::new(), Vec::new());
    for text in texts {
        match network.find(text) {
            Ok(link) if found.iter().all(|other| other.ports != link.ports) => found.push(link),
            Ok(_) => {}
            Err(expected) => faults.push(format!("--pcap: found `{text}`; expected {expected}")),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

struct Network<'a> {
    topology: &'a Topology,
    /// The first port of each node, counted over the whole network.
    base: Vec<u32>,
}

impl Network<'_> {
    fn new(topology: &Topology) -> Network<'_> {
        let next = |ports: &mut u32, node: &Node| {
            let first = *ports;
            *ports += node.ports.len() as u32;
            Some(first)
        };
        let base = topology.nodes.iter().scan(0, next).collect();
        Network { topology, base }
    }

    fn node(&self, node: u32) -> &Node {
        &self.topology.nodes[node as usize]
    }

    /// What a text names, or what it should have.
    fn find(&self, text: &str) -> Result<Link, String> {
        if let Some(node) = self.topology.node(text) {
            let end = &self.node(node).ports[..];
            return match (self.topology.is_host(node), end) {
                (true, [port]) => Ok(self.link((node, 0), (port.peer, port.peer_port))),
                _ => Err(format!("a host or a link; `{text}` has {}", listing(&self.names(node)))),
            };
        }
        let readings = self.readings(text);
        let links: Vec<_> = readings.iter().flat_map(|(ends, n)| self.between(*ends, *n)).collect();
        match (&links[..], &readings[..]) {
            ([one], _) => Ok(one.clone()),
            ([], []) => Err(format!("a host or a link `a:b`; nodes are {}", listing(&self.nodes()))),
            ([], [((a, _), _), ..]) => {
                Err(format!("a link; `{}` has {}", self.node(*a).name, listing(&self.names(*a))))
            }
            (several, _) => {
                let names: Vec<String> = several.iter().map(|link| link.name.clone()).collect();
                Err(format!("one link: {}", listing(&names)))
            }
        }
    }

    /// Every way to take a text apart into names of nodes, and a number; names may have colons.
    fn readings(&self, text: &str) -> Vec<((u32, u32), Option<usize>)> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(':') {
            let (Some(a), rest) = (self.topology.node(&text[..at]), &text[at + 1..]) else { continue };
            found.extend(self.topology.node(rest).map(|b| ((a, b), None)));
            if let Some((name, number)) = rest.rsplit_once(':') {
                let (b, number) = (self.topology.node(name), number.parse().ok());
                found.extend(b.zip(number).map(|(b, n)| ((a, b), Some(n))));
            }
        }
        found
    }

    /// The links between two nodes, or the n-th of them.
    fn between(&self, (a, b): (u32, u32), n: Option<usize>) -> Vec<Link> {
        let (low, high) = (a.min(b), a.max(b));
        let ports = self.node(low).ports.iter().zip(0..).filter(|(port, _)| port.peer == high);
        let all = ports.map(|(port, at)| self.link((low, at), (high, port.peer_port)));
        match n {
            None => all.collect(),
            Some(n) => all.skip(n).take(1).collect(),
        }
    }

    /// The link between two ports.
    fn link(&self, a: (u32, u16), b: (u32, u16)) -> Link {
        let (low, high) = (a.min(b), a.max(b));
        let of_pair = self.node(low.0).ports.iter().zip(0..).filter(|(port, _)| port.peer == high.0);
        let places: Vec<u16> = of_pair.map(|(_, at)| at).collect();
        let number = match places.iter().position(|at| *at == low.1) {
            Some(n) if places.len() > 1 => format!(":{n}"),
            _ => String::new(),
        };
        let port = |(node, port): (u32, u16)| self.base[node as usize] + u32::from(port);
        let name = |between: &str, from: u32, to: u32| {
            format!("{}{between}{}{number}", self.node(from).name, self.node(to).name)
        };
        let interface = |from: (u32, u16), to: u32| Interface {
            name: name(">", from.0, to),
            speed_bps: whole(self.node(from.0).ports[usize::from(from.1)].rate),
        };
        Link {
            name: name(":", low.0, high.0),
            ports: [port(low), port(high)],
            interfaces: [interface(low, high.0), interface(high, low.0)],
        }
    }

    /// The names of a node's links.
    fn names(&self, node: u32) -> Vec<String> {
        let ports = self.node(node).ports.iter().zip(0..);
        ports.map(|(port, at)| self.link((node, at), (port.peer, port.peer_port)).name).collect()
    }

    fn nodes(&self) -> Vec<String> {
        self.topology.nodes.iter().map(|node| node.name.clone()).collect()
    }
}

/// A rate in bits per second, where that is a whole number.
fn whole(rate: Rate) -> Option<u64> {
    let bps = rate.as_f64();
    (bps.fract() == 0.0 && bps < 2f64.powi(53)).then_some(bps as u64)
}

/// Some names, and how many more there are.
fn listing(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(LISTED) {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

#[cfg(test)]
mod tests;
