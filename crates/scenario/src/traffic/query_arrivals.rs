//! Start times of queries, and selection of their hosts.

use super::common::{
    QUERY_HOST_STREAM, QUERY_TIME_STREAM, check_jitter, find_host, make_fault, note_idle_stop, read_window, round_to_ps,
};
use super::draft::FlowDraft;
use super::draws::{DrawPurpose, MessageDraws};
use super::load::{LoadBytes, LoadOf, OfferedLoad, capacity, requested_load, unused_load_faults};
use super::{Context, FlowRole, Sizes};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Values};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const INTERVAL: Param = Param {
    name: "interval",
    doc: "Time from one query to the next. Without this key and without `qps`, there is one query.",
    kind: ParamKind::Time { min: 1 },
    default: Some(""),
};
pub(super) const REPEAT: Param = Param {
    name: "repeat",
    doc: "Number of queries with an `interval`. By default, queries continue to the end of the workload.",
    kind: ParamKind::Count { min: 1, max: 1_000_000_000 },
    default: Some(""),
};
pub(super) const QPS: Param = Param {
    name: "qps",
    doc: "Number of queries per second over the whole network, with exponential gaps (DIBS §5.3).",
    kind: ParamKind::Number { min: 1e-6, max: 1e9, below_max: false },
    default: Some(""),
};

/// Keys of parameters that incasts and queries share under different names.
#[derive(Clone, Copy)]
pub(super) struct ParameterNames {
    /// Key for the number of flows in a query.
    pub degree: &'static str,
    /// Key for the host to which the other hosts of a query send.
    pub target: &'static str,
    /// Key for the selection of the other hosts.
    pub pick: &'static str,
}

choice! {
    /// Selection of a query's hosts other than the target.
    pub(super) enum HostSelection {
        Random = "random",
        First = "first",
        Spread = "spread",
    }
}

/// Start times of queries.
#[derive(Clone, Copy, Debug, PartialEq)]
enum QueryTimes {
    /// Fixed interval between queries, and number of queries.
    Every(Dur, u64),
    /// Exponential gaps with this mean, in picoseconds.
    Poisson(f64),
}

/// Start times and hosts of a workload's queries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QuerySchedule {
    degree: u64,
    target: Option<HostId>,
    pick: HostSelection,
    pace: QueryTimes,
    start: Time,
    stop: Time,
    hosts_rate: f64,
    /// Load that the scenario requests with `load.fraction`.
    requested_load: Option<OfferedLoad>,
}

/// First messages of a query.
#[derive(Clone, Debug)]
pub(super) enum QueryFlows {
    /// Every host sends this number of bytes to the target.
    FixedSize(u64),
    /// Every host sends a drawn number of bytes to the target.
    DrawnSize(Arc<Sizes>, MessageDraws),
    /// The target sends a request of this number of bytes to every host.
    Request(u64),
}

impl QuerySchedule {
    pub fn build(
        name: &str,
        names: ParameterNames,
        values: &Values,
        ctx: &Context,
    ) -> Result<QuerySchedule, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = read_window(values, ctx, &mut faults);
        let pace = read_query_times(values, &mut faults);
        let target = match values.word(names.target) {
            "random" => None,
            name => find_host(ctx, names.target, name).map_err(|f| faults.push(f)).ok(),
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        if let (QueryTimes::Every(interval, count), true) = (pace, values.has("repeat")) {
            let until = stop.min(Time(ctx.duration.0));
            let fit = until.since(start).0.div_ceil(interval.0);
            if fit < count {
                let mut notes = ctx.notes.borrow_mut();
                notes.push(format!(
                    "traffic `{name}`: only {fit} of {count} queries start before the end at {until}. \
                                    Increase `duration` or `stop`, or reduce `interval`"
                ));
            }
        }
        let single = matches!(pace, QueryTimes::Every(_, 1)) && !values.has("load.fraction");
        note_idle_stop(single && values.has("stop"), name, ctx);
        let pick = values.get(names.pick);
        let degree = values.count(names.degree);
        note_repeated_hosts(name, names, degree, ctx);
        let gap = match pace {
            QueryTimes::Every(_, 1) => f64::INFINITY,
            QueryTimes::Every(interval, _) => interval.0 as f64,
            QueryTimes::Poisson(gap) => gap,
        };
        if let Some(wrong) = check_jitter(values, degree as f64, gap) {
            return Err(vec![wrong]);
        }
        let hosts_rate = capacity(ctx.topology, LoadOf::Host);
        Ok(QuerySchedule { degree, target, pick, pace, start, stop, hosts_rate, requested_load: None })
    }

