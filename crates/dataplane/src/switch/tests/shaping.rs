//! Tests of maximum rates of classes at a port of 1 Gb/s, frame by frame.

use crate::core::PortSetup;
use crate::switch::*;
use crate::{EventLocation, Framing, NO_EXT, Outcome, PauseFrame, PauseSetup};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::TailDrop;
use mech::params::{Value, Values};
use mech::routing::Ecmp;
use mech::scheduler::SchedulerSlot;
use mech::{ClassSet, Lanes, PacketKind};
use property::for_all;
use proptest::collection::vec;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, Dur, Rate};

/// Routes of a network in which host `n` is behind port `n`.
struct Direct;

impl Routes for Direct {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16))
    }
}

/// Driver that records starts of transmission, and keeps the calls that the switch asks for.
#[derive(Default)]
struct Driver {
    now: Time,
    wakes: BTreeSet<(Time, u16)>,
    timers: BTreeSet<(Time, u32)>,
    sent: Vec<Start>,
    observer: (),
}

/// Start of a transmission: its instant and end, and the class, number and size of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    at: Time,
    end: Time,
    class: u8,
    number: u32,
    size: u16,
}

impl Out for Driver {
    type Observer = ();
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time) {
        if port != PortId(0) || pkt.head.kind() == PacketKind::Pause {
            return;
        }
        let (class, size) = (pkt.head.class(), pkt.head.size);
        self.sent.push(Start { at: self.now, end, class, number: pkt.emission, size });
    }
    fn schedule_wake(&mut self, port: PortId, at: Time) {
        assert!(at >= self.now && self.wakes.insert((at, port.0)), "one wake-up of a port at a time");
    }
    fn set_timer(&mut self, index: u32, at: Time) {
        assert!(at >= self.now);
        self.timers.insert((at, index));
    }
    fn report_outcome(&mut self, _what: Outcome) {
        panic!("no rule is broken");
    }
    fn observer(&mut self) -> &mut () {
        &mut self.observer
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: self.now, node: 0, port: u32::from(port.0) }
    }
}

const CLASSES: usize = 3;

/// Creates a switch whose ports have this scheduler, with maximum rates by class and a burst.
fn switch(kind: &str, rates: [Option<Rate>; CLASSES], burst: u64, pauses: bool) -> Switch {
    switch_with_classes(CLASSES as u8, kind, rates, (burst, pauses))
}
fn switch_with_classes(
    classes: u8,
    kind: &str,
    rates: [Option<Rate>; CLASSES],
    (burst, pauses): (u64, bool),
) -> Switch {
    let mut values = vec![("burst", Value::Size(Bytes(burst)))];
    if rates.iter().any(Option::is_some) {
        values.push(("max_rate", Value::Rates(rates.to_vec())));
    }
    if kind == "round_robin" {
        values.push(("quantum", Value::Size(Bytes(1518))));
        values.push(("weights", Value::Counts(vec![1, 2])));
        values.push(("count", Value::Word("wire".into())));
    }
    let values = Values(values.into_iter().map(|(name, value)| (name.to_string(), value)).collect());
    let pause =
        PauseSetup { response: Dur::ZERO, headroom: 500, max_frame_wait: Dur::us(1), last_arrival_delay: Dur::us(4) };
    let port = |_| PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: mech::Registry::catalogue().make::<SchedulerSlot>(kind, &values).unwrap(),
        pause: pauses.then(|| pause.clone()),
        agents: if pauses { vec![super::pausing::pfc()] } else { Vec::new() },
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(None),
            overflow: TailDrop.into(),
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class: classes - 1,
            may_compute: true,
            ports: (0..2).map(port).collect(),
            inputs: None,
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot: false,
        shuffle: false,
    })
}

/// Event of a script: a frame for port 0 of a class and size, a frame from there to port 1, or a PFC frame that changes
/// the pause of a class.
#[derive(Clone, Copy, Debug)]
enum Input {
    Frame(u8, u16),
    Back(u8, u16),
    Pause(u8, bool),
}

fn input_packet(input: Input, number: u32) -> Pkt {
    match input {
        Input::Frame(class, size) | Input::Back(class, size) => {
            let mut pkt = Pkt { ext: NO_EXT, emission: number, ..Pkt::default() };
            let to = u16::from(matches!(input, Input::Back(..)));
            (pkt.head.ingress, pkt.head.dst) = (PortId(1 - to), HostId(to.into()));
            (pkt.head.ttl, pkt.head.size, pkt.head.orig_size) = (9, size, size);
            pkt.head.set_class(class);
            pkt
        }
        Input::Pause(class, stop) => {
            let (set, none) = (ClassSet::single(class), ClassSet::NONE);
            let (xoff, xon) = if stop { (set, none) } else { (none, set) };
            let mut pkt = PauseFrame { xoff, xon, quanta: u16::MAX, whole: false }.packet(5, 0, true);
            pkt.head.ingress = PortId(0);
            pkt
        }
    }
}

