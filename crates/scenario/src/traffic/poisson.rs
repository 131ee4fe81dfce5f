//! Poisson flows: exponential gaps at each host, sizes from a distribution.

use super::common::{CLASS, JITTER, START, STOP, check_jitter, make_fault, read_window, round_to_ps};
use super::draft::FlowDraft;
use super::load::{
    LOAD_BYTES, LOAD_FRACTION, LOAD_OF, LOAD_SEGMENT, LoadBytes, LoadOf, OfferedLoad, capacity, requested_load,
    unused_load_faults,
};
use super::{Context, SIZES, Sizes};
use crate::fault::Fault;
use crate::topology::{Node, Topology};
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "poisson",
    doc: "Poisson arrivals: every host starts flows with exponential gaps, to hosts drawn uniformly, with sizes drawn \
          from a distribution. Set either `load.fraction` or `interarrival`.",
    cite: "Alizadeh et al., \"pFabric\", SIGCOMM 2013 §5",
    params: &[
        Param {
            name: "sizes",
            doc: "Sizes of flows: one size, a file, a table with the `kind` of a distribution, or the name of one. A file \
                  has sizes and cumulative shares, 0 to 1 or 0 to 100. Names, with means: `web_search` (DCTCP, mean \
                  1.71 MB), `data_mining` (VL2, 12.7 MB), `hadoop` (Facebook, 120 KB), `imc10` (Benson et al., \
                  196 KB).",
            kind: ParamKind::Sizes(SIZES),
            default: None,
        },
        LOAD_FRACTION,
        LOAD_OF,
        LOAD_BYTES,
        LOAD_SEGMENT,
        Param {
            name: "interarrival",
            doc: "Mean time between the starts of successive flows of a host.",
            kind: ParamKind::Time { min: 1 },
            default: Some(""),
        },
        START,
        STOP,
        JITTER,
        CLASS,
    ],
};

/// Parameters of a Poisson workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Poisson {
    sizes: Arc<Sizes>,
    gap: MeanGap,
    offered: Option<OfferedLoad>,
    start: Time,
    stop: Time,
}

/// Mean time between the starts of flows at a host, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum MeanGap {
    /// Same mean gap at all hosts.
    Equal(f64),
    /// Mean gap of a host: this value over the rate of its link in bits per second.
    InverseToRate(f64),
}

impl Poisson {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Poisson, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, stop) = read_window(values, ctx, &mut faults);
        let sizes = Sizes::read_sizes("sizes", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        let pace = sizes.as_ref().map(|sizes| read_gaps(values, ctx, sizes));
        if sizes.is_none() {
            check_pace(values, &mut faults);
        }
        match (sizes, pace) {
            (Some(sizes), Some(Ok((gap, offered)))) if faults.is_empty() => {
                check_gaps(values, gap, ctx).map_or(Ok(()), |wrong| Err(vec![wrong]))?;
                let hosts = offered.map_or(0.0, |offered| offered.bps) / capacity(ctx.topology, LoadOf::Host);
                if hosts > 1.0 {
                    let note = format!(
                        "traffic `{name}` offers {:.0}% of the capacity of the host links, so that queues grow \
                                 for the whole run. Reduce the load",
                        hosts * 100.0
                    );
                    ctx.notes.borrow_mut().push(note);
                }
                Ok(Poisson { sizes: Arc::new(sizes), gap, offered, start, stop })
            }
            (_, Some(Err(more))) => Err([faults, more].concat()),
            _ => Err(faults),
        }
    }

    pub fn offered_load(&self) -> Option<OfferedLoad> {
        self.offered
    }

    /// Returns the average number of flows that start before the instant `end`.
    pub fn flows_before(&self, end: Time, net: &Topology) -> f64 {
        let span = self.stop.min(end).since(self.start).0 as f64;
        let gap = |host: &Node| match self.gap {
            MeanGap::Equal(gap) => gap,
            MeanGap::InverseToRate(bits) => bits / host.ports[0].rate.as_f64(),
        };
        net.nodes[..net.hosts as usize].iter().map(|host| span / gap(host)).sum()
    }

    /// Returns the average number of flows (at least 1) that start within a length of time, and their mean payload in
    /// bytes.
    pub fn flows_within(&self, within: Dur, net: &Topology) -> (f64, f64) {
        (self.flows_before(self.start.saturating_add(within), net).max(1.0), self.sizes.mean_bytes())
    }

    pub fn arrivals(&self, net: &Topology, host: HostId, draws: Stream) -> Arrivals {
        let mean_gap = match self.gap {
            MeanGap::Equal(gap) => gap,
            MeanGap::InverseToRate(bits) => bits / net.nodes[host.0 as usize].ports[0].rate.as_f64(),
        };
        let (sizes, next, stop) = (self.sizes.clone(), self.start, self.stop);
        let mut arrivals = Arrivals { host, hosts: net.hosts, sizes, mean_gap, draws, next, stop };
        arrivals.advance();
        arrivals
    }
}

