//! From a scenario to a world at time zero.

use crate::changes::Changes;
use crate::divided::Divided;
use crate::driver::RunState;
use crate::grid::Grid;
use crate::link::{Course, Scatter, Wires};
use crate::progress::FlowRecord;
use crate::queries::Queries;
use crate::queue::EventQueue;
use crate::tap::Tap;
use crate::world::closed_loop::ClosedLoop;
use crate::world::{Net, Part, Partitions, Predicted, Schedule, World};
use dataplane::{FlowTable, NewFlow, Observer, RawSetup, SwitchSetup};
use mech::routing::{FlowHash, Paths};
use mech::{Purpose, Stream};
use scenario::Scenario;
use scenario::events::{History, Sender, histories};
use scenario::routes::Routes;
use scenario::traffic::{FlowSpec, Flows, OWN, Role};
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

mod nodes;

use nodes::Site;

/// A name in a validated scenario that the core does not know: a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(pub String);

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is validated but not built", self.0)
    }
}
impl std::error::Error for BuildError {}

/// How to run, as opposed to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Largest number of events. The run ends after the instant at which it is reached, if anything is left to be done.
    pub max_events: Option<u64>,
    /// Order events by a plain heap instead of the wheel: slower, the same bits.
    pub heap: bool,
    /// Never compute departures ahead: slower, the same bits.
    pub step_departures: bool,
    /// Into how many partitions [`run_divided`] divides the run; one for 0.
    pub partitions: u32,
}

/// The world of a scenario at time zero.
///
/// # Errors
/// [`BuildError`] where the scenario names something that the core does not have; a scenario that
/// was loaded and validated never does.
pub fn build<O: Observer>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
) -> Result<World<O>, BuildError> {
    build_tapped(scenario, seed, options, observer, ())
}

/// The same with a tap on its links.
///
/// # Errors
/// As [`build`].
pub fn build_tapped<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
    tap: T,
) -> Result<World<O, T>, BuildError> {
    build_fitted(scenario, seed, options, Fittings { observer, tap, switch: &|_, _| {} })
}

/// What a run has beside its scenario.
pub struct Fittings<'a, O: Observer, T: Tap> {
    /// Who is told what happens.
    pub observer: O,
    /// Who sees what crosses links.
    pub tap: T,
    /// Changes each switch, by its node's number, before it is built: answers that no scenario can name.
    pub switch: &'a dyn Fn(u32, &mut SwitchSetup),
}

/// The same with switches that are changed before they are built.
///
/// # Errors
/// As [`build`].
pub fn build_fitted<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    fittings: Fittings<O, T>,
) -> Result<World<O, T>, BuildError> {
    let mut world = build_empty(scenario, seed, options, fittings)?;
    add_raw_sources(scenario, seed, &mut world);
    world.plan_next_flow();
    Ok(world)
}

/// Runs a scenario to its end, divided into [`Options::partitions`], which go on in turn; what it leaves has the
/// same bits as that of one.
///
/// # Errors
/// As [`build`].
pub fn run_divided<O: Divided>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
) -> Result<World<O>, BuildError> {
    let partitions = options.partitions.max(1);
    let whole = build_empty(scenario, seed, options, Fittings { observer, tap: (), switch: &|_, _| {} })?;
    let owner: Arc<[u32]> = owners(scenario, partitions).into();
    let part = |index| {
        let mut world = whole.clone();
        world.state.observer.divide();
        world.part = Some(Part { index, of: partitions, owner: owner.clone() });
        add_raw_sources(scenario, seed, &mut world);
        world.share_numbers();
        world.plan_next_flow();
        world
    };
    Ok(Partitions::new((0..partitions).map(part).collect()).run())
}

/// By node, its partition: hosts and switches each in blocks.
fn owners(scenario: &Scenario, partitions: u32) -> Vec<u32> {
    let (hosts, switches) = (scenario.topology.hosts, scenario.switches.len() as u32);
    let block = |count: u32| (0..count).map(move |i| (u64::from(i) * u64::from(partitions) / u64::from(count)) as u32);
    block(hosts).chain(block(switches)).collect()
}

fn schedule(scenario: &Scenario, max_events: Option<u64>) -> Schedule {
    Schedule {
        from: scenario.measure.from,
        to: scenario.measure.to,
        duration: Time(scenario.duration.0),
        drain: scenario.measure.drain,
        max_events,
        grid: Grid::for_run(scenario.duration),
    }
}

