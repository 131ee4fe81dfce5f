//! Flows without end, whose goodput is measured instead of a completion time.

use super::common::{CLASS, JITTER, START, fault, window};
use super::draft::Draft;
use super::raw::{DESTINATION, DESTINATIONS, SOURCE, SOURCES, pairs};
use super::{Context, ENDLESS};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Kind, Param, Spec, Values};
use mech::{HostId, Stream};
use units::{Dur, Time};

choice! {
    /// Random selection of the hosts of flows.
    enum DrawnPairs {
        Permutation = "permutation",
        Random = "random",
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "long_lived",
    doc: "Flows that last to the end of the run, with goodput and fairness but no completion time. Set `pairs`, or \
          `source` or `sources` with `destination` or `destinations`.",
    cite: "",
    params: &[
        Param {
            name: "pairs",
            doc: "Selection of the hosts of flows. `permutation`: every host sends to one other and receives from \
                  one, in a single cycle drawn from the seed. `random`: the two hosts of each flow are drawn.",
            kind: DrawnPairs::KIND,
            default: Some(""),
        },
        SOURCE,
        SOURCES,
        DESTINATION,
        DESTINATIONS,
        Param {
            name: "flows",
            doc: "Number of flows of each pair, or of all flows if `pairs` is `random`.",
            kind: Kind::Count { min: 1, max: MOST_FLOWS as u64 },
            default: Some("1"),
        },
        START,
        Param {
            name: "stagger",
            doc: "Time from the start of a flow to the start of the next.",
            kind: Kind::Time { min: 0 },
            default: Some("0s"),
        },
        JITTER,
        CLASS,
    ],
};

/// Largest number of flows of a workload; some gigabytes.
const MOST_FLOWS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Permutation,
    Random,
    Listed,
}

/// Parameters of a workload of flows without end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LongLived {
    who: Who,
    listed: Vec<(HostId, HostId)>,
    flows: usize,
    start: Time,
    stagger: Dur,
}

impl LongLived {
    pub fn build(values: &Values, ctx: &Context) -> Result<LongLived, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = window(values, ctx, &mut faults);
        let named = ["source", "sources", "destination", "destinations"].into_iter().find(|key| values.has(key));
        let (who, listed) = match (values.has("pairs"), named) {
            (true, Some(key)) => {
                faults.push(fault(key, "a value", "no value if `pairs` is given"));
                (Who::Listed, Vec::new())
            }
            (true, None) => match values.get("pairs") {
                DrawnPairs::Random => (Who::Random, Vec::new()),
                DrawnPairs::Permutation => (Who::Permutation, Vec::new()),
            },
            (false, None) => {
                faults.push(fault("pairs", "neither it nor `sources`", "one of the two"));
                (Who::Listed, Vec::new())
            }
            (false, Some(_)) => (Who::Listed, pairs(values, ctx, &mut faults)),
        };
        let flows = values.count("flows") as usize;
        let each = match who {
            Who::Permutation => ctx.topology.hosts as usize,
            Who::Random => 1,
            Who::Listed => listed.len(),
        };
        if flows * each > MOST_FLOWS {
            let found = format!("{flows} for each of {each} pairs");
            faults.push(fault("flows", found, format!("at most {MOST_FLOWS} in all")));
        }
        let stagger = values.time("stagger");
        if flows * each == 1 && stagger > Dur::ZERO {
            let name = values.word("name");
            ctx.notes.borrow_mut().push(format!("traffic `{name}`: `stagger` has no effect: there is one flow"));
        }
        if faults.is_empty() { Ok(LongLived { who, listed, flows, start, stagger }) } else { Err(faults) }
    }

    /// Returns the number of flows.
    pub fn count(&self, hosts: u32) -> u64 {
        let each = match self.who {
            Who::Permutation => u64::from(hosts),
            Who::Random => 1,
            Who::Listed => self.listed.len() as u64,
        };
        each * self.flows as u64
    }

    /// Returns the number of flows that start at one instant.
    pub fn at_once(&self, hosts: u32) -> u64 {
        if self.stagger == Dur::ZERO { self.count(hosts) } else { 1 }
    }

    /// Returns all flows: the first of every pair, then the second of every pair, and so on.
    pub fn starts(&self, hosts: u32, mut draws: Stream) -> Starts {
        let pairs: Vec<_> = match self.who {
            Who::Listed => self.listed.clone(),
            Who::Permutation => {
                let mut to: Vec<u32> = (0..hosts).collect();
                (1..to.len()).rev().for_each(|i| to.swap(i, draws.below(i as u64) as usize));
                to.into_iter().enumerate().map(|(from, to)| (HostId(from as u32), HostId(to))).collect()
            }
            Who::Random => (0..self.flows).map(|_| two(hosts, &mut draws)).collect(),
        };
        let flows = if self.who == Who::Random { 1 } else { self.flows };
        Starts { count: pairs.len() * flows, pairs, at: 0, start: self.start, stagger: self.stagger }
    }
}

/// Draws two different hosts.
fn two(hosts: u32, draws: &mut Stream) -> (HostId, HostId) {
    let (from, to) = (draws.below(u64::from(hosts)) as u32, draws.below(u64::from(hosts - 1)) as u32);
    (HostId(from), HostId(if to < from { to } else { to + 1 }))
}

/// Iterator over the flows of a workload.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    pairs: Vec<(HostId, HostId)>,
    count: usize,
    at: usize,
    start: Time,
    stagger: Dur,
}

impl Starts {
    pub fn next(&self) -> Time {
        if self.at >= self.count {
            return Time::NEVER;
        }
        self.start.saturating_add(Dur(self.stagger.0.saturating_mul(self.at as u64)))
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        let (src, dst) = self.pairs[self.at % self.pairs.len()];
        out.push(Draft::data(src, dst, ENDLESS, u32::MAX));
        self.at += 1;
    }
}
