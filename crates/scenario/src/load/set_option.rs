//! The option `--set path=value`, which replaces one value of the document before variants are merged into it.
//!
//! Settings apply in order, and the last one wins. A new `kind` removes the parameters of the old kind from its table,
//! as in a variant. A setting that every variant overrides has no effect and is refused; one that some variants
//! override gives a note.

use super::fields::VariantKinds;
use super::nesting::{is_within_bound, too_deep_message};
use super::tree::{Data, Location, Node, join_path, parse_value};
use crate::diag::{Diagnostic, MAX_PATH_CHARS, format_fault, format_one_of, format_ordinal, sanitize, truncate};
use std::collections::BTreeSet;
use toml_edit::Key;

/// Keys that remain in a table when its `kind` changes, since all kinds have them.
const KEYS_OF_ALL_KINDS: [&str; 4] = ["name", "class", "dscp", "jitter"];

/// Applies the `--set` settings to a document, and returns a fault for each that could not be applied.
pub(super) fn apply_settings(document: &mut Node, sets: &[String]) -> Vec<Diagnostic> {
    let outcomes = sets.iter().enumerate().map(|(number, set)| apply_setting(document, number, set));
    outcomes.filter_map(Result::err).collect()
}

/// Splits a setting into its path and its value.
fn split_setting(set: &str) -> Result<(Vec<String>, &str), Diagnostic> {
    let rule = "a setting PATH=VALUE, such as switch.buffer.size=50pkt";
    let (path, value) = set.split_once('=').ok_or_else(|| setting_fault("", format_fault(format!("`{set}`"), rule)))?;
    if !is_within_bound(path.trim(), value.trim()) {
        return Err(setting_fault(path.trim(), too_deep_message()));
    }
    let keys =
        Key::parse(path.trim()).map_err(|_| setting_fault(path.trim(), format_fault(format!("`{set}`"), rule)))?;
    if value.trim().is_empty() {
        return Err(setting_fault(path.trim(), format_fault("no value", rule)));
    }
    Ok((keys.iter().map(|key| key.get().to_string()).collect(), value))
}

fn setting_fault(path: &str, message: String) -> Diagnostic {
    Diagnostic { file: "--set".into(), line: 0, field: sanitize(path, MAX_PATH_CHARS), message }
}

fn apply_setting(document: &mut Node, number: usize, set: &str) -> Result<(), Diagnostic> {
    let (keys, value) = split_setting(set)?;
    let path = keys.iter().fold(String::new(), |path, key| join_path(&path, key));
    let at = Location { line: 0, path: path.clone(), set: Some(number) };
    let value = parse_value(value, at).map_err(|why| {
        let rule = "a value as in TOML, or bare text";
        setting_fault(&path, format_fault(format!("a value that is not TOML ({why})"), rule))
    })?;
    if let [first, name, ..] = keys.as_slice() {
        if first == "variants" {
            check_variant_exists(document, name, &path)?;
        }
    }
    let Some((last, parents)) = keys.split_last() else { return Ok(()) };
    let mut node = document;
    for (depth, key) in parents.iter().enumerate() {
        let here = parents[..=depth].iter().fold(String::new(), |path, key| join_path(&path, key));
        node = child_or_insert(node, key, Location { line: 0, path: here, set: Some(number) }, &path)?;
    }
    put_value(node, last, value, &path)
}

fn check_variant_exists(document: &Node, name: &str, path: &str) -> Result<(), Diagnostic> {
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    if variants.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let rule =
        format!("a variant of the scenario, {}", format_one_of(name, variants.iter().map(|(name, _)| name.as_str())));
    Err(setting_fault(path, format_fault(format!("unknown variant `{name}`"), rule)))
}

/// Returns the value of a key below `node`; if the key is missing, its value becomes an empty table.
fn child_or_insert<'a>(node: &'a mut Node, key: &str, at: Location, path: &str) -> Result<&'a mut Node, Diagnostic> {
    let shown = node.format_value();
    let above = at.path.rsplit_once('.').map_or(String::new(), |(above, _)| above.to_string());
    match &mut node.data {
        Data::List(items) => find_element(items, key, path),
        Data::Table(entries) => {
            let place = entries.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
                entries.push((key.to_string(), Node::table(at)));
                entries.len() - 1
            });
            Ok(&mut entries[place].1)
        }
        _ => Err(setting_fault(path, format_fault(format!("the value {shown} at `{above}`"), "a table at this path"))),
    }
}

