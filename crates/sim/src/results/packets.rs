//! Outcomes of packets.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{DetourRow, PacketMetric, PacketRow, Recorder};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    pub(super) fn packet_histogram(&self) -> Table {
        let mut rows = Vec::new();
        for (mut workload, traffic) in self.state.observer.workloads.counts.iter().cloned().zip(0u16..) {
            workload.add_zero_distances();
            for (metric, data) in PacketMetric::ALL.into_iter().flat_map(|metric| [(metric, 0), (metric, 1)]) {
                let histogram = &workload.histograms[metric as usize][data];
                let mut sums = Some((histogram.sum() as f64, histogram.squared_deviations()));
                for (low, high, count) in histogram.buckets() {
                    let of = (traffic, data as u8, metric as u8);
                    rows.push((of, low, high, count, sums.take().unwrap_or_default()));
                }
            }
        }
        let columns = [
            ("traffic", make_column(&rows, Column::U16, |r| r.0.0)),
            ("data", make_column(&rows, Column::U8, |r| r.0.1)),
            ("metric", make_column(&rows, Column::U8, |r| r.0.2)),
            ("low", make_column(&rows, Column::U64, |r| r.1)),
            ("high", make_column(&rows, Column::U64, |r| r.2)),
            ("count", make_column(&rows, Column::U64, |r| r.3)),
            ("sum", make_column(&rows, Column::F64, |r| r.4.0)),
            ("squared_deviations", make_column(&rows, Column::F64, |r| r.4.1)),
        ];
        Table { name: "packet_hist", columns: named_columns(columns) }
    }

    /// Returns the numbers of drops, marks, detours, bounces, cuts and congestion messages in the measurement window,
    /// by workload of the scenario's traffic.
    pub(super) fn fates_table(&self) -> Table {
        let mut rows = Vec::new();
        for (workload, traffic) in self.state.observer.workloads.counts.iter().zip(0u16..) {
            for (counts, data) in workload.fates.iter().zip(0u8..) {
                let some = counts.iter().zip(0u8..).filter(|(count, _)| **count > 0);
                rows.extend(some.map(|(count, kind)| (traffic, data, kind, *count)));
            }
        }
        let columns = [
            ("traffic", make_column(&rows, Column::U16, |r| r.0)),
            ("data", make_column(&rows, Column::U8, |r| r.1)),
            ("kind", make_column(&rows, Column::U8, |r| r.2)),
            ("count", make_column(&rows, Column::U64, |r| r.3)),
        ];
        Table { name: "fates", columns: named_columns(columns) }
    }

    /// Returns every detour of packets that were detoured often.
    pub(super) fn detour_steps(&self, rows: &[DetourRow]) -> Table {
        let base = &self.state.base;
        let port = |row: &DetourRow, port: u32| (port - base[row.detour.at.node as usize]) as u16;
        let columns = [
            ("flow", make_column(rows, Column::U32, |r| r.id.flow)),
            ("n", make_column(rows, Column::U32, |r| r.id.emission)),
            ("reverse", make_column(rows, Column::U8, |r| u8::from(r.id.is_reverse()))),
            ("step", make_column(rows, Column::U32, |r| r.step)),
            ("node", make_column(rows, Column::U32, |r| r.detour.at.node)),
            ("wanted", make_column(rows, Column::U16, |r| port(r, r.detour.at.port))),
            ("taken", make_column(rows, Column::U16, |r| port(r, r.detour.detour_port))),
            ("time_ps", make_column(rows, Column::U64, |r| r.detour.at.now.0)),
        ];
        Table { name: "detour_steps", columns: named_columns(columns) }
    }
}

/// Returns every packet that was delivered or lost.
pub(super) fn packets(rows: &[PacketRow]) -> Table {
    let columns = [
        ("flow", make_column(rows, Column::U32, |p| p.flow)),
        ("reverse", make_column(rows, Column::U8, |p| p.reverse)),
        ("emission", make_column(rows, Column::U32, |p| p.emission)),
        ("sent_ps", make_column(rows, Column::U64, |p| p.sent.0)),
        ("end_ps", make_column(rows, Column::U64, |p| p.end.0)),
        ("hops", make_column(rows, Column::U16, |p| p.hops)),
        ("detours", make_column(rows, Column::U8, |p| p.detours)),
        ("bounces", make_column(rows, Column::U8, |p| p.bounces)),
        ("max_bounced_distance", make_column(rows, Column::U8, |p| p.max_distance)),
        ("node", make_column(rows, Column::U32, |p| p.node)),
        ("fate", make_column(rows, Column::U8, |p| p.fate)),
    ];
    Table { name: "packets", columns: named_columns(columns) }
}