    /// Sets the rate of queries from the keys `load.*`, if they are given. Each host of a query sends one flow of each
    /// of these sizes.
    pub fn with_load(mut self, values: &Values, ctx: &Context, sizes: &[&Sizes]) -> Result<QuerySchedule, Vec<Fault>> {
        if !values.has("load.fraction") {
            let faults = unused_load_faults(values, "`load.fraction` is not given");
            return if faults.is_empty() { Ok(self) } else { Err(faults) };
        }
        if let Some(other) = ["qps", "interval", "repeat"].into_iter().find(|key| values.has(key)) {
            return Err(vec![make_fault(other, "a value", "no value if `load.fraction` is given")]);
        }
        if values.get::<LoadOf>("load.of") != LoadOf::Host
            && (self.target.is_some() || self.pick != HostSelection::Random)
        {
            let found = format!("`{}` for hosts that are not drawn at random", values.word("load.of"));
            return Err(vec![make_fault("load.of", found, "`host`, or `random` for the receiver and the other hosts")]);
        }
        let offered = requested_load(values, ctx, sizes)?;
        let bytes: f64 = sizes.iter().map(|sizes| sizes.mean_bytes()).sum();
        let gap = self.degree as f64 * bytes * 8.0 * 1e12 / offered.payload_bps;
        if gap < 1.0 {
            let found = "queries less than 1ps apart on average";
            return Err(vec![make_fault("load.fraction", found, "a load that leaves at least 1ps between them")]);
        }
        check_jitter(values, self.degree as f64, gap).map_or(Ok(()), |wrong| Err(vec![wrong]))?;
        (self.pace, self.requested_load) = (QueryTimes::Poisson(gap), Some(offered));
        Ok(self)
    }

    /// Returns the offered load if each host of a query sends `bytes`, over the capacity of all host links; `None` for
    /// a single query.
    pub fn offered_load(&self, bytes: f64) -> Option<OfferedLoad> {
        if self.requested_load.is_some() || !bytes.is_finite() {
            return self.requested_load;
        }
        let gap = match self.pace {
            QueryTimes::Every(_, 1) => return None,
            QueryTimes::Every(interval, _) => interval.0 as f64,
            QueryTimes::Poisson(gap) => gap,
        };
        let bps = self.degree as f64 * bytes * 8.0 * 1e12 / gap;
        Some(OfferedLoad {
            fraction: bps / self.hosts_rate,
            of: LoadOf::Host,
            bytes: LoadBytes::Payload,
            bps,
            payload_bps: bps,
        })
    }

    /// Returns the average number of queries that start before the instant `end`.
    pub fn queries_before(&self, end: Time) -> f64 {
        let span = self.stop.min(end).since(self.start).0 as f64;
        match self.pace {
            QueryTimes::Every(interval, count) => (span / interval.0 as f64).ceil().min(count as f64),
            QueryTimes::Poisson(gap) => span / gap,
        }
    }

    /// Returns the average number of queries that start within a length of time, at least one.
    pub fn queries_within(&self, within: Dur) -> f64 {
        self.queries_before(self.start.saturating_add(within)).max(1.0)
    }

    /// Returns the number of hosts of a query.
    pub fn hosts_per_query(&self) -> u64 {
        self.degree
    }

    pub fn queries(&self, shape: QueryFlows, hosts: u32, streams: QueryStreams) -> Queries {
        let deck = (0..hosts - 1).collect();
        let mut queries = Queries { rounds: self.clone(), shape, hosts, streams, deck, next: self.start, number: 0 };
        if let QueryTimes::Poisson(_) = self.pace {
            queries.advance();
        }
        queries
    }
}

/// Warns that some hosts send several flows of a query, because it has more flows than hosts other than the target.
fn note_repeated_hosts(name: &str, names: ParameterNames, degree: u64, ctx: &Context) {
    let others = u64::from(ctx.topology.hosts.saturating_sub(1));
    if others == 0 || degree <= others {
        return;
    }
    let (each, more) = (degree / others, degree % others);
    let share = match more {
        0 => format!("each of them sends {each} flows"),
        _ => format!(
            "{more} of them {} {} flows, each other host {each}",
            if more == 1 { "sends" } else { "send" },
            each + 1
        ),
    };
    ctx.notes.borrow_mut().push(format!(
        "traffic `{name}`: `{}` = {degree}, but there are only {others} hosts other than the {}. In each query, {share}",
        names.degree, names.target
    ));
}

