//! A random split with given probabilities, packet by packet: the shares are the weights of the
//! links (default 1 each), normalised over the next hops at hand.

use super::{Ecmp, Hop, Routing};
use crate::params::Spec;
use crate::{Env, Head};

/// See the module.
#[derive(Clone, Debug)]
pub struct Weighted {
    back: Ecmp,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "weighted",
    doc: "Every packet takes one of the paths at random, with the probabilities that the links' weights give.",
    cite: "RFC 2992 §1; Zhou et al., \"WCMP\", EuroSys 2014",
    params: &[],
};

impl Weighted {
    /// With the hash that answers for ways back.
    pub const fn new(back: Ecmp) -> Weighted {
        Weighted { back }
    }
}

impl Routing for Weighted {
    fn choose(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> usize {
        let total: f64 = hops.iter().map(|hop| hop.weight).sum();
        if total <= 0.0 {
            return self.back.place(pkt.hash, hops.len());
        }
        let mut left = env.rng.unit() * total;
        for (i, hop) in hops.iter().enumerate() {
            left -= hop.weight;
            if left < 0.0 {
                return i;
            }
        }
        hops.iter().rposition(|hop| hop.weight > 0.0).unwrap_or(0)
    }
    fn table(&self, hash: u32, hops: &[Hop]) -> usize {
        self.back.place(hash, hops.len())
    }
    fn boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}
