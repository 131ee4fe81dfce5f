//! Tests of QCN from end to end, together with PFC.
//!
//! Congestion points at the inputs of a real switch notify sources, whose NICs limit flows and raise their rates again.
//! Rates and times at 100 Gb/s are those at 10 Gb/s times ten and divided by ten, so that both see the same bytes.

use crate::common::scenario;
use crate::common::watched::{Watching, watch};
use dataplane::{PacketBody, Pkt};
use mech::{ClassSet, FlowId, Notice};
use sim::{EventLocation, Observer, Options, StopReason};
use std::collections::BTreeMap;
use units::Rate;

mod beside;
mod shares;

/// Value of χ² that is exceeded with a probability of 0.001, by degrees of freedom.
const CHI_SQUARE: [f64; 3] = [0.0, 10.83, 13.82];

/// Number of hosts in the star; the ports of its switch are numbered after those of the hosts.
const HOSTS: u32 = 8;

/// Parameters of the hotspot scenario of QCN-OS §II-B.
///
/// `h0` sends f1 to `h6` and f2 to `h7`. `h1` to `h4`, each behind an input of its own, send f3 to f6 to `h7` until
/// they stop. Each flow offers half of a link.
#[derive(Clone, Copy)]
struct Hotspot<'a> {
    /// Rate of the links in Gb/s.
    gbps: u64,
    /// Further settings of the congestion points, after `kind = "qcn", at = "inputs"`.
    notify: &'a str,
    /// True if hosts react to congestion messages.
    reacts: bool,
    /// Time at which the flows f3 to f6 stop, in ms at 10 Gb/s; `end` is the end of the run.
    stop: u64,
    end: u64,
}

impl Hotspot<'_> {
    /// Returns the time in ps in which a link at the present rate carries as many bytes as in `n` ms at 10 Gb/s.
    fn ms(&self, n: u64) -> u64 {
        n * 10_000_000_000 / self.gbps
    }
    fn text(&self) -> String {
        let Hotspot { gbps, notify, reacts, .. } = *self;
        let flow = |n: u32, source: u32, destination: u32, stop: u64| {
            format!(
                "[[traffic]]\nname = \"f{n}\"\nkind = \"constant\"\nsource = \"h{source}\"\ndestination = \"h{destination}\"\n\
                 payload = \"1460B\"\nrate = \"{}Mbps\"\nbytes = \"wire\"\nbacklog = \"4KB\"\njitter = \"100ns\"\n\
                 start = \"{}ns\"\nstop = \"{stop}ps\"\n",
                gbps * 500,
                n * 137,
            )
        };
        let notify = notify.replace("120us", &format!("{}us", 1200 / gbps));
        let reaction = format!(
            "reaction = {{ kind = \"qcn\", timer = \"{}us\", r_ai = \"{}Mbps\", r_hai = \"{}Mbps\", min_rate = \"{}Mbps\" }}\n",
            5000 / gbps,
            gbps / 2,
            gbps * 5,
            gbps / 2
        );
        let others = (3..=6).map(|n| flow(n, n - 2, 7, self.ms(self.stop))).collect::<String>();
        format!(
            "name = \"hotspot\"\nduration = \"{}ps\"\n[topology]\nkind = \"star\"\nn = {HOSTS}\n\
             link = {{ rate = \"{gbps}Gbps\", delay = \"250ns\" }}\n[host]\nnic = {{ kind = \"round_robin\" }}\n{}\
             [switch]\nmodel = \"cioq\"\ninput_buffer = \"{}KB\"\nbuffer = {{ kind = \"per_port\", size = \"150KB\" }}\n\
             pause = {{ kind = \"pfc\", xoff = \"110KB\", xon = \"44KB\" }}\n\
             notify = {{ kind = \"qcn\", at = \"inputs\", {notify} }}\n[measure]\nallow_unfinished = true\n{}{}{others}",
            self.ms(self.end),
            if reacts { &reaction } else { "" },
            // The headroom of a pause is larger if more bytes are in flight.
            if gbps > 10 { 250 } else { 150 },
            flow(1, 0, 6, self.ms(self.end)),
            flow(2, 0, 7, self.ms(self.end)),
        )
    }
    /// Runs the hotspot scenario to its end, and checks the conservation of packets throughout.
    fn run(&self, seed: u64) -> Watching<Seen> {
        let mut world = watch(&scenario(&self.text(), ""), seed, Options::default(), Seen::default());
        while world.progress().stop.is_none() {
            world.advance(50_000);
            assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
        }
        assert_ne!(world.progress().stop, Some(StopReason::LosslessViolation));
        world
    }
}

