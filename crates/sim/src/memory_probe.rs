//! Measurement of the memory of one switch: frames that it admits until a mark, a pause and a loss.
//!
//! The frames go through the switch as a run builds it, while its outputs send nothing. Routing and the overflow
//! mechanism are replaced, so that each frame has a known output and is dropped when it does not fit. Marking that drops
//! the measured frames (`ecn = "none"` of WRED) is left out: it would keep the memory from filling.

use crate::build::switch_setup;
use dataplane::{
    EventLocation, ExtensionSlab, NO_EXT, ObservedEvents, Observer, Out, Outcome, Pkt, Routes, Switch, SwitchStep,
};
use mech::buffer::MemoryLayout;
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

/// Measurement of the memory of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryProbe {
    /// Number of the switch, in the order of the topology.
    pub switch: usize,
    /// Input port of the frames.
    pub ingress: u16,
    /// Output port of the frames, which sends nothing.
    pub egress: u16,
    /// Traffic class of the frames.
    pub class: u8,
    /// Size of the frames in bytes.
    pub size: u16,
    /// Number of groups or queues that fill in turn, the measured one included.
    pub congested: u32,
}

/// Numbers of frames of one group or queue until each event, including the frame that causes it. If several groups or
/// queues fill, the one with the first event counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeCounts {
    /// Frames until the first congestion mark.
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
    /// Departures until the far end of the input port was resumed, after the frame that paused it.
    pub resume: Option<u64>,
}

/// Reason why a measurement is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeError {
    /// The switch has no port with this number.
    NoPort(u16),
    /// Fewer groups or queues are in the slice of the memory than the measurement needs.
    TooFew {
        /// Number of groups or queues in the slice.
        found: u32,
    },
}

impl std::fmt::Display for ProbeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProbeError::NoPort(port) => write!(f, "the switch has no port {port}"),
            ProbeError::TooFew { found } => write!(f, "only {found} groups or queues share a slice of the memory"),
        }
    }
}
impl std::error::Error for ProbeError {}

/// Stream of frames: input port, output port and class.
type Stream = (u16, u16, u8);

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
        let queue = queue_of(scenario.memory_layout(probe.switch).as_deref(), probe.class);
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
    fn send(&mut self, (ingress, egress, class): Stream, size: u16) -> Option<DropReason> {
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

    fn is_paused(&self, stream: Stream) -> bool {
        self.record.paused.iter().any(|(port, classes)| *port == stream.0 && classes.has(stream.2))
    }
}

/// Measures the memory of a switch with frames of one class.
///
/// # Errors
/// Returns [`ProbeError`] if the switch lacks a port, or groups or queues that can be congested together.
pub fn probe_memory(scenario: &Scenario, probe: &MemoryProbe) -> Result<ProbeCounts, ProbeError> {
    let node = scenario.topology.hosts as usize + probe.switch;
    let ports = scenario.topology.nodes[node].ports.len() as u16;
    if let Some(port) = [probe.ingress, probe.egress].into_iter().find(|port| *port >= ports) {
        return Err(ProbeError::NoPort(port));
    }
    let own: Stream = (probe.ingress, probe.egress, probe.class);
    let layout = scenario.memory_layout(probe.switch);
    let paused = pauses(scenario, probe);
    let streams = congested_streams((own, ports), (layout.as_deref(), paused), probe.congested)?;
    let mut bench = Bench::new(scenario, probe);
    let mut counts = ProbeCounts::default();
    let mut sent = vec![0u64; streams.len()];
    // All streams send in turn until one meets a loss, or until all are paused.
    while sent[0] < MAX_FRAMES && counts.egress_loss.is_none() && counts.ingress_loss.is_none() {
        let running: Vec<usize> = (0..streams.len()).filter(|i| !bench.is_paused(streams[*i])).collect();
        if running.is_empty() {
            fill_headroom(scenario, probe, &streams, (&mut bench, sent[0]), &mut counts);
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
    Ok(counts)
}

/// Returns the number of the queue of a class.
fn queue_of(layout: Option<&MemoryLayout>, class: u8) -> u8 {
    layout.map_or(class, |layout| layout.class_to_queue[usize::from(class)])
}

/// Returns true if a pause mechanism pauses the class at the input port.
fn pauses(scenario: &Scenario, probe: &MemoryProbe) -> bool {
    let port = &scenario.switches[probe.switch].ports[usize::from(probe.ingress)];
    port.pause.slot.pausing().is_some()
}

/// Returns the measured stream and others whose groups (if lossless) or queues share a slice of the memory with it.
fn congested_streams(
    (own, ports): (Stream, u16),
    (layout, paused): (Option<&MemoryLayout>, bool),
    wanted: u32,
) -> Result<Vec<Stream>, ProbeError> {
    let (ingress, egress, class) = own;
    let slice = |i: u16, e: u16| layout.map_or(0, |layout| layout.slice(PortId(i), PortId(e)));
    let group = |class: u8| layout.map_or(class, |layout| layout.class_to_group[usize::from(class)]);
    let queue = |class: u8| queue_of(layout, class);
    let lossless = |port: u16, class: u8| layout.is_some_and(|layout| layout.is_lossless(PortId(port), group(class)));
    let by_group = paused && (layout.is_none() || lossless(ingress, class));
    let mut streams = vec![own];
    let mut used = vec![if by_group { (ingress, group(class)) } else { (egress, queue(class)) }];
    for (port, other) in (0..ports).flat_map(|port| (0..8).map(move |class| (port, class))) {
        let stream = if by_group { (port, egress, other) } else { (ingress, port, other) };
        let account = if by_group { (port, group(other)) } else { (port, queue(other)) };
        let joins = match by_group {
            true => port != egress && (layout.is_none() || lossless(port, other)),
            false => port != ingress && !(paused && lossless(ingress, other)),
        };
        let same_slice = slice(stream.0, stream.1) == slice(ingress, egress);
        if streams.len() < wanted as usize && joins && same_slice && !used.contains(&account) {
            streams.push(stream);
            used.push(account);
        }
    }
    match streams.len() >= wanted as usize {
        true => Ok(streams),
        false => Err(ProbeError::TooFew { found: streams.len() as u32 }),
    }
}

/// Fills the headroom of all groups one after another, that of the measured group last, and counts its frames. In a
/// second switch, only the measured group fills, until its pause. It gives the departures until the resume.
fn fill_headroom(
    scenario: &Scenario,
    probe: &MemoryProbe,
    streams: &[Stream],
    (bench, sent): (&mut Bench, u64),
    counts: &mut ProbeCounts,
) {
    for stream in streams[1..].iter().chain([&streams[0]]) {
        let mut stored = 0;
        let lost = loop {
            match bench.send(*stream, probe.size) {
                None if stored < MAX_FRAMES => stored += 1,
                lost => break lost,
            }
        };
        if stream == &streams[0] {
            counts.headroom = Some(stored);
            match lost {
                Some(DropReason::InputFull) => counts.ingress_loss = Some(sent + stored + 1),
                Some(DropReason::BufferFull) => counts.egress_loss = Some(sent + stored + 1),
                _ => {}
            }
        }
    }
    let mut alone = Bench::new(scenario, probe);
    let own = streams[0];
    while !alone.is_paused(own) {
        if alone.send(own, probe.size).is_some() {
            return;
        }
    }
    counts.resume = alone.departures_until_resume(own.0, own.1);
}
