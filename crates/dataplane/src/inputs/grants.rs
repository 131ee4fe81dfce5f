//! Grants inside a `fabric` switch: the arbiter of a target chooses among the buffers that feed it.

use super::buffer::StageFrame;
use super::stages::{MoveSource, StageMove};
use super::{Inputs, uses_input_memory};
use crate::arena::{Arena, NIL};
use crate::port::QueueAt;
use mech::arbiter::Request;
use mech::{Env, Lane, PortId, QueueId};
use units::{Dur, Time};

/// Backlog and free space of an output buffer, which decide about grants.
pub(crate) struct OutputBufferState<'a> {
    /// Returns the bytes of a queue in the output buffer.
    pub(crate) waits: &'a dyn Fn(QueueId) -> u64,
    /// Returns true if a frame fits a queue of the output buffer.
    pub(crate) fits: &'a dyn Fn(QueueId, u16) -> bool,
}

impl Inputs {
    /// Begins a move to an idle target inside a `fabric` switch, and returns its duration.
    /// Congestion messages come first.
    ///
    /// For an output, the queue with the fewest bytes in its buffer comes next, and among equals the most urgent; `out`
    /// describes that buffer. Elsewhere queues take turns. A buffer behind a slow link empties faster than it fills, so
    /// all its queues have few bytes, and the fewest bytes say nothing.
    pub(crate) fn grant_inside(
        &mut self,
        target: u16,
        out: &OutputBufferState,
        arena: &mut Arena,
        now: Time,
    ) -> Option<Dur> {
        let stages = self.stages.as_deref()?;
        let (at_output, last) = (stages.is_output(target), stages.targets[usize::from(target)].last);
        let later = |queue: QueueId| match at_output {
            true => ((out.waits)(queue), u8::MAX - queue.0),
            false => (0, (queue.0 + QueueId::COUNT - 1 - last) % QueueId::COUNT),
        };
        let order = |queue: &QueueId| (queue.lane() != Lane::Notice, later(*queue));
        let mut left = self.requesting_queues(target);
        while let Some(queue) = QueueId::iter_set(left).min_by_key(order) {
            left &= !queue.bit();
            if let Some(time) = self.select_grant(target, queue, out, (arena, now)) {
                return Some(time);
            }
        }
        None
    }

    /// Returns the queues with frames that may move to a target, as a bit set.
    fn requesting_queues(&self, target: u16) -> u32 {
        let Some(stages) = self.stages.as_deref() else { return 0 };
        if let Some(input) = stages.input_of(target) {
            let own = self.queues.iter().skip(usize::from(input.0)).step_by(self.ports).enumerate();
            let waits = own.filter(|(_, queue)| queue.packets() > 0);
            return waits.fold(0, |set, (place, _)| set | QueueId((place % self.queues_each) as u8).bit());
        }
        let own = &stages.targets[usize::from(target)];
        own.feeds.iter().fold(0, |set, from| set | stages.buffer(*from).waits[usize::from(own.exit_index)])
    }

    fn select_grant(
        &mut self,
        target: u16,
        queue: QueueId,
        out: &OutputBufferState,
        (arena, now): (&mut Arena, Time),
    ) -> Option<Dur> {
        let stages = self.stages.as_deref()?;
        let fits = |size| match stages.is_output(target) {
            true => (out.fits)(queue, size),
            false => stages.buffer(target).has_room(queue, size),
        };
        let own = &stages.targets[usize::from(target)];
        self.requests.clear();
        let mut request = |n: u16, size: u16, stamp: u64| {
            if fits(size) {
                self.requests.push(Request { input: PortId(n), size, stamp });
            }
        };
        if let Some(input) = stages.input_of(target) {
            for output in 0..self.ports as u16 {
                let place = usize::from(output) * self.queues_each + usize::from(queue.0);
                let first = arena.first(&self.queues[place * self.ports + usize::from(input.0)]);
                first.into_iter().for_each(|(slot, stamp)| request(output, arena.get(slot).head.size, stamp));
            }
        } else {
            for (n, from) in (0..).zip(&own.feeds) {
                let first = stages.buffer(*from).first(own.exit_index, queue);
                first.into_iter().for_each(|item| request(n, item.size, item.stamp));
            }
        }
        if self.requests.is_empty() {
            return None;
        }
        let mut env = Env { now, rng: &mut self.rng, acts: &mut self.acts };
        let (chosen, clock) = (self.arbiter.get().grant(PortId(target), &self.requests, &mut env), own.clock);
        let chosen = self.check_choice(chosen)?;
        let go = match self.stages.as_deref()?.input_of(target) {
            Some(input) => self.take_from_input(QueueAt { port: chosen, queue }, input, arena)?,
            None => self.take_from_buffer(target, chosen.0, queue)?,
        };
        self.stages.as_mut()?.begin_move(target, go);
        Some(clock.time(u64::from(go.item.size)))
    }

    fn take_from_input(&mut self, to: QueueAt, input: PortId, arena: &mut Arena) -> Option<StageMove> {
        let first = self.first_queue_index(to) + usize::from(input.0);
        let (_, stamp) = arena.first(&self.queues[first])?;
        let slot = arena.unlink_first(&mut self.queues[first])?;
        let head = &arena.get(slot).head;
        self.count_queue_departure(to, head.size);
        let item = StageFrame { slot, to, size: head.size, copy: NIL, stamp, hash: head.hash };
        Some(StageMove { item, from: MoveSource::Input })
    }

    fn take_from_buffer(&mut self, target: u16, feed: u16, queue: QueueId) -> Option<StageMove> {
        let stages = self.stages.as_mut()?;
        let own = &stages.targets[usize::from(target)];
        let (from, exit_index) = (own.feeds[usize::from(feed)], own.exit_index);
        let (item, next) = stages.buffer_mut(from).pop(exit_index, queue);
        // In a buffer with one list for all exits, the frame behind this one may be for another target, which can take
        // it only now.
        next.into_iter().for_each(|target| stages.schedule_arbiter(target));
        Some(StageMove { item: item?, from: MoveSource::Buffer(from) })
    }

    /// Frees the space in the memory of an input that a frame or its copy has left.
    pub(crate) fn free_input_memory(&mut self, input: PortId, queue: QueueId, size: u16) {
        if uses_input_memory(queue) {
            self.used[usize::from(input.0)].subtract(size);
        }
    }

    /// Returns the stamp of the next arrival, if frames for all outputs are compared by age; `None` if they are not.
    #[inline]
    pub(crate) fn next_stamp(&mut self) -> Option<u64> {
        self.stages.as_ref()?;
        self.arrivals += 1;
        Some(self.arrivals)
    }
}
