//! Queues whose departures are known when frames are stored. What happens to them is written down, two
//! instants a frame, and told to what follows them when there is much of it: what is known of a queue is then
//! brought near the processor once for many frames.

use super::{Follow, Scope, TraceRow};
use units::Time;

/// So many frames of a queue are written down at least.
const LEAST: u32 = 64;

/// A frame: when it was stored, when it begins to leave, and how many waited before it.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    stored: Time,
    starts: Time,
    before: u32,
}

/// The frames of one queue that have not left as far as it is known to those that follow it, first to last. A
/// ring; its places are counted on and on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    frames: Box<[Frame]>,
    /// The first frame that has not left.
    left: u32,
    /// The first frame of which nothing was told.
    told: u32,
    /// The place of the next.
    next: u32,
}

/// Those that follow a queue: as the whole port, and maybe as one of its queues.
pub(crate) struct Followers<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) port: &'a mut Follow,
    pub(crate) trace: &'a mut Vec<TraceRow>,
    pub(crate) apart: Option<(&'a mut Follow, &'a mut Vec<TraceRow>)>,
}

impl Followers<'_> {
    #[inline]
    fn stored(&mut self, now: Time) {
        let before = self.port.length();
        self.port.stored(self.scope, (now, before), self.trace);
        if let Some((queue, trace)) = &mut self.apart {
            queue.stored(self.scope, (now, before), trace);
        }
    }
    #[inline]
    fn left(&mut self, frame: Frame) {
        let after = self.port.length() - 1;
        self.port.freed(self.scope, (frame.starts, after), self.trace);
        self.port.started(self.scope, frame.starts, frame.stored);
        if let Some((queue, trace)) = &mut self.apart {
            queue.freed(self.scope, (frame.starts, after), trace);
        }
    }
}

impl Ahead {
    /// A frame was stored at `now` behind so many others and begins to leave at `starts`. Whether what was
    /// written down is to be told before the next.
    #[inline(always)]
    pub(crate) fn stored(&mut self, now: Time, starts: Time, before: u32) -> bool {
        if self.frames.is_empty() {
            self.frames = vec![Frame::default(); LEAST as usize].into_boxed_slice();
        }
        let mask = self.frames.len() - 1;
        self.frames[self.next as usize & mask] = Frame { stored: now, starts, before };
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(self.left) as usize > mask
    }

    fn at(&self, place: u32) -> Frame {
        self.frames[place as usize & (self.frames.len() - 1)]
    }

    /// Tells of every frame that was stored, and makes room for more.
    pub(crate) fn tell(&mut self, to: &mut Followers) {
        while self.told != self.next {
            let next = self.at(self.told);
            while self.told.wrapping_sub(self.left) > next.before {
                self.leave(to);
            }
            to.stored(next.stored);
            self.told = self.told.wrapping_add(1);
        }
        if self.next.wrapping_sub(self.left) as usize > self.frames.len() / 2 {
            self.grow();
        }
    }

    /// Tells everything that has happened when `now` is over.
    pub(crate) fn tell_until(&mut self, now: Time, to: &mut Followers) {
        self.tell(to);
        while self.left != self.told && self.at(self.left).starts <= now {
            self.leave(to);
        }
    }

    /// The first has left.
    #[inline]
    fn leave(&mut self, to: &mut Followers) {
        to.left(self.at(self.left));
        self.left = self.left.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let waiting = self.next.wrapping_sub(self.left);
        let mut frames: Vec<Frame> = (0..waiting).map(|n| self.at(self.left.wrapping_add(n))).collect();
        frames.resize(self.frames.len() * 2, Frame::default());
        (self.frames, self.left, self.told, self.next) = (frames.into_boxed_slice(), 0, waiting, waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    const SCOPE: Scope = Scope { from: Time(50), to: Time(1000), bin: Dur(100), ..Scope::NOTHING };

    /// What follows a queue whose frames were stored and began to leave at these instants.
    fn followed(frames: &[(u64, u64, u32)], until: u64) -> (Follow, Vec<TraceRow>) {
        let (mut ahead, mut port, mut trace) = (Ahead::default(), Follow::new(0), Vec::new());
        for (stored, starts, before) in frames {
            let full = ahead.stored(Time(*stored), Time(*starts), *before);
            let mut to = Followers { scope: &SCOPE, port: &mut port, trace: &mut trace, apart: None };
            if full {
                ahead.tell(&mut to);
            }
        }
        let mut to = Followers { scope: &SCOPE, port: &mut port, trace: &mut trace, apart: None };
        ahead.tell_until(Time(until), &mut to);
        port.close(&SCOPE, Time(until), &mut trace);
        (port, trace)
    }

    /// At 100 a frame starts at once and is found by a second in that step; at 130 the second starts, before a
    /// third comes at that instant, which still waits when the run ends.
    #[test]
    fn who_starts_as_another_comes_has_left_where_that_one_finds_nobody() {
        let (port, trace) = followed(&[(100, 100, 0), (100, 130, 1), (130, 1300, 0)], 400);
        let levels: Vec<_> = port.levels.iter().map(|level| (level.time, level.arrivals)).collect();
        assert_eq!(levels, [(50, 2), (300, 1)]);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum(), port.length()), (1, 30, 1));
        let rows: Vec<_> = trace.iter().map(|row| (row.bin, row.max, row.area)).collect();
        assert_eq!(rows, [(1, 2, 100.0), (2, 1, 100.0), (3, 1, 100.0)]);
    }

    /// One frame comes every 2 and one leaves every 3: 99 wait when the last comes.
    #[test]
    fn a_queue_of_any_length_is_followed_to_its_last_frame() {
        // Of those before the n-th, 0 to n - 1, every one has left that starts by the time it comes.
        let before = |n: u64| (0..n).filter(|m| 3 * m > 2 * n).count() as u32;
        let frames: Vec<_> = (0..300).map(|n| (100 + 2 * n, 100 + 3 * n, before(n))).collect();
        let (port, _) = followed(&frames, 1200);
        let arrivals: u64 = port.levels.iter().map(|level| level.arrivals).sum();
        let time: u64 = port.levels.iter().map(|level| level.time).sum();
        assert_eq!((port.length(), arrivals, time), (0, 300, 950));
        assert_eq!(port.sojourn.sum(), (0..300).sum::<u128>());
        assert_eq!(port.levels.iter().rposition(|level| level.arrivals > 0), Some(99));
    }
}
