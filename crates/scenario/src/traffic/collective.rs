//! State of the ranks of an all-reduce, and the messages that they send when others arrive.
//!
//! Ring (Patarasuk and Yuan, JPDC 2009): the data are divided into as many chunks as there are ranks. In step 0 every
//! rank sends a chunk to the rank on its right. In the first N-1 steps a rank reduces each received chunk with its own
//! and sends it on in the next step. In the last N-1 steps it sends it on unchanged.
//!
//! Tree: rank r has the parent (r-1)/2. A chunk goes up when it has arrived from all children, and down again from the
//! root. Chunks follow each other.

use super::draft::FlowDraft;
use super::{FlowSpec, OWN_CONNECTION};
use mech::{HostId, Stream};
use std::sync::Arc;
use units::{Dur, Time};

/// Algorithm of an all-reduce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    Ring,
    /// Binary tree over which data is reduced in this number of chunks.
    Tree(u32),
}

/// Parameters of a workload's jobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JobPlan {
    pub algorithm: Algorithm,
    /// Hosts of the ranks of all jobs, job by job.
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
    /// True if messages between two ranks use the same connection again.
    pub persistent: bool,
    pub start: Time,
}

/// Flag in the number of a tree's chunk that is on its way to the root.
const TO_ROOT_FLAG: u32 = 1 << 31;

/// State of the ranks of a workload's jobs.
#[derive(Clone, Debug)]
pub struct Collective {
    plan: Arc<JobPlan>,
    ranks: Vec<RankProgress>,
}

/// Progress of a rank in its all-reduce.
#[derive(Clone, Debug)]
struct RankProgress {
    iteration: u64,
    /// Start of the rank's present iteration, which may be in the future.
    iteration_start: Time,
    /// Number of finished chunks in the rank's iteration: they need nothing more from other ranks.
    finished_chunks: u32,
    /// Ring steps of the next iteration that arrived before this iteration ended.
    early_steps: Vec<u32>,
    /// Number of a rank's children in the tree that each chunk has arrived from, for this iteration and for the next.
    child_arrivals: [Vec<u8>; 2],
    jitter_draws: Stream,
}

/// Message from a rank, numbered over all jobs, to another rank of its job.
#[derive(Clone, Copy)]
struct RankMessage {
    sender: usize,
    to: u32,
    /// Step of a ring, or chunk of a tree (with [`TO_ROOT_FLAG`] on its way to the root).
    step_or_chunk: u32,
}

