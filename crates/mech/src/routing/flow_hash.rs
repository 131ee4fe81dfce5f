//! One of several, by a flow's hash.

use crate::hash_mix;

/// What a switch makes of flow hashes, by a seed of its own.
#[derive(Clone, Debug, Default)]
pub struct FlowHash {
    seed: u64,
}

impl FlowHash {
    /// With the seed of one switch.
    pub const fn new(seed: u64) -> FlowHash {
        FlowHash { seed }
    }
    /// The number in `[0, 1)`, a multiple of 2⁻³², that a flow hash gets here.
    pub const fn unit(&self, hash: u32) -> f64 {
        (hash_mix(self.seed, hash as u64) >> 32) as f64 / (1u64 << 32) as f64
    }
    /// The place, below `n`, that a flow hash gets here.
    #[inline]
    pub const fn place(&self, hash: u32, n: usize) -> usize {
        (((hash_mix(self.seed, hash as u64) >> 32) * n as u64) >> 32) as usize
    }
}
