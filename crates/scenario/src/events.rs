//! Changes of the network during a run: links that go down and come back, other rates and delays, loss and corruption,
//! and hosts that pause the network.

use crate::fault::Fault;
use crate::topology::Topology;
use mech::params::{Param, ParamKind, Spec, Values};
use std::collections::BTreeMap;
use std::fmt;
use units::{Dur, Rate, Time};

mod host_pauses;

pub use host_pauses::HostPause;
pub(crate) use host_pauses::find_overlaps;

/// Parameters that every kind of event has.
pub const EVENT: Spec = Spec {
    slot: "event",
    kind: "",
    doc: "Change of the network during the run, with the keys of every kind.",
    cite: "",
    params: &[Param {
        name: "at",
        doc: "Instant of the change, before the end of the run.",
        kind: ParamKind::Time { min: 0 },
        default: None,
    }],
};

const LINK: Param = Param {
    name: "link",
    doc: "Link that changes: a host for its only link, or `a:b` for both directions between two nodes. `a:b:n` is the \
          n-th of several links, from 0. `a>b` and `a>b:n` are the direction from `a` only.",
    kind: ParamKind::Text,
    default: None,
};

const PROBABILITY: Param = Param {
    name: "probability",
    doc: "Probability for each frame; 0 ends the effect.",
    kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
    default: None,
};

macro_rules! event {
    ($name:ident, $kind:literal, $doc:literal, $params:expr) => {
        const $name: Spec = Spec { slot: "event", kind: $kind, doc: $doc, cite: "", params: $params };
    };
}

event!(
    LINK_DOWN,
    "link_down",
    "Takes a link down. Frames on the link are lost, and so are later frames until the link is back. After \
     `reroute_delay` no route uses the link, in either direction.",
    &[LINK]
);
event!(LINK_UP, "link_up", "Brings a link back; after `reroute_delay` routes use it again.", &[LINK]);
event!(
    RATE,
    "rate",
    "Changes the rate of a link, for frames whose transmission begins from then on.",
    &[LINK, Param { name: "rate", doc: "New rate of the link.", kind: ParamKind::Rate, default: None }]
);
event!(
    DELAY,
    "delay",
    "Changes the propagation delay of a link, for frames whose last bit leaves from then on. Frames do not overtake \
     each other.",
    &[
        LINK,
        Param {
            name: "delay",
            doc: "New propagation delay of the link.",
            kind: ParamKind::Time { min: 1 },
            default: None
        }
    ]
);
event!(
    LOSS,
    "loss",
    "Drops frames at random at the end of a link from then on, except PAUSE and PFC frames.",
    &[LINK, PROBABILITY]
);
event!(
    CORRUPTION,
    "corruption",
    "Corrupts frames at random on a link from then on, except PAUSE and PFC frames. Corrupted frames are dropped at \
     the end of the link.",
    &[LINK, PROBABILITY]
);

/// Kinds of `[[event]]`.
pub const SPECS: &[&Spec] =
    &[&LINK_DOWN, &LINK_UP, &RATE, &DELAY, &LOSS, &CORRUPTION, &host_pauses::PAUSE_STORM, &host_pauses::SLOW_RECEIVER];

/// Sending end of one direction of a link: a node, and its port.
pub type SendingPort = (u32, u16);

/// Change of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkChange {
    /// The link goes down.
    Down,
    /// The link comes back.
    Up,
    /// The rate of the link changes to this one.
    Rate(Rate),
    /// The delay of the link changes to this one.
    Delay(Dur),
    /// The link loses frames with this probability.
    Loss(f64),
    /// The link corrupts frames with this probability.
    Corruption(f64),
}

impl LinkChange {
    /// Returns a number for the property of a link that this change affects. Link down and link up have the same number.
    fn quantity_number(self) -> u8 {
        match self {
            LinkChange::Down | LinkChange::Up => 0,
            LinkChange::Rate(_) => 1,
            LinkChange::Delay(_) => 2,
            LinkChange::Loss(_) => 3,
            LinkChange::Corruption(_) => 4,
        }
    }
    /// Returns true if frames may be lost because of this change.
    pub const fn may_lose_frames(&self) -> bool {
        matches!(self, LinkChange::Down | LinkChange::Loss(_) | LinkChange::Corruption(_))
    }
}

