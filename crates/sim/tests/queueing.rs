//! Tests of one queue against queueing theory: Poisson arrivals, deterministic service, one server.
//!
//! Pollaczek and Khinchine: the mean wait of M/D/1 is ρ s / (2 (1 - ρ)), with service time s. Packets reach the slow
//! port by a link 100 times as fast, so that its arrivals are not exactly Poisson. Yet the sum of all waits on the path
//! is exactly that of M/D/1. With deterministic services s₁ ≤ s₂ in a row, the n-th departure is max over i ≤ n of Aᵢ +
//! s₁ + (n - i + 1) s₂. This is the departure of the slow server alone, later by s₁. The wait is therefore taken over
//! the whole path, as delay minus the delay on an empty path; only 1/10000 of it is before the fast link.

use crate::common::page::{assert_cell, rows};
use crate::common::scenario;
use crate::common::watched::{DEPARTURES, watch_wanting};
use dataplane::Pkt;
use mech::Flags;
use sim::{DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer, Options};

/// Number of seeds, from 1 on, which was chosen before the first run.
const SEEDS: u64 = 20;
/// Quantile of Student's t, 0.975 with 19 degrees of freedom.
const T: f64 = 2.093;
/// Service time: transmission time in ps of a full frame, with preamble and gap, at 1 Gb/s.
const SERVICE: u64 = 1538 * 8 * 1000;
/// End-to-end delay in ps of a frame without queueing, over two links at 100 Gb/s and one at 1 Gb/s with delays of 1
/// us.
const EMPTY: u64 = SERVICE + 2 * (SERVICE / 100) + 3 * 1_000_000;

