//! All-reduce collectives of machine-learning jobs: every rank ends with the sum of all ranks' data.

use super::Context;
use super::collective::{Algorithm, Collective, JobPlan};
use super::common::{self, CLASS, ConnectionUse, START, make_fault, read_distinct_hosts, read_window, shuffle};
use super::draft::FlowDraft;
use crate::fault::Fault;
use mech::choice;
use mech::params::{Param, ParamKind, Spec, Values};
use mech::{HostId, Stream, StreamPurpose};
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Dur, Time};

choice! {
    /// Algorithm of an all-reduce.
    enum AlgorithmKind {
        Ring = "ring",
        Tree = "tree",
    }
}

choice! {
    /// Placement of a job's ranks on hosts.
    enum Placement {
        Packed = "packed",
        Random = "random",
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "all_reduce",
    doc: "All-reduce over a ring or a binary tree, in iterations. Each rank proceeds when it has the data that it \
          needs. The messages of one iteration of a job are one query.",
    cite: "Patarasuk and Yuan, \"Bandwidth optimal all-reduce algorithms\", JPDC 2009",
    params: &[
        Param {
            name: "algorithm",
            doc: "Pattern of messages. `ring`: 2(N-1) steps, in each of which every rank sends a chunk of size/N to \
                  the next. `tree`: to the root of a binary tree and back.",
            kind: AlgorithmKind::KIND,
            default: Some("ring"),
        },
        Param { name: "size", doc: "Bytes that each rank reduces.", kind: ParamKind::Size { min: 1 }, default: None },
        Param {
            name: "hosts",
            doc: "Hosts that take part, by name or number, in the order of their ranks; all hosts by default.",
            kind: ParamKind::Texts,
            default: Some(""),
        },
        Param {
            name: "jobs",
            doc: "Number of jobs: groups of hosts that reduce independently of each other.",
            kind: ParamKind::Count { min: 1, max: 500_000 },
            default: Some("1"),
        },
        Param {
            name: "ranks",
            doc: "Number of ranks of a job, one per host; by default the hosts are divided among the jobs.",
            kind: ParamKind::Count { min: 2, max: 1_000_000 },
            default: Some(""),
        },
        Param {
            name: "placement",
            doc: "Selection of the hosts of a job: the next ones in order (`packed`), or drawn from the seed \
                  (`random`).",
            kind: Placement::KIND,
            default: Some("packed"),
        },
        Param {
            name: "chunks",
            doc: "Number of pieces that are pipelined through a tree; 1 by default.",
            kind: ParamKind::Count { min: 1, max: 65_536 },
            default: Some(""),
        },
        Param {
            name: "compute",
            doc: "Time at each rank between the end of an iteration and its next iteration.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "repeat",
            doc: "Number of iterations.",
            kind: ParamKind::Count { min: 1, max: 1_000_000_000 },
            default: Some("1"),
        },
        Param {
            name: "connection",
            doc: "Connections between ranks. `persistent`: a rank keeps its connections to others. `new`: every \
                  message has its own.",
            kind: ConnectionUse::KIND,
            default: Some("persistent"),
        },
        START,
        Param {
            name: "jitter",
            doc: "Maximum of a random delay of each rank at the start of each iteration, drawn uniformly between 0 and \
                  this value.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        CLASS,
    ],
};

/// Largest number of chunks that the ranks of a tree track in total; some hundred megabytes.
const MAX_TRACKED_CHUNKS: u64 = 100_000_000;

/// Parameters of an all-reduce workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AllReduce {
    plan: JobPlan,
    /// Hosts on which ranks are placed.
    pool: Vec<HostId>,
    /// Number of ranks of all jobs.
    rank_count: usize,
    random: bool,
}

impl AllReduce {
    pub fn build(values: &Values, ctx: &Context) -> Result<AllReduce, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = read_window(values, ctx, &mut faults);
        let pool = read_distinct_hosts(ctx, "hosts", values).map_err(|more| faults.extend(more)).ok();
        let algorithm = read_algorithm(values, &mut faults);
        let Some(pool) = pool else { return Err(faults) };
        let jobs = values.count("jobs");
        let ranks = read_ranks(values, jobs, pool.len() as u64, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let (bytes, repeat) = (values.size("size"), values.count("repeat"));
        let (pieces, what) = match algorithm {
            Algorithm::Ring => (ranks, "rank"),
            Algorithm::Tree(chunks) => (u64::from(chunks), "chunk"),
        };
        if bytes < pieces {
            faults.push(make_fault(
                "size",
                format!("{bytes}B"),
                format!("at least one byte for each of {pieces} {what}s"),
            ));
        }
        if bytes > super::sizes::MAX_FLOW_BYTES {
            faults.push(make_fault("size", format!("{bytes}B"), "at most 1PB"));
        }
        if repeat * jobs >= u64::from(u32::MAX) {
            let found = format!("{repeat} iterations of {jobs} jobs");
            faults.push(make_fault("repeat", found, format!("less than {} iterations in all", u32::MAX)));
        }
        if matches!(algorithm, Algorithm::Tree(_)) && pieces * ranks * jobs > MAX_TRACKED_CHUNKS {
            let found = format!("{pieces} chunks at {} ranks", ranks * jobs);
            faults.push(make_fault(
                "chunks",
                found,
                format!("at most {MAX_TRACKED_CHUNKS} chunks at all ranks together"),
            ));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let plan = JobPlan {
            algorithm,
            hosts: Vec::new(),
            ranks: ranks as u32,
            bytes,
            repeat,
            compute: values.time("compute"),
            jitter: Dur::ZERO,
            persistent: values.get::<ConnectionUse>("connection") == ConnectionUse::Persistent,
            start,
        };
        if repeat == 1 && plan.compute > Dur::ZERO {
            let name = values.word("name");
            let note = format!(
                "traffic `{name}`: `compute` has no effect with repeat = 1, because no iteration follows \
                         another"
            );
            ctx.notes.borrow_mut().push(note);
        }
        let random = values.get::<Placement>("placement") == Placement::Random;
        Ok(AllReduce { plan, pool, rank_count: (ranks * jobs) as usize, random })
    }

    /// Returns the number of messages of an iteration of a job.
    pub fn messages_per_iteration(&self) -> u64 {
        self.plan.messages_per_iteration()
    }

    /// Returns the number of ranks of all jobs, each of which sends a message at the start.
    pub fn count_ranks(&self) -> usize {
        self.rank_count
    }

    pub fn is_persistent(&self) -> bool {
        self.plan.persistent
    }

    /// Returns the ranks of the `index`-th workload, placed on hosts, before their first iteration.
    pub fn place_ranks(&self, index: u16, jitter: Dur, seed: u64) -> Collective {
        let mut hosts = self.pool.clone();
        if self.random {
            shuffle(&mut hosts, &mut Stream::new(seed, common::DERANGEMENT_STREAM, StreamPurpose::Traffic(index)));
        }
        hosts.truncate(self.rank_count);
        let plan = JobPlan { hosts, jitter, ..self.plan.clone() };
        Collective::new(Arc::new(plan), |place| Stream::new(seed, place, StreamPurpose::Reply(index)))
    }
}

fn read_algorithm(values: &Values, faults: &mut Vec<Fault>) -> Algorithm {
    match (values.get("algorithm"), values.has("chunks")) {
        (AlgorithmKind::Tree, true) => Algorithm::Tree(values.count("chunks") as u32),
        (AlgorithmKind::Tree, false) => Algorithm::Tree(1),
        (AlgorithmKind::Ring, given) => {
            if given {
                let found = values.count("chunks").to_string();
                faults.push(make_fault(
                    "chunks",
                    found,
                    "no value if `algorithm` is `ring`, which has one chunk per rank",
                ));
            }
            Algorithm::Ring
        }
    }
}

fn read_ranks(values: &Values, jobs: u64, hosts: u64, faults: &mut Vec<Fault>) -> u64 {
    if values.has("ranks") {
        let ranks = values.count("ranks");
        if ranks * jobs > hosts {
            let found = format!("{ranks} in each of {jobs} jobs");
            faults.push(make_fault("ranks", found, format!("at most one rank on each of {hosts} hosts")));
        }
        return ranks;
    }
    if hosts / jobs < 2 {
        faults.push(make_fault("jobs", jobs.to_string(), format!("at least two of {hosts} hosts for each job")));
    }
    hosts / jobs
}

/// Messages that ranks send at the start of their first iteration, in order of time.
#[derive(Clone, Debug)]
pub(super) struct FirstMessages(VecDeque<(Time, FlowDraft)>);

impl FirstMessages {
    pub fn new(first: Vec<(Time, FlowDraft)>) -> FirstMessages {
        FirstMessages(first.into())
    }

    pub fn next_start(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |(start, _)| *start)
    }

    pub fn take_next(&mut self, out: &mut Vec<FlowDraft>) {
        let now = self.next_start();
        let same = self.0.iter().take_while(|(start, _)| *start == now).count();
        out.extend(self.0.drain(..same).map(|(_, draft)| draft));
    }
}
