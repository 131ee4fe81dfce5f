//! HyperX: switches at the points of a grid, each linked to all that differ from it in one coordinate.
//!
//! A row is a full mesh, so that a path needs one hop for each coordinate that differs. Unlike the paper, the relative
//! bandwidth K of a dimension is 1: all links between switches have one rate.
//!
//! Ports of a switch lead to its hosts first. Ports to the others of its row in the first dimension follow in the order
//! of their coordinate, then those in the second, and so on.

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, HOSTS_PER_SWITCH, LINK_BACK_DELAY,
    LINK_BACK_RATE, LINK_DELAY, LINK_RATE, OVERSUBSCRIPTION, read_tier_links,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};

/// Largest number of dimensions; a hypercube with as many has 65,536 switches.
const MAX_DIMENSIONS: usize = 16;

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "hyperx",
    doc: "Grid with a switch at every point, linked to all switches that differ from it in one coordinate. The names \
          of switches contain the coordinates, and the last coordinate varies fastest: `s0_0`, `s0_1`…. Hosts are \
          `h0`… switch by switch.",
    cite: "Ahn et al., \"HyperX: topology, routing, and packaging of efficient large-scale networks\", SC 2009 §3",
    params: &[
        Param {
            name: "dims",
            doc: "Number of switches along each of the L dimensions (S): `[4, 4]` is a square, `[8]` a full mesh, \
                  `[2, 2, 2]` a cube.",
            kind: ParamKind::Counts { min: 2, max: 1024 },
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
        OVERSUBSCRIPTION,
    ],
};

/// Counts the hosts, switches and links that the network will have, for any number of dimensions.
pub(super) fn counts(values: &Values) -> Counts {
    let dims = values.counts("dims");
    let switches = dims.iter().fold(1u64, |all, size| all.saturating_mul(*size));
    Counts::equal_switches(switches, values.count("hosts_per_switch"), dims.iter().map(|size| size - 1).sum())
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let (dims, hosts) = (values.counts("dims"), values.count("hosts_per_switch"));
    if dims.is_empty() || dims.len() > MAX_DIMENSIONS {
        let found = format!("{} dimensions", dims.len());
        return Err(vec![Fault { field: "dims".into(), found, rule: format!("1 to {MAX_DIMENSIONS}") }]);
    }
    let degree: u64 = dims.iter().map(|size| size - 1).sum();
    let switches: u64 = dims.iter().product();
    let (host, fabric) = read_tier_links(values, hosts, degree)?;
    let (switches, hosts) = (switches as u32, hosts as u32);
    let mut net = Builder::with_hosts(switches * hosts);
    let first = switches * hosts;
    for s in 0..switches {
        net.add_switch(switch_name(dims, s), "switch".into());
    }
    (0..first).for_each(|h| net.connect(h, first + h / hosts, host));
    // The last coordinate runs fastest in the numbers of switches. Coordinates of a dimension that differ by 1 are
    // `stride` numbers apart.
    let mut stride = switches;
    for size in dims.iter().map(|size| *size as u32) {
        stride /= size;
        for s in 0..switches {
            let at = s / stride % size;
            (1..size - at).for_each(|more| net.connect(first + s, first + s + more * stride, fabric));
        }
    }
    Ok(net.finish())
}

/// Returns the name of a switch: `s` and its coordinates, such as `s0_2`.
fn switch_name(dims: &[u64], switch: u32) -> String {
    let (mut rest, mut at) = (u64::from(switch), Vec::new());
    for size in dims.iter().rev() {
        at.push((rest % size).to_string());
        rest /= size;
    }
    at.reverse();
    format!("s{}", at.join("_"))
}
