//! The shortest ways to 64 edge switches at a time.
//!
//! A breadth-first search from each of them visits every port of the network; searches of 64 share their visits, a
//! bit each (Then et al., "The More the Merrier", PVLDB 8(4), 2014). A port leads nearer to an edge switch exactly
//! where the search from there has crossed its link the other way to reach its node, so that one pass finds levels
//! and next hops both.

use super::Dead;
use crate::topology::Topology;

/// A port of a switch that leads to another switch.
#[derive(Clone, Copy)]
struct Link {
    /// The place of its peer among the switches.
    peer: u32,
    /// The place, in the list of all links, of the way back; none where the port is dead.
    back: u32,
}

/// What searches share.
pub(super) struct Search {
    /// Switch by switch, its links in the order of its ports.
    links: Vec<Link>,
    /// By switch, where its links begin; and the end.
    first: Vec<u32>,
    /// By link, the number of its port.
    ports: Vec<u16>,
    /// By switch: from which edge switches it has been reached before, and at this level.
    seen: Vec<u64>,
    reached: Vec<u64>,
    /// By link: to which edge switches it leads nearer.
    nearer: Vec<u64>,
}

impl Search {
    pub fn new(net: &Topology, dead: &Dead) -> Search {
        let switches = net.switches().len();
        let live = |node: u32, port: u16| dead.is_empty() || !dead.contains(&(node, port));
        let (mut first, mut ports) = (vec![0], Vec::new());
        // By port of a switch, its place in the list.
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
                links.push(Link { peer, back: place[peer as usize][usize::from(port.peer_port)] });
            }
        }
        let nearer = vec![0; links.len()];
        Search { links, first, ports, seen: vec![0; switches], reached: vec![0; switches], nearer }
    }

    /// Searches from up to 64 switches, by their places.
    pub fn run(&mut self, roots: &[u32]) {
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

    /// By edge switch of the last search, the ports of a switch that lead nearer to it, in their order, put to `ways`.
    pub fn ways(&self, switch: usize, ways: &mut [Vec<u16>; 64]) {
        ways.iter_mut().for_each(Vec::clear);
        for link in self.first[switch] as usize..self.first[switch + 1] as usize {
            let mut left = self.nearer[link];
            while left != 0 {
                ways[left.trailing_zeros() as usize].push(self.ports[link]);
                left &= left - 1;
            }
        }
    }
}
