//! Construction of a world at time zero from a scenario.

use crate::change_schedule::ChangeSchedule;
use crate::divided_observer::DividedObserver;
use crate::driver::RunState;
use crate::instant_grid::InstantGrid;
use crate::link::{ChangingLink, HostLinkJitter, Links};
use crate::progress::FlowRecord;
use crate::queries::Queries;
use crate::queue::EventQueue;
use crate::tap::Tap;
use crate::world::closed_loop::ClosedLoop;
use crate::world::{PartitionId, Partitions, PredictedRoute, RunSchedule, World, WorldRoutes};
use dataplane::{FlowTable, NewFlow, Observer, RawSetup, SwitchSetup};
use mech::routing::{FlowHash, Paths};
use mech::{Stream, StreamPurpose};
use scenario::Scenario;
use scenario::events::{LinkHistory, SendingPort, link_histories};
use scenario::routes::Routes;
use scenario::traffic::{FlowRole, FlowSpec, Flows, OWN_CONNECTION, RawSource};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use units::Time;

mod nodes;

use nodes::NodeSettings;

/// Error for a name in a validated scenario that the core does not implement, which is a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub String);

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is valid, but its simulation is not implemented", self.0)
    }
}
impl std::error::Error for BuildError {}

/// Options of a run that leave its results bit-identical, except for the bound on events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest number of events of a run; `None` for no bound. The run ends after the instant that reaches it, if
    /// anything is left to do.
    pub max_events: Option<u64>,
    /// Orders events by a plain heap instead of the wheel: slower, with bit-identical results.
    pub heap: bool,
    /// Makes an event for the end of each transmission, instead of computing departures: slower, with bit-identical
    /// results.
    pub step_departures: bool,
    /// Number of partitions into which [`run_divided`] divides the run; 0 means one.
    pub partitions: u32,
}

/// Builds the world of a scenario at time zero.
///
/// # Errors
/// Returns [`BuildError`] if the scenario names something that the core does not have. A scenario that was loaded and
/// validated never does.
pub fn build<O: Observer>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
) -> Result<World<O>, BuildError> {
    build_with_tap(scenario, seed, options, observer, ())
}

/// Builds the world of a scenario with a tap on its links.
///
/// # Errors
/// Returns the errors of [`build`].
pub fn build_with_tap<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
    tap: T,
) -> Result<World<O, T>, BuildError> {
    build_with_hooks(scenario, seed, options, RunHooks { observer, tap, change_switch: &|_, _| {} })
}

/// Observer, tap and changes to switches of a run, which no scenario describes.
pub struct RunHooks<'a, O: Observer, T: Tap> {
    /// Observer of all events at nodes.
    pub observer: O,
    /// Tap that sees each frame that crosses a link.
    pub tap: T,
    /// Function that changes the setup of each switch, by its node's number, before the switch is built. It may add
    /// mechanisms that no scenario can name.
    pub change_switch: &'a dyn Fn(u32, &mut SwitchSetup),
}

/// Builds the world of a scenario with a tap, and with switches that are changed before they are built.
///
/// # Errors
/// Returns the errors of [`build`].
pub fn build_with_hooks<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    hooks: RunHooks<O, T>,
) -> Result<World<O, T>, BuildError> {
    let mut world = build_empty(scenario, seed, options, hooks)?;
    add_raw_sources(scenario, seed, &mut world);
    world.plan_next_flow();
    Ok(world)
}

/// Runs a scenario to its end in [`Options::partitions`] partitions, which advance in turn. The resulting world is
/// bit-identical to that of an undivided run.
///
/// # Errors
/// Returns the errors of [`build`].
pub fn run_divided<O: DividedObserver>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
) -> Result<World<O>, BuildError> {
    let partitions = options.partitions.max(1);
    let whole = build_empty(scenario, seed, options, RunHooks { observer, tap: (), change_switch: &|_, _| {} })?;
    let owner: Arc<[u32]> = assign_partitions(scenario, partitions).into();
    let part = |index| {
        let mut world = whole.clone();
        world.state.observer.prepare_partition();
        world.part = Some(PartitionId { index, count: partitions, owner: owner.clone() });
        add_raw_sources(scenario, seed, &mut world);
        world.separate_flow_numbers();
        world.plan_next_flow();
        world
    };
    Ok(Partitions::new((0..partitions).map(part).collect()).run())
}

