//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event queue. Pending
//! events are thus as many as busy links, and not as many as frames in flight.
//!
//! All frames on all links are in one arena whose slots are reused, last freed first. A forwarded frame is thus
//! written where it was just read, and the arena stays as small as the number of frames in flight. Segments that a
//! host has released together (a run of frames) take one slot until they arrive, one by one.

mod changing_link;
mod jitter;
#[cfg(test)]
mod tests;

pub(crate) use changing_link::ChangingLink;
pub(crate) use jitter::HostLinkJitter;

use dataplane::transport::SegmentRun;
use dataplane::{PayloadCounts, Pkt};
use mech::PortId;
use mech::overflow::DropReason;
use prefetch_index::prefetch_index;
use units::{Dur, Time};

const NO_FRAME: u32 = u32::MAX;
/// Value of `change_index` for a link that never changes.
const STEADY_LINK: u16 = u16::MAX;
/// Value of `change_index` for a link that never changes and whose frames are delayed by NIC jitter.
const JITTERED_LINK: u16 = u16::MAX - 1;
/// Value of `run` for a frame that belongs to no run of frames.
const NO_RUN: u32 = u32::MAX;

/// Single direction of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    head: u32,
    tail: u32,
    /// Node at the far end.
    peer: u32,
    /// Port at the far end.
    peer_port: u16,
    /// Index in `changing` of the link's outages, delays and losses over time, or [`STEADY_LINK`] or [`JITTERED_LINK`].
    change_index: u16,
    delay: Dur,
}

/// Slot and arrival time of the frame that follows on a link: all that an arrival reads beside the frame itself.
#[derive(Clone, Copy, Debug)]
struct NextFrame {
    next_at: Time,
    next: u32,
    /// Run whose first frame this is, or [`NO_RUN`].
    run: u32,
}

/// Frame sent to another partition: its link, the frame, its arrival time, and the reason for its loss at the end of
/// the link.
pub(crate) type SentFrame = (u32, Pkt, Time, Option<DropReason>);

/// Frame that has arrived at the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivedFrame {
    /// Arrival time of the next frame of the link, [`Time::NEVER`] if there is none.
    pub(crate) next_at: Time,
    slot: u32,
    /// Port by which the frame enters the node.
    ingress: PortId,
    change_index: u16,
}

impl ArrivedFrame {
    /// Writes into a frame the port by which it enters the node, and counts the hop.
    #[inline(always)]
    pub(crate) fn write_ingress(self, pkt: &mut Pkt) {
        pkt.head.hops = pkt.head.hops.saturating_add(1);
        pkt.head.ingress = self.ingress;
    }
}

/// Rest of a run of frames on a link: the frame in the slot, and those behind it that have no slot.
#[derive(Clone, Copy, Debug)]
struct RestOfRun {
    run: SegmentRun,
    /// Arrival time of the first of the frames without a slot.
    at: Time,
    /// Time from the arrival of a frame of the run to that of the next.
    interval: Dur,
}

/// All links, and the frames on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    links: Vec<Link>,
    frames: Vec<Pkt>,
    next_frames: Vec<NextFrame>,
    free: Vec<u32>,
    changing: Vec<ChangingLink>,
    jitter: Option<Box<HostLinkJitter>>,
    /// Number of frames lost on links.
    lost: u64,
    /// Payload bytes of the frames lost on links.
    lost_payload: u64,
    runs: Vec<RestOfRun>,
    free_runs: Vec<u32>,
    /// Frames sent on links that end in another partition of the run.
    sent: Vec<SentFrame>,
    /// Number of frames in flight that belong to runs of frames and have no slot.
    frames_behind: u64,
}

