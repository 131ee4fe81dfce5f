//! Counts of a switch, and checks that they add up.

use super::Switch;
use crate::PayloadCounts;
use crate::core::Core;
use mech::overflow::DropReason;
use mech::routing::Hop;
use mech::{HostId, PortId};

impl Switch {
    /// Returns the output side of the switch.
    pub fn core(&self) -> &Core {
        &self.core
    }
    /// Returns the output side of the switch for changes, to settle its counters.
    pub fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }
    /// Returns the packets lost before an output port was chosen, by reason.
    pub fn lookup_drops(&self) -> &[u64; DropReason::ALL.len()] {
        &self.lost
    }
    /// Returns the number of frames that the switch has received.
    pub fn frames_received(&self) -> u64 {
        self.received
    }
    /// Adds the ports by which packets of a flow may leave to `out`.
    /// These are all that its routing may draw, or the one of the flow if it draws none.
    pub fn possible_ports(&self, ends: (HostId, HostId), hash: u32, hops: &[Hop], out: &mut Vec<PortId>) {
        let routing = self.routing.peek();
        let drawn = (0..hops.len()).filter(|place| routing.may_draw_hop(hops, *place));
        let known = out.len();
        out.extend(drawn.map(|place| hops[place].port));
        if out.len() == known {
            out.extend(Some(routing.port_by_hash(ends, hash, hops)).filter(|port| self.has_port(*port)));
        }
    }

    /// Returns the numbers of flood copies made and of flood copies that ended away from their destination.
    pub fn flood_counts(&self) -> (u64, u64) {
        self.learnt.as_ref().map_or((0, 0), |learnt| (learnt.created.packets, self.core.flood_copies_discarded.packets))
    }

    /// Returns the payload bytes that were lost or cut in the switch, are held there, or are in flood copies.
    pub fn payload_counts(&self) -> PayloadCounts {
        let own = PayloadCounts {
            sent: self.learnt.as_ref().map_or(0, |learnt| learnt.created.payload),
            delivered: self.core.flood_copies_discarded.payload,
            dropped: self.lost_payload,
            ..PayloadCounts::default()
        };
        own + self.core.payload_counts()
    }

    /// Checks `received + created = sent + dropped + flood_copies_discarded + control_received + held + queued`.
    /// The check is for packets and (with the bytes that were cut off) for bytes. Control frames are PAUSE and PFC
    /// frames, whose sending is counted apart.
    pub fn conserves_packets(&self) -> bool {
        let (mut packets, mut bytes) = (self.lost.iter().sum::<u64>(), self.lost_bytes);
        for port in self.core.ports() {
            let counts = port.counts();
            packets += counts.sent + counts.dropped.iter().sum::<u64>() + u64::from(port.queued_frames());
            bytes += counts.sent_bytes + counts.dropped_bytes + counts.trimmed_bytes + port.queued_bytes();
        }
        let (_, control_received) = self.core.pause_frame_tallies();
        (packets, bytes) = (packets + control_received.packets, bytes + control_received.bytes);
        let (made, (held, held_bytes)) = self.core.agents_tally();
        (packets, bytes) = (packets + held, bytes + held_bytes);
        let (back, back_bytes) = self.core.returning_headers();
        (packets, bytes) = (packets + back, bytes + back_bytes);
        let (mut received, mut received_bytes) = (self.received + made.packets, self.received_bytes + made.bytes);
        if let Some(learnt) = &self.learnt {
            received += learnt.created.packets;
            received_bytes += learnt.created.bytes;
            packets += self.core.flood_copies_discarded.packets;
            bytes += self.core.flood_copies_discarded.bytes;
        }
        let balanced = self.core.ports().iter().all(|p| p.conserves_frames());
        let balanced = balanced && self.core.inputs_are_consistent() && self.core.accounts_are_consistent();
        packets == received && bytes == received_bytes && balanced
    }
}
