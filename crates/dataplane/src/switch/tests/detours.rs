//! Tests of a switch that detours frames, with shared memory (DIBS §4, §5.5.2).
//! Some test the arrivals for which its mechanism is called.

use crate::core::PortSetup;
use crate::switch::*;
use crate::{EventLocation, Framing, NO_EXT, Outcome, PortCounts};
use mech::Lanes;
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::{Value, Values};
use mech::routing::Ecmp;
use mech::scheduler::SchedulerSlot;
use units::{Amount, Bytes, Rate};

const PORTS: u16 = 8;
const FRAME: u16 = 1500;

/// Routes of a network in which host `n` is behind port `n`.
pub(super) struct Direct;

impl Routes for Direct {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16))
    }
}

/// Driver that ignores all requests of the switch, without an observer.
pub(super) struct IgnoringDriver(pub(super) ());

impl Out for IgnoringDriver {
    type Observer = ();
    fn transmit(&mut self, _port: PortId, _pkt: &Pkt, _end: Time) {}
    fn schedule_wake(&mut self, _port: PortId, _at: Time) {}
    fn set_timer(&mut self, _index: u32, _at: Time) {}
    fn report_outcome(&mut self, _what: Outcome) {}
    fn observer(&mut self) -> &mut () {
        &mut self.0
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

fn values_of<const N: usize>(values: [(&str, Value); N]) -> Values {
    Values(values.map(|(name, value)| (name.to_string(), value)).into_iter().collect())
}
fn word(text: &str) -> Value {
    Value::Word(text.into())
}
/// Creates shared memory of 1.7 MB for eight ports, with 15 kB reserved for each and the threshold factor `alpha`.
fn shared(alpha: f64) -> BufferSlot {
    let values = values_of([
        ("size", Value::Size(Bytes(1_700_000))),
        ("alpha", Value::Number(alpha)),
        ("reserved", Value::Size(Bytes(15_000))),
        ("per", Value::Word("port".into())),
    ]);
    mech::Registry::catalogue().make::<BufferSlot>("shared", &values).unwrap().for_ports(PORTS)
}
fn per_port(packets: u64) -> BufferSlot {
    mech::Registry::catalogue()
        .make::<BufferSlot>("per_port", &values_of([("size", Value::Amount(Amount::Packets(packets)))]))
        .unwrap()
}
fn detour<const N: usize>(policy: &str, more: [(&str, Value); N]) -> OverflowSlot {
    let mut values = values_of([
        ("policy", word(policy)),
        ("mark_detoured", Value::Flag(true)),
        ("ingress", Value::Flag(true)),
        ("max_detours", Value::Off),
    ]);
    values.0.extend(values_of(more).0);
    mech::Registry::catalogue().make::<OverflowSlot>("detour", &values).unwrap()
}

fn switch(buffer: BufferSlot, overflow: OverflowSlot, snapshot: bool) -> Switch {
    switch_with(buffer, overflow, &MarkingSlot::none(), (snapshot, true))
}
/// Creates a switch with eight ports, the first of which leads to a host.
pub(super) fn switch_with(
    buffer: BufferSlot,
    overflow: OverflowSlot,
    marking: &MarkingSlot,
    how: (bool, bool),
) -> Switch {
    switch_with_classes(buffer, overflow, marking, how, 0)
}
/// Creates the switch of [`switch_with`] with classes up to `top_class`.
pub(super) fn switch_with_classes(
    buffer: BufferSlot,
    overflow: OverflowSlot,
    marking: &MarkingSlot,
    (snapshot, may_compute): (bool, bool),
    top_class: u8,
) -> Switch {
    let port = |n| PortSetup {
        changes: false,
        clock: Rate::gbps(1).clock(),
        is_switch: n > 0,
        marking: marking.clone(),
        scheduler: mech::Registry::catalogue().make::<SchedulerSlot>("fifo", &Values::default()).unwrap(),
        pause: None,
        agents: Vec::new(),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 3,
            framing: Framing::ETHERNET,
            buffer,
            overflow,
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class,
            may_compute,
            ports: (0..PORTS).map(port).collect(),
            inputs: None,
        },
        fib: FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot,
        shuffle: false,
    })
}
/// Lets `frames` frames for host 0 arrive at an instant in picoseconds, while the first of them is on the link.
fn burst(switch: &mut Switch, at: u64, frames: u16) {
    let pkt = |n| {
        let head = Head { ingress: PortId(1 + n % 7), hash: u32::from(n), size: FRAME, ttl: 9, ..Head::default() };
        Pkt { head, ext: NO_EXT, ..Pkt::default() }
    };
    let mut arrivals: Vec<Pkt> = (0..frames).map(pkt).collect();
    switch.step(&[], &mut arrivals, step_at!(Time(at), &mut IgnoringDriver(())));
    assert!(switch.conserves_packets());
}
fn counts(switch: &Switch) -> Vec<PortCounts> {
    switch.core.ports().iter().map(|port| port.counts()).collect()
}
fn lost(switch: &Switch, reason: DropReason) -> u64 {
    counts(switch).iter().map(|c| c.dropped[reason as usize]).sum()
}

