//! Pause frames (PAUSE and PFC): their transmission, and their effect on the port that receives them.
//!
//! Each port has a gate with two independent halves. `far_paused` is about pauses that this node requested of the far
//! end, and `paused` about those that the far end requested here.

use super::alarm::{Alarm, CoreTimer};
use super::{Core, StepContext};
use crate::control::PauseFrame;
use crate::end_table::PacketTally;
use crate::lossless_violation::LosslessGroup;
use crate::packet_store::{Fib, NodeView};
use crate::port::QueueAt;
use crate::{LosslessViolation, Observer, Out, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, HostId, Lane, PortId, QueueId, View};
use std::collections::VecDeque;
use units::{Dur, Time};

/// Pause parameters of one port: times, and headroom in bytes.
#[derive(Clone)]
pub struct PauseSetup {
    /// Time from the arrival of a pause frame at this port until it takes effect.
    pub response: Dur,
    /// Headroom in bytes above the XOFF threshold of the `pause` slot.
    pub headroom: u64,
    /// Longest time that a pause frame waits at this port for the frame in transmission.
    pub max_frame_wait: Dur,
    /// Time from the start of a pause frame until the last frame that it could not stop has arrived.
    /// That frame is one that the far end began before the pause took effect.
    pub last_arrival_delay: Dur,
}

/// Pause state of one port, for both directions of its link.
#[derive(Clone)]
pub(super) struct PortPauseState {
    pub(super) setup: PauseSetup,
    /// Classes that are paused at the far end, and the instant of the first request for each.
    far_paused: ClassSet,
    far_paused_since: [Time; 8],
    /// Contents of the next pause frame, which is not in transmission yet.
    pending_frame: Option<PauseFrame>,
    /// Classes that this port may not send, the start of each pause, and the timer that ends it.
    pub(super) paused: ClassSet,
    pub(super) since: [Time; 8],
    over: [Alarm; 8],
    /// Received pause frames that have not taken effect, in order of arrival.
    pending_requests: VecDeque<(Time, PauseFrame)>,
    pub(super) resumes: [ResumeCounts; 8],
}

impl PortPauseState {
    /// Returns the duration of a class's pause if it may have expired and let in frames by now; `None` otherwise.
    fn expired_pause_duration(&self, slot: &dyn mech::pause::Pausing, class: u8, now: Time) -> Option<Dur> {
        if !self.far_paused.has(class) || slot.is_refreshed_in_time(self.setup.max_frame_wait) {
            return None;
        }
        let (duration, _) = slot.duration_and_refresh();
        let since = now - self.far_paused_since[usize::from(class)];
        (since >= duration.saturating_add(self.setup.last_arrival_delay)).then_some(duration)
    }
}

/// Numbers of resumes of a class that a port has sent and received.
#[derive(Clone, Copy, Default)]
pub(super) struct ResumeCounts {
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// Pause state of all ports of a node, and tallies of its pause frames.
/// A node has it only in a network where ports may be paused.
#[derive(Clone)]
pub(crate) struct NodePauseState {
    pub(super) gates: Vec<PortPauseState>,
    pub(super) sent: PacketTally,
    pub(super) received: PacketTally,
}

impl NodePauseState {
    pub(super) fn new(ports: Vec<PauseSetup>) -> NodePauseState {
        let gate = |setup| PortPauseState {
            setup,
            far_paused: ClassSet::NONE,
            far_paused_since: [Time::ZERO; 8],
            pending_frame: None,
            paused: ClassSet::NONE,
            since: [Time::ZERO; 8],
            over: [Alarm::OFF; 8],
            pending_requests: VecDeque::new(),
            resumes: [ResumeCounts::default(); 8],
        };
        let gates = ports.into_iter().map(gate).collect();
        NodePauseState { gates, sent: PacketTally::default(), received: PacketTally::default() }
    }
}

/// Returns the queues of a class that a pause stops, as a bit set.
pub(super) fn queues_of_class(class: usize, waits_in: &[QueueId]) -> u32 {
    let queue = |lane: &Lane| waits_in[usize::from(QueueId::new(class as u8, *lane).0)];
    Lane::PAUSED.iter().fold(0, |set, lane| set | queue(lane).bit())
}

/// Returns the queues with a number that a maximum rate stops, as a bit set.
pub(super) fn queues_with_number(number: usize) -> u32 {
    Lane::PAUSED.iter().fold(0, |set, lane| set | QueueId::new(number as u8, *lane).bit())
}

/// Returns the numbers of the classes in a set.
fn classes_in(set: ClassSet) -> impl Iterator<Item = usize> {
    (0..8).filter(move |class| set.has(*class as u8))
}

impl Core {
    /// Sets the number that is added to every timer index of this node's ports.
    pub(crate) fn set_timer_base(&mut self, base: u32) {
        self.timer_base = base;
    }

