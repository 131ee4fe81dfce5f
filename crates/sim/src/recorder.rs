//! The probe behind every table and figure: queues over time, what happened where, and the fate
//! of packets.

mod follow;
mod histogram;
mod rows;

pub(crate) use follow::Follow;
pub(crate) use histogram::Histogram;
pub(crate) use rows::{ActivityRow, OpenBin, PacketRow, Rows, TraceRow};

use crate::probe::{Probe, Spot};
use dataplane::Pkt;
use mech::Flags;
use mech::overflow::DropReason;
use scenario::Scenario;
use units::{Dur, Time};

/// What to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The measurement window: time counts from here on, and packets that are sent from here on.
    pub from: Time,
    /// Up to here.
    pub to: Time,
    /// Width of a step of the traces.
    pub bin: Dur,
    /// Follow the queues of all switch ports exactly.
    pub queues: bool,
    /// Write down every delivered or lost packet.
    pub packets: bool,
    /// Number of hosts, each with one port: the first port of a switch has this number.
    pub hosts: u32,
}

/// Something that happens to packets at switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Drop = 0,
    Mark = 1,
    Detour = 2,
    Bounce = 3,
}

/// What is told apart of delivered packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    Delay = 0,
    Hops = 1,
    Detours = 2,
    Bounces = 3,
}

impl Metric {
    pub(crate) const ALL: [Metric; 4] = [Metric::Delay, Metric::Hops, Metric::Detours, Metric::Bounces];
}

/// The probe.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(crate) scope: Scope,
    pub(crate) queues: Vec<Follow>,
    /// By node.
    activity: Vec<OpenBin>,
    /// By [`Metric`], then ACKs and data.
    pub(crate) histograms: [[Histogram; 2]; 4],
    pub(crate) rows: Rows,
    pub(crate) crossed: Crossed,
    /// Payload bytes that arrived for the first time inside the measurement window, by entry of the
    /// scenario's traffic.
    pub(crate) received: Vec<u64>,
    closed: bool,
}

/// What hosts of the second half got from hosts of the first inside the measurement window: frames,
/// and their bytes without preamble and gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Crossed {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
}

impl Crossed {
    #[inline]
    fn count(&mut self, scope: &Scope, now: Time, pkt: &Pkt) {
        let half = scope.hosts / 2;
        if now >= scope.from && now < scope.to && pkt.head.src.0 < half && pkt.head.dst.0 >= half {
            self.frames += 1;
            self.bytes += u64::from(pkt.head.size);
        }
    }
}

impl Recorder {
    /// Records what a scenario's `[measure]` asks for.
    pub fn of(scenario: &Scenario) -> Recorder {
        let measure = &scenario.measure;
        let nodes = &scenario.topology.nodes;
        let scope = Scope {
            from: measure.from,
            to: measure.to,
            bin: measure.bin,
            queues: measure.queues,
            packets: measure.packets,
            hosts: scenario.topology.hosts,
        };
        Recorder::new(scope, nodes.len(), nodes.iter().map(|node| node.ports.len()).sum())
    }

    /// Records `scope` of a network with so many nodes and ports.
    pub fn new(scope: Scope, nodes: usize, ports: usize) -> Recorder {
        let followed = if scope.queues { ports - scope.hosts as usize } else { 0 };
        Recorder {
            scope,
            queues: (0..followed as u32).map(Follow::new).collect(),
            activity: vec![OpenBin::default(); nodes],
            histograms: Default::default(),
            rows: Rows::default(),
            received: Vec::new(),
            closed: false,
            crossed: Crossed::default(),
        }
    }

    fn count(&mut self, at: Spot, kind: Kind) {
        let bin = (at.now.0 / self.scope.bin.0) as u32;
        self.activity[at.node as usize].count(kind, (bin, at.node), &mut self.rows.activity);
    }

    fn queue(&self, at: Spot) -> Option<usize> {
        Some(at.port.checked_sub(self.scope.hosts)? as usize).filter(|queue| *queue < self.queues.len())
    }

    fn ended(&mut self, at: Spot, pkt: &Pkt, fate: u8) {
        if self.scope.packets {
            self.rows.packets.push(PacketRow::new(pkt, (at.now, at.node), fate));
        }
    }

    /// The run has ended: what is open is closed, once.
    pub(crate) fn close(&mut self, now: Time) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let scope = self.scope;
        self.queues.iter_mut().for_each(|queue| queue.close(&scope, now, &mut self.rows.trace));
        let nodes = self.activity.iter_mut().zip(0..);
        nodes.for_each(|(open, node)| open.close(node, &mut self.rows.activity));
    }
}

impl Probe for Recorder {
    fn follows_queues(&self) -> bool {
        self.scope.queues
    }
    fn stored(&mut self, at: Spot, before: u32) {
        if let Some(queue) = self.queue(at) {
            self.queues[queue].stored(&self.scope, (at.now, before), &mut self.rows.trace);
        }
    }
    fn freed(&mut self, at: Spot, after: u32) {
        if let Some(queue) = self.queue(at) {
            self.queues[queue].freed(&self.scope, (at.now, after), &mut self.rows.trace);
        }
    }
    fn dropped(&mut self, at: Spot, pkt: &Pkt, reason: DropReason) {
        self.count(at, Kind::Drop);
        self.ended(at, pkt, 1 + reason as u8);
    }
    fn marked(&mut self, at: Spot) {
        self.count(at, Kind::Mark);
    }
    fn detoured(&mut self, at: Spot) {
        self.count(at, Kind::Detour);
    }
    fn bounced(&mut self, at: Spot) {
        self.count(at, Kind::Bounce);
    }
    fn received(&mut self, at: Spot, traffic: u16, bytes: u64) {
        if at.now < self.scope.from || at.now >= self.scope.to {
            return;
        }
        let entry = usize::from(traffic);
        if self.received.len() <= entry {
            self.received.resize(entry + 1, 0);
        }
        self.received[entry] += bytes;
    }
    fn delivered(&mut self, at: Spot, pkt: &Pkt) {
        self.ended(at, pkt, 0);
        self.crossed.count(&self.scope, at.now, pkt);
        if pkt.sent < self.scope.from || pkt.sent >= self.scope.to {
            return;
        }
        let data = usize::from(pkt.head.flags.has(Flags::PAYLOAD));
        let values = [
            at.now.since(pkt.sent).0,
            u64::from(pkt.head.hops),
            u64::from(pkt.head.detours),
            u64::from(pkt.head.bounces),
        ];
        for metric in Metric::ALL {
            self.histograms[metric as usize][data].add(values[metric as usize]);
        }
    }
}
