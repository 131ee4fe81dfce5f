//! Counts of every port, and bits that links carried inside the measurement window.

use super::{Column, Table, make_column, named_columns};
use crate::recorder::Recorder;
use crate::tap::Tap;
use crate::world::{Counters, World};
use dataplane::PortCounts;
use mech::overflow::DropReason;
use scenario::Scenario;
use scenario::traffic::{LoadOf, capacity};

/// Bits that the links of one level (hosts, uplinks or bisection) carried inside the measurement window: frames, with
/// preamble and gap, ACKs and retransmissions included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedBits {
    /// Level of the network, with the names that loads use.
    pub level: LoadOf,
    /// Number of bits in frames whose transmission started inside the window, out of all hosts or up from all switches
    /// with hosts. For `bisection`, bits of the frames that hosts of the second half received from hosts of the first:
    /// links inside a half carry traffic of that half too. The window ends with the run.
    pub bits: u64,
    /// Capacity of the level in bits per second: the capacity to which loads refer.
    pub capacity_bps: f64,
}

impl<T: Tap> World<Recorder, T> {
    /// Returns the bits that each level of the network (hosts, uplinks, bisection) carried inside the measurement
    /// window.
    pub(super) fn carried_bits(&mut self, scenario: &Scenario) -> Vec<CarriedBits> {
        let net = &scenario.topology;
        let before = self.counters_at_start();
        let after = self.counters_at_end();
        let bits = |frames: u64, bytes: u64| (bytes + frames * u64::from(scenario.framing.gap)) * 8;
        let (mut host, mut uplink, mut at) = (0, 0, 0);
        for (n, node) in net.nodes.iter().enumerate() {
            let is_host = n < net.hosts as usize;
            let is_tor = !is_host && node.ports.iter().any(|port| port.peer < net.hosts);
            for port in &node.ports {
                let since = |what: fn(&PortCounts) -> u64| {
                    what(&after.ports[at]) - before.as_ref().map_or(0, |before| what(&before.ports[at]))
                };
                let sent = bits(since(|c| c.sent), since(|c| c.sent_bytes));
                host += if is_host { sent } else { 0 };
                uplink += if is_tor && port.peer >= net.hosts { sent } else { 0 };
                at += 1;
            }
        }
        let crossed = self.state.observer.bisection;
        let level = |(of, bits)| CarriedBits { level: of, bits, capacity_bps: capacity(net, of) };
        let crossing = bits(crossed.frames, crossed.bytes);
        let all = [(LoadOf::Host, host), (LoadOf::TorUplink, uplink), (LoadOf::Bisection, crossing)].map(level);
        all.into_iter().filter(|level| level.capacity_bps > 0.0).collect()
    }

    pub(super) fn ports_table(&mut self, scenario: &Scenario) -> Table {
        let before = self.counters_at_start();
        let Counters { ports: counts, lost } = self.counters_at_end();
        let nodes = &scenario.topology.nodes;
        let place: Vec<(u32, u16)> = nodes
            .iter()
            .enumerate()
            .flat_map(|(n, node)| (0..node.ports.len()).map(move |p| (n as u32, p as u16)))
            .collect();
        let ids: Vec<usize> = (0..place.len()).collect();
        let port = |i: &usize| &nodes[place[*i].0 as usize].ports[usize::from(place[*i].1)];
        let waiting = |i: &usize| counts[*i].enqueued - counts[*i].sent - counts[*i].evicted;
        let since = |i: usize, what: fn(&PortCounts) -> u64| {
            what(&counts[i]) - before.as_ref().map_or(0, |before| what(&before.ports[i]))
        };
        let count = |what: fn(&PortCounts) -> u64| make_column(&ids, Column::U64, |i| since(*i, what));
        let mut columns = named_columns([
            ("node", make_column(&ids, Column::U32, |i| place[*i].0)),
            ("port", make_column(&ids, Column::U16, |i| place[*i].1)),
            ("peer", make_column(&ids, Column::U32, |i| port(i).peer)),
            ("rate_bps", make_column(&ids, Column::F64, |i| port(i).rate.as_f64())),
            ("enqueued", count(|c| c.enqueued)),
            ("enqueued_bytes", count(|c| c.enqueued_bytes)),
            ("sent", count(|c| c.sent)),
            ("sent_bytes", count(|c| c.sent_bytes)),
            ("queued", make_column(&ids, Column::U64, waiting)),
            ("marked", count(|c| c.marked)),
            ("detoured", count(|c| c.detoured)),
            ("bounced", count(|c| c.bounced)),
        ]);
        if scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().cut_memory.is_some()) {
            columns.extend(named_columns([
                ("trimmed", count(|c| c.trimmed)),
                ("trimmed_bytes", count(|c| c.trimmed_bytes)),
            ]));
        }
        if scenario.switches.iter().any(|switch| switch.overflow.slot.peek().needs().returns_to_source) {
            columns.push(("returned".into(), count(|c| c.returned)));
        }
        for (r, reason) in DropReason::ALL.into_iter().enumerate() {
            let sum = |ports: &[PortCounts], lost: &[[u64; DropReason::ALL.len()]], i: usize| {
                let (node, port) = place[i];
                ports[i].dropped[r] + if port == 0 { lost[node as usize][r] } else { 0 }
            };
            let base = |i: usize| before.as_ref().map_or(0, |before| sum(&before.ports, &before.lost, i));
            let here = |i: &usize| sum(&counts, &lost, *i) - base(*i);
            columns.push((format!("drop_{}", reason.name()), make_column(&ids, Column::U64, here)));
        }
        // The counters of largest values start again at the start of the window, and stop at its end. The largest value
        // since the start of the run is thus the larger one of the counters at both ends of the window.
        let earlier = |i: usize| before.as_ref().map_or((0, 0), |b| (b.ports[i].max_packets, b.ports[i].max_bytes));
        columns.extend(named_columns([
            ("max_packets", make_column(&ids, Column::U32, |i| counts[*i].max_packets.max(earlier(*i).0))),
            ("max_bytes", make_column(&ids, Column::U64, |i| counts[*i].max_bytes.max(earlier(*i).1))),
            ("max_bytes_in_window", make_column(&ids, Column::U64, |i| counts[*i].max_bytes)),
        ]));
        Table { name: "ports", columns }
    }
}
