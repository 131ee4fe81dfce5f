//! Addresses in a k-ary fat-tree, which encode the position of a node (Al-Fares et al., "A scalable, commodity data
//! center network architecture", SIGCOMM 2008 §3.2; PABO §VI-A).

use crate::HostId;

/// Addresses of a k-ary fat-tree. Hosts are numbered pod by pod and edge by edge. Switches are numbered edges first,
/// then aggregation switches, then cores, group by group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressPlan {
    half: u32,
}

/// Position of a switch in a fat-tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FatTreePosition {
    /// Edge switch: its pod, and its number there from the left, from 0.
    Edge(u8, u8),
    /// Aggregation switch: its pod, and its number there from the left, from 0.
    Aggregation(u8, u8),
    /// Core switch: its group, which is the number of its aggregation switch in every pod, and its number in the group,
    /// both from 0.
    Core(u8, u8),
}

impl AddressPlan {
    /// Creates the address plan of a fat-tree of switches with `k` ports. PRECONDITION: `k` is even, 2 to 64.
    pub const fn new(k: u32) -> AddressPlan {
        AddressPlan { half: k / 2 }
    }
    /// Returns half the number of ports of a switch. Below the core, one half of the ports leads up, the other down.
    pub const fn half_port_count(self) -> u8 {
        self.half as u8
    }
    /// Returns the address of a host: 10.pod.switch.id, with `id` from 2 on (Al-Fares §3.2).
    #[inline]
    pub const fn host_address(self, host: HostId) -> [u8; 4] {
        let (edge, id) = (host.0 / self.half, host.0 % self.half + 2);
        [10, (edge / self.half) as u8, (edge % self.half) as u8, id as u8]
    }
    /// Returns the MAC address of a host: 0A-AA, then the four octets of its address (PABO §VI-A).
    pub const fn host_mac(self, host: HostId) -> [u8; 6] {
        let [a, b, c, d] = self.host_address(host);
        [0x0A, 0xAA, a, b, c, d]
    }
    /// Returns the position of a switch, whose number counts from the first edge switch.
    pub const fn switch_position(self, switch: u32) -> FatTreePosition {
        let of_tier = 2 * self.half * self.half;
        let (tier, number) = (switch / of_tier, switch % of_tier);
        let (group, place) = ((number / self.half) as u8, (number % self.half) as u8);
        match tier {
            0 => FatTreePosition::Edge(group, place),
            1 => FatTreePosition::Aggregation(group, place),
            _ => FatTreePosition::Core(group, place),
        }
    }
    /// Returns the address of a switch: 10.pod.switch.1 in a pod, where aggregation switches follow the edges. Core i
    /// of group j, both from 1, is 10.k.j.i (Al-Fares §3.2).
    pub const fn switch_address(self, position: FatTreePosition) -> [u8; 4] {
        match position {
            FatTreePosition::Edge(pod, z) => [10, pod, z, 1],
            FatTreePosition::Aggregation(pod, z) => [10, pod, z + self.half_port_count(), 1],
            FatTreePosition::Core(group, place) => [10, 2 * self.half_port_count(), group + 1, place + 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn addresses_of_a_k4_fat_tree_match_the_papers() {
        let plan = AddressPlan::new(4);
        // Expected addresses: PABO §VI-A, H2 and H10; Al-Fares fig. 3, 10.2.0.2 and the switches around it.
        assert_eq!([1, 9, 8].map(|h| plan.host_address(HostId(h))), [[10, 0, 0, 3], [10, 2, 0, 3], [10, 2, 0, 2]]);
        assert_eq!(plan.host_mac(HostId(15)), [0x0A, 0xAA, 10, 3, 1, 3]);
        assert_eq!(plan.host_mac(HostId(0))[0] & 0b11, 0b10, "one station's, locally administered");
        let switches = [(0, [10, 0, 0, 1]), (3, [10, 1, 1, 1]), (8, [10, 0, 2, 1]), (13, [10, 2, 3, 1])];
        for (number, address) in switches {
            assert_eq!(plan.switch_address(plan.switch_position(number)), address, "switch {number}");
        }
        let cores = (16..20).map(|core| plan.switch_address(plan.switch_position(core)));
        assert!(cores.eq([[10, 4, 1, 1], [10, 4, 1, 2], [10, 4, 2, 1], [10, 4, 2, 2]]));
    }

    #[test]
    fn addresses_of_hosts_and_switches_are_unique() {
        for k in (2..=64).step_by(2) {
            let plan = AddressPlan::new(k);
            let (hosts, switches) = (k * k * k / 4, 5 * k * k / 4);
            let all = (0..hosts).map(|h| plan.host_address(HostId(h)));
            let all: BTreeSet<_> =
                all.chain((0..switches).map(|s| plan.switch_address(plan.switch_position(s)))).collect();
            assert_eq!(all.len() as u32, hosts + switches, "k = {k}");
        }
    }
}
