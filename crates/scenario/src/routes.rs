//! Shortest paths by hop count, with every equal-cost next hop.
//!
//! Tables are keyed by the destination's edge switch and the last hop by host, so that their size
//! is switches × edge switches; equal sets of next hops are stored once. Every switch knows a way
//! to every host, since a detoured packet may turn up anywhere.

mod table;

use crate::topology::{Node, Topology};
use mech::routing::{Hop, NextHops};
use mech::{HostId, PortId, hash_mix};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use table::Search;

/// The routing tables of all switches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    hosts: u32,
    /// Per host: where it is.
    edges: Vec<Edge>,
    /// Switch by switch, per edge switch: a port where there is one way ([`ONLY`] is set), else a
    /// place in `groups`.
    table: Vec<u32>,
    /// Edge switches: the length of a row of `table`.
    width: u32,
    /// Sets of next hops: start and length in `hops`.
    groups: Vec<(u32, u32)>,
    hops: Vec<Hop>,
    /// Per switch: where its ports start in `peers`, the node at the far end of each.
    ports: Vec<u32>,
    peers: Vec<u32>,
}

/// The edge switch of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Edge {
    /// Its column: its number among the switches with hosts; one that leads nowhere where it cannot be reached.
    column: u32,
    /// [`NOWHERE`] where it cannot be reached.
    node: u32,
    /// The port to the host.
    port: PortId,
}

const ONLY: u32 = 1 << 31;
/// No node.
const NOWHERE: u32 = u32::MAX;

/// Ports that nothing is to be sent by: a node, and a port of it.
pub type Dead = BTreeSet<(u32, u16)>;

impl Routes {
    /// The tables of a network.
    pub fn compute(net: &Topology) -> Routes {
        Routes::around(net, &Dead::new(), false)
    }

    /// The same where the routing slot is to be asked even where only one way is shortest.
    pub fn asking(net: &Topology) -> Routes {
        Routes::around(net, &Dead::new(), true)
    }

    /// The tables of what is left of a network without some links, of which both ends are given; `asks` as
    /// [`Routes::asking`] does.
    pub fn around(net: &Topology, dead: &Dead, asks: bool) -> Routes {
        let mut routes = Routes::without_table(net);
        let roots = routes.roots();
        let switches = net.switches().len();
        let unreachable = routes.take_out(net, dead);
        let width = roots.len() + usize::from(unreachable);
        routes.width = width as u32;
        routes.table = vec![0; switches * width];
        let (mut search, mut sets) = (Search::of(net, dead), Sets::default());
        let mut ways = std::array::from_fn(|_| Vec::new());
        for (batch, roots) in roots.chunks(64).enumerate() {
            let roots: Vec<u32> = roots.iter().map(|root| root - net.hosts).collect();
            search.run(&roots);
            for s in 0..switches {
                search.ways(s, &mut ways);
                let row = &mut routes.table[s * width + batch * 64..][..roots.len()];
                sets.enter_all(&net.switches()[s], &ways, asks, row);
            }
        }
        if unreachable {
            let nowhere = sets.enter([].into_iter());
            (0..switches).for_each(|s| routes.table[s * width + width - 1] = nowhere);
        }
        (routes.groups, routes.hops) = (sets.groups, sets.hops);
        routes
    }

    /// Hosts whose links are dead have a column of their own, which leads nowhere; whether there are any.
    fn take_out(&mut self, net: &Topology, dead: &Dead) -> bool {
        let nowhere = self.edges.iter().map(|edge| edge.column + 1).max().unwrap_or(0);
        let mut any = false;
        for host in (0..net.hosts).filter(|host| dead.contains(&(*host, 0))) {
            let edge = &mut self.edges[host as usize];
            (edge.column, edge.node, any) = (nowhere, NOWHERE, true);
        }
        any
    }