fn read_query_times(values: &Values, faults: &mut Vec<Fault>) -> QueryTimes {
    let (interval, repeat, qps) = (values.has("interval"), values.has("repeat"), values.has("qps"));
    if qps {
        let found = || values.number("qps").to_string();
        for other in ["interval", "repeat"].into_iter().filter(|key| values.has(key)) {
            faults.push(make_fault("qps", found(), format!("no value if `{other}` is given")));
        }
        return QueryTimes::Poisson(1e12 / values.number("qps"));
    }
    if repeat && !interval && values.count("repeat") > 1 {
        faults.push(make_fault(
            "repeat",
            values.count("repeat").to_string(),
            "`repeat` above 1 only together with \
                                                                         `interval`",
        ));
    }
    match (interval, repeat) {
        (true, true) => QueryTimes::Every(values.time("interval"), values.count("repeat")),
        (true, false) => QueryTimes::Every(values.time("interval"), u64::MAX),
        _ => QueryTimes::Every(Dur(1), 1),
    }
}

/// Random streams for the queries of a workload.
#[derive(Clone, Debug)]
pub(super) struct QueryStreams {
    /// Random stream for the times between queries.
    pub times: Stream,
    /// Random stream for the targets, and for the order of the other hosts.
    pub hosts: Stream,
}

impl QueryStreams {
    /// Creates the streams for queries; `stream` returns the workload's random stream of a given number.
    pub fn new(stream: impl Fn(u32) -> Stream) -> QueryStreams {
        QueryStreams { times: stream(QUERY_TIME_STREAM), hosts: stream(QUERY_HOST_STREAM) }
    }
}

/// Iterator over the queries of a workload.
#[derive(Clone, Debug)]
pub(super) struct Queries {
    rounds: QuerySchedule,
    shape: QueryFlows,
    hosts: u32,
    streams: QueryStreams,
    /// Indices among the hosts other than the target, in the order in which a random selection takes them.
    deck: Vec<u32>,
    next: Time,
    number: u32,
}

impl Queries {
    pub fn next_start(&self) -> Time {
        let over = matches!(self.rounds.pace, QueryTimes::Every(_, count) if u64::from(self.number) >= count);
        if over || self.next >= self.rounds.stop || self.number == u32::MAX { Time::NEVER } else { self.next }
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let target = self
            .rounds
            .target
            .unwrap_or_else(|| HostId(self.streams.hosts.uniform_below(u64::from(self.hosts)) as u32));
        let others = u64::from(self.hosts - 1);
        let rest = self.rounds.degree % others;
        for n in 0..self.rounds.degree {
            // A degree above the number of other hosts wraps round: each whole round takes all of them. Only the
            // partial round at the end needs a selection.
            let last = n >= self.rounds.degree - rest;
            let place = if last { self.select_host_index(n % others, rest) } else { (n % others) as u32 };
            let other = HostId(if place < target.0 { place } else { place + 1 });
            out.push(self.draft_flow(target, other, n));
        }
        self.number += 1;
        self.advance();
    }

    /// Makes the first message that the target of a query exchanges with its `n`-th other host.
    /// If the query has requests, this is the request from the target. Otherwise it is the data from the other host.
    fn draft_flow(&self, target: HostId, other: HostId, n: u64) -> FlowDraft {
        let to_target = |bytes| FlowDraft { tag: n, ..FlowDraft::on_own_connection(other, target, bytes, self.number) };
        match &self.shape {
            QueryFlows::FixedSize(bytes) => to_target(*bytes),
            QueryFlows::DrawnSize(sizes, draws) => {
                to_target(sizes.quantile(draws.stream(self.number, DrawPurpose::Size, n).uniform()))
            }
            QueryFlows::Request(bytes) => FlowDraft {
                tag: n,
                role: FlowRole::Request,
                ..FlowDraft::on_own_connection(target, other, *bytes, self.number)
            },
        }
    }

    /// Selects the `i`-th of `n` hosts other than the target. Returns its index among all such hosts.
    fn select_host_index(&mut self, i: u64, n: u64) -> u32 {
        let others = u64::from(self.hosts - 1);
        match self.rounds.pick {
            HostSelection::First => i as u32,
            HostSelection::Spread => (i * others / n) as u32,
            HostSelection::Random => {
                // One step of a Fisher-Yates shuffle. The result is uniform from any initial order, so the deck is
                // never reset.
                let from = i + self.streams.hosts.uniform_below(others - i);
                self.deck.swap(i as usize, from as usize);
                self.deck[i as usize]
            }
        }
    }

    fn advance(&mut self) {
        let gap = match self.rounds.pace {
            QueryTimes::Every(interval, _) => interval,
            QueryTimes::Poisson(mean) => round_to_ps(self.streams.times.exponential(mean)),
        };
        self.next = self.next.saturating_add(gap);
    }
}
