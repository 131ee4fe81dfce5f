//! Collectives of machine-learning jobs: every rank ends with the sum of all ranks' data.

use super::Context;
use super::collective::{Algorithm, Collective, Plan};
use super::common::{self, CLASS, Connection, START, distinct_hosts, fault, shuffle, window};
use super::draft::Draft;
use crate::fault::Fault;
use mech::choice;
use mech::params::{Kind, Param, Spec, Values};
use mech::{HostId, Purpose, Stream};
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Dur, Time};

choice! {
    /// How data are reduced.
    enum AlgorithmKind {
        Ring = "ring",
        Tree = "tree",
    }
}

choice! {
    /// Where the ranks of a job are.
    enum Placement {
        Packed = "packed",
        Random = "random",
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "traffic",
    kind: "all_reduce",
    doc: "All-reduce by a ring or a binary tree, iteration after iteration, each rank going on when it has what it needs. \
          The messages of an iteration of a job are one query.",
    cite: "Patarasuk and Yuan, \"Bandwidth optimal all-reduce algorithms\", JPDC 2009",
    params: &[
        Param {
            name: "algorithm",
            doc: "`ring`: 2(N-1) steps of a chunk of size/N from each rank to the next; `tree`: to the root of a binary \
                  tree and back.",
            kind: AlgorithmKind::KIND,
            default: Some("ring"),
        },
        Param { name: "size", doc: "Bytes that each rank has to reduce.", kind: Kind::Size { min: 1 }, default: None },
        Param {
            name: "hosts",
            doc: "The hosts that take part, by name or number, in the order of their ranks; all where not given.",
            kind: Kind::Texts,
            default: Some(""),
        },
        Param {
            name: "jobs",
            doc: "Groups of hosts that reduce independently of each other.",
            kind: Kind::Count { min: 1, max: 500_000 },
            default: Some("1"),
        },
        Param {
            name: "ranks",
            doc: "Ranks of a job, one on a host; where not given, the hosts are divided among the jobs.",
            kind: Kind::Count { min: 2, max: 1_000_000 },
            default: Some(""),
        },
        Param {
            name: "placement",
            doc: "Which hosts a job gets: the next ones in the order of the hosts, or drawn.",
            kind: Placement::KIND,
            default: Some("packed"),
        },
        Param {
            name: "chunks",
            doc: "Pieces that follow each other through a tree; 1 where not given.",
            kind: Kind::Count { min: 1, max: 65_536 },
            default: Some(""),
        },
        Param {
            name: "compute",
            doc: "Time at each rank from the end of an iteration to its next.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        Param {
            name: "repeat",
            doc: "Number of iterations.",
            kind: Kind::Count { min: 1, max: 1_000_000_000 },
            default: Some("1"),
        },
        Param {
            name: "connection",
            doc: "`persistent`: a rank keeps its connections to others; `new`: every message has its own.",
            kind: Connection::KIND,
            default: Some("persistent"),
        },
        START,
        Param {
            name: "jitter",
            doc: "Each rank begins each iteration later by a draw, uniform from 0 up to this.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        CLASS,
    ],
};

/// Chunks that a tree's ranks may count in all: some hundred megabytes.
const MOST_COUNTED: u64 = 100_000_000;

/// A workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AllReduce {
    plan: Plan,
    /// The hosts that ranks are placed on.
    pool: Vec<HostId>,
    /// Ranks of all jobs.
    all: usize,
    random: bool,
}

impl AllReduce {
    pub fn build(values: &Values, ctx: &Context) -> Result<AllReduce, Vec<Fault>> {
        let mut faults = Vec::new();
        let (start, _) = window(values, ctx, &mut faults);
        let pool = distinct_hosts(ctx, "hosts", values).map_err(|more| faults.extend(more)).ok();
        let algorithm = algorithm(values, &mut faults);
        let Some(pool) = pool else { return Err(faults) };
        let jobs = values.count("jobs");
        let ranks = ranks(values, jobs, pool.len() as u64, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let (bytes, repeat) = (values.size("size"), values.count("repeat"));
        let (pieces, what) = match algorithm {
            Algorithm::Ring => (ranks, "rank"),
            Algorithm::Tree(chunks) => (u64::from(chunks), "chunk"),
        };
        if bytes < pieces {
            faults.push(fault("size", format!("{bytes}B"), format!("at least a byte for each of {pieces} {what}s")));
        }
        if bytes > super::sizes::LARGEST {
            faults.push(fault("size", format!("{bytes}B"), "at most 1PB"));
        }
        if repeat * jobs >= u64::from(u32::MAX) {
            let found = format!("{repeat} iterations of {jobs} jobs");
            faults.push(fault("repeat", found, format!("less than {} iterations in all", u32::MAX)));
        }
        if matches!(algorithm, Algorithm::Tree(_)) && pieces * ranks * jobs > MOST_COUNTED {
            let found = format!("{pieces} chunks at {} ranks", ranks * jobs);
            faults.push(fault("chunks", found, format!("at most {MOST_COUNTED} in all")));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let plan = Plan {
            algorithm,
            hosts: Vec::new(),
            ranks: ranks as u32,
            bytes,
            repeat,
            compute: values.time("compute"),
            jitter: Dur::ZERO,
            persistent: values.get::<Connection>("connection") == Connection::Persistent,
            start,
        };
        if repeat == 1 && plan.compute > Dur::ZERO {
            let name = values.word("name");
            let note =
                format!("traffic `{name}`: `compute` has no effect with repeat = 1: no iteration follows another");
            ctx.notes.borrow_mut().push(note);
        }
        let random = values.get::<Placement>("placement") == Placement::Random;
        Ok(AllReduce { plan, pool, all: (ranks * jobs) as usize, random })
    }

    /// Messages of an iteration of a job.
    pub fn messages(&self) -> u64 {
        self.plan.messages()
    }

    /// Ranks of all jobs, each of which sends a message at the start.
    pub fn ranks(&self) -> usize {
        self.all
    }

    pub fn is_persistent(&self) -> bool {
        self.plan.persistent
    }

    /// The ranks of the `index`-th workload at their hosts, before their first iteration.
    pub fn collective(&self, index: u16, jitter: Dur, seed: u64) -> Collective {
        let mut hosts = self.pool.clone();
        if self.random {
            shuffle(&mut hosts, &mut Stream::new(seed, common::DERANGEMENT, Purpose::Traffic(index)));
        }
        hosts.truncate(self.all);
        let plan = Plan { hosts, jitter, ..self.plan.clone() };
        Collective::new(Arc::new(plan), |place| Stream::new(seed, place, Purpose::Reply(index)))
    }
}

fn algorithm(values: &Values, faults: &mut Vec<Fault>) -> Algorithm {
    match (values.get("algorithm"), values.has("chunks")) {
        (AlgorithmKind::Tree, true) => Algorithm::Tree(values.count("chunks") as u32),
        (AlgorithmKind::Tree, false) => Algorithm::Tree(1),
        (AlgorithmKind::Ring, given) => {
            if given {
                let found = values.count("chunks").to_string();
                faults.push(fault("chunks", found, "left out where `algorithm` is `ring`, which has a chunk a rank"));
            }
            Algorithm::Ring
        }
    }
}

fn ranks(values: &Values, jobs: u64, hosts: u64, faults: &mut Vec<Fault>) -> u64 {
    if values.has("ranks") {
        let ranks = values.count("ranks");
        if ranks * jobs > hosts {
            let found = format!("{ranks} in each of {jobs} jobs");
            faults.push(fault("ranks", found, format!("at most a rank on each of {hosts} hosts")));
        }
        return ranks;
    }
    if hosts / jobs < 2 {
        faults.push(fault("jobs", jobs.to_string(), format!("at least two of {hosts} hosts for each job")));
    }
    hosts / jobs
}

/// What ranks send of themselves in their first iteration.
#[derive(Clone, Debug)]
pub(super) struct Ranks(VecDeque<(Time, Draft)>);

impl Ranks {
    pub fn new(first: Vec<(Time, Draft)>) -> Ranks {
        Ranks(first.into())
    }

    pub fn next(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |(start, _)| *start)
    }

    pub fn take(&mut self, out: &mut Vec<Draft>) {
        let now = self.next();
        let same = self.0.iter().take_while(|(start, _)| *start == now).count();
        out.extend(self.0.drain(..same).map(|(_, draft)| draft));
    }
}
