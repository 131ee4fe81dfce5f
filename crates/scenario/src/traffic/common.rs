//! Code shared by all kinds of traffic: parameters, faults, hosts, random streams of a workload.

use super::Context;
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Values};
use mech::{HostId, Stream};
use std::collections::BTreeSet;
use units::{Dur, Time};

pub(super) const CLASS: Param = Param {
    name: "class",
    doc: "Traffic class of the packets and their queues.",
    kind: ParamKind::Count { min: 0, max: 7 },
    default: Some("0"),
};
pub(super) const JITTER: Param = Param {
    name: "jitter",
    doc: "Maximum of a random delay of the start of a flow, drawn uniformly between 0 and this value for each flow.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const START: Param =
    Param { name: "start", doc: "Start of the workload.", kind: ParamKind::Time { min: 0 }, default: Some("0s") };
pub(super) const STOP: Param = Param {
    name: "stop",
    doc: "End of the workload: no flow starts from this time on. By default, load continues to the end of the run, \
          including the drain.",
    kind: ParamKind::Time { min: 0 },
    default: Some("never"),
};

pub(super) const SERVICE: Param = Param {
    name: "service",
    doc: "Time from the last byte of a request to its response.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const SERVICE_JITTER: Param = Param {
    name: "service_jitter",
    doc: "Maximum of a random addition to `service`, drawn uniformly between 0 and this value for each response.",
    kind: ParamKind::Time { min: 0 },
    default: Some("0us"),
};

choice! {
    /// Connections that carry messages: persistent ones, or a new one for each.
    pub(super) enum ConnectionUse {
        Persistent = "persistent",
        New = "new",
    }
}

/// Service time from a request to its answer: a constant and a random addition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ServiceTime {
    constant: Dur,
    jitter: Dur,
}

impl ServiceTime {
    pub fn from_values(values: &Values) -> ServiceTime {
        ServiceTime { constant: values.time("service"), jitter: values.time("service_jitter") }
    }
    pub fn draw(self, stream: impl FnOnce() -> Stream) -> Dur {
        let jitter = if self.jitter == Dur::ZERO { 0 } else { stream().uniform_below(self.jitter.0) };
        self.constant.saturating_add(Dur(jitter))
    }
}

/// Numbers of random streams of a workload that belong to no host.
pub(super) const QUERY_TIME_STREAM: u32 = u32::MAX;
pub(super) const QUERY_HOST_STREAM: u32 = u32::MAX - 1;
pub(super) const DERANGEMENT_STREAM: u32 = u32::MAX - 2;
/// Bit in the number of a random stream for jitter, so that jitter changes no other draw.
pub(super) const JITTER_STREAM_FLAG: u32 = 1 << 30;

pub(super) fn make_fault(field: &str, found: impl Into<String>, rule: impl Into<String>) -> Fault {
    Fault { field: field.into(), found: found.into(), rule: rule.into() }
}

/// Returns the start and the stop of a workload. Without `stop` it has no end: load continues while measured flows are
/// unfinished.
pub(super) fn read_window(values: &Values, ctx: &Context, faults: &mut Vec<Fault>) -> (Time, Time) {
    let (start, end) = (values.time("start"), ctx.duration);
    if start >= end {
        faults.push(make_fault("start", start.to_string(), format!("before the duration, {end}")));
    }
    let stop = if values.has("stop") { values.time("stop") } else { Dur::MAX };
    if stop <= start {
        faults.push(make_fault("stop", stop.to_string(), format!("after `start`, {start}")));
    }
    (Time(start.0), Time(stop.0))
}

/// Warns that `stop` has no effect on a workload whose flows all start at `start`.
pub(super) fn note_idle_stop(is_idle: bool, name: &str, ctx: &Context) {
    if is_idle {
        let note = format!("traffic `{name}`: `stop` has no effect, because all flows start at `start`");
        ctx.notes.borrow_mut().push(note);
    }
}

