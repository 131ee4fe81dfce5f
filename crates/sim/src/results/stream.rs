//! Tables that grow with simulated time, taken out while the run goes on.

use super::{Table, congestion, packets, queues, sums};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;
use units::Time;

/// How often, in events, the rows are counted: an event makes a few, one that ends a
/// long wait at most as many as there are steps of time.
const SLICE: u64 = 1 << 16;

impl<T: Tap> World<Recorder, T> {
    /// Goes on as [`World::advance`], and returns early once a table has `max_rows` waiting; some
    /// events are taken in any case.
    pub fn advance_rows(&mut self, max_events: u64, max_rows: usize) -> Progress {
        let mut left = max_events;
        loop {
            let slice = left.min(SLICE);
            let progress = self.advance(slice);
            left -= slice;
            if left == 0 || progress.stop.is_some() || self.rows_waiting() >= max_rows {
                return progress;
            }
        }
    }

    /// Rows that wait in the longest of the tables that grow with simulated time: `packets`, `queue_trace`,
    /// `sub_queue_trace`, `activity`, `host_goodput`, `flow_goodput`, `links`, `detour_steps`,
    /// `pause_trace`, `hold_trace`, `notices`, `rate_limits`, `input_trace`, `fabric_trace` and `sent_trace`.
    pub fn rows_waiting(&self) -> usize {
        self.state.observer.rows.waiting()
    }

    /// Takes out the rows so far of each of these tables that has `at_least` so many. What is taken,
    /// followed by what [`World::results`] has in the end, is what the whole table would be.
    pub fn take_rows(&mut self, at_least: usize) -> Vec<Table> {
        if self.rows_waiting() < at_least {
            return Vec::new();
        }
        self.state.observer.settle(self.now);
        let mut rows = std::mem::take(&mut self.state.observer.rows);
        let mut taker = Taker { at_least: at_least.max(1), tables: Vec::new() };
        // Where the network changes more may happen at this instant, at nodes of lower numbers.
        let now = if self.changes.is_some() { self.now } else { Time::NEVER };
        rows.sort_ends();
        let over = rows.packets.partition_point(|row| row.end < now);
        taker.take_first(&mut rows.packets, over, packets::packets);
        taker.take(&mut rows.trace, |rows| self.queue_trace(rows));
        taker.take(&mut rows.sub_trace, |rows| self.sub_queue_trace(rows));
        taker.take(&mut rows.activity, queues::activity);
        taker.take(&mut rows.host_goodput, sums::host_goodput);
        taker.take(&mut rows.flow_goodput, sums::flow_goodput);
        taker.take(&mut rows.links, |rows| self.links_table(rows));
        taker.take(&mut rows.holds, |rows| self.hold_trace(rows));
        taker.take(&mut rows.inputs, |rows| self.input_trace(rows));
        taker.take(&mut rows.stages, |rows| self.fabric_trace(rows));
        taker.take(&mut rows.sent, congestion::sent_trace);
        let over = rows.detour_steps.partition_point(|row| row.end.now < now);
        taker.take_first(&mut rows.detour_steps, over, |rows| self.detour_steps(rows));
        let over = rows.pauses.partition_point(|row| row.to < now);
        taker.take_first(&mut rows.pauses, over, |rows| self.pause_trace(rows));
        let over = rows.notices.partition_point(|row| row.at.now < now);
        taker.take_first(&mut rows.notices, over, |rows| self.notices(rows));
        let over = rows.limits.partition_point(|row| row.at.now < now);
        taker.take_first(&mut rows.limits, over, congestion::rate_limits);
        self.state.observer.rows = rows;
        taker.tables
    }
}

/// Takes rows out where there are enough.
struct Taker {
    at_least: usize,
    tables: Vec<Table>,
}

impl Taker {
    fn take<T>(&mut self, rows: &mut Vec<T>, table: impl FnOnce(&[T]) -> Table) {
        self.take_first(rows, rows.len(), table);
    }

    /// So many of them. The memory of the rows is kept for those to come.
    fn take_first<T>(&mut self, rows: &mut Vec<T>, count: usize, table: impl FnOnce(&[T]) -> Table) {
        if count >= self.at_least {
            self.tables.push(table(&rows[..count]));
            rows.drain(..count);
        }
    }
}
