//! State of the ranks of an all-reduce, and the messages that they send when others arrive.
//!
//! Ring (Patarasuk and Yuan, JPDC 2009): the data are divided into as many chunks as there are ranks. In step 0 every
//! rank sends a chunk to the rank on its right. In the first N-1 steps a rank reduces each received chunk with its own
//! and sends it on in the next step. In the last N-1 steps it sends it on unchanged.
//!
//! Tree: rank r has the parent (r-1)/2. A chunk goes up when it has arrived from all children, and down again from the
//! root. Chunks follow each other.

use super::draft::Draft;
use super::{FlowSpec, OWN};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

/// Algorithm of the reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    Ring,
    /// Binary tree with this number of chunks.
    Tree(u32),
}

/// Parameters of a workload's jobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub algorithm: Algorithm,
    /// Hosts of the ranks, job after job.
    pub hosts: Vec<HostId>,
    /// Number of ranks of a job.
    pub ranks: u32,
    /// Data of each rank in bytes.
    pub bytes: u64,
    /// Number of iterations.
    pub repeat: u64,
    /// Time between two iterations of a rank.
    pub compute: Dur,
    /// Largest random delay of each rank's start of each iteration.
    pub jitter: Dur,
    /// True if every pair of ranks keeps a connection.
    pub persistent: bool,
    pub start: Time,
}

/// Flag in the number of a tree's chunk on its way to the root.
const UP: u32 = 1 << 31;

/// Ranks of a workload's jobs.
#[derive(Clone, Debug)]
pub struct Collective {
    plan: Arc<Plan>,
    ranks: Vec<Rank>,
}

/// Progress of a rank.
#[derive(Clone, Debug)]
struct Rank {
    iteration: u64,
    /// Start of the iteration, which may be in the future.
    begin: Time,
    /// Chunks of the iteration that need nothing more from other ranks.
    done: u32,
    /// Ring: steps of the next iteration that arrived before this one ended.
    early: Vec<u32>,
    /// Tree: number of children that each chunk has arrived from, for this iteration and for the next.
    up: [Vec<u8>; 2],
    shake: Stream,
}

/// Message from the rank at `place`, counted over all jobs, to another rank of its job.
#[derive(Clone, Copy)]
struct Sent {
    place: usize,
    to: u32,
    /// Step of a ring, or chunk of a tree, with [`UP`] on its way to the root.
    what: u32,
}

impl Plan {
    fn jobs(&self) -> u64 {
        self.hosts.len() as u64 / u64::from(self.ranks)
    }
    /// Returns the number of messages that a rank receives in an iteration, or chunks that a tree's root reduces.
    fn whole(&self) -> u32 {
        match self.algorithm {
            Algorithm::Ring => 2 * (self.ranks - 1),
            Algorithm::Tree(chunks) => chunks,
        }
    }
    /// Returns the number of messages of an iteration of a job.
    pub fn messages(&self) -> u64 {
        let ranks = u64::from(self.ranks);
        match self.algorithm {
            Algorithm::Ring => 2 * (ranks - 1) * ranks,
            // Every chunk crosses the link between each rank except the root and its parent up and down.
            Algorithm::Tree(chunks) => 2 * (ranks - 1) * u64::from(chunks),
        }
    }
    fn chunk(&self, number: u32) -> u64 {
        let chunks = match self.algorithm {
            Algorithm::Ring => u64::from(self.ranks),
            Algorithm::Tree(chunks) => u64::from(chunks),
        };
        self.bytes / chunks + u64::from(u64::from(number) < self.bytes % chunks)
    }
    fn children(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let ranks = self.ranks;
        (1..=2).map(move |n| 2 * rank + n).filter(move |child| *child < ranks)
    }
    fn pause(&self, shake: &mut Stream) -> Dur {
        if self.jitter == Dur::ZERO { Dur::ZERO } else { Dur(shake.below(self.jitter.0)) }
    }
    /// Returns the index of the first rank in the job of the rank at `place`.
    fn first_of(&self, place: usize) -> usize {
        place - place % self.ranks as usize
    }

    /// Returns a message of an iteration.
    fn draft(&self, iteration: u64, Sent { place, to, what }: Sent) -> Draft {
        let first = self.first_of(place);
        let rank = (place - first) as u32;
        let (job, other) = (first as u64 / u64::from(self.ranks), first + to as usize);
        let (bytes, connection) = match self.algorithm {
            // Step s carries the chunk that the rank s places to the left sent first.
            Algorithm::Ring => {
                let chunk = (u64::from(rank) + 2 * u64::from(self.ranks) - u64::from(what)) % u64::from(self.ranks);
                (self.chunk(chunk as u32), place as u32)
            }
            Algorithm::Tree(_) if what & UP > 0 => (self.chunk(what & !UP), 2 * place as u32),
            Algorithm::Tree(_) => (self.chunk(what), 2 * other as u32 + 1),
        };
        Draft {
            tag: u64::from(to) << 32 | u64::from(what),
            connection: if self.persistent { connection } else { OWN },
            ..Draft::data(self.hosts[place], self.hosts[other], bytes, (iteration * self.jobs() + job) as u32)
        }
    }
}

impl Collective {
    /// Returns all ranks before their first iteration. `shake` returns the random stream of a rank by its index.
    pub(super) fn new(plan: Arc<Plan>, shake: impl Fn(u32) -> Stream) -> Collective {
        let chunks = |rank: u32| match plan.algorithm {
            Algorithm::Tree(chunks) if plan.children(rank).next().is_some() => vec![0; chunks as usize],
            _ => Vec::new(),
        };
        let rank = |place: usize| {
            let mut shake = shake(place as u32);
            let begin = plan.start.saturating_add(plan.pause(&mut shake));
            let counts = chunks((place - plan.first_of(place)) as u32);
            Rank { iteration: 0, begin, done: 0, early: Vec::new(), up: [counts.clone(), counts], shake }
        };
        let ranks = (0..plan.hosts.len()).map(rank).collect();
        Collective { plan, ranks }
    }