    fn port_state(&mut self, port: PortId) -> Option<&mut PortPauseState> {
        self.pausing.as_mut().map(|pausing| &mut pausing.gates[usize::from(port.0)])
    }

    pub(super) fn schedule_timer<O: Out>(&self, timer: CoreTimer, at: Time, out: &mut O) {
        out.set_timer(self.timer_base | timer.index(), at);
    }

    /// Queues a pause frame at a port, ahead of all data.
    /// It is merged with a frame that waits there already.
    pub(crate) fn queue_pause_frame<O: Out>(&mut self, port: PortId, frame: PauseFrame, now: Time, out: &mut O) {
        if self.store.ports[usize::from(port.0)].rest.dead {
            return;
        }
        let Some(gate) = self.port_state(port) else { return };
        gate.pending_frame.get_or_insert_default().merge(frame);
        self.store.ports[usize::from(port.0)].rest.control = true;
        self.try_schedule(port, now, out);
    }

    /// Sends the pause frame that waits at a port.
    pub(super) fn send_pause_frame<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        let p = &mut self.store.ports[usize::from(port.0)];
        p.rest.control = false;
        let Some(pausing) = &mut self.pausing else { return };
        let gate = &mut pausing.gates[usize::from(port.0)];
        let Some(frame) = gate.pending_frame.take() else { return };
        let again = ClassSet(frame.xoff.0 & gate.far_paused.0);
        // A refresh keeps the start of a pause: the age of the first request shows if the pause may have expired.
        classes_in(frame.xoff.minus(again)).for_each(|class| gate.far_paused_since[class] = now);
        gate.far_paused = gate.far_paused.minus(frame.xon).union(frame.xoff);
        classes_in(frame.xon).for_each(|class| gate.resumes[class].sent += 1);
        let pkt = frame.packet(self.node, pausing.sent.packets as u32, p.is_switch);
        pausing.sent.count(&pkt);
        p.free_at = now + p.transmission_time(pkt.head.size);
        let (end, more) = (p.free_at, p.rest.may_send());
        p.rest.waking = more;
        let at = out.event_location(port);
        out.observer().on_pause_sent(at, frame.xoff, again);
        out.transmit(port, &pkt, end);
        if more {
            out.schedule_wake(port, end);
        }
        self.on_pause_sent(port, &frame, now);
    }

    /// Handles a received PAUSE or PFC frame.
    pub(crate) fn on_pause_frame<O: Out>(&mut self, pkt: &Pkt, now: Time, out: &mut O) {
        let (port, frame) = (pkt.head.ingress, PauseFrame::from_packet(pkt));
        let (Some(pausing), Some(frame)) = (&mut self.pausing, frame) else { return };
        pausing.received.count(pkt);
        if self.store.ports[usize::from(port.0)].rest.dead {
            return;
        }
        self.watch_pause_frame(port, frame.xoff, now, out);
        let Some(gate) = self.port_state(port) else { return };
        if gate.setup.response == Dur::ZERO {
            return self.apply_pause(port, frame, now, out);
        }
        // All frames take the same response time and take effect in order of arrival, so one timer serves the first of
        // them.
        let at = now + gate.setup.response;
        gate.pending_requests.push_back((at, frame));
        if gate.pending_requests.len() == 1 {
            self.schedule_timer(CoreTimer::PauseEffect(port), at, out);
        }
    }

