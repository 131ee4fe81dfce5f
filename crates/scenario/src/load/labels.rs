//! Labels of variants for tables and figures. Names themselves must fit into files and commands.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::{message, wrong_name};
use std::collections::BTreeMap;

/// Key of a variant that is no key of a scenario.
pub(super) const LABEL: &str = "label";
/// Longest label in characters; it is the width of a table column.
const LONGEST: usize = 60;

/// Returns the labels by name of their variant.
pub(super) fn of_variants(document: &Node) -> BTreeMap<String, String> {
    let variants = document.get("variants").map_or(&[][..], Node::entries);
    let each = variants.iter().filter_map(|(name, over)| Some((name.clone(), over.get(LABEL)?.text()?.to_string())));
    each.collect()
}

/// Checks that each label is a text that no other variant has as its label or name.
pub(super) fn check(variants: &Node, faults: &mut Faults) {
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, over) in variants.entries() {
        let Some(label) = over.get(LABEL) else { continue };
        let Some(text) = label.text() else {
            faults.add(&label.at, message(label.shown(), "a text in quotes"));
            continue;
        };
        if text.chars().count() > LONGEST {
            faults.add(&label.at, message(label.shown(), format!("at most {LONGEST} characters")));
        } else if let Some((found, rule)) = wrong_name(text) {
            faults.add(&label.at, message(found, rule));
        }
        let same =
            variants.entries().iter().map(|(other, _)| other.as_str()).find(|other| *other == text && other != name);
        if let Some(other) = taken.insert(text, name).or(same) {
            faults.add(
                &label.at,
                message(
                    label.shown(),
                    format!("a label that differs from the name and the label of variant `{other}`"),
                ),
            );
        }
    }
}
