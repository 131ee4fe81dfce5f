//! Stages inside a `fabric` switch: their input buffers, and internal links with a buffer that feeds each.
//! Frames move through them (QCN-OS §V, fig. 8).
//!
//! A *target* is a buffer that a frame can move to: an output buffer, the input buffer of a stage, or one that feeds an
//! internal link. A target takes one frame at a time, at its own rate. It holds space for the frame from the grant
//! on, so nothing is lost inside. A buffer may feed several targets simultaneously, as an input of a `cioq` switch may.

use super::FrameAmount;
use super::buffer::{StageBuffer, StageFrame};
use crate::OversizedFrame;
use crate::arena::NIL;
use crate::port::QueueAt;
use mech::fabric::{FabricSlot, StageParams, StageQueues, stage_of};
use mech::{PortId, QueueId, Rule};
use std::collections::{BTreeMap, VecDeque};
use units::{ByteClock, Time};

/// Parameters of the stages inside a `fabric` switch.
pub struct StagesSetup {
    /// Mechanism in the `fabric` slot, which joins the stages. PRECONDITION: not `none`.
    pub fabric: FabricSlot,
    /// Rate from the memory of each input to the input buffer of its stage, by port.
    pub inward: Vec<ByteClock>,
    /// Rate across a stage to the buffer of an internal link.
    pub across: ByteClock,
    /// Rate of an internal link.
    pub link: ByteClock,
}

/// Memory that a frame moves from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoveSource {
    /// Memory of the frame's input.
    Input,
    /// Buffer of the target with this number.
    Buffer(u16),
}

/// Move of a frame to a buffer inside a `fabric` switch, or to an output buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageMove {
    pub(crate) item: StageFrame,
    pub(crate) from: MoveSource,
}

#[derive(Clone, Debug)]
pub(super) struct StageTarget {
    pub(super) clock: ByteClock,
    pub(super) arriving: Option<StageMove>,
    /// True if the target is on the list of buffers whose arbiter must choose a frame.
    listed: bool,
    /// Number of the queue whose frame moved to the target last.
    pub(super) last: u8,
    /// Index of the target among the exits of each buffer that feeds it.
    pub(super) exit_index: u16,
    /// Targets whose buffers feed this one.
    /// Empty for the input buffer of a port's stage, which the memory of that input feeds.
    pub(super) feeds: Box<[u16]>,
}

/// State of the stages inside a `fabric` switch: buffers, moves, copies and acknowledgements.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    fabric: FabricSlot,
    rules: StageParams,
    /// Number of ports of the switch.
    pub(super) ports: u16,
    queues_each: usize,
    /// Number of the stage of each port.
    stages: Box<[u16]>,
    /// Targets, that is buffers to which frames move; the output buffers come first.
    /// The input buffers of ports' stages follow. Then come, for each link, the buffer that feeds it and the input
    /// buffer behind it.
    pub(super) targets: Box<[StageTarget]>,
    /// Buffers of the targets that are not outputs.
    pub(super) buffers: Box<[StageBuffer]>,
    /// Targets (buffers to which frames move) whose arbiter must choose in this step.
    scheduled: Vec<u16>,
    /// Frames inside the stages, by output and queue.
    /// They have left their virtual output queue and are not in the output buffer.
    inside: Box<[FrameAmount]>,
    /// Copies that inputs keep until an acknowledgement: the output queue of each, by arena slot.
    pub(super) copies: BTreeMap<u32, QueueAt>,
    /// Rule that the mechanism in the `fabric` slot has broken.
    pub(crate) broken: Option<Rule>,
    /// Acknowledgements in flight, in order of arrival: instant of arrival, and arena slot of the copy.
    acks: VecDeque<(Time, u32)>,
}

