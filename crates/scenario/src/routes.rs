//! Shortest paths by hop count, with every equal-cost next hop.
//!
//! Rows of the table are switches and columns are edge switches, so that its size is switches × edge switches. The last
//! hop is stored for each host. Equal sets of next hops are stored once. Every switch has a next hop toward every host,
//! since a detoured packet may arrive at any switch.

mod earlier_routes;
mod next_hops;
mod table;
#[cfg(test)]
mod tests;

use crate::topology::Topology;
use earlier_routes::EarlierRoutes;
use mech::routing::{Hop, NextHops};
use mech::{HostId, PortId};
use next_hops::NextHopSets;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use table::RouteSearch;

/// Routing tables of all switches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Routes {
    hosts: u32,
    /// Edge switch and port of each host.
    edges: Vec<HostAttachment>,
    /// Routing tables by switch and edge switch: a port if there is a single next hop ([`SINGLE_HOP_FLAG`] is set),
    /// else an index in `groups`.
    table: Vec<u32>,
    /// Number of columns of `table`, one for each edge switch.
    width: u32,
    /// Sets of next hops: start and length in `hops`.
    groups: Vec<(u32, u32)>,
    hops: Vec<Hop>,
    /// Index of each switch's first port in `peers`, and the node at the far end of each port.
    ports: Vec<u32>,
    peers: Vec<u32>,
    /// Earlier routes, if dead links cut switches off from hosts.
    cut_off: Option<Box<EarlierRoutes>>,
}

/// Edge switch of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HostAttachment {
    /// Column of the routing table for the host's edge switch, or a column without next hops if the host is
    /// unreachable.
    column: u32,
    /// Node of the edge switch; [`NO_NODE`] if the host is unreachable.
    node: u32,
    /// Port of the edge switch to the host.
    port: PortId,
}

const SINGLE_HOP_FLAG: u32 = 1 << 31;
/// Node number that stands for no node.
const NO_NODE: u32 = u32::MAX;

/// Ports whose links are dead, each as node and port number.
pub type DeadPorts = BTreeSet<(u32, u16)>;

impl Routes {
    /// Computes the routing tables of a network.
    pub fn compute(net: &Topology) -> Routes {
        Routes::avoiding_dead_links(net, &DeadPorts::new(), false)
    }

    /// Computes the routing tables of a network in which the slot `routing` decides even if there is a single next hop.
    pub fn with_routing_slot(net: &Topology) -> Routes {
        Routes::avoiding_dead_links(net, &DeadPorts::new(), true)
    }

    /// Computes the routing tables of a network without its dead links, both of whose ends are given. With
    /// `uses_routing_slot`, the slot `routing` decides even if there is a single next hop.
    pub fn avoiding_dead_links(net: &Topology, dead: &DeadPorts, uses_routing_slot: bool) -> Routes {
        let mut routes = Routes::without_table(net);
        let roots = routes.roots();
        let switches = net.switches().len();
        let unreachable = routes.remove_dead_hosts(net, dead);
        let width = roots.len() + usize::from(unreachable);
        routes.width = width as u32;
        routes.table = vec![0; switches * width];
        let (mut search, mut sets) = (RouteSearch::new(net, dead), NextHopSets::default());
        let mut ports_by_edge_switch = std::array::from_fn(|_| Vec::new());
        for (batch, roots) in roots.chunks(64).enumerate() {
            let roots: Vec<u32> = roots.iter().map(|root| root - net.hosts).collect();
            search.search_from(&roots);
            for s in 0..switches {
                search.shortest_path_ports(s, &mut ports_by_edge_switch);
                let row = &mut routes.table[s * width + batch * 64..][..roots.len()];
                sets.fill_row(&net.switches()[s], &ports_by_edge_switch, uses_routing_slot, row);
            }
        }
        if unreachable {
            let nowhere = sets.entry_of_set([].into_iter());
            (0..switches).for_each(|s| routes.table[s * width + width - 1] = nowhere);
        }
        (routes.groups, routes.hops) = (sets.groups, sets.hops);
        routes
    }

