//! Packets without a transport, which are neither acknowledged nor retransmitted.

use super::common::{CLASS, JITTER, START, STOP, find_host, make_fault, read_window};
use super::{Context, Traffic};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{HostId, Stream, StreamPurpose};
use std::collections::{BTreeMap, BTreeSet};
use units::{Dur, Rate, Time};

/// Largest payload in bytes, that of a jumbo frame.
const MAX_PAYLOAD_BYTES: u64 = 9000;

/// Largest number of unknown hosts in a list that are reported.
const MAX_REPORTED_UNKNOWN: usize = 100;

pub(super) const SOURCE: Param = Param {
    name: "source",
    doc: "Host that sends; set either this or `sources`.",
    kind: ParamKind::Text,
    default: Some(""),
};
pub(super) const SOURCES: Param = Param {
    name: "sources",
    doc: "Hosts that send. All start at the same instant unless `jitter` is set.",
    kind: ParamKind::Texts,
    default: Some(""),
};
pub(super) const DESTINATION: Param = Param {
    name: "destination",
    doc: "Host that receives from all sources; set either this or `destinations`.",
    kind: ParamKind::Text,
    default: Some(""),
};
pub(super) const DESTINATIONS: Param = Param {
    name: "destinations",
    doc: "Hosts that receive, one for each of `sources` in order.",
    kind: ParamKind::Texts,
    default: Some(""),
};
const PAYLOAD: Param = Param {
    name: "payload",
    doc: "Payload bytes of each packet.",
    kind: ParamKind::Size { min: 1 },
    default: Some("1460B"),
};

const BACKLOG: Param = Param {
    name: "backlog",
    doc: "Backlog of a source at its NIC, in bytes, from which on the source makes no packets. These packets are not \
          made later either. By default, all packets are queued and sent later. Needs `host.nic = round_robin`, which \
          has a queue for each source.",
    kind: ParamKind::Size { min: 1 },
    default: Some(""),
};

/// Largest number of flows of a workload, which then takes some gigabytes of memory.
const MAX_FLOWS: usize = 1_000_000;

const FLOWS: Param = Param {
    name: "flows",
    doc: "Number of flows of each source to its destination, each at the full rate.",
    kind: ParamKind::Count { min: 1, max: MAX_FLOWS as u64 },
    default: Some("1"),
};

const ECN: Param = Param {
    name: "ecn",
    doc: "Makes packets ECN-capable, ECT(0), so that `marking` may mark them (RFC 3168 §5).",
    kind: ParamKind::Flag,
    default: Some("false"),
};

pub(super) const CONSTANT: Spec = Spec {
    slot: "traffic",
    kind: "constant",
    doc: "Packets at a constant mean rate, at even or random intervals, without a transport.",
    cite: "QCN-OS §IV",
    params: &[
        SOURCE,
        SOURCES,
        DESTINATION,
        DESTINATIONS,
        Param {
            name: "rate",
            doc: "Rate of each flow; set either this or `load`.",
            kind: ParamKind::Rate,
            default: Some(""),
        },
        Param {
            name: "load.fraction",
            doc: "Rate of each flow, as a fraction of the rate of its source's own link.",
            kind: ParamKind::Number { min: 1e-9, max: 10.0, below_max: false },
            default: Some(""),
        },
        Param {
            name: "bytes",
            doc: "Bytes that the rate counts: frames with preamble and gap, or payload.",
            kind: RateBytes::KIND,
            default: Some("wire"),
        },
        Param {
            name: "gaps",
            doc: "Times between packets: all equal, or exponential with the same mean. Exponential times, of which the \
                  first one precedes the first packet, give Poisson arrivals.",
            kind: PacketGaps::KIND,
            default: Some("even"),
        },
        FLOWS,
        BACKLOG,
        ECN,
        PAYLOAD,
        START,
        STOP,
        JITTER,
        CLASS,
    ],
};

choice! {
    /// Bytes that count in a rate: payload, or whole frames on the wire.
    enum RateBytes {
        Wire = "wire",
        Payload = "payload",
    }
}

