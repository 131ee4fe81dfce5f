//! Settings of every switch and port: `[switch]` with the overrides merged into it.

use super::checks;
use super::fields::{Asked, Faults, Kinds, Slot, Wanted, entries, filled, read, table};
use super::input_side;
use super::merge::merge;
use super::places::{Override, PortClass};
use super::resets;
use super::tree::Node;
use crate::choices::{ModelKind, Simultaneous, Ties};
use crate::diag::{message, one_of};
use crate::model::{Cioq, Filled, Model, PortConfig, Speedup, SwitchConfig};
use crate::settings;
use crate::topology::{self, Topology};
use mech::buffer::BufferSlot;
use mech::fib::FibSlot;
use mech::overflow::OverflowSlot;
use mech::routing::RoutingSlot;
use mech::{Agent, Beside, InSlot, Registry, Report, SLOTS};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of unknown tiers and switches that are reported.
const MOST_UNKNOWN: usize = 100;

/// Mechanisms of all slots of a switch and of a port.
#[derive(Clone, Debug)]
struct Slots {
    fib: Filled<FibSlot>,
    routing: Filled<RoutingSlot>,
    buffer: Filled<BufferSlot>,
    overflow: Filled<OverflowSlot>,
    port: PortConfig,
    model: Model,
    clock_ppb: u32,
    simultaneous: Simultaneous,
    ties: Ties,
}

/// Group of switches with equal settings.
pub(super) struct Group {
    pub nodes: Vec<String>,
    pub config: SwitchConfig,
    /// Settings by class of ports: `host` and `switch`, and rates if overrides use them.
    pub ports: Vec<(String, PortConfig)>,
}

/// Classes of a switch's ports, each with the indices of its overrides.
type Classes = Vec<(PortClass, Vec<usize>)>;

/// Reader of the switches of one variant.
pub(super) struct Filler<'a> {
    base: Node,
    overrides: Vec<Override<'a>>,
    /// Table that each list of overrides leads to, with its mechanisms unless the table has faults.
    known: BTreeMap<Vec<usize>, (Node, Option<Slots>)>,
    sized: BTreeSet<(Vec<usize>, usize)>,
    registry: &'a Registry,
    notes: &'a mut Vec<String>,
}

