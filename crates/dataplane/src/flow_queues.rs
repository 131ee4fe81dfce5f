//! Queues of a NIC that serves its flows in turn.
//!
//! A flow's data and its ACKs leave different hosts, so each direction has a queue of its own. A queue has work while
//! frames wait in it or the transport has a segment ready that the NIC has not requested. A queue with work is in the
//! ring of its class, or waits for its rate limiter. Within a ring each queue sends one frame a turn.

use crate::Pkt;
use crate::end_table::PacketTally;
use mech::host::{FlowAtNic, FlowQueues, RateLimiter};
use mech::{ClassSet, Flags, FlowId, Head};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Rate, Time};

/// Queues of one host's NIC: one for each flow and direction.
#[derive(Clone, Default)]
pub(crate) struct NicQueues {
    queues: Vec<DirectionQueue>,
    free: Vec<u32>,
    by_flow: BTreeMap<FlowDirection, u32>,
    /// Queues with work and a ready rate limiter, by class, in the order of their turns.
    rings: [VecDeque<u32>; 8],
    /// Queues with work whose rate limiters are not ready, by the instant at which the limiters will be ready.
    limited: BTreeSet<(Time, u32)>,
    /// Rate limit of every flow's data; `None` is unlimited.
    flow_rate: Option<Rate>,
    /// Most unused time that a rate limiter saves, in bytes at the flow's rate; `None` is the size of the sent frame.
    credit: Option<u64>,
    /// Tally of the frames in all queues.
    held: PacketTally,
}

/// Flow and direction, which have a queue of their own at the NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FlowDirection {
    pub(crate) flow: FlowId,
    /// True for the direction from the receiver to the sender, which carries the ACKs.
    pub(crate) reverse: bool,
}

#[derive(Clone, Default)]
struct DirectionQueue {
    of: FlowDirection,
    class: u8,
    frames: VecDeque<Pkt>,
    /// True if the transport has a segment ready.
    ready: bool,
    /// True if the transport has announced a ready segment, and the announcement has not reached the NIC.
    announced: bool,
    limiter: Option<RateLimiter>,
    place: QueuePosition,
}

/// Position of a queue of a NIC: idle, in the ring of its class, or waiting for its rate limiter.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum QueuePosition {
    /// The queue has no work: no frame, and no ready segment.
    #[default]
    Idle,
    Ring,
    /// The queue waits until its rate limiter is ready at this instant.
    Limited(Time),
}

/// Next frame that a NIC sends, or the flow whose transport must make it first.
pub(crate) enum NextFrame {
    /// Frame that waited in a queue of the NIC.
    Frame(Pkt),
    /// Flow whose transport makes the next segment now; it may have none any more.
    Segment(FlowId),
}

impl FlowDirection {
    pub(crate) fn from_head(head: &Head) -> FlowDirection {
        FlowDirection { flow: head.flow, reverse: head.flags.has(Flags::REVERSE) }
    }
    fn data(flow: FlowId) -> FlowDirection {
        FlowDirection { flow, reverse: false }
    }
}

impl NicQueues {
    /// Creates the queues of a NIC, with the rate limit and the credit of `order` for every flow's data.
    pub(crate) fn new(order: FlowQueues) -> NicQueues {
        NicQueues { flow_rate: order.flow_rate, credit: order.credit, ..NicQueues::default() }
    }

    /// Returns the tally of the frames in all queues.
    pub(crate) fn queued(&self) -> PacketTally {
        self.held
    }

    /// Appends a frame that a transport has made to the queue of its flow and direction.
    pub(crate) fn push(&mut self, pkt: &Pkt, now: Time) {
        self.held.count(pkt);
        let slot = self.queue_slot(FlowDirection::from_head(&pkt.head), pkt.head.class());
        self.queues[slot as usize].frames.push_back(*pkt);
        self.assign_position(slot, now);
    }

    /// Records that a flow's transport has announced a ready segment, and returns true if none was ready or announced.
    pub(crate) fn announce(&mut self, flow: FlowId, class: u8) -> bool {
        let slot = self.queue_slot(FlowDirection::data(flow), class);
        let queue = &mut self.queues[slot as usize];
        let new = !queue.ready && !queue.announced;
        queue.announced |= new;
        new
    }

