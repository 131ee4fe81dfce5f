//! Choice among alternatives, such as next hops or paths, by the hash of a flow.

use crate::hash_mix;

/// Hash function over flow hashes, with a seed for each switch.
#[derive(Clone, Debug, Default)]
pub struct FlowHash {
    seed: u64,
}

impl FlowHash {
    /// Creates the hash function with the seed of one switch.
    pub const fn new(seed: u64) -> FlowHash {
        FlowHash { seed }
    }
    /// Maps the hash of a flow to a number in `[0, 1)`, a multiple of 2⁻³².
    pub const fn fraction(&self, hash: u32) -> f64 {
        (hash_mix(self.seed, hash as u64) >> 32) as f64 / (1u64 << 32) as f64
    }
    /// Maps the hash of a flow to an index below `n`.
    #[inline]
    pub const fn index_below(&self, hash: u32, n: usize) -> usize {
        (((hash_mix(self.seed, hash as u64) >> 32) * n as u64) >> 32) as usize
    }
}
