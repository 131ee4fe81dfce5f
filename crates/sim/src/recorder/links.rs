//! Bits on links over time: a frame counts as a whole when its transmission starts, with preamble and gap.

use super::{Scope, SumRow};
use scenario::Scenario;
use scenario::events::{Event, LinkChange, SendingPort};
use std::collections::{BTreeMap, BTreeSet};
use units::{ByteClock, Time};

/// Bits that all links sent in open time bins. A computed transmission starts later than it is reported, so that
/// several bins may be open. They are written in the order of time and ports once they are over.
#[derive(Clone, Debug)]
pub(crate) struct LinkBits {
    /// Clock of each port, by the port's number over the whole network; `None` if the rate of its link changes, since
    /// frames are then reported when they start.
    clocks: Vec<Option<ByteClock>>,
    /// Length of preamble and gap of a frame in bytes.
    gap: u64,
    /// Bits sent in each open time bin, by bin and port.
    open_bins: BTreeMap<(u32, u32), u64>,
    /// Number of the first time bin that is not written.
    next_bins: u32,
}

/// Transmission of a frame by a port, as reported at `now`, with its bytes and the instant of its last bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) now: Time,
    pub(crate) port: u32,
    pub(crate) size: u16,
    pub(crate) end: Time,
}

/// Returns the clock of each port, by the port's number over the whole network; `None` for a port whose sending rate
/// changes during the run.
pub(super) fn steady_clocks(scenario: &Scenario) -> Vec<Option<ByteClock>> {
    let of_rate = scenario.events.iter().filter_map(Event::link_change);
    let of_rate = of_rate.filter(|(change, _)| matches!(change, LinkChange::Rate(_)));
    let changing: BTreeSet<SendingPort> = of_rate.flat_map(|(_, senders)| senders.iter().copied()).collect();
    let nodes = scenario.topology.nodes.iter().zip(0..);
    let ports = nodes.flat_map(|(node, number)| node.ports.iter().zip(0..).map(move |(port, at)| ((number, at), port)));
    ports.map(|(place, port)| (!changing.contains(&place)).then(|| port.rate.clock())).collect()
}

/// Returns the start of the transmission of a frame that is reported at `now` and ends at `end`, given as a pair. A
/// computed departure is reported before it starts; none is computed at a port whose rate changes.
pub(super) fn transmission_start(clock: Option<ByteClock>, (now, end): (Time, Time), bytes: u64) -> Time {
    clock.map_or(now, |clock| now.max(Time(end.0.saturating_sub(clock.time(bytes).0))))
}

impl LinkBits {
    pub(crate) fn from_scenario(scenario: &Scenario) -> LinkBits {
        LinkBits::new(steady_clocks(scenario), scenario.framing.gap)
    }

    fn new(clocks: Vec<Option<ByteClock>>, gap: u16) -> LinkBits {
        LinkBits { clocks, gap: u64::from(gap), open_bins: BTreeMap::new(), next_bins: 0 }
    }

    /// Counts the bits of a frame that a port transmits, in the time bin in which it starts.
    pub(crate) fn count_transmission(&mut self, scope: &Scope, frame: Transmission, rows: &mut Vec<SumRow>) {
        let Transmission { now, port, size, end } = frame;
        self.end_bins_before(scope.bin_of(now), rows);
        let bytes = u64::from(size) + self.gap;
        let start = transmission_start(self.clocks[port as usize], (now, end), bytes);
        *self.open_bins.entry((scope.bin_of(start), port)).or_default() += bytes * 8;
    }

    /// Removes the bits of a frame that was to start at `start` and never does, since the run is over.
    pub(crate) fn uncount_transmission(&mut self, scope: &Scope, port: u32, start: Time, size: u16) {
        if let Some(bits) = self.open_bins.get_mut(&(scope.bin_of(start), port)) {
            *bits -= (u64::from(size) + self.gap) * 8;
        }
    }

    /// Adds the open time bins of another partition.
    pub(crate) fn add_all(&mut self, other: &LinkBits) {
        other.open_bins.iter().for_each(|(at, bits)| *self.open_bins.entry(*at).or_default() += bits);
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, bin: u32, rows: &mut Vec<SumRow>) {
        if bin > self.next_bins {
            self.write_bins_before(bin, rows);
        }
    }

