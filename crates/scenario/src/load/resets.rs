//! Notes about parameters that are lost when a table with a `kind` replaces another.
//!
//! A variant or `--set` that gives a table another `kind` replaces the whole table. Parameters of the old table are
//! then at their defaults again, or the new kind does not have them. The file does not show it: a variant that changes
//! only the kind of `transport` would silently drop `min_rto`.

use super::tree::{Data, Node, join_path};
use super::value;
use crate::diag::{format_ordinal, truncate};
use crate::{settings, topology, traffic};
use dataplane::transport;
use mech::Registry;
use mech::params::{Param, Spec};
use std::collections::BTreeMap;

/// Returns notes about parameters that settings of the command line removed from the file.
pub(super) fn note_resets_by_settings(written: &Node, document: &Node, registry: &Registry) -> Vec<String> {
    let tell = |before: &Node, after: &Node, prefix: &str| {
        let found = note_resets(before, after, "", registry).into_iter();
        found.map(|note| format!("--set {prefix}{note}")).collect::<Vec<_>>()
    };
    let mut found = tell(written, document, "");
    let variants = document.get("variants").map_or(&[][..], |node| node.entries());
    for (name, after) in variants {
        let before = written.get("variants").and_then(|variants| variants.get(name));
        found.extend(before.into_iter().flat_map(|before| tell(before, after, &format!("variants.{name}."))));
    }
    found
}

/// Returns a note for each table of `after` with a `kind` that lacks parameters of the same table of `before`. `prefix`
/// is the path of both in the scenario, empty for all of it.
pub(super) fn note_resets(before: &Node, after: &Node, prefix: &str, registry: &Registry) -> Vec<String> {
    let mut search = ResetSearch { registry, found: Vec::new() };
    search.compare_nodes(before, after, &TableContext { path: prefix.into(), specs: Vec::new() });
    search.found
}

struct ResetSearch<'a> {
    registry: &'a Registry,
    found: Vec<String>,
}

/// Path of a table in the scenario, and the kinds that the table may have.
struct TableContext {
    path: String,
    specs: Vec<&'static Spec>,
}

impl ResetSearch<'_> {
    fn compare_nodes(&mut self, before: &Node, after: &Node, context: &TableContext) {
        match (&before.data, &after.data) {
            (Data::Table(old), Data::Table(_)) => {
                let now: BTreeMap<&str, &Node> =
                    after.entries().iter().map(|(key, node)| (key.as_str(), node)).collect();
                self.compare_tables(before, after, context);
                for (key, node) in old {
                    if let Some(new) = now.get(key.as_str()) {
                        self.compare_nodes(node, new, &self.child_context(context, key));
                    }
                }
            }
            // Equal locations mean that single entries changed. A list that replaces another one is written as a whole,
            // so no parameter is lost unnoticed.
            (Data::List(old), Data::List(new)) if before.at == after.at => {
                for (number, (old, new)) in old.iter().zip(new).enumerate() {
                    let name =
                        old.get("name").and_then(Node::text).map_or_else(|| format_ordinal(number), str::to_string);
                    self.compare_nodes(
                        old,
                        new,
                        &TableContext { path: join_path(&context.path, &name), specs: context.specs.clone() },
                    );
                }
            }
            _ => (),
        }
    }

    /// Returns the path of the table at a key, and the kinds that it may have.
    fn child_context(&self, context: &TableContext, key: &str) -> TableContext {
        let path = join_path(&context.path, key);
        let kinds = context.specs.iter().flat_map(|spec| spec.params).filter(|param| param.name == key);
        let nested = kinds.map(|param| param.kind.nested_specs()).filter(|specs| !specs.is_empty());
        let slot = path.split_once('.').filter(|(_, slot)| !slot.contains('.'));
        let specs = match (path.as_str(), slot) {
            ("framing", _) => settings::FRAMING.to_vec(),
            ("event", _) => crate::events::SPECS.to_vec(),
            (_, Some(("switch", slot))) => self.registry.switch_specs(slot),
            (_, Some(("host", slot))) => self.registry.host_specs(slot),
            _ if key == "transport" && context.path.starts_with("traffic.") => transport::SPECS.to_vec(),
            ("topology", _) => topology::SPECS.to_vec(),
            ("transport", _) => transport::SPECS.to_vec(),
            ("traffic", _) => traffic::SPECS.to_vec(),
            _ => nested.take(1).flatten().collect(),
        };
        TableContext { path, specs }
    }

    /// Adds a note if a table with a kind lacks parameters of the table that it replaces.
    fn compare_tables(&mut self, before: &Node, after: &Node, context: &TableContext) {
        let Some(kind) = after.get("kind").and_then(Node::text) else { return };
        let Some(spec) = context.specs.iter().find(|spec| spec.kind == kind) else { return };
        let mut lost: Vec<String> =
            spec.params.iter().filter_map(|param| describe_reset(param, before, after)).collect();
        // A kind of `none` turns a mechanism off: losing its parameters is no surprise.
        let earlier = before.get("kind").and_then(Node::text).filter(|_| kind != "none");
        if let Some(earlier) = context.specs.iter().find(|spec| Some(spec.kind) == earlier) {
            lost.extend(earlier.params.iter().filter_map(|param| describe_unknown(param, before, spec)));
        }
        if !lost.is_empty() {
            let (path, lost) = (&context.path, lost.join(", "));
            self.found.push(format!(
                "{path}: the new kind = {kind:?} replaces the whole table, and drops earlier \
                                     values: {lost}"
            ));
        }
    }
}

/// Returns the text of a note about a parameter that had a value in the replaced table and is at its default now.
fn describe_reset(param: &Param, before: &Node, after: &Node) -> Option<String> {
    let old = find_value(before, param.name)?;
    if find_value(after, param.name).is_some() {
        return None;
    }
    if value::read_value(param, old).ok()? == value::default_value(param) {
        return None;
    }
    let now = param.default.filter(|text| !text.is_empty()).unwrap_or("not set");
    Some(format!("{} is {now} instead of {}", param.name, format_written(old)))
}

/// Parameters that some kinds imply without having them, such as ECN in DCTCP.
const IMPLIED_PARAMETERS: [&str; 1] = ["ecn"];

/// Returns the text of a note about a parameter of the replaced table that the kind of the new table does not have.
/// Required parameters belong to their kind and get no note.
fn describe_unknown(param: &Param, before: &Node, spec: &Spec) -> Option<String> {
    param.default.filter(|_| !IMPLIED_PARAMETERS.contains(&param.name))?;
    let old = find_value(before, param.name).filter(|_| spec.params.iter().all(|one| one.name != param.name))?;
    let unchanged = value::read_value(param, old).ok()? == value::default_value(param);
    (!unchanged).then(|| format!("{} = {} is dropped", param.name, format_written(old)))
}

/// Formats a value as the user wrote it.
fn format_written(old: &Node) -> String {
    old.text().map_or_else(|| old.format_value(), |text| truncate(text, 60))
}

/// Returns the value of a dotted name below a table.
fn find_value<'a>(table: &'a Node, name: &str) -> Option<&'a Node> {
    name.split('.').try_fold(table, |node, key| node.get(key))
}
