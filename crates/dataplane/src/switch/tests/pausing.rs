//! Tests of a switch whose ports pause others and are paused, frame by frame.
//! Ports have 1 Gb/s: 64 bytes with 20 of preamble and gap take 672 ns, and 1518 bytes take 12,304 ns.

use crate::core::{PauseSetup, PortSetup};
use crate::switch::*;
use crate::{EventLocation, Framing, NO_EXT, Outcome, PauseFrame};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::TailDrop;
use mech::params::{Value, Values};
use mech::routing::Ecmp;
use mech::scheduler::StrictPriority;
use mech::{Account, AgentSlot, ClassSet, Lanes, QueueId};
use units::{Amount, Bytes, Dur, Rate};

/// Routes of a network in which host `n` is behind port `n`.
pub(super) struct Direct;

impl Routes for Direct {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16))
    }
}

/// Driver and observer that record the calls of the switch.
#[derive(Default)]
pub(super) struct PauseRecording {
    sent: Vec<(u16, Pkt)>,
    wakes: Vec<(u16, Time)>,
    pub(super) timers: Vec<(u32, Time)>,
    pub(super) paused: Vec<(u16, u8, bool)>,
    pub(super) lost: Vec<crate::LosslessViolation>,
    pub(super) ignored: Vec<PortId>,
}

impl PauseRecording {
    /// Returns the frames that each port sent: the contents of a pause frame, or the size of a packet.
    pub(super) fn sent(&mut self) -> Vec<(u16, Result<u16, PauseFrame>)> {
        let each = |(port, pkt): (u16, Pkt)| (port, PauseFrame::from_packet(&pkt).map_or(Ok(pkt.head.size), Err));
        self.sent.drain(..).map(each).collect()
    }
}

impl Out for PauseRecording {
    type Observer = Self;
    fn transmit(&mut self, port: PortId, pkt: &Pkt, _end: Time) {
        self.sent.push((port.0, *pkt));
    }
    fn schedule_wake(&mut self, port: PortId, at: Time) {
        self.wakes.push((port.0, at));
    }
    fn set_timer(&mut self, index: u32, at: Time) {
        self.timers.push((index, at));
    }
    fn report_outcome(&mut self, what: Outcome) {
        match what {
            Outcome::LosslessViolated(lost) => self.lost.push(*lost),
            Outcome::PausesIgnored(port) => self.ignored.push(port),
            _ => {}
        }
    }
    fn observer(&mut self) -> &mut Self {
        self
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

impl Observer for PauseRecording {
    fn on_pause(&mut self, at: EventLocation, class: u8) {
        self.paused.push((at.port as u16, class, true));
    }
    fn on_resume(&mut self, at: EventLocation, class: u8) {
        self.paused.push((at.port as u16, class, false));
    }
}

pub(super) fn pfc() -> AgentSlot {
    pfc_with([("watchdog", Value::Word("off".into()))])
}

/// Creates PFC of the classes 1 and 2 with additional parameters.
pub(super) fn pfc_with<const N: usize>(more: [(&str, Value); N]) -> AgentSlot {
    let values = [
        ("xoff", Value::Size(Bytes(3000))),
        ("xon", Value::Size(Bytes(1000))),
        ("quanta", Value::Count(100)),
        ("response", Value::Time(Dur::ZERO)),
        ("response_by_rate", Value::Flag(false)),
        ("lossless", Value::Flag(true)),
        ("classes", Value::Counts(vec![1, 2])),
    ];
    let all = values.into_iter().chain(more);
    let values = Values(all.map(|(name, value)| (name.to_string(), value)).collect());
    mech::Registry::catalogue().make::<mech::pause::PauseSlot>("pfc", &values).unwrap().for_port(Rate::gbps(1).clock())
}

fn switch(response: Dur) -> Switch {
    switch_with(response, pfc())
}

/// Creates a switch of four ports of 1 Gb/s, each with this agent.
pub(super) fn switch_with(response: Dur, agent: AgentSlot) -> Switch {
    let port = || PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: StrictPriority::default().into(),
        agents: vec![agent.clone()],
        pause: Some(PauseSetup { response, headroom: 500, max_frame_wait: Dur::us(1), last_arrival_delay: Dur::us(4) }),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(Some(Amount::Bytes(5000))),
            overflow: TailDrop.into(),
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class: 2,
            may_compute: true,
            ports: (0..4).map(|_| port()).collect(),
            inputs: None,
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot: false,
        shuffle: false,
    })
}

/// Creates a packet of a class and size, from an input port to an output port.
pub(super) fn pkt(from: u16, to: u16, (class, size): (u8, u16)) -> Pkt {
    let mut pkt = Pkt { ext: NO_EXT, ..Pkt::default() };
    (pkt.head.ingress, pkt.head.dst, pkt.head.ttl) = (PortId(from), HostId(u32::from(to)), 9);
    (pkt.head.size, pkt.head.orig_size) = (size, size);
    pkt.head.set_class(class);
    pkt
}

