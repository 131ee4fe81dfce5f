//! How the output side of a node is made from its slots, and whether its departures may be computed.

use super::agents::{Agents, followed};
use super::pausing::Pausing;
use super::{Core, PauseSetup};
use crate::Framing;
use crate::accounts::Accounts;
use crate::cutting::Cutting;
use crate::ends::Tally;
use crate::inputs::{InputSetup, Inputs};
use crate::packet_store::{PacketStore, Pool, waits_in};
use crate::port::{Limits, Port, PortShape};
use crate::ranked::Ranked;
use crate::sampled::Sampled;
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::scheduler::SchedulerSlot;
use mech::{Account, Acts, Agent, AgentSlot, Asks, Lane, Lanes, PortId, Purpose, QueueId, Room, Stream};
use std::collections::VecDeque;
use units::{Amount, Clock, Dur};

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
    /// Its part in pausing; `None` where no port of the network is ever paused.
    pub pause: Option<PauseSetup>,
    /// Its slots `ack_hold`, `notify` and `pause`.
    pub agents: Vec<AgentSlot>,
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
    /// The input side, where arrivals wait there first.
    pub inputs: Option<InputSetup>,
}

impl Core {
    /// The output side described by `setup`.
    pub fn new(setup: CoreSetup) -> Core {
        let memory = Core::plain_memory(&setup);
        let asks = setup.overflow.peek().asks();
        let (node, seed, cut) = (setup.node, setup.seed, setup.overflow.peek().cut());
        let needs = setup.overflow.peek().needs();
        let pool = Pool::new(&setup.buffer);
        let mut core = Core {
            store: PacketStore {
                arena: Default::default(),
                ports: Vec::new(),
                buffer: setup.buffer,
                lanes: setup.lanes,
                waits_in: waits_in(&setup.lanes, setup.top_class),
                pool,
                accounts: Accounts::default(),
                sampled: None,
                ranked: None,
                inputs: None,
                cutting: Cutting::new(cut.delay),
            },
            overflow: setup.overflow,
            needs,
            overflow_rng: Stream::new(seed, node, Purpose::Overflow),
            marking: Vec::new(),
            marking_rng: Vec::new(),
            schedulers: Vec::new(),
            framing: setup.framing,
            direct: false,
            asks,
            acts: Acts::default(),
            ready: Vec::new(),
            node,
            pausing: None,
            agents: None,
            intercepts: false,
            work: VecDeque::new(),
            before: None,
            timer_base: 0,
            broken: None,
            flood_copies_discarded: Tally::default(),
        };
        let (mut pausing, mut agents) = (Vec::new(), Vec::new());
        for (i, p) in setup.ports.into_iter().enumerate() {
            let computed = memory.and_then(|memory| Core::limits(memory, PortId(i as u16), &p));
            core.direct |= computed.is_some() && asks != Asks::Always;
            pausing.extend(p.pause);
            agents.push(p.agents);
            let (clock, is_switch, gap) = (p.clock, p.is_switch, setup.framing.gap);
            let (top_class, last_lane) = (setup.top_class, setup.lanes.last());
            let shape = PortShape { clock, gap, is_switch, top_class, last_lane, computed };
            core.store.ports.push(Port::new(shape));
            core.marking.push(p.marking);
            core.marking_rng.push(Stream::new(seed, node, Purpose::Marking(i as u16)));
            core.schedulers.push(p.scheduler);
        }
        let queues_each = core.store.ports.first().map_or(0, |port| port.rest.queues.len());
        let needs = core.schedulers.iter().map(|scheduler| scheduler.peek().needs());
        let needs = needs.chain([core.overflow.peek().needs()]);
        core.store.ranked = Ranked::new(needs, core.store.ports.len(), queues_each);
        core.store.inputs = setup.inputs.map(|inputs| Box::new(Inputs::new(inputs, queues_each, seed, node)));
        core.pausing = (!pausing.is_empty()).then(|| Box::new(Pausing::new(pausing)));
        core.agents = Agents::new(agents, seed, node);
        if let Some(agents) = &core.agents {
            core.store.accounts = Accounts::new(core.store.ports.len(), &agents.follows());
            core.store.sampled = Sampled::new(agents.samples());
            core.intercepts = agents.hold();
            core.ask_all_levels();
        }
        core
    }

    /// The memory of each port, where nothing that the ports have in common can change the order or the
    /// time of a departure once it is known.
    fn plain_memory(setup: &CoreSetup) -> Option<Room> {
        let needs = setup.overflow.peek().needs();
        // What came in by a port waits at any; and whoever draws a frame may ask how full its way out is.
        let follows_input = |(port, agent): (u16, &dyn Agent)| {
            let of_input = |of| matches!(of, Account::Entered(..) | Account::Input(..) | Account::AllInput(_));
            agent.needs().samples.is_some() || followed(agent, PortId(port)).any(of_input)
        };
        let slots = setup.ports.iter().zip(0..).flat_map(|(p, port)| p.agents.iter().map(move |slot| (port, slot)));
        let by_input = slots.filter_map(|(port, slot)| Some((port, slot.peek()?))).any(follows_input);
        let visits = setup.ports.iter().any(Core::visits);
        let plain = !by_input
            && setup.may_compute
            && setup.inputs.is_none()
            && setup.top_class == 0
            && setup.lanes.last() == Lane::Normal
            && !needs.removes
            && !needs.visits
            && !visits
            && setup.overflow.peek().cut().delay == Dur::ZERO;
        setup.buffer.peek().plain().filter(|_| plain)
    }

    /// Returns true if a mechanism of a port looks at single packets of other ports.
    fn visits(port: &PortSetup) -> bool {
        let agents = || port.agents.iter().filter_map(AgentSlot::peek).any(|agent| agent.needs().visits);
        port.marking.peek().needs().visits || port.scheduler.peek().needs().visits || agents()
    }

    /// What an arrival is compared with at a port that cannot change it either.
    fn limits(memory: Room, id: PortId, port: &PortSetup) -> Option<Limits> {
        let mark = port.marking.peek().plain()?;
        let followed = port.agents.iter().filter_map(AgentSlot::peek).any(|agent| followed(agent, id).next().is_some());
        (!followed && !port.changes && !port.scheduler.reorders() && port.pause.is_none()).then_some(Limits {
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
