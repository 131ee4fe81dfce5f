//! Hosts at one switch.

use super::Topology;
use super::builder::{Builder, LINK_BACK_DELAY, LINK_BACK_RATE, LINK_DELAY, LINK_RATE, read_link};
use super::counts::Counts;
use mech::params::{Param, ParamKind, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "star",
    doc: "Single switch `s0` with hosts `h0`….",
    cite: "",
    params: &[
        Param { name: "n", doc: "Number of hosts.", kind: ParamKind::Count { min: 2, max: 65_535 }, default: None },
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
    ],
};

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    Counts { hosts: values.count("n"), switches: 1, edges: 1, links: 0 }
}

pub(super) fn build(values: &Values) -> Topology {
    let (hosts, link) = (values.count("n") as u32, read_link(values, "link", None));
    let mut net = Builder::with_hosts(hosts);
    let switch = net.add_switches(1, "s", "switch");
    (0..hosts).for_each(|host| net.connect(host, switch, link));
    net.finish()
}
