//! Queues over time, and what happened where and when.

use super::{Column, Table, column, named};
use crate::recorder::{ActivityRow, Level, Recorder, TraceRow};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Node and port of each followed queue.
    pub(super) fn followed(&self) -> Vec<(u32, u16)> {
        let hosts = self.hosts.len() as u32;
        let of = |(s, switch): (usize, &dataplane::Switch)| {
            (0..switch.core().ports().len()).map(move |p| (hosts + s as u32, p as u16)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of).collect()
    }

    pub(super) fn queue_histogram(&self) -> Table {
        let mut rows = Vec::new();
        for (queue, (node, port)) in self.state.observer.queues.iter().zip(self.followed()) {
            let levels = queue.levels.iter().zip(0u32..).filter(|(level, _)| **level != Level::default());
            rows.extend(levels.map(|(level, length)| (node, port, length, level.time, level.arrivals)));
        }
        let columns = [
            ("node", column(&rows, Column::U32, |r| r.0)),
            ("port", column(&rows, Column::U16, |r| r.1)),
            ("packets", column(&rows, Column::U32, |r| r.2)),
            ("time_ps", column(&rows, Column::U64, |r| r.3)),
            ("arrivals", column(&rows, Column::U64, |r| r.4)),
        ];
        Table { name: "queue_hist", columns: named(columns) }
    }

    /// How long frames waited in the followed queues, picoseconds.
    pub(super) fn sojourn_table(&self) -> Table {
        let mut rows = Vec::new();
        for (queue, (node, port)) in self.state.observer.queues.iter().zip(self.followed()) {
            let mut sum = queue.sojourn.sum() as f64;
            for (low, high, count) in queue.sojourn.buckets() {
                rows.push((node, port, low, high, count, std::mem::take(&mut sum)));
            }
        }
        let columns = [
            ("node", column(&rows, Column::U32, |r| r.0)),
            ("port", column(&rows, Column::U16, |r| r.1)),
            ("low", column(&rows, Column::U64, |r| r.2)),
            ("high", column(&rows, Column::U64, |r| r.3)),
            ("count", column(&rows, Column::U64, |r| r.4)),
            ("sum", column(&rows, Column::F64, |r| r.5)),
        ];
        Table { name: "queue_sojourn", columns: named(columns) }
    }

    /// Steps of the followed queues.
    pub(super) fn queue_trace(&self, rows: &[TraceRow]) -> Table {
        let (width, places) = (self.state.observer.scope.bin.0 as f64, self.followed());
        let place = |row: &TraceRow| places[row.queue as usize];
        let columns = [
            ("bin", column(rows, Column::U32, |r| r.bin)),
            ("node", column(rows, Column::U32, |r| place(r).0)),
            ("port", column(rows, Column::U16, |r| place(r).1)),
            ("max_packets", column(rows, Column::U32, |r| r.max)),
            ("mean_packets", column(rows, Column::F64, |r| r.area / width)),
        ];
        Table { name: "queue_trace", columns: named(columns) }
    }
}

/// What happened where and when.
pub(super) fn activity(rows: &[ActivityRow]) -> Table {
    let columns = [
        ("bin", column(rows, Column::U32, |r| r.bin)),
        ("node", column(rows, Column::U32, |r| r.node)),
        ("kind", column(rows, Column::U8, |r| r.kind)),
        ("count", column(rows, Column::U64, |r| r.count)),
    ];
    Table { name: "activity", columns: named(columns) }
}
