//! Data model of a validated scenario.

use crate::choices::{FctEnd, Goodput, NicJitter, SimultaneousArrivals, TieOrder};
use crate::dscps::TrafficDscps;
use crate::events::Event;
use crate::topology::Topology;
use crate::traffic::Traffic;
use dataplane::transport::{TcpConfig, TransportRow, TransportTable};
use dataplane::{DeadPortPolicy, Framing};
use mech::ack_hold::AckHoldSlot;
use mech::arbiter::ArbiterSlot;
use mech::buffer::BufferSlot;
use mech::fabric::FabricSlot;
use mech::fib::{FibSlot, KnownAddresses};
use mech::host::{BounceSignal, NicOrder, ReactionSlot};
use mech::marking::MarkingSlot;
use mech::notify::NotifySlot;
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::pause::PauseSlot;
use mech::routing::{AddressPlan, RoutingSlot};
use mech::scheduler::SchedulerSlot;
use mech::{Agent, ClassSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use units::{Amount, Dur, Rate, Time};

/// Variant of a scenario with all defaults filled in.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Name of the variant; `default` if the file has no variants.
    pub variant: String,
    /// Length of the run in which flows start; `measure.drain` may extend the run beyond it.
    pub duration: Dur,
    /// Nodes and links.
    pub topology: Topology,
    /// Headers, minimum frame and gap around each payload.
    pub framing: Framing,
    /// Settings of all hosts.
    pub host: HostConfig,
    /// Settings of each switch, in the order of the topology's switches.
    pub switches: Vec<SwitchConfig>,
    /// Transport of hosts and workloads that have none of their own.
    pub transport: Choice,
    /// Transports of hosts and workloads that have their own.
    pub own_transports: OwnTransports,
    /// Workloads, in the order of the file.
    pub traffic: Vec<Traffic>,
    /// DSCPs of the packets.
    pub dscps: TrafficDscps,
    /// Measurement window, and choice of the recorded data.
    pub measure: MeasureSettings,
    /// Changes of the network, in order of time.
    pub events: Vec<Event>,
    /// Time from a change of a link's state until its ends and all routes take account of it.
    pub reroute_delay: Dur,
    /// Treatment of frames that are queued at a port whose link is dead.
    pub dead_port: DeadPortPolicy,
}

/// Transports of hosts and workloads that have their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnTransports {
    /// Distinct transports, those of hosts first.
    pub kinds: Vec<Choice>,
    /// Transport of each host: index in `kinds` from 1, or 0 for `[transport]`. Empty if all hosts have `[transport]`.
    pub host_numbers: Vec<u8>,
    /// Distinct assignments of transports to hosts, for workloads that have a transport of their own.
    pub rows: Vec<TransportRow>,
    /// Transports of each workload: index in `rows` from 1, or 0 if it uses `host_numbers`.
    /// Empty if all use `host_numbers`.
    pub of_traffic: Vec<u8>,
}

impl OwnTransports {
    /// Returns the transports of hosts for flows of a workload; `None` if the workload has none of its own.
    pub fn host_transports(&self, traffic: usize) -> Option<&TransportRow> {
        let row = self.of_traffic.get(traffic)?.checked_sub(1)?;
        self.rows.get(usize::from(row))
    }
}

