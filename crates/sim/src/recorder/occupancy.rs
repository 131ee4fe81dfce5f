//! Occupancy of a buffer in bytes: in the measurement window, and over time.

use super::Scope;
use units::{Dur, Time};

/// Occupancy inside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    bytes: u64,
    since: Time,
    pub(crate) most: u64,
    /// Bytes times picoseconds.
    pub(crate) area: u128,
    /// Time in which a frame was moving into the buffer.
    pub(crate) busy: Dur,
    comes: bool,
}

impl Held {
    /// Sets the bytes in the buffer from now on.
    pub(super) fn set(&mut self, scope: &Scope, now: Time, bytes: u64) {
        self.pass(scope, now);
        self.bytes = bytes;
        if scope.covers(now) {
            self.most = self.most.max(bytes);
        }
    }
    /// Sets whether a frame is moving into the buffer.
    pub(super) fn coming(&mut self, scope: &Scope, now: Time, comes: bool) {
        self.pass(scope, now);
        self.comes = comes;
    }
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Advances the record to `now` with the present occupancy.
    pub(super) fn pass(&mut self, scope: &Scope, now: Time) {
        let (first, last) = (self.since.max(scope.from), now.min(scope.to));
        if last > first {
            // Bytes that were there when the window started count too.
            self.most = self.most.max(self.bytes);
            self.area += u128::from(self.bytes) * u128::from(last.since(first).0);
            self.busy += if self.comes { last.since(first) } else { Dur::ZERO };
        }
        self.since = now;
    }
}

/// Record of a time bin that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Over {
    pub(super) bin: u32,
    /// Bytes times picoseconds.
    pub(super) area: f64,
    pub(super) most: u64,
    /// Time in which a frame was moving into the buffer.
    pub(super) busy: Dur,
}

/// Occupancy in the open time bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Course {
    bytes: u64,
    since: Time,
    bin: u32,
    area: u128,
    most: u64,
    busy: Dur,
    comes: bool,
}

impl Course {
    /// Sets the bytes in the buffer from now on. Bins that are over go to `tell`, except empty ones.
    pub(super) fn set(&mut self, scope: &Scope, now: Time, bytes: u64, tell: impl FnMut(Over)) {
        self.pass(scope, now, tell);
        self.bytes = bytes;
        self.most = self.most.max(bytes);
    }
    /// Sets whether a frame is moving into the buffer.
    pub(super) fn coming(&mut self, scope: &Scope, now: Time, comes: bool, tell: impl FnMut(Over)) {
        self.pass(scope, now, tell);
        self.comes = comes;
    }
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Returns the instant up to which the record is complete.
    pub(super) fn since(&self) -> Time {
        self.since
    }
    /// Advances the record to `now` with the present occupancy.
    pub(super) fn pass(&mut self, scope: &Scope, now: Time, mut tell: impl FnMut(Over)) {
        let last = scope.bin_of(now);
        while self.bin < last {
            let edge = Time((u64::from(self.bin) + 1).saturating_mul(scope.bin.0));
            self.spend(edge);
            self.end_bin().into_iter().for_each(&mut tell);
            self.bin = if self.bytes == 0 && !self.comes { last } else { self.bin + 1 };
            self.most = self.bytes;
        }
        self.spend(now);
    }
    /// Ends the open bin.
    pub(super) fn end_bin(&mut self) -> Option<Over> {
        let (area, most) = (std::mem::take(&mut self.area) as f64, std::mem::take(&mut self.most));
        let busy = std::mem::take(&mut self.busy);
        (most > 0 || busy > Dur::ZERO).then_some(Over { bin: self.bin, area, most, busy })
    }
    fn spend(&mut self, end: Time) {
        let passed = end.since(self.since.min(end));
        self.area += u128::from(self.bytes) * u128::from(passed.0);
        self.busy += if self.comes { passed } else { Dur::ZERO };
        self.since = end;
    }
}