impl Stages {
    /// Creates the stages of a switch, whose outputs take frames at the rates `outward`.
    /// Each output has `queues_each` queues.
    pub(super) fn new(setup: StagesSetup, outward: &[ByteClock], queues_each: usize) -> Stages {
        let joined = setup.fabric.peek();
        let rules = joined.stage_params().cloned().expect("a fabric with stages");
        let (ports, edges) = (outward.len() as u16, joined.edge_stages());
        let stages: Box<[u16]> = (0..ports).map(|port| stage_of(port, ports, edges)).collect();
        let links = joined.links();
        let front = |link: usize| 2 * ports + 2 * link as u16;
        let of_stage = |stage: u16| (0..ports).filter(move |port| stage_of(*port, ports, edges) == stage);
        let enters = |stage: u16| -> Box<[u16]> {
            let behind = (0..).zip(&links).filter(|(_, link)| link.to == stage).map(|(link, _)| front(link) + 1);
            of_stage(stage).map(|port| ports + port).chain(behind).collect()
        };
        let exits = |stage: u16| -> Box<[u16]> {
            let out = (0..).zip(&links).filter(|(_, link)| link.from == stage).map(|(link, _)| front(link));
            of_stage(stage).chain(out).collect()
        };
        let count = joined.edge_stages() + joined.core_stages();
        let enters: Vec<Box<[u16]>> = (0..count).map(enters).collect();
        let exits: Vec<Box<[u16]>> = (0..count).map(exits).collect();
        let crosses = |target: u16, stage: u16, clock: ByteClock| {
            let (enters, exits) = (&enters[usize::from(stage)], &exits[usize::from(stage)]);
            let exit_index = exits.iter().position(|exit| *exit == target).unwrap_or_default() as u16;
            StageTarget { clock, arriving: None, listed: false, last: 0, exit_index, feeds: enters.clone() }
        };
        let fed_by = |feeds: &[u16], clock: ByteClock| StageTarget {
            clock,
            arriving: None,
            listed: false,
            last: 0,
            exit_index: 0,
            feeds: feeds.into(),
        };
        let outputs = (0..ports).map(|port| crosses(port, stages[usize::from(port)], outward[usize::from(port)]));
        let inward = setup.inward.iter().map(|clock| fed_by(&[], *clock));
        let of_links = links
            .iter()
            .enumerate()
            .flat_map(|(n, link)| [crosses(front(n), link.from, setup.across), fed_by(&[front(n)], setup.link)]);
        let targets = outputs.chain(inward).chain(of_links).collect();
        let buffer = |stage: u16, limit: u64, exits: &[u16], fifo: bool| {
            StageBuffer::new(stage, limit, (exits, queues_each), fifo)
        };
        let fifo = rules.lists == StageQueues::Fifo;
        let at_stage = |stage: u16| buffer(stage, rules.stage_buffer.0, &exits[usize::from(stage)], fifo);
        let of_links = links
            .iter()
            .enumerate()
            .flat_map(|(n, link)| [buffer(link.from, rules.link_buffer.0, &[front(n) + 1], false), at_stage(link.to)]);
        let buffers = stages.iter().map(|stage| at_stage(*stage)).chain(of_links).collect();
        Stages {
            rules,
            ports,
            queues_each,
            stages,
            targets,
            buffers,
            scheduled: Vec::new(),
            inside: vec![FrameAmount::default(); usize::from(ports) * queues_each].into(),
            copies: BTreeMap::new(),
            broken: None,
            acks: VecDeque::new(),
            fabric: setup.fabric,
        }
    }

    /// Returns the number of targets (buffers to which frames move).
    /// Acknowledgements use the number after the last target.
    pub(crate) fn targets(&self) -> u16 {
        self.targets.len() as u16
    }
    /// Returns true if a target is an output buffer.
    pub(crate) fn is_output(&self, target: u16) -> bool {
        target < self.ports
    }
    /// Returns the input from whose memory a target takes frames; `None` if it takes them from buffers.
    pub(super) fn input_of(&self, target: u16) -> Option<PortId> {
        (self.ports..2 * self.ports).contains(&target).then(|| PortId(target - self.ports))
    }
    /// Returns the buffer of a target. PRECONDITION: the target is no output.
    pub(super) fn buffer(&self, target: u16) -> &StageBuffer {
        &self.buffers[usize::from(target - self.ports)]
    }
    pub(super) fn buffer_mut(&mut self, target: u16) -> &mut StageBuffer {
        &mut self.buffers[usize::from(target - self.ports)]
    }
    /// Returns the sizes of the buffers inside if one on a frame's path is smaller than the frame.
    /// No internal link is on the path to an output of the same stage.
    pub(crate) fn oversized_frame(&self, (from, to): (PortId, PortId), size: u16) -> Option<OversizedFrame> {
        let (stage_buffer, link_buffer) = (self.rules.stage_buffer.0, self.rules.link_buffer.0);
        let crosses = self.stages[usize::from(from.0)] != self.stages[usize::from(to.0)];
        let least = if crosses { stage_buffer.min(link_buffer) } else { stage_buffer };
        (u64::from(size) > least).then_some(OversizedFrame { size, stage_buffer, link_buffer })
    }
    /// Returns true if inputs keep a copy of each frame until its delivery is acknowledged.
    pub(crate) fn keeps_copies(&self) -> bool {
        self.rules.end_to_end
    }
    fn queue_index(&self, of: QueueAt) -> usize {
        usize::from(of.port.0) * self.queues_each + usize::from(of.queue.0)
    }
    /// Returns the frames inside the stages that are for a queue of an output.
    pub(super) fn amount_inside(&self, of: QueueAt) -> FrameAmount {
        self.inside[self.queue_index(of)]
    }

