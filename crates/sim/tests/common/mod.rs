//! Runs scenarios given as text.
#![allow(dead_code)]

pub mod digest;

use scenario::Scenario;
use scenario::load::{Source, load};
use sim::{Column, Options, Recorder, Results, World, build};

/// The variant `name` of a scenario; the first where `name` is empty.
pub fn scenario(text: &str, name: &str) -> Scenario {
    let loaded = load(&Source::new("test.toml", text, std::path::Path::new("")), &[]).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    });
    loaded.variants.into_iter().find(|v| name.is_empty() || v.variant == name).expect("the variant exists")
}

/// The world of a scenario with everything recorded that it asks for.
pub fn world(scenario: &Scenario, seed: u64, options: Options) -> World<Recorder> {
    build(scenario, seed, options, Recorder::of(scenario)).unwrap()
}

/// Runs a scenario to its end.
pub fn run(text: &str, seed: u64) -> Results {
    run_with(&scenario(text, ""), seed, Options::default())
}

/// Runs a scenario to its end.
pub fn run_with(scenario: &Scenario, seed: u64, options: Options) -> Results {
    let mut world = world(scenario, seed, options);
    world.run();
    let results = world.results(scenario);
    assert!(results.conserved, "packets are unaccounted for: {:?}", world.imbalance());
    results
}

/// A column of a table as 64-bit numbers.
pub fn column(results: &Results, table: &str, name: &str) -> Vec<u64> {
    let table = results.table(table).expect("the table exists");
    let (_, column) = table.columns.iter().find(|(n, _)| n == name).expect("the column exists");
    match column {
        Column::U8(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U16(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U32(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Column::U64(v) => v.clone(),
        Column::I64(v) => v.iter().map(|x| *x as u64).collect(),
        Column::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
    }
}

/// The sum of a column.
pub fn total(results: &Results, table: &str, name: &str) -> u64 {
    column(results, table, name).iter().sum()
}

/// All losses.
pub fn drops(results: &Results) -> u64 {
    let table = results.table("ports").expect("the table exists");
    let names = table.columns.iter().filter(|(name, _)| name.starts_with("drop_"));
    names.map(|(name, _)| total(results, "ports", name)).sum()
}
