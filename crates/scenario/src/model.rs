//! What a scenario means, once it is validated.

use crate::choices::{FctEnd, Goodput, NicJitter, Simultaneous, Ties};
use crate::events::Event;
use crate::topology::Topology;
use crate::traffic::Traffic;
use dataplane::transport::{Row, Stacks, TcpConfig};
use dataplane::{DeadPort, Framing};
use mech::ack_hold::AckHoldSlot;
use mech::arbiter::ArbiterSlot;
use mech::buffer::BufferSlot;
use mech::fabric::FabricSlot;
use mech::fib::{FibSlot, Known};
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

/// One variant of a scenario, every default filled in.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The scenario's name.
    pub name: String,
    /// The variant's name; `default` where the file has none.
    pub variant: String,
    /// Flows start before this instant; with `measure.drain` it bounds the run.
    pub duration: Dur,
    /// Nodes and links.
    pub topology: Topology,
    /// What a frame costs beside its payload.
    pub framing: Framing,
    /// All hosts.
    pub host: HostConfig,
    /// Each switch, in the order of the topology's switches.
    pub switches: Vec<SwitchConfig>,
    /// The transport of hosts, its kind and parameters: of all that have none of their own, for workloads that have none.
    pub transport: Choice,
    /// Those that some hosts and some workloads have in its place.
    pub own_transports: OwnTransports,
    /// Who sends what to whom, in the order of the file.
    pub traffic: Vec<Traffic>,
    /// What counts.
    pub measure: Measure,
    /// What changes in the network, in the order of time.
    pub events: Vec<Event>,
    /// From a link's going down or coming back until its ends and all routes take account of it.
    pub reroute_delay: Dur,
    /// What becomes then of the frames that wait for a dead port.
    pub dead_port: DeadPort,
}

/// Transports of some hosts and some workloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnTransports {
    /// Each once, those of hosts first.
    pub kinds: Vec<Choice>,
    /// By host, its place in `kinds` counted from 1; 0 where it has that of all. Empty where all have.
    pub of_host: Vec<u8>,
    /// The same for flows of workloads that have a transport of their own, each once.
    pub rows: Vec<Row>,
    /// By workload, its place in `rows` counted from 1; 0 where hosts go by `of_host`. Empty where all do.
    pub of_traffic: Vec<u8>,
}

impl OwnTransports {
    /// The transports for flows of a workload, numbered as in `of_host`; `None` where it has none of its own.
    pub fn row(&self, traffic: usize) -> Option<&Row> {
        let row = self.of_traffic.get(traffic)?.checked_sub(1)?;
        self.rows.get(usize::from(row))
    }
}

