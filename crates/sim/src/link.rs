//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event
//! queue.
//!
//! All frames on all links lie in one arena whose free slots are used again last freed first, so
//! that a frame that goes on is written where it was just read, and memory stays as small as what
//! is under way. Segments that a host has released together take one place until they arrive, one by one.

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
/// The number of the course of a link that never changes.
const STEADY: u16 = u16::MAX;
/// The same of one that never changes and whose frames are scattered.
const SCATTERED: u16 = u16::MAX - 1;
/// The number of the run of a frame that is alone.
const ALONE: u32 = u32::MAX;

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    head: u32,
    tail: u32,
    /// The node at the far end.
    peer: u32,
    /// The far end's port.
    peer_port: u16,
    /// Its place among the courses, or [`STEADY`].
    course: u16,
    delay: Dur,
}

/// The frame behind a frame, and when that one arrives: all that an arrival has to ask.
#[derive(Clone, Copy, Debug)]
struct Behind {
    next_at: Time,
    next: u32,
    /// The run that it is the first frame of, or [`ALONE`].
    run: u32,
}

/// A frame that was sent to another partition: its link, when it arrives, and what becomes of it there.
pub(crate) type Sent = (u32, Pkt, Time, Option<DropReason>);

/// A frame that has come to the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// When the next one does, [`Time::NEVER`] where there is none.
    pub(crate) next_at: Time,
    place: u32,
    /// The port that it comes in by.
    ingress: PortId,
    course: u16,
}

impl Arrived {
    /// Writes into a frame where it has come in.
    #[inline(always)]
    pub(crate) fn enter(self, pkt: &mut Pkt) {
        pkt.head.hops = pkt.head.hops.saturating_add(1);
        pkt.head.ingress = self.ingress;
    }
}

/// What is left of a run on a link: the frame at its place, and those behind it that have none.
#[derive(Clone, Copy, Debug)]
struct Train {
    run: Run,
    /// When the first of them arrives.
    at: Time,
    /// Time from one to the next.
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
    /// Frames that were lost on links.
    lost: u64,
    /// Payload in these.
    lost_payload: u64,
    trains: Vec<Train>,
    free_trains: Vec<u32>,
    /// What was sent on links of which it is kept.
    sent: Vec<Sent>,
    /// Frames of runs that are under way and have no place.
    further: u64,
}

