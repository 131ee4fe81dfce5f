//! Bytes that flows send over time: a frame counts as a whole when it starts to leave its host's NIC, with preamble
//! and gap.

use super::links::{Transmission, steady_clocks, transmission_start};
use super::{Scope, SentRow};
use scenario::Scenario;
use std::collections::{BTreeMap, VecDeque};
use units::{ByteClock, Time};

/// Bytes that flows sent in open time bins. A computed departure is reported early, so that several bins may be open.
#[derive(Clone, Debug)]
pub(crate) struct SentOverTime {
    /// Clock of each host's NIC; `None` if the rate of its link changes, since frames are then reported when they
    /// start.
    clocks: Vec<Option<ByteClock>>,
    /// Length of preamble and gap of a frame in bytes.
    gap: u64,
    /// Bytes sent in each open time bin, by bin, host and flow.
    open: BTreeMap<(u32, u32, u32), u64>,
    /// Frames of each host whose transmission has not started: its start, the flow, and the bytes.
    unstarted_frames: Vec<VecDeque<(Time, u32, u64)>>,
    /// Number of the first time bin that is not written.
    next: u32,
}

impl SentOverTime {
    pub(crate) fn from_scenario(scenario: &Scenario) -> SentOverTime {
        // Hosts come first in the numbering of ports, with one port each.
        let mut clocks = steady_clocks(scenario);
        clocks.truncate(scenario.topology.hosts as usize);
        SentOverTime::new(clocks, scenario.framing.gap)
    }

    fn new(clocks: Vec<Option<ByteClock>>, gap: u16) -> SentOverTime {
        let ahead = vec![VecDeque::new(); clocks.len()];
        SentOverTime { clocks, gap: u64::from(gap), open: BTreeMap::new(), unstarted_frames: ahead, next: 0 }
    }

    /// Counts a frame of a flow that a host transmits; the port number of the frame is that of the host.
    pub(crate) fn count_transmission(
        &mut self,
        scope: &Scope,
        flow: u32,
        frame: Transmission,
        rows: &mut Vec<SentRow>,
    ) {
        let Transmission { now, port: host, size, end } = frame;
        let Some(clock) = self.clocks.get(host as usize).copied() else { return };
        let bytes = u64::from(size) + self.gap;
        let start = transmission_start(clock, (now, end), bytes);
        self.end_bins_before(scope.bin_of(now), rows);
        *self.open.entry((scope.bin_of(start), host, flow)).or_default() += bytes;
        let ahead = &mut self.unstarted_frames[host as usize];
        while ahead.front().is_some_and(|(start, ..)| *start < now) {
            ahead.pop_front();
        }
        if start > now {
            ahead.push_back((start, flow, bytes));
        }
    }

    /// Removes the last counted frame of a host, whose transmission never starts because the run is over.
    pub(crate) fn uncount_last_frame(&mut self, scope: &Scope, host: u32) {
        let Some((start, flow, bytes)) = self.unstarted_frames.get_mut(host as usize).and_then(VecDeque::pop_back)
        else {
            return;
        };
        if let Some(sum) = self.open.get_mut(&(scope.bin_of(start), host, flow)) {
            *sum -= bytes;
        }
    }

    /// Copies the records of another partition for the hosts that it owns.
    pub(crate) fn take_partition(&mut self, other: &mut SentOverTime, host: impl Fn(usize) -> bool) {
        self.open.append(&mut other.open);
        let own = (0..self.unstarted_frames.len()).filter(|at| host(*at));
        own.for_each(|at| std::mem::swap(&mut self.unstarted_frames[at], &mut other.unstarted_frames[at]));
    }

    /// Replaces the numbers of flows by those in the whole run.
    pub(crate) fn renumber_flows(&mut self, flow_numbers: &[u32]) {
        let open = std::mem::take(&mut self.open);
        let renamed =
            |((bin, host, flow), bytes): ((u32, u32, u32), u64)| ((bin, host, flow_numbers[flow as usize]), bytes);
        self.open = open.into_iter().map(renamed).collect();
        self.unstarted_frames.iter_mut().flatten().for_each(|frame| frame.1 = flow_numbers[frame.1 as usize]);
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, bin: u32, rows: &mut Vec<SentRow>) {
        if bin > self.next {
            self.write_bins_before(bin, rows);
        }
    }

