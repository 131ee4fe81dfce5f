//! What the world does for a node during one step.

use crate::link::Wires;
use crate::probe::{Gain, Probe, Spot};
use crate::progress::FlowRecord;
use crate::queue::{EventQueue, Key, Phase};
use dataplane::transport::{Run, SenderStats};
use dataplane::{LosslessViolation, NO_EXT, Out, PauseFrame, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, PktId, PortId, QueueId};
use scenario::FctEnd;
use units::{Dur, Time};

/// A packet that should never be lost, and where and when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessViolationAt {
    /// The instant.
    pub at: Time,
    /// The switch.
    pub node: u32,
    /// The packet and the memory that it did not find.
    pub lost: LosslessViolation,
}

/// Everything of a run that its driver calls write to.
#[derive(Clone)]
pub(crate) struct RunState<P> {
    pub(crate) queue: EventQueue,
    pub(crate) wires: Wires,
    /// The first of each node's ports in the numbering over the whole network.
    pub(crate) base: Vec<u32>,
    pub(crate) records: Vec<FlowRecord>,
    /// Extensions of packets that were lost, to be freed.
    pub(crate) lost_exts: Vec<u32>,
    /// Extensions that further frames carry, and how many.
    pub(crate) copied_exts: Vec<(u32, u32)>,
    pub(crate) probe: P,
    pub(crate) open: u64,
    /// Messages that count, are to follow upon others, and have not started.
    pub(crate) pending: u64,
    /// By workload of the scenario's traffic: whether anything follows upon its messages.
    pub(crate) reacts: Vec<bool>,
    /// Messages of such workloads that have just arrived.
    pub(crate) delivered: Vec<FlowId>,
    pub(crate) completed: u64,
    pub(crate) fct_end: FctEnd,
    /// The first packet that should never be lost and was: the run ends at the next instant of its grid.
    pub(crate) lost: Option<LosslessViolationAt>,
}

/// The driver of one node during one step.
pub(crate) struct Driver<'a, P> {
    state: &'a mut RunState<P>,
    node: u32,
    /// The first of its ports in the numbering over the whole network, which is that of the links
    /// that leave by them.
    base: u32,
    now: Time,
}

impl<P: Probe> RunState<P> {
    /// Flows that count and have not finished, or not even started.
    pub(crate) fn unfinished(&self) -> u64 {
        self.open + self.pending
    }
    /// A flow is entered; its number is that of its record.
    pub(crate) fn enter(&mut self, record: FlowRecord) {
        self.probe.entered(FlowId(self.records.len() as u32), record.traffic);
        self.records.push(record);
    }
    #[inline]
    pub(crate) fn driver(&mut self, node: u32, now: Time) -> Driver<'_, P> {
        let base = self.base[node as usize];
        Driver { state: self, node, base, now }
    }
}

impl<P: Probe> Driver<'_, P> {
    fn spot(&self, port: PortId) -> Spot {
        Spot { now: self.now, node: self.node, port: self.base + u32::from(port.0) }
    }
    fn flow_ended(&mut self, flow: FlowId) {
        let record = &mut self.state.records[flow.0 as usize];
        record.end = self.now;
        self.state.completed += 1;
        self.state.open -= u64::from(record.measured);
    }
}

