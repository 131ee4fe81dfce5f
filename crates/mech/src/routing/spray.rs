//! Packet spraying: every packet draws its next hop (Dixit et al., "On the impact of packet
//! spraying in data center networks", INFOCOM 2013).

use super::{Ecmp, Hop, Routing};
use crate::params::Spec;
use crate::{Env, Head};

/// See the module.
#[derive(Clone, Debug)]
pub struct Spray {
    back: Ecmp,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "spray",
    doc: "Every packet takes one of the equal-cost paths at random.",
    cite: "Dixit et al. 2013",
    params: &[],
};

impl Spray {
    /// With the hash that answers for ways back.
    pub const fn new(back: Ecmp) -> Spray {
        Spray { back }
    }
}

impl Routing for Spray {
    fn choose(&mut self, _pkt: &Head, hops: &[Hop], env: &mut Env) -> usize {
        env.rng.below(hops.len() as u64) as usize
    }
    fn table(&self, hash: u32, hops: &[Hop]) -> usize {
        self.back.place(hash, hops.len())
    }
    fn boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}
