//! Merging of the recorders of all partitions of a divided run.

use super::distances::Distance;
use super::{Detour, Recorder};
use crate::divided_observer::{DividedObserver, PartitionOwners};
use dataplane::Pkt;

/// State that a recorder keeps of a packet in flight.
#[derive(Clone, Debug)]
pub struct PacketState {
    distance: Option<Distance>,
    detours: Option<Vec<Detour>>,
}

impl DividedObserver for Recorder {
    type PacketState = PacketState;

    fn prepare_partition(&mut self) {
        self.emitted = self.reordering.is_some().then(Vec::new);
    }
    fn take_emitted_packets(&mut self) -> Vec<Pkt> {
        self.emitted.as_mut().map(std::mem::take).unwrap_or_default()
    }
    fn detach_packet_state(&mut self, pkt: &Pkt) -> PacketState {
        let distance = if pkt.head.bounces > 0 { self.distances.detach_packet(pkt) } else { None };
        let steps = self.detour_steps.as_mut().filter(|_| pkt.head.detours > 0);
        PacketState { distance, detours: steps.and_then(|steps| steps.detach_packet(pkt)) }
    }
    fn attach_packet_state(&mut self, pkt: &Pkt, attached: PacketState) {
        if let Some(distance) = attached.distance {
            self.distances.attach_packet(pkt, distance);
        }
        if let Some((steps, detours)) = self.detour_steps.as_mut().zip(attached.detours) {
            steps.attach_packet(pkt, detours);
        }
    }
    fn merge(parts: Vec<Recorder>, owners: &PartitionOwners<'_>) -> Recorder {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().expect("there is at least one partition");
        parts.zip(1..).for_each(|(part, index)| whole.take_partition(part, index, owners));
        whole.renumber_flows(owners.flow_numbers);
        // After the merge, rows with an instant are in order within each partition only. An undivided run writes them
        // in order of time.
        whole.rows.sort_by_instant();
        whole
    }
}

impl Recorder {
    /// Merges the records of another partition into this recorder.
    fn take_partition(&mut self, mut part: Recorder, index: u32, owners: &PartitionOwners<'_>) {
        let hosts = self.scope.hosts as usize;
        let of_port = |port: usize| owners.ports[port] == index;
        let of_node = |node: usize| owners.nodes[node] == index;
        for at in (0..self.queues.len()).filter(|at| of_port(hosts + at)) {
            std::mem::swap(&mut self.queues[at], &mut part.queues[at]);
            self.computed_departures.take_queue(at, &mut part.computed_departures);
        }
        if let Some((mine, its)) = self.sub_queues.as_mut().zip(part.sub_queues.as_mut()) {
            mine.take_partition(its, |port| of_port(hosts + port));
        }
        self.goodput.take_partition(&part.goodput, of_node);
        if let Some((mine, its)) = self.links.as_mut().zip(part.links.as_ref()) {
            mine.add_all(its);
        }
        if let Some((mine, its)) = self.reordering.as_mut().zip(part.reordering.as_mut()) {
            mine.add_all(its);
        }
        if let Some((mine, its)) = self.pauses.as_mut().zip(part.pauses.as_ref()) {
            let all = (0..mine.records.len()).filter(|at| of_port(at / mine.classes));
            all.collect::<Vec<_>>().into_iter().for_each(|at| mine.records[at] = its.records[at]);
        }
        if let Some((mine, its)) = self.holds.as_mut().zip(part.holds.as_ref()) {
            let all = (0..mine.ports.len()).filter(|at| of_port(*at));
            all.collect::<Vec<_>>().into_iter().for_each(|at| mine.ports[at] = its.ports[at]);
        }
        if let Some((mine, its)) = self.notices.as_mut().zip(part.notices.as_ref()) {
            let all = (0..mine.ports.len()).filter(|at| of_port(*at));
            all.collect::<Vec<_>>().into_iter().for_each(|at| mine.ports[at] = its.ports[at]);
        }
        if let Some((mine, its)) = self.limits.as_mut().zip(part.limits.as_mut()) {
            mine.take_partition(its);
        }
        if let Some((mine, its)) = self.inputs.as_mut().zip(part.inputs.as_ref()) {
            mine.take_partition(its, of_port);
        }
        if let Some((mine, its)) = self.stages.as_mut().zip(part.stages.as_ref()) {
            mine.take_partition(its, of_node);
        }
        if let Some((mine, its)) = self.sent.as_mut().zip(part.sent.as_mut()) {
            mine.take_partition(its, of_node);
        }
        (0..self.activity.len()).filter(|at| of_node(*at)).for_each(|at| self.activity[at] = part.activity[at]);
        self.workloads.add_all(&part.workloads);
        self.data_drops.add_all(&part.data_drops);
        self.rows.append(&mut part.rows);
        self.bisection.frames += part.bisection.frames;
        self.bisection.bytes += part.bisection.bytes;
        self.received.resize(self.received.len().max(part.received.len()), 0);
        self.received.iter_mut().zip(&part.received).for_each(|(mine, its)| *mine += its);
    }

    /// Replaces the numbers of flows by those in the whole run.
    fn renumber_flows(&mut self, flow_numbers: &[u32]) {
        self.goodput.renumber_flows(flow_numbers);
        self.data_drops.renumber_flows(flow_numbers);
        self.rows
            .packets
            .iter_mut()
            .for_each(|row| row.flow = flow_numbers.get(row.flow as usize).copied().unwrap_or_default());
        self.rows.detour_steps.iter_mut().for_each(|row| row.id.flow = flow_numbers[row.id.flow as usize]);
        self.limits.iter_mut().for_each(|limits| limits.renumber_flows(flow_numbers));
        self.sent.iter_mut().for_each(|sent| sent.renumber_flows(flow_numbers));
        self.rows.notices.iter_mut().for_each(|row| row.flow = flow_numbers[row.flow as usize]);
        self.rows.limits.iter_mut().for_each(|row| row.flow = flow_numbers[row.flow as usize]);
        self.rows.sent.iter_mut().for_each(|row| row.flow = flow_numbers[row.flow as usize]);
        self.rows.flow_goodput.iter_mut().for_each(|row| row.owner = flow_numbers[row.owner as usize]);
    }
}
