//! Digest of a run as text that people can read and programs can compare.

use super::column;
use dataplane::Pkt;
use mech::overflow::DropReason;
use mech::{Flags, FlowId};
use scenario::Scenario;
use sim::{
    DequeuedFrame, DividedObserver, EnqueuedFrame, EventLocation, ObservedEvents, Observer, Options, PartitionOwners,
    Recorder, Results, World, build, run_divided,
};
use std::fmt::Write;

/// Record of all calls to an observer, in the order of time and nodes; with `QUEUES` also every frame stored and freed.
#[derive(Clone)]
pub struct Tape<const QUEUES: bool> {
    /// Number of the workload of every flow.
    traffic: Vec<u16>,
    told: Vec<ObserverCall>,
}

#[derive(Clone)]
struct ObserverCall {
    what: u64,
    at: EventLocation,
    /// Further values of the call; the second one is the flow's number if the call is about a packet.
    more: Vec<u64>,
    packet: bool,
}

impl<const QUEUES: bool> Tape<QUEUES> {
    fn new() -> Self {
        Tape { traffic: Vec::new(), told: Vec::new() }
    }

    fn record(&mut self, what: u64, at: EventLocation, more: &[u64]) {
        self.told.push(ObserverCall { what, at, more: more.to_vec(), packet: false });
    }

    fn packet(&mut self, what: u64, at: EventLocation, pkt: &Pkt) {
        let head = &pkt.head;
        let identity = [head.flow.0, u32::from(head.flags.has(Flags::REVERSE)), pkt.emission].map(u64::from);
        let words = [pkt.seq, pkt.ack, u32::from(pkt.payload), u32::from(head.hops)].map(u64::from);
        let path = [head.size, head.detours.into(), head.bounces.into()].map(u64::from);
        let marked = [head.ecn() as u64];
        self.record(what, at, &[&[pkt.sent.0], &identity[..], &words[..], &path[..], &marked[..]].concat());
        self.told.last_mut().unwrap().packet = true;
    }

    /// Returns the 64-bit FNV-1a hash of the recorded calls.
    fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325;
        for ObserverCall { what, at, more, .. } in &self.told {
            for word in [*what, at.now.0, u64::from(at.node), u64::from(at.port)].iter().chain(more) {
                for byte in word.to_le_bytes() {
                    hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                }
            }
        }
        hash
    }
}

impl<const QUEUES: bool> DividedObserver for Tape<QUEUES> {
    type PacketState = ();
    fn detach_packet_state(&mut self, _pkt: &Pkt) {}
    fn attach_packet_state(&mut self, _pkt: &Pkt, _attached: ()) {}
    fn merge(parts: Vec<Self>, owners: &PartitionOwners<'_>) -> Self {
        let mut told: Vec<ObserverCall> = parts.into_iter().flat_map(|part| part.told).collect();
        told.sort_by_key(|one| (one.at.now, one.at.node));
        for one in told.iter_mut().filter(|one| one.packet) {
            one.more[1] = u64::from(owners.flow_numbers[one.more[1] as usize]);
        }
        Tape { traffic: Vec::new(), told }
    }
}

impl<const QUEUES: bool> Observer for Tape<QUEUES> {
    const OBSERVED: ObservedEvents = if QUEUES { ObservedEvents::DEPARTURES } else { ObservedEvents::NONE };

    fn on_flow_added(&mut self, flow: FlowId, traffic: u16) {
        let at = flow.0 as usize;
        self.traffic.resize(self.traffic.len().max(at + 1), traffic);
        self.traffic[at] = traffic;
    }
    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, _pkt: &Pkt) {
        if QUEUES {
            self.record(1, at, &[u64::from(frame.before)]);
        }
    }
    fn on_dequeue(&mut self, at: EventLocation, frame: DequeuedFrame) {
        if QUEUES {
            self.record(2, at, &[u64::from(frame.after)]);
        }
    }
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, reason: DropReason) {
        self.packet(16 + reason as u64, at, pkt);
    }
    fn on_mark(&mut self, at: EventLocation, _pkt: &Pkt) {
        self.record(3, at, &[]);
    }
    fn on_detour(&mut self, at: EventLocation, _taken: u32, _pkt: &Pkt) {
        self.record(4, at, &[]);
    }
    fn on_bounce(&mut self, at: EventLocation, _pkt: &Pkt) {
        self.record(5, at, &[]);
    }
    fn on_received_bytes(&mut self, at: EventLocation, flow: FlowId, bytes: u64) {
        self.record(6, at, &[u64::from(self.traffic[flow.0 as usize]), bytes]);
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.packet(7, at, pkt);
    }
}

