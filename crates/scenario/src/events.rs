//! What changes in the network while it runs: links that go down and come back, other rates and delays,
//! losses and corruption.

use crate::topology::Topology;
use mech::params::{Kind, Param, Spec, Values};
use std::collections::BTreeMap;
use std::fmt;
use units::{Dur, Rate, Time};

/// What every kind of event takes.
pub const EVENT: Spec = Spec {
    slot: "event",
    kind: "",
    doc: "A change of the network while it runs; what every kind takes.",
    cite: "",
    params: &[
        Param { name: "at", doc: "When; before the end of the run.", kind: Kind::Time { min: 0 }, default: None },
        Param {
            name: "link",
            doc: "Whose: a host stands for its link, `a:b` for both directions between two nodes, `a:b:n` for the \
                  n-th link of several, from 0; `a>b` and `a>b:n` for the direction from `a` alone.",
            kind: Kind::Text,
            default: None,
        },
    ],
};

const PROBABILITY: Kind = Kind::Number { min: 0.0, max: 1.0, below_max: false };

macro_rules! event {
    ($name:ident, $kind:literal, $doc:literal, $params:expr) => {
        const $name: Spec = Spec { slot: "event", kind: $kind, doc: $doc, cite: "", params: $params };
    };
}

event!(
    LINK_DOWN,
    "link_down",
    "A link goes down: frames that are on it are lost, and those that follow until it is back. `reroute_delay` later \
     no route uses it any more, in either direction.",
    &[]
);
event!(LINK_UP, "link_up", "A link is back; `reroute_delay` later routes use it again.", &[]);
event!(
    RATE,
    "rate",
    "A link has another rate for the frames that begin to leave from then on.",
    &[Param { name: "rate", doc: "The rate.", kind: Kind::Rate, default: None }]
);
event!(
    DELAY,
    "delay",
    "A link has another delay for the frames whose last bit leaves from then on; none overtakes another.",
    &[Param { name: "delay", doc: "The propagation delay.", kind: Kind::Time { min: 1 }, default: None }]
);
event!(
    LOSS,
    "loss",
    "Frames that reach the end of a link from then on are lost at random; PAUSE and PFC frames never are.",
    &[Param { name: "probability", doc: "How probable it is; 0 ends it.", kind: PROBABILITY, default: None }]
);
event!(
    CORRUPTION,
    "corruption",
    "Frames that reach the end of a link from then on are corrupted at random and dropped there; PAUSE and PFC \
     frames never are.",
    &[Param { name: "probability", doc: "How probable it is; 0 ends it.", kind: PROBABILITY, default: None }]
);

/// The kinds of `[[event]]`.
pub const SPECS: &[&Spec] = &[&LINK_DOWN, &LINK_UP, &RATE, &DELAY, &LOSS, &CORRUPTION];

/// A port that sends in one direction of a link: a node, and its port.
pub type Sender = (u32, u16);

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The link goes down.
    Down,
    /// The link is back.
    Up,
    /// It has this rate.
    Rate(Rate),
    /// It has this delay.
    Delay(Dur),
    /// It loses frames at this probability.
    Loss(f64),
    /// It corrupts frames at this probability.
    Corruption(f64),
}

impl Change {
    /// Whether frames may be lost by it.
    pub const fn loses(&self) -> bool {
        matches!(self, Change::Down | Change::Loss(_) | Change::Corruption(_))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Down => write!(f, "down"),
            Change::Up => write!(f, "up"),
            Change::Rate(rate) => write!(f, "rate {rate}"),
            Change::Delay(delay) => write!(f, "delay {delay}"),
            Change::Loss(p) => write!(f, "loss {p}"),
            Change::Corruption(p) => write!(f, "corruption {p}"),
        }
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// The link, as it was named.
    pub link: String,
    /// The ports that send in the directions that it is about.
    pub senders: Vec<Sender>,
    /// What changes.
    pub change: Change,
}

impl Event {
    /// An event of validated parameters.
    ///
    /// # Errors
    /// What the name of the link should have been.
    pub(crate) fn new(kind: &str, values: &Values, net: &Topology) -> Result<Event, String> {
        let change = match kind {
            "link_down" => Change::Down,
            "link_up" => Change::Up,
            "rate" => Change::Rate(values.rate("rate")),
            "delay" => Change::Delay(values.time("delay")),
            "loss" => Change::Loss(values.number("probability")),
            _ => Change::Corruption(values.number("probability")),
        };
        let link = values.word("link").to_string();
        Ok(Event { at: Time(values.time("at").0), senders: net.directions(&link)?, link, change })
    }

