//! Warnings about marking thresholds, buffers and timeouts that do not fit the network's rates and round-trip time.
//!
//! A threshold below the guideline always gets a warning. Buffers and timeouts get one only if the file sets none: what
//! a user writes is intended.

use super::WarningContext;
use crate::topology::Topology;
use std::collections::VecDeque;
use units::{Amount, Bytes, Dur, Rate};

/// Ratio of minimum RTO to round-trip time from which one timeout lasts longer than nearly every flow. In that time ten
/// thousand windows could be sent.
const MAX_RTO_TO_RTT_RATIO: u64 = 10_000;
/// Minimum RTO that is usual in data centers (Vasudevan et al., SIGCOMM 2009; DCTCP, SIGCOMM 2010). Values up to here
/// get no warning.
const DATA_CENTER_MIN_RTO: Dur = Dur::ms(10);
/// Rate above which the default buffer of a port, 100 packets, is shallow. At 10 Gb/s it holds 0.1 ms of traffic.
const SHALLOW_BUFFER_RATE: Rate = Rate::gbps(10);

/// Path between two hosts that are far apart.
struct LongPath {
    /// Time without queues of a full frame one way and of the smallest frame back: propagation and store-and-forward.
    rtt: Dur,
    /// Rate of the slowest link of the path.
    rate: Rate,
}

impl LongPath {
    /// Returns the bytes in flight that fill the path (C × RTT).
    fn bandwidth_delay_product(&self) -> u64 {
        u64::try_from(u128::from(self.rtt.0) * (self.rate.as_f64() / 8.0) as u128 / 1_000_000_000_000)
            .unwrap_or(u64::MAX)
    }
}

