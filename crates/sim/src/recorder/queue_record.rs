//! Exact record of one queue: the time that it had each length, and its history over time.

use super::{Histogram, Scope, TraceRow};
use units::Time;

/// Record of a queue. Fields that most frames touch come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct QueueRecord {
    length: u32,
    bin_max: u32,
    /// Instant up to which the queue is recorded.
    since: Time,
    /// Instant at which the open time bin ends; 0 before the first call.
    edge: Time,
    /// Records of time and arrivals, by length of the queue.
    pub(crate) levels: Vec<LengthRecord>,
    /// Integral of the queue length over the open time bin, in frames times picoseconds.
    bin_area: u128,
    /// Histogram of the times in picoseconds that frames waited until their transmission started, inside the
    /// measurement window.
    pub(crate) sojourn: Histogram,
    bin: u64,
    /// Number of the queue among all recorded queues.
    queue: u32,
}

/// Time and arrivals at one length of a queue, inside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LengthRecord {
    /// Picoseconds for which the queue had this length.
    pub(crate) time: u64,
    /// Number of arrivals that found the queue at this length.
    pub(crate) arrivals: u64,
}

impl QueueRecord {
    pub(crate) fn new(queue: u32) -> QueueRecord {
        QueueRecord {
            length: 0,
            bin_max: 0,
            since: Time::ZERO,
            edge: Time::ZERO,
            levels: Vec::new(),
            bin_area: 0,
            sojourn: Histogram::default(),
            bin: 0,
            queue,
        }
    }

    /// Returns the number of queued frames.
    #[inline(always)]
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// Returns the instant up to which the queue is recorded.
    #[inline(always)]
    pub(super) fn followed_until(&self) -> Time {
        self.since
    }

