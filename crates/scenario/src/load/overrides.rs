//! Selection of switches and ports by the table `where` of an override.

use super::fields::{AllowedKeys, Faults, find_table, read_values};
use super::tree::{Data, Node};
use crate::diag::format_fault;
use crate::settings;
use crate::topology::{self, Topology};
use mech::PORT_SLOTS;
use std::collections::BTreeSet;
use units::Rate;

/// Entry of `[[override]]` that changes settings of switches or ports.
pub(super) struct Override<'a> {
    pub where_table: Node,
    pub tier: Option<String>,
    pub node: Option<String>,
    port: Option<String>,
    pub rate: Option<Rate>,
    /// Switch settings of the override: its table `switch`.
    pub switch: Option<&'a Node>,
    /// True if the override matches any switch or port.
    pub used: bool,
}

/// Group of a switch's ports that all overrides treat alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortGroup {
    /// Kind of node at the far end: `host` or `switch`.
    pub far: &'static str,
    /// Rate of the ports, if any override selects ports by rate.
    pub rate: Option<Rate>,
}

impl PortGroup {
    /// Returns the group of a port: the kind of node at its far end, and its rate if `by_rate` is true.
    pub fn from_port(port: &topology::Port, net: &Topology, by_rate: bool) -> PortGroup {
        let far = if port.peer < net.hosts { "host" } else { "switch" };
        PortGroup { far, rate: by_rate.then_some(port.rate) }
    }
    /// Returns the groups of a switch's ports. If `by_rate` is false, these are ports to hosts and ports to switches,
    /// even if the switch has none.
    pub fn list_for_switch(node: &topology::Node, net: &Topology, by_rate: bool) -> Vec<PortGroup> {
        if !by_rate {
            return ["host", "switch"].map(|far| PortGroup { far, rate: None }).to_vec();
        }
        let classes = node.ports.iter().map(|port| PortGroup::from_port(port, net, by_rate));
        classes.collect::<BTreeSet<_>>().into_iter().collect()
    }
    /// Returns the name of the port group in the resolved scenario: the far end, and the rate if the group has one.
    pub fn label(self) -> String {
        self.rate.map_or_else(|| self.far.to_string(), |rate| format!("{} {rate}", self.far))
    }
}

impl<'a> Override<'a> {
    /// Reads an entry of `[[override]]` that is about switches or ports.
    pub fn parse(item: &'a Node, faults: &mut Faults) -> Option<Override<'a>> {
        read_values(item, AllowedKeys { other_keys: &["where", "switch"], ..AllowedKeys::new(&[]) }, faults);
        let place = find_table(item, "where", faults)?;
        let values = read_values(&place, AllowedKeys::new(settings::WHERE.params), faults)?;
        let given = |key: &str| values.has(key).then(|| values.word(key).to_string());
        let (tier, node, port) = (given("tier"), given("node"), given("port"));
        let rate = values.has("rate").then(|| values.rate("rate"));
        if tier.is_none() && node.is_none() && port.is_none() && rate.is_none() {
            let rule = "one or more of the keys tier, node, port and rate for `switch`, or hosts for `transport`";
            faults.add_fault(&place.at, format_fault("an empty `where`", rule));
        }
        let of_ports = port.is_some() || rate.is_some();
        let switch = item.get("switch");
        match switch {
            Some(table) if matches!(table.data, Data::Table(_)) => check_keys(table, of_ports, faults),
            Some(other) => faults.add_fault(&other.at, format_fault(other.format_value(), "a table")),
            None => {
                faults.add_fault(&item.missing_key_location("switch"), format_fault("nothing", "switch.SLOT = { … }"))
            }
        }
        let switch = switch.filter(|table| matches!(table.data, Data::Table(_)));
        Some(Override { where_table: place.into_owned(), tier, node, port, rate, switch, used: false })
    }

    /// Returns true if the override applies to a switch as a whole (`class` is `None`), or to a group of its ports.
    pub fn applies_to(&self, node: &topology::Node, class: Option<PortGroup>) -> bool {
        let place = [(&self.tier, &node.tier), (&self.node, &node.name)];
        place.iter().all(|(wanted, found)| wanted.as_ref().is_none_or(|wanted| wanted == *found))
            && self.port.as_deref().is_none_or(|far| class.is_some_and(|class| class.far == far))
            && self.rate.is_none_or(|rate| class.is_some_and(|class| class.rate == Some(rate)))
    }
}

/// Refuses keys that apply to a whole switch in an override of some of its ports.
fn check_keys(switch: &Node, of_ports: bool, faults: &mut Faults) {
    for (key, node) in switch.entries().iter().filter(|(key, _)| of_ports && !PORT_SLOTS.contains(&key.as_str())) {
        let (last, first) = PORT_SLOTS.split_last().unwrap_or((&"", &[]));
        let slots = format!("{} or {last}", first.join(", "));
        let rule = format!(
            "only {slots} in an override with `where.port` or `where.rate`, because other keys apply to \
                            the whole switch"
        );
        faults.add_fault(&node.at, format_fault(format!("`{key}` for some ports of a switch"), rule));
    }
}
