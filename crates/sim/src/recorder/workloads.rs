//! What became of packets, by the workload of the scenario's traffic that they come from.

use super::{Histogram, Kind, Metric};
use dataplane::Pkt;
use mech::{Flags, FlowId};

/// The packets of one workload, ACKs and data apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// By [`Metric`], then ACKs and data. Distances are those of packets that were bounced.
    pub(crate) histograms: [[Histogram; 2]; Metric::ALL.len()],
    /// ACKs and data, then by [`Kind`]: how often that happened.
    pub(crate) fates: [[u64; Kind::COUNT]; 2],
}

impl Entry {
    /// Where some packets were bounced, the others were so 0 far.
    pub(crate) fn complete(&mut self) {
        let [.., bounces, distances] = &mut self.histograms;
        for (bounces, distances) in bounces.iter().zip(distances) {
            if !distances.is_empty() {
                distances.set_zeros(bounces.zeros());
            }
        }
    }
}

/// Every workload, and whose every flow is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workloads {
    /// By flow, the number of its workload.
    of: Vec<u16>,
    /// By number.
    pub(crate) all: Vec<Entry>,
}

fn is_data(pkt: &Pkt) -> usize {
    usize::from(pkt.head.flags.has(Flags::PAYLOAD))
}

impl Workloads {
    /// What another partition has counted.
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

    /// A flow is of this workload.
    pub(crate) fn entered(&mut self, flow: FlowId, traffic: u16) {
        let at = flow.0 as usize;
        self.of.resize(self.of.len().max(at + 1), traffic);
        self.of[at] = traffic;
    }

    /// The number of a flow's.
    #[inline]
    pub(crate) fn traffic(&self, flow: FlowId) -> u16 {
        self.of[flow.0 as usize]
    }

    #[inline]
    fn entry(&mut self, pkt: &Pkt) -> &mut Entry {
        let traffic = self.traffic(pkt.head.flow);
        &mut self.all[usize::from(traffic)]
    }

    /// Something has happened to a packet.
    pub(crate) fn count(&mut self, pkt: &Pkt, kind: Kind) {
        // What was cut just now was data, and says so no longer.
        let data = if kind == Kind::Trim { 1 } else { is_data(pkt) };
        self.entry(pkt).fates[data][kind as usize] += 1;
    }

    /// A packet that was bounced has arrived; this far bounces have ever brought it back.
    pub(crate) fn add_distance(&mut self, pkt: &Pkt, most: u8) {
        self.entry(pkt).histograms[Metric::MaxDistance as usize][is_data(pkt)].add(u64::from(most));
    }

    /// A packet has arrived; its values are by [`Metric`], of those that are told of every packet.
    #[inline]
    pub(crate) fn add(&mut self, pkt: &Pkt, values: [u64; Metric::OF_EVERY]) {
        let data = is_data(pkt);
        let histograms = &mut self.entry(pkt).histograms;
        histograms.iter_mut().zip(values).for_each(|(of, value)| of[data].add(value));
    }
}
