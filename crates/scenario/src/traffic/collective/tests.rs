use super::*;
use mech::{StreamPurpose, hash_mix};
use std::collections::{BTreeMap, BTreeSet};

fn plan(algorithm: Algorithm, ranks: u32, jobs: u32) -> JobPlan {
    JobPlan {
        algorithm,
        hosts: (0..ranks * jobs).map(HostId).collect(),
        ranks,
        bytes: 1003,
        repeat: 3,
        compute: Dur::us(5),
        jitter: Dur::ZERO,
        persistent: false,
        start: Time(Dur::us(1).0),
    }
}

/// Ranks whose data is in each copy of a chunk, by iteration, rank that has the copy, and chunk.
type Copies = BTreeMap<(u64, usize, u32), BTreeSet<usize>>;

struct CollectiveModel {
    plan: Arc<JobPlan>,
    ranks: Collective,
    copies: Copies,
    /// First send and last delivery of each iteration, by query.
    spans: BTreeMap<u32, (Time, Time)>,
    messages: usize,
    bytes: u64,
}

impl CollectiveModel {
    fn new(plan: JobPlan) -> CollectiveModel {
        let plan = Arc::new(plan);
        let ranks = Collective::new(plan.clone(), |place| Stream::new(3, place, StreamPurpose::Reply(0)));
        CollectiveModel { plan, ranks, copies: BTreeMap::new(), spans: BTreeMap::new(), messages: 0, bytes: 0 }
    }

    fn copy(&mut self, at: (u64, usize, u32)) -> &mut BTreeSet<usize> {
        self.copies.entry(at).or_insert_with(|| BTreeSet::from([at.1]))
    }

    /// Runs all jobs to the end, over a network that delivers a message `time` after its start.
    fn run(&mut self, time: impl Fn(&FlowSpec) -> u64) {
        let mut under_way: BTreeMap<(Time, u64), (FlowSpec, BTreeSet<usize>)> = BTreeMap::new();
        // Messages wait here until they start, because a message carries the data that its rank has at that time.
        let mut due: BTreeMap<(Time, u64), FlowSpec> = BTreeMap::new();
        let mut n = 0;
        for (start, draft) in self.ranks.first_messages() {
            due.insert((start, n), draft.into_flow(start, 7, 2));
            n += 1;
        }
        loop {
            let starts = due.first_key_value().map(|(key, _)| key.0);
            let ends = under_way.first_key_value().map(|(key, _)| key.0);
            if starts.is_some_and(|start| ends.is_none_or(|end| start <= end)) {
                let ((start, n), spec) = due.pop_first().unwrap();
                let (at, _, chunk) = self.ends(&spec);
                let carried = self.copy((u64::from(spec.query), at, chunk)).clone();
                let span = self.spans.entry(spec.query).or_insert((start, start));
                span.0 = span.0.min(start);
                under_way.insert((start.saturating_add(Dur(time(&spec))), n), (spec, carried));
            } else if let Some(((now, _), (spec, carried))) = under_way.pop_first() {
                let (_, at, chunk) = self.ends(&spec);
                self.copy((u64::from(spec.query), at, chunk)).extend(carried);
                (self.messages, self.bytes) = (self.messages + 1, self.bytes + spec.bytes);
                self.spans.entry(spec.query).and_modify(|span| span.1 = span.1.max(now));
                let mut out = Vec::new();
                self.ranks.on_delivered(&spec, now, &mut out);
                for next in out {
                    assert!(next.start >= now && next.src == spec.dst && (next.traffic, next.class) == (7, 2));
                    due.insert((next.start, n), next);
                    n += 1;
                }
            } else {
                return;
            }
        }
    }

    /// Returns the sending and the receiving rank of a message, and the chunk that it carries.
    fn ends(&self, spec: &FlowSpec) -> (usize, usize, u32) {
        let (from, to) = (spec.src.0 as usize, spec.dst.0 as usize);
        let n = self.plan.ranks;
        let what = spec.tag as u32;
        let chunk = match self.plan.algorithm {
            Algorithm::Ring => (from as u32 % n + 2 * n - what) % n,
            Algorithm::Tree(_) => what & !TO_ROOT_FLAG,
        };
        assert_eq!(spec.bytes, self.plan.chunk_bytes(chunk));
        (from, to, chunk)
    }

    /// Checks that every rank of every job has every chunk of every iteration, reduced over all ranks of its job.
    fn check(&self, chunks: u32) {
        let (ranks, jobs) = (self.plan.ranks as usize, self.plan.count_jobs());
        for query in 0..self.plan.repeat * jobs {
            let first = (query % jobs) as usize * ranks;
            let all: BTreeSet<usize> = (first..first + ranks).collect();
            for place in first..first + ranks {
                (0..chunks).for_each(|chunk| assert_eq!(self.copies[&(query, place, chunk)], all, "{query} {place}"));
            }
        }
        assert_eq!(self.spans.len() as u64, self.plan.repeat * jobs);
    }
}

/// Returns a pseudo-random delay of a message, so that messages overtake each other.
fn uneven_delay(spec: &FlowSpec) -> u64 {
    1_000_000 + hash_mix(spec.tag << 8 | u64::from(spec.src.0), u64::from(spec.query)) % 20_000_000
}

