//! Rows of the tables that grow with simulated time, until they are taken out.

use super::{DetourRow, HoldRow, InputRow, LimitRow, NoticeRow, PacketEvent, PauseRow, StageRow};
use dataplane::{EventLocation, Pkt};
use mech::Flags;
use units::Time;

/// Row for the bytes of a flow that a host sent in one time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SentRow {
    pub(crate) bytes: u64,
    pub(crate) bin: u32,
    pub(crate) host: u32,
    pub(crate) flow: u32,
}

/// Row for a packet that was delivered or lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PacketRow {
    pub(crate) sent: Time,
    pub(crate) end: Time,
    pub(crate) flow: u32,
    pub(crate) emission: u32,
    pub(crate) node: u32,
    pub(crate) hops: u16,
    pub(crate) detours: u8,
    pub(crate) bounces: u8,
    pub(crate) max_distance: u8,
    pub(crate) reverse: u8,
    /// Outcome: 0 if delivered, else 1 + [`mech::overflow::DropReason`].
    pub(crate) fate: u8,
}

impl PacketRow {
    pub(crate) fn new(pkt: &Pkt, at: EventLocation, fate: u8, max_distance: u8) -> PacketRow {
        PacketRow {
            sent: pkt.sent,
            end: at.now,
            flow: pkt.head.flow.0,
            emission: pkt.emission,
            node: at.node,
            hops: pkt.head.hops,
            detours: pkt.head.detours,
            bounces: pkt.head.bounces,
            max_distance,
            reverse: u8::from(pkt.head.flags.has(Flags::REVERSE)),
            fate,
        }
    }
}

/// Row for the length of a queue in one time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TraceRow {
    /// Integral of the queue length over the time bin, in frames times picoseconds.
    pub(crate) area: f64,
    /// Number of the queue among all recorded queues.
    pub(crate) queue: u32,
    pub(crate) bin: u32,
    pub(crate) max: u32,
}

/// Row for one node and time bin: the number of packet events of one kind, such as drops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActivityRow {
    pub(crate) count: u64,
    pub(crate) bin: u32,
    pub(crate) node: u32,
    pub(crate) kind: u8,
}

/// Row for a sum over one time bin: bytes that a host or a flow received, or bits that left by a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SumRow {
    pub(crate) amount: u64,
    pub(crate) bin: u32,
    /// Number of the host, flow or port to which the sum belongs.
    pub(crate) owner: u32,
}

/// Lists, for the macro `$make`, the tables that grow with simulated time, in the order of [`crate::Results::tables`].
/// For each it gives the field of [`Rows`], its rows, their order, and the table that a [`crate::World`] makes of them.
///
/// The order of rows must not depend on the order in which nodes are processed, which a division of the run changes.
/// Rows of a `step` of time, a bin, are therefore sorted by their key; they are complete when they are taken. Rows of
/// an `instant` have it first in their key. They are made in that order, except for those of an instant at which the
/// network changes.
macro_rules! growing_tables {
    ($make:ident) => {
        $make! {
            trace: TraceRow, step |row| (row.bin, row.queue), |world, rows| world.queue_trace(rows);
            sub_trace: TraceRow, step |row| (row.bin, row.queue), |world, rows| world.sub_queue_trace(rows);
            activity: ActivityRow, step |row| (row.bin, row.node, row.kind), |_, rows| queues::activity(rows);
            host_goodput: SumRow, step |row| (row.bin, row.owner), |_, rows| goodput_and_links::host_goodput(rows);
            flow_goodput: SumRow, step |row| (row.bin, row.owner), |_, rows| goodput_and_links::flow_goodput(rows);
            links: SumRow, step |row| (row.bin, row.owner), |world, rows| world.links_table(rows);
            packets: PacketRow, instant |row| (row.end, row.node), |_, rows| packets::packets(rows);
            detour_steps: DetourRow, instant |row| (row.end.now, row.end.node), |world, rows| world.detour_steps(rows);
            pauses: PauseRow, instant |row| (row.to, row.node), |world, rows| world.pause_trace(rows);
            holds: HoldRow, step |row| (row.bin, row.port), |world, rows| world.hold_trace(rows);
            notices: NoticeRow, instant |row| (row.at.now, row.at.node), |world, rows| world.notices(rows);
            limits: LimitRow, instant |row| (row.at.now, row.at.node), |_, rows| congestion::rate_limits(rows);
            inputs: InputRow, step |row| (row.bin, row.input, row.output), |world, rows| world.input_trace(rows);
            stages: StageRow, step |row| (row.bin, row.node, row.buffer), |world, rows| world.fabric_trace(rows);
            sent: SentRow, step |row| (row.bin, row.host, row.flow), |_, rows| congestion::sent_trace(rows);
        }
    };
}
pub(crate) use growing_tables;

