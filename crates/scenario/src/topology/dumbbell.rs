//! Two switches with one link between them, and hosts on either side.

use super::Topology;
use super::builder::{Builder, LINK_BACK_DELAY, LINK_BACK_RATE, LINK_DELAY, LINK_RATE, link};
use super::counts::Counts;
use mech::params::{Kind, Param, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "dumbbell",
    doc: "Hosts `h0`… on switch `s0`, as many after them on `s1`, and one link between the two.",
    cite: "",
    params: &[
        Param {
            name: "n",
            doc: "Number of hosts on each side.",
            kind: Kind::Count { min: 1, max: 65_534 },
            default: None,
        },
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
        Param {
            name: "bottleneck.rate",
            doc: "Rate of the link between the switches; as `link.rate` where not given.",
            kind: Kind::Rate,
            default: Some("link.rate"),
        },
        Param {
            name: "bottleneck.delay",
            doc: "Its propagation delay; as `link.delay` where not given.",
            kind: Kind::Time { min: 1 },
            default: Some("link.delay"),
        },
        Param {
            name: "bottleneck.back.rate",
            doc: "Its rate from `s1` to `s0`; as `bottleneck.rate`, or as `link.back.rate` where that is not given.",
            kind: Kind::Rate,
            default: Some("bottleneck.rate"),
        },
        Param {
            name: "bottleneck.back.delay",
            doc: "Its propagation delay from `s1` to `s0`; as `bottleneck.delay`, or as `link.back.delay` where that \
                  is not given.",
            kind: Kind::Time { min: 1 },
            default: Some("bottleneck.delay"),
        },
    ],
};

/// Counts of the network.
pub(super) fn counts(values: &Values) -> Counts {
    Counts { hosts: 2 * values.count("n"), switches: 2, edges: 2, links: 1 }
}

pub(super) fn build(values: &Values) -> Topology {
    let (n, host) = (values.count("n") as u32, link(values, "link", None));
    let mut net = Builder::with_hosts(2 * n);
    let left = net.switches(2, "s", "switch");
    (0..2 * n).for_each(|i| net.connect(i, left + i / n, host));
    net.connect(left, left + 1, link(values, "bottleneck", Some(host)));
    net.done()
}
