//! Input side of a switch with combined input and output queueing.
//!
//! An arrival waits in a virtual output queue in the memory of its input. The arbiter of its output grants it a
//! transfer to the output buffer. All frames are in the node's one arena, beside the queues of the ports.
//!
//! A port counts a frame as queued from its arrival until its transmission starts. The backlog of an output is
//! therefore its buffer and all that inputs hold for it; this module counts the part at inputs. Mechanisms that look at
//! single packets see only those in output buffers.
//!
//! In a `fabric` switch stages are between inputs and outputs: see [`stages`].

mod buffer;
mod grants;
mod stages;
mod stuck_frames;

pub(crate) use buffer::StageFrame;
pub(crate) use grants::OutputBufferState;
pub use stages::StagesSetup;
pub(crate) use stages::{MoveSource, Stages};
pub use stuck_frames::StuckBytes;

use crate::arena::{Arena, Queue};
use crate::port::QueueAt;
use mech::arbiter::{ArbiterSlot, Request};
use mech::{Acts, Env, Fill, Head, Lane, PortId, PortThresholds, QueueId, Rule, Stream, StreamPurpose};
use units::{Amount, ByteClock, Dur, Time};

/// Parameters of the input side of a `cioq` or `fabric` switch.
pub struct InputSetup {
    /// Mechanism in the `arbiter` slot, which grants transfers to outputs.
    pub arbiter: ArbiterSlot,
    /// Memory of each input, for all its virtual output queues.
    pub memory: PortThresholds,
    /// Rate at which each output takes frames from inputs.
    pub transfers: Vec<ByteClock>,
    /// Parameters of the stages between inputs and outputs, if there are any.
    pub stages: Option<StagesSetup>,
}

/// Number of frames, and the sum of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FrameAmount {
    packets: u32,
    bytes: u64,
}

impl FrameAmount {
    fn add(&mut self, size: u16) {
        self.packets += 1;
        self.bytes += u64::from(size);
    }
    fn subtract(&mut self, size: u16) {
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }
    fn plus(self, more: FrameAmount) -> FrameAmount {
        FrameAmount { packets: self.packets + more.packets, bytes: self.bytes + more.bytes }
    }
}

/// Frame in transfer from the memory of its input to an output buffer.
/// It keeps its memory at the input and has its space in the output buffer already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// Memory slot of the frame: its index in the node's arena.
    pub(crate) slot: u32,
    /// Queue of the output that the frame will join.
    pub(crate) queue: QueueId,
    input: PortId,
    size: u16,
}

/// Returns true if frames of a queue use memory of their input. Congestion messages do not.
fn uses_input_memory(queue: QueueId) -> bool {
    queue.lane() != Lane::Notice
}

/// Transfer state of an output: its rate, its current transfer, and the queues with frames for it.
#[derive(Clone, Debug)]
struct OutputState {
    clock: ByteClock,
    transfer: Option<Transfer>,
    /// Set of queues with a frame at some input: bit `q` is set for queue `q`.
    waits: u32,
    /// True if the output is on the list of outputs whose arbiter must choose.
    listed: bool,
}

/// Input side of a `cioq` or `fabric` switch: virtual output queues, and the memory of each input.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// Virtual output queues, by output, queue and input.
    queues: Box<[Queue]>,
    /// Number of ports, and number of queues of each port: the strides of the virtual output queues.
    ports: usize,
    queues_each: usize,
    /// Number and bytes of frames in virtual output queues, by output and queue.
    waiting: Box<[FrameAmount]>,
    /// Number and bytes of frames in the memory of each input.
    used: Box<[FrameAmount]>,
    memory: PortThresholds,
    outputs: Box<[OutputState]>,
    arbiter: ArbiterSlot,
    rng: Stream,
    acts: Acts,
    /// Outputs whose arbiter must choose in this step.
    scheduled: Vec<PortId>,
    requests: Vec<Request>,
    /// Rule that the arbiter or the fabric has broken, and its slot.
    pub(crate) broken: Option<(&'static str, Rule)>,
    /// Stages between inputs and outputs, in a `fabric` switch.
    pub(crate) stages: Option<Box<Stages>>,
    /// Number of arrivals so far, in a `fabric` switch.
    arrivals: u64,
}

