//! What became of packets.

use super::{Column, Table, column, named};
use crate::recorder::{Metric, PacketRow, Recorder};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    pub(super) fn packet_histogram(&self) -> Table {
        let mut rows = Vec::new();
        for metric in Metric::ALL {
            for data in 0..2 {
                let histogram = &self.board.probe.histograms[metric as usize][data];
                let mut sum = histogram.sum() as f64;
                for (low, high, count) in histogram.buckets() {
                    rows.push((data as u8, metric as u8, low, high, count, std::mem::take(&mut sum)));
                }
            }
        }
        let columns = [
            ("data", column(&rows, Column::U8, |r| r.0)),
            ("metric", column(&rows, Column::U8, |r| r.1)),
            ("low", column(&rows, Column::U64, |r| r.2)),
            ("high", column(&rows, Column::U64, |r| r.3)),
            ("count", column(&rows, Column::U64, |r| r.4)),
            ("sum", column(&rows, Column::F64, |r| r.5)),
        ];
        Table { name: "packet_hist", columns: named(columns) }
    }
}

/// Every packet that was delivered or lost.
pub(super) fn packets(rows: &[PacketRow]) -> Table {
    let columns = [
        ("flow", column(rows, Column::U32, |p| p.flow)),
        ("reverse", column(rows, Column::U8, |p| p.reverse)),
        ("emission", column(rows, Column::U32, |p| p.emission)),
        ("sent_ps", column(rows, Column::U64, |p| p.sent.0)),
        ("end_ps", column(rows, Column::U64, |p| p.end.0)),
        ("hops", column(rows, Column::U16, |p| p.hops)),
        ("detours", column(rows, Column::U8, |p| p.detours)),
        ("bounces", column(rows, Column::U8, |p| p.bounces)),
        ("node", column(rows, Column::U32, |p| p.node)),
        ("fate", column(rows, Column::U8, |p| p.fate)),
    ];
    Table { name: "packets", columns: named(columns) }
}
