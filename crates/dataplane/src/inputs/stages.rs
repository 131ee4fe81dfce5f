//! The stages inside a `fabric` switch: input buffers of stages, internal links with a buffer in front of each, and the
//! frames that lie there (QCN-OS §V, fig. 8).
//!
//! Whatever a frame can move to is a *target*: the buffer of an output, the input buffer of a stage, the buffer in front of an
//! internal link. A target takes one frame at a time, at a rate of its own, and holds room for it from the grant on; a buffer
//! may feed several targets at once, as an input of a `cioq` switch may. So nothing is lost on the way.

use super::Amounts;
use super::buffer::{Buffer, Item};
use crate::TooLarge;
use crate::arena::NIL;
use crate::port::QueueAt;
use mech::fabric::{FabricSlot, Lists, StageRules, stage_of};
use mech::{PortId, QueueId, Rule};
use std::collections::{BTreeMap, VecDeque};
use units::{Clock, Time};

/// The stages of a switch as they are to be built.
pub struct StagesSetup {
    /// How they are joined. PRECONDITION: not `none`.
    pub fabric: FabricSlot,
    /// By port: how fast frames go from the memory of the input to the input buffer of its stage.
    pub inward: Vec<Clock>,
    /// How fast frames cross a stage to the buffer of an internal link.
    pub across: Clock,
    /// How fast they go over the link.
    pub link: Clock,
}

/// What a frame moves from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The memory of its input.
    Input,
    /// The buffer that is this target.
    Buffer(u16),
}

/// A frame that moves to a target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) item: Item,
    pub(crate) from: Source,
}

#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) clock: Clock,
    pub(super) arriving: Option<Move>,
    /// It is on the list of those whose arbiter is to be asked.
    listed: bool,
    /// The queue of which it has got a frame last.
    pub(super) last: u8,
    /// Its place among the ways on from what feeds it.
    pub(super) place: u16,
    /// Targets that feed it; none feeds the input buffer of a port's stage but the memory of that input.
    pub(super) feeds: Box<[u16]>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Stages {
    fabric: FabricSlot,
    rules: StageRules,
    /// Ports of the switch.
    pub(super) ports: u16,
    queues_each: usize,
    /// By port: its stage.
    stages: Box<[u16]>,
    /// Outputs, then the input buffers of ports' stages, then by link the buffer in front of it and the input buffer behind.
    pub(super) targets: Box<[Target]>,
    /// Those of targets that are no outputs.
    pub(super) buffers: Box<[Buffer]>,
    /// Targets whose arbiter is to be asked in this step.
    asking: Vec<u16>,
    /// By output and queue: what has left its virtual output queue and is not in the buffer of the output.
    inside: Box<[Amounts]>,
    /// Copies that inputs keep, by where they lie.
    pub(super) copies: BTreeMap<u32, QueueAt>,
    /// Rule that the fabric has broken.
    pub(crate) broken: Option<Rule>,
    /// Acknowledgements under way, first to last.
    acks: VecDeque<(Time, u32)>,
}

