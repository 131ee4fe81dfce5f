//! How pausing stands at a node, for whoever looks at the whole network.

use super::Core;
use super::pausing::Nowhere;
use crate::ends::Tally;
use crate::inputs::Stays;
use crate::packet_store::Look;
use crate::port::QueueAt;
use mech::{ClassSet, Head, Lane, PortId, QueueId, View};
use units::Time;

/// What the slot of a port has paused at its far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseSent {
    /// Classes for which its far end is paused, until it is resumed.
    pub paused: ClassSet,
    /// How often the far end was resumed for this class.
    pub resumes: [u64; 8],
}

/// What the far end of a port has paused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseInEffect {
    /// Classes that may not leave.
    pub paused: ClassSet,
    /// Since when.
    pub since: [Time; 8],
    /// How often this class was resumed by the far end.
    pub resumes: [u64; 8],
}

impl Core {
    /// What a port's slot has paused at its far end; `None` where it has none.
    pub fn pause_sent(&self, port: PortId) -> Option<PauseSent> {
        let gate = &self.pausing.as_ref()?.gates[usize::from(port.0)];
        let slot = self.pausing_at(port)?;
        let paused = if slot.holds(gate.setup.waits) { slot.paused() } else { ClassSet::NONE };
        Some(PauseSent { paused, resumes: gate.resumes.map(|resumes| resumes.sent) })
    }
    /// What a port may not send; `None` where no port of the network is ever paused.
    pub fn pause_in_effect(&self, port: PortId) -> Option<PauseInEffect> {
        let gate = &self.pausing.as_ref()?.gates[usize::from(port.0)];
        Some(PauseInEffect {
            paused: gate.paused,
            since: gate.since,
            resumes: gate.resumes.map(|resumes| resumes.received),
        })
    }
    /// The classes that a port may not send.
    pub(crate) fn paused_classes(&self, port: PortId) -> ClassSet {
        let gate = self.pausing.as_ref().map(|pausing| &pausing.gates[usize::from(port.0)]);
        gate.map_or(ClassSet::NONE, |gate| gate.paused)
    }
    /// The classes that are resumed together with one, and the bytes down to which they have to fall for it
    /// while so many of the shared memory are free.
    pub fn resumes_at(&self, port: PortId, class: u8, free: Option<u64>) -> Option<(ClassSet, u64)> {
        let slot = self.pausing_at(port)?;
        Some((slot.pause_group(class), slot.thresholds(free).1))
    }
    /// Bytes of a class that wait at a port, by the port that they came in by.
    pub(crate) fn waiting_by_ingress(&self, port: PortId, class: u8) -> Vec<u64> {
        let look = Look::new(&self.store, &Nowhere, None);
        let mut bytes = vec![0; self.store.ports.len()];
        for queue in Lane::PAUSED.map(|lane| QueueId::new(class, lane)) {
            let mut count = |head: &Head| bytes[usize::from(head.ingress.0)] += u64::from(head.size);
            look.visit(port, queue, &mut |_, head| count(head));
            if let Some(cutting) = &self.store.cutting {
                cutting.heads(QueueAt { port, queue }, &self.store.arena).for_each(count);
            }
        }
        bytes
    }
    /// What never ceases to count for the ports that it came in by, by port that it waits for and class, while ports may not
    /// send these classes.
    pub fn stays(&self, stuck: &[ClassSet]) -> Vec<Stays> {
        if self.store.inputs.is_some() {
            return self.store.stays_at_inputs(stuck);
        }
        let of_port = |(port, classes): (PortId, &ClassSet)| {
            let classes = *classes;
            (0..8).filter(move |class| classes.has(*class)).flat_map(move |class| {
                let by_ingress = (0..).map(PortId).zip(self.waiting_by_ingress(port, class));
                by_ingress.map(move |(ingress, bytes)| Stays { ingress, port, class, bytes })
            })
        };
        (0..).map(PortId).zip(stuck).flat_map(of_port).filter(|stays| stays.bytes > 0).collect()
    }
    /// Bytes that the shared memory has free while ports hold so many; `None` where none is shared.
    pub fn shared_free(&self, held: &[u64]) -> Option<u64> {
        let buffer = self.store.buffer.peek();
        buffer.free(held.iter().map(|bytes| bytes.saturating_sub(buffer.reserved())).sum())
    }
    /// PAUSE and PFC frames made here, and those that ended here.
    pub fn control_frames(&self) -> (u64, u64) {
        self.pausing.as_ref().map_or((0, 0), |pausing| (pausing.sent.packets, pausing.received.packets))
    }
    /// The same as tallies.
    pub(crate) fn control(&self) -> (Tally, Tally) {
        self.pausing.as_ref().map_or_else(Default::default, |pausing| (pausing.sent, pausing.received))
    }
}
