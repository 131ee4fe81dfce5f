//! Queries: their start times and their hosts.

use super::common::{QUERY_HOSTS, QUERY_TIMES, check_jitter, fault, host, note_idle_stop, rounded, window};
use super::draft::Draft;
use super::draws::{Draws, What};
use super::load::{LoadBytes, LoadOf, Offered, asked, capacity, unasked};
use super::{Context, Role, Sizes};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Kind, Param, Values};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const INTERVAL: Param = Param {
    name: "interval",
    doc: "Time from one query to the next; one query if neither this nor `qps` is given.",
    kind: Kind::Time { min: 1 },
    default: Some(""),
};
pub(super) const REPEAT: Param = Param {
    name: "repeat",
    doc: "Number of queries with an `interval`; by default all that start before the end.",
    kind: Kind::Count { min: 1, max: 1_000_000_000 },
    default: Some(""),
};
pub(super) const QPS: Param = Param {
    name: "qps",
    doc: "Number of queries per second over the whole network, with exponential gaps (DIBS §5.3).",
    kind: Kind::Number { min: 1e-6, max: 1e9, below_max: false },
    default: Some(""),
};

/// Names of the parameters that kinds of queries share under different keys.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// Key for the number of flows in a query.
    pub degree: &'static str,
    /// Key for the host that all send to.
    pub target: &'static str,
    /// Key for the selection of the other hosts.
    pub pick: &'static str,
}

choice! {
    /// Selection of the hosts other than the target.
    pub(super) enum Pick {
        Random = "random",
        First = "first",
        Spread = "spread",
    }
}

/// Start times of queries.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    /// Fixed interval, and the number of queries.
    Every(Dur, u64),
    /// Exponential gaps with this mean, in picoseconds.
    Poisson(f64),
}

/// Start times and hosts of a workload's queries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rounds {
    degree: u64,
    target: Option<HostId>,
    pick: Pick,
    pace: Pace,
    start: Time,
    stop: Time,
    hosts_rate: f64,
    /// Load that the scenario requests.
    asked: Option<Offered>,
}

/// Flows that a query begins with.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Every host sends this number of bytes to the target.
    Same(u64),
    /// Every host sends a drawn number of bytes to the target.
    Drawn(Arc<Sizes>, Draws),
    /// The target sends a request of this number of bytes to every host.
    Request(u64),
}

impl Rounds {
    pub fn build(name: &str, names: Names, values: &Values, ctx: &Context) -> Result<Rounds, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = window(values, ctx, &mut faults);
        let pace = pace(values, &mut faults);
        let target = match values.word(names.target) {
            "random" => None,
            name => host(ctx, names.target, name).map_err(|f| faults.push(f)).ok(),
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
        let single = matches!(pace, Pace::Every(_, 1)) && !values.has("load.fraction");
        note_idle_stop(single && values.has("stop"), name, ctx);
        let pick = values.get(names.pick);
        let degree = values.count(names.degree);
        let gap = match pace {
            Pace::Every(_, 1) => f64::INFINITY,
            Pace::Every(interval, _) => interval.0 as f64,
            Pace::Poisson(gap) => gap,
        };
        if let Some(wrong) = check_jitter(values, degree as f64, gap) {
            return Err(vec![wrong]);
        }
        let hosts_rate = capacity(ctx.topology, LoadOf::Host);
        Ok(Rounds { degree, target, pick, pace, start, stop, hosts_rate, asked: None })
    }

    /// Sets the rate of queries from `load`, if it is given. Each host of a query sends one flow of each of these
    /// sizes.
    pub fn at_load(mut self, values: &Values, ctx: &Context, sizes: &[&Sizes]) -> Result<Rounds, Vec<Fault>> {
        if !values.has("load.fraction") {
            let faults = unasked(values, "`load.fraction` is not given");
            return if faults.is_empty() { Ok(self) } else { Err(faults) };
        }
        if let Some(other) = ["qps", "interval", "repeat"].into_iter().find(|key| values.has(key)) {
            return Err(vec![fault(other, "a value", "no value if `load.fraction` is given")]);
        }
        if values.get::<LoadOf>("load.of") != LoadOf::Host && (self.target.is_some() || self.pick != Pick::Random) {
            let found = format!("`{}` with hosts that are not drawn", values.word("load.of"));
            return Err(vec![fault("load.of", found, "`host`, or all hosts `random`")]);
        }
        let offered = asked(values, ctx, sizes)?;
        let bytes: f64 = sizes.iter().map(|sizes| sizes.mean()).sum();
        let gap = self.degree as f64 * bytes * 8.0 * 1e12 / offered.payload_bps;
        if gap < 1.0 {
            let found = "queries less than 1ps apart on average";
            return Err(vec![fault("load.fraction", found, "a load that leaves at least 1ps between them")]);
        }
        check_jitter(values, self.degree as f64, gap).map_or(Ok(()), |wrong| Err(vec![wrong]))?;
        (self.pace, self.asked) = (Pace::Poisson(gap), Some(offered));
        Ok(self)
    }

