//! Driver of a node during one step: it sends frames, sets timers, and records the ends of flows.

use crate::link::Links;
use crate::progress::{FlowRecord, StopReason};
use crate::queries::Queries;
use crate::queue::{EventQueue, Key, StepPhase};
use dataplane::transport::{SegmentRun, SenderStats};
use dataplane::{BrokenRule, EventLocation, LosslessViolation, Observer, Out, Outcome, Pkt};
use mech::{FlowId, PortId};
use scenario::FctEnd;
use std::collections::BTreeSet;
use units::{Dur, Time};

/// Loss of a packet of a lossless class, with its switch and instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessViolationAt {
    /// Instant of the loss.
    pub at: Time,
    /// Number of the switch.
    pub node: u32,
    /// Packet that was lost, and the memory that had no space for it.
    pub lost: LosslessViolation,
}

/// Rule of a slot that a mechanism broke, with the node and the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRuleAt {
    /// Instant at which the mechanism broke the rule.
    pub at: Time,
    /// Node number of the switch or host whose mechanism broke the rule.
    pub node: u32,
    /// Broken rule and its slot.
    pub broken: BrokenRule,
}

/// State of a run that nodes change through their driver: events, links, flow records and observer.
#[derive(Clone)]
pub(crate) struct RunState<O> {
    pub(crate) queue: EventQueue,
    pub(crate) wires: Links,
    /// First port of each node, in the numbering of ports over the whole network.
    pub(crate) base: Vec<u32>,
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) observer: O,
    /// Number of unfinished flows that the run waits for. The count of a partition is one term of a sum modulo 2⁶⁴,
    /// since flows that begin in one partition may end in another.
    pub(crate) unfinished_flows: u64,
    /// Number of measured messages that arrivals have planned and that have not started, except messages that a
    /// measured query counts as missing.
    pub(crate) pending: u64,
    /// Queries with messages that have not started yet.
    pub(crate) queries: Queries,
    /// True, by workload of the scenario's traffic, if the arrival of its messages may start others.
    pub(crate) workloads_with_followers: Vec<bool>,
    /// Messages that have just arrived, in workloads in which arrivals may start other messages.
    pub(crate) delivered: Vec<FlowId>,
    pub(crate) completed: u64,
    pub(crate) fct_end: FctEnd,
    /// First loss of a packet of a lossless class: the run ends at the next instant of its `InstantGrid`.
    pub(crate) lost: Option<LosslessViolationAt>,
    /// Nodes to which a watchdog has sent frames in spite of pauses. No headroom is enough there from then on, and the
    /// frames take memory from those of other inputs, so that no loss there ends the run.
    pub(crate) nodes_with_ignored_pauses: BTreeSet<u32>,
    /// First rule that a mechanism broke: the run ends at the next instant of its `InstantGrid`.
    pub(crate) broken: Option<BrokenRuleAt>,
}

/// The driver of one node during one step.
pub(crate) struct Driver<'a, O> {
    state: &'a mut RunState<O>,
    node: u32,
    /// First port of the node in the numbering over the whole network, which is also the number of the link that
    /// leaves by it.
    base: u32,
    now: Time,
}

impl<O: Observer> RunState<O> {
    /// Returns the reason why the run has failed, if it has. A broken rule has precedence over a loss, which it may
    /// have caused.
    pub(crate) fn failure(&self) -> Option<StopReason> {
        let lost = self.lost.map(|_| StopReason::LosslessViolation);
        self.broken.map(|_| StopReason::BrokenRule).or(lost)
    }

    /// Returns the number of messages that the run waits for and that have not finished, including those that have
    /// not started.
    pub(crate) fn unfinished_messages(&self) -> u64 {
        self.unfinished_flows.wrapping_add(self.messages_not_started())
    }

    /// Returns the number of messages that the run waits for and that have not started.
    pub(crate) fn messages_not_started(&self) -> u64 {
        self.pending + self.queries.unstarted_messages()
    }

