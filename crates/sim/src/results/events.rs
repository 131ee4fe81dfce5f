//! Changes of the network, and the frames that each of them cost.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// Returns the table of network changes (`[[event]]`) so far, in the order of time. Each row has the frames lost on
    /// the links of the change and those dropped at their ports, until the next change of that kind on the same links.
    pub(super) fn events_table(&self) -> Table {
        let rows = self.event_costs();
        let columns = [
            ("event", make_column(&rows, Column::U32, |cost| cost.event as u32)),
            ("lost", make_column(&rows, Column::U64, |cost| cost.lost)),
            ("dropped", make_column(&rows, Column::U64, |cost| cost.dropped)),
        ];
        Table { name: "events", columns: named_columns(columns) }
    }
}
