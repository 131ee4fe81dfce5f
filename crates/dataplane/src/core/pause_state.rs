//! Pause state of a node's ports, for the search for deadlocks in the whole network.

use super::Core;
use super::pausing::NoRoutes;
use crate::end_table::PacketTally;
use crate::inputs::StuckBytes;
use crate::packet_store::NodeView;
use crate::port::QueueAt;
use mech::{ClassSet, Head, Lane, PortId, QueueId, View};
use units::Time;

/// Traffic classes that a port has paused at the far end of its link, and the resumes that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPauses {
    /// Classes that the far end may not send until this port resumes them.
    pub paused: ClassSet,
    /// Number of resumes sent to the far end, by class.
    pub resumes: [u64; 8],
}

/// Traffic classes that the far end of a link has paused at this port, and the resumes that it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedPauses {
    /// Classes that this port may not send.
    pub paused: ClassSet,
    /// Instant at which the pause of each class began.
    pub since: [Time; 8],
    /// Number of resumes received from the far end, by class.
    pub resumes: [u64; 8],
}

impl Core {
    /// Returns the classes that a port has paused at its far end; `None` if the port has no pause slot.
    pub fn sent_pauses(&self, port: PortId) -> Option<SentPauses> {
        let gate = &self.pausing.as_ref()?.gates[usize::from(port.0)];
        let slot = self.pausing_at(port)?;
        // A pause that may expire before it is refreshed ends by itself, so it is part of no deadlock.
        let paused =
            if slot.is_refreshed_in_time(gate.setup.max_frame_wait) { slot.paused_classes() } else { ClassSet::NONE };
        Some(SentPauses { paused, resumes: gate.resumes.map(|resumes| resumes.sent) })
    }
    /// Returns the classes that a port may not send; `None` if no port of the network is ever paused.
    pub fn received_pauses(&self, port: PortId) -> Option<ReceivedPauses> {
        let gate = &self.pausing.as_ref()?.gates[usize::from(port.0)];
        Some(ReceivedPauses {
            paused: gate.paused,
            since: gate.since,
            resumes: gate.resumes.map(|resumes| resumes.received),
        })
    }
    /// Returns the classes that a port may not send.
    pub(crate) fn paused_classes(&self, port: PortId) -> ClassSet {
        let gate = self.pausing.as_ref().map(|pausing| &pausing.gates[usize::from(port.0)]);
        gate.map_or(ClassSet::NONE, |gate| gate.paused)
    }
    /// Returns the classes that are resumed together with `class`, and their XON threshold in bytes.
    /// `free` is the number of free bytes in the shared memory.
    ///
    /// In memory with pools, `stays` holds the bytes that stay in the node.
    pub fn resume_threshold(
        &self,
        port: PortId,
        class: u8,
        free: Option<u64>,
        stays: &[StuckBytes],
    ) -> Option<(ClassSet, u64)> {
        let slot = self.pausing_at(port)?;
        let level = match self.store.pools.as_ref().filter(|pools| pools.layout().has_groups()) {
            Some(pools) => pools.resume_level(port, class, stays)?,
            None => slot.thresholds(free).1,
        };
        Some((slot.pause_group(class), level))
    }
    /// Returns the bytes of a class that wait at an output port, by the input port of their frames.
    pub(crate) fn backlog_by_ingress(&self, port: PortId, class: u8) -> Vec<u64> {
        let look = NodeView::new(&self.store, &NoRoutes, None);
        let mut bytes = vec![0; self.store.ports.len()];
        for queue in Lane::PAUSED.map(|lane| QueueId::new(class, lane)) {
            let mut count = |head: &Head| bytes[usize::from(head.ingress.0)] += u64::from(head.size);
            look.visit_packets(port, queue, &mut |_, head| count(head));
            if let Some(cutting) = &self.store.cutting {
                cutting.heads(QueueAt { port, queue }, &self.store.arena).for_each(count);
            }
        }
        bytes
    }
    /// Returns the bytes that never leave the account of their input if ports never send the classes `stuck` again.
    /// The bytes are given by input, output and class.
    pub fn stuck_bytes(&self, stuck: &[ClassSet]) -> Vec<StuckBytes> {
        if self.store.inputs.is_some() {
            return self.store.stuck_bytes_at_inputs(stuck);
        }
        let of_port = |(port, classes): (PortId, &ClassSet)| {
            let classes = *classes;
            (0..8).filter(move |class| classes.has(*class)).flat_map(move |class| {
                let by_ingress = (0..).map(PortId).zip(self.backlog_by_ingress(port, class));
                by_ingress.map(move |(ingress, bytes)| StuckBytes { ingress, port, class, bytes })
            })
        };
        (0..).map(PortId).zip(stuck).flat_map(of_port).filter(|stays| stays.bytes > 0).collect()
    }
    /// Returns the free bytes of shared memory if each port holds its bytes of `held`; `None` without shared memory.
    pub fn shared_memory_free(&self, held: &[u64]) -> Option<u64> {
        let buffer = self.store.buffer.peek();
        buffer.free_shared_bytes(held.iter().map(|bytes| bytes.saturating_sub(buffer.reserved_bytes())).sum())
    }
    /// Returns the numbers of PAUSE and PFC frames that this node sent and received.
    pub fn pause_frame_counts(&self) -> (u64, u64) {
        self.pausing.as_ref().map_or((0, 0), |pausing| (pausing.sent.packets, pausing.received.packets))
    }
    /// Returns the tallies of PAUSE and PFC frames that this node sent and received.
    pub(crate) fn pause_frame_tallies(&self) -> (PacketTally, PacketTally) {
        self.pausing.as_ref().map_or_else(Default::default, |pausing| (pausing.sent, pausing.received))
    }
}
