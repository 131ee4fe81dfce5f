//! Two switches joined by one link, with hosts on both sides.

use super::Topology;
use super::builder::{Builder, LINK_BACK_DELAY, LINK_BACK_RATE, LINK_DELAY, LINK_RATE, link};
use super::counts::Counts;
use mech::params::{Kind, Param, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "dumbbell",
    doc: "Two switches with one link between them. `s0` has the hosts from `h0` on, and `s1` has as many with the \
          next numbers.",
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
            doc: "Rate of the link between the switches; by default `link.rate`.",
            kind: Kind::Rate,
            default: Some("link.rate"),
        },
        Param {
            name: "bottleneck.delay",
            doc: "Propagation delay of the link between the switches; by default `link.delay`.",
            kind: Kind::Time { min: 1 },
            default: Some("link.delay"),
        },
        Param {
            name: "bottleneck.back.rate",
            doc: "Rate of that link from `s1` to `s0`; by default `bottleneck.rate` if set, else `link.back.rate`.",
            kind: Kind::Rate,
            default: Some("bottleneck.rate"),
        },
        Param {
            name: "bottleneck.back.delay",
            doc: "Propagation delay of that link from `s1` to `s0`; by default `bottleneck.delay` if set, else \
                  `link.back.delay`.",
            kind: Kind::Time { min: 1 },
            default: Some("bottleneck.delay"),
        },
    ],
};

/// Returns the counts of the network.
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