/// Runs a scenario to its end, in partitions if the options say so.
pub fn whole<O: DividedObserver>(scenario: &Scenario, seed: u64, options: Options, observer: O) -> World<O> {
    if options.partitions > 0 {
        return run_divided(scenario, seed, options, observer).unwrap();
    }
    let mut world = build(scenario, seed, options, observer).unwrap();
    world.run();
    world
}

fn tape<const QUEUES: bool>(scenario: &Scenario, seed: u64, options: Options) -> String {
    let world = whole(scenario, seed, options, Tape::<QUEUES>::new());
    let tape = world.observer();
    format!("{} events, {:016x}", tape.told.len(), tape.hash())
}

/// Returns the digest of one run: results of flows, counters of ports, and hashes of all calls to an observer.
pub fn digest(scenario: &Scenario, seed: u64, options: Options) -> String {
    let mut blind = scenario.clone();
    (blind.measure.queues, blind.measure.packets) = (false, false);
    let mut world = whole(&blind, seed, options, Recorder::from_scenario(&blind));
    let results = world.results(&blind);
    assert!(results.conserved, "{}: {:?}", scenario.variant, world.describe_imbalance());
    let mut text = String::new();
    let progress = results.progress;
    writeln!(text, "end: {:?} at {} ps, {} packet-hops", progress.stop.unwrap(), progress.now.0, progress.hops)
        .unwrap();
    flows(&results, scenario, &mut text);
    ports(&results, scenario, &mut text);
    writeln!(text, "packets: {}", tape::<false>(scenario, seed, options)).unwrap();
    writeln!(text, "with queues: {}", tape::<true>(scenario, seed, options)).unwrap();
    text
}

fn flows(results: &Results, scenario: &Scenario, text: &mut String) {
    let name = |node: u64| &scenario.topology.nodes[node as usize].name;
    let names = ["src", "dst", "bytes", "start_ps", "end_ps", "received", "raw"];
    let [src, dst, bytes, start, end, received, raw] = names.map(|c| column(results, "flows", c));
    let names = ["retransmits", "fast_retransmits", "timeouts", "ece_acks"];
    let [retransmits, fast, timeouts, marked] = names.map(|c| column(results, "flows", c));
    for i in 0..src.len() {
        write!(text, "flow {i}: {} to {}, from {} ps, ", name(src[i]), name(dst[i]), start[i]).unwrap();
        match (raw[i], end[i]) {
            (1, _) => writeln!(text, "raw, {} B received", received[i]).unwrap(),
            (_, u64::MAX) => write!(text, "{} of {} B, unfinished", received[i], bytes[i]).unwrap(),
            (_, end) => write!(text, "{} B, FCT {} ps", bytes[i], end - start[i]).unwrap(),
        }
        if raw[i] == 0 {
            let sent = format!("{} retransmits, {} fast, {} timeouts", retransmits[i], fast[i], timeouts[i]);
            writeln!(text, ", {sent}, {} ACKs with an echo", marked[i]).unwrap();
        }
    }
}

/// Appends the counters of each node, summed over its ports; nodes that sent nothing are left out.
fn ports(results: &Results, scenario: &Scenario, text: &mut String) {
    let node = column(results, "ports", "node");
    let table = results.table("ports").unwrap();
    let losses = table.columns.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with("drop_"));
    let names = ["enqueued", "enqueued_bytes", "sent", "sent_bytes", "queued", "marked", "detoured", "bounced"];
    let counters: Vec<(&str, Vec<u64>)> =
        names.into_iter().chain(losses).map(|name| (name, column(results, "ports", name))).collect();
    let longest = column(results, "ports", "max_packets");
    for (n, its) in scenario.topology.nodes.iter().enumerate() {
        let of = |values: &[u64]| -> Vec<u64> {
            node.iter().zip(values).filter(|(at, _)| **at == n as u64).map(|(_, value)| *value).collect()
        };
        let sums = counters.iter().map(|(name, values)| (*name, of(values).iter().sum::<u64>()));
        let said: Vec<String> = sums.filter(|(_, sum)| *sum > 0).map(|(name, sum)| format!("{name} {sum}")).collect();
        if !said.is_empty() {
            let most = of(&longest).into_iter().max().unwrap_or(0);
            writeln!(text, "{}: {}, longest queue {most}", its.name, said.join(", ")).unwrap();
        }
    }
}
