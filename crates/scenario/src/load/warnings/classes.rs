//! Warnings about settings of traffic classes and schedulers that change nothing.

use super::WarningContext;
use crate::diag::format_ordinal;
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
        let (of_queues, of_classes) = (self.queues_in_use(), (scenario.classes(), "class"));
        let of_ports =
            self.ports().filter(|_| self.is_given("switch.scheduler")).map(|port| (&port.scheduler, of_queues));
        let of_hosts = self.is_given("host.scheduler").then_some((&scenario.host.scheduler, of_classes));
        let by_class = of_ports.chain(of_hosts).filter(|(scheduler, _)| scheduler.slot.peek().keeps_queue_order());
        let by_class: Vec<_> = by_class.collect();
        let turns: BTreeSet<&str> = by_class.iter().map(|(scheduler, _)| scheduler.kind.as_str()).collect();
        let mut idle_settings: BTreeMap<(&str, &str), ClassSet> = BTreeMap::new();
        for (scheduler, (in_use, word)) in &by_class {
            for (name, classes) in scheduler.slot.peek().class_settings() {
                let all = idle_settings.entry((name, word)).or_default();
                *all = all.union(classes.minus(*in_use));
            }
        }
        let limited = by_class.iter().any(|(scheduler, _)| scheduler.slot.peek().rate_limits().is_some());
        for ((name, word), idle) in
            idle_settings.iter().filter(|(_, idle)| **idle != ClassSet::NONE && (!one || limited))
        {
            notes.push(format!(
                "scheduler: the {name} for {word} {} has no effect, because no packet has this {word}",
                format_numbers(*idle)
            ));
        }
        notes.extend(self.warn_marking_profiles(of_queues.0));
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

    /// Warnings about marking profiles of queues without packets.
    fn warn_marking_profiles(&self, in_use: ClassSet) -> Vec<String> {
        let profiles = self.ports().flat_map(|port| (0..).zip(port.marking.slot.peek().queue_profiles()));
        let idle: BTreeSet<(usize, u8)> =
            profiles.filter(|(_, queues)| queues.0 & in_use.0 == 0).map(|(place, queues)| (place, queues.0)).collect();
        let note = |(place, queues): (usize, u8)| {
            let word = if queues.count_ones() == 1 { "queue" } else { "queues" };
            format!(
                "switch.marking: the {} profile has no effect, because no packet is in {word} {}",
                format_ordinal(place),
                format_numbers(ClassSet(queues))
            )
        };
        idle.into_iter().map(note).collect()
    }

    /// Returns the numbers by which schedulers of switches serve the packets of the scenario, and the word for such a
    /// number: those of queues if a switch maps classes to other queues, otherwise those of classes.
    fn queues_in_use(&self) -> (ClassSet, &'static str) {
        let classes = self.scenario.classes();
        let same: [u8; 8] = std::array::from_fn(|class| class as u8);
        let maps = (0..self.scenario.switches.len())
            .map(|switch| self.scenario.memory_layout(switch).map_or(same, |layout| layout.class_to_queue));
        let maps: BTreeSet<[u8; 8]> = maps.collect();
        let queues = |map: &[u8; 8]| {
            let own = (0..8).filter(|class| classes.has(*class)).map(|class| map[usize::from(class)]);
            own.map(ClassSet::single).fold(ClassSet::NONE, ClassSet::union)
        };
        match maps.iter().any(|map| *map != same) {
            true => (maps.iter().map(queues).fold(ClassSet::NONE, ClassSet::union), "queue"),
            false => (classes, "class"),
        }
    }
}

/// Formats the numbers of a set of classes or queues as a list.
fn format_numbers(set: ClassSet) -> String {
    let numbers: Vec<String> = (0..8).filter(|number| set.has(*number)).map(|number| number.to_string()).collect();
    numbers.join(", ")
}
