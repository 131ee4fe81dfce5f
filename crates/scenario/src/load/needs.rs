//! Estimates of the memory that runs of a scenario need, made before they begin. A scenario that cannot fit is refused.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::message;
use crate::limits::{MOST_FLOWS, MOST_OPEN, MOST_PACKETS, grid_step};
use crate::model::Scenario;
use crate::quantities::{rounded_count, rounded_time};
use crate::traffic::Traffic;
use dataplane::transport::TcpConfig;
use units::{Amount, Time};

/// Memory of the smallest run in bytes: rows that are not written yet, and tables while metrics are computed.
const RUN: u64 = 64 << 20;
/// Memory of a run for each port in bytes: its queue, counters and histograms, and its rows of the results.
const PORT: f64 = 6000.0;
/// Memory of a run for each flow in bytes: its record, kept to the end, and its rows of the results.
const FLOW: f64 = 512.0;
/// Memory of a run for each packet in flight in bytes: itself, its events, and its record at the sender.
const PACKET: f64 = 256.0;

/// Memory that a run needs in bytes, results included: for ports, for flows, and for the first packets of flows. Queues
/// that grow over time may need more.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Bytes for ports, which `topology` sets.
    pub ports: u64,
    /// Bytes for flows, which `traffic` sets.
    pub flows: u64,
    /// Bytes for the packets that flows begin with, which `transport.initial_window` sets.
    pub packets: u64,
}

impl Needs {
    /// Estimates the memory of each run of a scenario.
    pub fn of_run(scenario: &Scenario) -> Needs {
        let ports: usize = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
        let packets = packets_at_once(scenario).map_or(0.0, |(packets, _)| packets.all);
        Needs {
            ports: (PORT * ports as f64) as u64,
            flows: (FLOW * flows(scenario).all) as u64,
            packets: (PACKET * packets) as u64,
        }
    }

    /// Returns the sum in bytes, with the memory of the smallest run.
    pub fn all(self) -> u64 {
        RUN.saturating_add(self.ports).saturating_add(self.flows).saturating_add(self.packets)
    }
}

/// Refuses a scenario if its flows, which are kept to the end, do not fit into memory. Flows and packets within one
/// step of the grid are bounded as well. The run checks its load only at grid instants, and would exhaust memory in
/// between.
pub(super) fn check(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let flows = flows(scenario);
    if flows.all > MOST_FLOWS as f64 {
        let found = format!("about {}", flows.describe("flows before the end of the duration"));
        let rule =
            format!("at most {}, about 10 GB with their results: {}", most(MOST_FLOWS), flows.advice(MOST_FLOWS));
        faults.add(&document.find("traffic"), message(found, rule));
        return None;
    }
    let within = grid_step(scenario.duration);
    let step = rounded_time(within);
    let open = Sum::over(&scenario.traffic, |_, traffic| traffic.at_once(&scenario.topology, within).0);
    if open.all > MOST_OPEN as f64 {
        let found = format!("about {}", open.describe(&format!("flows within {step}")));
        let rule = format!("at most {} simultaneously: {}", most(MOST_OPEN), open.advice(MOST_OPEN));
        faults.add(&document.find(&format!("traffic.{}", open.number)), message(found, rule));
        return None;
    }
    if let Some((packets, window)) = packets_at_once(scenario)
        && packets.all > MOST_PACKETS as f64
    {
        let found = format!("an initial window of {window} B: {}", packets.describe("simultaneous packets"));
        let rule = format!("at most {} simultaneous packets: {}", most(MOST_PACKETS), packets.advice(MOST_PACKETS));
        faults.add(&document.find("transport.initial_window"), message(found, rule));
        return None;
    }
    let raw = raw_packets(scenario);
    if raw.all > MOST_PACKETS as f64 {
        let found = raw.describe(&format!("packets without a transport within {step}"));
        let rule = format!("at most {} simultaneous packets: {}", most(MOST_PACKETS), raw.advice(MOST_PACKETS));
        faults.add(&document.find(&format!("traffic.{}", raw.number)), message(found, rule));
        return None;
    }
    Some(())
}

/// Counts the flows of each workload that begin before the end of the duration.
fn flows(scenario: &Scenario) -> Sum<'_> {
    let end = Time(scenario.duration.0);
    Sum::over(&scenario.traffic, |_, traffic| traffic.flows_before(end, &scenario.topology))
}

/// Counts the first packets of flows that start within one step of the grid. Also returns the initial window in bytes
/// of the workload with the most.
///
/// Returns `None` without a transport. The same holds if NICs request one segment at a time from transports, since then
/// the window takes no memory before its data leaves.
fn packets_at_once(scenario: &Scenario) -> Option<(Sum<'_>, f64)> {
    if scenario.host.nic.slot.by_flow().is_some() {
        return None;
    }
    let (stacks, within) = (scenario.stacks()?, grid_step(scenario.duration));
    let window = |traffic: u16| stacks.of_workload(traffic).map(TcpConfig::first_window).max().unwrap_or(0) as f64;
    let packets = |traffic: u16, one: &Traffic| {
        let (flows, bytes) = one.at_once(&scenario.topology, within);
        let mss = stacks.of_workload(traffic).map(TcpConfig::mss).max().unwrap_or(1);
        flows * (bytes.min(window(traffic)) / f64::from(mss)).ceil()
    };
    let sum = Sum::over(&scenario.traffic, packets);
    let window = window(sum.number);
    Some((sum, window))
}

/// Counts the packets without a transport that are made within a step of the grid and fit into the queue of their NIC.
fn raw_packets(scenario: &Scenario) -> Sum<'_> {
    let within = grid_step(scenario.duration);
    Sum::over(&scenario.traffic, |_, traffic| {
        let frame = |payload| scenario.framing.wire(scenario.framing.frame(payload, 0)) as f64;
        let place = |queue: Amount| match queue {
            Amount::Packets(n) => n as f64,
            Amount::Bytes(n) => n as f64 / traffic.raw_payload().map_or(1.0, frame),
        };
        let places = scenario.host.nic_queue.map_or(f64::INFINITY, place) * f64::from(scenario.topology.hosts);
        traffic.raw_packets_within(within).min(places)
    })
}

/// Number of flows or packets of all workloads together, and of the workload with the most.
struct Sum<'a> {
    all: f64,
    most: f64,
    of: &'a str,
    number: u16,
}

impl<'a> Sum<'a> {
    fn over(traffic: &'a [Traffic], count: impl Fn(u16, &Traffic) -> f64) -> Sum<'a> {
        let none = Sum { all: 0.0, most: -1.0, of: "", number: 0 };
        (0..).zip(traffic).map(|(i, one)| (i, one, count(i, one))).fold(none, |sum, (number, one, count)| {
            let all = sum.all + count;
            if count > sum.most { Sum { all, most: count, of: &one.name, number } } else { Sum { all, ..sum } }
        })
    }

    /// Describes the number, and the part of the workload with the most, in rounded numbers.
    fn describe(&self, counted: &str) -> String {
        let (all, most) = (rounded_count(self.all), rounded_count(self.most));
        format!("{all} {counted}, {most} of them from `{}`", self.of)
    }

    /// Returns the advice to reduce the number to the part that fits.
    fn advice(&self, most: u64) -> String {
        format!("reduce the number to 1/{} or less", (self.all / most as f64).ceil())
    }
}

/// Formats a bound.
fn most(bound: u64) -> String {
    rounded_count(bound as f64)
}
