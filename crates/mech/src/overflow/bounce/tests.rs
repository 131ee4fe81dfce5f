//! Tests of PABO's equation 4 with the published numbers, and of special cases of the bounce decision.

use super::*;
use crate::buffer::PerPort;
use crate::testing::{DecisionInputs, buffer_of_packets, parse_head, switch_without_packets, values};

fn assert_near(value: f64, published: f64, tolerance: f64) {
    assert!((value - published).abs() <= tolerance, "{value} is not {published}");
}
fn bounce(given: &str) -> Bounce {
    Bounce::new(&values(&SPEC, given))
}
/// Returns the fate of a packet for port 0 from host 2, which came in by port 1.
/// The normal queue of port 0 has `waiting` of `limit` packets.
fn fate(given: &str, (waiting, limit): (u32, u64), draws: &[f64]) -> Fate {
    let mut state = switch_without_packets(3, buffer_of_packets(limit));
    state.bounce = Some(PerPort::with_size(Amount::Packets(limit)));
    state.fill_up(waiting, parse_head(""), (PortId(0), QueueId::normal(0)));
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
    let mut desk = DecisionInputs::with_draws(draws);
    let fate = bounce(given).admit(&parse_head("src=2 dst=0"), &at, &mut desk.env());
    assert_eq!(desk.rng.remaining_draws(), 0);
    fate
}

#[test]
fn probability_matches_figure_3() {
    for (np, p) in [(0, 0.7773), (1, 0.6514), (2, 0.6027)] {
        assert_near(probability(0.75, np, 0.5, 5.0), p, 1e-4);
    }
    for (lambda, p) in [(5.0, 0.7773), (15.0, 0.9770), (25.0, 0.9981)] {
        assert_near(probability(0.75, 0, 0.5, lambda), p, 1e-4);
    }
}

#[test]
fn equation_4_equals_equations_1_to_3_combined() {
    for (theta, lambda) in [(0.0, 5.0), (0.5, 25.0), (0.8, 50.0), (0.95, 50.0)] {
        for np in 0..4u8 {
            let base = libm::exp(lambda / (f64::from(np) + 1.0));
            let alpha = libm::pow(base, theta) / (libm::pow(base, theta - 1.0) - 1.0);
            let beta = 1.0 / (1.0 - libm::pow(base, theta - 1.0));
            for u in (1..100).map(|i| theta + (1.0 - theta) * f64::from(i) / 100.0) {
                let p = alpha * libm::pow(base, -u) + beta;
                assert_near(probability(u, np, theta, lambda), p, 1e-9);
            }
        }
    }
}

#[test]
fn probability_matches_sections_v_and_vi() {
    assert_near(probability(0.9, 0, 0.8, 50.0), 0.9933, 1e-4);
    assert_near(probability(0.9, 3, 0.8, 50.0), 0.7773, 1e-4);
    assert_near(probability(0.81, 0, 0.8, 50.0), 0.3935, 1e-4);
    for (u, p) in [(0.96, 0.4287), (0.98, 0.8463), (0.99, 0.9420)] {
        assert_near(probability(u, 0, 0.95, 50.0), p, 1e-4);
    }
}

#[test]
fn probability_is_0_up_to_theta_and_1_if_full() {
    for np in [0, 1, 7, 255] {
        for lambda in [0.0, 1e-9, 1.0, 50.0, 1e6] {
            for theta in [0.0, 0.5, 0.95, 0.999] {
                assert_eq!(probability(theta, np, theta, lambda), 0.0);
                assert_eq!(probability(theta / 2.0, np, theta, lambda), 0.0);
                assert_eq!(probability(1.0, np, theta, lambda), 1.0);
                assert_near(probability(1.0 - 1e-15, np, theta, lambda), 1.0, 1e-11);
            }
        }
    }
}

#[test]
fn bounce_probability_with_lambda_zero_is_linear() {
    for u in [0.85, 0.9, 0.99] {
        assert_near(probability(u, 0, 0.8, 0.0), (u - 0.8) / 0.2, 1e-12);
        assert_near(probability(u, 0, 0.8, 1e-7), (u - 0.8) / 0.2, 1e-6);
    }
}

