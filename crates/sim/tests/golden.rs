//! Small runs, bit-exact: every scenario of `golden/` gives its recorded digest, however it is executed. `make golden`
//! records the digests again and prints the differences.

use crate::common;
use crate::common::digest::digest;
use scenario::Scenario;
use scenario::load::{Loaded, Source, load};
use sim::Options;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Seeds with which every scenario is run.
const SEEDS: [u64; 2] = [1, 2];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

/// Returns the scenarios of the folder `golden/`, with the paths of their files.
fn scenarios() -> Vec<(PathBuf, Loaded)> {
    let paths = fs::read_dir(folder()).expect("the folder is there").map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let loaded = load(&Source::new(path.to_string_lossy(), text, &folder()), &[]).unwrap_or_else(|faults| {
            panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        });
        (path, loaded)
    };
    paths.into_iter().map(read).collect()
}

/// Returns the digests of all variants of a scenario, with all seeds.
fn digests(loaded: &Loaded, options: Options) -> String {
    let runs = loaded.variants.iter().flat_map(|s| SEEDS.map(|seed| (s, seed)));
    let one = |(s, seed): (&Scenario, u64)| format!("# {} with seed {seed}\n{}", s.variant, digest(s, seed, options));
    runs.map(one).collect::<Vec<_>>().join("\n")
}

/// Returns the recorded digests of a scenario.
fn recorded(path: &Path) -> String {
    fs::read_to_string(path.with_extension("digest")).unwrap_or_default()
}

/// Returns the difference of two digests, line by line, each line below its run; `None` if they are equal.
fn difference(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let (rows, columns) = (old_lines.len(), new_lines.len());
    // Length of the longest common subsequence of the remaining lines of both texts.
    let mut common = vec![vec![0u32; columns + 1]; rows + 1];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            let longer = common[i + 1][j].max(common[i][j + 1]);
            common[i][j] = if old_lines[i] == new_lines[j] { common[i + 1][j + 1] + 1 } else { longer };
        }
    }
    let (mut i, mut j, mut said) = (0, 0, Vec::new());
    while i < rows || j < columns {
        if i < rows && j < columns && old_lines[i] == new_lines[j] {
            said.extend(old_lines[i].starts_with('#').then(|| old_lines[i].to_string()));
            (i, j) = (i + 1, j + 1);
        } else if j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1]) {
            said.push(format!("- {}", old_lines[i]));
            i += 1;
        } else {
            said.push(format!("+ {}", new_lines[j]));
            j += 1;
        }
    }
    Some(said.join("\n"))
}