    /// Records that the transport of a flow has a segment ready, which the NIC may request.
    pub(crate) fn on_segment_ready(&mut self, flow: FlowId, class: u8, now: Time) {
        let slot = self.queue_slot(FlowDirection::data(flow), class);
        let queue = &mut self.queues[slot as usize];
        (queue.ready, queue.announced) = (true, false);
        self.assign_position(slot, now);
    }

    /// Removes the rate limiter of a flow whose sender is done. Frames that are still queued leave without it.
    pub(crate) fn on_flow_done(&mut self, flow: FlowId, now: Time) {
        if let Some(slot) = self.by_flow.get(&FlowDirection::data(flow)).copied() {
            let queue = &mut self.queues[slot as usize];
            (queue.ready, queue.announced, queue.limiter) = (false, false, None);
            self.update_position(slot, now);
        }
    }

    /// Returns true if a flow's data have a rate limiter.
    pub(crate) fn is_limited(&self, flow: FlowId) -> bool {
        let slot = self.by_flow.get(&FlowDirection::data(flow));
        slot.is_some_and(|slot| self.queues[*slot as usize].limiter.is_some())
    }

    /// Returns the rate limit of a flow's data if it differs from the limit common to all flows.
    pub(crate) fn rate_limit(&self, flow: FlowId) -> Option<Rate> {
        let slot = *self.by_flow.get(&FlowDirection::data(flow))?;
        let rate = self.queues[slot as usize].limiter?.rate();
        (Some(rate) != self.flow_rate).then_some(rate)
    }

    /// Calls `change`, which may set, create or remove the rate limiter of a flow's data.
    /// If it is removed, the limit common to all flows applies again.
    pub(crate) fn change_limiter(&mut self, flow: FlowId, class: u8, now: Time, change: impl FnOnce(&mut FlowAtNic)) {
        let slot = self.queue_slot(FlowDirection::data(flow), class);
        let queue = &mut self.queues[slot as usize];
        let is_empty = queue.frames.is_empty() && !queue.ready && !queue.announced;
        let before = queue.limiter;
        change(&mut FlowAtNic { flow, now, is_empty, limiter: &mut queue.limiter });
        if let (Some(rate), None) = (self.flow_rate, queue.limiter) {
            // The limiter keeps its debt when the common limit applies again: a new limiter would allow a burst.
            let mut again = before.unwrap_or(RateLimiter::new(rate));
            again.set_rate(rate, now);
            queue.limiter = Some(again);
        }
        self.update_position(slot, now);
    }

    /// Returns the number of queued data frames of a flow.
    pub(crate) fn queued_data_frames(&self, flow: FlowId) -> usize {
        self.by_flow.get(&FlowDirection::data(flow)).map_or(0, |slot| self.queues[*slot as usize].frames.len())
    }

    /// Returns true if any queue may send a frame or a segment at `now`, apart from the queues of paused classes.
    pub(crate) fn is_ready(&mut self, paused: ClassSet, now: Time) -> bool {
        while let Some((at, slot)) = self.limited.first().copied().filter(|(at, _)| *at <= now) {
            self.limited.remove(&(at, slot));
            self.enter_ring(slot);
        }
        self.highest_ready_class(paused).is_some()
    }

    /// Returns the instant at which the first rate limiter that delays a frame or a segment is ready.
    pub(crate) fn next_limiter_time(&self) -> Option<Time> {
        self.limited.first().map(|(at, _)| *at).filter(|at| *at != Time::NEVER)
    }

    /// Takes the next frame for an idle link; `wire` gives the bytes that a frame takes on the link.
    /// If a segment must be made first, the turn stays with its flow until the next call.
    pub(crate) fn take_next(&mut self, paused: ClassSet, now: Time, wire: impl Fn(u16) -> u64) -> Option<NextFrame> {
        while self.is_ready(paused, now) {
            let ring = &mut self.rings[self.highest_ready_class(paused)?];
            let slot = *ring.front()?;
            let queue = &mut self.queues[slot as usize];
            let frame = queue.frames.pop_front();
            if frame.is_none() && std::mem::take(&mut queue.ready) {
                return Some(NextFrame::Segment(queue.of.flow));
            }
            ring.pop_front();
            queue.place = QueuePosition::Idle;
            if let (Some(pkt), Some(limiter)) = (&frame, &mut queue.limiter) {
                let bytes = wire(pkt.head.size);
                match self.credit {
                    Some(credit) => limiter.on_sent_saving(now, bytes, credit),
                    None => limiter.on_sent_saving_one(now, bytes),
                }
            }
            self.assign_position(slot, now);
            if let Some(pkt) = frame {
                self.held.packets -= 1;
                self.held.bytes -= u64::from(pkt.head.size);
                self.held.payload -= pkt.payload_bytes();
                return Some(NextFrame::Frame(pkt));
            }
        }
        None
    }

