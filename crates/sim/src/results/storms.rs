//! Results on pause storms that PFC watchdogs detected.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::World;
use dataplane::PauseStorm;

/// Pause storms of a whole run with the nodes of their switches, in the order of detection.
pub type PauseStorms = Vec<(u32, PauseStorm)>;

impl<T: Tap> World<Recorder, T> {
    /// Returns the pause storms that watchdogs detected; `None` if no port has a watchdog.
    pub(super) fn pause_storms(&self) -> Option<PauseStorms> {
        let switches = (self.hosts.len() as u32..).zip(&self.switches);
        let watched = switches.filter_map(|(node, switch)| Some((node, switch.core().pause_storms()?)));
        let each = watched.map(|(node, storms)| storms.iter().map(|one| (node, *one)).collect::<PauseStorms>());
        let mut all = each.reduce(|all, more| [all, more].concat())?;
        all.sort_by_key(|(node, one)| (one.from, *node, one.port, one.queue));
        Some(all)
    }
}

/// Returns the table of pause storms. `to_ps` is the largest number if a storm has not ended.
pub(super) fn storms_table(rows: &[(u32, PauseStorm)]) -> Table {
    let columns = [
        ("from_ps", make_column(rows, Column::U64, |(_, one)| one.from.0)),
        ("to_ps", make_column(rows, Column::U64, |(_, one)| one.to.0)),
        ("node", make_column(rows, Column::U32, |(node, _)| *node)),
        ("port", make_column(rows, Column::U16, |(_, one)| one.port.0)),
        ("queue", make_column(rows, Column::U8, |(_, one)| one.queue)),
        ("dropped", make_column(rows, Column::U64, |(_, one)| one.dropped)),
    ];
    Table { name: "pause_storms", columns: named_columns(columns) }
}