    fn write_bins_before(&mut self, bin: u32, rows: &mut Vec<SentRow>) {
        self.next = bin;
        while let Some(first) = self.open.first_entry().filter(|first| first.key().0 < bin) {
            let ((bin, host, flow), bytes) = first.remove_entry();
            rows.extend((bytes > 0).then_some(SentRow { bytes, bin, host, flow }));
        }
    }

    pub(crate) fn close(&mut self, rows: &mut Vec<SentRow>) {
        self.write_bins_before(u32::MAX, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Dur, Rate};

    const SCOPE: Scope = Scope { bin: Dur::us(1), hosts: 2, ..Scope::EMPTY };

    fn row(bytes: u64, bin: u32, host: u32, flow: u32) -> SentRow {
        SentRow { bytes, bin, host, flow }
    }

    /// Returns the record and rows of transmissions of frames of 80 bytes, which take 0.8 us at 1 Gb/s with gap. A
    /// frame is given by its flow, the instant of its report in ns, its host, and its end in ns.
    fn sent(clocks: [Option<ByteClock>; 2], frames: &[(u32, u64, u32, u64)]) -> (SentOverTime, Vec<SentRow>) {
        let (mut all, mut rows) = (SentOverTime::new(clocks.to_vec(), 20), Vec::new());
        for (flow, now, port, end) in frames {
            let frame = Transmission { now: Time(now * 1000), port: *port, size: 80, end: Time(end * 1000) };
            all.count_transmission(&SCOPE, *flow, frame, &mut rows);
        }
        (all, rows)
    }

    const GIGABIT: fn() -> Option<ByteClock> = || Some(Rate::gbps(1).clock());

    #[test]
    fn frame_counts_whole_for_its_flow_in_the_bin_of_its_start() {
        let frames = [
            (5, 0, 1, 800),
            (6, 0, 1, 1600),
            (5, 0, 1, 2400),
            (5, 100, 0, 900),
            (5, 5000, 1, 5800),
            (9, 5000, 2, 5800),
        ];
        let (mut all, mut rows) = sent([GIGABIT(); 2], &frames);
        all.close(&mut rows);
        assert_eq!(
            rows,
            [row(100, 0, 0, 5), row(100, 0, 1, 5), row(100, 0, 1, 6), row(100, 1, 1, 5), row(100, 5, 1, 5)]
        );
    }

    #[test]
    fn frames_of_changing_links_start_when_reported() {
        let (mut all, mut rows) = sent([None, GIGABIT()], &[(5, 900, 0, 8900), (5, 900, 1, 8900)]);
        all.close(&mut rows);
        assert_eq!(rows, [row(100, 0, 0, 5), row(100, 8, 1, 5)]);
    }

    #[test]
    fn frames_not_started_at_the_end_are_uncounted() {
        let (mut all, mut rows) =
            sent([GIGABIT(); 2], &[(5, 0, 1, 800), (6, 0, 1, 1600), (5, 0, 1, 2400), (7, 0, 0, 800)]);
        (0..2).for_each(|_| all.uncount_last_frame(&SCOPE, 1));
        all.uncount_last_frame(&SCOPE, 2);
        all.close(&mut rows);
        assert_eq!(rows, [row(100, 0, 0, 7), row(100, 0, 1, 5)]);
    }

    #[test]
    fn started_frames_stay_counted_under_new_flow_numbers() {
        let (mut all, mut rows) = sent([GIGABIT(); 2], &[(0, 0, 1, 800), (0, 0, 1, 1600), (1, 900, 1, 2400)]);
        assert_eq!(all.unstarted_frames[1].len(), 1, "the second has begun at 0.8 us");
        all.renumber_flows(&[3, 2]);
        all.uncount_last_frame(&SCOPE, 1);
        all.close(&mut rows);
        assert_eq!(rows, [row(200, 0, 1, 3)]);
    }
}
