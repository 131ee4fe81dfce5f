//! Results on the order in which data arrived.

use super::{Column, Table, column, named};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;

/// Metrics of the table `reorder`, in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    Displacement,
    Waiting,
    Extent,
    Received,
}

impl Order {
    pub(crate) const ALL: [Order; 4] = [Order::Displacement, Order::Waiting, Order::Extent, Order::Received];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Order::Displacement => "displacement",
            Order::Waiting => "waiting",
            Order::Extent => "extent",
            Order::Received => "received",
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
            for (tally, traffic) in reordering.tallies.iter().zip(0..) {
                let mut add = |metric: Order, counts: &[u64], lowest: i64| {
                    let some = counts.iter().zip(lowest..).filter(|(count, _)| **count > 0);
                    rows.extend(some.map(|(count, value)| (traffic, metric as u8, value, *count)));
                };
                add(Order::Displacement, &tally.displaced, lowest);
                add(Order::Waiting, &tally.waiting, 0);
                add(Order::Extent, &tally.extent, 0);
                add(Order::Received, &[tally.received], 0);
            }
        }
        let columns = [
            ("traffic", column(&rows, Column::U16, |r| r.0)),
            ("metric", column(&rows, Column::U8, |r| r.1)),
            ("value", column(&rows, Column::I64, |r| r.2)),
            ("count", column(&rows, Column::U64, |r| r.3)),
        ];
        Table { name: "reorder", columns: named(columns) }
    }
}
