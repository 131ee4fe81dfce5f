//! Tests that no parameter is accepted and ignored: every declared parameter changes some result.

mod values;

use mech::Registry;
use mech::params::{Param, ParamKind, Spec};
use scenario::{Loaded, Scenario, Source, load};
use serde_json::Value as Json;
use sim::{Column, Options, Recorder, build};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scenario file with one of its variants.
struct Place {
    name: String,
    source: Source,
    variant: String,
    base: Loaded,
    fingerprints: [OnceCell<u64>; BUDGETS.len()],
}

/// Numbers of events after which runs are compared. Most parameters change the results early, so that few runs are
/// long.
const BUDGETS: [u64; 2] = [8_000, 150_000];

impl Place {
    /// Returns the fingerprint of the results of the unchanged run after a number of events, computed on first use.
    fn fingerprint(&self, budget: usize) -> u64 {
        *self.fingerprints[budget].get_or_init(|| fingerprint(&self.base, &self.variant, BUDGETS[budget]))
    }

    /// Returns true if the results of a changed scenario differ from those of the unchanged one, after few or many
    /// events.
    fn differs(&self, changed: &Loaded) -> bool {
        (0..BUDGETS.len())
            .any(|budget| fingerprint(changed, &self.variant, BUDGETS[budget]) != self.fingerprint(budget))
    }
}

fn places() -> Vec<Place> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parameters");
    let mut files: Vec<_> =
        [golden, own].iter().flat_map(|f| f.read_dir().unwrap()).map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort_by_key(|path| (path.to_string_lossy().contains("golden"), path.clone()));
    let mut all = Vec::new();
    for path in files {
        let read = || Source::read(&path).unwrap();
        let names: Vec<String> = loaded(&read(), &[]).unwrap().variants.iter().map(|v| v.variant.clone()).collect();
        for variant in names {
            let mut source = read();
            source.text = with_one_variant(&source.text, &variant);
            let base = loaded(&source, &[]).unwrap();
            assert_eq!(base.variants.len(), 1, "{path:?}: a table of a variant has another form of header");
            let name = format!("{}/{variant}", path.file_stem().unwrap().to_string_lossy());
            all.push(Place { name, source, variant, base, fingerprints: Default::default() });
        }
    }
    all
}

/// Returns a scenario file without the tables of other variants, since a load takes as long as all its variants.
fn with_one_variant(text: &str, variant: &str) -> String {
    let is_of_another = |header: &str| {
        let path = header.trim_start_matches('[').strip_prefix("variants.");
        path.is_some_and(|path| path.split(['.', ']']).next() != Some(variant))
    };
    let (mut kept, mut is_kept) = (String::new(), true);
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            is_kept = !is_of_another(line);
        }
        if is_kept {
            kept.push_str(line);
        }
    }
    kept
}

fn loaded(source: &Source, sets: &[String]) -> Result<Loaded, String> {
    load(source, sets).map_err(|all| all.iter().map(|one| format!("{one}\n")).collect())
}

fn scenario_of_variant<'a>(loaded: &'a Loaded, variant: &str) -> &'a Scenario {
    loaded.variants.iter().find(|v| v.variant == variant).unwrap()
}

/// Returns a hash of all results of a run of at most `max_events` events, and of their names.
fn fingerprint(loaded: &Loaded, variant: &str, max_events: u64) -> u64 {
    let scenario = scenario_of_variant(loaded, variant);
    let options = Options { max_events: Some(max_events), ..Options::default() };
    let mut hash = DefaultHasher::new();
    let Ok(mut world) = build(scenario, loaded.seed, options, Recorder::from_scenario(scenario)) else { return 0 };
    world.run();
    let results = world.results(scenario);
    for (name, column) in results.tables.iter().flat_map(|table| &table.columns) {
        name.hash(&mut hash);
        match column {
            Column::U8(values) => values.hash(&mut hash),
            Column::U16(values) => values.hash(&mut hash),
            Column::U32(values) => values.hash(&mut hash),
            Column::U64(values) => values.hash(&mut hash),
            Column::I64(values) => values.hash(&mut hash),
            Column::F64(values) => values.iter().for_each(|value| value.to_bits().hash(&mut hash)),
        }
    }
    let ended = (results.progress.now.0, results.unfinished, results.measured, &results.received);
    let named = scenario.topology.nodes.iter().map(|node| (&node.name, &node.tier)).collect::<Vec<_>>();
    let traffic = scenario.traffic.iter().map(|traffic| &traffic.name).collect::<Vec<_>>();
    (ended, named, traffic, &scenario.name).hash(&mut hash);
    format!("{:?} {:?}", results.progress.stop, results.carried_bits).hash(&mut hash);
    hash.finish()
}

