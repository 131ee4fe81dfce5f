//! Queues whose departures are computed when frames are stored. Both instants of a frame are noted, and the records
//! of a queue follow many frames at a time.
//!
//! A frame then touches one cache line, and the records of a queue, which are larger, come into the cache once for
//! many frames. Most frames find an empty queue and leave immediately; after the first in a time bin they are only
//! counted.

use super::{Follow, Scope, TraceRow};
use std::collections::VecDeque;
use units::{Dur, Time};

/// Number of frames of a queue that are noted before its records follow them.
const FRAMES: usize = 64;

/// Distance from the notes of one queue to those of the next, a cache line more than they need. At distances of a power
/// of two all queues would share few sets of the cache.
const STRIDE: usize = FRAMES + 64 / size_of::<Noted>();

/// Note of a frame: the instant at which it was stored, and twice its waiting time. The second number has 1 more if an
/// odd number of frames was before it.
type Noted = [u64; 2];

/// Frame that has not left as far as the records have followed.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    stored: Time,
    starts: Time,
}

/// Value of `Passed::last` if no frame has passed.
const NEVER: Time = Time(u64::MAX);

/// Frames of a queue that found it empty, started to leave immediately, and are only counted. Their one effect on the
/// history of the queue is that its time bin has seen a frame. The first of them in a bin shows that, and is noted.
#[derive(Clone, Copy, Debug)]
struct Passed {
    frames: u64,
    /// Arrival time of the last of them.
    last: Time,
    /// Instant before which such frames are only counted.
    until: Time,
}

impl Default for Passed {
    fn default() -> Passed {
        Passed { frames: 0, last: NEVER, until: Time::ZERO }
    }
}

/// Computed departures of all queues. Data written for every frame are adjacent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ahead {
    /// Counted frames of each queue.
    passed: Vec<Passed>,
    /// Number of noted frames of each queue.
    noted: Vec<u8>,
    /// Notes of each queue, at distances of `STRIDE`.
    frames: Vec<Noted>,
    /// Frames of each queue that have not left, first to last.
    waiting: Vec<VecDeque<Waiting>>,
}

/// Records that follow a queue: those of the whole port, and possibly those of a single queue of it.
pub(crate) struct Followers<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) port: &'a mut Follow,
    pub(crate) trace: &'a mut Vec<TraceRow>,
    pub(crate) apart: Option<(&'a mut Follow, &'a mut Vec<TraceRow>)>,
}

impl Waiting {
    fn new([stored, wait]: Noted) -> Waiting {
        let stored = Time(stored);
        Waiting { stored, starts: stored.saturating_add(Dur(wait / 2)) }
    }

    fn wait(&self) -> u64 {
        self.starts.since(self.stored).0
    }
}

/// Record that follows a queue, with its scope and rows.
struct Follower<'a> {
    scope: &'a Scope,
    queue: &'a mut Follow,
    trace: &'a mut Vec<TraceRow>,
}

