//! Settings of HPCC's configuration file, laid below those of the scenario.
//!
//! The file becomes tables of the scenario: `switch.marking`, `switch.buffer` and `switch.pause`, with overrides for ports
//! and switches that differ, and `transport`, `host.nic` and `host.reaction`. A table that the scenario sets is the
//! scenario's. What the file has besides and Overspill cannot express is named in a note.

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

/// A variant's document while settings of a file are laid below it.
struct Overlay<'a> {
    document: Node,
    config: &'a Configuration,
    net: &'a Topology,
    /// Place of the key that names the file.
    at: At,
    /// Tables that the file set, each with its values in a few words, and those that the scenario sets itself.
    set: Vec<String>,
    own: Vec<&'static str>,
    /// Tables of the file that do not go with those of the scenario, each with the reason.
    ruled_out: Vec<String>,
    /// Flag of hosts that react as the file describes.
    has_dcqcn: bool,
}

/// A variant's document with the settings of the configuration file that its network names; `None` if it names none.
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
            "a `corruption` of {} on links without their own",
            config.number_or("ERROR_RATE_PER_LINK", 0.0)
        ));
    }
    if faults.count == before {
        notes.borrow_mut().extend(overlay.notes(&network.made));
    }
    Some(overlay.document)
}

impl Overlay<'_> {
    /// A node at the place of the file's name, called by its own path.
    fn node(&self, key: &str, data: Data) -> Node {
        Node { at: At { path: join(&self.at.path, key), ..self.at.clone() }, data }
    }
    /// A table of a kind with its values.
    fn table(&self, key: &str, preset: &Preset) -> Node {
        let kind = std::iter::once(("kind", Data::Text(preset.kind.into())));
        let values = kind.chain(preset.values.iter().map(|(name, value)| (*name, data(value))));
        let entries = values.map(|(name, data)| (name.to_string(), self.node(&format!("{key}.{name}"), data)));
        self.node(key, Data::Table(entries.collect()))
    }
    /// Returns true if the scenario leaves a table to the file, and notes it otherwise.
    fn is_left(&mut self, key: &'static str) -> bool {
        let given = key.split('.').try_fold(&self.document, |node, key| node.get(key));
        let is_left = given.is_none();
        self.own.extend((!is_left).then_some(key));
        is_left
    }
    /// Puts a table under a key such as `switch.buffer`; `said` describes it.
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
    /// Puts overrides before those of the scenario, which have the last word.
    fn put_overrides(&mut self, all: Vec<Node>) {
        if all.is_empty() {
            return;
        }
        let at = self.document.get("override").map_or_else(|| self.document.lacks("override"), |list| list.at.clone());
        // Anything but a list is refused where overrides are read.
        let old = match self.document.get("override").map(|list| &list.data) {
            Some(Data::List(items)) => items.clone(),
            Some(_) => return,
            None => Vec::new(),
        };
        self.document.put("override", Node { at, data: Data::List([all, old].concat()) });
    }
    /// An override of one slot of the switches or ports at a place.
    fn over(&self, place: (&str, String), slot: &str, preset: &Preset) -> Node {
        let table = |key: &str, entry: (&str, Node)| self.node(key, Data::Table(vec![(entry.0.into(), entry.1)]));
        let slot_key = format!("switch.{slot}");
        let place = table("where", (place.0, self.node("where", Data::Text(place.1))));
        let switch = table("switch", (slot, self.table(&slot_key, preset)));
        self.node("override", Data::Table(vec![("where".into(), place), ("switch".into(), switch)]))
    }
    /// Reports what is wrong with the file beside this network.
    fn refuse(&self, (found, rule): (String, String), faults: &mut Faults) {
        let gap = if found.starts_with("line ") { "," } else { ":" };
        faults.add(&self.at, message(format!("`{}`{gap} {found}", self.config.path), rule));
    }
}

/// A value of a preset as one of the scenario.
fn data(value: &PresetValue) -> Data {
    match value {
        PresetValue::Text(text) => Data::Text(text.clone()),
        PresetValue::Whole(n) => Data::Whole(i64::try_from(*n).unwrap_or(i64::MAX)),
        PresetValue::Number(n) => Data::Number(*n),
        PresetValue::Flag(flag) => Data::Flag(*flag),
    }
}
