//! Tables that grow with simulated time, taken out while the run goes on.
//!
//! Rows of a long run need far more memory than its state. They are therefore taken out in parts, and written as the
//! run advances. Rows are counted after fixed numbers of events and never by a clock: the parts, and the files
//! written from them, are then the same on any machine and with any number of threads.

use super::{Table, congestion, goodput_and_links, packets, queues};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::recorder::growing_tables;
use crate::tap::Tap;
use crate::world::World;
use units::Time;

/// Number of events after which rows are counted. An event makes few rows; one that ends a long wait makes at most as
/// many as there are time bins.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// Counts the complete rows at the start of a table: all rows of time bins, and those before `now` of instants.
macro_rules! count_complete {
    (step $rows:expr, $key:expr, $now:expr) => {
        $rows.len()
    };
    (instant $rows:expr, $key:expr, $now:expr) => {
        count_before($rows, $key, $now)
    };
}

fn count_before<R, N>(rows: &[R], key: impl Fn(&R) -> (Time, N), now: Time) -> usize {
    rows.partition_point(|row| key(row).0 < now)
}

impl<T: Tap> World<Recorder, T> {
    /// Advances the run like [`World::advance`], and returns early once a table has `max_rows` rows. Some events are
    /// processed even if a table has enough rows already.
    pub fn advance_rows(&mut self, max_events: u64, max_rows: usize) -> Progress {
        let mut left = max_events;
        loop {
            let slice = left.min(EVENTS_PER_CHECK);
            let progress = self.advance(slice);
            left -= slice;
            if left == 0 || progress.stop.is_some() || self.rows_waiting() >= max_rows {
                return progress;
            }
        }
    }

    /// Returns the largest number of rows waiting in any table that grows with simulated time (`growing_tables`).
    pub fn rows_waiting(&self) -> usize {
        self.state.observer.rows.max_row_count()
    }

    /// Removes and returns the complete rows of each growing table that has at least `at_least` rows. The rows taken,
    /// followed by those that [`World::results`] returns at the end, are the rows of the whole table.
    pub fn take_rows(&mut self, at_least: usize) -> Vec<Table> {
        if self.rows_waiting() < at_least {
            return Vec::new();
        }
        // All bins before the present one are closed, so that rows of later calls come after those taken now.
        self.state.observer.write_bins_before(self.now);
        let mut rows = std::mem::take(&mut self.state.observer.rows);
        let mut taker = RowTaker { at_least: at_least.max(1), tables: Vec::new() };
        // At a change of the network, nodes with lower numbers may still add rows of this instant, which come before
        // those of nodes with higher numbers. So the rows of this instant are not complete yet.
        let now = if self.changes.is_some() { self.now } else { Time::NEVER };
        rows.sort_by_instant();
        macro_rules! take {
            ($($field:ident: $row:ty, $order:ident |$one:ident| $key:expr, |$world:pat_param, $rows:ident| $table:expr;)*) => {
                $(
                    let count = count_complete!($order &rows.$field, |$one| $key, now);
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

/// Collector of the rows of tables that have at least a given number of rows.
struct RowTaker {
    at_least: usize,
    tables: Vec<Table>,
}

impl RowTaker {
    /// Takes out the first `count` rows of a table, if `count` is at least `at_least`. The memory of the rows is kept
    /// for later ones.
    fn take_first<T>(&mut self, rows: &mut Vec<T>, count: usize, table: impl FnOnce(&[T]) -> Table) {
        if count >= self.at_least {
            self.tables.push(table(&rows[..count]));
            rows.drain(..count);
        }
    }
}
