//! Congestion messages, rate limits of sources, and the memory of inputs.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{
    BufferRecord, InputRow, LimitRow, LimitedFlow, NoticeRow, PortNotices, Recorder, SentRow, StageRow, WindowOccupancy,
};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Returns the congestion messages made at every port of a switch and every NIC inside the window; no rows if
    /// none may be made.
    pub(super) fn congestion_points(&self) -> Table {
        let all: &[PortNotices] = self.state.observer.notices.as_ref().map_or(&[], |notices| &notices.ports);
        let rows: Vec<usize> = (0..all.len()).collect();
        let place = |i: &usize| self.node_and_port(*i as u32);
        let columns = [
            ("node", make_column(&rows, Column::U32, |i| place(i).0)),
            ("port", make_column(&rows, Column::U16, |i| place(i).1.0)),
            ("cnms", make_column(&rows, Column::U64, |i| all[*i].cnms)),
            ("cnps", make_column(&rows, Column::U64, |i| all[*i].cnps)),
            ("feedback", make_column(&rows, Column::U64, |i| all[*i].feedback)),
            ("max_feedback", make_column(&rows, Column::U8, |i| all[*i].strongest)),
        ];
        Table { name: "congestion_points", columns: named_columns(columns) }
    }

    /// Returns the flows that had a rate limit at some time, with its duration inside the window.
    pub(super) fn limited_flows(&self) -> Table {
        let all = self.state.observer.limits.iter().flat_map(|limits| &limits.flows);
        let rows: Vec<(u32, LimitedFlow)> = all.map(|(flow, one)| (*flow, *one)).collect();
        let columns = [
            ("flow", make_column(&rows, Column::U32, |r| r.0)),
            ("host", make_column(&rows, Column::U32, |r| r.1.host)),
            ("times", make_column(&rows, Column::U64, |r| r.1.times)),
            ("changes", make_column(&rows, Column::U64, |r| r.1.changes)),
            ("limited_ps", make_column(&rows, Column::U64, |r| r.1.limited.0)),
            ("lowest_bps", make_column(&rows, Column::F64, |r| r.1.lowest)),
        ];
        Table { name: "limited_flows", columns: named_columns(columns) }
    }

    /// Returns the memory of every port's input inside the window; no rows if no switch has inputs.
    pub(super) fn inputs_table(&self) -> Table {
        let all: &[WindowOccupancy] = self.state.observer.inputs.as_ref().map_or(&[], |inputs| &inputs.inputs);
        let hosts = self.hosts.len();
        let rows: Vec<usize> = (hosts.min(all.len())..all.len()).collect();
        let place = |i: &usize| self.node_and_port(*i as u32);
        let columns = [
            ("node", make_column(&rows, Column::U32, |i| place(i).0)),
            ("port", make_column(&rows, Column::U16, |i| place(i).1.0)),
            ("max_bytes", make_column(&rows, Column::U64, |i| all[*i].max_bytes)),
            ("byte_ps", make_column(&rows, Column::F64, |i| all[*i].area as f64)),
        ];
        Table { name: "inputs", columns: named_columns(columns) }
    }

    /// Returns the buffers inside every switch that has stages, inside the window; no rows if none has.
    pub(super) fn fabric_buffers(&self) -> Table {
        let rows: &[BufferRecord] = self.state.observer.stages.as_ref().map_or(&[], |stages| &stages.buffers);
        let columns = [
            ("node", make_column(rows, Column::U32, |r| r.node)),
            ("buffer", make_column(rows, Column::U16, |r| r.buffer)),
            ("stage", make_column(rows, Column::U16, |r| r.stage)),
            ("place", make_column(rows, Column::U8, |r| r.kind.kind_and_index().0)),
            ("number", make_column(rows, Column::U16, |r| r.kind.kind_and_index().1)),
            ("size", make_column(rows, Column::U64, |r| r.size)),
            ("rate_bps", make_column(rows, Column::F64, |r| r.rate.as_f64())),
            ("max_bytes", make_column(rows, Column::U64, |r| r.window.max_bytes)),
            ("byte_ps", make_column(rows, Column::F64, |r| r.window.area as f64)),
            ("busy_ps", make_column(rows, Column::U64, |r| r.window.busy.0)),
            ("bytes", make_column(rows, Column::U64, |r| r.bytes_in)),
        ];
        Table { name: "fabric_buffers", columns: named_columns(columns) }
    }

    /// Returns the table of congestion messages: one row for each message of a congestion point or a receiver.
    pub(super) fn notices(&self, rows: &[NoticeRow]) -> Table {
        let columns = [
            ("time_ps", make_column(rows, Column::U64, |r| r.at.now.0)),
            ("node", make_column(rows, Column::U32, |r| r.at.node)),
            ("port", make_column(rows, Column::U16, |r| self.node_and_port(r.at.port).1.0)),
            ("flow", make_column(rows, Column::U32, |r| r.flow)),
            ("feedback", make_column(rows, Column::U8, |r| r.feedback)),
            ("q_off", make_column(rows, Column::I64, |r| r.q_off)),
            ("q_delta", make_column(rows, Column::I64, |r| r.q_delta)),
        ];
        Table { name: "notices", columns: named_columns(columns) }
    }

    /// Returns the bytes that every input held for every output, by time bin.
    pub(super) fn input_trace(&self, rows: &[InputRow]) -> Table {
        let width = self.state.observer.scope.bin.0 as f64;
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| self.node_and_port(r.input).0)),
            ("input", make_column(rows, Column::U16, |r| self.node_and_port(r.input).1.0)),
            ("output", make_column(rows, Column::U16, |r| self.node_and_port(r.output).1.0)),
            ("max_bytes", make_column(rows, Column::U64, |r| r.max)),
            ("mean_bytes", make_column(rows, Column::F64, |r| r.area / width)),
        ];
        Table { name: "input_trace", columns: named_columns(columns) }
    }

    /// Returns a row for each buffer inside a switch and time bin: bytes held, and time during which frames moved in.
    pub(super) fn fabric_trace(&self, rows: &[StageRow]) -> Table {
        let width = self.state.observer.scope.bin.0 as f64;
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| r.node)),
            ("buffer", make_column(rows, Column::U16, |r| r.buffer)),
            ("max_bytes", make_column(rows, Column::U64, |r| r.max)),
            ("mean_bytes", make_column(rows, Column::F64, |r| r.area / width)),
            ("busy_ps", make_column(rows, Column::U64, |r| r.busy.0)),
        ];
        Table { name: "fabric_trace", columns: named_columns(columns) }
    }
}

/// Returns the table of changes of rate limits, one row for each change.
pub(super) fn rate_limits(rows: &[LimitRow]) -> Table {
    let columns = [
        ("time_ps", make_column(rows, Column::U64, |r| r.at.now.0)),
        ("host", make_column(rows, Column::U32, |r| r.at.node)),
        ("flow", make_column(rows, Column::U32, |r| r.flow)),
        ("rate_bps", make_column(rows, Column::F64, |r| r.rate_bps)),
    ];
    Table { name: "rate_limits", columns: named_columns(columns) }
}

/// Returns the bytes of every flow that started to leave its host, by time bin.
pub(super) fn sent_trace(rows: &[SentRow]) -> Table {
    let columns = [
        ("bin", make_column(rows, Column::U32, |r| r.bin)),
        ("host", make_column(rows, Column::U32, |r| r.host)),
        ("flow", make_column(rows, Column::U32, |r| r.flow)),
        ("wire_bytes", make_column(rows, Column::U64, |r| r.bytes)),
    ];
    Table { name: "sent_trace", columns: named_columns(columns) }
}
