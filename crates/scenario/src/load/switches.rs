//! Settings of every switch and port: `[switch]` with the overrides merged into it.

use super::checks;
use super::fields::{
    AllowedKeys, AllowedKinds, Faults, SlotContext, TotalSizes, find_table, list_tables, read_slot, read_values,
};
use super::input_side;
use super::merge::merge_nodes;
use super::overrides::{Override, PortGroup};
use super::resets;
use super::tree::Node;
use crate::choices::{ModelKind, SimultaneousArrivals, TieOrder};
use crate::diag::{format_fault, format_one_of};
use crate::model::{Cioq, FilledSlot, PortConfig, Speedup, SwitchConfig, SwitchModel};
use crate::settings;
use crate::topology::{self, Topology};
use mech::buffer::BufferSlot;
use mech::fib::FibSlot;
use mech::overflow::OverflowSlot;
use mech::routing::RoutingSlot;
use mech::{Agent, CheckContext, Registry, RegistrySlot, Report, SLOTS};
use std::collections::{BTreeMap, BTreeSet};
use units::Rate;

/// Largest number of unknown names of tiers and switches that are reported.
const MAX_REPORTED_UNKNOWN: usize = 100;

/// Mechanisms of all slots of a switch and of a port.
#[derive(Clone, Debug)]
struct SwitchSlots {
    fib: FilledSlot<FibSlot>,
    routing: FilledSlot<RoutingSlot>,
    buffer: FilledSlot<BufferSlot>,
    overflow: FilledSlot<OverflowSlot>,
    port: PortConfig,
    model: SwitchModel,
    clock_ppb: u32,
    simultaneous: SimultaneousArrivals,
    ties: TieOrder,
}

/// Group of switches with equal settings.
pub(super) struct SwitchGroup {
    pub nodes: Vec<String>,
    pub config: SwitchConfig,
    /// Settings of ports by group: `host` or `switch` at the far end, with the rate if overrides use rates.
    pub ports: Vec<(String, PortConfig)>,
}

/// Groups of a switch's ports, each with the indices of the overrides that apply to it.
type PortGroups = Vec<(PortGroup, Vec<usize>)>;

/// Reader of the settings of all switches of a variant.
pub(super) struct SwitchReader<'a> {
    base: Node,
    overrides: Vec<Override<'a>>,
    /// Table `[switch]` merged with each list of overrides, and its mechanisms unless the table has faults.
    read_tables: BTreeMap<Vec<usize>, (Node, Option<SwitchSlots>)>,
    /// Overrides and port rates whose sizes were checked.
    checked_sizes: BTreeSet<(Vec<usize>, Vec<Rate>)>,
    registry: &'a Registry,
    notes: &'a mut Vec<String>,
}