impl<'a> Filler<'a> {
    /// Reads `[switch]` and `[[override]]`.
    pub fn new(
        scenario: &'a Node,
        registry: &'a Registry,
        notes: &'a mut Vec<String>,
        faults: &mut Faults,
    ) -> Filler<'a> {
        let base =
            table(scenario, "switch", faults).map_or_else(|| Node::table(scenario.lacks("switch")), |t| t.into_owned());
        let overrides = entries(scenario, "override", faults);
        let of_switches = overrides.into_iter().filter(|item| !checks::names_hosts(item));
        let overrides = of_switches.filter_map(|item| Override::parse(item, faults)).collect();
        let mut filler = Filler { base, overrides, known: BTreeMap::new(), sized: BTreeSet::new(), registry, notes };
        filler.filled(&[], faults);
        filler
    }

    /// Returns the mechanisms of `[switch]` with these overrides.
    fn filled(&mut self, which: &[usize], faults: &mut Faults) -> Option<Slots> {
        if let Some((_, known)) = self.known.get(which) {
            return known.clone();
        }
        let mut merged = self.base.clone();
        for over in which.iter().filter_map(|i| self.overrides[*i].switch) {
            merge(&mut merged, over);
        }
        let lost = resets::notes(&self.base, &merged, "switch", self.registry);
        self.notes.extend(lost.iter().map(|note| format!("override: {note}")));
        let filled = fill(&merged, self.registry, faults);
        if let Some(slots) = &filled {
            let given = |slot: &'static str| {
                let table = merged.get(slot);
                move |key: &str| table.is_some_and(|table| table.get(key).is_some())
            };
            let beside = Beside { overridden: !which.is_empty(), ..slots.beside() };
            let mut report = Report::default();
            slots.port.marking.slot.peek().check(&Beside { given: &given("marking"), ..beside }, &mut report);
            self.notes.extend(checks::say(&merged, "marking", report, faults));
            let mut report = Report::default();
            slots.port.scheduler.slot.peek().check(&beside, &mut report);
            self.notes.extend(checks::say(&merged, "scheduler", report, faults));
            let mut report = Report::default();
            slots.overflow.slot.peek().check(&Beside { given: &given("overflow"), ..beside }, &mut report);
            self.notes.extend(checks::say(&merged, "overflow", report, faults));
            for (slot, agent) in slots.agents() {
                let mut report = Report::default();
                agent.check(&Beside { given: &given(slot), ..beside }, &mut report);
                self.notes.extend(checks::say(&merged, slot, report, faults));
            }
            input_side::check(&merged, &slots.config(vec![slots.port.clone()]), faults);
        }
        self.known.insert(which.to_vec(), (merged, filled.clone()));
        filled
    }

    /// Reads `[switch]` with these overrides, and checks memory and routing for a switch with this number of ports.
    fn sized(&mut self, which: &[usize], ports: usize, net: &Topology, faults: &mut Faults) {
        self.filled(which, faults);
        if let (true, Some((table, Some(filled)))) = (self.sized.insert((which.to_vec(), ports)), self.known.get(which))
        {
            let ports = u16::try_from(ports).unwrap_or(u16::MAX);
            let beside = Beside { ports: Some(ports), addresses: net.plan.is_some(), ..filled.beside() };
            let mut report = Report::default();
            filled.buffer.slot.peek().check(&beside, &mut report);
            self.notes.extend(checks::say(table, "buffer", report, faults));
            let mut report = Report::default();
            filled.routing.slot.peek().check(&beside, &mut report);
            self.notes.extend(checks::say(table, "routing", report, faults));
            checks::hosts(table, &filled.overflow.slot, net, faults);
            if let Some(cioq) = filled.model.cioq() {
                input_side::check_stages(table, cioq, ports, faults);
            }
        }
    }

    /// Checks the input side of a `cioq` switch against the network.
    fn check_input_side(&self, which: &[usize], node: &topology::Node, faults: &mut Faults) {
        if let Some((table, Some(filled))) = self.known.get(which)
            && let Some(cioq) = filled.model.cioq()
        {
            input_side::check_size(table, cioq, node, faults);
        }
    }

    /// Checks every override separately, if there is no network.
    pub fn alone(mut self, faults: &mut Faults) {
        (0..self.overrides.len()).for_each(|i| drop(self.filled(&[i], faults)));
    }

    /// Returns the settings of every switch of a network, and the groups of switches with equal settings.
    pub fn all(mut self, net: &Topology, faults: &mut Faults) -> Option<(Vec<SwitchConfig>, Vec<Group>)> {
        if !self.fits(net, faults) {
            return None;
        }
        self.check_names(net, faults);
        let hosts = net.hosts as usize;
        let mut switches = Vec::new();
        let mut groups: BTreeMap<(Vec<usize>, Classes), Group> = BTreeMap::new();
        let by_rate = self.overrides.iter().any(|over| over.rate.is_some());
        for node in &net.nodes[hosts.min(net.nodes.len())..] {
            let own = self.matching(node, None, true);
            let classes = self.classes(node, net, by_rate);
            self.sized(&own, node.ports.len(), net, faults);
            self.check_input_side(&own, node, faults);
            let slots = self.filled(&own, faults);
            // All classes are read before a fault ends the loop, so that all faults are found together.
            let filled: Vec<_> = classes.iter().map(|(class, which)| (*class, self.filled(which, faults))).collect();
            let filled = filled.into_iter().map(|(class, slots)| Some((class, slots?.port)));
            let filled: Option<BTreeMap<PortClass, PortConfig>> = filled.collect();
            let (Some(slots), Some(filled)) = (slots, filled) else { continue };
            let ports = node.ports.iter().map(|port| filled[&PortClass::of_port(port, net, by_rate)].clone());
            let config = slots.config(ports.collect());
            let group = groups.entry((own, classes)).or_insert_with(|| Group {
                nodes: Vec::new(),
                config: config.clone(),
                ports: filled.into_iter().map(|(class, port)| (class.label(), port)).collect(),
            });
            group.nodes.push(node.name.clone());
            switches.push(config);
        }
        for over in self.overrides.iter().filter(|over| !over.used) {
            let rule = "a `where` that matches at least one switch or port";
            faults.add(&over.place.at, message("a `where` that matches nothing", rule));
        }
        Some((switches, groups.into_values().collect()))
    }

    /// Checks the bound of overrides times switches, each of which is compared with each.
    fn fits(&self, net: &Topology, faults: &mut Faults) -> bool {
        let (switches, overrides) = (net.switches().len() as u64, self.overrides.len() as u64);
        faults.asked.places += switches * overrides;
        let fits = faults.asked.places <= Asked::MOST_PLACES;
        if let (false, Some(over)) = (fits, self.overrides.first()) {
            let found = format!("{overrides} overrides over {switches} switches");
            let rule = format!(
                "at most {} as the product of overrides and switches in all variants together",
                Asked::MOST_PLACES
            );
            faults.add(&over.place.at, message(found, rule));
        }
        fits
    }

    /// Returns the classes of a switch's ports, and the overrides of each.
    fn classes(&mut self, node: &topology::Node, net: &Topology, by_rate: bool) -> Classes {
        let there: BTreeSet<_> = node.ports.iter().map(|port| PortClass::of_port(port, net, by_rate)).collect();
        let all = PortClass::of_switch(node, net, by_rate).into_iter();
        all.map(|class| (class, self.matching(node, Some(class), there.contains(&class)))).collect()
    }

    /// Returns the overrides of a switch, or of a class of its ports, in order, and marks them as used if there are
    /// such ports.
    fn matching(&mut self, node: &topology::Node, class: Option<PortClass>, is_there: bool) -> Vec<usize> {
        let mut which = Vec::new();
        for (i, over) in self.overrides.iter_mut().enumerate().filter(|(_, over)| over.applies(node, class)) {
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
            if faults.count - before >= MOST_UNKNOWN {
                over.used = true;
                continue;
            }
            if let Some(tier) = over.tier.as_deref().filter(|tier| !seen.contains(tier)) {
                let found = format!("unknown tier `{tier}`");
                faults.add(&over.place.find("tier"), message(found, one_of(tier, tiers.clone())));
                over.used = true;
            }
            if let Some(name) = over.node.as_deref().filter(|name| !known.contains(name)) {
                let found = format!("unknown switch `{name}`");
                faults.add(&over.place.find("node"), message(found, one_of(name, names.iter().copied())));
                over.used = true;
            }
        }
    }
}