/// Creates a PFC frame that arrives at a port, pauses the classes `stop` and resumes the classes `go`.
pub(super) fn pfc_frame(port: u16, stop: u8, go: u8) -> Pkt {
    pfc_frame_of(10, port, (stop, go))
}

/// Creates a PFC frame as [`pfc_frame`] does, with another number of quanta.
pub(super) fn pfc_frame_of(quanta: u16, port: u16, (stop, go): (u8, u8)) -> Pkt {
    let frame = PauseFrame { xoff: ClassSet(stop), xon: ClassSet(go), quanta, whole: false };
    let mut pkt = frame.packet(5, 0, true);
    pkt.head.ingress = PortId(port);
    pkt
}

pub(super) fn step_at(switch: &mut Switch, ns: u64, arrivals: &mut [Pkt], out: &mut PauseRecording) {
    switch.step(&[], arrivals, step_at!(Time(ns * 1000), out));
    assert!(switch.conserves_packets(), "at {ns} ns");
}

fn pause_frame(stop: u8, go: u8) -> Result<u16, PauseFrame> {
    Err(PauseFrame { xoff: ClassSet(stop), xon: ClassSet(go), quanta: if stop > 0 { 100 } else { 0 }, whole: false })
}

#[test]
fn pause_frame_leaves_next_after_the_frame_in_transmission() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    step_at(&mut switch, 0, &mut [pkt(3, 0, (0, 1518)), pkt(3, 0, (0, 1518))], &mut out);
    assert_eq!(out.sent(), [(0, Ok(1518))]);
    // The second of these frames makes 3000 bytes of class 1 from port 0, which is XOFF.
    step_at(&mut switch, 100, &mut [pkt(0, 1, (1, 1500)), pkt(0, 1, (1, 1500)), pkt(0, 1, (1, 1500))], &mut out);
    assert_eq!(out.sent(), [(1, Ok(1500))], "port 0 is busy with its first");
    assert_eq!(out.wakes[0], (0, Time(12_304_000)));
    switch.step(&[PortId(0)], &mut [], step_at!(Time(12_304_000), &mut out));
    assert_eq!(out.sent(), [(0, pause_frame(0b10, 0))], "before the second");
    switch.step(&[PortId(0)], &mut [], step_at!(Time(12_976_000), &mut out));
    assert_eq!(out.sent(), [(0, Ok(1518))], "84 bytes later");
    assert_eq!(switch.core().pause_frame_counts(), (1, 0));
    assert!(switch.conserves_packets());
}

#[test]
fn idle_port_sends_one_pause_frame_for_all_classes_at_once() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    let mut both = [pkt(0, 1, (1, 1500)), pkt(0, 1, (1, 1500)), pkt(0, 2, (2, 1500)), pkt(0, 2, (2, 1500))];
    step_at(&mut switch, 0, &mut both, &mut out);
    let mut sent = out.sent();
    sent.sort_by_key(|(port, _)| *port);
    assert_eq!(sent[0], (0, pause_frame(0b110, 0)), "both classes were at 3000 when it could leave");
    // Until now 1500 bytes of each class were left, above XON of 1000.
    switch.step(&[PortId(1), PortId(2)], &mut [], step_at!(Time(12_160_000), &mut out));
    let mut sent = out.sent();
    sent.sort_by_key(|(port, _)| *port);
    assert_eq!(sent[0], (0, pause_frame(0, 0b110)), "nothing is left");
}

#[test]
fn a_class_that_is_not_listed_is_never_paused() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    step_at(&mut switch, 0, &mut [(); 4].map(|()| pkt(0, 1, (0, 1500))), &mut out);
    assert_eq!(out.sent(), [(1, Ok(1500))]);
    assert!(out.lost.is_empty(), "and what it loses is no fault");
    assert_eq!(switch.core().ports()[1].counts().dropped.iter().sum::<u64>(), 1);
}

#[test]
fn paused_class_waits_until_resumed_while_other_classes_leave() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    step_at(&mut switch, 0, &mut [pfc_frame(1, 0b100, 0)], &mut out);
    assert_eq!(out.paused, [(1, 2, true)]);
    step_at(&mut switch, 10, &mut [pkt(0, 1, (2, 64))], &mut out);
    assert!(out.sent().is_empty() && out.wakes.is_empty(), "nothing that may leave, nothing pending");
    step_at(&mut switch, 20, &mut [pkt(0, 1, (1, 64)), pkt(0, 1, (1, 65))], &mut out);
    assert_eq!(out.sent(), [(1, Ok(64))], "a lower class goes");
    switch.step(&[PortId(1)], &mut [], step_at!(Time(692_000), &mut out));
    assert_eq!(out.sent(), [(1, Ok(65))]);
    step_at(&mut switch, 1000, &mut [pfc_frame(1, 0, 0b100)], &mut out);
    assert!(out.sent().is_empty(), "the wire is busy until 1372");
    assert_eq!(out.wakes.last(), Some(&(1, Time(1_372_000))));
    switch.step(&[PortId(1)], &mut [], step_at!(Time(1_372_000), &mut out));
    assert_eq!(out.sent(), [(1, Ok(64))]);
    assert_eq!(out.paused, [(1, 2, true), (1, 2, false)]);
}

