//! Tests of a switch that bounces packets back toward their source, arrival by arrival.
//! A switch that evicts has a file of its own.

/// Creates the `SwitchStep` of a test: its instant, `Direct` routes, no packet extensions, and the driver.
macro_rules! step_at {
    ($now:expr, $out:expr) => {
        &mut crate::SwitchStep { now: $now, routes: &Direct, exts: &mut crate::ExtensionSlab::default(), out: $out }
    };
}

mod crossing;
mod detours;
mod evict;
mod marks;
mod memory;
mod pausing;
mod shaping;
mod watchdog;

use super::*;
use crate::core::PortSetup;
use crate::packet_store::NodeView;
use crate::{EnqueuedFrame, EventLocation, Framing, NO_EXT, ObservedEvents, Outcome};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::{Value, Values};
use mech::routing::Ecmp;
use mech::scheduler::StrictPriority;
use mech::{Fill, Lane, LaneLimit, Lanes, QueueId, View};
use property::for_all;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};
use units::{Amount, Rate};

const PORTS: u16 = 4;
const NORMAL: u64 = 20;
const BOUNCE: u64 = 30;

/// Routes of a network in which host `n` is behind port `n`.
struct Direct;

impl Routes for Direct {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16))
    }
}

/// Driver and observer that record the calls of the switch.
#[derive(Default)]
struct Recording {
    stored: Option<PortId>,
    sent: Vec<(PortId, Pkt)>,
    wakes: Vec<PortId>,
    lost: u32,
    last_lost: Vec<(Pkt, DropReason)>,
}

impl Out for Recording {
    type Observer = Self;
    fn transmit(&mut self, port: PortId, pkt: &Pkt, _end: Time) {
        self.sent.push((port, *pkt));
    }
    fn schedule_wake(&mut self, port: PortId, _at: Time) {
        self.wakes.push(port);
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

impl Observer for Recording {
    const OBSERVED: ObservedEvents = ObservedEvents::QUEUES;

    fn on_enqueue(&mut self, at: EventLocation, _frame: EnqueuedFrame, _pkt: &Pkt) {
        self.stored = Some(PortId(at.port as u16));
    }
    fn on_drop(&mut self, _at: EventLocation, pkt: &Pkt, reason: DropReason) {
        self.lost += 1;
        self.last_lost.push((*pkt, reason));
    }
}

fn bounce() -> OverflowSlot {
    let word = |text: &str| Value::Word(text.into());
    let values = [
        ("theta", Value::Number(0.3)),
        ("lambda", Value::Number(5.0)),
        ("bounce_size", Value::Amount(Amount::Packets(BOUNCE))),
        ("round_to", Value::Count(0)),
        ("rounding", Value::Word("places".into())),
        ("back_port", word("source")),
        ("bounce_full", word("forward")),
    ];
    let values = values.map(|(name, value)| (name.to_string(), value));
    mech::Registry::catalogue().make::<OverflowSlot>("bounce", &Values(values.into_iter().collect())).unwrap()
}

fn switch() -> Switch {
    let port = || PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: StrictPriority::default().into(),
        pause: None,
        agents: Vec::new(),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(Some(Amount::Packets(NORMAL))),
            overflow: bounce(),
            lanes: Lanes::default().with(Lane::Bounce, LaneLimit::Limited(Amount::Packets(BOUNCE))),
            lowest_class: 0,
            top_class: 7,
            may_compute: false,
            ports: (0..PORTS).map(|_| port()).collect(),
            inputs: None,
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot: false,
        shuffle: false,
    })
}

fn fill(switch: &Switch, port: PortId, queue: QueueId) -> Fill {
    let fib = &SwitchFib { node: 0, routes: &Direct, routing: &switch.routing, now: Time::ZERO, learnt: None };
    NodeView::new(&switch.core.store, fib, None).fill(port, queue)
}

/// Utilisation (column "Util" of PABO's table, §II-D), by port and by queue that has a limit of its own.
/// Normal queues of all classes count together.
#[derive(Default)]
struct Util(BTreeMap<(u16, u8), f64>);