    /// Pauses and resumes classes of a port as a received pause frame requests.
    /// The frame in transmission is completed.
    fn apply_pause<O: Out>(&mut self, port: PortId, frame: PauseFrame, now: Time, out: &mut O) {
        let p = &mut self.store.ports[usize::from(port.0)];
        let (duration, in_use) = (p.pause_duration(frame.quanta), ClassSet(((1u16 << p.classes()) - 1) as u8));
        let heeded = in_use.minus(self.ignored_pauses(port));
        for class in classes_in(ClassSet(frame.xoff.0 & heeded.0)) {
            let Some(gate) = self.port_state(port) else { return };
            // A refresh moves the deadline of a running pause. The first start of the pause stays, for the search for
            // deadlocks.
            let alarm = gate.over[class].set(now + duration);
            if !gate.paused.has(class as u8) {
                gate.paused = gate.paused.union(ClassSet::single(class as u8));
                gate.since[class] = now;
                self.store.ports[usize::from(port.0)].rest.paused |= queues_of_class(class, &self.store.waits_in);
                let at = out.event_location(port);
                out.observer().on_pause(at, class as u8);
            }
            alarm.into_iter().for_each(|at| self.schedule_timer(CoreTimer::PauseEnd(port, class as u8), at, out));
        }
        for class in classes_in(ClassSet(frame.xon.0 & in_use.0)) {
            self.port_state(port).into_iter().for_each(|gate| gate.resumes[class].received += 1);
            self.resume_class(port, class, now, out);
        }
    }

    /// Resumes a class at a port: the port may send frames of the class again.
    pub(super) fn resume_class<O: Out>(&mut self, port: PortId, class: usize, now: Time, out: &mut O) {
        let Some(gate) = self.port_state(port).filter(|gate| gate.paused.has(class as u8)) else { return };
        gate.paused = gate.paused.minus(ClassSet::single(class as u8));
        gate.over[class].set(Time::NEVER);
        // Classes that share a queue pause it together: it resumes with the last of them.
        let others = classes_in(gate.paused).fold(0, |set, other| set | queues_of_class(other, &self.store.waits_in));
        let freed = queues_of_class(class, &self.store.waits_in) & !others;
        self.store.ports[usize::from(port.0)].rest.paused &= !freed;
        let at = out.event_location(port);
        out.observer().on_resume(at, class as u8);
        self.try_schedule(port, now, out);
    }

