//! Parameters and builder shared by the built-in topologies.

use super::{Node, Port, Topology};
use crate::fault::Fault;
use crate::limits::{MAX_RATE, MIN_RATE};
use mech::params::{Param, ParamKind, Values};
use units::{Dur, Rate};

pub(super) const LINK_RATE: Param = Param {
    name: "link.rate",
    doc: "Rate of the links, or only of host links if others are set separately. It applies from hosts upward, and in \
          both directions unless `link.back.rate` is set.",
    kind: ParamKind::Rate,
    default: Some("1Gbps"),
};
pub(super) const LINK_DELAY: Param = Param {
    name: "link.delay",
    doc: "Propagation delay of the links, or only of host links if others are set separately. It applies from hosts \
          upward, and in both directions unless `link.back.delay` is set.",
    kind: ParamKind::Time { min: 1 },
    default: Some("1us"),
};
pub(super) const LINK_BACK_RATE: Param = Param {
    name: "link.back.rate",
    doc: "Rate of the same links in the reverse direction, toward hosts or from the switch that is higher or has the \
          higher number.",
    kind: ParamKind::Rate,
    default: Some("link.rate"),
};
pub(super) const LINK_BACK_DELAY: Param = Param {
    name: "link.back.delay",
    doc: "Propagation delay of the same links in the reverse direction.",
    kind: ParamKind::Time { min: 1 },
    default: Some("link.delay"),
};
pub(super) const FABRIC_RATE: Param = Param {
    name: "fabric.rate",
    doc: "Rate of the links between switches; by default `link.rate`.",
    kind: ParamKind::Rate,
    default: Some("link.rate"),
};
pub(super) const FABRIC_DELAY: Param = Param {
    name: "fabric.delay",
    doc: "Propagation delay of the links between switches; by default `link.delay`.",
    kind: ParamKind::Time { min: 1 },
    default: Some("link.delay"),
};
pub(super) const FABRIC_BACK_RATE: Param = Param {
    name: "fabric.back.rate",
    doc: "Rate of the links between switches in the reverse direction, from the switch that is higher or has the \
          higher number. By default `fabric.rate` if set, else `link.back.rate`.",
    kind: ParamKind::Rate,
    default: Some("fabric.rate"),
};
pub(super) const FABRIC_BACK_DELAY: Param = Param {
    name: "fabric.back.delay",
    doc: "Propagation delay of the links between switches in the reverse direction; by default `fabric.delay` if set, \
          else `link.back.delay`.",
    kind: ParamKind::Time { min: 1 },
    default: Some("fabric.delay"),
};
pub(super) const OVERSUBSCRIPTION: Param = Param {
    name: "oversubscription",
    doc: "Ratio of the capacity of a ToR's host links to that of its links to switches. It sets the rate of all links \
          between switches, and `fabric.rate` is refused with it. In a fat-tree these links run at `link.rate` \
          divided by this factor f. DIBS §5.5.4 counts f as 1:f² over its two tiers: its 1:4, 1:9 and 1:16 are 2, 3 \
          and 4.",
    kind: ParamKind::Number { min: 1.0, max: 1000.0, below_max: false },
    default: Some(""),
};

pub(super) const HOSTS_PER_SWITCH: Param = Param {
    name: "hosts_per_switch",
    doc: "Number of hosts on each switch.",
    kind: ParamKind::Count { min: 1, max: 1024 },
    default: None,
};
/// Rate and delay of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkDirection {
    pub rate: Rate,
    pub delay: Dur,
}

/// Both directions of a link: `forward` from the first node that it connects, and `reverse`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub forward: LinkDirection,
    pub reverse: LinkDirection,
}

impl Link {
    /// Returns a link with the same rate and delay in both directions.
    pub fn symmetric(rate: Rate, delay: Dur) -> Link {
        let line = LinkDirection { rate, delay };
        Link { forward: line, reverse: line }
    }
}

/// Reads a link from the parameters `prefix.rate` and `prefix.delay`, with `base` as default. The reverse direction
/// defaults to the forward one if that is given, and otherwise to `base`.
pub(super) fn read_link(values: &Values, prefix: &str, base: Option<Link>) -> Link {
    let key = |rest: &str| Some(format!("{prefix}.{rest}")).filter(|key| values.has(key));
    let rate = key("rate").map(|key| values.rate(&key)).or(base.map(|b| b.forward.rate));
    let delay = key("delay").map(|key| values.time(&key)).or(base.map(|b| b.forward.delay));
    let there = LinkDirection {
        rate: rate.unwrap_or_else(|| values.rate(&format!("{prefix}.rate"))),
        delay: delay.unwrap_or_else(|| values.time(&format!("{prefix}.delay"))),
    };
    // A given forward rate or delay is a better default for the reverse direction than that of another link.
    let of_base = |own: &str| base.filter(|_| key(own).is_none()).map(|base| base.reverse);
    let back = LinkDirection {
        rate: key("back.rate")
            .map_or_else(|| of_base("rate").map_or(there.rate, |base| base.rate), |key| values.rate(&key)),
        delay: key("back.delay")
            .map_or_else(|| of_base("delay").map_or(there.delay, |base| base.delay), |key| values.time(&key)),
    };
    Link { forward: there, reverse: back }
}

