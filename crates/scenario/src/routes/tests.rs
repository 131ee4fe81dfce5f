//! Tests of next hops and paths in whole networks, and in networks with dead links.

use super::*;
use crate::topology::tests::{custom, net};

fn ports(routes: &Routes, node: u32, dst: HostId) -> Vec<PortId> {
    match routes.next_hops(node, dst) {
        NextHops::None => vec![],
        NextHops::Only(port) => vec![port],
        NextHops::Several(hops) => hops.iter().map(|hop| hop.port).collect(),
    }
}

#[test]
fn a_k4_fat_tree_has_paths_of_2_4_and_6_links() {
    let net = net("fat_tree", &[("k", "4")]);
    let routes = Routes::compute(&net);
    let distance = |dst| routes.hop_count(HostId(0), HostId(dst));
    assert_eq!((1..16).map(distance).collect::<Vec<_>>(), [[2, 4, 4].as_slice(), &[6; 12]].concat());
    assert_eq!(ports(&routes, net.edge_switch(HostId(0)), HostId(9)).len(), 2);
    assert_eq!(ports(&routes, net.find_node("agg0").unwrap(), HostId(9)).len(), 2);
    assert_eq!(routes.next_hops(net.find_node("core3").unwrap(), HostId(9)), NextHops::Only(PortId(2)));
    assert_eq!(routes.next_hops(net.edge_switch(HostId(9)), HostId(9)), NextHops::Only(PortId(1)));
    // Number 16 is a switch, the possible source of a notice: no route leads there.
    assert_eq!(routes.next_hops(net.edge_switch(HostId(9)), HostId(16)), NextHops::None);
}

#[test]
fn next_hops_lead_one_hop_nearer_even_with_dead_links() {
    let jellyfish = [("switches", "150"), ("degree", "5"), ("hosts_per_switch", "1"), ("seed", "3")];
    let parallel = ["h0 a 1", "h1 b 1", "h2 c 1", "a b 1", "a b 2", "b c 1", "a c 1", "c d 1", "d b 1"];
    let nets = [
        net("jellyfish", &jellyfish),
        net("hyperx", &[("dims", "9 9"), ("hosts_per_switch", "1")]),
        net("linear", &[("switches", "130"), ("hosts_per_switch", "1")]),
        custom(&["h0 host", "h1 host", "h2 host", "a", "b", "c", "d"], &parallel).unwrap(),
    ];
    for net in nets {
        let mut dead = DeadPorts::new();
        for round in 0..3 {
            let routes = Routes::avoiding_dead_links(&net, &dead, round == 1);
            let live = |node: u32, port: u16| !dead.contains(&(node, port));
            for dst in (0..net.hosts).map(HostId) {
                let root = net.edge_switch(dst);
                let level = hop_counts_over_live_ports(&net, root, &live);
                for s in (0..net.switches().len()).filter(|s| net.hosts + *s as u32 != root) {
                    let down = |(port, link): &(u16, &crate::topology::Port)| {
                        let peer = link.peer.checked_sub(net.hosts).map(|peer| level[peer as usize]);
                        let nearer = peer.is_some_and(|peer| peer < u32::MAX && peer + 1 == level[s]);
                        nearer && live(net.hosts + s as u32, *port)
                    };
                    let all = (0..).zip(&net.switches()[s].ports).filter(down).map(|(port, _)| PortId(port));
                    assert_eq!(ports(&routes, net.hosts + s as u32, dst), all.collect::<Vec<_>>());
                }
            }
            // Round 1 runs with every seventh link dead, and round 2 with every fifth dead as well.
            let links = (net.hosts..).zip(net.switches()).flat_map(|(n, switch)| {
                (0..).zip(&switch.ports).map(move |(p, port)| [(n, p), (port.peer, port.peer_port)])
            });
            let between = links.filter(|ends| ends[0] < ends[1] && ends[1].0 >= net.hosts && ends[0].0 >= net.hosts);
            dead.extend(between.step_by([7, 5, 1][round]).flatten());
        }
    }
}

/// Hop count of every switch from `root` over live ports.
fn hop_counts_over_live_ports(net: &Topology, root: u32, live: &impl Fn(u32, u16) -> bool) -> Vec<u32> {
    let mut level = vec![u32::MAX; net.switches().len()];
    level[(root - net.hosts) as usize] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(node) = queue.pop_front() {
        for (p, port) in (0..).zip(&net.nodes[node as usize].ports) {
            let at = port.peer.wrapping_sub(net.hosts) as usize;
            if !net.is_host(port.peer) && live(node, p) && level[at] == u32::MAX {
                level[at] = level[(node - net.hosts) as usize] + 1;
                queue.push_back(port.peer);
            }
        }
    }
    level
}

#[test]
fn every_switch_reaches_every_host_by_every_next_hop() {
    for net in [
        net("star", &[("n", "5")]),
        net("dumbbell", &[("n", "3")]),
        net("chain_tree", &[("n", "3")]),
        net("leaf_spine", &[("leaves", "3"), ("spines", "2"), ("hosts_per_leaf", "2")]),
        net("fat_tree", &[("k", "6")]),
    ] {
        let routes = Routes::compute(&net);
        for dst in 0..net.hosts {
            for start in net.hosts..net.nodes.len() as u32 {
                // Any choice of next hops leads to the host within 6 links.
                let mut at = vec![start];
                for _ in 0..6 {
                    at = at.iter().flat_map(|node| next_nodes(&net, &routes, *node, HostId(dst))).collect();
                    at.sort_unstable();
                    at.dedup();
                }
                assert_eq!(at, [dst]);
            }
        }
    }
}

