//! Queues over time, and events by node and time.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{ActivityRow, QueueRecord, Recorder, TraceRow};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Returns the node and port of each recorded queue.
    pub(super) fn followed_queues(&self) -> Vec<(u32, u16)> {
        let hosts = self.hosts.len() as u32;
        let of = |(s, switch): (usize, &dataplane::Switch)| {
            (0..switch.core().ports().len()).map(move |p| (hosts + s as u32, p as u16)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of).collect()
    }

    /// Returns the number of rows of a table in which each recorded queue has `of` rows.
    fn count_rows(&self, of: fn(&QueueRecord) -> usize) -> usize {
        self.state.observer.queues.iter().map(of).sum()
    }

    pub(super) fn queue_histogram(&self) -> Table {
        let rows = self.count_rows(|queue| queue.lengths().count());
        let (mut nodes, mut ports) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut packets = Vec::with_capacity(rows);
        let (mut times, mut arrivals) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (queue, (node, port)) in self.state.observer.queues.iter().zip(self.followed_queues()) {
            for (length, level) in queue.lengths() {
                nodes.push(node);
                ports.push(port);
                packets.push(length);
                times.push(level.time);
                arrivals.push(level.arrivals);
            }
        }
        let columns = [
            ("node", Column::U32(nodes)),
            ("port", Column::U16(ports)),
            ("packets", Column::U32(packets)),
            ("time_ps", Column::U64(times)),
            ("arrivals", Column::U64(arrivals)),
        ];
        Table { name: "queue_hist", columns: named_columns(columns) }
    }

    /// Returns the histogram table of the times that frames waited in recorded queues. This table has the most rows of
    /// all.
    pub(super) fn sojourn_table(&self) -> Table {
        let rows = self.count_rows(|queue| queue.sojourn.buckets_in_use());
        let (mut nodes, mut ports) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut lows, mut highs) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let (mut counts, mut sums) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (queue, (node, port)) in self.state.observer.queues.iter().zip(self.followed_queues()) {
            let mut sum = queue.sojourn.sum() as f64;
            for (low, high, count) in queue.sojourn.buckets() {
                nodes.push(node);
                ports.push(port);
                lows.push(low);
                highs.push(high);
                counts.push(count);
                sums.push(std::mem::take(&mut sum));
            }
        }
        let columns = [
            ("node", Column::U32(nodes)),
            ("port", Column::U16(ports)),
            ("low", Column::U64(lows)),
            ("high", Column::U64(highs)),
            ("count", Column::U64(counts)),
            ("sum", Column::F64(sums)),
        ];
        Table { name: "queue_sojourn", columns: named_columns(columns) }
    }

    /// Returns the table of queue lengths over time, by recorded queue and time bin.
    pub(super) fn queue_trace(&self, rows: &[TraceRow]) -> Table {
        let (width, places) = (self.state.observer.scope.bin.0 as f64, self.followed_queues());
        let place = |row: &TraceRow| places[row.queue as usize];
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| place(r).0)),
            ("port", make_column(rows, Column::U16, |r| place(r).1)),
            ("max_packets", make_column(rows, Column::U32, |r| r.max)),
            ("mean_packets", make_column(rows, Column::F64, |r| r.area / width)),
        ];
        Table { name: "queue_trace", columns: named_columns(columns) }
    }
}

/// Returns the table of packet events at each node, by time bin.
pub(super) fn activity(rows: &[ActivityRow]) -> Table {
    let columns = [
        ("bin", make_column(rows, Column::U32, |r| r.bin)),
        ("node", make_column(rows, Column::U32, |r| r.node)),
        ("kind", make_column(rows, Column::U8, |r| r.kind)),
        ("count", make_column(rows, Column::U64, |r| r.count)),
    ];
    Table { name: "activity", columns: named_columns(columns) }
}