    /// Returns the messages that ranks send at the start of their first iteration, in order of time.
    pub(super) fn first(&self) -> Vec<(Time, Draft)> {
        let mut first = Vec::new();
        (0..self.ranks.len()).for_each(|place| self.open(place, &mut first));
        first.sort_by_key(|(start, _)| *start);
        first
    }

    /// Handles the arrival of a message's last byte: appends the messages that its receiver sends on.
    pub(super) fn delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        let (to, what) = ((message.tag >> 32) as u32, message.tag as u32);
        let jobs = self.plan.jobs();
        let (job, iteration) = (u64::from(message.query) % jobs, u64::from(message.query) / jobs);
        let place = (job * u64::from(self.plan.ranks)) as usize + to as usize;
        let mut said = Vec::new();
        let early = iteration > self.ranks[place].iteration;
        match self.plan.algorithm {
            Algorithm::Ring if early => self.ranks[place].early.push(what),
            Algorithm::Ring => self.step(place, what, now, &mut said),
            Algorithm::Tree(_) if what & UP > 0 => {
                let count = &mut self.ranks[place].up[usize::from(early)][(what & !UP) as usize];
                *count += 1;
                if !early && usize::from(*count) == self.plan.children(to).count() {
                    self.reduced(place, what & !UP, now, &mut said);
                }
            }
            Algorithm::Tree(_) => self.down(place, what, now, &mut said),
        }
        out.extend(said.into_iter().map(|(start, draft)| draft.at(start, message.traffic, message.class)));
    }

    /// Appends the messages that the rank at `place` sends at the start of its iteration, without waiting for others.
    fn open(&self, place: usize, out: &mut Vec<(Time, Draft)>) {
        let (plan, Rank { begin, iteration, .. }) = (&self.plan, &self.ranks[place]);
        let rank = (place - plan.first_of(place)) as u32;
        match plan.algorithm {
            Algorithm::Ring => {
                out.push((*begin, plan.draft(*iteration, Sent { place, to: (rank + 1) % plan.ranks, what: 0 })))
            }
            Algorithm::Tree(chunks) if plan.children(rank).next().is_none() => {
                let up = |chunk: u32| plan.draft(*iteration, Sent { place, to: (rank - 1) / 2, what: UP | chunk });
                out.extend((0..chunks).map(|chunk| (*begin, up(chunk))));
            }
            Algorithm::Tree(_) => {}
        }
    }

    /// Appends a message, at the start of the rank's iteration at the earliest.
    fn send(&self, sent: Sent, now: Time, out: &mut Vec<(Time, Draft)>) {
        let rank = &self.ranks[sent.place];
        out.push((now.max(rank.begin), self.plan.draft(rank.iteration, sent)));
    }

    /// Handles the arrival of a ring's step at the rank at `place`.
    fn step(&mut self, place: usize, step: u32, now: Time, out: &mut Vec<(Time, Draft)>) {
        let rank = (place - self.plan.first_of(place)) as u32;
        if step + 1 < self.plan.whole() {
            self.send(Sent { place, to: (rank + 1) % self.plan.ranks, what: step + 1 }, now, out);
        }
        self.took(place, now, out);
    }

    /// Handles a tree's chunk that is reduced over the rank at `place` and all ranks below it.
    fn reduced(&mut self, place: usize, chunk: u32, now: Time, out: &mut Vec<(Time, Draft)>) {
        match (place - self.plan.first_of(place)) as u32 {
            0 => self.down(place, chunk, now, out),
            rank => self.send(Sent { place, to: (rank - 1) / 2, what: UP | chunk }, now, out),
        }
    }

    /// Handles the arrival of a tree's fully reduced chunk at the rank at `place`.
    fn down(&mut self, place: usize, chunk: u32, now: Time, out: &mut Vec<(Time, Draft)>) {
        let rank = (place - self.plan.first_of(place)) as u32;
        for to in self.plan.children(rank) {
            self.send(Sent { place, to, what: chunk }, now, out);
        }
        self.took(place, now, out);
    }

    /// Counts a finished chunk of the iteration. After the last one, the next iteration begins.
    fn took(&mut self, place: usize, now: Time, out: &mut Vec<(Time, Draft)>) {
        let plan = self.plan.clone();
        let rank = &mut self.ranks[place];
        rank.done += 1;
        if rank.done < plan.whole() || rank.iteration + 1 >= plan.repeat {
            return;
        }
        (rank.iteration, rank.done) = (rank.iteration + 1, 0);
        let pause = plan.compute.saturating_add(plan.pause(&mut rank.shake));
        rank.begin = now.max(rank.begin).saturating_add(pause);
        rank.up.swap(0, 1);
        rank.up[1].fill(0);
        // Ranks that are ahead may have sent messages of this iteration already. They count from its start.
        let (begin, early) = (rank.begin, std::mem::take(&mut rank.early));
        self.open(place, out);
        early.into_iter().for_each(|step| self.step(place, step, begin, out));
        let children = plan.children((place - plan.first_of(place)) as u32).count();
        let come = |(chunk, count): (usize, &u8)| (usize::from(*count) == children).then_some(chunk as u32);
        let whole: Vec<u32> = self.ranks[place].up[0].iter().enumerate().filter_map(come).collect();
        whole.into_iter().for_each(|chunk| self.reduced(place, chunk, begin, out));
    }
}

#[cfg(test)]
mod tests;
