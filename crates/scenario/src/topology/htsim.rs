//! Topology files of htsim: a leaf-spine or a fat-tree, tier by tier.

use super::builder::{Builder, Link};
use super::graph_file::{self, FILE, FileFault, line_error};
use super::{Topology, TopologyInputs};
use crate::fault::Fault;
use mech::params::{Spec, Values};
use std::collections::BTreeMap;
use units::{Dur, Rate};

pub(super) const SPEC: Spec = Spec {
    slot: "topology",
    kind: "htsim",
    doc: "`.topo` file of htsim with 2 tiers, every `tor` linked to every `agg`, or 3, with `core` switches above \
          pods. Hosts are `h0`…, switches `tor0`…, `agg0`…, `core0`…. The latency of a switch is added to the delay \
          of every link into it.",
    cite: "htsim (Raiciu, Handley et al.), FatTreeTopology::load",
    params: &[FILE],
};

const HEADER_KEYS: [&str; 3] = ["nodes", "tiers", "podsize"];
const TIER_KEYS: [&str; 7] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
];
const MAX_HOSTS: u64 = 1_000_000;
const MAX_LINKS: u64 = 2_000_000;

/// Settings of the header, or of a tier, by name in lower case.
type Settings = BTreeMap<String, u64>;

/// Parsed contents of a `.topo` file.
#[derive(Debug, Default)]
struct TopoFile {
    header: Settings,
    tiers: BTreeMap<u64, Settings>,
}

/// Builds the network of a `.topo` file of htsim.
pub(super) fn build(values: &Values, given: &TopologyInputs) -> Result<Topology, Vec<Fault>> {
    let path = values.word("file");
    let text = graph_file::read_text(path, given)?;
    let made = parse_topo_file(&text).and_then(|plan| plan.compute_sizes()?.build_network());
    made.map_err(|wrong| vec![graph_file::file_fault(path, wrong)])
}

fn parse_topo_file(text: &str) -> Result<TopoFile, FileFault> {
    let (mut plan, mut tier) = (TopoFile::default(), None);
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = i + 1;
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let [key, value] = words.as_slice() else {
            if words.is_empty() {
                continue;
            }
            return line_error(line_number, format!("{} words", words.len()), "a setting and its number");
        };
        let lower = key.to_ascii_lowercase();
        let Some(number) = value.parse::<u64>().ok().filter(|n| *n <= 1_000_000_000) else {
            return line_error(line_number, format!("`{value}`"), "a whole number, at most 1000000000");
        };
        if lower == "tier" {
            if number > 2 || plan.tiers.insert(number, Settings::new()).is_some() {
                return line_error(line_number, format!("tier {number}"), "tiers 0, 1 and 2, each once");
            }
            tier = Some(number);
            continue;
        }
        let (known, settings) = match tier {
            None => (&HEADER_KEYS[..], &mut plan.header),
            Some(tier) => (&TIER_KEYS[..], plan.tiers.entry(tier).or_default()),
        };
        if !known.contains(&lower.as_str()) {
            return line_error(
                line_number,
                format!("`{key}`"),
                format!(
                    "one of {}, in upper or lower \
                                                                     case",
                    known.join(", ")
                ),
            );
        }
        if settings.insert(lower, number).is_some() {
            return line_error(line_number, format!("a second `{key}`"), "every setting once");
        }
    }
    Ok(plan)
}

/// Settings of one tier of switches: links, radix, latency and bundles.
#[derive(Clone, Copy, Debug)]
struct Tier {
    link: Link,
    down: u64,
    up: u64,
    gbps: u64,
    latency: Dur,
    oversubscribed: u64,
    bundle: u64,
}

/// Numbers of hosts, pods and switches in the network, and the settings of its tiers.
#[derive(Debug)]
struct NetworkSizes {
    hosts: u64,
    pods: u64,
    tors: u64,
    aggs: u64,
    cores: u64,
    tiers: Vec<Tier>,
}

/// Returns the given fault unless a condition holds.
fn require(holds: bool, found: impl FnOnce() -> String, rule: &str) -> Result<(), FileFault> {
    if holds { Ok(()) } else { Err((found(), rule.into())) }
}

impl TopoFile {
    fn header_number(&self, key: &str, most: u64) -> Result<u64, FileFault> {
        let found = self.header.get(key).copied().unwrap_or(0);
        require((1..=most).contains(&found), || format!("`{key}` = {found}"), &format!("from 1 to {most}"))?;
        Ok(found)
    }

    fn read_tier(&self, number: u64, top: bool) -> Result<Tier, FileFault> {
        let settings = self.tiers.get(&number).ok_or_else(|| {
            (
                format!("no tier {number}"),
                "a line `Tier` for every \
                                                                                 tier"
                    .into(),
            )
        })?;
        let given = |key: &str| settings.get(key).copied();
        let needed = |key: &str| {
            let found = given(key).filter(|n| *n > 0);
            found.ok_or_else(|| (format!("tier {number} without `{key}`"), "a number of at least 1".to_string()))
        };
        let gbps = needed("downlink_speed_gbps")?;
        require(gbps <= 1_000_000, || format!("{gbps} Gb/s in tier {number}"), "at most 1000000")?;
        Ok(Tier {
            link: Link::symmetric(Rate::gbps(gbps), Dur::ns(needed("downlink_latency_ns")?)),
            down: needed("radix_down")?,
            up: if top { 0 } else { needed("radix_up")? },
            gbps,
            latency: Dur::ns(given("switch_latency_ns").unwrap_or(0)),
            oversubscribed: given("oversubscribed").unwrap_or(1),
            bundle: if given("bundle").is_some() { needed("bundle")? } else { 1 },
        })
    }

