//! Execution of the acts that agents request, one by one.

use super::agents::Work;
use super::alarm::{AgentAt, Timer};
use super::{Core, Step};
use crate::accounts::Delta;
use crate::body::NoticeSetup;
use crate::control::PauseFrame;
use crate::packet_store::Fib;
use crate::{Observer, Out};
use mech::{Act, ClassSet, Flags, FlowId, HostId, Notice, PortId};

/// Congestion message about a flow, to a host.
struct Message {
    notice: Notice,
    flow: FlowId,
    to: HostId,
}

impl Core {
    /// Performs all queued acts except those that need a lookup. A pause must precede the data of a port that starts
    /// later in this step, so it cannot wait until all idle ports have started.
    pub(super) fn perform_at_once<F: Fib, O: Out>(&mut self, step: &mut Step<F, O>) {
        for _ in 0..self.work.len() {
            match self.work.pop_front() {
                Some(Work::Act(at, act)) if !matches!(act, Act::ReleaseHeld { .. } | Act::Emit { .. }) => {
                    self.perform(at, act, step);
                }
                other => self.work.extend(other),
            }
        }
    }

    pub(super) fn perform<F: Fib, O: Out>(&mut self, agent: AgentAt, act: Act, step: &mut Step<F, O>) {
        let needs = self.agent_needs(agent).unwrap_or_default();
        if let Some(rule) = self.rule_against_act(&needs, &act, step) {
            return self.break_agent_rule(agent, rule);
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
                alarm.into_iter().for_each(|at| self.wake_me(Timer::Agent(agent, id), at, step.out));
            }
            Act::ReleaseHeld { port, max, set_ece, window } => self.release(port, max, (set_ece, window), step),
            Act::Turn { port, state, level } => {
                let at = step.out.spot(port);
                step.out.observer().turned(at, state, level);
            }
            Act::Emit { notice, flow, to } => self.emit(agent.port, Message { notice, flow, to }, step),
            // An output-queued switch keeps no copy of what has left.
            Act::Forget(_) => {}
        }
    }

    /// Releases held packets, oldest first.
    fn release<F: Fib, O: Out>(
        &mut self,
        port: PortId,
        max: u32,
        (set_ece, window): (bool, Option<u16>),
        step: &mut Step<F, O>,
    ) {
        for _ in 0..max {
            let Some(agents) = &mut self.agents else { return };
            let Some(mut pkt) = self.store.arena.pop(agents.held_mut(port)) else { return };
            self.count_bytes(Delta::released(&pkt.head), None, step);
            if set_ece {
                pkt.head.flags = pkt.head.flags.with(Flags::ECE);
            }
            // The window may only shrink: the receiver's own bound stays in force.
            pkt.window = pkt.window.min(window.unwrap_or(u16::MAX));
            let at = step.out.spot(port);
            step.out.observer().released(at, &pkt);
            self.work.push_back(Work::Packet(pkt));
        }
    }

    /// Creates a congestion message at a port.
    fn emit<F: Fib, O: Out>(&mut self, port: PortId, message: Message, step: &mut Step<F, O>) {
        let Some(agents) = &mut self.agents else { return };
        let (node, n, size) = (self.node, agents.created.packets as u32, self.framing.min_frame.max(64));
        let Message { notice, flow, to } = message;
        let mut pkt = NoticeSetup { notice, flow, to, node, n, size }.packet();
        (pkt.sent, pkt.head.ingress) = (step.now, port);
        agents.created.count(&pkt);
        let at = step.out.spot(port);
        step.out.observer().noticed(at, &pkt);
        self.work.push_back(Work::Packet(pkt));
    }
}
