//! Two-level routing tables of fat-trees: prefixes route packets down, the last octet selects the port up.
//! So the hosts of a rack are spread over all cores, and every host has one path to every other. Sources: Al-Fares et
//! al., "A scalable, commodity data center network architecture", SIGCOMM 2008 §3.3 to §3.5; PABO §VI-A.
//!
//! Switch z of its tier in a pod, from 0, sends packets up to host `id` by port (id - 2 + z) mod k/2 + k/2 (Al-Fares
//! alg. 1). Edge switches match their own hosts by whole addresses, aggregation switches the edges of their pod by
//! three octets, cores the pods by two.

use super::{AddressPlan, FatTreePosition, Hop, Routing};
use crate::params::Spec;
use crate::{CheckContext, Env, Head, HostId, PortId, Report, SwitchContext};

pub(super) const SPEC: Spec = Spec {
    slot: "switch.routing",
    kind: "two_level",
    doc: "Static tables of a `fat_tree`: prefixes route down, the last octet of the destination selects the port up.",
    cite: "Al-Fares et al. 2008 §3.5; PABO §VI-A",
    params: &[],
};

/// Part of an address that a table entry compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPart {
    /// All four octets of the address.
    Whole,
    /// Number of compared octets from the left, 1 to 3.
    Prefix(u8),
    /// Number of compared octets from the right, 1 to 3.
    Suffix(u8),
}

/// Entry of a two-level routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// Address to match; octets outside the part are ignored.
    pub address: [u8; 4],
    /// Part of the address that must match.
    pub part: AddressPart,
    /// Output port of packets that match the entry.
    pub port: PortId,
}

impl AddressPart {
    /// Returns the mask of the address bits that must match.
    const fn mask(self) -> u32 {
        match self {
            AddressPart::Whole => u32::MAX,
            AddressPart::Prefix(octets) => !(u32::MAX >> (8 * octets as u32)),
            AddressPart::Suffix(octets) => !(u32::MAX << (8 * octets as u32)),
        }
    }
    /// Returns the rank of the entry in a lookup: whole addresses and prefixes come first, the longest first, and
    /// suffixes follow (Al-Fares §3.3).
    const fn rank(self) -> u8 {
        match self {
            AddressPart::Whole => 0,
            AddressPart::Prefix(octets) => 4 - octets,
            AddressPart::Suffix(octets) => 9 - octets,
        }
    }
}

/// Two-level routing table of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TwoLevelTable {
    /// Mask, value and port of each entry, in the order of lookup.
    rows: Vec<(u32, u32, PortId)>,
}

impl TwoLevelTable {
    /// Creates a table from entries in any order.
    pub fn new(mut entries: Vec<TableEntry>) -> TwoLevelTable {
        entries.sort_by_key(|entry| entry.part.rank());
        let row = |entry: &TableEntry| {
            let mask = entry.part.mask();
            (mask, u32::from_be_bytes(entry.address) & mask, entry.port)
        };
        TwoLevelTable { rows: entries.iter().map(row).collect() }
    }
    /// Returns the output port for an address; `None` if no entry matches.
    #[inline]
    pub fn lookup(&self, address: [u8; 4]) -> Option<PortId> {
        let address = u32::from_be_bytes(address);
        self.rows.iter().find(|(mask, value, _)| address & mask == *value).map(|(.., port)| *port)
    }
}

/// Returns the table entries of a switch: those that lead down, then those that lead up (Al-Fares alg. 1 and 2).
pub fn table_entries(plan: AddressPlan, position: FatTreePosition) -> Vec<TableEntry> {
    let half = plan.half_port_count();
    let entry = |address, part, port: u8| TableEntry { address, part, port: PortId(u16::from(port)) };
    let down = |port: u8| match position {
        FatTreePosition::Edge(pod, z) => entry([10, pod, z, port + 2], AddressPart::Whole, port),
        FatTreePosition::Aggregation(pod, _) => entry([10, pod, port, 0], AddressPart::Prefix(3), port),
        FatTreePosition::Core(..) => entry([10, port, 0, 0], AddressPart::Prefix(2), port),
    };
    let up = |id: u8, z: u8| entry([0, 0, 0, id], AddressPart::Suffix(1), (id - 2 + z) % half + half);
    match position {
        FatTreePosition::Edge(_, z) | FatTreePosition::Aggregation(_, z) => {
            (0..half).map(down).chain((2..half + 2).map(|id| up(id, z))).collect()
        }
        FatTreePosition::Core(..) => (0..2 * half).map(down).collect(),
    }
}

/// Routing by the two-level table of one switch. The table is empty until it is prepared for a switch.
#[derive(Clone, Debug, Default)]
pub struct TwoLevel {
    plan: AddressPlan,
    table: TwoLevelTable,
}

impl TwoLevel {
    /// Creates the mechanism with the table of the switch at this position.
    pub fn new(plan: AddressPlan, position: FatTreePosition) -> TwoLevel {
        TwoLevel { plan, table: TwoLevelTable::new(table_entries(plan, position)) }
    }
    /// Returns the output port toward a host by the two-level table.
    pub fn output_port(&self, host: HostId) -> Option<PortId> {
        self.table.lookup(self.plan.host_address(host))
    }
    /// Returns the index in `hops` of the port that the two-level table gives for a host.
    ///
    /// # Panics
    /// Panics if the table's port is not in `hops`, which no table of a fat-tree causes.
    pub fn hop_index(&self, host: HostId, hops: &[Hop]) -> usize {
        let port = self.output_port(host);
        hops.iter().position(|hop| Some(hop.port) == port).expect("a fat-tree's tables lead to every host")
    }
}