impl Util {
    fn count_packet(&mut self, port: PortId, pkt: &Pkt, by: f64) {
        let queue = pkt.head.queue();
        let (queue, size) = if queue.lane() == Lane::Bounce { (queue.0, BOUNCE) } else { (0, NORMAL) };
        *self.0.entry((port.0, queue)).or_default() += by / size as f64;
    }
    fn check(&self, switch: &Switch) {
        for ((port, queue), u) in &self.0 {
            let Fill { used, limit } = fill(switch, PortId(*port), QueueId(*queue));
            let found = used as f64 / limit.unwrap() as f64;
            assert!(
                (u - found).abs() < 1e-9,
                "port {port}, queue {queue}: utilisation {u} by counting packets, {found} in the switch"
            );
        }
    }
}

#[test]
fn pabo_utilisation_changes_by_one_packet_at_a_time() {
    let (mut bounced, mut queues) = (0, BTreeSet::new());
    let steps = vec((0..5, any::<Index>(), 1..=3_u16, 0..3_u8, 0..8_u8), 0..=2000);
    for_all(20, steps, |steps| {
        let (mut switch, mut util, mut waiting) = (switch(), Util::default(), Vec::new());
        for (step, (kind, which, input, bounces, class)) in (0..).zip(steps) {
            let mut told = Recording::default();
            if kind < 2 && !waiting.is_empty() {
                let port = waiting.swap_remove(which.index(waiting.len()));
                let free = Time(u64::MAX / 4 + step * 1_000_000);
                switch.step(&[port], &mut [], step_at!(free, &mut told));
            } else {
                let mut head = Head { src: HostId(input.into()), size: 1518, ttl: 9, bounces, ..Head::default() };
                head.ingress = PortId(input);
                head.set_class(class);
                let before = head.bounces;
                let mut pkt = [Pkt { head, ext: NO_EXT, ..Pkt::default() }];
                switch.step(&[], &mut pkt, step_at!(Time(u64::MAX / 4 + step * 1_000_000), &mut told));
                let [pkt] = pkt;
                assert_eq!(told.stored.is_some(), told.lost == 0);
                if let Some(port) = told.stored {
                    assert_eq!(port == PortId(0), pkt.head.bounces == before, "back is toward the source");
                    assert!(pkt.head.bounces == before || pkt.head.bounces == before + 1);
                    bounced += u32::from(port != PortId(0));
                    util.count_packet(port, &pkt, 1.0);
                }
            }
            for (port, pkt) in &told.sent {
                util.count_packet(*port, pkt, -1.0);
            }
            waiting.extend(told.wakes);
            util.check(&switch);
            assert!(switch.conserves_packets());
        }
        queues.extend(util.0.keys().map(|(_, queue)| *queue));
    });
    assert!(bounced > 1000, "{bounced}");
    assert_eq!(queues.last(), Some(&29), "every class");
}

#[test]
fn bounced_packets_leave_first_within_their_class() {
    let mut switch = switch();
    let pkt = |class, bounces| {
        let mut head = Head { src: HostId(1), ingress: PortId(1), size: 1518, ttl: 9, bounces, ..Head::default() };
        head.set_class(class);
        Pkt { head, ext: NO_EXT, ..Pkt::default() }
    };
    let mut told = Recording::default();
    let mut all: Vec<Pkt> = vec![pkt(0, 0)];
    all.extend((0..8).flat_map(|class| [pkt(class, 0), pkt(class, 1)]).take(5));
    all.extend([pkt(7, 2), pkt(7, 0)]);
    all.iter().for_each(|one| switch.step(&[], &mut [*one], step_at!(Time::ZERO, &mut told)));
    while let Some(port) = told.wakes.pop() {
        switch.step(&[port], &mut [], step_at!(Time(u64::MAX / 4), &mut told));
    }
    let left: Vec<u8> = told.sent.iter().map(|(_, pkt)| pkt.head.queue().0).collect();
    let mut sorted = left[1..].to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!((left[0], &left[1..]), (0, sorted.as_slice()), "the first was on the wire");
    assert_eq!(sorted, [29, 28, 8, 5, 4, 1, 0]);
}