#[test]
fn pause_expires_exactly_and_a_second_one_extends_it() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    // 10 quanta are 5120 ns.
    step_at(&mut switch, 0, &mut [pfc_frame(1, 0b10, 0), pkt(0, 1, (1, 64))], &mut out);
    let (index, first) = out.timers[0];
    assert_eq!((out.timers.len(), first), (1, Time(5_120_000)));
    step_at(&mut switch, 3000, &mut [pfc_frame(1, 0b10, 0)], &mut out);
    assert_eq!(out.timers.len(), 1, "the event that is pending sleeps on");
    switch.on_timer(index, step_at!(first, &mut out));
    assert_eq!((out.paused.len(), out.timers[1]), (1, (index, Time(8_120_000))));
    switch.on_timer(index, step_at!(Time(8_120_000), &mut out));
    switch.finish_step(step_at!(Time(8_120_000), &mut out));
    assert_eq!((out.paused[1], out.sent()), ((1, 1, false), vec![(1, Ok(64))]));
}

#[test]
fn after_a_response_time_requests_take_effect_in_their_order() {
    let (mut switch, mut out) = (switch(Dur::ns(500)), PauseRecording::default());
    step_at(&mut switch, 0, &mut [pfc_frame(1, 0b10, 0)], &mut out);
    step_at(&mut switch, 200, &mut [pfc_frame(1, 0, 0b10)], &mut out);
    assert!(out.paused.is_empty());
    let (index, when) = out.timers[0];
    assert_eq!((when, out.timers.len()), (Time(500_000), 1));
    switch.on_timer(index, step_at!(when, &mut out));
    assert_eq!(out.paused, [(1, 1, true)]);
    assert_eq!(out.timers.iter().filter(|timer| **timer == (index, Time(700_000))).count(), 1);
    switch.on_timer(index, step_at!(Time(700_000), &mut out));
    assert_eq!(out.paused, [(1, 1, true), (1, 1, false)]);
}

#[test]
fn drop_of_a_lossless_packet_reports_the_memory_it_lacked() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    // 1500 bytes leave, and three times 1500 are queued of 5000. One more frame does not fit.
    step_at(&mut switch, 0, &mut [pkt(0, 1, (1, 1500))], &mut out);
    step_at(&mut switch, 1, &mut [(); 4].map(|()| pkt(0, 1, (1, 1500))), &mut out);
    let [lost] = out.lost[..] else { panic!("{:?}", out.lost) };
    assert_eq!((lost.ingress, lost.class, lost.out), (PortId(0), 1, PortId(1)));
    assert_eq!((lost.held, lost.xoff, lost.headroom), (6000, 3000, 500));
    assert_eq!((lost.fill.used, lost.fill.limit), (4500, Some(5000)));
}

#[test]
fn memory_is_counted_by_port_and_class_until_the_last_byte_is_gone() {
    let (mut switch, mut out) = (switch(Dur::ZERO), PauseRecording::default());
    step_at(&mut switch, 0, &mut [pkt(0, 1, (1, 100)), pkt(2, 1, (1, 200)), pkt(0, 1, (2, 300))], &mut out);
    step_at(&mut switch, 1, &mut [pkt(0, 1, (1, 64))], &mut out);
    // The frame of class 2 left first.
    let by_ingress = |switch: &Switch, class| switch.core().backlog_by_ingress(PortId(1), class);
    assert_eq!(by_ingress(&switch, 1), [164, 0, 200, 0]);
    assert_eq!(by_ingress(&switch, 2), [0; 4]);
    let input = |switch: &Switch, n: u16| {
        switch.core.store.accounts.bytes(Account::Input(PortId(n / 8), (n % 8) as u8)).unwrap_or(0)
    };
    let allocated = |switch: &Switch| -> [u64; 32] { std::array::from_fn(|n| input(switch, n as u16)) };
    assert_eq!(allocated(&switch).iter().sum::<u64>(), 364);
    assert_eq!((allocated(&switch)[1], allocated(&switch)[2 * 8 + 1]), (164, 200));
    let mut now = 2_560_000;
    for _ in 0..3 {
        switch.step(&[PortId(1)], &mut [], step_at!(Time(now), &mut out));
        now += 2_000_000;
    }
    assert_eq!(allocated(&switch), [0; 32]);
    assert_eq!(switch.core().ports()[1].backlog(QueueId::normal(1)), (0, 0));
}
