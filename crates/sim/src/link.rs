//! Links: first in, first out, with a fixed delay. Only the first frame of a link is in the event
//! queue.
//!
//! All frames on all links lie in one arena whose free slots are used again last freed first, so
//! that a frame that goes on is written where it was just read, and memory stays as small as what
//! is under way.

mod course;

pub(crate) use course::Course;

use dataplane::Pkt;
use mech::PortId;
use mech::overflow::DropReason;
use prefetch_index::prefetch_index;
use units::{Dur, Time};

const NIL: u32 = u32::MAX;
/// The number of the course of a link that never changes.
const STEADY: u16 = u16::MAX;

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
    /// The link that was added last changes. PRECONDITION: fewer than 65,535 do.
    pub(crate) fn changes(&mut self, course: Course) {
        if let Some(link) = self.links.last_mut() {
            link.course = self.courses.len() as u16;
            self.courses.push(course);
        }
    }
    /// Frames that were lost on links.
    pub(crate) fn lost_in_all(&self) -> u64 {
        self.lost
    }
    /// Frames lost on a link by reason; `None` where it never changes.
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
    /// Frames under way on all links.
    pub(crate) fn under_way(&self) -> u64 {
        (self.frames.len() - self.free.len()) as u64
    }

    /// A frame that is handed over now and whose last bit leaves at `end`; tells when it arrives, where none is
    /// before it, and at which node.
    #[inline(always)]
    pub(crate) fn send(&mut self, link: u32, pkt: &Pkt, (now, end): (Time, Time)) -> Option<(Time, u32)> {
        let id = self.store(pkt);
        let link = &mut self.links[link as usize];
        let at = match link.course {
            STEADY => end.saturating_add(link.delay),
            course => self.courses[usize::from(course)].send(pkt, (now, end), link.delay),
        };
        let before = std::mem::replace(&mut link.tail, id);
        if before == NIL {
            link.head = id;
            return Some((at, link.peer));
        }
        self.places[before as usize] = Behind { next_at: at, next: id };
        None
    }

    #[inline(always)]
    fn store(&mut self, pkt: &Pkt) -> u32 {
        let place = Behind { next_at: Time::NEVER, next: NIL };
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
        let link = &mut self.links[link as usize];
        let id = link.head;
        let Behind { next, next_at } = self.places[id as usize];
        link.head = next;
        link.tail = if next == NIL { NIL } else { link.tail };
        self.free.push(id);
        let mut pkt = self.frames[id as usize];
        pkt.head.hops = pkt.head.hops.saturating_add(1);
        pkt.head.ingress = PortId(link.peer_port);
        (pkt, next_at)
    }
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
}