impl Inputs {
    /// Creates the input side of a switch whose ports have `queues_each` queues each.
    pub(crate) fn new(setup: InputSetup, queues_each: usize, seed: u64, node: u32) -> Inputs {
        let ports = setup.transfers.len();
        let stages = setup.stages.map(|stages| Box::new(Stages::new(stages, &setup.transfers, queues_each)));
        let output = |clock| OutputState { clock, transfer: None, waits: 0, listed: false };
        Inputs {
            queues: vec![Queue::default(); ports * queues_each * ports].into(),
            ports,
            queues_each,
            waiting: vec![FrameAmount::default(); ports * queues_each].into(),
            used: vec![FrameAmount::default(); ports].into(),
            memory: setup.memory,
            outputs: setup.transfers.into_iter().map(output).collect(),
            arbiter: setup.arbiter,
            rng: Stream::new(seed, node, StreamPurpose::Arbiter),
            acts: Acts::default(),
            scheduled: Vec::new(),
            requests: Vec::new(),
            broken: None,
            stages,
            arrivals: 0,
        }
    }

    /// Returns the frames inside the stages of a `fabric` switch that are for a queue of an output.
    fn amount_inside(&self, to: QueueAt) -> FrameAmount {
        self.stages.as_ref().map_or_else(FrameAmount::default, |stages| stages.amount_inside(to))
    }

    /// Returns the index of the first virtual output queue for a queue of an output.
    fn first_queue_index(&self, of: QueueAt) -> usize {
        self.queue_index(of) * self.ports
    }
    fn queue_index(&self, of: QueueAt) -> usize {
        usize::from(of.port.0) * self.queues_each + usize::from(of.queue.0)
    }

    /// Returns true if a frame of `size` bytes fits the memory of an input.
    pub(crate) fn accepts(&self, input: PortId, size: u16) -> bool {
        let used = self.used[usize::from(input.0)];
        used.packets < self.memory.packets && used.bytes + u64::from(size) <= self.memory.bytes
    }

    /// Counts an arrival, and returns the virtual output queue that it joins.
    pub(crate) fn store(&mut self, to: QueueAt, head: &Head) -> &mut Queue {
        let (first, place) = (self.first_queue_index(to), self.queue_index(to));
        if uses_input_memory(to.queue) {
            self.used[usize::from(head.ingress.0)].add(head.size);
        }
        self.waiting[place].add(head.size);
        self.outputs[usize::from(to.port.0)].waits |= to.queue.bit();
        &mut self.queues[first + usize::from(head.ingress.0)]
    }

    /// Returns the number and the bytes of frames in the memory of an input.
    pub(crate) fn used_by_input(&self, input: PortId) -> (u32, u64) {
        let used = self.used[usize::from(input.0)];
        (used.packets, used.bytes)
    }

    /// Returns the used part and the limit of the memory of an input.
    pub(crate) fn fill(&self, input: PortId) -> Fill {
        let used = self.used[usize::from(input.0)];
        match self.memory.amount() {
            Some(Amount::Packets(limit)) => Fill { used: u64::from(used.packets), limit: Some(limit) },
            Some(Amount::Bytes(limit)) => Fill { used: used.bytes, limit: Some(limit) },
            None => Fill { used: used.bytes, limit: None },
        }
    }

    /// Returns the frames and bytes for a queue of an output that have not reached the output buffer.
    /// They wait in virtual output queues, are inside the stages, or are in transfer.
    pub(crate) fn waiting_for_queue(&self, to: QueueAt) -> (u32, u64) {
        let waiting = self.waiting[self.queue_index(to)].plus(self.amount_inside(to));
        let crosses = self.bytes_in_transfer(to.port, to.queue);
        (waiting.packets + u32::from(crosses > 0), waiting.bytes + u64::from(crosses))
    }

    /// Returns the frames and bytes for all normal queues of an output that wait at inputs or are inside the stages.
    pub(crate) fn waiting_normal(&self, output: PortId) -> (u32, u64) {
        // `waits` covers only frames at inputs; stages may hold frames for any queue.
        let some = if self.stages.is_some() { u32::MAX } else { self.outputs[usize::from(output.0)].waits };
        let normal = QueueId::iter_set(some).take_while(|queue| usize::from(queue.0) < self.queues_each);
        let normal = normal.filter(|queue| queue.lane() == Lane::Normal).map(|queue| QueueAt { port: output, queue });
        let of = |to| self.waiting[self.queue_index(to)].plus(self.amount_inside(to));
        let sum = normal.map(of).fold(FrameAmount::default(), FrameAmount::plus);
        (sum.packets, sum.bytes)
    }

    /// Returns the queues of an output for which frames wait at inputs, as a bit set.
    pub(crate) fn waiting_queues(&self, output: PortId) -> u32 {
        self.outputs[usize::from(output.0)].waits
    }

    /// Returns true if a frame for a queue of an output has not reached the output buffer.
    /// It waits at an input, is inside the stages, or is in transfer.
    pub(crate) fn has_frames_before_output(&self, output: PortId, queue: QueueId) -> bool {
        let own = &self.outputs[usize::from(output.0)];
        let crosses = own.transfer.is_some_and(|transfer| transfer.queue == queue);
        let inside = || self.amount_inside(QueueAt { port: output, queue }).packets > 0;
        own.waits & queue.bit() != 0 || crosses || (self.stages.is_some() && inside())
    }