    /// The ways of a switch toward a host, next hops in the order of its ports: none where it cannot be
    /// reached. PRECONDITION: `switch` is the node of a switch.
    #[inline]
    pub fn next_hops(&self, switch: u32, dst: HostId) -> NextHops<'_> {
        // Messages that switches make come from no host.
        let Some(&Edge { column, node, port }) = self.edges.get(dst.0 as usize) else { return NextHops::None };
        if node == switch {
            return NextHops::Only(port);
        }
        let row = (switch - self.hosts) as usize * self.width as usize;
        let entry = self.table[row + column as usize];
        if entry & ONLY != 0 {
            return NextHops::Only(PortId(entry as u16));
        }
        let (start, len) = self.groups[entry as usize];
        match len {
            0 => NextHops::None,
            _ => NextHops::Among(&self.hops[start as usize..(start + len) as usize]),
        }
    }

    /// The path from host to host as (node, port to leave by), the sender's first; `choose` gives
    /// the port at a switch with more than one. None where there is no way.
    pub fn path(&self, src: HostId, dst: HostId, choose: &dyn Fn(u32, &[Hop]) -> PortId) -> Vec<(u32, u16)> {
        let mut path = vec![(src.0, 0)];
        let mut node = self.edges[src.0 as usize].node;
        while node != dst.0 {
            if node == NOWHERE {
                return Vec::new();
            }
            let port = match self.next_hops(node, dst) {
                NextHops::None => return Vec::new(),
                NextHops::Only(port) => port,
                NextHops::Among(hops) => choose(node, hops),
            };
            path.push((node, port.0));
            let first = self.ports[(node - self.hosts) as usize];
            node = self.peers[first as usize + port.0 as usize];
        }
        path
    }

    /// Links from host to host.
    pub fn distance(&self, src: HostId, dst: HostId) -> usize {
        self.path(src, dst, &|_, hops| hops[0].port).len()
    }

    /// Bytes that the tables take.
    pub fn memory(&self) -> usize {
        self.edges.len() * size_of::<Edge>()
            + self.hops.len() * size_of::<Hop>()
            + (self.table.len() + self.ports.len() + self.peers.len()) * size_of::<u32>()
            + self.groups.len() * size_of::<(u32, u32)>()
    }

    fn without_table(net: &Topology) -> Routes {
        let mut columns = BTreeMap::new();
        let mut edges = Vec::new();
        for node in &net.nodes[..net.hosts as usize] {
            let port = node.ports[0];
            let next = columns.len() as u32;
            let column = *columns.entry(port.peer).or_insert(next);
            edges.push(Edge { column, node: port.peer, port: PortId(port.peer_port) });
        }
        let mut routes = Routes { hosts: net.hosts, edges, ..Routes::default() };
        for switch in net.switches() {
            routes.ports.push(routes.peers.len() as u32);
            routes.peers.extend(switch.ports.iter().map(|port| port.peer));
        }
        routes
    }

    /// The edge switches, in the order of their columns.
    fn roots(&self) -> Vec<u32> {
        let by_column: BTreeMap<u32, u32> = self.edges.iter().map(|edge| (edge.column, edge.node)).collect();
        by_column.into_values().collect()
    }
}

/// Sets of next hops, each once.
#[derive(Default)]
struct Sets {
    groups: Vec<(u32, u32)>,
    hops: Vec<Hop>,
    /// By hash, or the next number that is free.
    known: HashMap<u64, u32>,
}

impl Sets {
    /// What the table says of these ports of a switch, for one edge switch after the other.
    fn enter_all(&mut self, switch: &Node, ways: &[Vec<u16>; 64], asks: bool, row: &mut [u32]) {
        let hop = |port: &u16| Hop { port: PortId(*port), weight: switch.ports[usize::from(*port)].weight };
        // Most edge switches are reached as their neighbours are.
        let mut last: Option<(&[u16], u32)> = None;
        for (entry, ports) in row.iter_mut().zip(ways) {
            *entry = match (ports.as_slice(), last) {
                ([only], _) if !asks => ONLY | u32::from(*only),
                (ports, Some((same, group))) if ports == same => group,
                (ports, _) => self.enter(ports.iter().map(hop)),
            };
            last = Some((ports.as_slice(), *entry));
        }
    }

    fn enter(&mut self, set: impl ExactSizeIterator<Item = Hop> + Clone) -> u32 {
        let mix = |hash, hop: Hop| hash_mix(hash ^ hop.weight.to_bits(), u64::from(hop.port.0));
        let mut hash = set.clone().fold(set.len() as u64, mix);
        while let Some(group) = self.known.get(&hash) {
            let (start, len) = self.groups[*group as usize];
            if self.hops[start as usize..(start + len) as usize].iter().copied().eq(set.clone()) {
                return *group;
            }
            hash = hash.wrapping_add(1);
        }
        let group = self.groups.len() as u32;
        self.known.insert(hash, group);
        self.groups.push((self.hops.len() as u32, set.len() as u32));
        self.hops.extend(set);
        group
    }
}