impl<P: Probe> Out for Driver<'_, P> {
    #[inline(always)]
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time) {
        let link = self.base + u32::from(port.0);
        let spot = self.spot(port);
        self.state.probe.transmitted(spot, pkt, end);
        if let Some((at, peer)) = self.state.wires.send(link, pkt, (self.now, end)) {
            self.state.queue.push(Key::new(at, peer, Phase::Arrival, link));
        }
    }
    fn transmit_run(&mut self, port: PortId, run: &Run, ends: (Time, Dur)) {
        let (link, spot) = (self.base + u32::from(port.0), self.spot(port));
        let mut end = ends.0;
        for pkt in run.packets() {
            self.state.probe.transmitted(spot, &pkt, end);
            end = end.saturating_add(ends.1);
        }
        if let Some((at, peer)) = self.state.wires.send_run(link, run, ends) {
            self.state.queue.push(Key::new(at, peer, Phase::Arrival, link));
        }
    }
    #[inline]
    fn wake(&mut self, port: PortId, at: Time) {
        self.state.queue.push(Key::new(at, self.node, Phase::Ended, u32::from(port.0)));
    }
    #[inline]
    fn timer(&mut self, index: u32, at: Time) {
        self.state.queue.push(Key::new(at.max(self.now), self.node, Phase::Timer, index));
    }
    #[inline]
    fn decided(&mut self, (port, queue): (PortId, QueueId), pkt: &Pkt) {
        let spot = self.spot(port);
        self.state.probe.decided(spot, queue, pkt);
    }
    #[inline]
    fn stored(&mut self, (port, queue): (PortId, QueueId), before: u32, slot: Option<PktId>, pkt: &Pkt) {
        let spot = self.spot(port);
        self.state.probe.stored(spot, queue, (before, slot), pkt);
    }
    #[inline]
    fn freed(&mut self, (port, queue): (PortId, QueueId), after: u32, started: Option<PktId>) {
        let spot = self.spot(port);
        self.state.probe.freed(spot, queue, (after, started));
    }
    #[inline]
    fn emitted(&mut self, pkt: &Pkt) {
        if self.state.probe.follows_order() {
            let traffic = self.state.records[pkt.head.flow.0 as usize].traffic;
            self.state.probe.emitted(traffic, pkt);
        }
    }
    fn dropped(&mut self, port: PortId, pkt: &Pkt, reason: DropReason) {
        let spot = self.spot(port);
        self.state.probe.dropped(spot, pkt, reason);
        self.ended(pkt);
    }
    fn copied(&mut self, pkt: &Pkt, made: u32) {
        if pkt.ext != NO_EXT {
            self.state.copied_exts.push((pkt.ext, made));
        }
    }
    fn ended(&mut self, pkt: &Pkt) {
        if pkt.ext != NO_EXT {
            self.state.lost_exts.push(pkt.ext);
        }
    }
    fn pause_sent(&mut self, port: PortId, frame: &PauseFrame, again: ClassSet) {
        let spot = self.spot(port);
        self.state.probe.pause_sent(spot, frame.xoff, again);
    }
    fn paused(&mut self, port: PortId, class: u8) {
        let spot = self.spot(port);
        self.state.probe.paused(spot, class);
    }
    fn resumed(&mut self, port: PortId, class: u8) {
        let spot = self.spot(port);
        self.state.probe.resumed(spot, class);
    }
    fn lossless_violation(&mut self, lost: &LosslessViolation) {
        let here = || LosslessViolationAt { at: self.now, node: self.node, lost: *lost };
        self.state.lost = self.state.lost.or_else(|| Some(here()));
    }
    fn marked(&mut self, port: PortId, pkt: &Pkt) {
        let spot = self.spot(port);
        self.state.probe.marked(spot, pkt);
    }
    fn detoured(&mut self, (wanted, taken): (PortId, PortId), pkt: &Pkt) {
        let (spot, taken) = (self.spot(wanted), self.spot(taken).port);
        self.state.probe.detoured(spot, taken, pkt);
    }
    fn bounced(&mut self, port: PortId, pkt: &Pkt) {
        let spot = self.spot(port);
        self.state.probe.bounced(spot, pkt);
    }
    #[inline]
    fn delivered(&mut self, pkt: &Pkt) {
        let spot = self.spot(PortId(0));
        self.state.probe.delivered(spot, pkt);
    }
    #[inline]
    fn received(&mut self, flow: FlowId, bytes: u64) {
        if bytes > 0 {
            let spot = self.spot(PortId(0));
            let traffic = self.state.records[flow.0 as usize].traffic;
            self.state.probe.received(spot, Gain { flow, traffic, bytes });
        }
    }
    fn flow_received(&mut self, flow: FlowId) {
        let traffic = self.state.records[flow.0 as usize].traffic;
        if self.state.reacts[usize::from(traffic)] {
            self.state.delivered.push(flow);
        }
        if self.state.fct_end == FctEnd::LastByte {
            self.flow_ended(flow);
        }
    }
    fn flow_acked(&mut self, flow: FlowId, stats: &SenderStats) {
        self.state.records[flow.0 as usize].sender = stats.into();
        if self.state.fct_end == FctEnd::SenderAck {
            self.flow_ended(flow);
        }
    }
}