#[test]
fn every_golden_run_gives_its_recorded_digest_to_the_byte() {
    let record = std::env::var_os("OVERSPILL_GOLDEN").is_some_and(|value| value == "record");
    let mut wrong = Vec::new();
    for (path, loaded) in scenarios() {
        let file = path.with_extension("digest");
        let (old, new) = (recorded(&path), digests(&loaded, Options::default()));
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(said) = difference(&old, &new) else {
            println!("golden/{name}: the same");
            continue;
        };
        if record {
            fs::write(&file, new).unwrap();
            println!("golden/{name} is recorded anew:\n{said}\n");
        } else {
            wrong.push(format!("golden/{name}:\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}\nIf that is meant: make golden, and say why in the commit.", wrong.join("\n"));
}

#[test]
fn golden_runs_are_the_same_by_wheel_and_heap_with_computed_and_stepped_departures() {
    let mut computed = false;
    for (path, loaded) in scenarios() {
        let usual = recorded(&path);
        for (heap, step_departures) in [(true, false), (false, true), (true, true)] {
            let options = Options { heap, step_departures, ..Options::default() };
            let said = difference(&usual, &digests(&loaded, options));
            assert_eq!(said, None, "{}: heap {heap}, stepped {step_departures}", path.display());
        }
        computed |= loaded.variants.iter().any(saves_events);
    }
    assert!(computed, "some golden run computes departures ahead");
}

#[test]
fn golden_runs_are_the_same_divided_into_any_number_of_partitions() {
    for (path, loaded) in scenarios() {
        let usual = recorded(&path);
        for partitions in [1, 2, 3, 8] {
            let said = difference(&usual, &digests(&loaded, Options { partitions, ..Options::default() }));
            assert_eq!(said, None, "{}: {partitions} partitions", path.display());
        }
    }
}

/// Returns true if computed departures reduce the number of events of a run.
fn saves_events(scenario: &Scenario) -> bool {
    let mut blind = scenario.clone();
    blind.measure.queues = false;
    let events = |step_departures| {
        let mut world = common::world(&blind, 1, Options { step_departures, ..Options::default() });
        world.run().events
    };
    events(false) < events(true)
}

#[test]
fn golden_runs_cover_every_kind_that_a_scenario_may_name() {
    const SLOTS: [&str; 16] = [
        "topology",
        "fib",
        "host.bounce_signal",
        "routing",
        "buffer",
        "overflow",
        "marking",
        "scheduler",
        "ack_hold",
        "notify",
        "pause",
        "arbiter",
        "fabric",
        "host.reaction",
        "transport",
        "traffic",
    ];
    let catalogue = scenario::catalogue_json(&mech::Registry::catalogue());
    let listed = catalogue.as_array().unwrap().iter().map(|spec| (spec["slot"].as_str(), spec["kind"].as_str()));
    let listed: BTreeSet<(String, String)> = listed
        .filter_map(|(slot, kind)| {
            Some((slot?.trim_start_matches("switch.").to_string(), kind.filter(|kind| !kind.is_empty())?.to_string()))
        })
        .filter(|(slot, _)| SLOTS.contains(&slot.as_str()))
        .collect();
    assert!(listed.len() > 20, "{listed:?}");
    let used: BTreeSet<_> = scenarios().iter().flat_map(|(_, loaded)| kinds(loaded)).collect();
    let missing: Vec<_> = listed.difference(&used).collect();
    assert!(missing.is_empty(), "no golden run has {missing:?}");
}

/// Returns the pairs of slot and kind that a scenario uses.
fn kinds(loaded: &Loaded) -> Vec<(String, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for scenario in &loaded.variants {
        found.extend(scenario.transports_in_use().iter().map(|one| ("transport", one.kind.clone())));
        found.push(("host.bounce_signal", scenario.host.bounce_signal.kind.clone()));
        found.push(("host.reaction", scenario.host.reaction.kind.clone()));
        for switch in &scenario.switches {
            found.push(("fib", switch.fib.kind.clone()));
            found.push(("routing", switch.routing.kind.clone()));
            found.push(("buffer", switch.buffer.kind.clone()));
            found.push(("overflow", switch.overflow.kind.clone()));
            found.extend(switch.model.input_side().map(|cioq| ("arbiter", cioq.arbiter.kind.clone())));
            let fabric = switch.model.input_side().and_then(|cioq| cioq.fabric.as_ref());
            found.push(("fabric", fabric.map_or_else(|| "none".to_string(), |fabric| fabric.kind.clone())));
            for port in &switch.ports {
                found.push(("marking", port.marking.kind.clone()));
                found.push(("scheduler", port.scheduler.kind.clone()));
                found.push(("pause", port.pause.kind.clone()));
                found.push(("ack_hold", port.ack_hold.kind.clone()));
                found.push(("notify", port.notify.kind.clone()));
            }
        }
    }
    for variant in loaded.resolved.as_object().unwrap().values() {
        let traffic = variant["traffic"].as_array().unwrap().iter().map(|workload| ("traffic", &workload["kind"]));
        let topology = [("topology", &variant["topology"]["kind"])];
        found.extend(traffic.chain(topology).map(|(slot, kind)| (slot, kind.as_str().unwrap().to_string())));
    }
    found.into_iter().map(|(slot, kind)| (slot.to_string(), kind)).collect()
}
