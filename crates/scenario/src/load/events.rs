//! Checks of `[[event]]` against the network and the run that it changes.

use super::fields::{Faults, Kinds, choice, entries};
use super::tree::Node;
use crate::diag::message;
use crate::events::{self, Change, EVENT, Event};
use crate::model::{Choice, Scenario, SwitchConfig};
use crate::topology::{Corrupted, Counts, MOST_ROUTES, Topology};
use mech::params::{Value, Values};
use units::{Dur, Time};

/// Largest number of events.
const MOST_EVENTS: usize = 10_000;

/// Network and run that events change.
pub(super) struct Course<'a> {
    pub net: &'a Topology,
    pub switches: &'a [SwitchConfig],
    /// Latest end of the run.
    pub end: Dur,
    /// Links that corrupt frames from the start, by the network's file.
    pub corrupted: &'a [Corrupted],
}

/// Reads all events, in order of time and at one instant in the order of the file. Each comes with the kind and
/// parameters from which it was made.
pub(super) fn all(scenario: &Node, course: &Course, faults: &mut Faults) -> Vec<(Choice, Event)> {
    let items = entries(scenario, "event", faults);
    let count = items.len() + course.corrupted.len();
    if count > MOST_EVENTS {
        let found = format!("{count} events, links with an error rate included");
        faults.add(&scenario.find("event"), message(found, format!("at most {MOST_EVENTS}")));
        return Vec::new();
    }
    let before = faults.count;
    let mut made: Vec<(&Node, Choice, Event)> = Vec::new();
    if let Some(table) = scenario.get("topology") {
        let of_file = course.corrupted.iter().map(corruption);
        made.extend(of_file.filter_map(|chosen| {
            let event = Event::new(&chosen.kind, &chosen.values, course.net).ok()?;
            Some((table, chosen, event))
        }));
    }
    for item in items {
        let Some(chosen) = choice(item, Kinds { common: EVENT.params, ..Kinds::new(events::SPECS) }, faults) else {
            continue;
        };
        match Event::new(&chosen.kind, &chosen.values, course.net) {
            Ok(event) => made.push((item, chosen, event)),
            Err(expected) => {
                let found = format!("`{}`", chosen.values.word("link"));
                faults.add(&item.find("link"), message(found, expected));
            }
        }
    }
    for (item, _, event) in made.iter().filter(|(_, _, event)| event.at >= Time(course.end.0)) {
        let rule = format!("an instant before {}, the end of the run (duration + measure.drain)", course.end);
        faults.add(&item.find("at"), message(Dur(event.at.0), rule));
    }
    if faults.count > before {
        return Vec::new();
    }
    // The sort is stable: events of one instant keep the order of the file.
    made.sort_by_key(|(_, _, event)| event.at);
    let in_order: Vec<Event> = made.iter().map(|(_, _, event)| event.clone()).collect();
    for (n, why) in events::contradictions(&in_order) {
        let (item, chosen, event) = &made[n];
        let found = format!("{} of `{}` at {}: {why}", chosen.kind, event.link, Dur(event.at.0));
        faults.add(&item.at, message(found, "a consistent sequence of events for each link"));
    }
    routes(scenario, course, &in_order, faults);
    made.into_iter().map(|(_, chosen, event)| (chosen, event)).collect()
}

/// Returns the event for a link with an error rate.
fn corruption(Corrupted { link, probability }: &Corrupted) -> Choice {
    let values = [
        ("at", Value::Time(Dur::ZERO)),
        ("link", Value::Word(link.clone())),
        ("probability", Value::Number(*probability)),
    ];
    let values = values.into_iter().map(|(key, value)| (key.into(), value)).collect();
    Choice { kind: "corruption".into(), values: Values(values) }
}

/// Warns if a run may end before an event. After its duration a run continues only while measured flows are unfinished.
pub(super) fn late(scenario: &Scenario, notes: &mut Vec<String>) {
    let end = scenario.duration;
    let late: Vec<&Event> = scenario.events.iter().filter(|event| event.at >= Time(end.0)).collect();
    if let [first, ..] = late[..] {
        notes.push(format!(
            "{} of {} events are at or after the end of the duration, {end} (first `{}` at {}). They take place only \
             while measured flows are unfinished",
            late.len(),
            scenario.events.len(),
            first.link,
            Dur(first.at.0)
        ));
    }
}

/// Checks that routes can be computed around dead links, and that their tables fit into memory. Each change of the set
/// of dead links needs new tables.
fn routes(scenario: &Node, course: &Course, events: &[Event], faults: &mut Faults) {
    let at = scenario.find("event");
    let turns = events.iter().filter(|event| matches!(event.change, Change::Down | Change::Up)).count();
    if turns == 0 {
        return;
    }
    let has_paths = |switch: &&SwitchConfig| {
        let routing = switch.routing.slot.peek();
        routing.needs_addresses() || routing.needs_paths().is_some()
    };
    let fixed = course.switches.iter().find(has_paths);
    if let Some(switch) = fixed {
        let found = format!("links that go down with routing `{}`, whose paths are fixed", switch.routing.kind);
        faults.add(&at, message(found, "a routing that uses recomputed tables"));
    }
    let size = Counts::of_network(course.net).routes();
    if size.saturating_mul(turns as u64 + 1) > MOST_ROUTES {
        let found = format!("{turns} changes of links (down or up), each with tables of {size} entries");
        faults.add(&at, message(found, format!("at most {MOST_ROUTES} entries in all tables")));
    }
}
