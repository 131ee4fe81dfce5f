//! Results on the single queues of every switch port.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::{Recorder, TraceRow};
use crate::tap::Tap;
use crate::world::World;
use mech::{Lane, QueueId};
use scenario::Scenario;
use units::Amount;

/// Location of a single queue: node, port, and number of the queue in tables.
type QueueLocation = (u32, u16, u8);

/// Returns the number of a queue in tables: `2 * class` for the normal lane, one more for bounced packets. The numbers
/// of other lanes follow all of these.
fn number_in_tables(queue: QueueId) -> u8 {
    match queue.lane() {
        Lane::Normal => 2 * queue.class(),
        Lane::Bounce => 2 * queue.class() + 1,
        Lane::Notice => 16 + queue.class(),
    }
}

impl<T: Tap> World<Recorder, T> {
    /// Returns every recorded single queue in order, with its capacity in packets: 0 if it has no limit or one in
    /// bytes, `None` if the switch does not have the queue.
    fn queue_capacities(&self) -> Vec<(QueueLocation, Option<u64>)> {
        let Some(all) = &self.state.observer.sub_queues else { return Vec::new() };
        let (ports, hosts) = (self.followed_queues(), self.hosts.len());
        let limit = |node: u32, queue: QueueId| {
            let mut queues = self.switches[node as usize - hosts].core().queue_limits();
            let (_, limit) = queues.find(|(its, _)| *its == queue)?;
            Some(if let Some(Amount::Packets(n)) = limit { n } else { 0 })
        };
        let of = |number| {
            let (port, queue) = all.port_and_queue(number);
            let (node, port) = ports[port];
            ((node, port, number_in_tables(queue)), limit(node, queue))
        };
        (0..all.queues.len()).map(of).collect()
    }

    /// Returns the table of single queues, with their capacity and the length from which the switch decides that they
    /// are full. `theta` is the utilisation from which on it bounces (1 is never), and `data` the number of decisions
    /// about data.
    pub(super) fn sub_queues_table(&self, scenario: &Scenario) -> Table {
        let overflow = |node: u32| scenario.switches[node as usize - self.hosts.len()].overflow.slot.peek();
        let all = self.state.observer.sub_queues.iter().flat_map(|all| &all.data);
        let all = self.queue_capacities().into_iter().zip(all);
        let row = |((at, limit), data): ((QueueLocation, Option<u64>), &u64)| {
            let (limit, overflow) = (limit?, overflow(at.0));
            Some((at, limit, overflow.full_length_in_packets(limit), overflow.min_fill_to_act(), *data))
        };
        let rows: Vec<_> = all.filter_map(row).collect();
        let columns = [
            ("node", make_column(&rows, Column::U32, |r| r.0.0)),
            ("port", make_column(&rows, Column::U16, |r| r.0.1)),
            ("queue", make_column(&rows, Column::U8, |r| r.0.2)),
            ("limit", make_column(&rows, Column::U64, |r| r.1)),
            ("full_from", make_column(&rows, Column::U64, |r| r.2)),
            ("theta", make_column(&rows, Column::F64, |r| r.3)),
            ("data", make_column(&rows, Column::U64, |r| r.4)),
        ];
        Table { name: "sub_queues", columns: named_columns(columns) }
    }

    pub(super) fn sub_queue_histogram(&self) -> Table {
        let mut rows = Vec::new();
        let places = self.queue_capacities();
        if let Some(all) = &self.state.observer.sub_queues {
            let queues = all.queues.iter().zip(&all.decisions).zip(places.iter());
            for ((queue, decisions), (at, _)) in queues.filter(|(_, (_, limit))| limit.is_some()) {
                for length in 0..queue.levels.len().max(decisions.len()) {
                    let level = queue.levels.get(length).copied().unwrap_or_default();
                    let found = [level.time, level.arrivals, decisions.get(length).copied().unwrap_or(0)];
                    if found != [0; 3] {
                        rows.push((*at, length as u32, found));
                    }
                }
            }
        }
        let columns = [
            ("node", make_column(&rows, Column::U32, |r| r.0.0)),
            ("port", make_column(&rows, Column::U16, |r| r.0.1)),
            ("queue", make_column(&rows, Column::U8, |r| r.0.2)),
            ("packets", make_column(&rows, Column::U32, |r| r.1)),
            ("time_ps", make_column(&rows, Column::U64, |r| r.2[0])),
            ("arrivals", make_column(&rows, Column::U64, |r| r.2[1])),
            ("decisions", make_column(&rows, Column::U64, |r| r.2[2])),
        ];
        Table { name: "sub_queue_hist", columns: named_columns(columns) }
    }

    /// Returns the table of single queues over time, by queue and time bin.
    pub(super) fn sub_queue_trace(&self, rows: &[TraceRow]) -> Table {
        let (width, places) = (self.state.observer.scope.bin.0 as f64, self.queue_capacities());
        let place = |row: &TraceRow| places[row.queue as usize].0;
        let columns = [
            ("bin", make_column(rows, Column::U32, |r| r.bin)),
            ("node", make_column(rows, Column::U32, |r| place(r).0)),
            ("port", make_column(rows, Column::U16, |r| place(r).1)),
            ("queue", make_column(rows, Column::U8, |r| place(r).2)),
            ("max_packets", make_column(rows, Column::U32, |r| r.max)),
            ("mean_packets", make_column(rows, Column::F64, |r| r.area / width)),
        ];
        Table { name: "sub_queue_trace", columns: named_columns(columns) }
    }
}
