//! Tests of a host whose NIC serves its flows in turn, event by event.
//!
//! The link has 1 Gb/s. A segment of 1000 B is a frame of 1058 B. With 20 B of preamble and gap it takes 8624 ns, and
//! 86,240 ns at a tenth of the rate.

use super::*;
use crate::core::PortSetup;
use crate::transport::tests::pair::config;
use crate::{EventLocation, NewFlow, NoticeSetup, Outcome};
use mech::buffer::BufferSlot;
use mech::host::{FlowAtNic, Reaction};
use mech::marking::MarkingSlot;
use mech::overflow::TailDrop;
use mech::params::Value;
use mech::scheduler::StrictPriority;
use mech::{Lanes, Notice};
use std::collections::BTreeSet;
use units::{Amount, Rate};

/// Driver that records the host's frames, with the end of each in ns, and its events.
#[derive(Default)]
struct Driver {
    ends: Vec<(u64, u32)>,
    events: BTreeSet<(Time, Option<u32>)>,
    nobody: (),
}

impl Out for &mut Driver {
    type Observer = ();

    fn transmit(&mut self, _: PortId, pkt: &Pkt, end: Time) {
        self.ends.push((end.0 / 1000, pkt.emission));
    }
    fn schedule_wake(&mut self, _: PortId, at: Time) {
        self.events.insert((at, None));
    }
    fn set_timer(&mut self, index: u32, at: Time) {
        self.events.insert((at, Some(index)));
    }
    fn report_outcome(&mut self, _what: Outcome) {}
    fn observer(&mut self) -> &mut () {
        &mut self.nobody
    }
    fn event_location(&self, port: PortId) -> EventLocation {
        EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
    }
}

/// Reaction point of the tests: the first CNP limits a flow to 100 Mb/s, and each further CNP halves the limit.
/// A CNM removes the limit.
#[derive(Clone)]
struct Halving;

impl Reaction for Halving {
    fn on_notice(&mut self, notice: &Notice, flow: &mut FlowAtNic) {
        match (notice, flow.limiter.map(|limiter| limiter.rate())) {
            (Notice::Cnm { .. }, _) => *flow.limiter = None,
            (Notice::Cnp, None) => flow.set_rate_limit(Rate::mbps(100)),
            (Notice::Cnp, Some(rate)) => flow.set_rate_limit(rate.divide(2, 1).expect("it is above zero")),
        }
    }
    fn clone_boxed(&self) -> Box<dyn Reaction> {
        Box::new(self.clone())
    }
}

struct Bench {
    host: Host,
    flows: FlowTable,
    tcp: TransportTable,
    exts: ExtensionSlab,
    released: ReleasedPackets,
    driver: Driver,
}

impl Bench {
    fn new(reaction: ReactionSlot) -> Bench {
        let port = PortSetup {
            clock: Rate::gbps(1).clock(),
            is_switch: true,
            marking: MarkingSlot::none(),
            scheduler: StrictPriority::default().into(),
            pause: None,
            agents: Vec::new(),
            changes: false,
        };
        let core = CoreSetup {
            node: 0,
            seed: 1,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(None),
            overflow: TailDrop.into(),
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class: 0,
            may_compute: false,
            ports: vec![port],
            inputs: None,
        };
        let setup = HostSetup {
            core,
            id: HostId(0),
            stack_delay: Dur::ZERO,
            stack_jitter: Dur::ZERO,
            order: NicOrder::RoundRobin(mech::host::FlowQueues::default()),
            reaction,
            pauses: None,
        };
        Bench {
            host: Host::new(setup),
            flows: FlowTable::default(),
            tcp: TransportTable::uniform(config("newreno", &[("initial_window", Value::Amount(Amount::Packets(10)))])),
            exts: ExtensionSlab::default(),
            released: ReleasedPackets::default(),
            driver: Driver::default(),
        }
    }