/// Hops of every switch from one of them, over switches only; `u32::MAX` where there is no way.
pub(crate) fn levels(net: &Topology, root: u32) -> Vec<u32> {
    let mut level = vec![u32::MAX; net.switches().len()];
    level[(root - net.hosts) as usize] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(node) = queue.pop_front() {
        let next = level[(node - net.hosts) as usize] + 1;
        for port in net.nodes[node as usize].ports.iter().filter(|port| !net.is_host(port.peer)) {
            let at = (port.peer - net.hosts) as usize;
            if level[at] == u32::MAX {
                level[at] = next;
                queue.push_back(port.peer);
            }
        }
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{custom, net};

    fn ports(routes: &Routes, node: u32, dst: HostId) -> Vec<PortId> {
        match routes.next_hops(node, dst) {
            NextHops::None => vec![],
            NextHops::Only(port) => vec![port],
            NextHops::Among(hops) => hops.iter().map(|hop| hop.port).collect(),
        }
    }

    #[test]
    fn a_k4_fat_tree_has_paths_of_2_4_and_6_links() {
        let net = net("fat_tree", &[("k", "4")]);
        let routes = Routes::compute(&net);
        let distance = |dst| routes.distance(HostId(0), HostId(dst));
        assert_eq!((1..16).map(distance).collect::<Vec<_>>(), [[2, 4, 4].as_slice(), &[6; 12]].concat());
        assert_eq!(ports(&routes, net.edge_of(HostId(0)), HostId(9)).len(), 2);
        assert_eq!(ports(&routes, net.node("agg0").unwrap(), HostId(9)).len(), 2);
        assert_eq!(routes.next_hops(net.node("core3").unwrap(), HostId(9)), NextHops::Only(PortId(2)));
        assert_eq!(routes.next_hops(net.edge_of(HostId(9)), HostId(9)), NextHops::Only(PortId(1)));
        // A switch is where no packet goes to, though messages come from there.
        assert_eq!(routes.next_hops(net.edge_of(HostId(9)), HostId(16)), NextHops::None);
    }

    #[test]
    fn next_hops_are_the_ports_that_lead_one_level_down_also_where_links_are_dead() {
        let jellyfish = [("switches", "150"), ("degree", "5"), ("hosts_per_switch", "1"), ("seed", "3")];
        let parallel = ["h0 a 1", "h1 b 1", "h2 c 1", "a b 1", "a b 2", "b c 1", "a c 1", "c d 1", "d b 1"];
        let nets = [
            net("jellyfish", &jellyfish),
            net("hyperx", &[("dims", "9 9"), ("hosts_per_switch", "1")]),
            net("linear", &[("switches", "130"), ("hosts_per_switch", "1")]),
            custom(&["h0 host", "h1 host", "h2 host", "a", "b", "c", "d"], &parallel).unwrap(),
        ];
        for net in nets {
            let mut dead = Dead::new();
            for round in 0..3 {
                let routes = Routes::around(&net, &dead, round == 1);
                let live = |node: u32, port: u16| !dead.contains(&(node, port));
                for dst in (0..net.hosts).map(HostId) {
                    let root = net.edge_of(dst);
                    let level = levels_over(&net, root, &live);
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
                // Every seventh link dies, then every fifth too.
                let links = (net.hosts..).zip(net.switches()).flat_map(|(n, switch)| {
                    (0..).zip(&switch.ports).map(move |(p, port)| [(n, p), (port.peer, port.peer_port)])
                });
                let between =
                    links.filter(|ends| ends[0] < ends[1] && ends[1].0 >= net.hosts && ends[0].0 >= net.hosts);
                dead.extend(between.step_by([7, 5, 1][round]).flatten());
            }
        }
    }

    /// Hops of every switch from one of them over live ports.
    fn levels_over(net: &Topology, root: u32, live: &impl Fn(u32, u16) -> bool) -> Vec<u32> {
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
                    // Whatever is chosen, the way ends at the host within 6 links.
                    let mut at = vec![start];
                    for _ in 0..6 {
                        at = at.iter().flat_map(|node| step(&net, &routes, *node, HostId(dst))).collect();
                        at.sort_unstable();
                        at.dedup();
                    }
                    assert_eq!(at, [dst]);
                }
            }
        }
    }

    fn step(net: &Topology, routes: &Routes, node: u32, dst: HostId) -> Vec<u32> {
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
        let path = routes.path(HostId(1), HostId(9), &pick);
        let names: Vec<_> = path.iter().map(|(node, _)| net.nodes[*node as usize].name.as_str()).collect();
        assert_eq!(names, ["h1", "edge0", "agg1", "core2", "agg5", "edge4"]);
        assert_eq!(path.iter().map(|(_, port)| *port).collect::<Vec<_>>(), [0, 3, 2, 2, 0, 1]);
    }

    #[test]
    fn parallel_links_are_equal_paths_with_their_own_weights() {
        let net = custom(&["h0 host", "h1 host", "a", "b"], &["h0 a 1", "h1 b 1", "a b 2", "a b 0.5"]).unwrap();
        let hops = [Hop { port: PortId(1), weight: 2.0 }, Hop { port: PortId(2), weight: 0.5 }];
        assert_eq!(Routes::compute(&net).next_hops(2, HostId(1)), NextHops::Among(&hops));
    }

    #[test]
    fn the_tables_of_a_k16_fat_tree_take_less_than_a_quarter_of_a_megabyte() {
        let net = net("fat_tree", &[("k", "16")]);
        assert_eq!((net.hosts, net.switches().len()), (1024, 320));
        let routes = Routes::compute(&net);
        assert!(routes.memory() < 250_000, "{}", routes.memory());
        assert_eq!(routes.distance(HostId(0), HostId(1023)), 6);
    }

    /// Both ends of the links that these name.
    fn dead(net: &Topology, links: &[&str]) -> Dead {
        links.iter().flat_map(|link| net.link(link).unwrap().ends).collect()
    }

    #[test]
    fn a_dead_link_leaves_the_other_next_hops_and_takes_no_more_than_that() {
        let net = net("fat_tree", &[("k", "4")]);
        let around = Routes::around(&net, &dead(&net, &["edge0:agg0"]), false);
        let all = Routes::compute(&net);
        let edge = net.edge_of(HostId(0));
        assert_eq!(ports(&all, edge, HostId(9)).len(), 2);
        assert_eq!(around.next_hops(edge, HostId(9)), NextHops::Only(PortId(3)));
        // The other pods go up by the aggregation switches of the other cores alone, but not toward h2 and h3.
        let far = net.edge_of(HostId(9));
        assert_eq!(around.next_hops(far, HostId(0)), NextHops::Only(PortId(3)));
        assert_eq!(ports(&around, far, HostId(2)).len(), 2);
    }

    #[test]
    fn a_host_whose_link_is_dead_is_reached_by_nobody_and_the_others_at_its_switch_are() {
        let net = net("leaf_spine", &[("leaves", "2"), ("spines", "2"), ("hosts_per_leaf", "2")]);
        let around = Routes::around(&net, &dead(&net, &["h1"]), false);
        let all = Routes::compute(&net);
        for node in net.hosts..net.nodes.len() as u32 {
            assert_eq!(around.next_hops(node, HostId(1)), NextHops::None);
            for host in [0, 2, 3].map(HostId) {
                assert_eq!(around.next_hops(node, host), all.next_hops(node, host));
            }
        }
        let first = |_: u32, hops: &[Hop]| hops[0].port;
        assert!(around.path(HostId(0), HostId(1), &first).is_empty());
        assert!(around.path(HostId(1), HostId(0), &first).is_empty());
    }

    #[test]
    fn halves_of_a_network_that_is_cut_in_two_do_not_reach_each_other() {
        let net = net("dumbbell", &[("n", "2")]);
        let around = Routes::around(&net, &dead(&net, &["s0:s1"]), false);
        let left = net.edge_of(HostId(0));
        let far = (0..net.hosts).map(HostId).filter(|host| net.edge_of(*host) != left);
        assert!(far.clone().count() > 0 && far.clone().all(|host| around.next_hops(left, host) == NextHops::None));
    }
}
