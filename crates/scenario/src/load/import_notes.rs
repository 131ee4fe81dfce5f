//! Warning about settings that imported files of another simulator leave to defaults.

use super::tree::Node;
use crate::model::Scenario;

/// Kinds of networks and traffic that are read from files of other simulators.
const IMPORTED_KINDS: [&str; 3] = ["hpcc", "htsim", "opera"];

/// Returns a note that lists the defaults in use for settings that imported files do not contain, if there are any.
pub(super) fn describe_defaults(document: &Node, scenario: &Scenario) -> Option<String> {
    let is_imported =
        |table: &Node| IMPORTED_KINDS.contains(&table.get("kind").and_then(Node::text).unwrap_or_default());
    let traffic = document.get("traffic").map_or(&[][..], Node::items);
    if !document.get("topology").is_some_and(is_imported) && !traffic.iter().any(is_imported) {
        return None;
    }
    let own = !traffic.is_empty() && traffic.iter().all(|workload| workload.get("transport").is_some());
    let places = document.get("override").map_or(&[][..], Node::items).iter().chain([document]);
    let tables: Vec<&Node> = places.filter_map(|place| place.get("switch")).collect();
    let is_set = |slot: &str| tables.iter().any(|table| table.get(slot).is_some());
    let mut defaults = Vec::new();
    if document.get("transport").is_none() && !own {
        defaults.push(format!("`transport.kind = {}`", scenario.transport.kind));
    }
    let buffer = scenario.switches.first().map(|switch| &switch.buffer).filter(|_| !is_set("buffer"));
    defaults.extend(buffer.map(|buffer| {
        let size = if buffer.values.has("size") { buffer.values.amount("size").to_string() } else { String::new() };
        format!("`switch.buffer = {}` {size}", buffer.kind)
    }));
    if !is_set("marking") {
        defaults.push("no `switch.marking`".into());
    }
    (!defaults.is_empty()).then(|| {
        let all = defaults.join(", ");
        let set = "Set these keys to the values of the original simulator";
        let topology = document.get("topology").filter(|net| net.get("config").is_none());
        let is_hpcc = topology.and_then(|net| net.get("kind")).and_then(Node::text) == Some("hpcc");
        let how = if is_hpcc { ", or set `topology.config` to the configuration file of that simulator" } else { "" };
        format!(
            "the imported files have no settings of switches and transports. Overspill uses its own defaults: \
                 {all}. {set}{how}"
        )
    })
}