/// Returns the entry of a list of tables with this name or number.
fn find_element<'a>(items: &'a mut [Node], key: &str, path: &str) -> Result<&'a mut Node, Diagnostic> {
    let named = |node: &Node| node.get("name").and_then(Node::text) == Some(key);
    let count = items.len();
    let number = || match key.parse::<usize>() {
        Ok(number) => Some(number),
        Err(_) => key.get(..key.len().saturating_sub(2))?.parse::<usize>().ok()?.checked_sub(1),
    };
    let is_it = |place: &usize| *place < count && (key == place.to_string() || key == format_ordinal(*place));
    let place = items.iter().position(named).or_else(|| number().filter(is_it));
    if let Some(place) = place {
        return Ok(&mut items[place]);
    }
    let names: Vec<String> = items.iter().filter_map(|node| Some(node.get("name")?.text()?.to_string())).collect();
    let named = if names.is_empty() {
        String::new()
    } else {
        format!("{} or ", format_one_of(key, names.iter().map(String::as_str)))
    };
    let rule = match count.saturating_sub(1) {
        0 => format!("{named}`0` or `1st` for the only entry"),
        last => format!("{named}a number from 0 to {last}, or `1st` to `{}`", format_ordinal(last)),
    };
    Err(setting_fault(path, format_fault(format!("no entry `{key}`"), rule)))
}

fn put_value(node: &mut Node, key: &str, value: Node, path: &str) -> Result<(), Diagnostic> {
    let shown = node.format_value();
    match &mut node.data {
        Data::List(items) => *find_element(items, key, path)? = value,
        Data::Table(entries) => {
            let old = entries.iter().find(|(k, _)| k == key).and_then(|(_, node)| node.text());
            if key == "kind" && old.is_some() && old != value.text() {
                entries.retain(|(key, _)| KEYS_OF_ALL_KINDS.contains(&key.as_str()));
            }
            node.put(key, value);
        }
        _ => {
            return Err(setting_fault(path, format_fault(shown, "a table, in which a key can be set")));
        }
    }
    Ok(())
}

/// Returns pairs (variant, kind) for each `--set` setting: variants that give another kind to the setting's table.
pub(super) fn variant_kinds(document: &Node, sets: &[String]) -> VariantKinds {
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    let of = |set: &String| -> Vec<(String, String)> {
        let Ok((keys, _)) = split_setting(set) else { return Vec::new() };
        let Some((_, parents)) = keys.split_last() else { return Vec::new() };
        let kind = |over: &Node| {
            let table = parents.iter().try_fold(over, |node, key| node.get(key))?;
            Some(table.get("kind")?.text()?.to_string())
        };
        variants.iter().filter_map(|(name, over)| Some((name.clone(), kind(over)?))).collect()
    };
    sets.iter().map(of).collect()
}

/// Returns a note for each `--set` setting that some variants override, and a fault for each that all override. `kept`
/// has the settings that remain in each variant.
pub(super) fn note_overridden_settings(
    document: &Node,
    kept: &[(String, BTreeSet<usize>)],
    sets: &[String],
) -> (Vec<String>, Vec<Diagnostic>) {
    let (mut notes, mut faults) = (Vec::new(), Vec::new());
    let mut applied = BTreeSet::new();
    document.collect_value_settings(&mut applied);
    for (number, set) in sets.iter().enumerate().filter(|(number, _)| applied.contains(number)) {
        let path = set.split_once('=').map_or("", |(path, _)| path).trim();
        let lost: Vec<&str> = kept.iter().filter(|v| !v.1.contains(&number)).map(|v| v.0.as_str()).collect();
        let of_one_variant = path.starts_with("variants.");
        if lost.len() == kept.len() {
            let rule = "a path that at least one variant does not override. To set it in a variant, use \
                        variants.NAME.PATH=VALUE";
            faults.push(setting_fault(path, format_fault("a path that every variant overrides", rule)));
        } else if !lost.is_empty() && !of_one_variant {
            notes.push(format!("--set {}: overridden by variant {}", truncate(set, 120), lost.join(", ")));
        }
    }
    (notes, faults)
}