choice! {
    /// Distribution of the times between packets.
    enum PacketGaps {
        Even = "even",
        Exponential = "exponential",
    }
}

pub(super) const BURSTS: Spec = Spec {
    slot: "traffic",
    kind: "bursts",
    doc: "Bursts of packets with pauses between them, without a transport.",
    cite: "PABO §V-A",
    params: &[
        SOURCE,
        SOURCES,
        DESTINATION,
        DESTINATIONS,
        Param {
            name: "packets",
            doc: "Number of packets in a burst.",
            kind: ParamKind::Count { min: 1, max: 1_000_000_000 },
            default: None,
        },
        Param {
            name: "interval",
            doc: "Time from one packet to the next; required if a burst has more than one.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
        Param {
            name: "pause",
            doc: "Time from the last packet of a burst to the first packet of the next burst.",
            kind: ParamKind::Time { min: 1 },
            default: None,
        },
        PAYLOAD,
        START,
        STOP,
        JITTER,
        CLASS,
    ],
};

/// Source of raw packets at one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSource {
    /// Host that sends.
    pub src: HostId,
    /// Host that receives.
    pub dst: HostId,
    /// Payload of each packet in bytes.
    pub payload: u16,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// Number of packets in a burst; 0 for a burst without end.
    pub packets_per_burst: u64,
    /// Time from one packet to the next; the mean if gaps are exponential.
    pub interval: Dur,
    /// True if gaps are exponential.
    pub exponential: bool,
    /// Index of the source in its workload.
    pub index: u32,
    /// Time from the last packet of a burst to the first of the next.
    pub pause: Dur,
    /// Time of the first packet.
    pub start: Time,
    /// Instant from which no packet is sent.
    pub stop: Time,
    /// Limit of this source's backlog at its NIC, in bytes, from which on the source makes no packet; `None` for no
    /// limit.
    pub backlog: Option<u64>,
    /// True if packets are ECN-capable.
    pub ecn: bool,
    /// Index of the workload in `[[traffic]]`.
    pub traffic: u16,
}

/// Parameters of a raw workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawWorkload {
    /// Source and destination of each flow.
    pairs: Vec<(HostId, HostId)>,
    payload: u16,
    packets: u64,
    /// Time from one packet to the next, for each flow.
    intervals: Vec<Dur>,
    exponential: bool,
    pause: Dur,
    start: Time,
    stop: Time,
    backlog: Option<u64>,
    ecn: bool,
}

impl RawWorkload {
    pub fn build(kind: &str, values: &Values, ctx: &Context) -> Result<RawWorkload, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = read_window(values, ctx, &mut faults);
        let mut pairs = read_pairs(values, ctx, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        if kind == "constant" {
            let flows = values.count("flows") as usize;
            let all = pairs.len() * flows;
            if all > MAX_FLOWS {
                let rule = format!("at most {MAX_FLOWS} flows in all");
                return Err(vec![make_fault("flows", format!("{flows} flows for each source, {all} in all"), rule)]);
            }
            pairs = pairs.into_iter().flat_map(|pair| std::iter::repeat_n(pair, flows)).collect();
        }
        let payload = values.size("payload");
        if payload > MAX_PAYLOAD_BYTES {
            let rule = format!("at most {MAX_PAYLOAD_BYTES}B, a jumbo frame's payload");
            return Err(vec![make_fault("payload", format!("{payload}B"), rule)]);
        }
        let payload = payload as u16;
        let (packets, intervals, pause) = match kind {
            "constant" => {
                let frame = match values.get("bytes") {
                    RateBytes::Wire => ctx.framing.wire_size(ctx.framing.frame_size(payload, 0)),
                    RateBytes::Payload => u64::from(payload),
                };
                let rates = read_flow_rates(values, ctx, &pairs)?;
                (0, rates.into_iter().map(|rate| rate.time(frame).max(Dur(1))).collect(), Dur::ZERO)
            }
            _ => (values.count("packets"), vec![read_interval(values, ctx)?; pairs.len()], values.time("pause")),
        };
        let exponential = kind == "constant" && values.get::<PacketGaps>("gaps") == PacketGaps::Exponential;
        let backlog = (kind == "constant" && values.has("backlog")).then(|| values.size("backlog"));
        let ecn = kind == "constant" && values.flag("ecn");
        Ok(RawWorkload { pairs, payload, packets, intervals, exponential, pause, start, stop, backlog, ecn })
    }

