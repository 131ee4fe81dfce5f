//! The links by which packets of a flow may go, hop by hop.

use units::{Dur, Rate};

/// A link by which a packet may cross one hop of its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// Which hop it is, from 0; those of a flow's links are in this order.
    pub hop: u32,
    /// The place of the node that sends, among those that send at this hop.
    pub from: u32,
    /// The place of the node that receives, among those that send at the next hop.
    pub to: u32,
    /// The link's rate.
    pub rate: Rate,
    /// The link's delay.
    pub delay: Dur,
}

/// The links of each hop: one where every packet takes it, several where switches draw.
pub(crate) fn hops(ways: &[Way]) -> impl Iterator<Item = &[Way]> {
    ways.chunk_by(|a, b| a.hop == b.hop)
}

/// The least that a sum over the links of a way may be, hop after hop, from one node to others by their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Least(Vec<u64>);

impl Least {
    /// Goes on over one more hop, of which each link costs so much.
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

    /// To this node: nothing where no hop was crossed.
    pub fn at(&self, place: u32) -> u64 {
        self.0.get(place as usize).copied().unwrap_or(0)
    }

    /// To the node to which it is the least.
    pub fn least(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }
}
