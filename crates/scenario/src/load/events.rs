//! Checks of `[[event]]` against the network and the run that it changes.

use super::fields::{AllowedKinds, Faults, list_tables, read_choice};
use super::tree::Node;
use crate::diag::format_fault;
use crate::events::{self, EVENT, Event};
use crate::model::{Choice, Scenario, SwitchConfig};
use crate::topology::{CorruptedLink, Counts, MAX_ROUTE_ENTRIES, Topology};
use mech::params::{Value, Values};
use units::{Dur, Time};

/// Largest number of events.
const MAX_EVENTS: usize = 10_000;
const LINK_RULE: &str = "alternating `link_down` and `link_up` events for each link, and at most one event of each \
                         kind for a link at an instant";
const HOST_RULE: &str = "events of each kind one after another at a host";

/// Network and run that events change.
pub(super) struct RunContext<'a> {
    pub net: &'a Topology,
    pub switches: &'a [SwitchConfig],
    /// Latest time at which the run may end.
    pub end: Dur,
    /// Links that corrupt frames from the start of the run, as declared in the network's file.
    pub corrupted: &'a [CorruptedLink],
}

/// Event, with the table, kind and parameters from which it was made.
pub(super) struct ReadEvent<'a> {
    pub table: &'a Node,
    pub choice: Choice,
    pub event: Event,
}

/// Reads all events, in order of time; simultaneous events keep the order of the file.
pub(super) fn read_events<'a>(scenario: &'a Node, context: &RunContext, faults: &mut Faults) -> Vec<ReadEvent<'a>> {
    let items = list_tables(scenario, "event", faults);
    let count = items.len() + context.corrupted.len();
    if count > MAX_EVENTS {
        let found = format!("{count} events, including one for each link with an error rate");
        faults.add_fault(&scenario.locate("event"), format_fault(found, format!("at most {MAX_EVENTS}")));
        return Vec::new();
    }
    let before = faults.count;
    let mut made: Vec<ReadEvent> = Vec::new();
    if let Some(table) = scenario.get("topology") {
        let of_file = context.corrupted.iter().map(corruption_event);
        made.extend(of_file.filter_map(|chosen| {
            let event = Event::new(&chosen.kind, &chosen.values, context.net).ok()?;
            Some(ReadEvent { table, choice: chosen, event })
        }));
    }
    for item in items {
        let Some(chosen) =
            read_choice(item, AllowedKinds { common: EVENT.params, ..AllowedKinds::new(events::SPECS) }, faults)
        else {
            continue;
        };
        match Event::new(&chosen.kind, &chosen.values, context.net) {
            Ok(event) => made.push(ReadEvent { table: item, choice: chosen, event }),
            Err(fault) => faults.add_all(item, vec![fault]),
        }
    }
    for ReadEvent { table: item, event, .. } in made.iter().filter(|one| one.event.at >= Time(context.end.0)) {
        let rule = format!("a time before the end of the run at {} (duration + measure.drain)", context.end);
        faults.add_fault(&item.locate("at"), format_fault(Dur(event.at.0), rule));
    }
    if faults.count > before {
        return Vec::new();
    }
    // The sort must be stable: simultaneous events keep the order of the file.
    made.sort_by_key(|one| one.event.at);
    let in_order: Vec<Event> = made.iter().map(|one| one.event.clone()).collect();
    let of_links = events::find_contradictions(&in_order).into_iter().map(|(n, why)| (n, why, LINK_RULE));
    let of_hosts = events::find_overlaps(&in_order).into_iter().map(|(n, why)| (n, why, HOST_RULE));
    for (n, why, rule) in of_links.chain(of_hosts) {
        let ReadEvent { table, choice, event } = &made[n];
        let found = format!("{} of `{}` at {}: {why}", choice.kind, event.target, Dur(event.at.0));
        faults.add_fault(&table.at, format_fault(found, rule));
    }
    check_routes(scenario, context, &in_order, faults);
    made
}

/// Makes the event for a link with an error rate in the network's file: corruption from time zero on.
fn corruption_event(CorruptedLink { link, probability }: &CorruptedLink) -> Choice {
    let values = [
        ("at", Value::Time(Dur::ZERO)),
        ("link", Value::Word(link.clone())),
        ("probability", Value::Number(*probability)),
    ];
    let values = values.into_iter().map(|(key, value)| (key.into(), value)).collect();
    Choice { kind: "corruption".into(), values: Values(values) }
}

/// Warns if a run may end before an event. After its duration a run continues only while measured flows are unfinished.
pub(super) fn warn_late_events(scenario: &Scenario, notes: &mut Vec<String>) {
    let end = scenario.duration;
    let late: Vec<&Event> = scenario.events.iter().filter(|event| event.at >= Time(end.0)).collect();
    if let [first, ..] = late[..] {
        notes.push(format!(
            "{} of {} events are at or after the end of the duration, {end} (first `{}` at {}). These events happen \
             only if measured flows are still unfinished then. Increase `duration` if they must happen",
            late.len(),
            scenario.events.len(),
            first.target,
            Dur(first.at.0)
        ));
    }
}

/// Checks that routes can be computed around dead links, and that their tables fit into memory. Each change of the set
/// of dead links needs new tables.
fn check_routes(scenario: &Node, context: &RunContext, events: &[Event], faults: &mut Faults) {
    let at = scenario.locate("event");
    let turns = events.iter().filter(|event| event.is_outage_change()).count();
    if turns == 0 {
        return;
    }
    let has_paths = |switch: &&SwitchConfig| {
        let routing = switch.routing.slot.peek();
        routing.needs_addresses() || routing.needs_paths().is_some()
    };
    let fixed = context.switches.iter().find(has_paths);
    if let Some(switch) = fixed {
        let found = format!("`link_down` events with the routing `{}`, whose paths are fixed", switch.routing.kind);
        faults.add_fault(&at, format_fault(found, "a routing that recomputes its tables, such as `ecmp`"));
    }
    let size = Counts::from_network(context.net).count_routes();
    if size.saturating_mul(turns as u64 + 1) > MAX_ROUTE_ENTRIES {
        let found = format!("{turns} `link_down` and `link_up` events, each with new routing tables of {size} entries");
        faults.add_fault(
            &at,
            format_fault(found, format!("at most {MAX_ROUTE_ENTRIES} entries in the routing tables of all events")),
        );
    }
}
