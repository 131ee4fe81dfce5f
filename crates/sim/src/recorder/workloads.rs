//! Outcomes of packets, by the workload of the scenario's traffic from which they come.

use super::{Histogram, Kind, Metric};
use dataplane::Pkt;
use mech::{Flags, FlowId};

/// Counts of the packets of one workload, with ACKs and data apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// Histograms by [`Metric`], then for ACKs and data. Distances are those of bounced packets.
    pub(crate) histograms: [[Histogram; 2]; Metric::ALL.len()],
    /// Counts for ACKs and data, then by [`Kind`].
    pub(crate) fates: [[u64; Kind::COUNT]; 2],
}

impl Entry {
    /// Adds a distance of 0 for each packet that was not bounced, if any packet was.
    pub(crate) fn complete(&mut self) {
        let [.., bounces, distances] = &mut self.histograms;
        for (bounces, distances) in bounces.iter().zip(distances) {
            if !distances.is_empty() {
                distances.set_zeros(bounces.zeros());
            }
        }
    }
}

/// Counts of every workload, and the workload of every flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    /// Workload of each flow.
    of: Vec<u16>,
    /// Counts of each workload.
    pub(crate) all: Vec<Entry>,
}

fn is_data(pkt: &Pkt) -> usize {
    usize::from(pkt.head.flags.has(Flags::PAYLOAD))
}

impl Workloads {
    /// Adds the counts of another partition.
    pub(crate) fn add_all(&mut self, other: &Workloads) {
        for (mine, its) in self.all.iter_mut().zip(&other.all) {
            let histograms = mine.histograms.iter_mut().flatten().zip(its.histograms.iter().flatten());
            histograms.for_each(|(mine, its)| mine.add_all(its));
            let fates = mine.fates.iter_mut().flatten().zip(its.fates.iter().flatten());
            fates.for_each(|(mine, its)| *mine += its);
        }
    }

    pub(crate) fn new(count: usize) -> Workloads {
        Workloads { of: Vec::new(), all: vec![Entry::default(); count] }
    }

    /// Records the workload of a flow.
    pub(crate) fn entered(&mut self, flow: FlowId, traffic: u16) {
        let at = flow.0 as usize;
        self.of.resize(self.of.len().max(at + 1), traffic);
        self.of[at] = traffic;
    }

    /// Returns the workload of a flow.
    #[inline]
    pub(crate) fn traffic(&self, flow: FlowId) -> u16 {
        self.of[flow.0 as usize]
    }

    #[inline]
    fn entry(&mut self, pkt: &Pkt) -> &mut Entry {
        let traffic = self.traffic(pkt.head.flow);
        &mut self.all[usize::from(traffic)]
    }

    /// Counts an event of a packet.
    pub(crate) fn count(&mut self, pkt: &Pkt, kind: Kind) {
        // A packet that was just cut was data, but its flag is cleared.
        let data = if kind == Kind::Trim { 1 } else { is_data(pkt) };
        self.entry(pkt).fates[data][kind as usize] += 1;
    }

    /// Counts a bounced packet that has arrived, with the largest distance by which bounces brought it back.
    pub(crate) fn add_distance(&mut self, pkt: &Pkt, most: u8) {
        self.entry(pkt).histograms[Metric::MaxDistance as usize][is_data(pkt)].add(u64::from(most));
    }

    /// Counts a packet that has arrived. Its values are those that every packet has, by [`Metric`].
    #[inline]
    pub(crate) fn add(&mut self, pkt: &Pkt, values: [u64; Metric::OF_EVERY]) {
        let data = is_data(pkt);
        let histograms = &mut self.entry(pkt).histograms;
        histograms.iter_mut().zip(values).for_each(|(of, value)| of[data].add(value));
    }
}
