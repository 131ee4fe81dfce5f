//! Variants and overrides over a base: a table with a `kind` replaces the whole table, other
//! tables merge key by key, and everything else replaces what was there.

use super::tree::{At, Data, Node};

/// `over` laid upon `base`. Every value keeps the place where it was written.
pub(super) fn merge(base: &mut Node, over: &Node) {
    let whole = over.get("kind").is_some();
    match (&base.data, &over.data) {
        (Data::Table(_), Data::Table(entries)) if !whole => {
            for (key, node) in entries {
                match base.get_mut(key) {
                    Some(old) => merge(old, node),
                    None => base.put(key, node.clone()),
                }
            }
        }
        _ => *base = over.clone(),
    }
}

/// The names of the variants with their scenarios as documents, in the order of the file; one
/// called `default` where the file has none.
pub(super) fn variants(document: &Node) -> Vec<(String, At, Node)> {
    let mut base = document.clone();
    if let Data::Table(entries) = &mut base.data {
        entries.retain(|(key, _)| key != "variants");
    }
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    if variants.is_empty() {
        return vec![("default".into(), At { line: 1, ..At::default() }, base)];
    }
    let each = variants.iter().map(|(name, over)| {
        let mut merged = base.clone();
        over.entries().iter().for_each(|(key, node)| match merged.get_mut(key) {
            Some(old) => merge(old, node),
            None => merged.put(key, node.clone()),
        });
        (name.clone(), over.at.clone(), merged)
    });
    each.collect()
}