    fn write_bins_before(&mut self, bin: u32, rows: &mut Vec<SumRow>) {
        self.next_bins = bin;
        while let Some(first) = self.open_bins.first_entry().filter(|first| first.key().0 < bin) {
            let ((bin, of), amount) = first.remove_entry();
            rows.extend((amount > 0).then_some(SumRow { amount, bin, owner: of }));
        }
    }

    pub(crate) fn close(&mut self, rows: &mut Vec<SumRow>) {
        self.write_bins_before(u32::MAX, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Dur, Rate};

    const SCOPE: Scope = Scope { bin: Dur::us(1), ..Scope::EMPTY };

    fn row(amount: u64, bin: u32, of: u32) -> SumRow {
        SumRow { amount, bin, owner: of }
    }

    /// Test that a frame counts whole in the time bin in which its transmission begins.
    /// A byte takes 8 ns at 1 Gb/s: 125 bytes a microsecond.
    #[test]
    fn frame_counts_whole_in_the_bin_of_its_start() {
        let (mut links, mut rows) = (LinkBits::new(vec![Some(Rate::gbps(1).clock()); 2], 20), Vec::new());
        let mut send = |now, port, size, end| {
            links.count_transmission(&SCOPE, Transmission { now: Time(now), port, size, end: Time(end) }, &mut rows);
        };
        // The departures of three frames are computed at 0. Two of 100 bytes, gap included, start at 0 and 0.8 us; one
        // of 200 bytes starts at 1.6 us.
        send(0, 1, 80, 800_000);
        send(0, 1, 80, 1_600_000);
        send(0, 1, 180, 3_200_000);
        send(100_000, 0, 80, 900_000);
        // A frame that starts at the exact instant at which bin 5 begins counts in that bin.
        send(5_000_000, 1, 80, 5_800_000);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0), row(1600, 0, 1), row(1600, 1, 1), row(800, 5, 1)]);
    }

    /// Test that each time bin is written once, after it is over.
    /// The second frame is reported at 0 and starts with bin 1. The third is reported in that bin and starts in it
    /// too.
    #[test]
    fn time_bin_is_written_once_after_its_end() {
        let (mut links, mut rows) = (LinkBits::new(vec![Some(Rate::gbps(1).clock())], 20), Vec::new());
        for (now, end) in [(0, 800_000), (0, 1_800_000), (1_000_000, 2_600_000)] {
            links.count_transmission(
                &SCOPE,
                Transmission { now: Time(now), port: 0, size: 80, end: Time(end) },
                &mut rows,
            );
        }
        assert_eq!(rows, [row(800, 0, 0)]);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0), row(1600, 1, 0)]);
    }

    #[test]
    fn frames_not_started_at_the_end_are_uncounted() {
        let (mut links, mut rows) = (LinkBits::new(vec![Some(Rate::gbps(1).clock())], 20), Vec::new());
        for end in [800_000, 1_600_000, 2_400_000] {
            links.count_transmission(
                &SCOPE,
                Transmission { now: Time(0), port: 0, size: 80, end: Time(end) },
                &mut rows,
            );
        }
        links.uncount_transmission(&SCOPE, 0, Time(800_000), 80);
        links.uncount_transmission(&SCOPE, 0, Time(1_600_000), 80);
        links.close(&mut rows);
        assert_eq!(rows, [row(800, 0, 0)]);
    }

    /// Test that frames of a link with changing rates start when they are reported.
    /// A frame of 125 bytes with gap takes 1 us at 1 Gb/s, and 10 us once the rate is 0.1 Gb/s. By the first rate it
    /// would start at 9 us.
    #[test]
    fn frames_of_changing_links_start_when_reported() {
        let mut frame = Transmission { now: Time(500_000), port: 0, size: 105, end: Time(10_500_000) };
        for (clock, bin) in [(Some(Rate::gbps(1).clock()), 9), (None, 0)] {
            let (mut links, mut rows) = (LinkBits::new(vec![clock], 20), Vec::new());
            links.count_transmission(&SCOPE, frame, &mut rows);
            links.close(&mut rows);
            assert_eq!(rows, [row(1000, bin, 0)]);
        }
        frame.end = Time(0);
        assert_eq!(transmission_start(None, (frame.now, frame.end), 125), frame.now);
    }
}
