//! Metrics of the order in which a stream of packets arrives: reorder density and reorder buffer-occupancy density
//! (RFC 5236), reordering extent (RFC 4737 §4.2.2).
//!
//! Sequence numbers are ranks in the order of sending, from 0. All three metrics leave out duplicates, and packets so
//! late that they count as lost. One threshold serves for all: the displacement threshold DT of the density, the
//! buffer-occupancy threshold BT, and the largest extent. It bounds the memory of a stream: each metric keeps at most
//! about that many numbers.

use std::collections::{BTreeSet, VecDeque};

/// Counts of packets by the value of each metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReorderCounts {
    /// Number of packets by displacement, from -DT on: the receive index minus the sequence number, negative if early.
    pub(crate) displacements: Vec<u64>,
    /// Number of arrivals after which 0, 1, 2, … packets wait for an earlier one.
    pub(crate) buffer_occupancies: Vec<u64>,
    /// Number of reordered packets by reordering extent.
    pub(crate) extent: Vec<u64>,
    /// Number of packets received, without duplicates, and without those that are too late to have an extent and count
    /// as lost.
    pub(crate) received: u64,
}

impl ReorderCounts {
    /// Adds the counts of another partition of the run.
    pub(crate) fn add_all(&mut self, other: &ReorderCounts) {
        let pairs = [
            (&mut self.displacements, &other.displacements),
            (&mut self.buffer_occupancies, &other.buffer_occupancies),
            (&mut self.extent, &other.extent),
        ];
        for (mine, its) in pairs {
            mine.resize(mine.len().max(its.len()), 0);
            mine.iter_mut().zip(its).for_each(|(mine, its)| *mine += its);
        }
        self.received += other.received;
    }
}

fn increment(counts: &mut Vec<u64>, value: usize) {
    if counts.len() <= value {
        counts.resize(value + 1, 0);
    }
    counts[value] += 1;
}

/// State of the reordering metrics for one stream of packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrivalStream {
    density: ReorderDensity,
    occupancy: ReorderBuffer,
    extents: ReorderExtents,
}

impl ArrivalStream {
    /// Records the arrival of the packet with number `seq` in its stream. The packet counts in `tally` if `counts` is
    /// true.
    pub(crate) fn record_arrival(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut ReorderCounts) {
        self.density.record_arrival(seq, counts, threshold, tally);
        let waiting = self.occupancy.record_arrival(seq, threshold).filter(|_| counts);
        waiting.into_iter().for_each(|waiting| increment(&mut tally.buffer_occupancies, waiting));
        if let Some(extent) = self.extents.record_arrival(seq, threshold).filter(|_| counts) {
            tally.received += 1;
            if extent > 0 {
                increment(&mut tally.extent, extent as usize);
            }
        }
    }

    /// Ends the stream: no packet arrives any more.
    pub(crate) fn end_stream(&mut self, threshold: u32, tally: &mut ReorderCounts) {
        self.density.assign_decided_indices(true, threshold, tally);
    }

    /// Returns the lowest number of a packet that may still change a metric.
    pub(crate) fn lowest_open_rank(&self) -> u64 {
        let hole = self.extents.missing.front().map_or(self.extents.next, |hole| hole.start);
        self.density.next.min(self.occupancy.expected).min(hole)
    }

    /// Returns true if every packet before `seq` has arrived or counts as lost, and none waits for an earlier one.
    pub(crate) fn is_complete_before(&self, seq: u64) -> bool {
        self.lowest_open_rank() == seq && self.density.window.is_empty() && self.occupancy.held.is_empty()
    }
}

/// Assignment of receive indices by RFC 5236 §6.1: the index skips the number of a packet that is not among the next DT
/// + 1 arrivals.
#[derive(Clone, Debug, Default)]
struct ReorderDensity {
    /// Next receive index (RI).
    next: u64,
    /// Packets that have arrived and have no receive index yet, in order of arrival, each with true if it counts.
    window: VecDeque<(u64, bool)>,
    /// Set of the packet numbers in `window`.
    windowed: BTreeSet<u64>,
    /// Packets that got a receive index before the index reached their own number.
    early: BTreeSet<u64>,
}

impl ReorderDensity {
    fn record_arrival(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut ReorderCounts) {
        if self.window.is_empty() && self.early.is_empty() && seq == self.next {
            self.next += 1;
            return ReorderDensity::count_displacement(0, counts, threshold, tally);
        }
        if seq >= self.next && !self.early.contains(&seq) && self.windowed.insert(seq) {
            self.window.push_back((seq, counts));
            self.assign_decided_indices(false, threshold, tally);
        }
    }

