//! Benchmark of the event queue: nanoseconds for a pop and a push in the hold pattern, which takes the next event and
//! pushes one a random time later. Run it with `cargo bench -p overspill-sim --bench queue [MILLIONS_OF_EVENTS]`.

use mech::{Stream, StreamPurpose};
use sim::queue::{EventQueue, Key, StepPhase};
use std::hint::black_box;
use std::time::Instant;
use units::{Dur, Time};

/// Table of random times between an event that is taken and the event that is pushed after it.
struct Deltas {
    name: &'static str,
    table: Vec<u64>,
}

const DRAWS: usize = 1 << 16;

fn uniform(name: &'static str, least: Dur, most: Dur, timers_percent: u64) -> Deltas {
    let mut rng = Stream::new(1, 0, StreamPurpose::Custom(0));
    let mut draw = || match rng.uniform_below(100) < timers_percent {
        true => Dur::ms(10).0 + rng.uniform_below(1000),
        false => least.0 + rng.uniform_below(most.0 - least.0),
    };
    Deltas { name, table: (0..DRAWS).map(|_| draw()).collect() }
}

/// Returns times of full frames, ACKs and a link's delay at 1 Gb/s: many events have the same instant.
fn frames(name: &'static str) -> Deltas {
    let mut rng = Stream::new(1, 0, StreamPurpose::Custom(1));
    let lengths = [12_304_000, 12_304_000, 672_000, 1_000_000];
    Deltas { name, table: (0..DRAWS).map(|_| lengths[rng.uniform_below(4) as usize]).collect() }
}

/// Method by which the benchmark's loop takes all events of one step.
#[derive(Clone, Copy)]
enum Loop {
    /// Loop with one pop and one push for each event, without regard to steps.
    Single,
    /// Loop that peeks, and pops the next event while it is of the same step.
    Peek,
    /// Loop that pops the next event only if it is of the same step.
    PopIf,
}

/// Returns the nanoseconds for one pop and one push with `pending` events; the first tenth of the run is a warm-up.
fn hold(mut queue: EventQueue, deltas: &Deltas, pending: usize, (events, way): (usize, Loop)) -> f64 {
    let mut rng = Stream::new(2, 0, StreamPurpose::Custom(2));
    for node in 0..pending {
        let delta = deltas.table[rng.uniform_below(DRAWS as u64) as usize];
        queue.push(Key::new(Time(rng.uniform_below(delta + 1)), node as u32, StepPhase::Arrival, 0));
    }
    let mut turn = |from: usize, to: usize| {
        for i in from..to {
            let Some(key) = queue.pop() else { return };
            // Every node has one event, so that the next event is never of the same step: the loop measures the check
            // alone.
            let more = match way {
                Loop::Single => None,
                Loop::Peek => queue.peek().filter(|next| next.is_same_step(key)),
                Loop::PopIf => queue.pop_if_same_step(key),
            };
            assert!(more.is_none());
            let later = Time(key.time().0 + deltas.table[i & (DRAWS - 1)]);
            queue.push(Key::new(later, key.node(), key.phase(), key.index()));
        }
    };
    turn(0, events / 10);
    let start = Instant::now();
    turn(events / 10, events / 10 + events);
    let elapsed = start.elapsed();
    black_box(queue.pop());
    elapsed.as_nanos() as f64 / events as f64
}

fn main() {
    let millions = std::env::args().skip(1).find_map(|arg| arg.parse::<f64>().ok()).unwrap_or(4.0);
    let events = (millions * 1e6) as usize;
    let cases = [
        uniform("1 Gb/s", Dur::ns(100), Dur::us(20), 0),
        uniform("100 Gb/s", Dur::ns(5), Dur::ns(200), 0),
        uniform("1 Gb/s + 5% timers", Dur::ns(100), Dur::us(20), 5),
        uniform("100 Gb/s + 5% timers", Dur::ns(5), Dur::ns(200), 5),
        frames("1 Gb/s, same instants"),
    ];
    println!("ns per push+pop, hold pattern, {millions} M events; in brackets, the wheel if the loop also");
    println!("checks if the next event is of the same step, by peek and by pop_if_same_step");
    println!("{:24} {:>8} {:>10} {:>8} {:>7} {:>14}", "deltas", "pending", "4-ary heap", "wheel", "ratio", "(checked)");
    for deltas in &cases {
        for pending in [300, 3000, 30_000] {
            let wheel_by = |way| hold(EventQueue::wheel(), deltas, pending, (events, way));
            let heap = hold(EventQueue::heap(), deltas, pending, (events, Loop::Single));
            let wheel = wheel_by(Loop::Single);
            let asked = format!("({:.1} {:.1})", wheel_by(Loop::Peek), wheel_by(Loop::PopIf));
            let ratio = heap / wheel;
            println!("{:24} {pending:>8} {heap:>10.1} {wheel:>8.1} {ratio:>7.2} {asked:>14}", deltas.name);
        }
    }
}