impl<'a> SwitchReader<'a> {
    /// Reads `[switch]` and `[[override]]`.
    pub fn new(
        scenario: &'a Node,
        registry: &'a Registry,
        notes: &'a mut Vec<String>,
        faults: &mut Faults,
    ) -> SwitchReader<'a> {
        let base = find_table(scenario, "switch", faults)
            .map_or_else(|| Node::table(scenario.missing_key_location("switch")), |t| t.into_owned());
        let overrides = list_tables(scenario, "override", faults);
        let of_switches = overrides.into_iter().filter(|item| !checks::is_host_override(item));
        let overrides = of_switches.filter_map(|item| Override::parse(item, faults)).collect();
        let mut filler = SwitchReader {
            base,
            overrides,
            read_tables: BTreeMap::new(),
            checked_sizes: BTreeSet::new(),
            registry,
            notes,
        };
        filler.read_slots(&[], faults);
        filler
    }

    /// Returns the mechanisms of `[switch]` after these overrides are merged into it.
    fn read_slots(&mut self, which: &[usize], faults: &mut Faults) -> Option<SwitchSlots> {
        if let Some((_, known)) = self.read_tables.get(which) {
            return known.clone();
        }
        let mut merged = self.base.clone();
        for over in which.iter().filter_map(|i| self.overrides[*i].switch) {
            merge_nodes(&mut merged, over);
        }
        let lost = resets::note_resets(&self.base, &merged, "switch", self.registry);
        self.notes.extend(lost.iter().map(|note| format!("override: {note}")));
        let filled = fill_slots(&merged, self.registry, faults);
        if let Some(slots) = &filled {
            let given = |slot: &'static str| {
                let table = merged.get(slot);
                move |key: &str| table.is_some_and(|table| table.get(key).is_some())
            };
            let beside = CheckContext { overridden: !which.is_empty(), ..slots.check_context() };
            let mut report = Report::default();
            slots.port.marking.slot.peek().check(&CheckContext { is_set: &given("marking"), ..beside }, &mut report);
            self.notes.extend(checks::report_faults(&merged, "marking", report, faults));
            let mut report = Report::default();
            let scheduler = &slots.port.scheduler.slot;
            scheduler.peek().check(&CheckContext { is_set: &given("scheduler"), ..beside }, &mut report);
            self.notes.extend(checks::report_faults(&merged, "scheduler", report, faults));
            let mut report = Report::default();
            slots.overflow.slot.peek().check(&CheckContext { is_set: &given("overflow"), ..beside }, &mut report);
            self.notes.extend(checks::report_faults(&merged, "overflow", report, faults));
            for (slot, agent) in slots.agents() {
                let mut report = Report::default();
                agent.check(&CheckContext { is_set: &given(slot), ..beside }, &mut report);
                self.notes.extend(checks::report_faults(&merged, slot, report, faults));
            }
            input_side::check_model_settings(&merged, &slots.switch_config(vec![slots.port.clone()]), faults);
        }
        self.read_tables.insert(which.to_vec(), (merged, filled.clone()));
        filled
    }

    /// Checks memory and routing of `[switch]`, with these overrides, for a switch with this number of ports.
    fn check_sizes(&mut self, which: &[usize], node: &topology::Node, net: &Topology, faults: &mut Faults) {
        self.read_slots(which, faults);
        let rates: Vec<Rate> = node.ports.iter().map(|port| port.rate).collect();
        if let (true, Some((table, Some(filled)))) =
            (self.checked_sizes.insert((which.to_vec(), rates.clone())), self.read_tables.get(which))
        {
            let ports = u16::try_from(rates.len()).unwrap_or(u16::MAX);
            let beside = CheckContext {
                ports: Some(ports),
                rates: Some(&rates),
                addresses: net.plan.is_some(),
                ..filled.check_context()
            };
            let mut report = Report::default();
            filled.buffer.slot.peek().check(&beside, &mut report);
            self.notes.extend(checks::report_faults(table, "buffer", report, faults));
            let mut report = Report::default();
            filled.routing.slot.peek().check(&beside, &mut report);
            self.notes.extend(checks::report_faults(table, "routing", report, faults));
            checks::check_overflow_hosts(table, &filled.overflow.slot, net, faults);
            if let Some(cioq) = filled.model.input_side() {
                input_side::check_stages(table, cioq, ports, faults);
            }
        }
    }

    /// Checks the virtual output queues and the speedup of a `cioq` switch against its ports.
    fn check_input_side(&self, which: &[usize], node: &topology::Node, faults: &mut Faults) {
        if let Some((table, Some(filled))) = self.read_tables.get(which) {
            if let Some(cioq) = filled.model.input_side() {
                input_side::check_virtual_queues(table, cioq, node, faults);
            }
        }
    }

    /// Checks every override separately, if there is no network.
    pub fn check_without_network(mut self, faults: &mut Faults) {
        (0..self.overrides.len()).for_each(|i| drop(self.read_slots(&[i], faults)));
    }

    /// Returns the settings of every switch of a network, and the groups of switches with equal settings.
    pub fn read_switches(
        mut self,
        net: &Topology,
        faults: &mut Faults,
    ) -> Option<(Vec<SwitchConfig>, Vec<SwitchGroup>)> {
        if !self.check_override_count(net, faults) {
            return None;
        }
        self.check_names(net, faults);
        let hosts = net.hosts as usize;
        let mut switches = Vec::new();
        let mut groups: BTreeMap<(Vec<usize>, PortGroups), SwitchGroup> = BTreeMap::new();
        let by_rate = self.overrides.iter().any(|over| over.rate.is_some());
        for node in &net.nodes[hosts.min(net.nodes.len())..] {
            let own = self.matching_overrides(node, None, true);
            let classes = self.port_groups(node, net, by_rate);
            self.check_sizes(&own, node, net, faults);
            self.check_input_side(&own, node, faults);
            let slots = self.read_slots(&own, faults);
            // All port groups are read before a fault skips the switch, so that all faults are found together.
            let filled: Vec<_> =
                classes.iter().map(|(class, which)| (*class, self.read_slots(which, faults))).collect();
            let filled = filled.into_iter().map(|(class, slots)| Some((class, slots?.port)));
            let filled: Option<BTreeMap<PortGroup, PortConfig>> = filled.collect();
            let (Some(slots), Some(filled)) = (slots, filled) else { continue };
            let ports = node.ports.iter().map(|port| filled[&PortGroup::from_port(port, net, by_rate)].clone());
            let config = slots.switch_config(ports.collect());
            let group = groups.entry((own, classes)).or_insert_with(|| SwitchGroup {
                nodes: Vec::new(),
                config: config.clone(),
                ports: filled.into_iter().map(|(class, port)| (class.label(), port)).collect(),
            });
            group.nodes.push(node.name.clone());
            switches.push(config);
        }
        for over in self.overrides.iter().filter(|over| !over.used) {
            let rule = "a `where` that matches at least one switch or port";
            faults.add_fault(&over.where_table.at, format_fault("a `where` that matches no switch and no port", rule));
        }
        Some((switches, groups.into_values().collect()))
    }

    /// Checks the bound on the product of overrides and switches: every override is compared with every switch.
    fn check_override_count(&self, net: &Topology, faults: &mut Faults) -> bool {
        let (switches, overrides) = (net.switches().len() as u64, self.overrides.len() as u64);
        faults.total_sizes.override_checks += switches * overrides;
        let fits = faults.total_sizes.override_checks <= TotalSizes::MAX_OVERRIDE_CHECKS;
        if let (false, Some(over)) = (fits, self.overrides.first()) {
            let found = format!("{overrides} overrides over {switches} switches");
            let rule = format!(
                "at most {} as the product of overrides and switches in all variants together",
                TotalSizes::MAX_OVERRIDE_CHECKS
            );
            faults.add_fault(&over.where_table.at, format_fault(found, rule));
        }
        fits
    }

    /// Returns the groups of a switch's ports, each with the overrides that apply to it.
    fn port_groups(&mut self, node: &topology::Node, net: &Topology, by_rate: bool) -> PortGroups {
        let there: BTreeSet<_> = node.ports.iter().map(|port| PortGroup::from_port(port, net, by_rate)).collect();
        let all = PortGroup::list_for_switch(node, net, by_rate).into_iter();
        all.map(|class| (class, self.matching_overrides(node, Some(class), there.contains(&class)))).collect()
    }

    /// Returns the overrides that apply to a switch or to a group of its ports, in order. Marks them as used if
    /// `is_there`.
    fn matching_overrides(&mut self, node: &topology::Node, class: Option<PortGroup>, is_there: bool) -> Vec<usize> {
        let mut which = Vec::new();
        for (i, over) in self.overrides.iter_mut().enumerate().filter(|(_, over)| over.applies_to(node, class)) {
            over.used |= is_there;
            which.push(i);
        }
        which
    }

    /// Refuses tiers and nodes that the network does not have.
    fn check_names(&mut self, net: &Topology, faults: &mut Faults) {
        let switches = &net.nodes[(net.hosts as usize).min(net.nodes.len())..];
        let (mut seen, mut tiers) = (BTreeSet::new(), Vec::new());
        tiers.extend(switches.iter().map(|node| node.tier.as_str()).filter(|tier| seen.insert(*tier)));
        let names: Vec<&str> = switches.iter().map(|node| node.name.as_str()).collect();
        let known: BTreeSet<&str> = names.iter().copied().collect();
        let before = faults.count;
        for over in &mut self.overrides {
            if faults.count - before >= MAX_REPORTED_UNKNOWN {
                over.used = true;
                continue;
            }
            if let Some(tier) = over.tier.as_deref().filter(|tier| !seen.contains(tier)) {
                let found = format!("unknown tier `{tier}`");
                faults.add_fault(
                    &over.where_table.locate("tier"),
                    format_fault(found, format_one_of(tier, tiers.clone())),
                );
                over.used = true;
            }
            if let Some(name) = over.node.as_deref().filter(|name| !known.contains(name)) {
                let found = format!("unknown switch `{name}`");
                faults.add_fault(
                    &over.where_table.locate("node"),
                    format_fault(found, format_one_of(name, names.iter().copied())),
                );
                over.used = true;
            }
        }
    }
}

