//! Observer behind every table and figure: it records queues over time, events at nodes, and the ends of packets.

mod computed_departures;
mod data_drops;
mod detour_steps;
mod distances;
mod goodput;
mod histogram;
mod holds;
mod inputs;
mod links;
mod notices;
mod observer;
mod occupancy;
mod partitions;
mod pauses;
mod queue_record;
mod rate_limits;
mod reorder;
mod rows;
mod scope;
mod sent_bytes;
mod sequence;
mod stages;
mod storage_times;
mod sub_queues;
mod workloads;

pub(crate) use detour_steps::{Detour, DetourRow, DetourSteps};
pub(crate) use histogram::Histogram;
pub(crate) use holds::{HoldRow, HoldingPorts, PortHolds};
pub(crate) use inputs::{InputMemory, InputRow};
pub(crate) use notices::{NoticeRow, Notices, PortNotices};
pub(crate) use occupancy::WindowOccupancy;
pub(crate) use pauses::{PauseRow, PausedPorts};
pub(crate) use queue_record::QueueRecord;
pub(crate) use rate_limits::{LimitRow, LimitedFlow, RateLimits};
pub(crate) use rows::growing_tables;
pub(crate) use rows::{ActivityRow, OpenActivityBin, PacketRow, Rows, SentRow, SumRow, TraceRow};
pub use scope::Scope;
pub(crate) use scope::{BisectionFrames, PacketEvent, PacketMetric};
pub(crate) use sent_bytes::SentOverTime;
pub(crate) use stages::{BufferKind, BufferRecord, FabricMemory, StageRow};

use computed_departures::{ComputedDepartures, QueueFollowers};
use data_drops::DataDrops;
use dataplane::{EnqueuedFrame, EventLocation, Pkt};
use distances::Distances;
use goodput::GoodputOverTime;
use links::LinkBits;
use mech::{PacketKind, PktId, QueueId};
use scenario::Scenario;
use scope::BinClock;
use sequence::Reordering;
use storage_times::StorageTimes;
use sub_queues::SubQueues;
use units::Time;
use workloads::Workloads;

/// Observer of a run that records what the scenario's `[measure]` selects.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(crate) scope: Scope,
    clock: BinClock,
    /// Computed departures that are not yet in the records of their queues.
    computed_departures: ComputedDepartures,
    pub(crate) queues: Vec<QueueRecord>,
    pub(crate) sub_queues: Option<Box<SubQueues>>,
    storage_times: StorageTimes,
    /// Packets made by transports since they were last handed to other partitions; `None` unless the run is divided and
    /// the order of arrival is measured.
    emitted: Option<Vec<Pkt>>,
    distances: Distances,
    detour_steps: Option<Box<DetourSteps>>,
    goodput: GoodputOverTime,
    pub(crate) links: Option<Box<LinkBits>>,
    pub(crate) reordering: Option<Box<Reordering>>,
    pub(crate) pauses: Option<Box<PausedPorts>>,
    pub(crate) holds: Option<Box<HoldingPorts>>,
    pub(crate) notices: Option<Box<Notices>>,
    pub(crate) limits: Option<Box<RateLimits>>,
    pub(crate) inputs: Option<Box<InputMemory>>,
    pub(crate) stages: Option<Box<FabricMemory>>,
    sent: Option<Box<SentOverTime>>,
    /// Counts of packet events of each node in its open time bin.
    activity: Vec<OpenActivityBin>,
    pub(crate) workloads: Workloads,
    pub(crate) data_drops: DataDrops,
    pub(crate) rows: Rows,
    pub(crate) bisection: BisectionFrames,
    /// Payload bytes that arrived in order inside the measurement window, by workload of the scenario's traffic.
    pub(crate) received: Vec<u64>,
    closed: bool,
}

