//! Shuffles: every host sends a flow to every other host.

use super::common::{CLASS, JITTER, START, STOP, make_fault, note_idle_stop, read_distinct_hosts, read_window};
use super::draft::FlowDraft;
use super::load::{
    LOAD_BYTES, LOAD_FRACTION, LOAD_OF, LOAD_SEGMENT, LoadBytes, LoadOf, OfferedLoad, capacity, requested_load,
    unused_load_faults,
};
use super::sizes::SIZE;
use super::{Context, QueryRounds, Sizes};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

/// Largest number of flows that start at one instant; about half a gigabyte.
const MAX_SIMULTANEOUS_FLOWS: usize = 10_000_000;

choice! {
    /// Order in which the flows of a shuffle start.
    enum RoundOrder {
        AtOnce = "at_once",
        Shifted = "shifted",
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "all_to_all",
    doc: "Shuffles, in which every host sends one flow to every other host, simultaneously or in shifted rounds. They \
          start once, every `interval`, or as often as `load` requires. The flows of a shuffle are one query.",
    cite: "",
    params: &[
        SIZE,
        Param {
            name: "hosts",
            doc: "Hosts that take part, by name or number; all hosts by default.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
        Param {
            name: "order",
            doc: "Order of the flows. `at_once`: all flows start simultaneously. `shifted`: in round r = 1, 2, …, \
                  every host sends to the r-th next host, and rounds are `gap` apart.",
            kind: RoundOrder::KIND,
            default: Some("at_once"),
        },
        Param {
            name: "gap",
            doc: "Time from one round of a shifted order to the next.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
        START,
        STOP,
        Param {
            name: "interval",
            doc: "Time from one shuffle to the next. Without this key and without `load`, there is one shuffle.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
        Param {
            name: "repeat",
            doc: "Number of shuffles with an `interval` or a `load`; unlimited by default.",
            kind: ParamKind::Count { min: 1, max: 1_000_000_000 },
            default: Some(""),
        },
        LOAD_FRACTION,
        LOAD_OF,
        LOAD_BYTES,
        LOAD_SEGMENT,
        JITTER,
        CLASS,
    ],
};

/// Parameters of a shuffle workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AllToAll {
    hosts: Arc<[HostId]>,
    sizes: Arc<Sizes>,
    /// Time between two rounds of a shuffle; `None` if all its flows start together.
    gap: Option<Dur>,
    interval: Dur,
    count: u64,
    start: Time,
    stop: Time,
    offered: Option<OfferedLoad>,
}

impl AllToAll {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<AllToAll, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = read_window(values, ctx, &mut faults);
        let sizes = Sizes::read_sizes("size", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let hosts = read_distinct_hosts(ctx, "hosts", values).map_err(|more| faults.extend(more)).ok();
        let gap = read_gap(values, &mut faults);
        let (Some(sizes), Some(hosts), true) = (sizes, hosts, faults.is_empty()) else { return Err(faults) };
        let pairs = hosts.len() * (hosts.len() - 1);
        if gap.is_none() && pairs > MAX_SIMULTANEOUS_FLOWS {
            let rule = "at most ten million pairs that start simultaneously, or order = \"shifted\"";
            return Err(vec![make_fault("hosts", format!("{} hosts, {pairs} pairs", hosts.len()), rule)]);
        }
        let (interval, offered) = compute_interval(values, ctx, &sizes, hosts.len())?;
        note_idle_stop(interval.is_none() && gap.is_none() && values.has("stop"), name, ctx);
        let rounds = gap.map_or(Dur(0), |gap| Dur(gap.0.saturating_mul(hosts.len() as u64 - 1)));
        if interval.is_some_and(|interval| interval < rounds) {
            let found = format!("shuffles {} apart", interval.unwrap_or_default());
            let key = if values.has("interval") { "interval" } else { "load.fraction" };
            return Err(vec![make_fault(
                key,
                found,
                format!("at least {rounds}, the time of all rounds of a shuffle"),
            )]);
        }
        let count = match (interval, values.has("repeat")) {
            (None, _) => 1,
            (_, true) => values.count("repeat"),
            _ => u64::MAX,
        };
        let interval = interval.unwrap_or(Dur(1));
        let (hosts, sizes) = (hosts.into(), Arc::new(sizes));
        Ok(AllToAll { hosts, sizes, gap, interval, count, start, stop, offered })
    }

    pub fn offered_load(&self) -> Option<OfferedLoad> {
        self.offered
    }

    /// Returns the time from one shuffle to the next, if a load sets it.
    pub fn shuffle_interval(&self) -> Option<Dur> {
        self.offered.map(|_| self.interval)
    }

    /// Returns the number of flows that start before an instant.
    pub fn flows_before(&self, end: Time) -> f64 {
        let span = self.stop.min(end).since(self.start).0 as f64;
        let shuffles = (span / self.interval.0 as f64).ceil().min(self.count as f64);
        let hosts = self.hosts.len() as f64;
        shuffles * hosts * (hosts - 1.0)
    }

    /// Returns the number of flows in a round of a shuffle, and their mean size in bytes.
    pub fn flows_per_round(&self) -> (f64, f64) {
        (self.query_rounds().flows as f64, self.sizes.mean_bytes())
    }

    /// Returns the times and sizes of the rounds of all shuffles; flows that start together are one round.
    pub fn query_rounds(&self) -> QueryRounds {
        let others = self.hosts.len() as u64 - 1;
        let (gap, rounds) = self.gap.map_or((Dur(0), 1), |gap| (gap, others));
        let flows = self.hosts.len() as u64 * if self.gap.is_some() { 1 } else { others };
        QueryRounds { start: self.start, interval: self.interval, gap, rounds, flows, stop: self.stop }
    }

    pub fn shuffle_rounds(&self, draws: Stream) -> ShuffleRounds {
        ShuffleRounds { begun: self.start, shuffle: self.clone(), draws, query: 0, round: 1 }
    }
}

fn read_gap(values: &Values, faults: &mut Vec<Fault>) -> Option<Dur> {
    match (values.get("order"), values.has("gap")) {
        (RoundOrder::Shifted, true) => Some(values.time("gap")),
        (RoundOrder::Shifted, false) => {
            faults.push(make_fault("gap", "nothing", "the time between rounds, which order = \"shifted\" needs"));
            None
        }
        (RoundOrder::AtOnce, true) => {
            let found = values.time("gap").to_string();
            faults.push(make_fault("gap", found, "no value unless `order` is `shifted`"));
            None
        }
        (RoundOrder::AtOnce, false) => None,
    }
}

/// Returns the time from one shuffle to the next, if there are several, and the resulting load.
fn compute_interval(
    values: &Values,
    ctx: &Context,
    sizes: &Sizes,
    hosts: usize,
) -> Result<(Option<Dur>, Option<OfferedLoad>), Vec<Fault>> {
    let bits = (hosts * (hosts - 1)) as f64 * sizes.mean_bytes() * 8.0;
    if values.has("load.fraction") {
        if values.has("interval") {
            let found = values.time("interval").to_string();
            return Err(vec![make_fault("interval", found, "no value if `load.fraction` is given")]);
        }
        if hosts < ctx.topology.hosts as usize && values.get::<LoadOf>("load.of") != LoadOf::Host {
            let found = format!("`{}` for a shuffle of only some hosts", values.word("load.of"));
            return Err(vec![make_fault(
                "load.of",
                found,
                "`host`, or a shuffle of all hosts (without the key `hosts`)",
            )]);
        }
        let offered = requested_load(values, ctx, &[sizes])?;
        let interval = bits * 1e12 / offered.payload_bps;
        if !(1.0..=8.64e17).contains(&interval) {
            let found = format!("a shuffle every {:e} s", interval / 1e12);
            return Err(vec![make_fault(
                "load.fraction",
                found,
                "between 1ps and 10 days from one shuffle to the next",
            )]);
        }
        return Ok((Some(Dur((interval + 0.5) as u64)), Some(offered)));
    }
    let faults = unused_load_faults(values, "`load.fraction` is not given");
    if !faults.is_empty() {
        return Err(faults);
    }
    if !values.has("interval") {
        let many = values.has("repeat") && values.count("repeat") > 1;
        let found = || values.count("repeat").to_string();
        let wrong = || vec![make_fault("repeat", found(), "`repeat` above 1 only together with `interval` or `load`")];
        return if many { Err(wrong()) } else { Ok((None, None)) };
    }
    let interval = values.time("interval");
    let (bps, all) = (bits * 1e12 / interval.0 as f64, capacity(ctx.topology, LoadOf::Host));
    let (of, bytes) = (LoadOf::Host, LoadBytes::Payload);
    let offered = OfferedLoad { fraction: bps / all, of, bytes, bps, payload_bps: bps };
    let repeats = !(values.has("repeat") && values.count("repeat") == 1);
    Ok((Some(interval), (repeats && bps.is_finite()).then_some(offered)))
}

/// Iterator over the rounds of a workload's shuffles.
#[derive(Clone, Debug)]
pub(super) struct ShuffleRounds {
    shuffle: AllToAll,
    draws: Stream,
    query: u32,
    /// Start of the current shuffle.
    begun: Time,
    /// Number of the shuffle's next round, from 1.
    round: usize,
}

impl ShuffleRounds {
    pub fn next_start(&self) -> Time {
        let after = self.shuffle.gap.map_or(0, |gap| gap.0.saturating_mul(self.round as u64 - 1));
        let next = self.begun.saturating_add(Dur(after));
        let over = u64::from(self.query) >= self.shuffle.count || self.query == u32::MAX;
        if over || next >= self.shuffle.stop { Time::NEVER } else { next }
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let n = self.shuffle.hosts.len();
        for from in 0..n {
            let to = match self.shuffle.gap {
                Some(_) => from + self.round..from + self.round + 1,
                None => 0..n,
            };
            for to in to.map(|to| to % n).filter(|to| *to != from) {
                let bytes = self.shuffle.sizes.quantile(self.draws.uniform());
                out.push(FlowDraft::on_own_connection(
                    self.shuffle.hosts[from],
                    self.shuffle.hosts[to],
                    bytes,
                    self.query,
                ));
            }
        }
        self.round += 1;
        if self.shuffle.gap.is_none() || self.round == n {
            (self.round, self.query) = (1, self.query + 1);
            self.begun = self.begun.saturating_add(self.shuffle.interval);
        }
    }
}
