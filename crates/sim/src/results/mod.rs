//! Results of a run as plain columns.

mod congestion;
mod events;
mod flows;
mod goodput_and_links;
mod group_losses;
mod holds;
mod packets;
mod path_links;
mod pauses;
mod ports;
mod queues;
mod reorder_table;
mod row_stream;
mod shortcuts;
mod storms;
mod sub_queues;

pub use group_losses::LosslessLosses;
pub use storms::PauseStorms;

pub use ports::CarriedBits;

pub(crate) use reorder_table::ReorderMetric;

use crate::deadlock::Deadlock;
use crate::driver::{BrokenRuleAt, LosslessViolationAt};
use crate::progress::{Progress, StopReason};
use crate::recorder::{Recorder, growing_tables};
use crate::tap::Tap;
use crate::world::World;
use mech::{ClassSet, PortId};
use scenario::Scenario;
use units::Time;

/// Column of a table, with values of a single type.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Unsigned 8-bit numbers.
    U8(Vec<u8>),
    /// Unsigned 16-bit numbers.
    U16(Vec<u16>),
    /// Unsigned 32-bit numbers.
    U32(Vec<u32>),
    /// Unsigned 64-bit numbers.
    U64(Vec<u64>),
    /// Signed 64-bit numbers.
    I64(Vec<i64>),
    /// Floating-point numbers: statistics, never a time or a size.
    F64(Vec<f64>),
}

/// Named columns of equal length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Columns with their names.
    pub columns: Vec<(String, Column)>,
}

impl Table {
    /// Returns a column of unsigned 64-bit numbers by name; `None` if there is none of that name and type.
    pub fn u64(&self, name: &str) -> Option<&[u64]> {
        self.columns.iter().find_map(|(known, column)| match column {
            Column::U64(values) if known == name => Some(values.as_slice()),
            _ => None,
        })
    }
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Tables of results, without the rows that were taken out before.
    pub tables: Vec<Table>,
    /// Progress of the run at its end.
    pub progress: Progress,
    /// True if every packet is accounted for.
    pub conserved: bool,
    /// Number of messages that the run waits for and that have not finished, including those that have not started.
    /// The run waits for measured messages, and for all messages of a query whose first one is measured.
    pub unfinished: u64,
    /// Number of messages that the run waits for.
    pub measured: u64,
    /// Number of messages that have not started in each measured query, with its workload and number.
    pub unstarted_by_query: Vec<(u16, u32, u64)>,
    /// Number of raw flows, whose packets are sent without a transport.
    pub raw: u64,
    /// Bits that links carried inside the measurement window, by level.
    pub carried_bits: Vec<CarriedBits>,
    /// Payload bytes that arrived in order inside the measurement window, by workload of the scenario's traffic. Raw
    /// packets count in any order.
    pub received: Vec<u64>,
    /// First deadlock of paused links that was found.
    pub deadlock: Option<Deadlock>,
    /// Pause storms that PFC watchdogs detected; `None` if no port has a watchdog.
    pub pause_storms: Option<PauseStorms>,
    /// Lossless groups that lost packets for lack of memory.
    pub lossless_losses: LosslessLosses,
    /// Switch port with the most losses of those whose classes share memory, if there is any.
    pub shared_by_classes: Option<SharedByClasses>,
    /// Loss of a packet of a lossless class that ended the run.
    pub lost: Option<LosslessViolationAt>,
    /// Rule that a mechanism broke, which ended the run.
    pub broken: Option<BrokenRuleAt>,
}

/// Switch port that lost packets while several traffic classes shared its memory without limits of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedByClasses {
    /// Number of the switch among all nodes.
    pub node: u32,
    /// Number of the port.
    pub port: u16,
    /// Classes that were lost there, or waited there when the buffer was full.
    pub classes: ClassSet,
    /// Number of packets that the full buffer refused.
    pub drops: u64,
}

pub(crate) fn make_column<T, C>(rows: &[T], make: fn(Vec<C>) -> Column, cell: impl Fn(&T) -> C) -> Column {
    make(rows.iter().map(cell).collect())
}