    /// Returns the load of `bytes` for each host of a query, over the capacity of all host links; `None` for a single
    /// query.
    pub fn offered(&self, bytes: f64) -> Option<Offered> {
        if self.asked.is_some() || !bytes.is_finite() {
            return self.asked;
        }
        let gap = match self.pace {
            Pace::Every(_, 1) => return None,
            Pace::Every(interval, _) => interval.0 as f64,
            Pace::Poisson(gap) => gap,
        };
        let bps = self.degree as f64 * bytes * 8.0 * 1e12 / gap;
        Some(Offered {
            fraction: bps / self.hosts_rate,
            of: LoadOf::Host,
            bytes: LoadBytes::Payload,
            bps,
            payload_bps: bps,
        })
    }

    /// Returns the average number of queries that start before an instant.
    pub fn queries_before(&self, end: Time) -> f64 {
        let span = self.stop.min(end).since(self.start).0 as f64;
        match self.pace {
            Pace::Every(interval, count) => (span / interval.0 as f64).ceil().min(count as f64),
            Pace::Poisson(gap) => span / gap,
        }
    }

    /// Returns the average number of queries that start within a time, at least one.
    pub fn queries_within(&self, within: Dur) -> f64 {
        self.queries_before(self.start.saturating_add(within)).max(1.0)
    }

    /// Returns the number of hosts of a query.
    pub fn degree(&self) -> u64 {
        self.degree
    }

    pub fn queries(&self, shape: Shape, hosts: u32, streams: QueryStreams) -> Queries {
        let deck = (0..hosts - 1).collect();
        let mut queries = Queries { rounds: self.clone(), shape, hosts, streams, deck, next: self.start, number: 0 };
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
            faults.push(fault("qps", found(), format!("no value if `{other}` is given")));
        }
        return Pace::Poisson(1e12 / values.number("qps"));
    }
    if repeat && !interval && values.count("repeat") > 1 {
        faults.push(fault("repeat", values.count("repeat").to_string(), "`interval` as well"));
    }
    match (interval, repeat) {
        (true, true) => Pace::Every(values.time("interval"), values.count("repeat")),
        (true, false) => Pace::Every(values.time("interval"), u64::MAX),
        _ => Pace::Every(Dur(1), 1),
    }
}

/// Random streams of a workload's queries.
#[derive(Clone, Debug)]
pub(super) struct QueryStreams {
    /// Stream of the times between queries.
    pub times: Stream,
    /// Stream of the targets, and of the order of the other hosts.
    pub hosts: Stream,
}

impl QueryStreams {
    /// Takes the streams from those of the workload.
    pub fn new(stream: impl Fn(u32) -> Stream) -> QueryStreams {
        QueryStreams { times: stream(QUERY_TIMES), hosts: stream(QUERY_HOSTS) }
    }
}

/// Iterator over the queries of a workload.
#[derive(Clone, Debug)]
pub(super) struct Queries {
    rounds: Rounds,
    shape: Shape,
    hosts: u32,
    streams: QueryStreams,
    /// Order of the hosts other than the target, by index among them.
    deck: Vec<u32>,
    next: Time,
    number: u32,
}

impl Queries {
    pub fn next(&self) -> Time {
        let over = matches!(self.rounds.pace, Pace::Every(_, count) if u64::from(self.number) >= count);
        if over || self.next >= self.rounds.stop || self.number == u32::MAX { Time::NEVER } else { self.next }
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        let target =
            self.rounds.target.unwrap_or_else(|| HostId(self.streams.hosts.below(u64::from(self.hosts)) as u32));
        let others = u64::from(self.hosts - 1);
        let rest = self.rounds.degree % others;
        for n in 0..self.rounds.degree {
            // All other hosts come first, as often as a whole number of rounds allows; the rest is selected.
            let last = n >= self.rounds.degree - rest;
            let place = if last { self.place(n % others, rest) } else { (n % others) as u32 };
            let other = HostId(if place < target.0 { place } else { place + 1 });
            out.push(self.draft(target, other, n));
        }
        self.number += 1;
        self.advance();
    }

    /// Returns the flow that the query begins with between the target and its `n`-th other host.
    fn draft(&self, target: HostId, other: HostId, n: u64) -> Draft {
        let to_target = |bytes| Draft { tag: n, ..Draft::data(other, target, bytes, self.number) };
        match &self.shape {
            Shape::Same(bytes) => to_target(*bytes),
            Shape::Drawn(sizes, draws) => to_target(sizes.quantile(draws.stream(self.number, What::Size, n).unit())),
            Shape::Request(bytes) => {
                Draft { tag: n, role: Role::Request, ..Draft::data(target, other, *bytes, self.number) }
            }
        }
    }

    /// Returns the index, among the other hosts, of the `i`-th of `n` selected ones.
    fn place(&mut self, i: u64, n: u64) -> u32 {
        let others = u64::from(self.hosts - 1);
        match self.rounds.pick {
            Pick::First => i as u32,
            Pick::Spread => (i * others / n) as u32,
            Pick::Random => {
                // One step of a Fisher-Yates shuffle. It may start from any order, so the deck is never reset.
                let from = i + self.streams.hosts.below(others - i);
                self.deck.swap(i as usize, from as usize);
                self.deck[i as usize]
            }
        }
    }

    fn advance(&mut self) {
        let gap = match self.rounds.pace {
            Pace::Every(interval, _) => interval,
            Pace::Poisson(mean) => rounded(self.streams.times.exponential(mean)),
        };
        self.next = self.next.saturating_add(gap);
    }
}