impl Scenario {
    /// By how many thousand-millionths the clocks of a node's ports may be off.
    pub fn clock_ppb(&self, node: u32) -> u32 {
        match node.checked_sub(self.topology.hosts) {
            None => self.host.clock_ppb,
            Some(switch) => self.switches[switch as usize].clock_ppb,
        }
    }
    /// The transports of all hosts and workloads, `[transport]` first.
    fn transports(&self) -> impl Iterator<Item = &Choice> {
        std::iter::once(&self.transport).chain(&self.own_transports.kinds)
    }
    /// Those by which flows go, each once; all where there are no flows.
    pub fn transports_in_use(&self) -> Vec<&Choice> {
        let own = &self.own_transports;
        let flows = self.traffic.iter().enumerate().filter(|(_, traffic)| traffic.raw_payload().is_none());
        let of_hosts = Row { of_all: 0, of_host: own.of_host.clone() };
        let rows: Vec<&Row> = flows.map(|(i, _)| own.row(i).unwrap_or(&of_hosts)).collect();
        let is_used = |number: u8| rows.is_empty() || rows.iter().any(|row| row.has(number));
        (0..).zip(self.transports()).filter(|(number, _)| is_used(*number)).map(|(_, one)| one).collect()
    }
    /// The kinds of these, as messages name them.
    pub fn kinds_in_use(&self) -> String {
        let kinds: BTreeSet<String> = self.transports_in_use().iter().map(|one| format!("`{}`", one.kind)).collect();
        kinds.into_iter().collect::<Vec<_>>().join(", ")
    }
    /// The same as senders and receivers know them; nothing where there is none of a name.
    pub fn stacks(&self) -> Option<Stacks> {
        let all = self.transports().map(|one| TcpConfig::new(&one.kind, &one.values, self.framing));
        let all: Option<Vec<TcpConfig>> = all.collect();
        let signal = *self.host.bounce_signal.slot;
        let all: Vec<_> = all?.into_iter().map(|tcp| tcp.with_bounce_signal(signal)).collect();
        let own = &self.own_transports;
        if own.kinds.is_empty() {
            return all.into_iter().next().map(Stacks::of_all);
        }
        let of_hosts = Row { of_all: 0, of_host: own.of_host.clone() };
        let rows = std::iter::once(of_hosts).chain(own.rows.iter().cloned());
        let row = |i: usize| own.of_traffic.get(i).copied().unwrap_or(0);
        let flows = self.traffic.iter().enumerate().map(|(i, traffic)| (row(i), traffic.raw_payload().is_none()));
        Some(Stacks::by_row(&all, rows.collect(), flows.collect()))
    }
    /// The addresses of hosts, where switches route by them; else hosts are but numbered.
    pub fn plan(&self) -> Option<AddressPlan> {
        let by_address = self.switches.iter().any(|switch| switch.routing.slot.peek().needs_addresses());
        self.topology.plan.filter(|_| by_address)
    }
    /// Whether switches may flood frames whose destination their tables do not know; no two of their paths differ then.
    pub fn floods(&self) -> bool {
        let unknown = |known: Known| match known {
            Known::None => true,
            Known::All => false,
            Known::Hosts(_, names) => {
                (names.iter().collect::<BTreeSet<_>>().len() as u64) < u64::from(self.topology.hosts)
            }
        };
        self.switches.iter().filter_map(|switch| switch.fib.slot.peek()).any(|table| unknown(table.known()))
    }
    /// The highest traffic class in use.
    pub fn top_class(&self) -> u8 {
        let of_cut = self.switches.iter().filter_map(|switch| switch.overflow.slot.peek().needs().cut_class);
        self.traffic.iter().map(|traffic| traffic.class()).chain(of_cut).max().unwrap_or(0)
    }
    /// The traffic classes in use.
    pub fn classes(&self) -> ClassSet {
        let of_cut = self.switches.iter().filter_map(|switch| switch.overflow.slot.peek().needs().cut_class);
        let of_traffic = self.traffic.iter().map(|traffic| traffic.classes());
        of_traffic.chain(of_cut.map(ClassSet::single)).fold(ClassSet::NONE, ClassSet::union)
    }
    /// Bytes of the largest frame of data.
    pub fn largest_frame(&self) -> u16 {
        let frame = |tcp: &TcpConfig| self.framing.frame(tcp.mss(), tcp.options());
        let segment = self.stacks().map_or(0, |stacks| stacks.most(frame));
        let raw = |traffic: &Traffic| traffic.raw_payload().map_or(segment, |payload| self.framing.frame(payload, 0));
        self.traffic.iter().map(raw).max().unwrap_or(segment)
    }
    /// Bytes of the smallest frame: of raw data, or of an ACK where anything is acknowledged.
    pub fn smallest_frame(&self) -> u16 {
        let size = |traffic: &Traffic| self.framing.frame(traffic.raw_payload().unwrap_or(0), 0);
        self.traffic.iter().map(size).min().unwrap_or(self.framing.min_frame)
    }
    /// Whether any switch tells sources of congestion.
    pub fn switches_notify(&self) -> bool {
        let mut ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.any(|port| port.agents().any(|agent| agent.needs().notices))
    }
    /// Whether any switch or host tells sources of congestion.
    pub fn notifies(&self) -> bool {
        self.switches_notify() || self.host.reaction.slot.sends_notices()
    }
    /// Whether hosts change the rates of flows when they are told of congestion.
    pub fn reacts(&self) -> bool {
        self.host.reaction.slot.reacts()
    }
    /// Whether any switch has inputs with memory of their own.
    pub fn has_inputs(&self) -> bool {
        self.switches.iter().any(|switch| switch.model.cioq().is_some())
    }
    /// Whether any port holds packets before lookup.
    pub fn holds(&self) -> bool {
        let mut ports = self.switches.iter().flat_map(|switch| &switch.ports);
        ports.any(|port| port.agents().any(|agent| agent.needs().held.is_some()))
    }
    /// Whether any packet may be lost because it has entered too many switches.
    pub fn has_ttl(&self) -> bool {
        let raw = self.traffic.iter().any(|traffic| traffic.raw_payload().is_some());
        raw || self.transports_in_use().iter().any(|one| one.values.count_or_off("ttl").is_some())
    }
}

