//! Names of links, as users type them.

use super::{Node, Topology};

/// Link between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Name of the link: `a:b`, with the lower node first; `a:b:n` if several links join the two nodes.
    pub name: String,
    /// Suffix `:n` of the name if several links join the two nodes; empty otherwise.
    pub number: String,
    /// Node and port at the first end of the link, and at the second.
    pub ends: [(u32, u16); 2],
}

/// Largest number of link names that an error lists.
const MAX_LISTED_NAMES: usize = 12;

impl Topology {
    /// Returns the link that a text names. A host stands for its only link, and `a:b` for the link between two nodes.
    /// `a:b:n` is the n-th of several, from 0, in the order of the ports of the node with the lower number.
    ///
    /// # Errors
    /// Returns the expected form.
    pub fn find_link(&self, text: &str) -> Result<Link, String> {
        if let Some(node) = self.find_node(text) {
            let end = &self.nodes[node as usize].ports[..];
            return match (self.is_host(node), end) {
                (true, [port]) => Ok(self.link_between((node, 0), (port.peer, port.peer_port))),
                _ => {
                    Err(format!("a host or a link; the links of `{text}` are {}", format_list(&self.link_names(node))))
                }
            };
        }
        let readings = self.parse_name_pairs(text, ':');
        let links: Vec<_> = readings.iter().flat_map(|(ends, n)| self.links_between(*ends, *n)).collect();
        match (&links[..], &readings[..]) {
            ([one], _) => Ok(one.clone()),
            ([], []) => Err(format!("a host or a link `a:b`; the nodes are {}", format_list(&self.node_names()))),
            ([], [((a, _), _), ..]) => {
                let name = &self.nodes[*a as usize].name;
                Err(format!("a link; the links of `{name}` are {}", format_list(&self.link_names(*a))))
            }
            (several, _) => {
                let names: Vec<String> = several.iter().map(|link| link.name.clone()).collect();
                Err(format!("one of the links {}", format_list(&names)))
            }
        }
    }

    /// Returns the sending ends of the directions that a text names: both of a link, or with `a>b` instead of `a:b` the
    /// end at `a`.
    ///
    /// # Errors
    /// Returns the expected form.
    pub fn find_directions(&self, text: &str) -> Result<Vec<(u32, u16)>, String> {
        let readings = self.parse_name_pairs(text, '>');
        let Some(((from, _), _)) = readings.first() else { return self.find_link(text).map(|link| link.ends.to_vec()) };
        let one_way = |((a, b), n): &((u32, u32), Option<usize>)| {
            let links = self.links_between((*a, *b), *n);
            links.into_iter().flat_map(|link| link.ends).filter(|end| end.0 == *a).collect::<Vec<_>>()
        };
        let ends: Vec<_> = readings.iter().flat_map(one_way).collect();
        let name = &self.nodes[*from as usize].name;
        match ends.len() {
            1 => Ok(ends),
            0 => Err(format!("a link; the links of `{name}` are {}", format_list(&self.link_names(*from)))),
            _ => Err(format!(
                "one of several links, written as `a>b:n`; the links of `{name}` are \
                              {}",
                format_list(&self.link_names(*from))
            )),
        }
    }

    /// Parses a text as two node names and an optional number. Returns every reading, since names may contain `mark`.
    fn parse_name_pairs(&self, text: &str, mark: char) -> Vec<((u32, u32), Option<usize>)> {
        let mut found = Vec::new();
        for (at, _) in text.match_indices(mark) {
            let (Some(a), rest) = (self.find_node(&text[..at]), &text[at + 1..]) else { continue };
            found.extend(self.find_node(rest).map(|b| ((a, b), None)));
            if let Some((name, number)) = rest.rsplit_once(':') {
                let (b, number) = (self.find_node(name), number.parse().ok());
                found.extend(b.zip(number).map(|(b, n)| ((a, b), Some(n))));
            }
        }
        found
    }

