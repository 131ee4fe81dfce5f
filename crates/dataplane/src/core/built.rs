//! How the output side of a node is made from its slots, and whether its departures may be computed.

use super::pausing::Pausing;
use super::{Core, PauseSetup};
use crate::Framing;
use crate::ends::Tally;
use crate::packet_store::{PacketStore, Pool, waits_in};
use crate::port::{Limits, Port, PortShape};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::scheduler::SchedulerSlot;
use mech::{Acts, Asks, Lane, Lanes, Purpose, QueueId, Room, Stream};
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
    /// Its rate may change or its link go down, so that departures cannot be known ahead.
    pub changes: bool,
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
    /// The lanes of every port beside the normal one.
    pub lanes: Lanes,
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
        let memory = Core::plain_memory(&setup);
        let asks = setup.overflow.peek().asks();
        let (node, seed) = (setup.node, setup.seed);
        let pool = Pool::new(&setup.buffer);
        let mut core = Core {
            store: PacketStore {
                arena: Default::default(),
                ports: Vec::new(),
                buffer: setup.buffer,
                lanes: setup.lanes,
                waits_in: waits_in(&setup.lanes, setup.top_class),
                pool,
                allocated: Vec::new(),
            },
            overflow: setup.overflow,
            overflow_rng: Stream::new(seed, node, Purpose::Overflow),
            marking: Vec::new(),
            marking_rng: Vec::new(),
            schedulers: Vec::new(),
            framing: setup.framing,
            direct: false,
            asks,
            acts: Acts::default(),
            ready_ports: Vec::new(),
            node,
            pausing: None,
            flood_copies_discarded: Tally::default(),
        };
        let mut pausing = Vec::new();
        for (i, p) in setup.ports.into_iter().enumerate() {
            let computed = memory.and_then(|memory| Core::limits(memory, &p));
            core.direct |= computed.is_some() && asks != Asks::Always;
            pausing.extend(p.pause);
            let (clock, is_switch, gap) = (p.clock, p.is_switch, setup.framing.gap);
            let (top_class, last_lane) = (setup.top_class, setup.lanes.last());
            let shape = PortShape { clock, gap, is_switch, top_class, last_lane, computed };
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

    /// The memory of each port, where nothing that the ports have in common can change the order or the
    /// time of a departure once it is known.
    fn plain_memory(setup: &CoreSetup) -> Option<Room> {
        let needs = setup.overflow.peek().needs();
        let plain = setup.may_compute && setup.top_class == 0 && setup.lanes.last() == Lane::Normal && !needs.removes;
        setup.buffer.peek().plain().filter(|_| plain)
    }

    /// What an arrival is compared with at a port that cannot change it either.
    fn limits(memory: Room, port: &PortSetup) -> Option<Limits> {
        let mark = port.marking.peek().plain()?;
        (!port.changes && !port.scheduler.reorders() && port.pause.is_none()).then_some(Limits {
            packets: memory.packets,
            bytes: memory.bytes,
            mark_packets: mark.packets,
            mark_bytes: mark.bytes,
        })
    }

    /// The queues of every port, and how long each may get; `None` where that is not fixed. All normal queues
    /// of a port share theirs.
    pub fn queues(&self) -> impl Iterator<Item = (QueueId, Option<Amount>)> {
        let normal = self.store.buffer.peek().plain().and_then(Room::amount);
        let lanes = self.store.lanes;
        let count = self.store.ports.first().map_or(0, |port| port.rest.queues.len());
        let queues = (0..count as u8).map(QueueId);
        let built = queues.filter(move |queue| self.store.queue(*queue) == *queue);
        let limit = move |queue: QueueId| match queue.lane() {
            Lane::Normal => normal,
            lane => lanes.limit(lane).amount(),
        };
        built.map(move |queue| (queue, limit(queue)))
    }
}