/// Runs a switch until nothing is pending, and returns the starts of transmission.
/// The script has an instant in picoseconds for each input; instants grow.
fn run(switch: &mut Switch, script: &[(u64, Input)]) -> Vec<Start> {
    let (mut out, mut next) = (Driver::default(), 0);
    loop {
        let arrival = script.get(next).map(|(at, _)| Time(*at));
        let pending = [out.wakes.first().map(|e| e.0), out.timers.first().map(|e| e.0), arrival];
        let Some(now) = pending.into_iter().flatten().min() else { return out.sent };
        assert!(now < Time(10_000_000_000_000), "frames that never leave keep the far end paused");
        out.now = now;
        let ended: Vec<PortId> = out.wakes.iter().filter(|e| e.0 == now).map(|e| PortId(e.1)).collect();
        out.wakes.retain(|e| e.0 > now);
        ended.iter().for_each(|port| switch.on_transmit_end(*port, step_at!(now, &mut out)));
        let from = next;
        next += script[from..].iter().take_while(|(at, _)| Time(*at) == now).count();
        let mut arrivals: Vec<Pkt> = (from..next).map(|number| input_packet(script[number].1, number as u32)).collect();
        switch.receive(&mut arrivals, step_at!(now, &mut out));
        let rung: Vec<u32> = out.timers.iter().filter(|e| e.0 == now).map(|e| e.1).collect();
        out.timers.retain(|e| e.0 > now);
        rung.iter().for_each(|index| switch.on_timer(*index, step_at!(now, &mut out)));
        switch.finish_step(step_at!(now, &mut out));
        assert!(switch.conserves_packets(), "at {now}");
    }
}

fn wire(start: &Start) -> u64 {
    u64::from(start.size) + 20
}

/// Tokens of a class in bits times picoseconds, so that all rates in whole bits per second are exact.
struct ReferenceBucket {
    rate: i128,
    burst: i128,
    level: i128,
    at: Time,
}

/// Units of a byte in a [`ReferenceBucket`].
const BYTE: i128 = 8_000_000_000_000;

impl ReferenceBucket {
    fn level(&self, now: Time) -> i128 {
        (self.level + self.rate * i128::from(now.0 - self.at.0)).min(self.burst * BYTE)
    }
    fn take(&mut self, now: Time, bytes: u64) {
        (self.level, self.at) = (self.level(now) - i128::from(bytes) * BYTE, now);
    }
    /// Returns the first instant from `now` on at which the bucket is not in debt.
    fn ready_at(&self, now: Time) -> Time {
        let debt = -self.level(now).min(0);
        Time(now.0 + u64::try_from((debt + self.rate - 1) / self.rate).unwrap())
    }
}

/// Rates whose time for a byte is a whole number of picoseconds.
const RATES: [u64; 4] = [50, 100, 250, 800];

