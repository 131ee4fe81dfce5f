//! Measurement of the memory of one switch: frames that it admits until a mark, a pause and a loss.
//!
//! The frames go through the switch as a run builds it, while its outputs send nothing. Routing and the overflow
//! mechanism are replaced, so that each frame has a known output and is dropped when it does not fit. Marking that drops
//! the measured frames (`ecn = "none"` of WRED) is left out: it would keep the memory from filling.

use crate::build::switch_setup;
use dataplane::{
    EventLocation, ExtensionSlab, NO_EXT, ObservedEvents, Observer, Out, Outcome, Pkt, Routes, Switch, SwitchStep,
};
use mech::fib::FibSlot;
use mech::marking::MarkingSlot;
use mech::overflow::{DropReason, TailDrop};
use mech::routing::{Ecmp, NextHops};
use mech::{ClassSet, Ecn, HostId, PortId, QueueId};
use scenario::Scenario;
use std::collections::BTreeMap;
use units::Time;

/// Largest number of frames that one measurement sends.
const MAX_FRAMES: u64 = 5_000_000;

/// Stream of frames: input port, output port and class.
pub type ProbeStream = (u16, u16, u8);

/// Measurement of the memory of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryProbe {
    /// Number of the switch, in the order of the topology.
    pub switch: usize,
    /// Streams that fill groups or queues in turn. The first one is measured, and the others have its profiles.
    pub streams: Vec<ProbeStream>,
    /// Size of the frames in bytes.
    pub size: u16,
}

/// Numbers of frames of one group or queue until each event, including the frame that causes it. If several groups or
/// queues fill, the one with the first event counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Frames until the first congestion mark, of any stream, in its headroom too.
    pub mark: Option<u64>,
    /// Frames until the far end of an input port was paused.
    pub pause: Option<u64>,
    /// Frames until a loss at ingress: the group refused a frame. Of several lossless groups, the measured one counts,
    /// after all are paused and the others have filled their headroom.
    pub ingress_loss: Option<u64>,
    /// Frames until a loss at egress: a queue refused a frame.
    pub egress_loss: Option<u64>,
    /// Frames that the measured group stored after its pause, when the other groups had filled their headroom.
    pub headroom: Option<u64>,
    /// Departures until the far end of the input port was resumed, after the frame that paused it. Only a measurement of
    /// one stream has them.
    pub resume: Option<u64>,
}

/// Reason why a measurement is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeError {
    /// The switch has no port with this number.
    NoPort(u16),
    /// The measurement has no stream.
    NoStream,
}

impl std::fmt::Display for ProbeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProbeError::NoPort(port) => write!(f, "the switch has no port {port}"),
            ProbeError::NoStream => write!(f, "no stream of frames"),
        }
    }
}
impl std::error::Error for ProbeError {}

/// Routes by which host `n` is behind port `n`.
struct DirectRoutes;

impl Routes for DirectRoutes {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16))
    }
}

/// Driver and observer that record what happens to the frames.
#[derive(Default)]
struct ProbeRecord {
    marks: u64,
    drops: Vec<DropReason>,
    paused: Vec<(u16, ClassSet)>,
    resumed: Vec<u16>,
    sent: BTreeMap<u16, u64>,
    wakes: Vec<(Time, PortId)>,
}