/// A named mechanism with its validated parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value of `kind`.
    pub kind: String,
    /// Its parameters.
    pub values: Values,
}

/// A slot that is filled.
#[derive(Clone, Debug)]
pub struct Filled<S> {
    /// The value of `kind`.
    pub kind: String,
    /// The parameters of the mechanism, as they were given and as they are by default.
    pub values: Values,
    /// The mechanism, for no switch in particular.
    pub slot: Arc<S>,
}

/// Two are the same that say the same.
impl<S> PartialEq for Filled<S> {
    fn eq(&self, other: &Filled<S>) -> bool {
        self.kind == other.kind && self.values == other.values
    }
}

/// Every host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostConfig {
    /// Time of one traversal of the stack, in either direction.
    pub stack_delay: Dur,
    /// Added to it, uniform from 0 to this.
    pub stack_jitter: Dur,
    /// Mean of the time between the NIC's queue and the wire; `None` is a tenth of a full frame's on its link.
    pub nic_jitter: Option<Dur>,
    /// Its distribution.
    pub nic_jitter_distribution: NicJitter,
    /// The clock of its port is off by up to so many thousand-millionths.
    pub clock_ppb: u32,
    /// The NIC's queue; `None` is unlimited.
    pub nic_queue: Option<Amount>,
    /// Marking at the NIC.
    pub marking: Filled<MarkingSlot>,
    /// Who leaves the NIC next.
    pub scheduler: Filled<SchedulerSlot>,
    /// What becomes of a packet that finds the NIC's queue full.
    pub overflow: Filled<OverflowSlot>,
    /// How a source's transport is informed of bounced packets.
    pub bounce_signal: Filled<BounceSignal>,
    /// In which order the NIC takes frames from transports.
    pub nic: Filled<NicOrder>,
    /// How the rates of flows change when the network tells of congestion.
    pub reaction: Filled<ReactionSlot>,
}

/// One switch.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchConfig {
    /// The forwarding table.
    pub fib: Filled<FibSlot>,
    /// The routing slot.
    pub routing: Filled<RoutingSlot>,
    /// The buffer slot.
    pub buffer: Filled<BufferSlot>,
    /// The overflow slot.
    pub overflow: Filled<OverflowSlot>,
    /// Where frames wait.
    pub model: Model,
    /// The clocks of its ports are off by up to so many thousand-millionths.
    pub clock_ppb: u32,
    /// Whether simultaneous arrivals see each other.
    pub simultaneous: Simultaneous,
    /// The order of simultaneous arrivals.
    pub ties: Ties,
    /// Each port.
    pub ports: Vec<PortConfig>,
}

/// Where frames wait in a switch.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// At the output that they leave by.
    OutputQueued,
    /// At the input that they came in by, then at the output; in stages between, where there are some.
    Cioq(Cioq),
}

