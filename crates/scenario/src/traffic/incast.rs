//! Queries: many hosts answer one host at the same instant (partition and aggregate).

use super::Context;
use super::common::{CLASS, JITTER, START, STOP, check_jitter, fault, host, rounded, window};
use super::flows::Draft;
use super::load::{LoadBytes, LoadOf, Offered, capacity};
use crate::fault::Fault;
use mech::params::{Kind, Param, Spec, Values};
use mech::{HostId, Stream};
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "incast",
    doc: "Many hosts send to one at the same instant: once, every `interval`, or as `qps` Poisson queries a second \
          over the whole network.",
    cite: "DIBS §5.3",
    params: &[
        Param {
            name: "senders",
            doc: "Flows in a query (its degree); where there are more than other hosts, hosts send several.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: None,
        },
        Param {
            name: "receiver",
            doc: "The host that all send to, or `random`: drawn anew for every query.",
            kind: Kind::Text,
            default: None,
        },
        Param { name: "size", doc: "Payload of each flow.", kind: Kind::Size { min: 1 }, default: None },
        Param {
            name: "pick",
            doc: "Who sends: `random`, distinct hosts drawn anew for every query; `first`, the first hosts other than \
                  the receiver; `spread`, hosts at equal distances in their order.",
            kind: Kind::Choice(&["random", "first", "spread"]),
            default: Some("random"),
        },
        START,
        STOP,
        Param {
            name: "interval",
            doc: "Time from one query to the next; one query where neither this nor `qps` is given.",
            kind: Kind::Time { min: 1 },
            default: Some(""),
        },
        Param {
            name: "repeat",
            doc: "Number of queries with an `interval`; as many as start before the end where not given.",
            kind: Kind::Count { min: 1, max: 1_000_000_000 },
            default: Some(""),
        },
        Param {
            name: "qps",
            doc: "Queries a second over the whole network, with exponential gaps (DIBS §5.3).",
            kind: Kind::Number { min: 1e-6, max: 1e9, below_max: false },
            default: Some(""),
        },
        JITTER,
        CLASS,
    ],
};

/// How senders are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pick {
    Random,
    First,
    Spread,
}

/// When queries come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// So many, so far apart.
    Every(Dur, u64),
    /// With exponential gaps of this mean, in picoseconds.
    Poisson(f64),
}

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Incast {
    senders: u64,
    receiver: Option<HostId>,
    bytes: u64,
    pick: Pick,
    pace: Pace,
    start: Time,
    stop: Time,
    hosts_rate: f64,
}

impl Incast {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Incast, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = window(values, ctx, &mut faults);
        let pace = pace(values, &mut faults);
        let receiver = match values.word("receiver") {
            "random" => None,
            name => host(ctx, "receiver", name).map_err(|f| faults.push(f)).ok(),
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        if let (Pace::Every(interval, count), true) = (pace, values.has("repeat")) {
            let until = stop.min(Time(ctx.duration.0));
            let fit = until.since(start).0.div_ceil(interval.0);
            if fit < count {
                let mut notes = ctx.notes.borrow_mut();
                notes.push(format!("traffic `{name}`: {fit} of {count} queries start before {until}"));
            }
        }
        let pick = match values.word("pick") {
            "first" => Pick::First,
            "spread" => Pick::Spread,
            _ => Pick::Random,
        };
        let (senders, bytes) = (values.count("senders"), values.size("size"));
        let gap = match pace {
            Pace::Every(_, 1) => f64::INFINITY,
            Pace::Every(interval, _) => interval.0 as f64,
            Pace::Poisson(gap) => gap,
        };
        if let Some(wrong) = check_jitter(values, senders as f64, gap) {
            return Err(vec![wrong]);
        }
        let hosts_rate = capacity(ctx.topology, LoadOf::Host);
        Ok(Incast { senders, receiver, bytes, pick, pace, start, stop, hosts_rate })
    }

