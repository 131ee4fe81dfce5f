#![no_main]
//! Loads a scenario's text, `--set` settings and the files that it names, with a NUL byte between them.
//!
//! Loading accepts or refuses, never panics, and gives the same result twice. An accepted scenario is built as far as a
//! run builds it before its first event.

use libfuzzer_sys::fuzz_target;
use mech::HostId;
use scenario::routes::Routes;
use scenario::traffic::Flows;
use scenario::{Diagnostic, Loaded, Scenario, Source, load};
use serde_json::{Map, Value as Json};
use std::io::{BufRead, Cursor};
use units::Time;

/// Largest number of hosts of a network that is built.
const SMALL: u32 = 256;
/// Number of flows that are made of each variant.
const FLOWS: usize = 300;

struct Input<'a> {
    text: &'a str,
    sets: Vec<String>,
    file: String,
}

impl Input<'_> {
    fn load(&self) -> Result<Loaded, Vec<Diagnostic>> {
        let file = self.file.clone();
        let files = Box::new(move |name: &str| match name {
            "" => Err("has no name".to_string()),
            _ => Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>),
        });
        load(
            &Source { path: "fuzz.toml".into(), text: self.text.into(), files, registry: mech::Registry::catalogue() },
            &self.sets,
        )
    }
}

fuzz_target!(|data: &str| {
    let mut parts = data.splitn(3, '\0');
    let text = parts.next().unwrap_or("");
    let sets = parts.next().unwrap_or("").lines().take(8).map(str::to_string).collect();
    let input = Input { text, sets, file: parts.next().unwrap_or("").to_string() };
    let (once, twice) = (input.load(), input.load());
    match (once, twice) {
        (Ok(loaded), Ok(again)) => {
            same(&loaded, &again);
            loaded.variants.iter().for_each(build);
            loaded.variants.iter().for_each(|variant| reload(&input, &loaded, &variant.variant));
        }
        (Err(found), Err(again)) => {
            assert_eq!(found, again, "loading is a function of its input");
            refused(&input, &found);
        }
        _ => panic!("refused once and accepted once"),
    }
});

fn same(loaded: &Loaded, again: &Loaded) {
    assert_eq!(loaded.resolved, again.resolved);
    assert_eq!(loaded.notes, again.notes);
    assert_eq!((&loaded.name, loaded.seed, loaded.duration), (&again.name, again.seed, again.duration));
    assert!(!loaded.variants.is_empty());
}

/// Checks that each fault has a message, and a place that exists.
fn refused(input: &Input, found: &[Diagnostic]) {
    assert!(!found.is_empty(), "refused without a reason");
    let lines = input.text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    for diagnostic in found {
        assert!(diagnostic.message.contains("; expected "), "{diagnostic}");
        assert!(diagnostic.line <= lines, "{diagnostic}");
        let setting = diagnostic.file == "--set";
        assert!(setting || diagnostic.line > 0 || !diagnostic.field.is_empty(), "{diagnostic}");
        assert!(diagnostic.to_string().len() < 20_000, "a message of {} bytes", diagnostic.to_string().len());
    }
}

/// Builds the parts that a run makes before its first event.
fn build(scenario: &Scenario) {
    let net = &scenario.topology;
    assert_eq!(scenario.switches.len(), net.switches().len());
    for (switch, config) in net.switches().iter().zip(&scenario.switches) {
        assert_eq!(switch.ports.len(), config.ports.len());
    }
    if net.hosts > SMALL || net.nodes.len() > 4 * SMALL as usize || scenario.traffic.len() > 64 {
        return;
    }
    let routes = Routes::compute(net);
    let last = HostId(net.hosts - 1);
    (0..net.hosts - 1).for_each(|src| assert!(routes.hop_count(HostId(src), last) >= 2));
    scenario::memory::switch_memory(scenario).iter().for_each(|memory| {
        let _ = memory.total_memory();
    });
    let end = Time(scenario.duration.0);
    let mut before = Time::ZERO;
    for flow in Flows::new(&scenario.traffic, net, 1, end).take(FLOWS) {
        assert!(flow.start >= before && flow.start < end, "{flow:?}");
        assert!(flow.src != flow.dst && flow.src.0.max(flow.dst.0) < net.hosts && flow.bytes > 0, "{flow:?}");
        before = flow.start;
    }
    for (index, workload) in scenario.traffic.iter().enumerate() {
        let (mut reaction, mut next) = (workload.follow_ups(index as u16, 1), Vec::new());
        for message in workload.flows(index as u16, net, 1, end).take(FLOWS) {
            let Some(reaction) = &mut reaction else { break };
            reaction.on_delivered(&message, message.start, &mut next);
            assert!(
                next.iter().all(|flow| flow.src == message.dst && flow.dst != flow.src && flow.bytes > 0),
                "{next:?}"
            );
            assert!(next.drain(..).all(|flow| flow.start >= message.start));
        }
        for raw in workload.raw_sources(index as u16, 1) {
            assert!(raw.src != raw.dst && raw.payload > 0, "{raw:?}");
        }
        if let Some(offered) = workload.offered_load() {
            assert!(offered.bps.is_finite() && offered.fraction.is_finite(), "{offered:?}");
        }
    }
}

/// Checks that a resolved variant, written as a scenario, resolves to itself. Switches appear in groups, and nodes and
/// links of a custom network do not appear: these are not written.
fn reload(input: &Input, loaded: &Loaded, variant: &str) {
    let all = &loaded.resolved[variant];
    if all["topology"]["kind"] == "custom" {
        return;
    }
    let plain = |all: &Json| {
        let mut map = all.as_object().cloned().unwrap_or_default();
        map.remove("switches");
        // The default time step depends on the duration only, but an explicit one is checked with the drain as well.
        map.get_mut("measure").and_then(Json::as_object_mut).map(|measure| measure.remove("bin"));
        map
    };
    let once = plain(all);
    let text = toml(&once);
    let again = Input { text: &text, sets: Vec::new(), file: input.file.clone() };
    match again.load() {
        Ok(loaded) => assert_eq!(once, plain(&loaded.resolved["default"])),
        Err(found) => panic!("{text}\n{}", found[0]),
    }
}

/// Formats a table of a resolved document as lines of TOML.
fn toml(table: &Map<String, Json>) -> String {
    table.iter().map(|(key, value)| format!("{key:?} = {}\n", inline(value))).collect()
}

fn inline(value: &Json) -> String {
    match value {
        Json::Object(table) => {
            let each: Vec<_> = table.iter().map(|(key, value)| format!("{key:?} = {}", inline(value))).collect();
            format!("{{ {} }}", each.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}
