//! Equal-cost multipath: a hash of the 5-tuple picks the next hop, so that a flow keeps its path (RFC 2992). Every
//! switch hashes with its own seed. With one seed, all tiers would choose alike and use one path in k.
//!
//! A symmetric hash is the same for both directions of a flow, and switches of one tier share a seed. Then the edge
//! switches of both ends choose the same index among their uplinks, and so do the aggregation switches above them. So
//! in a leaf-spine or a fat-tree, ACKs cross the links of their data. Seeds of tiers still differ.

use super::{FlowHash, Hop, Routing};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{Env, Head, HostId, SwitchContext};

params! {
    /// Parameter values of `ecmp`.
    pub(crate) struct Params {
        symmetric: bool = {
            doc: "Uses one hash for both directions of a flow, and one seed for the switches of a tier, so that ACKs \
                  return over the links of their data. Set the same value at all switches.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
    }
}

/// Equal-cost multipath (ECMP) at one switch.
#[derive(Clone, Debug, Default)]
pub struct Ecmp {
    hash: FlowHash,
    is_symmetric: bool,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "ecmp",
    doc: "Keeps a flow on one of the equal-cost paths, chosen by a hash with a seed of each switch.",
    cite: "RFC 2992",
    params: Params::PARAMS,
};

impl Ecmp {
    /// Creates ECMP from validated parameters.
    pub fn from_values(values: &Values) -> Ecmp {
        Ecmp { is_symmetric: Params::read(values).symmetric, ..Ecmp::default() }
    }
    /// Creates ECMP with the hash seed of one switch.
    pub const fn new(seed: u64) -> Ecmp {
        Ecmp { hash: FlowHash::new(seed), is_symmetric: false }
    }
    /// Maps the hash of a flow to a number in `[0, 1)`, with the seed of the switch.
    pub const fn hash_fraction(&self, hash: u32) -> f64 {
        self.hash.fraction(hash)
    }
    /// Maps the hash of a flow to an index below `n`, with the seed of the switch.
    #[inline]
    pub const fn hash_index(&self, hash: u32, n: usize) -> usize {
        self.hash.index_below(hash, n)
    }
}

impl Routing for Ecmp {
    #[inline]
    fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> usize {
        self.hash_index(pkt.hash, hops.len())
    }
    fn hop_by_hash(&self, _host: HostId, hash: u32, hops: &[Hop]) -> usize {
        self.hash_index(hash, hops.len())
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.hash = FlowHash::new(if self.is_symmetric { own.tier_seed } else { own.hash_seed });
    }
    fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }
    fn clone_boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;
    use crate::testing::{DecisionInputs, chi_square, parse_head, values};

    fn hops(n: u16) -> Vec<Hop> {
        (0..n).map(|port| Hop { port: PortId(port), weight: 1.0 }).collect()
    }

    #[test]
    fn flow_keeps_its_hop_and_hop_by_hash_agrees() {
        let mut ecmp = Ecmp::new(77);
        for hash in 0..1000u32 {
            let pkt = parse_head(&format!("hash={hash}"));
            let first = ecmp.choose_hop(&pkt, &hops(4), &mut DecisionInputs::with_draws(&[]).env());
            assert_eq!(first, ecmp.choose_hop(&pkt, &hops(4), &mut DecisionInputs::with_draws(&[]).env()));
            assert_eq!(first, ecmp.hop_by_hash(HostId(0), hash, &hops(4)));
        }
    }

    #[test]
    fn flows_spread_evenly_over_any_number_of_paths() {
        // Bounds are the 99.99 % points of χ² with n - 1 degrees of freedom.
        for (n, bound) in [(2, 15.2), (3, 18.4), (4, 21.1), (7, 27.9), (8, 29.9), (16, 44.3)] {
            for seed in [0, 1, 2, u64::MAX] {
                let mut counts = vec![0u32; n];
                (0..40_000u32).for_each(|hash| counts[Ecmp::new(seed).hash_index(hash, n)] += 1);
                assert!(chi_square(&counts) < bound, "{n} paths, seed {seed}: {counts:?}");
            }
        }
    }

    #[test]
    fn symmetric_uses_the_tier_seed_and_otherwise_the_switch_seed() {
        let place = |text: &str, own: &SwitchContext| {
            let mut ecmp = Ecmp::from_values(&values(&SPEC, text));
            ecmp.for_switch(own);
            (0..100).map(|hash| ecmp.hash_index(hash, 8)).collect::<Vec<_>>()
        };
        let of = |hash_seed, tier_seed| SwitchContext { tier_seed, ..SwitchContext::without_network(hash_seed, 8) };
        let symmetric = place("symmetric=true", &of(1, 7));
        assert_eq!(symmetric, place("symmetric=true", &of(2, 7)));
        assert_ne!(symmetric, place("symmetric=true", &of(1, 8)));
        let usual = place("", &of(1, 7));
        assert_eq!(usual, place("", &of(1, 8)));
        assert_ne!(usual, place("", &of(2, 7)));
    }

    #[test]
    fn switches_of_different_seeds_decide_independently() {
        for (a, b) in [(0, 1), (1, 2), (1, 1 << 32), (5, 0x9E37_79B9_7F4A_7C15)] {
            let (first, second) = (Ecmp::new(a), Ecmp::new(b));
            let mut joint = [0u32; 16];
            (0..40_000u32).for_each(|hash| joint[first.hash_index(hash, 4) * 4 + second.hash_index(hash, 4)] += 1);
            // The 99.99 % point of χ² with 15 degrees of freedom is 44.3.
            assert!(chi_square(&joint) < 44.3, "seeds {a} and {b}: {joint:?}");
        }
    }
}
