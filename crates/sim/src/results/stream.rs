//! Tables that grow with simulated time, taken out while the run goes on.

use super::{Table, packets, queues};
use crate::progress::Progress;
use crate::recorder::{Recorder, Rows};
use crate::tap::Tap;
use crate::world::World;

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

    /// Rows that wait in the longest of `packets`, `queue_trace` and `activity`.
    pub fn rows_waiting(&self) -> usize {
        self.board.probe.rows.waiting()
    }

    /// Takes out the rows so far of each of these tables that has `at_least` so many. What is taken,
    /// followed by what [`World::results`] has in the end, is what the whole table would be.
    pub fn take_rows(&mut self, at_least: usize) -> Vec<Table> {
        let rows = &self.board.probe.rows;
        let some = |count: usize| count > 0 && count >= at_least;
        let (full, traced, active) = (some(rows.packets.len()), some(rows.trace.len()), some(rows.activity.len()));
        let mut tables = Vec::new();
        tables.extend(full.then(|| packets::packets(&rows.packets)));
        tables.extend(traced.then(|| self.queue_trace(&rows.trace)));
        tables.extend(active.then(|| queues::activity(&rows.activity)));
        let Rows { packets, trace, activity } = &mut self.board.probe.rows;
        // Their memory is kept for the rows to come.
        if full {
            packets.clear();
        }
        if traced {
            trace.clear();
        }
        if active {
            activity.clear();
        }
        tables
    }
}