    fn count_displacement(displacement: i64, counts: bool, threshold: u32, tally: &mut ReorderCounts) {
        if counts {
            increment(&mut tally.displacements, (displacement + i64::from(threshold)) as usize);
        }
    }

    /// Assigns the receive indices that are already decided, or all if `all` is true: then no packet arrives any more.
    fn assign_decided_indices(&mut self, all: bool, threshold: u32, tally: &mut ReorderCounts) {
        let most = threshold as usize;
        while let Some((seq, counts)) = self.window.front().copied() {
            if self.windowed.contains(&self.next) || self.early.contains(&self.next) {
                self.window.pop_front();
                self.windowed.remove(&seq);
                self.assign_index(seq, counts, threshold, tally);
            } else if all || self.window.len() > most {
                let first = self.windowed.first().into_iter().chain(self.early.first()).min();
                self.next = first.map_or(self.next, |first| *first).max(self.next + 1);
            } else {
                break;
            }
        }
    }

    fn assign_index(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut ReorderCounts) {
        let displacement = self.next as i64 - seq as i64;
        if displacement.unsigned_abs() > u64::from(threshold) {
            return;
        }
        ReorderDensity::count_displacement(displacement, counts, threshold, tally);
        self.early.remove(&self.next);
        if displacement < 0 {
            self.early.insert(seq);
        }
        self.next += 1;
    }
}

/// Buffer that restores the order of packets (RFC 5236 §5), with the packets that wait in it after each arrival. If
/// it overflows, the packets that it waits for count as lost.
#[derive(Clone, Debug, Default)]
struct ReorderBuffer {
    /// Next expected number (E).
    expected: u64,
    held: BTreeSet<u64>,
}

impl ReorderBuffer {
    fn record_arrival(&mut self, seq: u64, threshold: u32) -> Option<usize> {
        if seq < self.expected || (seq > self.expected && !self.held.insert(seq)) {
            return None;
        }
        self.expected += u64::from(seq == self.expected);
        if self.held.len() > threshold as usize {
            self.expected = self.held.first().copied().unwrap_or(self.expected);
        }
        while self.held.first() == Some(&self.expected) {
            self.held.pop_first();
            self.expected += 1;
        }
        Some(self.held.len())
    }
}

/// Missing packets below the highest that has arrived, with the index of the first arrival above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MissingRange {
    start: u64,
    end: u64,
    first_later_arrival: u64,
}

/// Reordered packets (RFC 4737 §3.3: below NextExp) and their reordering extent: the arrivals since the first one with
/// a higher number.
#[derive(Clone, Debug, Default)]
struct ReorderExtents {
    /// Next expected number (NextExp).
    next: u64,
    /// Number of packets that have arrived.
    arrivals: u64,
    /// Ranges of missing packets, in order of their numbers.
    missing: VecDeque<MissingRange>,
}

impl ReorderExtents {
    /// Records an arrival and returns its reordering extent: 0 if it is in order; `None` if it counts as lost or is a
    /// duplicate.
    fn record_arrival(&mut self, seq: u64, threshold: u32) -> Option<u64> {
        let arrival = self.arrivals;
        while self.missing.front().is_some_and(|hole| arrival - hole.first_later_arrival > u64::from(threshold)) {
            self.missing.pop_front();
        }
        let extent = if seq < self.next { arrival - self.remove_missing(seq)? } else { 0 };
        if seq > self.next {
            self.missing.push_back(MissingRange { start: self.next, end: seq, first_later_arrival: arrival });
        }
        self.next = self.next.max(seq + 1);
        self.arrivals += 1;
        Some(extent)
    }

    /// Removes a packet from the missing ones. Returns the index of the first arrival with a higher number.
    fn remove_missing(&mut self, seq: u64) -> Option<u64> {
        let at = self.missing.partition_point(|hole| hole.end <= seq);
        let hole = *self.missing.get(at).filter(|hole| hole.start <= seq)?;
        let (below, above) = (MissingRange { end: seq, ..hole }, MissingRange { start: seq + 1, ..hole });
        let left = [above, below].into_iter().filter(|hole| hole.start < hole.end);
        self.missing.remove(at);
        left.for_each(|hole| self.missing.insert(at, hole));
        Some(hole.first_later_arrival)
    }
}

#[cfg(test)]
#[path = "reorder/tests.rs"]
mod tests;
