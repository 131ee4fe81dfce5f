//! The k shortest paths of a network, and a bound of what it costs to find them.

use crate::routes::hop_counts_from;
use crate::topology::Topology;
use mech::PortId;
use mech::routing::{FlowHash, Paths, SwitchGraph};
use std::collections::BTreeSet;

/// Finds the `k` shortest paths between the edge switches of a network; `pick` chooses among the paths of a pair.
pub fn find_paths(net: &Topology, k: usize, pick: FlowHash) -> Paths {
    let at = |node: u32| node - net.hosts;
    let toward = |switch: &crate::topology::Node| {
        let ports = switch.ports.iter().enumerate().filter(|(_, port)| !net.is_host(port.peer));
        ports.map(|(i, port)| (PortId(i as u16), at(port.peer))).collect()
    };
    let mut graph = SwitchGraph::new(net.switches().iter().map(toward).collect());
    let edges: Vec<u32> = net.nodes[..net.hosts as usize].iter().map(|host| at(host.ports[0].peer)).collect();
    Paths::new(&mut graph, &edges, k, pick)
}

/// Returns an approximate upper bound of the cost of finding `k` paths between all edge switches. Each path is searched
/// for from each of its switches, through the whole network.
pub fn path_search_cost(net: &Topology, k: u64) -> u64 {
    let edges: BTreeSet<u32> = net.nodes[..net.hosts as usize].iter().map(|host| host.ports[0].peer).collect();
    let links = |root: &u32| {
        let level = hop_counts_from(net, *root);
        edges.iter().map(|edge| u64::from(level[(edge - net.hosts) as usize])).sum::<u64>()
    };
    let ports: u64 = net.switches().iter().map(|switch| switch.ports.len() as u64).sum();
    edges.iter().map(links).sum::<u64>().saturating_mul(k).saturating_mul(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::topology::tests::{custom, net};
    use mech::HostId;
    use mech::routing::{Ecmp, KShortest, NextHops, Routing};
    use std::sync::Arc;

    /// Network for tests, with its routing tables and a `k_shortest` mechanism for each switch.
    struct TestNetwork {
        net: Topology,
        routes: Routes,
        paths: Arc<Paths>,
        switches: Vec<KShortest>,
    }

    impl TestNetwork {
        fn new(net: Topology, k: usize) -> TestNetwork {
            let paths = Arc::new(find_paths(&net, k, FlowHash::new(5)));
            let own = |s: u32| KShortest::with_paths(Arc::clone(&paths), s, Ecmp::new(u64::from(s)));
            let switches = (0..net.switches().len() as u32).map(own).collect();
            TestNetwork { routes: Routes::with_routing_slot(&net), paths, switches, net }
        }
        /// Returns the switches that a packet crosses from `start` on, each with its output port.
        fn walk(&self, start: u32, ends: (HostId, HostId), hash: u32) -> Vec<(u32, PortId)> {
            let (mut node, mut way) = (start, Vec::new());
            while node != ends.1.0 {
                assert!(way.len() < 100, "a loop");
                let port = match self.routes.next_hops(node, ends.1) {
                    NextHops::None => panic!("no way"),
                    NextHops::Only(port) => port,
                    NextHops::Several(hops) => {
                        self.switches[(node - self.net.hosts) as usize].port_by_hash(ends, hash, hops)
                    }
                };
                way.push((node - self.net.hosts, port));
                node = self.net.nodes[node as usize].ports[usize::from(port.0)].peer;
            }
            way
        }
        fn pairs(&self) -> impl Iterator<Item = (HostId, HostId)> {
            let hosts = self.net.hosts;
            let all = (0..hosts).flat_map(move |a| (0..hosts).map(move |b| (HostId(a), HostId(b))));
            all.filter(|(a, b)| a != b)
        }
    }

    fn test_networks() -> Vec<TestNetwork> {
        let jellyfish = [("switches", "12"), ("degree", "4"), ("hosts_per_switch", "2")];
        let parallel = ["h0 a 1", "h1 b 1", "h2 c 1", "a b 1", "a b 1", "b c 1", "a c 1", "c d 1", "d b 1"];
        let nodes = ["h0 host", "h1 host", "h2 host", "a", "b", "c", "d"];
        let nets = [
            net("hyperx", &[("dims", "3 3"), ("hosts_per_switch", "1")]),
            net("jellyfish", &jellyfish),
            net("linear", &[("switches", "5"), ("hosts_per_switch", "2")]),
            net("fat_tree", &[("k", "4")]),
            custom(&nodes, &parallel).unwrap(),
        ];
        nets.into_iter().map(|net| TestNetwork::new(net, 8)).collect()
    }

    #[test]
    fn a_packet_follows_its_path_to_the_end_and_leaves_it_for_its_host() {
        let mut some_longer = Vec::new();
        for lab in test_networks() {
            let mut longer = 0;
            for (src, dst) in lab.pairs() {
                for hash in (0..16).map(|i: u32| i.wrapping_mul(0x9E37_79B9)) {
                    let chosen = lab.paths.path_of_hash(src, dst, hash);
                    let mut wanted: Vec<_> = chosen.iter().map(|step| (step.switch, step.port)).collect();
                    let last = lab.net.nodes[dst.0 as usize].ports[0];
                    wanted.push((last.peer - lab.net.hosts, PortId(last.peer_port)));
                    assert_eq!(lab.walk(lab.net.edge_switch(src), (src, dst), hash), wanted);
                    longer += usize::from(wanted.len() + 1 > lab.routes.hop_count(src, dst));
                }
            }
            some_longer.push(longer > 0);
        }
        // A chain has one path.
        assert_eq!(some_longer, [true, true, false, true, true]);
    }

    #[test]
    fn from_any_switch_any_packet_reaches_its_destination() {
        for lab in test_networks() {
            let longest = |(src, dst)| lab.paths.paths_between(src, dst).map(<[_]>::len).max().unwrap_or(0);
            let far = lab.net.switches().len();
            for start in lab.net.hosts..lab.net.nodes.len() as u32 {
                for (src, dst) in lab.pairs() {
                    for hash in [1, 0x8000_0000, 0xFFFF_0000] {
                        assert!(lab.walk(start, (src, dst), hash).len() <= far + longest((src, dst)));
                    }
                }
            }
        }
    }

    #[test]
    fn paths_of_all_pairs_use_links_about_equally() {
        // A full mesh is the hardest case: seven of the eight paths are drawn from ten of equal length.
        let lab = TestNetwork::new(net("hyperx", &[("dims", "12"), ("hosts_per_switch", "1")]), 8);
        let mut used = vec![vec![0u32; 12]; 12];
        for (src, dst) in lab.pairs() {
            for step in lab.paths.paths_between(src, dst).flatten() {
                used[step.switch as usize][usize::from(step.port.0)] += 1;
            }
        }
        let links: Vec<u32> = used.iter().flat_map(|switch| &switch[1..]).copied().collect();
        // Each pair has one path of 1 link and seven of 2 links, which are 15 links. There are as many directed links
        // as ordered pairs, so each link is on 15 paths on average.
        assert_eq!((links.len(), links.iter().sum::<u32>()), (132, 132 * 15));
        let (least, most) = (links.iter().min().unwrap(), links.iter().max().unwrap());
        assert!(*least >= 8 && *most <= 22, "{least} to {most}");
    }

    #[test]
    fn the_paths_of_64_switches_take_less_than_two_megabytes() {
        let given = [("switches", "64"), ("degree", "8"), ("hosts_per_switch", "4")];
        let lab = TestNetwork::new(net("jellyfish", &given), 8);
        assert_eq!(lab.net.hosts, 256);
        assert!(lab.paths.memory_bytes() < 2_000_000, "{}", lab.paths.memory_bytes());
        assert!(lab.pairs().all(|(src, dst)| [0, 8].contains(&lab.paths.paths_between(src, dst).len())));
    }

    #[test]
    fn search_cost_is_paths_times_their_links_times_ports() {
        // The distances of the switches (1, 2 and 1) add up to 8 over both directions. The switches have 7 ports: 3
        // toward hosts and 4 toward switches. The cost is 8 x 7 x k.
        assert_eq!(path_search_cost(&net("linear", &[("switches", "3"), ("hosts_per_switch", "1")]), 5), 8 * 7 * 5);
    }
}
