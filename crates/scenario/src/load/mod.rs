//! Loader of scenarios: parses the text, applies `--set`, merges variants into the base, checks every table against its
//! declaration, and builds.
//!
//! One pass finds all faults, so that a user need not correct them one by one.

mod aliases;
mod checks;
mod dscps;
mod events;
mod fibs;
mod fields;
mod host_pauses;
mod hpcc_settings;
mod import_notes;
mod input_side;
mod labels;
mod mechanism_settings;
mod merge;
mod needs;
mod nesting;
mod networks;
mod overrides;
mod renamed_keys;
mod resets;
mod resolved_json;
mod set_option;
mod switches;
mod transports;
mod tree;
mod value;
mod variant;
mod warnings;

pub(crate) use mechanism_settings::read_mechanism_settings;
pub use needs::MemoryNeeds;
pub use nesting::check_nesting;
pub(crate) use networks::specs;
pub(crate) use value::{default_value, default_word, describe_allowed};

use crate::diag::{Diagnostic, MAX_NOTE_CHARS, MAX_PATH_CHARS, format_fault, format_one_of, sanitize};
use crate::limits::MAX_FILE_BYTES;
use crate::model::Scenario;
use core::fmt;
use fields::{Faults, NAME_RULE, is_name};
use mech::Registry;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use tree::{Data, Node};
use units::Dur;

/// Largest number of variants.
const MAX_VARIANTS: usize = 1000;
/// Largest product of the number of variants and the number of values in the base: about a gigabyte of memory.
const MAX_VALUES: usize = 1_000_000;
/// Number of faults after which the loader reads no further variants. Faults of the base count for each variant.
const MAX_FAULTS: usize = 1000;

/// Keys that a variant may not set, because variants are compared on the same random draws.
const KEYS_NOT_IN_VARIANTS: [&str; 4] = ["name", "format", "seed", "variants"];

/// Function that opens a file named in a scenario, or returns the reason why it cannot be read.
pub type FileOpener = Box<dyn Fn(&str) -> Result<Box<dyn BufRead>, String>>;

/// Text of a scenario, with the files and mechanisms that it may name.
pub struct Source {
    /// Name of the scenario file in messages.
    pub path: String,
    /// Text of the scenario.
    pub text: String,
    /// Function that opens a file that the scenario names, relative to its folder.
    pub files: FileOpener,
    /// Mechanisms that the scenario may name.
    pub registry: Registry,
}

/// Source text and collected notes of the variant that is being read.
#[derive(Clone, Copy)]
struct ReadContext<'a> {
    source: &'a Source,
    notes: &'a RefCell<Vec<String>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.path).field("text", &self.text).finish_non_exhaustive()
    }
}

/// Scenario that is ready to run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Name of the scenario.
    pub name: String,
    /// Seed of the first run.
    pub seed: u64,
    /// Longest duration of any variant.
    pub duration: Dur,
    /// Variants, in the order of the file.
    pub variants: Vec<Scenario>,
    /// Labels of the variants that have one, by name of the variant; they appear in output only and change no run.
    pub labels: BTreeMap<String, String>,
    /// Warnings about the scenario for the user, which do not prevent a run.
    pub notes: Vec<String>,
    /// Every value of every variant, defaults included, by name of the variant; quantities are text with their unit.
    pub resolved: Json,
}

/// Opens a regular file. Devices and pipes are refused, since they may have no end.
fn open_file(path: &Path) -> std::io::Result<File> {
    match std::fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("not a regular file")),
    }
}

impl Source {
    /// Makes a source from a text; files that it names are relative to a folder.
    pub fn new(path: impl Into<String>, text: impl Into<String>, folder: &Path) -> Source {
        let folder = folder.to_path_buf();
        let files = move |name: &str| match open_file(&folder.join(name)) {
            Ok(file) => Ok(Box::new(BufReader::new(file)) as Box<dyn BufRead>),
            Err(error) => Err(format!("cannot be read ({error})")),
        };
        Source { path: path.into(), text: text.into(), files: Box::new(files), registry: Registry::catalogue() }
    }

