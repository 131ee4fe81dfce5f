//! Cases of memory with pools (`conformance/pools.toml`): frames through a switch whose ports send on request.
//!
//! `conformance/README.md` describes the lines of a case.

use super::detours::Direct;
use crate::core::{PauseSetup, PortSetup};
use crate::pool_accounts::tests::{buffer_port, buffer_with_pools};
use crate::switch::*;
use crate::{EnqueuedFrame, EventLocation, Framing, NO_EXT, ObservedEvents, Outcome, PauseFrame};
use mech::buffer::MemoryLayout;
use mech::marking::MarkingSlot;
use mech::overflow::{OverflowSlot, TailDrop};
use mech::params::{Value, Values};
use mech::pause::PauseSlot;
use mech::routing::Ecmp;
use mech::scheduler::StrictPriority;
use mech::testing::toml_values;
use mech::{AgentSlot, CheckContext, ClassSet, Lane, LaneLimit, Lanes, Registry, Report};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::{Table, Value as Toml};
use units::{Dur, Rate};

/// Number of cases, and of those among them that are marked as open.
const COUNTS: (usize, usize) = (60, 0);

/// Time between two frames, longer than any transmission at 1 Gb/s, and the time during a transmission.
const STEP: Dur = Dur::us(100);
const SHORT_STEP: Dur = Dur::ns(10);

/// Bytes of a frame's headers and check sequence.
const HEADER_BYTES: u16 = Framing::ETHERNET.header + Framing::ETHERNET.link;

/// Driver and observer that record what the switch does in a step.
#[derive(Default)]
struct Recording {
    /// Cuts, bounces and detours of the frame.
    changes: Vec<String>,
    stored: u32,
    lost: Vec<DropReason>,
    violations: Vec<(PortId, u8)>,
    sent: Vec<(PortId, Time)>,
    wakes: Vec<PortId>,
    /// Classes that were paused (`true`) or resumed at the far end of a port.
    signals: BTreeMap<(bool, u16), ClassSet>,
}

impl Out for Recording {
    type Observer = Self;
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time) {
        let Some(frame) = PauseFrame::from_packet(pkt) else { return self.sent.push((port, end)) };
        for (pauses, classes) in [(true, frame.xoff), (false, frame.xon)] {
            if classes != ClassSet::NONE {
                let before = self.signals.insert((pauses, port.0), classes);
                assert_eq!(before, None, "port {}: two pause frames in a step", port.0);
            }
        }
    }
    fn schedule_wake(&mut self, port: PortId, _at: Time) {
        self.wakes.push(port);
    }
    fn set_timer(&mut self, _index: u32, _at: Time) {}
    fn report_outcome(&mut self, what: Outcome) {
        match what {
            Outcome::LosslessViolated(lost) => self.violations.push((lost.ingress, lost.class)),
            other => panic!("unexpected outcome: {other:?}"),
        }
    }
    fn observer(&mut self) -> &mut Self {
        self
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

impl Observer for Recording {
    const OBSERVED: ObservedEvents = ObservedEvents::QUEUES;

    fn on_enqueue(&mut self, _at: EventLocation, _frame: EnqueuedFrame, _pkt: &Pkt) {
        self.stored += 1;
    }
    fn on_drop(&mut self, _at: EventLocation, _pkt: &Pkt, reason: DropReason) {
        self.lost.push(reason);
    }
    fn on_trim(&mut self, _at: EventLocation, _bytes: u16, pkt: &Pkt) {
        self.changes.push(format!("cut to {}", pkt.head.size));
    }
    fn on_bounce(&mut self, _at: EventLocation, _pkt: &Pkt) {
        self.changes.push("bounced".into());
    }
    fn on_detour(&mut self, _at: EventLocation, taken: u32, _pkt: &Pkt) {
        self.changes.push(format!("detoured to {taken}"));
    }
}

impl Recording {
    /// Returns the pauses and resumes of the step as a case lists them.
    fn format_signals(&self) -> Vec<String> {
        let each = |((pauses, port), classes): (&(bool, u16), &ClassSet)| {
            let classes: String = (0..8).filter(|n| classes.has(*n)).map(|n| n.to_string()).collect();
            format!("{} {port} c{classes}", if *pauses { "pause" } else { "resume" })
        };
        let mut signals: Vec<String> = self.signals.iter().map(each).collect();
        signals.sort();
        signals
    }
}

/// Switch of a case, the instant of its last step, and the transmissions in progress.
struct Bench {
    switch: Switch,
    layout: Arc<MemoryLayout>,
    now: Time,
    /// End of each transmission, and true if the switch asked for an event at this end.
    sending: BTreeMap<PortId, (Time, bool)>,
}

/// Line of a case: what it does, how often, and its expected result.
struct Line<'a> {
    words: Vec<&'a str>,
    times: u64,
    expected: Vec<&'a str>,
}

