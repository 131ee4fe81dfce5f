//! Labels of variants for tables and figures: free text, unlike the names of variants, which files and commands use.

use super::fields::Faults;
use super::tree::Node;
use crate::diag::{check_name, format_fault};
use std::collections::BTreeMap;

/// Key of a variant for its label in tables and figures; only variants may have it.
pub(super) const LABEL_KEY: &str = "label";
/// Longest label in characters; it is the width of a table column.
const MAX_LABEL_CHARS: usize = 60;

/// Returns the label of each variant that has one, by the name of the variant.
pub(super) fn variant_labels(document: &Node) -> BTreeMap<String, String> {
    let variants = document.get("variants").map_or(&[][..], Node::entries);
    let each =
        variants.iter().filter_map(|(name, over)| Some((name.clone(), over.get(LABEL_KEY)?.text()?.to_string())));
    each.collect()
}

/// Returns the number of the `--set` that wrote the label of a variant, if one did.
pub(super) fn label_setting(document: &Node, variant: &str) -> Option<usize> {
    document.get("variants")?.get(variant)?.get(LABEL_KEY)?.at.set
}

/// Checks that each label is a text that no other variant has as its label or name.
pub(super) fn check_labels(variants: &Node, faults: &mut Faults) {
    let mut taken: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, over) in variants.entries() {
        let Some(label) = over.get(LABEL_KEY) else { continue };
        let Some(text) = label.text() else {
            faults.add_fault(&label.at, format_fault(label.format_value(), "a text in quotes"));
            continue;
        };
        if text.chars().count() > MAX_LABEL_CHARS {
            faults.add_fault(
                &label.at,
                format_fault(label.format_value(), format!("at most {MAX_LABEL_CHARS} characters")),
            );
        } else if let Some((found, rule)) = check_name(text) {
            faults.add_fault(&label.at, format_fault(found, rule));
        }
        let same =
            variants.entries().iter().map(|(other, _)| other.as_str()).find(|other| *other == text && other != name);
        if let Some(other) = taken.insert(text, name).or(same) {
            faults.add_fault(
                &label.at,
                format_fault(
                    label.format_value(),
                    format!("a label that differs from the name and the label of variant `{other}`"),
                ),
            );
        }
    }
}
