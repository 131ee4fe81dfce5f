//! Table of all flows of a run, with the indices of their senders and receivers at the hosts.

mod partitions;
mod persistent;

pub use persistent::Message;

use crate::transport::{FinishedReceiver, FlowInfo};
use mech::{FlowId, HostId, hash_mix};
use persistent::Persistent;

/// Index of a sender or receiver that does not exist yet.
pub(crate) const NO_SLOT: u32 = u32::MAX;
/// Index of a sender or receiver that is done and removed. Lower numbers are those of live ones.
pub(crate) const REMOVED_SLOT: u32 = u32::MAX - 1;

/// Table of all flows of a run, by number.
/// The sender's host writes only the sender's half, and the receiver's host only the other half.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    pub(crate) info: Vec<FlowInfo>,
    pub(crate) ends: Vec<EndSlots>,
    pub(crate) persistent: Vec<Persistent>,
    /// True if the data and the ACKs of a flow have the same hash.
    is_symmetric: bool,
    /// Number of the next flow and the step to the one after it, if partitions of a run share the numbers.
    shared: Option<(u32, u32)>,
}

/// Indices of a flow's sender and receiver at their hosts, and the state that remains of a finished receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSlots {
    /// Index of the sender in the table of its host.
    pub(crate) sender: u32,
    /// Index of the receiver in the table of its host.
    pub(crate) receiver: u32,
    /// State that remains of a receiver that has received everything.
    pub(crate) finished_receiver: FinishedReceiver,
    /// Persistent connection that the flow opened, or [`NO_SLOT`].
    pub(crate) persistent: u32,
    /// True if the flow has no transport: its packets are sent without recovery.
    pub(crate) raw: bool,
    /// Payload bytes that have arrived, for flows without a transport.
    pub(crate) raw_received: u64,
}

impl EndSlots {
    const NEW: EndSlots = EndSlots {
        sender: NO_SLOT,
        receiver: NO_SLOT,
        finished_receiver: FinishedReceiver { acks: 0, recent: 0 },
        persistent: NO_SLOT,
        raw: false,
        raw_received: 0,
    };
}

/// Parameters of a new flow.
#[derive(Clone, Copy, Debug)]
pub struct NewFlow {
    /// Host that sends the data of the flow.
    pub src: HostId,
    /// Host that receives the data of the flow.
    pub dst: HostId,
    /// Number below 2⁴⁸ that stands for the ports in the hash of the 5-tuple, and differs from that of other flows.
    pub ports: u64,
    /// Payload bytes to deliver; 0 for flows without a transport.
    pub bytes: u64,
    /// Traffic class of the flow's packets, 0 to 7.
    pub class: u8,
    /// Number of the DSCP of the flow's packets among those of the class, 0 to 3.
    pub code_point: u8,
    /// Row of the table that gives both hosts their transports ([`FlowInfo::row`]).
    pub row: u8,
    /// True if the flow has no transport: its packets are sent without recovery.
    pub raw: bool,
}

/// Returns the hash of a 5-tuple: addresses, the flow's own source port, the well-known port, the protocol.
fn tuple_hash(src: HostId, dst: HostId, ports: u64) -> u32 {
    (hash_mix(hash_mix(u64::from(src.0) << 32 | u64::from(dst.0), 6), ports) >> 32) as u32
}

impl FlowTable {
    /// Creates a table without flows. With `is_symmetric`, both directions of a flow have the same hash.
    pub fn new(is_symmetric: bool) -> FlowTable {
        FlowTable { is_symmetric, ..FlowTable::default() }
    }
    /// Adds a flow, and returns its number.
    /// Numbers grow by one each time, unless partitions of a run share them.
    pub fn add(&mut self, new: NewFlow) -> FlowId {
        let flow = self.next_id();
        let hash = tuple_hash(new.src, new.dst, new.ports << 16 | 1);
        let back_hash = if self.is_symmetric { hash } else { tuple_hash(new.dst, new.src, 1 << 48 | new.ports) };
        let NewFlow { src, dst, bytes, class, code_point, row, .. } = new;
        let info = FlowInfo { flow, src, dst, hash, back_hash, bytes, class, code_point, row };
        self.insert_flow(info, EndSlots { raw: new.raw, ..EndSlots::NEW });
        flow
    }
    /// Takes the next free flow number.
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
    /// Adds a message of a persistent connection as a flow of its own, and returns its number.
    /// Its packets are those of the flow that opened the connection.
    pub fn add_message(&mut self, connection: FlowId, bytes: u64) -> FlowId {
        let flow = self.next_id();
        self.insert_flow(FlowInfo { flow, bytes, ..self.info[connection.0 as usize] }, EndSlots::NEW);
        flow
    }
    /// Returns the identity and the size of a flow.
    pub fn info(&self, flow: FlowId) -> &FlowInfo {
        &self.info[flow.0 as usize]
    }
    /// Returns true if a flow's packets are sent without a transport.
    pub fn is_raw(&self, flow: FlowId) -> bool {
        self.ends[flow.0 as usize].raw
    }
    /// Returns the payload bytes that have arrived of a flow without a transport.
    pub fn raw_bytes_received(&self, flow: FlowId) -> u64 {
        self.ends[flow.0 as usize].raw_received
    }
    /// Returns the size of a flow in payload bytes once its receiver has everything; 0 before.
    pub fn completed_bytes(&self, flow: FlowId) -> u64 {
        match self.ends[flow.0 as usize].receiver {
            REMOVED_SLOT => self.info[flow.0 as usize].bytes,
            _ => 0,
        }
    }
    /// Returns the number of flows in the table.
    pub fn len(&self) -> usize {
        self.info.len()
    }
    /// Returns true if the table has no flows.
    pub fn is_empty(&self) -> bool {
        self.info.is_empty()
    }
}
