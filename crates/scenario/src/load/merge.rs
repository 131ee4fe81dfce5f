//! Variants and overrides over a base: a table with a `kind` replaces the whole table, other
//! tables merge key by key, and everything else replaces what was there. A variant names entries of
//! `[[traffic]]` as `traffic.NAME`.

use super::tree::{Data, Node};

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

/// The list whose entries variants may name.
pub(super) const BY_NAME: &str = "traffic";

/// Whether a variant names entries of a list, in place of a list of its own.
pub(super) fn is_by_name(list: &Node, over: &Node) -> bool {
    matches!((&list.data, &over.data), (Data::List(_), Data::Table(_)))
}

/// Tables laid upon the entries of a list that have their names; a name that none has says nothing.
fn by_name(list: &mut Node, over: &Node) {
    let Data::List(items) = &mut list.data else { return };
    for (name, table) in over.entries().iter().filter(|(_, table)| matches!(table.data, Data::Table(_))) {
        let is_it = |item: &&mut Node| item.get("name").and_then(Node::text) == Some(name);
        let Some(item) = items.iter_mut().find(is_it) else { continue };
        let known = item.get("name").cloned();
        merge(item, table);
        // A new kind begins anew, under the same name.
        if let Some(known) = known.filter(|_| item.get("name").is_none()) {
            item.put("name", known);
        }
    }
}

/// The names of the variants with their scenarios as documents, in the order of the file; one
/// called `default` where the file has none. Each is made when it is asked for: a document may be
/// large, and there may be many.
pub(super) fn variants(document: &Node) -> impl Iterator<Item = (String, Node)> {
    let mut base = document.clone();
    if let Data::Table(entries) = &mut base.data {
        entries.retain(|(key, _)| key != "variants");
    }
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    let alone = variants.is_empty().then(|| ("default".to_string(), base.clone()));
    let each = variants.iter().map(move |(name, over)| {
        let mut merged = base.clone();
        over.entries().iter().for_each(|(key, node)| match merged.get_mut(key) {
            Some(old) if key == BY_NAME && is_by_name(old, node) => by_name(old, node),
            Some(old) => merge(old, node),
            None => merged.put(key, node.clone()),
        });
        (name.clone(), merged)
    });
    alone.into_iter().chain(each)
}