impl Model {
    /// The input side, where there is one.
    pub fn cioq(&self) -> Option<&Cioq> {
        match self {
            Model::OutputQueued => None,
            Model::Cioq(cioq) => Some(cioq),
        }
    }
}

/// The input side of a switch with combined input and output queueing.
#[derive(Clone, Debug, PartialEq)]
pub struct Cioq {
    /// Memory of each input.
    pub input_buffer: Amount,
    /// How many times as fast as the link of an output frames cross to it.
    pub speedup: Speedup,
    /// The arbiter slot.
    pub arbiter: Filled<ArbiterSlot>,
    /// The fabric slot, of a switch with stages between inputs and outputs.
    pub fabric: Option<Filled<FabricSlot>>,
}

/// An exact multiple of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedup {
    millionths: u64,
}

impl Speedup {
    const ONE: u64 = 1_000_000;

    /// Of a number of at most six decimals; `None` where it has more.
    pub fn from_number(number: f64) -> Option<Speedup> {
        let millionths = (number * Speedup::ONE as f64).round();
        let exact = millionths >= 1.0 && (millionths / Speedup::ONE as f64) == number;
        exact.then_some(Speedup { millionths: millionths as u64 })
    }
    /// This multiple of a link's rate; `None` where it does not fit.
    pub fn rate(self, link: Rate) -> Option<Rate> {
        link.divided_by(Speedup::ONE, self.millionths)
    }
    /// The multiple as a number, to show.
    pub fn number(self) -> f64 {
        self.millionths as f64 / Speedup::ONE as f64
    }
}

/// One port of a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// The marking slot.
    pub marking: Filled<MarkingSlot>,
    /// The scheduler slot.
    pub scheduler: Filled<SchedulerSlot>,
    /// The ack_hold slot.
    pub ack_hold: Filled<AckHoldSlot>,
    /// The notify slot.
    pub notify: Filled<NotifySlot>,
    /// The pause slot.
    pub pause: Filled<PauseSlot>,
}

impl PortConfig {
    /// The agents of the slots `ack_hold`, `notify` and `pause`, in this order, for no port in particular.
    pub fn agents(&self) -> impl Iterator<Item = &dyn Agent> {
        [self.ack_hold.slot.peek(), self.notify.slot.peek(), self.pause.slot.peek()].into_iter().flatten()
    }
}

/// What counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Flows that start from here on count, and so does time.
    pub from: Time,
    /// Flows that start before this instant are measured.
    pub to: Time,
    /// The run goes on for up to so long after the duration while measured flows are unfinished, or a query whose
    /// first message is measured.
    pub drain: Dur,
    /// Where a flow ends.
    pub fct_end: FctEnd,
    /// Whether a run may end with unfinished measured flows.
    pub allow_unfinished: bool,
    /// Width of a step of the traces over time.
    pub bin: Dur,
    /// Whether queue lengths are recorded exactly: histograms and traces.
    pub queues: bool,
    /// Whether the queues of every switch port are followed apart too.
    pub sub_queues: bool,
    /// Whether every delivered or lost packet is recorded.
    pub packets: bool,
    /// Packets that were detoured at least so often have every detour written down; `None` is nobody.
    pub detours: Option<u32>,
    /// Whose goodput is followed over time.
    pub goodput: Goodput,
    /// Whether the bits that begin to leave by every port are counted over time.
    pub links: bool,
    /// Whether every message of a congestion point is recorded.
    pub notices: bool,
    /// Whether every change of a flow's rate limit is recorded.
    pub rate_limits: bool,
    /// Whether the memory of inputs is followed over time.
    pub inputs: bool,
    /// Whether the bytes that begin to leave hosts are counted over time, by flow.
    pub sent: bool,
    /// Whether the order in which data arrive is measured.
    pub reordering: bool,
    /// The displacement, in packets, beyond which a packet then counts as lost (RFC 5236: DT).
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
