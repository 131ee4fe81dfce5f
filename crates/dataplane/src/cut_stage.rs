//! Headers of packets whose trimming takes time and is in progress.
//!
//! A header has its memory at its port from the cut on, and counts as waiting there. It is in no queue until the time
//! is over. All cuts take the same time, so they end in the order in which they began, and one timer serves the first.

use crate::arena::Arena;
use crate::port::QueueAt;
use mech::{Head, PortId};
use std::collections::VecDeque;
use units::{Dur, Time};

/// Destination of a packet's header after trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutDestination {
    /// Queue that the header joins after trimming.
    Queue(QueueAt),
    /// Source of the packet. The port is the one by which the packet would have left.
    Back(PortId),
}

/// Header of a packet whose trimming is in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderInCut {
    /// Memory slot of the header: its index in the node's arena.
    pub(crate) slot: u32,
    pub(crate) onward: CutDestination,
    due: Time,
    size: u16,
}

/// Headers of a node's packets whose trimming is in progress, in the order of their ends.
#[derive(Clone, Debug)]
pub(crate) struct CutStage {
    delay: Dur,
    headers: VecDeque<HeaderInCut>,
}

impl CutStage {
    /// Creates the stage of a node where trimming takes `delay`; `None` if it takes no time.
    pub(crate) fn new(delay: Dur) -> Option<Box<CutStage>> {
        (delay > Dur::ZERO).then(|| Box::new(CutStage { delay, headers: VecDeque::new() }))
    }
    /// Begins the trimming of a packet, and returns the instant for a timer if one must be set.
    pub(crate) fn begin(&mut self, now: Time, (slot, size): (u32, u16), onward: CutDestination) -> Option<Time> {
        let due = now.saturating_add(self.delay);
        self.headers.push_back(HeaderInCut { slot, onward, due, size });
        (self.headers.len() == 1 && due < Time::NEVER).then_some(due)
    }
    /// Returns the next header whose trimming has ended.
    ///
    /// # Errors
    /// The instant at which the timer must be set again, if any header is left.
    pub(crate) fn pop_finished(&mut self, now: Time) -> Result<HeaderInCut, Option<Time>> {
        let first = self.headers.front().ok_or(None)?;
        match first.due {
            due if due <= now => self.headers.pop_front().ok_or(None),
            due => Err((due < Time::NEVER).then_some(due)),
        }
    }
    /// Returns the headers being cut that will join a queue.
    fn headers_for(&self, at: QueueAt) -> impl Iterator<Item = &HeaderInCut> {
        self.headers.iter().filter(move |header| header.onward == CutDestination::Queue(at))
    }
    /// Returns the number and the bytes of headers being cut that will join a queue.
    pub(crate) fn backlog(&self, at: QueueAt) -> (u32, u64) {
        self.headers_for(at).fold((0, 0), |sum, header| (sum.0 + 1, sum.1 + u64::from(header.size)))
    }
    /// Returns the heads, as mechanisms see them, of the headers being cut that will join a queue.
    pub(crate) fn heads<'a>(&'a self, at: QueueAt, arena: &'a Arena) -> impl Iterator<Item = &'a Head> {
        self.headers_for(at).map(|header| &arena.get(header.slot).head)
    }
    /// Returns the queue and the arena slot of each header being cut that will join a queue.
    pub(crate) fn headers_for_queues(&self) -> impl Iterator<Item = (QueueAt, u32)> {
        self.headers.iter().filter_map(|header| match header.onward {
            CutDestination::Queue(to) => Some((to, header.slot)),
            CutDestination::Back(_) => None,
        })
    }
    /// Returns the number and the bytes of headers being cut that go back to their sources. No port counts them.
    pub(crate) fn returning_headers(&self) -> (u64, u64) {
        let back = self.headers.iter().filter(|header| matches!(header.onward, CutDestination::Back(_)));
        back.fold((0, 0), |sum, header| (sum.0 + 1, sum.1 + u64::from(header.size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::QueueId;

    #[test]
    fn cuts_finish_in_order_with_one_pending_timer() {
        let at = |port| QueueAt { port: PortId(port), queue: QueueId::normal(0) };
        let mut cutting = CutStage::new(Dur(56)).unwrap();
        assert_eq!(cutting.begin(Time(10), (0, 64), CutDestination::Queue(at(1))), Some(Time(66)));
        assert_eq!(cutting.begin(Time(10), (1, 70), CutDestination::Queue(at(2))), None);
        assert_eq!(cutting.begin(Time(20), (2, 80), CutDestination::Queue(at(1))), None);
        assert_eq!(cutting.begin(Time(20), (3, 90), CutDestination::Back(PortId(1))), None);
        assert_eq!(
            (cutting.backlog(at(1)), cutting.backlog(at(3)), cutting.returning_headers()),
            ((2, 144), (0, 0), (1, 90))
        );
        let slots = |cutting: &mut CutStage, now| {
            let mut done = Vec::new();
            loop {
                match cutting.pop_finished(Time(now)) {
                    Ok(header) => done.push(header.slot),
                    Err(again) => return (done, again),
                }
            }
        };
        assert_eq!(slots(&mut cutting, 65), (vec![], Some(Time(66))));
        assert_eq!(slots(&mut cutting, 66), (vec![0, 1], Some(Time(76))));
        assert_eq!(slots(&mut cutting, 76), (vec![2, 3], None));
        assert_eq!(cutting.begin(Time(80), (0, 64), CutDestination::Back(PortId(0))), Some(Time(136)));
        assert!(CutStage::new(Dur::ZERO).is_none());
    }
}
