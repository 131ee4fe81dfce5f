//! Queues whose departures are computed when frames are stored. Both instants of a frame are noted, and the records
//! of a queue follow many frames at a time.
//!
//! A frame then touches one cache line, and the records of a queue, which are larger, come into the cache once for
//! many frames. Most frames find an empty queue and leave immediately; after the first in a time bin they are only
//! counted.

use super::{QueueRecord, Scope, TraceRow};
use std::collections::VecDeque;
use units::{Dur, Time};

/// Largest number of frames of a queue that are noted before they are added to its records.
const MAX_NOTES_PER_QUEUE: usize = 64;

/// Distance in memory from the notes of one queue to those of the next, a cache line more than they need. At distances
/// of a power of two all queues would share few sets of the cache.
const NOTE_STRIDE: usize = MAX_NOTES_PER_QUEUE + 64 / size_of::<FrameNote>();

/// Note of a frame in a queue: the instant at which it was stored, and twice its waiting time, plus 1 if an odd number
/// of frames was before it.
type FrameNote = [u64; 2];

/// Frame whose arrival is in the records of its queue, and whose departure is not.
#[derive(Clone, Copy, Debug)]
struct WaitingFrame {
    stored: Time,
    starts: Time,
}

/// Value of `PassedFrames::last` if no frame has passed.
const NEVER: Time = Time(u64::MAX);

/// Frames that found their queue empty and started to leave immediately; they are only counted. Their one effect on the
/// history of the queue is that its time bin has seen a frame. The first of them in a bin shows that, and is noted.
#[derive(Clone, Copy, Debug)]
struct PassedFrames {
    frames: u64,
    /// Arrival time of the last frame that is only counted.
    last: Time,
    /// Instant before which frames that find the queue empty are only counted.
    until: Time,
}

impl Default for PassedFrames {
    fn default() -> PassedFrames {
        PassedFrames { frames: 0, last: NEVER, until: Time::ZERO }
    }
}

/// Computed departures of all queues. Data written for every frame are adjacent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComputedDepartures {
    /// Counted frames of each queue.
    passed: Vec<PassedFrames>,
    /// Number of noted frames of each queue.
    note_counts: Vec<u8>,
    /// Notes of frames for each queue, at distances of `NOTE_STRIDE`.
    notes: Vec<FrameNote>,
    /// Frames in the records of each queue that have not left, first to last.
    waiting: Vec<VecDeque<WaitingFrame>>,
}

/// Records that are brought up to date for a queue: those of the port, and possibly those of its single queue.
pub(crate) struct QueueFollowers<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) port: &'a mut QueueRecord,
    pub(crate) trace: &'a mut Vec<TraceRow>,
    pub(crate) sub_queue: Option<(&'a mut QueueRecord, &'a mut Vec<TraceRow>)>,
}

impl WaitingFrame {
    fn new([stored, wait]: FrameNote) -> WaitingFrame {
        let stored = Time(stored);
        WaitingFrame { stored, starts: stored.saturating_add(Dur(wait / 2)) }
    }

    fn wait(&self) -> u64 {
        self.starts.since(self.stored).0
    }
}

/// Record of a queue that is brought up to date, with its scope and rows.
struct QueueFollower<'a> {
    scope: &'a Scope,
    queue: &'a mut QueueRecord,
    trace: &'a mut Vec<TraceRow>,
}