/// Largest number of flows that may wait for their start jitter at one time; about half a gigabyte.
const MAX_JITTERED_FLOWS: f64 = 1e7;

/// Checks that jitter keeps few enough flows in memory, given `flows` every `gap` picoseconds. All flows that start
/// within the longest jitter are waiting at the same time.
pub(super) fn check_jitter(values: &Values, flows: f64, gap: f64) -> Option<Fault> {
    let jitter = values.time("jitter");
    let shaken = flows * (jitter.0 as f64 / gap);
    let found = || format!("{jitter}, in which {shaken:.0} flows start");
    (shaken > MAX_JITTERED_FLOWS)
        .then(|| make_fault("jitter", found(), "a time in which at most ten million flows start"))
}

/// Returns the host with this name.
pub(super) fn find_host(ctx: &Context, field: &str, name: &str) -> Result<HostId, Fault> {
    let net = ctx.topology;
    let rule =
        || format!("the name of a host, from `{}` to `{}`", net.nodes[0].name, net.nodes[net.hosts as usize - 1].name);
    net.find_host(name).ok_or_else(|| make_fault(field, format!("`{name}`"), rule()))
}

/// Largest number of unknown hosts of a list that are reported.
const MAX_REPORTED_UNKNOWN: usize = 10;

/// Returns the hosts of a list, by name or number; all hosts if the list is absent.
pub(super) fn read_hosts(ctx: &Context, field: &str, values: &Values) -> Result<Vec<HostId>, Vec<Fault>> {
    let all = ctx.topology.hosts;
    if !values.has(field) {
        return Ok((0..all).map(HostId).collect());
    }
    let names = values.texts(field);
    if names.is_empty() {
        return Err(vec![make_fault(field, "no hosts", "at least one host")]);
    }
    let find = |name: &str| {
        let number = || name.parse::<u32>().ok().filter(|host| *host < all).map(HostId);
        ctx.topology.find_host(name).or_else(number).ok_or_else(|| name.to_string())
    };
    let wrong: Vec<_> = names.iter().filter_map(|name| find(name).err()).take(MAX_REPORTED_UNKNOWN).collect();
    if wrong.is_empty() {
        return Ok(names.iter().filter_map(|name| find(name).ok()).collect());
    }
    let rule = format!("names of hosts, or numbers of hosts from 0 to {}", all - 1);
    Err(wrong.into_iter().map(|name| make_fault(field, format!("`{name}`"), rule.clone())).collect())
}

/// Returns the hosts of a list, in which none may be repeated.
pub(super) fn read_unrepeated_hosts(ctx: &Context, field: &str, values: &Values) -> Result<Vec<HostId>, Vec<Fault>> {
    let all = read_hosts(ctx, field, values)?;
    let mut seen = BTreeSet::new();
    match all.iter().find(|host| !seen.insert(**host)) {
        Some(HostId(twice)) => {
            let found = format!("the host `{}` twice", ctx.topology.nodes[*twice as usize].name);
            Err(vec![make_fault(field, found, "each host once")])
        }
        None => Ok(all),
    }
}

/// Returns the hosts of a list of at least two different ones.
pub(super) fn read_distinct_hosts(ctx: &Context, field: &str, values: &Values) -> Result<Vec<HostId>, Vec<Fault>> {
    let all = read_unrepeated_hosts(ctx, field, values)?;
    if all.len() < 2 {
        return Err(vec![make_fault(field, "one host", "at least two hosts")]);
    }
    Ok(all)
}

/// Shuffles a list.
pub(super) fn shuffle<T>(list: &mut [T], draws: &mut Stream) {
    for i in (1..list.len()).rev() {
        list.swap(i, draws.uniform_below(i as u64 + 1) as usize);
    }
}

/// Rounds a number of picoseconds to the nearest integer.
pub(super) fn round_to_ps(ps: f64) -> Dur {
    Dur((ps + 0.5) as u64)
}