/// Returns a scenario with one source of Poisson arrivals through a port of 1 Gb/s.
fn text(load: f64, packets: u64) -> String {
    let rate = (load * 1000.0).round();
    let stop = (packets as f64 * SERVICE as f64 / load) as u64;
    format!(
        "name = \"md1\"\nduration = \"{stop}ps\"\n[topology]\nkind = \"dumbbell\"\nn = 1\n\
         link = {{ rate = \"100Gbps\", delay = \"1us\" }}\nbottleneck = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
         [switch]\nbuffer = {{ kind = \"unlimited\" }}\n[[traffic]]\nname = \"p\"\nkind = \"constant\"\n\
         source = \"h0\"\ndestination = \"h1\"\nrate = \"{rate}Mbps\"\ngaps = \"exponential\"\npayload = \"1460B\"\n"
    )
}

/// Record of the waiting times of packets, and of the number of packets that did not wait.
#[derive(Clone, Default)]
struct Waits {
    /// Number of packets at the start that do not count.
    warm_up: u32,
    counted: u64,
    at_once: u64,
    waited: u128,
    /// Sum of the waiting times of all packets delivered before the end.
    whole: u128,
    /// Number of frames in all queues; `since` is the time of the last change.
    queued: u64,
    since: u64,
    area: u128,
}

impl Waits {
    fn pass(&mut self, now: u64) {
        self.area += u128::from(self.queued) * u128::from(now - self.since);
        self.since = now;
    }
}

impl Observer for Waits {
    const OBSERVED: ObservedEvents = ObservedEvents::DEPARTURES;

    fn on_enqueue(&mut self, at: EventLocation, _frame: EnqueuedFrame, _pkt: &dataplane::Pkt) {
        self.pass(at.now.0);
        self.queued += 1;
    }
    fn on_dequeue(&mut self, at: EventLocation, _frame: DequeuedFrame) {
        self.pass(at.now.0);
        self.queued -= 1;
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        assert!(pkt.head.flags.has(Flags::PAYLOAD));
        let waited = at.now.since(pkt.sent).0.checked_sub(EMPTY).expect("nothing is faster than an empty way");
        self.whole += u128::from(waited);
        if pkt.emission >= self.warm_up {
            self.counted += 1;
            self.at_once += u64::from(waited == 0);
            self.waited += u128::from(waited);
        }
    }
}

fn waits(load: f64, packets: u64, seed: u64) -> Waits {
    let warm_up = (packets / 10) as u32;
    let s = scenario(&text(load, packets), "");
    let mut world = watch_wanting::<_, DEPARTURES>(&s, seed, Options::default(), Waits { warm_up, ..Waits::default() });
    world.run();
    assert!(world.conserves_packets());
    let waits = world.observer().clone();
    assert!(waits.counted > packets / 10 * 8, "{} of {packets}", waits.counted);
    waits
}

/// Returns the mean of values, and the half-width of its 95% confidence interval.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, T * (variance / n).sqrt())
}

/// Returns confidence intervals over seeds for the mean waiting time in service times, and for the share of packets
/// that do not wait.
fn measured(load: f64, packets: u64) -> [(f64, f64); 2] {
    let runs: Vec<Waits> = (1..=SEEDS).map(|seed| waits(load, packets, seed)).collect();
    let of = |value: &dyn Fn(&Waits) -> f64| interval(&runs.iter().map(value).collect::<Vec<_>>());
    let found =
        [of(&|w| w.waited as f64 / w.counted as f64 / SERVICE as f64), of(&|w| w.at_once as f64 / w.counted as f64)];
    println!(
        "load {load}: waits {:?} of {}, at once {:?} of {}",
        found[0],
        load / (2.0 - 2.0 * load),
        found[1],
        1.0 - load
    );
    found
}

const PAGE: &str = include_str!("../../../docs/internals/truth.md");

/// Asserts that theory is within the measured interval, that the interval is narrow enough, and that the page has these
/// numbers.
fn agrees(load: f64, packets: u64, narrow: f64) {
    let [(mean, half), (at_once, half_at_once)] = measured(load, packets);
    let theory = load / (2.0 * (1.0 - load));
    let row = rows(PAGE, "| load |").into_iter().find(|row| row[0] == load.to_string()).expect("a row of this load");
    assert_eq!(row[1].replace(',', ""), packets.to_string());
    assert_cell(row[2], &[mean, half]);
    assert_cell(row[3], &[theory]);
    assert_cell(row[4], &[100.0 * narrow]);
    assert_cell(row[5], &[at_once, half_at_once]);
    assert_cell(row[6], &[1.0 - load]);
    assert!(half < narrow * theory, "load {load}: {mean} ± {half} says little");
    assert!((mean - theory).abs() < half, "load {load}: {mean} ± {half}, theory {theory}");
    // An arrival sees the server busy with probability ρ (Wolff, "Poisson arrivals see time averages").
    assert!(half_at_once < narrow * (1.0 - load), "load {load}: {at_once} ± {half_at_once} says little");
    assert!((at_once - (1.0 - load)).abs() < half_at_once, "load {load}: {at_once} ± {half_at_once} do not wait");
}

#[test]
fn mean_waiting_at_load_0_5_is_that_of_m_d_1() {
    agrees(0.5, 20_000, 0.02);
}

#[test]
fn mean_waiting_at_load_0_8_is_that_of_m_d_1() {
    agrees(0.8, 40_000, 0.03);
}

#[test]
fn mean_waiting_at_load_0_95_is_that_of_m_d_1() {
    agrees(0.95, 120_000, 0.05);
}

#[test]
fn frames_in_queues_over_time_are_the_waiting_of_packets_to_the_picosecond() {
    // Little's law as an identity: the run continues until every packet has arrived, and then the area under the queues
    // is the sum of all waits.
    for (seed, load) in [(1, 0.5), (2, 0.95), (3, 1.2)] {
        let all =
            text(load, 3_000).replace("gaps =", "stop = \"20ms\"\ngaps =").replace("duration = \"", "duration = \"9");
        let mut world = watch_wanting::<_, DEPARTURES>(&scenario(&all, ""), seed, Options::default(), Waits::default());
        world.run();
        let found = world.observer();
        assert!(found.counted > 500 && found.whole > 0, "load {load}");
        assert_eq!((found.queued, found.area), (0, found.whole), "load {load}");
    }
}