    /// Returns the text of a file that the scenario names.
    fn read_named_file(&self, name: &str) -> Result<String, String> {
        let (mut bytes, file) = (Vec::new(), (self.files)(name)?);
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read ({error})"))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(format!("is longer than {} MiB", MAX_FILE_BYTES >> 20));
        }
        String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_string())
    }

    /// Replaces the mechanisms that the scenario may name.
    #[must_use]
    pub fn with_registry(self, registry: Registry) -> Source {
        Source { registry, ..self }
    }

    /// Reads a scenario file; files that it names are relative to its folder.
    ///
    /// # Errors
    /// Returns a diagnostic if the file cannot be read or is not UTF-8 text.
    pub fn read(path: &Path) -> Result<Source, Diagnostic> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Diagnostic {
            file: name.clone(),
            line: 0,
            field: String::new(),
            message: format_fault(format!("a file that cannot be read ({error})"), "a scenario file"),
        })?;
        Source::from_bytes(&name, bytes, path.parent().unwrap_or(Path::new("")))
    }

    /// Makes a source from the bytes of a scenario file; files that it names are relative to a folder.
    ///
    /// # Errors
    /// Returns a diagnostic if the bytes are not UTF-8 text.
    pub fn from_bytes(path: &str, bytes: Vec<u8>, folder: &Path) -> Result<Source, Diagnostic> {
        String::from_utf8(bytes).map(|text| Source::new(path, text, folder)).map_err(|error| {
            let (valid, all) = (error.utf8_error().valid_up_to(), error.as_bytes());
            Diagnostic {
                file: path.into(),
                line: all[..valid].iter().filter(|byte| **byte == b'\n').count() + 1,
                field: String::new(),
                message: format_fault(format!("bytes that are not text (byte {valid})"), "TOML in UTF-8"),
            }
        })
    }
}

/// Loads a scenario with `--set` settings applied.
///
/// Settings change the base document before variants are merged into it. A setting that every variant overrides is
/// refused; one that some variants override gives a note.
///
/// # Errors
/// Returns all faults, in the order of the file.
pub fn load(source: &Source, sets: &[String]) -> Result<Loaded, Vec<Diagnostic>> {
    check_nesting(&source.path, &source.text).map_err(|diagnostic| vec![diagnostic])?;
    let mut document = tree::parse_document(source).map_err(|diagnostic| vec![diagnostic])?;
    let written = (!sets.is_empty()).then(|| document.clone());
    let mut faults = Faults::new(&source.path);
    faults.diagnostics = set_option::apply_settings(&mut document, sets);
    faults.variant_kinds = set_option::variant_kinds(&document, sets);
    check_variants(&document, &mut faults);
    if !check_variant_count(&document, &mut faults) {
        return Err(faults.into_diagnostics());
    }
    let (mut read, mut kept, mut said_by_variants) = (Vec::new(), Vec::new(), Vec::new());
    for (name, merged) in merge::variant_documents(&document) {
        let said = RefCell::new(resets::note_resets(&document, &merged, "", &source.registry));
        read.extend(variant::read_variant(&name, &merged, ReadContext { source, notes: &said }, &mut faults));
        said_by_variants.extend(deduplicate_and_prefix_notes(&name, said.into_inner()));
        if faults.total_sizes.exceeds_bounds() || faults.count > MAX_FAULTS {
            return Err(faults.into_diagnostics());
        }
        let mut left = BTreeSet::new();
        merged.collect_settings(&mut left);
        left.extend(labels::label_setting(&document, &name));
        kept.push((name, left));
    }
    let (mut notes, shadowed) = set_option::note_overridden_settings(&document, &kept, sets);
    notes.extend(
        written.iter().flat_map(|written| resets::note_resets_by_settings(written, &document, &source.registry)),
    );
    notes.extend(said_by_variants);
    faults.diagnostics.extend(shadowed);
    match read.first() {
        Some(first) if faults.diagnostics.is_empty() => Ok(Loaded {
            name: first.scenario.name.clone(),
            seed: first.seed,
            duration: read.iter().map(|read| read.scenario.duration).max().unwrap_or_default(),
            resolved: read
                .iter()
                .map(|r| (r.scenario.variant.clone(), r.resolved.clone()))
                .collect::<Map<_, _>>()
                .into(),
            labels: labels::variant_labels(&document),
            variants: read.into_iter().map(|read| read.scenario).collect(),
            notes: notes.iter().map(|note| sanitize(note, MAX_NOTE_CHARS)).collect(),
        }),
        _ => Err(faults.into_diagnostics()),
    }
}

