//! Which flows are detoured at all: an operator's rule (DIBS §7).
//!
//! Whether a flow is short or long the switch finds out by itself, as it could in hardware: in a table
//! of a fixed number of places, each the 32-bit hash of a flow and a 32-bit count of its bytes. A flow
//! has one place, by its hash; every frame that comes adds its bytes there, one that comes again
//! included. A flow that finds another in its place takes it over and counts from zero, so that the
//! table needs no ageing; what was counted of the other is lost, and it is short again when it is back.

use crate::{Head, HostId, hash_mix};

/// Bytes of a place of the flow table.
pub(super) const ENTRY_BYTES: u64 = 8;

/// A flow's place: its hash, and the bytes of it that came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    hash: u32,
    bytes: u32,
}

/// The rule.
#[derive(Clone, Debug)]
pub(super) enum Flows {
    /// All.
    All,
    /// Those from or to these hosts, in order.
    Hosts {
        /// Their names.
        names: Vec<String>,
        /// Those of them that there are.
        found: Vec<HostId>,
    },
    /// Those of which more than so many bytes came, or where not `long` the others.
    Sized {
        /// Which of both.
        long: bool,
        /// The limit between them, bytes.
        size: u64,
        /// What came of each.
        table: Vec<Entry>,
    },
}

impl Flows {
    /// The names of its hosts, where it is for some hosts.
    pub fn names(&self) -> Option<&[String]> {
        if let Flows::Hosts { names, .. } = self { Some(names) } else { None }
    }

    /// The places of its table, where it has one.
    pub fn places(&self) -> Option<u64> {
        if let Flows::Sized { table, .. } = self { Some(table.len() as u64) } else { None }
    }

    /// Finds its hosts.
    pub fn find(&mut self, host: &dyn Fn(&str) -> Option<HostId>) {
        if let Flows::Hosts { names, found } = self {
            *found = names.iter().filter_map(|name| host(name)).collect();
            found.sort_unstable();
        }
    }

    /// Whether every packet must be shown to it.
    pub fn counts(&self) -> bool {
        matches!(self, Flows::Sized { .. })
    }

    /// Counts a packet that has come; whether it may be detoured.
    pub fn may(&mut self, pkt: &Head) -> bool {
        match self {
            Flows::All => true,
            Flows::Hosts { found, .. } => [pkt.src, pkt.dst].iter().any(|host| found.binary_search(host).is_ok()),
            Flows::Sized { long, size, table } => *long == (count(table, pkt) > *size),
        }
    }
}

/// Adds a packet to its flow's place, and tells what came of the flow so far, itself included.
fn count(table: &mut [Entry], pkt: &Head) -> u64 {
    let spread = hash_mix(table.len() as u64, u64::from(pkt.hash)) >> 32;
    let entry = &mut table[((spread * table.len() as u64) >> 32) as usize];
    if entry.hash != pkt.hash {
        *entry = Entry { hash: pkt.hash, bytes: 0 };
    }
    entry.bytes = entry.bytes.saturating_add(u32::from(pkt.size));
    u64::from(entry.bytes)
}
