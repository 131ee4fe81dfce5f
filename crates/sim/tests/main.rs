//! Whole runs, against theory, closed forms, laws and recorded digests. They are one binary, since each binary links
//! the whole crate.

mod ack_clock;
mod agents;
mod asymmetric;
mod bounce;
mod bouncing;
mod bounded;
mod capture;
mod changing;
mod cioq;
mod closed_forms;
mod collectives;
mod common;
mod congestion;
mod conservation;
mod cutting;
mod dcqcn;
mod dctcp_band;
mod deadlock;
mod determinism;
mod detour;
mod divided;
mod dscps;
mod events;
mod fabric;
mod fib;
mod flat;
mod followed;
mod forwarding;
mod golden;
mod headroom;
mod holding;
mod host_events;
mod host_transports;
mod hosts;
mod ideals;
mod mixed;
mod nic;
mod on_wire;
mod over_time;
mod pabo;
mod packet_trace;
mod parameters;
mod pause;
mod paused_inputs;
mod paused_stages;
mod pfabric;
mod pools;
mod properties;
mod qcn;
mod queueing;
mod reacting;
mod returning;
mod roce;
mod rules;
mod sessions;
mod simultaneous;
mod straddling;
mod streaming;
mod symmetric;
mod two_level;
mod watchdog;
mod window;
mod workload_transports;
mod workloads;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_file_beside_this_one_is_a_module_of_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let paths = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.unwrap().path());
    let here: BTreeSet<String> = paths
        .filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "main")
        .collect();
    let declared = include_str!("main.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    assert_eq!(here, declared.map(str::to_string).collect());
}