impl Follower<'_> {
    /// Adds the waiting times of frames before they have left; those of frames that never leave are removed when the
    /// run ends. Each value goes to another place of the histogram. Without a branch between them, the processor
    /// fetches these places in parallel.
    fn waits(&mut self, frames: &[Noted]) {
        let (mut waits, mut some, mut zeros) = ([0; FRAMES], 0, 0);
        for frame in frames {
            let frame = Waiting::new(*frame);
            let counts = self.scope.covers(frame.starts);
            waits[some] = frame.wait();
            some += usize::from(counts && frame.wait() > 0);
            zeros += u64::from(counts && frame.wait() == 0);
        }
        self.queue.sojourn.add_each(zeros, &waits[..some]);
    }

    #[inline(always)]
    fn left<const INSIDE: bool>(&mut self, starts: Time) {
        let after = self.queue.length() - 1;
        self.queue.freed::<INSIDE>(self.scope, starts, after, self.trace);
    }

    /// Follows the arrivals of these frames, and the departures in between. `passed` is the number of frames inside
    /// the measurement window that were only counted.
    fn follow(&mut self, frames: &[Noted], passed: u64, waiting: &mut VecDeque<Waiting>) {
        self.waits(frames);
        self.queue.count_passed(passed);
        // All events that are followed here happen up to the last arrival.
        let Some([last, _]) = frames.last() else { return };
        match self.queue.since() >= self.scope.from && *last < self.scope.to.0 {
            true => self.follow_these::<true>(frames, waiting),
            false => self.follow_these::<false>(frames, waiting),
        }
    }

    /// Follows frames, without checks of the measurement window if all events are `INSIDE` it.
    fn follow_these<const INSIDE: bool>(&mut self, frames: &[Noted], waiting: &mut VecDeque<Waiting>) {
        let (mut came, mut left) = (0, 0);
        while came < frames.len() {
            let [stored, noted] = frames[came];
            let before = waiting.len() + (came - left);
            let first = match waiting.front() {
                Some(first) => Some(first.starts),
                None if left < came => Some(Waiting::new(frames[left]).starts),
                None => None,
            };
            if let Some(first) = first {
                // The first frame may start at the instant of an arrival. It has left before the arrival, or still
                // waits in its step. Parity decides: a port starts at most one frame at an instant, so that the
                // numbers of frames before the arrival differ by one.
                let differs = before as u64 & 1 != noted & 1;
                if first.0 < stored || first.0 == stored && differs {
                    self.left::<INSIDE>(first);
                    left += usize::from(waiting.pop_front().is_none());
                    continue;
                }
            } else if noted / 2 == 0 && frames.get(came + 1).is_some_and(|[at, _]| *at > stored) {
                // The frame has left when the next one comes, as most have.
                self.queue.passed::<INSIDE>(self.scope, Time(stored), self.trace);
                (came, left) = (came + 1, left + 1);
                continue;
            }
            self.queue.stored::<INSIDE>(self.scope, Time(stored), before as u32, self.trace);
            came += 1;
        }
        waiting.extend(frames[left..].iter().map(|frame| Waiting::new(*frame)));
    }

    fn until(&mut self, now: Time, waiting: &mut VecDeque<Waiting>) {
        while let Some(first) = waiting.front().filter(|first| first.starts <= now) {
            let starts = first.starts;
            self.left::<false>(starts);
            waiting.pop_front();
        }
    }

    /// Removes the waiting times of frames that never leave, since the run has ended.
    fn never_left(&mut self, waiting: &VecDeque<Waiting>) {
        for frame in waiting.iter().filter(|frame| self.scope.covers(frame.starts)) {
            self.queue.sojourn.remove(frame.wait());
        }
    }
}

impl Ahead {
    pub(crate) fn new(queues: usize) -> Ahead {
        // Memory of zeros is not touched before it is used.
        Ahead {
            passed: vec![Passed::default(); queues],
            noted: vec![0; queues],
            frames: vec![[0; 2]; queues * STRIDE],
            waiting: vec![VecDeque::new(); queues],
        }
    }

    /// Counts a frame that came to an empty queue at `now` and leaves immediately. Returns false if the frame must be
    /// noted instead.
    #[inline(always)]
    pub(crate) fn passed(&mut self, queue: usize, now: Time) -> bool {
        let passed = &mut self.passed[queue];
        let counted = now < passed.until;
        if counted {
            passed.frames += 1;
            passed.last = now;
        }
        counted
    }

    /// Sets the instant before which frames that pass an empty queue are only counted.
    pub(crate) fn count_until(&mut self, queue: usize, until: Time) {
        self.passed[queue].until = until;
    }

    /// Takes back the count of a frame that came at `now`, since another frame comes at the same instant and may find
    /// it waiting. Returns true if there was one, which the caller then notes.
    #[inline(always)]
    pub(crate) fn takes_back(&mut self, queue: usize, now: Time) -> bool {
        let passed = &mut self.passed[queue];
        let same = passed.last == now && now != NEVER;
        if same {
            passed.frames -= 1;
            passed.last = NEVER;
        }
        same
    }