/// Returns the host links, and the links between switches. With `oversubscription`, a ToR with `down` host links and
/// `up` uplinks has uplinks of the capacity that results from it.
pub(super) fn read_tier_links(values: &Values, down: u64, up: u64) -> Result<(Link, Link), Vec<Fault>> {
    let host = read_link(values, "link", None);
    let mut fabric = read_link(values, "fabric", Some(host));
    if values.has("oversubscription") {
        let asked = values.number("oversubscription");
        let fault =
            |rule: &str| vec![Fault { field: "oversubscription".into(), found: asked.to_string(), rule: rule.into() }];
        if let Some(key) = ["fabric.rate", "fabric.back.rate"].into_iter().find(|key| values.has(key)) {
            return Err(fault(&format!("no value if `{key}` is given")));
        }
        for (line, of_hosts) in [(&mut fabric.forward, host.forward), (&mut fabric.reverse, host.reverse)] {
            line.rate = exact_fraction(asked)
                .and_then(|(num, den)| of_hosts.rate.divide(num.checked_mul(up)?, den.checked_mul(down)?))
                .ok_or_else(|| fault("a decimal number with fewer digits, so that the resulting rate is exact"))?;
            if !(MIN_RATE..=MAX_RATE).contains(&line.rate) {
                return Err(fault("a value that gives links between switches 1bps to 1000Tbps"));
            }
        }
    }
    Ok((host, fabric))
}

/// Returns the fraction that a number's shortest decimal form denotes, so that 2.2 is 22/10.
fn exact_fraction(number: f64) -> Option<(u64, u64)> {
    let text = number.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let den = 10u64.checked_pow(part.len() as u32)?;
    Some((format!("{whole}{part}").parse().ok()?, den))
}

/// Network under construction: all hosts first, then switches, then links.
pub(super) struct Builder(Topology);

impl Builder {
    /// Starts a network with hosts `h0`, `h1`, …
    pub fn with_hosts(hosts: u32) -> Builder {
        let node = |i| Node { name: format!("h{i}"), tier: "host".into(), ports: Vec::new() };
        Builder(Topology { nodes: (0..hosts).map(node).collect(), hosts, plan: None })
    }
    /// Starts a network with nodes of any names, the first `hosts` of which are hosts.
    pub fn with_nodes(nodes: Vec<Node>, hosts: u32) -> Builder {
        Builder(Topology { nodes, hosts, plan: None })
    }
    /// Adds `n` switches of a tier, named `stem0`, `stem1`, …, and returns the node of the first.
    pub fn add_switches(&mut self, n: u32, stem: &str, tier: &str) -> u32 {
        let first = self.0.nodes.len() as u32;
        let node = |i| Node { name: format!("{stem}{i}"), tier: tier.into(), ports: Vec::new() };
        self.0.nodes.extend((0..n).map(node));
        first
    }
    /// Adds one switch of any name, and returns its node.
    pub fn add_switch(&mut self, name: String, tier: String) -> u32 {
        self.0.nodes.push(Node { name, tier, ports: Vec::new() });
        self.0.nodes.len() as u32 - 1
    }
    /// Links the next free port of `a` to that of `b`, the higher node. PRECONDITION: `a < b`.
    pub fn connect(&mut self, a: u32, b: u32, link: Link) {
        debug_assert!(a < b, "from hosts up, or by number");
        self.connect_weighted(a, b, link, 1.0);
    }
    /// Links the next free ports of any two nodes, with a share for `weighted` routing at both ends.
    pub fn connect_weighted(&mut self, a: u32, b: u32, link: Link, weight: f64) {
        let port = |n: &Node| n.ports.len() as u16;
        let (at_a, at_b) = (port(&self.0.nodes[a as usize]), port(&self.0.nodes[b as usize]));
        let end = |(peer, peer_port), LinkDirection { rate, delay }| Port { peer, peer_port, rate, delay, weight };
        self.0.nodes[a as usize].ports.push(end((b, at_b), link.forward));
        self.0.nodes[b as usize].ports.push(end((a, at_a), link.reverse));
    }
    /// Adds the time `by` to the delay of every link into a node.
    pub fn add_delay_into(&mut self, node: u32, by: Dur) {
        for i in 0..self.0.nodes[node as usize].ports.len() {
            let Port { peer, peer_port, .. } = self.0.nodes[node as usize].ports[i];
            let port = &mut self.0.nodes[peer as usize].ports[usize::from(peer_port)];
            port.delay = port.delay.saturating_add(by);
        }
    }
    /// Returns the finished network.
    pub fn finish(self) -> Topology {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_fraction_is_that_of_the_typed_decimal() {
        assert_eq!(exact_fraction(3.0), Some((3, 1)));
        assert_eq!(exact_fraction(2.2), Some((22, 10)));
        assert_eq!(exact_fraction(1.0 / 3.0 + 1.0), Some((13_333_333_333_333_333, 10_000_000_000_000_000)));
    }
}
