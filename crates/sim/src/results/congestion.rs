//! Congestion messages, rate limits of sources, and the memory of inputs.

use super::{Column, Table, column, named};
use crate::recorder::{Held, InputRow, Inside, LimitRow, Limited, NoticeRow, Point, Recorder, SentRow, StageRow};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Returns the congestion messages made at every port of a switch and every NIC inside the window; no rows if
    /// none may be made.
    pub(super) fn congestion_points(&self) -> Table {
        let all: &[Point] = self.state.observer.notices.as_ref().map_or(&[], |notices| &notices.points);
        let rows: Vec<usize> = (0..all.len()).collect();
        let place = |i: &usize| self.place(*i as u32);
        let columns = [
            ("node", column(&rows, Column::U32, |i| place(i).0)),
            ("port", column(&rows, Column::U16, |i| place(i).1.0)),
            ("cnms", column(&rows, Column::U64, |i| all[*i].cnms)),
            ("cnps", column(&rows, Column::U64, |i| all[*i].cnps)),
            ("feedback", column(&rows, Column::U64, |i| all[*i].feedback)),
            ("max_feedback", column(&rows, Column::U8, |i| all[*i].strongest)),
        ];
        Table { name: "congestion_points", columns: named(columns) }
    }

    /// Returns the flows that had a rate limit at some time, with its duration inside the window.
    pub(super) fn limited_flows(&self) -> Table {
        let all = self.state.observer.limits.iter().flat_map(|limits| &limits.flows);
        let rows: Vec<(u32, Limited)> = all.map(|(flow, one)| (*flow, *one)).collect();
        let columns = [
            ("flow", column(&rows, Column::U32, |r| r.0)),
            ("host", column(&rows, Column::U32, |r| r.1.host)),
            ("times", column(&rows, Column::U64, |r| r.1.times)),
            ("changes", column(&rows, Column::U64, |r| r.1.changes)),
            ("limited_ps", column(&rows, Column::U64, |r| r.1.limited.0)),
            ("lowest_bps", column(&rows, Column::F64, |r| r.1.lowest)),
        ];
        Table { name: "limited_flows", columns: named(columns) }
    }

    /// Returns the memory of every port's input inside the window; no rows if no switch has inputs.
    pub(super) fn inputs_table(&self) -> Table {
        let all: &[Held] = self.state.observer.inputs.as_ref().map_or(&[], |inputs| &inputs.all);
        let hosts = self.hosts.len();
        let rows: Vec<usize> = (hosts.min(all.len())..all.len()).collect();
        let place = |i: &usize| self.place(*i as u32);
        let columns = [
            ("node", column(&rows, Column::U32, |i| place(i).0)),
            ("port", column(&rows, Column::U16, |i| place(i).1.0)),
            ("max_bytes", column(&rows, Column::U64, |i| all[*i].most)),
            ("byte_ps", column(&rows, Column::F64, |i| all[*i].area as f64)),
        ];
        Table { name: "inputs", columns: named(columns) }
    }

    /// Returns the buffers inside every switch that has stages, inside the window; no rows if none has.
    pub(super) fn fabric_buffers(&self) -> Table {
        let rows: &[Inside] = self.state.observer.stages.as_ref().map_or(&[], |stages| &stages.all);
        let columns = [
            ("node", column(rows, Column::U32, |r| r.node)),
            ("buffer", column(rows, Column::U16, |r| r.buffer)),
            ("stage", column(rows, Column::U16, |r| r.stage)),
            ("place", column(rows, Column::U8, |r| r.of.numbers().0)),
            ("number", column(rows, Column::U16, |r| r.of.numbers().1)),
            ("size", column(rows, Column::U64, |r| r.size)),
            ("rate_bps", column(rows, Column::F64, |r| r.rate.as_f64())),
            ("max_bytes", column(rows, Column::U64, |r| r.held.most)),
            ("byte_ps", column(rows, Column::F64, |r| r.held.area as f64)),
            ("busy_ps", column(rows, Column::U64, |r| r.held.busy.0)),
            ("bytes", column(rows, Column::U64, |r| r.came)),
        ];
        Table { name: "fabric_buffers", columns: named(columns) }
    }

    /// Returns every message of a congestion point or a receiver.
    pub(super) fn notices(&self, rows: &[NoticeRow]) -> Table {
        let columns = [
            ("time_ps", column(rows, Column::U64, |r| r.at.now.0)),
            ("node", column(rows, Column::U32, |r| r.at.node)),
            ("port", column(rows, Column::U16, |r| self.place(r.at.port).1.0)),
            ("flow", column(rows, Column::U32, |r| r.flow)),
            ("feedback", column(rows, Column::U8, |r| r.feedback)),
            ("q_off", column(rows, Column::I64, |r| r.q_off)),
            ("q_delta", column(rows, Column::I64, |r| r.q_delta)),
        ];
        Table { name: "notices", columns: named(columns) }
    }

    /// Returns the bytes that every input held for every output, by time bin.
    pub(super) fn input_trace(&self, rows: &[InputRow]) -> Table {
        let width = self.state.observer.scope.bin.0 as f64;
        let columns = [
            ("bin", column(rows, Column::U32, |r| r.bin)),
            ("node", column(rows, Column::U32, |r| self.place(r.input).0)),
            ("input", column(rows, Column::U16, |r| self.place(r.input).1.0)),
            ("output", column(rows, Column::U16, |r| self.place(r.output).1.0)),
            ("max_bytes", column(rows, Column::U64, |r| r.max)),
            ("mean_bytes", column(rows, Column::F64, |r| r.area / width)),
        ];
        Table { name: "input_trace", columns: named(columns) }
    }

    /// Returns the bytes in the buffers inside switches, and the time in which frames moved into them, by time bin.
    pub(super) fn fabric_trace(&self, rows: &[StageRow]) -> Table {
        let width = self.state.observer.scope.bin.0 as f64;
        let columns = [
            ("bin", column(rows, Column::U32, |r| r.bin)),
            ("node", column(rows, Column::U32, |r| r.node)),
            ("buffer", column(rows, Column::U16, |r| r.buffer)),
            ("max_bytes", column(rows, Column::U64, |r| r.max)),
            ("mean_bytes", column(rows, Column::F64, |r| r.area / width)),
            ("busy_ps", column(rows, Column::U64, |r| r.busy.0)),
        ];
        Table { name: "fabric_trace", columns: named(columns) }
    }
}

/// Returns every change of a rate limit.
pub(super) fn rate_limits(rows: &[LimitRow]) -> Table {
    let columns = [
        ("time_ps", column(rows, Column::U64, |r| r.at.now.0)),
        ("host", column(rows, Column::U32, |r| r.at.node)),
        ("flow", column(rows, Column::U32, |r| r.flow)),
        ("rate_bps", column(rows, Column::F64, |r| r.rate_bps)),
    ];
    Table { name: "rate_limits", columns: named(columns) }
}

/// Returns the bytes of every flow that started to leave its host, by time bin.
pub(super) fn sent_trace(rows: &[SentRow]) -> Table {
    let columns = [
        ("bin", column(rows, Column::U32, |r| r.bin)),
        ("host", column(rows, Column::U32, |r| r.host)),
        ("flow", column(rows, Column::U32, |r| r.flow)),
        ("wire_bytes", column(rows, Column::U64, |r| r.bytes)),
    ];
    Table { name: "sent_trace", columns: named(columns) }
}
