//! Choice among alternatives by the hash of a flow.

use crate::hash_mix;

/// Seeded hash of flow hashes, with a seed for each switch.
#[derive(Clone, Debug, Default)]
pub struct FlowHash {
    seed: u64,
}

impl FlowHash {
    /// Creates the hash with the seed of one switch.
    pub const fn new(seed: u64) -> FlowHash {
        FlowHash { seed }
    }
    /// Returns a number in `[0, 1)` for a flow hash, a multiple of 2⁻³².
    pub const fn fraction(&self, hash: u32) -> f64 {
        (hash_mix(self.seed, hash as u64) >> 32) as f64 / (1u64 << 32) as f64
    }
    /// Returns an index below `n` for a flow hash.
    #[inline]
    pub const fn index_below(&self, hash: u32, n: usize) -> usize {
        (((hash_mix(self.seed, hash as u64) >> 32) * n as u64) >> 32) as usize
    }
}
