//! Snapshot of queue lengths for marking, so that simultaneous arrivals do not see each other.
//! The marking slot sees each queue as it was before the first of these arrivals was stored there. State of the marking
//! slot itself, such as an average and draws, still changes with each arrival.

use super::Core;
use crate::packet_store::PacketStore;
use crate::port::QueueAt;

/// Frames and bytes in each queue before the first of the simultaneous arrivals was stored there.
#[derive(Clone, Default)]
pub(super) struct QueueSnapshot(Vec<(QueueAt, (u32, u64))>);

impl QueueSnapshot {
    /// Returns the frames and bytes that the marking slot sees in a queue.
    pub(super) fn backlog(&mut self, at: QueueAt, store: &PacketStore) -> (u32, u64) {
        if let Some((_, before)) = self.0.iter().find(|(queue, _)| *queue == at) {
            return *before;
        }
        let now = store.backlog(at.port, at.queue);
        self.0.push((at, now));
        now
    }
}

impl Core {
    /// Begins a snapshot: the marking slot does not see frames that are stored from now on.
    pub(crate) fn begin_snapshot(&mut self) {
        self.before = Some(QueueSnapshot::default());
    }
    /// Ends the snapshot: the marking slot sees the present queue lengths again.
    pub(crate) fn end_snapshot(&mut self) {
        self.before = None;
    }
}
