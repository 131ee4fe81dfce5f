//! Properties of a switch for its mechanisms.

use super::{AddressPlan, FatTreePosition, Paths};
use crate::HostId;
use std::sync::Arc;

/// Properties of a switch for which mechanisms are prepared.
#[derive(Clone, Copy)]
pub struct SwitchContext<'a> {
    /// Seed of the switch's flow hash.
    pub hash_seed: u64,
    /// Seed of the flow hash that all switches of the tier share.
    pub tier_seed: u64,
    /// Number of ports of the switch.
    pub ports: u16,
    /// Returns the host with this name, if it exists.
    pub host: &'a dyn Fn(&str) -> Option<HostId>,
    /// Address plan of the fat-tree, and position of the switch in it; `None` in other networks.
    pub position: Option<(AddressPlan, FatTreePosition)>,
    /// Computed paths of the network, and the number of this switch in them.
    pub paths: Option<(&'a Arc<Paths>, u32)>,
}

impl SwitchContext<'_> {
    /// Creates the context of a switch with a seed and a number of ports, outside of any network.
    pub fn without_network(hash_seed: u64, ports: u16) -> SwitchContext<'static> {
        SwitchContext { hash_seed, tier_seed: hash_seed, ports, host: &|_| None, position: None, paths: None }
    }
}
