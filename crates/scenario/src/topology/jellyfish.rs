//! Jellyfish: switches joined at random, each to the same number of others.
//!
//! Two switches that both have a free port and no common link are joined. Each such pair has equal probability, and
//! joining ends when there is none (§3). If ports are left, a link between two other switches is removed, and its ends
//! are joined with free ports. These belong to one switch with two free ports, or to two switches that are linked
//! already. So every port is used in the end. A graph that is not connected is drawn again.
//!
//! A switch has its hosts first, then its neighbours in the order of their numbers.

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, HOSTS_PER_SWITCH, LINK_BACK_DELAY,
    LINK_BACK_RATE, LINK_DELAY, LINK_RATE, OVERSUBSCRIPTION, read_tier_links,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{Stream, StreamPurpose};
use std::collections::BTreeSet;

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "jellyfish",
    doc: "Random graph of switches `s0`…, each linked to `degree` others, with hosts `h0`… switch by switch. The graph \
          is part of the scenario and does not change with the seed of a run.",
    cite: "Singla et al., \"Jellyfish: networking data centers randomly\", NSDI 2012 §3",
    params: &[
        Param {
            name: "switches",
            doc: "Number of switches (N).",
            kind: ParamKind::Count { min: 2, max: 4096 },
            default: None,
        },
        Param {
            name: "degree",
            doc: "Number of ports of a switch toward other switches (r), fewer than the number of switches; the total \
                  number of such ports is even.",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: None,
        },
        HOSTS_PER_SWITCH,
        Param {
            name: "seed",
            doc: "Seed of the graph, independent of the seed of the run.",
            kind: ParamKind::Count { min: 0, max: i64::MAX as u64 },
            default: Some("1"),
        },
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
        FABRIC_RATE,
        FABRIC_DELAY,
        FABRIC_BACK_RATE,
        FABRIC_BACK_DELAY,
        OVERSUBSCRIPTION,
    ],
};

/// Number of graphs that are drawn before the build fails; with two links per switch few are connected.
const MAX_GRAPH_DRAWS: u64 = 100;
/// Number of random pairs that are tried before all possible pairs are listed.
const MAX_PAIR_DRAWS: u32 = 64;

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    Counts::equal_switches(values.count("switches"), values.count("hosts_per_switch"), values.count("degree"))
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let (switches, hosts) = (values.count("switches"), values.count("hosts_per_switch"));
    let degree = values.count("degree");
    let fault = |field: &str, found: String, rule: &str| vec![Fault { field: field.into(), found, rule: rule.into() }];
    if degree >= switches {
        return Err(fault("degree", format!("{degree} of {switches} switches"), "fewer than the number of switches"));
    }
    if switches * degree % 2 == 1 {
        let found = format!("{degree} ports of each of {switches} switches");
        return Err(fault("degree", found, "an even number of ports in all"));
    }
    let (host, fabric) = read_tier_links(values, hosts, degree)?;
    let stream = |n| Stream::new(values.count("seed"), 0, StreamPurpose::Custom(0)).at_position(n);
    let drawn =
        (0..MAX_GRAPH_DRAWS).map(|n| SwitchGraph::draw_graph(switches as usize, degree as usize, &mut stream(n)));
    let Some(graph) = drawn.into_iter().find(SwitchGraph::is_connected) else {
        let found = format!(
            "{switches} switches of degree {degree}, for which none of {MAX_GRAPH_DRAWS} drawn graphs is connected"
        );
        return Err(fault("degree", found, "a degree of 3 or more, or another seed"));
    };
    let (switches, hosts) = (switches as u32, hosts as u32);
    let mut net = Builder::with_hosts(switches * hosts);
    let first = net.add_switches(switches, "s", "switch");
    (0..first).for_each(|h| net.connect(h, first + h / hosts, host));
    graph.list_links().for_each(|(a, b)| net.connect(first + a as u32, first + b as u32, fabric));
    Ok(net.finish())
}

/// Graph of switches, as the set of neighbours of each switch.
struct SwitchGraph {
    neighbours: Vec<BTreeSet<usize>>,
    degree: usize,
}

impl SwitchGraph {
    /// Draws a graph in which every switch has `degree` links. PRECONDITION: `degree` is below `n`, and their product
    /// is even.
    fn draw_graph(n: usize, degree: usize, draw: &mut Stream) -> SwitchGraph {
        let mut graph = SwitchGraph { neighbours: vec![BTreeSet::new(); n], degree };
        let mut free: Vec<usize> = (0..n).collect();
        while !free.is_empty() {
            let full = |graph: &SwitchGraph, switch: usize| graph.neighbours[switch].len() == degree;
            match graph.find_pair(&free, draw) {
                Some((a, b)) => {
                    graph.add_link(a, b);
                    if !full(&graph, a) && !full(&graph, b) {
                        continue;
                    }
                }
                None => graph.split_link(&free, draw),
            }
            free.retain(|switch| !full(&graph, *switch));
        }
        graph
    }

    fn add_link(&mut self, a: usize, b: usize) {
        self.neighbours[a].insert(b);
        self.neighbours[b].insert(a);
    }
    fn can_link(&self, a: usize, b: usize) -> bool {
        a != b && !self.neighbours[a].contains(&b)
    }

