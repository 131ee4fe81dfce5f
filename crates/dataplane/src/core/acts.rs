//! Execution of the acts, such as a pause, that agents request.

use super::agents::PendingWork;
use super::alarm::{AgentKey, CoreTimer};
use super::{Core, StepContext};
use crate::accounts::AccountDelta;
use crate::body::NoticeSetup;
use crate::control::PauseFrame;
use crate::packet_store::Fib;
use crate::{Observer, Out};
use mech::{Act, ClassSet, Flags, FlowId, HostId, Notice, PortId};

/// Request of an agent to send a congestion message about a flow to a host.
struct NoticeRequest {
    notice: Notice,
    flow: FlowId,
    to: HostId,
}

impl Core {
    /// Performs all queued acts of agents except those that create or release packets, which need a lookup.
    /// A pause must precede the data of a port that starts later in this step, so it cannot wait until all idle ports
    /// have started.
    pub(super) fn perform_immediate_acts<F: Fib, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        for _ in 0..self.work.len() {
            match self.work.pop_front() {
                Some(PendingWork::Act(at, act)) if !matches!(act, Act::ReleaseHeld { .. } | Act::Emit { .. }) => {
                    self.perform_act(at, act, step);
                }
                other => self.work.extend(other),
            }
        }
    }

    pub(super) fn perform_act<F: Fib, O: Out>(&mut self, agent: AgentKey, act: Act, step: &mut StepContext<F, O>) {
        let needs = self.agent_needs(agent).unwrap_or_default();
        if let Some(rule) = self.rule_broken_by_act(&needs, &act, step) {
            return self.record_broken_agent_rule(agent, rule);
        }
        let (now, none) = (step.now, PauseFrame::default());
        match act {
            Act::Pause(at, xoff, quanta) => {
                let frame = PauseFrame { xoff, quanta, whole: xoff == ClassSet::ALL, ..none };
                self.queue_pause_frame(at, frame, now, step.out);
            }
            Act::Resume(at, xon) => {
                self.queue_pause_frame(at, PauseFrame { xon, whole: xon == ClassSet::ALL, ..none }, now, step.out);
            }
            Act::Arm(at, id) => {
                let alarm = self.agents.as_mut().and_then(|agents| agents.alarm(agent, id)?.set(at.max(now)));
                alarm.into_iter().for_each(|at| self.schedule_timer(CoreTimer::Agent(agent, id), at, step.out));
            }
            Act::ReleaseHeld { port, max, set_ece, window } => self.release_held(port, max, (set_ece, window), step),
            Act::Turn { port, state, level } => {
                let at = step.out.event_location(port);
                step.out.observer().on_hold_state(at, state, level);
            }
            Act::Emit { notice, flow, to } => self.emit_notice(agent.port, NoticeRequest { notice, flow, to }, step),
            // Switches keep no copies of departed packets, so there is no memory to free.
            Act::Forget(_) => {}
        }
    }

    /// Releases up to `max` packets that agents hold at a port, oldest first. They go on to lookup.
    fn release_held<F: Fib, O: Out>(
        &mut self,
        port: PortId,
        max: u32,
        (set_ece, window): (bool, Option<u16>),
        step: &mut StepContext<F, O>,
    ) {
        for _ in 0..max {
            let Some(agents) = &mut self.agents else { return };
            let Some(mut pkt) = self.store.arena.pop(agents.held_mut(port)) else { return };
            self.count_bytes(AccountDelta::for_release(&pkt.head), None, step);
            if set_ece {
                pkt.head.flags = pkt.head.flags.with(Flags::ECE);
            }
            // The window may only shrink: the receiver's own bound stays in force.
            pkt.window = pkt.window.min(window.unwrap_or(u16::MAX));
            let at = step.out.event_location(port);
            step.out.observer().on_release(at, &pkt);
            self.work.push_back(PendingWork::Packet(pkt));
        }
    }

    /// Creates a congestion message at a port. The switch looks up its route, as for any packet.
    fn emit_notice<F: Fib, O: Out>(&mut self, port: PortId, message: NoticeRequest, step: &mut StepContext<F, O>) {
        let Some(agents) = &mut self.agents else { return };
        let (node, n, size) = (self.node, agents.created.packets as u32, self.framing.min_frame.max(64));
        let NoticeRequest { notice, flow, to } = message;
        let mut pkt = NoticeSetup { notice, flow, to, node, n, size }.packet();
        (pkt.sent, pkt.head.ingress) = (step.now, port);
        agents.created.count(&pkt);
        let at = step.out.event_location(port);
        step.out.observer().on_notice_sent(at, &pkt);
        self.work.push_back(PendingWork::Packet(pkt));
    }
}