    /// Runs one step of the host at `now`, with `act` as its action.
    fn step(&mut self, now: Time, act: impl FnOnce(&mut Host, &mut HostStep<&mut Driver>)) {
        let mut step = HostStep {
            now,
            flows: &mut self.flows,
            tcp: &self.tcp,
            exts: &mut self.exts,
            released: &mut self.released,
            out: &mut self.driver,
        };
        act(&mut self.host, &mut step);
        self.host.finish_step(&mut step);
        assert!(self.host.conserves_packets(), "at {now}");
    }

    /// Starts a flow of `segments` segments at time 0.
    fn start(&mut self, segments: u64) -> FlowId {
        let new = NewFlow {
            src: HostId(0),
            dst: HostId(1),
            ports: 0,
            bytes: 1000 * segments,
            class: 0,
            code_point: 0,
            row: 0,
            raw: false,
        };
        let flow = self.flows.add(new);
        self.step(Time::ZERO, |host, step| host.start(flow, step));
        flow
    }

    /// Handles all events of the host before an instant in ns.
    fn until(&mut self, ns: u64) {
        while let Some((at, event)) = self.driver.events.first().copied().filter(|(at, _)| at.0 < ns * 1000) {
            self.driver.events.pop_first();
            self.step(at, |host, step| match event {
                None => host.on_transmit_end(step),
                Some(index) => host.on_timer(index, step),
            });
        }
    }

    /// Makes a congestion message about a flow arrive at the host.
    fn notice(&mut self, ns: u64, flow: FlowId, notice: Notice) {
        self.until(ns);
        let mut pkt = NoticeSetup { notice, flow, to: HostId(0), node: 9, n: 0, size: 64 }.packet();
        self.step(Time(ns * 1000), |host, step| host.receive(&mut pkt, step));
    }
}

/// Returns the ends in ns, with serial numbers, of the frames that begin at the instants `starts`.
fn ends<const N: usize>(starts: [u64; N]) -> Vec<(u64, u32)> {
    starts.iter().map(|start| start + 8624).zip(0..).collect()
}

#[test]
fn notice_changes_the_rate_limit_of_its_flow_at_the_nic() {
    let mut bench = Bench::new(ReactionSlot::new(Halving));
    let flow = bench.start(6);
    // The third frame is in transmission. The limit of 100 Mb/s applies from the fourth on, which the new
    // limiter does not delay.
    bench.notice(20_000, flow, Notice::Cnp);
    // 12,112 ns of the fourth frame's 86,240 ns are left, and become twice as long.
    let fifth = 3 * 8624 + 86_240;
    bench.notice(100_000, flow, Notice::Cnp);
    let fifth = 100_000 + 2 * (fifth - 100_000);
    bench.until(200_000);
    // The limiter is removed, and the sixth frame begins to leave at that instant.
    bench.notice(200_000, flow, Notice::Cnm { feedback: 1, q_off: 0, q_delta: 0, point: PortId(0) });
    bench.until(1_000_000);
    assert_eq!(bench.driver.ends, ends([0, 8624, 2 * 8624, 3 * 8624, fifth, 200_000]));
    assert_eq!((bench.host.notice_stats(flow).0, bench.host.packets_originated()), (3, 6));
}

#[test]
fn notice_without_a_reaction_point_has_no_effect() {
    let mut bench = Bench::new(ReactionSlot::NONE);
    let flow = bench.start(3);
    bench.notice(5_000, flow, Notice::Cnp);
    bench.until(1_000_000);
    assert_eq!(bench.driver.ends, ends([0, 8624, 2 * 8624]));
    assert_eq!(bench.host.notice_stats(flow), (1, Some(Notice::Cnp)));
}

#[test]
fn segments_are_made_only_when_the_nic_requests_them() {
    let mut bench = Bench::new(ReactionSlot::NONE);
    bench.start(10);
    for (ns, made) in [(1, 1), (8624, 1), (8625, 2), (20_000, 3), (1_000_000, 10)] {
        bench.until(ns);
        assert_eq!((bench.host.packets_originated(), bench.host.frames_in_flow_queues()), (made, 0), "before {ns} ns");
    }
}
