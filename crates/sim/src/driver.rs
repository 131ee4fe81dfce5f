//! What the world does for a node during one step.

use crate::link::Wires;
use crate::progress::{FlowRecord, Stop};
use crate::queries::Queries;
use crate::queue::{EventQueue, Key, Phase};
use dataplane::transport::{Run, SenderStats};
use dataplane::{BrokenRule, LosslessViolation, Observer, Out, Outcome, Pkt, Spot};
use mech::{FlowId, PortId};
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

/// A rule that a mechanism broke, and where and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRuleAt {
    /// The instant.
    pub at: Time,
    /// The switch or host.
    pub node: u32,
    /// The rule and its slot.
    pub broken: BrokenRule,
}

/// Everything of a run that its driver calls write to.
#[derive(Clone)]
pub(crate) struct RunState<O> {
    pub(crate) queue: EventQueue,
    pub(crate) wires: Wires,
    /// The first of each node's ports in the numbering over the whole network.
    pub(crate) base: Vec<u32>,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) observer: O,
    /// Flows that the run waits for and that have not finished. Of a partition it is a part of a sum modulo 2⁶⁴: flows that begin
    /// in one may end in another.
    pub(crate) open: u64,
    /// Messages that count, are to follow upon others, and have not started, of queries that do not count.
    pub(crate) pending: u64,
    /// Queries of which messages have not started.
    pub(crate) queries: Queries,
    /// By workload of the scenario's traffic: whether anything follows upon its messages.
    pub(crate) reacts: Vec<bool>,
    /// Messages of such workloads that have just arrived.
    pub(crate) delivered: Vec<FlowId>,
    pub(crate) completed: u64,
    pub(crate) fct_end: FctEnd,
    /// The first packet that should never be lost and was: the run ends at the next instant of its grid.
    pub(crate) lost: Option<LosslessViolationAt>,
    /// The first rule that a mechanism broke: the run ends likewise.
    pub(crate) broken: Option<BrokenRuleAt>,
}

/// The driver of one node during one step.
pub(crate) struct Driver<'a, O> {
    state: &'a mut RunState<O>,
    node: u32,
    /// The first of its ports in the numbering over the whole network, which is that of the links
    /// that leave by them.
    base: u32,
    now: Time,
}

impl<O: Observer> RunState<O> {
    /// Why the run has failed, if it has. A mechanism that broke a rule may cause any loss after it.
    pub(crate) fn failed(&self) -> Option<Stop> {
        let lost = self.lost.map(|_| Stop::LosslessViolation);
        self.broken.map(|_| Stop::BrokenRule).or(lost)
    }

    /// Messages that the run waits for and that have not finished, or not even started.
    pub(crate) fn unfinished(&self) -> u64 {
        self.open.wrapping_add(self.not_started())
    }

    /// Messages that the run waits for and that have not started.
    pub(crate) fn not_started(&self) -> u64 {
        self.pending + self.queries.missing()
    }

    /// A flow is entered; its number is that of its record.
    pub(crate) fn enter(&mut self, flow: FlowId, mut record: FlowRecord) {
        self.observer.entered(flow, record.traffic);
        record.awaited |= self.queries.start(&record);
        let at = flow.0 as usize;
        if at >= self.records.len() {
            self.records.resize(at + 1, record);
        }
        self.records[at] = record;
    }
    #[inline]
    pub(crate) fn driver(&mut self, node: u32, now: Time) -> Driver<'_, O> {
        let base = self.base[node as usize];
        Driver { state: self, node, base, now }
    }
}

impl<O: Observer> Driver<'_, O> {
    fn flow_ended(&mut self, flow: FlowId) {
        let record = &mut self.state.records[flow.0 as usize];
        record.end = self.now;
        self.state.completed += 1;
        self.state.open = self.state.open.wrapping_sub(u64::from(record.awaited));
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
    fn flow_acknowledged(&mut self, flow: FlowId, stats: &SenderStats) {
        self.state.records[flow.0 as usize].sender = stats.into();
        if self.state.fct_end == FctEnd::SenderAck {
            self.flow_ended(flow);
        }
    }
    fn violated(&mut self, lost: &LosslessViolation) {
        let here = || LosslessViolationAt { at: self.now, node: self.node, lost: *lost };
        self.state.lost = self.state.lost.or_else(|| Some(here()));
    }
    fn broken(&mut self, broken: &BrokenRule) {
        let here = || BrokenRuleAt { at: self.now, node: self.node, broken: *broken };
        self.state.broken = self.state.broken.or_else(|| Some(here()));
    }
}

impl<O: Observer> Out for Driver<'_, O> {
    type Observer = O;

    #[inline(always)]
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time) {
        let spot = self.spot(port);
        self.state.observer.transmitted(spot, pkt, end);
        if let Some((at, peer)) = self.state.wires.send(spot.port, pkt, self.now, end) {
            self.state.queue.push(Key::new(at, peer, Phase::Arrival, spot.port));
        }
    }
    fn transmit_run(&mut self, port: PortId, run: &Run, ends: (Time, Dur)) {
        let spot = self.spot(port);
        let mut end = ends.0;
        for pkt in run.packets() {
            self.state.observer.transmitted(spot, &pkt, end);
            end = end.saturating_add(ends.1);
        }
        if let Some((at, peer)) = self.state.wires.send_run(spot.port, run, self.now, ends) {
            self.state.queue.push(Key::new(at, peer, Phase::Arrival, spot.port));
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
    fn finished(&mut self, what: Outcome) {
        match what {
            Outcome::Received(flow) => self.flow_received(flow),
            Outcome::Acknowledged(flow, stats) => self.flow_acknowledged(flow, stats),
            Outcome::Violated(lost) => self.violated(lost),
            Outcome::Broken(broken) => self.broken(broken),
        }
    }
    fn has_flow(&self, flow: FlowId) -> bool {
        (flow.0 as usize) < self.state.records.len()
    }
    #[inline(always)]
    fn observer(&mut self) -> &mut O {
        &mut self.state.observer
    }
    #[inline(always)]
    fn spot(&self, port: PortId) -> Spot {
        Spot { now: self.now, node: self.node, port: self.base + u32::from(port.0) }
    }
}
