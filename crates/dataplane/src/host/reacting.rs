//! What a reaction point is told, what it tells other hosts, and what becomes of the rate limiters at the NIC.

use super::pulling::{Pulled, Reacting};
use super::{Host, HostStep, NIC, Timer};
use crate::flow_queues::Direction;
use crate::flows::GONE;
use crate::{BrokenRule, NoticeSetup, Observer, Out, Outcome, Pkt};
use mech::host::{FlowAtNic, Reaction};
use mech::{Flags, FlowId, Notice, PacketKind, Rule};
use units::Time;

/// Largest number of timers of a reaction point that may expire at one instant: one that sets more never lets time go on.
const MOST_TIMERS: u32 = 1 << 20;

impl Host {
    /// The network has told something about a flow. It is for the rate limiter of one that is sent here and not over;
    /// messages about ACKs change nothing.
    #[cold]
    pub(super) fn on_notice<O: Out>(&mut self, flow: FlowId, notice: Notice, step: &mut HostStep<O>) {
        self.limiters.on_notice(flow, notice);
        let (src, ends) = (step.flows.info(flow).src, step.flows.ends[flow.0 as usize]);
        if src == self.id && ends.sender != GONE {
            self.react(flow, step, |point, flow| point.on_notice(&notice, flow));
        }
    }

    /// A marked packet has come. Where its flow's source is to be told, a message leaves by the NIC at once, before the
    /// frames that wait there; it does not pass the stack. TCP echoes marks itself, and gets none.
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

    /// A frame begins to leave.
    pub(super) fn react_to_sent<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let Direction { flow, reverse } = Direction::from_head(&pkt.head);
        let is_limited = self.pulled.as_ref().is_some_and(|pulled| pulled.queues().is_limited(flow));
        if is_limited && !reverse {
            self.react(flow, step, |point, flow| point.on_sent(u64::from(pkt.head.size), flow));
        }
    }

    /// The event of the reaction point's timers has come.
    #[cold]
    pub(super) fn reaction_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        if self.reacting().is_none_or(|reacting| reacting.event != step.now) {
            return;
        }
        // While this event is there, no other is asked for.
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

    /// The sender of a flow is done: the NIC and its reaction point forget it.
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

    /// Asks the reaction point about a flow, and tells of its rate limit where that is another then.
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

    /// Sees to it that an event comes with the first timer.
    fn arm_reaction<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(reacting) = self.reacting() else { return };
        if let Some((at, _)) = reacting.point.next_timer().filter(|(at, _)| *at < reacting.event) {
            reacting.event = at;
            step.out.timer(Timer::Reaction.index(), at);
        }
    }
}
