//! Results on the order in which data arrived.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;

/// Metrics of the table `reorder`, in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReorderMetric {
    Displacement,
    Waiting,
    Extent,
    Received,
}

impl ReorderMetric {
    pub(crate) const ALL: [ReorderMetric; 4] =
        [ReorderMetric::Displacement, ReorderMetric::Waiting, ReorderMetric::Extent, ReorderMetric::Received];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            ReorderMetric::Displacement => "displacement",
            ReorderMetric::Waiting => "waiting",
            ReorderMetric::Extent => "extent",
            ReorderMetric::Received => "received",
        }
    }
}

impl<T: Tap> World<Recorder, T> {
    /// Returns the displacements, buffer occupancies and extents of reordering, by workload of the scenario's
    /// traffic.
    pub(super) fn reorder_table(&self) -> Table {
        let mut rows: Vec<(u16, u8, i64, u64)> = Vec::new();
        if let Some(reordering) = &self.state.observer.reordering {
            let lowest = -i64::from(reordering.threshold);
            for (tally, traffic) in reordering.counts.iter().zip(0..) {
                let mut add = |metric: ReorderMetric, counts: &[u64], lowest: i64| {
                    let some = counts.iter().zip(lowest..).filter(|(count, _)| **count > 0);
                    rows.extend(some.map(|(count, value)| (traffic, metric as u8, value, *count)));
                };
                add(ReorderMetric::Displacement, &tally.displacements, lowest);
                add(ReorderMetric::Waiting, &tally.buffer_occupancies, 0);
                add(ReorderMetric::Extent, &tally.extent, 0);
                add(ReorderMetric::Received, &[tally.received], 0);
            }
        }
        let columns = [
            ("traffic", make_column(&rows, Column::U16, |r| r.0)),
            ("metric", make_column(&rows, Column::U8, |r| r.1)),
            ("value", make_column(&rows, Column::I64, |r| r.2)),
            ("count", make_column(&rows, Column::U64, |r| r.3)),
        ];
        Table { name: "reorder", columns: named_columns(columns) }
    }
}