impl JobPlan {
    fn count_jobs(&self) -> u64 {
        self.hosts.len() as u64 / u64::from(self.ranks)
    }
    /// Returns the number of messages that a rank receives in an iteration, or chunks that a tree's root reduces.
    fn completions_per_iteration(&self) -> u32 {
        match self.algorithm {
            Algorithm::Ring => 2 * (self.ranks - 1),
            Algorithm::Tree(chunks) => chunks,
        }
    }
    /// Returns the number of messages of an iteration of a job.
    pub fn messages_per_iteration(&self) -> u64 {
        let ranks = u64::from(self.ranks);
        match self.algorithm {
            Algorithm::Ring => 2 * (ranks - 1) * ranks,
            // Every chunk crosses each of the `ranks - 1` edges of the tree once up and once down.
            Algorithm::Tree(chunks) => 2 * (ranks - 1) * u64::from(chunks),
        }
    }
    fn chunk_bytes(&self, number: u32) -> u64 {
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
    fn draw_jitter(&self, shake: &mut Stream) -> Dur {
        if self.jitter == Dur::ZERO { Dur::ZERO } else { Dur(shake.uniform_below(self.jitter.0)) }
    }
    /// Returns the index of the first rank in the job of the rank at `place`.
    fn first_rank_of_job(&self, place: usize) -> usize {
        place - place % self.ranks as usize
    }

    /// Makes the flow of a message in an iteration.
    fn draft_message(
        &self,
        iteration: u64,
        RankMessage { sender: place, to, step_or_chunk: what }: RankMessage,
    ) -> FlowDraft {
        let first = self.first_rank_of_job(place);
        let rank = (place - first) as u32;
        let (job, other) = (first as u64 / u64::from(self.ranks), first + to as usize);
        let (bytes, connection) = match self.algorithm {
            // In step s, rank r sends the chunk that rank r - s (modulo the number of ranks) sent in step 0.
            Algorithm::Ring => {
                let chunk = (u64::from(rank) + 2 * u64::from(self.ranks) - u64::from(what)) % u64::from(self.ranks);
                (self.chunk_bytes(chunk as u32), place as u32)
            }
            Algorithm::Tree(_) if what & TO_ROOT_FLAG > 0 => (self.chunk_bytes(what & !TO_ROOT_FLAG), 2 * place as u32),
            Algorithm::Tree(_) => (self.chunk_bytes(what), 2 * other as u32 + 1),
        };
        FlowDraft {
            tag: u64::from(to) << 32 | u64::from(what),
            connection: if self.persistent { connection } else { OWN_CONNECTION },
            ..FlowDraft::on_own_connection(
                self.hosts[place],
                self.hosts[other],
                bytes,
                (iteration * self.count_jobs() + job) as u32,
            )
        }
    }
}

impl Collective {
    /// Creates the ranks of all jobs, before their first iteration. `shake` returns the random stream of a rank by its
    /// index.
    pub(super) fn new(plan: Arc<JobPlan>, shake: impl Fn(u32) -> Stream) -> Collective {
        let chunks = |rank: u32| match plan.algorithm {
            Algorithm::Tree(chunks) if plan.children(rank).next().is_some() => vec![0; chunks as usize],
            _ => Vec::new(),
        };
        let rank = |place: usize| {
            let mut shake = shake(place as u32);
            let begin = plan.start.saturating_add(plan.draw_jitter(&mut shake));
            let counts = chunks((place - plan.first_rank_of_job(place)) as u32);
            RankProgress {
                iteration: 0,
                iteration_start: begin,
                finished_chunks: 0,
                early_steps: Vec::new(),
                child_arrivals: [counts.clone(), counts],
                jitter_draws: shake,
            }
        };
        let ranks = (0..plan.hosts.len()).map(rank).collect();
        Collective { plan, ranks }
    }

    /// Returns the messages that ranks send at the start of their first iteration, in order of time.
    pub(super) fn first_messages(&self) -> Vec<(Time, FlowDraft)> {
        let mut first = Vec::new();
        (0..self.ranks.len()).for_each(|place| self.begin_iteration(place, &mut first));
        first.sort_by_key(|(start, _)| *start);
        first
    }

    /// Handles the delivery of a message: appends the messages that its receiver sends next.
    pub(super) fn on_delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        let (to, what) = ((message.tag >> 32) as u32, message.tag as u32);
        let jobs = self.plan.count_jobs();
        let (job, iteration) = (u64::from(message.query) % jobs, u64::from(message.query) / jobs);
        let place = (job * u64::from(self.plan.ranks)) as usize + to as usize;
        let mut said = Vec::new();
        let early = iteration > self.ranks[place].iteration;
        match self.plan.algorithm {
            Algorithm::Ring if early => self.ranks[place].early_steps.push(what),
            Algorithm::Ring => self.on_ring_step(place, what, now, &mut said),
            Algorithm::Tree(_) if what & TO_ROOT_FLAG > 0 => {
                let count = &mut self.ranks[place].child_arrivals[usize::from(early)][(what & !TO_ROOT_FLAG) as usize];
                *count += 1;
                if !early && usize::from(*count) == self.plan.children(to).count() {
                    self.on_chunk_reduced(place, what & !TO_ROOT_FLAG, now, &mut said);
                }
            }
            Algorithm::Tree(_) => self.on_chunk_from_root(place, what, now, &mut said),
        }
        out.extend(said.into_iter().map(|(start, draft)| draft.into_flow(start, message.traffic, message.class)));
    }