#[test]
fn exhausted_pool_detours_into_the_reserves_of_other_ports() {
    for policy in ["random", "load_aware", "flow_based"] {
        let mut switch = switch(shared(1e9), detour(policy, []), false);
        // Port 0 takes 1,580,000 bytes of the pool and 15,000 of its own: 1063 frames. Then each of the seven others
        // takes ten.
        burst(&mut switch, 0, 1063);
        assert_eq!(counts(&switch)[0].detoured, 0, "{policy}: one queue may take the whole pool");
        burst(&mut switch, 1, 90);
        let all = counts(&switch);
        // At its end the first burst put one frame on the link, whose bytes are free again.
        assert_eq!((all[0].enqueued, all[0].detoured), (1064, 70), "{policy}");
        assert!(all[1..].iter().all(|c| c.enqueued == 10), "{policy}: every reserve is used, and no more");
        assert_eq!(lost(&switch, DropReason::NoDetour), 90 - 1 - 70, "{policy}");
        assert_eq!(lost(&switch, DropReason::BufferFull), 0, "{policy}");
    }
}

#[test]
fn load_aware_detours_fill_all_ports_equally() {
    let mut switch = switch(per_port(5), detour("load_aware", []), false);
    burst(&mut switch, 0, 5 + 3 * 7);
    assert!(counts(&switch)[1..].iter().all(|c| c.enqueued == 3));
}

#[test]
fn a_small_alpha_detours_long_before_the_memory_is_used_up() {
    let mut switch = switch(shared(0.25), detour("random", []), false);
    burst(&mut switch, 0, 400);
    // A port alone settles at 15,000 + 0.25 (1,580,000 - 316,000) = 331,000 bytes: 220 frames.
    let all = counts(&switch);
    assert_eq!((all[0].enqueued, all[0].detoured), (220, 180));
    assert_eq!(lost(&switch, DropReason::NoDetour), 0);
}

#[test]
fn snapshot_detours_see_ports_as_before_the_instant() {
    for policy in ["random", "load_aware", "flow_based"] {
        let after = |snapshot| {
            let mut switch = switch(per_port(1), detour(policy, []), snapshot);
            burst(&mut switch, 0, 1);
            burst(&mut switch, 1, 1);
            burst(&mut switch, 2, 14);
            let stored = counts(&switch)[1..].iter().map(|c| c.enqueued).sum::<u64>();
            let reasons = [DropReason::NoDetour, DropReason::BufferFull].map(|reason| lost(&switch, reason));
            (counts(&switch)[0].detoured, stored, reasons)
        };
        assert_eq!(after(false), (7, 7, [7, 0]), "{policy}: each sees what those before it took");
        let (detoured, stored, reasons) = after(true);
        assert_eq!((detoured, reasons), (14, [0, 14 - stored]), "{policy}: the memory has the last word");
        assert!(stored < 8, "{policy}: {stored}");
    }
}

#[test]
fn with_endless_memory_no_policy_detours() {
    for (policy, more) in [("random", None), ("load_aware", None), ("flow_based", None), ("probabilistic", Some(0.0))] {
        let more = more.map(|n| [("lo", Value::Number(n)), ("hi", Value::Number(n))]);
        let overflow = more.map_or_else(|| detour(policy, []), |more| detour(policy, more));
        let buffer = mech::Registry::catalogue().make::<BufferSlot>("unlimited", &Values::default()).unwrap();
        let mut switch = switch(buffer, overflow, false);
        burst(&mut switch, 0, 2000);
        assert_eq!((counts(&switch)[0].enqueued, counts(&switch)[0].detoured), (2000, 0), "{policy}");
    }
}

#[test]
fn probabilistic_and_counting_policies_see_every_packet() {
    let half = [("lo", Value::Number(0.5)), ("hi", Value::Number(0.5))];
    let mut early = switch(per_port(20), detour("probabilistic", half), false);
    burst(&mut early, 0, 40);
    // From ten queued packets on, every packet is detoured.
    assert_eq!((counts(&early)[0].enqueued, counts(&early)[0].detoured), (10, 30));
    let sized = |flows| {
        let more =
            [("flows", word(flows)), ("flow_size", Value::Size(Bytes(15_000))), ("flow_table", Value::Count(64))];
        let mut switch = switch(per_port(20), detour("flow_based", more), false);
        let pkt = || Pkt { head: Head { size: FRAME, ttl: 9, ..Head::default() }, ext: NO_EXT, ..Pkt::default() };
        let mut arrivals: Vec<Pkt> = (0..30).map(|_| pkt()).collect();
        switch.step(&[], &mut arrivals, step_at!(Time::ZERO, &mut IgnoringDriver(())));
        (counts(&switch)[0].enqueued, counts(&switch)[0].detoured, lost(&switch, DropReason::BufferFull))
    };
    // Ten packets make the flow long.
    assert_eq!((sized("long"), sized("short")), ((20, 10, 0), (20, 0, 10)));
}