    /// Returns the payload of each packet in bytes.
    pub fn payload(&self) -> u16 {
        self.payload
    }

    /// Returns true if each source makes no packets while its backlog at the NIC has reached a limit.
    pub fn is_bounded(&self) -> bool {
        self.backlog.is_some()
    }

    /// Returns true if packets are ECN-capable, so that they may be marked.
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn
    }

    /// Returns the largest number of packets that all sources make within a length of time, with mean gaps.
    pub fn packets_within(&self, within: Dur) -> f64 {
        let within = within.min(self.stop.since(self.start)).0 as f64;
        let frame = f64::from(self.payload);
        let waiting = self.backlog.map_or(f64::INFINITY, |bytes| bytes as f64 / frame + 1.0);
        let of_source = |interval: &Dur| {
            let gap = interval.0.max(1) as f64;
            let steady = within / gap + 1.0;
            if self.packets == 0 {
                return steady.min(waiting);
            }
            let burst = self.packets as f64;
            let cycle = (burst - 1.0) * gap + self.pause.0.max(1) as f64;
            (within / cycle * burst + steady.min(burst)).min(waiting)
        };
        self.intervals.iter().map(of_source).sum()
    }

    pub fn raw_sources(&self, traffic: &Traffic, index: u16, seed: u64) -> Vec<RawSource> {
        let spec = |(i, (src, dst)): (usize, &(HostId, HostId))| {
            let mut shake = Stream::new(seed, i as u32, StreamPurpose::Raw(index));
            let late = if traffic.jitter == Dur::ZERO { 0 } else { shake.uniform_below(traffic.jitter.0) };
            RawSource {
                src: *src,
                dst: *dst,
                payload: self.payload,
                class: traffic.class,
                packets_per_burst: self.packets,
                interval: self.intervals[i],
                exponential: self.exponential,
                index: i as u32,
                pause: self.pause,
                start: self.start.saturating_add(Dur(late)),
                stop: self.stop,
                backlog: self.backlog,
                ecn: self.ecn,
                traffic: index,
            }
        };
        self.pairs.iter().enumerate().map(spec).collect()
    }
}

/// Reads the time between two packets of a burst.
fn read_interval(values: &Values, ctx: &Context) -> Result<Dur, Vec<Fault>> {
    let (single, given) = (values.count("packets") == 1, values.has("interval"));
    match (single, given) {
        (_, true) => {
            if single {
                let note = "`interval` has no effect with packets = 1, because `pause` is the time between packets";
                ctx.notes.borrow_mut().push(format!("traffic `{}`: {note}", values.word("name")));
            }
            Ok(values.time("interval"))
        }
        (true, false) => Ok(values.time("pause")),
        (false, false) => {
            Err(vec![make_fault("interval", "nothing", "the time from one packet of a burst to the next")])
        }
    }
}

/// Denominator of a load as a fraction of the rate of a link.
const RATE_DENOMINATOR: u64 = 1_000_000_000;

/// Returns the rate of each flow, from `rate` or from a load.
fn read_flow_rates(values: &Values, ctx: &Context, pairs: &[(HostId, HostId)]) -> Result<Vec<Rate>, Vec<Fault>> {
    match (values.has("rate"), values.has("load.fraction")) {
        (true, false) => Ok(vec![values.rate("rate"); pairs.len()]),
        (true, true) => Err(vec![make_fault("rate", values.rate("rate").to_string(), "no value if `load` is given")]),
        (false, false) => Err(vec![make_fault("rate", "neither `rate` nor `load.fraction`", "one of the two")]),
        (false, true) => {
            let fraction = values.number("load.fraction");
            let parts = ((fraction * RATE_DENOMINATOR as f64 + 0.5) as u64).max(1);
            let rule = "a fraction of the source's link rate that gives at least 1 bit/s";
            let wrong = || vec![make_fault("load.fraction", fraction.to_string(), rule)];
            let link = |src: &HostId| ctx.topology.nodes[src.0 as usize].ports[0].rate;
            let of = |(src, _): &(HostId, HostId)| link(src).divide(RATE_DENOMINATOR, parts).ok_or_else(wrong);
            pairs.iter().map(of).collect()
        }
    }
}