impl<T: Tap> World<Recorder, T> {
    /// Returns the switch port with the most losses of those whose classes share memory; the first of equal ones.
    fn port_shared_by_classes(&self, scenario: &Scenario) -> Option<SharedByClasses> {
        let mut most: Option<SharedByClasses> = None;
        for (node, switch) in (scenario.topology.hosts..).zip(&self.switches) {
            for port in 0..switch.core().ports().len() as u16 {
                let (classes, drops) = switch.core().classes_when_full(PortId(port));
                if classes.0.count_ones() > 1 && most.is_none_or(|most| drops > most.drops) {
                    most = Some(SharedByClasses { node, port, classes, drops });
                }
            }
        }
        most
    }

    /// Completes the counters of a run that has stopped (or is abandoned here), and returns its results. Rows that were
    /// taken before are not part of them.
    pub fn results(&mut self, scenario: &Scenario) -> Results {
        let now = self.now;
        let conserved = self.conserves_packets();
        // This comes before `close_records`: a closed recorder no longer reverses counts of departures after the end.
        self.uncount_departures_after_end();
        self.state.observer.close_records(self.settled_until(), now);
        self.look_for_deadlock();
        let flows = self.flows_table(scenario);
        let measured =
            self.state.records.iter().filter(|r| r.awaited).count() as u64 + self.state.messages_not_started();
        let rows = &self.state.observer.rows;
        macro_rules! made {
            ($($field:ident: $row:ty, $order:ident |$one:ident| $key:expr, |$world:pat_param, $rows:ident| $table:expr;)*) => {
                [$({
                    let ($world, $rows) = (&*self, &rows.$field[..]);
                    $table
                }),*]
            };
        }
        let over_time = growing_tables!(made);
        let mut tables = vec![
            flows,
            self.ports_table(scenario),
            self.queue_histogram(),
            self.sub_queues_table(scenario),
            self.sub_queue_histogram(),
            self.sojourn_table(),
            self.packet_histogram(),
            self.fates_table(),
            self.reorder_table(),
            self.pauses_table(),
            self.holds_table(),
            self.congestion_points(),
            self.limited_flows(),
            self.inputs_table(),
            self.fabric_buffers(),
            self.events_table(),
        ];
        tables.extend(over_time);
        let pause_storms = self.pause_storms();
        tables.push(storms::storms_table(pause_storms.as_deref().unwrap_or_default()));
        Results {
            tables,
            progress: self.progress(),
            conserved,
            unfinished: self.state.unfinished_messages(),
            measured,
            unstarted_by_query: self.state.queries.unstarted_by_query(),
            raw: (0..self.flows.len()).filter(|i| self.flows.is_raw(mech::FlowId(*i as u32))).count() as u64,
            carried_bits: self.carried_bits(scenario),
            received: self.bytes_received_in_window(scenario),
            deadlock: self.deadlock.clone(),
            pause_storms,
            lossless_losses: self.lossless_losses(),
            shared_by_classes: self.port_shared_by_classes(scenario),
            lost: self.state.lost,
            broken: self.state.broken,
        }
    }
}

impl<T: Tap> World<Recorder, T> {
    fn bytes_received_in_window(&self, scenario: &Scenario) -> Vec<u64> {
        let mut received = self.state.observer.received.clone();
        received.resize(scenario.traffic.len(), 0);
        received
    }
}

pub(crate) fn named_columns<const N: usize>(columns: [(&str, Column); N]) -> Vec<(String, Column)> {
    columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect()
}

impl Results {
    /// Returns a table by name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
    /// Returns true if the run was cut short.
    pub fn is_partial(&self) -> bool {
        matches!(
            self.progress.stop,
            None | Some(
                StopReason::MaxEvents | StopReason::Overloaded | StopReason::LosslessViolation | StopReason::BrokenRule
            )
        )
    }
    /// Returns the simulated time at the end.
    pub fn end(&self) -> Time {
        self.progress.now
    }
}