    /// Returns the highest class that is not paused and whose queues have a frame or segment to send.
    fn highest_ready_class(&self, paused: ClassSet) -> Option<usize> {
        (0..8).rev().find(|class| !paused.has(*class as u8) && !self.rings[*class].is_empty())
    }

    /// Returns the index of the queue of a flow and direction, and creates the queue if there is none.
    fn queue_slot(&mut self, of: FlowDirection, class: u8) -> u32 {
        if let Some(slot) = self.by_flow.get(&of) {
            return *slot;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.queues.push(DirectionQueue::default());
            (self.queues.len() - 1) as u32
        });
        // ACKs have no limiter: the limit is for the flow's data.
        let limiter = self.flow_rate.filter(|_| !of.reverse).map(RateLimiter::new);
        let queue = &mut self.queues[slot as usize];
        (queue.of, queue.class, queue.limiter) = (of, class, limiter);
        self.by_flow.insert(of, slot);
        slot
    }

    /// Puts an idle queue with work into its ring or behind its rate limiter; removes it if it has no work.
    fn assign_position(&mut self, slot: u32, now: Time) {
        let queue = &mut self.queues[slot as usize];
        if queue.place != QueuePosition::Idle {
            return;
        }
        let at = queue.limiter.map_or(Time::ZERO, |limiter| limiter.eligible_at());
        if queue.frames.is_empty() && !queue.ready {
            self.remove_if_unused(slot);
        } else if at > now {
            queue.place = QueuePosition::Limited(at);
            self.limited.insert((at, slot));
        } else {
            self.enter_ring(slot);
        }
    }

    /// Updates the position of a queue whose rate limiter or work has changed. A queue in the ring keeps its turn.
    fn update_position(&mut self, slot: u32, now: Time) {
        if let QueuePosition::Limited(at) = self.queues[slot as usize].place {
            self.limited.remove(&(at, slot));
            self.queues[slot as usize].place = QueuePosition::Idle;
        }
        self.assign_position(slot, now);
    }

    fn enter_ring(&mut self, slot: u32) {
        let queue = &mut self.queues[slot as usize];
        queue.place = QueuePosition::Ring;
        self.rings[usize::from(queue.class)].push_back(slot);
    }

    /// Removes a queue without work, unless its rate limiter or an announcement must be kept.
    fn remove_if_unused(&mut self, slot: u32) {
        let queue = &self.queues[slot as usize];
        if queue.limiter.is_none() && !queue.announced {
            self.by_flow.remove(&queue.of);
            self.free.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_000);

    fn pkt(flow: u32, emission: u32, class: u8) -> Pkt {
        let mut pkt = Pkt { emission, ..Pkt::default() };
        (pkt.head.flow, pkt.head.size) = (FlowId(flow), 1230);
        pkt.head.set_class(class);
        pkt
    }

    fn wire(size: u16) -> u64 {
        u64::from(size) + 20
    }

    /// Returns the frames that leave at `now` as (flow, emission), at most ten.
    fn take_frames(queues: &mut NicQueues, paused: ClassSet, now: Time) -> Vec<(u32, u32)> {
        let mut next = || match queues.take_next(paused, now, wire)? {
            NextFrame::Frame(pkt) => Some((pkt.head.flow.0, pkt.emission)),
            NextFrame::Segment(flow) => panic!("{flow:?} was asked for a segment"),
        };
        (0..10).map_while(|_| next()).collect()
    }

    #[test]
    fn each_flow_takes_its_turn_with_one_frame() {
        let mut queues = NicQueues::new(FlowQueues::default());
        (0..3).for_each(|n| queues.push(&pkt(7, n, 0), NOW));
        (0..2).for_each(|n| queues.push(&pkt(3, n, 0), NOW));
        assert_eq!((queues.queued().packets, queues.queued().bytes), (5, 5 * 1230));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, NOW), [(7, 0), (3, 0), (7, 1), (3, 1), (7, 2)]);
        assert_eq!(queues.queued(), PacketTally::default());
        assert!(queues.by_flow.is_empty() && queues.queues.len() == 2, "queues without work go");
    }

    #[test]
    fn limiters_save_unused_time_up_to_their_credit() {
        let eligible = |credit: u64| {
            let mut queues = NicQueues::new(FlowQueues { flow_rate: Some(Rate::gbps(1)), credit: Some(credit) });
            (0..3).for_each(|n| queues.push(&pkt(1, n, 0), NOW));
            let late =
                [0, 15_000_000].map(|late| take_frames(&mut queues, ClassSet::NONE, NOW + units::Dur(late)).len());
            (late, queues.next_limiter_time())
        };
        assert_eq!(eligible(0).0, eligible(700).0);
        assert!(eligible(700).1 < eligible(0).1, "what the second was late the third need not wait");
    }

    /// Returns how many of 1000 frames on a link of 10 Gb/s are from flow 2, whose rate limiter has `rate`.
    /// Flow 2 shares the link with `others` flows, which have no limiter. A frame takes 1250 B.
    fn count_limited_frames(rate: Rate, credit: Option<u64>, others: u32) -> usize {
        let mut queues = NicQueues::new(FlowQueues { flow_rate: None, credit });
        let flows = 2..3 + others;
        queues.change_limiter(FlowId(2), 0, NOW, |flow| flow.set_rate_limit(rate));
        let (mut now, mut left) = (NOW, Vec::new());
        while left.len() < 1000 {
            for flow in flows.clone() {
                if queues.queued_data_frames(FlowId(flow)) == 0 {
                    queues.push(&pkt(flow, 0, 0), now);
                }
            }
            match queues.take_next(ClassSet::NONE, now, wire) {
                Some(NextFrame::Frame(pkt)) => {
                    left.push(pkt.head.flow);
                    now += units::Dur::us(1);
                }
                _ => panic!("the wire is never idle, since another flow always has a frame"),
            }
        }
        left.iter().filter(|flow| **flow == FlowId(2)).count()
    }

    #[test]
    fn limiter_above_the_fair_share_leaves_equal_shares() {
        for rate in [5, 6, 7, 8, 9, 10].map(Rate::gbps) {
            assert_eq!([None, Some(1250)].map(|credit| count_limited_frames(rate, credit, 1)), [500, 500], "{rate:?}");
        }
        assert_eq!(count_limited_frames(Rate::gbps(4), None, 3), 250, "of four flows");
        assert_eq!(count_limited_frames(Rate::gbps(8), Some(0), 1), 334, "without credit it loses every second turn");
    }

    #[test]
    fn limiter_below_the_fair_share_gets_its_rate() {
        for (rate, frames) in [(Rate::mbps(4900), 490), (Rate::gbps(3), 300), (Rate::mbps(100), 10)] {
            for credit in [None, Some(1250)] {
                assert!(
                    count_limited_frames(rate, credit, 1).abs_diff(frames) <= 1,
                    "{rate:?}: {}",
                    count_limited_frames(rate, credit, 1)
                );
            }
        }
    }

    #[test]
    fn data_and_acks_of_a_flow_have_queues_of_their_own() {
        let mut queues = NicQueues::new(FlowQueues { flow_rate: Some(Rate::gbps(1)), credit: Some(0) });
        let mut ack = pkt(1, 0, 0);
        ack.head.flags = Flags::REVERSE;
        (0..2).for_each(|_| queues.push(&ack, NOW));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, NOW).len(), 2, "ACKs have no limiter");
    }

    #[test]
    fn highest_class_that_is_not_paused_leaves_first() {
        let mut queues = NicQueues::new(FlowQueues::default());
        for class in [0, 3, 5] {
            (0..2).for_each(|n| queues.push(&pkt(u32::from(class), n, class), NOW));
        }
        assert_eq!(take_frames(&mut queues, ClassSet::single(5), NOW), [(3, 0), (3, 1), (0, 0), (0, 1)]);
        assert!(!queues.is_ready(ClassSet::single(5), NOW) && queues.is_ready(ClassSet::single(0), NOW));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, NOW), [(5, 0), (5, 1)]);
    }

    #[test]
    fn segment_is_requested_at_its_turn_and_leaves_next() {
        let mut queues = NicQueues::new(FlowQueues::default());
        queues.push(&pkt(1, 0, 0), NOW);
        queues.on_segment_ready(FlowId(2), 0, NOW);
        queues.push(&pkt(3, 0, 0), NOW);
        assert!(
            matches!(queues.take_next(ClassSet::NONE, NOW, wire), Some(NextFrame::Frame(p)) if p.head.flow == FlowId(1))
        );
        assert!(matches!(queues.take_next(ClassSet::NONE, NOW, wire), Some(NextFrame::Segment(FlowId(2)))));
        queues.push(&pkt(2, 9, 0), NOW);
        queues.on_segment_ready(FlowId(2), 0, NOW);
        assert!(matches!(queues.take_next(ClassSet::NONE, NOW, wire), Some(NextFrame::Frame(p)) if p.emission == 9));
        assert!(
            matches!(queues.take_next(ClassSet::NONE, NOW, wire), Some(NextFrame::Frame(p)) if p.head.flow == FlowId(3))
        );
        assert!(matches!(queues.take_next(ClassSet::NONE, NOW, wire), Some(NextFrame::Segment(FlowId(2)))));
        assert!(queues.take_next(ClassSet::NONE, NOW, wire).is_none(), "its transport had none any more");
        assert!(queues.by_flow.is_empty());
    }

    #[test]
    fn limiter_spaces_only_the_frames_of_its_flow() {
        let mut queues = NicQueues::new(FlowQueues::default());
        queues.change_limiter(FlowId(1), 0, NOW, |flow| flow.set_rate_limit(Rate::gbps(1)));
        (0..3).for_each(|n| queues.push(&pkt(1, n, 0), NOW));
        queues.push(&pkt(2, 0, 0), NOW);
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, NOW), [(1, 0), (2, 0)]);
        // 1250 B at 1 Gb/s.
        let next = Time(NOW.0 + 10_000_000);
        assert_eq!(queues.next_limiter_time(), Some(next));
        assert!(!queues.is_ready(ClassSet::NONE, Time(next.0 - 1)));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, next), [(1, 1)]);
        queues.change_limiter(FlowId(1), 0, Time(next.0 + 5_000_000), |flow| flow.set_rate_limit(Rate::mbps(500)));
        assert_eq!(queues.next_limiter_time(), Some(Time(next.0 + 15_000_000)), "5 us were left, at half the rate 10");
        queues.change_limiter(FlowId(1), 0, Time(next.0 + 6_000_000), |flow| *flow.limiter = None);
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, Time(next.0 + 6_000_000)), [(1, 2)]);
        assert!(queues.by_flow.is_empty() && queues.next_limiter_time().is_none());
    }

    #[test]
    fn flow_rate_limiter_is_kept_until_the_flow_is_done() {
        let mut queues = NicQueues::new(FlowQueues { flow_rate: Some(Rate::gbps(1)), credit: Some(0) });
        queues.push(&pkt(1, 0, 0), NOW);
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, NOW), [(1, 0)]);
        queues.push(&pkt(1, 1, 0), Time(NOW.0 + 1));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, Time(NOW.0 + 1)), [], "the first occupies its limiter");
        queues.on_flow_done(FlowId(1), Time(NOW.0 + 2));
        assert_eq!(take_frames(&mut queues, ClassSet::NONE, Time(NOW.0 + 2)), [(1, 1)]);
        assert!(queues.by_flow.is_empty());
    }

    #[test]
    fn flow_is_announced_once_until_its_segment_is_ready() {
        let mut queues = NicQueues::new(FlowQueues::default());
        assert!(queues.announce(FlowId(1), 0) && !queues.announce(FlowId(1), 0));
        assert!(!queues.is_ready(ClassSet::NONE, NOW));
        queues.on_segment_ready(FlowId(1), 0, NOW);
        assert!(queues.is_ready(ClassSet::NONE, NOW) && !queues.announce(FlowId(1), 0));
    }
}