/// Checks that either `load.fraction` or `interarrival` is set, and other `load.*` keys only with `load.fraction`.
fn check_pace(values: &Values, faults: &mut Vec<Fault>) {
    let (load, gap) = (values.has("load.fraction"), values.has("interarrival"));
    if load && gap {
        let found = values.time("interarrival").to_string();
        faults.push(make_fault("interarrival", found, "no value if `load.fraction` is given"));
    } else if !load && !gap {
        faults.push(make_fault("load.fraction", "neither `load.fraction` nor `interarrival`", "one of the two"));
    } else if gap {
        faults.extend(unused_load_faults(values, "`interarrival` is given"));
    }
}

/// Checks that gaps are at least a picosecond. They are drawn in whole picoseconds: much shorter ones would all be 0,
/// and time would not advance.
fn check_gaps(values: &Values, gap: MeanGap, ctx: &Context) -> Option<Fault> {
    let hosts = ctx.topology.nodes[..ctx.topology.hosts as usize].iter();
    let rates = hosts.map(|host| host.ports[0].rate.as_f64());
    let (shortest, per_ps) = match gap {
        MeanGap::Equal(gap) => (gap, f64::from(ctx.topology.hosts) / gap),
        MeanGap::InverseToRate(bits) => {
            rates.fold((f64::INFINITY, 0.0), |(s, n), rate| (s.min(bits / rate), n + rate / bits))
        }
    };
    if shortest < 1.0 {
        let found = "flows of a host less than 1ps apart on average";
        return Some(make_fault("load.fraction", found, "a load that leaves at least 1ps between them"));
    }
    check_jitter(values, 1.0, 1.0 / per_ps)
}

/// Returns the mean gap between the flows of a host, and the resulting load; `None` if the load is infinite.
fn read_gaps(values: &Values, ctx: &Context, sizes: &Sizes) -> Result<(MeanGap, Option<OfferedLoad>), Vec<Fault>> {
    let mut faults = Vec::new();
    check_pace(values, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let all_hosts = capacity(ctx.topology, LoadOf::Host);
    if values.has("interarrival") {
        let gap = values.time("interarrival").0 as f64;
        let bps = f64::from(ctx.topology.hosts) * sizes.mean_bytes() * 8.0 * 1e12 / gap;
        let (of, bytes) = (LoadOf::Host, LoadBytes::Payload);
        let offered = OfferedLoad { fraction: bps / all_hosts, of, bytes, bps, payload_bps: bps };
        return Ok((MeanGap::Equal(gap), bps.is_finite().then_some(offered)));
    }
    let offered = requested_load(values, ctx, &[sizes])?;
    // The payload load over the capacity of all host links is the fraction of its own link that each host fills. Wire
    // bytes would give the same gap, since the load and the mean size would grow by the same factor.
    let gap = MeanGap::InverseToRate(sizes.mean_bytes() * 8.0 * 1e12 / (offered.payload_bps / all_hosts));
    Ok((gap, Some(offered)))
}

/// Flows of one host. Each flow takes the same number of random draws, so that starts and sizes of a host do not depend
/// on the number of other hosts.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    host: HostId,
    hosts: u32,
    sizes: Arc<Sizes>,
    mean_gap: f64,
    draws: Stream,
    next: Time,
    stop: Time,
}

impl Arrivals {
    pub fn next_start(&self) -> Time {
        if self.next < self.stop { self.next } else { Time::NEVER }
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let bytes = self.sizes.quantile(self.draws.uniform());
        let place = ((u128::from(self.draws.u64()) * u128::from(self.hosts - 1)) >> 64) as u32;
        let dst = HostId(if place < self.host.0 { place } else { place + 1 });
        out.push(FlowDraft::on_own_connection(self.host, dst, bytes, u32::MAX));
        self.advance();
    }

    fn advance(&mut self) {
        self.next = self.next.saturating_add(round_to_ps(self.draws.exponential(self.mean_gap)));
    }
}