    /// Gives hosts with dead links a table column without next hops. Returns true if there are such hosts.
    fn remove_dead_hosts(&mut self, net: &Topology, dead: &DeadPorts) -> bool {
        let nowhere = self.edges.iter().map(|edge| edge.column + 1).max().unwrap_or(0);
        let mut any = false;
        for host in (0..net.hosts).filter(|host| dead.contains(&(*host, 0))) {
            let edge = &mut self.edges[host as usize];
            (edge.column, edge.node, any) = (nowhere, NO_NODE, true);
        }
        any
    }

    /// Returns the next hops of a switch toward a host in the order of its ports; none if the host is unreachable.
    /// PRECONDITION: `switch` is the node of a switch.
    #[inline]
    pub fn next_hops(&self, switch: u32, dst: HostId) -> NextHops<'_> {
        // The source of a CNM is a switch, which has no column: no route leads back to it.
        let Some(&HostAttachment { column, node, port }) = self.edges.get(dst.0 as usize) else {
            return NextHops::None;
        };
        if node == switch {
            return NextHops::Only(port);
        }
        let row = (switch - self.hosts) as usize * self.width as usize;
        let entry = self.table[row + column as usize];
        if entry & SINGLE_HOP_FLAG != 0 {
            return NextHops::Only(PortId(entry as u16));
        }
        match self.next_hop_set(entry) {
            [] => NextHops::None,
            hops => NextHops::Several(hops),
        }
    }

    /// Returns the number of hosts.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// Returns the set of next hops of a table entry that is an index in `groups`.
    #[inline]
    fn next_hop_set(&self, entry: u32) -> &[Hop] {
        let (start, len) = self.groups[entry as usize];
        &self.hops[start as usize..(start + len) as usize]
    }

    /// Returns the node at the far end of a port of a switch.
    fn far_node(&self, switch: u32, port: PortId) -> u32 {
        self.peers[self.ports[(switch - self.hosts) as usize] as usize + usize::from(port.0)]
    }

    /// Returns the path between two hosts as (node, output port), the sender's first; empty if there is no path.
    /// `choose` returns the port at a switch with several next hops.
    pub fn choose_path(&self, src: HostId, dst: HostId, choose: &dyn Fn(u32, &[Hop]) -> PortId) -> Vec<(u32, u16)> {
        let mut path = vec![(src.0, 0)];
        let mut node = self.edges[src.0 as usize].node;
        while node != dst.0 {
            if node == NO_NODE {
                return Vec::new();
            }
            let port = match self.next_hops(node, dst) {
                NextHops::None => return Vec::new(),
                NextHops::Only(port) => port,
                NextHops::Several(hops) => choose(node, hops),
            };
            path.push((node, port.0));
            node = self.far_node(node, port);
        }
        path
    }

    /// Returns the number of links between two hosts.
    pub fn hop_count(&self, src: HostId, dst: HostId) -> usize {
        self.choose_path(src, dst, &|_, hops| hops[0].port).len()
    }

    /// Returns the size of the tables in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.edges.len() * size_of::<HostAttachment>()
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
            edges.push(HostAttachment { column, node: port.peer, port: PortId(port.peer_port) });
        }
        let mut routes = Routes { hosts: net.hosts, edges, ..Routes::default() };
        for switch in net.switches() {
            routes.ports.push(routes.peers.len() as u32);
            routes.peers.extend(switch.ports.iter().map(|port| port.peer));
        }
        routes
    }

    /// Returns the edge switches, in the order of their columns.
    fn roots(&self) -> Vec<u32> {
        let by_column: BTreeMap<u32, u32> = self.edges.iter().map(|edge| (edge.column, edge.node)).collect();
        by_column.into_values().collect()
    }
}

/// Returns the hop count from `root` to every switch, over switches only; `u32::MAX` if there is no path.
pub(crate) fn hop_counts_from(net: &Topology, root: u32) -> Vec<u32> {
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
