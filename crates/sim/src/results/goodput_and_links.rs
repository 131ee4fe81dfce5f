//! Sums by time bin: goodput of hosts and flows, bits on links.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{Recorder, SumRow};
use crate::tap::Tap;
use crate::world::World;

/// Returns the table of payload that every host received in order, by time bin.
pub(super) fn host_goodput(rows: &[SumRow]) -> Table {
    goodput("host_goodput", "node", rows)
}

/// Returns the table of payload that arrived in order, by flow and time bin.
pub(super) fn flow_goodput(rows: &[SumRow]) -> Table {
    goodput("flow_goodput", "flow", rows)
}

fn goodput(name: &'static str, whose: &str, rows: &[SumRow]) -> Table {
    let columns = [
        ("bin", make_column(rows, Column::U32, |r| r.bin)),
        (whose, make_column(rows, Column::U32, |r| r.owner)),
        ("bytes", make_column(rows, Column::U64, |r| r.amount)),
    ];
    Table { name, columns: named_columns(columns) }
}

impl<T: Tap> World<Recorder, T> {
    /// Returns the table of bits in frames that started to leave, by port and time bin.
    pub(super) fn links_table(&self, rows: &[SumRow]) -> Table {
        let base = &self.state.base;
        let node = |row: &SumRow| base.partition_point(|first| *first <= row.owner) - 1;
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| node(r) as u32)),
            ("port", make_column(rows, Column::U16, |r| (r.owner - base[node(r)]) as u16)),
            ("bits", make_column(rows, Column::U64, |r| r.amount)),
        ];
        Table { name: "links", columns: named_columns(columns) }
    }

    /// Reverses the counts of frames whose computed departure is after the end of the run.
    pub(super) fn uncount_departures_after_end(&mut self) {
        let cores = self.hosts.iter().map(dataplane::Host::nic).chain(self.switches.iter().map(|s| s.core()));
        for (port, at) in cores.flat_map(dataplane::Core::ports).zip(0..) {
            self.state.observer.uncount_transmissions(at, port.computed_departures());
        }
    }
}