impl Scenario {
    /// Returns the bound of the clock error of a node's ports, in parts per billion.
    pub fn clock_ppb(&self, node: u32) -> u32 {
        match node.checked_sub(self.topology.hosts) {
            None => self.host.clock_ppb,
            Some(switch) => self.switches[switch as usize].clock_ppb,
        }
    }
    /// Returns the transports of all hosts and workloads, `[transport]` first.
    fn all_transports(&self) -> impl Iterator<Item = &Choice> {
        std::iter::once(&self.transport).chain(&self.own_transports.kinds)
    }
    /// Returns the transports of the scenario's flows, each once; all transports if there are no flows.
    pub fn transports_in_use(&self) -> Vec<&Choice> {
        let own = &self.own_transports;
        let flows = self.traffic.iter().enumerate().filter(|(_, traffic)| traffic.raw_payload().is_none());
        let of_hosts = TransportRow { default_number: 0, host_numbers: own.host_numbers.clone() };
        let rows: Vec<&TransportRow> = flows.map(|(i, _)| own.host_transports(i).unwrap_or(&of_hosts)).collect();
        let is_used = |number: u8| rows.is_empty() || rows.iter().any(|row| row.uses_transport(number));
        (0..).zip(self.all_transports()).filter(|(number, _)| is_used(*number)).map(|(_, one)| one).collect()
    }
    /// Formats the kinds of [`Scenario::transports_in_use`] for messages.
    pub fn kinds_in_use(&self) -> String {
        let kinds: BTreeSet<String> = self.transports_in_use().iter().map(|one| format!("`{}`", one.kind)).collect();
        kinds.into_iter().collect::<Vec<_>>().join(", ")
    }
    /// Returns the configurations of senders and receivers; `None` if a transport of this name does not exist.
    pub fn transport_table(&self) -> Option<TransportTable> {
        let all = self.all_transports().map(|one| TcpConfig::new(&one.kind, &one.values, self.framing));
        let all: Option<Vec<TcpConfig>> = all.collect();
        let signal = *self.host.bounce_signal.slot;
        let all: Vec<_> = all?.into_iter().map(|tcp| tcp.with_bounce_signal(signal)).collect();
        let own = &self.own_transports;
        if own.kinds.is_empty() {
            return all.into_iter().next().map(TransportTable::uniform);
        }
        let of_hosts = TransportRow { default_number: 0, host_numbers: own.host_numbers.clone() };
        let rows = std::iter::once(of_hosts).chain(own.rows.iter().cloned());
        let row = |i: usize| own.of_traffic.get(i).copied().unwrap_or(0);
        let flows = self.traffic.iter().enumerate().map(|(i, traffic)| (row(i), traffic.raw_payload().is_none()));
        Some(TransportTable::from_rows(&all, rows.collect(), flows.collect()))
    }
    /// Returns the address plan if any switch routes by address; otherwise hosts have numbers only.
    pub fn address_plan(&self) -> Option<AddressPlan> {
        let by_address = self.switches.iter().any(|switch| switch.routing.slot.peek().needs_addresses());
        self.topology.plan.filter(|_| by_address)
    }
    /// Returns true if switches may flood frames to unknown destinations. The loader then refuses loops of switches, so
    /// that each pair of hosts has one path.
    pub fn may_flood(&self) -> bool {
        let unknown = |known: KnownAddresses| match known {
            KnownAddresses::None => true,
            KnownAddresses::All => false,
            KnownAddresses::Hosts(_, names) => {
                (names.iter().collect::<BTreeSet<_>>().len() as u64) < u64::from(self.topology.hosts)
            }
        };
        self.switches.iter().filter_map(|switch| switch.fib.slot.peek()).any(|table| unknown(table.known_addresses()))
    }
    /// Returns the highest traffic class in use.
    pub fn top_class(&self) -> u8 {
        let of_cut = self.switches.iter().filter_map(|switch| switch.overflow.slot.peek().needs().cut_class);
        self.traffic.iter().map(|traffic| traffic.class()).chain(of_cut).max().unwrap_or(0)
    }
    /// Returns the traffic classes in use.
    pub fn classes(&self) -> ClassSet {
        let of_cut = self.switches.iter().filter_map(|switch| switch.overflow.slot.peek().needs().cut_class);
        let of_traffic = self.traffic.iter().map(|traffic| traffic.classes());
        of_traffic.chain(of_cut.map(ClassSet::single)).fold(ClassSet::NONE, ClassSet::union)
    }
    /// Returns the latest end of the run. Raw sources have no flows to wait for, so that they need no drain.
    pub fn latest_end(&self) -> Dur {
        let has_flows = self.traffic.iter().any(|traffic| traffic.raw_payload().is_none());
        self.duration.saturating_add(if has_flows { self.measure.drain } else { Dur::ZERO })
    }
    /// Returns the size of the largest data frame in bytes.
    pub fn largest_frame(&self) -> u16 {
        let frame = |tcp: &TcpConfig| self.framing.frame_size(tcp.mss(), tcp.data_option_bytes());
        let segment = self.transport_table().map_or(0, |stacks| stacks.max_of(frame));
        let raw =
            |traffic: &Traffic| traffic.raw_payload().map_or(segment, |payload| self.framing.frame_size(payload, 0));
        self.traffic.iter().map(raw).max().unwrap_or(segment)
    }
    /// Returns the size of the smallest frame in bytes: a raw packet, or an ACK if there are flows.
    pub fn smallest_frame(&self) -> u16 {
        let size = |traffic: &Traffic| self.framing.frame_size(traffic.raw_payload().unwrap_or(0), 0);
        self.traffic.iter().map(size).min().unwrap_or(self.framing.min_frame)
    }
    /// Returns true if any switch sends notices of congestion to sources.
    pub fn switches_notify(&self) -> bool {
        let mut ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.any(|port| port.agents().any(|agent| agent.needs().sends_notices))
    }
    /// Returns true if any switch or host sends notices of congestion to sources.
    pub fn sends_notices(&self) -> bool {
        self.switches_notify() || self.host.reaction.slot.sends_notices()
    }
    /// Returns true if hosts change the rates of flows upon notices of congestion.
    pub fn has_rate_reaction(&self) -> bool {
        self.host.reaction.slot.has_reaction()
    }
    /// Returns true if any switch has memory at its inputs.
    pub fn has_input_memory(&self) -> bool {
        self.switches.iter().any(|switch| switch.model.input_side().is_some())
    }
    /// Returns true if any port holds packets before lookup.
    pub fn has_packet_holds(&self) -> bool {
        let mut ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.any(|port| port.agents().any(|agent| agent.needs().hold_memory.is_some()))
    }
    /// Returns true if any packet may be lost because its TTL is used up.
    pub fn has_ttl(&self) -> bool {
        let raw = self.traffic.iter().any(|traffic| traffic.raw_payload().is_some());
        raw || self.transports_in_use().iter().any(|one| one.values.count_or_off("ttl").is_some())
    }
}