impl Links {
    /// Adds a direction of a link; its number is the number of directions that were added before.
    pub(crate) fn add_link(&mut self, peer: u32, peer_port: u16, delay: Dur) {
        self.links.push(Link { head: NO_FRAME, tail: NO_FRAME, peer, peer_port, change_index: STEADY_LINK, delay });
    }
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }
    /// Returns the node and port at the far end of a link.
    pub(crate) fn far_end(&self, link: u32) -> (u32, u16) {
        let link = &self.links[link as usize];
        (link.peer, link.peer_port)
    }
    /// Adds NIC jitter to the links of hosts. PRECONDITION: all links have been added.
    pub(crate) fn set_jitter(&mut self, scatter: HostLinkJitter) {
        let steady = self
            .links
            .iter_mut()
            .zip(0..)
            .filter(|(link, n)| link.change_index == STEADY_LINK && scatter.applies_to(*n));
        steady.for_each(|(link, _)| link.change_index = JITTERED_LINK);
        self.jitter = Some(Box::new(scatter));
    }
    /// Makes the last added link change over time as `course` describes. PRECONDITION: fewer than 65,534 links change.
    pub(crate) fn set_last_link_changes(&mut self, course: ChangingLink) {
        if let Some(link) = self.links.last_mut() {
            link.change_index = self.changing.len() as u16;
            self.changing.push(course);
        }
    }
    /// Returns the number of all frames lost on links, including PAUSE and PFC frames and discarded flood copies.
    pub(crate) fn total_losses(&self) -> u64 {
        self.lost
    }
    /// Counts a packet that was lost at the end of a link.
    pub(crate) fn count_lost(&mut self, link: u32, reason: DropReason) {
        let course = usize::from(self.links[link as usize].change_index);
        self.changing.get_mut(course).into_iter().for_each(|course| course.count_lost(reason));
    }
    /// Returns the number of packets lost on a link, by reason; `None` if the link never changes.
    pub(crate) fn loss_counts(&self, link: u32) -> Option<&[u64; DropReason::ALL.len()]> {
        let course = self.changing.get(usize::from(self.links[link as usize].change_index));
        course.filter(|course| !course.is_steady()).map(ChangingLink::loss_counts)
    }
    /// Returns the reason for which a frame at the end of its link is lost there; `None` if the frame arrives.
    #[inline(always)]
    pub(crate) fn take_outcome(&mut self, arrived: ArrivedFrame) -> Option<DropReason> {
        match arrived.change_index {
            STEADY_LINK | JITTERED_LINK => None,
            course => self.take_outcome_on(course),
        }
    }
    #[cold]
    fn take_outcome_on(&mut self, course: u16) -> Option<DropReason> {
        let fate = self.changing[usize::from(course)].arrive();
        self.lost += u64::from(fate.is_some());
        fate
    }
    /// Returns the link's shortest propagation delay at any time of the run.
    pub(crate) fn shortest_delay(&self, link: u32) -> Dur {
        let Link { change_index: course, delay, .. } = self.links[link as usize];
        self.changing.get(usize::from(course)).map_or(delay, |course| course.shortest_delay(delay))
    }
    /// Removes and returns the outcomes of the frames on a link; none if the link never changes.
    pub(crate) fn take_outcomes(&mut self, link: u32) -> Vec<Option<DropReason>> {
        let course = usize::from(self.links[link as usize].change_index);
        self.changing.get_mut(course).map_or_else(Vec::new, ChangingLink::take_outcomes)
    }
    /// Adds the outcome of a frame that is put on a link.
    pub(crate) fn put_outcome(&mut self, link: u32, fate: Option<DropReason>) {
        let course = usize::from(self.links[link as usize].change_index);
        if let Some(course) = self.changing.get_mut(course) {
            course.put_outcome(fate);
        }
    }
    /// Adds the losses that links had in another partition.
    pub(crate) fn add_loss_counts(&mut self, other: &Links) {
        self.lost += other.lost;
        self.lost_payload += other.lost_payload;
        self.changing.iter_mut().zip(&other.changing).for_each(|(sum, other)| sum.add_loss_counts(other));
    }
    /// Counts payload bytes of a frame that was lost on a link.
    pub(crate) fn count_lost_payload(&mut self, bytes: u64) {
        self.lost_payload += bytes;
    }
    /// Returns the payload that was lost on links, and the payload on them.
    pub(crate) fn payload_counts(&self) -> PayloadCounts {
        let freed = self.free.iter().map(|id| self.frames[*id as usize].payload_bytes());
        let further = |train: &RestOfRun| u64::from(train.run.count() - 1) * train.run.first().payload_bytes();
        let placed = self.frames.iter().map(Pkt::payload_bytes).sum::<u64>() - freed.sum::<u64>();
        let waiting = placed + self.runs.iter().map(further).sum::<u64>();
        PayloadCounts { dropped: self.lost_payload, waiting, ..PayloadCounts::default() }
    }
    /// Returns the number of frames in flight on all links.
    pub(crate) fn frames_in_flight(&self) -> u64 {
        self.slots_in_use() + self.frames_behind
    }

    /// Returns the number of memory slots in use by frames in flight; the frames of a run share one.
    pub(crate) fn slots_in_use(&self) -> u64 {
        (self.frames.len() - self.free.len()) as u64
    }

    /// Puts a frame on a link at `now`; its last bit leaves at `end`. If no other frame is on the link, returns the
    /// arrival time and the node, for the event queue.
    #[inline(always)]
    pub(crate) fn send_frame(&mut self, link: u32, pkt: &Pkt, now: Time, end: Time) -> Option<(Time, u32)> {
        let Link { change_index: course, delay, .. } = self.links[link as usize];
        match course {
            STEADY_LINK => self.put_frame(link, pkt, end.saturating_add(delay)),
            JITTERED_LINK => {
                let end = self.jittered_end(link, pkt, end);
                self.put_frame(link, pkt, end.saturating_add(delay))
            }
            _ => self.send_on_changing_link(link, pkt, now, end),
        }
    }

    fn jittered_end(&mut self, link: u32, pkt: &Pkt, end: Time) -> Time {
        self.jitter.as_mut().map_or(end, |scatter| scatter.end(link, pkt, end))
    }

    #[cold]
    fn send_on_changing_link(&mut self, link: u32, pkt: &Pkt, now: Time, end: Time) -> Option<(Time, u32)> {
        let Link { change_index: course, delay, .. } = self.links[link as usize];
        let end = self.jittered_end(link, pkt, end);
        let Some(course) = self.changing.get_mut(usize::from(course)) else {
            return self.put_frame(link, pkt, end.saturating_add(delay));
        };
        let at = course.send(pkt, now, end, delay);
        if course.keeps_frames() {
            let fate = course.take_last_outcome();
            self.sent.push((link, *pkt, at, fate));
            return None;
        }
        self.put_frame(link, pkt, at)
    }

    /// Puts the frames of a run on a link at `now`. `ends` is the instant at which the last bit of the first frame
    /// leaves, and the time from there to the last bit of each next frame. Returns the result of [`Links::send_frame`]
    /// for the first frame.
    pub(crate) fn send_run(
        &mut self,
        link: u32,
        run: &SegmentRun,
        now: Time,
        ends: (Time, Dur),
    ) -> Option<(Time, u32)> {
        let Link { change_index: course, delay, .. } = self.links[link as usize];
        if course != STEADY_LINK {
            let ends = std::iter::successors(Some(ends.0), |end| Some(end.saturating_add(ends.1)));
            let sent = run.packets().zip(ends).map(|(pkt, end)| self.send_frame(link, &pkt, now, end));
            return sent.fold(None, Option::or);
        }
        let at = ends.0.saturating_add(delay);
        let id = self.store_frame(run.first());
        if run.count() > 1 {
            self.next_frames[id as usize].run = self.store_rest_of_run(RestOfRun { run: *run, at, interval: ends.1 });
            self.frames_behind += u64::from(run.count()) - 1;
        }
        self.append_slot(link, id, at)
    }

    fn store_rest_of_run(&mut self, train: RestOfRun) -> u32 {
        if let Some(n) = self.free_runs.pop() {
            self.runs[n as usize] = train;
            return n;
        }
        self.runs.push(train);
        (self.runs.len() - 1) as u32
    }

    /// Adds a frame that arrives at `at`, behind the others of its link.
    #[inline(always)]
    pub(crate) fn put_frame(&mut self, link: u32, pkt: &Pkt, at: Time) -> Option<(Time, u32)> {
        let id = self.store_frame(pkt);
        self.append_slot(link, id, at)
    }

    #[inline(always)]
    fn append_slot(&mut self, link: u32, id: u32, at: Time) -> Option<(Time, u32)> {
        let link = &mut self.links[link as usize];
        let before = std::mem::replace(&mut link.tail, id);
        if before == NO_FRAME {
            link.head = id;
            return Some((at, link.peer));
        }
        let behind = &mut self.next_frames[before as usize];
        (behind.next_at, behind.next) = (at, id);
        None
    }

    /// Keeps the frames sent on this link from now on for [`take_sent_frames`](Links::take_sent_frames).
    /// The course holds the flag, since each frame looks up the course anyway. A field of its own would make the 24
    /// bytes of a link larger.
    pub(crate) fn keep_sent_frames(&mut self, link: u32) {
        let link = &mut self.links[link as usize];
        if let Some(course) = self.changing.get_mut(usize::from(link.change_index)) {
            return course.keep_frames();
        }
        let steady = self.changing.iter().position(ChangingLink::is_steady).unwrap_or(self.changing.len());
        if steady == self.changing.len() {
            self.changing.push(ChangingLink::steady());
        }
        link.change_index = steady as u16;
    }

    /// Removes and returns the frames that [`keep_sent_frames`](Links::keep_sent_frames) kept since the last call, in
    /// the order of sending.
    pub(crate) fn take_sent_frames(&mut self) -> Vec<SentFrame> {
        std::mem::take(&mut self.sent)
    }

    /// Removes all frames of a link, first to last, and returns each with its arrival time; the first arrives at
    /// `first`.
    pub(crate) fn take_frames(&mut self, link: u32, first: Time) -> Vec<(Pkt, Time)> {
        let (mut at, mut taken) = (first, Vec::new());
        while let Some(pkt) = self.first_frame(link).copied() {
            taken.push((pkt, at));
            at = self.take_arrival(link).next_at;
        }
        taken
    }

    #[inline(always)]
    fn store_frame(&mut self, pkt: &Pkt) -> u32 {
        let place = NextFrame { next_at: Time::NEVER, next: NO_FRAME, run: NO_RUN };
        if let Some(id) = self.free.pop() {
            self.frames[id as usize] = *pkt;
            self.next_frames[id as usize] = place;
            return id;
        }
        self.frames.push(*pkt);
        self.next_frames.push(place);
        (self.frames.len() - 1) as u32
    }

    /// Prefetches into the cache the data that the next arrival on this link reads.
    #[inline(always)]
    pub(crate) fn prefetch_arrival(&self, link: u32) {
        let id = self.links.get(link as usize).map_or(NO_FRAME, |link| link.head);
        prefetch_index(&self.frames, id as usize);
        prefetch_index(&self.next_frames, id as usize);
    }

    /// Returns the first frame in flight on a link.
    #[inline(always)]
    pub(crate) fn first_frame(&self, link: u32) -> Option<&Pkt> {
        self.frames.get(self.links.get(link as usize)?.head as usize)
    }

    /// Removes the first frame of a link, since it arrives. PRECONDITION: a frame is in flight on the link. Its slot is
    /// free from now on: it must be read before another frame is sent.
    #[inline(always)]
    pub(crate) fn take_arrival(&mut self, link: u32) -> ArrivedFrame {
        let first = &self.next_frames[self.links[link as usize].head as usize];
        if first.run != NO_RUN {
            return self.take_arrival_from_run(link);
        }
        let NextFrame { next, next_at, .. } = *first;
        let link = &mut self.links[link as usize];
        let place = std::mem::replace(&mut link.head, next);
        link.tail = if next == NO_FRAME { NO_FRAME } else { link.tail };
        self.free.push(place);
        ArrivedFrame { next_at, slot: place, ingress: PortId(link.peer_port), change_index: link.change_index }
    }

    #[cold]
    fn take_arrival_from_run(&mut self, link: u32) -> ArrivedFrame {
        self.split_run(link);
        self.take_arrival(link)
    }

    /// Returns a frame that has arrived, still as it left the sending port.
    #[inline(always)]
    pub(crate) fn arrived_frame(&self, arrived: ArrivedFrame) -> &Pkt {
        &self.frames[arrived.slot as usize]
    }

    /// Gives the second frame of a run of frames a slot of its own, because the first one is about to arrive. Arrivals
    /// then read a whole frame from its slot and never copy one out of a run.
    #[cold]
    fn split_run(&mut self, link: u32) {
        let id = self.links[link as usize].head;
        let NextFrame { next, next_at, run } = self.next_frames[id as usize];
        let train = &mut self.runs[run as usize];
        train.run.split_first();
        train.at = train.at.saturating_add(train.interval);
        let (first, at, last) = (*train.run.first(), train.at, train.run.count() == 1);
        let second = self.store_frame(&first);
        self.frames_behind -= 1;
        if last {
            self.free_runs.push(run);
        }
        self.next_frames[second as usize] = NextFrame { next, next_at, run: if last { NO_RUN } else { run } };
        self.next_frames[id as usize] = NextFrame { next: second, next_at: at, run: NO_RUN };
        let link = &mut self.links[link as usize];
        link.tail = if link.tail == id { second } else { link.tail };
    }
}