/// Reads the source and destination of each flow.
pub(super) fn read_pairs(values: &Values, ctx: &Context, faults: &mut Vec<Fault>) -> Vec<(HostId, HostId)> {
    let sources = read_hosts(HostKeys { single_key: "source", list_key: "sources" }, values, ctx, faults);
    let mut destinations =
        read_hosts(HostKeys { single_key: "destination", list_key: "destinations" }, values, ctx, faults);
    if !faults.is_empty() {
        return Vec::new();
    }
    if values.has("destination") {
        destinations = vec![destinations[0]; sources.len()];
    }
    if sources.len() != destinations.len() {
        let rule = format!("{}, as many hosts as in `sources`", sources.len());
        faults.push(make_fault("destinations", format!("{} hosts", destinations.len()), rule));
    }
    let pairs: Vec<_> = sources.into_iter().zip(destinations).collect();
    let mut seen = BTreeSet::new();
    if let Some((src, dst)) = pairs.iter().find(|pair| !seen.insert(**pair)) {
        let name = |host: &HostId| &ctx.topology.nodes[host.0 as usize].name;
        let found = format!("the pair `{}` to `{}` twice", name(src), name(dst));
        faults.push(make_fault("sources", found, "each pair of a source and a destination once"));
    }
    if let Some((host, _)) = pairs.iter().find(|(src, dst)| src == dst) {
        let name = &ctx.topology.nodes[host.0 as usize].name;
        let field = if values.has("destination") { "destination" } else { "destinations" };
        faults.push(make_fault(field, format!("`{name}` sends to itself"), "a host other than the source"));
    }
    pairs
}

/// Key for a single host, and key for a list of hosts, of which a workload sets one.
#[derive(Clone, Copy)]
struct HostKeys {
    single_key: &'static str,
    list_key: &'static str,
}

/// Reads the hosts that a workload names under the key for a single host or under that for a list.
fn read_hosts(
    HostKeys { single_key: one, list_key: many }: HostKeys,
    values: &Values,
    ctx: &Context,
    faults: &mut Vec<Fault>,
) -> Vec<HostId> {
    let names = match (values.has(one), values.has(many)) {
        (true, false) => vec![values.word(one).to_owned()],
        (false, true) => values.texts(many).to_vec(),
        (true, true) => {
            faults.push(make_fault(many, "a value", format!("no value if `{one}` is given")));
            return Vec::new();
        }
        (false, false) => {
            faults.push(make_fault(one, format!("neither `{one}` nor `{many}`"), "one of the two"));
            return Vec::new();
        }
    };
    let field = if values.has(one) { one } else { many };
    if names.is_empty() {
        faults.push(make_fault(field, "an empty list", "at least one host"));
    }
    let hosts = ctx.topology.nodes[..ctx.topology.hosts as usize].iter().enumerate();
    // A search of every name among all hosts would take time in proportion to the product of both numbers: too much for
    // a long list.
    let known: BTreeMap<&str, u32> = match names.len() {
        0..=8 => BTreeMap::new(),
        _ => hosts.map(|(at, node)| (node.name.as_str(), at as u32)).collect(),
    };
    let mut unknown = |name: &str| match faults.len() {
        0..MAX_REPORTED_UNKNOWN => find_host(ctx, field, name).map_err(|f| faults.push(f)).ok(),
        _ => None,
    };
    names.iter().filter_map(|name| known.get(name.as_str()).map(|at| HostId(*at)).or_else(|| unknown(name))).collect()
}
