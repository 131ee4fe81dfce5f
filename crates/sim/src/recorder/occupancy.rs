//! Occupancy of a buffer in bytes: in the measurement window, and over time.

use super::Scope;
use units::{Dur, Time};

/// Occupancy of a buffer inside the measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WindowOccupancy {
    bytes: u64,
    since: Time,
    pub(crate) max_bytes: u64,
    /// Integral of the occupancy over time, in bytes times picoseconds.
    pub(crate) area: u128,
    /// Part of the measurement window during which a frame was moving into the buffer.
    pub(crate) busy: Dur,
    is_incoming: bool,
}

impl WindowOccupancy {
    /// Records that the buffer holds this number of bytes from now on.
    pub(super) fn set_bytes(&mut self, scope: &Scope, now: Time, bytes: u64) {
        self.advance(scope, now);
        self.bytes = bytes;
        if scope.covers(now) {
            self.max_bytes = self.max_bytes.max(bytes);
        }
    }
    /// Records if a frame is moving into the buffer from now on.
    pub(super) fn set_incoming(&mut self, scope: &Scope, now: Time, comes: bool) {
        self.advance(scope, now);
        self.is_incoming = comes;
    }
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Adds the time up to `now`, with unchanged occupancy, to the record.
    pub(super) fn advance(&mut self, scope: &Scope, now: Time) {
        let (first, last) = (self.since.max(scope.from), now.min(scope.to));
        if last > first {
            // The maximum is taken here too, not only when bytes change: bytes that were stored before the window
            // started count.
            self.max_bytes = self.max_bytes.max(self.bytes);
            self.area += u128::from(self.bytes) * u128::from(last.since(first).0);
            self.busy += if self.is_incoming { last.since(first) } else { Dur::ZERO };
        }
        self.since = now;
    }
}

/// Occupancy of a buffer in a time bin that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FinishedBin {
    pub(super) bin: u32,
    /// Integral of the occupancy over the time bin, in bytes times picoseconds.
    pub(super) area: f64,
    pub(super) max_bytes: u64,
    /// Part of the time bin during which a frame was moving into the buffer.
    pub(super) busy: Dur,
}

/// Occupancy of a buffer in the open time bin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BinOccupancy {
    bytes: u64,
    since: Time,
    bin: u32,
    area: u128,
    max_bytes: u64,
    busy: Dur,
    is_incoming: bool,
}

impl BinOccupancy {
    /// Records that the buffer holds this number of bytes from now on. Time bins that are over go to `tell`, except
    /// empty ones.
    pub(super) fn set_bytes(&mut self, scope: &Scope, now: Time, bytes: u64, tell: impl FnMut(FinishedBin)) {
        self.advance(scope, now, tell);
        self.bytes = bytes;
        self.max_bytes = self.max_bytes.max(bytes);
    }
    /// Records if a frame is moving into the buffer from now on; time bins that are over go to `tell`.
    pub(super) fn set_incoming(&mut self, scope: &Scope, now: Time, comes: bool, tell: impl FnMut(FinishedBin)) {
        self.advance(scope, now, tell);
        self.is_incoming = comes;
    }
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Returns the instant up to which the occupancy is recorded.
    pub(super) fn recorded_until(&self) -> Time {
        self.since
    }
    /// Adds the time up to `now`, with unchanged occupancy, to the record; time bins that are over go to `tell`.
    pub(super) fn advance(&mut self, scope: &Scope, now: Time, mut tell: impl FnMut(FinishedBin)) {
        let last = scope.bin_of(now);
        while self.bin < last {
            let edge = Time((u64::from(self.bin) + 1).saturating_mul(scope.bin.0));
            self.advance_in_bin(edge);
            self.end_open_bin().into_iter().for_each(&mut tell);
            self.bin = if self.bytes == 0 && !self.is_incoming { last } else { self.bin + 1 };
            self.max_bytes = self.bytes;
        }
        self.advance_in_bin(now);
    }
    /// Ends the open time bin and returns it; `None` if the buffer was empty throughout and no frame moved into it.
    pub(super) fn end_open_bin(&mut self) -> Option<FinishedBin> {
        let (area, most) = (std::mem::take(&mut self.area) as f64, std::mem::take(&mut self.max_bytes));
        let busy = std::mem::take(&mut self.busy);
        (most > 0 || busy > Dur::ZERO).then_some(FinishedBin { bin: self.bin, area, max_bytes: most, busy })
    }
    fn advance_in_bin(&mut self, end: Time) {
        let passed = end.since(self.since.min(end));
        self.area += u128::from(self.bytes) * u128::from(passed.0);
        self.busy += if self.is_incoming { passed } else { Dur::ZERO };
        self.since = end;
    }
}