    /// Schedules the arbiter of an output, and returns true if it is newly scheduled.
    /// Does nothing if the arbiter is scheduled already, the output is busy, or no frame waits for it.
    pub(crate) fn schedule_arbiter(&mut self, output: PortId) -> bool {
        let own = &mut self.outputs[usize::from(output.0)];
        if own.listed || own.transfer.is_some() || own.waits == 0 {
            return false;
        }
        own.listed = true;
        self.scheduled.push(output);
        true
    }

    /// Returns the next output whose arbiter must choose.
    pub(crate) fn next_scheduled(&mut self) -> Option<PortId> {
        let output = self.scheduled.pop()?;
        self.outputs[usize::from(output.0)].listed = false;
        Some(output)
    }

    /// Begins a transfer to a queue of an output, and returns its duration; `None` if none begins.
    /// The arbiter chooses among the inputs whose first frame `fits`.
    pub(crate) fn grant(
        &mut self,
        to: QueueAt,
        arena: &mut Arena,
        now: Time,
        fits: impl Fn(u16) -> bool,
    ) -> Option<Dur> {
        let first = self.first_queue_index(to);
        self.requests.clear();
        for (input, queue) in (0..).zip(&self.queues[first..first + self.ports]) {
            let Some((slot, stamp)) = arena.first(queue) else { continue };
            let size = arena.get(slot).head.size;
            if fits(size) {
                self.requests.push(Request { input: PortId(input), size, stamp });
            }
        }
        if self.requests.is_empty() {
            return None;
        }
        let mut env = Env { now, rng: &mut self.rng, acts: &mut self.acts };
        let input = self.arbiter.get().grant(to.port, &self.requests, &mut env);
        let input = self.check_choice(input)?;
        // At the grant the frame leaves its queue, but it uses the memory of its input until the transfer ends.
        let slot = arena.unlink_first(&mut self.queues[first + usize::from(input.0)])?;
        let size = arena.get(slot).head.size;
        self.count_queue_departure(to, size);
        let own = &mut self.outputs[usize::from(to.port.0)];
        own.transfer = Some(Transfer { slot, queue: to.queue, input, size });
        Some(own.clock.time(u64::from(size)))
    }

    /// Checks the choice of an arbiter, and returns the chosen input unless the arbiter broke a rule.
    fn check_choice(&mut self, chosen: Option<PortId>) -> Option<PortId> {
        if !self.acts.list.is_empty() {
            self.acts.clear();
            self.broken = Some(("arbiter", Rule::ForbiddenAction));
            return None;
        }
        let input = chosen?;
        if self.requests.iter().any(|request| request.input == input) {
            return Some(input);
        }
        self.broken = Some(("arbiter", Rule::NotRequested(input)));
        None
    }

    fn count_queue_departure(&mut self, to: QueueAt, size: u16) {
        let place = self.queue_index(to);
        self.waiting[place].subtract(size);
        if self.waiting[place].packets == 0 {
            self.outputs[usize::from(to.port.0)].waits &= !to.queue.bit();
        }
    }

    /// Ends the transfer to an output: the frame leaves the memory of its input.
    pub(crate) fn end_transfer(&mut self, output: PortId) -> Option<Transfer> {
        let done = self.outputs[usize::from(output.0)].transfer.take()?;
        if uses_input_memory(done.queue) {
            self.used[usize::from(done.input.0)].subtract(done.size);
        }
        Some(done)
    }

    /// Removes the first frame for a queue of an output from the first input that has one.
    /// Returns the frame with its arena slot.
    pub(crate) fn pop_first(&mut self, to: QueueAt, arena: &mut Arena) -> Option<(u32, crate::Pkt)> {
        let first = self.first_queue_index(to);
        let mut queues = self.queues[first..first + self.ports].iter_mut();
        let slot = queues.find_map(|queue| arena.unlink_first(queue))?;
        let pkt = arena.discard(slot);
        self.count_queue_departure(to, pkt.head.size);
        if uses_input_memory(to.queue) {
            self.used[usize::from(pkt.head.ingress.0)].subtract(pkt.head.size);
        }
        Some((slot, pkt))
    }

    /// Returns the bytes of the frame in transfer to a queue of an output; 0 if there is none.
    fn bytes_in_transfer(&self, output: PortId, queue: QueueId) -> u16 {
        let transfer = self.outputs[usize::from(output.0)].transfer.filter(|transfer| transfer.queue == queue);
        transfer.map_or(0, |transfer| transfer.size)
    }

    /// Returns the number and bytes of frames for an output that have not reached its buffer.
    pub(crate) fn waiting_for_output(&self, output: PortId) -> (u32, u64) {
        self.sum_waiting(output, |_| true)
    }

