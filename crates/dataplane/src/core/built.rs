//! How the output side of a node is made from its slots, and whether its departures may be computed.

use super::pausing::Pausing;
use super::{Core, PauseSetup};
use crate::Framing;
use crate::ends::Tally;
use crate::packet_store::{BounceQueue, PacketStore, Pool};
use crate::port::{Limits, Port, PortShape};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::scheduler::SchedulerSlot;
use mech::{Acts, Purpose, QueueId, Stream};
use units::{Amount, Clock};

/// One output port as it is to be built.
pub struct PortSetup {
    /// Rate out of it.
    pub clock: Clock,
    /// Whether its far end is a switch.
    pub is_switch: bool,
    /// Its marking slot.
    pub marking: MarkingSlot,
    /// Its scheduler slot.
    pub scheduler: SchedulerSlot,
    /// Its part in stopping others and being stopped; `None` where nobody in the network ever is.
    pub pause: Option<PauseSetup>,
}

/// A node's output side as it is to be built.
pub struct CoreSetup {
    /// The node's number.
    pub node: u32,
    /// The seed of the run.
    pub seed: u64,
    /// What a frame costs on the wire.
    pub framing: Framing,
    /// The buffer slot.
    pub buffer: BufferSlot,
    /// The overflow slot.
    pub overflow: OverflowSlot,
    /// The bounce queue of every port.
    pub bounce: BounceQueue,
    /// The highest traffic class in use.
    pub top_class: u8,
    /// Whether departures may be computed at arrival.
    pub may_compute: bool,
    /// The ports.
    pub ports: Vec<PortSetup>,
}

impl Core {
    /// The output side described by `setup`.
    pub fn new(setup: CoreSetup) -> Core {
        let computes = setup.may_compute && Core::is_plain(&setup);
        let only_when_full = match &setup.overflow {
            OverflowSlot::TailDrop(_) => true,
            OverflowSlot::Detour(detour) => detour.only_when_full(),
            _ => false,
        };
        let memory = Core::memory(&setup.buffer);
        let (node, seed) = (setup.node, setup.seed);
        let pool = Pool::new(&setup.buffer);
        let mut core = Core {
            store: PacketStore {
                arena: Default::default(),
                ports: Vec::new(),
                buffer: setup.buffer,
                bounce: setup.bounce,
                pool,
                allocated: Vec::new(),
            },
            overflow: setup.overflow,
            overflow_rng: Stream::new(seed, node, Purpose::Overflow),
            marking: Vec::new(),
            marking_rng: Vec::new(),
            schedulers: Vec::new(),
            framing: setup.framing,
            direct: computes && only_when_full,
            only_when_full,
            acts: Acts::default(),
            ready_ports: Vec::new(),
            node,
            pausing: None,
            discarded: Tally::default(),
        };
        let mut pausing = Vec::new();
        for (i, p) in setup.ports.into_iter().enumerate() {
            pausing.extend(p.pause);
            let computed = computes.then(|| Core::limits(memory, &p.marking));
            let (clock, is_switch, gap) = (p.clock, p.is_switch, setup.framing.gap);
            let shape = PortShape { clock, gap, is_switch, top_class: setup.top_class, computed };
            core.store.ports.push(Port::new(shape));
            core.marking.push(p.marking);
            core.marking_rng.push(Stream::new(seed, node, Purpose::Marking(i as u16)));
            core.schedulers.push(p.scheduler);
        }
        if !pausing.is_empty() {
            let pausing = Pausing::new(pausing, Stream::new(seed, node, Purpose::Pause));
            core.store.allocated = vec![0; if pausing.follows() { core.store.ports.len() * 8 } else { 0 }];
            core.pausing = Some(Box::new(pausing));
        }
        core
    }

    /// The memory of one port; `None` is endless.
    fn memory(buffer: &BufferSlot) -> Option<Amount> {
        match buffer {
            BufferSlot::PerPort(own) => Some(own.size()),
            _ => None,
        }
    }

    fn limits(memory: Option<Amount>, marking: &MarkingSlot) -> Limits {
        let mut limits = Limits::NONE;
        let frames = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        match memory {
            Some(Amount::Packets(n)) => limits.packets = frames(n),
            Some(Amount::Bytes(n)) => limits.bytes = n,
            None => {}
        }
        if let MarkingSlot::EcnThreshold(step) = marking {
            match step.k() {
                Amount::Packets(n) => limits.mark_packets = frames(n),
                Amount::Bytes(n) => limits.mark_bytes = n,
            }
        }
        limits
    }

    /// Whether nothing here can change the order or the time of a departure once it is known.
    fn is_plain(setup: &CoreSetup) -> bool {
        let overflow = setup.overflow.peek();
        let wants = overflow.interests();
        let buffer = matches!(setup.buffer, BufferSlot::PerPort(_) | BufferSlot::Unlimited(_));
        let port = |p: &PortSetup| {
            let wants = p.scheduler.interests();
            let marking = matches!(p.marking, MarkingSlot::None | MarkingSlot::EcnThreshold(_));
            marking && !wants.reorder && !wants.watch && p.pause.is_none()
        };
        let bounces = overflow.bounce_queue().is_some();
        let overflow = !bounces && !wants.remove && !wants.watch && !wants.reorder;
        setup.top_class == 0 && buffer && overflow && setup.ports.iter().all(port)
    }

    /// The queues of every port, and how long each may get; `None` where that is not fixed. All normal queues
    /// of a port share theirs.
    pub fn queues(&self) -> impl Iterator<Item = (QueueId, Option<Amount>)> {
        let normal = Core::memory(&self.store.buffer);
        let bounce = match self.store.bounce {
            BounceQueue::Of(size) => Some(size),
            BounceQueue::Absent | BounceQueue::Unlimited => None,
        };
        let count = self.store.ports.first().map_or(0, |port| port.rest.queues.len());
        let queues = (0..count as u8).map(QueueId);
        let built = queues.filter(|queue| !queue.is_bounce() || self.store.bounce != BounceQueue::Absent);
        built.map(move |queue| (queue, if queue.is_bounce() { bounce } else { normal }))
    }
}
