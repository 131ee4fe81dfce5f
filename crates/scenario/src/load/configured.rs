//! Settings of HPCC's configuration file, merged below those of the scenario.
//!
//! The file becomes tables of the scenario: `switch.marking`, `switch.buffer` and `switch.pause`, with overrides for
//! ports and switches that differ, and `transport`, `host.nic` and `host.reaction`. A table that the scenario sets
//! replaces that of the file. A note lists settings that Overspill cannot express.

mod hosts;
mod ports;
mod unused;

use super::fields::Faults;
use super::networks::Network;
use super::tree::{At, Data, Node, join};
use crate::diag::message;
use crate::topology::{Configuration, Topology};
use mech::{Preset, PresetValue};
use std::cell::RefCell;

/// Document of a variant while settings of a file are merged below it.
struct Overlay<'a> {
    document: Node,
    config: &'a Configuration,
    net: &'a Topology,
    /// Place of the key that names the file.
    at: At,
    /// Tables that the file set, each with a short description, and tables that the scenario sets itself.
    set: Vec<String>,
    own: Vec<&'static str>,
    /// Tables of the file that are incompatible with those of the scenario, each with the reason.
    ruled_out: Vec<String>,
    /// True if hosts have the reaction that the file describes.
    has_dcqcn: bool,
}

/// Returns a variant's document merged with the configuration file that its network names; `None` if it names none.
pub(super) fn apply(
    document: &Node,
    network: &Network,
    notes: &RefCell<Vec<String>>,
    faults: &mut Faults,
) -> Option<Node> {
    let config = network.configuration.as_ref()?;
    let at = document.find("topology.config");
    let (net, document) = (&network.topology, document.clone());
    let mut overlay = Overlay {
        document,
        config,
        net,
        at,
        set: Vec::new(),
        own: Vec::new(),
        ruled_out: Vec::new(),
        has_dcqcn: false,
    };
    let before = faults.count;
    overlay.set_marking(faults);
    overlay.set_buffer();
    overlay.set_pause();
    overlay.set_hosts();
    if config.number_or("ERROR_RATE_PER_LINK", 0.0) > 0.0 {
        overlay.set.push(format!(
            "a `corruption` of {} on links without an error rate of their own",
            config.number_or("ERROR_RATE_PER_LINK", 0.0)
        ));
    }
    if faults.count == before {
        notes.borrow_mut().extend(overlay.notes(&network.made));
    }
    Some(overlay.document)
}

impl Overlay<'_> {
    /// Returns a node at the place of the file's name, with its own path.
    fn node(&self, key: &str, data: Data) -> Node {
        Node { at: At { path: join(&self.at.path, key), ..self.at.clone() }, data }
    }
    /// Returns a table of a kind with its values.
    fn table(&self, key: &str, preset: &Preset) -> Node {
        let kind = std::iter::once(("kind", Data::Text(preset.kind.into())));
        let values = kind.chain(preset.values.iter().map(|(name, value)| (*name, data(value))));
        let entries = values.map(|(name, data)| (name.to_string(), self.node(&format!("{key}.{name}"), data)));
        self.node(key, Data::Table(entries.collect()))
    }
    /// Returns true if the scenario leaves a table to the file, and records it otherwise.
    fn is_left(&mut self, key: &'static str) -> bool {
        let given = key.split('.').try_fold(&self.document, |node, key| node.get(key));
        let is_left = given.is_none();
        self.own.extend((!is_left).then_some(key));
        is_left
    }
    /// Puts a table under a key such as `switch.buffer`; `said` is its description.
    fn put(&mut self, key: &str, preset: &Preset, said: String) {
        let made = self.table(key, preset);
        match key.split_once('.') {
            None => self.document.put(key, made),
            Some((outer, inner)) => {
                let mut table =
                    self.document.get(outer).cloned().unwrap_or_else(|| Node::table(self.document.lacks(outer)));
                table.put(inner, made);
                self.document.put(outer, table);
            }
        }
        self.set.push(said);
    }
    /// Puts overrides before those of the scenario, since the last match wins.
    fn put_overrides(&mut self, all: Vec<Node>) {
        if all.is_empty() {
            return;
        }
        let at = self.document.get("override").map_or_else(|| self.document.lacks("override"), |list| list.at.clone());
        // Anything but a list is refused when overrides are read.
        let old = match self.document.get("override").map(|list| &list.data) {
            Some(Data::List(items)) => items.clone(),
            Some(_) => return,
            None => Vec::new(),
        };
        self.document.put("override", Node { at, data: Data::List([all, old].concat()) });
    }
    /// Returns an override of one slot for the switches or ports at a place.
    fn over(&self, place: (&str, String), slot: &str, preset: &Preset) -> Node {
        let table = |key: &str, entry: (&str, Node)| self.node(key, Data::Table(vec![(entry.0.into(), entry.1)]));
        let slot_key = format!("switch.{slot}");
        let place = table("where", (place.0, self.node("where", Data::Text(place.1))));
        let switch = table("switch", (slot, self.table(&slot_key, preset)));
        self.node("override", Data::Table(vec![("where".into(), place), ("switch".into(), switch)]))
    }
    /// Reports a fault of the file in combination with this network.
    fn refuse(&self, (found, rule): (String, String), faults: &mut Faults) {
        let gap = if found.starts_with("line ") { "," } else { ":" };
        faults.add(&self.at, message(format!("`{}`{gap} {found}", self.config.path), rule));
    }
}

/// Converts a value of a preset to one of the scenario.
fn data(value: &PresetValue) -> Data {
    match value {
        PresetValue::Text(text) => Data::Text(text.clone()),
        PresetValue::Whole(n) => Data::Whole(i64::try_from(*n).unwrap_or(i64::MAX)),
        PresetValue::Number(n) => Data::Number(*n),
        PresetValue::Flag(flag) => Data::Flag(*flag),
    }
}
