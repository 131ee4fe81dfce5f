//! Bits on links over time: a frame counts whole where its transmission begins, with preamble and
//! gap.

use super::{Scope, SumRow};
use std::collections::BTreeMap;
use units::{Clock, Time};

/// See the module. A transmission whose departure is computed begins later than it is told of, so that
/// several steps may be open; they are written in the order of time and ports once they are over.
#[derive(Clone, Debug)]
pub(crate) struct LinkBits {
    /// By port, in the numbering over the whole network.
    clocks: Vec<Clock>,
    /// Preamble and gap, bytes.
    gap: u64,
    /// By step and port.
    open: BTreeMap<(u32, u32), u64>,
    /// Steps before this one are written.
    next: u32,
}

/// A frame that goes out: told of at `now`, by which port, its bytes, and when its last bit leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) now: Time,
    pub(crate) port: u32,
    pub(crate) size: u16,
    pub(crate) end: Time,
}

impl LinkBits {
    pub(crate) fn new(clocks: Vec<Clock>, gap: u16) -> LinkBits {
        LinkBits { clocks, gap: u64::from(gap), open: BTreeMap::new(), next: 0 }
    }

    /// A frame goes out.
    pub(crate) fn transmitted(&mut self, scope: &Scope, frame: Transmission, rows: &mut Vec<SumRow>) {
        let Transmission { now, port, size, end } = frame;
        self.settle(scope.bin_of(now), rows);
        let bytes = u64::from(size) + self.gap;
        // At a port whose rate changes it is told of when it begins.
        let time = self.clocks[port as usize].time(bytes);
        let start = now.max(Time(end.0.saturating_sub(time.0)));
        *self.open.entry((scope.bin_of(start), port)).or_default() += bytes * 8;
    }

    /// A frame that was to begin at `start` never did: the run is over.
    pub(crate) fn take_back(&mut self, scope: &Scope, port: u32, start: Time, size: u16) {
        if let Some(bits) = self.open.get_mut(&(scope.bin_of(start), port)) {
            *bits -= (u64::from(size) + self.gap) * 8;
        }
    }

    /// What another partition has not written.
    pub(crate) fn add_all(&mut self, other: &LinkBits) {
        other.open.iter().for_each(|(at, bits)| *self.open.entry(*at).or_default() += bits);
    }

    /// Steps before `bin` are over.
    pub(crate) fn settle(&mut self, bin: u32, rows: &mut Vec<SumRow>) {
        if bin > self.next {
            self.write_before(bin, rows);
        }
    }

    fn write_before(&mut self, bin: u32, rows: &mut Vec<SumRow>) {
        self.next = bin;
        while let Some(first) = self.open.first_entry().filter(|first| first.key().0 < bin) {
            let ((bin, of), amount) = first.remove_entry();
            rows.extend((amount > 0).then_some(SumRow { amount, bin, of }));
        }
    }

    pub(crate) fn close(&mut self, rows: &mut Vec<SumRow>) {
        self.write_before(u32::MAX, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Dur, Rate};

    const SCOPE: Scope = Scope { bin: Dur::us(1), ..Scope::NOTHING };

    fn row(amount: u64, bin: u32, of: u32) -> SumRow {
        SumRow { amount, bin, of }
    }

    /// At 1 Gb/s a byte takes 8 ns: 125 bytes a microsecond.
    #[test]
    fn a_frame_counts_whole_in_the_step_in_which_it_begins() {
        let (mut links, mut rows) = (LinkBits::new(vec![Rate::gbps(1).clock(); 2], 20), Vec::new());
        let mut send = |now, port, size, end| {
            links.transmitted(&SCOPE, Transmission { now: Time(now), port, size, end: Time(end) }, &mut rows);
        };
        // Two of 100 bytes with gap, computed at 0: they begin at 0 and 0.8 us; one of 200 at 1.6 us.
        send(0, 1, 80, 800_000);
        send(0, 1, 80, 1_600_000);
        send(0, 1, 180, 3_200_000);
        send(100_000, 0, 80, 900_000);
        // One more begins exactly with the step 5.
        send(5_000_000, 1, 80, 5_800_000);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0), row(1600, 0, 1), row(1600, 1, 1), row(800, 5, 1)]);
    }

    /// Told of at 0, one begins with the step 1; told of in that step, another begins in it too.
    #[test]
    fn a_step_is_written_once_and_not_before_it_is_over() {
        let (mut links, mut rows) = (LinkBits::new(vec![Rate::gbps(1).clock()], 20), Vec::new());
        for (now, end) in [(0, 800_000), (0, 1_800_000), (1_000_000, 2_600_000)] {
            links.transmitted(&SCOPE, Transmission { now: Time(now), port: 0, size: 80, end: Time(end) }, &mut rows);
        }
        assert_eq!(rows, [row(800, 0, 0)]);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0), row(1600, 1, 0)]);
    }

    #[test]
    fn what_has_not_begun_when_the_run_ends_is_taken_back() {
        let (mut links, mut rows) = (LinkBits::new(vec![Rate::gbps(1).clock()], 20), Vec::new());
        for end in [800_000, 1_600_000, 2_400_000] {
            links.transmitted(&SCOPE, Transmission { now: Time(0), port: 0, size: 80, end: Time(end) }, &mut rows);
        }
        links.take_back(&SCOPE, 0, Time(800_000), 80);
        links.take_back(&SCOPE, 0, Time(1_600_000), 80);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0)]);
    }
}
