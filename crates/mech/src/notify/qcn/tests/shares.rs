//! Tests that QCN notifies the sources of flows in the proportions of QCN-OS, by χ² at 0.1%.

use super::*;

/// Critical values of χ² by degrees of freedom, exceeded once in a thousand times.
const CHI_SQUARE: [f64; 4] = [0.0, 10.83, 13.82, 16.27];

/// Asserts by a χ² test that counts have these proportions, which need not add up to 1.
fn assert_shares(counts: &[u32], shares: &[f64]) {
    let (all, whole) = (f64::from(counts.iter().sum::<u32>()), shares.iter().sum::<f64>());
    let expected: Vec<f64> = shares.iter().map(|share| all * share / whole).collect();
    let chi: f64 = counts.iter().zip(&expected).map(|(n, mean)| (f64::from(*n) - mean).powi(2) / mean).sum();
    assert!(all >= 9000.0 && chi < CHI_SQUARE[counts.len() - 1], "{counts:?} of {expected:?}: {chi}");
}

fn count_notified(flows: usize, told: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut counts = vec![0; flows];
    told.for_each(|flow| counts[flow as usize] += 1);
    counts
}

/// Counts the messages to each flow, while frames of flows with these rates and sizes arrive at random.
fn notified_by_arrival(flows: &[(u64, u64)], seed: u64) -> Vec<u32> {
    let mut bench = Bench::new("interval=30KB", DecisionInputs::with_seed(seed));
    let mut rng = DecisionInputs::with_seed(seed + 100).rng;
    let all: u64 = flows.iter().map(|(rate, _)| rate).sum();
    bench.memory.frames = vec![(occupant_of_flow(0), 80_000)];
    let mut told = Vec::new();
    while told.len() < 10_000 {
        let mut left = rng.uniform_below(all);
        let place = flows.iter().position(|(rate, _)| {
            let is_it = left < *rate;
            left = left.saturating_sub(*rate);
            is_it
        });
        let flow = place.expect("one of them");
        told.extend(bench.add_arrival(flow as u32, flows[flow].1).map(|(flow, ..)| flow));
    }
    count_notified(flows.len(), told.into_iter())
}

#[test]
fn by_arrival_a_flow_is_told_in_proportion_to_its_rate() {
    assert_shares(&notified_by_arrival(&[(1, 1522), (2, 1522), (5, 1522)], 1), &[1.0, 2.0, 5.0]);
    // Two flows at a port: a victim of 5 Gb/s and a culprit that is admitted at 2 Gb/s. The victim gets 71% of the
    // messages.
    assert_shares(&notified_by_arrival(&[(5, 1522), (2, 1522)], 2), &[5.0, 2.0]);
}

#[test]
fn by_arrival_bytes_count_and_not_frames() {
    assert_shares(&notified_by_arrival(&[(1, 1522), (20, 64), (3, 512)], 3), &[1522.0, 1280.0, 1536.0]);
}

/// Creates a congestion point with a memory that is always congested and never changes.
fn frozen_bench(given: &str, memory: Memory, seed: u64) -> Bench {
    let mut bench = Bench::new(&format!("at=inputs interval=1B q_eq=1KB {given}"), DecisionInputs::with_seed(seed));
    bench.memory = memory;
    bench
}

fn notified_by_draw(bench: &mut Bench, flows: usize) -> Vec<u32> {
    // Arrivals belong to flow 9, which has no frame in the memory.
    let told: Vec<u32> = (0..10_000).filter_map(|_| bench.add_arrival(9, 1000)).map(|(flow, ..)| flow).collect();
    assert_eq!(told.len(), 10_000);
    count_notified(flows, told.into_iter())
}

#[test]
fn by_occupancy_a_flow_is_told_in_proportion_to_what_it_has_in_the_memory() {
    let three = [(10_000, 1000), (20_000, 1000), (30_000, 1000)];
    assert_shares(
        &notified_by_draw(&mut frozen_bench("culprit=occupancy unit=250B", Memory::with_flows(250, &three), 4), 3),
        &[1.0, 2.0, 3.0],
    );
    // A victim that passes has two frames, its culprit 57.
    let hogged = [(2 * 1522, 1522), (57 * 1522, 1522)];
    assert_shares(
        &notified_by_draw(&mut frozen_bench("culprit=occupancy", Memory::with_flows(256, &hogged), 5), 2),
        &[2.0, 57.0],
    );
}

