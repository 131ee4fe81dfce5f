//! Estimates of the memory that runs of a scenario need, made before they begin. A scenario that cannot fit is refused.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::format_fault;
use crate::limits::{MAX_FLOWS, MAX_OPEN_FLOWS, MAX_PACKETS, grid_step};
use crate::model::Scenario;
use crate::quantities::{format_rounded_count, format_rounded_time};
use crate::traffic::Traffic;
use dataplane::transport::TcpConfig;
use units::{Amount, Time};

/// Memory of the smallest run in bytes: rows that are not written yet, and tables while metrics are computed.
const BASE_BYTES: u64 = 64 << 20;
/// Memory of a run in bytes for each port: the port's queue, counters and histograms, and its rows of the results.
const PORT_BYTES: f64 = 6000.0;
/// Memory of a run in bytes for each flow: the flow's record, kept to the end, and its rows of the results.
const FLOW_BYTES: f64 = 512.0;
/// Memory of a run in bytes for each packet in flight: the packet, its events, and its record at the sender.
const PACKET_BYTES: f64 = 256.0;

/// Memory that a run needs in bytes, results included: for ports, for flows, and for the first packets of flows. Queues
/// that grow over time may need more.
#[derive(Clone, Copy, Debug)]
pub struct MemoryNeeds {
    /// Memory for ports in bytes; their number follows from `topology`.
    pub ports: u64,
    /// Memory for flows in bytes; their number follows from `traffic`.
    pub flows: u64,
    /// Memory for the first packets of flows in bytes; their number follows from `transport.initial_window`.
    pub packets: u64,
}

impl MemoryNeeds {
    /// Estimates the memory of each run of a scenario.
    pub fn estimate(scenario: &Scenario) -> MemoryNeeds {
        let ports: usize = scenario.topology.nodes.iter().map(|node| node.ports.len()).sum();
        let packets = count_first_packets(scenario).map_or(0.0, |(packets, _)| packets.total);
        MemoryNeeds {
            ports: (PORT_BYTES * ports as f64) as u64,
            flows: (FLOW_BYTES * count_flows(scenario).total) as u64,
            packets: (PACKET_BYTES * packets) as u64,
        }
    }

    /// Returns the total memory of a run in bytes, including that of the smallest run.
    pub fn total_bytes(self) -> u64 {
        BASE_BYTES.saturating_add(self.ports).saturating_add(self.flows).saturating_add(self.packets)
    }
}

/// Refuses a scenario if its flows, which are kept to the end, do not fit into memory. Flows and packets within one
/// step of the grid are bounded as well. The run checks its load only at grid instants, and would exhaust memory in
/// between.
pub(super) fn check_needs(document: &Node, scenario: &Scenario, faults: &mut Faults) -> Option<()> {
    let flows = count_flows(scenario);
    if flows.total > MAX_FLOWS as f64 {
        let found = format!("about {}", flows.describe("flows before the end of the duration"));
        let rule = format!(
            "at most {} flows, which need about 10 GB with their results: \
                     {}",
            format_bound(MAX_FLOWS),
            flows.describe_reduction(MAX_FLOWS)
        );
        faults.add_fault(&document.locate("traffic"), format_fault(found, rule));
        return None;
    }
    let within = grid_step(scenario.duration);
    let step = format_rounded_time(within);
    let open = WorkloadSum::from_workloads(&scenario.traffic, |_, traffic| {
        traffic.simultaneous_flows(&scenario.topology, within).0
    });
    if open.total > MAX_OPEN_FLOWS as f64 {
        let found = format!("about {}", open.describe(&format!("flows within {step}")));
        let rule = format!(
            "at most {} simultaneous flows: {}",
            format_bound(MAX_OPEN_FLOWS),
            open.describe_reduction(MAX_OPEN_FLOWS)
        );
        faults.add_fault(&document.locate(&format!("traffic.{}", open.largest_number)), format_fault(found, rule));
        return None;
    }
    let first_packets = count_first_packets(scenario);
    if let Some((packets, window)) = first_packets.filter(|(packets, _)| packets.total > MAX_PACKETS as f64) {
        let found = format!("an initial window of {window} B, and so {}", packets.describe("simultaneous packets"));
        let rule = format!(
            "at most {} simultaneous packets: {}",
            format_bound(MAX_PACKETS),
            packets.describe_reduction(MAX_PACKETS)
        );
        faults.add_fault(&document.locate("transport.initial_window"), format_fault(found, rule));
        return None;
    }
    let raw = raw_packets_per_grid_step(scenario);
    if raw.total > MAX_PACKETS as f64 {
        let found = raw.describe(&format!("packets without a transport within {step}"));
        let rule = format!(
            "at most {} simultaneous packets: {}",
            format_bound(MAX_PACKETS),
            raw.describe_reduction(MAX_PACKETS)
        );
        faults.add_fault(&document.locate(&format!("traffic.{}", raw.largest_number)), format_fault(found, rule));
        return None;
    }
    Some(())
}