/// Mechanism by its name, with validated parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Name of the mechanism, as in the key `kind`.
    pub kind: String,
    /// Parameters of the mechanism.
    pub values: Values,
}

/// Slot with the mechanism that fills it.
#[derive(Clone, Debug)]
pub struct FilledSlot<S> {
    /// Name of the mechanism, as in the key `kind`.
    pub kind: String,
    /// Parameters of the mechanism, defaults included.
    pub values: Values,
    /// Mechanism as its parameters describe it, before it is copied for a switch or port.
    pub slot: Arc<S>,
}

/// Compares mechanisms of a slot by kind and parameters.
impl<S> PartialEq for FilledSlot<S> {
    fn eq(&self, other: &FilledSlot<S>) -> bool {
        self.kind == other.kind && self.values == other.values
    }
}

/// Settings of all hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostConfig {
    /// Delay of one traversal of the host's network stack, in either direction.
    pub stack_delay: Dur,
    /// Largest random addition to `stack_delay`; uniform from 0.
    pub stack_jitter: Dur,
    /// Mean delay of a frame between the NIC's queue and the link; `None` is a tenth of the transmission time of a full
    /// frame on the host's link.
    pub nic_jitter: Option<Dur>,
    /// Distribution of `nic_jitter`.
    pub nic_jitter_distribution: NicJitter,
    /// Bound of the clock error of the host's port, in parts per billion.
    pub clock_ppb: u32,
    /// Size of the NIC's queue; `None` is unlimited.
    pub nic_queue: Option<Amount>,
    /// Marking mechanism of the NIC's queue.
    pub marking: FilledSlot<MarkingSlot>,
    /// Scheduler of the NIC.
    pub scheduler: FilledSlot<SchedulerSlot>,
    /// Overflow mechanism of the NIC's queue.
    pub overflow: FilledSlot<OverflowSlot>,
    /// Mechanism that signals bounced packets to the source's transport.
    pub bounce_signal: FilledSlot<BounceSignal>,
    /// Order in which the NIC takes frames from transports.
    pub nic: FilledSlot<NicOrder>,
    /// Mechanism that changes flow rates upon congestion notifications.
    pub reaction: FilledSlot<ReactionSlot>,
}

/// Settings of one switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchConfig {
    /// Mechanism of the slot `fib`: the forwarding table.
    pub fib: FilledSlot<FibSlot>,
    /// Mechanism of the slot `routing`, which chooses among next hops.
    pub routing: FilledSlot<RoutingSlot>,
    /// Mechanism of the slot `buffer`, which limits the memory of queues.
    pub buffer: FilledSlot<BufferSlot>,
    /// Mechanism of the slot `overflow`, which decides on arrivals.
    pub overflow: FilledSlot<OverflowSlot>,
    /// Queueing model of the switch.
    pub model: SwitchModel,
    /// Bound of the clock error of the switch's ports, in parts per billion.
    pub clock_ppb: u32,
    /// Visibility of simultaneous arrivals to each other.
    pub simultaneous: SimultaneousArrivals,
    /// Order of simultaneous arrivals.
    pub ties: TieOrder,
    /// Settings of each port.
    pub ports: Vec<PortConfig>,
}

/// Queueing model of a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum SwitchModel {
    /// Frames are queued at their output.
    OutputQueued,
    /// Frames are queued at their input, in the stages of a fabric if there is one, and at their output.
    Cioq(Cioq),
}

impl SwitchModel {
    /// Returns the input side, if the switch has one.
    pub fn input_side(&self) -> Option<&Cioq> {
        match self {
            SwitchModel::OutputQueued => None,
            SwitchModel::Cioq(cioq) => Some(cioq),
        }
    }
}

