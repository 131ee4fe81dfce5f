//! Results on ACKs that were held at ports.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{HoldRow, PortHolds, Recorder};
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Returns the packets that every port held inside the window; no rows if no port may hold any.
    pub(super) fn holds_table(&self) -> Table {
        let all: &[PortHolds] = self.state.observer.holds.as_ref().map_or(&[], |holds| &holds.ports);
        let rows: Vec<usize> = (0..all.len()).collect();
        let place = |i: &usize| self.node_and_port(*i as u32);
        let columns = [
            ("node", make_column(&rows, Column::U32, |i| place(i).0)),
            ("port", make_column(&rows, Column::U16, |i| place(i).1.0)),
            ("held", make_column(&rows, Column::U64, |i| all[*i].held)),
            ("released", make_column(&rows, Column::U64, |i| all[*i].released)),
            ("max_packets", make_column(&rows, Column::U32, |i| all[*i].most)),
            ("max_bytes", make_column(&rows, Column::U64, |i| all[*i].most_bytes)),
            ("waited_ps", make_column(&rows, Column::F64, |i| all[*i].area as f64)),
            ("times", make_column(&rows, Column::U64, |i| all[*i].times)),
            ("congested_ps", make_column(&rows, Column::U64, |i| all[*i].bin_times[1].0)),
            ("light_ps", make_column(&rows, Column::U64, |i| all[*i].bin_times[2].0)),
        ];
        Table { name: "holds", columns: named_columns(columns) }
    }

    /// Returns the table of held packets over time, by port and time bin.
    pub(super) fn hold_trace(&self, rows: &[HoldRow]) -> Table {
        let width = self.state.observer.scope.bin.0 as f64;
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| self.node_and_port(r.port).0)),
            ("port", make_column(rows, Column::U16, |r| self.node_and_port(r.port).1.0)),
            ("max_packets", make_column(rows, Column::U32, |r| r.max)),
            ("mean_packets", make_column(rows, Column::F64, |r| r.area / width)),
            ("congested_ps", make_column(rows, Column::U64, |r| r.spent[0])),
            ("light_ps", make_column(rows, Column::U64, |r| r.spent[1])),
        ];
        Table { name: "hold_trace", columns: named_columns(columns) }
    }
}