impl Routing for TwoLevel {
    fn choose_hop(&mut self, pkt: &Head, hops: &[Hop], _env: &mut Env) -> usize {
        self.hop_index(pkt.dst, hops)
    }
    fn hop_by_hash(&self, host: HostId, _hash: u32, hops: &[Hop]) -> usize {
        self.hop_index(host, hops)
    }
    fn for_switch(&mut self, own: &SwitchContext) {
        if let Some((plan, position)) = own.position {
            *self = TwoLevel::new(plan, position);
        }
    }
    /// Reports a network without the addresses of a fat-tree, which the tables need.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if !beside.addresses {
            let found = "\"two_level\" in a network that is not a `fat_tree`";
            let others = "`ecmp`, `spray`, `weighted` or `k_shortest`";
            report.add_error("kind", found, format!("{others}: `two_level` needs topology.kind = \"fat_tree\""));
        }
    }
    fn needs_addresses(&self) -> bool {
        true
    }
    fn clone_boxed(&self) -> Box<dyn Routing> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, parse_head};

    fn two_level(k: u32, position: FatTreePosition) -> TwoLevel {
        TwoLevel::new(AddressPlan::new(k), position)
    }
    /// Returns the output port that a switch's two-level table gives for an address.
    fn table_port(k: u32, position: FatTreePosition, address: [u8; 4]) -> u16 {
        two_level(k, position).table.lookup(address).unwrap().0
    }

    #[test]
    fn up_port_depends_on_the_last_octet_and_the_switch() {
        // Ports of PABO §VI-A, fig. 10.
        for (left, right) in [
            (FatTreePosition::Edge(0, 0), FatTreePosition::Edge(0, 1)),
            (FatTreePosition::Aggregation(1, 0), FatTreePosition::Aggregation(1, 1)),
        ] {
            let up = |position, id| table_port(4, position, [10, 2, 0, id]);
            assert_eq!([up(left, 2), up(left, 3)], [2, 3]);
            assert_eq!([up(right, 2), up(right, 3)], [3, 2]);
        }
    }

    #[test]
    fn address_below_a_switch_goes_down_at_any_last_octet() {
        assert_eq!([2, 3].map(|id| table_port(4, FatTreePosition::Edge(1, 1), [10, 1, 1, id])), [0, 1]);
        assert_eq!(
            [2, 3].map(|id| table_port(4, FatTreePosition::Edge(1, 1), [10, 1, 0, id])),
            [3, 2],
            "the other edge of its pod"
        );
        assert_eq!([2, 3].map(|id| table_port(4, FatTreePosition::Aggregation(1, 1), [10, 1, 0, id])), [0, 0]);
        assert_eq!([2, 3].map(|id| table_port(4, FatTreePosition::Aggregation(1, 1), [10, 1, 1, id])), [1, 1]);
        assert_eq!([2, 3].map(|id| table_port(4, FatTreePosition::Core(1, 0), [10, 3, 1, id])), [3, 3]);
        assert_eq!(
            two_level(4, FatTreePosition::Core(0, 0)).table.lookup([10, 4, 0, 2]),
            None,
            "a pod that is not there"
        );
    }

    #[test]
    fn up_ports_of_a_k6_fat_tree_rotate_with_the_edge_switch() {
        // Ports of Al-Fares alg. 1: (id - 2 + z) mod 3 + 3.
        let up = |z| [2, 3, 4].map(|id| table_port(6, FatTreePosition::Edge(0, z), [10, 5, 2, id]));
        assert_eq!([up(0), up(1), up(2)], [[3, 4, 5], [4, 5, 3], [5, 3, 4]]);
    }

    #[test]
    fn longest_match_wins_and_prefixes_precede_suffixes() {
        let entry = |address, part, port| TableEntry { address, part, port: PortId(port) };
        let mut rows = vec![
            entry([0, 0, 0, 7], AddressPart::Suffix(1), 5),
            entry([0, 0, 1, 7], AddressPart::Suffix(2), 4),
            entry([10, 1, 0, 0], AddressPart::Prefix(2), 3),
            entry([10, 1, 1, 0], AddressPart::Prefix(3), 2),
            entry([10, 1, 1, 7], AddressPart::Whole, 1),
        ];
        let cases =
            [([10, 1, 1, 7], 1), ([10, 1, 1, 8], 2), ([10, 1, 2, 7], 3), ([10, 2, 1, 7], 4), ([10, 2, 2, 7], 5)];
        for _ in 0..2 {
            let table = TwoLevelTable::new(rows.clone());
            assert!(cases.iter().all(|(address, port)| table.lookup(*address) == Some(PortId(*port))));
            assert_eq!(table.lookup([10, 2, 2, 8]), None);
            rows.reverse();
        }
    }

    #[test]
    fn two_level_ignores_the_flow_hash() {
        let hops = [2, 3].map(|port| Hop { port: PortId(port), weight: 1.0 });
        let mut s4 = two_level(4, FatTreePosition::Aggregation(0, 1));
        for hash in 0..100 {
            let pkt = parse_head(&format!("dst=9 hash={hash}"));
            assert_eq!(s4.choose_hop(&pkt, &hops, &mut DecisionInputs::with_draws(&[]).env()), 0);
            assert_eq!([9, 8].map(|host| s4.hop_by_hash(HostId(host), hash, &hops)), [0, 1]);
        }
    }
}
