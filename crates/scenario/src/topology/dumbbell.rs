//! Two switches joined by one link, with hosts on both sides.

use super::Topology;
use super::builder::{Builder, LINK_BACK_DELAY, LINK_BACK_RATE, LINK_DELAY, LINK_RATE, read_link};
use super::counts::Counts;
use mech::params::{Param, ParamKind, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "dumbbell",
    doc: "Two switches with one link between them. The first half of the hosts is at `s0`, the second half at `s1`.",
    cite: "",
    params: &[
        Param {
            name: "n",
            doc: "Number of hosts on each side.",
            kind: ParamKind::Count { min: 1, max: 65_534 },
            default: None,
        },
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
        Param {
            name: "bottleneck.rate",
            doc: "Rate of the link between the switches; by default `link.rate`.",
            kind: ParamKind::Rate,
            default: Some("link.rate"),
        },
        Param {
            name: "bottleneck.delay",
            doc: "Propagation delay of the link between the switches; by default `link.delay`.",
            kind: ParamKind::Time { min: 1 },
            default: Some("link.delay"),
        },
        Param {
            name: "bottleneck.back.rate",
            doc: "Rate of the link from `s1` to `s0`; by default `bottleneck.rate` if set, else `link.back.rate`.",
            kind: ParamKind::Rate,
            default: Some("bottleneck.rate"),
        },
        Param {
            name: "bottleneck.back.delay",
            doc: "Propagation delay of the link from `s1` to `s0`; by default `bottleneck.delay` if set, else \
                  `link.back.delay`.",
            kind: ParamKind::Time { min: 1 },
            default: Some("bottleneck.delay"),
        },
    ],
};

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    Counts { hosts: 2 * values.count("n"), switches: 2, edges: 2, links: 1 }
}

pub(super) fn build(values: &Values) -> Topology {
    let (n, host) = (values.count("n") as u32, read_link(values, "link", None));
    let mut net = Builder::with_hosts(2 * n);
    let left = net.add_switches(2, "s", "switch");
    (0..2 * n).for_each(|i| net.connect(i, left + i / n, host));
    net.connect(left, left + 1, read_link(values, "bottleneck", Some(host)));
    net.finish()
}
