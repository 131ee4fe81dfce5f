//! Construction of a node's output side from its slots, and the decision whether its departures may be computed.
//!
//! A departure is computed at arrival only if nothing later can change its order or its time. Results are bit-identical
//! with and without; a computed departure saves its event and the calls of the slots.

use super::agents::{Agents, followed_accounts};
use super::marking::QueueMarking;
use super::pausing::NodePauseState;
use super::{Core, PauseSetup};
use crate::Framing;
use crate::accounts::Accounts;
use crate::cut_stage::CutStage;
use crate::end_table::PacketTally;
use crate::inputs::{InputSetup, Inputs};
use crate::packet_store::{PacketStore, SharedPool, queue_mapping};
use crate::pool_accounts::PoolAccounts;
use crate::port::{Limits, Port, PortShape};
use crate::rank_index::RankIndices;
use crate::sampled_memories::SampledMemories;
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::scheduler::SchedulerSlot;
use mech::{
    Account, Acts, AdmitCalls, Agent, AgentSlot, Lane, Lanes, PortId, PortThresholds, QueueId, Stream, StreamPurpose,
};
use std::collections::VecDeque;
use units::{Amount, ByteClock, Dur};

/// Parameters and mechanisms of one output port.
pub struct PortSetup {
    /// Rate of the port's link.
    pub clock: ByteClock,
    /// True if the far end of the port is a switch.
    pub is_switch: bool,
    /// Mechanism in the `marking` slot of the port.
    pub marking: MarkingSlot,
    /// Mechanism in the `scheduler` slot of the port.
    pub scheduler: SchedulerSlot,
    /// Pause parameters of the port; `None` if no port of the network is ever paused.
    pub pause: Option<PauseSetup>,
    /// Agents of the port in the slots `ack_hold`, `notify` and `pause`, in this order.
    pub agents: Vec<AgentSlot>,
    /// True if the rate of the port may change or its link may go down, so that departures cannot be known ahead.
    pub changes: bool,
}

/// Parameters, mechanisms and ports of a node's output side.
pub struct CoreSetup {
    /// Number of the node.
    pub node: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Sizes of headers, frames and gaps.
    pub framing: Framing,
    /// Mechanism in the `buffer` slot, which limits the memory of ports.
    pub buffer: BufferSlot,
    /// Mechanism in the `overflow` slot.
    pub overflow: OverflowSlot,
    /// Lanes (queues within a class) that every port has beside the normal one.
    pub lanes: Lanes,
    /// Lowest traffic class in use.
    pub lowest_class: u8,
    /// Highest traffic class in use.
    pub top_class: u8,
    /// True if departures may be computed at arrival.
    pub may_compute: bool,
    /// Ports, in the order of their numbers.
    pub ports: Vec<PortSetup>,
    /// Parameters of the input side, if arrivals first wait in the memory of their input.
    pub inputs: Option<InputSetup>,
}

impl Core {
    /// Creates the output side of a node from its parameters and mechanisms.
    pub fn new(setup: CoreSetup) -> Core {
        let memory = Core::independent_port_memory(&setup);
        let layout = setup.buffer.peek().layout();
        let class_queues = layout.as_ref().map_or([0, 1, 2, 3, 4, 5, 6, 7], |layout| layout.class_to_queue);
        let of_classes = class_queues[..=usize::from(setup.top_class.min(7))].iter().copied();
        let top_queue = of_classes.clone().fold(setup.top_class, u8::max);
        let lowest_queue = of_classes.skip(setup.lowest_class.into()).min().unwrap_or(0);
        let admit_calls = setup.overflow.peek().admit_calls();
        let (node, seed, cut) = (setup.node, setup.seed, setup.overflow.peek().cut_effect());
        let needs = setup.overflow.peek().needs();
        let pool = SharedPool::new(&setup.buffer);
        let mut core = Core {
            store: PacketStore {
                arena: Default::default(),
                ports: Vec::new(),
                buffer: setup.buffer,
                lanes: setup.lanes,
                waits_in: queue_mapping(&setup.lanes, top_queue, &class_queues),
                pool,
                pools: None,
                accounts: Accounts::default(),
                sampled: None,
                ranked: None,
                inputs: None,
                cutting: CutStage::new(cut.delay),
            },
            overflow: setup.overflow,
            needs,
            overflow_rng: Stream::new(seed, node, StreamPurpose::Overflow),
            marking: QueueMarking::new(lowest_queue, top_queue),
            schedulers: Vec::new(),
            shapers: Vec::new(),
            framing: setup.framing,
            skips_overflow_slot: false,
            admit_calls,
            acts: Acts::default(),
            ready: Vec::new(),
            node,
            pausing: None,
            agents: None,
            watchdogs: None,
            drops_arrivals: false,
            intercepts: false,
            work: VecDeque::new(),
            before: None,
            timer_base: 0,
            broken: None,
            flood_copies_discarded: PacketTally::default(),
        };
        let (mut pausing, mut agents) = (Vec::new(), Vec::new());
        for (i, p) in setup.ports.into_iter().enumerate() {
            let computed = memory.and_then(|memory| Core::computed_limits(memory, PortId(i as u16), &p));
            // A mechanism that is called for every arrival may divert a frame that fits, so it must not be bypassed.
            core.skips_overflow_slot |= computed.is_some() && admit_calls != AdmitCalls::Always;
            pausing.extend(p.pause);
            agents.push(p.agents);
            let (clock, is_switch, gap) = (p.clock, p.is_switch, setup.framing.gap);
            let (top_class, last_lane) = (top_queue, setup.lanes.last());
            let shape = PortShape { clock, gap, is_switch, top_class, last_lane, computed };
            core.store.ports.push(Port::new(shape));
            core.marking.add_port(p.marking, |class| Stream::new(seed, node, StreamPurpose::Marking(i as u16, class)));
            core.add_scheduler(p.scheduler);
        }
        let queues_each = core.store.ports.first().map_or(0, |port| port.rest.queues.len());
        let needs = core.schedulers.iter().map(|scheduler| scheduler.peek().needs());
        let needs = needs.chain([core.overflow.peek().needs()]);
        core.store.ranked = RankIndices::new(needs, core.store.ports.len(), queues_each);
        core.store.inputs = setup.inputs.map(|inputs| Box::new(Inputs::new(inputs, queues_each, seed, node)));
        core.pausing = (!pausing.is_empty()).then(|| Box::new(NodePauseState::new(pausing)));
        core.agents = Agents::new(agents, seed, node);
        let signalled = core.agents.is_some();
        core.store.pools = layout.map(|layout| Box::new(PoolAccounts::new(layout, signalled)));
        core.add_watchdogs();
        if let Some(agents) = &core.agents {
            core.store.accounts = Accounts::new(core.store.ports.len(), &agents.all_followed_accounts());
            core.store.sampled = SampledMemories::new(agents.samples_by_port());
            core.intercepts = agents.has_arrival_agents();
            core.update_all_levels();
        }
        core
    }

