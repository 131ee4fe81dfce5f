//! Rank of each packet in its flow, by the order in which data were first sent, and metrics of the order of arrival.
//!
//! The rank of a packet is that of the segment that first carried its first byte. A retransmission thus has the rank of
//! the original. Segments are kept as runs of equal length, as long as they can still arrive.
//! New bytes at the end of a retransmission belong to the last segment before them. Packets without a transport are
//! distinguished by their emission number.

use super::reorder::{ArrivalStream, ReorderCounts};
use dataplane::Pkt;
use mech::Flags;
use std::collections::VecDeque;

/// Value of `FlowState::in_flight_index` if there is none.
const NO_STATE: u32 = u32::MAX;

/// Returns the byte range of its flow that a packet carries, modulo 2³²: the first byte, and the number of bytes. For a
/// packet without a transport, returns its emission number, and 1.
fn byte_range(pkt: &Pkt) -> (u32, u32) {
    if pkt.head.flags.has(Flags::ACK) { (pkt.seq, u32::from(pkt.payload)) } else { (pkt.emission, 1) }
}

/// Returns true if the sequence number `a` is before `b`, modulo 2³².
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Consecutive segments of a flow that have the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentRun {
    start: u32,
    len: u32,
    count: u32,
    /// Number, within the flow, of the first of these segments.
    first: u64,
}

impl SegmentRun {
    fn end(&self) -> u32 {
        self.start.wrapping_add(self.len.wrapping_mul(self.count))
    }
}

/// Segments that a flow has sent and that may still arrive.
#[derive(Clone, Debug, Default)]
struct OpenSegments {
    runs: VecDeque<SegmentRun>,
    /// Number of segments that the flow has sent so far.
    count: u64,
}

impl OpenSegments {
    /// Adds a segment that is sent for the first time, at the end of all segments.
    fn add_segment(&mut self, start: u32, len: u32) {
        match self.runs.back_mut() {
            Some(run) if run.len == len && run.end() == start && run.first + u64::from(run.count) == self.count => {
                run.count += 1;
            }
            _ => self.runs.push_back(SegmentRun { start, len, count: 1, first: self.count }),
        }
        self.count += 1;
    }

    /// Adds bytes that a retransmission carries in addition to those sent before.
    fn add_bytes(&mut self, start: u32, len: u32) {
        if self.count == 0 {
            return self.add_segment(start, len);
        }
        self.runs.push_back(SegmentRun { start, len, count: 1, first: self.count - 1 });
    }

    /// Returns the number of the segment with the first of these bytes that may still arrive; `None` if none may.
    fn rank_of(&self, (start, len): (u32, u32)) -> Option<u64> {
        let front = self.runs.front()?;
        let at = if is_before(start, front.start) { front.start } else { start };
        if !is_before(at, start.wrapping_add(len)) {
            return None;
        }
        let run = self.runs.get(self.runs.partition_point(|run| !is_before(at, run.end())))?;
        Some(run.first + u64::from(at.wrapping_sub(run.start) / run.len))
    }

    /// Removes segments whose number is below `floor`, since no arrival needs them any more.
    fn remove_below(&mut self, floor: u64) {
        while let Some(run) = self.runs.front_mut().filter(|run| run.first < floor) {
            let gone = u64::from(run.count).min(floor - run.first) as u32;
            // `start` wraps at 2³², like sequence numbers. A run has only segments that may still arrive, fewer than
            // 2³² bytes.
            run.start = run.start.wrapping_add(run.len.wrapping_mul(gone));
            (run.first, run.count) = (run.first + u64::from(gone), run.count - gone);
            if run.count > 0 {
                return;
            }
            self.runs.pop_front();
        }
    }
}

/// Segments and reordering metrics of a flow with packets in flight.
#[derive(Clone, Debug, Default)]
struct InFlightState {
    segments: OpenSegments,
    stream: ArrivalStream,
    traffic: u16,
}

/// State that is kept of every flow. All else is kept only while the flow has packets in flight, since a run has many
/// more flows than are active at one time.
#[derive(Clone, Copy, Debug)]
struct FlowState {
    in_flight_index: u32,
    /// End of the highest byte sent, exclusive.
    highest_sent: u32,
}

