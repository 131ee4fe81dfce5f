//! Flows of a run, and the slots of their two ends.

mod partitions;
mod persistent;

pub use persistent::Message;

use crate::transport::{FinishedReceiver, FlowInfo};
use mech::{FlowId, HostId, hash_mix};
use persistent::Persistent;

/// Slot number of an end that does not exist yet.
pub(crate) const NO_SLOT: u32 = u32::MAX;
/// Slot number of an end that is done and removed. A slot below it is live.
pub(crate) const REMOVED_SLOT: u32 = u32::MAX - 1;

/// Table of all flows by number. The sender's host writes only the sender's half, and the receiver's host only the
/// other half.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    pub(crate) info: Vec<FlowInfo>,
    pub(crate) ends: Vec<EndSlots>,
    pub(crate) persistent: Vec<Persistent>,
    /// True if both directions of a flow have one hash.
    is_symmetric: bool,
    /// Number of the next flow and the step to the one after it, if partitions of a run share the numbers.
    shared: Option<(u32, u32)>,
}

/// Ends of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSlots {
    /// Slot of the sender in its host.
    pub(crate) sender: u32,
    /// Slot of the receiver in its host.
    pub(crate) receiver: u32,
    /// State that remains of a receiver that is done.
    pub(crate) left: FinishedReceiver,
    /// Persistent connection that the flow opened, or [`NO_SLOT`].
    pub(crate) persistent: u32,
    /// True if the flow has no transport: its packets are sent without recovery.
    pub(crate) raw: bool,
    /// Payload bytes that have arrived (raw flows only).
    pub(crate) raw_received: u64,
}

impl EndSlots {
    const NEW: EndSlots = EndSlots {
        sender: NO_SLOT,
        receiver: NO_SLOT,
        left: FinishedReceiver { acks: 0, recent: 0 },
        persistent: NO_SLOT,
        raw: false,
        raw_received: 0,
    };
}

/// Description of a new flow.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow {
    /// Host that sends.
    pub src: HostId,
    /// Host that receives.
    pub dst: HostId,
    /// Number below 2⁴⁸ that stands for the ports in the hash of the 5-tuple, and differs from that of other flows.
    pub ports: u64,
    /// Payload bytes; 0 for raw flows.
    pub bytes: u64,
    /// Traffic class.
    pub class: u8,
    /// Row of the transports ([`FlowInfo::row`]).
    pub row: u8,
    /// True if packets are sent without a transport.
    pub raw: bool,
}

/// Hash of a 5-tuple: addresses, the flow's own source port, the well-known port, the protocol.
fn tuple_hash(src: HostId, dst: HostId, ports: u64) -> u32 {
    (hash_mix(hash_mix(u64::from(src.0) << 32 | u64::from(dst.0), 6), ports) >> 32) as u32
}

impl FlowTable {
    /// Creates a table without flows. With `is_symmetric`, both directions of a flow have one hash.
    pub fn new(is_symmetric: bool) -> FlowTable {
        FlowTable { is_symmetric, ..FlowTable::default() }
    }
    /// Adds a flow. Numbers of flows grow by one each time, unless partitions share them.
    pub fn add(&mut self, new: NewFlow) -> FlowId {
        let flow = self.next_id();
        let hash = tuple_hash(new.src, new.dst, new.ports << 16 | 1);
        let back_hash = if self.is_symmetric { hash } else { tuple_hash(new.dst, new.src, 1 << 48 | new.ports) };
        let NewFlow { src, dst, bytes, class, row, .. } = new;
        let info = FlowInfo { flow, src, dst, hash, back_hash, bytes, class, row };
        self.insert_flow(info, EndSlots { raw: new.raw, ..EndSlots::NEW });
        flow
    }
    /// Returns the number of the next flow.
    fn next_id(&mut self) -> FlowId {
        match &mut self.shared {
            None => FlowId(self.info.len() as u32),
            Some((next, step)) => FlowId(std::mem::replace(next, *next + *step)),
        }
    }
    fn insert_flow(&mut self, info: FlowInfo, ends: EndSlots) {
        let at = info.flow.0 as usize;
        if at >= self.info.len() {
            self.info.resize(at + 1, FlowInfo::default());
            self.ends.resize(at + 1, EndSlots::NEW);
        }
        (self.info[at], self.ends[at]) = (info, ends);
    }
    /// Adds a message of a persistent connection that another flow has opened. Its packets are those of that flow.
    pub fn add_message(&mut self, connection: FlowId, bytes: u64) -> FlowId {
        let flow = self.next_id();
        self.insert_flow(FlowInfo { flow, bytes, ..self.info[connection.0 as usize] }, EndSlots::NEW);
        flow
    }
    /// Returns the description of a flow.
    pub fn info(&self, flow: FlowId) -> &FlowInfo {
        &self.info[flow.0 as usize]
    }
    /// Returns true if a flow's packets are sent without a transport.
    pub fn is_raw(&self, flow: FlowId) -> bool {
        self.ends[flow.0 as usize].raw
    }
    /// Payload bytes of a raw flow that have arrived.
    pub fn raw_bytes_received(&self, flow: FlowId) -> u64 {
        self.ends[flow.0 as usize].raw_received
    }
    /// Payload bytes of a flow whose receiver has everything and is gone; 0 before.
    pub fn completed_bytes(&self, flow: FlowId) -> u64 {
        match self.ends[flow.0 as usize].receiver {
            REMOVED_SLOT => self.info[flow.0 as usize].bytes,
            _ => 0,
        }
    }
    /// Number of flows.
    pub fn len(&self) -> usize {
        self.info.len()
    }
    /// Returns true if there are no flows.
    pub fn is_empty(&self) -> bool {
        self.info.is_empty()
    }
}
