//! IPv4 addresses, MAC addresses and ports in frames, computed from the numbers of hosts and flows.

use mech::routing::AddressPlan;
use mech::{FlowId, HostId};

/// Returns the IPv4 and MAC addresses of a host, from the address plan or else from its number.
pub(crate) fn host_addresses(host: HostId, plan: Option<AddressPlan>) -> ([u8; 4], [u8; 6]) {
    match plan {
        Some(plan) => (plan.host_address(host), plan.host_mac(host)),
        None => (ipv4_address(host), mac_address(host)),
    }
}

/// Returns the host with an IPv4 address; `None` if no host has it.
pub(crate) fn find_host_by_address(address: [u8; 4], plan: Option<AddressPlan>) -> Option<HostId> {
    let found = match (plan, address) {
        (Some(plan), [_, pod, switch, id]) => {
            let half = u32::from(plan.half_port_count());
            let edge = u32::from(pod) * half + u32::from(switch);
            HostId((edge * half).wrapping_add(u32::from(id)).wrapping_sub(2))
        }
        (None, [_, x, y, z]) => HostId(u32::from_be_bytes([0, x, y, z]).wrapping_sub(1) & 0xff_ffff),
    };
    (host_addresses(found, plan).0 == address).then_some(found)
}

/// Returns the IPv4 address of a host: 10.0.0.1 + n for host `n`, modulo the network's 2²⁴ addresses
/// (RFC 1918 §3: 10/8).
pub fn ipv4_address(host: HostId) -> [u8; 4] {
    let [_, x, y, z] = host.0.wrapping_add(1).to_be_bytes();
    [10, x, y, z]
}

/// Returns the MAC address of a host: a locally administered address whose last four bytes are the IPv4 address.
/// 02:00:0a:00:00:01 is host 0 (IEEE 802 §8.2). Frames have the addresses of the two hosts on every link of their path.
pub fn mac_address(host: HostId) -> [u8; 6] {
    let [a, b, c, d] = ipv4_address(host);
    [2, 0, a, b, c, d]
}

/// Port range of senders: the first port, and the number of ports.
/// Analysers such as Wireshark know no protocol for ports of this range or the next.
/// So they show payload, which is zeros, as plain data.
const SENDER_PORTS: (u16, u32) = (37_100, 4_000);
/// Port range of receivers: the first port, and the number of ports.
const RECEIVER_PORTS: (u16, u32) = (50_000, 4_000);

/// Returns the ports of a flow's sender and receiver. Flow 0 has 37100 and 50000, flow 1 has 37101 and 50000, and so
/// on; they repeat after 16 million flows.
pub fn flow_ports(flow: FlowId) -> (u16, u16) {
    let (low, high) = (flow.0 % SENDER_PORTS.1, flow.0 / SENDER_PORTS.1 % RECEIVER_PORTS.1);
    (SENDER_PORTS.0 + low as u16, RECEIVER_PORTS.0 + high as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbered_from_10_0_0_1_on() {
        assert_eq!(
            [0, 254, 65_534].map(|h| ipv4_address(HostId(h))),
            [[10, 0, 0, 1], [10, 0, 0, 255], [10, 0, 255, 255]]
        );
        assert_eq!(mac_address(HostId(255)), [2, 0, 10, 0, 1, 0]);
        assert_eq!(mac_address(HostId(0))[0] & 0b11, 0b10, "one station's, locally administered");
    }

    #[test]
    fn address_maps_back_to_its_host() {
        let plan = Some(AddressPlan::new(6));
        for n in (0..54).chain([255, 65_535]) {
            assert_eq!(find_host_by_address(ipv4_address(HostId(n)), None), Some(HostId(n)));
        }
        for n in 0..54 {
            assert_eq!(find_host_by_address(host_addresses(HostId(n), plan).0, plan), Some(HostId(n)));
        }
        for nobody in [[10, 0, 0, 1], [10, 0, 0, 5], [10, 0, 3, 2], [11, 0, 0, 2]] {
            assert_eq!(find_host_by_address(nobody, plan), None, "{nobody:?}");
        }
        assert_eq!(
            (find_host_by_address([10, 0, 0, 0], None), find_host_by_address([192, 0, 0, 1], None)),
            (Some(HostId(0xff_ffff)), None)
        );
    }

    #[test]
    fn first_sixteen_million_flows_have_unique_ports() {
        assert_eq!(flow_ports(FlowId(0)), (37_100, 50_000));
        assert_eq!(flow_ports(FlowId(3_999)), (41_099, 50_000));
        assert_eq!(flow_ports(FlowId(4_000)), (37_100, 50_001));
        assert_eq!(flow_ports(FlowId(15_999_999)), (41_099, 53_999));
        assert_eq!(flow_ports(FlowId(16_000_000)), flow_ports(FlowId(0)));
        assert!(flow_ports(FlowId(u32::MAX)).1 < 54_000);
    }
}