impl Slots {
    /// Returns the settings that each mechanism is checked against, as far as they do not depend on a network.
    fn beside(&self) -> Beside<'_> {
        let buffer = self.buffer.slot.peek();
        let memory = buffer.budget(1);
        Beside {
            buffer: &self.buffer.kind,
            memory,
            shared: memory.is_some() && buffer.plain().is_none(),
            ..Beside::NOTHING
        }
    }
    /// Returns the agents of a port, with their slots.
    fn agents(&self) -> impl Iterator<Item = (&'static str, &dyn Agent)> {
        let port = &self.port;
        let slots = [
            ("ack_hold", port.ack_hold.slot.peek()),
            ("notify", port.notify.slot.peek()),
            ("pause", port.pause.slot.peek()),
        ];
        slots.into_iter().filter_map(|(slot, agent)| Some((slot, agent?)))
    }
    fn config(&self, ports: Vec<PortConfig>) -> SwitchConfig {
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
fn slot<S: InSlot>(switch: &Node, name: &str, registry: &Registry, faults: &mut Faults) -> Option<Filled<S>> {
    let (_, default) = SLOTS.iter().find(|(slot, _)| *slot == name)?;
    filled(switch, Slot { name, registry, kinds: Kinds::or(&registry.of_switch(name), default) }, faults)
}

fn fill(switch: &Node, registry: &Registry, faults: &mut Faults) -> Option<Slots> {
    let others = SLOTS.map(|(slot, _)| slot);
    let values = read(switch, Wanted { others: &others, ..Wanted::new(settings::SWITCH.params) }, faults);
    let fib = slot(switch, "fib", registry, faults);
    let routing = slot(switch, "routing", registry, faults);
    let buffer = slot(switch, "buffer", registry, faults);
    let overflow = slot(switch, "overflow", registry, faults);
    let marking = slot(switch, "marking", registry, faults);
    let ack_hold = slot(switch, "ack_hold", registry, faults);
    let notify = slot(switch, "notify", registry, faults);
    let pause = slot(switch, "pause", registry, faults);
    let scheduler = slot(switch, "scheduler", registry, faults);
    let arbiter = slot(switch, "arbiter", registry, faults);
    let fabric = slot(switch, "fabric", registry, faults);
    let values = values?;
    let speedup = values.number("speedup");
    let Some(speedup) = Speedup::from_number(speedup) else {
        faults.add(&switch.find("speedup"), message(speedup, "a number with at most six decimals"));
        return None;
    };
    Some(Slots {
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
            ModelKind::OutputQueued => Model::OutputQueued,
            kind => {
                let fabric = if kind == ModelKind::Fabric { Some(fabric?) } else { None };
                Model::Cioq(Cioq { input_buffer: values.amount("input_buffer"), speedup, arbiter: arbiter?, fabric })
            }
        },
        clock_ppb: settings::ppb(&values),
        simultaneous: values.get("simultaneous"),
        ties: values.get("ties"),
    })
}
