//! Offered load as a fraction of a capacity, in payload or wire bytes.

use super::common::make_fault;
use super::{Context, Sizes};
use crate::fault::Fault;
use crate::topology::Topology;
use mech::choice;
use mech::params::{Param, ParamKind, Values};
use std::cell::OnceCell;
use units::Bytes;

pub(super) const LOAD_FRACTION: Param = Param {
    name: "load.fraction",
    doc: "Load as a fraction of the capacity that `load.of` names.",
    kind: ParamKind::Number { min: 1e-9, max: 10.0, below_max: false },
    default: Some(""),
};
pub(super) const LOAD_OF: Param = Param {
    name: "load.of",
    doc: "Capacity, in one direction, that the load is a fraction of. `host`: all links of hosts. `tor_uplink`: all \
          uplinks of switches with hosts, for traffic that leaves a rack. `bisection`: the links between the two \
          halves of the hosts, for traffic that crosses them.",
    kind: LoadOf::KIND,
    default: Some("host"),
};
pub(super) const LOAD_BYTES: Param = Param {
    name: "load.bytes",
    doc: "Bytes that the load counts. `payload`: payload only. `wire`: frames with preamble and gap.",
    kind: LoadBytes::KIND,
    default: Some("payload"),
};
/// Segment size in bytes without `load.segment`, if the transport does not set it.
const DEFAULT_SEGMENT_BYTES: u64 = 1460;
pub(super) const LOAD_SEGMENT: Param = Param {
    name: "load.segment",
    doc: "Payload bytes of a full segment, for a load in wire bytes. By default `mss` of the workload's own transport \
          or of `roce`, else 1460 B.",
    kind: ParamKind::Size { min: 1 },
    default: Some(""),
};

choice! {
    /// Capacity that a load is a fraction of.
    pub enum LoadOf {
        /// Capacity of all host links together, one way.
        Host = "host",
        /// Capacity of all links from switches with hosts up to other switches, one way; counts traffic that leaves a
        /// rack.
        TorUplink = "tor_uplink",
        /// Capacity between the first and the second half of the hosts, one way; counts traffic that crosses.
        Bisection = "bisection",
    }
}

/// Capacity for each [`LoadOf`], and the traffic on its links if every host sends at the rate of its own link. Both are
/// computed once for all workloads, since a bisection is a maximum flow.
#[derive(Debug, Default)]
pub struct Capacities([OnceCell<(f64, f64)>; LoadOf::WORDS.len()]);

choice! {
    /// Bytes that count as load: payload, or whole frames on the wire.
    pub enum LoadBytes {
        /// Payload only.
        Payload = "payload",
        /// Frames with preamble and gap, without acknowledgements and retransmissions.
        Wire = "wire",
    }
}

/// Load that a scenario requests, or that results from its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfferedLoad {
    /// Fraction of the capacity, 0.6 for 60%.
    pub fraction: f64,
    /// Capacity that the load is a fraction of.
    pub of: LoadOf,
    /// Bytes that count as load: payload, or whole frames on the wire.
    pub bytes: LoadBytes,
    /// Offered rate of all hosts together in bits per second: of payload, or of whole frames if `bytes` is `Wire`.
    /// The achieved load is `fraction` times the delivered bits per second, counted in the same way, over this rate.
    pub bps: f64,
    /// Offered rate of all hosts together in payload bits per second.
    pub payload_bps: f64,
}

/// Returns the capacity, in bits per second, that a load is a fraction of; 0 if the network has none.
pub fn capacity(net: &Topology, of: LoadOf) -> f64 {
    let nodes = net.nodes.iter().enumerate();
    match of {
        LoadOf::Host => nodes.take(net.hosts as usize).map(|(_, host)| host.ports[0].rate.as_f64()).sum(),
        LoadOf::TorUplink => {
            let tors = net.switches().iter().filter(|node| node.ports.iter().any(|port| net.is_host(port.peer)));
            let up = tors.flat_map(|tor| tor.ports.iter().filter(|port| !net.is_host(port.peer)));
            up.map(|port| port.rate.as_f64()).sum()
        }
        LoadOf::Bisection => net.bisection_bandwidth(),
    }
}

/// Returns the share of all traffic that crosses the links of a capacity. Every host is assumed to send in proportion
/// to the rate of its link, to uniformly drawn other hosts.
fn crossing_share(net: &Topology, of: LoadOf) -> f64 {
    let n = net.hosts as usize;
    let mut in_rack = vec![0usize; net.nodes.len()];
    net.nodes[..n].iter().for_each(|host| in_rack[host.ports[0].peer as usize] += 1);
    let (mut sent, mut counted) = (0.0, 0.0);
    for (i, host) in net.nodes[..n].iter().enumerate() {
        let rate = host.ports[0].rate.as_f64();
        let far = match of {
            LoadOf::Host => n as f64 - 1.0,
            LoadOf::TorUplink => (n - in_rack[host.ports[0].peer as usize]) as f64,
            // The halves send equally to each other, and the capacity is that of one direction: half of the traffic.
            LoadOf::Bisection => (if i < n / 2 { n - n / 2 } else { n / 2 }) as f64 / 2.0,
        };
        sent += rate;
        counted += rate * far / (n as f64 - 1.0);
    }
    counted / sent
}

