//! What a switch is, for the mechanisms in it.

use super::{AddressPlan, Paths, Position};
use crate::HostId;
use std::sync::Arc;

/// What a switch is, for mechanisms that are made ready for it.
#[derive(Clone, Copy)]
pub struct SwitchContext<'a> {
    /// The seed of its flow hash.
    pub hash_seed: u64,
    /// The seed of the flow hash that all switches of its tier share.
    pub tier_seed: u64,
    /// Its ports.
    pub ports: u16,
    /// The host of a name.
    pub host: &'a dyn Fn(&str) -> Option<HostId>,
    /// Where it stands, in a fat-tree.
    pub position: Option<(AddressPlan, Position)>,
    /// The paths of the network, and the number of this switch in them.
    pub paths: Option<(&'a Arc<Paths>, u32)>,
}

impl SwitchContext<'_> {
    /// A switch of so many ports with this seed, in no network.
    pub fn alone(hash_seed: u64, ports: u16) -> SwitchContext<'static> {
        SwitchContext { hash_seed, tier_seed: hash_seed, ports, host: &|_| None, position: None, paths: None }
    }
}
