//! Benchmarks of whole runs: packet-hops per second on one core, events per packet-hop, nanoseconds per event, and
//! memory.
//!
//! A packet-hop is one packet, data or ACK, that has finished one link, host links included. Senders recover losses by
//! SACK.
//! Every flow's completion and every port's counts are kept. The observer is `()`, or the recorder of `overspill run`
//! if the name of the case ends in `_tables`. Each case runs in a process of its own, so that its resident memory is
//! its own. It runs three times; the fastest run is printed with the slowest beside it. Names on the command line
//! choose cases.
//!
//! `--alone NAME` does one case in this process and prints its row: `compare.py` and `shares.py` time such processes
//! in alternating rounds. `--scenario NAME` prints the case as a scenario file of the command.

#[path = "cases.rs"]
mod cases;

use cap::Cap;
use cases::{CASES, Case};
use mimalloc::MiMalloc;
use scenario::Scenario;
use scenario::load::{Source, load};
use serde_json::{Value, json};
use sim::{Observer, Options, Progress, Recorder, StopReason, World, build};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Allocator of the command, wrapped to count bytes.
#[global_allocator]
static MEMORY: Cap<MiMalloc> = Cap::new(MiMalloc, usize::MAX);

/// Number of times that each case runs, unless `OVERSPILL_BENCH_ROUNDS` is set.
const ROUNDS: usize = 3;
/// Events between two checks of a run with tables.
///
/// `CHUNK` and `ROWS`, the rows that are taken from a table together, are those of `overspill run`
/// (`EVENTS_BETWEEN_ROWS` in `simulate.py`, `ROWS_PER_GROUP` in `table_streams.py`).
const CHUNK: u64 = 65_536;
const ROWS: usize = 1 << 17;
const OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../out");

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = args.as_slice() {
        if let Some(case) = CASES.iter().find(|case| case.name == name) {
            match flag.as_str() {
                "--alone" => return println!("{}", measure(case)),
                "--scenario" => return print!("{}", case.scenario()),
                _ => {}
            }
        }
    }
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|name| CASES.iter().all(|case| case.name != **name)) {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        eprintln!("no run `{unknown}`; there are {}", names.join(", "));
        std::process::exit(2);
    }
    println!(
        "{:<16} {:>6} {:>12} {:>9} {:>8} {:>10} {:>9} {:>8} {:>10} {:>10}",
        "run", "hosts", "packet-hops", "M hops/s", "slowest", "events/hop", "ns/event", "RSS MB", "B/host", "B/flow"
    );
    let chosen = CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|name| *name == case.name));
    let rows: Vec<Value> = chosen.map(row).collect();
    let document = json!({ "runs": rows, "ratio": ratio(&rows) });
    let written = std::fs::create_dir_all(OUT)
        .and_then(|()| std::fs::write(Path::new(OUT).join("bench.json"), format!("{document:#}\n")));
    match written {
        Ok(()) => println!("written to out/bench.json"),
        Err(e) => eprintln!("out/bench.json: {e}"),
    }
}

/// Runs one case in a process of its own and prints its row.
fn row(case: &Case) -> Value {
    let this = std::env::current_exe().expect("a program knows where it is");
    let output = Command::new(this).args(["--alone", case.name]).output().expect("it can be started again");
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    let row: Value = serde_json::from_slice(&output.stdout).expect("a run prints a row");
    let number = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
    println!(
        "{:<16} {:>6} {:>12} {:>9.2} {:>8.2} {:>10.3} {:>9.1} {:>8.1} {:>10.0} {:>10.0}",
        case.name,
        number("hosts"),
        number("packet_hops"),
        number("packet_hops_per_s") / 1e6,
        number("packet_hops_per_s_slowest") / 1e6,
        number("events_per_packet_hop"),
        number("ns_per_event"),
        number("rss_bytes") / 1e6,
        number("bytes_per_host"),
        number("bytes_per_flow"),
    );
    row
}

fn measure(case: &Case) -> Value {
    let text = case.scenario();
    let source = Source::new(case.name, &text, Path::new(""));
    let loaded = load(&source, &[]).unwrap_or_else(|faults| panic!("{faults:?}"));
    let scenario = &loaded.variants[0];
    let asked = std::env::var("OVERSPILL_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok());
    let rounds: usize = asked.unwrap_or(ROUNDS).max(1);
    let mut timed: Vec<Timed> = (0..rounds).map(|_| once(case, scenario)).collect();
    timed.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let Timed { seconds: fast, progress, built, peak } = timed[0];
    let slow = timed[rounds - 1].seconds;
    let (hops, events) = (progress.hops as f64, progress.events as f64);
    let hosts = scenario.topology.hosts;
    json!({
        "name": case.name,
        "hosts": hosts,
        "flows": progress.completed,
        "packet_hops": progress.hops,
        "packet_hops_per_s": (hops / fast).round(),
        "packet_hops_per_s_slowest": (hops / slow).round(),
        "events_per_packet_hop": events / hops,
        "ns_per_event": fast * 1e9 / events,
        "rss_bytes": resident(),
        "bytes_per_host": built / hosts as usize,
        "bytes_per_flow": (peak - built) / progress.completed.max(1) as usize,
    })
}

/// Time, progress and memory of one run.
struct Timed {
    seconds: f64,
    progress: Progress,
    /// Bytes allocated for the network before the first event.
    built: usize,
    /// Largest number of bytes allocated, beyond those from before the network was built.
    peak: usize,
}

fn once(case: &Case, scenario: &Scenario) -> Timed {
    if case.tables {
        timed(scenario, Recorder::from_scenario(scenario), recorded(scenario))
    } else {
        timed(scenario, (), World::run)
    }
}

/// Returns a run like that of `overspill run`: full row groups are taken during the run, all tables at its end.
fn recorded(scenario: &Scenario) -> impl FnOnce(&mut World<Recorder>) -> Progress {
    move |world| loop {
        let progress = world.advance_rows(CHUNK, ROWS);
        if world.rows_waiting() >= ROWS {
            black_box(world.take_rows(ROWS));
        }
        if progress.stop.is_some() {
            black_box(world.results(scenario));
            return progress;
        }
    }
}

fn timed<O: Observer>(scenario: &Scenario, observer: O, run: impl FnOnce(&mut World<O>) -> Progress) -> Timed {
    let before = MEMORY.allocated();
    let mut world = build(scenario, 1, Options::default(), observer).unwrap_or_else(|e| panic!("{e}"));
    let built = MEMORY.allocated() - before;
    let begin = Instant::now();
    let progress = run(&mut world);
    let seconds = begin.elapsed().as_secs_f64();
    let peak = MEMORY.max_allocated() - before;
    assert!(world.conserves_packets(), "packets are unaccounted for");
    assert_eq!(progress.stop, Some(StopReason::Done), "flows are unfinished");
    Timed { seconds, progress, built, peak }
}

/// Returns the peak resident memory of this process in bytes (`VmHWM`), or 0 if the system does not report it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Returns the speed of the 128-host run divided by that of ns-3, if `make bench-ns3` has written the latter.
fn ratio(rows: &[Value]) -> Option<f64> {
    let ours = rows.iter().find(|row| row["name"] == "k8_1g")?["packet_hops_per_s"].as_f64()?;
    let text = std::fs::read_to_string(Path::new(OUT).join("bench-ns3.json")).ok()?;
    let other: Value = serde_json::from_str(&text).ok()?;
    let theirs =
        other["runs"].as_array()?.iter().find(|run| run["name"].as_str().is_some_and(|n| n.contains("ns3")))?;
    Some(ours / theirs["packet_hops_per_s"].as_f64()?)
}