impl Out for ProbeRecord {
    type Observer = Self;
    fn transmit(&mut self, port: PortId, _pkt: &Pkt, _end: Time) {
        *self.sent.entry(port.0).or_default() += 1;
    }
    fn schedule_wake(&mut self, port: PortId, at: Time) {
        self.wakes.push((at, port));
    }
    fn set_timer(&mut self, _index: u32, _at: Time) {}
    fn report_outcome(&mut self, _what: Outcome) {}
    fn observer(&mut self) -> &mut Self {
        self
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

impl Observer for ProbeRecord {
    const OBSERVED: ObservedEvents = ObservedEvents::NONE;

    fn on_mark(&mut self, _at: EventLocation, _pkt: &Pkt) {
        self.marks += 1;
    }
    fn on_drop(&mut self, _at: EventLocation, _pkt: &Pkt, reason: DropReason) {
        self.drops.push(reason);
    }
    fn on_pause_sent(&mut self, at: EventLocation, xoff: ClassSet, _again: ClassSet) {
        match xoff == ClassSet::NONE {
            true => self.resumed.push(at.port as u16),
            false => self.paused.push((at.port as u16, xoff)),
        }
    }
}

/// Switch under measurement, with the instant and the record of its reactions.
struct Bench {
    switch: Switch,
    exts: ExtensionSlab,
    record: ProbeRecord,
    now: Time,
}

impl Bench {
    fn new(scenario: &Scenario, probe: &MemoryProbe) -> Bench {
        let mut setup = switch_setup(scenario, 1, probe.switch);
        setup.fib = FibSlot::from_routes();
        setup.routing = Ecmp::new(1).into();
        setup.core.overflow = TailDrop.into();
        let class = probe.streams[0].2;
        let queue =
            scenario.memory_layout(probe.switch).map_or(class, |layout| layout.class_to_queue[usize::from(class)]);
        let drops = |marking: &MarkingSlot| !marking.peek().marks_queue(QueueId::normal(queue));
        let dropping = setup.core.ports.iter_mut().filter(|port| drops(&port.marking));
        dropping.for_each(|port| port.marking = MarkingSlot::none());
        setup.core.top_class = 7;
        setup.core.may_compute = false;
        let ports = setup.core.ports.len() as u16;
        let switch = Switch::new(setup);
        let mut bench =
            Bench { switch, exts: ExtensionSlab::default(), record: ProbeRecord::default(), now: Time::ZERO };
        (0..ports).for_each(|port| bench.stop(port, true));
        bench
    }

    fn stop(&mut self, port: u16, stopped: bool) {
        let Bench { switch, exts, record, now } = self;
        switch.stop_output(
            PortId(port),
            stopped,
            &mut SwitchStep { now: *now, routes: &DirectRoutes, exts, out: record },
        );
    }

    /// Sends one frame, and returns the reason of its loss, if it was lost.
    fn send(&mut self, (ingress, egress, class): ProbeStream, size: u16) -> Option<DropReason> {
        let mut pkt = Pkt { ext: NO_EXT, ..Pkt::default() };
        (pkt.head.ingress, pkt.head.dst, pkt.head.ttl) = (PortId(ingress), HostId(u32::from(egress)), 64);
        (pkt.head.size, pkt.head.orig_size) = (size, size);
        pkt.head.set_class(class);
        pkt.head.set_ecn(Ecn::Ect0);
        self.record.drops.clear();
        let Bench { switch, exts, record, now } = self;
        switch.step(&[], &mut [pkt], &mut SwitchStep { now: *now, routes: &DirectRoutes, exts, out: record });
        self.send_pauses(ingress);
        self.record.drops.first().copied()
    }

    /// Ends the transmissions of pause frames at an input port, so that the next one can leave.
    fn send_pauses(&mut self, ingress: u16) {
        while let Some(at) = self.record.wakes.iter().position(|(_, port)| port.0 == ingress) {
            let (at, port) = self.record.wakes.swap_remove(at);
            self.end_transmission(at, port);
        }
    }

    fn end_transmission(&mut self, at: Time, port: PortId) {
        let Bench { switch, exts, record, now } = self;
        *now = at.max(*now);
        switch.step(&[port], &mut [], &mut SwitchStep { now: *now, routes: &DirectRoutes, exts, out: record });
    }

    /// Lets an output send until the far end of `ingress` is resumed, and returns the number of frames that it began.
    fn departures_until_resume(&mut self, ingress: u16, egress: u16) -> Option<u64> {
        let before = self.record.sent.get(&egress).copied().unwrap_or(0);
        self.record.resumed.clear();
        self.stop(egress, false);
        let Bench { switch, exts, record, now } = self;
        switch.step(&[], &mut [], &mut SwitchStep { now: *now, routes: &DirectRoutes, exts, out: record });
        loop {
            self.send_pauses(ingress);
            if self.record.resumed.contains(&ingress) {
                return Some(self.record.sent.get(&egress).copied().unwrap_or(0) - before);
            }
            let next = self.record.wakes.iter().position(|(_, port)| port.0 == egress)?;
            let (at, port) = self.record.wakes.swap_remove(next);
            self.end_transmission(at, port);
        }
    }

    fn is_paused(&self, stream: ProbeStream) -> bool {
        self.record.paused.iter().any(|(port, classes)| *port == stream.0 && classes.has(stream.2))
    }
}

/// Measures the memory of a switch with frames of one size.
///
/// # Errors
/// Returns [`ProbeError`] if there is no stream, or if the switch lacks one of its ports.
pub fn probe_memory(scenario: &Scenario, probe: &MemoryProbe) -> Result<ProbeCounts, ProbeError> {
    let node = scenario.topology.hosts as usize + probe.switch;
    let ports = scenario.topology.nodes[node].ports.len() as u16;
    let streams = &probe.streams;
    let own = *streams.first().ok_or(ProbeError::NoStream)?;
    let mut used = streams.iter().flat_map(|stream| [stream.0, stream.1]);
    if let Some(port) = used.find(|port| *port >= ports) {
        return Err(ProbeError::NoPort(port));
    }
    let mut bench = Bench::new(scenario, probe);
    let mut counts = ProbeCounts::default();
    let mut sent = vec![0u64; streams.len()];
    // All streams send in turn until one meets a loss, or until all are paused.
    while sent[0] < MAX_FRAMES && counts.egress_loss.is_none() && counts.ingress_loss.is_none() {
        let running: Vec<usize> = (0..streams.len()).filter(|i| !bench.is_paused(streams[*i])).collect();
        if running.is_empty() {
            fill_headroom(probe, &mut bench, &sent, &mut counts);
            break;
        }
        for i in running {
            let marks = bench.record.marks;
            let lost = bench.send(streams[i], probe.size);
            sent[i] += 1;
            let first = |happened: bool, count: Option<u64>| if happened { count.or(Some(sent[i])) } else { count };
            counts.mark = first(bench.record.marks > marks, counts.mark);
            counts.pause = first(bench.is_paused(streams[i]), counts.pause);
            counts.ingress_loss = first(lost == Some(DropReason::InputFull), counts.ingress_loss);
            counts.egress_loss = first(lost == Some(DropReason::BufferFull), counts.egress_loss);
        }
    }
    if streams.len() == 1 && counts.pause.is_some() {
        counts.resume = count_departures(scenario, probe, own);
    }
    Ok(counts)
}

/// Fills the headroom of all groups one after another, that of the measured group last, and counts its frames.
fn fill_headroom(probe: &MemoryProbe, bench: &mut Bench, sent: &[u64], counts: &mut ProbeCounts) {
    for i in (1..sent.len()).chain([0]) {
        let mut stored = 0;
        let lost = loop {
            let marks = bench.record.marks;
            match bench.send(probe.streams[i], probe.size) {
                None if stored < MAX_FRAMES => stored += 1,
                lost => break lost,
            }
            if bench.record.marks > marks {
                counts.mark = counts.mark.or(Some(sent[i] + stored));
            }
        };
        if i == 0 {
            counts.headroom = Some(stored);
            match lost {
                Some(DropReason::InputFull) => counts.ingress_loss = Some(sent[0] + stored + 1),
                Some(DropReason::BufferFull) => counts.egress_loss = Some(sent[0] + stored + 1),
                _ => {}
            }
        }
    }
}

/// Returns the departures until the resume, in a new switch that stores frames until the pause only. The last frame may
/// be lost and pause its far end.
fn count_departures(scenario: &Scenario, probe: &MemoryProbe, own: ProbeStream) -> Option<u64> {
    let mut alone = Bench::new(scenario, probe);
    while !alone.is_paused(own) {
        let lost = alone.send(own, probe.size).is_some();
        if lost && !alone.is_paused(own) {
            return None;
        }
    }
    alone.departures_until_resume(own.0, own.1)
}
