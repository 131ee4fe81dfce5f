//! Merging of HPCC's configuration file into a variant: its settings fill tables that the scenario does not set.
//!
//! The file becomes tables of the scenario: `switch.marking`, `switch.buffer` and `switch.pause`, with overrides for
//! ports and switches that differ, and `transport`, `host.nic` and `host.reaction`. A table that the scenario sets
//! replaces that of the file. A note lists settings that Overspill cannot express.

mod hosts;
mod ports;
mod unused_keys;

use super::fields::Faults;
use super::networks::Network;
use super::tree::{Data, Location, Node, join_path};
use crate::diag::format_fault;
use crate::topology::{Configuration, Topology};
use mech::{Preset, PresetValue};
use std::cell::RefCell;

/// Document of a variant into which settings of HPCC's configuration file are merged. Settings of the variant win.
struct ConfigurationOverlay<'a> {
    document: Node,
    config: &'a Configuration,
    net: &'a Topology,
    /// Location, in the scenario, of the key that names the configuration file.
    at: Location,
    /// Descriptions of the tables that were set from the configuration file.
    set: Vec<String>,
    /// Keys of tables that the file could set, but that the scenario sets itself.
    tables_set_by_scenario: Vec<&'static str>,
    /// Tables of the file that are not used because they contradict the scenario, each with the reason.
    ruled_out: Vec<String>,
    /// True if hosts react to congestion notifications with DCQCN, as the file describes.
    has_dcqcn: bool,
}

/// Returns a variant's document merged with the configuration file that its network names; `None` if it names none.
pub(super) fn merge_configuration(
    document: &Node,
    network: &Network,
    notes: &RefCell<Vec<String>>,
    faults: &mut Faults,
) -> Option<Node> {
    let config = network.configuration.as_ref()?;
    let at = document.locate("topology.config");
    let (net, document) = (&network.topology, document.clone());
    let mut overlay = ConfigurationOverlay {
        document,
        config,
        net,
        at,
        set: Vec::new(),
        tables_set_by_scenario: Vec::new(),
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
            "`corruption` with probability {} on links for which the topology file has no error rate",
            config.number_or("ERROR_RATE_PER_LINK", 0.0)
        ));
    }
    if faults.count == before {
        notes.borrow_mut().extend(overlay.list_notes(&network.choice));
    }
    Some(overlay.document)
}

impl ConfigurationOverlay<'_> {
    /// Makes a node for a value of the file. Its location is that of the key that names the file, extended by `key`.
    fn make_node(&self, key: &str, data: Data) -> Node {
        Node { at: Location { path: join_path(&self.at.path, key), ..self.at.clone() }, data }
    }
    /// Makes the table of a mechanism from a preset: its `kind` and its parameters.
    fn make_table(&self, key: &str, preset: &Preset) -> Node {
        let kind = std::iter::once(("kind", Data::Text(preset.kind.into())));
        let values = kind.chain(preset.values.iter().map(|(name, value)| (*name, convert_value(value))));
        let entries = values.map(|(name, data)| (name.to_string(), self.make_node(&format!("{key}.{name}"), data)));
        self.make_node(key, Data::Table(entries.collect()))
    }
    /// Returns true if the scenario does not set a table, so that the file may set it; otherwise records the table.
    fn claim_unset_table(&mut self, key: &'static str) -> bool {
        let given = key.split('.').try_fold(&self.document, |node, key| node.get(key));
        let is_left = given.is_none();
        self.tables_set_by_scenario.extend((!is_left).then_some(key));
        is_left
    }
    /// Puts a table made from the file under a key such as `switch.buffer`; `said` is its description.
    fn put_table(&mut self, key: &str, preset: &Preset, said: String) {
        let made = self.make_table(key, preset);
        match key.split_once('.') {
            None => self.document.put(key, made),
            Some((outer, inner)) => {
                let mut table = self
                    .document
                    .get(outer)
                    .cloned()
                    .unwrap_or_else(|| Node::table(self.document.missing_key_location(outer)));
                table.put(inner, made);
                self.document.put(outer, table);
            }
        }
        self.set.push(said);
    }
    /// Inserts overrides before those of the scenario. The last match wins, so the scenario's overrides prevail.
    fn put_overrides(&mut self, all: Vec<Node>) {
        if all.is_empty() {
            return;
        }
        let at = self
            .document
            .get("override")
            .map_or_else(|| self.document.missing_key_location("override"), |list| list.at.clone());
        // A value that is no list is refused later, when overrides are read.
        let old = match self.document.get("override").map(|list| &list.data) {
            Some(Data::List(items)) => items.clone(),
            Some(_) => return,
            None => Vec::new(),
        };
        self.document.put("override", Node { at, data: Data::List([all, old].concat()) });
    }
    /// Returns an override of a single slot for the switches or ports that `place` selects.
    fn make_override(&self, place: (&str, String), slot: &str, preset: &Preset) -> Node {
        let table = |key: &str, entry: (&str, Node)| self.make_node(key, Data::Table(vec![(entry.0.into(), entry.1)]));
        let slot_key = format!("switch.{slot}");
        let place = table("where", (place.0, self.make_node("where", Data::Text(place.1))));
        let switch = table("switch", (slot, self.make_table(&slot_key, preset)));
        self.make_node("override", Data::Table(vec![("where".into(), place), ("switch".into(), switch)]))
    }
    /// Adds a fault of the file that appears in combination with this network, at the key that names the file.
    fn report_fault(&self, (found, rule): (String, String), faults: &mut Faults) {
        let gap = if found.starts_with("line ") { "," } else { ":" };
        faults.add_fault(&self.at, format_fault(format!("`{}`{gap} {found}", self.config.path), rule));
    }
}

/// Converts a preset value of a mechanism's parameter to a value of the scenario's document.
fn convert_value(value: &PresetValue) -> Data {
    match value {
        PresetValue::Text(text) => Data::Text(text.clone()),
        PresetValue::Whole(n) => Data::Integer(i64::try_from(*n).unwrap_or(i64::MAX)),
        PresetValue::Number(n) => Data::Number(*n),
        PresetValue::Flag(flag) => Data::Boolean(*flag),
    }
}