impl fmt::Display for LinkChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkChange::Down => write!(f, "down"),
            LinkChange::Up => write!(f, "up"),
            LinkChange::Rate(rate) => write!(f, "rate {rate}"),
            LinkChange::Delay(delay) => write!(f, "delay {delay}"),
            LinkChange::Loss(p) => write!(f, "loss {p}"),
            LinkChange::Corruption(p) => write!(f, "corruption {p}"),
        }
    }
}

/// Change that an event makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Change of a link, in the directions with these sending ends.
    Link(LinkChange, Vec<SendingPort>),
    /// Pause of the network by a host.
    Host(HostPause),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Link(change, _) => write!(f, "{change}"),
            Change::Host(pause) => write!(f, "{pause}"),
        }
    }
}

/// Event of the network: a change of a link or of a host at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Instant of the change.
    pub at: Time,
    /// Name of the link or host in the file.
    pub target: String,
    /// Change of the link or host.
    pub change: Change,
}

impl Event {
    /// Makes an event from validated parameters.
    ///
    /// # Errors
    /// Returns the fault of a name or value that the network or another value does not allow.
    pub(crate) fn new(kind: &str, values: &Values, net: &Topology) -> Result<Event, Fault> {
        let change = match kind {
            "link_down" => LinkChange::Down,
            "link_up" => LinkChange::Up,
            "rate" => LinkChange::Rate(values.rate("rate")),
            "delay" => LinkChange::Delay(values.time("delay")),
            "loss" => LinkChange::Loss(values.number("probability")),
            "corruption" => LinkChange::Corruption(values.number("probability")),
            _ => return HostPause::read_event(kind, values, net),
        };
        let target = values.word("link").to_string();
        let fault = |rule| Fault { field: "link".into(), found: format!("`{target}`"), rule };
        let senders = net.find_directions(&target).map_err(fault)?;
        Ok(Event { at: Time(values.time("at").0), target, change: Change::Link(change, senders) })
    }

    /// Returns the change of a link and the sending ends of its directions; `None` for an event of a host.
    pub fn link_change(&self) -> Option<(LinkChange, &[SendingPort])> {
        match &self.change {
            Change::Link(change, senders) => Some((*change, senders)),
            Change::Host(_) => None,
        }
    }

    /// Returns the pause by a host; `None` for an event of a link.
    pub fn host_pause(&self) -> Option<&HostPause> {
        match &self.change {
            Change::Link(..) => None,
            Change::Host(pause) => Some(pause),
        }
    }

    /// Returns true if a link goes down or comes up by this event.
    pub fn is_outage_change(&self) -> bool {
        matches!(self.link_change(), Some((LinkChange::Down | LinkChange::Up, _)))
    }

    /// Returns true if frames may be lost because of this event.
    pub fn may_lose_frames(&self) -> bool {
        self.link_change().is_some_and(|(change, _)| change.may_lose_frames())
    }
}

/// Changes of one direction of a link over a whole run; every list is in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkHistory {
    /// Outages from an instant up to, but not including, another; [`Time::NEVER`] if the link stays down.
    pub outages: Vec<(Time, Time)>,
    /// Rates, each with the instant from which it applies.
    pub rates: Vec<(Time, Rate)>,
    /// Delays, each with the instant from which it applies.
    pub delays: Vec<(Time, Dur)>,
    /// Loss probabilities, each with the instant from which it applies.
    pub loss: Vec<(Time, f64)>,
    /// Corruption probabilities, each with the instant from which it applies.
    pub corruption: Vec<(Time, f64)>,
}

impl LinkHistory {
    /// Returns true if departures into this direction must be stepped, since they cannot be computed at arrival.
    pub fn needs_stepping(&self) -> bool {
        // Loss and corruption act at the end of the link and leave departure times as they are.
        !(self.outages.is_empty() && self.rates.is_empty() && self.delays.is_empty())
    }

