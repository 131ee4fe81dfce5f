//! Flows without end, whose goodput is measured instead of a completion time.

use super::common::{CLASS, JITTER, START, make_fault, read_window};
use super::draft::FlowDraft;
use super::raw::{DESTINATION, DESTINATIONS, SOURCE, SOURCES, read_pairs};
use super::{Context, ENDLESS_BYTES};
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
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
    doc: "Flows that last until the end of the run: they have goodput and fairness, but no completion time. Set \
          `pairs`, or `source` or `sources` with `destination` or `destinations`.",
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
            kind: ParamKind::Count { min: 1, max: MAX_FLOWS as u64 },
            default: Some("1"),
        },
        START,
        Param {
            name: "stagger",
            doc: "Time from the start of a flow to the start of the next.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0s"),
        },
        JITTER,
        CLASS,
    ],
};

/// Largest number of flows of a workload, which then takes some gigabytes of memory.
const MAX_FLOWS: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum EndpointChoice {
    Permutation,
    Random,
    Listed,
}

/// Parameters of a workload of flows without end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LongLived {
    endpoints: EndpointChoice,
    listed_pairs: Vec<(HostId, HostId)>,
    flows: usize,
    start: Time,
    stagger: Dur,
}

impl LongLived {
    pub fn build(values: &Values, ctx: &Context) -> Result<LongLived, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = read_window(values, ctx, &mut faults);
        let named = ["source", "sources", "destination", "destinations"].into_iter().find(|key| values.has(key));
        let (who, listed) = match (values.has("pairs"), named) {
            (true, Some(key)) => {
                faults.push(make_fault(key, "a value", "no value if `pairs` is given"));
                (EndpointChoice::Listed, Vec::new())
            }
            (true, None) => match values.get("pairs") {
                DrawnPairs::Random => (EndpointChoice::Random, Vec::new()),
                DrawnPairs::Permutation => (EndpointChoice::Permutation, Vec::new()),
            },
            (false, None) => {
                faults.push(make_fault("pairs", "neither `pairs` nor `source` or `sources`", "one of the two"));
                (EndpointChoice::Listed, Vec::new())
            }
            (false, Some(_)) => (EndpointChoice::Listed, read_pairs(values, ctx, &mut faults)),
        };
        let flows = values.count("flows") as usize;
        let each = match who {
            EndpointChoice::Permutation => ctx.topology.hosts as usize,
            EndpointChoice::Random => 1,
            EndpointChoice::Listed => listed.len(),
        };
        if flows * each > MAX_FLOWS {
            let found = format!("{flows} flows for each of {each} pairs");
            faults.push(make_fault("flows", found, format!("at most {MAX_FLOWS} flows in all")));
        }
        let stagger = values.time("stagger");
        if flows * each == 1 && stagger > Dur::ZERO {
            let name = values.word("name");
            ctx.notes.borrow_mut().push(format!(
                "traffic `{name}`: `stagger` has no effect, because there is only one \
                                                 flow"
            ));
        }
        if faults.is_empty() {
            Ok(LongLived { endpoints: who, listed_pairs: listed, flows, start, stagger })
        } else {
            Err(faults)
        }
    }

    /// Returns the number of flows of the workload.
    pub fn count_flows(&self, hosts: u32) -> u64 {
        let each = match self.endpoints {
            EndpointChoice::Permutation => u64::from(hosts),
            EndpointChoice::Random => 1,
            EndpointChoice::Listed => self.listed_pairs.len() as u64,
        };
        each * self.flows as u64
    }

    /// Returns the largest number of flows that start at the same instant.
    pub fn simultaneous_flows(&self, hosts: u32) -> u64 {
        if self.stagger == Dur::ZERO { self.count_flows(hosts) } else { 1 }
    }

    /// Returns all flows of the workload: the first of every pair of hosts, then the second of every pair, and so on.
    pub fn starts(&self, hosts: u32, mut draws: Stream) -> FlowStarts {
        let pairs: Vec<_> = match self.endpoints {
            EndpointChoice::Listed => self.listed_pairs.clone(),
            EndpointChoice::Permutation => {
                let mut to: Vec<u32> = (0..hosts).collect();
                (1..to.len()).rev().for_each(|i| to.swap(i, draws.uniform_below(i as u64) as usize));
                to.into_iter().enumerate().map(|(from, to)| (HostId(from as u32), HostId(to))).collect()
            }
            EndpointChoice::Random => (0..self.flows).map(|_| draw_two_hosts(hosts, &mut draws)).collect(),
        };
        let flows = if self.endpoints == EndpointChoice::Random { 1 } else { self.flows };
        FlowStarts { count: pairs.len() * flows, pairs, at: 0, start: self.start, stagger: self.stagger }
    }
}

/// Draws two different hosts.
fn draw_two_hosts(hosts: u32, draws: &mut Stream) -> (HostId, HostId) {
    let (from, to) = (draws.uniform_below(u64::from(hosts)) as u32, draws.uniform_below(u64::from(hosts - 1)) as u32);
    (HostId(from), HostId(if to < from { to } else { to + 1 }))
}

/// Iterator over the flows of a workload, in order of their start.
#[derive(Clone, Debug)]
pub(super) struct FlowStarts {
    pairs: Vec<(HostId, HostId)>,
    count: usize,
    at: usize,
    start: Time,
    stagger: Dur,
}

impl FlowStarts {
    pub fn next_start(&self) -> Time {
        if self.at >= self.count {
            return Time::NEVER;
        }
        self.start.saturating_add(Dur(self.stagger.0.saturating_mul(self.at as u64)))
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let (src, dst) = self.pairs[self.at % self.pairs.len()];
        out.push(FlowDraft::on_own_connection(src, dst, ENDLESS_BYTES, u32::MAX));
        self.at += 1;
    }
}
