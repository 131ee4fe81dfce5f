//! Equal-cost multipath: a hash of the 5-tuple picks the next hop, so that a flow keeps its path
//! (RFC 2992). Every switch hashes with a seed of its own, else all tiers would agree and use one
//! path in k.

use super::{Hop, Routing};
use crate::params::Spec;
use crate::{Env, Head, hash_mix};

/// See the module.
#[derive(Clone, Debug)]
pub struct Ecmp {
    seed: u64,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "ecmp",
    doc: "A flow keeps one of the equal-cost paths, chosen by a hash that every switch seeds itself.",
    cite: "RFC 2992",
    params: &[],
};

impl Ecmp {
    /// With the seed of one switch.
    pub const fn new(seed: u64) -> Ecmp {
        Ecmp { seed }
    }
    /// The place, below `n`, that a flow hash gets here.
    #[inline]
    pub const fn place(&self, hash: u32, n: usize) -> usize {
        (((hash_mix(self.seed, hash as u64) >> 32) * n as u64) >> 32) as usize
    }
}

impl Routing for Ecmp {
    #[inline]
    fn choose(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> usize {
        self.place(pkt.hash, hops.len())
    }
    fn table(&self, hash: u32, hops: &[Hop]) -> usize {
        self.place(hash, hops.len())
    }
    fn boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}
