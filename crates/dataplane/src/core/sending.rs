//! Who leaves next, and when a port is woken for it.

use super::agents::Ready;
use super::moved::Frame;
use super::rules::REORDERS;
use super::{Core, Step};
use crate::packet_store::{Fib, Look};
use crate::port::QueueAt;
use crate::{Freed, Out};
use mech::{Env, PktId, PortId, PortView, QueueId, Rule};
use units::Time;

impl Core {
    /// Sees to it that a port with something to send does: now, or when the frame under way has ended.
    #[inline]
    pub(super) fn try_schedule<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        let p = &mut self.store.ports[usize::from(port.0)];
        if p.rest.waking || p.rest.listed || !p.rest.is_ready() {
            return;
        }
        if p.free_at > now {
            p.rest.waking = true;
            out.wake(port, p.free_at);
        } else {
            p.rest.listed = true;
            self.ready.push(Ready::Port(port));
        }
    }
    /// The frame on the wire of `port` has ended and something waits: send the next. Numbers from that of ports on are
    /// of outputs to which a frame has crossed.
    #[inline]
    pub(crate) fn ended<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        if usize::from(port.0) >= self.store.ports.len() {
            return self.transfer_ended(PortId(port.0 - self.store.ports.len() as u16), step);
        }
        self.store.ports[usize::from(port.0)].rest.waking = false;
        self.send(port, step);
    }

    /// Whether the wire of `port` is free, its link is not known to be dead, and nothing that waits here may go out by it.
    pub(crate) fn is_idle(&self, port: PortId, now: Time) -> bool {
        let p = &self.store.ports[usize::from(port.0)];
        p.free_at <= now && p.rest.eligible & !p.rest.paused == 0 && !p.rest.control && !p.rest.dead
    }

    /// A NIC has more to send by `port` than waits here, or has not: it is asked when the frame under way has ended.
    pub(crate) fn has_more<O: Out>(&mut self, port: PortId, more: bool, now: Time, out: &mut O) {
        self.store.ports[usize::from(port.0)].rest.more = more;
        self.try_schedule(port, now, out);
    }

    /// Whether no idle port got something in this step, and nothing was asked for: who asks is on that list too.
    #[inline(always)]
    pub(crate) fn is_quiet(&self) -> bool {
        self.ready.is_empty()
    }
    /// Whether something that was asked for is not done.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        !self.work.is_empty()
    }
    /// What is asked for in this step is done again: frames that have started in it no longer wait.
    pub(crate) fn begin_round(&mut self) {
        self.store.ports.iter_mut().for_each(|port| port.begin_round());
    }

    /// Idle ports that got something in this step begin to send. What agents ask for meanwhile is done before the
    /// next of them does, but for packets that are to be looked up.
    #[inline]
    pub(crate) fn finish<F: Fib, O: Out>(&mut self, step: &mut Step<F, O>) {
        while let Some(next) = self.ready.pop() {
            if !self.work.is_empty() {
                self.perform_at_once(step);
            }
            if let Ready::Port(port) = next {
                self.store.ports[usize::from(port.0)].rest.listed = false;
                self.send(port, step);
            }
        }
        if self.store.inputs.is_some() {
            self.begin_transfers(step);
        }
        self.tell_broken(step.out);
    }

    fn send<F: Fib, O: Out>(&mut self, port: PortId, step: &mut Step<F, O>) {
        if self.store.ports[usize::from(port.0)].rest.control {
            return self.send_control(port, step.now, step.out);
        }
        let Some((queue, id)) = self.next(port, step) else { return };
        let Some((pkt, empty)) = self.store.remove(QueueAt { port, queue }, id.0) else {
            return self.break_rule("scheduler", port, Rule::NotQueued(queue, id));
        };
        self.store.free(port, queue, &pkt.head);
        let p = &mut self.store.ports[usize::from(port.0)];
        p.counts_mut().sent += 1;
        p.counts_mut().sent_bytes += u64::from(pkt.head.size);
        p.free_at = step.now + p.time(pkt.head.size);
        let (end, more, after) = (p.free_at, p.rest.is_ready(), p.waiting());
        p.rest.waking = more;
        Core::tell_freed(port, Freed { queue, after, started: Some(id) }, step.out);
        step.out.transmit(port, &pkt, end);
        if more {
            step.out.wake(port, end);
        }
        let frame = Frame { at: QueueAt { port, queue }, slot: id.0, head: &pkt.head };
        self.count_left(frame, self.store.buffered(), step);
        if empty && !self.store.more_comes(QueueAt { port, queue }) {
            self.run_empty(step.now, port);
        }
        if self.store.inputs.is_some() {
            self.ask_arbiter(port);
        }
    }

    pub(super) fn run_empty(&mut self, now: Time, port: PortId) {
        let (slot, rng) = (&mut self.marking[usize::from(port.0)], &mut self.marking_rng[usize::from(port.0)]);
        if let Some(marking) = slot.active() {
            marking.idle(&mut Env { now, rng, acts: &mut self.acts });
            if !self.acts.list.is_empty() {
                self.break_view_rule("marking", port, None);
            }
        }
    }

    #[inline]
    fn next<F: Fib, O>(&mut self, port: PortId, step: &Step<F, O>) -> Option<(QueueId, PktId)> {
        let p = &self.store.ports[usize::from(port.0)];
        let (eligible, scheduler) = (p.rest.eligible & !p.rest.paused, &mut self.schedulers[usize::from(port.0)]);
        if eligible == 0 {
            return None;
        }
        if eligible.is_power_of_two() && !scheduler.reorders() {
            let queue = QueueId(eligible.trailing_zeros() as u8);
            let first = self.store.arena.first(&p.rest.queues[usize::from(queue.0)]);
            return first.map(|(id, _)| (queue, PktId(id)));
        }
        let look = Look::new(&self.store, step.fib, None);
        let view = PortView { view: &look, port, eligible };
        let mut env = Env { now: step.now, rng: &mut self.overflow_rng, acts: &mut self.acts };
        let chosen = scheduler.get().next(&view, &mut env);
        let seen = look.broken();
        if seen.is_some() || !self.acts.list.is_empty() {
            self.break_view_rule("scheduler", port, seen);
            return None;
        }
        let (queue, id) = chosen?;
        if queue.0 >= QueueId::COUNT || eligible & queue.bit() == 0 {
            self.break_rule("scheduler", port, Rule::NotEligible(queue));
            return None;
        }
        let first = self.store.arena.first(&p.rest.queues[usize::from(queue.0)]);
        if first.is_none_or(|(first, _)| first != id.0) && !self.schedulers[usize::from(port.0)].reorders() {
            self.break_rule("scheduler", port, REORDERS);
            return None;
        }
        Some((queue, id))
    }
}
