//! Output side that switches and NICs share: decisions about arrivals, memory, marks, and departures.
//!
//! An arrival goes through `admit`. A frame that fits a port whose departures are computed takes `forward_computed`;
//! all others take `decide` (calls the `overflow` slot) and `apply` (`store`: capacity, mark, queue).

mod acts;
mod agents;
mod alarm;
mod computed;
mod cutting;
mod eviction;
mod group_losses;
mod link_failure;
mod marking;
mod memory_accounting;
mod pause_state;
mod pausing;
mod rules;
mod sending;
mod setup;
mod shaping;
mod snapshot;
mod stages;
mod totals;
mod transfers;
mod watchdog;

pub(crate) use alarm::Alarm;
pub use link_failure::DeadPortPolicy;
pub use pause_state::{ReceivedPauses, SentPauses};
pub use pausing::PauseSetup;
pub use setup::{CoreSetup, PortSetup};
pub use watchdog::PauseStorm;

use crate::accounts::MemorySides;
use crate::end_table::PacketTally;
use crate::packet_store::{Fib, NodeView, Origin, PacketStore};
use crate::port::QueueAt;
use crate::{BrokenRule, Departure, DequeuedFrame, EnqueuedFrame, ExtensionSlab, Framing, Observer, Out, Outcome, Pkt};
use agents::{Agents, PendingWork};
use marking::QueueMarking;
use mech::overflow::{DropReason, Fate, OverflowSlot};
use mech::scheduler::SchedulerSlot;
use mech::{
    Acts, AdmitCalls, ClassSet, Ecn, Env, Flags, ForwardingContext, Head, Lane, Needs, PktId, PortId, QueueId,
    QueueView, Stream,
};
use memory_accounting::Frame;
use pausing::NodePauseState;
use shaping::PortShaper;
use snapshot::QueueSnapshot;
use std::collections::VecDeque;
use units::Time;
use watchdog::NodeWatchdogs;

/// Output side of a node: ports, memory, and the slots that decide about arrivals.
#[derive(Clone)]
pub struct Core {
    pub(crate) store: PacketStore,
    overflow: OverflowSlot,
    /// Needs that the mechanism in the `overflow` slot declares.
    needs: Needs,
    overflow_rng: Stream,
    marking: QueueMarking,
    schedulers: Vec<SchedulerSlot>,
    /// Token buckets of each port; empty if no class has a maximum rate.
    shapers: Vec<Option<PortShaper>>,
    framing: Framing,
    /// True if a frame that fits a port with computed departures is stored without a call of the overflow slot.
    /// Some port must compute departures, and the slot must act only on frames that do not fit.
    skips_overflow_slot: bool,
    /// Arrivals for which the overflow slot is called.
    admit_calls: AdmitCalls,
    acts: Acts,
    /// Idle ports that received a frame in this step, and entries for pending work.
    ready: Vec<agents::ReadyEntry>,
    node: u32,
    pausing: Option<Box<NodePauseState>>,
    agents: Option<Box<Agents>>,
    watchdogs: Option<Box<NodeWatchdogs>>,
    /// True while the watchdog of some port drops packets, which may come in by any port.
    drops_arrivals: bool,
    /// True if an agent of some port is called for each arrival before lookup.
    pub(crate) intercepts: bool,
    /// Acts of agents, and packets to look up, that are not done yet; first in, first out.
    work: VecDeque<PendingWork>,
    /// Queue lengths before this instant's arrivals, while arrivals of a snapshot are stored.
    before: Option<QueueSnapshot>,
    /// Base that is added to the index of every timer.
    timer_base: u32,
    /// First rule that a mechanism broke in this step.
    broken: Option<BrokenRule>,
    /// Tally of copies of flooded frames that ended away from their destination.
    pub(crate) flood_copies_discarded: PacketTally,
}

/// Context of one instant at one node: time, forwarding table, packet extensions and driver.
pub(crate) struct StepContext<'a, F, O> {
    pub(crate) now: Time,
    pub(crate) fib: &'a F,
    pub(crate) exts: &'a mut ExtensionSlab,
    pub(crate) out: &'a mut O,
}

/// Fate of an arrival, and whether the decision requested a congestion mark.
#[derive(Clone, Copy)]
pub(crate) struct Decision {
    fate: Fate,
    mark: bool,
    /// Stamp of the packet to evict or trim. A later packet in the same memory slot has another stamp.
    victim: u32,
}