    /// Adds the record of a flow; the number of the flow is the index of its record.
    pub(crate) fn add_flow_record(&mut self, flow: FlowId, mut record: FlowRecord) {
        self.observer.on_flow_added(flow, record.traffic);
        record.awaited |= self.queries.count_started_message(&record);
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
    fn record_flow_end(&mut self, flow: FlowId) {
        let record = &mut self.state.records[flow.0 as usize];
        record.end = self.now;
        self.state.completed += 1;
        self.state.unfinished_flows = self.state.unfinished_flows.wrapping_sub(u64::from(record.awaited));
    }
    fn flow_received(&mut self, flow: FlowId) {
        let traffic = self.state.records[flow.0 as usize].traffic;
        if self.state.workloads_with_followers[usize::from(traffic)] {
            self.state.delivered.push(flow);
        }
        if self.state.fct_end == FctEnd::LastByte {
            self.record_flow_end(flow);
        }
    }
    fn flow_acknowledged(&mut self, flow: FlowId, stats: &SenderStats) {
        self.state.records[flow.0 as usize].sender = stats.into();
        if self.state.fct_end == FctEnd::SenderAck {
            self.record_flow_end(flow);
        }
    }
    fn record_lossless_violation(&mut self, lost: &LosslessViolation) {
        if self.state.nodes_with_ignored_pauses.contains(&self.node) {
            return;
        }
        let here = || LosslessViolationAt { at: self.now, node: self.node, lost: *lost };
        self.state.lost = self.state.lost.or_else(|| Some(here()));
    }
    fn record_broken_rule(&mut self, broken: &BrokenRule) {
        let here = || BrokenRuleAt { at: self.now, node: self.node, broken: *broken };
        self.state.broken = self.state.broken.or_else(|| Some(here()));
    }
}

impl<O: Observer> Out for Driver<'_, O> {
    type Observer = O;

    #[inline(always)]
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time) {
        let spot = self.event_location(port);
        self.state.observer.on_transmit(spot, pkt, end);
        if let Some((at, peer)) = self.state.wires.send_frame(spot.port, pkt, self.now, end) {
            self.state.queue.push(Key::new(at, peer, StepPhase::Arrival, spot.port));
        }
    }
    fn transmit_run(&mut self, port: PortId, run: &SegmentRun, ends: (Time, Dur)) {
        let spot = self.event_location(port);
        let mut end = ends.0;
        for pkt in run.packets() {
            self.state.observer.on_transmit(spot, &pkt, end);
            end = end.saturating_add(ends.1);
        }
        if let Some((at, peer)) = self.state.wires.send_run(spot.port, run, self.now, ends) {
            self.state.queue.push(Key::new(at, peer, StepPhase::Arrival, spot.port));
        }
    }
    #[inline]
    fn schedule_wake(&mut self, port: PortId, at: Time) {
        self.state.queue.push(Key::new(at, self.node, StepPhase::Ended, u32::from(port.0)));
    }
    #[inline]
    fn set_timer(&mut self, index: u32, at: Time) {
        self.state.queue.push(Key::new(at.max(self.now), self.node, StepPhase::Timer, index));
    }
    fn report_outcome(&mut self, what: Outcome) {
        match what {
            Outcome::FlowReceived(flow) => self.flow_received(flow),
            Outcome::FlowAcknowledged(flow, stats) => self.flow_acknowledged(flow, stats),
            Outcome::LosslessViolated(lost) => self.record_lossless_violation(lost),
            Outcome::PausesIgnored(port) => {
                let (far, _) = self.state.wires.far_end(self.base + u32::from(port.0));
                self.state.nodes_with_ignored_pauses.insert(far);
            }
            Outcome::RuleBroken(broken) => self.record_broken_rule(broken),
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
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: self.now, node: self.node, port: self.base + u32::from(port.0) }
    }
}
