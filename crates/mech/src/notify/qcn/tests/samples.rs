//! Tests of the times and feedback of QCN's samples, by default with the numbers of QCN-OS, Table I.

use super::*;

fn curve(given: &str) -> FeedbackCurve {
    Qcn::new(&values(&SPEC, given)).curve
}

#[test]
fn feedback_is_position_and_weighted_velocity_in_63_steps_up_to_five_set_points() {
    let table = curve("");
    for (q, q_old, feedback) in [
        (110_000, 110_000, 10), // 50 KB of 300: 10.5
        (110_000, 0, 56),       // 50 + 2 x 110 = 270 KB: 56.7
        (60_000, 60_000, 0),
        (64_761, 64_761, 0), // a step is 4761.9 B
        (64_762, 64_762, 1),
        (60_000, 40_000, 8),   // 0 + 40 KB: 8.4
        (40_000, 10_000, 8),   // below the set point, but growing: -20 + 60
        (110_000, 150_000, 0), // above it and falling: 50 - 80
        (0, 0, 0),
        (119_999, 0, 62), // 59,999 + 239,998
        (120_000, 0, 63), // 60 + 240 = 300 KB: the largest
        (10_000_000, 0, 63),
        (0, 10_000_000, 0),
    ] {
        assert_eq!(table.feedback(q, q_old), feedback, "{q} after {q_old}");
    }
    // With the set point of the standard's MIB, the largest feedback is 130,000 B, and 182,000 B with w = 3.
    assert_eq!(
        [curve("q_eq=26000B").feedback(52_000, 52_000), curve("q_eq=26000B w=3").feedback(52_000, 52_000)],
        [12, 9]
    );
    assert_eq!(curve("w=0").feedback(90_000, 0), 31);
}

#[test]
fn nearest_rounds_halves_up() {
    let nearest = curve("rounding=nearest");
    let halves = [(110_000, 11), (62_380, 0), (62_381, 1), (119_999, 13), (360_000, 63), (357_620, 63), (357_619, 62)];
    for (q, feedback) in halves {
        assert_eq!(nearest.feedback(q, q), feedback, "{q}");
    }
}

#[test]
fn sizes_without_bounds_do_not_overflow() {
    let most = u64::MAX;
    let endless = FeedbackCurve { q_eq: most, w: 64, rounding: FeedbackRounding::Nearest };
    assert_eq!([endless.feedback(most, most), endless.feedback(most, 0), endless.feedback(0, most)], [0, 31, 0]);
    assert_eq!(feedback::sampling_interval(most, 0), most);
    let mut bench = Bench::new("q_eq=1B interval=18000000000GB jitter=0.9", DecisionInputs::with_seed(1));
    assert_eq!(bench.set_queue(1_000_000, 18_000_000_000_000_000_000), Some((0, 63, 999_999, 1_000_000)));
}

#[test]
fn the_interval_is_that_of_the_upper_three_bits() {
    let table = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500];
    for feedback in 0..=feedback::MAX_FEEDBACK {
        assert_eq!(feedback::sampling_interval(150_000, feedback), table[usize::from(feedback / 8)], "{feedback}");
    }
    // The base of public code is 150 KiB.
    assert_eq!(
        [0, 31, 40, 63].map(|feedback| feedback::sampling_interval(153_600, feedback)),
        [153_600, 38_400, 25_600, 18_944]
    );
}

#[test]
fn every_sample_sets_the_old_length_and_the_interval_whether_or_not_a_message_goes_out() {
    let mut bench = Bench::without_jitter("");
    assert_eq!(bench.bytes_until_sample(), 150_000);
    assert_eq!((bench.set_queue(0, 149_999), bench.bytes_until_sample()), (None, 1));
    // Feedback: 40 + 2 x 100 = 240 KB: 50.4
    assert_eq!((bench.set_queue(100_000, 1), bench.bytes_until_sample()), (Some((0, 50, 40_000, 100_000)), 21_500));
    // No sample is taken between intervals.
    assert_eq!((bench.set_queue(150_000, 21_499), bench.bytes_until_sample()), (None, 1));
    // Feedback: 40 + 0 = 40 KB: 8.4
    assert_eq!((bench.set_queue(100_000, 1), bench.bytes_until_sample()), (Some((0, 8, 40_000, 0)), 75_000));
    // Feedback: 30 - 20 = 10 KB: 2.1
    assert_eq!((bench.set_queue(90_000, 75_000), bench.bytes_until_sample()), (Some((0, 2, 30_000, -10_000)), 150_000));
    // Feedback: 20 - 20 = 0: no message, and 80 KB is the old length from here on.
    assert_eq!((bench.set_queue(80_000, 150_000), bench.bytes_until_sample()), (None, 150_000));
    // Feedback: 20 + 0 = 20 KB: 4.2
    assert_eq!((bench.set_queue(80_000, 150_000), bench.bytes_until_sample()), (Some((0, 4, 20_000, 0)), 150_000));
    // Feedback far below 0: -50 - 140 KB, then -40 + 20 KB, then 0 + 80 KB: 16.8
    assert_eq!((bench.set_queue(10_000, 150_000), bench.bytes_until_sample()), (None, 150_000));
    assert_eq!((bench.set_queue(20_000, 150_000), bench.bytes_until_sample()), (None, 150_000));
    assert_eq!((bench.set_queue(60_000, 150_000), bench.bytes_until_sample()), (Some((0, 16, 0, 40_000)), 50_000));
    // A step is 4761.9 B: 4762 + 2 x 4762 B, then 4762 + 0 B, the smallest feedback of a message.
    assert_eq!((bench.set_queue(64_762, 50_000), bench.bytes_until_sample()), (Some((0, 3, 4762, 4762)), 150_000));
    assert_eq!((bench.set_queue(64_762, 150_000), bench.bytes_until_sample()), (Some((0, 1, 4762, 0)), 150_000));
}

