//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event
//! queue.
//!
//! All frames on all links lie in one arena whose free slots are used again last freed first, so
//! that a frame that goes on is written where it was just read, and memory stays as small as what
//! is under way. Segments that a host has released together take one place until they arrive, one by one.

mod course;

pub(crate) use course::Course;

use dataplane::Pkt;
use dataplane::transport::Run;
use mech::PortId;
use mech::overflow::DropReason;
use prefetch_index::prefetch_index;
use std::collections::BTreeMap;
use units::{Dur, Time};

const NIL: u32 = u32::MAX;
/// The number of the course of a link that never changes.
const STEADY: u16 = u16::MAX;

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    head: u32,
    tail: u32,
    /// When the first frame arrives.
    head_at: Time,
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
    /// More frames of its run are to come before that one.
    is_run: bool,
}

/// What is left of a run on a link.
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
    /// Frames that were lost on links.
    lost: u64,
    /// Runs, by the place of their first frame.
    trains: BTreeMap<u32, Train>,
    /// Frames of runs that are under way and have no place.
    further: u64,
}

impl Wires {
    /// Adds a direction of a link; its number is how many there were.
    pub(crate) fn add(&mut self, peer: u32, peer_port: u16, delay: Dur) {
        self.links.push(Link { head: NIL, tail: NIL, head_at: Time::NEVER, peer, peer_port, course: STEADY, delay });
    }
    pub(crate) fn len(&self) -> usize {
        self.links.len()
    }
    /// The node at the far end of a link, and its port there.
    pub(crate) fn far(&self, link: u32) -> (u32, u16) {
        let link = &self.links[link as usize];
        (link.peer, link.peer_port)
    }
    /// The link that was added last changes. PRECONDITION: fewer than 65,535 do.
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
        self.courses.get(usize::from(self.links[link as usize].course)).map(Course::lost)
    }
    /// Why the frame that has just come to the end of a link is lost there, if it is.
    #[inline(always)]
    pub(crate) fn fate(&mut self, link: u32) -> Option<DropReason> {
        match self.links[link as usize].course {
            STEADY => None,
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
        self.courses.iter_mut().zip(&other.courses).for_each(|(sum, other)| sum.add_lost(other));
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
    pub(crate) fn send(&mut self, link: u32, pkt: &Pkt, (now, end): (Time, Time)) -> Option<(Time, u32)> {
        let id = self.store(pkt);
        let Link { course, delay, .. } = self.links[link as usize];
        let at = match course {
            STEADY => end.saturating_add(delay),
            course => self.courses[usize::from(course)].send(pkt, (now, end), delay),
        };
        self.append(link, id, at)
    }

    /// The frames of a run: the last bit of the first leaves at the first of `ends`, and that of each other so
    /// much later than the one before it. PRECONDITION: the link never changes.
    pub(crate) fn send_run(&mut self, link: u32, run: &Run, ends: (Time, Dur)) -> Option<(Time, u32)> {
        let id = self.store(run.first());
        let at = ends.0.saturating_add(self.links[link as usize].delay);
        if run.count() > 1 {
            self.trains.insert(id, Train { run: *run, at, apart: ends.1 });
            self.places[id as usize].is_run = true;
            self.further += u64::from(run.count()) - 1;
        }
        self.append(link, id, at)
    }

    #[inline(always)]
    fn append(&mut self, link: u32, id: u32, at: Time) -> Option<(Time, u32)> {
        let link = &mut self.links[link as usize];
        let before = std::mem::replace(&mut link.tail, id);
        if before == NIL {
            (link.head, link.head_at) = (id, at);
            return Some((at, link.peer));
        }
        let behind = &mut self.places[before as usize];
        (behind.next_at, behind.next) = (at, id);
        None
    }

    /// A frame that arrives at `at`, behind the others of its link.
    pub(crate) fn put(&mut self, link: u32, pkt: &Pkt, at: Time) -> Option<(Time, u32)> {
        let id = self.store(pkt);
        self.append(link, id, at)
    }

    /// Takes all frames off a link, first to last, with the instants at which they arrive.
    pub(crate) fn take_all(&mut self, link: u32) -> Vec<(Pkt, Time)> {
        let link = &mut self.links[link as usize];
        let (mut id, mut at, mut taken) = (link.head, link.head_at, Vec::new());
        (link.head, link.tail, link.head_at) = (NIL, NIL, Time::NEVER);
        while id != NIL {
            taken.push((self.frames[id as usize], at));
            let Behind { next, next_at, .. } = self.places[id as usize];
            if let Some(Train { mut run, at: mut last, apart }) = self.trains.remove(&id) {
                self.further -= u64::from(run.count()) - 1;
                while run.count() > 1 {
                    run.split_first();
                    last = last.saturating_add(apart);
                    taken.push((*run.first(), last));
                }
            }
            self.free.push(id);
            (id, at) = (next, next_at);
        }
        taken
    }

    #[inline(always)]
    fn store(&mut self, pkt: &Pkt) -> u32 {
        let place = Behind { next_at: Time::NEVER, next: NIL, is_run: false };
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

    /// The first frame has arrived, at its ingress port; and when the next one does,
    /// [`Time::NEVER`] where there is none. PRECONDITION: a frame is under way on the link.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, link: u32) -> (Pkt, Time) {
        let link_number = link;
        let link = &mut self.links[link as usize];
        let id = link.head;
        let Behind { next, next_at, is_run } = self.places[id as usize];
        if is_run {
            let port = PortId(link.peer_port);
            return self.arrive_from_run(link_number, id, port);
        }
        (link.head, link.head_at) = (next, next_at);
        link.tail = if next == NIL { NIL } else { link.tail };
        self.free.push(id);
        (arrived(&self.frames[id as usize], PortId(link.peer_port)), next_at)
    }

    /// The first frame of a run has arrived; the next takes its place.
    #[cold]
    fn arrive_from_run(&mut self, link: u32, id: u32, port: PortId) -> (Pkt, Time) {
        let pkt = arrived(&self.frames[id as usize], port);
        let Some(train) = self.trains.get_mut(&id) else { return (pkt, Time::NEVER) };
        train.run.split_first();
        train.at = train.at.saturating_add(train.apart);
        self.frames[id as usize] = *train.run.first();
        self.further -= 1;
        let (next_at, last) = (train.at, train.run.count() == 1);
        self.links[link as usize].head_at = next_at;
        if last {
            self.places[id as usize].is_run = false;
            self.trains.remove(&id);
        }
        (pkt, next_at)
    }
}

/// A frame as it arrives at a port.
#[inline(always)]
fn arrived(pkt: &Pkt, port: PortId) -> Pkt {
    let mut pkt = *pkt;
    pkt.head.hops = pkt.head.hops.saturating_add(1);
    pkt.head.ingress = port;
    pkt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pkt(emission: u32) -> Pkt {
        Pkt { emission, ..Pkt::default() }
    }

    #[test]
    fn links_keep_their_order_and_share_one_memory() {
        let mut wires = Wires::default();
        wires.add(1, 3, Dur(5));
        wires.add(2, 4, Dur(7));
        assert_eq!(wires.send(0, &pkt(0), (Time(0), Time(10))), Some((Time(15), 1)));
        assert_eq!(wires.send(0, &pkt(1), (Time(0), Time(20))), None, "only a link's first frame is an event");
        assert_eq!(wires.send(1, &pkt(2), (Time(0), Time(10))), Some((Time(17), 2)));
        let mut got = Vec::new();
        let mut arrive = |wires: &mut Wires, link| {
            let (pkt, next) = wires.arrive(link);
            assert_eq!((pkt.head.hops, pkt.head.ingress), (1, PortId(link as u16 + 3)));
            got.push(pkt.emission);
            next
        };
        assert_eq!(arrive(&mut wires, 0), Time(25));
        assert_eq!(wires.send(1, &pkt(3), (Time(0), Time(11))), None);
        assert_eq!(wires.frames.len(), 3, "a freed place is used again");
        assert_eq!(arrive(&mut wires, 0), Time::NEVER);
        assert_eq!(arrive(&mut wires, 1), Time(18));
        assert_eq!(arrive(&mut wires, 1), Time::NEVER);
        assert_eq!(got, [0, 1, 2, 3]);
        assert_eq!(wires.under_way(), 0);
    }

    #[test]
    fn a_run_takes_one_place_and_arrives_frame_by_frame_before_what_follows_it() {
        let run = |count: u32| {
            let mut released = dataplane::transport::Released::default();
            let segment = |n| Pkt { seq: 1000 * n, emission: n, payload: 1000, ..Pkt::default() };
            (0..count).for_each(|n| released.push(segment(n)));
            released.drain().next().unwrap()
        };
        let mut wires = Wires::default();
        wires.add(1, 3, Dur(5));
        assert_eq!(wires.send_run(0, &run(3), (Time(10), Dur(4))), Some((Time(15), 1)));
        assert_eq!(wires.send(0, &pkt(77), (Time(25), Time(30))), None);
        assert_eq!(wires.send_run(0, &run(2), (Time(40), Dur(4))), None);
        assert_eq!((wires.under_way(), wires.places()), (6, 3));
        let mut clone = wires.clone();
        for wires in [&mut wires, &mut clone] {
            let mut got = Vec::new();
            for _ in 0..6 {
                assert_eq!(wires.first(0).map(|pkt| pkt.head.hops), Some(0));
                let (pkt, next) = wires.arrive(0);
                assert_eq!((pkt.head.hops, pkt.head.ingress), (1, PortId(3)));
                got.push((pkt.emission, pkt.seq, next));
            }
            let expected = [(0, 0, 19), (1, 1000, 23), (2, 2000, 35), (77, 0, 45), (0, 0, 49), (1, 1000, u64::MAX)];
            assert_eq!(got, expected.map(|(emission, seq, next)| (emission, seq, Time(next))));
            assert_eq!((wires.under_way(), wires.places(), wires.trains.len()), (0, 0, 0));
        }
    }
}
