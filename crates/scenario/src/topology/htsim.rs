//! Topology files of htsim: a leaf-spine or a fat-tree, tier by tier.

use super::brought::{self, FILE, Wrong, on_line};
use super::builder::{Builder, Link};
use super::{Given, Topology};
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

const HEADER: [&str; 3] = ["nodes", "tiers", "podsize"];
const TIER: [&str; 7] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
];
const MOST_HOSTS: u64 = 1_000_000;
const MOST_LINKS: u64 = 2_000_000;

/// Settings of the header, or of a tier, by name in lower case.
type Settings = BTreeMap<String, u64>;

/// Parsed contents of a `.topo` file.
#[derive(Debug, Default)]
struct Plan {
    header: Settings,
    tiers: BTreeMap<u64, Settings>,
}

/// Builds the network of a file.
pub(super) fn build(values: &Values, given: &Given) -> Result<Topology, Vec<Fault>> {
    let path = values.word("file");
    let text = brought::text(path, given)?;
    let made = read(&text).and_then(|plan| plan.measured()?.build());
    made.map_err(|wrong| vec![brought::fault(path, wrong)])
}

fn read(text: &str) -> Result<Plan, Wrong> {
    let (mut plan, mut tier) = (Plan::default(), None);
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line_number = i + 1;
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let [key, value] = words.as_slice() else {
            if words.is_empty() {
                continue;
            }
            return on_line(line_number, format!("{} words", words.len()), "a setting and its number");
        };
        let lower = key.to_ascii_lowercase();
        let Some(number) = value.parse::<u64>().ok().filter(|n| *n <= 1_000_000_000) else {
            return on_line(line_number, format!("`{value}`"), "a whole number, at most 1000000000");
        };
        if lower == "tier" {
            if number > 2 || plan.tiers.insert(number, Settings::new()).is_some() {
                return on_line(line_number, format!("tier {number}"), "tiers 0, 1 and 2, each once");
            }
            tier = Some(number);
            continue;
        }
        let (known, settings) = match tier {
            None => (&HEADER[..], &mut plan.header),
            Some(tier) => (&TIER[..], plan.tiers.entry(tier).or_default()),
        };
        if !known.contains(&lower.as_str()) {
            return on_line(line_number, format!("`{key}`"), format!("one of {}, in either case", known.join(", ")));
        }
        if settings.insert(lower, number).is_some() {
            return on_line(line_number, format!("`{key}` again"), "every setting once");
        }
    }
    Ok(plan)
}

/// Numbers of one tier.
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

/// Numbers of the whole network.
#[derive(Debug)]
struct Measured {
    hosts: u64,
    pods: u64,
    tors: u64,
    aggs: u64,
    cores: u64,
    tiers: Vec<Tier>,
}

/// Returns a fault unless a condition holds.
fn must(holds: bool, found: impl FnOnce() -> String, rule: &str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err((found(), rule.into())) }
}

impl Plan {
    fn header(&self, key: &str, most: u64) -> Result<u64, Wrong> {
        let found = self.header.get(key).copied().unwrap_or(0);
        must((1..=most).contains(&found), || format!("`{key}` of {found}"), &format!("from 1 to {most}"))?;
        Ok(found)
    }

    fn tier(&self, number: u64, top: bool) -> Result<Tier, Wrong> {
        let settings =
            self.tiers.get(&number).ok_or_else(|| (format!("no tier {number}"), "a line `Tier` for each".into()))?;
        let given = |key: &str| settings.get(key).copied();
        let needed = |key: &str| {
            let found = given(key).filter(|n| *n > 0);
            found.ok_or_else(|| (format!("no `{key}` of tier {number}"), "a number of at least 1".to_string()))
        };
        let gbps = needed("downlink_speed_gbps")?;
        must(gbps <= 1_000_000, || format!("{gbps} Gb/s in tier {number}"), "at most 1000000")?;
        Ok(Tier {
            link: Link::even(Rate::gbps(gbps), Dur::ns(needed("downlink_latency_ns")?)),
            down: needed("radix_down")?,
            up: if top { 0 } else { needed("radix_up")? },
            gbps,
            latency: Dur::ns(given("switch_latency_ns").unwrap_or(0)),
            oversubscribed: given("oversubscribed").unwrap_or(1),
            bundle: if given("bundle").is_some() { needed("bundle")? } else { 1 },
        })
    }

    /// Computes the numbers of the network; settings that contradict each other are refused.
    fn measured(&self) -> Result<Measured, Wrong> {
        let hosts = self.header("nodes", MOST_HOSTS)?;
        let count = self.header("tiers", 3)?;
        must(count > 1, || "1 tier".into(), "2 or 3 tiers")?;
        let podsize = self.header("podsize", hosts)?;
        let tiers = (0..count).map(|number| self.tier(number, number + 1 == count)).collect::<Result<Vec<_>, _>>()?;
        must(tiers[0].bundle == 1, || "a bundle in tier 0".into(), "one link per host")?;
        must(hosts % podsize == 0, || format!("podsize {podsize} of {hosts} nodes"), "whole pods")?;
        let whole = count == 3 || podsize == hosts;
        must(whole, || format!("podsize {podsize} of {hosts} nodes in 2 tiers"), "one pod if there are 2 tiers")?;
        let down = tiers[0].down;
        must(podsize % down == 0, || format!("radix_down {down} in pods of {podsize}"), "whole racks in a pod")?;
        let (pods, tors_of_pod) = (hosts / podsize, podsize / down);
        let aggs_of_pod = above(&tiers, 0, tors_of_pod)?;
        let cores = if count == 3 { aggs_of_pod * above(&tiers, 1, pods)? } else { 0 };
        let links = hosts + hosts / down * tiers[0].up + pods * aggs_of_pod * tiers[1].up;
        must(links <= MOST_LINKS, || format!("{links} links"), &format!("at most {MOST_LINKS}"))?;
        Ok(Measured { hosts, pods, tors: pods * tors_of_pod, aggs: pods * aggs_of_pod, cores, tiers })
    }
}

/// Returns the number of switches of the next tier that a switch of tier `number` is linked to. `below` is the number
/// of switches of this tier that each of those is linked to.
fn above(tiers: &[Tier], number: usize, below: u64) -> Result<u64, Wrong> {
    let (tier, next) = (tiers[number], tiers[number + 1]);
    let found = || format!("radix_up {} of tier {number} in bundles of {}", tier.up, next.bundle);
    must(tier.up % next.bundle == 0, found, "whole bundles")?;
    let found = || format!("radix_down {} of tier {}", next.down, number + 1);
    must(next.down == below * next.bundle, found, &format!("{}, as the tier below requires", below * next.bundle))?;
    let found = || format!("{} Gb/s down and {} Gb/s up in tier {number}", tier.down * tier.gbps, tier.up * next.gbps);
    let rule =
        format!("`oversubscribed` of tier {number}, {}, to be the first divided by the second", tier.oversubscribed);
    must(
        u128::from(tier.down * tier.gbps) == u128::from(tier.up * next.gbps) * u128::from(tier.oversubscribed),
        found,
        &rule,
    )?;
    Ok(tier.up / next.bundle)
}

impl Measured {
    fn build(&self) -> Result<Topology, Wrong> {
        let mut net = Builder::with_hosts(self.hosts as u32);
        let tors = net.switches(self.tors as u32, "tor", "tor");
        let aggs = net.switches(self.aggs as u32, "agg", "agg");
        let cores = net.switches(self.cores as u32, "core", "core");
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
            (first..first + count as u32).for_each(|switch| net.later_into(switch, latency));
        }
        Ok(net.done())
    }
}
