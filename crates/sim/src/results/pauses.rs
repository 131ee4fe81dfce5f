//! Results on ports that were paused by their far ends.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{PauseRow, PausedPorts, Recorder};
use crate::tap::Tap;
use crate::world::World;
use mech::PortId;

impl<T: Tap> World<Recorder, T> {
    /// Converts the number of a port, counted over the whole network, to its node and port there.
    pub(super) fn node_and_port(&self, port: u32) -> (u32, PortId) {
        let base = &self.state.base;
        let node = base.partition_point(|first| *first <= port) - 1;
        (node as u32, PortId((port - base[node]) as u16))
    }

    /// Returns the time for which every class in use was paused at every port, and the pauses that the port sent; no rows if
    /// no port may be paused.
    pub(super) fn pauses_table(&self) -> Table {
        let pauses: Option<&PausedPorts> = self.state.observer.pauses.as_deref();
        let (all, classes) = pauses.map_or((&[][..], 1), |pauses| (&pauses.records[..], pauses.classes));
        let in_use = |i: &usize| pauses.is_some_and(|pauses| pauses.in_use.has((i % classes) as u8));
        let rows: Vec<usize> = (0..all.len()).filter(in_use).collect();
        let place = |i: &usize| self.node_and_port((*i / classes) as u32);
        let columns = [
            ("node", make_column(&rows, Column::U32, |i| place(i).0)),
            ("port", make_column(&rows, Column::U16, |i| place(i).1.0)),
            ("class", make_column(&rows, Column::U8, |i| (i % classes) as u8)),
            ("times", make_column(&rows, Column::U64, |i| all[*i].times)),
            ("paused_ps", make_column(&rows, Column::U64, |i| all[*i].paused.0)),
            ("xoff_sent", make_column(&rows, Column::U64, |i| all[*i].sent)),
            ("refreshes", make_column(&rows, Column::U64, |i| all[*i].refreshes)),
        ];
        Table { name: "pauses", columns: named_columns(columns) }
    }

    /// Returns every interval in which a class could not leave by a port.
    pub(super) fn pause_trace(&self, rows: &[PauseRow]) -> Table {
        let columns = [
            ("from_ps", make_column(rows, Column::U64, |r| r.from.0)),
            ("to_ps", make_column(rows, Column::U64, |r| r.to.0)),
            ("node", make_column(rows, Column::U32, |r| self.node_and_port(r.port).0)),
            ("port", make_column(rows, Column::U16, |r| self.node_and_port(r.port).1.0)),
            ("class", make_column(rows, Column::U8, |r| r.class)),
        ];
        Table { name: "pause_trace", columns: named_columns(columns) }
    }
}
