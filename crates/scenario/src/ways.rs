//! Links that packets of a flow may cross, hop by hop.

use units::{Dur, Rate};

/// Link that a packet may cross at one hop of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// Number of the hop from 0; the links of a flow are in order of hops.
    pub hop: u32,
    /// Index of the sending node among those that send at this hop.
    pub from: u32,
    /// Index of the receiving node among those that send at the next hop.
    pub to: u32,
    /// Rate of the link.
    pub rate: Rate,
    /// Propagation delay of the link.
    pub delay: Dur,
}

/// Groups links by hop: one link if every packet takes it, several if switches draw.
pub(crate) fn hops(ways: &[Way]) -> impl Iterator<Item = &[Way]> {
    ways.chunk_by(|a, b| a.hop == b.hop)
}

/// Least sum of costs over the links of a path, for each node that the current hop leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Least(Vec<u64>);

impl Least {
    /// Adds a hop whose links have these costs.
    pub fn cross(&mut self, links: &[Way], cost: impl Fn(&Way) -> u64) {
        let nodes = links.iter().map(|link| link.to + 1).max().unwrap_or(0);
        let mut next = vec![u64::MAX; nodes as usize];
        for link in links {
            let sum = self.at(link.from).saturating_add(cost(link));
            let least = &mut next[link.to as usize];
            *least = sum.min(*least);
        }
        self.0 = next;
    }

    /// Returns the least sum to the node with this index; 0 if no hop was added.
    pub fn at(&self, place: u32) -> u64 {
        self.0.get(place as usize).copied().unwrap_or(0)
    }

    /// Returns the least sum to any node.
    pub fn least(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }
}
