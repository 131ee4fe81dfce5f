//! What grows with simulated time: rows that wait until somebody takes them.

use super::{DetourRow, HoldRow, InputRow, Kind, LimitRow, NoticeRow, PauseRow, StageRow};
use dataplane::{Pkt, Spot};
use mech::Flags;
use units::Time;

/// What of a flow began to leave a host in one step of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SentRow {
    pub(crate) bytes: u64,
    pub(crate) bin: u32,
    pub(crate) host: u32,
    pub(crate) flow: u32,
}

/// One packet's end.
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
    /// 0 delivered, else 1 + [`mech::overflow::DropReason`].
    pub(crate) fate: u8,
}

impl PacketRow {
    pub(crate) fn new(pkt: &Pkt, at: Spot, fate: u8, max_distance: u8) -> PacketRow {
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

/// One step of a queue's course over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TraceRow {
    /// Frames times picoseconds.
    pub(crate) area: f64,
    /// Which of the followed queues.
    pub(crate) queue: u32,
    pub(crate) bin: u32,
    pub(crate) max: u32,
}

/// How often one kind of event happened at a node in one step of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActivityRow {
    pub(crate) count: u64,
    pub(crate) bin: u32,
    pub(crate) node: u32,
    pub(crate) kind: u8,
}

/// A sum over one step of time: bytes that a host or a flow got, bits that left by a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SumRow {
    pub(crate) amount: u64,
    pub(crate) bin: u32,
    /// Whose.
    pub(crate) of: u32,
}

/// All of them. Those of steps of time are put in order when they are taken: by step, then by whose they are.
/// Those of instants are in the order of time and nodes, as they happened at a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) packets: Vec<PacketRow>,
    pub(crate) trace: Vec<TraceRow>,
    /// Of the queues of ports apart.
    pub(crate) sub_trace: Vec<TraceRow>,
    pub(crate) activity: Vec<ActivityRow>,
    pub(crate) host_goodput: Vec<SumRow>,
    pub(crate) flow_goodput: Vec<SumRow>,
    pub(crate) links: Vec<SumRow>,
    pub(crate) holds: Vec<HoldRow>,
    pub(crate) inputs: Vec<InputRow>,
    pub(crate) stages: Vec<StageRow>,
    pub(crate) sent: Vec<SentRow>,
    pub(crate) notices: Vec<NoticeRow>,
    pub(crate) limits: Vec<LimitRow>,
    pub(crate) detour_steps: Vec<DetourRow>,
    /// In the order of their ends.
    pub(crate) pauses: Vec<PauseRow>,
}

impl Rows {
    /// Puts rows of steps of time in order. PRECONDITION: of the steps that have rows none is open.
    pub(crate) fn sort(&mut self) {
        [&mut self.trace, &mut self.sub_trace]
            .into_iter()
            .for_each(|rows| rows.sort_by_key(|row| (row.bin, row.queue)));
        self.activity.sort_by_key(|row| (row.bin, row.node, row.kind));
        let sums = [&mut self.host_goodput, &mut self.flow_goodput, &mut self.links];
        sums.into_iter().for_each(|rows| rows.sort_by_key(|row| (row.bin, row.of)));
        self.holds.sort_by_key(|row| (row.bin, row.port));
        self.inputs.sort_by_key(|row| (row.bin, row.input, row.output));
        self.stages.sort_by_key(|row| (row.bin, row.node, row.buffer));
        self.sent.sort_by_key(|row| (row.bin, row.host, row.flow));
    }

    /// Puts rows of instants in order. They come in it, but for those of an instant at which the network changes:
    /// what nodes lose as they learn of it is told before anything else of that instant.
    pub(crate) fn sort_ends(&mut self) {
        self.packets.sort_by_key(|row| (row.end, row.node));
        self.detour_steps.sort_by_key(|row| (row.end.now, row.end.node));
        self.pauses.sort_by_key(|row| (row.to, row.node));
        self.notices.sort_by_key(|row| (row.at.now, row.at.node));
        self.limits.sort_by_key(|row| (row.at.now, row.at.node));
    }

    /// Those of another partition, behind these.
    pub(crate) fn append(&mut self, other: &mut Rows) {
        self.packets.append(&mut other.packets);
        self.trace.append(&mut other.trace);
        self.sub_trace.append(&mut other.sub_trace);
        self.activity.append(&mut other.activity);
        self.host_goodput.append(&mut other.host_goodput);
        self.flow_goodput.append(&mut other.flow_goodput);
        self.links.append(&mut other.links);
        self.holds.append(&mut other.holds);
        self.inputs.append(&mut other.inputs);
        self.stages.append(&mut other.stages);
        self.sent.append(&mut other.sent);
        self.notices.append(&mut other.notices);
        self.limits.append(&mut other.limits);
        self.detour_steps.append(&mut other.detour_steps);
        self.pauses.append(&mut other.pauses);
    }

    /// Rows of the longest table.
    pub(crate) fn waiting(&self) -> usize {
        let sums = [&self.host_goodput, &self.flow_goodput, &self.links].map(Vec::len);
        let traces = [self.trace.len(), self.sub_trace.len(), self.packets.len(), self.activity.len()];
        let others = [self.detour_steps.len(), self.pauses.len(), self.holds.len()];
        let congestion = [self.inputs.len(), self.stages.len(), self.sent.len(), self.notices.len(), self.limits.len()];
        sums.into_iter().chain(traces).chain(others).chain(congestion).max().unwrap_or(0)
    }
}

/// Counts of a node in the step of time that is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OpenBin {
    bin: u32,
    counts: [u64; Kind::COUNT],
}

impl OpenBin {
    /// Counts an event of `node` in the step `bin`; earlier counts go to `rows`.
    pub(crate) fn count(&mut self, kind: Kind, bin: u32, node: u32, rows: &mut Vec<ActivityRow>) {
        if bin != self.bin {
            self.close(node, rows);
            self.bin = bin;
        }
        self.counts[kind as usize] += 1;
    }

    /// Steps before `bin` are over.
    pub(crate) fn settle(&mut self, bin: u32, node: u32, rows: &mut Vec<ActivityRow>) {
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
    fn a_late_event_costs_one_row_and_not_one_for_every_step_before_it() {
        let (mut open, mut rows) = (OpenBin::default(), Vec::new());
        open.count(Kind::Drop, 3, 7, &mut rows);
        open.count(Kind::Mark, 3, 7, &mut rows);
        open.count(Kind::Drop, 3, 7, &mut rows);
        assert_eq!(rows, [], "the step is not over");
        open.count(Kind::Bounce, 4_000_000_000, 7, &mut rows);
        open.close(7, &mut rows);
        open.close(7, &mut rows);
        let row = |count, bin, kind| ActivityRow { count, bin, node: 7, kind };
        assert_eq!(rows, [row(2, 3, 0), row(1, 3, 1), row(1, 4_000_000_000, 3)]);
    }
}
