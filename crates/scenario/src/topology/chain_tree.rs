//! Chains of switches, one for each sender, that meet in one last switch.

use super::Topology;
use super::builder::{
    Builder, FABRIC_BACK_DELAY, FABRIC_BACK_RATE, FABRIC_DELAY, FABRIC_RATE, LINK_BACK_DELAY, LINK_BACK_RATE,
    LINK_DELAY, LINK_RATE, read_link,
};
use super::counts::Counts;
use crate::fault::Fault;
use mech::params::{Param, ParamKind, Spec, Values};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "chain_tree",
    doc: "Chains of switches from senders `h0`… to one last switch, which has the receivers. Switches are numbered \
          level by level. With `n = 3` and `depth = 2`, `s0` to `s2` are next to the senders and `s6` is the last. \
          Its tier is `root`; the others are `level1` and `level2`.",
    cite: "PABO §IV",
    params: &[
        Param {
            name: "n",
            doc: "Number of senders, which is also the number of chains.",
            kind: ParamKind::Count { min: 1, max: 10_000 },
            default: None,
        },
        Param {
            name: "depth",
            doc: "Number of switches in a chain, without the last switch.",
            kind: ParamKind::Count { min: 0, max: 64 },
            default: Some("2"),
        },
        Param {
            name: "receivers",
            doc: "Number of hosts on the last switch; their numbers follow those of the senders.",
            kind: ParamKind::Count { min: 1, max: 10_000 },
            default: Some("1"),
        },
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

/// Largest number of switches in all chains.
const MAX_CHAIN_SWITCHES: u64 = 100_000;

/// Counts the hosts, switches and links that the network will have.
pub(super) fn counts(values: &Values) -> Counts {
    let (n, depth, receivers) = (values.count("n"), values.count("depth"), values.count("receivers"));
    let edges = if depth == 0 { 1 } else { n + 1 };
    Counts { hosts: n + receivers, switches: n * depth + 1, edges, links: n * depth }
}

pub(super) fn build(values: &Values) -> Result<Topology, Vec<Fault>> {
    let (n, depth, receivers) = (values.count("n"), values.count("depth"), values.count("receivers"));
    if n * depth > MAX_CHAIN_SWITCHES {
        let rule = format!("at most {MAX_CHAIN_SWITCHES} switches in all chains");
        return Err(vec![Fault { field: "depth".into(), found: format!("{n} chains of {depth}"), rule }]);
    }
    let host = read_link(values, "link", None);
    let fabric = read_link(values, "fabric", Some(host));
    let (n, depth, receivers) = (n as u32, depth as u32, receivers as u32);
    let mut net = Builder::with_hosts(n + receivers);
    let first = n + receivers;
    for s in 0..n * depth {
        net.add_switch(format!("s{s}"), format!("level{}", s / n + 1));
    }
    let root = net.add_switch(format!("s{}", n * depth), "root".into());
    for chain in 0..n {
        let mut below = chain;
        for level in 0..depth {
            let switch = first + level * n + chain;
            net.connect(below, switch, if level == 0 { host } else { fabric });
            below = switch;
        }
        net.connect(below, root, if depth == 0 { host } else { fabric });
    }
    (n..n + receivers).for_each(|receiver| net.connect(receiver, root, host));
    Ok(net.finish())
}
