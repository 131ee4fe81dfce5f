//! Merging of variants and overrides into a base.
//!
//! A table with a `kind` replaces the whole table, since parameters of one kind mean nothing to another. Other tables
//! merge key by key, and everything else replaces the old value. A variant names entries of `[[traffic]]` as
//! `traffic.NAME`.

use super::labels::LABEL_KEY;
use super::tree::{Data, Node};
use std::collections::BTreeMap;

/// Merges tables key by key, unless `over` names a kind; any other value of `over` replaces the one of `base`. Every
/// value keeps the location where it was written.
pub(super) fn merge_nodes(base: &mut Node, over: &Node) {
    let whole = over.get("kind").is_some();
    match (&mut base.data, &over.data) {
        (Data::Table(old), Data::Table(new)) if !whole => merge_entries(old, new, |_, old, new| merge_nodes(old, new)),
        _ => *base = over.clone(),
    }
}

/// Merges new entries into those of a table: `both` merges the values of a key that is in both, others are added.
fn merge_entries<'a>(
    old: &mut Vec<(String, Node)>,
    new: impl IntoIterator<Item = &'a (String, Node)>,
    both: impl Fn(&str, &mut Node, &Node),
) {
    // A search of the list for each key would take quadratic time in a table with very many keys.
    let places: BTreeMap<String, usize> = old.iter().map(|(key, _)| key.clone()).zip(0..).collect();
    for (key, node) in new {
        match places.get(key) {
            Some(place) => both(key, &mut old[*place].1, node),
            None => old.push((key.clone(), node.clone())),
        }
    }
}

/// Key of the list whose entries a variant may change by name: the list of workloads.
pub(super) const NAMED_LIST_KEY: &str = "traffic";

/// Returns true if a variant changes entries of a list by name, instead of replacing the list.
pub(super) fn patches_entries_by_name(list: &Node, over: &Node) -> bool {
    matches!((&list.data, &over.data), (Data::List(_), Data::Table(_)))
}

/// Merges tables into the list entries of the same names; ignores unknown names, which the loader refuses elsewhere.
fn merge_named_entries(list: &mut Node, over: &Node) {
    let Data::List(items) = &mut list.data else { return };
    let mut places = BTreeMap::new();
    for (place, name) in items.iter().map(|item| item.get("name").and_then(Node::text)).enumerate() {
        if let Some(name) = name {
            places.entry(name.to_string()).or_insert(place);
        }
    }
    for (name, table) in over.entries().iter().filter(|(_, table)| matches!(table.data, Data::Table(_))) {
        let Some(item) = places.get(name).map(|place| &mut items[*place]) else { continue };
        let known = item.get("name").cloned();
        merge_nodes(item, table);
        // A table with a `kind` replaces the whole entry except its name: a variant cannot rename a workload.
        if let Some(known) = known.filter(|_| item.get("name").is_none()) {
            item.put("name", known);
        }
    }
}

/// Returns the names of the variants with their documents, in the order of the file; one called `default` if the file
/// has none. Each document is made when it is needed, since there may be many, and each may be large.
pub(super) fn variant_documents(document: &Node) -> impl Iterator<Item = (String, Node)> {
    let mut base = document.clone();
    if let Data::Table(entries) = &mut base.data {
        entries.retain(|(key, _)| key != "variants");
    }
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    let alone = variants.is_empty().then(|| ("default".to_string(), base.clone()));
    let each = variants.iter().map(move |(name, over)| {
        let mut merged = base.clone();
        if let Data::Table(entries) = &mut merged.data {
            let settings = over.entries().iter().filter(|(key, _)| key != LABEL_KEY);
            merge_entries(entries, settings, |key, old, node| {
                match key == NAMED_LIST_KEY && patches_entries_by_name(old, node) {
                    true => merge_named_entries(old, node),
                    false => merge_nodes(old, node),
                }
            });
        }
        (name.clone(), merged)
    });
    alone.into_iter().chain(each)
}
