//! Sets of next hops of a routing table.

use super::SINGLE_HOP_FLAG;
use crate::topology::Node;
use mech::routing::Hop;
use mech::{PortId, hash_mix};
use std::collections::HashMap;

/// Distinct sets of next hops.
#[derive(Default)]
pub(super) struct NextHopSets {
    pub groups: Vec<(u32, u32)>,
    pub hops: Vec<Hop>,
    /// Number of each set of next hops by its hash, or by the next free key after a collision.
    known: HashMap<u64, u32>,
}

impl NextHopSets {
    /// Fills a row of the routing table, for one switch and up to 64 edge switches.
    /// `ports_by_edge_switch` has the ports toward each.
    pub fn fill_row(
        &mut self,
        switch: &Node,
        ports_by_edge_switch: &[Vec<u16>; 64],
        uses_routing_slot: bool,
        row: &mut [u32],
    ) {
        let hop = |port: &u16| Hop { port: PortId(*port), weight: switch.ports[usize::from(*port)].weight };
        // Most edge switches have the same next hops as their neighbours, so comparing with the last set saves a
        // lookup.
        let mut last: Option<(&[u16], u32)> = None;
        for (entry, ports) in row.iter_mut().zip(ports_by_edge_switch) {
            *entry = match (ports.as_slice(), last) {
                ([only], _) if !uses_routing_slot => SINGLE_HOP_FLAG | u32::from(*only),
                (ports, Some((same, group))) if ports == same => group,
                (ports, _) => self.entry_of_set(ports.iter().map(hop)),
            };
            last = Some((ports.as_slice(), *entry));
        }
    }

    pub fn entry_of_set(&mut self, set: impl ExactSizeIterator<Item = Hop> + Clone) -> u32 {
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
