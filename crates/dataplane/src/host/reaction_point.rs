//! Reaction point of a host, which limits flow rates after congestion messages: its calls, timers and own messages.

use super::nic_pull::{PullState, ReactionState};
use super::{Host, HostStep, HostTimer, NIC};
use crate::flow_queues::FlowDirection;
use crate::flows::REMOVED_SLOT;
use crate::{BrokenRule, NoticeSetup, Observer, Out, Outcome, Pkt};
use mech::host::{FlowAtNic, Reaction};
use mech::{Flags, FlowId, Notice, PacketKind, Rule};
use units::Time;

/// Largest number of timers of a reaction point that may expire at one instant.
/// A reaction point that sets more would stop simulated time.
const MAX_TIMERS_PER_INSTANT: u32 = 1 << 20;

impl Host {
    /// Handles a congestion message about a flow.
    /// The reaction point receives the message if this host sends the flow and the flow is not over. A message about a
    /// flow's ACKs changes nothing.
    #[cold]
    pub(super) fn on_notice<O: Out>(&mut self, flow: FlowId, notice: Notice, step: &mut HostStep<O>) {
        self.notice_log.on_notice(flow, notice);
        let (src, ends) = (step.flows.info(flow).src, step.flows.ends[flow.0 as usize]);
        if src == self.id && ends.sender != REMOVED_SLOT {
            self.call_reaction(flow, step, |point, flow| point.on_notice(&notice, flow));
        }
    }

    /// Handles a marked packet, and sends a congestion message if the source is to be notified.
    /// The message leaves by the NIC immediately, ahead of queued frames and past the stack.
    /// TCP echoes marks itself, so its sources get no message.
    #[cold]
    pub(super) fn on_marked_packet<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let FlowDirection { flow, reverse } = FlowDirection::from_head(&pkt.head);
        if pkt.head.dst != self.id || reverse || pkt.head.flags.has(Flags::RETURNED) {
            return;
        }
        if pkt.head.kind() == PacketKind::Segment
            && step.tcp.config_at(|| step.flows.info(flow).receiver_ends()).echoes_marks()
        {
            return;
        }
        let (node, size) = (self.id.0, self.framing.min_frame.max(64));
        let Some(reacting) = self.reaction_state() else { return };
        let Some(notice) = reacting.point.on_marked(flow, step.now) else { return };
        let n = reacting.made;
        reacting.made += 1;
        let mut message = NoticeSetup { notice, flow, to: pkt.head.src, node, n, size }.packet();
        message.sent = step.now;
        self.originated.count(&message);
        let at = step.out.event_location(NIC);
        step.out.observer().on_notice_sent(at, &message);
        self.nic.admit(&mut message, NIC, &mut step.nic_step());
    }

    /// Reports to the reaction point that a frame of a limited flow begins to leave.
    pub(super) fn report_sent_frame<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let FlowDirection { flow, reverse } = FlowDirection::from_head(&pkt.head);
        let is_limited = self.pulled.as_ref().is_some_and(|pulled| pulled.queues().is_limited(flow));
        if is_limited && !reverse {
            self.call_reaction(flow, step, |point, flow| point.on_sent(u64::from(pkt.head.size), flow));
        }
    }

    /// Handles the event for the timers of the reaction point.
    #[cold]
    pub(super) fn on_reaction_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        if self.reaction_state().is_none_or(|reacting| reacting.event != step.now) {
            return;
        }
        // `event` keeps its value in this loop, so that `schedule_reaction_timer` sets no event for timers that the
        // loop will handle.
        let mut last = None;
        let mut left = MAX_TIMERS_PER_INSTANT;
        while let Some((at, flow)) = self.next_reaction_timer().filter(|(at, _)| *at <= step.now) {
            if last == Some((at, flow)) || left == 0 {
                return self.report_broken_reaction_rule(Rule::EndlessTimers, step);
            }
            if flow.0 as usize >= step.flows.len() {
                return self.report_broken_reaction_rule(Rule::NoFlow(flow), step);
            }
            self.call_reaction(flow, step, |point, flow| point.on_timer(flow));
            (last, left) = (Some((at, flow)), left - 1);
        }
        self.reaction_state().into_iter().for_each(|reacting| reacting.event = Time::NEVER);
        self.schedule_reaction_timer(step);
    }

    /// Reports a rule that a reaction point broke; its timers stop.
    fn report_broken_reaction_rule<O: Out>(&mut self, rule: Rule, step: &mut HostStep<O>) {
        step.out.report_outcome(Outcome::RuleBroken(&BrokenRule { slot: "reaction", port: NIC, rule }));
    }

    /// Removes a flow whose sender is done from the NIC and its reaction point.
    pub(super) fn remove_flow_from_nic<O: Out>(&mut self, flow: FlowId, step: &mut HostStep<O>) {
        let Some(pulled) = &mut self.pulled else { return };
        let (queues, reacting) = pulled.queues_and_reaction();
        let limit = queues.rate_limit(flow);
        queues.on_flow_done(flow, step.now);
        if let Some(reacting) = reacting {
            reacting.point.remove_flow(flow);
            if limit.is_some() {
                let at = step.out.event_location(NIC);
                step.out.observer().on_rate_limit(at, flow, None);
            }
        }
    }

    /// Calls the reaction point for a flow, and reports the flow's rate limit if it changed.
    fn call_reaction<O: Out>(
        &mut self,
        flow: FlowId,
        step: &mut HostStep<O>,
        ask: impl FnOnce(&mut dyn Reaction, &mut FlowAtNic),
    ) {
        let Some((queues, Some(reacting))) = self.pulled.as_deref_mut().map(PullState::queues_and_reaction) else {
            return;
        };
        let before = queues.rate_limit(flow);
        queues.change_limiter(flow, step.flows.info(flow).class, step.now, |flow| ask(&mut *reacting.point, flow));
        let after = queues.rate_limit(flow);
        if after != before {
            let at = step.out.event_location(NIC);
            step.out.observer().on_rate_limit(at, flow, after);
        }
        self.schedule_reaction_timer(step);
    }

    fn reaction_state(&mut self) -> Option<&mut ReactionState> {
        self.pulled.as_mut()?.reacting.as_mut()
    }

    fn next_reaction_timer(&mut self) -> Option<(Time, FlowId)> {
        self.reaction_state()?.point.next_timer()
    }

    /// Sets an event for the first timer of the reaction point, unless an earlier one is pending.
    fn schedule_reaction_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(reacting) = self.reaction_state() else { return };
        if let Some((at, _)) = reacting.point.next_timer().filter(|(at, _)| *at < reacting.event) {
            reacting.event = at;
            step.out.set_timer(HostTimer::Reaction.index(), at);
        }
    }
}
