//! What events cost: frames that are lost on their links, and those that are dropped at the ports of these.

use mech::overflow::DropReason;
use scenario::events::{Change, Event, Sender};
use scenario::topology::Topology;
use std::collections::BTreeSet;

/// Where the losses of an event are counted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Places {
    pub(crate) reason: DropReason,
    /// Directions of links, by the port that sends: what is lost on them.
    directions: Vec<Sender>,
    /// Ports of links that are dead: what is dropped there.
    ports: Vec<Sender>,
}

/// Frames that were lost at each of an event's places.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Losses {
    on_links: Vec<u64>,
    at_ports: Vec<u64>,
}

/// What an event has cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Its number in the order of time.
    pub(crate) event: usize,
    /// Frames lost on its link.
    pub(crate) lost: u64,
    /// Frames dropped at the ports of its link.
    pub(crate) dropped: u64,
}

impl Places {
    /// `None` where nothing is lost by such an event.
    pub(crate) fn of(event: &Event, net: &Topology) -> Option<Places> {
        let reason = match event.change {
            Change::Down => DropReason::LinkDown,
            Change::Loss(_) => DropReason::LinkLoss,
            Change::Corruption(_) => DropReason::Corrupted,
            Change::Up | Change::Rate(_) | Change::Delay(_) => return None,
        };
        let directions = event.senders.clone();
        // Both ends of a link that loses one direction are dead.
        let ends: BTreeSet<Sender> = directions.iter().flat_map(|end| [*end, net.far_end(*end)]).collect();
        let ports = if event.change == Change::Down { ends.into_iter().collect() } else { Vec::new() };
        Some(Places { reason, directions, ports })
    }

    /// So far; `on_link` and `at_port` say what was lost for this reason.
    pub(crate) fn losses(&self, on_link: impl Fn(Sender) -> u64, at_port: impl Fn(Sender) -> u64) -> Losses {
        Losses {
            on_links: self.directions.iter().map(|place| on_link(*place)).collect(),
            at_ports: self.ports.iter().map(|place| at_port(*place)).collect(),
        }
    }
}

impl Losses {
    /// Adds what another partition has counted.
    pub(crate) fn add(&mut self, other: &Losses) {
        self.on_links.iter_mut().zip(&other.on_links).for_each(|(sum, one)| *sum += one);
        self.at_ports.iter_mut().zip(&other.at_ports).for_each(|(sum, one)| *sum += one);
    }
}

/// What each event has cost: what was lost at its places from then until the next event that loses frames there for
/// the same reason, or so far. `before` has for each event that has happened what was lost before it, `now` what has
/// been lost so far.
pub(crate) fn costs(places: &[Option<Places>], before: &[Losses], now: &[Losses]) -> Vec<Cost> {
    let until = |event: usize, at: Sender, of: fn(&Places, &Losses) -> Vec<(Sender, u64)>| {
        let reason = places[event].as_ref().map(|own| own.reason);
        let later = (event + 1..before.len()).find_map(|later| {
            let next = places[later].as_ref().filter(|next| Some(next.reason) == reason)?;
            of(next, &before[later]).into_iter().find(|(place, _)| *place == at)
        });
        let own = || places[event].iter().flat_map(|own| of(own, &now[event])).find(|(place, _)| *place == at);
        later.or_else(own).map_or(0, |(_, count)| count)
    };
    let on_links = |own: &Places, counts: &Losses| zipped(&own.directions, &counts.on_links);
    let at_ports = |own: &Places, counts: &Losses| zipped(&own.ports, &counts.at_ports);
    let sum = |event: usize, of: fn(&Places, &Losses) -> Vec<(Sender, u64)>| {
        let first = places[event].iter().flat_map(|own| of(own, &before[event]));
        first.map(|(place, count)| until(event, place, of) - count).sum()
    };
    (0..before.len()).map(|event| Cost { event, lost: sum(event, on_links), dropped: sum(event, at_ports) }).collect()
}

fn zipped(places: &[Sender], counts: &[u64]) -> Vec<(Sender, u64)> {
    places.iter().copied().zip(counts.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THERE: Sender = (0, 0);
    const BACK: Sender = (5, 1);

    fn places(reason: DropReason, directions: &[Sender]) -> Option<Places> {
        let ports = if reason == DropReason::LinkDown { vec![THERE, BACK] } else { Vec::new() };
        Some(Places { reason, directions: directions.to_vec(), ports })
    }
    fn losses(on_links: &[u64], at_ports: &[u64]) -> Losses {
        Losses { on_links: on_links.to_vec(), at_ports: at_ports.to_vec() }
    }

    /// Down both ways, up, random losses one way, down the other way.
    #[test]
    fn an_event_costs_what_is_lost_by_its_reason_until_the_next_of_it_at_that_place() {
        let all = [
            places(DropReason::LinkDown, &[THERE, BACK]),
            None,
            places(DropReason::LinkLoss, &[THERE]),
            places(DropReason::LinkDown, &[BACK]),
        ];
        let before = [losses(&[0, 0], &[0, 0]), losses(&[], &[]), losses(&[2], &[]), losses(&[30], &[4, 0])];
        let now = [losses(&[11, 37], &[9, 1]), losses(&[], &[]), losses(&[502], &[]), losses(&[37], &[9, 1])];
        let cost = |event, lost, dropped| Cost { event, lost, dropped };
        let expected = [cost(0, 11 + 30, 4), cost(1, 0, 0), cost(2, 500, 0), cost(3, 7, 5 + 1)];
        assert_eq!(costs(&all, &before, &now), expected);
        assert_eq!(costs(&all, &before[..1], &now[..1]), [cost(0, 11 + 37, 9 + 1)], "the others are to come");
    }
}
