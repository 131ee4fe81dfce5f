//! Marking, pauses and memory of switches in HPCC's configuration file.

use super::Overlay;
use crate::load::fields::Faults;
use crate::load::tree::Node;
use crate::topology::{Node as NetNode, Port, Thresholds};
use mech::Preset;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate};

/// Memory of each port in bytes that is outside of the dynamic threshold.
const RESERVED: u64 = 4096;
/// Distance of XON below XOFF in bytes.
const RESUME_OFFSET: u64 = 3072;
/// Dynamic threshold of a port as fast as hosts: 1/8 of the free memory, as a shift.
const SHIFT: u32 = 3;
impl Overlay<'_> {
    /// Returns the distinct rates of switch ports.
    fn rates(&self) -> BTreeSet<Rate> {
        let ports = self.net.switches().iter().flat_map(|switch| &switch.ports);
        ports.map(|port| port.rate).collect()
    }

    /// Sets marking, by the rate of ports if it differs.
    pub(super) fn set_marking(&mut self, faults: &mut Faults) {
        if !self.is_left("switch.marking") {
            return;
        }
        if self.config.number_or("ENABLE_QCN", 1.0) == 0.0 {
            return self.put("switch.marking", &Preset::nothing(), "no `switch.marking` (ENABLE_QCN 0)".into());
        }
        let mut found = Vec::new();
        for rate in self.rates() {
            match self.config.thresholds(in_bits(rate)) {
                Ok(thresholds) => found.push((rate, thresholds)),
                Err(wrong) => self.refuse(wrong, faults),
            }
        }
        let in_words = |(rate, k): &(Rate, Thresholds)| format!("{rate}: {} to {}, {}", k.kmin, k.kmax, k.pmax);
        let said: Vec<String> = found.iter().map(in_words).collect();
        let said = format!("`switch.marking` ({})", said.join("; "));
        let is_same = found.windows(2).all(|two| two[0].1 == two[1].1);
        match found.as_slice() {
            [] => (),
            [(_, first), ..] if is_same => self.put("switch.marking", &marking(first), said),
            all => {
                let over =
                    |(rate, k): &(Rate, Thresholds)| self.over(("rate", rate.to_string()), "marking", &marking(k));
                let overrides = all.iter().map(over).collect();
                self.put("switch.marking", &Preset::nothing(), said);
                self.put_overrides(overrides);
            }
        }
    }

    /// Sets pauses, by the rate of ports if they differ.
    pub(super) fn set_pause(&mut self) {
        if !self.is_left("switch.pause") {
            return;
        }
        if self.config.number_or("ENABLE_PFC", 1.0) == 0.0 {
            return self.put("switch.pause", &Preset::nothing(), "no `switch.pause` (ENABLE_PFC 0)".into());
        }
        let buffer = self.document.get("switch").and_then(|switch| switch.get("buffer")?.get("kind")?.text());
        if buffer != Some(Preset::shared_memory(Bytes(0), Bytes(0)).kind) {
            let why = "PFC (its thresholds are fractions of a shared buffer: set `switch.pause` together with \
                       `switch.buffer`)";
            return self.ruled_out.push(why.into());
        }
        let rates = self.rates();
        // The HPCC simulator takes the rate of the first host's port as that of all hosts.
        let nic =
            self.net.nodes.first().and_then(|host| host.ports.first()).map_or(u64::MAX, |port| in_bits(port.rate));
        let mut by_shift: BTreeMap<u32, Vec<Rate>> = BTreeMap::new();
        rates.iter().for_each(|rate| by_shift.entry(shift(in_bits(*rate), nic)).or_default().push(*rate));
        let slowest = by_shift.keys().next_back().copied().unwrap_or(SHIFT);
        let said: Vec<String> = by_shift.iter().rev().map(|(shift, rates)| factor_of(*shift, rates)).collect();
        let faster = by_shift.iter().filter(|(shift, _)| **shift != slowest);
        let over = |(shift, rates): (&u32, &Vec<Rate>)| {
            let each = rates.iter().map(|rate| self.over(("rate", rate.to_string()), "pause", &pause(*shift)));
            each.collect::<Vec<_>>()
        };
        let overrides = faster.flat_map(over).collect();
        self.put("switch.pause", &pause(slowest), format!("`switch.pause` (pfc, XOFF {})", said.join(", ")));
        self.put_overrides(overrides);
    }

    /// Sets one memory for all ports of a switch. Reserves and headroom are taken from the part that dynamic thresholds
    /// share.
    pub(super) fn set_buffer(&mut self) {
        if !self.is_left("switch.buffer") {
            return;
        }
        let size = Bytes(self.config.number_or("BUFFER_SIZE", 16.0) as u64 * 1024 * 1024);
        let switches = self.net.switches();
        let mut by_tier: BTreeMap<&str, Vec<(&NetNode, u64)>> = BTreeMap::new();
        switches.iter().for_each(|switch| by_tier.entry(&switch.tier).or_default().push((switch, set_aside(switch))));
        let common = switches.first().map_or(RESERVED, set_aside);
        let mut overrides: Vec<Node> = Vec::new();
        for (tier, all) in &by_tier {
            let first = all[0].1;
            if all.iter().all(|(_, own)| *own == first) {
                let over = || self.over(("tier", tier.to_string()), "buffer", &buffer(size, first));
                overrides.extend((first != common).then(over));
                continue;
            }
            let others = all.iter().filter(|(_, own)| *own != common);
            overrides.extend(
                others.map(|(node, own)| self.over(("node", node.name.clone()), "buffer", &buffer(size, *own))),
            );
        }
        let own = switches.iter().map(set_aside);
        let (least, most) = own.fold((common, common), |(least, most), own| (least.min(own), most.max(own)));
        let reserved =
            if least == most { Bytes(least).to_string() } else { format!("{} to {}", Bytes(least), Bytes(most)) };
        self.put(
            "switch.buffer",
            &buffer(size, common),
            format!("`switch.buffer` (shared, {size}, {reserved} reserved for each port)"),
        );
        self.put_overrides(overrides);
    }
}

