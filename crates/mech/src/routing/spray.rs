//! Packet spraying: every packet draws its next hop (Dixit et al., "On the impact of packet spraying in data center
//! networks", INFOCOM 2013).

use super::{Ecmp, Hop, Routing};
use crate::params::Spec;
use crate::{Env, Head, HostId, SwitchContext};

/// Packet spraying at one switch.
#[derive(Clone, Debug)]
pub struct Spray {
    return_hash: Ecmp,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "spray",
    doc: "Sends every packet along one of the equal-cost paths, chosen at random.",
    cite: "Dixit et al. 2013",
    params: &[],
};

impl Spray {
    /// Creates packet spraying with a hash for return paths, which take no random draw.
    pub const fn new(back: Ecmp) -> Spray {
        Spray { return_hash: back }
    }
}

impl Routing for Spray {
    fn choose_hop(&mut self, _pkt: &Head, hops: &[Hop], env: &mut Env) -> usize {
        env.rng.uniform_below(hops.len() as u64) as usize
    }
    fn hop_by_hash(&self, _host: HostId, hash: u32, hops: &[Hop]) -> usize {
        self.return_hash.hash_index(hash, hops.len())
    }
    fn may_draw_hop(&self, _hops: &[Hop], _place: usize) -> bool {
        true
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.return_hash = Ecmp::new(own.hash_seed);
    }
    fn clone_boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;
    use crate::testing::{DecisionInputs, chi_square, parse_head};

    #[test]
    fn spray_spreads_packets_evenly_and_keeps_the_reverse_hop() {
        let hops: Vec<Hop> = (0..4).map(|port| Hop { port: PortId(port), weight: 1.0 }).collect();
        let (mut spray, mut desk, mut counts) = (Spray::new(Ecmp::new(3)), DecisionInputs::with_seed(6), [0u32; 4]);
        let back = spray.hop_by_hash(HostId(0), 5, &hops);
        for _ in 0..40_000 {
            counts[spray.choose_hop(&parse_head("hash=5"), &hops, &mut desk.env())] += 1;
            assert_eq!(spray.hop_by_hash(HostId(0), 5, &hops), back);
        }
        // The 99.99 % point of χ² with 3 degrees of freedom is 21.1.
        assert!(chi_square(&counts) < 21.1, "{counts:?}");
        assert_eq!(back, Ecmp::new(3).hash_index(5, 4));
    }
}
