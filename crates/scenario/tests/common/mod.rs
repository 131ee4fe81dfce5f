//! Scenarios as text, and what they come to.

use mech::buffer::BufferSlot;
use scenario::{Filled, Loaded, Source, load};
use std::path::Path;

/// The example of the drawing.
pub const INCAST: &str = include_str!("../incast.toml");

/// A text that names no files.
pub fn source(text: &str) -> Source {
    Source::new("test.toml", text, Path::new("."))
}

/// What a text comes to, with settings of the command line.
pub fn loaded(text: &str, sets: &[&str]) -> Loaded {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    load(&source(text), &sets).unwrap_or_else(|found| panic!("{}", shown(&found)))
}

/// All that is wrong with a text, a line each.
pub fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    shown(&load(&source(text), &sets).expect_err("this should be refused"))
}

/// Messages, a line each.
pub fn shown(found: &[scenario::Diagnostic]) -> String {
    found.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("\n")
}

/// A small scenario with these lines behind its own.
pub fn star(more: &str) -> String {
    format!(
        "name = \"small\"\nduration = \"10ms\"\n[topology]\nkind = \"star\"\nn = 4\n[[traffic]]\nname = \"burst\"\n\
         kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"20KB\"\n{more}"
    )
}

/// The same with a fat-tree of 16 hosts.
pub fn tree(more: &str) -> String {
    star(more).replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4")
}

/// The parameter `size` of a buffer.
pub fn size_of(buffer: &Filled<BufferSlot>) -> String {
    buffer.values.amount("size").to_string()
}