#[test]
fn no_class_exceeds_its_rate_and_the_port_idles_only_if_no_class_may_send() {
    let input = (0..4u8, 0..CLASSES as u8, 64..=1518u16, 0..5_000_000u64, 0..8u8);
    let (mut waits, mut idles) = (0, 0);
    let setup = (vec(input, 1..200), vec(0..6usize, CLASSES), 0..2usize, 0..4000u64);
    for_all(60, setup, |(inputs, rates, kind, burst)| {
        let mbps: Vec<Option<u64>> = rates.iter().map(|rate| RATES.get(*rate).copied()).collect();
        // A run takes less than 12 ms, and a pause expires only after 33 ms. Times of frames and tokens are multiples of 2000 ps, and each input has a rest of its own. So a frame starts at
        // the instant of an input only if this input is the reason.
        let mut at = 0;
        let mut instant = |number: u64, gap: u64| {
            at += gap;
            at / 2000 * 2000 + number
        };
        let mut script: Vec<(u64, Input)> = Vec::new();
        for (number, (what, class, size, gap, pause)) in (0..).zip(inputs) {
            // One gap in four is long, so that queues run empty and buckets fill.
            let at = instant(number, if what == 0 { gap * 8 } else { gap / 8 });
            script.push((at, if pause < 2 { Input::Pause(class, pause == 0) } else { Input::Frame(class, size) }));
        }
        let resumes =
            (0..CLASSES as u8).map(|class| (instant(1000 + u64::from(class), 1 << 30), Input::Pause(class, false)));
        script.extend(resumes.collect::<Vec<_>>());
        let kind = ["strict_priority", "round_robin"][kind];
        let limits = std::array::from_fn(|class| mbps[class].map(Rate::mbps));
        let sent = run(&mut switch(kind, limits, burst, true), &script);
        let arrived = script.iter().filter(|(_, input)| matches!(input, Input::Frame(..))).count();
        assert_eq!(sent.len(), arrived, "every frame leaves");

        // Replay: at each start, and in each gap between transmissions, the port does what the reference allows.
        let mut buckets: Vec<Option<ReferenceBucket>> = mbps
            .iter()
            .map(|rate| rate.map(|rate| i128::from(rate) * 1_000_000))
            .map(|rate| rate.map(|rate| ReferenceBucket { rate, burst: burst.into(), level: 0, at: Time::ZERO }))
            .collect();
        let (mut queues, mut paused) = (vec![VecDeque::new(); CLASSES], [false; CLASSES]);
        let (mut next, mut free_at) = (0, Time::ZERO);
        for start in &sent {
            // No class may send before the start, although the port is free: not after the last input, and not
            // between two inputs.
            loop {
                let input_at = script.get(next).map_or(Time::NEVER, |(at, _)| Time(*at));
                let until = input_at.min(start.at);
                let ready = (0..CLASSES).filter(|class| !queues[*class].is_empty() && !paused[*class]).map(|class| {
                    let from = free_at.max(if next > 0 { Time(script[next - 1].0) } else { Time::ZERO });
                    buckets[class].as_ref().map_or(from, |bucket| bucket.ready_at(from))
                });
                let first = ready.min().unwrap_or(Time::NEVER);
                assert!(first >= until, "{kind}: idle from {first} to {until}");
                idles += u32::from(first > free_at && first < Time::NEVER);
                // Frames that arrive while another leaves wait for its end.
                if input_at > start.at {
                    break;
                }
                match script[next].1 {
                    Input::Frame(class, _) => queues[usize::from(class)].push_back(next as u32),
                    Input::Pause(class, stop) => paused[usize::from(class)] = stop,
                    Input::Back(..) => unreachable!("the script has none"),
                }
                next += 1;
            }
            let class = usize::from(start.class);
            assert!(!paused[class] && start.at >= free_at);
            assert_eq!(queues[class].pop_front(), Some(start.number), "{kind}: the oldest frame of its queue");
            if let Some(bucket) = &mut buckets[class] {
                assert!(bucket.level(start.at) >= 0, "{kind}: class {class} at {}", start.at);
                waits += u32::from(bucket.level(start.at) < BYTE);
                bucket.take(start.at, wire(start));
            }
            free_at = start.end;
        }

        // In any time that ends with the start of a frame, the frames before it are at most the rate and one burst.
        let mut by_class: BTreeMap<u8, Vec<&Start>> = BTreeMap::new();
        sent.iter().for_each(|start| by_class.entry(start.class).or_default().push(start));
        for (class, starts) in by_class {
            let Some(rate) = mbps[usize::from(class)] else { continue };
            for (i, first) in starts.iter().enumerate() {
                let mut bytes = 0;
                for last in &starts[i..] {
                    let allowed = i128::from(rate) * 1_000_000 * i128::from(last.at.0 - first.at.0);
                    assert!(i128::from(bytes) * BYTE <= allowed + i128::from(burst) * BYTE);
                    bytes += wire(last);
                }
            }
        }
    });
    assert!(waits > 500 && idles > 500, "{waits} frames started with the first token, in {idles} idle times");
}

/// Returns the wire bytes of each class that begin within `[from, to)`, in picoseconds.
fn bytes_begun(sent: &[Start], from: u64, to: u64) -> [u64; CLASSES] {
    std::array::from_fn(|class| {
        let begun = |start: &&Start| usize::from(start.class) == class && (from..to).contains(&start.at.0);
        sent.iter().filter(begun).map(wire).sum()
    })
}

