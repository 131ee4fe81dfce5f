//! Choice of the flows that DIBS may detour: an operator's rule (DIBS §7).
//!
//! The switch distinguishes short and long flows by itself, as hardware could. It has a table of a fixed number of
//! entries, each with the 32-bit hash of a flow and a 32-bit count of its bytes. The hash of a flow gives its entry.
//! Every frame adds its bytes there, even one that arrives again.
//!
//! A flow that finds another one in its entry replaces it and counts from zero, so the table needs no ageing. The count
//! of the other flow is lost, and that flow is short again when it returns.

use crate::{Head, HostId, hash_mix};

/// Size of an entry of the flow table, in bytes.
pub(super) const ENTRY_BYTES: u64 = 8;

/// Entry of the flow table: the hash of a flow, and the number of its bytes that have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowEntry {
    hash: u32,
    bytes: u32,
}

/// Rule that selects the flows whose packets may be detoured.
#[derive(Clone, Debug)]
pub(super) enum FlowRule {
    /// All flows, without any restriction.
    All,
    /// Flows from or to listed hosts.
    Hosts {
        /// Names of the listed hosts.
        names: Vec<String>,
        /// Identifiers of the listed hosts that exist, sorted.
        found: Vec<HostId>,
    },
    /// Flows with more bytes than `size` if `long`, otherwise flows with at most `size` bytes.
    Sized {
        /// True if the rule selects long flows, false for short flows.
        long: bool,
        /// Largest size of a short flow, in bytes.
        size: u64,
        /// Table of flows with the bytes of each that have arrived.
        table: Vec<FlowEntry>,
    },
}

impl FlowRule {
    /// Returns the names of the listed hosts, if the rule selects hosts.
    pub fn host_names(&self) -> Option<&[String]> {
        if let FlowRule::Hosts { names, .. } = self { Some(names) } else { None }
    }

    /// Returns the number of entries of the flow table, if the rule has one.
    pub fn table_entries(&self) -> Option<u64> {
        if let FlowRule::Sized { table, .. } = self { Some(table.len() as u64) } else { None }
    }

    /// Resolves the names of the listed hosts to identifiers.
    pub fn resolve_hosts(&mut self, host: &dyn Fn(&str) -> Option<HostId>) {
        if let FlowRule::Hosts { names, found } = self {
            *found = names.iter().filter_map(|name| host(name)).collect();
            found.sort_unstable();
        }
    }

    /// Returns true if the rule must count every packet.
    pub fn counts_packets(&self) -> bool {
        matches!(self, FlowRule::Sized { .. })
    }

    /// Counts an arriving packet if the rule needs it, and returns true if the packet may be detoured.
    pub fn count_and_check(&mut self, pkt: &Head) -> bool {
        match self {
            FlowRule::All => true,
            FlowRule::Hosts { found, .. } => [pkt.src, pkt.dst].iter().any(|host| found.binary_search(host).is_ok()),
            FlowRule::Sized { long, size, table } => *long == (count_flow_bytes(table, pkt) > *size),
        }
    }
}

/// Adds a packet to its flow's table entry, and returns the flow's bytes so far, with the packet.
fn count_flow_bytes(table: &mut [FlowEntry], pkt: &Head) -> u64 {
    let spread = hash_mix(table.len() as u64, u64::from(pkt.hash)) >> 32;
    let entry = &mut table[((spread * table.len() as u64) >> 32) as usize];
    if entry.hash != pkt.hash {
        *entry = FlowEntry { hash: pkt.hash, bytes: 0 };
    }
    entry.bytes = entry.bytes.saturating_add(u32::from(pkt.size));
    u64::from(entry.bytes)
}