    /// Schedules the arbiter of a buffer to which frames move, unless it is scheduled already or the buffer is busy.
    pub(crate) fn schedule_arbiter(&mut self, target: u16) {
        let own = &mut self.targets[usize::from(target)];
        if !own.listed && own.arriving.is_none() {
            own.listed = true;
            self.scheduled.push(target);
        }
    }
    /// Schedules the arbiter that moves frames from the memory of an input to its stage.
    pub(crate) fn schedule_arbiter_for_input(&mut self, input: PortId) {
        self.schedule_arbiter(self.ports + input.0);
    }
    /// Returns the next buffer, of an output or inside the switch, whose arbiter must choose a frame.
    /// Targets that have become busy since are left out: in a buffer with one list, two successive frames may have the
    /// same target.
    pub(crate) fn next_scheduled(&mut self) -> Option<u16> {
        loop {
            let target = self.scheduled.pop()?;
            let own = &mut self.targets[usize::from(target)];
            own.listed = false;
            if own.arriving.is_none() {
                return Some(target);
            }
        }
    }

    /// Begins the move of a frame to a target, which reserves space for the frame from now on.
    pub(super) fn begin_move(&mut self, target: u16, go: StageMove) {
        if go.from == MoveSource::Input {
            let place = self.queue_index(go.item.to);
            self.inside[place].add(go.item.size);
        }
        if !self.is_output(target) {
            self.buffer_mut(target).used[usize::from(go.item.to.queue.0)] += u64::from(go.item.size);
        }
        let own = &mut self.targets[usize::from(target)];
        (own.arriving, own.last) = (Some(go), go.item.to.queue.0);
    }

    /// Returns the output queue of the frame that is moving to a target.
    pub(crate) fn move_destination(&self, target: u16) -> Option<QueueAt> {
        self.targets[usize::from(target)].arriving.as_ref().map(|go| go.item.to)
    }
    /// Returns the bytes taken in the buffer of a target, without congestion messages.
    /// PRECONDITION: the target is no output.
    pub(crate) fn occupied_bytes(&self, target: u16) -> u64 {
        self.buffer(target).data_bytes()
    }

    /// Ends the move to a target, and schedules the arbiters that may use the target or the space that became free.
    pub(crate) fn end_move(&mut self, target: u16) -> Option<StageMove> {
        let done = self.targets[usize::from(target)].arriving.take()?;
        if let MoveSource::Buffer(from) = done.from {
            self.buffer_mut(from).used[usize::from(done.item.to.queue.0)] -= u64::from(done.item.size);
            // A frame keeps its space in the buffer that it leaves until its move ends.
            self.schedule_arbiter(from);
        }
        self.schedule_arbiter(target);
        if self.is_output(target) {
            let place = self.queue_index(done.item.to);
            self.inside[place].subtract(done.item.size);
        }
        Some(done)
    }

    /// Stores a frame in the buffer of a target until it moves on.
    pub(crate) fn store(&mut self, target: u16, item: StageFrame) {
        let next = self.next_target(target, item.to.port, item.hash).unwrap_or_else(|link| {
            // The frame needs some exit, and the run ends with an error. Any other exit would do.
            self.broken = Some(Rule::NoStageLink(link));
            self.buffer(target).exits[0]
        });
        let exit = if self.buffer(target).exits.len() == 1 { 0 } else { self.targets[usize::from(next)].exit_index };
        self.buffer_mut(target).push(exit, item);
        self.schedule_arbiter(next);
    }

    /// Returns the target to which a frame moves next from a buffer.
    ///
    /// # Errors
    /// The link that the fabric chose, if it does not leave the stage of the buffer.
    pub(super) fn next_target(&self, target: u16, to: PortId, hash: u32) -> Result<u16, usize> {
        let own = self.buffer(target);
        if let [only] = *own.exits {
            return Ok(only);
        }
        let goal = self.stages[usize::from(to.0)];
        if own.stage == goal {
            return Ok(to.0);
        }
        let link = self.fabric.peek().next_link(own.stage, goal, hash);
        self.target_before_link(own.stage, link).ok_or(link)
    }

    /// Returns the target (buffer) that feeds an internal link; `None` if the link begins at another stage.
    fn target_before_link(&self, stage: u16, link: usize) -> Option<u16> {
        let place = usize::from(self.ports).checked_add(link.checked_mul(2)?)?;
        let leaves = self.buffers.get(place).is_some_and(|front| front.stage == stage);
        leaves.then(|| place as u16 + self.ports)
    }

