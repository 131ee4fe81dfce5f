//! Scenarios as text, and the results of loading them.

use mech::buffer::BufferSlot;
use scenario::{FilledSlot, Loaded, Source, load};
use std::path::Path;

/// Text of an incast in a fat-tree.
pub const INCAST: &str = include_str!("../incast.toml");

/// Returns the source of a scenario text that names no files.
pub fn source(text: &str) -> Source {
    Source::new("test.toml", text, Path::new("."))
}

/// Loads a scenario text with settings of the command line.
pub fn loaded(text: &str, sets: &[&str]) -> Loaded {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    load(&source(text), &sets).unwrap_or_else(|found| panic!("{}", shown(&found)))
}

/// Returns all faults of a scenario text, one a line.
pub fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    shown(&load(&source(text), &sets).expect_err("this should be refused"))
}

/// Formats diagnostics for comparison, one a line.
pub fn shown(found: &[scenario::Diagnostic]) -> String {
    found.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("\n")
}

/// Returns the text of a small scenario, a star of four hosts with an incast, with these additional lines.
pub fn star(more: &str) -> String {
    format!(
        "name = \"small\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 4\n[[traffic]]\nname = \"burst\"\n\
         kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"20KB\"\n{more}"
    )
}

/// Returns the text of a small scenario on a fat-tree of 16 hosts, with these additional lines.
pub fn tree(more: &str) -> String {
    star(more).replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4")
}

/// Returns the parameter `size` of a buffer as text.
pub fn size_of(buffer: &FilledSlot<BufferSlot>) -> String {
    buffer.values.amount("size").to_string()
}
