//! Tables that grow with simulated time, taken out while the run goes on.

use super::{Table, congestion, packets, queues, sums};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::recorder::growing_tables;
use crate::tap::Tap;
use crate::world::World;
use units::Time;

/// How often, in events, the rows are counted: an event makes a few, one that ends a
/// long wait at most as many as there are steps of time.
const SLICE: u64 = 1 << 16;

/// Counts the first rows of a table that are complete: all of steps of time, those before `now` of instants.
macro_rules! complete {
    (step $rows:expr, $key:expr, $now:expr) => {
        $rows.len()
    };
    (instant $rows:expr, $key:expr, $now:expr) => {
        before($rows, $key, $now)
    };
}

fn before<R, N>(rows: &[R], key: impl Fn(&R) -> (Time, N), now: Time) -> usize {
    rows.partition_point(|row| key(row).0 < now)
}

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

    /// Number of rows that wait in the longest of the tables that grow with simulated time (`growing_tables`).
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
        macro_rules! take {
            ($($field:ident: $row:ty, $order:ident |$one:ident| $key:expr, |$world:pat_param, $rows:ident| $table:expr;)*) => {
                $(
                    let count = complete!($order &rows.$field, |$one| $key, now);
                    taker.take_first(&mut rows.$field, count, |$rows| {
                        let $world = &*self;
                        $table
                    });
                )*
            };
        }
        growing_tables!(take);
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
    /// So many of them. The memory of the rows is kept for those to come.
    fn take_first<T>(&mut self, rows: &mut Vec<T>, count: usize, table: impl FnOnce(&[T]) -> Table) {
        if count >= self.at_least {
            self.tables.push(table(&rows[..count]));
            rows.drain(..count);
        }
    }
}
