//! What has changed in the network, and what was lost of it.

use super::{Column, Table, column, named};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;

impl<T: Tap> World<Recorder, T> {
    /// The events that have happened, by their numbers in the order of time, with the frames that were lost on
    /// their links until the next event there.
    pub(super) fn events_table(&self) -> Table {
        let rows = self.events_so_far();
        let columns =
            [("event", column(&rows, Column::U32, |r| r.0 as u32)), ("lost", column(&rows, Column::U64, |r| r.1))];
        Table { name: "events", columns: named(columns) }
    }
}
