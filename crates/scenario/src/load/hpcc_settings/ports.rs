//! Marking, pauses and memory of switches in HPCC's configuration file.

use super::ConfigurationOverlay;
use crate::load::fields::Faults;
use crate::load::tree::Node;
use crate::topology::{Node as NetNode, Port, Thresholds};
use mech::Preset;
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Rate};

/// Memory in bytes that is reserved for each port, outside of the dynamic threshold.
const PORT_RESERVE_BYTES: u64 = 4096;
/// Distance of XON below XOFF in bytes.
const XON_OFFSET_BYTES: u64 = 3072;
/// Dynamic threshold of a port with the rate of hosts, as a shift: 1/8 of the free memory.
const DEFAULT_THRESHOLD_SHIFT: u32 = 3;
impl ConfigurationOverlay<'_> {
    /// Returns the distinct rates of switch ports.
    fn switch_port_rates(&self) -> BTreeSet<Rate> {
        let ports = self.net.switches().iter().flat_map(|switch| &switch.ports);
        ports.map(|port| port.rate).collect()
    }

    /// Sets the ECN marking of switches from the file, separately for each port rate if thresholds differ.
    pub(super) fn set_marking(&mut self, faults: &mut Faults) {
        if !self.claim_unset_table("switch.marking") {
            return;
        }
        if self.config.number_or("ENABLE_QCN", 1.0) == 0.0 {
            return self.put_table(
                "switch.marking",
                &Preset::empty_slot(),
                "no `switch.marking` (ENABLE_QCN 0)".into(),
            );
        }
        let mut found = Vec::new();
        for rate in self.switch_port_rates() {
            match self.config.thresholds(bits_per_second(rate)) {
                Ok(thresholds) => found.push((rate, thresholds)),
                Err(wrong) => self.report_fault(wrong, faults),
            }
        }
        let in_words = |(rate, k): &(Rate, Thresholds)| format!("{rate}: {} to {}, {}", k.kmin, k.kmax, k.pmax);
        let said: Vec<String> = found.iter().map(in_words).collect();
        let said = format!("`switch.marking` ({})", said.join("; "));
        let is_same = found.windows(2).all(|two| two[0].1 == two[1].1);
        match found.as_slice() {
            [] => (),
            [(_, first), ..] if is_same => self.put_table("switch.marking", &marking_preset(first), said),
            all => {
                let over = |(rate, k): &(Rate, Thresholds)| {
                    self.make_override(("rate", rate.to_string()), "marking", &marking_preset(k))
                };
                let overrides = all.iter().map(over).collect();
                self.put_table("switch.marking", &Preset::empty_slot(), said);
                self.put_overrides(overrides);
            }
        }
    }

    /// Sets PFC at switches from the file, separately for each port rate if thresholds differ.
    pub(super) fn set_pause(&mut self) {
        if !self.claim_unset_table("switch.pause") {
            return;
        }
        if self.config.number_or("ENABLE_PFC", 1.0) == 0.0 {
            return self.put_table("switch.pause", &Preset::empty_slot(), "no `switch.pause` (ENABLE_PFC 0)".into());
        }
        let buffer = self.document.get("switch").and_then(|switch| switch.get("buffer")?.get("kind")?.text());
        if buffer != Some(Preset::shared_memory(Bytes(0), Bytes(0)).kind) {
            let why = "ENABLE_PFC (PFC thresholds are fractions of a shared buffer, and the scenario sets another \
                       `switch.buffer`; set `switch.pause` as well)";
            return self.ruled_out.push(why.into());
        }
        let rates = self.switch_port_rates();
        // The HPCC simulator takes the rate of the first host's port as that of all hosts.
        let nic = self
            .net
            .nodes
            .first()
            .and_then(|host| host.ports.first())
            .map_or(u64::MAX, |port| bits_per_second(port.rate));
        let mut by_shift: BTreeMap<u32, Vec<Rate>> = BTreeMap::new();
        rates
            .iter()
            .for_each(|rate| by_shift.entry(threshold_shift(bits_per_second(*rate), nic)).or_default().push(*rate));
        let slowest = by_shift.keys().next_back().copied().unwrap_or(DEFAULT_THRESHOLD_SHIFT);
        let said: Vec<String> = by_shift.iter().rev().map(|(shift, rates)| describe_threshold(*shift, rates)).collect();
        let faster = by_shift.iter().filter(|(shift, _)| **shift != slowest);
        let over = |(shift, rates): (&u32, &Vec<Rate>)| {
            let each =
                rates.iter().map(|rate| self.make_override(("rate", rate.to_string()), "pause", &pause_preset(*shift)));
            each.collect::<Vec<_>>()
        };
        let overrides = faster.flat_map(over).collect();
        self.put_table(
            "switch.pause",
            &pause_preset(slowest),
            format!("`switch.pause` (pfc, XOFF {})", said.join(", ")),
        );
        self.put_overrides(overrides);
    }

    /// Sets a buffer that all ports of a switch share. Reserves and headroom are taken from the part that dynamic
    /// thresholds share.
    pub(super) fn set_buffer(&mut self) {
        if !self.claim_unset_table("switch.buffer") {
            return;
        }
        let size = Bytes(self.config.number_or("BUFFER_SIZE", 16.0) as u64 * 1024 * 1024);
        let switches = self.net.switches();
        let mut by_tier: BTreeMap<&str, Vec<(&NetNode, u64)>> = BTreeMap::new();
        switches.iter().for_each(|switch| {
            by_tier.entry(&switch.tier).or_default().push((switch, reserved_bytes_per_port(switch)))
        });
        let common = switches.first().map_or(PORT_RESERVE_BYTES, reserved_bytes_per_port);
        let mut overrides: Vec<Node> = Vec::new();
        for (tier, all) in &by_tier {
            let first = all[0].1;
            if all.iter().all(|(_, own)| *own == first) {
                let over = || self.make_override(("tier", tier.to_string()), "buffer", &buffer_preset(size, first));
                overrides.extend((first != common).then(over));
                continue;
            }
            let others = all.iter().filter(|(_, own)| *own != common);
            overrides.extend(others.map(|(node, own)| {
                self.make_override(("node", node.name.clone()), "buffer", &buffer_preset(size, *own))
            }));
        }
        let own = switches.iter().map(reserved_bytes_per_port);
        let (least, most) = own.fold((common, common), |(least, most), own| (least.min(own), most.max(own)));
        let reserved =
            if least == most { Bytes(least).to_string() } else { format!("{} to {}", Bytes(least), Bytes(most)) };
        self.put_table(
            "switch.buffer",
            &buffer_preset(size, common),
            format!("`switch.buffer` (shared, {size}, {reserved} reserved for each port)"),
        );
        self.put_overrides(overrides);
    }
}

