//! Leaf-spine network: every leaf is linked to every spine.

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, LINK_BACK_DELAY, LINK_BACK_RATE,
    LINK_DELAY, LINK_RATE, OVERSUBSCRIPTION, read_tier_links,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "leaf_spine",
    doc: "Two tiers of switches `leaf0`… and `spine0`…, every leaf linked to every spine, with hosts `h0`… leaf by \
          leaf.",
    cite: "Alizadeh et al., \"CONGA\", SIGCOMM 2014 §2",
    params: &[
        Param {
            name: "leaves",
            doc: "Number of leaf switches.",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: None,
        },
        Param {
            name: "spines",
            doc: "Number of spine switches.",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: None,
        },
        Param {
            name: "hosts_per_leaf",
            doc: "Number of hosts on each leaf.",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: None,
        },
        LINK_RATE,
        LINK_DELAY,
        LINK_BACK_RATE,
        LINK_BACK_DELAY,
        FABRIC_RATE,
        FABRIC_DELAY,
        FABRIC_BACK_RATE,
        FABRIC_BACK_DELAY,
        OVERSUBSCRIPTION,
    ],
};

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    let (leaves, spines) = (values.count("leaves"), values.count("spines"));
    let hosts = leaves * values.count("hosts_per_leaf");
    Counts { hosts, switches: leaves + spines, edges: leaves, links: leaves * spines }
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let (leaves, spines) = (values.count("leaves") as u32, values.count("spines") as u32);
    let per_leaf = values.count("hosts_per_leaf") as u32;
    let (host, fabric) = read_tier_links(values, u64::from(per_leaf), u64::from(spines))?;
    let mut net = Builder::with_hosts(leaves * per_leaf);
    let leaf = net.add_switches(leaves, "leaf", "leaf");
    let spine = net.add_switches(spines, "spine", "spine");
    (0..leaves * per_leaf).for_each(|h| net.connect(h, leaf + h / per_leaf, host));
    for l in 0..leaves {
        (0..spines).for_each(|s| net.connect(leaf + l, spine + s, fabric));
    }
    Ok(net.finish())
}
