//! What the runs of a scenario will need, counted before they begin: what cannot fit is refused.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::message;
use crate::limits::{MOST_FLOWS, MOST_OPEN, MOST_PACKETS, grid_step};
use crate::model::Scenario;
use crate::traffic::Traffic;
use dataplane::transport::TcpConfig;
use units::{Amount, Time};

/// What a run takes however small it is: rows that wait to be written, and tables as metrics are taken of them.
const RUN: u64 = 64 << 20;
/// Bytes that a run takes for a port: its queue, counters and histograms, and its rows of the results.
const PORT: f64 = 6000.0;
/// For a flow: what is kept of it to the end, and its rows of the results.
const FLOW: f64 = 512.0;
/// For a packet under way: itself, its events, and what its sender keeps of it.
const PACKET: f64 = 256.0;

/// Bytes of memory that a run takes, its results included, by what takes them: what it begins with, and its flows.
/// Queues that grow over time may take more.
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
    /// About what the runs of a scenario take.
    pub fn of_run(scenario: &Scenario) -> Needs {
        let ports: usize = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
        let packets = packets_at_once(scenario).map_or(0.0, |(packets, _)| packets.all);
        Needs {
            ports: (PORT * ports as f64) as u64,
            flows: (FLOW * flows(scenario).all) as u64,
            packets: (PACKET * packets) as u64,
        }
    }

    /// All bytes, with those of a run however small it is.
    pub fn all(self) -> u64 {
        RUN.saturating_add(self.ports).saturating_add(self.flows).saturating_add(self.packets)
    }
}

/// What a run must hold: flows, of which something is kept to the end, and flows and packets that begin between two
/// instants at which the run looks at its load.
pub(super) fn check(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let flows = flows(scenario);
    if flows.all > MOST_FLOWS as f64 {
        let found = format!("about {} before the end of the duration", flows.told("flows"));
        let rule = format!("at most {MOST_FLOWS}, about 10 GB with their results: {}", flows.part(MOST_FLOWS));
        faults.add(&document.find("traffic"), message(found, rule));
        return None;
    }
    let within = grid_step(scenario.duration);
    let open = Sum::of(&scenario.traffic, |_, traffic| traffic.at_once(&scenario.topology, within).0);
    if open.all > MOST_OPEN as f64 {
        let found = format!("about {} within {within}", open.told("flows"));
        let rule = format!("at most {MOST_OPEN} at once: {}", open.part(MOST_OPEN));
        faults.add(&document.find(&format!("traffic.{}", open.number)), message(found, rule));
        return None;
    }
    let (packets, window) = packets_at_once(scenario)?;
    if packets.all > MOST_PACKETS as f64 {
        let found = format!("an initial window of {window} B: {} at once", packets.told("packets"));
        let rule = format!("at most {MOST_PACKETS} packets at once: {}", packets.part(MOST_PACKETS));
        faults.add(&document.find("transport.initial_window"), message(found, rule));
        return None;
    }
    let raw = raw_packets(scenario);
    if raw.all > MOST_PACKETS as f64 {
        let found = format!("{} within {within}", raw.told("packets without a transport"));
        let rule = format!("at most {MOST_PACKETS} packets at once: {}", raw.part(MOST_PACKETS));
        faults.add(&document.find(&format!("traffic.{}", raw.number)), message(found, rule));
        return None;
    }
    Some(())
}

/// The flows of each workload that begin before the end of the duration.
fn flows(scenario: &Scenario) -> Sum<'_> {
    let end = Time(scenario.duration.0);
    Sum::of(&scenario.traffic, |_, traffic| traffic.flows_before(end, &scenario.topology))
}

/// The packets that flows of one step of the grid begin with, and the initial window of those that have the most, in
/// bytes.
fn packets_at_once(scenario: &Scenario) -> Option<(Sum<'_>, f64)> {
    let (stacks, within) = (scenario.stacks()?, grid_step(scenario.duration));
    let window = |traffic: u16| stacks.of_workload(traffic).map(TcpConfig::first_window).max().unwrap_or(0) as f64;
    let packets = |traffic: u16, one: &Traffic| {
        let (flows, bytes) = one.at_once(&scenario.topology, within);
        let mss = stacks.of_workload(traffic).map(TcpConfig::mss).max().unwrap_or(1);
        flows * (bytes.min(window(traffic)) / f64::from(mss)).ceil()
    };
    let sum = Sum::of(&scenario.traffic, packets);
    let window = window(sum.number);
    Some((sum, window))
}

/// The packets without a transport that are made within a step of the grid and find a place at their NIC.
fn raw_packets(scenario: &Scenario) -> Sum<'_> {
    let within = grid_step(scenario.duration);
    Sum::of(&scenario.traffic, |_, traffic| {
        let frame = |payload| scenario.framing.wire(scenario.framing.frame(payload, 0)) as f64;
        let place = |queue: Amount| match queue {
            Amount::Packets(n) => n as f64,
            Amount::Bytes(n) => n as f64 / traffic.raw_payload().map_or(1.0, frame),
        };
        let places = scenario.host.nic_queue.map_or(f64::INFINITY, place) * f64::from(scenario.topology.hosts);
        traffic.raw_packets_within(within).min(places)
    })
}

/// Of all workloads together, and of the one with the most.
struct Sum<'a> {
    all: f64,
    most: f64,
    of: &'a str,
    number: u16,
}

impl<'a> Sum<'a> {
    fn of(traffic: &'a [Traffic], count: impl Fn(u16, &Traffic) -> f64) -> Sum<'a> {
        let none = Sum { all: 0.0, most: -1.0, of: "", number: 0 };
        (0..).zip(traffic).map(|(i, one)| (i, one, count(i, one))).fold(none, |sum, (number, one, count)| {
            let all = sum.all + count;
            if count > sum.most { Sum { all, most: count, of: &one.name, number } } else { Sum { all, ..sum } }
        })
    }

    fn told(&self, what: &str) -> String {
        format!("{:.3e} {what}, {:.3e} of them of `{}`", self.all, self.most, self.of)
    }

    /// What would fit.
    fn part(&self, most: u64) -> String {
        format!("1/{} of that would fit", (self.all / most as f64).ceil())
    }
}