#[test]
fn probability_is_concave_in_u_and_falls_with_np() {
    let points: Vec<f64> = (1..100).map(|i| 0.5 + f64::from(i) / 200.0).collect();
    for np in 0..4 {
        for lambda in [1.0, 5.0, 15.0, 25.0] {
            let p = |u: f64| probability(u, np, 0.5, lambda);
            for u in &points {
                assert!(p(u - 0.002) + p(u + 0.002) < 2.0 * p(*u) || *u > 0.998, "np {np} λ {lambda} u {u}");
                assert!(probability(*u, np + 1, 0.5, lambda) < p(*u));
                assert!(probability(*u, np, 0.5, lambda + 1.0) > p(*u));
                assert!(p(u + 0.002) > p(*u) || *u > 0.998);
            }
        }
    }
}

#[test]
fn queue_exactly_at_theta_forwards_without_a_draw() {
    let forward = Fate::Enqueue(QueueId::normal(0));
    assert_eq!(fate("theta=0.8", (400, 500), &[]), forward);
    assert_eq!(fate("theta=0.95", (95, 100), &[]), forward);
    assert_eq!(fate("theta=0", (0, 100), &[]), forward);
    assert_eq!(fate("theta=0.8", (401, 500), &[0.0951]), Fate::Bounce(PortId(2)));
    assert_eq!(fate("theta=0.8", (401, 500), &[0.0952]), forward);
}

#[test]
fn theta_0_and_lambda_0_bounce_in_proportion_to_utilisation() {
    assert_eq!(fate("theta=0 lambda=0", (1, 100), &[0.0099]), Fate::Bounce(PortId(2)));
    assert_eq!(fate("theta=0 lambda=0", (1, 100), &[0.0101]), Fate::Enqueue(QueueId::normal(0)));
}

#[test]
fn draw_equal_to_the_probability_bounces() {
    assert_eq!(fate("theta=0 lambda=0 round_to=0", (1, 2), &[0.5]), Fate::Bounce(PortId(2)));
    let above = 0.5 + f64::from(f32::EPSILON);
    assert_eq!(fate("theta=0 lambda=0 round_to=0", (1, 2), &[above]), Fate::Enqueue(QueueId::normal(0)));
}

