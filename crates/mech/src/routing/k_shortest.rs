//! Routing by the k shortest paths between the switches of two hosts, of which a hash of the flow picks one. The method
//! is that of Singla et al., "Jellyfish", NSDI 2012 §5 (8 paths, Yen's algorithm).
//!
//! A packet carries no label. The switch computes the packet's path from its source, destination and hash, and finds
//! its own next hop on it. The result does not depend on the switch, so all switches agree. A switch off a packet's
//! path received it by a detour or a bounce, and sends it by an equal shortest path. Each such hop leads nearer to the
//! destination. From the first switch on the path, the packet follows the path to its end. So every packet arrives.
//!
//! A packet that turns round has its destination as its source from then on. It takes the path of that pair from the
//! first switch on it. A congestion message of a switch comes from no host and has no path: it takes shortest paths.
//!
//! Two things are not in the paper. All paths count alike, whatever links they share. A hash of the pair of switches
//! breaks ties between paths of one length.

use super::paths::Paths;
use super::{Ecmp, Hop, Routing};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{Env, Head, HostId, PortId, SwitchContext};
use std::sync::Arc;

params! {
    /// Parameter values of `k_shortest`.
    pub(crate) struct Params {
        k: u64 = {
            doc: "Number of paths (k) between each two switches with hosts. All paths are used if there are fewer.",
            kind: ParamKind::Count { min: 1, max: 64 },
            default: Some("8"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "k_shortest",
    doc: "Keeps a flow on one of the k shortest paths without loops, of equal length or not. A packet that left its \
          path, for example by a detour, follows `ecmp`. All switches need this routing with the same k.",
    cite: "Yen 1971; Singla et al., \"Jellyfish\", NSDI 2012 §5",
    params: Params::PARAMS,
};

/// Routing by the k shortest paths. It has no paths until it is prepared for a switch.
#[derive(Clone, Debug)]
pub struct KShortest {
    k: u64,
    paths: Arc<Paths>,
    switch: u32,
    off_path: Ecmp,
}

impl KShortest {
    /// Creates `k_shortest` from validated parameters.
    pub fn new(values: &Values) -> KShortest {
        KShortest { k: Params::read(values).k, paths: Arc::default(), switch: 0, off_path: Ecmp::new(0) }
    }
    /// Creates `k_shortest` for a switch with these paths; `off` chooses the next hop of packets off their path.
    pub const fn with_paths(paths: Arc<Paths>, switch: u32, off: Ecmp) -> KShortest {
        KShortest { k: 0, paths, switch, off_path: off }
    }
    /// Returns the output port of a packet: that of its path, or else that of one of `hops`, the equal shortest paths.
    #[inline]
    pub fn output_port(&self, (src, dst): (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        let path = self.paths.path_of_hash(src, dst, hash);
        match path.iter().find(|step| step.switch == self.switch) {
            Some(step) => step.port,
            None => hops[self.off_path.hash_index(hash, hops.len())].port,
        }
    }
}

impl Routing for KShortest {
    fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> usize {
        self.off_path.hash_index(pkt.hash, hops.len())
    }
    fn hop_by_hash(&self, _host: HostId, hash: u32, hops: &[Hop]) -> usize {
        self.off_path.hash_index(hash, hops.len())
    }
    fn choose_port(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> PortId {
        self.output_port((pkt.src, pkt.dst), pkt.hash, hops)
    }
    fn port_by_hash(&self, ends: (HostId, HostId), hash: u32, hops: &[Hop]) -> PortId {
        self.output_port(ends, hash, hops)
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        self.off_path = Ecmp::new(own.hash_seed);
        if let Some((paths, switch)) = own.paths {
            (self.paths, self.switch) = (Arc::clone(paths), switch);
        }
    }
    fn needs_paths(&self) -> Option<(&'static str, u64)> {
        Some((Params::PARAMS[0].name, self.k))
    }
    fn clone_boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FlowHash, PathStep, SwitchGraph};
    use super::*;
    use crate::testing::{DecisionInputs, chi_square, parse_head};

    /// Computes the `k` shortest paths between all switches of a ring of four (0 to 3).
    /// Host i is at switch i, and host 4 is at switch 0.
    fn ring_paths(k: usize) -> Arc<Paths> {
        let ports = |s: u32| vec![(PortId(2), (s + 3) % 4), (PortId(3), (s + 1) % 4)];
        let mut graph = SwitchGraph::new((0..4).map(ports).collect());
        Arc::new(Paths::new(&mut graph, &[0, 1, 2, 3, 0], k, FlowHash::new(7)))
    }
    fn hops(ports: &[u16]) -> Vec<Hop> {
        ports.iter().map(|port| Hop { port: PortId(*port), weight: 1.0 }).collect()
    }
    fn path_lengths(paths: &Paths, src: u32, dst: u32) -> Vec<usize> {
        paths.paths_between(HostId(src), HostId(dst)).map(<[PathStep]>::len).collect()
    }

    #[test]
    fn ring_neighbours_have_a_short_and_a_long_path() {
        assert_eq!(path_lengths(&ring_paths(8), 0, 1), [1, 3]);
        assert_eq!(path_lengths(&ring_paths(8), 0, 2), [2, 2]);
        assert_eq!(path_lengths(&ring_paths(1), 4, 1), [1]);
        assert!(path_lengths(&ring_paths(8), 0, 4).is_empty(), "two hosts of one switch");
    }

    #[test]
    fn packet_follows_its_path_and_off_the_path_ecmp() {
        let paths = ring_paths(8);
        let mut long = 0;
        for hash in 0..1000 {
            let pkt = parse_head(&format!("src=0 dst=1 hash={hash}"));
            let chosen = paths.path_of_hash(HostId(0), HostId(1), hash);
            long += usize::from(chosen.len() == 3);
            for switch in [0, 2, 3] {
                let off = Ecmp::new(u64::from(switch));
                let mut own = KShortest::with_paths(Arc::clone(&paths), switch, off.clone());
                let near = if switch == 2 { hops(&[2]) } else { hops(&[3, 2]) };
                let port = own.choose_port(&pkt, &near, &mut DecisionInputs::with_draws(&[]).env());
                let wanted = match (chosen.len(), switch) {
                    (1, 0) => 3,
                    // The long path is 0, 3, 2, 1. Port 2 of each switch leads to the next lower number, from 0 to 3.
                    (3, _) | (_, 2) => 2,
                    _ => near[off.hash_index(hash, 2)].port.0,
                };
                assert_eq!(port, PortId(wanted), "switch {switch}, {chosen:?}");
                assert_eq!(own.port_by_hash((HostId(0), HostId(1)), hash, &near), port);
                assert_eq!(own.hop_by_hash(HostId(1), hash, &near), off.hash_index(hash, near.len()), "a way back");
            }
        }
        assert!((400..600).contains(&long), "{long} of 1000 flows take the long path");
    }

    #[test]
    fn message_of_a_switch_takes_an_equal_shortest_path() {
        let (paths, off) = (ring_paths(8), Ecmp::new(1));
        let own = KShortest::with_paths(Arc::clone(&paths), 1, off.clone());
        for hash in 0..100 {
            // Nodes 0 to 4 are hosts, so that switch 1 is node 6.
            let ends = (HostId(6), HostId(3));
            assert!(paths.path_of_hash(ends.0, ends.1, hash).is_empty());
            let near = hops(&[2, 3]);
            assert_eq!(own.port_by_hash(ends, hash, &near), near[off.hash_index(hash, 2)].port);
        }
    }

    #[test]
    fn flows_spread_evenly_over_the_paths_of_a_pair() {
        // In a full mesh of ten, one path from 0 to 1 has one link and eight have two; k = 8 of these nine are kept.
        let ports = |s: u16| (0..10).filter(|t| *t != s).map(|t| (PortId(t), u32::from(t))).collect();
        let mut graph = SwitchGraph::new((0..10).map(ports).collect());
        let paths = Paths::new(&mut graph, &[0, 1], 8, FlowHash::new(3));
        assert_eq!(path_lengths(&paths, 0, 1), [1, 2, 2, 2, 2, 2, 2, 2]);
        let all: Vec<_> = paths.paths_between(HostId(0), HostId(1)).collect();
        let mut counts = [0u32; 8];
        for hash in 0..40_000 {
            let chosen = paths.path_of_hash(HostId(0), HostId(1), hash);
            counts[all.iter().position(|path| *path == chosen).unwrap()] += 1;
        }
        // The 99.99% point of χ² with 7 degrees of freedom is 29.9.
        assert!(chi_square(&counts) < 29.9, "{counts:?}");
    }
}