/// Puts the name of a variant before each of its notes, and removes repeated notes.
fn deduplicate_and_prefix_notes(variant: &str, said: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    said.iter().filter(|note| seen.insert(*note)).map(|note| format!("{variant}: {note}")).collect()
}

/// Checks that a file does not have too many variants, or too many values in all variants together.
fn check_variant_count(document: &Node, faults: &mut Faults) -> bool {
    let Some(variants) = document.get("variants") else { return true };
    let (count, values) = (variants.entries().len(), document.count_values() - variants.count_values());
    let (found, rule) = if count > MAX_VARIANTS {
        (format!("{count} variants"), format!("at most {MAX_VARIANTS}"))
    } else if count > 1 && count * values > MAX_VALUES {
        let found = format!("{count} variants of a scenario with {values} values");
        (found, format!("at most {MAX_VALUES} values in all variants together"))
    } else {
        return true;
    };
    faults.add_fault(&variants.at, format_fault(found, rule));
    false
}

fn check_variants(document: &Node, faults: &mut Faults) {
    let Some(variants) = document.get("variants") else { return };
    if !matches!(variants.data, Data::Table(_)) {
        faults.add_fault(&variants.at, format_fault(variants.format_value(), "tables [variants.NAME]"));
    }
    for (name, over) in variants.entries() {
        if !is_name(name) {
            let rule = format!(
                "{NAME_RULE}. For other characters in tables and figures, set the key `label` of the \
                                variant"
            );
            faults.add_fault(&over.at, format_fault(format!("a variant called {name:?}"), rule));
        }
        if !matches!(over.data, Data::Table(_)) {
            faults.add_fault(&over.at, format_fault(over.format_value(), format!("a table [variants.{name}]")));
        }
        for (key, node) in over.entries().iter().filter(|(key, _)| KEYS_NOT_IN_VARIANTS.contains(&key.as_str())) {
            let rule = "one value for all variants, because variants are compared on the same random draws";
            faults.add_fault(&node.at, format_fault(format!("`{key}` in a variant"), rule));
        }
        check_workload_names(document, over, faults);
    }
    labels::check_labels(variants, faults);
}

/// Checks that every workload that a variant changes by name exists in the base.
fn check_workload_names(document: &Node, over: &Node, faults: &mut Faults) {
    let (Some(list), Some(named)) = (document.get(merge::NAMED_LIST_KEY), over.get(merge::NAMED_LIST_KEY)) else {
        return;
    };
    if !merge::patches_entries_by_name(list, named) {
        return;
    }
    let known = || list.items().iter().filter_map(|item| item.get("name").and_then(Node::text));
    let names: BTreeSet<&str> = known().collect();
    for (name, node) in named.entries() {
        if !names.contains(name.as_str()) {
            faults.add_fault_lazily(&node.at, || {
                let rule = format!("the name of a workload, {}", format_one_of(name, known()));
                format_fault(format!("`{}`", sanitize(name, MAX_PATH_CHARS)), rule)
            });
        } else if !matches!(node.data, Data::Table(_)) {
            faults.add_fault(&node.at, format_fault(node.format_value(), "a table of keys of the workload"));
        } else if let Some(own) = node.get("name").filter(|own| own.text() != Some(name)) {
            faults.add_fault(
                &own.at,
                format_fault(own.format_value(), "no `name`, because a variant cannot rename a workload"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_notes_are_removed_and_the_order_is_kept() {
        let said: Vec<String> = (0..120_000).map(|i| format!("entry {}", (i * 7) % 60_000)).collect();
        let notes = deduplicate_and_prefix_notes("a", said);
        assert_eq!(notes.len(), 60_000);
        assert_eq!(notes[..2], ["a: entry 0", "a: entry 7"]);
        assert_eq!(notes[59_999], "a: entry 59993");
    }
}