    /// Returns the frames and bytes for an output, except congestion messages, that have not reached its buffer.
    pub(crate) fn data_waiting_for_output(&self, output: PortId) -> (u32, u64) {
        self.sum_waiting(output, uses_input_memory)
    }

    fn sum_waiting(&self, output: PortId, counts: fn(QueueId) -> bool) -> (u32, u64) {
        let from = self.queue_index(QueueAt { port: output, queue: QueueId(0) });
        let queues = (0..).map(QueueId).zip(&self.waiting[from..from + self.queues_each]);
        let waiting = queues
            .filter(|(queue, _)| counts(*queue))
            .map(|(queue, waiting)| waiting.plus(self.amount_inside(QueueAt { port: output, queue })));
        let mut sum = waiting.fold(FrameAmount::default(), FrameAmount::plus);
        let transfer = self.outputs[usize::from(output.0)].transfer.filter(|transfer| counts(transfer.queue));
        transfer.iter().for_each(|transfer| sum.add(transfer.size));
        (sum.packets, sum.bytes)
    }

    /// Returns all virtual output queues, each with its output queue and its input.
    fn virtual_queues(&self) -> impl Iterator<Item = (QueueAt, PortId, &Queue)> {
        self.queues.iter().enumerate().map(|(n, frames)| {
            let (output, queue) = (n / self.ports / self.queues_each, n / self.ports % self.queues_each);
            let to = QueueAt { port: PortId(output as u16), queue: QueueId(queue as u8) };
            (to, PortId((n % self.ports) as u16), frames)
        })
    }

    /// Returns the frames in the memories of inputs: the output queue that each is for, and its arena slot.
    pub(crate) fn stored_frames<'a>(&'a self, arena: &'a Arena) -> impl Iterator<Item = (QueueAt, u32)> + 'a {
        let waiting = self.virtual_queues().flat_map(|(at, _, frames)| arena.ids(frames).map(move |slot| (at, slot)));
        let crosses = |(output, own): (u16, &OutputState)| {
            own.transfer.map(|done| (QueueAt { port: PortId(output), queue: done.queue }, done.slot))
        };
        let crossing = (0..).zip(&self.outputs).filter_map(crosses);
        let stages = self.stages.iter().flat_map(|stages| {
            let leaving = stages.frames_leaving_inputs().map(|item| (item.to, item.slot));
            leaving.chain(stages.copies())
        });
        waiting.chain(crossing).chain(stages).filter(|(at, _)| uses_input_memory(at.queue))
    }

    /// Checks that the counts of the input side equal the frames there.
    /// An input's memory holds frames that are queued, in transfer, moving out or copied; an output's count is its
    /// virtual output queues.
    pub(crate) fn is_consistent(&self, arena: &Arena) -> bool {
        let amounts = |queue: &Queue| FrameAmount { packets: queue.packets(), bytes: queue.bytes() };
        let sum =
            |all: &mut dyn Iterator<Item = &Queue>| all.map(amounts).fold(FrameAmount::default(), FrameAmount::plus);
        let crossing = |input: usize| {
            let own = |t: &&Transfer| usize::from(t.input.0) == input && uses_input_memory(t.queue);
            let mut sum = FrameAmount::default();
            self.outputs.iter().filter_map(|o| o.transfer.as_ref()).filter(own).for_each(|t| sum.add(t.size));
            sum
        };
        let in_stages = |input: usize| {
            let mut sum = FrameAmount::default();
            let stages = self.stages.iter();
            let slots =
                stages.flat_map(|own| own.frames_leaving_inputs().map(|item| (item.to, item.slot)).chain(own.copies()));
            let heads = slots.filter(|(to, _)| uses_input_memory(to.queue)).map(|(_, slot)| &arena.get(slot).head);
            heads.filter(|head| usize::from(head.ingress.0) == input).for_each(|head| sum.add(head.size));
            sum
        };
        let in_memory = |(place, _): &(usize, &Queue)| uses_input_memory(QueueId((place % self.queues_each) as u8));
        let of_input = |input: usize| {
            let all = self.queues.iter().skip(input).step_by(self.ports).enumerate();
            sum(&mut all.filter(in_memory).map(|(_, queue)| queue)).plus(crossing(input)).plus(in_stages(input))
        };
        let inputs = self.used.iter().enumerate().all(|(input, used)| *used == of_input(input));
        let each = self.waiting.iter().zip(self.queues.chunks(self.ports));
        let stages = self.stages.as_ref().is_none_or(|stages| stages.is_consistent());
        inputs && stages && each.into_iter().all(|(waiting, queues)| *waiting == sum(&mut queues.iter()))
    }
}