    /// Clears the pause state of a port whose link has gone down or is back.
    /// Pause frames sent over that link, and those that wait, are void.
    pub(super) fn reset_pause_state<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        self.reset_watchdog(port, now);
        (0..8).for_each(|class| self.resume_class(port, class, now, out));
        let Some(gate) = self.port_state(port) else { return };
        gate.pending_requests.clear();
        gate.pending_frame = None;
        gate.far_paused = ClassSet::NONE;
        // The search for deadlocks compares the counts of both ends of a link to see a resume in flight. Both ends
        // start again from zero here, whatever was lost on the dead link.
        gate.resumes = [ResumeCounts::default(); 8];
        self.store.ports[usize::from(port.0)].rest.control = false;
    }

    /// Handles the expiry of a timer of this node's ports or agents.
    pub(crate) fn on_timer<F: Fib, O: Out>(&mut self, index: u32, step: &mut StepContext<F, O>) {
        let (now, Some(timer)) = (step.now, CoreTimer::from_index(index)) else { return };
        let rings = |alarm: &mut Alarm| alarm.on_event(now);
        let rung = match timer {
            CoreTimer::Agent(at, id) => self.agents.as_mut().and_then(|agents| agents.alarm(at, id)).map(rings),
            CoreTimer::PauseEnd(port, class) => {
                self.port_state(port).map(|gate| rings(&mut gate.over[usize::from(class)]))
            }
            CoreTimer::Tokens(port) => self.token_alarm(port).map(rings),
            CoreTimer::PauseEffect(_) | CoreTimer::Watchdog(_) | CoreTimer::Cut => Some(Ok(())),
        };
        match (rung, timer) {
            (None, _) => {}
            // `Err(None)`: the event is stale, or its deadline was cancelled. `Err(Some(at))`: it moved to `at`.
            (Some(Err(again)), _) => again.into_iter().for_each(|at| self.schedule_timer(timer, at, step.out)),
            (Some(Ok(())), CoreTimer::Agent(at, id)) => self.on_agent_timer(at, id, step),
            (Some(Ok(())), CoreTimer::PauseEnd(port, class)) => {
                self.resume_class(port, usize::from(class), now, step.out)
            }
            (Some(Ok(())), CoreTimer::PauseEffect(port)) => self.apply_due_pauses(port, now, step.out),
            (Some(Ok(())), CoreTimer::Tokens(port)) => self.try_schedule(port, now, step.out),
            (Some(Ok(())), CoreTimer::Watchdog(port)) => self.poll_watchdog(port, step),
            (Some(Ok(())), CoreTimer::Cut) => self.finish_cuts(step),
        }
    }

    /// Returns true if pause frames were received at a port that have not taken effect.
    pub(super) fn has_pending_pauses(&self, port: PortId) -> bool {
        self.pausing.as_ref().is_some_and(|pausing| !pausing.gates[usize::from(port.0)].pending_requests.is_empty())
    }

    /// Applies the received pause frames whose response time is over.
    fn apply_due_pauses<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        loop {
            let Some(gate) = self.port_state(port) else { return };
            match gate.pending_requests.front().copied() {
                Some((at, frame)) if at <= now => {
                    gate.pending_requests.pop_front();
                    self.apply_pause(port, frame, now, out);
                }
                Some((at, _)) => return self.schedule_timer(CoreTimer::PauseEffect(port), at, out),
                None => return,
            }
        }
    }

    /// Returns a report on a packet that found no memory at `out`, if its class is lossless.
    pub(super) fn lossless_violation(
        &self,
        pkt: &Pkt,
        out: QueueAt,
        why: DropReason,
        now: Time,
    ) -> Option<LosslessViolation> {
        let (ingress, class) = (pkt.head.ingress, pkt.head.class());
        let gate = self.pausing.as_ref()?.gates.get(usize::from(ingress.0))?;
        let slot = self.pausing_at(ingress).filter(|slot| why.is_memory_shortage() && slot.is_lossless())?;
        let pause_group = slot.pause_group(class);
        if !pause_group.has(class) {
            return None;
        }
        // After an expired pause the far end may send again, so the report must not blame the headroom.
        let expired = gate.expired_pause_duration(slot, class, now);
        let look = NodeView::new(&self.store, &NoRoutes, None);
        let pools = self.store.pools.as_deref().filter(|pools| pools.layout().has_groups());
        let held = match pools {
            Some(pools) => pools.group_bytes(ingress, class),
            None => classes_in(pause_group).map(|class| look.allocated_bytes(ingress, class as u8)).sum::<u64>(),
        };
        let group = pools.filter(|_| why == DropReason::InputFull).map(|pools| LosslessGroup {
            number: pools.layout().class_to_group[usize::from(class & 7)],
            headroom: pools.headroom_fill(ingress, class),
        });
        let input = self.store.inputs.as_ref().filter(|_| why == DropReason::InputFull);
        let stages = self.store.inputs.as_ref().and_then(|inputs| inputs.stages.as_ref());
        let fits_pool = look.free_pool_bytes().is_some_and(|free| u64::from(pkt.head.size) <= free);
        Some(LosslessViolation {
            ingress,
            class,
            out: out.port,
            at_input: input.is_some() || group.is_some(),
            group,
            fill: input.map_or_else(|| look.waiting_fill(out.port, out.queue), |inputs| inputs.fill(ingress)),
            held: held + u64::from(pkt.head.size),
            over_threshold: fits_pool && !matches!(why, DropReason::InputFull | DropReason::BounceQueueFull),
            xoff: match pools {
                Some(pools) => pools.group_limit(ingress, class),
                None => slot.thresholds(look.free_pool_bytes()).0,
            },
            headroom: gate.setup.headroom,
            expired,
            inside: stages.and_then(|stages| stages.oversized_frame((ingress, out.port), pkt.head.size)),
        })
    }
}

/// Empty forwarding table, for views that look up no route.
pub(super) struct NoRoutes;

impl Fib for NoRoutes {
    fn port_toward(&self, _host: HostId, _hash: u32) -> Option<PortId> {
        None
    }
}
