//! Microbenchmarks of the three parts of a packet-hop: `cargo bench -p micro [FILTER]`.
//!
//! The parts are a pop and a push on the event queue, one hop through a switch, and one ACK at a sender.

use criterion::Criterion;
use dataplane::transport::{FlowInfo, Io, ReleasedPackets, Sender, TcpConfig};
use dataplane::{
    CoreSetup, EventLocation, ExtensionSlab, Framing, NO_EXT, Out, Outcome, Pkt, PortSetup, Routes, Switch,
    SwitchSetup, SwitchStep,
};
use mech::buffer::BufferSlot;
use mech::marking::MarkingSlot;
use mech::overflow::OverflowSlot;
use mech::params::Values;
use mech::routing::{Ecmp, NextHops};
use mech::scheduler::SchedulerSlot;
use mech::{Flags, FlowId, Head, HostId, Lanes, PortId, Stream, StreamPurpose};
use scenario::load::{Source, load};
use sim::queue::{EventQueue, Key, StepPhase};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;
use units::{Amount, Dur, Rate, Time};

/// Measures the hold pattern with the 3000 pending events of a fat-tree at 1 Gb/s: pop the next event, push one up to
/// 20 us later.
fn event_queue(c: &mut Criterion) {
    let mut group = c.benchmark_group("event queue, one pop and one push");
    for (name, mut queue) in [("wheel", EventQueue::wheel()), ("4-ary heap", EventQueue::heap())] {
        let mut rng = Stream::new(1, 0, StreamPurpose::Custom(0));
        let later = |rng: &mut Stream| Dur(100_000 + rng.uniform_below(20_000_000));
        (0..3000).for_each(|node| queue.push(Key::new(Time::ZERO + later(&mut rng), node, StepPhase::Arrival, 0)));
        group.bench_function(name, |b| {
            b.iter(|| {
                let key = queue.pop().expect("one is put for each that is taken");
                queue.push(Key::new(key.time() + later(&mut rng), key.node(), key.phase(), key.index()));
            });
        });
    }
    group.finish();
}

/// Routes of a switch with sixteen ports and one host behind each.
struct Sixteen;

impl Routes for Sixteen {
    fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
        NextHops::Only(PortId(host.0 as u16 % 16))
    }
}

/// Driver that discards every transmitted frame.
struct Nowhere(());

impl Out for Nowhere {
    type Observer = ();

    fn transmit(&mut self, _port: PortId, pkt: &Pkt, end: Time) {
        black_box((pkt.head.size, end));
    }
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

fn switch() -> Switch {
    let port = || PortSetup {
        changes: false,
        clock: Rate::gbps(10).clock(),
        is_switch: true,
        marking: MarkingSlot::none(),
        scheduler: mech::Registry::catalogue()
            .make::<SchedulerSlot>("fifo", &Values::default())
            .expect("it is in the catalogue"),
        pause: None,
        agents: Vec::new(),
    };
    Switch::new(SwitchSetup {
        core: CoreSetup {
            node: 0,
            seed: 1,
            framing: Framing::ETHERNET,
            buffer: BufferSlot::per_port(Some(Amount::Packets(100))),
            overflow: mech::Registry::catalogue()
                .make::<OverflowSlot>("tail_drop", &Values::default())
                .expect("it is in the catalogue"),
            lanes: Lanes::default(),
            lowest_class: 0,
            top_class: 0,
            may_compute: true,
            ports: (0..16).map(|_| port()).collect(),
            inputs: None,
        },
        fib: mech::fib::FibSlot::from_routes(),
        routing: Ecmp::new(1).into(),
        snapshot: false,
        shuffle: true,
    })
}

/// Measures full-size frames that arrive one by one, slightly slower than the ports send.
fn switch_hop(c: &mut Criterion) {
    let (mut switch, mut exts, mut now) = (switch(), ExtensionSlab::default(), Time::ZERO);
    let head = Head { size: 1518, orig_size: 1518, ttl: 255, flags: Flags::PAYLOAD, ..Head::default() };
    let mut pkt = Pkt { head, payload: 1460, ext: NO_EXT, ..Pkt::default() };
    c.bench_function("one switch hop", |b| {
        b.iter(|| {
            now += Dur::ns(80);
            pkt.head.dst = HostId((now.0 / 80_000) as u32 * 7 % 16);
            pkt.head.ttl = 255;
            let step = &mut SwitchStep { now, routes: &Sixteen, exts: &mut exts, out: &mut Nowhere(()) };
            switch.receive_single(&mut pkt, None, step);
        });
    });
}

fn config(kind: &str) -> TcpConfig {
    let text = format!(
        "name = \"ack\"\nduration = \"1ms\"\n[host]\nnic_jitter = \"0us\"\n[topology]\nkind = \"star\"\nn = 2\nlink = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         [transport]\nkind = \"{kind}\"\n[[traffic]]\nname = \"one\"\nkind = \"permutation\"\nsize = \"1MB\"\n"
    );
    let loaded = load(&Source::new("ack", &text, Path::new("")), &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
    let transport = &loaded.variants[0].transport;
    TcpConfig::new(&transport.kind, &transport.values, Framing::ETHERNET).expect("a transport of the catalogue")
}

/// Measures an ACK of one segment at a sender limited by its window, and the segment that the ACK releases.
fn tcp_ack(c: &mut Criterion) {
    let mut group = c.benchmark_group("one TCP ACK");
    for kind in ["newreno", "sack", "dctcp"] {
        let cfg = config(kind);
        let (src, dst) = (HostId(0), HostId(1));
        let flow = FlowInfo {
            flow: FlowId(0),
            src,
            dst,
            hash: 1,
            back_hash: 2,
            bytes: u64::MAX / 2,
            class: 0,
            code_point: 0,
            row: 0,
        };
        let (mut sender, mut exts, mut out) =
            (Sender::new(&flow, &cfg), ExtensionSlab::default(), ReleasedPackets::default());
        let mut now = Time::ZERO;
        sender.start(&mut Io { now, cfg: &cfg, exts: &mut exts, out: &mut out, timers_set: &mut 0 });
        out.clear();
        let head = Head { flags: Flags::ACK.with(Flags::REVERSE), size: 64, ..Head::default() };
        // 64 KiB, in units of this configuration's window scale.
        let mut ack = Pkt { head, ext: NO_EXT, window: 4, ..Pkt::default() };
        group.bench_function(kind, |b| {
            b.iter(|| {
                now += Dur::us(1);
                ack.ack = ack.ack.wrapping_add(1460);
                sender.receive(&ack, &mut Io { now, cfg: &cfg, exts: &mut exts, out: &mut out, timers_set: &mut 0 });
                black_box(out.len());
                out.clear();
            });
        });
        assert!(sender.stats().segments > 1000 && sender.stats().retransmissions == 0, "{:?}", sender.stats());
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(40)
        .configure_from_args();
    event_queue(&mut criterion);
    switch_hop(&mut criterion);
    tcp_ack(&mut criterion);
    criterion.final_summary();
}