/// Assigns each node to a partition. Hosts and switches are each divided into blocks of consecutive numbers.
fn assign_partitions(scenario: &Scenario, partitions: u32) -> Vec<u32> {
    let (hosts, switches) = (scenario.topology.hosts, scenario.switches.len() as u32);
    let block = |count: u32| (0..count).map(move |i| (u64::from(i) * u64::from(partitions) / u64::from(count)) as u32);
    block(hosts).chain(block(switches)).collect()
}

fn build_schedule(scenario: &Scenario, max_events: Option<u64>) -> RunSchedule {
    RunSchedule {
        from: scenario.measure.from,
        to: scenario.measure.to,
        duration: Time(scenario.duration.0),
        drain: scenario.measure.drain,
        max_events,
        grid: InstantGrid::for_run(scenario.duration),
    }
}

/// Returns the parameters and mechanisms of one switch of a scenario, as a run has them.
pub(crate) fn switch_setup(scenario: &Scenario, seed: u64, switch: usize) -> SwitchSetup {
    let histories = link_histories(&scenario.events);
    let site = node_settings(scenario, seed, &histories, &|_, _| {});
    site.switch_setup(switch, &scenario.switches[switch])
}

fn node_settings<'a>(
    scenario: &'a Scenario,
    seed: u64,
    histories: &'a BTreeMap<SendingPort, LinkHistory>,
    change_switch: &'a dyn Fn(u32, &mut SwitchSetup),
) -> NodeSettings<'a> {
    NodeSettings {
        change_switch,
        scenario,
        histories,
        seed,
        lowest_class: scenario.classes().lowest().unwrap_or(0),
        top_class: scenario.top_class(),
        any_bounce: scenario.switches.iter().any(|s| s.overflow.slot.peek().needs().bounce_lane.is_some()),
        pauses: scenario.has_pauses(),
        sends_notices: scenario.sends_notices(),
        may_compute_departures: true,
        paths: build_paths(scenario, seed).map(Arc::new),
        first_switch_of_tiers: scenario.topology.first_switch_of_tier(),
    }
}

/// Builds a world without traffic.
fn build_empty<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    hooks: RunHooks<O, T>,
) -> Result<World<O, T>, BuildError> {
    let RunHooks { observer, tap, change_switch: refit } = hooks;
    let topology = &scenario.topology;
    let histories = link_histories(&scenario.events);
    let may_compute_departures = !options.step_departures && !O::OBSERVED.departures;
    let site = NodeSettings { may_compute_departures, ..node_settings(scenario, seed, &histories, refit) };
    let hosts = (0..topology.hosts).map(|id| site.build_host(id)).collect();
    let switches = scenario.switches.iter().enumerate().map(|(i, config)| site.build_switch(i, config));
    let switches = switches.collect();
    let tcp = scenario.transport_table();
    let (mut wires, base) = build_links(scenario, &histories, seed);
    let clock = |host| site.port_rate(host, 0).clock();
    HostLinkJitter::from_scenario(scenario, seed, clock).into_iter().for_each(|scatter| wires.set_jitter(scatter));
    let horizon = Time(scenario.duration.0).saturating_add(scenario.measure.drain);
    let mut pending = Flows::new(&scenario.traffic, topology, seed, horizon);
    let next = pending.next();
    let closed_loop = ClosedLoop::new(&scenario.traffic, seed);
    let routes =
        Arc::new(if site.paths.is_some() { Routes::with_routing_slot(topology) } else { Routes::compute(topology) });
    let state = RunState {
        queue: if options.heap { EventQueue::heap() } else { EventQueue::wheel() },
        wires,
        base,
        records: Vec::new(),
        observer,
        unfinished_flows: 0,
        completed: 0,
        pending: 0,
        queries: Queries::new(&scenario.traffic, (scenario.measure.from, scenario.measure.to)),
        workloads_with_followers: closed_loop.workloads_with_followers(),
        delivered: Vec::new(),
        fct_end: scenario.measure.fct_end,
        lost: None,
        nodes_with_ignored_pauses: BTreeSet::new(),
        broken: None,
    };
    let mut world = World {
        state,
        hosts,
        switches,
        changes: ChangeSchedule::new(scenario, seed, &routes).map(Box::new),
        routes: WorldRoutes(routes),
        flows: FlowTable::new(scenario.switches.iter().any(|s| s.routing.slot.peek().is_symmetric())),
        packet_extensions: dataplane::ExtensionSlab::default(),
        dscps: Arc::new(scenario.dscps.clone()),
        tcp: Arc::new(tcp.ok_or_else(|| BuildError(format!("`{}`", scenario.transport.kind)))?.with_seed(seed)),
        seed,
        pending,
        next,
        planned_flows: 0,
        closed_loop,
        schedule: build_schedule(scenario, options.max_events),
        now: Time::ZERO,
        events: 0,
        hops: 0,
        check_at: 0,
        guard_at: 1,
        stop: None,
        ended_before_now: false,
        pauses: site.pauses,
        latest_end: Time(scenario.latest_end().0),
        deadlock: None,
        milestone: Time::ZERO,
        baseline: None,
        baseline_end: None,
        released: dataplane::transport::ReleasedPackets::default(),
        arrivals: Vec::new(),
        timers: Vec::new(),
        predicts_routes: scenario.switches.iter().all(|s| s.fib.slot.peek().is_none()),
        predicted: PredictedRoute::none(),
        tap,
        part: None,
    };
    world.plan_changes();
    world.plan_host_pauses();
    Ok(world)
}