impl Stages {
    /// Of a switch whose outputs take frames at these rates and have so many queues each.
    pub(super) fn new(setup: StagesSetup, outward: &[Clock], queues_each: usize) -> Stages {
        let joined = setup.fabric.peek();
        let rules = joined.rules().cloned().expect("a fabric with stages");
        let (ports, edges) = (outward.len() as u16, joined.edges());
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
        let count = joined.edges() + joined.cores();
        let enters: Vec<Box<[u16]>> = (0..count).map(enters).collect();
        let exits: Vec<Box<[u16]>> = (0..count).map(exits).collect();
        let crosses = |target: u16, stage: u16, clock: Clock| {
            let (enters, exits) = (&enters[usize::from(stage)], &exits[usize::from(stage)]);
            let place = exits.iter().position(|exit| *exit == target).unwrap_or_default() as u16;
            Target { clock, arriving: None, listed: false, last: 0, place, feeds: enters.clone() }
        };
        let fed_by = |feeds: &[u16], clock: Clock| Target {
            clock,
            arriving: None,
            listed: false,
            last: 0,
            place: 0,
            feeds: feeds.into(),
        };
        let outputs = (0..ports).map(|port| crosses(port, stages[usize::from(port)], outward[usize::from(port)]));
        let inward = setup.inward.iter().map(|clock| fed_by(&[], *clock));
        let of_links = links
            .iter()
            .enumerate()
            .flat_map(|(n, link)| [crosses(front(n), link.from, setup.across), fed_by(&[front(n)], setup.link)]);
        let targets = outputs.chain(inward).chain(of_links).collect();
        let buffer =
            |stage: u16, limit: u64, exits: &[u16], fifo: bool| Buffer::new(stage, limit, (exits, queues_each), fifo);
        let fifo = rules.lists == Lists::Fifo;
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
            asking: Vec::new(),
            inside: vec![Amounts::default(); usize::from(ports) * queues_each].into(),
            copies: BTreeMap::new(),
            broken: None,
            acks: VecDeque::new(),
            fabric: setup.fabric,
        }
    }

    /// How many targets there are; the number after the last is that of acknowledgements.
    pub(crate) fn targets(&self) -> u16 {
        self.targets.len() as u16
    }
    /// Whether a target is the buffer of an output.
    pub(crate) fn is_output(&self, target: u16) -> bool {
        target < self.ports
    }
    /// The input whose frames a target takes from its memory.
    pub(super) fn input_of(&self, target: u16) -> Option<PortId> {
        (self.ports..2 * self.ports).contains(&target).then(|| PortId(target - self.ports))
    }
    /// The buffer that a target is. PRECONDITION: it is no output.
    pub(super) fn buffer(&self, target: u16) -> &Buffer {
        &self.buffers[usize::from(target - self.ports)]
    }
    pub(super) fn buffer_mut(&mut self, target: u16) -> &mut Buffer {
        &mut self.buffers[usize::from(target - self.ports)]
    }
    /// What the buffers inside hold, where one on the way from an input to an output would not hold a frame if it were empty. No
    /// internal link is on the way to an output of the same stage.
    pub(crate) fn too_small(&self, (from, to): (PortId, PortId), size: u16) -> Option<TooLarge> {
        let (stage_buffer, link_buffer) = (self.rules.stage_buffer.0, self.rules.link_buffer.0);
        let crosses = self.stages[usize::from(from.0)] != self.stages[usize::from(to.0)];
        let least = if crosses { stage_buffer.min(link_buffer) } else { stage_buffer };
        (u64::from(size) > least).then_some(TooLarge { size, stage_buffer, link_buffer })
    }
    /// Whether inputs keep copies.
    pub(crate) fn keeps_copies(&self) -> bool {
        self.rules.end_to_end
    }
    fn place(&self, of: QueueAt) -> usize {
        usize::from(of.port.0) * self.queues_each + usize::from(of.queue.0)
    }
    /// What is inside for a queue of an output.
    pub(super) fn inside(&self, of: QueueAt) -> Amounts {
        self.inside[self.place(of)]
    }

    /// Puts a target on the list of those whose arbiter is to be asked, unless it is there or busy.
    pub(crate) fn ask(&mut self, target: u16) {
        let own = &mut self.targets[usize::from(target)];
        if !own.listed && own.arriving.is_none() {
            own.listed = true;
            self.asking.push(target);
        }
    }
    /// The same for the first target of what came in by a port.
    pub(crate) fn ask_for_input(&mut self, input: PortId) {
        self.ask(self.ports + input.0);
    }
    /// The next target of that list. Where there is one list in a buffer, what was behind a frame may be for the same target,
    /// which has become busy with that frame.
    pub(crate) fn next_asking(&mut self) -> Option<u16> {
        loop {
            let target = self.asking.pop()?;
            let own = &mut self.targets[usize::from(target)];
            own.listed = false;
            if own.arriving.is_none() {
                return Some(target);
            }
        }
    }

    /// A frame begins to move to a target, where it has room from now on.
    pub(super) fn begin(&mut self, target: u16, go: Move) {
        if go.from == Source::Input {
            let place = self.place(go.item.to);
            self.inside[place].add(go.item.size);
        }
        if !self.is_output(target) {
            self.buffer_mut(target).used[usize::from(go.item.to.queue.0)] += u64::from(go.item.size);
        }
        let own = &mut self.targets[usize::from(target)];
        (own.arriving, own.last) = (Some(go), go.item.to.queue.0);
    }

    /// The queue that the frame is for which moves to a target.
    pub(crate) fn goal(&self, target: u16) -> Option<QueueAt> {
        self.targets[usize::from(target)].arriving.as_ref().map(|go| go.item.to)
    }
    /// Bytes that are taken in the buffer that a target is, messages about congestion not counted. PRECONDITION: it is no output.
    pub(crate) fn occupied(&self, target: u16) -> u64 {
        self.buffer(target).counted()
    }

    /// The frame that moved to a target has got there; whoever waits for the room that it leaves is asked.
    pub(crate) fn arrived(&mut self, target: u16) -> Option<Move> {
        let done = self.targets[usize::from(target)].arriving.take()?;
        if let Source::Buffer(from) = done.from {
            self.buffer_mut(from).used[usize::from(done.item.to.queue.0)] -= u64::from(done.item.size);
            self.ask(from);
        }
        self.ask(target);
        if self.is_output(target) {
            let place = self.place(done.item.to);
            self.inside[place].take(done.item.size);
        }
        Some(done)
    }

    /// It lies in that buffer now, until it goes on.
    pub(crate) fn put(&mut self, target: u16, item: Item) {
        let next = self.next(target, item.to.port, item.hash).unwrap_or_else(|link| {
            // Any other way on keeps the frame until the run ends.
            self.broken = Some(Rule::NoStageLink(link));
            self.buffer(target).exits[0]
        });
        let exit = if self.buffer(target).exits.len() == 1 { 0 } else { self.targets[usize::from(next)].place };
        self.buffer_mut(target).put(exit, item);
        self.ask(next);
    }

    /// The target to which a frame goes on from a buffer.
    ///
    /// # Errors
    /// The link that the fabric chose, if it does not leave the stage of the buffer.
    pub(super) fn next(&self, target: u16, to: PortId, hash: u32) -> Result<u16, usize> {
        let own = self.buffer(target);
        if let [only] = *own.exits {
            return Ok(only);
        }
        let goal = self.stages[usize::from(to.0)];
        if own.stage == goal {
            return Ok(to.0);
        }
        let link = self.fabric.peek().toward(own.stage, goal, hash);
        self.front(own.stage, link).ok_or(link)
    }

    /// The target in front of an internal link, if the link leaves this stage.
    fn front(&self, stage: u16, link: usize) -> Option<u16> {
        let place = usize::from(self.ports).checked_add(link.checked_mul(2)?)?;
        let leaves = self.buffers.get(place).is_some_and(|front| front.stage == stage);
        leaves.then(|| place as u16 + self.ports)
    }

    /// The buffers in front of internal links on the way from an input to an output: bytes that are taken of a queue, and of
    /// how many.
    pub(crate) fn links_on_way(&self, way: (PortId, PortId, u32), queue: QueueId, each: &mut dyn FnMut(u64, u64)) {
        let (from, to, hash) = way;
        let (mut at, goal) = (self.stages[usize::from(from.0)], self.stages[usize::from(to.0)]);
        let links = self.fabric.peek();
        // A way crosses no stage twice.
        for _ in 0..self.buffers.len() {
            if at == goal {
                return;
            }
            let Some(front) = self.front(at, links.toward(at, goal, hash)) else { return };
            let own = self.buffer(front);
            each(own.used(queue), own.limit());
            // Behind it is the input buffer of the stage that it leads to.
            at = self.buffer(front + 1).stage;
        }
    }

    /// An input keeps a copy of a frame.
    pub(crate) fn keep(&mut self, copy: u32, of: QueueAt) {
        self.copies.insert(copy, of);
    }
    /// A frame with a copy is in the buffer of its output; when its acknowledgements are to be looked at, where that is not
    /// known yet.
    pub(crate) fn acknowledge(&mut self, item: &Item, now: Time) -> Option<Time> {
        if item.copy == NIL {
            return None;
        }
        let at = now + self.rules.ack_delay;
        self.acks.push_back((at, item.copy));
        (self.acks.len() == 1).then_some(at)
    }
    /// The next copy whose acknowledgement has come, and the queue that its frame was for.
    pub(crate) fn next_acknowledged(&mut self, now: Time) -> Option<(u32, QueueAt)> {
        let (at, copy) = *self.acks.front()?;
        if at > now {
            return None;
        }
        self.acks.pop_front();
        self.copies.remove(&copy).map(|to| (copy, to))
    }
    /// When the next acknowledgement comes.
    pub(crate) fn next_ack(&self) -> Option<Time> {
        self.acks.front().map(|(at, _)| *at)
    }
    /// Where copies lie, and the queue that the frame of each was for.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (QueueAt, u32)> + '_ {
        self.copies.iter().map(|(slot, to)| (*to, *slot))
    }

    /// The frame that moves to a target.
    pub(super) fn coming(&self, target: u16) -> Option<&Item> {
        self.targets[usize::from(target)].arriving.as_ref().map(|go| &go.item)
    }

    /// Frames that move out of the memory of their inputs.
    pub(super) fn leaving(&self) -> impl Iterator<Item = &Item> {
        let moves = self.targets.iter().filter_map(|target| target.arriving.as_ref());
        moves.filter(|go| go.from == Source::Input).map(|go| &go.item)
    }

    /// Checks that every buffer has room taken for what lies in it, comes to it and leaves it, and no more, and that what is
    /// inside is what lies and moves there.
    pub(super) fn balanced(&self) -> bool {
        let mut inside = vec![Amounts::default(); self.inside.len()];
        let mut used = vec![vec![0; self.queues_each]; self.buffers.len()];
        let lying = self.buffers.iter().flat_map(|buffer| buffer.lists.iter().flatten());
        let moving = self.targets.iter().filter_map(|target| target.arriving.as_ref()).map(|go| &go.item);
        lying.chain(moving).for_each(|item| inside[self.place(item.to)].add(item.size));
        let mut take = |at: usize, item: &Item| used[at][usize::from(item.to.queue.0)] += u64::from(item.size);
        for (n, buffer) in self.buffers.iter().enumerate() {
            buffer.lists.iter().flatten().for_each(|item| take(n, item));
        }
        for (target, own) in self.targets.iter().enumerate() {
            let Some(go) = &own.arriving else { continue };
            target.checked_sub(usize::from(self.ports)).into_iter().for_each(|at| take(at, &go.item));
            if let Source::Buffer(from) = go.from {
                take(usize::from(from - self.ports), &go.item);
            }
        }
        let of_buffers = self.buffers.iter().zip(&used).all(|(own, used)| *own.used == **used);
        *inside == *self.inside && of_buffers && self.buffers.iter().all(|own| own.used.iter().all(|b| *b <= own.limit))
    }
}