impl QueueFollower<'_> {
    /// Adds the waiting times of frames before they have left; those of frames that never leave are removed when the
    /// run ends. Each value goes to another place of the histogram. Without a branch between them, the processor
    /// fetches these places in parallel.
    fn add_waiting_times(&mut self, frames: &[FrameNote]) {
        let (mut waits, mut some, mut zeros) = ([0; MAX_NOTES_PER_QUEUE], 0, 0);
        for frame in frames {
            let frame = WaitingFrame::new(*frame);
            let counts = self.scope.covers(frame.starts);
            waits[some] = frame.wait();
            some += usize::from(counts && frame.wait() > 0);
            zeros += u64::from(counts && frame.wait() == 0);
        }
        self.queue.sojourn.add_each(zeros, &waits[..some]);
    }

    #[inline(always)]
    fn record_departure<const INSIDE: bool>(&mut self, starts: Time) {
        let after = self.queue.length() - 1;
        self.queue.record_freed::<INSIDE>(self.scope, starts, after, self.trace);
    }

    /// Adds to the record the arrivals of noted frames, and the departures in between. `passed` is the number of frames
    /// inside the measurement window that were only counted.
    fn follow_notes(&mut self, frames: &[FrameNote], passed: u64, waiting: &mut VecDeque<WaitingFrame>) {
        self.add_waiting_times(frames);
        self.queue.count_passed(passed);
        // No event that is added here is later than the last arrival. All are thus in the window if that arrival is,
        // and if the record has reached the start of the window.
        let Some([last, _]) = frames.last() else { return };
        match self.queue.followed_until() >= self.scope.from && *last < self.scope.to.0 {
            true => self.follow_frames::<true>(frames, waiting),
            false => self.follow_frames::<false>(frames, waiting),
        }
    }

    /// Adds arrivals and departures to the record, without checks of the measurement window if all are `INSIDE` it.
    fn follow_frames<const INSIDE: bool>(&mut self, frames: &[FrameNote], waiting: &mut VecDeque<WaitingFrame>) {
        let (mut came, mut left) = (0, 0);
        while came < frames.len() {
            let [stored, noted] = frames[came];
            let before = waiting.len() + (came - left);
            let first = match waiting.front() {
                Some(first) => Some(first.starts),
                None if left < came => Some(WaitingFrame::new(frames[left]).starts),
                None => None,
            };
            if let Some(first) = first {
                // If the first frame starts at the instant of an arrival, it has left before the arrival, or still
                // waits. A port starts at most one frame at an instant, so the two cases differ by one in the number
                // of frames before the arrival. The parity of that number, noted at the arrival, tells which it was.
                let differs = before as u64 & 1 != noted & 1;
                if first.0 < stored || first.0 == stored && differs {
                    self.record_departure::<INSIDE>(first);
                    left += usize::from(waiting.pop_front().is_none());
                    continue;
                }
            } else if noted / 2 == 0 && frames.get(came + 1).is_some_and(|[at, _]| *at > stored) {
                // Most frames are like this one: it did not wait and left before the next one arrived. A single update
                // records both.
                self.queue.record_passed::<INSIDE>(self.scope, Time(stored), self.trace);
                (came, left) = (came + 1, left + 1);
                continue;
            }
            self.queue.record_stored::<INSIDE>(self.scope, Time(stored), before as u32, self.trace);
            came += 1;
        }
        waiting.extend(frames[left..].iter().map(|frame| WaitingFrame::new(*frame)));
    }

    fn follow_until(&mut self, now: Time, waiting: &mut VecDeque<WaitingFrame>) {
        while let Some(first) = waiting.front().filter(|first| first.starts <= now) {
            let starts = first.starts;
            self.record_departure::<false>(starts);
            waiting.pop_front();
        }
    }

    /// Removes the waiting times of frames that will never leave, since the run has ended.
    fn remove_waiting_times(&mut self, waiting: &VecDeque<WaitingFrame>) {
        for frame in waiting.iter().filter(|frame| self.scope.covers(frame.starts)) {
            self.queue.sojourn.remove(frame.wait());
        }
    }
}

impl ComputedDepartures {
    pub(crate) fn new(queues: usize) -> ComputedDepartures {
        // Vectors of zeros come from `alloc_zeroed`: their pages take no memory until they are first written.
        ComputedDepartures {
            passed: vec![PassedFrames::default(); queues],
            note_counts: vec![0; queues],
            notes: vec![[0; 2]; queues * NOTE_STRIDE],
            waiting: vec![VecDeque::new(); queues],
        }
    }

    /// Counts a frame that found its queue empty at `now` and leaves immediately. Returns false if the frame must be
    /// noted instead.
    #[inline(always)]
    pub(crate) fn count_passed_frame(&mut self, queue: usize, now: Time) -> bool {
        let passed = &mut self.passed[queue];
        let counted = now < passed.until;
        if counted {
            passed.frames += 1;
            passed.last = now;
        }
        counted
    }

    /// Sets the instant before which frames that pass an empty queue are only counted.
    pub(crate) fn set_count_only_until(&mut self, queue: usize, until: Time) {
        self.passed[queue].until = until;
    }

    /// Reverses the count of a frame that came at `now`, since another frame comes at the same instant and may find it
    /// waiting. Returns true if there was one, which the caller then notes.
    #[inline(always)]
    pub(crate) fn uncount_passed_frame(&mut self, queue: usize, now: Time) -> bool {
        let passed = &mut self.passed[queue];
        let same = passed.last == now && now != NEVER;
        if same {
            passed.frames -= 1;
            passed.last = NEVER;
        }
        same
    }

    /// Notes a frame that was stored at `now` behind `before` others and starts to leave at `starts`. Returns true if
    /// the notes are full: the records must be updated before the next frame.
    #[inline(always)]
    pub(crate) fn note_stored_frame(&mut self, queue: usize, now: Time, starts: Time, before: u32) -> bool {
        let noted = usize::from(self.note_counts[queue]);
        self.notes[queue * NOTE_STRIDE + noted] = [now.0, starts.since(now).0 << 1 | u64::from(before & 1)];
        self.note_counts[queue] += 1;
        noted + 1 == MAX_NOTES_PER_QUEUE
    }

