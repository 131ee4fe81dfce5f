//! Shortest paths to 64 edge switches at a time.
//!
//! A breadth-first search from each edge switch would visit every port of the network. Searches from 64 of them share
//! their visits, with one bit for each (Then et al., "The More the Merrier", PVLDB 8(4), 2014). A port leads nearer to
//! an edge switch if and only if the search from there reached the port's node over the port's link. So one pass finds
//! levels and next hops.

use super::DeadPorts;
use crate::topology::Topology;

/// Port of a switch that leads to another switch.
#[derive(Clone, Copy)]
struct SwitchLink {
    /// Index of the far switch.
    peer: u32,
    /// Index of the link's opposite direction in the list of all links; `u32::MAX` if the port is dead.
    back: u32,
}

/// Network and working memory shared by searches.
pub(super) struct RouteSearch {
    /// Links of each switch in the order of its ports, switch by switch.
    links: Vec<SwitchLink>,
    /// Start of each switch's links in `links`, and the end.
    first: Vec<u32>,
    /// Port number of each link.
    ports: Vec<u16>,
    /// Edge switches, as bits, whose searches have reached each switch before this level, and at this level.
    seen: Vec<u64>,
    reached: Vec<u64>,
    /// Edge switches, as bits, to which each link brings a packet one hop nearer.
    nearer: Vec<u64>,
}

impl RouteSearch {
    pub fn new(net: &Topology, dead: &DeadPorts) -> RouteSearch {
        let switches = net.switches().len();
        let live = |node: u32, port: u16| dead.is_empty() || !dead.contains(&(node, port));
        let (mut first, mut ports) = (vec![0], Vec::new());
        // `place[switch][port]` is the index of the port's link in `ports`; `u32::MAX` if the port leads to a host or
        // its link is dead.
        let mut place: Vec<Vec<u32>> = Vec::with_capacity(switches);
        for (switch, node) in net.switches().iter().zip(net.hosts..) {
            let mut own = vec![u32::MAX; switch.ports.len()];
            for (port, n) in switch.ports.iter().zip(0..) {
                if !net.is_host(port.peer) && live(node, n) {
                    own[usize::from(n)] = ports.len() as u32;
                    ports.push(n);
                }
            }
            first.push(ports.len() as u32);
            place.push(own);
        }
        let mut links = Vec::with_capacity(ports.len());
        for (s, switch) in net.switches().iter().enumerate() {
            for n in &ports[first[s] as usize..first[s + 1] as usize] {
                let port = &switch.ports[usize::from(*n)];
                let peer = port.peer - net.hosts;
                links.push(SwitchLink { peer, back: place[peer as usize][usize::from(port.peer_port)] });
            }
        }
        let nearer = vec![0; links.len()];
        RouteSearch { links, first, ports, seen: vec![0; switches], reached: vec![0; switches], nearer }
    }

    /// Runs breadth-first searches from up to 64 switches simultaneously, and stores the links toward each in `nearer`.
    /// `roots` has the indices of these switches, in the order of the bits. The next search overwrites the result.
    pub fn search_from(&mut self, roots: &[u32]) {
        self.seen.fill(0);
        self.nearer.fill(0);
        let mut here: Vec<(u32, u64)> = Vec::new();
        for (bit, root) in roots.iter().enumerate() {
            self.seen[*root as usize] |= 1 << bit;
            here.push((*root, 1 << bit));
        }
        let mut next = Vec::new();
        while !here.is_empty() {
            for (node, roots) in here.drain(..) {
                let (from, to) = (self.first[node as usize], self.first[node as usize + 1]);
                for link in &self.links[from as usize..to as usize] {
                    let new = roots & !self.seen[link.peer as usize];
                    if new != 0 && link.back != u32::MAX {
                        self.nearer[link.back as usize] |= new;
                        let reached = &mut self.reached[link.peer as usize];
                        if *reached == 0 {
                            next.push(link.peer);
                        }
                        *reached |= new;
                    }
                }
            }
            for node in next.drain(..) {
                let reached = std::mem::take(&mut self.reached[node as usize]);
                self.seen[node as usize] |= reached;
                here.push((node, reached));
            }
        }
    }

    /// Writes to `ports_by_edge_switch` the ports of a switch that are on shortest paths to each edge switch of the
    /// last search, in order of ports.
    pub fn shortest_path_ports(&self, switch: usize, ports_by_edge_switch: &mut [Vec<u16>; 64]) {
        ports_by_edge_switch.iter_mut().for_each(Vec::clear);
        for link in self.first[switch] as usize..self.first[switch + 1] as usize {
            let mut left = self.nearer[link];
            while left != 0 {
                ports_by_edge_switch[left.trailing_zeros() as usize].push(self.ports[link]);
                left &= left - 1;
            }
        }
    }
}
