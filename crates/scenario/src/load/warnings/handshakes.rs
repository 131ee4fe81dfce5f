//! Warning about a first RTT sample that no path of the network can produce.

use super::WarningContext;
use crate::topology::Topology;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Dur;

impl WarningContext<'_> {
    /// Warning about a handshake sample below half of a round trip without queues. A loss probe comes after two round
    /// trips, so with this sample it is sent before the first ACK can arrive.
    pub(super) fn warn_handshake_sample(&self) -> Option<String> {
        let (sample, given) = self.scenario.transport_table()?.min_handshake_sample()?;
        let net = &self.scenario.topology;
        let (a, b, one_way) = find_distant_hosts(net)?;
        let round_trip = one_way.saturating_add(one_way);
        (sample.saturating_add(sample) < round_trip).then(|| {
            let (a, b) = (&net.nodes[a as usize].name, &net.nodes[b as usize].name);
            format!(
                "transport.handshake_rtt = {given} is less than half of the round-trip time from {a} to {b}, \
                 {round_trip} without queues. Flows on this path send their first probes and timeouts too early. Set \
                 handshake_rtt to at least {round_trip}, or connection = \"handshake\" to measure the round-trip time"
            )
        })
    }
}

/// Returns two hosts that are far apart, and the propagation delay between them. In trees they are the farthest apart.
fn find_distant_hosts(net: &Topology) -> Option<(u32, u32, Dur)> {
    let far = |from: u32| {
        let times = propagation_delays_from(net, from);
        let hosts = (0..net.hosts).filter(|host| *host != from && times[*host as usize] < Dur::MAX);
        hosts.max_by_key(|host| (times[*host as usize], Reverse(*host))).map(|host| (host, times[host as usize]))
    };
    let (a, _) = far(0)?;
    let (b, time) = far(a)?;
    Some((a.min(b), a.max(b), time))
}

/// Returns the least propagation delay from a host to each node.
fn propagation_delays_from(net: &Topology, from: u32) -> Vec<Dur> {
    let mut times = vec![Dur::MAX; net.nodes.len()];
    let mut next = BinaryHeap::from([Reverse((Dur::ZERO, from))]);
    times[from as usize] = Dur::ZERO;
    while let Some(Reverse((time, node))) = next.pop() {
        if time > times[node as usize] {
            continue;
        }
        for port in &net.nodes[node as usize].ports {
            let there = time.saturating_add(port.delay);
            if there < times[port.peer as usize] {
                times[port.peer as usize] = there;
                next.push(Reverse((there, port.peer)));
            }
        }
    }
    times
}
