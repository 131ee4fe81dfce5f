//! What all kinds of traffic share: parameters, faults, hosts, the streams of an entry.

use super::Context;
use crate::fault::Fault;
use mech::HostId;
use mech::params::{Kind, Param, Values};
use units::{Dur, Time};

pub(super) const CLASS: Param = Param {
    name: "class",
    doc: "Traffic class of the packets, and so of their queues.",
    kind: Kind::Count { min: 0, max: 7 },
    default: Some("0"),
};
pub(super) const JITTER: Param = Param {
    name: "jitter",
    doc: "Every flow starts later by a draw, uniform from 0 up to this.",
    kind: Kind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const START: Param =
    Param { name: "start", doc: "When it begins.", kind: Kind::Time { min: 0 }, default: Some("0s") };
pub(super) const STOP: Param = Param {
    name: "stop",
    doc: "Nothing starts from here on; where not given, load goes on to the end of the run, drain included.",
    kind: Kind::Time { min: 0 },
    default: Some("never"),
};

/// Nodes of an entry's streams that belong to no host.
pub(super) const QUERY_TIMES: u32 = u32::MAX;
pub(super) const QUERY_HOSTS: u32 = u32::MAX - 1;
pub(super) const DERANGEMENT: u32 = u32::MAX - 2;
/// Set in the node of the stream that jitter is drawn from, so that jitter moves no other draw.
pub(super) const SHAKEN: u32 = 1 << 30;

pub(super) fn fault(field: &str, found: impl Into<String>, rule: impl Into<String>) -> Fault {
    Fault { field: field.into(), found: found.into(), rule: rule.into() }
}

/// The span of an entry: from `start` up to `stop`, or on and on: load goes on while flows that count
/// are unfinished.
pub(super) fn window(values: &Values, ctx: &Context, faults: &mut Vec<Fault>) -> (Time, Time) {
    let (start, end) = (values.time("start"), ctx.duration);
    if start >= end {
        faults.push(fault("start", start.to_string(), format!("before the duration, {end}")));
    }
    let stop = if values.has("stop") { values.time("stop") } else { Dur::MAX };
    if stop <= start {
        faults.push(fault("stop", stop.to_string(), format!("after `start`, {start}")));
    }
    (Time(start.0), Time(stop.0))
}

/// Most flows that may wait for their jitter at a time: about half a gigabyte.
const MOST_SHAKEN: f64 = 1e7;

/// Jitter holds all flows in its length of time in memory, `flows` every `gap` picoseconds.
pub(super) fn check_jitter(values: &Values, flows: f64, gap: f64) -> Option<Fault> {
    let jitter = values.time("jitter");
    let shaken = flows * (jitter.0 as f64 / gap);
    let found = || format!("{jitter}, in which {shaken:.0} flows start");
    (shaken > MOST_SHAKEN).then(|| fault("jitter", found(), "a length of time in which at most ten million do"))
}

/// The host of a name.
pub(super) fn host(ctx: &Context, field: &str, name: &str) -> Result<HostId, Fault> {
    let net = ctx.topology;
    let rule =
        || format!("the name of a host, `{}` to `{}`", net.nodes[0].name, net.nodes[net.hosts as usize - 1].name);
    net.host(name).ok_or_else(|| fault(field, format!("`{name}`"), rule()))
}

/// Picoseconds drawn as a floating point number, to the nearest whole one.
pub(super) fn rounded(ps: f64) -> Dur {
    Dur((ps + 0.5) as u64)
}
