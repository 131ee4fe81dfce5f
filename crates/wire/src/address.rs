//! Addresses and ports, made from numbers of hosts and flows.

use mech::routing::AddressPlan;
use mech::{FlowId, HostId};

/// The IPv4 and MAC addresses of a host: as a plan gives them, else by its number.
pub(crate) fn addresses(host: HostId, plan: Option<AddressPlan>) -> ([u8; 4], [u8; 6]) {
    match plan {
        Some(plan) => (plan.host(host), plan.mac(host)),
        None => (ipv4(host), mac(host)),
    }
}

/// Host `n` is 10.0.0.1 + n, modulo the network's 2²⁴ addresses (RFC 1918 §3: 10/8).
pub fn ipv4(host: HostId) -> [u8; 4] {
    let [_, x, y, z] = host.0.wrapping_add(1).to_be_bytes();
    [10, x, y, z]
}

/// A locally administered address whose last four bytes are the host's IPv4 address: 02:00:0a:00:00:01
/// is host 0 (IEEE 802 §8.2). Frames bear those of the two hosts on every link of their way.
pub fn mac(host: HostId) -> [u8; 6] {
    let [a, b, c, d] = ipv4(host);
    [2, 0, a, b, c, d]
}

/// First port of the senders, and how many are used. Analysers know no protocol of this range or the
/// next, so that zeros are not taken for one.
const SENDERS: (u16, u32) = (37_100, 4_000);
/// First port of the receivers, and how many are used.
const RECEIVERS: (u16, u32) = (50_000, 4_000);

/// The ports of a flow's sender and receiver: flow 0 has 37100 and 50000, flow 1 has 37101 and
/// 50000, and so on; they repeat after 16 million flows.
pub fn ports(flow: FlowId) -> (u16, u16) {
    let (low, high) = (flow.0 % SENDERS.1, flow.0 / SENDERS.1 % RECEIVERS.1);
    (SENDERS.0 + low as u16, RECEIVERS.0 + high as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbered_from_10_0_0_1_on() {
        assert_eq!([0, 254, 65_534].map(|h| ipv4(HostId(h))), [[10, 0, 0, 1], [10, 0, 0, 255], [10, 0, 255, 255]]);
        assert_eq!(mac(HostId(255)), [2, 0, 10, 0, 1, 0]);
        assert_eq!(mac(HostId(0))[0] & 0b11, 0b10, "one station's, locally administered");
    }

    #[test]
    fn sixteen_million_flows_have_ports_of_their_own() {
        assert_eq!(ports(FlowId(0)), (37_100, 50_000));
        assert_eq!(ports(FlowId(3_999)), (41_099, 50_000));
        assert_eq!(ports(FlowId(4_000)), (37_100, 50_001));
        assert_eq!(ports(FlowId(15_999_999)), (41_099, 53_999));
        assert_eq!(ports(FlowId(16_000_000)), ports(FlowId(0)));
        assert!(ports(FlowId(u32::MAX)).1 < 54_000);
    }
}