impl Recorder {
    /// Creates a recorder of all that a scenario's `[measure]` selects.
    pub fn from_scenario(scenario: &Scenario) -> Recorder {
        let measure = &scenario.measure;
        let nodes = &scenario.topology.nodes;
        let scope = Scope {
            from: measure.from,
            to: measure.to,
            bin: measure.bin,
            queues: measure.queues,
            sub_queues: measure.sub_queues,
            packets: measure.packets,
            goodput: measure.goodput,
            hosts: scenario.topology.hosts,
        };
        let ports = nodes.iter().flat_map(|node| &node.ports);
        let links = || LinkBits::from_scenario(scenario);
        let hosts = scope.hosts as usize;
        let queues = if scope.queues { ports.clone().count() - hosts } else { 0 };
        Recorder {
            scope,
            clock: BinClock::default(),
            computed_departures: ComputedDepartures::new(queues),
            queues: (0..queues as u32).map(QueueRecord::new).collect(),
            sub_queues: scope.sub_queues.then(|| Box::new(SubQueues::new(queues, scenario.top_class()))),
            storage_times: StorageTimes::new(nodes.len() - hosts),
            emitted: None,
            distances: Distances::default(),
            detour_steps: measure.detours.map(|least| Box::new(DetourSteps::new(least))),
            goodput: GoodputOverTime::new(scope.goodput, scope.hosts),
            links: measure.links.then(|| Box::new(links())),
            reordering: measure.reordering.then(|| Box::new(Reordering::new(measure.displacement_threshold))),
            pauses: scenario
                .has_pauses()
                .then(|| Box::new(PausedPorts::new(ports.clone().count(), scenario.classes()))),
            holds: scenario.has_packet_holds().then(|| Box::new(HoldingPorts::new(ports.clone().count()))),
            notices: scenario.sends_notices().then(|| Box::new(Notices::new(ports.clone().count(), measure.notices))),
            limits: scenario.has_rate_reaction().then(|| Box::new(RateLimits::new(measure.rate_limits))),
            inputs: InputMemory::from_scenario(scenario).map(Box::new),
            stages: FabricMemory::from_scenario(scenario).map(Box::new),
            sent: measure.sent.then(|| Box::new(SentOverTime::from_scenario(scenario))),
            activity: vec![OpenActivityBin::default(); nodes.len()],
            workloads: Workloads::new(scenario.traffic.len()),
            data_drops: DataDrops::default(),
            rows: Rows::default(),
            received: Vec::new(),
            closed: false,
            bisection: BisectionFrames::default(),
        }
    }

    fn count_event(&mut self, at: EventLocation, pkt: &Pkt, kind: PacketEvent) {
        if self.scope.covers(at.now) {
            self.workloads.count_event(pkt, kind);
        }
        let bin = self.clock.bin_at(&self.scope, at.now);
        self.activity[at.node as usize].count_event(kind, bin, at.node, &mut self.rows.activity);
    }

    #[inline(always)]
    fn queue_index(&self, at: EventLocation) -> Option<usize> {
        Some(at.port.checked_sub(self.scope.hosts)? as usize).filter(|queue| *queue < self.queues.len())
    }

    /// Returns the computed departures, and the records of a queue to which they are added. A port with computed
    /// departures has a single queue: classes and lanes would change which frame leaves next.
    fn departures_and_followers(&mut self, queue: usize) -> (&mut ComputedDepartures, QueueFollowers<'_>) {
        let sub_queues = self.sub_queues.as_mut();
        let apart = sub_queues.map(|all| (all.queue_record((queue, QueueId::normal(0))), &mut self.rows.sub_trace));
        let (port, trace) = (&mut self.queues[queue], &mut self.rows.trace);
        (&mut self.computed_departures, QueueFollowers { scope: &self.scope, port, trace, sub_queue: apart })
    }

    #[cold]
    fn update_queue_record(&mut self, queue: usize) {
        let (ahead, mut to) = self.departures_and_followers(queue);
        ahead.update_records(queue, &mut to);
    }

    /// Brings the records of every queue with computed departures up to `now`.
    fn update_queue_records_until(&mut self, now: Time) {
        for queue in 0..self.queues.len() {
            let (ahead, mut to) = self.departures_and_followers(queue);
            ahead.update_records_until(queue, now, &mut to);
        }
    }

    /// Records a frame that is stored at `now` in a queue with computed departures and starts to leave at `starts`.
    #[inline(always)]
    fn record_stored(&mut self, now: Time, queue: usize, starts: Time, before: u32) {
        if self.computed_departures.uncount_passed_frame(queue, now)
            && self.computed_departures.note_stored_frame(queue, now, now, 0)
        {
            self.update_queue_record(queue);
        }
        // This frame is noted, so that the record of its time bin shows a frame. Further frames of the bin that find
        // the queue empty add nothing to that: they are only counted, up to the end of the bin or of the window.
        if starts == now && before == 0 && self.scope.covers(now) {
            self.clock.bin_at(&self.scope, now);
            self.computed_departures.set_count_only_until(queue, self.clock.edge.min(self.scope.to));
        }
        if self.computed_departures.note_stored_frame(queue, now, starts, before) {
            self.update_queue_record(queue);
        }
    }

    fn record_stored_in_slot(&mut self, at: EventLocation, queue: usize, frame: EnqueuedFrame, slot: PktId) {
        self.queues[queue].record_stored::<false>(&self.scope, at.now, frame.before, &mut self.rows.trace);
        if let Some(all) = &mut self.sub_queues {
            all.record_stored(&self.scope, at.now, (queue, frame.queue), &mut self.rows.sub_trace);
        }
        let switch = (at.node - self.scope.hosts) as usize;
        self.storage_times.set(at.now, switch, slot);
    }

