//! Switches in a chain, each with hosts: a network without alternative paths (DIBS §7, footnote 10).

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, HOSTS_PER_SWITCH, LINK_BACK_DELAY,
    LINK_BACK_RATE, LINK_DELAY, LINK_RATE, read_link,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "linear",
    doc: "Chain of switches `s0`…, with hosts `h0`… switch by switch.",
    cite: "DIBS §7, footnote 10",
    params: &[
        Param {
            name: "switches",
            doc: "Number of switches.",
            kind: ParamKind::Count { min: 1, max: 10_000 },
            default: None,
        },
        HOSTS_PER_SWITCH,
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
        FABRIC_RATE,
        FABRIC_DELAY,
        FABRIC_BACK_RATE,
        FABRIC_BACK_DELAY,
    ],
};

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    let switches = values.count("switches");
    let hosts = switches * values.count("hosts_per_switch");
    Counts { hosts, switches, edges: switches, links: switches - 1 }
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let (switches, hosts) = (values.count("switches"), values.count("hosts_per_switch"));
    let (switches, hosts) = (switches as u32, hosts as u32);
    let host = read_link(values, "link", None);
    let fabric = read_link(values, "fabric", Some(host));
    let mut net = Builder::with_hosts(switches * hosts);
    let first = net.add_switches(switches, "s", "switch");
    (0..switches * hosts).for_each(|h| net.connect(h, first + h / hosts, host));
    (1..switches).for_each(|s| net.connect(first + s - 1, first + s, fabric));
    Ok(net.finish())
}
