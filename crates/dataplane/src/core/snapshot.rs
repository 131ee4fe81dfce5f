//! Arrivals of an instant that do not see one another: each is asked about a mark of the queue as it was when the
//! first of them was stored there. What marking keeps beside the queue, as an average and its draws, still moves
//! from one to the next.

use super::Core;
use crate::packet_store::PacketStore;
use crate::port::QueueAt;

/// By queue that arrivals of the instant have asked to join, what waited in it before the first of them.
#[derive(Clone, Default)]
pub(super) struct Before(Vec<(QueueAt, (u32, u64))>);

impl Before {
    /// Frames and bytes that marking sees in a queue.
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
    /// What is stored from here on belongs to one snapshot.
    pub(crate) fn begin_snapshot(&mut self) {
        self.before = Some(Before::default());
    }
    /// It is over.
    pub(crate) fn end_snapshot(&mut self) {
        self.before = None;
    }
}