    /// Notes a frame that was stored at `now` behind `before` others and starts to leave at `starts`. Returns true if
    /// the notes are full: the records then have to follow before the next frame.
    #[inline(always)]
    pub(crate) fn stored(&mut self, queue: usize, now: Time, starts: Time, before: u32) -> bool {
        let noted = usize::from(self.noted[queue]);
        self.frames[queue * STRIDE + noted] = [now.0, starts.since(now).0 << 1 | u64::from(before & 1)];
        self.noted[queue] += 1;
        noted + 1 == FRAMES
    }

    /// Makes the records of a queue follow all its notes, and clears the notes.
    pub(crate) fn tell(&mut self, queue: usize, to: &mut Followers) {
        let noted = usize::from(std::mem::take(&mut self.noted[queue]));
        let passed = std::mem::take(&mut self.passed[queue].frames);
        let frames = &self.frames[queue * STRIDE..][..noted];
        let waiting = &mut self.waiting[queue];
        if let Some((queue, trace)) = &mut to.apart {
            Follower { scope: to.scope, queue, trace }.follow(frames, passed, &mut waiting.clone());
        }
        Follower { scope: to.scope, queue: to.port, trace: to.trace }.follow(frames, passed, waiting);
    }

    /// Makes the records of a queue follow everything that has happened up to `now`, included.
    pub(crate) fn tell_until(&mut self, queue: usize, now: Time, to: &mut Followers) {
        let last = self.passed[queue].last;
        // A frame that came after `now` is stored and has not left.
        if last > now && self.takes_back(queue, last) {
            self.stored(queue, last, last, 0);
        }
        self.tell(queue, to);
        let waiting = &mut self.waiting[queue];
        if let Some((queue, trace)) = &mut to.apart {
            Follower { scope: to.scope, queue, trace }.until(now, &mut waiting.clone());
        }
        Follower { scope: to.scope, queue: to.port, trace: to.trace }.until(now, waiting);
    }

    /// Ends the records of a queue with the run. PRECONDITION: they have followed everything that has happened.
    pub(crate) fn close(&mut self, queue: usize, to: &mut Followers) {
        let waiting = std::mem::take(&mut self.waiting[queue]);
        if let Some((queue, trace)) = &mut to.apart {
            Follower { scope: to.scope, queue, trace }.never_left(&waiting);
        }
        Follower { scope: to.scope, queue: to.port, trace: to.trace }.never_left(&waiting);
    }

    /// Moves the state of a queue from another partition. PRECONDITION: the queue has no state here.
    pub(crate) fn take(&mut self, queue: usize, other: &mut Ahead) {
        let places = queue * STRIDE..(queue + 1) * STRIDE;
        self.frames[places.clone()].copy_from_slice(&other.frames[places]);
        self.noted[queue] = other.noted[queue];
        self.passed[queue] = other.passed[queue];
        std::mem::swap(&mut self.waiting[queue], &mut other.waiting[queue]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    const SCOPE: Scope = Scope { from: Time(50), to: Time(1000), bin: Dur(100), ..Scope::NOTHING };

    /// Returns the records of a queue whose frames were stored and started to leave at these instants.
    fn followed(frames: &[(u64, u64, u32)], until: u64) -> (Follow, Vec<TraceRow>) {
        let (mut ahead, mut port, mut trace) = (Ahead::new(1), Follow::new(0), Vec::new());
        for (stored, starts, before) in frames {
            let full = ahead.stored(0, Time(*stored), Time(*starts), *before);
            let mut to = Followers { scope: &SCOPE, port: &mut port, trace: &mut trace, apart: None };
            if full {
                ahead.tell(0, &mut to);
            }
        }
        let mut to = Followers { scope: &SCOPE, port: &mut port, trace: &mut trace, apart: None };
        ahead.tell_until(0, Time(until), &mut to);
        ahead.close(0, &mut to);
        port.close(&SCOPE, Time(until), &mut trace);
        (port, trace)
    }

    /// A frame starts at 100, immediately, and a second finds it in that step. At 130 the second starts before a third
    /// comes at that instant. The third still waits when the run ends.
    #[test]
    fn who_starts_as_another_comes_has_left_where_that_one_finds_nobody() {
        let (port, trace) = followed(&[(100, 100, 0), (100, 130, 1), (130, 1300, 0)], 400);
        let levels: Vec<_> = port.levels.iter().map(|level| (level.time, level.arrivals)).collect();
        assert_eq!(levels, [(50, 2), (300, 1)]);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum(), port.length()), (1, 30, 1));
        let rows: Vec<_> = trace.iter().map(|row| (row.bin, row.max, row.area)).collect();
        assert_eq!(rows, [(1, 2, 100.0), (2, 1, 100.0), (3, 1, 100.0)]);
    }

