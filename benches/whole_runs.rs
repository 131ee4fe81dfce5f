//! Whole runs, timed: packet-hops per second and events per packet-hop on one core.
//!
//! A packet-hop is one packet, data or ACK, that has finished one link, host links included. Each
//! run is done three times and the fastest is printed, with the slowest beside it. The probe is
//! `()`: what is not asked for costs nothing, and this is that cost.

use scenario::load::{Source, load};
use sim::{Options, Stop, build};
use std::fmt::Write as _;
use std::time::Instant;

/// Rounds of each run, unless OVERSPILL_BENCH_ROUNDS says another number.
const ROUNDS: usize = 3;

fn rounds() -> usize {
    let asked = std::env::var("OVERSPILL_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(ROUNDS).max(1)
}

struct Case {
    name: &'static str,
    k: u32,
    rate: &'static str,
    mark: &'static str,
    buffer: &'static str,
    overflow: &'static str,
    traffic: &'static str,
}

const PERMUTATION: &str = "kind = \"permutation\"\nsize = \"1MB\"";

const CASES: &[Case] = &[
    Case {
        name: "k8_1g",
        k: 8,
        rate: "1Gbps",
        mark: "15pkt",
        buffer: "100pkt",
        overflow: "tail_drop",
        traffic: PERMUTATION,
    },
    Case {
        name: "k16_1g",
        k: 16,
        rate: "1Gbps",
        mark: "15pkt",
        buffer: "100pkt",
        overflow: "tail_drop",
        traffic: PERMUTATION,
    },
    Case {
        name: "k8_100g",
        k: 8,
        rate: "100Gbps",
        mark: "65pkt",
        buffer: "300pkt",
        overflow: "tail_drop",
        traffic: PERMUTATION,
    },
    Case {
        name: "k16_100g",
        k: 16,
        rate: "100Gbps",
        mark: "65pkt",
        buffer: "300pkt",
        overflow: "tail_drop",
        traffic: PERMUTATION,
    },
    Case {
        name: "k8_query_detour",
        k: 8,
        rate: "1Gbps",
        mark: "20pkt",
        buffer: "100pkt",
        overflow: "detour",
        traffic: "kind = \"incast\"\nsenders = 40\nreceiver = \"random\"\nsize = \"20KB\"\nqps = 2000",
    },
];

impl Case {
    fn scenario(&self) -> String {
        format!(
            "name = \"{}\"\nduration = \"100ms\"\n[topology]\nkind = \"fat_tree\"\nk = {}\n\
             link = {{ rate = \"{}\", delay = \"1us\" }}\n[switch]\n\
             buffer = {{ kind = \"per_port\", size = \"{}\" }}\n\
             marking = {{ kind = \"ecn_threshold\", k = \"{}\" }}\noverflow = {{ kind = \"{}\" }}\n\
             [transport]\nkind = \"dctcp\"\nmin_rto = \"10ms\"\n\
             [[traffic]]\nname = \"load\"\n{}\n",
            self.name, self.k, self.rate, self.buffer, self.mark, self.overflow, self.traffic
        )
    }
}

/// Resident memory of this process in bytes, where the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!(
        "{:<16} {:>9} {:>14} {:>14} {:>11} {:>9} {:>9}",
        "run", "hosts", "packet-hops", "M hops/s", "slowest", "events/hop", "RSS MB"
    );
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| wanted.is_empty() || wanted.iter().any(|w| w == case.name)) {
        rows.push(run(case));
    }
    let json = format!("{{\"runs\": [\n{}\n]}}\n", rows.join(",\n"));
    let out = concat!(env!("CARGO_MANIFEST_DIR"), "/../../out");
    if std::fs::create_dir_all(out).and_then(|()| std::fs::write(format!("{out}/bench.json"), json)).is_ok() {
        println!("written to out/bench.json");
    }
}

fn run(case: &Case) -> String {
    let text = case.scenario();
    let loaded = load(&Source::new(case.name, &text, std::path::Path::new("")), &[])
        .unwrap_or_else(|faults| panic!("{faults:?}"));
    let scenario = &loaded.variants[0];
    let mut speeds = Vec::new();
    let (mut hops, mut events, mut rss) = (0, 0, 0);
    for _ in 0..rounds() {
        let mut world = build(scenario, 1, Options::default(), ()).unwrap_or_else(|e| panic!("{e}"));
        let begin = Instant::now();
        let progress = world.run();
        let seconds = begin.elapsed().as_secs_f64();
        assert!(world.conserves(), "packets are unaccounted for");
        assert_eq!(progress.stop, Some(Stop::Done), "flows are unfinished");
        (hops, events) = (progress.hops, progress.events);
        rss = rss.max(resident());
        speeds.push(hops as f64 / seconds);
    }
    speeds.sort_by(f64::total_cmp);
    let (slow, fast) = (speeds[0], speeds[speeds.len() - 1]);
    let per_hop = events as f64 / hops as f64;
    let hosts = scenario.topology.hosts;
    println!(
        "{:<16} {hosts:>9} {hops:>14} {:>14.2} {:>11.2} {per_hop:>9.3} {:>9.1}",
        case.name,
        fast / 1e6,
        slow / 1e6,
        rss as f64 / 1e6
    );
    let mut row = String::new();
    let _ = write!(
        row,
        "  {{\"name\": \"{}\", \"hosts\": {hosts}, \"packet_hops\": {hops}, \"packet_hops_per_s\": {fast:.0}, \
         \"packet_hops_per_s_slowest\": {slow:.0}, \"events_per_packet_hop\": {per_hop:.4}, \"rss_bytes\": {rss}}}",
        case.name
    );
    row
}
