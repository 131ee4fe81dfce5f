//! Outcomes of packets, by the workload of the scenario's traffic from which they come.

use super::{Histogram, PacketEvent, PacketMetric};
use dataplane::Pkt;
use mech::{Flags, FlowId};

/// Counts of the packets of one workload, separately for ACKs and data.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkloadCounts {
    /// Histograms of packet metrics, by [`PacketMetric`], then for ACKs and data. Distances are those of bounced
    /// packets.
    pub(crate) histograms: [[Histogram; 2]; PacketMetric::ALL.len()],
    /// Numbers of packet events, for ACKs and data, then by [`PacketEvent`].
    pub(crate) fates: [[u64; PacketEvent::COUNT]; 2],
}

impl WorkloadCounts {
    /// Adds a distance of 0 to the histogram for each packet that was not bounced, if any packet was.
    pub(crate) fn add_zero_distances(&mut self) {
        let [.., bounces, distances] = &mut self.histograms;
        for (bounces, distances) in bounces.iter().zip(distances) {
            if !distances.is_empty() {
                distances.set_zeros(bounces.zeros());
            }
        }
    }
}

/// Counts of packets in every workload, and the workload of every flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    /// Workload of each flow.
    workload_of_flow: Vec<u16>,
    /// Counts of the packets of each workload.
    pub(crate) counts: Vec<WorkloadCounts>,
}

fn data_index(pkt: &Pkt) -> usize {
    usize::from(pkt.head.flags.has(Flags::PAYLOAD))
}

impl Workloads {
    /// Adds the counts of another partition of the run.
    pub(crate) fn add_all(&mut self, other: &Workloads) {
        for (mine, its) in self.counts.iter_mut().zip(&other.counts) {
            let histograms = mine.histograms.iter_mut().flatten().zip(its.histograms.iter().flatten());
            histograms.for_each(|(mine, its)| mine.add_all(its));
            let fates = mine.fates.iter_mut().flatten().zip(its.fates.iter().flatten());
            fates.for_each(|(mine, its)| *mine += its);
        }
    }

    pub(crate) fn new(count: usize) -> Workloads {
        Workloads { workload_of_flow: Vec::new(), counts: vec![WorkloadCounts::default(); count] }
    }

    /// Records the workload of a flow.
    pub(crate) fn set_workload(&mut self, flow: FlowId, traffic: u16) {
        let at = flow.0 as usize;
        self.workload_of_flow.resize(self.workload_of_flow.len().max(at + 1), traffic);
        self.workload_of_flow[at] = traffic;
    }

    /// Returns the workload of a flow.
    #[inline]
    pub(crate) fn workload_of(&self, flow: FlowId) -> u16 {
        self.workload_of_flow[flow.0 as usize]
    }

    #[inline]
    fn counts_of(&mut self, pkt: &Pkt) -> &mut WorkloadCounts {
        let traffic = self.workload_of(pkt.head.flow);
        &mut self.counts[usize::from(traffic)]
    }

    /// Counts an event of a packet, such as a drop or a mark, for its workload.
    pub(crate) fn count_event(&mut self, pkt: &Pkt, kind: PacketEvent) {
        // A packet that has just been trimmed was data, although trimming has cleared its payload flag.
        let data = if kind == PacketEvent::Trim { 1 } else { data_index(pkt) };
        self.counts_of(pkt).fates[data][kind as usize] += 1;
    }

    /// Counts a bounced packet that has arrived, with the largest distance by which bounces brought it back.
    pub(crate) fn add_max_bounce_distance(&mut self, pkt: &Pkt, most: u8) {
        self.counts_of(pkt).histograms[PacketMetric::MaxDistance as usize][data_index(pkt)].add(u64::from(most));
    }

    /// Counts a packet that has arrived. `values` are the metrics that every packet has, by [`PacketMetric`].
    #[inline]
    pub(crate) fn add_delivered(&mut self, pkt: &Pkt, values: [u64; PacketMetric::COMMON_COUNT]) {
        let data = data_index(pkt);
        let histograms = &mut self.counts_of(pkt).histograms;
        histograms.iter_mut().zip(values).for_each(|(of, value)| of[data].add(value));
    }
}
