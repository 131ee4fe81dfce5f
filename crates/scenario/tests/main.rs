//! Valid and invalid scenario files, and the results of loading them.
//! All tests form one binary, since each binary would link the whole crate.

mod common;
mod configured;
mod dcqcn_notes;
mod declared;
mod defaults;
mod dscps;
mod host_transports;
mod idle;
mod idle_mechanisms;
mod idle_notices;
mod idle_pools;
mod idle_transports;
mod imported;
mod laid_over;
mod limits;
mod loading;
mod malformed;
mod meant;
mod messages;
mod overrides;
mod pausing;
mod resets;
mod slots;
mod two_level;
mod workload_transports;

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