impl SwitchSlots {
    /// Returns the settings against which each mechanism is checked, except those that depend on a network.
    fn check_context(&self) -> CheckContext<'_> {
        let buffer = self.buffer.slot.peek();
        let memory = buffer.total_memory(1);
        CheckContext {
            buffer: &self.buffer.kind,
            memory,
            groups: buffer.priority_groups(),
            shared: memory.is_some() && buffer.fixed_thresholds().is_none() && !buffer.has_accounts(),
            ..CheckContext::EMPTY
        }
    }
    /// Returns the agents of a port, each with the name of its slot.
    fn agents(&self) -> impl Iterator<Item = (&'static str, &dyn Agent)> {
        let port = &self.port;
        let slots = [
            ("ack_hold", port.ack_hold.slot.peek()),
            ("notify", port.notify.slot.peek()),
            ("pause", port.pause.slot.peek()),
        ];
        slots.into_iter().filter_map(|(slot, agent)| Some((slot, agent?)))
    }
    fn switch_config(&self, ports: Vec<PortConfig>) -> SwitchConfig {
        SwitchConfig {
            fib: self.fib.clone(),
            routing: self.routing.clone(),
            buffer: self.buffer.clone(),
            overflow: self.overflow.clone(),
            model: self.model.clone(),
            clock_ppb: self.clock_ppb,
            simultaneous: self.simultaneous,
            ties: self.ties,
            ports,
        }
    }
}