#[test]
fn by_occupancy_units_count_and_not_frames() {
    // Frames of 1522 B take six units of 256 B or one of 2048 B; frames of 64 B take one of either.
    let mixed = [(10 * 1522, 1522), (90 * 64, 64), (30 * 300, 300)];
    let of = |unit: u64, seed| {
        notified_by_draw(
            &mut frozen_bench(&format!("culprit=occupancy unit={unit}B"), Memory::with_flows(unit, &mixed), seed),
            3,
        )
    };
    assert_shares(&of(64, 6), &[240.0, 90.0, 150.0]);
    assert_shares(&of(256, 7), &[60.0, 90.0, 60.0]);
    assert_shares(&of(2048, 8), &[10.0, 90.0, 30.0]);
}

/// QCN with two samples, where the culprit's path, with a share p of the units, is more congested than the victim's.
#[test]
fn of_two_samples_the_victim_is_told_only_where_both_are_its_own() {
    for (held, seed) in [(50, 9), (90, 10), (20, 11)] {
        let mut memory = Memory::with_flows(1000, &[((100 - held) * 1000, 1000), (held * 1000, 1000)]);
        memory.outputs = vec![(10_000, Some(150_000), 0), (140_000, Some(150_000), 0)];
        let victim = (1.0 - held as f64 / 100.0).powi(2);
        assert_shares(
            &notified_by_draw(&mut frozen_bench("culprit=two_samples", memory, seed), 2),
            &[victim, 1.0 - victim],
        );
    }
}

#[test]
fn two_samples_with_equal_paths_notify_by_memory_share() {
    let flows = [(10_000, 1000), (30_000, 1000)];
    let mut memory = Memory::with_flows(1000, &flows);
    memory.outputs = vec![(5000, Some(150_000), 0); 2];
    assert_shares(&notified_by_draw(&mut frozen_bench("culprit=two_samples", memory, 12), 2), &[1.0, 3.0]);
    let mut alone = Memory::with_flows(1000, &[(9000, 1000)]);
    alone.outputs = vec![(0, None, 0)];
    assert_eq!(notified_by_draw(&mut frozen_bench("culprit=two_samples", alone, 13), 1), [10_000]);
}

/// Returns the flow notified if unit 0 (flow 0) is drawn before unit 1 (flow 1), and in the opposite order.
fn notified_by_path(index: &str, ways: [(u64, Option<u64>, u64); 2]) -> [u32; 2] {
    [[0.1, 0.9], [0.9, 0.1]].map(|draws| {
        let mut bench = Bench::new(
            &format!("jitter=0 interval=1B q_eq=1B culprit=two_samples index={index}"),
            DecisionInputs::with_draws(&draws),
        );
        bench.memory = Memory::with_flows(1000, &[(1000, 1000), (1000, 1000)]);
        bench.memory.outputs = ways.to_vec();
        let told = bench.add_arrival(9, 1).expect("congestion").0;
        assert_eq!(bench.desk.rng.remaining_draws(), 0);
        told
    })
}

#[test]
fn the_index_is_a_share_of_the_first_hop_or_of_the_backlog_for_it_and_a_tie_is_the_seconds() {
    let full = Some(100_000);
    assert_eq!(notified_by_path("first_hop", [(9000, full, 0), (8999, full, 90_000)]), [0, 0]);
    assert_eq!(notified_by_path("first_hop", [(9000, full, 0), (9001, full, 0)]), [1, 1]);
    assert_eq!(notified_by_path("first_hop", [(9000, full, 50_000), (9000, full, 0)]), [1, 0]);
    assert_eq!(notified_by_path("backlog", [(9000, full, 50_000), (90_000, full, 49_999)]), [0, 0]);
    assert_eq!(notified_by_path("backlog", [(9000, full, 50_000), (0, full, 50_000)]), [1, 0]);
    // A small buffer fills sooner; one without a limit never fills.
    assert_eq!(notified_by_path("first_hop", [(9000, full, 0), (5000, Some(10_000), 0)]), [1, 1]);
    assert_eq!(notified_by_path("first_hop", [(9000, full, 0), (900, Some(10_000), 0)]), [1, 0]);
    assert_eq!(notified_by_path("first_hop", [(1, full, 0), (1_000_000, None, 0)]), [0, 0]);
    assert_eq!(notified_by_path("first_hop", [(1, None, 0), (2, None, 0)]), [1, 1]);
    assert_eq!(notified_by_path("first_hop", [(0, Some(0), 0), (1, Some(0), 0)]), [1, 1]);
}

