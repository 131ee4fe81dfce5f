//! Counts of a node's output side, and the packets that it holds.

use super::Core;
use crate::PayloadCounts;
use crate::port::Port;
use mech::overflow::DropReason;
use mech::{ClassSet, PortId};
use units::Time;

impl Core {
    /// Counts a packet that a switch sent back to this NIC.
    pub(crate) fn count_returned(&mut self) {
        self.port_counts_mut(PortId(0)).returned += 1;
    }

    /// Returns the number of packets in the memory of this node, without the copies that inputs keep.
    pub fn held_packets(&self) -> usize {
        self.store.arena.packet_count() - self.input_copies().count()
    }

    /// Returns the arena slots of the copies that inputs keep of frames until their delivery is acknowledged.
    fn input_copies(&self) -> impl Iterator<Item = u32> + '_ {
        let stages = self.store.inputs.iter().flat_map(|inputs| &inputs.stages);
        stages.flat_map(|stages| stages.copies().map(|(_, slot)| slot))
    }

    /// Returns the payload bytes that were lost or cut off at the ports, or are in packets of this node.
    pub(crate) fn payload_counts(&self) -> PayloadCounts {
        let of = |port: &Port| {
            let counts = port.counts();
            let (dropped, cut) = (counts.dropped_payload, counts.trimmed_payload);
            PayloadCounts { dropped, cut, ..PayloadCounts::default() }
        };
        let copies: u64 = self.input_copies().map(|slot| self.store.arena.get(slot).payload_bytes()).sum();
        let held = PayloadCounts { waiting: self.store.arena.payload_bytes() - copies, ..PayloadCounts::default() };
        self.store.ports.iter().map(of).sum::<PayloadCounts>() + held
    }

    /// Returns the classes that shared the buffer of a port when it was full, and the packets lost there for lack of
    /// memory. With accounts of queues, no class is in the set.
    pub fn classes_when_full(&self, port: PortId) -> (ClassSet, u64) {
        let port = &self.store.ports[usize::from(port.0)];
        (port.rest.classes_when_full, port.counts().dropped[DropReason::BufferFull as usize])
    }

    /// Returns the output ports of the node.
    pub fn ports(&self) -> &[Port] {
        &self.store.ports
    }

    /// Restarts the maxima of queued frames and bytes of all ports from their present values.
    /// PRECONDITION: ports are settled.
    pub fn restart_maxima(&mut self) {
        self.store.ports.iter_mut().for_each(Port::restart_maxima);
    }

    /// Settles all ports: frames with computed departures that have left by `now` no longer count as queued.
    /// PRECONDITION: no step of that instant is in progress.
    pub fn settle_departures(&mut self, now: Time) {
        self.store.ports.iter_mut().filter(|port| port.computed).for_each(|port| port.settle_departures_after(now));
    }

    /// Returns the number of frames that are on their link by a computed departure but still count as queued.
    pub fn frames_on_link(&self) -> u64 {
        self.store.ports.iter().filter(|port| port.computed).map(|port| u64::from(port.queued_frames())).sum()
    }
}
