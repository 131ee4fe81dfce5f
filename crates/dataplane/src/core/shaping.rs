//! Maximum rates of classes at a port: token buckets, and the wake-up of a port whose classes have none left.
//!
//! A rate limiter stands for the bucket of a class: it has tokens from `eligible_at` on, and saves at most one burst. A
//! port checks its buckets when it looks for the next frame. An alarm wakes it only if nothing else may send and a queue
//! that is not empty waits for tokens. A port without maximum rates has no alarm, and its bit sets are 0.

use super::Core;
use super::alarm::{Alarm, CoreTimer};
use super::pausing::queues_with_number;
use crate::Out;
use crate::port::QueueAt;
use mech::host::RateLimiter;
use mech::scheduler::{RateLimits, SchedulerSlot};
use mech::{PortId, QueueId};
use units::Time;

/// Token buckets of the classes of one port.
#[derive(Clone)]
pub(super) struct PortShaper {
    buckets: [Option<RateLimiter>; 8],
    /// Size of each bucket in bytes on the wire.
    burst: u64,
    alarm: Alarm,
}

impl PortShaper {
    fn new(limits: &RateLimits) -> PortShaper {
        let bucket = |class: usize| limits.rate(class as u8).map(RateLimiter::new);
        PortShaper { buckets: std::array::from_fn(bucket), burst: limits.burst(), alarm: Alarm::OFF }
    }
    /// Returns the first instant at which a class has tokens.
    fn eligible_at(&self, class: u8) -> Time {
        self.buckets[usize::from(class)].map_or(Time::ZERO, |bucket| bucket.eligible_at())
    }
}

impl Core {
    /// Adds the scheduler of the next port, with the token buckets that it declares.
    pub(super) fn add_scheduler(&mut self, mut slot: SchedulerSlot) {
        slot.get().set_gap(self.framing.gap);
        let port = self.schedulers.len();
        if let Some(limits) = slot.peek().rate_limits() {
            let queues =
                (0..8).filter(|class| limits.classes().has(*class)).map(|class| queues_with_number(class.into()));
            self.store.ports[port].rest.shaped = queues.fold(0, |set, of| set | of);
            self.shapers.resize_with(port, || None);
            self.shapers.push(Some(PortShaper::new(limits)));
        }
        self.schedulers.push(slot);
    }

    fn shaper(&mut self, port: PortId) -> Option<&mut PortShaper> {
        self.shapers.get_mut(usize::from(port.0))?.as_mut()
    }

    /// Returns the alarm for the next tokens of a port.
    pub(super) fn token_alarm(&mut self, port: PortId) -> Option<&mut Alarm> {
        self.shaper(port).map(|shaper| &mut shaper.alarm)
    }

    /// Takes the tokens of a frame of `size` bytes that starts now.
    #[cold]
    pub(super) fn take_tokens(&mut self, at: QueueAt, size: u16, now: Time) {
        let (wire, class) = (self.framing.wire_size(size), usize::from(at.queue.class()));
        let Some(shaper) = self.shaper(at.port) else { return };
        let burst = shaper.burst;
        if let Some(bucket) = &mut shaper.buckets[class] {
            bucket.on_sent_saving(now, wire, burst);
            self.store.ports[usize::from(at.port.0)].rest.out_of_tokens |= queues_with_number(class);
        }
    }

    /// Lets the classes of a port send that have tokens at the instant `at`.
    #[cold]
    pub(super) fn refill_tokens(&mut self, port: PortId, at: Time) {
        let waiting = self.store.ports[usize::from(port.0)].rest.out_of_tokens;
        let Some(shaper) = self.shaper(port) else { return };
        let ready = QueueId::iter_set(waiting).filter(|queue| shaper.eligible_at(queue.class()) <= at);
        let ready = ready.fold(0, |set, queue| set | queue.bit());
        self.store.ports[usize::from(port.0)].rest.out_of_tokens &= !ready;
    }

    /// Schedules a port with classes that were out of tokens: at the end of the current frame if one of them may send
    /// then, and otherwise when the first of them has tokens.
    #[cold]
    pub(super) fn await_tokens<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        let p = &self.store.ports[usize::from(port.0)];
        // A port that is about to look for the next frame checks its buckets itself.
        if p.rest.waking || p.rest.listed {
            return;
        }
        self.refill_tokens(port, p.free_at.max(now));
        match self.store.ports[usize::from(port.0)].rest.sendable() {
            0 => self.set_token_alarm(port, out),
            _ => self.try_schedule(port, now, out),
        }
    }

    /// Calls [`await_tokens`](Core::await_tokens) if some class of a port was out of tokens.
    #[inline]
    pub(super) fn await_tokens_if_needed<O: Out>(&mut self, port: PortId, now: Time, out: &mut O) {
        if self.store.ports[usize::from(port.0)].rest.out_of_tokens != 0 {
            self.await_tokens(port, now, out);
        }
    }

    /// Sets the alarm for the first tokens of a queue that waits for nothing else.
    pub(super) fn set_token_alarm<O: Out>(&mut self, port: PortId, out: &mut O) {
        let rest = &self.store.ports[usize::from(port.0)].rest;
        let waiting = rest.eligible & rest.out_of_tokens & !rest.paused;
        let Some(shaper) = self.shaper(port).filter(|_| waiting != 0) else { return };
        let first = QueueId::iter_set(waiting).map(|queue| shaper.eligible_at(queue.class())).min();
        if let Some(at) = first.and_then(|at| shaper.alarm.set(at)) {
            self.schedule_timer(CoreTimer::Tokens(port), at, out);
        }
    }
}
