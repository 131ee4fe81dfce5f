//! The sets of next hops of a routing table.

use super::ONLY;
use crate::topology::Node;
use mech::routing::Hop;
use mech::{PortId, hash_mix};
use std::collections::HashMap;

/// Sets of next hops, each once.
#[derive(Default)]
pub(super) struct Sets {
    pub groups: Vec<(u32, u32)>,
    pub hops: Vec<Hop>,
    /// By hash, or the next number that is free.
    known: HashMap<u64, u32>,
}

impl Sets {
    /// What the table says of these ports of a switch, for one edge switch after the other.
    pub fn enter_all(&mut self, switch: &Node, ways: &[Vec<u16>; 64], asks: bool, row: &mut [u32]) {
        let hop = |port: &u16| Hop { port: PortId(*port), weight: switch.ports[usize::from(*port)].weight };
        // Most edge switches are reached as their neighbours are.
        let mut last: Option<(&[u16], u32)> = None;
        for (entry, ports) in row.iter_mut().zip(ways) {
            *entry = match (ports.as_slice(), last) {
                ([only], _) if !asks => ONLY | u32::from(*only),
                (ports, Some((same, group))) if ports == same => group,
                (ports, _) => self.enter(ports.iter().map(hop)),
            };
            last = Some((ports.as_slice(), *entry));
        }
    }

    pub fn enter(&mut self, set: impl ExactSizeIterator<Item = Hop> + Clone) -> u32 {
        let mix = |hash, hop: Hop| hash_mix(hash ^ hop.weight.to_bits(), u64::from(hop.port.0));
        let mut hash = set.clone().fold(set.len() as u64, mix);
        while let Some(group) = self.known.get(&hash) {
            let (start, len) = self.groups[*group as usize];
            if self.hops[start as usize..(start + len) as usize].iter().copied().eq(set.clone()) {
                return *group;
            }
            hash = hash.wrapping_add(1);
        }
        let group = self.groups.len() as u32;
        self.known.insert(hash, group);
        self.groups.push((self.hops.len() as u32, set.len() as u32));
        self.hops.extend(set);
        group
    }
}
