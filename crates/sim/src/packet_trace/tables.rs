//! Packet trace as plain columns.

use super::{PacketStep, Tracer};
use crate::results::{Column, Table, make_column, named_columns};

/// Value in port columns of a row that has no port; [`NO_COUNT`] is that of one without a count.
const NO_PORT: u16 = u16::MAX;
const NO_COUNT: u32 = u32::MAX;

impl Tracer {
    /// Returns the tables `steps`, `detours` and `occupancy`. PRECONDITION: all passes are over.
    pub fn tables(&self) -> Vec<Table> {
        vec![self.steps_table(), self.detours_table(), self.occupancy_table()]
    }

    /// Returns the table `steps` of the followed packet. `taken` is the port of a detour, and `before` the number of
    /// frames queued just before the packet is stored. `buffer` is the buffer inside a switch that a packet has moved
    /// to.
    fn steps_table(&self) -> Table {
        let rows = self.steps();
        let port = |step: &PacketStep, port: u32| (port - self.plan.base[step.at.node as usize]) as u16;
        let columns = [
            ("time_ps", make_column(rows, Column::U64, |s| s.at.now.0)),
            ("node", make_column(rows, Column::U32, |s| s.at.node)),
            ("what", make_column(rows, Column::U8, |s| s.kind.number())),
            ("port", make_column(rows, Column::U16, |s| port(s, s.at.port))),
            ("taken", make_column(rows, Column::U16, |s| s.detour_port.map_or(NO_PORT, |taken| port(s, taken)))),
            ("before", make_column(rows, Column::U32, |s| s.before.unwrap_or(NO_COUNT))),
            ("buffer", make_column(rows, Column::U16, |s| s.buffer.unwrap_or(NO_PORT))),
            ("size", make_column(rows, Column::U16, |s| s.size)),
        ];
        Table { name: "steps", columns: named_columns(columns) }
    }

    /// Returns the detours at all switches in the window.
    fn detours_table(&self) -> Table {
        let rows = self.window_record.as_ref().map_or(&[][..], |around| &around.detours);
        let columns =
            [("time_ps", make_column(rows, Column::U64, |r| r.0.0)), ("node", make_column(rows, Column::U32, |r| r.1))];
        Table { name: "detours", columns: named_columns(columns) }
    }

    /// Returns the frames queued at switch ports at each recorded instant, without ports that have none.
    fn occupancy_table(&self) -> Table {
        let hosts = self.scenario.topology.hosts;
        let mut rows = Vec::new();
        for (at, lengths) in self.window_record.iter().flat_map(|around| &around.recorded_lengths) {
            for (length, port) in lengths.iter().zip(0..).skip(hosts as usize).filter(|(length, _)| **length > 0) {
                rows.push((*at, self.plan.node_and_port(port), *length));
            }
        }
        let columns = [
            ("at_ps", make_column(&rows, Column::U64, |r| r.0.0)),
            ("node", make_column(&rows, Column::U32, |r| r.1.0)),
            ("port", make_column(&rows, Column::U16, |r| r.1.1)),
            ("packets", make_column(&rows, Column::U32, |r| r.2)),
        ];
        Table { name: "occupancy", columns: named_columns(columns) }
    }

    /// Returns the number of detours in the window that are not in the table, since there are too many.
    pub fn count_unlisted_detours(&self) -> u64 {
        self.window_record.as_ref().map_or(0, |around| around.unlisted_detours)
    }
}