    /// Which of a link's quantities it is about; whether it is up is one of them.
    fn quantity(&self) -> u8 {
        match self.change {
            Change::Down | Change::Up => 0,
            Change::Rate(_) => 1,
            Change::Delay(_) => 2,
            Change::Loss(_) => 3,
            Change::Corruption(_) => 4,
        }
    }
}

/// What happens to one direction of a link over a whole run; every list is in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// When it is down: from an instant up to, but not including, another; [`Time::NEVER`] where it stays so.
    pub outages: Vec<(Time, Time)>,
    /// Rates, each from an instant on.
    pub rates: Vec<(Time, Rate)>,
    /// Delays likewise.
    pub delays: Vec<(Time, Dur)>,
    /// Probabilities of loss likewise.
    pub loss: Vec<(Time, f64)>,
    /// Probabilities of corruption likewise.
    pub corruption: Vec<(Time, f64)>,
}

impl History {
    /// Whether departures into it cannot be known ahead.
    pub fn steps(&self) -> bool {
        !(self.outages.is_empty() && self.rates.is_empty() && self.delays.is_empty())
    }

    fn add(&mut self, event: &Event) {
        let at = event.at;
        match event.change {
            Change::Down => self.outages.push((at, Time::NEVER)),
            Change::Up => self.outages.last_mut().into_iter().for_each(|outage| outage.1 = at),
            Change::Rate(rate) => self.rates.push((at, rate)),
            Change::Delay(delay) => self.delays.push((at, delay)),
            Change::Loss(p) => self.loss.push((at, p)),
            Change::Corruption(p) => self.corruption.push((at, p)),
        }
    }
}

/// The history of every direction that changes. PRECONDITION: events are in the order of time and
/// [`contradictions`] has found none.
pub fn histories(events: &[Event]) -> BTreeMap<Sender, History> {
    let mut all: BTreeMap<Sender, History> = BTreeMap::new();
    for event in events {
        event.senders.iter().for_each(|sender| all.entry(*sender).or_default().add(event));
    }
    all
}

/// What cannot be: the place of an event in the list, and why. PRECONDITION: events are in the order of time.
pub(crate) fn contradictions(events: &[Event]) -> Vec<(usize, String)> {
    let (mut last, mut down) = (BTreeMap::new(), BTreeMap::new());
    let mut wrong = Vec::new();
    for (n, event) in events.iter().enumerate() {
        let why = event.senders.iter().find_map(|sender| {
            let was = last.insert((*sender, event.quantity()), event.at);
            if was == Some(event.at) {
                return Some("a second event of this kind for the link at this instant".to_string());
            }
            match event.change {
                Change::Down => {
                    down.insert(*sender, event.at).map(|since| format!("a link that is down since {since}"))
                }
                Change::Up if down.remove(sender).is_none() => Some("a link that is not down".to_string()),
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

    fn event(at: u64, senders: &[Sender], change: Change) -> Event {
        Event { at: Time(at), link: "l".into(), senders: senders.to_vec(), change }
    }

    #[test]
    fn a_history_has_outages_and_courses_of_its_own_direction_alone() {
        let (there, back) = ((0, 0), (5, 1));
        let events = [
            event(1, &[there, back], Change::Down),
            event(2, &[back], Change::Up),
            event(3, &[there], Change::Delay(Dur(9))),
            event(7, &[back], Change::Down),
            event(9, &[back], Change::Up),
        ];
        assert_eq!(contradictions(&events), []);
        let all = histories(&events);
        assert_eq!(all[&there].outages, [(Time(1), Time::NEVER)]);
        assert_eq!(all[&there].delays, [(Time(3), Dur(9))]);
        assert_eq!(all[&back].outages, [(Time(1), Time(2)), (Time(7), Time(9))]);
        assert!(all[&back].delays.is_empty() && all[&back].steps());
    }

    #[test]
    fn what_contradicts_what_was_before_is_found_by_direction() {
        let (there, back) = ((0, 0), (5, 1));
        let down = |at, senders: &[Sender]| event(at, senders, Change::Down);
        let up = |at, senders: &[Sender]| event(at, senders, Change::Up);
        let places = |events: &[Event]| contradictions(events).into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(places(&[up(1, &[there])]), [0]);
        assert_eq!(places(&[down(1, &[there]), down(2, &[there, back])]), [1]);
        assert_eq!(places(&[down(1, &[there]), up(2, &[back])]), [1]);
        assert_eq!(places(&[down(1, &[there]), up(1, &[there])]), [1], "both at once");
        let loss = |at, p| event(at, &[there], Change::Loss(p));
        assert_eq!(places(&[loss(1, 0.5), loss(1, 0.1), loss(2, 0.0)]), [1]);
        assert_eq!(places(&[loss(1, 0.5), event(1, &[there], Change::Corruption(0.5))]), [0usize; 0]);
    }
}