    /// Appends the messages that the rank at `place` sends at the start of its iteration, before any arrives.
    fn begin_iteration(&self, place: usize, out: &mut Vec<(Time, FlowDraft)>) {
        let (plan, RankProgress { iteration_start: begin, iteration, .. }) = (&self.plan, &self.ranks[place]);
        let rank = (place - plan.first_rank_of_job(place)) as u32;
        match plan.algorithm {
            Algorithm::Ring => out.push((
                *begin,
                plan.draft_message(
                    *iteration,
                    RankMessage { sender: place, to: (rank + 1) % plan.ranks, step_or_chunk: 0 },
                ),
            )),
            Algorithm::Tree(chunks) if plan.children(rank).next().is_none() => {
                let up = |chunk: u32| {
                    plan.draft_message(
                        *iteration,
                        RankMessage { sender: place, to: (rank - 1) / 2, step_or_chunk: TO_ROOT_FLAG | chunk },
                    )
                };
                out.extend((0..chunks).map(|chunk| (*begin, up(chunk))));
            }
            Algorithm::Tree(_) => {}
        }
    }

    /// Appends a message, at the start of the rank's iteration at the earliest.
    fn send_message(&self, sent: RankMessage, now: Time, out: &mut Vec<(Time, FlowDraft)>) {
        let rank = &self.ranks[sent.sender];
        out.push((now.max(rank.iteration_start), self.plan.draft_message(rank.iteration, sent)));
    }

    /// Handles the arrival of a ring's message at the rank at `place`.
    fn on_ring_step(&mut self, place: usize, step: u32, now: Time, out: &mut Vec<(Time, FlowDraft)>) {
        let rank = (place - self.plan.first_rank_of_job(place)) as u32;
        if step + 1 < self.plan.completions_per_iteration() {
            self.send_message(
                RankMessage { sender: place, to: (rank + 1) % self.plan.ranks, step_or_chunk: step + 1 },
                now,
                out,
            );
        }
        self.count_finished_chunk(place, now, out);
    }

    /// Handles a tree's chunk that is reduced over the rank at `place` and all ranks below it.
    fn on_chunk_reduced(&mut self, place: usize, chunk: u32, now: Time, out: &mut Vec<(Time, FlowDraft)>) {
        match (place - self.plan.first_rank_of_job(place)) as u32 {
            0 => self.on_chunk_from_root(place, chunk, now, out),
            rank => self.send_message(
                RankMessage { sender: place, to: (rank - 1) / 2, step_or_chunk: TO_ROOT_FLAG | chunk },
                now,
                out,
            ),
        }
    }

    /// Handles the arrival of a tree's fully reduced chunk at the rank at `place`.
    fn on_chunk_from_root(&mut self, place: usize, chunk: u32, now: Time, out: &mut Vec<(Time, FlowDraft)>) {
        let rank = (place - self.plan.first_rank_of_job(place)) as u32;
        for to in self.plan.children(rank) {
            self.send_message(RankMessage { sender: place, to, step_or_chunk: chunk }, now, out);
        }
        self.count_finished_chunk(place, now, out);
    }

    /// Counts a finished chunk of the iteration. After the last one, the next iteration begins.
    fn count_finished_chunk(&mut self, place: usize, now: Time, out: &mut Vec<(Time, FlowDraft)>) {
        let plan = self.plan.clone();
        let rank = &mut self.ranks[place];
        rank.finished_chunks += 1;
        if rank.finished_chunks < plan.completions_per_iteration() || rank.iteration + 1 >= plan.repeat {
            return;
        }
        (rank.iteration, rank.finished_chunks) = (rank.iteration + 1, 0);
        let pause = plan.compute.saturating_add(plan.draw_jitter(&mut rank.jitter_draws));
        rank.iteration_start = now.max(rank.iteration_start).saturating_add(pause);
        rank.child_arrivals.swap(0, 1);
        rank.child_arrivals[1].fill(0);
        // Ranks that are ahead may already have sent messages of this iteration. These take effect at its start.
        let (begin, early) = (rank.iteration_start, std::mem::take(&mut rank.early_steps));
        self.begin_iteration(place, out);
        early.into_iter().for_each(|step| self.on_ring_step(place, step, begin, out));
        let children = plan.children((place - plan.first_rank_of_job(place)) as u32).count();
        let come = |(chunk, count): (usize, &u8)| (usize::from(*count) == children).then_some(chunk as u32);
        let whole: Vec<u32> = self.ranks[place].child_arrivals[0].iter().enumerate().filter_map(come).collect();
        whole.into_iter().for_each(|chunk| self.on_chunk_reduced(place, chunk, begin, out));
    }
}

#[cfg(test)]
mod tests;