impl Wires {
    /// Adds a direction of a link; its number is how many there were.
    pub(crate) fn add(&mut self, peer: u32, peer_port: u16, delay: Dur) {
        self.links.push(Link { head: NIL, tail: NIL, peer, peer_port, course: STEADY, delay });
    }
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }
    /// The node at the far end of a link, and its port there.
    pub(crate) fn far(&self, link: u32) -> (u32, u16) {
        let link = &self.links[link as usize];
        (link.peer, link.peer_port)
    }
    /// Frames of hosts are scattered. PRECONDITION: all links have been added.
    pub(crate) fn scatter(&mut self, scatter: Scatter) {
        let steady = self.links.iter_mut().zip(0..).filter(|(link, n)| link.course == STEADY && scatter.has(*n));
        steady.for_each(|(link, _)| link.course = SCATTERED);
        self.scatter = Some(Box::new(scatter));
    }
    /// The link that was added last changes. PRECONDITION: fewer than 65,534 do.
    pub(crate) fn changes(&mut self, course: Course) {
        if let Some(link) = self.links.last_mut() {
            link.course = self.courses.len() as u16;
            self.courses.push(course);
        }
    }
    /// Frames that were lost on links, PAUSE and PFC frames and useless copies among them.
    pub(crate) fn lost_in_all(&self) -> u64 {
        self.lost
    }
    /// A packet was lost at the end of a link.
    pub(crate) fn count_lost(&mut self, link: u32, reason: DropReason) {
        let course = usize::from(self.links[link as usize].course);
        self.courses.get_mut(course).into_iter().for_each(|course| course.count_lost(reason));
    }
    /// Packets lost on a link by reason; `None` where it never changes.
    pub(crate) fn lost(&self, link: u32) -> Option<&[u64; DropReason::ALL.len()]> {
        let course = self.courses.get(usize::from(self.links[link as usize].course));
        course.filter(|course| !course.is_steady()).map(Course::lost)
    }
    /// Why a frame that has come to the end of its link is lost there, if it is.
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
    /// How long a frame's last bit is on a link, at least.
    pub(crate) fn shortest_delay(&self, link: u32) -> Dur {
        let Link { course, delay, .. } = self.links[link as usize];
        self.courses.get(usize::from(course)).map_or(delay, |course| course.shortest_delay(delay))
    }
    /// Takes out what becomes of the frames that are on a link; nothing where it never changes.
    pub(crate) fn take_fates(&mut self, link: u32) -> Vec<Option<DropReason>> {
        let course = usize::from(self.links[link as usize].course);
        self.courses.get_mut(course).map_or_else(Vec::new, Course::take_fates)
    }
    /// What becomes of a frame that was put on a link.
    pub(crate) fn put_fate(&mut self, link: u32, fate: Option<DropReason>) {
        let course = usize::from(self.links[link as usize].course);
        if let Some(course) = self.courses.get_mut(course) {
            course.put_fate(fate);
        }
    }
    /// Adds what was lost on the links of another partition.
    pub(crate) fn add_lost(&mut self, other: &Wires) {
        self.lost += other.lost;
        self.lost_payload += other.lost_payload;
        self.courses.iter_mut().zip(&other.courses).for_each(|(sum, other)| sum.add_lost(other));
    }
    /// So much payload was in a frame that was lost on a link.
    pub(crate) fn count_lost_payload(&mut self, bytes: u64) {
        self.lost_payload += bytes;
    }
    /// Payload that was lost on links, or is on one.
    pub(crate) fn payload(&self) -> PayloadCounts {
        let freed = self.free.iter().map(|id| self.frames[*id as usize].carried());
        let further = |train: &Train| u64::from(train.run.count() - 1) * train.run.first().carried();
        let placed = self.frames.iter().map(Pkt::carried).sum::<u64>() - freed.sum::<u64>();
        let waiting = placed + self.trains.iter().map(further).sum::<u64>();
        PayloadCounts { dropped: self.lost_payload, waiting, ..PayloadCounts::default() }
    }
    /// Frames under way on all links.
    pub(crate) fn under_way(&self) -> u64 {
        self.places() + self.further
    }

    /// Places that they take.
    pub(crate) fn places(&self) -> u64 {
        (self.frames.len() - self.free.len()) as u64
    }

    /// A frame that is handed over now and whose last bit leaves at `end`; tells when it arrives, where none is
    /// before it, and at which node.
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

    /// The frames of a run, all handed over now: the last bit of the first leaves at the first of `ends`, and that
    /// of each other so much later than the one before it.
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

    /// A frame that arrives at `at`, behind the others of its link.
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

    /// What is sent on this link from now on is kept for [`take_sent`](Wires::take_sent).
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

    /// What was sent on such links since it was last asked, in that order.
    pub(crate) fn take_sent(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.sent)
    }

    /// Takes all frames off a link, first to last, with the instants at which they arrive; the first of them at
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

    /// Brings what an arrival on this link will read near the processor.
    #[inline(always)]
    pub(crate) fn prefetch(&self, link: u32) {
        let id = self.links.get(link as usize).map_or(NIL, |link| link.head);
        prefetch_index(&self.frames, id as usize);
        prefetch_index(&self.places, id as usize);
    }

    /// The first frame of a link.
    #[inline(always)]
    pub(crate) fn first(&self, link: u32) -> Option<&Pkt> {
        self.frames.get(self.links.get(link as usize)?.head as usize)
    }

    /// The first frame of a link arrives. PRECONDITION: a frame is under way on the link. Its place is free from now
    /// on: it is to be read before another frame is sent.
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

    /// The frame that has arrived, as it left the far end.
    #[inline(always)]
    pub(crate) fn frame(&self, arrived: Arrived) -> &Pkt {
        &self.frames[arrived.place as usize]
    }

    /// The first frame of a link is the first of a run: those behind it in the run get a place of their own.
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