/// A world without traffic.
fn build_empty<O: Observer, T: Tap>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    fittings: Fittings<O, T>,
) -> Result<World<O, T>, BuildError> {
    let Fittings { observer, tap, switch: refit } = fittings;
    let topology = &scenario.topology;
    let histories = histories(&scenario.events);
    let site = Site {
        refit,
        scenario,
        histories: &histories,
        seed,
        top_class: scenario.top_class(),
        any_bounce: scenario.switches.iter().any(|s| s.overflow.slot.peek().needs().back.is_some()),
        pauses: scenario.pauses(),
        notifies: scenario.notifies(),
        may_compute: !options.step_departures && !O::WANTS.departures,
        paths: paths(scenario, seed).map(Arc::new),
        first_of_tiers: topology.first_of_tiers(),
    };
    let hosts = (0..topology.hosts).map(|id| site.host(id)).collect();
    let switches = scenario.switches.iter().enumerate().map(|(i, config)| site.switch(i, config));
    let switches = switches.collect();
    let tcp = scenario.stacks();
    let (mut wires, base) = wire(scenario, &histories, seed);
    let clock = |host| site.rate(host, 0).clock();
    Scatter::from_scenario(scenario, seed, clock).into_iter().for_each(|scatter| wires.scatter(scatter));
    let horizon = Time(scenario.duration.0).saturating_add(scenario.measure.drain);
    let mut pending = Flows::new(&scenario.traffic, topology, seed, horizon);
    let next = pending.next();
    let closed_loop = ClosedLoop::new(&scenario.traffic, seed);
    let routes = Arc::new(if site.paths.is_some() { Routes::asking(topology) } else { Routes::compute(topology) });
    let state = RunState {
        queue: if options.heap { EventQueue::heap() } else { EventQueue::wheel() },
        wires,
        base,
        records: Vec::new(),
        observer,
        open: 0,
        completed: 0,
        pending: 0,
        queries: Queries::new(&scenario.traffic, (scenario.measure.from, scenario.measure.to)),
        reacts: closed_loop.reacts(),
        delivered: Vec::new(),
        fct_end: scenario.measure.fct_end,
        lost: None,
        broken: None,
    };
    let mut world = World {
        state,
        hosts,
        switches,
        changes: Changes::new(scenario, seed, &routes).map(Box::new),
        net: Net(routes),
        flows: FlowTable::new(scenario.switches.iter().any(|s| s.routing.slot.peek().is_symmetric())),
        exts: dataplane::Exts::default(),
        tcp: Arc::new(tcp.ok_or_else(|| BuildError(format!("`{}`", scenario.transport.kind)))?.with_seed(seed)),
        seed,
        pending,
        next,
        listed: 0,
        closed_loop,
        schedule: schedule(scenario, options.max_events),
        now: Time::ZERO,
        events: 0,
        hops: 0,
        check_at: 0,
        guard_at: 1,
        stop: None,
        is_before: false,
        pauses: site.pauses,
        deadlock: None,
        milestone: Time::ZERO,
        baseline: None,
        baseline_end: None,
        released: dataplane::transport::Released::default(),
        arrivals: Vec::new(),
        timers: Vec::new(),
        predicts_routes: scenario.switches.iter().all(|s| s.fib.slot.peek().is_none()),
        predicted: Predicted::nothing(),
        tap,
        part: None,
    };
    world.plan_changes();
    Ok(world)
}

/// The paths by which switches route, all of them or none; no node has the last number, so
/// that it seeds what they have in common.
fn paths(scenario: &Scenario, seed: u64) -> Option<Paths> {
    let (_, k) = scenario.switches.first()?.routing.slot.peek().needs_paths()?;
    let pick = FlowHash::new(Stream::new(seed, u32::MAX, Purpose::Hash).u64());
    Some(scenario::paths::paths(&scenario.topology, k as usize, pick))
}

/// Links in the numbering of ports over the whole network, and the first port of each node.
fn wire(scenario: &Scenario, histories: &BTreeMap<Sender, History>, seed: u64) -> (Wires, Vec<u32>) {
    let nodes = &scenario.topology.nodes;
    let mut base = Vec::with_capacity(nodes.len());
    let mut wires = Wires::default();
    for (n, node) in (0..).zip(nodes) {
        base.push(wires.len() as u32);
        for (p, port) in (0..).zip(&node.ports) {
            wires.add(port.peer, port.peer_port, port.delay);
            if let Some(history) = histories.get(&(n, p)) {
                wires.changes(Course::new(history.clone(), Stream::new(seed, n, Purpose::Link(p))));
            }
        }
    }
    (wires, base)
}

fn add_raw_sources<O: Observer, T: Tap>(scenario: &Scenario, seed: u64, world: &mut World<O, T>) {
    for raw in scenario.traffic.iter().enumerate().flat_map(|(i, t)| t.raw(i as u16, seed)) {
        let ports = world.listed;
        world.listed += 1;
        let new = NewFlow { src: raw.src, dst: raw.dst, ports, bytes: 0, class: raw.class, row: 0, raw: true };
        let flow = world.flows.add(new);
        let spec = FlowSpec {
            start: raw.start,
            src: raw.src,
            dst: raw.dst,
            bytes: 0,
            traffic: raw.traffic,
            query: u32::MAX,
            class: raw.class,
            role: Role::Data,
            tag: 0,
            connection: OWN,
        };
        world.state.enter(flow, FlowRecord::new(&spec, flow, false));
        let setup = RawSetup {
            payload: raw.payload,
            packets_per_burst: raw.packets_per_burst,
            interval: raw.interval,
            gaps: raw.exponential.then(|| Stream::new(seed, raw.place, Purpose::Gaps(raw.traffic))),
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