    /// Returns two of these switches that may be joined, if there are any.
    fn find_pair(&self, free: &[usize], draw: &mut Stream) -> Option<(usize, usize)> {
        for _ in 0..MAX_PAIR_DRAWS {
            let mut toss = || free[draw.uniform_below(free.len() as u64) as usize];
            let (a, b) = (toss(), toss());
            if self.can_link(a, b) {
                return Some((a, b));
            }
        }
        let pairs = free.iter().flat_map(|a| free.iter().map(move |b| (*a, *b)));
        let open: Vec<_> = pairs.filter(|(a, b)| a < b && self.can_link(*a, *b)).collect();
        (!open.is_empty()).then(|| open[draw.uniform_below(open.len() as u64) as usize])
    }

    /// Removes a link, and joins its ends with switches that have free ports and are all linked with each other.
    ///
    /// Such a link always exists. A switch that is no neighbour of the first of them has all its links, and these are
    /// more than the neighbours of the second.
    fn split_link(&mut self, free: &[usize], draw: &mut Stream) {
        let a = free[0];
        let b = if self.degree - self.neighbours[a].len() >= 2 { a } else { free[1] };
        let both = self.list_links().flat_map(|(x, y)| [(x, y), (y, x)]);
        let fits = |(x, y): &(usize, usize)| self.can_link(a, *x) && self.can_link(b, *y);
        let open: Vec<_> = both.filter(fits).collect();
        let (x, y) = open[draw.uniform_below(open.len() as u64) as usize];
        self.neighbours[x].remove(&y);
        self.neighbours[y].remove(&x);
        self.add_link(a, x);
        self.add_link(b, y);
    }

    /// Returns each link once, from its lower end.
    fn list_links(&self) -> impl Iterator<Item = (usize, usize)> {
        let each = self.neighbours.iter().enumerate();
        each.flat_map(|(a, near)| near.iter().filter(move |b| a < **b).map(move |b| (a, *b)))
    }

    fn is_connected(&self) -> bool {
        let (mut seen, mut next) = (BTreeSet::from([0]), vec![0]);
        while let Some(at) = next.pop() {
            next.extend(self.neighbours[at].iter().filter(|other| seen.insert(**other)));
        }
        seen.len() == self.neighbours.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(degree: usize, near: &[&[usize]]) -> SwitchGraph {
        SwitchGraph { neighbours: near.iter().map(|near| near.iter().copied().collect()).collect(), degree }
    }
    fn draw(seed: u64) -> Stream {
        Stream::new(seed, 0, StreamPurpose::Custom(0))
    }

    #[test]
    fn a_switch_with_two_ports_left_takes_the_place_of_a_link() {
        // Five switches are linked with each other and have no free port, so the sixth must split their links.
        let full = [&[1, 2, 3, 4][..], &[0, 2, 3, 4], &[0, 1, 3, 4], &[0, 1, 2, 4], &[0, 1, 2, 3], &[]];
        for seed in 0..50 {
            let (mut graph, mut draw) = (graph(4, &full), draw(seed));
            assert_eq!(graph.find_pair(&[5], &mut draw), None);
            graph.split_link(&[5], &mut draw);
            let taken: Vec<_> = graph.neighbours[5].iter().copied().collect();
            assert_eq!(taken.len(), 2);
            assert!(!graph.neighbours[taken[0]].contains(&taken[1]), "their link is gone");
            graph.split_link(&[5], &mut draw);
            assert!(graph.neighbours.iter().all(|near| near.len() == 4));
        }
    }

    #[test]
    fn two_neighbours_with_a_port_left_each_take_one_end_of_a_link() {
        let stuck = [&[1, 2][..], &[0, 3], &[0, 4, 5], &[1, 4, 5], &[2, 3, 5], &[2, 3, 4]];
        for seed in 0..50 {
            let (mut graph, mut draw) = (graph(3, &stuck), draw(seed));
            assert_eq!(graph.find_pair(&[0, 1], &mut draw), None);
            graph.split_link(&[0, 1], &mut draw);
            assert!(graph.neighbours.iter().all(|near| near.len() == 3));
            let told = |(a, near): (usize, &BTreeSet<usize>)| {
                near.iter().all(|b| *b != a && graph.neighbours[*b].contains(&a))
            };
            assert!(graph.neighbours.iter().enumerate().all(told), "links have two ends");
        }
    }

    #[test]
    fn graphs_that_get_stuck_are_finished_by_split_links() {
        // True if joining six switches in random pairs, to four links each, leaves free ports that cannot be joined.
        let stuck = |seed| {
            let mut graph = graph(4, &[&[] as &[usize]; 6]);
            let mut draw = draw(seed);
            let mut free: Vec<_> = (0..6).collect();
            while let Some((a, b)) = (free.len() > 1).then(|| graph.find_pair(&free, &mut draw)).flatten() {
                graph.add_link(a, b);
                free.retain(|switch| graph.neighbours[*switch].len() < 4);
            }
            !free.is_empty()
        };
        let seeds: Vec<_> = (0..100).filter(|seed| stuck(*seed)).collect();
        assert!((5..95).contains(&seeds.len()), "{seeds:?}");
        for seed in seeds {
            assert!(SwitchGraph::draw_graph(6, 4, &mut draw(seed)).neighbours.iter().all(|near| near.len() == 4));
        }
    }
}