/// Input side of a switch with combined input and output queueing.
#[derive(Clone, Debug, PartialEq)]
pub struct Cioq {
    /// Memory of each input.
    pub input_buffer: Amount,
    /// Speed at which frames cross to an output, as a multiple of the output link's rate.
    pub speedup: Speedup,
    /// Mechanism of the slot `arbiter`, which chooses the input that feeds an output next.
    pub arbiter: FilledSlot<ArbiterSlot>,
    /// Mechanism of the slot `fabric`, if the switch has stages between inputs and outputs.
    pub fabric: Option<FilledSlot<FabricSlot>>,
}

/// Exact multiple of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedup {
    millionths: u64,
}

impl Speedup {
    const UNITS_PER_ONE: u64 = 1_000_000;

    /// Converts a number with at most six decimals to an exact multiple; returns `None` if it has more.
    pub fn from_number(number: f64) -> Option<Speedup> {
        let millionths = (number * Speedup::UNITS_PER_ONE as f64).round();
        let exact = millionths >= 1.0 && (millionths / Speedup::UNITS_PER_ONE as f64) == number;
        exact.then_some(Speedup { millionths: millionths as u64 })
    }
    /// Returns the rate of a link times this multiple, or `None` if the result does not fit.
    pub fn rate(self, link: Rate) -> Option<Rate> {
        link.divide(Speedup::UNITS_PER_ONE, self.millionths)
    }
    /// Returns the multiple as a floating-point number, for display.
    pub fn number(self) -> f64 {
        self.millionths as f64 / Speedup::UNITS_PER_ONE as f64
    }
}

/// Settings of one port of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Mechanism of the slot `marking`, which sets ECN marks.
    pub marking: FilledSlot<MarkingSlot>,
    /// Mechanism of the slot `scheduler`, which orders the queues of the port.
    pub scheduler: FilledSlot<SchedulerSlot>,
    /// Agent of the slot `ack_hold`, which holds ACKs.
    pub ack_hold: FilledSlot<AckHoldSlot>,
    /// Agent of the slot `notify`, which sends congestion notifications.
    pub notify: FilledSlot<NotifySlot>,
    /// Agent of the slot `pause`, which pauses the far end of the link.
    pub pause: FilledSlot<PauseSlot>,
}

impl PortConfig {
    /// Returns the agents of the slots `ack_hold`, `notify` and `pause`, in this order, before they are made ready for
    /// a port.
    pub fn agents(&self) -> impl Iterator<Item = &dyn Agent> {
        [self.ack_hold.slot.peek(), self.notify.slot.peek(), self.pause.slot.peek()].into_iter().flatten()
    }
}

/// Measurement window, and choice of the recorded data.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureSettings {
    /// Start of the measurement window.
    pub from: Time,
    /// End of the window: flows that start before this instant are measured.
    pub to: Time,
    /// Longest extension of the run beyond `duration` while measured flows are unfinished, or a query whose first
    /// message is measured.
    pub drain: Dur,
    /// Event that ends the completion time of a flow.
    pub fct_end: FctEnd,
    /// True if a run may end with unfinished measured flows.
    pub allow_unfinished: bool,
    /// Time step of the traces.
    pub bin: Dur,
    /// True if queue lengths are recorded exactly: histograms and traces.
    pub queues: bool,
    /// True if the queues of every switch port are also recorded separately.
    pub sub_queues: bool,
    /// True if every delivered or lost packet is recorded.
    pub packets: bool,
    /// Smallest number of detours of a packet for which all its detours are recorded; `None` records none.
    pub detours: Option<u32>,
    /// Level of detail at which goodput is recorded over time.
    pub goodput: Goodput,
    /// True if the bits that every port sends are counted over time.
    pub links: bool,
    /// True if every message of a congestion point is recorded.
    pub notices: bool,
    /// True if every change of a flow's rate limit is recorded.
    pub rate_limits: bool,
    /// True if the memory of inputs is recorded over time.
    pub inputs: bool,
    /// True if the bytes that hosts send are counted over time, by flow.
    pub sent: bool,
    /// True if the order in which data arrive is measured.
    pub reordering: bool,
    /// Displacement, in packets, beyond which a packet counts as lost in measures of order (RFC 5236: DT).
    pub displacement_threshold: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_is_exact_to_six_decimals() {
        let link = Rate::gbps(10);
        let rate = |number: f64| Speedup::from_number(number).and_then(|speedup| speedup.rate(link));
        assert_eq!(rate(2.0), Some(Rate::gbps(20)));
        assert_eq!(rate(1.1), Some(Rate::gbps(11)));
        assert_eq!(rate(1.000_001), Some(Rate::bps(10_000_010_000)));
        assert_eq!((rate(1.000_000_1), rate(0.0)), (None, None));
        assert_eq!(Speedup::from_number(1.25).map(Speedup::number), Some(1.25));
    }
}
