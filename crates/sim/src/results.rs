//! What a run leaves: plain columns.

use crate::recorder::{Metric, Recorder};
use crate::world::{Progress, SenderCounts, Stop, World};
use dataplane::PortCounts;
use mech::Flags;
use mech::overflow::DropReason;
use mech::routing::Hop;
use scenario::Scenario;
use scenario::ideal::ideal_fct;
use units::{Dur, Rate, Time};

/// A column of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 8-bit numbers.
    U8(Vec<u8>),
    /// 16-bit numbers.
    U16(Vec<u16>),
    /// 32-bit numbers.
    U32(Vec<u32>),
    /// 64-bit numbers.
    U64(Vec<u64>),
    /// Floating point numbers: statistics, never time or size.
    F64(Vec<f64>),
}

/// Columns of equal length, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's name.
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<(String, Column)>,
}

/// Everything that a run leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The tables.
    pub tables: Vec<Table>,
    /// How the run went.
    pub progress: Progress,
    /// Whether every packet is accounted for.
    pub conserved: bool,
    /// Flows that count and have not finished.
    pub unfinished: u64,
    /// Flows that count.
    pub measured: u64,
    /// Raw flows: packets sent and forgotten.
    pub raw: u64,
}

fn column<T, C>(rows: &[T], make: fn(Vec<C>) -> Column, cell: impl Fn(&T) -> C) -> Column {
    make(rows.iter().map(cell).collect())
}

impl World<Recorder> {
    /// Closes the books of a run that has stopped (or is abandoned here), and reads them.
    pub fn results(&mut self, scenario: &Scenario) -> Results {
        let now = self.now;
        let conserved = self.conserves();
        self.board.probe.close(now);
        let flows = self.flows_table(scenario);
        let measured = self.board.records.iter().filter(|r| r.measured).count() as u64;
        Results {
            tables: vec![
                flows,
                self.ports_table(scenario),
                self.queue_histogram(),
                self.queue_trace(),
                self.activity(),
                self.packet_histogram(),
                self.packets(),
            ],
            progress: self.progress(),
            conserved,
            unfinished: self.board.open,
            measured,
            raw: (0..self.flows.len()).filter(|i| self.flows.is_raw(mech::FlowId(*i as u32))).count() as u64,
        }
    }

    fn flows_table(&self, scenario: &Scenario) -> Table {
        let received = self.received_bytes();
        let mut stats: Vec<_> = self.board.records.iter().map(|r| r.sender).collect();
        for host in &self.hosts {
            host.unfinished().for_each(|(flow, sender)| stats[flow.0 as usize] = SenderCounts::from(&sender.stats()));
        }
        let ids: Vec<usize> = (0..self.board.records.len()).collect();
        let record = |i: &usize| &self.board.records[*i];
        let info = |i: &usize| self.flows.info(mech::FlowId(*i as u32));
        let raw = |i: &usize| self.flows.is_raw(mech::FlowId(*i as u32));
        let ideal = |i: &usize| if raw(i) { 0 } else { self.ideal(scenario, *i).0 };
        let columns = [
            ("flow", column(&ids, Column::U32, |i| *i as u32)),
            ("traffic", column(&ids, Column::U16, |i| record(i).traffic)),
            ("query", column(&ids, Column::U32, |i| record(i).query)),
            ("src", column(&ids, Column::U32, |i| info(i).src.0)),
            ("dst", column(&ids, Column::U32, |i| info(i).dst.0)),
            ("bytes", column(&ids, Column::U64, |i| info(i).bytes)),
            ("start_ps", column(&ids, Column::U64, |i| record(i).start.0)),
            ("end_ps", column(&ids, Column::U64, |i| record(i).end.0)),
            ("ideal_ps", column(&ids, Column::U64, ideal)),
            ("measured", column(&ids, Column::U8, |i| u8::from(record(i).measured))),
            ("raw", column(&ids, Column::U8, |i| u8::from(raw(i)))),
            ("retransmits", column(&ids, Column::U32, |i| stats[*i].retransmits)),
            ("fast_retransmits", column(&ids, Column::U32, |i| stats[*i].fast_retransmits)),
            ("timeouts", column(&ids, Column::U32, |i| stats[*i].timeouts)),
            ("marked_acks", column(&ids, Column::U32, |i| stats[*i].marked_acks)),
            ("received", column(&ids, Column::U64, |i| received[*i])),
        ];
        Table { name: "flows", columns: named(columns) }
    }

    fn received_bytes(&self) -> Vec<u64> {
        let done = |(i, _)| {
            let flow = mech::FlowId(i as u32);
            if self.flows.is_raw(flow) { self.flows.raw_received(flow) } else { self.flows.received_whole(flow) }
        };
        let mut received: Vec<u64> = self.board.records.iter().enumerate().map(done).collect();
        for host in &self.hosts {
            host.receiving().for_each(|(flow, receiver)| received[flow.0 as usize] = receiver.received());
        }
        received
    }