/// Record of frames, messages, rate limits and pauses of a run, by flow from 0.
#[derive(Clone, Default)]
struct Seen {
    /// Times at which frames reached their host; `told` has the times and feedback of congestion messages.
    delivered: BTreeMap<u32, Vec<u64>>,
    told: BTreeMap<u32, Vec<(u64, u8)>>,
    limits: BTreeMap<u32, Vec<(u64, Option<Rate>)>>,
    /// Number of congestion messages in flight.
    under_way: i64,
    /// Times at which host `h0` was paused.
    pauses: Vec<u64>,
}

impl Observer for Seen {
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.delivered.entry(pkt.head.flow.0).or_default().push(at.now.0);
    }
    fn on_notice_sent(&mut self, _at: EventLocation, _pkt: &Pkt) {
        self.under_way += 1;
    }
    fn on_notice_received(&mut self, at: EventLocation, pkt: &Pkt) {
        let flow = pkt.head.flow.0;
        assert_eq!(at.node, [0, 0, 1, 2, 3, 4][flow as usize], "the source of flow {flow} is told");
        let PacketBody::Notice(Notice::Cnm { feedback, .. }) = pkt.body() else { panic!("{pkt:?}") };
        self.told.entry(flow).or_default().push((at.now.0, feedback));
        self.under_way -= 1;
    }
    fn on_rate_limit(&mut self, at: EventLocation, FlowId(flow): FlowId, rate: Option<Rate>) {
        self.limits.entry(flow).or_default().push((at.now.0, rate));
    }
    fn on_pause_sent(&mut self, at: EventLocation, xoff: ClassSet, again: ClassSet) {
        if at.port == HOSTS && xoff != ClassSet::NONE && again == ClassSet::NONE {
            self.pauses.push(at.now.0);
        }
    }
}

impl Seen {
    /// Returns the rate on the wire at which a flow reached its host between two times, as a share of a link.
    fn share(&self, flow: u32, hotspot: &Hotspot, from: u64, to: u64) -> f64 {
        let (from, to) = (hotspot.ms(from), hotspot.ms(to));
        let came = self.delivered[&flow].iter().filter(|at| (from..to).contains(*at)).count();
        came as f64 * 1538.0 * 8000.0 / hotspot.gbps as f64 / (to - from) as f64
    }
    /// Returns the number of messages to a flow before a time.
    fn times(&self, flow: u32, until: u64) -> usize {
        self.told.get(&flow).map_or(0, |told| told.iter().filter(|(at, _)| *at < until).count())
    }
}

const OCCUPANCY: Hotspot =
    Hotspot { gbps: 10, notify: "culprit = \"occupancy\", keep_alive = \"120us\"", reacts: true, stop: 40, end: 60 };

/// Link rates of 10 and 100 Gb/s.
const RATES: [u64; 2] = [10, 100];

