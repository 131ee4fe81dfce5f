//! One queue, followed exactly: how long it had which length, and its course over time.

use super::{Histogram, Scope, TraceRow};
use units::Time;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Follow {
    /// Its number.
    queue: u32,
    length: u32,
    since: Time,
    /// Picoseconds at each length, inside the measurement window.
    pub(crate) time_at: Vec<u64>,
    /// Arrivals that found each length, inside the measurement window.
    pub(crate) seen: Vec<u64>,
    /// Picoseconds that frames waited until their transmission began, inside the measurement window.
    pub(crate) sojourn: Histogram,
    bin: u64,
    bin_max: u32,
    /// Frames times picoseconds in the open step of time.
    bin_area: u128,
}

fn add(counts: &mut Vec<u64>, length: u32, amount: u64) {
    let i = length as usize;
    if counts.len() <= i {
        counts.resize(i + 1, 0);
    }
    counts[i] += amount;
}

impl Follow {
    pub(crate) fn new(queue: u32) -> Follow {
        Follow {
            queue,
            length: 0,
            since: Time::ZERO,
            time_at: Vec::new(),
            seen: Vec::new(),
            sojourn: Histogram::default(),
            bin: 0,
            bin_max: 0,
            bin_area: 0,
        }
    }

    /// Frames that wait.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// A frame came to `before` others.
    pub(crate) fn stored(&mut self, scope: &Scope, (now, before): (Time, u32), trace: &mut Vec<TraceRow>) {
        self.pass(scope, now, trace);
        if now >= scope.from && now < scope.to {
            add(&mut self.seen, before, 1);
        }
        self.length = before + 1;
        self.bin_max = self.bin_max.max(self.length);
    }

    /// A frame left `after` others.
    pub(crate) fn freed(&mut self, scope: &Scope, (now, after): (Time, u32), trace: &mut Vec<TraceRow>) {
        self.pass(scope, now, trace);
        self.length = after;
    }

    /// The frame that begins to leave was stored at `since`.
    #[inline]
    pub(crate) fn started(&mut self, scope: &Scope, now: Time, since: Time) {
        if scope.covers(now) {
            self.sojourn.add(now.since(since).0);
        }
    }

    /// Time goes on to `now` at the present length.
    fn pass(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        let (from, to) = (self.since.max(scope.from), now.min(scope.to));
        if to > from {
            add(&mut self.time_at, self.length, to.0 - from.0);
        }
        let width = scope.bin.0;
        if self.length == 0 && now.0 / width != self.bin {
            self.end_bin(now.0 / width, trace);
        }
        while self.length > 0 && now.0 / width != self.bin {
            let edge = (self.bin + 1) * width;
            self.bin_area += u128::from(self.length) * u128::from(edge - self.since.0);
            self.since = Time(edge);
            self.end_bin(self.bin + 1, trace);
        }
        self.bin_area += u128::from(self.length) * u128::from(now.0 - self.since.0);
        self.since = now;
    }

    /// Steps of time before `bin` are over.
    pub(crate) fn settle(&mut self, scope: &Scope, bin: u32, trace: &mut Vec<TraceRow>) {
        if self.bin < u64::from(bin) {
            self.pass(scope, Time(u64::from(bin) * scope.bin.0), trace);
        }
    }

    fn end_bin(&mut self, next: u64, trace: &mut Vec<TraceRow>) {
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
        self.pass(scope, now, trace);
        // A run whose events end early leaves an empty queue for the rest of the window.
        if self.length == 0 && scope.to > now.max(scope.from) {
            add(&mut self.time_at, 0, scope.to.0 - now.max(scope.from).0);
        }
        if now.0 > self.bin * scope.bin.0 {
            self.end_bin(self.bin + 1, trace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Dur;

    fn scope(from: u64, to: u64) -> Scope {
        Scope { from: Time(from), to: Time(to), bin: Dur(100), queues: true, ..Scope::NOTHING }
    }

    #[test]
    fn time_at_each_length_adds_up_to_the_window() {
        let s = scope(50, 400);
        let (mut q, mut trace) = (Follow::new(9), Vec::new());
        q.stored(&s, (Time(20), 0), &mut trace);
        q.stored(&s, (Time(60), 1), &mut trace);
        q.freed(&s, (Time(250), 1), &mut trace);
        q.freed(&s, (Time(300), 0), &mut trace);
        q.close(&s, Time(320), &mut trace);
        assert_eq!(q.time_at, [100, 60, 190]);
        assert_eq!(q.time_at.iter().sum::<u64>(), 350);
        assert_eq!(q.seen, [0, 1], "the arrival before the window is left out");
    }

    #[test]
    fn the_course_over_time_has_the_right_maximum_and_area_in_every_step() {
        let s = scope(0, 1000);
        let (mut q, mut trace) = (Follow::new(9), Vec::new());
        q.stored(&s, (Time(20), 0), &mut trace);
        q.stored(&s, (Time(60), 1), &mut trace);
        q.freed(&s, (Time(250), 1), &mut trace);
        q.freed(&s, (Time(260), 0), &mut trace);
        q.stored(&s, (Time(950), 0), &mut trace);
        q.close(&s, Time(1000), &mut trace);
        let points: Vec<(u32, u32, u64)> = trace.iter().map(|p| (p.bin, p.max, p.area as u64)).collect();
        assert!(trace.iter().all(|p| p.queue == 9));
        assert_eq!(points, [(0, 2, 40 + 80), (1, 2, 200), (2, 2, 100 + 10), (9, 1, 50)]);
    }
}