    /// Payload over the capacity of all host links; nothing for a single query.
    pub fn offered(&self) -> Option<Offered> {
        let gap = match self.pace {
            Pace::Every(_, 1) => return None,
            Pace::Every(interval, _) => interval.0 as f64,
            Pace::Poisson(gap) => gap,
        };
        let bps = self.senders as f64 * self.bytes as f64 * 8.0 * 1e12 / gap;
        Some(Offered {
            fraction: bps / self.hosts_rate,
            of: LoadOf::Host,
            bytes: LoadBytes::Payload,
            bps,
            payload_bps: bps,
        })
    }

    pub fn queries(&self, hosts: u32, (times, draws): (Stream, Stream)) -> Queries {
        let deck = (0..hosts - 1).collect();
        let mut queries = Queries { incast: self.clone(), hosts, times, draws, deck, next: self.start, number: 0 };
        if let Pace::Poisson(_) = self.pace {
            queries.advance();
        }
        queries
    }
}

fn pace(values: &Values, faults: &mut Vec<Fault>) -> Pace {
    let (interval, repeat, qps) = (values.has("interval"), values.has("repeat"), values.has("qps"));
    if qps {
        let found = || values.number("qps").to_string();
        for other in ["interval", "repeat"].into_iter().filter(|key| values.has(key)) {
            faults.push(fault("qps", found(), format!("left out where `{other}` is given")));
        }
        return Pace::Poisson(1e12 / values.number("qps"));
    }
    if repeat && !interval && values.count("repeat") > 1 {
        faults.push(fault("repeat", values.count("repeat").to_string(), "given together with `interval`"));
    }
    match (interval, repeat) {
        (true, true) => Pace::Every(values.time("interval"), values.count("repeat")),
        (true, false) => Pace::Every(values.time("interval"), u64::MAX),
        _ => Pace::Every(Dur(1), 1),
    }
}

/// The queries of an entry, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Queries {
    incast: Incast,
    hosts: u32,
    times: Stream,
    draws: Stream,
    /// An order of the hosts other than the receiver, by place among them.
    deck: Vec<u32>,
    next: Time,
    number: u32,
}

impl Queries {
    pub fn next(&self) -> Time {
        let over = matches!(self.incast.pace, Pace::Every(_, count) if u64::from(self.number) >= count);
        if over || self.next >= self.incast.stop || self.number == u32::MAX { Time::NEVER } else { self.next }
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        let dst = self.incast.receiver.unwrap_or_else(|| HostId(self.draws.below(u64::from(self.hosts)) as u32));
        let others = u64::from(self.hosts - 1);
        let rest = self.incast.senders % others;
        for n in 0..self.incast.senders {
            // Whole rounds over all other hosts first; the rest by choice.
            let last = n >= self.incast.senders - rest;
            let place = if last { self.place(n % others, rest) } else { (n % others) as u32 };
            let src = HostId(if place < dst.0 { place } else { place + 1 });
            out.push(Draft::data((src, dst), self.incast.bytes, self.number));
        }
        self.number += 1;
        self.advance();
    }

    /// The place, among the other hosts, of the `i`-th of `n`.
    fn place(&mut self, i: u64, n: u64) -> u32 {
        let others = u64::from(self.hosts - 1);
        match self.incast.pick {
            Pick::First => i as u32,
            Pick::Spread => (i * others / n) as u32,
            Pick::Random => {
                // One step of a Fisher-Yates shuffle; any order to start from serves.
                let from = i + self.draws.below(others - i);
                self.deck.swap(i as usize, from as usize);
                self.deck[i as usize]
            }
        }
    }

    fn advance(&mut self) {
        let gap = match self.incast.pace {
            Pace::Every(interval, _) => interval,
            Pace::Poisson(mean) => rounded(self.times.exponential(mean)),
        };
        self.next = self.next.saturating_add(gap);
    }
}
