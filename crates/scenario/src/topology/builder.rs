//! What the built-in topologies are made with.

use super::{Node, Port, Topology};
use crate::fault::Fault;
use crate::limits::{FASTEST, SLOWEST};
use mech::params::{Kind, Param, Values};
use units::{Dur, Rate};

pub(super) const LINK_RATE: Param = Param {
    name: "link.rate",
    doc: "Rate of the links in both directions; only of the host links where others are given separately.",
    kind: Kind::Rate,
    default: Some("1Gbps"),
};
pub(super) const LINK_DELAY: Param = Param {
    name: "link.delay",
    doc: "Propagation delay of the links; only of the host links where others are given separately.",
    kind: Kind::Time { min: 1 },
    default: Some("1us"),
};
pub(super) const FABRIC_RATE: Param = Param {
    name: "fabric.rate",
    doc: "Rate of the links between switches; by default `link.rate`.",
    kind: Kind::Rate,
    default: Some("link.rate"),
};
pub(super) const FABRIC_DELAY: Param = Param {
    name: "fabric.delay",
    doc: "Propagation delay of the links between switches; by default `link.delay`.",
    kind: Kind::Time { min: 1 },
    default: Some("link.delay"),
};
pub(super) const OVERSUBSCRIPTION: Param = Param {
    name: "oversubscription",
    doc: "Capacity of a ToR's host links over that of its links to switches; sets the rate of all links between \
          switches, so `fabric.rate` is refused beside it. In a fat-tree those links run at `link.rate` divided by \
          this factor f, which DIBS §5.5.4 counts as 1:f² over its two tiers: its 1:4, 1:9 and 1:16 are 2, 3 and 4.",
    kind: Kind::Number { min: 1.0, max: 1000.0, below_max: false },
    default: Some(""),
};

pub(super) const HOSTS_PER_SWITCH: Param = Param {
    name: "hosts_per_switch",
    doc: "Number of hosts on each switch.",
    kind: Kind::Count { min: 1, max: 1024 },
    default: None,
};
/// Most ports that the switches of a scenario may have together.
const MOST_PORTS: u64 = 4_000_000;

/// Rate and delay of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub rate: Rate,
    pub delay: Dur,
}

/// `prefix.rate` and `prefix.delay`, each as in `base` where not given.
pub(super) fn link(values: &Values, prefix: &str, base: Option<Link>) -> Link {
    let (rate, delay) = (format!("{prefix}.rate"), format!("{prefix}.delay"));
    Link {
        rate: base.filter(|_| !values.has(&rate)).map_or_else(|| values.rate(&rate), |b| b.rate),
        delay: base.filter(|_| !values.has(&delay)).map_or_else(|| values.time(&delay), |b| b.delay),
    }
}

/// Host links, and links between switches: where `oversubscription` is given, a ToR with `down`
/// host links and `up` uplinks has uplinks of the capacity that it asks for.
pub(super) fn tiered(values: &Values, down: u64, up: u64) -> Result<(Link, Link), Vec<Fault>> {
    let host = link(values, "link", None);
    let mut fabric = link(values, "fabric", Some(host));
    if values.has("oversubscription") {
        let asked = values.number("oversubscription");
        let fault =
            |rule: &str| vec![Fault { field: "oversubscription".into(), found: asked.to_string(), rule: rule.into() }];
        if values.has("fabric.rate") {
            return Err(fault("left out where `fabric.rate` is given"));
        }
        fabric.rate = exact(asked)
            .and_then(|(num, den)| host.rate.divided_by(num.checked_mul(up)?, den.checked_mul(down)?))
            .ok_or_else(|| fault("a decimal of few digits"))?;
        if !(SLOWEST..=FASTEST).contains(&fabric.rate) {
            return Err(fault("one that leaves links between switches with 1bps to 1000Tbps"));
        }
    }
    Ok((host, fabric))
}

/// The fraction that a number's shortest decimal form spells, so that 2.2 is 22/10.
fn exact(number: f64) -> Option<(u64, u64)> {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let den = 10u64.checked_pow(part.len() as u32)?;
    Some((format!("{whole}{part}").parse().ok()?, den))
}

/// Refuses switches with more ports together than there may be; `field` is told.
pub(super) fn ports_fit(field: &str, switches: u64, ports: u64) -> Result<(), Vec<Fault>> {
    if switches.saturating_mul(ports) <= MOST_PORTS {
        return Ok(());
    }
    let found = format!("{switches} switches of {ports} ports");
    Err(vec![Fault { field: field.into(), found, rule: format!("at most {MOST_PORTS} ports of switches in all") }])
}

/// A network being put together: all hosts first, then the switches, then links.
pub(super) struct Builder(Topology);

impl Builder {
    /// With hosts `h0`, `h1`, …
    pub fn with_hosts(hosts: u32) -> Builder {
        let node = |i| Node { name: format!("h{i}"), tier: "host".into(), ports: Vec::new() };
        Builder(Topology { nodes: (0..hosts).map(node).collect(), hosts, plan: None })
    }
    /// With hosts of any name; switches are to follow.
    pub fn with_nodes(nodes: Vec<Node>, hosts: u32) -> Builder {
        Builder(Topology { nodes, hosts, plan: None })
    }
    /// Adds `n` switches of a tier, named `stem0`, `stem1`, … and gives the node of the first.
    pub fn switches(&mut self, n: u32, stem: &str, tier: &str) -> u32 {
        let first = self.0.nodes.len() as u32;
        let node = |i| Node { name: format!("{stem}{i}"), tier: tier.into(), ports: Vec::new() };
        self.0.nodes.extend((0..n).map(node));
        first
    }
    /// Adds one switch of any name.
    pub fn switch(&mut self, name: String, tier: String) -> u32 {
        self.0.nodes.push(Node { name, tier, ports: Vec::new() });
        self.0.nodes.len() as u32 - 1
    }
    /// Links the next free port of `a` to that of `b`.
    pub fn connect(&mut self, a: u32, b: u32, link: Link) {
        self.connect_weighted(a, b, link, 1.0);
    }
    /// The same, with a share for `weighted` routing at both ends.
    pub fn connect_weighted(&mut self, a: u32, b: u32, link: Link, weight: f64) {
        let port = |n: &Node| n.ports.len() as u16;
        let (at_a, at_b) = (port(&self.0.nodes[a as usize]), port(&self.0.nodes[b as usize]));
        let end = |peer, peer_port| Port { peer, peer_port, rate: link.rate, delay: link.delay, weight };
        self.0.nodes[a as usize].ports.push(end(b, at_b));
        self.0.nodes[b as usize].ports.push(end(a, at_a));
    }
    /// Lengthens the delay of every link into a node.
    pub fn later_into(&mut self, node: u32, by: Dur) {
        for i in 0..self.0.nodes[node as usize].ports.len() {
            let Port { peer, peer_port, .. } = self.0.nodes[node as usize].ports[i];
            let port = &mut self.0.nodes[peer as usize].ports[usize::from(peer_port)];
            port.delay = port.delay.saturating_add(by);
        }
    }
    /// The network.
    pub fn done(self) -> Topology {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_is_the_decimal_that_was_typed() {
        assert_eq!(exact(3.0), Some((3, 1)));
        assert_eq!(exact(2.2), Some((22, 10)));
        assert_eq!(exact(1.0 / 3.0 + 1.0), Some((13_333_333_333_333_333, 10_000_000_000_000_000)));
    }
}