    /// Adds all noted frames of a queue to its records, and clears the notes.
    pub(crate) fn update_records(&mut self, queue: usize, to: &mut QueueFollowers) {
        let noted = usize::from(std::mem::take(&mut self.note_counts[queue]));
        let passed = std::mem::take(&mut self.passed[queue].frames);
        let frames = &self.notes[queue * NOTE_STRIDE..][..noted];
        let waiting = &mut self.waiting[queue];
        if let Some((queue, trace)) = &mut to.sub_queue {
            QueueFollower { scope: to.scope, queue, trace }.follow_notes(frames, passed, &mut waiting.clone());
        }
        QueueFollower { scope: to.scope, queue: to.port, trace: to.trace }.follow_notes(frames, passed, waiting);
    }

    /// Brings the records of a queue up to `now`, including the arrivals and departures of that instant.
    pub(crate) fn update_records_until(&mut self, queue: usize, now: Time, to: &mut QueueFollowers) {
        let last = self.passed[queue].last;
        // Frames that are only counted are recorded as departed. If the last of them arrived after `now`, it also
        // departs after `now`. It is noted instead, so that the records show it as stored and not as departed.
        if last > now && self.uncount_passed_frame(queue, last) {
            self.note_stored_frame(queue, last, last, 0);
        }
        self.update_records(queue, to);
        let waiting = &mut self.waiting[queue];
        if let Some((queue, trace)) = &mut to.sub_queue {
            QueueFollower { scope: to.scope, queue, trace }.follow_until(now, &mut waiting.clone());
        }
        QueueFollower { scope: to.scope, queue: to.port, trace: to.trace }.follow_until(now, waiting);
    }

    /// Ends the records of a queue at the end of the run. PRECONDITION: they are up to date.
    pub(crate) fn close_records(&mut self, queue: usize, to: &mut QueueFollowers) {
        let waiting = std::mem::take(&mut self.waiting[queue]);
        if let Some((queue, trace)) = &mut to.sub_queue {
            QueueFollower { scope: to.scope, queue, trace }.remove_waiting_times(&waiting);
        }
        QueueFollower { scope: to.scope, queue: to.port, trace: to.trace }.remove_waiting_times(&waiting);
    }

    /// Moves the state of a queue from another partition. PRECONDITION: the queue has no state in this partition.
    pub(crate) fn take_queue(&mut self, queue: usize, other: &mut ComputedDepartures) {
        let places = queue * NOTE_STRIDE..(queue + 1) * NOTE_STRIDE;
        self.notes[places.clone()].copy_from_slice(&other.notes[places]);
        self.note_counts[queue] = other.note_counts[queue];
        self.passed[queue] = other.passed[queue];
        std::mem::swap(&mut self.waiting[queue], &mut other.waiting[queue]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    const SCOPE: Scope = Scope { from: Time(50), to: Time(1000), bin: Dur(100), ..Scope::EMPTY };

    /// Returns the records of a queue whose frames were stored, and started to leave, at these instants.
    fn follow_frames_of_queue(frames: &[(u64, u64, u32)], until: u64) -> (QueueRecord, Vec<TraceRow>) {
        let (mut ahead, mut port, mut trace) = (ComputedDepartures::new(1), QueueRecord::new(0), Vec::new());
        for (stored, starts, before) in frames {
            let full = ahead.note_stored_frame(0, Time(*stored), Time(*starts), *before);
            let mut to = QueueFollowers { scope: &SCOPE, port: &mut port, trace: &mut trace, sub_queue: None };
            if full {
                ahead.update_records(0, &mut to);
            }
        }
        let mut to = QueueFollowers { scope: &SCOPE, port: &mut port, trace: &mut trace, sub_queue: None };
        ahead.update_records_until(0, Time(until), &mut to);
        ahead.close_records(0, &mut to);
        port.close(&SCOPE, Time(until), &mut trace);
        (port, trace)
    }

    /// Test of frames that arrive and start to leave at the same instants.
    /// A frame starts at 100, immediately, and a second finds it in that step. At 130 the second starts before a third
    /// comes at that instant. The third still waits when the run ends.
    #[test]
    fn frame_starting_at_an_arrival_left_before_if_queue_is_empty() {
        let (port, trace) = follow_frames_of_queue(&[(100, 100, 0), (100, 130, 1), (130, 1300, 0)], 400);
        let levels: Vec<_> = port.levels.iter().map(|level| (level.time, level.arrivals)).collect();
        assert_eq!(levels, [(50, 2), (300, 1)]);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum(), port.length()), (1, 30, 1));
        let rows: Vec<_> = trace.iter().map(|row| (row.bin, row.max, row.area)).collect();
        assert_eq!(rows, [(1, 2, 100.0), (2, 1, 100.0), (3, 1, 100.0)]);
    }

