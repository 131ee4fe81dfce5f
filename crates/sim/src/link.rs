//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event queue. Pending
//! events are thus as many as busy links, and not as many as frames in flight.
//!
//! All frames on all links are in one arena whose slots are reused, last freed first. A forwarded frame is thus
//! written where it was just read, and the arena stays as small as the number of frames in flight. Segments that a
//! host has released together (a run of frames) take one slot until they arrive, one by one.

mod course;
mod scatter;
#[cfg(test)]
mod tests;

pub(crate) use course::Course;
pub(crate) use scatter::Scatter;

use dataplane::transport::Run;
use dataplane::{PayloadCounts, Pkt};
use mech::PortId;
use mech::overflow::DropReason;
use prefetch_index::prefetch_index;
use units::{Dur, Time};

const NIL: u32 = u32::MAX;
/// Course number of a link that never changes.
const STEADY: u16 = u16::MAX;
/// Course number of a link that never changes and whose frames are delayed by NIC jitter.
const SCATTERED: u16 = u16::MAX - 1;
/// Run number of a frame that is in no run.
const ALONE: u32 = u32::MAX;

/// Single direction of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    head: u32,
    tail: u32,
    /// Node at the far end.
    peer: u32,
    /// Port at the far end.
    peer_port: u16,
    /// Index of the link's course, or [`STEADY`] or [`SCATTERED`].
    course: u16,
    delay: Dur,
}

/// Number and arrival time of the next frame of a link: all that an arrival reads beside the frame.
#[derive(Clone, Copy, Debug)]
struct Behind {
    next_at: Time,
    next: u32,
    /// Run whose first frame this is, or [`ALONE`].
    run: u32,
}

/// Frame sent to another partition: its link, the frame, its arrival time, and the reason for its loss at the end of
/// the link.
pub(crate) type Sent = (u32, Pkt, Time, Option<DropReason>);

/// Frame that has arrived at the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Arrival time of the next frame of the link, [`Time::NEVER`] if there is none.
    pub(crate) next_at: Time,
    place: u32,
    /// Port by which the frame enters the node.
    ingress: PortId,
    course: u16,
}

impl Arrived {
    /// Writes into a frame the port by which it enters the node, and counts the hop.
    #[inline(always)]
    pub(crate) fn enter(self, pkt: &mut Pkt) {
        pkt.head.hops = pkt.head.hops.saturating_add(1);
        pkt.head.ingress = self.ingress;
    }
}

/// Rest of a run of frames on a link: the frame in the slot, and those behind it that have no slot.
#[derive(Clone, Copy, Debug)]
struct Train {
    run: Run,
    /// Arrival time of the first of them.
    at: Time,
    /// Time from one arrival to the next.
    apart: Dur,
}

/// All links, and the frames on them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wires {
    links: Vec<Link>,
    frames: Vec<Pkt>,
    places: Vec<Behind>,
    free: Vec<u32>,
    courses: Vec<Course>,
    scatter: Option<Box<Scatter>>,
    /// Number of frames lost on links.
    lost: u64,
    /// Payload bytes of these frames.
    lost_payload: u64,
    trains: Vec<Train>,
    free_trains: Vec<u32>,
    /// Frames sent on links that end in another partition.
    sent: Vec<Sent>,
    /// Number of frames in flight that belong to runs and have no slot.
    further: u64,
}