/// Reads the mechanism of a slot of the switch.
fn read_switch_slot<S: RegistrySlot>(
    switch: &Node,
    name: &str,
    registry: &Registry,
    faults: &mut Faults,
) -> Option<FilledSlot<S>> {
    let (_, default) = SLOTS.iter().find(|(slot, _)| *slot == name)?;
    read_slot(
        switch,
        SlotContext { name, registry, kinds: AllowedKinds::with_default(&registry.switch_specs(name), default) },
        faults,
    )
}

fn fill_slots(switch: &Node, registry: &Registry, faults: &mut Faults) -> Option<SwitchSlots> {
    let others = SLOTS.map(|(slot, _)| slot);
    let values =
        read_values(switch, AllowedKeys { other_keys: &others, ..AllowedKeys::new(settings::SWITCH.params) }, faults);
    let fib = read_switch_slot(switch, "fib", registry, faults);
    let routing = read_switch_slot(switch, "routing", registry, faults);
    let buffer = read_switch_slot(switch, "buffer", registry, faults);
    let overflow = read_switch_slot(switch, "overflow", registry, faults);
    let marking = read_switch_slot(switch, "marking", registry, faults);
    let ack_hold = read_switch_slot(switch, "ack_hold", registry, faults);
    let notify = read_switch_slot(switch, "notify", registry, faults);
    let pause = read_switch_slot(switch, "pause", registry, faults);
    let scheduler = read_switch_slot(switch, "scheduler", registry, faults);
    let arbiter = read_switch_slot(switch, "arbiter", registry, faults);
    let fabric = read_switch_slot(switch, "fabric", registry, faults);
    let values = values?;
    let speedup = values.number("speedup");
    let Some(speedup) = Speedup::from_number(speedup) else {
        faults.add_fault(&switch.locate("speedup"), format_fault(speedup, "a number with at most six decimals"));
        return None;
    };
    Some(SwitchSlots {
        fib: fib?,
        routing: routing?,
        buffer: buffer?,
        overflow: overflow?,
        port: PortConfig {
            marking: marking?,
            scheduler: scheduler?,
            ack_hold: ack_hold?,
            notify: notify?,
            pause: pause?,
        },
        model: match values.get("model") {
            ModelKind::OutputQueued => SwitchModel::OutputQueued,
            kind => {
                let fabric = if kind == ModelKind::Fabric { Some(fabric?) } else { None };
                SwitchModel::Cioq(Cioq {
                    input_buffer: values.amount("input_buffer"),
                    speedup,
                    arbiter: arbiter?,
                    fabric,
                })
            }
        },
        clock_ppb: settings::clock_error_ppb(&values),
        simultaneous: values.get("simultaneous"),
        ties: values.get("ties"),
    })
}