impl Line<'_> {
    fn parse(line: &str) -> Line<'_> {
        let (action, expected) = line.split_once(" -> ").unwrap_or((line, ""));
        let mut words: Vec<&str> = action.split(' ').collect();
        let times = words.last().and_then(|last| last.strip_prefix('x')).map(|n| n.parse().expect(line));
        if times.is_some() {
            words.pop();
        }
        let expected = expected.split(", ").filter(|text| !text.is_empty()).collect();
        Line { words, times: times.unwrap_or(1), expected }
    }
}

fn port_number(text: &str) -> PortId {
    PortId(text.parse().expect(text))
}

/// Creates the frame of an arrival line such as `0>1 c3 64` or `0>1 notice 64`. Frames with a class carry data.
fn frame(words: &[&str]) -> Pkt {
    let [ports, kind, size] = words else { panic!("{words:?} is no arrival") };
    let (from, to) = ports.split_once('>').expect("input>output");
    let mut pkt = Pkt { ext: NO_EXT, ..Pkt::default() };
    (pkt.head.ingress, pkt.head.dst, pkt.head.ttl) = (port_number(from), HostId(to.parse().expect(to)), 9);
    pkt.head.size = size.parse().expect(size);
    pkt.head.orig_size = pkt.head.size;
    if *kind == "notice" {
        pkt.head.flags = Flags::from_kind(PacketKind::Notice);
    } else {
        pkt.head.flags = pkt.head.flags.with(Flags::PAYLOAD);
        pkt.payload = pkt.head.size - HEADER_BYTES;
    }
    pkt.head.set_class(kind.strip_prefix('c').map_or(0, |class| class.parse().expect(kind)));
    pkt
}

/// Creates the overflow mechanism of a case, which drops frames if the case has none.
fn overflow(case: &Table) -> OverflowSlot {
    let Some(mut given) = case.get("overflow").and_then(Toml::as_table).cloned() else { return TailDrop.into() };
    let kind = given.remove("kind").expect("a kind");
    let (registry, kind) = (Registry::catalogue(), kind.as_str().expect("a name"));
    let spec = registry.switch_specs("overflow").into_iter().find(|spec| spec.kind == kind).expect(kind);
    registry.make(kind, &toml_values(spec, &given.to_string())).expect(kind)
}

/// Creates PFC for the lossless groups of a port.
fn pfc(layout: &MemoryLayout, port: PortId) -> AgentSlot {
    let values = [
        ("quanta", Value::Count(65_535)),
        ("response", Value::Time(Dur::ZERO)),
        ("response_by_rate", Value::Flag(false)),
        ("lossless", Value::Flag(true)),
        ("watchdog", Value::Word("off".into())),
    ];
    let values = Values(values.map(|(name, value)| (name.to_string(), value)).into_iter().collect());
    let classes = layout.classes_of_groups();
    let lossless =
        std::array::from_fn(
            |group| {
                if layout.is_lossless(port, group as u8) { classes[group] } else { ClassSet::NONE }
            },
        );
    let slot = Registry::catalogue().make::<PauseSlot>("pfc", &values).expect("pfc");
    slot.for_port(Rate::gbps(1).clock()).for_groups(&lossless)
}

impl Bench {
    fn new(case: &Table) -> Bench {
        let ports = case["ports"].as_integer().expect("a number of ports") as usize;
        let clock = Rate::gbps(1).clock();
        let buffer = buffer_with_pools(&toml::to_string(&case["buffer"]).expect("tables"));
        let (rates, mut report) = (vec![Rate::gbps(1); ports], Report::default());
        let beside = CheckContext { ports: Some(ports as u16), rates: Some(&rates), ..CheckContext::EMPTY };
        buffer.peek().check(&beside, &mut report);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        let buffer = buffer.for_links(&vec![buffer_port(Rate::gbps(1)); ports]);
        let layout = buffer.peek().layout().expect("accounts");
        let setup = |port| PortSetup {
            changes: false,
            clock,
            is_switch: true,
            marking: MarkingSlot::none(),
            scheduler: StrictPriority::default().into(),
            agents: vec![pfc(&layout, port)],
            pause: Some(PauseSetup {
                response: Dur::ZERO,
                headroom: 0,
                max_frame_wait: Dur::ZERO,
                last_arrival_delay: Dur::ZERO,
            }),
        };
        let overflow = overflow(case);
        let bounced = overflow.peek().needs().bounce_lane.map_or(LaneLimit::Absent, LaneLimit::Limited);
        let switch = Switch::new(SwitchSetup {
            core: CoreSetup {
                node: 0,
                seed: 3,
                framing: Framing::ETHERNET,
                buffer,
                overflow,
                lanes: Lanes::default().with(Lane::Bounce, bounced).with(Lane::Notice, LaneLimit::Unlimited),
                lowest_class: 0,
                top_class: 7,
                may_compute: true,
                ports: (0..ports as u16).map(|port| setup(PortId(port))).collect(),
                inputs: None,
            },
            fib: FibSlot::from_routes(),
            routing: Ecmp::new(1).into(),
            snapshot: false,
            shuffle: false,
        });
        let mut bench = Bench { switch, layout, now: Time::ZERO, sending: BTreeMap::new() };
        for port in 0..ports as u16 {
            bench.switch.stop_output(PortId(port), true, step_at!(Time::ZERO, &mut Recording::default()));
        }
        bench
    }

