//! Single queues of every switch port, each followed like a whole port, and the number of forwarding decisions about
//! each.

use super::{QueueRecord, Scope, TraceRow};
use dataplane::Pkt;
use mech::{Flags, QueueId};
use units::Time;

/// Records of the single queues of all ports, ordered by port and then by [`QueueId`].
#[derive(Clone, Debug)]
pub(crate) struct SubQueues {
    /// Number of queues of a port.
    queues_per_port: usize,
    pub(crate) queues: Vec<QueueRecord>,
    /// Number of decisions about each queue inside the measurement window, by the length of the queue.
    pub(crate) decisions: Vec<Vec<u64>>,
    /// Number of forwarding decisions about data packets, for each queue, among those in `decisions`.
    pub(crate) data: Vec<u64>,
}

impl SubQueues {
    /// Creates the records of single queues for a number of ports, with classes up to `top_class`.
    pub(crate) fn new(ports: usize, top_class: u8) -> SubQueues {
        let each = usize::from(QueueId::LANES) * (usize::from(top_class) + 1);
        let count = ports * each;
        let queues = (0..count as u32).map(QueueRecord::new).collect();
        SubQueues { queues_per_port: each, queues, decisions: vec![Vec::new(); count], data: vec![0; count] }
    }

    fn record_index(&self, (port, queue): (usize, QueueId)) -> usize {
        port * self.queues_per_port + usize::from(queue.0)
    }

    /// Returns the port and the queue of a record with this index.
    pub(crate) fn port_and_queue(&self, number: usize) -> (usize, QueueId) {
        (number / self.queues_per_port, QueueId((number % self.queues_per_port) as u8))
    }

    /// Returns the record of a single queue of a port.
    pub(crate) fn queue_record(&mut self, of: (usize, QueueId)) -> &mut QueueRecord {
        let at = self.record_index(of);
        &mut self.queues[at]
    }

    /// Counts a forwarding decision about an arrival whose lookup leads to a queue of this length.
    pub(crate) fn count_decision(
        &mut self,
        scope: &Scope,
        (now, length): (Time, u32),
        of: (usize, QueueId),
        pkt: &Pkt,
    ) {
        if scope.covers(now) {
            let (at, length) = (self.record_index(of), length as usize);
            let counts = &mut self.decisions[at];
            counts.resize(counts.len().max(length + 1), 0);
            counts[length] += 1;
            self.data[at] += u64::from(pkt.head.flags.has(Flags::PAYLOAD));
        }
    }

    /// Records a frame that is stored in a single queue.
    pub(crate) fn record_stored(&mut self, scope: &Scope, now: Time, of: (usize, QueueId), trace: &mut Vec<TraceRow>) {
        let at = self.record_index(of);
        let before = self.queues[at].length();
        self.queues[at].record_stored::<false>(scope, now, before, trace);
    }

    /// Records a frame that left a single queue. PRECONDITION: the queue has a frame.
    pub(crate) fn record_freed(&mut self, scope: &Scope, now: Time, of: (usize, QueueId), trace: &mut Vec<TraceRow>) {
        let at = self.record_index(of);
        let after = self.queues[at].length() - 1;
        self.queues[at].record_freed::<false>(scope, now, after, trace);
    }

    /// Copies the records of another partition for the ports that it owns.
    pub(crate) fn take_partition(&mut self, other: &mut SubQueues, port: impl Fn(usize) -> bool) {
        for at in (0..self.queues.len()).filter(|at| port(*at / self.queues_per_port)) {
            std::mem::swap(&mut self.queues[at], &mut other.queues[at]);
            std::mem::swap(&mut self.decisions[at], &mut other.decisions[at]);
            self.data[at] = other.data[at];
        }
    }

    pub(crate) fn end_bins_before(&mut self, scope: &Scope, bin: u32, trace: &mut Vec<TraceRow>) {
        self.queues.iter_mut().for_each(|queue| queue.end_bins_before(scope, bin, trace));
    }

    pub(crate) fn close(&mut self, scope: &Scope, now: Time, trace: &mut Vec<TraceRow>) {
        self.queues.iter_mut().for_each(|queue| queue.close(scope, now, trace));
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue_record::LengthRecord;
    use super::*;
    use mech::Lane;
    use units::Dur;

    const NORMAL: (usize, QueueId) = (1, QueueId::normal(0));
    const BOUNCE: (usize, QueueId) = (1, QueueId::new(0, Lane::Bounce));

    /// Test of the lengths and decisions of single queues.
    /// The normal queue of the second port holds a frame from 100 to 300 and two from 150 to 200; its bounce queue
    /// holds one from 150 on. The first of four decisions is before the window.
    #[test]
    fn every_queue_has_its_own_length_over_time_and_its_own_decisions() {
        let scope = Scope { from: Time(50), to: Time(400), bin: Dur(100), ..Scope::EMPTY };
        let (mut subs, mut trace) = (SubQueues::new(2, 0), Vec::new());
        for (now, of) in [(20, NORMAL), (100, NORMAL), (150, BOUNCE), (150, NORMAL)] {
            subs.count_decision(&scope, (Time(now), 0), of, &Pkt::default());
        }
        subs.record_stored(&scope, Time(100), NORMAL, &mut trace);
        subs.record_stored(&scope, Time(150), BOUNCE, &mut trace);
        let mut data = Pkt::default();
        data.head.flags = Flags::ACK.with(Flags::PAYLOAD);
        subs.count_decision(&scope, (Time(150), 1), NORMAL, &data);
        subs.record_stored(&scope, Time(150), NORMAL, &mut trace);
        for now in [200, 300] {
            subs.record_freed(&scope, Time(now), NORMAL, &mut trace);
        }
        subs.close(&scope, Time(500), &mut trace);
        let of = |what: fn(&LengthRecord) -> u64| -> Vec<Vec<u64>> {
            subs.queues.iter().map(|queue| queue.levels.iter().map(what).collect()).collect()
        };
        let times = of(|level| level.time);
        let empty = || vec![350];
        assert_eq!(times[4..6], [vec![150, 150, 50], vec![100, 250]]);
        assert!(times.iter().enumerate().all(|(n, its)| (4..6).contains(&n) || *its == empty()));
        assert_eq!(subs.decisions[4..6], [vec![2, 1], vec![1]]);
        assert_eq!(subs.data, [0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(of(|level| level.arrivals)[4..6], [vec![1, 1, 0], vec![1, 0]]);
        let rows: Vec<_> = trace.iter().map(|row| (row.queue, row.bin, row.max, row.area)).collect();
        let normal = [(4, 1, 2, 150.0), (4, 2, 2, 100.0), (4, 3, 1, 0.0)];
        let bounce = [(5, 1, 1, 50.0), (5, 2, 1, 100.0), (5, 3, 1, 100.0), (5, 4, 1, 100.0)];
        assert_eq!(rows, [&normal[..], &bounce[..]].concat());
        assert_eq!([0, 1, 4, 5].map(|n| subs.port_and_queue(n)), [(0, NORMAL.1), (0, BOUNCE.1), NORMAL, BOUNCE]);
    }

    #[test]
    fn queue_number_follows_port_class_and_lane() {
        let subs = SubQueues::new(3, 2);
        assert_eq!(subs.queues.len(), 36);
        assert_eq!(
            (subs.port_and_queue(33), subs.record_index((2, QueueId::new(2, Lane::Bounce)))),
            ((2, QueueId::new(2, Lane::Bounce)), 33)
        );
    }
}
