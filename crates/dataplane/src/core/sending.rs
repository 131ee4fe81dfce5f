//! Start of transmissions: the next frame of a port, and the wake-up of the port when its link becomes idle.
//!
//! A port has a pending wake-up only while something waits for its link. An idle port with nothing to send costs no
//! event.

use super::agents::ReadyEntry;
use super::memory_accounting::Frame;
use super::rules::SCHEDULER_REORDERS;
use super::{Core, StepContext};
use crate::packet_store::{Fib, NodeView};
use crate::port::QueueAt;
use crate::{DequeuedFrame, Out};
use mech::{Env, Lane, PktId, PortId, PortView, QueueId, Rule};
use units::Time;

impl Core {
    /// Schedules a port that has something to send: in this step, or at the end of the current frame.
    #[inline]
    pub(super) fn try_schedule<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        let p = &mut self.store.ports[usize::from(port.0)];
        if p.rest.waking || p.rest.listed {
            return;
        }
        if !p.rest.may_send() {
            if p.rest.out_of_tokens != 0 {
                self.await_tokens(port, now, out);
            }
            return;
        }
        if p.free_at > now {
            p.rest.waking = true;
            out.schedule_wake(port, p.free_at);
        } else {
            // An idle port starts at the end of the step, so that its scheduler chooses among all arrivals.
            p.rest.listed = true;
            self.ready.push(ReadyEntry::Port(port));
        }
    }
    /// Handles the end of a transmission after which something waits: sends the next frame.
    /// Indices beyond the last port mean the end of a transfer to the output `index - ports`.
    #[inline]
    pub(crate) fn on_transmit_end<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) {
        if usize::from(port.0) >= self.store.ports.len() {
            return self.on_transfer_end(PortId(port.0 - self.store.ports.len() as u16), step);
        }
        // Ends of transmission precede the arrivals of the same instant. The next frame starts and frees its memory
        // now, so an arrival of this instant finds that memory free.
        self.store.ports[usize::from(port.0)].rest.waking = false;
        self.free_sent_frame(port, step);
        self.send_next(port, step);
    }

    /// Frees the memory of the frame whose transmission has just ended, if it was not freed at the start.
    #[inline]
    fn free_sent_frame<F: Fib, O>(&mut self, port: PortId, step: &StepContext<F, O>) {
        if self.store.pools.is_none() {
            return;
        }
        if let Some(left) = self.store.ports[usize::from(port.0)].rest.leaving.take() {
            let (queue, head) = *left;
            self.store.free_accounts(QueueAt { port, queue }, &head);
            self.signal_groups(step);
        }
    }

    /// Returns true if a port has an idle link that is not known to be dead, and no queued frame that may leave.
    pub(crate) fn is_idle(&self, port: PortId, now: Time) -> bool {
        let p = &self.store.ports[usize::from(port.0)];
        p.free_at <= now && p.rest.sendable() == 0 && !p.rest.control && !p.rest.dead
    }

    /// Records whether the NIC has more frames for `port` than are queued there, so that it is woken for them.
    pub(crate) fn set_more_frames<O: Out>(&mut self, port: PortId, more: bool, now: Time, out: &mut O) {
        self.store.ports[usize::from(port.0)].rest.more = more;
        self.try_schedule(port, now, out);
    }

    /// Returns true if no idle port received a frame in this step and no work is pending.
    /// Pending work has an entry on the list of ports, too.
    #[inline(always)]
    pub(crate) fn is_step_complete(&self) -> bool {
        self.ready.is_empty()
    }
    /// Returns true if acts of agents or packets to look up are pending.
    #[inline]
    pub(crate) fn has_pending_work(&self) -> bool {
        !self.work.is_empty()
    }
    /// Begins another round of a step: frames that started in an earlier round no longer count as queued.
    pub(crate) fn begin_round(&mut self) {
        self.store.ports.iter_mut().for_each(|port| port.begin_round());
    }

    /// Starts transmissions at idle ports.
    /// Acts of agents are performed before the next port starts, except those that need a lookup.
    #[inline]
    pub(crate) fn start_idle_ports<F: Fib, O: Out>(&mut self, step: &mut StepContext<F, O>) {
        // A start may cause acts, such as a resume of the far end. Acts that need no lookup are done before the next
        // port starts. Packets to look up wait for `Switch::do_pending_work`, after all idle ports have started.
        while let Some(next) = self.ready.pop() {
            if !self.work.is_empty() {
                self.perform_immediate_acts(step);
            }
            if let ReadyEntry::Port(port) = next {
                self.store.ports[usize::from(port.0)].rest.listed = false;
                self.send_next(port, step);
            }
        }
        if self.store.inputs.is_some() {
            // Arbiters choose last: all arrivals are stored by now, and ports that started have freed space in their
            // buffers.
            self.begin_transfers(step);
        }
        self.report_broken_rule(step.out);
    }

    fn send_next<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) {
        // Control frames precede all data of their port, and no pause holds them back.
        if self.store.ports[usize::from(port.0)].rest.control {
            self.send_pause_frame(port, step.now, step.out);
            return self.await_tokens_if_needed(port, step.now, step.out);
        }
        if self.store.ports[usize::from(port.0)].rest.out_of_tokens != 0 {
            self.refill_tokens(port, step.now);
        }
        let Some((queue, id)) = self.select_next(port, step) else {
            return self.set_token_alarm(port, step.out);
        };
        let Some((pkt, empty)) = self.store.remove(QueueAt { port, queue }, id.0) else {
            return self.record_broken_rule("scheduler", port, Rule::NotQueued(queue, id));
        };
        // Memory is freed when transmission begins: the frame on the link is counted nowhere.
        self.store.set_time(step.now);
        let frees_later = self.store.pools.as_ref().is_some_and(|pools| pools.layout().frees_at_end);
        match frees_later && queue.lane() != Lane::Notice {
            false => self.store.free(port, queue, &pkt.head),
            true => self.store.begin_leaving(QueueAt { port, queue }, &pkt.head),
        }
        let p = &mut self.store.ports[usize::from(port.0)];
        p.counts_mut().sent += 1;
        p.counts_mut().sent_bytes += u64::from(pkt.head.size);
        p.free_at = step.now + p.transmission_time(pkt.head.size);
        if p.rest.shaped & queue.bit() != 0 {
            self.take_tokens(QueueAt { port, queue }, pkt.head.size, step.now);
        }
        if self.watchdogs.is_some() {
            self.watch_departure(QueueAt { port, queue }, step.now);
        }
        let p = &mut self.store.ports[usize::from(port.0)];
        let (end, after) = (p.free_at, p.queued_frames());
        // With `release = "end"`, the end is an event even if nothing waits.
        let more = p.rest.may_send() || p.rest.leaving.is_some();
        // A frame that arrives before `end` finds `waking` set and adds no second event.
        p.rest.waking = more;
        Core::report_dequeued(port, DequeuedFrame { queue, after, started: Some(id) }, step.out);
        step.out.transmit(port, &pkt, end);
        if more {
            step.out.schedule_wake(port, end);
        }
        self.await_tokens_if_needed(port, step.now, step.out);
        let frame = Frame { at: QueueAt { port, queue }, slot: id.0, head: &pkt.head };
        self.count_departed(frame, self.store.buffer_memories(), step);
        // A queue is not empty while frames for it wait at inputs or are being cut: RED's average must not decay yet.
        if empty && !self.store.has_more_incoming(QueueAt { port, queue }) {
            self.on_queue_empty(step.now, QueueAt { port, queue });
        }
        // The departure freed space in the output buffer, so a waiting transfer may fit now.
        if self.store.inputs.is_some() {
            self.schedule_arbiter(port);
        }
    }

    pub(super) fn on_queue_empty(&mut self, now: Time, at: QueueAt) {
        if let Some((marking, rng)) = self.marking.get_if_active(at) {
            marking.on_queue_empty(&mut Env { now, rng, acts: &mut self.acts });
            if !self.acts.list.is_empty() {
                self.record_broken_view_rule("marking", at.port, None);
            }
        }
    }

    #[inline]
    fn select_next<F: Fib, O>(&mut self, port: PortId, step: &StepContext<F, O>) -> Option<(QueueId, PktId)> {
        let p = &self.store.ports[usize::from(port.0)];
        let (eligible, scheduler) = (p.rest.sendable(), &mut self.schedulers[usize::from(port.0)]);
        if eligible == 0 {
            return None;
        }
        // With one non-empty queue every scheduler that keeps the order within queues must serve its first packet.
        // Round robin charges a class only while another one waits, so it need not see this departure either.
        if eligible.is_power_of_two() && !scheduler.reorders() {
            let queue = QueueId(eligible.trailing_zeros() as u8);
            let first = self.store.arena.first(&p.rest.queues[usize::from(queue.0)]);
            return first.map(|(id, _)| (queue, PktId(id)));
        }
        let look = NodeView::new(&self.store, step.fib, None);
        let view = PortView { view: &look, port, eligible };
        let mut env = Env { now: step.now, rng: &mut self.overflow_rng, acts: &mut self.acts };
        let chosen = scheduler.get().next_packet(&view, &mut env);
        let seen = look.broken_rule();
        if seen.is_some() || !self.acts.list.is_empty() {
            self.record_broken_view_rule("scheduler", port, seen);
            return None;
        }
        let (queue, id) = chosen?;
        if queue.0 >= QueueId::COUNT || eligible & queue.bit() == 0 {
            self.record_broken_rule("scheduler", port, Rule::NotEligible(queue));
            return None;
        }
        let first = self.store.arena.first(&p.rest.queues[usize::from(queue.0)]);
        if first.is_none_or(|(first, _)| first != id.0) && !self.schedulers[usize::from(port.0)].reorders() {
            self.record_broken_rule("scheduler", port, SCHEDULER_REORDERS);
            return None;
        }
        Some((queue, id))
    }
}
