//! How far a stream of packets is out of order, as it arrives: reorder density and reorder
//! buffer-occupancy density (RFC 5236), reordering extent (RFC 4737 §4.2.2).
//!
//! Sequence numbers are ranks in the order of sending, from 0. All three leave out duplicates, and what
//! comes so late that it counts as lost, by one threshold: the displacement threshold DT of the density,
//! the buffer-occupancy threshold BT, and the largest extent. A stream keeps at most about so many
//! numbers of each.

use std::collections::{BTreeSet, VecDeque};

/// What was counted, by value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Packets by displacement from -DT on: receive index less sequence number, early below 0.
    pub(crate) displaced: Vec<u64>,
    /// Arrivals by packets that then wait for an earlier one.
    pub(crate) waiting: Vec<u64>,
    /// Reordered packets by their extent.
    pub(crate) extent: Vec<u64>,
    /// Packets received, those that count as lost for their extent left out.
    pub(crate) received: u64,
}

impl Tally {
    /// What was counted elsewhere.
    pub(crate) fn add_all(&mut self, other: &Tally) {
        let pairs = [
            (&mut self.displaced, &other.displaced),
            (&mut self.waiting, &other.waiting),
            (&mut self.extent, &other.extent),
        ];
        for (mine, its) in pairs {
            mine.resize(mine.len().max(its.len()), 0);
            mine.iter_mut().zip(its).for_each(|(mine, its)| *mine += its);
        }
        self.received += other.received;
    }
}

fn count(counts: &mut Vec<u64>, value: usize) {
    if counts.len() <= value {
        counts.resize(value + 1, 0);
    }
    counts[value] += 1;
}

/// One stream of packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    density: Density,
    occupancy: Occupancy,
    extents: Extents,
}

impl Stream {
    /// The packet of rank `seq` arrives; it is counted in `tally` where `counts`.
    pub(crate) fn arrive(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut Tally) {
        self.density.arrive(seq, counts, threshold, tally);
        let waiting = self.occupancy.arrive(seq, threshold).filter(|_| counts);
        waiting.into_iter().for_each(|waiting| count(&mut tally.waiting, waiting));
        if let Some(extent) = self.extents.arrive(seq, threshold).filter(|_| counts) {
            tally.received += 1;
            if extent > 0 {
                count(&mut tally.extent, extent as usize);
            }
        }
    }

    /// Nothing comes any more.
    pub(crate) fn close(&mut self, threshold: u32, tally: &mut Tally) {
        self.density.settle(true, threshold, tally);
    }

    /// Packets of lower ranks change nothing any more.
    pub(crate) fn floor(&self) -> u64 {
        let hole = self.extents.holes.front().map_or(self.extents.next, |hole| hole.start);
        self.density.next.min(self.occupancy.expected).min(hole)
    }

    /// Nothing waits, and nothing is missing before `seq`.
    pub(crate) fn is_done(&self, seq: u64) -> bool {
        self.floor() == seq && self.density.window.is_empty() && self.occupancy.held.is_empty()
    }
}

/// Receive indices, by the algorithm of RFC 5236 §6.1: the index skips the number of a packet that is not
/// among the next DT + 1 to arrive.
#[derive(Clone, Debug, Default)]
struct Density {
    /// RI, the next receive index.
    next: u64,
    /// What has arrived and has no index yet, in order, and whether it counts.
    window: VecDeque<(u64, bool)>,
    /// The same as a set.
    windowed: BTreeSet<u64>,
    /// What had its index before its number came up.
    early: BTreeSet<u64>,
}

impl Density {
    fn arrive(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut Tally) {
        if self.window.is_empty() && self.early.is_empty() && seq == self.next {
            self.next += 1;
            return Density::count(0, counts, threshold, tally);
        }
        if seq >= self.next && !self.early.contains(&seq) && self.windowed.insert(seq) {
            self.window.push_back((seq, counts));
            self.settle(false, threshold, tally);
        }
    }

    fn count(displacement: i64, counts: bool, threshold: u32, tally: &mut Tally) {
        if counts {
            count(&mut tally.displaced, (displacement + i64::from(threshold)) as usize);
        }
    }

    /// Gives out indices as far as that can be told; with `all`, nothing comes any more.
    fn settle(&mut self, all: bool, threshold: u32, tally: &mut Tally) {
        let most = threshold as usize;
        while let Some((seq, counts)) = self.window.front().copied() {
            if self.windowed.contains(&self.next) || self.early.contains(&self.next) {
                self.window.pop_front();
                self.windowed.remove(&seq);
                self.index(seq, counts, threshold, tally);
            } else if all || self.window.len() > most {
                let first = self.windowed.first().into_iter().chain(self.early.first()).min();
                self.next = first.map_or(self.next, |first| *first).max(self.next + 1);
            } else {
                break;
            }
        }
    }

    fn index(&mut self, seq: u64, counts: bool, threshold: u32, tally: &mut Tally) {
        let displacement = self.next as i64 - seq as i64;
        if displacement.unsigned_abs() > u64::from(threshold) {
            return;
        }
        Density::count(displacement, counts, threshold, tally);
        self.early.remove(&self.next);
        if displacement < 0 {
            self.early.insert(seq);
        }
        self.next += 1;
    }
}

/// A buffer that puts packets back into order (RFC 5236 §5): what waits in it after each arrival. Where it
/// overflows, the packets that it waits for are lost.
#[derive(Clone, Debug, Default)]
struct Occupancy {
    /// E.
    expected: u64,
    held: BTreeSet<u64>,
}

impl Occupancy {
    fn arrive(&mut self, seq: u64, threshold: u32) -> Option<usize> {
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

/// Packets that are missing below the highest that has arrived, and the first arrival above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    start: u64,
    end: u64,
    arrival: u64,
}

/// Reordered packets (RFC 4737 §3.3: below NextExp) and their extent: arrivals since the first with a
/// higher number.
#[derive(Clone, Debug, Default)]
struct Extents {
    /// NextExp.
    next: u64,
    /// Packets that have arrived.
    arrivals: u64,
    /// In order.
    holes: VecDeque<Hole>,
}

impl Extents {
    /// The extent of an arrival, 0 where it is not reordered; `None` where it is left out.
    fn arrive(&mut self, seq: u64, threshold: u32) -> Option<u64> {
        let arrival = self.arrivals;
        while self.holes.front().is_some_and(|hole| arrival - hole.arrival > u64::from(threshold)) {
            self.holes.pop_front();
        }
        let extent = if seq < self.next { arrival - self.fill(seq)? } else { 0 };
        if seq > self.next {
            self.holes.push_back(Hole { start: self.next, end: seq, arrival });
        }
        self.next = self.next.max(seq + 1);
        self.arrivals += 1;
        Some(extent)
    }

    /// A missing packet has come: the first arrival above it.
    fn fill(&mut self, seq: u64) -> Option<u64> {
        let at = self.holes.partition_point(|hole| hole.end <= seq);
        let hole = *self.holes.get(at).filter(|hole| hole.start <= seq)?;
        let (below, above) = (Hole { end: seq, ..hole }, Hole { start: seq + 1, ..hole });
        let left = [above, below].into_iter().filter(|hole| hole.start < hole.end);
        self.holes.remove(at);
        left.for_each(|hole| self.holes.insert(at, hole));
        Some(hole.arrival)
    }
}

#[cfg(test)]
#[path = "reorder/tests.rs"]
mod tests;