impl Wires {
    /// Adds a direction of a link. Its number is the number of directions added before.
    pub(crate) fn add(&mut self, peer: u32, peer_port: u16, delay: Dur) {
        self.links.push(Link { head: NIL, tail: NIL, peer, peer_port, course: STEADY, delay });
    }
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }
    /// Returns the node at the far end of a link, and its port there.
    pub(crate) fn far(&self, link: u32) -> (u32, u16) {
        let link = &self.links[link as usize];
        (link.peer, link.peer_port)
    }
    /// Adds NIC jitter to the links of hosts. PRECONDITION: all links have been added.
    pub(crate) fn scatter(&mut self, scatter: Scatter) {
        let steady = self.links.iter_mut().zip(0..).filter(|(link, n)| link.course == STEADY && scatter.has(*n));
        steady.for_each(|(link, _)| link.course = SCATTERED);
        self.scatter = Some(Box::new(scatter));
    }
    /// Gives the link that was added last a course of changes. PRECONDITION: fewer than 65,534 links change.
    pub(crate) fn changes(&mut self, course: Course) {
        if let Some(link) = self.links.last_mut() {
            link.course = self.courses.len() as u16;
            self.courses.push(course);
        }
    }
    /// Returns the number of all frames lost on links, including PAUSE and PFC frames and discarded flood copies.
    pub(crate) fn lost_in_all(&self) -> u64 {
        self.lost
    }
    /// Counts a packet that was lost at the end of a link.
    pub(crate) fn count_lost(&mut self, link: u32, reason: DropReason) {
        let course = usize::from(self.links[link as usize].course);
        self.courses.get_mut(course).into_iter().for_each(|course| course.count_lost(reason));
    }
    /// Returns the packets lost on a link by reason; `None` if it never changes.
    pub(crate) fn lost(&self, link: u32) -> Option<&[u64; DropReason::ALL.len()]> {
        let course = self.courses.get(usize::from(self.links[link as usize].course));
        course.filter(|course| !course.is_steady()).map(Course::lost)
    }
    /// Returns the reason if a frame at the end of its link is lost there.
    #[inline(always)]
    pub(crate) fn fate(&mut self, arrived: Arrived) -> Option<DropReason> {
        match arrived.course {
            STEADY | SCATTERED => None,
            course => self.fate_of(course),
        }
    }
    #[cold]
    fn fate_of(&mut self, course: u16) -> Option<DropReason> {
        let fate = self.courses[usize::from(course)].arrive();
        self.lost += u64::from(fate.is_some());
        fate
    }
    /// Returns the shortest time that a frame's last bit is ever on a link.
    pub(crate) fn shortest_delay(&self, link: u32) -> Dur {
        let Link { course, delay, .. } = self.links[link as usize];
        self.courses.get(usize::from(course)).map_or(delay, |course| course.shortest_delay(delay))
    }
    /// Removes and returns the outcomes of the frames on a link; none if it never changes.
    pub(crate) fn take_fates(&mut self, link: u32) -> Vec<Option<DropReason>> {
        let course = usize::from(self.links[link as usize].course);
        self.courses.get_mut(course).map_or_else(Vec::new, Course::take_fates)
    }
    /// Adds the outcome of a frame that is put on a link.
    pub(crate) fn put_fate(&mut self, link: u32, fate: Option<DropReason>) {
        let course = usize::from(self.links[link as usize].course);
        if let Some(course) = self.courses.get_mut(course) {
            course.put_fate(fate);
        }
    }
    /// Adds the losses on the links of another partition.
    pub(crate) fn add_lost(&mut self, other: &Wires) {
        self.lost += other.lost;
        self.lost_payload += other.lost_payload;
        self.courses.iter_mut().zip(&other.courses).for_each(|(sum, other)| sum.add_lost(other));
    }
    /// Counts payload bytes of a frame that was lost on a link.
    pub(crate) fn count_lost_payload(&mut self, bytes: u64) {
        self.lost_payload += bytes;
    }
    /// Returns the payload that was lost on links, and the payload on them.
    pub(crate) fn payload(&self) -> PayloadCounts {
        let freed = self.free.iter().map(|id| self.frames[*id as usize].carried());
        let further = |train: &Train| u64::from(train.run.count() - 1) * train.run.first().carried();
        let placed = self.frames.iter().map(Pkt::carried).sum::<u64>() - freed.sum::<u64>();
        let waiting = placed + self.trains.iter().map(further).sum::<u64>();
        PayloadCounts { dropped: self.lost_payload, waiting, ..PayloadCounts::default() }
    }
    /// Returns the number of frames in flight on all links.
    pub(crate) fn under_way(&self) -> u64 {
        self.places() + self.further
    }

    /// Returns the number of slots in use; the frames of a run share one.
    pub(crate) fn places(&self) -> u64 {
        (self.frames.len() - self.free.len()) as u64
    }

    /// Puts a frame on a link at `now`; its last bit leaves at `end`. If no other frame is on the link, returns the
    /// arrival time and the node, for the event queue.
    #[inline(always)]
    pub(crate) fn send(&mut self, link: u32, pkt: &Pkt, now: Time, end: Time) -> Option<(Time, u32)> {
        let Link { course, delay, .. } = self.links[link as usize];
        match course {
            STEADY => self.put(link, pkt, end.saturating_add(delay)),
            SCATTERED => {
                let end = self.scattered(link, pkt, end);
                self.put(link, pkt, end.saturating_add(delay))
            }
            _ => self.send_by_course(link, pkt, now, end),
        }
    }

    fn scattered(&mut self, link: u32, pkt: &Pkt, end: Time) -> Time {
        self.scatter.as_mut().map_or(end, |scatter| scatter.end(link, pkt, end))
    }

    #[cold]
    fn send_by_course(&mut self, link: u32, pkt: &Pkt, now: Time, end: Time) -> Option<(Time, u32)> {
        let Link { course, delay, .. } = self.links[link as usize];
        let end = self.scattered(link, pkt, end);
        let Some(course) = self.courses.get_mut(usize::from(course)) else {
            return self.put(link, pkt, end.saturating_add(delay));
        };
        let at = course.send(pkt, now, end, delay);
        if course.is_kept() {
            let fate = course.take_last_fate();
            self.sent.push((link, *pkt, at, fate));
            return None;
        }
        self.put(link, pkt, at)
    }

    /// Puts the frames of a run on a link at `now`. The last bit of the first leaves at the first of `ends`, and each
    /// other follows by the second of `ends`. Returns what [`Wires::send`] returns for the first.
    pub(crate) fn send_run(&mut self, link: u32, run: &Run, now: Time, ends: (Time, Dur)) -> Option<(Time, u32)> {
        let Link { course, delay, .. } = self.links[link as usize];
        if course != STEADY {
            let ends = std::iter::successors(Some(ends.0), |end| Some(end.saturating_add(ends.1)));
            let sent = run.packets().zip(ends).map(|(pkt, end)| self.send(link, &pkt, now, end));
            return sent.fold(None, Option::or);
        }
        let at = ends.0.saturating_add(delay);
        let id = self.store(run.first());
        if run.count() > 1 {
            self.places[id as usize].run = self.add_train(Train { run: *run, at, apart: ends.1 });
            self.further += u64::from(run.count()) - 1;
        }
        self.append(link, id, at)
    }

    fn add_train(&mut self, train: Train) -> u32 {
        if let Some(n) = self.free_trains.pop() {
            self.trains[n as usize] = train;
            return n;
        }
        self.trains.push(train);
        (self.trains.len() - 1) as u32
    }

    /// Adds a frame that arrives at `at`, behind the others of its link.
    #[inline(always)]
    pub(crate) fn put(&mut self, link: u32, pkt: &Pkt, at: Time) -> Option<(Time, u32)> {
        let id = self.store(pkt);
        self.append(link, id, at)
    }

    #[inline(always)]
    fn append(&mut self, link: u32, id: u32, at: Time) -> Option<(Time, u32)> {
        let link = &mut self.links[link as usize];
        let before = std::mem::replace(&mut link.tail, id);
        if before == NIL {
            link.head = id;
            return Some((at, link.peer));
        }
        let behind = &mut self.places[before as usize];
        (behind.next_at, behind.next) = (at, id);
        None
    }

    /// Keeps the frames sent on this link from now on for [`take_sent`](Wires::take_sent). The course holds the flag,
    /// since each frame looks up the course anyway; a field of its own would make the 24 bytes of a link larger.
    pub(crate) fn keep_sent(&mut self, link: u32) {
        let link = &mut self.links[link as usize];
        if let Some(course) = self.courses.get_mut(usize::from(link.course)) {
            return course.keep();
        }
        let steady = self.courses.iter().position(Course::is_steady).unwrap_or(self.courses.len());
        if steady == self.courses.len() {
            self.courses.push(Course::steady());
        }
        link.course = steady as u16;
    }

    /// Removes and returns the frames sent on such links since the last call, in the order of sending.
    pub(crate) fn take_sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.sent)
    }

    /// Removes all frames of a link, first to last, and returns each with its arrival time; the first arrives at
    /// `first`.
    pub(crate) fn take_all(&mut self, link: u32, first: Time) -> Vec<(Pkt, Time)> {
        let (mut at, mut taken) = (first, Vec::new());
        while let Some(pkt) = self.first(link).copied() {
            taken.push((pkt, at));
            at = self.arrive(link).next_at;
        }
        taken
    }

    #[inline(always)]
    fn store(&mut self, pkt: &Pkt) -> u32 {
        let place = Behind { next_at: Time::NEVER, next: NIL, run: ALONE };
        if let Some(id) = self.free.pop() {
            self.frames[id as usize] = *pkt;
            self.places[id as usize] = place;
            return id;
        }
        self.frames.push(*pkt);
        self.places.push(place);
        (self.frames.len() - 1) as u32
    }

    /// Prefetches the data that an arrival on this link reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, link: u32) {
        let id = self.links.get(link as usize).map_or(NIL, |link| link.head);
        prefetch_index(&self.frames, id as usize);
        prefetch_index(&self.places, id as usize);
    }

    /// Returns the first frame of a link.
    #[inline(always)]
    pub(crate) fn first(&self, link: u32) -> Option<&Pkt> {
        self.frames.get(self.links.get(link as usize)?.head as usize)
    }

    /// Removes the first frame of a link, which arrives. PRECONDITION: a frame is in flight on the link. Its slot is
    /// free from now on: it must be read before another frame is sent.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, link: u32) -> Arrived {
        let first = &self.places[self.links[link as usize].head as usize];
        if first.run != ALONE {
            return self.arrive_from_run(link);
        }
        let Behind { next, next_at, .. } = *first;
        let link = &mut self.links[link as usize];
        let place = std::mem::replace(&mut link.head, next);
        link.tail = if next == NIL { NIL } else { link.tail };
        self.free.push(place);
        Arrived { next_at, place, ingress: PortId(link.peer_port), course: link.course }
    }

    #[cold]
    fn arrive_from_run(&mut self, link: u32) -> Arrived {
        self.split_run(link);
        self.arrive(link)
    }

    /// Returns the frame that has arrived, as it left the sending port.
    #[inline(always)]
    pub(crate) fn frame(&self, arrived: Arrived) -> &Pkt {
        &self.frames[arrived.place as usize]
    }

    /// Gives the second frame of a run a slot of its own, since the first frame of the link is the first of the run.
    /// Arrivals then read a whole frame from its slot and never copy one out of a run.
    #[cold]
    fn split_run(&mut self, link: u32) {
        let id = self.links[link as usize].head;
        let Behind { next, next_at, run } = self.places[id as usize];
        let train = &mut self.trains[run as usize];
        train.run.split_first();
        train.at = train.at.saturating_add(train.apart);
        let (first, at, last) = (*train.run.first(), train.at, train.run.count() == 1);
        let second = self.store(&first);
        self.further -= 1;
        if last {
            self.free_trains.push(run);
        }
        self.places[second as usize] = Behind { next, next_at, run: if last { ALONE } else { run } };
        self.places[id as usize] = Behind { next: second, next_at: at, run: ALONE };
        let link = &mut self.links[link as usize];
        link.tail = if link.tail == id { second } else { link.tail };
    }
}