    /// The FCT of the same flow alone on its path, in closed form.
    fn ideal(&self, scenario: &Scenario, flow: usize) -> Dur {
        let info = self.flows.info(mech::FlowId(flow as u32));
        let hosts = self.hosts.len() as u32;
        let choose = |node: u32, hops: &[Hop]| self.switches[(node - hosts) as usize].table_choice(info.hash, hops);
        let path = self.net.0.path(info.src, info.dst, &choose);
        let link = |(node, port): &(u32, u16)| {
            let port = &scenario.topology.nodes[*node as usize].ports[usize::from(*port)];
            (port.rate, port.delay)
        };
        let links: Vec<(Rate, Dur)> = path.iter().map(link).collect();
        let shape = (self.tcp.mss(), self.tcp.options());
        ideal_fct(&links, &scenario.framing, shape.0, shape.1, info.bytes, scenario.host.stack_delay)
    }

    fn ports_table(&mut self, scenario: &Scenario) -> Table {
        let before = self.baseline.clone();
        let counts = self.port_counts(self.now);
        let nodes = &scenario.topology.nodes;
        let place: Vec<(u32, u16)> = nodes
            .iter()
            .enumerate()
            .flat_map(|(n, node)| (0..node.ports.len()).map(move |p| (n as u32, p as u16)))
            .collect();
        let ids: Vec<usize> = (0..place.len()).collect();
        let port = |i: &usize| &nodes[place[*i].0 as usize].ports[usize::from(place[*i].1)];
        let waiting: Vec<u64> = self
            .hosts
            .iter()
            .flat_map(|h| h.nic().ports())
            .chain(self.switches.iter().flat_map(|s| s.core().ports()))
            .map(|p| u64::from(p.waiting()))
            .collect();
        let since = |i: usize, what: fn(&PortCounts) -> u64| {
            what(&counts[i]) - before.as_ref().map_or(0, |before| what(&before[i]))
        };
        let count = |what: fn(&PortCounts) -> u64| column(&ids, Column::U64, |i| since(*i, what));
        let lost_here = self.lost_before_a_port();
        let mut columns = named([
            ("node", column(&ids, Column::U32, |i| place[*i].0)),
            ("port", column(&ids, Column::U16, |i| place[*i].1)),
            ("peer", column(&ids, Column::U32, |i| port(i).peer)),
            ("rate_bps", column(&ids, Column::F64, |i| port(i).rate.as_f64())),
            ("enqueued", count(|c| c.enqueued)),
            ("enqueued_bytes", count(|c| c.enqueued_bytes)),
            ("sent", count(|c| c.sent)),
            ("sent_bytes", count(|c| c.sent_bytes)),
            ("queued", column(&ids, Column::U64, |i| waiting[*i])),
            ("marked", count(|c| c.marked)),
            ("detoured", count(|c| c.detoured)),
            ("bounced", count(|c| c.bounced)),
        ]);
        for (r, reason) in DropReason::ALL.into_iter().enumerate() {
            let lost = |i: &usize| {
                let base = before.as_ref().map_or(0, |before| before[*i].dropped[r]);
                let of_node = if place[*i].1 == 0 { lost_here[place[*i].0 as usize][r] } else { 0 };
                counts[*i].dropped[r] - base + of_node
            };
            columns.push((format!("drop_{}", reason.name()), column(&ids, Column::U64, lost)));
        }
        columns.push(("max_packets".into(), column(&ids, Column::U32, |i| counts[*i].max_packets)));
        columns.push(("max_bytes".into(), column(&ids, Column::U64, |i| counts[*i].max_bytes)));
        Table { name: "ports", columns }
    }

    /// Packets lost before a port was chosen, by node and reason; they are shown at port 0.
    fn lost_before_a_port(&self) -> Vec<[u64; DropReason::ALL.len()]> {
        let host = |h: &dataplane::Host| {
            let mut lost = [0; DropReason::ALL.len()];
            lost[DropReason::NoRoute as usize] = h.strays();
            lost
        };
        self.hosts.iter().map(host).chain(self.switches.iter().map(|s| *s.lost())).collect()
    }