    /// Returns all links between two nodes, or only the n-th of them.
    fn links_between(&self, (a, b): (u32, u32), n: Option<usize>) -> Vec<Link> {
        let (low, high) = (a.min(b), a.max(b));
        let ports = self.nodes[low as usize].ports.iter().zip(0..).filter(|(port, _)| port.peer == high);
        let all = ports.map(|(port, at)| self.link_between((low, at), (high, port.peer_port)));
        match n {
            None => all.collect(),
            Some(n) => all.skip(n).take(1).collect(),
        }
    }

    /// Returns the link that joins two ports.
    fn link_between(&self, a: (u32, u16), b: (u32, u16)) -> Link {
        let (low, high) = (a.min(b), a.max(b));
        let [first, second] = [low, high].map(|end| &self.nodes[end.0 as usize]);
        let of_pair = first.ports.iter().zip(0..).filter(|(port, _)| port.peer == high.0);
        let places: Vec<u16> = of_pair.map(|(_, at)| at).collect();
        let number = match places.iter().position(|at| *at == low.1) {
            Some(n) if places.len() > 1 => format!(":{n}"),
            _ => String::new(),
        };
        Link { name: format!("{}:{}{number}", first.name, second.name), number, ends: [low, high] }
    }

    /// Returns the names of a node's links.
    fn link_names(&self, node: u32) -> Vec<String> {
        let ports = self.nodes[node as usize].ports.iter().zip(0..);
        ports.map(|(port, at)| self.link_between((node, at), (port.peer, port.peer_port)).name).collect()
    }

    fn node_names(&self) -> Vec<String> {
        self.nodes.iter().map(|node: &Node| node.name.clone()).collect()
    }
}

/// Lists the first names, and the number of the others.
fn format_list(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(MAX_LISTED_NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(MAX_LISTED_NAMES) {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Port;
    use units::{Dur, Rate};

    /// Network with h0 and h1 at s0, two links from s0 to s1, and one to s2.
    fn small_network() -> Topology {
        let node = |name: &str| Node { name: name.into(), tier: "any".into(), ports: Vec::new() };
        let mut nodes: Vec<Node> = ["h0", "h1", "s0", "s1", "s2"].map(node).into();
        for (a, b) in [(0, 2), (1, 2), (3, 2), (2, 3), (4, 2)] {
            let (at_a, at_b) = (nodes[a].ports.len() as u16, nodes[b].ports.len() as u16);
            let port = |peer, peer_port| Port { peer, peer_port, rate: Rate::gbps(1), delay: Dur::us(1), weight: 1.0 };
            nodes[a].ports.push(port(b as u32, at_b));
            nodes[b].ports.push(port(a as u32, at_a));
        }
        Topology { nodes, hosts: 2, plan: None }
    }

    #[test]
    fn colon_names_both_directions_and_arrow_names_one() {
        let net = small_network();
        assert_eq!(net.find_directions("h0").unwrap(), [(0, 0), (2, 0)]);
        assert_eq!(net.find_directions("s0:h0").unwrap(), [(0, 0), (2, 0)]);
        assert_eq!(net.find_directions("h0>s0").unwrap(), [(0, 0)]);
        assert_eq!(net.find_directions("s0>h0").unwrap(), [(2, 0)]);
        assert_eq!(net.find_directions("s0>s1:1").unwrap(), [(2, 3)]);
        assert_eq!(net.find_directions("s1>s0:0").unwrap(), [(3, 0)]);
    }

    #[test]
    fn unknown_directions_are_refused_with_the_known_links() {
        let net = small_network();
        let of_s1 = "the links of `s1` are `s0:s1:0`, `s0:s1:1`";
        assert_eq!(
            net.find_directions("s1>s0").unwrap_err(),
            format!("one of several links, written as `a>b:n`; {of_s1}")
        );
        assert_eq!(net.find_directions("s1>s2").unwrap_err(), format!("a link; {of_s1}"));
        let nodes = "a host or a link `a:b`; the nodes are `h0`, `h1`, `s0`, `s1`, `s2`";
        assert_eq!(net.find_directions("h0>s9").unwrap_err(), nodes);
    }

    #[test]
    fn a_long_list_of_names_is_cut() {
        let names: Vec<String> = (0..15).map(|n| format!("n{n}")).collect();
        assert!(format_list(&names).ends_with("`n11` and 3 more"));
    }
}