    /// Visits the buffers that feed internal links on the path from an input to an output.
    /// `each` gets the bytes that a queue takes there, and the limit in bytes.
    pub(crate) fn visit_links_on_path(
        &self,
        way: (PortId, PortId, u32),
        queue: QueueId,
        each: &mut dyn FnMut(u64, u64),
    ) {
        let (from, to, hash) = way;
        let (mut at, goal) = (self.stages[usize::from(from.0)], self.stages[usize::from(to.0)]);
        let links = self.fabric.peek();
        // A path crosses no stage twice. The bound also ends the loop if a mechanism has joined stages in a circle.
        for _ in 0..self.buffers.len() {
            if at == goal {
                return;
            }
            let Some(front) = self.target_before_link(at, links.next_link(at, goal, hash)) else { return };
            let own = self.buffer(front);
            each(own.used_bytes(queue), own.limit());
            // Target `front + 1` is the input buffer of the stage behind the link.
            at = self.buffer(front + 1).stage;
        }
    }

    /// Records the copy of a frame that an input keeps until an acknowledgement.
    pub(crate) fn record_copy(&mut self, copy: u32, of: QueueAt) {
        self.copies.insert(copy, of);
    }
    /// Sends the acknowledgement of a frame that has reached its output buffer.
    /// Returns the instant for a timer if no other one is pending.
    pub(crate) fn acknowledge(&mut self, item: &StageFrame, now: Time) -> Option<Time> {
        if item.copy == NIL {
            return None;
        }
        let at = now + self.rules.ack_delay;
        self.acks.push_back((at, item.copy));
        (self.acks.len() == 1).then_some(at)
    }
    /// Returns the next copy whose acknowledgement has arrived, and the output queue of its frame.
    pub(crate) fn pop_acknowledged(&mut self, now: Time) -> Option<(u32, QueueAt)> {
        let (at, copy) = *self.acks.front()?;
        if at > now {
            return None;
        }
        self.acks.pop_front();
        self.copies.remove(&copy).map(|to| (copy, to))
    }
    /// Returns the instant at which the next acknowledgement arrives.
    pub(crate) fn next_ack_time(&self) -> Option<Time> {
        self.acks.front().map(|(at, _)| *at)
    }
    /// Returns the copies that inputs keep: the output queue of each frame, and the arena slot of its copy.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (QueueAt, u32)> + '_ {
        self.copies.iter().map(|(slot, to)| (*to, *slot))
    }

    /// Returns the frame that is moving to a target.
    pub(super) fn incoming_frame(&self, target: u16) -> Option<&StageFrame> {
        self.targets[usize::from(target)].arriving.as_ref().map(|go| &go.item)
    }

    /// Returns the frames that are moving out of the memory of their inputs.
    pub(super) fn frames_leaving_inputs(&self) -> impl Iterator<Item = &StageFrame> {
        let moves = self.targets.iter().filter_map(|target| target.arriving.as_ref());
        moves.filter(|go| go.from == MoveSource::Input).map(|go| &go.item)
    }

    /// Checks that the counts of the stages equal the frames in them.
    /// The space taken in a buffer must be that of the frames in it, moving to it and moving out of it.
    pub(super) fn is_consistent(&self) -> bool {
        let mut inside = vec![FrameAmount::default(); self.inside.len()];
        let mut used = vec![vec![0; self.queues_each]; self.buffers.len()];
        let lying = self.buffers.iter().flat_map(|buffer| buffer.lists.iter().flatten());
        let moving = self.targets.iter().filter_map(|target| target.arriving.as_ref()).map(|go| &go.item);
        lying.chain(moving).for_each(|item| inside[self.queue_index(item.to)].add(item.size));
        let mut take = |at: usize, item: &StageFrame| used[at][usize::from(item.to.queue.0)] += u64::from(item.size);
        for (n, buffer) in self.buffers.iter().enumerate() {
            buffer.lists.iter().flatten().for_each(|item| take(n, item));
        }
        for (target, own) in self.targets.iter().enumerate() {
            let Some(go) = &own.arriving else { continue };
            target.checked_sub(usize::from(self.ports)).into_iter().for_each(|at| take(at, &go.item));
            if let MoveSource::Buffer(from) = go.from {
                take(usize::from(from - self.ports), &go.item);
            }
        }
        let of_buffers = self.buffers.iter().zip(&used).all(|(own, used)| *own.used == **used);
        *inside == *self.inside && of_buffers && self.buffers.iter().all(|own| own.used.iter().all(|b| *b <= own.limit))
    }
}
