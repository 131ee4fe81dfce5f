//! Construction of the hosts and switches of a run.

use crate::clocks::actual_port_rate;
use dataplane::{
    CoreSetup, Host, HostPauses, HostSetup, InputSetup, PauseSetup, PortSetup, StagesSetup, Switch, SwitchSetup,
};
use mech::arbiter::ArbiterSlot;
use mech::buffer::BufferSlot;
use mech::fabric::FabricSlot;
use mech::fib::FibSlot;
use mech::host::ReactionHost;
use mech::overflow::OverflowSlot;
use mech::routing::{Paths, RoutingSlot};
use mech::{AgentSlot, HostId, Lane, LaneLimit, Lanes, PortId, PortThresholds, Stream, StreamPurpose, SwitchContext};
use scenario::events::{Event, LinkHistory, SendingPort};
use scenario::group_memory::lossless_classes;
use scenario::topology::Port;
use scenario::{Cioq, PortConfig, Scenario, SimultaneousArrivals, SwitchConfig, TieOrder};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::{ByteClock, Rate};

/// Settings that are needed to build any node of a run.
pub(super) struct NodeSettings<'a> {
    /// Function that may change the setup of a switch, given its node number, before the switch is built.
    pub(super) change_switch: &'a dyn Fn(u32, &mut SwitchSetup),
    pub(super) scenario: &'a Scenario,
    /// History of each link direction that changes: outages, rates, delays and random losses over time, by the port
    /// that sends.
    pub(super) histories: &'a BTreeMap<SendingPort, LinkHistory>,
    pub(super) seed: u64,
    pub(super) lowest_class: u8,
    pub(super) top_class: u8,
    pub(super) any_bounce: bool,
    pub(super) pauses: bool,
    pub(super) sends_notices: bool,
    pub(super) may_compute_departures: bool,
    /// Paths by which switches route; `None` if they use next-hop tables.
    pub(super) paths: Option<Arc<Paths>>,
    /// Node number of the first switch in the same tier, for each switch.
    pub(super) first_switch_of_tiers: Vec<u32>,
}