impl Decision {
    fn enqueue(queue: QueueId) -> Decision {
        Decision { fate: Fate::Enqueue(queue), mark: false, victim: 0 }
    }
    fn drop_frame(reason: DropReason) -> Decision {
        Decision { fate: Fate::Drop(reason), mark: false, victim: 0 }
    }
}

impl Core {
    /// Calls the overflow slot for an arrival whose next hop is `out_port`.
    #[inline]
    pub(crate) fn decide<F: Fib, O: Out>(
        &mut self,
        pkt: &Pkt,
        out_port: PortId,
        step: &mut StepContext<F, O>,
    ) -> Decision {
        // Computed departures are not events. A port removes departed frames only when it is settled, so every read of
        // a computed port settles it first.
        self.store.settle_departures(out_port, step.now);
        if O::Observer::OBSERVED.queues {
            let queue = self.store.resolve_queue(pkt.head.queue());
            let ((length, _), at) = (self.store.backlog(out_port, queue), step.out.event_location(out_port));
            step.out.observer().on_decision(at, queue, length, pkt);
        }
        self.call_overflow_slot(pkt, out_port, step)
    }

    /// Calls the overflow slot if this arrival needs it, and returns the decision. PRECONDITION: the port is settled.
    #[inline]
    fn call_overflow_slot<F: Fib, O>(&mut self, pkt: &Pkt, out_port: PortId, step: &StepContext<F, O>) -> Decision {
        let now = step.now;
        self.store.set_time(now);
        let to = QueueAt { port: out_port, queue: self.store.resolve_queue(pkt.head.queue()) };
        if let Some(why) = self.refusal(&pkt.head, to) {
            return Decision::drop_frame(why);
        }
        // Congestion messages have a lane of their own, and only the limit of that lane applies to them.
        if to.queue.lane() == Lane::Notice {
            return Decision::enqueue(pkt.head.queue());
        }
        match self.admit_calls {
            // `accept_or_drop` tests the capacity for every frame to be stored, and no other test is needed here.
            AdmitCalls::Never => return Decision::enqueue(pkt.head.queue()),
            AdmitCalls::WhenFull
                if self.store.accepts_within_limit(Origin::from_head(&pkt.head), to, pkt.head.size) =>
            {
                return Decision::enqueue(pkt.head.queue());
            }
            // The mechanism may read any port, so all ports must be settled. The cases above avoid this pass over all
            // ports.
            _ => self.store.settle_all_departures(now),
        }
        self.acts.clear();
        let visits = self.needs.reads_packets || self.needs.removes_packets;
        let look = NodeView::new(&self.store, step.fib, Some(pkt.head.ingress)).with_visits(visits);
        let place = ForwardingContext { view: &look, ingress: pkt.head.ingress, output: out_port };
        let mut env = Env { now, rng: &mut self.overflow_rng, acts: &mut self.acts };
        let fate = self.overflow.get().admit(&pkt.head, &place, &mut env);
        let seen = look.broken_rule();
        // On a snapshot other arrivals are stored before this decision is applied. The stamp shows later whether the
        // chosen packet still waits or another one has its slot.
        let victim = match fate {
            Fate::Evict(id) | Fate::TrimQueued(id) => self.store.arena.stamp(id.0),
            _ => 0,
        };
        let decision = Decision { fate, mark: self.acts.mark, victim };
        match Core::is_always_allowed(fate) && seen.is_none() && self.acts.list.is_empty() {
            true => decision,
            false => self.check_decision(decision, seen, pkt, out_port),
        }
    }