    fn advance(&mut self) {
        self.now += if self.sending.is_empty() { STEP } else { SHORT_STEP };
    }

    /// Stores or drops a frame, and returns its outcome and the pauses and resumes that it causes.
    fn arrive(&mut self, words: &[&str]) -> Vec<String> {
        self.advance();
        let (mut out, pkt) = (Recording::default(), frame(words));
        self.switch.step(&[], &mut [pkt], step_at!(self.now, &mut out));
        assert!(out.sent.is_empty(), "a stopped port sent a frame");
        let outcome = match (out.stored, out.lost.as_slice()) {
            (1, []) => "stored".to_string(),
            (0, [DropReason::InputFull]) => "ingress".to_string(),
            (0, [DropReason::BufferFull]) => "egress".to_string(),
            (0, [reason]) => reason.name().to_string(),
            other => format!("{other:?}"),
        };
        if outcome == "ingress" {
            let (port, class) = (pkt.head.ingress, pkt.head.class());
            let lossless = self.layout.is_lossless(port, self.layout.class_to_group[usize::from(class)]);
            let reported: &[(PortId, u8)] = if lossless { &[(port, class)] } else { &[] };
            assert_eq!(out.violations, reported, "losses of lossless groups are reported, and no others");
        }
        [out.changes.clone(), vec![outcome], out.format_signals()].concat()
    }

    /// Begins the transmission of a frame, and returns the pauses and resumes that it causes.
    fn start(&mut self, port: PortId) -> Vec<String> {
        self.advance();
        let mut out = Recording::default();
        self.switch.stop_output(port, false, step_at!(self.now, &mut out));
        self.switch.step(&[], &mut [], step_at!(self.now, &mut out));
        self.switch.stop_output(port, true, step_at!(self.now, &mut out));
        let [(sender, end)] = out.sent[..] else { panic!("port {} sent {:?}", port.0, out.sent) };
        assert!(sender == port && end < self.now + STEP);
        self.sending.insert(port, (end, out.wakes.contains(&port)));
        out.format_signals()
    }

    /// Ends the transmission of a port, and returns the pauses and resumes that this causes.
    fn end(&mut self, port: PortId) -> Vec<String> {
        let mut out = Recording::default();
        let (end, wakes) = self.sending.remove(&port).expect("a transmission");
        self.now = end;
        let ended: &[PortId] = if wakes { &[port] } else { &[] };
        self.switch.step(ended, &mut [], step_at!(self.now, &mut out));
        assert!(out.sent.is_empty(), "a stopped port sent a frame");
        out.format_signals()
    }

    /// Runs the action of a line once, and returns the outcome of an arrival, and the pauses and resumes.
    fn run(&mut self, words: &[&str]) -> Vec<String> {
        match words {
            ["leave", port] => [self.start(port_number(port)), self.end(port_number(port))].concat(),
            ["start", port] => self.start(port_number(port)),
            ["end", port] => self.end(port_number(port)),
            arrival => self.arrive(arrival),
        }
    }
}

/// Runs a case, and returns the first line with another result than expected.
fn run_case(case: &Table) -> Result<(), String> {
    let mut bench = Bench::new(case);
    for text in case["steps"].as_array().expect("a list of lines") {
        let text = text.as_str().expect("a line");
        let line = Line::parse(text);
        for i in 1..=line.times {
            let found = bench.run(&line.words);
            // Only the last frame of a line causes the pauses and resumes of the line.
            let is_signal = |text: &&&str| text.starts_with("pause") || text.starts_with("resume");
            let expected: Vec<&str> =
                line.expected.iter().filter(|text| i == line.times || !is_signal(text)).copied().collect();
            if found != expected {
                return Err(format!("`{text}`, frame {i}: found {found:?}; expected {expected:?}"));
            }
        }
        if !bench.switch.conserves_packets() {
            return Err(format!("`{text}`: a packet was lost without a report, or stored twice"));
        }
    }
    Ok(())
}

#[test]
fn memory_with_pools_conforms_to_its_table() {
    let path = format!("{}/../../conformance/pools.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let cases: Vec<&Table> = table["case"].as_array().expect("cases").iter().filter_map(Toml::as_table).collect();
    let (mut wrong, mut open) = (Vec::new(), 0);
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        assert!(case["rule"].is_str(), "{name}: no rule");
        open += usize::from(case.contains_key("open"));
        match (run_case(case), case.contains_key("open")) {
            (Err(fault), false) => wrong.push(format!("{name}: {fault}")),
            (Ok(()), true) => wrong.push(format!("{name}: passes; remove `open`")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((cases.len(), open), COUNTS);
}
