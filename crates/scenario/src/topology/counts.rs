//! Sizes of networks, so that one that is too large is refused before it is built.

use super::Topology;

/// Largest number of hosts.
const MAX_HOSTS: u64 = 1_000_000;
/// Largest number of ports; a run takes about 9 GB for them.
const MAX_PORTS: u64 = 1_500_000;
/// Largest number of entries of routing tables, 4 bytes each: a gigabyte.
pub(crate) const MAX_ROUTE_ENTRIES: u64 = 250_000_000;

/// Numbers of hosts, switches and links of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Number of hosts, each with a link.
    pub hosts: u64,
    /// Number of switches.
    pub switches: u64,
    /// Number of switches with hosts.
    pub edges: u64,
    /// Number of links between switches.
    pub links: u64,
}

impl Counts {
    /// Counts the hosts, switches and links of equal switches, each with `hosts` hosts and links to `degree` others.
    pub fn equal_switches(switches: u64, hosts: u64, degree: u64) -> Counts {
        let times = |n: u64| switches.saturating_mul(n);
        Counts { hosts: times(hosts), switches, edges: switches, links: times(degree) / 2 }
    }

    /// Counts the hosts, switches and links of a network that is already built.
    pub fn from_network(net: &Topology) -> Counts {
        let (hosts, switches) = (u64::from(net.hosts), net.switches().len() as u64);
        let ports: u64 = net.nodes.iter().map(|node| node.ports.len() as u64).sum();
        Counts { hosts, switches, edges: net.count_edge_switches() as u64, links: ports / 2 - hosts }
    }

    /// Returns the number of ports of hosts and switches.
    pub fn count_ports(self) -> u64 {
        self.hosts.saturating_add(self.links).saturating_mul(2)
    }

    /// Returns the number of entries in the routing tables of all switches.
    pub fn count_routes(self) -> u64 {
        self.switches.saturating_mul(self.edges)
    }

    /// Returns the text found and the rule if any number exceeds its limit.
    pub fn find_excess(self) -> Option<(String, String)> {
        let Counts { hosts, switches, edges, .. } = self;
        if hosts > MAX_HOSTS {
            return Some((format!("{hosts} hosts"), format!("at most {MAX_HOSTS} hosts")));
        }
        if self.count_ports() > MAX_PORTS {
            let rule = format!("at most {MAX_PORTS} ports, with which a run needs about 9 GB of memory");
            return Some((format!("{} ports of {hosts} hosts and {switches} switches", self.count_ports()), rule));
        }
        let rule = format!("at most {MAX_ROUTE_ENTRIES} routing entries (switches times switches with hosts)");
        let found = format!("{switches} switches, {edges} of them with hosts");
        (self.count_routes() > MAX_ROUTE_ENTRIES).then_some((found, rule))
    }
}