/// Returns the `k` shortest paths by which switches route; either all switches use them or none does. The hash that
/// chooses a path takes its seed from a number that no node has, since all switches must choose the same path.
fn build_paths(scenario: &Scenario, seed: u64) -> Option<Paths> {
    let (_, k) = scenario.switches.first()?.routing.slot.peek().needs_paths()?;
    let pick = FlowHash::new(Stream::new(seed, u32::MAX, StreamPurpose::Hash).u64());
    Some(scenario::paths::find_paths(&scenario.topology, k as usize, pick))
}

/// Builds the links, numbered like the ports that send on them over the whole network. Also returns the number of each
/// node's first port.
fn build_links(scenario: &Scenario, histories: &BTreeMap<SendingPort, LinkHistory>, seed: u64) -> (Links, Vec<u32>) {
    let nodes = &scenario.topology.nodes;
    let mut base = Vec::with_capacity(nodes.len());
    let mut wires = Links::default();
    for (n, node) in (0..).zip(nodes) {
        base.push(wires.len() as u32);
        for (p, port) in (0..).zip(&node.ports) {
            wires.add_link(port.peer, port.peer_port, port.delay);
            if let Some(history) = histories.get(&(n, p)) {
                wires.set_last_link_changes(ChangingLink::new(
                    history.clone(),
                    Stream::new(seed, n, StreamPurpose::Link(p)),
                ));
            }
        }
    }
    (wires, base)
}

fn add_raw_sources<O: Observer, T: Tap>(scenario: &Scenario, seed: u64, world: &mut World<O, T>) {
    for raw in scenario.traffic.iter().enumerate().flat_map(|(i, t)| t.raw_sources(i as u16, seed)) {
        let ports = world.planned_flows;
        world.planned_flows += 1;
        let RawSource { src, dst, class, traffic, .. } = raw;
        let code_point = world.dscps.code_point(traffic, class);
        let new = NewFlow { src, dst, ports, bytes: 0, class, code_point, row: 0, raw: true };
        let flow = world.flows.add(new);
        let spec = FlowSpec {
            start: raw.start,
            src: raw.src,
            dst: raw.dst,
            bytes: 0,
            traffic: raw.traffic,
            query: u32::MAX,
            class: raw.class,
            role: FlowRole::Data,
            tag: 0,
            connection: OWN_CONNECTION,
        };
        world.state.add_flow_record(flow, FlowRecord::new(&spec, flow, false));
        let setup = RawSetup {
            payload: raw.payload,
            packets_per_burst: raw.packets_per_burst,
            interval: raw.interval,
            gaps: raw.exponential.then(|| Stream::new(seed, raw.index, StreamPurpose::Gaps(raw.traffic))),
            pause: raw.pause,
            start: raw.start,
            stop: raw.stop,
            backlog: raw.backlog,
            ecn: raw.ecn,
        };
        if world.part.as_ref().is_none_or(|part| part.owns(raw.src.0)) {
            world.add_raw(raw.src, setup, flow);
        }
    }
}