fn next_nodes(net: &Topology, routes: &Routes, node: u32, dst: HostId) -> Vec<u32> {
    if node == dst.0 {
        return vec![node];
    }
    let ports = ports(routes, node, dst);
    assert!(!ports.is_empty());
    ports.iter().map(|port| net.nodes[node as usize].ports[port.0 as usize].peer).collect()
}

#[test]
fn a_path_follows_the_choice_at_every_fork() {
    let net = net("fat_tree", &[("k", "4")]);
    let routes = Routes::compute(&net);
    // PABO §VI-A: H2 to H10 leaves S1 by port 3, S4 by port 2, and so crosses C3.
    let pick = |node: u32, hops: &[Hop]| {
        let port = PortId(if net.nodes[node as usize].tier == "edge" { 3 } else { 2 });
        assert!(hops.iter().any(|hop| hop.port == port));
        port
    };
    let path = routes.choose_path(HostId(1), HostId(9), &pick);
    let names: Vec<_> = path.iter().map(|(node, _)| net.nodes[*node as usize].name.as_str()).collect();
    assert_eq!(names, ["h1", "edge0", "agg1", "core2", "agg5", "edge4"]);
    assert_eq!(path.iter().map(|(_, port)| *port).collect::<Vec<_>>(), [0, 3, 2, 2, 0, 1]);
}

#[test]
fn parallel_links_are_equal_paths_with_their_own_weights() {
    let net = custom(&["h0 host", "h1 host", "a", "b"], &["h0 a 1", "h1 b 1", "a b 2", "a b 0.5"]).unwrap();
    let hops = [Hop { port: PortId(1), weight: 2.0 }, Hop { port: PortId(2), weight: 0.5 }];
    assert_eq!(Routes::compute(&net).next_hops(2, HostId(1)), NextHops::Several(&hops));
}

#[test]
fn the_tables_of_a_k16_fat_tree_take_less_than_a_quarter_of_a_megabyte() {
    let net = net("fat_tree", &[("k", "16")]);
    assert_eq!((net.hosts, net.switches().len()), (1024, 320));
    let routes = Routes::compute(&net);
    assert!(routes.memory_bytes() < 250_000, "{}", routes.memory_bytes());
    assert_eq!(routes.hop_count(HostId(0), HostId(1023)), 6);
}

/// Returns the ports at both ends of the links with these names.
fn dead_ports(net: &Topology, links: &[&str]) -> DeadPorts {
    links.iter().flat_map(|link| net.find_link(link).unwrap().ends).collect()
}

#[test]
fn a_dead_link_removes_only_the_next_hops_that_need_it() {
    let net = net("fat_tree", &[("k", "4")]);
    let around = Routes::avoiding_dead_links(&net, &dead_ports(&net, &["edge0:agg0"]), false);
    let all = Routes::compute(&net);
    let edge = net.edge_switch(HostId(0));
    assert_eq!(ports(&all, edge, HostId(9)).len(), 2);
    assert_eq!(around.next_hops(edge, HostId(9)), NextHops::Only(PortId(3)));
    // Without the link edge0:agg0, other pods reach h0 over agg1 and its cores only, but h2 at edge1 over all cores.
    let far = net.edge_switch(HostId(9));
    assert_eq!(around.next_hops(far, HostId(0)), NextHops::Only(PortId(3)));
    assert_eq!(ports(&around, far, HostId(2)).len(), 2);
}

#[test]
fn only_the_host_with_the_dead_link_is_unreachable() {
    let net = net("leaf_spine", &[("leaves", "2"), ("spines", "2"), ("hosts_per_leaf", "2")]);
    let around = Routes::avoiding_dead_links(&net, &dead_ports(&net, &["h1"]), false);
    let all = Routes::compute(&net);
    for node in net.hosts..net.nodes.len() as u32 {
        assert_eq!(around.next_hops(node, HostId(1)), NextHops::None);
        for host in [0, 2, 3].map(HostId) {
            assert_eq!(around.next_hops(node, host), all.next_hops(node, host));
        }
    }
    let first = |_: u32, hops: &[Hop]| hops[0].port;
    assert!(around.choose_path(HostId(0), HostId(1), &first).is_empty());
    assert!(around.choose_path(HostId(1), HostId(0), &first).is_empty());
}

#[test]
fn halves_of_a_divided_network_do_not_reach_each_other() {
    let net = net("dumbbell", &[("n", "2")]);
    let around = Routes::avoiding_dead_links(&net, &dead_ports(&net, &["s0:s1"]), false);
    let left = net.edge_switch(HostId(0));
    let far = (0..net.hosts).map(HostId).filter(|host| net.edge_switch(*host) != left);
    assert!(far.clone().count() > 0 && far.clone().all(|host| around.next_hops(left, host) == NextHops::None));
}