    /// Test of a frame that finds another one in the step in which that one starts to leave.
    /// A frame that started in a step no longer waits if the step goes on after idle ports have started.
    #[test]
    fn frame_starting_on_arrival_waits_within_its_step() {
        let arrivals = |second_finds| {
            let (port, _) = follow_frames_of_queue(&[(100, 100, 0), (100, 130, second_finds)], 400);
            port.levels.iter().map(|level| level.arrivals).collect::<Vec<_>>()
        };
        assert_eq!((arrivals(1), arrivals(0)), (vec![1, 1], vec![2, 0]));
    }

    /// Test of a frame that is only counted, and arrives later than the instant up to which the records are updated.
    /// The records show the frame at 60 as passed. They show the frame at 400 as stored, and not as left.
    #[test]
    fn frame_counted_after_the_last_update_is_still_queued() {
        let (mut ahead, mut port, mut trace) = (ComputedDepartures::new(1), QueueRecord::new(0), Vec::new());
        ahead.set_count_only_until(0, Time(500));
        assert!(
            ahead.count_passed_frame(0, Time(60))
                && ahead.count_passed_frame(0, Time(400))
                && !ahead.count_passed_frame(0, Time(500))
        );
        let mut to = QueueFollowers { scope: &SCOPE, port: &mut port, trace: &mut trace, sub_queue: None };
        ahead.update_records_until(0, Time(399), &mut to);
        ahead.close_records(0, &mut to);
        let arrivals: u64 = port.levels.iter().map(|level| level.arrivals).sum();
        assert_eq!((arrivals, port.sojourn.zeros(), port.length()), (2, 1, 1));
    }

    /// Test that a waiting time counts if it ends in the measurement window.
    /// The window is from 50 to 1000: the first frame comes before it, the last starts after it.
    #[test]
    fn waiting_time_counts_if_it_ends_inside_the_window() {
        let (port, _) = follow_frames_of_queue(&[(10, 10, 0), (20, 60, 0), (970, 970, 0), (980, 1003, 0)], 1200);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum()), (1, 40));
    }

    /// Test that only events inside the measurement window count, however frames are grouped.
    /// Frames that are followed together may extend across the start of the window, or its end.
    #[test]
    fn only_events_inside_the_window_count_however_grouped() {
        let sums = |frames: &[(u64, u64, u32)]| {
            let (port, _) = follow_frames_of_queue(frames, 1200);
            let levels = port.levels.iter();
            levels.fold((0, 0), |(arrivals, time), level| (arrivals + level.arrivals, time + level.time))
        };
        assert_eq!(sums(&[(10, 10, 0), (20, 60, 0), (970, 970, 0), (980, 1003, 0)]), (2, 950));
        let at_once = (0..MAX_NOTES_PER_QUEUE as u64).map(|n| (100 + n, 100 + n, 0));
        let later = [(990, 990, 0), (995, 1020, 0), (1010, 1040, 1)];
        assert_eq!(sums(&at_once.chain(later).collect::<Vec<_>>()), (MAX_NOTES_PER_QUEUE as u64 + 2, 950));
    }

    /// Test that a frame that never leaves has no waiting time.
    /// A frame starts at 120, and another would at 700; the run ends at 400.
    #[test]
    fn frame_that_never_leaves_has_no_waiting_time() {
        let (port, _) = follow_frames_of_queue(&[(100, 100, 0), (100, 120, 1), (110, 700, 1)], 400);
        assert_eq!((port.sojourn.zeros(), port.sojourn.sum(), port.length()), (1, 20, 1));
        let buckets: Vec<_> = port.sojourn.buckets().map(|(low, _, count)| (low, count)).collect();
        assert_eq!(buckets, [(0, 1), (20, 1)]);
    }

    /// Test of a queue that is much longer than its notes.
    /// A frame comes every 2 ps and one leaves every 3 ps: 99 wait when the last comes.
    #[test]
    fn a_queue_of_any_length_is_followed_to_its_last_frame() {
        // Frame m starts at 100 + 3m and frame n arrives at 100 + 2n, so frame m still waits if 3m > 2n.
        let before = |n: u64| (0..n).filter(|m| 3 * m > 2 * n).count() as u32;
        let frames: Vec<_> = (0..300).map(|n| (100 + 2 * n, 100 + 3 * n, before(n))).collect();
        let (port, _) = follow_frames_of_queue(&frames, 1200);
        let arrivals: u64 = port.levels.iter().map(|level| level.arrivals).sum();
        let time: u64 = port.levels.iter().map(|level| level.time).sum();
        assert_eq!((port.length(), arrivals, time), (0, 300, 950));
        assert_eq!(port.sojourn.sum(), (0..300).sum::<u128>());
        assert_eq!(port.levels.iter().rposition(|level| level.arrivals > 0), Some(99));
    }
}