#[test]
fn every_class_has_its_own_normal_and_bounce_queue() {
    for class in 0..8 {
        let mut state = switch_without_packets(3, buffer_of_packets(10));
        state.bounce = Some(PerPort::with_size(Amount::Packets(10)));
        let other = (class + 1) % 8;
        state.fill_up(10, parse_head(&format!("np=1 class={other}")), (PortId(0), QueueId::new(other, Lane::Bounce)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
        for (np, queue) in [
            (0, QueueId::normal(class)),
            (1, QueueId::new(class, Lane::Bounce)),
            (9, QueueId::new(class, Lane::Bounce)),
        ] {
            let pkt = parse_head(&format!("src=2 dst=0 class={class} np={np}"));
            let fate = bounce("").admit(&pkt, &at, &mut DecisionInputs::with_draws(&[]).env());
            assert_eq!(fate, Fate::Enqueue(queue), "class {class}, bounced {np} times");
        }
        state.fill_up(10, parse_head(&format!("np=1 class={class}")), (PortId(0), QueueId::new(class, Lane::Bounce)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
        let pkt = parse_head(&format!("src=2 dst=0 class={class} np=1"));
        assert_eq!(
            bounce("").admit(&pkt, &at, &mut DecisionInputs::with_draws(&[]).env()),
            Fate::Bounce(PortId(2)),
            "class {class}"
        );
    }
}

#[test]
fn queue_is_full_with_fewer_than_round_to_free_packets() {
    assert_eq!(fate("round_to=3", (98, 100), &[]), Fate::Bounce(PortId(2)));
    // By eq. 4 with θ = 0.8 and λ = 50, P(0.97) = 0.99984, P(0.98) = 0.99992 and P(0.99) = 0.99997. So the draw 0.99999
    // forwards, unless the queue counts as full.
    assert_eq!(fate("round_to=3", (97, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
    assert_eq!(fate("round_to=1", (99, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
    let full = |given: &str| bounce(given).full_length_in_packets(100);
    assert_eq!((full("round_to=3"), full("round_to=3 rounding=multiple"), full("round_to=0")), (98, 99, 100));
}

#[test]
fn full_length_in_bytes_depends_on_the_arriving_packet() {
    let bytes = bounce("bounce_size=12000B round_to=3");
    assert_eq!((bytes.full_length(12_000, 1500), bytes.full_length(12_000, 64)), (7501, 11_809));
    assert_eq!(bounce("bounce_size=12000B round_to=3 rounding=multiple").full_length(12_000, 1500), 9000);
    assert_eq!(bounce("bounce_size=12000B round_to=0").full_length(12_000, 1500), 12_000);
    assert_eq!(bytes.full_length(3000, 1500), 1, "an empty queue is not full");
    assert_eq!(bytes.full_length_in_packets(100), 100, "nobody knows how long the next packet is");
}

#[test]
fn rounding_multiple_equals_the_default_for_500_packets() {
    let full = |given, used, limit| fate(given, (used, limit), &[]) == Fate::Bounce(PortId(2));
    for given in ["round_to=3 rounding=multiple theta=0.999", "round_to=3 theta=0.999"] {
        assert!(full(given, 498, 500) && !full(given, 497, 500), "{given}");
    }
    assert!(full("round_to=3 rounding=multiple theta=0.999", 99, 100));
    assert!(!full("round_to=3 rounding=multiple theta=0.999", 98, 100));
    assert_eq!(fate("round_to=3 rounding=multiple", (98, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
    assert_eq!(fate("round_to=0", (99, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
    assert_eq!(fate("round_to=0", (100, 100), &[]), Fate::Bounce(PortId(2)));
}

#[test]
fn empty_queue_smaller_than_round_to_is_not_full() {
    assert_eq!(fate("round_to=3", (0, 2), &[]), Fate::Enqueue(QueueId::normal(0)));
    assert_eq!(fate("round_to=3", (1, 2), &[]), Fate::Bounce(PortId(2)));
}

#[test]
fn packet_from_an_unknown_source_is_not_bounced() {
    let mut state = switch_without_packets(2, buffer_of_packets(1));
    state.fill_up(1, parse_head(""), (PortId(0), QueueId::normal(0)));
    state.fill_up(1, parse_head("np=1"), (PortId(0), QueueId::new(0, Lane::Bounce)));
    state.bounce = Some(PerPort::with_size(Amount::Packets(1)));
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
    let ask = |text| bounce("").admit(&parse_head(text), &at, &mut DecisionInputs::with_draws(&[]).env());
    assert_eq!(ask("src=77"), Fate::Drop(DropReason::BufferFull));
    assert_eq!(ask("src=77 np=1"), Fate::Drop(DropReason::BounceQueueFull));
}

#[test]
fn bounce_full_forward_stores_if_the_return_lane_is_full() {
    let mut state = switch_without_packets(3, buffer_of_packets(10));
    state.bounce = Some(PerPort::with_size(Amount::Packets(2)));
    state.fill_up(9, parse_head(""), (PortId(0), QueueId::normal(0)));
    state.fill_up(2, parse_head("np=1"), (PortId(2), QueueId::new(0, Lane::Bounce)));
    let ask = |state: &crate::testing::SwitchState, given: &str| {
        let at = ForwardingContext { view: state, ingress: PortId(1), output: PortId(0) };
        bounce(given).admit(&parse_head("src=2 dst=0"), &at, &mut DecisionInputs::with_draws(&[]).env())
    };
    assert_eq!(ask(&state, ""), Fate::Bounce(PortId(2)));
    assert_eq!(ask(&state, "bounce_full=forward"), Fate::Enqueue(QueueId::normal(0)));
    state.fill_up(1, parse_head(""), (PortId(0), QueueId::normal(0)));
    assert_eq!(ask(&state, "bounce_full=forward"), Fate::Drop(DropReason::BufferFull));
    state.bounce = Some(PerPort::with_size(Amount::Packets(3)));
    assert_eq!(ask(&state, "bounce_full=forward"), Fate::Bounce(PortId(2)));
}

#[test]
fn nothing_is_bounced_with_unlimited_memory() {
    let mut state = switch_without_packets(2, crate::buffer::BufferSlot::per_port(None));
    state.fill_up(10_000, parse_head(""), (PortId(0), QueueId::normal(0)));
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
    let fate = bounce("theta=0").admit(&parse_head("src=1"), &at, &mut DecisionInputs::with_draws(&[]).env());
    assert_eq!(fate, Fate::Enqueue(QueueId::normal(0)));
}

#[test]
fn share_of_bounced_packets_matches_the_probability() {
    let mut state = switch_without_packets(3, buffer_of_packets(100));
    state.fill_up(81, parse_head(""), (PortId(0), QueueId::normal(0)));
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: PortId(0) };
    let (mut desk, mut mechanism) = (DecisionInputs::with_seed(5), bounce(""));
    let mut ask = || matches!(mechanism.admit(&parse_head("src=2"), &at, &mut desk.env()), Fate::Bounce(_));
    let bounced = (0..100_000).filter(|_| ask()).count() as f64;
    // Expected share P(0.81) = 0.39349; five standard deviations of the count are 772.
    assert_near(bounced, 39_349.0, 772.0);
}
