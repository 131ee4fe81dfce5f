//! Counts of a host: its senders and receivers, and packets received, sent, dropped and waiting.

use super::Host;
use crate::PayloadCounts;
use crate::core::Core;
use crate::end_table::PacketTally;
use crate::stack::StackDelay;
use crate::transport::{Receiver, Sender};
use mech::FlowId;

impl Host {
    /// Number of senders and receivers at this host that have not finished.
    pub fn live_ends(&self) -> usize {
        self.senders.live_count() + self.receivers.live_count()
    }
    /// Returns the NIC.
    pub fn nic(&self) -> &Core {
        &self.nic
    }
    /// Returns the NIC for changes, such as settling its counters.
    pub fn nic_mut(&mut self) -> &mut Core {
        &mut self.nic
    }
    /// Returns the senders that have not finished.
    pub fn unfinished_senders(&self) -> impl Iterator<Item = (FlowId, &Sender)> {
        self.senders.slots.iter().flatten().map(|(flow, sender)| (*flow, sender))
    }
    /// Returns the receivers that wait for more data.
    pub fn active_receivers(&self) -> impl Iterator<Item = (FlowId, &Receiver)> {
        self.receivers.slots.iter().flatten().map(|(flow, receiver)| (*flow, receiver))
    }
    /// Returns the number of congestion messages that this host has received about a flow, and the last of them.
    pub fn notice_stats(&self, flow: FlowId) -> (u64, Option<mech::Notice>) {
        self.notice_log.notices_about(flow)
    }
    /// Number of packets that switches have sent back to this host, their source.
    pub fn packets_returned(&self) -> u64 {
        self.nic.ports()[0].counts().returned
    }
    /// Renumbers the flows of all senders and receivers at this host by `rank`.
    pub fn renumber_flows(&mut self, rank: impl Fn(FlowId) -> FlowId) {
        self.senders.slots.iter_mut().flatten().for_each(|(flow, _)| *flow = rank(*flow));
        self.receivers.slots.iter_mut().flatten().for_each(|(flow, _)| *flow = rank(*flow));
    }
    /// Number of packets that this host has created.
    pub fn packets_originated(&self) -> u64 {
        self.originated.packets
    }
    /// Number of packets that have passed up the stack of this host.
    pub fn packets_consumed(&self) -> u64 {
        self.consumed.packets
    }
    /// Number of frames that wait in the NIC's queues of flows.
    pub fn frames_in_flow_queues(&self) -> u64 {
        self.pulled.as_ref().map_or(0, |pulled| pulled.queues().queued().packets)
    }
    /// Number of frames that wait in the NIC's receive buffer.
    pub fn frames_in_receive_buffer(&self) -> u64 {
        self.receive_buffer_tally().packets
    }
    /// Number of frames that this host has received.
    pub fn frames_received(&self) -> u64 {
        self.received.packets
    }
    /// Number of frames for another host that this host has received and dropped.
    pub fn frames_misdirected(&self) -> u64 {
        self.misdirected.packets
    }

    /// Number of flooded frame copies for other hosts that this host has received and discarded.
    pub fn flood_copies_discarded(&self) -> u64 {
        self.flood_copies_discarded.packets
    }

    /// Returns the payload bytes that this host has created, delivered and dropped, and those that wait in it.
    pub fn payload_counts(&self) -> PayloadCounts {
        let waiting = self.pulled.as_ref().map_or(0, |pulled| pulled.queues().queued().payload);
        let own = PayloadCounts {
            sent: self.originated.payload,
            delivered: self.consumed.payload + self.flood_copies_discarded.payload,
            dropped: self.misdirected.payload,
            waiting: waiting
                + self.up.payload_bytes()
                + self.down.payload_bytes()
                + self.receive_buffer_tally().payload,
            ..PayloadCounts::default()
        };
        own + self.nic.payload_counts()
    }

    /// Checks that each packet received or created was sent, consumed, dropped or discarded, or is still in this host.
    /// The rule is `received + originated = sent + consumed + dropped + flood_copies_discarded + control_received +
    /// held + queued`, in packets and in bytes; control frames are PAUSE and PFC frames.
    pub fn conserves_packets(&self) -> bool {
        let port = &self.nic.ports()[0];
        let counts = port.counts();
        let held = [&self.up, &self.down];
        let buffered = self.receive_buffer_tally();
        let dropped = counts.dropped.iter().sum::<u64>() + self.misdirected.packets;
        let (_, control_received) = self.nic.pause_frame_tallies();
        let packets = counts.sent
            + self.consumed.packets
            + self.flood_copies_discarded.packets
            + control_received.packets
            + dropped
            + u64::from(port.queued_frames());
        let waiting = self.pulled.as_ref().map_or_else(PacketTally::default, |pulled| pulled.queues().queued());
        let bytes = counts.sent_bytes
            + control_received.bytes
            + self.consumed.bytes
            + self.flood_copies_discarded.bytes
            + counts.dropped_bytes
            + self.misdirected.bytes
            + port.queued_bytes()
            + buffered.bytes
            + waiting.bytes;
        self.received.packets + self.originated.packets
            == packets + waiting.packets + buffered.packets + held.map(StackDelay::len).iter().sum::<u64>()
            && self.received.bytes + self.originated.bytes == bytes + held.map(StackDelay::bytes).iter().sum::<u64>()
            && port.conserves_frames()
    }
}