#[test]
fn a_flow_is_drawn_only_where_somebody_is_told_and_from_what_is_there() {
    for culprit in ["occupancy", "two_samples"] {
        let mut bench = Bench::without_jitter(&format!("at=inputs interval=1B culprit={culprit}"));
        assert_eq!(bench.set_queue(20_000, 1000), None, "no draw is stated, and none made");
        // The message goes to the owner of the only occupied unit, not to the flow that has just arrived.
        let mut bench = Bench::without_jitter(&format!("at=inputs interval=1B q_eq=1B culprit={culprit}"));
        bench.memory.frames = vec![(occupant_of_flow(0), 9000)];
        bench.memory.unit = u64::MAX;
        bench.memory.outputs = vec![(0, None, 0)];
        bench.desk = DecisionInputs::with_draws(&[0.51, 0.51][..if culprit == "occupancy" { 1 } else { 2 }]);
        assert_eq!(bench.add_arrival(7, 1000).map(|told| told.0), Some(0));
        assert_eq!(bench.desk.rng.remaining_draws(), 0);
    }
    let mut bench = Bench::without_jitter("interval=1B q_eq=1B");
    bench.memory.frames = vec![(occupant_of_flow(0), 9000)];
    assert_eq!(bench.add_arrival(7, 1000).map(|told| told.0), Some(7), "it has just come");
}

/// Worked example of QCN-OS §III: three flows arrive at the same rate, and the third leaves at a quarter of it.
#[test]
fn the_flow_that_is_not_served_is_told_by_occupancy_and_each_as_often_by_arrival() {
    let told = |culprit: &str| {
        let mut bench = Bench::new(&format!("at=inputs interval=3KB culprit={culprit}"), DecisionInputs::with_seed(14));
        let mut told = Vec::new();
        bench.memory = Memory::with_flows(250, &[(20_000, 1000), (20_000, 1000), (20_000, 1000)]);
        for n in 0..60_000 {
            let flow = n % 3;
            bench.memory.frames.push((occupant_of_flow(flow), 1000));
            told.extend(bench.add_arrival(flow, 1000).map(|(flow, ..)| flow));
            // The first two never wait long; the third occupies up to 110 KB of the memory.
            let held = bench.memory.frames.iter().filter(|(whose, _)| whose.flow.0 == flow).count();
            let leaves = flow < 2 && held > 2 || n % 12 == 11 || held > 110;
            let first = bench.memory.frames.iter().position(|(whose, _)| whose.flow.0 == flow).filter(|_| leaves);
            first.map(|place| bench.memory.frames.remove(place));
        }
        count_notified(3, told.into_iter())
    };
    let by_occupancy = told("occupancy");
    assert!(by_occupancy[2] > 5 * by_occupancy[0].max(by_occupancy[1]) && by_occupancy[0] > 0, "{by_occupancy:?}");
    assert_shares(&told("arrival"), &[1.0, 1.0, 1.0]);
}

/// Path-congestion index that is lower for a longer backlog, so that it chooses the opposite flow of `first_hop`.
struct LessBackloggedIndex;

impl PathIndex for LessBackloggedIndex {
    fn congestion(&self, frame: &Occupant, view: &dyn View) -> (u64, u64) {
        (1_000_000 - view.output_fill(frame.output).used, 1)
    }
    fn clone_boxed(&self) -> Box<dyn PathIndex> {
        Box::new(LessBackloggedIndex)
    }
}

#[test]
fn of_two_samples_an_index_from_outside_says_which_way_is_worse() {
    let mut memory = Memory::with_flows(1000, &[(50_000, 1000), (50_000, 1000)]);
    memory.outputs = vec![(10_000, Some(150_000), 0), (140_000, Some(150_000), 0)];
    let mut bench = frozen_bench("culprit=two_samples", memory, 9);
    bench.qcn = bench.qcn.clone().with_path_index(LessBackloggedIndex);
    assert_shares(&notified_by_draw(&mut bench, 2), &[0.75, 0.25]);
}
