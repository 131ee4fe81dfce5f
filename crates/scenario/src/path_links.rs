//! Links that packets of a flow may cross, hop by hop.

use units::{Dur, Rate};

/// Link that a packet may cross at one hop of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathLink {
    /// Number of the hop from 0; the links of a flow are in order of hops.
    pub hop: u32,
    /// Index of the sending node in the list of nodes that send at this hop.
    pub from: u32,
    /// Index of the receiving node in the list of nodes that send at the next hop.
    pub to: u32,
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Dur,
}

/// Groups links by hop: a single link if every packet takes it, several if switches choose one.
pub(crate) fn links_by_hop(ways: &[PathLink]) -> impl Iterator<Item = &[PathLink]> {
    ways.chunk_by(|a, b| a.hop == b.hop)
}

/// Least cost of a path to each node that the current hop leads to, as a sum over the links of the path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathCosts(Vec<u64>);

impl PathCosts {
    /// Adds a hop over these links; `cost` returns the cost of each.
    pub fn add_hop(&mut self, links: &[PathLink], cost: impl Fn(&PathLink) -> u64) {
        let nodes = links.iter().map(|link| link.to + 1).max().unwrap_or(0);
        let mut next = vec![u64::MAX; nodes as usize];
        for link in links {
            let sum = self.cost_to(link.from).saturating_add(cost(link));
            let least = &mut next[link.to as usize];
            *least = sum.min(*least);
        }
        self.0 = next;
    }

    /// Returns the least cost of a path to the node with this index; 0 if no hop was added.
    pub fn cost_to(&self, place: u32) -> u64 {
        self.0.get(place as usize).copied().unwrap_or(0)
    }

    /// Returns the least cost of a path to any node that the current hop leads to.
    pub fn min_cost(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }
}