    /// Returns the lengths that the queue had, or that a frame found, with their records.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = (u32, &LengthRecord)> {
        (0..).zip(&self.levels).filter(|(_, level)| **level != LengthRecord::default())
    }

    #[inline(always)]
    fn length_record(&mut self, length: u32) -> &mut LengthRecord {
        let at = length as usize;
        if at >= self.levels.len() {
            self.extend_lengths(at);
        }
        &mut self.levels[at]
    }

    #[cold]
    fn extend_lengths(&mut self, length: usize) {
        self.levels.resize(length + 1, LengthRecord::default());
    }

    /// Records a frame that was stored behind `before` others. The window is not checked if the caller has found that
    /// all time since the last call is `INSIDE` it.
    #[inline(always)]
    pub(crate) fn record_stored<const INSIDE: bool>(
        &mut self,
        scope: &Scope,
        now: Time,
        before: u32,
        trace: &mut Vec<TraceRow>,
    ) {
        self.advance::<INSIDE>(scope, now, trace);
        if INSIDE || scope.covers(now) {
            self.length_record(before).arrivals += 1;
        }
        self.length = before + 1;
        self.bin_max = self.bin_max.max(self.length);
    }

    /// Records a frame that left the queue, with `after` others behind it.
    #[inline(always)]
    pub(crate) fn record_freed<const INSIDE: bool>(
        &mut self,
        scope: &Scope,
        now: Time,
        after: u32,
        trace: &mut Vec<TraceRow>,
    ) {
        self.advance::<INSIDE>(scope, now, trace);
        self.length = after;
    }

    /// Records a frame that came to an empty queue and started to leave immediately. The caller counts that it did
    /// not wait.
    #[inline(always)]
    pub(crate) fn record_passed<const INSIDE: bool>(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        self.advance::<INSIDE>(scope, now, trace);
        if INSIDE || scope.covers(now) {
            self.length_record(0).arrivals += 1;
        }
        self.bin_max = self.bin_max.max(1);
    }

    /// Counts frames that passed the empty queue inside the measurement window, and of which nothing else is recorded.
    #[inline(always)]
    pub(super) fn count_passed(&mut self, frames: u64) {
        if frames > 0 {
            self.length_record(0).arrivals += frames;
            self.sojourn.add_each(frames, &[]);
        }
    }

    /// Records the waiting time of a frame that starts to leave and was stored at `since`.
    #[inline(always)]
    pub(crate) fn record_waiting_time(&mut self, scope: &Scope, now: Time, since: Time) {
        if scope.covers(now) {
            self.sojourn.add(now.since(since).0);
        }
    }

    /// Adds the time up to `now`, with unchanged queue length, to the record.
    #[inline(always)]
    fn advance<const INSIDE: bool>(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        if now >= self.edge {
            self.end_past_bins(scope, now, trace);
        }
        self.advance_in_bin::<INSIDE>(scope, now);
    }

    /// Adds the time up to `now`, which is in the open time bin, to the record.
    #[inline(always)]
    fn advance_in_bin<const INSIDE: bool>(&mut self, scope: &Scope, now: Time) {
        let (from, to) = if INSIDE { (self.since, now) } else { (self.since.max(scope.from), now.min(scope.to)) };
        if to > from {
            self.length_record(self.length).time += to.0 - from.0;
        }
        self.bin_area += u128::from(self.length) * u128::from(now.0 - self.since.0);
        self.since = now;
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, scope: &Scope, bin: u32, trace: &mut Vec<TraceRow>) {
        if self.bin < u64::from(bin) {
            self.advance::<false>(scope, Time(u64::from(bin) * scope.bin.0), trace);
        }
    }

    /// Writes the rows of time bins that are over by `now`; those of an empty queue are skipped together.
    #[cold]
    fn end_past_bins(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        let width = scope.bin.0;
        self.edge = Time((self.bin + 1).saturating_mul(width));
        while now >= self.edge {
            let next = if self.length == 0 { now.0 / width } else { self.bin + 1 };
            self.advance_in_bin::<false>(scope, Time(next * width));
            self.end_open_bin(next, trace);
            self.edge = Time((next + 1).saturating_mul(width));
        }
    }

    fn end_open_bin(&mut self, next: u64, trace: &mut Vec<TraceRow>) {
        if self.bin_max > 0 {
            trace.push(TraceRow {
                area: self.bin_area as f64,
                queue: self.queue,
                bin: self.bin as u32,
                max: self.bin_max,
            });
        }
        (self.bin, self.bin_max, self.bin_area) = (next, self.length, 0);
    }

    pub(crate) fn close(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        self.advance::<false>(scope, now, trace);
        // If no event is left, a run ends before the end of the window. A queue that is empty then stays empty for the
        // rest of the window.
        if self.length == 0 && scope.to > now.max(scope.from) {
            self.length_record(0).time += scope.to.0 - now.max(scope.from).0;
        }
        if now.0 > self.bin * scope.bin.0 {
            self.end_open_bin(self.bin + 1, trace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    fn scope(from: u64, to: u64) -> Scope {
        Scope { from: Time(from), to: Time(to), bin: Dur(100), queues: true, ..Scope::EMPTY }
    }

    #[test]
    fn time_at_each_length_adds_up_to_the_window() {
        let s = scope(50, 400);
        let (mut q, mut trace) = (QueueRecord::new(9), Vec::new());
        q.record_stored::<false>(&s, Time(20), 0, &mut trace);
        q.record_stored::<false>(&s, Time(60), 1, &mut trace);
        q.record_freed::<false>(&s, Time(250), 1, &mut trace);
        q.record_freed::<false>(&s, Time(300), 0, &mut trace);
        q.close(&s, Time(320), &mut trace);
        let of = |what: fn(&LengthRecord) -> u64| q.levels.iter().map(what).collect::<Vec<_>>();
        let (times, arrivals) = (of(|level| level.time), of(|level| level.arrivals));
        assert_eq!((times.iter().sum::<u64>(), times), (350, vec![100, 60, 190]));
        assert_eq!(arrivals, [0, 1, 0], "the arrival before the window is left out");
    }

    #[test]
    fn history_has_exact_maximum_and_area_in_every_bin() {
        let s = scope(0, 1000);
        let (mut q, mut trace) = (QueueRecord::new(9), Vec::new());
        q.record_stored::<false>(&s, Time(20), 0, &mut trace);
        q.record_stored::<false>(&s, Time(60), 1, &mut trace);
        q.record_freed::<false>(&s, Time(250), 1, &mut trace);
        q.record_freed::<false>(&s, Time(260), 0, &mut trace);
        q.record_stored::<false>(&s, Time(950), 0, &mut trace);
        q.close(&s, Time(1000), &mut trace);
        let points: Vec<(u32, u32, u64)> = trace.iter().map(|p| (p.bin, p.max, p.area as u64)).collect();
        assert!(trace.iter().all(|p| p.queue == 9));
        assert_eq!(points, [(0, 2, 40 + 80), (1, 2, 200), (2, 2, 100 + 10), (9, 1, 50)]);
    }
}