/// Counts the flows of each workload that begin before the end of the duration.
fn count_flows(scenario: &Scenario) -> WorkloadSum<'_> {
    let end = Time(scenario.duration.0);
    WorkloadSum::from_workloads(&scenario.traffic, |_, traffic| traffic.flows_before(end, &scenario.topology))
}

/// Counts the packets in the initial windows of flows that start within one [`grid_step`]. Also returns the initial
/// window in bytes of the workload with the most packets.
///
/// Returns `None` without a transport. The same holds if NICs request one segment at a time from transports, since then
/// the window takes no memory before its data leaves.
fn count_first_packets(scenario: &Scenario) -> Option<(WorkloadSum<'_>, f64)> {
    if scenario.host.nic.slot.flow_queues().is_some() {
        return None;
    }
    let (stacks, within) = (scenario.transport_table()?, grid_step(scenario.duration));
    let window =
        |traffic: u16| stacks.workload_configs(traffic).map(TcpConfig::initial_window_bytes).max().unwrap_or(0) as f64;
    let packets = |traffic: u16, one: &Traffic| {
        let (flows, bytes) = one.simultaneous_flows(&scenario.topology, within);
        let mss = stacks.workload_configs(traffic).map(TcpConfig::mss).max().unwrap_or(1);
        flows * (bytes.min(window(traffic)) / f64::from(mss)).ceil()
    };
    let sum = WorkloadSum::from_workloads(&scenario.traffic, packets);
    let window = window(sum.largest_number);
    Some((sum, window))
}

/// Counts the raw packets (without a transport) that sources make within one [`grid_step`] and that fit into the queue
/// of their NIC.
fn raw_packets_per_grid_step(scenario: &Scenario) -> WorkloadSum<'_> {
    let within = grid_step(scenario.duration);
    WorkloadSum::from_workloads(&scenario.traffic, |_, traffic| {
        let frame = |payload| scenario.framing.wire_size(scenario.framing.frame_size(payload, 0)) as f64;
        let place = |queue: Amount| match queue {
            Amount::Packets(n) => n as f64,
            Amount::Bytes(n) => n as f64 / traffic.raw_payload().map_or(1.0, frame),
        };
        let places = scenario.host.nic_queue.map_or(f64::INFINITY, place) * f64::from(scenario.topology.hosts);
        traffic.raw_packets_within(within).min(places)
    })
}

/// Number of flows or packets in all workloads, and the number in the largest workload with its name.
struct WorkloadSum<'a> {
    total: f64,
    largest: f64,
    largest_name: &'a str,
    largest_number: u16,
}

impl<'a> WorkloadSum<'a> {
    fn from_workloads(traffic: &'a [Traffic], count: impl Fn(u16, &Traffic) -> f64) -> WorkloadSum<'a> {
        let none = WorkloadSum { total: 0.0, largest: -1.0, largest_name: "", largest_number: 0 };
        (0..).zip(traffic).map(|(i, one)| (i, one, count(i, one))).fold(none, |sum, (number, one, count)| {
            let all = sum.total + count;
            if count > sum.largest {
                WorkloadSum { total: all, largest: count, largest_name: &one.name, largest_number: number }
            } else {
                WorkloadSum { total: all, ..sum }
            }
        })
    }

    /// Describes the total number, and the part of the largest workload, in rounded numbers.
    fn describe(&self, counted: &str) -> String {
        let (all, most) = (format_rounded_count(self.total), format_rounded_count(self.largest));
        format!("{all} {counted}, {most} of them from `{}`", self.largest_name)
    }

    /// Describes the factor by which to divide the number of flows or packets, so that at most `most` remain.
    fn describe_reduction(&self, most: u64) -> String {
        format!("divide the number by {} or more", (self.total / most as f64).ceil())
    }
}

/// Formats an upper limit of a count for a message, rounded (`10 million`).
fn format_bound(bound: u64) -> String {
    format_rounded_count(bound as f64)
}
