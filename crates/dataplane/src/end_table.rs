//! Senders or receivers of flows at a host, and tallies of packets.

use crate::Pkt;
use mech::FlowId;
use units::Time;

/// Live senders, or live receivers, of a host, each with at most one pending timer event.
#[derive(Clone, Debug)]
pub(crate) struct EndTable<T> {
    pub(crate) slots: Vec<Option<(FlowId, T)>>,
    pub(crate) armed: Vec<Time>,
    free: Vec<u32>,
}

impl<T> EndTable<T> {
    pub(crate) fn new() -> EndTable<T> {
        EndTable { slots: Vec::new(), armed: Vec::new(), free: Vec::new() }
    }
    pub(crate) fn add(&mut self, flow: FlowId, end: T) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some((flow, end));
                slot
            }
            None => {
                self.slots.push(Some((flow, end)));
                self.armed.push(Time::NEVER);
                (self.slots.len() - 1) as u32
            }
        }
    }
    pub(crate) fn live_count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    pub(crate) fn remove(&mut self, slot: u32) {
        self.slots[slot as usize] = None;
        self.free.push(slot);
    }
    /// Returns the instant for a new timer event of a sender or receiver, if its pending event comes too late.
    #[inline]
    pub(crate) fn arm(&mut self, slot: u32, deadline: Option<Time>) -> Option<Time> {
        let armed = &mut self.armed[slot as usize];
        let at = deadline.filter(|at| *at < *armed)?;
        *armed = at;
        Some(at)
    }
}

/// Tally of packets: their number, the bytes of their frames without preamble and gap, and their payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketTally {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) payload: u64,
}

impl PacketTally {
    #[inline]
    pub(crate) fn count(&mut self, pkt: &Pkt) {
        self.packets += 1;
        self.bytes += u64::from(pkt.head.size);
        self.payload += pkt.payload_bytes();
    }
    /// Removes a packet that was counted.
    pub(crate) fn remove(&mut self, pkt: &Pkt) {
        self.packets -= 1;
        self.bytes -= u64::from(pkt.head.size);
        self.payload -= pkt.payload_bytes();
    }
}