#[test]
fn limited_class_sends_exactly_at_its_rate_beside_a_busy_one() {
    // Class 2 may send 100 Mb/s of the 1 Gb/s, and class 0 takes the rest. Each has frames for 100 ms.
    let frames = |class, size, n: usize| (0..n).map(move |_| (0, Input::Frame(class, size)));
    for (kind, size) in [("strict_priority", 1518), ("round_robin", 1518), ("strict_priority", 64), ("round_robin", 64)]
    {
        let script: Vec<_> = frames(2, size, 15_000).chain(frames(0, 1518, 8_200)).collect();
        let limits = [None, None, Some(Rate::mbps(100))];
        let sent = run(&mut switch(kind, limits, 1518, false), &script);
        let [low, _, high] = bytes_begun(&sent, 0, 100_000_000_000);
        // 100 Mb/s for 100 ms are 1,250,000 B.
        assert!(high.abs_diff(1_250_000) <= 1538, "{kind}, {size} B: {high}");
        let all = low + high;
        assert!((12_500_000..12_500_000 + 1538).contains(&all), "{kind}: the port is never idle: {all}");
    }
}

#[test]
fn port_wakes_when_its_only_class_has_tokens_and_not_before() {
    let limits = [Some(Rate::mbps(100)), None, None];
    let script = [(0, Input::Frame(0, 1518)), (0, Input::Frame(0, 1518)), (0, Input::Frame(0, 64))];
    let starts = |burst| -> Vec<u64> {
        let sent = run(&mut switch("strict_priority", limits, burst, false), &script);
        sent.iter().map(|start| start.at.0).collect()
    };
    // 1538 B at 100 Mb/s take 123.04 us. The bucket is empty at the start of the run, so nothing is saved by then.
    assert_eq!(starts(1518), [0, 123_040_000, 246_080_000]);
    assert_eq!(starts(0), [0, 123_040_000, 246_080_000]);
}

#[test]
fn idle_or_paused_class_saves_no_more_than_a_burst() {
    let limits = [Some(Rate::mbps(100)), None, None];
    let us = |n: u64| n * 1_000_000;
    let idle: Vec<_> = (0..4).map(|_| (us(10_000), Input::Frame(0, 1518))).collect();
    let pause = [(0, Input::Pause(0, true)), (us(10_000), Input::Pause(0, false))];
    let paused = [&pause[..1], &[(1, Input::Frame(0, 1518)); 4], &pause[1..]].concat();
    // After the first frame, a bucket of 1518 B has a debt of 20 B, which is paid before that frame has left. Of two
    // full frames, the third leaves early, too.
    for (burst, wanted) in [(1518, [0, 12_304, 124_640, 247_680]), (3076, [0, 12_304, 24_608, 123_040])] {
        for script in [&idle, &paused] {
            let sent = run(&mut switch("strict_priority", limits, burst, true), script);
            let starts: Vec<u64> = sent.iter().map(|start| (start.at.0 - us(10_000)) / 1000).collect();
            assert_eq!(starts, wanted, "burst {burst}");
        }
    }
}

#[test]
fn only_a_port_with_maximum_rates_keeps_tokens_and_steps_its_departures() {
    let script: Vec<_> = (0..50).map(|n| (n * 1000, Input::Frame(0, 700))).collect();
    for (rate, limited) in [(None, false), (Some(Rate::mbps(900)), true)] {
        let mut one = switch_with_classes(1, "strict_priority", [rate, None, None], (1518, false));
        let port = |one: &Switch| one.core.ports()[0].clone();
        assert_eq!((port(&one).computed, port(&one).rest.shaped != 0), (!limited, limited));
        let first = run(&mut one, &script[..1]);
        assert_eq!((first.len(), port(&one).rest.out_of_tokens != 0), (1, limited));
        assert_eq!(run(&mut switch("strict_priority", [rate, None, None], 1518, false), &script).len(), 50);
    }
}

#[test]
fn class_that_waits_for_tokens_leaves_after_a_pause_frame() {
    let limits = [Some(Rate::mbps(100)), None, None];
    // Two of the frames to port 1 wait there, and are the 3000 B at which port 0 sends a PFC frame for class 1. It waits
    // for the end of the first frame, before the second one arrives.
    let back = [(1, Input::Back(1, 1500)), (2, Input::Back(1, 1500)), (3, Input::Back(1, 1500))];
    let script = [&[(0, Input::Frame(0, 1518))][..], &back, &[(4, Input::Frame(0, 1518))]].concat();
    let mut one = switch("strict_priority", limits, 0, true);
    let starts: Vec<u64> = run(&mut one, &script).iter().map(|start| start.at.0).collect();
    assert_eq!(starts, [0, 123_040_000]);
    assert_eq!(one.core().pause_frame_counts().0, 2, "a pause and a resume");
}