    /// Computes the numbers of hosts and switches from the file; refuses settings that contradict each other.
    fn compute_sizes(&self) -> Result<NetworkSizes, FileFault> {
        let hosts = self.header_number("nodes", MAX_HOSTS)?;
        let count = self.header_number("tiers", 3)?;
        require(count > 1, || "1 tier".into(), "2 or 3 tiers")?;
        let podsize = self.header_number("podsize", hosts)?;
        let tiers =
            (0..count).map(|number| self.read_tier(number, number + 1 == count)).collect::<Result<Vec<_>, _>>()?;
        require(tiers[0].bundle == 1, || "a bundle in tier 0".into(), "one link per host")?;
        require(
            hosts % podsize == 0,
            || format!("podsize {podsize} of {hosts} nodes"),
            "a podsize that divides the \
                                                                                      number of nodes",
        )?;
        let whole = count == 3 || podsize == hosts;
        require(
            whole,
            || format!("podsize {podsize} of {hosts} nodes in 2 tiers"),
            "a podsize equal to the number of \
                                                                                  nodes, because 2 tiers are one pod",
        )?;
        let down = tiers[0].down;
        require(
            podsize % down == 0,
            || format!("radix_down {down} in pods of {podsize}"),
            "a radix_down that divides \
                                                                                         podsize",
        )?;
        let (pods, tors_of_pod) = (hosts / podsize, podsize / down);
        let aggs_of_pod = count_parents(&tiers, 0, tors_of_pod)?;
        let cores = if count == 3 { aggs_of_pod * count_parents(&tiers, 1, pods)? } else { 0 };
        let links = hosts + hosts / down * tiers[0].up + pods * aggs_of_pod * tiers[1].up;
        require(links <= MAX_LINKS, || format!("{links} links"), &format!("at most {MAX_LINKS}"))?;
        Ok(NetworkSizes { hosts, pods, tors: pods * tors_of_pod, aggs: pods * aggs_of_pod, cores, tiers })
    }
}

/// Returns the number of switches in the next tier that a switch of tier `number` is linked to. `below` is the number
/// of switches of this tier that each of those is linked to.
fn count_parents(tiers: &[Tier], number: usize, below: u64) -> Result<u64, FileFault> {
    let (tier, next) = (tiers[number], tiers[number + 1]);
    let found = || format!("radix_up {} of tier {number} in bundles of {}", tier.up, next.bundle);
    require(tier.up % next.bundle == 0, found, "a radix_up that is a multiple of the bundle")?;
    let found = || format!("radix_down {} of tier {}", next.down, number + 1);
    require(
        next.down == below * next.bundle,
        found,
        &format!(
            "{}, the number of links from the tier \
                                                            below",
            below * next.bundle
        ),
    )?;
    let found = || format!("{} Gb/s down and {} Gb/s up in tier {number}", tier.down * tier.gbps, tier.up * next.gbps);
    let rule =
        format!("a ratio of the two that equals `oversubscribed` of tier {number}, which is {}", tier.oversubscribed);
    require(
        u128::from(tier.down * tier.gbps) == u128::from(tier.up * next.gbps) * u128::from(tier.oversubscribed),
        found,
        &rule,
    )?;
    Ok(tier.up / next.bundle)
}

impl NetworkSizes {
    fn build_network(&self) -> Result<Topology, FileFault> {
        let mut net = Builder::with_hosts(self.hosts as u32);
        let tors = net.add_switches(self.tors as u32, "tor", "tor");
        let aggs = net.add_switches(self.aggs as u32, "agg", "agg");
        let cores = net.add_switches(self.cores as u32, "core", "core");
        let [first, second, ..] = self.tiers.as_slice() else { return Err(("no tiers".into(), "2 or 3".into())) };
        for host in 0..self.hosts {
            net.connect(host as u32, tors + (host / first.down) as u32, first.link);
        }
        let (tors_of_pod, aggs_of_pod) = (self.tors / self.pods, self.aggs / self.pods);
        for tor in 0..self.tors {
            let pod = tor / tors_of_pod;
            for agg in pod * aggs_of_pod..(pod + 1) * aggs_of_pod {
                (0..second.bundle).for_each(|_| net.connect(tors + tor as u32, aggs + agg as u32, second.link));
            }
        }
        if let Some(third) = self.tiers.get(2) {
            for agg in 0..self.aggs {
                for core in (agg % aggs_of_pod..self.cores).step_by(aggs_of_pod as usize) {
                    (0..third.bundle).for_each(|_| net.connect(aggs + agg as u32, cores + core as u32, third.link));
                }
            }
        }
        for (tier, first, count) in [(0, tors, self.tors), (1, aggs, self.aggs), (2, cores, self.cores)] {
            let latency = self.tiers.get(tier).map_or(Dur::ZERO, |tier| tier.latency);
            (first..first + count as u32).for_each(|switch| net.add_delay_into(switch, latency));
        }
        Ok(net.finish())
    }
}