    /// Records that a packet was delivered or lost. Returns the largest distance by which bounces brought it back.
    fn record_packet_end(&mut self, at: EventLocation, pkt: &Pkt, fate: u8) -> u8 {
        let most = if pkt.head.bounces > 0 { self.distances.remove_ended_packet(pkt) } else { 0 };
        if let Some(steps) = self.detour_steps.as_mut().filter(|_| pkt.head.detours > 0) {
            steps.write_ended_packet(at, pkt, &mut self.rows.detour_steps);
        }
        // Congestion messages have emission numbers of their own. In the table they would be mistaken for the packets
        // of the flow with the same numbers.
        if self.scope.packets && pkt.head.kind() != PacketKind::Notice {
            self.rows.packets.push(PacketRow::new(pkt, at, fate, most));
        }
        most
    }

    /// Writes the rows of all time bins before that of `now`, and sorts all rows. Bins are closed here even if nothing
    /// has happened since, so that rows that are taken are complete and those of later calls follow them.
    pub(crate) fn write_bins_before(&mut self, now: Time) {
        if !self.closed {
            self.update_queue_records_until(now);
            let (scope, bin, rows) = (self.scope, self.scope.bin_of(now), &mut self.rows);
            self.queues.iter_mut().for_each(|queue| queue.end_bins_before(&scope, bin, &mut rows.trace));
            self.sub_queues.iter_mut().for_each(|queues| queues.end_bins_before(&scope, bin, &mut rows.sub_trace));
            let nodes = self.activity.iter_mut().zip(0..);
            nodes.for_each(|(open, node)| open.end_bins_before(bin, node, &mut rows.activity));
            self.goodput.end_bins_before(bin, rows);
            self.links.iter_mut().for_each(|links| links.end_bins_before(bin, &mut rows.links));
            self.holds.iter_mut().for_each(|holds| holds.end_bins_before(&scope, bin, &mut rows.holds));
            self.inputs.iter_mut().for_each(|inputs| inputs.end_bins_before(&scope, bin, &mut rows.inputs));
            self.stages.iter_mut().for_each(|stages| stages.end_bins_before(&scope, bin, &mut rows.stages));
            self.sent.iter_mut().for_each(|sent| sent.end_bins_before(bin, &mut rows.sent));
        }
        self.rows.sort();
    }

    /// Completes all records at the end of the run, `now`; later calls do nothing. Computed departures count up to
    /// `settled`.
    pub(crate) fn close_records(&mut self, settled: Time, now: Time) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let scope = self.scope;
        self.update_queue_records_until(settled);
        for queue in 0..self.queues.len() {
            let (ahead, mut to) = self.departures_and_followers(queue);
            ahead.close_records(queue, &mut to);
        }
        self.queues.iter_mut().for_each(|queue| queue.close(&scope, now, &mut self.rows.trace));
        let sub_queues = self.sub_queues.iter_mut();
        sub_queues.for_each(|queues| queues.close(&scope, now, &mut self.rows.sub_trace));
        let nodes = self.activity.iter_mut().zip(0..);
        nodes.for_each(|(open, node)| open.close(node, &mut self.rows.activity));
        self.goodput.close(&mut self.rows);
        self.links.iter_mut().for_each(|links| links.close(&mut self.rows.links));
        self.holds.iter_mut().for_each(|holds| holds.close(&scope, now, &mut self.rows.holds));
        self.inputs.iter_mut().for_each(|inputs| inputs.close(&scope, now, &mut self.rows.inputs));
        self.stages.iter_mut().for_each(|stages| stages.close(&scope, now, &mut self.rows.stages));
        self.limits.iter_mut().for_each(|limits| limits.close(&scope, now));
        self.sent.iter_mut().for_each(|sent| sent.close(&mut self.rows.sent));
        self.reordering.iter_mut().for_each(|reordering| reordering.end_streams());
        self.rows.sort_by_instant();
        self.pauses.iter_mut().for_each(|pauses| pauses.close(&scope, now, &mut self.rows.pauses));
        self.rows.sort();
    }

    /// Returns the number of packets in flight whose detours are kept.
    pub fn detours_kept(&self) -> usize {
        self.detour_steps.as_ref().map_or(0, |steps| steps.packets_kept())
    }

    /// Returns the number of flows with missing or early data, if the order of arrival is measured.
    pub fn incomplete_streams(&self) -> usize {
        self.reordering.as_ref().map_or(0, |reordering| reordering.flows_in_flight())
    }

    /// Reverses the counts of frames that were to leave by `port` after the end of the run.
    pub(crate) fn uncount_transmissions(&mut self, port: u32, ahead: impl IntoIterator<Item = (Time, u16)>) {
        if self.closed {
            return;
        }
        for (start, size) in ahead {
            self.links.iter_mut().for_each(|links| links.uncount_transmission(&self.scope, port, start, size));
            self.sent.iter_mut().for_each(|sent| sent.uncount_last_frame(&self.scope, port));
        }
    }
}