/// Test of QCN in the hotspot: culprits are limited, and the victim is not.
/// f1, the victim, shares its input with f2 only, and QCN lets it pass. Five flows share the link to `h7` until four of
/// them stop.
#[test]
fn culprits_are_told_and_limited_and_a_victim_gets_all_that_it_offers() {
    for gbps in RATES {
        for notify in ["culprit = \"occupancy\", keep_alive = \"120us\"", "culprit = \"two_samples\""] {
            let with = Hotspot { gbps, notify, ..OCCUPANCY };
            let without = Hotspot { reacts: false, ..with };
            let [(with, seen), (_, alone)] = [with, without].map(|one| (one, one.run(1)));
            let (seen, alone) = (seen.observer(), alone.observer());
            let stop = with.ms(with.stop);
            let told: Vec<usize> = (0..6).map(|flow| seen.times(flow, stop)).collect();
            assert!(told[1..].iter().all(|times| *times > 20) && told[0] * 10 < told[1], "{gbps}, {notify}: {told:?}");
            // During the hotspot a link and its memory are full, and all flows have equal shares of it.
            for flow in 1..6 {
                let share = seen.share(flow, &with, 10, 40);
                assert!((share - 0.2).abs() < 0.01, "{gbps}, {notify}: flow {flow} has {share}");
                let lowest = seen.limits[&flow].iter().filter_map(|(_, rate)| *rate).min().expect("it is limited");
                assert!(lowest < Rate::gbps(gbps).divide(2, 1).unwrap(), "{lowest}");
            }
            let victim = [seen, alone].map(|one| one.share(0, &with, 10, 40));
            assert!(victim[0] > 0.49 && victim[1] < 0.21, "{gbps}, {notify}: {victim:?} of 0.5");
            assert!(seen.pauses.len() * 4 < alone.pauses.len(), "{} and {}", seen.pauses.len(), alone.pauses.len());
        }
    }
}

/// Test of a limited flow after the congestion is over.
/// Flows f3 to f6 stop after 40 ms. f2 was limited to a fifth of its link and offers half.
#[test]
fn a_flow_gets_its_rate_back_when_the_congestion_is_over() {
    for gbps in RATES {
        let hotspot = Hotspot { gbps, ..OCCUPANCY };
        let world = hotspot.run(1);
        let seen = world.observer();
        let stop = hotspot.ms(hotspot.stop);
        let before = seen.limits[&1].iter().rev().find(|(at, _)| *at < stop).expect("it is limited").1;
        // The limit is a sawtooth around a fifth.
        assert!(before.is_some_and(|rate| rate < Rate::gbps(gbps).divide(3, 1).unwrap()), "{before:?}");
        let after = seen.limits[&1].last().unwrap();
        assert!(after.1.is_none_or(|rate| rate == Rate::gbps(gbps)), "{after:?}");
        assert!(after.0 - stop < hotspot.ms(10), "{} ps later", after.0 - stop);
        for flow in [0, 1] {
            let share = seen.share(flow, &hotspot, 50, 60);
            assert!((share - 0.5).abs() < 0.005, "{gbps}: flow {flow} has {share}");
        }
        let told = seen.told.values().flatten().filter(|(at, _)| *at > hotspot.ms(50)).count();
        assert_eq!((told, seen.under_way), (0, 0), "nobody is told any more, and every message has come");
        let made: usize = seen.told.values().map(Vec::len).sum();
        assert_eq!(world.packets_made_and_held(), (made as u64, 0));
    }
}

/// Test of arrival sampling in the hotspot.
/// Arrival sampling names the victim as often as the culprit at its input, and limits it for congestion that it does
/// not cause. The victim gets no more than without reaction (QCN-OS §II-C).
#[test]
fn by_arrivals_a_victim_is_limited_with_its_culprit() {
    for gbps in RATES {
        let hotspot = Hotspot { gbps, notify: "culprit = \"arrival\"", ..OCCUPANCY };
        let world = hotspot.run(1);
        let seen = world.observer();
        let [victim, culprit] = [0, 1].map(|flow| seen.times(flow, hotspot.ms(40)) as f64);
        assert!(victim / (victim + culprit) > 0.35, "{gbps}: {victim} and {culprit}");
        let share = seen.share(0, &hotspot, 10, 40);
        assert!(share < 0.25, "{gbps}: {share} of 0.5");
    }
}
