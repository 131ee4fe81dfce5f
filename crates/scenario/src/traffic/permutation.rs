//! Permutation: every host sends to one other host and receives from one other host.

use super::common::{CLASS, JITTER, START, read_window};
use super::draft::FlowDraft;
use super::sizes::SIZE;
use super::{Context, Sizes};
use crate::fault::Fault;
use mech::params::{Spec, Values};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::Time;

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "permutation",
    doc: "One flow from every host to another, such that each host receives one: a single cycle through all hosts, \
          drawn from the seed.",
    cite: "Sattolo, \"An algorithm to generate a random cyclic permutation\", 1986",
    params: &[SIZE, START, JITTER, CLASS],
};

/// Parameters of a permutation workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Permutation {
    sizes: Arc<Sizes>,
    start: Time,
}

impl Permutation {
    pub fn build(name: &str, values: &Values, ctx: &Context) -> Result<Permutation, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = read_window(values, ctx, &mut faults);
        let sizes = Sizes::read_sizes("size", values, name, ctx).map_err(|more| faults.extend(more)).ok();
        match sizes {
            Some(sizes) if faults.is_empty() => Ok(Permutation { sizes: Arc::new(sizes), start }),
            _ => Err(faults),
        }
    }

    /// Returns the mean size of a flow in bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.sizes.mean_bytes()
    }

    pub fn shuffle(&self, hosts: u32, draws: Stream) -> Shuffle {
        Shuffle { sizes: self.sizes.clone(), start: self.start, hosts, draws }
    }
}

/// Generator of the flows of a permutation, which all start together.
#[derive(Clone, Debug)]
pub(super) struct Shuffle {
    sizes: Arc<Sizes>,
    start: Time,
    hosts: u32,
    draws: Stream,
}

impl Shuffle {
    pub fn next_start(&self) -> Time {
        self.start
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let mut to: Vec<u32> = (0..self.hosts).collect();
        for i in (1..to.len()).rev() {
            to.swap(i, self.draws.uniform_below(i as u64) as usize);
        }
        for (src, dst) in to.into_iter().enumerate() {
            let bytes = self.sizes.quantile(self.draws.uniform());
            out.push(FlowDraft::on_own_connection(HostId(src as u32), HostId(dst), bytes, u32::MAX));
        }
        self.start = Time::NEVER;
    }
}
