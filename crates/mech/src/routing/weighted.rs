//! Random split of packets with given probabilities: the weights of the links (default 1 each), normalised over the
//! available next hops. The return path of a flow is chosen by its hash with the same shares, so that it never uses a
//! link of weight 0.

use super::{Ecmp, Hop, Routing};
use crate::params::Spec;
use crate::{Env, Head, HostId, SwitchContext};

/// Weighted random split of packets at one switch.
#[derive(Clone, Debug)]
pub struct Weighted {
    return_hash: Ecmp,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "weighted",
    doc: "Sends every packet along one of the paths, chosen at random in proportion to the weights of the links.",
    cite: "RFC 2992 §1; Zhou et al., \"WCMP\", EuroSys 2014",
    params: &[],
};

impl Weighted {
    /// Creates the weighted split with a hash for return paths, which take no random draw.
    pub const fn new(back: Ecmp) -> Weighted {
        Weighted { return_hash: back }
    }
}

/// Returns the index of the hop at the fraction `u` of the total weight; `None` if all weights are 0.
fn hop_at_weight(hops: &[Hop], u: f64) -> Option<usize> {
    let mut left = u * hops.iter().map(|hop| hop.weight).sum::<f64>();
    for (i, hop) in hops.iter().enumerate() {
        left -= hop.weight;
        if left < 0.0 {
            return Some(i);
        }
    }
    hops.iter().rposition(|hop| hop.weight > 0.0)
}

impl Routing for Weighted {
    fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], env: &mut Env) -> usize {
        hop_at_weight(hops, env.rng.uniform()).unwrap_or_else(|| self.return_hash.hash_index(pkt.hash, hops.len()))
    }
    fn hop_by_hash(&self, _host: HostId, hash: u32, hops: &[Hop]) -> usize {
        hop_at_weight(hops, self.return_hash.hash_fraction(hash))
            .unwrap_or_else(|| self.return_hash.hash_index(hash, hops.len()))
    }
    fn may_draw_hop(&self, hops: &[Hop], place: usize) -> bool {
        hops[place].weight > 0.0
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.return_hash = Ecmp::new(own.hash_seed);
    }
    fn needs_weights(&self) -> bool {
        true
    }
    fn clone_boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;
    use crate::testing::{DecisionInputs, parse_head};

    fn hops(weights: &[f64]) -> Vec<Hop> {
        weights.iter().enumerate().map(|(i, weight)| Hop { port: PortId(i as u16), weight: *weight }).collect()
    }
    fn chosen_hop(weights: &[f64], u: f64) -> usize {
        Weighted::new(Ecmp::new(0)).choose_hop(
            &parse_head(""),
            &hops(weights),
            &mut DecisionInputs::with_draws(&[u]).env(),
        )
    }

    #[test]
    fn draws_at_the_bounds_of_each_share_pick_the_right_hop() {
        // Shares of these weights: 1/8, 1/2, 3/8.
        let weights = [1.0, 4.0, 3.0];
        let cases = [(0.0, 0), (0.1249, 0), (0.125, 1), (0.6249, 1), (0.625, 2), (0.9999999999999999, 2)];
        for (u, place) in cases {
            assert_eq!(chosen_hop(&weights, u), place, "u = {u}");
        }
    }

    #[test]
    fn hop_of_weight_0_is_never_taken() {
        assert_eq!([chosen_hop(&[0.0, 1.0, 0.0], 0.0), chosen_hop(&[0.0, 1.0, 0.0], 0.9999999999999999)], [1, 1]);
        let weighted = Weighted::new(Ecmp::new(9));
        assert!((0..10_000).all(|hash| weighted.hop_by_hash(HostId(0), hash, &hops(&[0.0, 1.0, 0.0])) == 1));
    }

    #[test]
    fn draws_and_flow_hashes_are_split_by_the_weights() {
        // CP fig. 14: P = 0.3 over one aggregation switch, the rest over the other.
        let (mut weighted, mut desk) = (Weighted::new(Ecmp::new(1)), DecisionInputs::with_seed(8));
        let split = hops(&[0.3, 0.7]);
        let there = (0..100_000).filter(|_| weighted.choose_hop(&parse_head(""), &split, &mut desk.env()) == 0).count();
        let back = (0..100_000).filter(|hash| weighted.hop_by_hash(HostId(0), *hash, &split) == 0).count();
        // Five standard deviations of a binomial(100 000, 0.3) are 725.
        assert!(there.abs_diff(30_000) < 725 && back.abs_diff(30_000) < 725, "{there} {back}");
    }

    #[test]
    fn all_weights_0_fall_back_on_ecmp() {
        let (mut weighted, ecmp) = (Weighted::new(Ecmp::new(1)), Ecmp::new(1));
        for hash in 0..100 {
            let pkt = parse_head(&format!("hash={hash}"));
            let place = weighted.choose_hop(&pkt, &hops(&[0.0, 0.0, 0.0]), &mut DecisionInputs::with_seed(1).env());
            assert_eq!(place, ecmp.hash_index(hash, 3));
        }
    }
}