    fn add(&mut self, at: Time, change: LinkChange) {
        match change {
            LinkChange::Down => self.outages.push((at, Time::NEVER)),
            LinkChange::Up => self.outages.last_mut().into_iter().for_each(|outage| outage.1 = at),
            LinkChange::Rate(rate) => self.rates.push((at, rate)),
            LinkChange::Delay(delay) => self.delays.push((at, delay)),
            LinkChange::Loss(p) => self.loss.push((at, p)),
            LinkChange::Corruption(p) => self.corruption.push((at, p)),
        }
    }
}

/// Returns the history of every direction that changes. PRECONDITION: events are in order of time, and
/// `find_contradictions` finds none.
pub fn link_histories(events: &[Event]) -> BTreeMap<SendingPort, LinkHistory> {
    let mut all: BTreeMap<SendingPort, LinkHistory> = BTreeMap::new();
    for event in events {
        let Some((change, senders)) = event.link_change() else { continue };
        senders.iter().for_each(|sender| all.entry(*sender).or_default().add(event.at, change));
    }
    all
}

/// Returns the index of each event of a link that contradicts an earlier one, and why. PRECONDITION: events are in order
/// of time.
pub(crate) fn find_contradictions(events: &[Event]) -> Vec<(usize, String)> {
    let (mut last, mut down) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    for (n, event) in events.iter().enumerate() {
        let Some((change, senders)) = event.link_change() else { continue };
        let why = senders.iter().find_map(|sender| {
            let was = last.insert((*sender, change.quantity_number()), event.at);
            if was == Some(event.at) {
                return Some("a second event of this kind for the link at this instant".to_string());
            }
            match change {
                LinkChange::Down => {
                    down.insert(*sender, event.at).map(|since| format!("the link has been down since {since}"))
                }
                LinkChange::Up if down.remove(sender).is_none() => Some("the link is not down".to_string()),
                _ => None,
            }
        });
        wrong.extend(why.map(|why| (n, why)));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, senders: &[SendingPort], change: LinkChange) -> Event {
        Event { at: Time(at), target: "l".into(), change: Change::Link(change, senders.to_vec()) }
    }

    #[test]
    fn history_has_only_the_changes_of_its_direction() {
        let (there, back) = ((0, 0), (5, 1));
        let events = [
            event(1, &[there, back], LinkChange::Down),
            event(2, &[back], LinkChange::Up),
            event(3, &[there], LinkChange::Delay(Dur(9))),
            event(7, &[back], LinkChange::Down),
            event(9, &[back], LinkChange::Up),
        ];
        assert_eq!(find_contradictions(&events), []);
        let all = link_histories(&events);
        assert_eq!(all[&there].outages, [(Time(1), Time::NEVER)]);
        assert_eq!(all[&there].delays, [(Time(3), Dur(9))]);
        assert_eq!(all[&back].outages, [(Time(1), Time(2)), (Time(7), Time(9))]);
        assert!(all[&back].delays.is_empty() && all[&back].needs_stepping());
    }

    #[test]
    fn contradicting_events_are_found_per_direction() {
        let (there, back) = ((0, 0), (5, 1));
        let down = |at, senders: &[SendingPort]| event(at, senders, LinkChange::Down);
        let up = |at, senders: &[SendingPort]| event(at, senders, LinkChange::Up);
        let places = |events: &[Event]| find_contradictions(events).into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(places(&[up(1, &[there])]), [0]);
        assert_eq!(places(&[down(1, &[there]), down(2, &[there, back])]), [1]);
        assert_eq!(places(&[down(1, &[there]), up(2, &[back])]), [1]);
        assert_eq!(places(&[down(1, &[there]), up(1, &[there])]), [1], "both at once");
        let loss = |at, p| event(at, &[there], LinkChange::Loss(p));
        assert_eq!(places(&[loss(1, 0.5), loss(1, 0.1), loss(2, 0.0)]), [1]);
        assert_eq!(places(&[loss(1, 0.5), event(1, &[there], LinkChange::Corruption(0.5))]), [0usize; 0]);
    }
}
