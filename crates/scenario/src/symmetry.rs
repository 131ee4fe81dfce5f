//! Test of whether both directions of a flow cross the same links. It assumes a hash that is the same for both
//! directions and one seed for all switches of a tier.
//!
//! Multi-rooted trees pass: the choice upward is then the same from both ends. In other networks it depends on the
//! order of ports, so the test tries flows.

use crate::routes::Routes;
use crate::topology::Topology;
use mech::HostId;
use mech::routing::{FlowHash, Hop};

/// Number of flows that are tried between two switches with hosts.
const FLOWS_PER_PAIR: u32 = 8;
/// Approximate largest number of pairs of switches that are tried.
const MAX_TRIED_PAIRS: usize = 2_000;

/// Number of tried flows, and number of tried flows whose two directions cross different links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SymmetryTrial {
    pub flows: u64,
    pub asymmetric_flows: u64,
}

impl SymmetryTrial {
    /// Tries flows between the first hosts of edge switches, evenly over all pairs if there are too many.
    pub fn new(net: &Topology) -> SymmetryTrial {
        let (routes, first) = (Routes::compute(net), net.first_switch_of_tier());
        let mut hosts: Vec<HostId> = (0..net.hosts).map(HostId).collect();
        hosts.dedup_by_key(|host| net.edge_switch(*host));
        let pairs = (0..hosts.len()).flat_map(|to| (0..to).map(move |from| (from, to)));
        let step = (hosts.len() * hosts.len() / 2).div_ceil(MAX_TRIED_PAIRS).max(1);
        let mut tried = SymmetryTrial::default();
        for (from, to) in pairs.step_by(step) {
            for n in 0..FLOWS_PER_PAIR {
                let hash = n.wrapping_mul(0x9E37_79B9);
                let choose = |node: u32, hops: &[Hop]| {
                    let seed = u64::from(first[(node - net.hosts) as usize]);
                    hops[FlowHash::new(seed).index_below(hash, hops.len())].port
                };
                let there = routes.choose_path(hosts[from], hosts[to], &choose);
                let mut back = routes.choose_path(hosts[to], hosts[from], &choose);
                back.reverse();
                back.iter_mut().for_each(|end| *end = net.far_end(*end));
                tried.flows += 1;
                tried.asymmetric_flows += u64::from(there != back);
            }
        }
        tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{custom, net};

    #[test]
    fn both_directions_share_a_path_in_multi_rooted_trees() {
        for net in [
            net("star", &[("n", "5")]),
            net("chain_tree", &[("n", "3")]),
            net("leaf_spine", &[("leaves", "5"), ("spines", "3"), ("hosts_per_leaf", "2")]),
            net("fat_tree", &[("k", "4")]),
            net("fat_tree", &[("k", "6")]),
        ] {
            let tried = SymmetryTrial::new(&net);
            assert_eq!((tried.asymmetric_flows, tried.flows > 0), (0, net.count_edge_switches() > 1));
        }
    }

    #[test]
    fn directions_differ_if_ends_order_next_hops_differently() {
        let grid = net("hyperx", &[("dims", "3 3"), ("hosts_per_switch", "1")]);
        let tried = SymmetryTrial::new(&grid);
        assert!(tried.asymmetric_flows > tried.flows / 4 && tried.asymmetric_flows < tried.flows, "{tried:?}");
        // Leaf b has the spines in reverse order, so the same hash selects the other spine on the way back.
        let nodes = ["h0 host", "h1 host", "a", "b", "s", "t"];
        let crossed = custom(&nodes, &["h0 a 1", "h1 b 1", "a s 1", "a t 1", "b t 1", "b s 1"]).unwrap();
        assert_eq!(SymmetryTrial::new(&crossed), SymmetryTrial { flows: 8, asymmetric_flows: 8 });
        let straight = custom(&nodes, &["h0 a 1", "h1 b 1", "a s 1", "a t 1", "b s 1", "b t 1"]).unwrap();
        assert_eq!(SymmetryTrial::new(&straight), SymmetryTrial { flows: 8, asymmetric_flows: 0 });
    }

    #[test]
    fn only_a_sample_of_pairs_is_tried_in_large_networks() {
        let tried = SymmetryTrial::new(&net("fat_tree", &[("k", "16")]));
        assert!(tried.flows > 8_000 && tried.flows < 17_000 && tried.asymmetric_flows == 0, "{tried:?}");
    }
}