    /// A frame that started in a step no longer waits if the step goes on after idle ports have started.
    #[test]
    fn who_starts_as_it_comes_waits_for_its_step_or_for_a_part_of_it() {
        let arrivals = |second_finds| {
            let (port, _) = followed(&[(100, 100, 0), (100, 130, second_finds)], 400);
            port.levels.iter().map(|level| level.arrivals).collect::<Vec<_>>()
        };
        assert_eq!((arrivals(1), arrivals(0)), (vec![1, 1], vec![2, 0]));
    }

    /// A frame passes at 60 and is counted. Another passes at 400, when the records have only to show that it has
    /// come.
    #[test]
    fn who_passes_after_all_that_is_told_still_waits() {
        let (mut ahead, mut port, mut trace) = (Ahead::new(1), Follow::new(0), Vec::new());
        ahead.count_until(0, Time(500));
        assert!(ahead.passed(0, Time(60)) && ahead.passed(0, Time(400)) && !ahead.passed(0, Time(500)));
        let mut to = Followers { scope: &SCOPE, port: &mut port, trace: &mut trace, apart: None };
        ahead.tell_until(0, Time(399), &mut to);
        ahead.close(0, &mut to);
        let arrivals: u64 = port.levels.iter().map(|level| level.arrivals).sum();
        assert_eq!((arrivals, port.sojourn.zeros(), port.length()), (2, 1, 1));
    }

    /// The window is from 50 to 1000: the first frame comes before it, the last starts after it.
    #[test]
    fn a_wait_counts_where_it_ends() {
        let (port, _) = followed(&[(10, 10, 0), (20, 60, 0), (970, 970, 0), (980, 1003, 0)], 1200);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum()), (1, 40));
    }

    /// Frames that are followed together may extend across the start of the window, or its end.
    #[test]
    fn only_what_happens_inside_the_window_counts_however_it_is_told() {
        let sums = |frames: &[(u64, u64, u32)]| {
            let (port, _) = followed(frames, 1200);
            let levels = port.levels.iter();
            levels.fold((0, 0), |(arrivals, time), level| (arrivals + level.arrivals, time + level.time))
        };
        assert_eq!(sums(&[(10, 10, 0), (20, 60, 0), (970, 970, 0), (980, 1003, 0)]), (2, 950));
        let at_once = (0..FRAMES as u64).map(|n| (100 + n, 100 + n, 0));
        let later = [(990, 990, 0), (995, 1020, 0), (1010, 1040, 1)];
        assert_eq!(sums(&at_once.chain(later).collect::<Vec<_>>()), (FRAMES as u64 + 2, 950));
    }

    /// A frame starts at 120, and another would at 700; the run ends at 400.
    #[test]
    fn what_still_waits_as_the_run_ends_counts_as_no_wait() {
        let (port, _) = followed(&[(100, 100, 0), (100, 120, 1), (110, 700, 1)], 400);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum(), port.length()), (1, 20, 1));
        let buckets: Vec<_> = port.sojourn.buckets().map(|(low, _, count)| (low, count)).collect();
        assert_eq!(buckets, [(0, 1), (20, 1)]);
    }

    /// A frame comes every 2 ps and one leaves every 3 ps: 99 wait when the last comes.
    #[test]
    fn a_queue_of_any_length_is_followed_to_its_last_frame() {
        // Of the n frames before the n-th, those have left that start by the time it comes.
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