    /// Node and port of each followed queue.
    fn followed(&self) -> Vec<(u32, u16)> {
        let hosts = self.hosts.len() as u32;
        let of = |(s, switch): (usize, &dataplane::Switch)| {
            (0..switch.core().ports().len()).map(move |p| (hosts + s as u32, p as u16)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of).collect()
    }

    fn queue_histogram(&self) -> Table {
        let mut rows = Vec::new();
        for (queue, (node, port)) in self.board.probe.queues.iter().zip(self.followed()) {
            for length in 0..queue.time_at.len().max(queue.seen.len()) {
                let time = queue.time_at.get(length).copied().unwrap_or(0);
                let seen = queue.seen.get(length).copied().unwrap_or(0);
                if time > 0 || seen > 0 {
                    rows.push((node, port, length as u32, time, seen));
                }
            }
        }
        let columns = [
            ("node", column(&rows, Column::U32, |r| r.0)),
            ("port", column(&rows, Column::U16, |r| r.1)),
            ("packets", column(&rows, Column::U32, |r| r.2)),
            ("time_ps", column(&rows, Column::U64, |r| r.3)),
            ("arrivals", column(&rows, Column::U64, |r| r.4)),
        ];
        Table { name: "queue_hist", columns: named(columns) }
    }

    fn queue_trace(&self) -> Table {
        let width = self.board.probe.scope.bin.0 as f64;
        let mut rows = Vec::new();
        for (queue, (node, port)) in self.board.probe.queues.iter().zip(self.followed()) {
            rows.extend(queue.trace.iter().map(|t| (t.bin, node, port, t.max, t.area as f64 / width)));
        }
        let columns = [
            ("bin", column(&rows, Column::U32, |r| r.0)),
            ("node", column(&rows, Column::U32, |r| r.1)),
            ("port", column(&rows, Column::U16, |r| r.2)),
            ("max_packets", column(&rows, Column::U32, |r| r.3)),
            ("mean_packets", column(&rows, Column::F64, |r| r.4)),
        ];
        Table { name: "queue_trace", columns: named(columns) }
    }

    fn activity(&self) -> Table {
        let mut rows = Vec::new();
        for (node, bins) in self.board.probe.activity.iter().enumerate() {
            for (bin, counts) in bins.iter().enumerate() {
                let some = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                rows.extend(some.map(|(kind, count)| (bin as u32, node as u32, kind as u8, *count)));
            }
        }
        let columns = [
            ("bin", column(&rows, Column::U32, |r| r.0)),
            ("node", column(&rows, Column::U32, |r| r.1)),
            ("kind", column(&rows, Column::U8, |r| r.2)),
            ("count", column(&rows, Column::U64, |r| r.3)),
        ];
        Table { name: "activity", columns: named(columns) }
    }

    fn packet_histogram(&self) -> Table {
        let mut rows = Vec::new();
        for metric in Metric::ALL {
            for data in 0..2 {
                let histogram = &self.board.probe.histograms[metric as usize][data];
                let mut sum = histogram.sum() as f64;
                for (low, high, count) in histogram.buckets() {
                    rows.push((data as u8, metric as u8, low, high, count, std::mem::take(&mut sum)));
                }
            }
        }
        let columns = [
            ("data", column(&rows, Column::U8, |r| r.0)),
            ("metric", column(&rows, Column::U8, |r| r.1)),
            ("low", column(&rows, Column::U64, |r| r.2)),
            ("high", column(&rows, Column::U64, |r| r.3)),
            ("count", column(&rows, Column::U64, |r| r.4)),
            ("sum", column(&rows, Column::F64, |r| r.5)),
        ];
        Table { name: "packet_hist", columns: named(columns) }
    }

    fn packets(&self) -> Table {
        let rows = &self.board.probe.packets;
        let columns = [
            ("flow", column(rows, Column::U32, |p| p.pkt.head.flow.0)),
            ("reverse", column(rows, Column::U8, |p| u8::from(p.pkt.head.flags.has(Flags::REVERSE)))),
            ("emission", column(rows, Column::U32, |p| p.pkt.emission)),
            ("sent_ps", column(rows, Column::U64, |p| p.pkt.sent.0)),
            ("end_ps", column(rows, Column::U64, |p| p.at.0)),
            ("hops", column(rows, Column::U16, |p| p.pkt.head.hops)),
            ("detours", column(rows, Column::U8, |p| p.pkt.head.detours)),
            ("bounces", column(rows, Column::U8, |p| p.pkt.head.bounces)),
            ("node", column(rows, Column::U32, |p| p.node)),
            ("fate", column(rows, Column::U8, |p| p.fate)),
        ];
        Table { name: "packets", columns: named(columns) }
    }
}

fn named<const N: usize>(columns: [(&str, Column); N]) -> Vec<(String, Column)> {
    columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect()
}

impl Results {
    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
    /// Whether the run was cut short by its bound on events.
    pub fn is_partial(&self) -> bool {
        self.progress.stop == Some(Stop::MaxEvents)
    }
    /// Simulated time at the end.
    pub fn end(&self) -> Time {
        self.progress.now
    }
}
