//! Reaction point of a host: its notices to other hosts, its calls, and its rate limiters at the NIC.

use super::pulling::{Pulled, Reacting};
use super::{Host, HostStep, NIC, Timer};
use crate::flow_queues::Direction;
use crate::flows::GONE;
use crate::{BrokenRule, NoticeSetup, Observer, Out, Outcome, Pkt};
use mech::host::{FlowAtNic, Reaction};
use mech::{Flags, FlowId, Notice, PacketKind, Rule};
use units::Time;

/// Largest number of timers of a reaction point that may expire at one instant. One that sets more would stop simulated
/// time.
const MOST_TIMERS: u32 = 1 << 20;

impl Host {
    /// Handles a congestion message about a flow. The reaction point receives it if the flow is sent here and is not
    /// over. A message about a flow's ACKs changes nothing.
    #[cold]
    pub(super) fn on_notice<O: Out>(&mut self, flow: FlowId, notice: Notice, step: &mut HostStep<O>) {
        self.limiters.on_notice(flow, notice);
        let (src, ends) = (step.flows.info(flow).src, step.flows.ends[flow.0 as usize]);
        if src == self.id && ends.sender != GONE {
            self.react(flow, step, |point, flow| point.on_notice(&notice, flow));
        }
    }

    /// Handles a marked packet. If the source is to be notified, a message leaves by the NIC immediately, ahead of
    /// queued frames and past the stack. TCP echoes marks itself, so its sources get no message.
    #[cold]
    pub(super) fn marked_packet<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let Direction { flow, reverse } = Direction::from_head(&pkt.head);
        if pkt.head.dst != self.id || reverse || pkt.head.flags.has(Flags::RETURNED) {
            return;
        }
        if pkt.head.kind() == PacketKind::Segment && step.tcp.at(|| step.flows.info(flow).ends_back()).echoes() {
            return;
        }
        let (node, size) = (self.id.0, self.framing.min_frame.max(64));
        let Some(reacting) = self.reacting() else { return };
        let Some(notice) = reacting.point.on_marked(flow, step.now) else { return };
        let n = reacting.made;
        reacting.made += 1;
        let mut message = NoticeSetup { notice, flow, to: pkt.head.src, node, n, size }.packet();
        message.sent = step.now;
        self.originated.count(&message);
        let at = step.out.spot(NIC);
        step.out.observer().noticed(at, &message);
        self.nic.admit(&mut message, NIC, &mut step.of_nic());
    }

    /// Reports to the reaction point that a frame of a limited flow begins to leave.
    pub(super) fn react_to_sent<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let Direction { flow, reverse } = Direction::from_head(&pkt.head);
        let is_limited = self.pulled.as_ref().is_some_and(|pulled| pulled.queues().is_limited(flow));
        if is_limited && !reverse {
            self.react(flow, step, |point, flow| point.on_sent(u64::from(pkt.head.size), flow));
        }
    }

    /// Handles the event for the timers of the reaction point.
    #[cold]
    pub(super) fn reaction_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        if self.reacting().is_none_or(|reacting| reacting.event != step.now) {
            return;
        }
        // `event` keeps its value in this loop, so that `arm_reaction` sets no event for timers that the loop will
        // handle.
        let mut last = None;
        let mut left = MOST_TIMERS;
        while let Some((at, flow)) = self.first_timer().filter(|(at, _)| *at <= step.now) {
            if last == Some((at, flow)) || left == 0 {
                return self.break_reaction_rule(Rule::TimerStands, step);
            }
            if flow.0 as usize >= step.flows.len() {
                return self.break_reaction_rule(Rule::NoFlow(flow), step);
            }
            self.react(flow, step, |point, flow| point.on_timer(flow));
            (last, left) = (Some((at, flow)), left - 1);
        }
        self.reacting().into_iter().for_each(|reacting| reacting.event = Time::NEVER);
        self.arm_reaction(step);
    }

    /// Reports a rule that a reaction point broke; its timers stop.
    fn break_reaction_rule<O: Out>(&mut self, rule: Rule, step: &mut HostStep<O>) {
        step.out.finished(Outcome::Broken(&BrokenRule { slot: "reaction", port: NIC, rule }));
    }

    /// Removes a flow whose sender is done from the NIC and its reaction point.
    pub(super) fn done_at_nic<O: Out>(&mut self, flow: FlowId, step: &mut HostStep<O>) {
        let Some(pulled) = &mut self.pulled else { return };
        let (queues, reacting) = pulled.parts();
        let limit = queues.limit_of(flow);
        queues.done(flow, step.now);
        if let Some(reacting) = reacting {
            reacting.point.forget(flow);
            if limit.is_some() {
                let at = step.out.spot(NIC);
                step.out.observer().limited(at, flow, None);
            }
        }
    }

    /// Calls the reaction point for a flow, and reports the flow's rate limit if it changed.
    fn react<O: Out>(
        &mut self,
        flow: FlowId,
        step: &mut HostStep<O>,
        ask: impl FnOnce(&mut dyn Reaction, &mut FlowAtNic),
    ) {
        let Some((queues, Some(reacting))) = self.pulled.as_deref_mut().map(Pulled::parts) else { return };
        let before = queues.limit_of(flow);
        queues.limit(flow, step.flows.info(flow).class, step.now, |flow| ask(&mut *reacting.point, flow));
        let after = queues.limit_of(flow);
        if after != before {
            let at = step.out.spot(NIC);
            step.out.observer().limited(at, flow, after);
        }
        self.arm_reaction(step);
    }

    fn reacting(&mut self) -> Option<&mut Reacting> {
        self.pulled.as_mut()?.reacting.as_mut()
    }

    fn first_timer(&mut self) -> Option<(Time, FlowId)> {
        self.reacting()?.point.next_timer()
    }

    /// Sets an event for the first timer of the reaction point, unless an earlier one is pending.
    fn arm_reaction<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(reacting) = self.reacting() else { return };
        if let Some((at, _)) = reacting.point.next_timer().filter(|(at, _)| *at < reacting.event) {
            reacting.event = at;
            step.out.timer(Timer::Reaction.index(), at);
        }
    }
}