#[test]
fn ring_gives_every_rank_the_sum_in_any_message_order() {
    for (ranks, jobs) in [(2, 1), (3, 2), (4, 1), (7, 3)] {
        for jitter in [Dur::ZERO, Dur::us(30)] {
            let mut model = CollectiveModel::new(JobPlan { jitter, ..plan(Algorithm::Ring, ranks, jobs) });
            model.run(uneven_delay);
            model.check(ranks);
            let iterations = 3 * jobs as usize;
            assert_eq!(model.messages, iterations * (2 * ranks * (ranks - 1)) as usize);
            // Patarasuk and Yuan: every rank sends 2 (N-1)/N of its data, and all ranks 2 (N-1) times the data.
            assert_eq!(model.bytes, iterations as u64 * 2 * u64::from(ranks - 1) * 1003);
        }
    }
}

#[test]
fn tree_gives_every_rank_the_sum_in_any_message_order() {
    for (ranks, jobs, chunks) in [(2, 1, 1), (3, 1, 4), (6, 2, 3), (15, 1, 1), (12, 1, 16)] {
        for jitter in [Dur::ZERO, Dur::us(30)] {
            let mut model = CollectiveModel::new(JobPlan { jitter, ..plan(Algorithm::Tree(chunks), ranks, jobs) });
            model.run(uneven_delay);
            model.check(chunks);
            let iterations = 3 * jobs as usize;
            assert_eq!(model.messages, iterations * (2 * (ranks - 1) * chunks) as usize);
            assert_eq!(model.bytes, iterations as u64 * 2 * u64::from(ranks - 1) * 1003);
        }
    }
}

#[test]
fn iteration_time_has_its_closed_form_if_messages_are_equal() {
    let step = Dur::us(10).0;
    let mut ring = CollectiveModel::new(plan(Algorithm::Ring, 5, 1));
    ring.run(|_| step);
    // An iteration of a ring has 2 (N-1) steps, and 5 us of computation follow.
    let spans: Vec<_> = ring.spans.values().map(|(from, to)| (from.0, to.0)).collect();
    let begin = |n: u64| 1_000_000 + n * (8 * step + 5_000_000);
    assert_eq!(spans, [0, 1, 2].map(|n| (begin(n), begin(n) + 8 * step)));
    // A tree of seven ranks has two levels below the root: two steps up, two down. The root finishes first, and waits
    // for the others.
    let mut tree = CollectiveModel::new(plan(Algorithm::Tree(3), 7, 1));
    tree.run(|_| step);
    let spans: Vec<_> = tree.spans.values().map(|(from, to)| (from.0, to.0)).collect();
    let begin = |n: u64| 1_000_000 + n * (4 * step + 5_000_000);
    assert_eq!(spans, [0, 1, 2].map(|n| (begin(n), begin(n) + 4 * step)));
}

#[test]
fn a_late_rank_delays_its_ring_and_sends_nothing_early() {
    let mut model = CollectiveModel::new(JobPlan { repeat: 2, ..plan(Algorithm::Ring, 3, 1) });
    model.ranks.ranks[1].iteration_start = Time(Dur::ms(1).0);
    model.run(|_| 1_000_000);
    model.check(3);
    // Rank 1 sends its chunk last, at 1 ms. The chunk takes 2 (N-1) = 4 messages of 1 us each.
    assert_eq!(model.spans[&0], (Time(Dur::us(1).0), Time(Dur::ms(1).0 + 4_000_000)));
}

#[test]
fn early_messages_wait_for_the_start_of_the_rank() {
    for (algorithm, ranks, late) in [(Algorithm::Ring, 3, 1), (Algorithm::Tree(1), 2, 0)] {
        let mut model = CollectiveModel::new(plan(algorithm, ranks, 1));
        model.ranks.ranks[late].iteration_start = Time(Dur::ms(1).0);
        let (at, draft) =
            model.ranks.first_messages().into_iter().find(|(_, draft)| draft.dst == HostId(late as u32)).unwrap();
        let mut out = Vec::new();
        model.ranks.on_delivered(&draft.into_flow(at, 7, 2), Time(Dur::us(2).0), &mut out);
        assert_eq!(out.iter().map(|spec| spec.start).collect::<Vec<_>>(), [Time(Dur::ms(1).0)]);
        if algorithm == Algorithm::Tree(1) {
            // The root has all messages at its start (1 ms): it finishes immediately, and computes for 5 us.
            assert_eq!(model.ranks.ranks[late].iteration_start, Time(Dur::us(1005).0));
        }
    }
}

#[test]
fn persistent_connections_have_a_number_per_direction() {
    for algorithm in [Algorithm::Ring, Algorithm::Tree(4)] {
        let plan = Arc::new(JobPlan { persistent: true, ..plan(algorithm, 5, 2) });
        let mut ranks = Collective::new(plan.clone(), |place| Stream::new(3, place, StreamPurpose::Reply(0)));
        let mut pairs: BTreeMap<u32, (HostId, HostId)> = BTreeMap::new();
        let mut all: Vec<FlowSpec> =
            ranks.first_messages().into_iter().map(|(at, draft)| draft.into_flow(at, 0, 0)).collect();
        while let Some(spec) = all.pop() {
            assert_eq!(*pairs.entry(spec.connection).or_insert((spec.src, spec.dst)), (spec.src, spec.dst));
            ranks.on_delivered(&spec, spec.start, &mut all);
        }
        let distinct: BTreeSet<_> = pairs.values().collect();
        let expected = if algorithm == Algorithm::Ring { 10 } else { 16 };
        assert_eq!((pairs.len(), distinct.len()), (expected, expected));
    }
}