/// Returns the tables of a variant that have parameters of this declaration, by path, with their contents.
fn tables(spec: &Spec, place: &Place) -> Vec<(String, Json)> {
    let all = &place.base.resolved[&place.variant];
    let is = |table: &Json| table["kind"] == spec.kind;
    let listed = |key: &str| -> Vec<(String, Json)> {
        let list = all[key].as_array().cloned().unwrap_or_default();
        list.into_iter().enumerate().map(|(n, item)| (format!("{key}.{n}"), item)).collect()
    };
    let one = |path: &str, table: Json| vec![(path.to_string(), table)];
    let of_switch = |slot: &str| -> Vec<(String, Json)> {
        let groups = all["switches"].as_array().cloned().unwrap_or_default();
        let of_ports =
            |group: &Json| group["ports"].as_object().into_iter().flatten().map(|(_, t)| t[slot].clone()).collect();
        let in_group = |group: &Json| [vec![group[slot].clone()], of_ports(group)].concat();
        let found = groups.iter().flat_map(in_group).find(is);
        found.map(|table| (format!("switch.{slot}"), table)).into_iter().collect()
    };
    match spec.slot {
        "" => one("", all.clone()),
        "switch" => one("switch", all["switches"][0].clone()),
        "host" | "measure" => one(spec.slot, all[spec.slot].clone()),
        "traffic" if spec.kind.is_empty() => listed("traffic"),
        "event" if spec.kind.is_empty() => listed("event"),
        "traffic" | "event" => listed(spec.slot).into_iter().filter(|(_, table)| is(table)).collect(),
        "traffic.sizes" => {
            let all = listed("traffic").into_iter();
            let sizes = ["size", "sizes", "reply", "response"];
            all.flat_map(|(path, item)| sizes.map(|key| (format!("{path}.{key}"), item[key].clone())))
                .filter(|(_, t)| is(t))
                .collect()
        }
        "topology.node" => (0..7).map(|n| (format!("topology.node.{n}"), Json::Null)).collect(),
        "topology.link" => (0..7).map(|n| (format!("topology.link.{n}"), Json::Null)).collect(),
        "override.where" => (0..5).map(|n| (format!("override.{n}.where"), Json::Null)).collect(),
        slot if slot.matches('.').count() > 1 => {
            let mut found = vec![("switch".to_string(), all["switches"][0].clone())];
            for key in slot.split('.').skip(1) {
                found = found.iter().flat_map(|(path, table)| below(path, table, key)).collect();
            }
            let of_kind = |table: &Json| spec.kind.is_empty() || is(table);
            found.into_iter().filter(|(_, table)| of_kind(table)).collect()
        }
        slot => match slot.split_once('.') {
            Some(("switch", slot)) => {
                let host = &all["host"][slot];
                let host = if is(host) { one(&format!("host.{slot}"), host.clone()) } else { Vec::new() };
                [of_switch(slot), host].concat()
            }
            Some(("host", slot)) if is(&all["host"][slot]) => one(spec.slot, all["host"][slot].clone()),
            None if is(&all[slot]) => one(slot, all[slot].clone()),
            _ => Vec::new(),
        },
    }
}

