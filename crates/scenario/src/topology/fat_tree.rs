//! The k-ary fat-tree: k pods of k/2 edge and k/2 aggregation switches, and (k/2)² cores.
//!
//! Ports of downward links come first. An edge switch has its hosts, then the aggregation switches of its pod. An
//! aggregation switch has the pod's edge switches, then its k/2 cores. Port p of a core leads to pod p.

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, LINK_BACK_DELAY, LINK_BACK_RATE,
    LINK_DELAY, LINK_RATE, OVERSUBSCRIPTION, read_tier_links,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::routing::AddressPlan;

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "fat_tree",
    doc: "k-ary fat-tree with k³/4 hosts `h0`… pod by pod, and switches `edge0`…, `agg0`… and `core0`….",
    cite: "Al-Fares et al., \"A scalable, commodity data center network architecture\", SIGCOMM 2008 §2.2",
    params: &[
        Param {
            name: "k",
            doc: "Number of ports of every switch (k); an even number.",
            kind: ParamKind::Count { min: 2, max: 64 },
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
    let k = values.count("k");
    Counts { hosts: k * k * k / 4, switches: k * k * 5 / 4, edges: k * k / 2, links: k * k * k / 2 }
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let k = values.count("k") as u32;
    if k % 2 == 1 {
        return Err(vec![Fault {
            field: "k".into(),
            found: k.to_string(),
            rule: "an even number from 2 to 64".into(),
        }]);
    }
    let half = k / 2;
    let (host, fabric) = read_tier_links(values, u64::from(half), u64::from(half))?;
    let mut net = Builder::with_hosts(k * half * half);
    let edge = net.add_switches(k * half, "edge", "edge");
    let agg = net.add_switches(k * half, "agg", "agg");
    let core = net.add_switches(half * half, "core", "core");
    (0..k * half * half).for_each(|h| net.connect(h, edge + h / half, host));
    for e in 0..k * half {
        let pod = e / half;
        (0..half).for_each(|a| net.connect(edge + e, agg + pod * half + a, fabric));
    }
    for a in 0..k * half {
        let group = a % half;
        (0..half).for_each(|c| net.connect(agg + a, core + group * half + c, fabric));
    }
    Ok(Topology { plan: Some(AddressPlan::new(k)), ..net.finish() })
}
