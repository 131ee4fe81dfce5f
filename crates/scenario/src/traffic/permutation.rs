//! Every host sends to one other and receives from one other.

use super::Context;
use super::common::{CLASS, JITTER, START, window};
use super::flows::Draft;
use crate::fault::Fault;
use mech::params::{Kind, Param, Spec, Values};
use mech::{HostId, Stream};
use units::Time;

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "permutation",
    doc: "Every host sends one flow to another, and each receives one: a single cycle through all hosts, drawn from \
          the seed.",
    cite: "Sattolo, \"An algorithm to generate a random cyclic permutation\", 1986",
    params: &[
        Param { name: "size", doc: "Payload of each flow.", kind: Kind::Size { min: 1 }, default: None },
        START,
        JITTER,
        CLASS,
    ],
};

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Permutation {
    bytes: u64,
    start: Time,
}

impl Permutation {
    pub fn build(values: &Values, ctx: &Context) -> Result<Permutation, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = window(values, ctx, &mut faults);
        if faults.is_empty() { Ok(Permutation { bytes: values.size("size"), start }) } else { Err(faults) }
    }

    pub fn shuffle(&self, hosts: u32, draws: Stream) -> Shuffle {
        Shuffle { bytes: self.bytes, start: self.start, hosts, draws }
    }
}

/// The one instant of an entry.
#[derive(Clone, Debug)]
pub(super) struct Shuffle {
    bytes: u64,
    start: Time,
    hosts: u32,
    draws: Stream,
}

impl Shuffle {
    pub fn next(&self) -> Time {
        self.start
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        let mut to: Vec<u32> = (0..self.hosts).collect();
        for i in (1..to.len()).rev() {
            to.swap(i, self.draws.below(i as u64) as usize);
        }
        let flow = |(src, dst)| Draft::data((HostId(src as u32), HostId(dst)), self.bytes, u32::MAX);
        out.extend(to.into_iter().enumerate().map(flow));
        self.start = Time::NEVER;
    }
}