/// Returns the tables at a key below a table: one, each of a list, or with the key `NAME` each named one.
fn below(path: &str, table: &Json, key: &str) -> Vec<(String, Json)> {
    let named = |(name, table): (&String, &Json)| (format!("{path}.{name}"), table.clone());
    let listed = |(n, table): (usize, &Json)| (format!("{path}.{key}.{n}"), table.clone());
    match (key, &table[key]) {
        ("NAME", _) => table.as_object().into_iter().flatten().map(named).collect(),
        (_, Json::Array(list)) => list.iter().enumerate().map(listed).collect(),
        (_, Json::Object(_)) => vec![(format!("{path}.{key}"), table[key].clone())],
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    Silent,
    Noted,
    Changed,
}

fn tried(place: &Place, path: &str, value: &str) -> Outcome {
    let before = &place.base.resolved[&place.variant];
    let mut last = Outcome::Refused;
    for prefix in [String::new(), format!("variants.{}.", place.variant)] {
        let Ok(found) = loaded(&place.source, &[format!("{prefix}{path}={value}")]) else { continue };
        if place.differs(&found) {
            return Outcome::Changed;
        }
        let is_changed = found.resolved[&place.variant] != *before;
        if is_changed || !found.notes.iter().any(|note| note.contains("overridden by variant")) {
            last = last.max(if changes_a_note(&place.base, &found, path) { Outcome::Noted } else { Outcome::Silent });
        }
        if is_changed {
            break;
        }
    }
    last
}

/// Returns true if a change makes a note appear or disappear that names the last key of a path.
fn changes_a_note(before: &Loaded, after: &Loaded, path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap();
    let names =
        |note: &&String| note.contains(key) && !note.starts_with("--set") && !note.contains("replaces the whole");
    let said = |loaded: &Loaded| loaded.notes.iter().filter(names).cloned().collect::<BTreeSet<_>>();
    said(before) != said(after)
}

/// Returns the outcomes of changing a parameter in each scenario, up to the first in which the results change.
///
/// Each value is tried everywhere before the next one, since most parameters need only one. `known` is a recorded
/// change (place, path and value) that changed the results; it is tried first.
fn outcomes(
    spec: &Spec,
    param: &Param,
    places: &[Place],
    known: Option<&Change>,
) -> (BTreeSet<Outcome>, Option<Change>) {
    if let Some(change) = known {
        let place = places.iter().find(|place| place.name == change.place);
        if place.is_some_and(|place| tried(place, &change.path, &change.value) == Outcome::Changed) {
            return (BTreeSet::from([Outcome::Changed]), known.cloned());
        }
    }
    let mut all = Vec::new();
    for place in places {
        for (path, values) in tables(spec, place) {
            let now = param.name.split('.').try_fold(&values, |json, key| json.get(key));
            let path = if path.is_empty() { param.name.to_string() } else { format!("{path}.{}", param.name) };
            let values = values::different(param, now).into_iter().enumerate();
            all.extend(values.map(|(turn, value)| (turn, place, path.clone(), value)));
        }
    }
    all.sort_by_key(|(turn, ..)| *turn);
    let mut seen = BTreeSet::new();
    for (_, place, path, value) in all {
        seen.insert(tried(place, &path, &value));
        if seen.contains(&Outcome::Changed) {
            return (seen, Some(Change { place: place.name.clone(), path, value }));
        }
    }
    (seen, None)
}

/// Change of a parameter in a scenario that changes the results of a run.
#[derive(Clone)]
struct Change {
    place: String,
    path: String,
    value: String,
}

/// Reads the recorded changes by parameter: a line each, with tabs between name, place, path and value.
fn recorded() -> BTreeMap<String, Change> {
    let text = std::fs::read_to_string(record()).unwrap_or_default();
    let parse = |line: &str| {
        let mut parts = line.split('\t').map(String::from);
        let mut next = || parts.next().unwrap_or_default();
        (next(), Change { place: next(), path: next(), value: next() })
    };
    text.lines().map(parse).collect()
}

fn record() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parameters/changes.tsv")
}

/// Parameters that change no results, each with the purpose that it has.
const OTHERWISE: [(&str, &str); 8] = [
    ("/description", "a text in the results"),
    ("/format", "the form of the file: one is known"),
    ("measure/allow_unfinished", "how the command ends"),
    ("switch.buffer.pools.NAME/side", "goes with the profiles of the pool: refused alone"),
    ("topology.node/name", "links name nodes: refused alone"),
    ("transport:linux_2_6_38/limited_transmit", "always on there: a note"),
    ("transport:linux_2_6_38_dctcp/limited_transmit", "always on there: a note"),
    ("traffic:all_to_all/order", "goes with `gap`: refused alone"),
];

#[test]
fn every_declared_parameter_changes_something_where_it_applies() {
    let specs = scenario::declarations(&Registry::catalogue());
    // Tables within a table are declarations of their own.
    let is_plain =
        |param: &&Param| !matches!(param.kind, ParamKind::Table(_) | ParamKind::Named(_) | ParamKind::List(_));
    let all: Vec<(&Spec, &Param)> =
        specs.iter().flat_map(|s| s.params.iter().filter(is_plain).map(move |p| (*s, p))).collect();
    let (next, known) = (AtomicUsize::new(0), recorded());
    let look = || {
        let (places, mut idle, mut changes) = (places(), Vec::new(), Vec::new());
        while let Some((spec, param)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kind = if spec.kind.is_empty() { String::new() } else { format!(":{}", spec.kind) };
            let name = format!("{}{kind}/{}", spec.slot, param.name);
            let is_otherwise = OTHERWISE.iter().any(|(known, _)| *known == name);
            let (seen, change) = outcomes(spec, param, &places, known.get(&name));
            if seen.contains(&Outcome::Changed) == is_otherwise {
                idle.push(format!("{name}: {seen:?}"));
            }
            changes.extend(change.map(|one| format!("{name}\t{}\t{}\t{}\n", one.place, one.path, one.value)));
        }
        (idle, changes)
    };
    // This is the longest test: two threads keep it from running alone at the end.
    let (mut idle, mut changes) = std::thread::scope(|scope| {
        let other = scope.spawn(look);
        let own = look();
        let other = other.join().expect("no panic");
        ([own.0, other.0].concat(), [own.1, other.1].concat())
    });
    idle.sort();
    changes.sort();
    if std::env::var("OVERSPILL_PARAMETERS").as_deref() == Ok("record") {
        std::fs::write(record(), changes.concat()).unwrap();
    }
    let hint = "see tests/parameters/README.md";
    assert!(idle.is_empty(), "parameters that change nothing anywhere, or are said to; {hint}:\n{}", idle.join("\n"));
}