    /// Returns the memory limits of each port; `None` if something shared by ports prevents computed departures.
    fn independent_port_memory(setup: &CoreSetup) -> Option<PortThresholds> {
        let needs = setup.overflow.peek().needs();
        // An agent that follows the frames of an input, or samples, depends on the departures of all ports. Frames that
        // came in by a port may wait at any other, and an agent that samples may read the fill of any port.
        let follows_input = |(port, agent): (u16, &dyn Agent)| {
            let of_input = |of| matches!(of, Account::Entered(..) | Account::Input(..) | Account::AllInput(_));
            agent.needs().samples.is_some() || followed_accounts(agent, PortId(port)).any(of_input)
        };
        let slots = setup.ports.iter().zip(0..).flat_map(|(p, port)| p.agents.iter().map(move |slot| (port, slot)));
        let by_input = slots.filter_map(|(port, slot)| Some((port, slot.peek()?))).any(follows_input);
        let visits = setup.ports.iter().any(Core::reads_single_packets);
        // Inputs, several classes or lanes change which frame leaves next. A mechanism that removes or visits packets
        // needs them in the arena, where frames with computed departures never are. A header that is being cut joins
        // its queue late. Shared memory (`fixed_thresholds()` is `None`) makes one port's decisions depend on the
        // departures of others.
        let plain = !by_input
            && setup.may_compute
            && setup.inputs.is_none()
            && setup.top_class == 0
            && setup.lanes.last() == Lane::Normal
            && !needs.removes_packets
            && !needs.reads_packets
            && !visits
            && setup.overflow.peek().cut_effect().delay == Dur::ZERO;
        setup.buffer.peek().fixed_thresholds().filter(|_| plain)
    }

    /// Returns true if a mechanism of a port reads single queued packets, also those of other ports.
    fn reads_single_packets(port: &PortSetup) -> bool {
        let agents = || port.agents.iter().filter_map(AgentSlot::peek).any(|agent| agent.needs().reads_packets);
        port.marking.peek().needs().reads_packets || port.scheduler.peek().needs().reads_packets || agents()
    }

    /// Returns the limits for arrivals at a port with computed departures; `None` if the port itself prevents these.
    fn computed_limits(memory: PortThresholds, id: PortId, port: &PortSetup) -> Option<Limits> {
        let mark = port.marking.peek().fixed_thresholds()?;
        // A followed account must change at the instant of each departure. Pauses, rate changes and maximum rates of
        // classes delay departures that are known already.
        let followed =
            port.agents.iter().filter_map(AgentSlot::peek).any(|agent| followed_accounts(agent, id).next().is_some());
        let shaped = port.scheduler.peek().rate_limits().is_some();
        let stepped = followed || shaped || port.changes || port.scheduler.reorders() || port.pause.is_some();
        (!stepped).then_some(Limits {
            packets: memory.packets,
            bytes: memory.bytes,
            mark_packets: mark.packets,
            mark_bytes: mark.bytes,
        })
    }

    /// Returns the queues of every port and the limit of each; the limit is `None` if it is not fixed.
    /// All normal queues of a port share one limit.
    pub fn queue_limits(&self) -> impl Iterator<Item = (QueueId, Option<Amount>)> {
        let normal = self.store.buffer.peek().fixed_thresholds().and_then(PortThresholds::amount);
        let lanes = self.store.lanes;
        let count = self.store.ports.first().map_or(0, |port| port.rest.queues.len());
        let queues = (0..count as u8).map(QueueId);
        let built = queues.filter(move |queue| self.store.resolve_queue(*queue) == *queue);
        let limit = move |queue: QueueId| match queue.lane() {
            Lane::Normal => normal,
            lane => lanes.limit(lane).amount(),
        };
        built.map(move |queue| (queue, limit(queue)))
    }
}