impl WarningContext<'_> {
    /// Warnings about thresholds, buffers and timeouts that do not fit the longest path of the network.
    pub(super) fn warn_defaults(&self) -> Vec<String> {
        let Some(far) = self.find_long_path() else { return Vec::new() };
        [self.warn_low_threshold(&far), self.warn_shallow_buffer(&far), self.warn_long_timeout(&far)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Warning about a marking threshold K below C × RTT / 7, with which DCTCP leaves links idle (Alizadeh et al.,
    /// SIGCOMM 2010 §3.4, eq. 13; "Analysis of DCTCP", SIGMETRICS 2011).
    fn warn_low_threshold(&self, far: &LongPath) -> Option<String> {
        let reacts = self.scenario.transport_table()?.any_config(dataplane::transport::TcpConfig::is_ecn_capable);
        if !reacts || self.scenario.has_rate_reaction() {
            return None;
        }
        let frame = u64::from(self.scenario.largest_frame());
        let bytes = |amount: &Amount| match amount {
            Amount::Packets(packets) => packets.saturating_mul(frame),
            Amount::Bytes(bytes) => *bytes,
        };
        let thresholds = self.ports().filter_map(|port| port.marking.slot.peek().fixed_thresholds()?.amount());
        let k = thresholds.min_by_key(bytes)?;
        let least = far.bandwidth_delay_product() / 7;
        let guide = format!(
            "C x RTT / 7 = {} ({} x {} / 7; DCTCP, SIGCOMM 2010)",
            Bytes(least),
            far.rate,
            format_micros(far.rtt)
        );
        if bytes(&k) < least {
            return Some(format!(
                "switch.marking: K = {k} is below {guide}, so that queues run empty and links are idle at times. Set \
                 `switch.marking.k` to {} or more",
                Amount::Packets(least.div_ceil(frame))
            ));
        }
        let is_default = !self.is_set("marking", "k") && far.rate >= SHALLOW_BUFFER_RATE;
        is_default.then(|| {
            format!(
                "switch.marking: the default K = {k} is the value of the DCTCP paper for 1 Gb/s; the paper uses 65pkt \
                 for 10 Gb/s. Set `switch.marking.k` to a value for {}",
                far.rate
            )
        })
    }

    /// Warning about a default buffer that is smaller than C × RTT or shallow at the rate of its port.
    fn warn_shallow_buffer(&self, far: &LongPath) -> Option<String> {
        if self.is_set("buffer", "size") || self.is_set("buffer", "kind") {
            return None;
        }
        let frame = u64::from(self.scenario.largest_frame());
        let size =
            self.scenario.switches.iter().find_map(|switch| switch.buffer.slot.peek().fixed_thresholds()?.amount())?;
        let bytes = match size {
            Amount::Packets(packets) => packets.saturating_mul(frame),
            Amount::Bytes(bytes) => bytes,
        };
        let why = match bytes < far.bandwidth_delay_product() {
            true => format!(
                "One flow overflows this buffer, since C x RTT = {} is more",
                Bytes(far.bandwidth_delay_product())
            ),
            false if far.rate > SHALLOW_BUFFER_RATE => "An incast of a few senders overflows this buffer".to_string(),
            false => return None,
        };
        Some(format!(
            "switch.buffer: the default size of {size} per port holds only {} of traffic at {}. {why}. Set \
             `switch.buffer.size`",
            format_micros(far.rate.time(bytes)),
            far.rate
        ))
    }

    /// Warning about a default minimum RTO far above the round-trip time, if frames may be lost.
    fn warn_long_timeout(&self, far: &LongPath) -> Option<String> {
        let of_hosts = self.document.get("override").map_or(&[][..], super::Node::items);
        let of_hosts = of_hosts.iter().filter_map(|over| over.get("transport")).any(|own| own.get("min_rto").is_some());
        if of_hosts || self.scenario.has_pauses() || !self.given_transport_keys(&["min_rto"]).is_empty() {
            return None;
        }
        let timed = self.scenario.transports_in_use().into_iter().filter(|one| one.values.has("min_rto"));
        let rto = timed.map(|one| one.values.time("min_rto")).max()?;
        let times = rto.0 / far.rtt.0.max(1);
        (times >= MAX_RTO_TO_RTT_RATIO && rto > DATA_CENTER_MIN_RTO).then(|| {
            format!(
                "transport.min_rto: the default {rto} is {times} times the round-trip time of {}. A flow with one \
                 timeout then takes much longer than other flows, and dominates high percentiles. Set \
                 `transport.min_rto`; {DATA_CENTER_MIN_RTO} is usual in data centers",
                format_micros(far.rtt)
            )
        })
    }

    /// Returns true if `[switch]` or an override sets this key of a slot, or names a mechanism for the slot in one
    /// word.
    fn is_set(&self, slot: &str, key: &str) -> bool {
        let sets =
            |switch: &super::Node| switch.get(slot).is_some_and(|one| one.get(key).is_some() || one.text().is_some());
        let overrides = self.document.get("override").map_or(&[][..], super::Node::items);
        self.document.get("switch").into_iter().chain(overrides.iter().filter_map(|over| over.get("switch"))).any(sets)
            || overrides.iter().any(sets)
    }

    /// Returns a path between two hosts that are far apart: from the host farthest from the first one to the host
    /// farthest from there. In trees, and in networks that look the same from every node, that is the longest path.
    fn find_long_path(&self) -> Option<LongPath> {
        let scenario = self.scenario;
        let net = &scenario.topology;
        let wire = |size: u16| scenario.framing.wire_size(size);
        let sizes = [wire(scenario.largest_frame()), wire(scenario.smallest_frame())];
        let (turn, _) = find_farthest_host(net, 0, sizes)?;
        let (_, mut far) = find_farthest_host(net, turn, sizes)?;
        far.rtt = far.rtt.saturating_add(Dur(scenario.host.stack_delay.0.saturating_mul(4)));
        Some(far)
    }
}

/// Formats a length of time in microseconds, to a tenth.
fn format_micros(time: Dur) -> String {
    format!("{:.1} us", time.0 as f64 / 1e6)
}

/// Returns the host farthest from another over a path of fewest links, with that path; the first of several.
fn find_farthest_host(net: &Topology, from: u32, [there, back]: [u64; 2]) -> Option<(u32, LongPath)> {
    let mut found: Vec<Option<(u64, Rate)>> = vec![None; net.nodes.len()];
    let mut waiting = VecDeque::from([from]);
    found[from as usize] = Some((0, net.nodes[from as usize].ports.first()?.rate));
    while let Some(node) = waiting.pop_front() {
        let (rtt, slowest) = found[node as usize]?;
        for port in &net.nodes[node as usize].ports {
            if found[port.peer as usize].is_some() {
                continue;
            }
            let reverse = &net.nodes[port.peer as usize].ports[usize::from(port.peer_port)];
            let link = [port.delay, port.rate.time(there), reverse.delay, reverse.rate.time(back)];
            let rtt = link.iter().fold(rtt, |sum, part| sum.saturating_add(part.0));
            let rate = if port.rate < slowest { port.rate } else { slowest };
            found[port.peer as usize] = Some((rtt, rate));
            waiting.push_back(port.peer);
        }
    }
    let others = (0..net.hosts).filter(|host| *host != from);
    let reached = others.filter_map(|host| found[host as usize].map(|(rtt, rate)| (rtt, host, rate)));
    let (rtt, host, rate) = reached.max_by_key(|(rtt, host, _)| (*rtt, u32::MAX - host))?;
    Some((host, LongPath { rtt: Dur(rtt), rate }))
}