/// Returns the rate of a port in whole bits per second, as the maps of the HPCC simulator have it.
fn bits_per_second(rate: Rate) -> u64 {
    let (bits, of) = rate.numerator_and_denominator();
    bits / of
}

/// Returns the dynamic threshold of a port as a shift: one less for each doubling of its rate over that of hosts.
fn threshold_shift(rate: u64, nic: u64) -> u32 {
    let (mut rate, mut shift) = (rate, DEFAULT_THRESHOLD_SHIFT);
    while rate > nic && shift > 0 {
        (rate, shift) = (rate / 2, shift - 1);
    }
    shift
}

/// Describes the threshold of ports of some rates: `1/8 of the free memory at 100Gbps`.
fn describe_threshold(shift: u32, rates: &[Rate]) -> String {
    let rates: Vec<String> = rates.iter().map(Rate::to_string).collect();
    let part = if shift == 0 { "all".into() } else { format!("1/{}", 1 << shift) };
    format!("{part} of the free memory at {}", rates.join(" and "))
}

/// Returns the reserved bytes of a port, averaged over the switch: the port's reserve and the headroom of its link.
fn reserved_bytes_per_port(switch: &NetNode) -> u64 {
    let all: u64 = switch
        .ports
        .iter()
        .map(|port| PORT_RESERVE_BYTES.saturating_add(headroom_bytes(port)))
        .fold(0, u64::saturating_add);
    all.div_ceil(switch.ports.len().max(1) as u64)
}

/// Returns the headroom of a port in bytes: three times what its rate sends in the delay of its link, in whole
/// nanoseconds and bytes.
fn headroom_bytes(port: &Port) -> u64 {
    let bits = u128::from(bits_per_second(port.rate)) * u128::from(port.delay.0 / 1000);
    u64::try_from(bits / 8 / 1_000_000_000 * 3).unwrap_or(u64::MAX)
}

fn marking_preset(k: &Thresholds) -> Preset {
    Preset::instantaneous_red(k.kmin, k.kmax, k.pmax)
}

fn pause_preset(shift: u32) -> Preset {
    Preset::dynamic_pfc(1.0 / f64::from(1 << shift), Bytes(XON_OFFSET_BYTES))
}

fn buffer_preset(size: Bytes, reserved: u64) -> Preset {
    Preset::shared_memory(size, Bytes(reserved))
}
