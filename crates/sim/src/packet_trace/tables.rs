//! Packet trace as plain columns.

use super::{Step, Tracer};
use crate::results::{Column, Table, column, named};

/// Value of a column without a port; [`NO_COUNT`] is that of one without a count.
const NO_PORT: u16 = u16::MAX;
const NO_COUNT: u32 = u32::MAX;

impl Tracer {
    /// Returns the tables `steps`, `detours` and `occupancy`. PRECONDITION: all passes are over.
    pub fn tables(&self) -> Vec<Table> {
        vec![self.steps_table(), self.detours_table(), self.occupancy_table()]
    }

    /// Returns the steps of the packet. `taken` is the port of a detour, and `before` the number of frames queued
    /// before a stored one. `buffer` is the buffer inside a switch that a packet has moved to.
    fn steps_table(&self) -> Table {
        let rows = self.steps();
        let port = |step: &Step, port: u32| (port - self.plan.base[step.at.node as usize]) as u16;
        let columns = [
            ("time_ps", column(rows, Column::U64, |s| s.at.now.0)),
            ("node", column(rows, Column::U32, |s| s.at.node)),
            ("what", column(rows, Column::U8, |s| s.what.number())),
            ("port", column(rows, Column::U16, |s| port(s, s.at.port))),
            ("taken", column(rows, Column::U16, |s| s.taken.map_or(NO_PORT, |taken| port(s, taken)))),
            ("before", column(rows, Column::U32, |s| s.before.unwrap_or(NO_COUNT))),
            ("buffer", column(rows, Column::U16, |s| s.buffer.unwrap_or(NO_PORT))),
            ("size", column(rows, Column::U16, |s| s.size)),
        ];
        Table { name: "steps", columns: named(columns) }
    }

    /// Returns the detours at all switches in the window.
    fn detours_table(&self) -> Table {
        let rows = self.around.as_ref().map_or(&[][..], |around| &around.detours);
        let columns = [("time_ps", column(rows, Column::U64, |r| r.0.0)), ("node", column(rows, Column::U32, |r| r.1))];
        Table { name: "detours", columns: named(columns) }
    }

    /// Returns the frames queued at switch ports at the instants, without ports that have none.
    fn occupancy_table(&self) -> Table {
        let hosts = self.scenario.topology.hosts;
        let mut rows = Vec::new();
        for (at, lengths) in self.around.iter().flat_map(|around| &around.seen) {
            for (length, port) in lengths.iter().zip(0..).skip(hosts as usize).filter(|(length, _)| **length > 0) {
                rows.push((*at, self.plan.place(port), *length));
            }
        }
        let columns = [
            ("at_ps", column(&rows, Column::U64, |r| r.0.0)),
            ("node", column(&rows, Column::U32, |r| r.1.0)),
            ("port", column(&rows, Column::U16, |r| r.1.1)),
            ("packets", column(&rows, Column::U32, |r| r.2)),
        ];
        Table { name: "occupancy", columns: named(columns) }
    }

    /// Returns the number of detours in the window that are not in the table, since there are too many.
    pub fn left_out(&self) -> u64 {
        self.around.as_ref().map_or(0, |around| around.left_out)
    }
}
