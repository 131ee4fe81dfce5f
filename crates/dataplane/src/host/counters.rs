//! What a host says of itself: the ends of flows that live there, and packets that came, went and stayed.

use super::Host;
use crate::PayloadCounts;
use crate::core::Core;
use crate::ends::Tally;
use crate::stack::Stack;
use crate::transport::{Receiver, Sender};
use mech::FlowId;

impl Host {
    /// Ends of flows that live here.
    pub fn live_ends(&self) -> usize {
        self.senders.live() + self.receivers.live()
    }
    /// The NIC.
    pub fn nic(&self) -> &Core {
        &self.nic
    }
    /// The NIC, to settle its counters.
    pub fn nic_mut(&mut self) -> &mut Core {
        &mut self.nic
    }
    /// The senders that have not finished.
    pub fn unfinished(&self) -> impl Iterator<Item = (FlowId, &Sender)> {
        self.senders.slots.iter().flatten().map(|(flow, sender)| (*flow, sender))
    }
    /// The receivers that wait for more.
    pub fn receiving(&self) -> impl Iterator<Item = (FlowId, &Receiver)> {
        self.receivers.slots.iter().flatten().map(|(flow, receiver)| (*flow, receiver))
    }
    /// Messages about congestion that have come for a flow which is sent here, and the last of them.
    pub fn notices(&self, flow: FlowId) -> (u64, Option<mech::Notice>) {
        self.limiters.notices_of(flow)
    }
    /// Packets that switches have sent back to this host, their source.
    pub fn returned(&self) -> u64 {
        self.nic.ports()[0].counts().returned
    }
    /// Flows get other numbers.
    pub fn renumber(&mut self, rank: impl Fn(FlowId) -> FlowId) {
        self.senders.slots.iter_mut().flatten().for_each(|(flow, _)| *flow = rank(*flow));
        self.receivers.slots.iter_mut().flatten().for_each(|(flow, _)| *flow = rank(*flow));
    }
    /// Packets that its transports have made.
    pub fn originated(&self) -> u64 {
        self.originated.packets
    }
    /// Packets that have reached its transports.
    pub fn consumed(&self) -> u64 {
        self.consumed.packets
    }
    /// Frames that wait for their turn in queues of flows.
    pub fn waiting_in_flows(&self) -> u64 {
        self.pulled.as_ref().map_or(0, |pulled| pulled.queues().held().packets)
    }
    /// Frames that came in.
    pub fn received(&self) -> u64 {
        self.received.packets
    }
    /// Frames that came in, were for somebody else and could not go back.
    pub fn misdirected(&self) -> u64 {
        self.misdirected.packets
    }

    /// Copies of flooded frames that came in and were for somebody else.
    pub fn flood_copies_discarded(&self) -> u64 {
        self.flood_copies_discarded.packets
    }

    /// What its transports have sent and got, what was lost at its NIC, and what waits here.
    pub fn payload(&self) -> PayloadCounts {
        let waiting = self.pulled.as_ref().map_or(0, |pulled| pulled.queues().held().payload);
        let own = PayloadCounts {
            sent: self.originated.payload,
            delivered: self.consumed.payload + self.flood_copies_discarded.payload,
            dropped: self.misdirected.payload,
            waiting: waiting + self.up.payload() + self.down.payload(),
            ..PayloadCounts::default()
        };
        own + self.nic.payload()
    }

    /// Checks `received + originated = sent + consumed + dropped + flood_copies_discarded + control_received + held + queued`, in
    /// packets and in bytes; control frames are PAUSE and PFC frames.
    pub fn conserves(&self) -> bool {
        let port = &self.nic.ports()[0];
        let counts = port.counts();
        let held = [&self.up, &self.down];
        let dropped = counts.dropped.iter().sum::<u64>() + self.misdirected.packets;
        let (_, control_received) = self.nic.control();
        let packets = counts.sent
            + self.consumed.packets
            + self.flood_copies_discarded.packets
            + control_received.packets
            + dropped
            + u64::from(port.waiting());
        let waiting = self.pulled.as_ref().map_or_else(Tally::default, |pulled| pulled.queues().held());
        let bytes = counts.sent_bytes
            + control_received.bytes
            + self.consumed.bytes
            + self.flood_copies_discarded.bytes
            + counts.dropped_bytes
            + self.misdirected.bytes
            + port.waiting_bytes()
            + waiting.bytes;
        self.received.packets + self.originated.packets
            == packets + waiting.packets + held.map(Stack::len).iter().sum::<u64>()
            && self.received.bytes + self.originated.bytes == bytes + held.map(Stack::bytes).iter().sum::<u64>()
            && port.balanced()
    }
}
