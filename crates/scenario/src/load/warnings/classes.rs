//! Warnings about settings of traffic classes and schedulers that change nothing.

use super::WarningContext;
use mech::ClassSet;
use std::collections::{BTreeMap, BTreeSet};

impl WarningContext<'_> {
    /// Warnings about settings of traffic classes or their order, if all packets have one class and nothing else
    /// depends on it. Includes those about settings of classes that no packet has: weights if there are several classes,
    /// and maximum rates.
    pub(super) fn warn_classes(&self) -> Vec<String> {
        let scenario = self.scenario;
        let overflow = || scenario.switches.iter().map(|switch| switch.overflow.slot.peek().needs());
        let lanes = scenario.sends_notices() || overflow().any(|needs| needs.bounce_lane.is_some());
        let one = scenario.classes().0.count_ones() == 1;
        let class = scenario.top_class();
        let mut notes = Vec::new();
        // Only schedulers that the scenario sets are checked: the default, strict priority, needs no warning.
        let of_ports = self.ports().filter(|_| self.is_given("switch.scheduler")).map(|port| &port.scheduler);
        let of_hosts = self.is_given("host.scheduler").then_some(&scenario.host.scheduler);
        let by_class = of_ports.chain(of_hosts).filter(|scheduler| scheduler.slot.peek().keeps_queue_order());
        let by_class: Vec<_> = by_class.collect();
        let turns: BTreeSet<&str> = by_class.iter().map(|scheduler| scheduler.kind.as_str()).collect();
        let mut settings: BTreeMap<&str, ClassSet> = BTreeMap::new();
        for (name, classes) in by_class.iter().flat_map(|scheduler| scheduler.slot.peek().class_settings()) {
            let all = settings.entry(name).or_default();
            *all = all.union(classes);
        }
        let limited = by_class.iter().any(|scheduler| scheduler.slot.peek().rate_limits().is_some());
        let (in_use, word) = self.queues_in_use();
        for (name, classes) in settings.iter().filter(|_| !one || limited) {
            let idle = classes.minus(in_use);
            let idle: Vec<String> = (0..8).filter(|class| idle.has(*class)).map(|class| class.to_string()).collect();
            if !idle.is_empty() {
                notes.push(format!(
                    "scheduler: the {name} for {word} {} has no effect, because no packet has this {word}",
                    idle.join(", ")
                ));
            }
        }
        if !one {
            return notes;
        }
        if !lanes && !limited {
            let why = format!("all packets have class {class} and leave first in, first out");
            notes.extend(turns.iter().map(|kind| format!("scheduler = \"{kind}\" has no effect: {why}")));
        }
        let goes_by_it = lanes
            || limited
            || overflow().any(|needs| needs.detours)
            || self.ports().any(|port| port.agents().count() > 0);
        if class > 0 && !goes_by_it {
            notes.push(format!("class = {class} has no effect: all packets have this class, and no mechanism uses it"));
        }
        notes
    }

    /// Returns the numbers by which schedulers serve the packets of the scenario, and the word for such a number: those
    /// of queues if a switch maps classes to other queues, otherwise those of classes.
    fn queues_in_use(&self) -> (ClassSet, &'static str) {
        let classes = self.scenario.classes();
        let layouts = (0..self.scenario.switches.len()).filter_map(|switch| self.scenario.memory_layout(switch));
        let same: [u8; 8] = std::array::from_fn(|class| class as u8);
        let mapped: Vec<_> = layouts.map(|layout| layout.class_to_queue).filter(|map| *map != same).collect();
        let queues = |map: &[u8; 8]| {
            let own = (0..8).filter(|class| classes.has(*class)).map(|class| map[usize::from(class)]);
            own.map(ClassSet::single).fold(ClassSet::NONE, ClassSet::union)
        };
        match mapped.is_empty() {
            true => (classes, "class"),
            false => (mapped.iter().map(queues).fold(classes, ClassSet::union), "queue"),
        }
    }
}