    /// Executes the forwarding decision for an arrival.
    /// Capacity is tested once more here, and this test is final.
    #[inline]
    pub(crate) fn apply<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        port: PortId,
        decision: Decision,
        step: &mut StepContext<F, O>,
    ) {
        let mark = decision.mark;
        match decision.fate {
            Fate::Enqueue(queue) => self.store_packet(pkt, QueueAt { port, queue }, mark, step),
            // In a `cioq` switch the frame stays in the memory of its own input, whichever port it leaves by; in memory
            // with pools, it counts in its priority group. Another port cannot help if its input has no memory for it,
            // so the frame counts as lost there and not as bounced or detoured.
            Fate::Bounce(other) | Fate::Detour(other, _) if self.input_refuses(pkt, other) => {
                self.drop(pkt, port, DropReason::InputFull, step);
            }
            Fate::Bounce(back) => {
                pkt.head.bounces = pkt.head.bounces.saturating_add(1);
                self.port_counts_mut(port).bounced += 1;
                let at = step.out.event_location(port);
                step.out.observer().on_bounce(at, pkt);
                self.store_packet(pkt, QueueAt { port: back, queue: pkt.head.queue() }, mark, step);
            }
            Fate::Detour(other, queue) => {
                pkt.head.detours = pkt.head.detours.saturating_add(1);
                self.port_counts_mut(port).detoured += 1;
                let (at, taken) = (step.out.event_location(port), step.out.event_location(other).port);
                step.out.observer().on_detour(at, taken, pkt);
                self.store_packet(pkt, QueueAt { port: other, queue }, mark, step);
            }
            Fate::Trim(queue) if self.trim_packet(pkt, port, step) => {
                self.store_cut_header(pkt, QueueAt { port, queue }, mark, step)
            }
            Fate::TrimAndReturn if self.trim_packet(pkt, port, step) => self.return_cut_header(pkt, port, step),
            // With input memory, a packet that cannot get shorter is stored there, like any frame whose output is full.
            Fate::Trim(_) | Fate::TrimAndReturn if self.store.inputs.is_some() => {
                self.store_packet(pkt, QueueAt { port, queue: pkt.head.queue() }, mark, step);
            }
            Fate::Trim(_) | Fate::TrimAndReturn => self.drop_refused(pkt, port, DropReason::BufferFull, step),
            Fate::ReturnToSource => self.return_to_source(pkt, port, step),
            Fate::Evict(_) | Fate::TrimQueued(_) => {
                let last = self.free_buffer_space(pkt, port, decision, step);
                self.apply(pkt, port, last, step);
            }
            Fate::Drop(reason) => self.drop_refused(pkt, port, reason, step),
        }
    }

    /// Stores one copy of a flooded frame. The overflow slot is not called for copies.
    pub(crate) fn store_flood_copy<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        port: PortId,
        step: &mut StepContext<F, O>,
    ) {
        self.store.settle_departures(port, step.now);
        let to = QueueAt { port, queue: self.store.resolve_queue(pkt.head.queue()) };
        let refused = self.refusal(&pkt.head, to).map(Decision::drop_frame);
        let decision = refused.unwrap_or(Decision::enqueue(pkt.head.queue()));
        self.apply(pkt, port, decision, step);
    }

    /// Makes the forwarding decision for an arrival and executes it.
    #[inline(always)]
    pub(crate) fn admit<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut StepContext<F, O>) {
        if self.fits_computed_port(port, pkt.head.size, step.now) {
            return self.forward_computed(pkt, port, step.now, step.out);
        }
        self.admit_and_send(pkt, port, step);
    }

    fn admit_and_send<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, port: PortId, step: &mut StepContext<F, O>) {
        let decision = self.decide(pkt, port, step);
        self.apply(pkt, port, decision, step);
    }

    /// Returns true if the input of a packet has no memory for it, if it leaves by `port`.
    fn input_refuses(&self, pkt: &Pkt, port: PortId) -> bool {
        let to = QueueAt { port, queue: self.store.resolve_queue(pkt.head.queue()) };
        self.store.input_lacks_space(&pkt.head)
            || self.store.group_refuses(to, pkt.head.size, Origin::from_head(&pkt.head))
    }

    /// Drops a packet that a mechanism does not store. Mechanisms see outputs alone: if the priority group of the packet
    /// refuses it too, the loss is one of the input.
    fn drop_refused<F: Fib, O: Out>(&mut self, pkt: &Pkt, port: PortId, why: DropReason, step: &mut StepContext<F, O>) {
        let is_of_input = why.is_memory_shortage() && self.store.pools.is_some() && self.input_refuses(pkt, port);
        self.drop(pkt, port, if is_of_input { DropReason::InputFull } else { why }, step);
    }

    /// Drops a packet whose next hop is `port`, and counts the drop there.
    pub(crate) fn drop<F: Fib, O: Out>(
        &mut self,
        pkt: &Pkt,
        port: PortId,
        why: DropReason,
        step: &mut StepContext<F, O>,
    ) {
        if pkt.head.flags.has(Flags::MISDIRECTED) {
            return self.end_flood_copy(pkt, step.exts);
        }
        // Costs of an outage include every drop at the dead port, whatever its reason.
        let rest = &mut self.store.ports[usize::from(port.0)].rest;
        rest.lost_while_dead += u64::from(rest.dead);
        let counts = self.port_counts_mut(port);
        counts.dropped[why as usize] += 1;
        counts.dropped_bytes += u64::from(pkt.head.size);
        counts.dropped_payload += pkt.payload_bytes();
        if why.is_memory_shortage() && self.store.pools.is_some() {
            self.note_group_loss(pkt, port, why, step);
        }
        if why == DropReason::BufferFull && self.store.pools.is_none() {
            self.note_classes_when_full(pkt.head.class(), port);
        }
        let to = QueueAt { port, queue: self.store.resolve_queue(pkt.head.queue()) };
        if why == DropReason::Watchdog {
            self.count_watchdog_drop(&pkt.head, to);
        }
        let at = step.out.event_location(port);
        step.out.observer().on_drop(at, pkt, why);
        step.exts.free_shared(pkt.ext);
        if let Some(lost) = self.lossless_violation(pkt, to, why, step.now) {
            step.out.report_outcome(Outcome::LosslessViolated(&lost));
        }
    }

    /// Returns the reason why a packet is dropped whatever memory is free: the link is dead, or the watchdog drops it.
    #[inline]
    fn refusal(&self, head: &Head, to: QueueAt) -> Option<DropReason> {
        match self.store.ports[usize::from(to.port.0)].refusal(to.queue) {
            None if self.drops_arrivals && self.watchdog_drops_arrival(head, to) => Some(DropReason::Watchdog),
            why => why,
        }
    }

    /// Records the class of a packet that a full buffer refused, and the classes that wait in it.
    fn note_classes_when_full(&mut self, class: u8, port: PortId) {
        let rest = &mut self.store.ports[usize::from(port.0)].rest;
        let waiting = QueueId::iter_set(rest.eligible).filter(|queue| queue.lane() != Lane::Notice);
        let all = waiting.fold(ClassSet::single(class), |set, queue| set.union(ClassSet::single(queue.class())));
        rest.classes_when_full = rest.classes_when_full.union(all);
    }

    /// Discards a copy of a flooded frame that is not on the path to its destination. The packet itself is not lost.
    pub(crate) fn end_flood_copy(&mut self, pkt: &Pkt, exts: &mut ExtensionSlab) {
        self.flood_copies_discarded.count(pkt);
        exts.free_shared(pkt.ext);
    }

    #[inline]
    fn store_packet<F: Fib, O: Out>(&mut self, pkt: &mut Pkt, to: QueueAt, mark: bool, step: &mut StepContext<F, O>) {
        if let Some(to) = self.accept_or_drop(pkt, to, mark, step) {
            self.enqueue(pkt, to, step);
        }
    }

    /// Returns the queue for a packet that fits, after marking it if a mark is due; otherwise drops the packet.
    #[inline]
    fn accept_or_drop<F: Fib, O: Out>(
        &mut self,
        pkt: &mut Pkt,
        to: QueueAt,
        mark: bool,
        step: &mut StepContext<F, O>,
    ) -> Option<QueueAt> {
        // The queue may not exist here: a bounced packet may reach a switch without bounce queues, and congestion
        // messages may have a class above those in use.
        let to = QueueAt { queue: self.store.resolve_queue(to.queue), ..to };
        self.store.set_time(step.now);
        if let Some(reason) = self.drop_reason(pkt, to) {
            self.drop(pkt, to.port, reason, step);
            return None;
        }
        // The marking slot is called for every frame that fits, even if the decision requested a mark already: RED
        // updates its average and its draws on each call. Frames that do not fit never reach it.
        let due = self.marking_verdict(pkt, to, step);
        if due == Some(true) {
            self.drop(pkt, to.port, DropReason::EarlyDrop, step);
            return None;
        }
        if (mark || due.is_some()) && pkt.head.is_ect() && pkt.head.ecn() != Ecn::Ce {
            pkt.head.set_ecn(Ecn::Ce);
            self.port_counts_mut(to.port).marked += 1;
            let at = step.out.event_location(to.port);
            step.out.observer().on_mark(at, pkt);
        }
        Some(to)
    }

    /// Returns the reason why a packet does not fit; `None` if it fits.
    #[inline]
    fn drop_reason(&self, pkt: &Pkt, to: QueueAt) -> Option<DropReason> {
        if self.store.inputs.is_some() {
            return self.store.input_drop_reason(pkt.head.ingress, to, pkt.head.size);
        }
        let origin = Origin::from_head(&pkt.head);
        if self.store.accepts(to, pkt.head.size, origin) || self.fits_extra_space(pkt, to) {
            return None;
        }
        match self.store.ports[usize::from(to.port.0)].refusal(to.queue) {
            Some(why) => Some(why),
            None if self.store.group_refuses(to, pkt.head.size, origin) => Some(DropReason::InputFull),
            None => Some(DropReason::lane_full(to.queue.lane())),
        }
    }

    fn fits_extra_space(&self, pkt: &Pkt, to: QueueAt) -> bool {
        let extra = self.overflow.peek().extra_memory(&pkt.head);
        extra.is_some_and(|extra| self.store.accepts_with_extra(to, pkt.head.size, extra, Origin::from_head(&pkt.head)))
    }

    #[inline]
    fn enqueue<F: Fib, O: Out>(&mut self, pkt: &Pkt, to: QueueAt, step: &mut StepContext<F, O>) {
        let QueueAt { port, queue } = to;
        let p = &mut self.store.ports[usize::from(port.0)];
        let before = p.queued_frames();
        if p.computed {
            let (start, end) = p.compute_departure(step.now, pkt.head.size);
            Core::report_enqueued(port, pkt, EnqueuedFrame { queue, before, leaves: Departure::At(start) }, step.out);
            return step.out.transmit(port, pkt, end);
        }
        self.store.allocate(port, queue, &pkt.head);
        let at_input = self.store.waits_at_input(pkt.head.ingress, to);
        let p = &mut self.store.ports[usize::from(port.0)];
        // Stages of a `fabric` switch compare frames of all outputs by age, so one counter serves the whole switch
        // there; otherwise frames are compared within one port only.
        p.rest.stamp = match self.store.inputs.as_mut().and_then(|inputs| inputs.next_stamp()) {
            Some(stamp) => stamp,
            None => p.rest.stamp + 1,
        };
        let stamp = p.rest.stamp;
        let slot = match &mut self.store.inputs {
            Some(inputs) if at_input => self.store.arena.push(inputs.store(to, &pkt.head), *pkt, stamp),
            _ => self.store.push(to, *pkt, stamp),
        };
        Core::report_enqueued(
            port,
            pkt,
            EnqueuedFrame { queue, before, leaves: Departure::Slot(PktId(slot)) },
            step.out,
        );
        let joins = if at_input { MemorySides::INPUT } else { self.store.buffer_memories() };
        self.count_stored(Frame { at: to, slot, head: &pkt.head }, joins, step);
        match at_input {
            // Neither call starts the frame now: ports and arbiters choose at the end of the step, among all arrivals
            // of the instant.
            true => self.schedule_arbiter_for(pkt.head.ingress, port),
            false => self.try_schedule(port, step.now, step.out),
        }
    }

    #[inline(always)]
    fn report_enqueued<O: Out>(port: PortId, pkt: &Pkt, frame: EnqueuedFrame, out: &mut O) {
        if O::Observer::OBSERVED.queues {
            let at = out.event_location(port);
            out.observer().on_enqueue(at, frame, pkt);
        }
    }

    #[inline]
    fn report_dequeued<O: Out>(port: PortId, frame: DequeuedFrame, out: &mut O) {
        if O::Observer::OBSERVED.queues {
            let at = out.event_location(port);
            out.observer().on_dequeue(at, frame);
        }
    }

    /// Returns the verdict of the marking slot; `None` for no mark.
    /// The verdict is true if the packet is dropped instead of marked.
    #[inline]
    fn marking_verdict<F: Fib, O>(&mut self, pkt: &Pkt, to: QueueAt, step: &StepContext<F, O>) -> Option<bool> {
        let (marking, rng) = self.marking.get_if_active(to)?;
        let look = NodeView::new(&self.store, step.fib, None);
        let mut view = QueueView::new(&look, to.port, to.queue);
        // With `switch.simultaneous = "snapshot"`, simultaneous arrivals do not see each other's frames.
        if let Some(before) = &mut self.before {
            (view.packets, view.bytes) = before.backlog(to, &self.store);
        }
        let mut env = Env { now: step.now, rng, acts: &mut self.acts };
        let due = marking.mark(&pkt.head, &view, &mut env).then(|| match pkt.head.is_ect() {
            true => !marking.marks_queue(to.queue),
            false => marking.drops_not_ect(),
        });
        if look.broken_rule().is_some() || !self.acts.list.is_empty() {
            let seen = look.broken_rule();
            self.record_broken_view_rule("marking", to.port, seen);
        }
        due
    }

    #[inline]
    fn port_counts_mut(&mut self, port: PortId) -> &mut crate::PortCounts {
        self.store.ports[usize::from(port.0)].counts_mut()
    }
}