/// Returns the rate at which every host must send for this load of a capacity, as a fraction of its own link's rate.
/// Returns `None` if no traffic crosses the links of that capacity.
pub(super) fn host_fraction(net: &Topology, known: &Capacities, of: LoadOf, fraction: f64) -> Option<f64> {
    let compute = || (capacity(net, of), crossing_share(net, of) * capacity(net, LoadOf::Host));
    let (capacity, crossing) = *known.0[of as usize].get_or_init(compute);
    (capacity > 0.0 && crossing > 0.0).then(|| fraction * capacity / crossing)
}

/// Returns the load that the keys `load.*` of a workload request, for flows with one of each of these sizes between
/// uniformly drawn hosts. PRECONDITION: `load.fraction` is given.
pub(super) fn requested_load(values: &Values, ctx: &Context, sizes: &[&Sizes]) -> Result<OfferedLoad, Vec<Fault>> {
    let of: LoadOf = values.get("load.of");
    let fraction = values.number("load.fraction");
    let full = ctx.segments.map_or(DEFAULT_SEGMENT_BYTES, |of| u64::from(of.mss));
    let segment_bytes = if values.has("load.segment") { values.size("load.segment") } else { full };
    let options = ctx.segments.map_or(0, |of| of.options);
    let wire = |sizes: &&Sizes| sizes.mean_wire_bytes(&ctx.framing, segment_bytes, options);
    let payload: f64 = sizes.iter().map(|sizes| sizes.mean_bytes()).sum();
    let bytes = values.get("load.bytes");
    if bytes == LoadBytes::Payload {
        unused_segment_fault(values, "`load.bytes` is `payload`").map_or(Ok(()), |wrong| Err(vec![wrong]))?;
    }
    let mean = match bytes {
        LoadBytes::Wire => sizes.iter().map(wire).sum(),
        LoadBytes::Payload => payload,
    };
    if !mean.is_finite() {
        return Err(vec![make_fault(
            "load.fraction",
            "a distribution of sizes without a finite \
                                                mean",
            "a `shape` above 1, or a `max`",
        )]);
    }
    let share = host_fraction(ctx.topology, ctx.capacities, of, fraction).ok_or_else(|| {
        vec![make_fault(
            "load.of",
            format!("`{}`", of.word()),
            "a capacity that exists in this network and that the \
                                                           workload uses",
        )]
    })?;
    let bps = share * capacity(ctx.topology, LoadOf::Host);
    Ok(OfferedLoad { fraction, of, bytes, bps, payload_bps: bps * payload / mean })
}

/// Returns a fault for each key `load.*` that the scenario sets although there is no load, for the reason `why`.
pub(super) fn unused_load_faults(values: &Values, why: &str) -> Vec<Fault> {
    let plain = [("load.of", LoadOf::Host.word()), ("load.bytes", LoadBytes::Payload.word())];
    let told = plain.into_iter().filter(|(key, plain)| values.word(key) != *plain);
    let words = told.map(|(key, _)| make_fault(key, format!("`{}`", values.word(key)), format!("no value if {why}")));
    words.chain(unused_segment_fault(values, why)).collect()
}

/// Returns a fault if the scenario sets a segment size although no load in wire bytes needs it, for the reason `why`.
fn unused_segment_fault(values: &Values, why: &str) -> Option<Fault> {
    let segment = values.has("load.segment").then(|| Bytes(values.size("load.segment")))?;
    Some(make_fault("load.segment", segment.to_string(), format!("no value if {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::net;

    #[test]
    fn a_capacity_is_computed_once_for_all_loads_of_a_network() {
        let star = net("star", &[("n", "4"), ("link.rate", "1Gbps")]);
        let known = Capacities::default();
        let first = host_fraction(&star, &known, LoadOf::Bisection, 0.5);
        assert_eq!(known.0.each_ref().map(|one| one.get().is_some()), [false, false, true]);
        assert_eq!(host_fraction(&star, &known, LoadOf::Bisection, 0.5), first);
        let told = Capacities([OnceCell::new(), OnceCell::new(), OnceCell::from((8.0, 16.0))]);
        assert_eq!(host_fraction(&star, &told, LoadOf::Bisection, 0.5), Some(0.25), "and not from the network again");
    }
}