impl NodeSettings<'_> {
    pub(super) fn build_host(&self, id: u32) -> Host {
        let s = self.scenario;
        let port = &s.topology.nodes[id as usize].ports[0];
        let nic = PortSetup {
            clock: self.port_rate(id, 0).clock(),
            is_switch: port.peer >= s.topology.hosts,
            marking: (*s.host.marking.slot).clone(),
            scheduler: (*s.host.scheduler.slot).clone(),
            pause: self.pause_setup(id, 0),
            agents: Vec::new(),
            changes: self.is_stepped(id, 0),
        };
        let order = *s.host.nic.slot;
        let (own, limit) = (self.port_rate(id, 0), order.flow_queues().and_then(|order| order.flow_rate));
        let line = limit.map_or(own, |limit| limit.min(own));
        Host::new(HostSetup {
            core: CoreSetup {
                node: id,
                seed: self.seed,
                framing: s.framing,
                buffer: BufferSlot::per_port(s.host.nic_queue),
                overflow: (*s.host.overflow.slot).clone(),
                lanes: self.host_lanes(),
                lowest_class: self.lowest_class,
                top_class: self.top_class,
                may_compute: self.may_compute_departures && !self.any_bounce && order.flow_queues().is_none(),
                ports: vec![nic],
                inputs: None,
            },
            id: HostId(id),
            stack_delay: s.host.stack_delay,
            stack_jitter: s.host.stack_jitter,
            order,
            reaction: (*s.host.reaction.slot).clone().for_host(ReactionHost::new(line, self.seed, id)),
            pauses: self.host_pauses(id),
        })
    }

    /// Returns the periods in which a host pauses its switch; `None` if it never does.
    fn host_pauses(&self, id: u32) -> Option<HostPauses> {
        let pauses = || self.scenario.events.iter().filter_map(Event::host_pause).filter(|pause| pause.host == id);
        let whole = pauses().next()?.whole;
        let periods = pauses().map(|pause| pause.period).collect();
        Some(HostPauses { periods, refresh: self.scenario.host_pause_refresh(id), whole })
    }

    /// Returns the rate of a port by its own clock.
    pub(super) fn port_rate(&self, node: u32, port: u16) -> Rate {
        let link = &self.scenario.topology.nodes[node as usize].ports[usize::from(port)];
        actual_port_rate(self.scenario, self.seed, (node, port), link.rate)
    }

    /// Returns the lanes of a switch: one for packets that it bounces itself, and one for congestion messages of any
    /// switch.
    fn switch_lanes(&self, overflow: &OverflowSlot) -> Lanes {
        let back = overflow.peek().needs().bounce_lane.map_or(LaneLimit::Absent, LaneLimit::Limited);
        let notices = if self.sends_notices { LaneLimit::Unlimited } else { LaneLimit::Absent };
        Lanes::default().with(Lane::Bounce, back).with(Lane::Notice, notices)
    }

    /// Returns the lanes of a host's NIC: one for bounced packets, as long as the NIC's queue, and one for congestion
    /// messages that hosts make.
    fn host_lanes(&self) -> Lanes {
        let limit = self.scenario.host.nic_queue.map_or(LaneLimit::Unlimited, LaneLimit::Limited);
        let bounced = if self.any_bounce { limit } else { LaneLimit::Absent };
        let tells = self.scenario.host.reaction.slot.sends_notices();
        let notices = if tells { LaneLimit::Unlimited } else { LaneLimit::Absent };
        Lanes::default().with(Lane::Bounce, bounced).with(Lane::Notice, notices)
    }

    /// Returns true if departures of a port cannot be computed at arrival: its link fails or changes rate or delay,
    /// in either direction.
    fn is_stepped(&self, node: u32, port: u16) -> bool {
        let ends = [(node, port), self.scenario.topology.far_end((node, port))];
        ends.iter().filter_map(|end| self.histories.get(end)).any(LinkHistory::needs_stepping)
    }

    /// Returns the times and the headroom that a port needs for pausing; `None` if no port of the network is ever
    /// paused.
    fn pause_setup(&self, node: u32, port: u16) -> Option<PauseSetup> {
        let setup = || {
            let span = self.scenario.worst_case_link(node, port);
            PauseSetup {
                response: self.scenario.pause_response_time(node, port),
                headroom: span.headroom_bytes(),
                max_frame_wait: span.max_wait(),
                last_arrival_delay: span.reaction_time(),
            }
        };
        self.pauses.then(setup)
    }

    fn hash_seed(&self, node: u32) -> u64 {
        Stream::new(self.seed, node, StreamPurpose::Hash).u64()
    }

    pub(super) fn build_switch(&self, index: usize, config: &SwitchConfig) -> Switch {
        let mut setup = self.switch_setup(index, config);
        (self.change_switch)(self.scenario.topology.hosts + index as u32, &mut setup);
        Switch::new(setup)
    }

    /// Returns the parameters and mechanisms of a switch as the scenario describes it.
    pub(super) fn switch_setup(&self, index: usize, config: &SwitchConfig) -> SwitchSetup {
        let (s, node) = (self.scenario, self.scenario.topology.hosts + index as u32);
        let links = &s.topology.nodes[node as usize].ports;
        let host = |name: &str| s.topology.find_host(name);
        let own = SwitchContext {
            hash_seed: self.hash_seed(node),
            tier_seed: self.hash_seed(self.first_switch_of_tiers[index]),
            ports: links.len() as u16,
            host: &host,
            position: s.topology.plan.map(|plan| (plan, plan.switch_position(index as u32))),
            paths: self.paths.as_ref().map(|paths| (paths, index as u32)),
        };
        let overflow = OverflowSlot::clone(&config.overflow.slot).for_switch(&own);
        let buffer = BufferSlot::clone(&config.buffer.slot).for_ports(links.len() as u16);
        let buffer = if buffer.peek().has_accounts() { buffer.for_links(&s.buffer_ports(index)) } else { buffer };
        let layout = buffer.peek().layout();
        let groups = layout.as_ref().filter(|layout| layout.has_groups());
        let lossless = |port: u16| groups.map(|layout| lossless_classes(layout, PortId(port)));
        let ports = links.iter().zip(&config.ports).zip(0..).map(|((link, port), p)| PortSetup {
            clock: self.port_rate(node, p).clock(),
            is_switch: link.peer >= s.topology.hosts,
            marking: (*port.marking.slot).clone(),
            scheduler: (*port.scheduler.slot).clone(),
            pause: self.pause_setup(node, p),
            agents: build_agents(port, s.max_rate(node, p).clock(), link.peer >= s.topology.hosts)
                .into_iter()
                .map(|slot| lossless(p).map_or(slot.clone(), |classes| slot.for_groups(&classes)))
                .collect(),
            changes: self.is_stepped(node, p),
        });
        SwitchSetup {
            core: CoreSetup {
                node,
                seed: self.seed,
                framing: s.framing,
                buffer,
                lanes: self.switch_lanes(&overflow),
                overflow,
                lowest_class: self.lowest_class,
                top_class: self.top_class,
                may_compute: self.may_compute_departures && !self.any_bounce,
                ports: ports.collect(),
                inputs: config.model.input_side().map(|cioq| build_inputs(cioq, links, &own)),
            },
            fib: FibSlot::clone(&config.fib.slot).for_switch(&own),
            routing: RoutingSlot::clone(&config.routing.slot).for_switch(&own),
            snapshot: config.simultaneous == SimultaneousArrivals::Snapshot,
            shuffle: config.ties == TieOrder::Random,
        }
    }
}

/// Returns the setup of a switch's input side, with the stages between inputs and outputs.
fn build_inputs(cioq: &Cioq, links: &[Port], own: &SwitchContext) -> InputSetup {
    let transfer = |link: &Port| cioq.speedup.rate(link.rate).expect("a multiple that the loader has checked").clock();
    let transfers: Vec<ByteClock> = links.iter().map(transfer).collect();
    let fabric = cioq.fabric.as_ref().map(|fabric| FabricSlot::clone(&fabric.slot));
    // In a switch with stages, the arbiter also chooses the next frame for each buffer inside: one buffer for each port
    // and two for each internal link.
    let inside = fabric.as_ref().map_or(0, |fabric| own.ports + 2 * fabric.peek().links().len() as u16);
    let stages = fabric.map(|fabric| StagesSetup {
        link: fabric.peek().stage_params().expect("a fabric that the loader has checked").link_rate.clock(),
        across: *transfers.iter().min_by_key(|clock| clock.time(1 << 20)).expect("a switch has ports"),
        inward: transfers.clone(),
        fabric,
    });
    let all = SwitchContext { ports: own.ports + inside, ..*own };
    InputSetup {
        arbiter: ArbiterSlot::clone(&cioq.arbiter.slot).for_switch(&all),
        memory: PortThresholds::new(cioq.input_buffer),
        transfers,
        stages,
    }
}

/// Returns the agents of a switch port. A slot is empty if its agent is not meant for a port with this far end.
fn build_agents(port: &PortConfig, clock: ByteClock, to_switch: bool) -> Vec<AgentSlot> {
    let (ack_hold, notify) = (port.ack_hold.slot.for_port(clock), port.notify.slot.for_port(clock));
    let all = vec![ack_hold, notify, port.pause.slot.for_port(clock)];
    all.into_iter().map(|slot| slot.keep_if_for_port(to_switch)).collect()
}