/// Sorts the rows of a table by their key if the table has the wanted order (`step` or `instant`).
macro_rules! sort {
    (step step $rows:expr, $key:expr) => {
        $rows.sort_by_key($key)
    };
    (instant instant $rows:expr, $key:expr) => {
        $rows.sort_by_key($key)
    };
    ($wanted:ident $order:ident $rows:expr, $key:expr) => {};
}

macro_rules! rows {
    ($($field:ident: $row:ty, $order:ident |$one:ident| $key:expr, |$world:pat_param, $rows:ident| $table:expr;)*) => {
        /// Rows of all tables that grow with simulated time, as far as they have not been taken out.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct Rows {
            $(pub(crate) $field: Vec<$row>,)*
        }

        impl Rows {
            /// Sorts the rows of tables by time bin. PRECONDITION: no bin with rows is open.
            pub(crate) fn sort(&mut self) {
                $(sort!(step $order self.$field, |$one| $key);)*
            }

            /// Sorts the rows of tables by instant. Nodes lose packets when they react to a change of the network. This
            /// is before any other event of that instant, and thus not in the order of nodes.
            pub(crate) fn sort_by_instant(&mut self) {
                $(sort!(instant $order self.$field, |$one| $key);)*
            }

            /// Appends the rows of another partition.
            pub(crate) fn append(&mut self, other: &mut Rows) {
                $(self.$field.append(&mut other.$field);)*
            }

            /// Returns the number of rows of the longest table.
            pub(crate) fn max_row_count(&self) -> usize {
                [$(self.$field.len()),*].into_iter().max().unwrap_or(0)
            }
        }
    };
}
growing_tables!(rows);

/// Counts of a node in the open time bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OpenActivityBin {
    bin: u32,
    counts: [u64; PacketEvent::COUNT],
}

impl OpenActivityBin {
    /// Counts an event of `node` in the time bin `bin`; the counts of an earlier bin go to `rows`.
    pub(crate) fn count_event(&mut self, kind: PacketEvent, bin: u32, node: u32, rows: &mut Vec<ActivityRow>) {
        if bin != self.bin {
            self.close(node, rows);
            self.bin = bin;
        }
        self.counts[kind as usize] += 1;
    }

    /// Writes the counts of the open time bin if it is before `bin`.
    pub(crate) fn end_bins_before(&mut self, bin: u32, node: u32, rows: &mut Vec<ActivityRow>) {
        if self.bin < bin {
            self.close(node, rows);
        }
    }

    pub(crate) fn close(&mut self, node: u32, rows: &mut Vec<ActivityRow>) {
        let counts = std::mem::take(&mut self.counts).into_iter().zip(0..);
        let some = counts.filter(|(count, _)| *count > 0);
        rows.extend(some.map(|(count, kind)| ActivityRow { count, bin: self.bin, node, kind }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_event_writes_one_row_and_none_for_empty_bins() {
        let (mut open, mut rows) = (OpenActivityBin::default(), Vec::new());
        open.count_event(PacketEvent::Drop, 3, 7, &mut rows);
        open.count_event(PacketEvent::Mark, 3, 7, &mut rows);
        open.count_event(PacketEvent::Drop, 3, 7, &mut rows);
        assert_eq!(rows, [], "the step is not over");
        open.count_event(PacketEvent::Bounce, 4_000_000_000, 7, &mut rows);
        open.close(7, &mut rows);
        open.close(7, &mut rows);
        let row = |count, bin, kind| ActivityRow { count, bin, node: 7, kind };
        assert_eq!(rows, [row(2, 3, 0), row(1, 3, 1), row(1, 4_000_000_000, 3)]);
    }
}