/// Returns the rate of a port in whole bits per second, as the maps of the HPCC simulator have it.
fn in_bits(rate: Rate) -> u64 {
    let (bits, of) = rate.parts();
    bits / of
}

/// Returns the dynamic threshold of a port as a shift: one less for each doubling of its rate over that of hosts.
fn shift(rate: u64, nic: u64) -> u32 {
    let (mut rate, mut shift) = (rate, SHIFT);
    while rate > nic && shift > 0 {
        (rate, shift) = (rate / 2, shift - 1);
    }
    shift
}

/// Describes the threshold of ports of some rates: `1/8 of the free memory at 100Gbps`.
fn factor_of(shift: u32, rates: &[Rate]) -> String {
    let rates: Vec<String> = rates.iter().map(Rate::to_string).collect();
    let part = if shift == 0 { "all".into() } else { format!("1/{}", 1 << shift) };
    format!("{part} of the free memory at {}", rates.join(" and "))
}

/// Returns the bytes that each port of a switch has for itself, on average: its reserve and the headroom of its link.
fn set_aside(switch: &NetNode) -> u64 {
    let all: u64 = switch.ports.iter().map(|port| RESERVED.saturating_add(headroom(port))).fold(0, u64::saturating_add);
    all.div_ceil(switch.ports.len().max(1) as u64)
}

/// Returns the headroom of a port in bytes: three times what its rate sends in the delay of its link, in whole
/// nanoseconds and bytes.
fn headroom(port: &Port) -> u64 {
    let bits = u128::from(in_bits(port.rate)) * u128::from(port.delay.0 / 1000);
    u64::try_from(bits / 8 / 1_000_000_000 * 3).unwrap_or(u64::MAX)
}

fn marking(k: &Thresholds) -> Preset {
    Preset::marks_between(k.kmin, k.kmax, k.pmax)
}

fn pause(shift: u32) -> Preset {
    Preset::dynamic_pfc(1.0 / f64::from(1 << shift), Bytes(RESUME_OFFSET))
}

fn buffer(size: Bytes, reserved: u64) -> Preset {
    Preset::shared_memory(size, Bytes(reserved))
}