/// Order of arrival in all flows of a run.
#[derive(Clone, Debug)]
pub(crate) struct Reordering {
    pub(crate) threshold: u32,
    flows: Vec<FlowState>,
    in_flight: Vec<InFlightState>,
    free: Vec<u32>,
    /// Counts of reordering for each workload of the scenario's traffic.
    pub(crate) counts: Vec<ReorderCounts>,
}

impl Reordering {
    pub(crate) fn new(threshold: u32) -> Reordering {
        let (flows, lanes, free, tallies) = Default::default();
        Reordering { threshold, flows, in_flight: lanes, free, counts: tallies }
    }

    /// Adds the counts of another partition, and its flows with packets in flight.
    pub(crate) fn add_all(&mut self, other: &mut Reordering) {
        self.in_flight.append(&mut other.in_flight);
        self.counts.resize(self.counts.len().max(other.counts.len()), ReorderCounts::default());
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, its)| mine.add_all(its));
    }

    /// Records a packet that is sent by a flow of this workload.
    pub(crate) fn record_sent(&mut self, traffic: u16, pkt: &Pkt) {
        if !pkt.head.flags.has(Flags::PAYLOAD) {
            return;
        }
        let (flow, (start, len)) = (pkt.head.flow.0 as usize, byte_range(pkt));
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, FlowState { in_flight_index: NO_STATE, highest_sent: 0 });
        }
        let (high, end) = (self.flows[flow].highest_sent, start.wrapping_add(len));
        if !is_before(high, end) {
            return;
        }
        self.flows[flow].highest_sent = end;
        if self.counts.len() <= usize::from(traffic) {
            self.counts.resize(usize::from(traffic) + 1, ReorderCounts::default());
        }
        let InFlightState { segments, traffic: its, .. } = self.in_flight_state(flow);
        *its = traffic;
        match start == high {
            true => segments.add_segment(start, len),
            false => segments.add_bytes(high, end.wrapping_sub(high)),
        }
    }

    fn in_flight_state(&mut self, flow: usize) -> &mut InFlightState {
        if self.flows[flow].in_flight_index == NO_STATE {
            self.flows[flow].in_flight_index = self.free.pop().unwrap_or(self.in_flight.len() as u32);
            if self.flows[flow].in_flight_index as usize == self.in_flight.len() {
                self.in_flight.push(InFlightState::default());
            }
        }
        &mut self.in_flight[self.flows[flow].in_flight_index as usize]
    }

    /// Records a packet that has reached its transport. The packet counts if `counts` is true.
    pub(crate) fn record_delivered(&mut self, pkt: &Pkt, counts: bool) {
        if !pkt.head.flags.has(Flags::PAYLOAD) {
            return;
        }
        let place = self.flows.get_mut(pkt.head.flow.0 as usize).filter(|place| place.in_flight_index != NO_STATE);
        let Some(place) = place else { return };
        let lane = &mut self.in_flight[place.in_flight_index as usize];
        let Some(seq) = lane.segments.rank_of(byte_range(pkt)) else { return };
        lane.stream.record_arrival(seq, counts, self.threshold, &mut self.counts[usize::from(lane.traffic)]);
        if lane.stream.is_complete_before(lane.segments.count) {
            // Ranks may start again from 0 while nothing is in flight: displacements and extents depend on differences
            // of ranks only.
            *lane = InFlightState::default();
            self.free.push(place.in_flight_index);
            place.in_flight_index = NO_STATE;
        } else {
            lane.segments.remove_below(lane.stream.lowest_open_rank());
        }
    }

    /// Returns the number of flows with packets in flight.
    pub(crate) fn flows_in_flight(&self) -> usize {
        self.in_flight.len() - self.free.len()
    }

    /// Ends the reordering metrics of all flows: no packet arrives any more.
    pub(crate) fn end_streams(&mut self) {
        for lane in &mut self.in_flight {
            // States that are free for reuse are empty, so that they add no counts.
            let tally = self.counts.get_mut(usize::from(lane.traffic));
            tally.into_iter().for_each(|tally| lane.stream.end_stream(self.threshold, tally));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_segments_are_one_run_and_a_short_one_begins_another() {
        let mut segments = OpenSegments::default();
        let mut at = 0u32.wrapping_sub(2000);
        for len in [1000, 1000, 1000, 300, 200, 1000, 1000] {
            segments.add_segment(at, len);
            at = at.wrapping_add(len);
        }
        assert_eq!(segments.runs.len(), 4);
        let places = |range| segments.rank_of(range);
        let first = 0u32.wrapping_sub(2000);
        assert_eq!([places((first, 1000)), places((first + 1000, 1000)), places((0, 1000))], [0, 1, 2].map(Some));
        assert_eq!(
            [places((1000, 300)), places((1300, 200)), places((1500, 1)), places((2500, 9))],
            [3, 4, 5, 6].map(Some)
        );
        assert_eq!(places((3500, 1000)), None, "never sent");
        assert_eq!(
            places((1000, 1000)),
            Some(3),
            "a retransmission that joins two segments has the place of the first"
        );
    }

    #[test]
    fn only_segments_that_may_still_arrive_are_kept() {
        let mut segments = OpenSegments::default();
        for n in 0..3 {
            segments.add_segment(n * 3000, 1000);
            segments.add_segment(n * 3000 + 1000, 2000);
        }
        segments.remove_below(3);
        assert_eq!((segments.runs.len(), segments.rank_of((1000, 2000))), (3, None));
        assert_eq!((segments.rank_of((4000, 10)), segments.rank_of((2000, 2500))), (Some(3), Some(3)));
    }

    #[test]
    fn a_stream_of_many_gibibytes_keeps_one_short_run() {
        let (mut segments, mut at) = (OpenSegments::default(), 0u32);
        for place in 0..5_000_000u64 {
            segments.add_segment(at, 1460);
            assert_eq!(segments.rank_of((at.wrapping_sub(1460), 1460)), place.checked_sub(1));
            assert_eq!(segments.rank_of((at, 1460)), Some(place));
            segments.remove_below(place);
            at = at.wrapping_add(1460);
        }
        assert_eq!((segments.runs.len(), segments.runs[0].count), (1, 1));
    }

    #[test]
    fn new_bytes_of_a_retransmission_join_the_last_segment() {
        let mut segments = OpenSegments::default();
        segments.add_segment(0, 1000);
        segments.add_segment(1000, 400);
        segments.add_bytes(1400, 600);
        segments.add_segment(2000, 1000);
        assert_eq!([(1000, 1000), (1400, 600), (2000, 1)].map(|range| segments.rank_of(range)), [1, 1, 2].map(Some));
    }

    fn data(flow: u32, seq: u32, payload: u16) -> Pkt {
        let mut pkt = Pkt { seq, payload, ..Pkt::default() };
        pkt.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        pkt.head.flow = mech::FlowId(flow);
        pkt
    }

    /// Returns the packets by displacement, from -3 on, and their number.
    fn displacement_counts(order: &Reordering) -> (Vec<u64>, u64) {
        (order.counts[0].displacements.clone(), order.counts[0].received)
    }

    /// Test of segments that are sent again, and of two packets that change places.
    /// A flow sends 1000 and 400 bytes, the second again with 600 new bytes behind, and 1000 more. The last two
    /// packets change places.
    #[test]
    fn retransmissions_keep_their_rank_and_idle_flows_no_state() {
        let mut order = Reordering::new(3);
        for (seq, len) in [(0, 1000), (1000, 400), (0, 1000), (1000, 1000), (2000, 1000)] {
            order.record_sent(0, &data(0, seq, len));
        }
        for (seq, len) in [(0, 1000), (2000, 1000), (1000, 1000)] {
            order.record_delivered(&data(0, seq, len), true);
        }
        assert_eq!((displacement_counts(&order), order.flows_in_flight()), ((vec![0, 0, 1, 1, 1], 3), 0));
        // In another flow, the second packet is sent outside the measurement window and does not count.
        for seq in [0, 500, 1000] {
            order.record_sent(0, &data(1, seq, 500));
        }
        assert_eq!(order.flows_in_flight(), 1);
        for (seq, counts) in [(0, true), (500, false), (1000, true)] {
            order.record_delivered(&data(1, seq, 500), counts);
        }
        assert_eq!((displacement_counts(&order), order.flows_in_flight()), ((vec![0, 0, 1, 3, 1], 5), 0));
    }
}