#[test]
fn a_frame_that_passes_several_intervals_is_one_sample_and_what_is_beyond_is_not_kept() {
    let mut bench = Bench::without_jitter("interval=1000B");
    assert_eq!((bench.set_queue(70_000, 9000), bench.bytes_until_sample()), (Some((0, 31, 10_000, 70_000)), 250));
    assert_eq!((bench.set_queue(70_000, 260), bench.bytes_until_sample()), (Some((0, 2, 10_000, 0)), 1000));
    // An interval below a byte becomes one byte: every frame is a sample.
    let mut bench = Bench::without_jitter("interval=7B");
    assert_eq!((bench.set_queue(200_000, 64), bench.bytes_until_sample()), (Some((0, 63, 140_000, 200_000)), 1));
}

#[test]
fn intervals_vary_evenly_from_less_to_more_by_one_draw_a_sample() {
    for (draw, until) in [(0.000_01, 127_500), (0.500_01, 150_000), (0.999_99, 172_500)] {
        let mut bench = Bench::new("", DecisionInputs::with_draws(&[draw]));
        // The first interval is the base, since no number is drawn before the first sample.
        assert_eq!(bench.bytes_until_sample(), 150_000);
        assert_eq!((bench.set_queue(0, 150_000), bench.bytes_until_sample()), (None, until));
        assert_eq!(bench.desk.rng.remaining_draws(), 0);
    }
    // Jitter applies to the interval after the feedback, 21,500 B.
    let mut bench = Bench::new("jitter=0.5", DecisionInputs::with_draws(&[0.000_01]));
    assert_eq!(
        (bench.set_queue(100_000, 150_000), bench.bytes_until_sample()),
        (Some((0, 50, 40_000, 100_000)), 10_750)
    );
}

/// A 10 Gb/s link delivers 1.234e9 B/s in frames of 1522 B, with preamble and gap.
/// QCN takes a sample at the end of the frame that completes an interval, half a frame late on average.
#[test]
fn there_are_as_many_samples_as_intervals_in_what_comes() {
    let per_second = 1.25e9 * 1522.0 / 1542.0;
    for (q, interval, samples) in [(0, 150_000.0, 8225.0), (10_000_000_u64, 18_500.0, 66_700.0)] {
        let mut bench = Bench::new("", DecisionInputs::with_seed(7));
        let (mut found, frames) = (0, 811_000);
        let mut growing = 0;
        for _ in 0..frames {
            let before = bench.qcn.next;
            growing += q;
            bench.set_queue(growing, 1522);
            found += u32::from(bench.qcn.next != before);
        }
        let found = f64::from(found) * per_second / (f64::from(frames) * 1522.0);
        let expected = per_second / (interval + 761.0);
        assert!((found / expected - 1.0).abs() < 0.005, "{found} of {expected}");
        assert!((found / samples - 1.0).abs() < 0.045 && found < samples, "{found} of {samples}");
    }
}

#[test]
fn qcn_follows_only_the_account_of_its_side_and_class() {
    for (at, side, own) in [
        ("inputs", MemorySide::Input, Account::Entered(PORT, 3)),
        ("outputs", MemorySide::Output, Account::Arrived(PORT, 3)),
    ] {
        let mut bench = Bench::without_jitter(&format!("at={at}"));
        bench.memory.side = Some(side);
        assert_eq!(bench.set_queue(110_000, 150_000), Some((0, 56, 50_000, 110_000)));
        for of in Account::accounts_of_port(PORT) {
            assert_eq!(bench.qcn.range_without_call(of) != Account::UNWATCHED, of == own, "{of:?} {at}");
        }
        let drawn = MemorySampling { side, class: 3, unit: Bytes(64) };
        for (culprit, samples) in [("arrival", None), ("occupancy", Some(drawn)), ("two_samples", Some(drawn))] {
            let needs = Bench::without_jitter(&format!("at={at} culprit={culprit} unit=64B")).qcn.needs();
            assert_eq!(needs, Needs { sends_notices: true, samples, ..Needs::default() });
        }
    }
}

#[test]
fn qcn_is_inactive_up_to_the_longest_uncongested_queue() {
    for given in ["", "rounding=nearest", "q_eq=26000B w=4", "q_eq=1B", "w=0 rounding=nearest", "q_eq=7B w=64"] {
        let qcn = Qcn::new(&values(&SPEC, given));
        let most = qcn.inactive_up_to().expect("at outputs").bytes;
        assert_eq!((qcn.curve.feedback(most, 0), qcn.curve.feedback(most + 1, 0) > 0), (0, true), "{given}: {most}");
        assert!((0..=most.min(100_000)).all(|q| qcn.curve.feedback(q, 0) == 0));
    }
    let inputs = Qcn::new(&values(&SPEC, "at=inputs"));
    assert_eq!((inputs.inactive_up_to(), Qcn::new(&values(&SPEC, "")).input_inactive_up_to()), (None, None));
    assert_eq!(inputs.input_inactive_up_to(), Qcn::new(&values(&SPEC, "")).inactive_up_to());
}
