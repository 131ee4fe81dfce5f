//! PABO: excess packets go back to where they came from (Shi et al., "PABO: Mitigating Congestion
//! via Packet Bounce in Data Center Networks", Computer Communications 2018).
//!
//! On arrival, before enqueue, the switch looks at the one queue that the packet would enter: the
//! normal queue of its output port, or the bounce queue once it was bounced. With probability
//! eq. 4 of that queue's utilisation it goes to the bounce queue of the port that the switch's own
//! table gives for the packet's source. A queue that has no room for the packet counts as full,
//! whatever its unit, so that only a full bounce queue loses packets. The paper does not say what becomes
//! of a packet whose way back is full: with `bounce_full = "drop"` the back port's queue is not tested and
//! the packet is lost there, with `forward` it tries its own queue instead. With `back_port = "ingress"` a
//! packet that came in by the port it would leave by goes on toward its source, since it was bounced here
//! from there before. What a source does that gets its packets back (§II-G) is in [`crate::host`].

use super::{DropReason, Fate, Overflow};
use crate::check::in_words;
use crate::params::{Kind, Spec, Values};
use crate::{Beside, Env, Fill, ForwardingContext, Head, Lane, Needs, PortId, QueueId, Report, choice, params};
use units::Amount;

/// See the module.
#[derive(Clone, Debug)]
pub struct Bounce {
    theta: f64,
    lambda: f64,
    bounce_size: Amount,
    round_to: u64,
    to_multiple: bool,
    by_source: bool,
    tests_back: bool,
}

choice! {
    /// From where on a queue counts as full.
    pub(crate) enum Rounding {
        Places = "places",
        Multiple = "multiple",
    }
}

choice! {
    /// Which port is the way back.
    pub(crate) enum BackPort {
        Source = "source",
        Ingress = "ingress",
    }
}

choice! {
    /// What becomes of a packet whose bounce queue has no room.
    pub(crate) enum BounceFull {
        Drop = "drop",
        Forward = "forward",
    }
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        theta: f64 = {
            doc: "Utilisation θ up to which nothing is bounced (PABO eq. 4).",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: true },
            default: Some("0.8"),
        },
        lambda: f64 = {
            doc: "Decay constant λ; 0 is the limit, a straight line (PABO eq. 1).",
            kind: Kind::Number { min: 0.0, max: 1e6, below_max: false },
            default: Some("50"),
        },
        bounce_size: Amount = {
            doc: "Size of the bounce queue of every port, in the unit of the buffer (PABO §II-E).",
            kind: Kind::Amount { min: 1 },
            default: Some("100pkt"),
        },
        round_to: u64 = {
            doc: "N upstream switches, whose packets may arrive at one instant and be decided on the same length: a \
                  queue counts as full early, from where `rounding` says; 0 is never.",
            kind: Kind::Count { min: 0, max: 1024 },
            default: Some("3"),
        },
        rounding: Rounding = {
            doc: "From where on a queue of C places counts as full: the last multiple of N up to C, or as soon as \
                  fewer than N places are left. They are the same where N divides C - N + 1: of 500 places and N = 3 \
                  both are 498, of 100 they are 99 and 98, and only from 98 on do three arrivals always fit.",
            kind: Rounding::KIND,
            default: Some("places"),
        },
        back_port: BackPort = {
            doc: "The port of the way back: the table's port for the packet's source, or the port of its arrival.",
            kind: BackPort::KIND,
            default: Some("source"),
        },
        bounce_full: BounceFull = {
            doc: "Where the bounce queue that a packet is sent back to has no room: it is lost there, or tries its own \
                  queue of the output port instead.",
            kind: BounceFull::KIND,
            default: Some("drop"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "bounce",
    doc: "The fuller its queue, the more likely a packet is sent back toward its source.",
    cite: "PABO §II",
    params: Given::PARAMS,
};

/// What a bounce with endless memory says of itself.
const NEVER_BOUNCES: &str = "bounce with an unlimited buffer never bounces: its utilisation is always 0";
/// What a bounce with shared memory says of itself.
const SHARED_BOUNCES: &str = "bounce with a shared buffer: utilisation is measured against the dynamic threshold of \
                              the instant, and the bounce queues are memory beside the shared one";

/// The probability with which a packet that was bounced `np` times is bounced again at
/// utilisation `u`, 0 to 1 (PABO eq. 4). λ = 0 is the limit (u - θ)/(1 - θ).
pub fn probability(u: f64, np: u8, theta: f64, lambda: f64) -> f64 {
    if u <= theta {
        return 0.0;
    }
    if u >= 1.0 {
        return 1.0;
    }
    let k = lambda / (f64::from(np) + 1.0);
    if k == 0.0 {
        return (u - theta) / (1.0 - theta);
    }
    libm::expm1(k * (theta - u)) / libm::expm1(k * (theta - 1.0))
}

impl Bounce {
    /// From validated parameters.
    pub fn new(values: &Values) -> Bounce {
        let given = Given::read(values);
        Bounce {
            theta: given.theta,
            lambda: given.lambda,
            bounce_size: given.bounce_size,
            round_to: given.round_to,
            to_multiple: given.rounding == Rounding::Multiple,
            by_source: given.back_port == BackPort::Source,
            tests_back: given.bounce_full == BounceFull::Forward,
        }
    }
    /// How full the queue counts as, 0 to 1. With N arrivals at one instant the last of them decide
    /// on a length that is out of date, hence full N places early; but an empty queue is never full.
    fn utilisation(&self, fill: Fill, fits: bool, size: u16) -> f64 {
        let Some(limit) = fill.limit else { return 0.0 };
        match !fits || fill.used >= self.full_from(limit, size) {
            true => 1.0,
            false => fill.used as f64 / limit as f64,
        }
    }
    /// A place is a packet, or the bytes of one like that which asks.
    fn full_from(&self, limit: u64, size: u16) -> u64 {
        let place = match self.bounce_size {
            Amount::Packets(_) => 1,
            Amount::Bytes(_) => u64::from(size.max(1)),
        };
        let last = match self.round_to * place {
            0 => limit,
            all if self.to_multiple => limit / all * all,
            all => (limit + 1).saturating_sub(all),
        };
        last.max(1).min(limit)
    }
    fn back(&self, pkt: &Head, at: &ForwardingContext) -> Option<PortId> {
        match self.by_source || at.ingress == at.out {
            true => at.port_toward_source(pkt),
            false => Some(at.ingress),
        }
    }
}

impl Overflow for Bounce {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let fits = at.fits(at.out, queue, pkt.size);
        let u = self.utilisation(at.fill(at.out, queue), fits, pkt.size);
        let p = probability(u, pkt.bounces, self.theta, self.lambda);
        let forward = match fits {
            true => Fate::Enqueue(queue),
            false if queue.lane() == Lane::Bounce => Fate::Drop(DropReason::BounceQueueFull),
            false => Fate::Drop(DropReason::BufferFull),
        };
        if p <= 0.0 || (p < 1.0 && env.rng.unit() > p) {
            return forward;
        }
        match self.back(pkt, at) {
            Some(back) if !self.tests_back || at.fits(back, QueueId::new(pkt.class(), Lane::Bounce), pkt.size) => {
                Fate::Bounce(back)
            }
            _ => forward,
        }
    }
    fn needs(&self) -> Needs {
        Needs { back: Some(self.bounce_size), ..Needs::default() }
    }
    /// The bounce queue is in the unit of the buffer; where an override has put a buffer of another unit
    /// there, both stand, with a note.
    fn check(&self, beside: &Beside, report: &mut Report) {
        let Some(memory) = beside.memory else { return report.note(NEVER_BOUNCES) };
        if beside.shared {
            report.note(SHARED_BOUNCES);
        }
        let (size, (_, unit), (_, buffer_unit)) = (self.bounce_size, in_words(self.bounce_size), in_words(memory));
        if unit != buffer_unit && beside.overridden {
            report.note(format!("bounce queues of {size} beside a buffer of {memory}: two units in one switch"));
        } else if unit != buffer_unit {
            let found = format!("{size}, in {unit} beside a buffer in {buffer_unit}");
            report.wrong("bounce_size", found, format!("the unit of the buffer, {buffer_unit}"));
        }
    }
    fn acts_from(&self) -> f64 {
        self.theta
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::PerPort;
    use crate::testing::{Desk, head, packets, switch, values};

    fn near(value: f64, published: f64, tolerance: f64) {
        assert!((value - published).abs() <= tolerance, "{value} is not {published}");
    }
    fn bounce(given: &str) -> Bounce {
        Bounce::new(&values(&SPEC, given))
    }
    /// The fate of a packet for port 0 from host 2 that came in by port 1, with so many of `limit`
    /// packets waiting in its normal queue.
    fn fate(given: &str, (waiting, limit): (u32, u64), draws: &[f64]) -> Fate {
        let mut state = switch(3, packets(limit));
        state.bounce = Some(PerPort::of(Amount::Packets(limit)));
        state.fill_up(waiting, head(""), (PortId(0), QueueId::normal(0)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
        let mut desk = Desk::draws(draws);
        let fate = bounce(given).admit(&head("src=2 dst=0"), &at, &mut desk.env());
        assert_eq!(desk.rng.undrawn(), 0);
        fate
    }

    #[test]
    fn the_values_of_figure_3() {
        for (np, p) in [(0, 0.7773), (1, 0.6514), (2, 0.6027)] {
            near(probability(0.75, np, 0.5, 5.0), p, 1e-4);
        }
        for (lambda, p) in [(5.0, 0.7773), (15.0, 0.9770), (25.0, 0.9981)] {
            near(probability(0.75, 0, 0.5, lambda), p, 1e-4);
        }
    }

    #[test]
    fn equation_4_is_equations_1_to_3_put_together() {
        for (theta, lambda) in [(0.0, 5.0), (0.5, 25.0), (0.8, 50.0), (0.95, 50.0)] {
            for np in 0..4u8 {
                let base = libm::exp(lambda / (f64::from(np) + 1.0));
                let alpha = libm::pow(base, theta) / (libm::pow(base, theta - 1.0) - 1.0);
                let beta = 1.0 / (1.0 - libm::pow(base, theta - 1.0));
                for u in (1..100).map(|i| theta + (1.0 - theta) * f64::from(i) / 100.0) {
                    let p = alpha * libm::pow(base, -u) + beta;
                    near(probability(u, np, theta, lambda), p, 1e-9);
                }
            }
        }
    }

    #[test]
    fn the_values_of_sections_v_and_vi() {
        near(probability(0.9, 0, 0.8, 50.0), 0.9933, 1e-4);
        near(probability(0.9, 3, 0.8, 50.0), 0.7773, 1e-4);
        near(probability(0.81, 0, 0.8, 50.0), 0.3935, 1e-4);
        for (u, p) in [(0.96, 0.4287), (0.98, 0.8463), (0.99, 0.9420)] {
            near(probability(u, 0, 0.95, 50.0), p, 1e-4);
        }
    }

    #[test]
    fn zero_up_to_theta_and_one_when_full_whatever_np_and_lambda() {
        for np in [0, 1, 7, 255] {
            for lambda in [0.0, 1e-9, 1.0, 50.0, 1e6] {
                for theta in [0.0, 0.5, 0.95, 0.999] {
                    assert_eq!(probability(theta, np, theta, lambda), 0.0);
                    assert_eq!(probability(theta / 2.0, np, theta, lambda), 0.0);
                    assert_eq!(probability(1.0, np, theta, lambda), 1.0);
                    near(probability(1.0 - 1e-15, np, theta, lambda), 1.0, 1e-11);
                }
            }
        }
    }

    #[test]
    fn no_decay_is_a_straight_line_and_the_limit_of_little() {
        for u in [0.85, 0.9, 0.99] {
            near(probability(u, 0, 0.8, 0.0), (u - 0.8) / 0.2, 1e-12);
            near(probability(u, 0, 0.8, 1e-7), (u - 0.8) / 0.2, 1e-6);
        }
    }

    #[test]
    fn concave_in_u_falling_with_np_rising_with_lambda() {
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
    fn a_queue_at_theta_itself_forwards_without_a_draw() {
        let forward = Fate::Enqueue(QueueId::normal(0));
        assert_eq!(fate("theta=0.8", (400, 500), &[]), forward);
        assert_eq!(fate("theta=0.95", (95, 100), &[]), forward);
        assert_eq!(fate("theta=0", (0, 100), &[]), forward);
        assert_eq!(fate("theta=0.8", (401, 500), &[0.0951]), Fate::Bounce(PortId(2)));
        assert_eq!(fate("theta=0.8", (401, 500), &[0.0952]), forward);
    }

    #[test]
    fn theta_zero_bounces_from_the_first_packet_on_and_lambda_zero_in_proportion() {
        assert_eq!(fate("theta=0 lambda=0", (1, 100), &[0.0099]), Fate::Bounce(PortId(2)));
        assert_eq!(fate("theta=0 lambda=0", (1, 100), &[0.0101]), Fate::Enqueue(QueueId::normal(0)));
    }

    #[test]
    fn a_draw_that_equals_the_probability_bounces() {
        assert_eq!(fate("theta=0 lambda=0 round_to=0", (1, 2), &[0.5]), Fate::Bounce(PortId(2)));
        let above = 0.5 + f64::from(f32::EPSILON);
        assert_eq!(fate("theta=0 lambda=0 round_to=0", (1, 2), &[above]), Fate::Enqueue(QueueId::normal(0)));
    }

    #[test]
    fn every_class_has_a_normal_and_a_bounce_queue_and_looks_at_its_own() {
        for class in 0..8 {
            let mut state = switch(3, packets(10));
            state.bounce = Some(PerPort::of(Amount::Packets(10)));
            let other = (class + 1) % 8;
            state.fill_up(10, head(&format!("np=1 class={other}")), (PortId(0), QueueId::new(other, Lane::Bounce)));
            let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
            for (np, queue) in [
                (0, QueueId::normal(class)),
                (1, QueueId::new(class, Lane::Bounce)),
                (9, QueueId::new(class, Lane::Bounce)),
            ] {
                let pkt = head(&format!("src=2 dst=0 class={class} np={np}"));
                let fate = bounce("").admit(&pkt, &at, &mut Desk::draws(&[]).env());
                assert_eq!(fate, Fate::Enqueue(queue), "class {class}, bounced {np} times");
            }
            state.fill_up(10, head(&format!("np=1 class={class}")), (PortId(0), QueueId::new(class, Lane::Bounce)));
            let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
            let pkt = head(&format!("src=2 dst=0 class={class} np=1"));
            assert_eq!(
                bounce("").admit(&pkt, &at, &mut Desk::draws(&[]).env()),
                Fate::Bounce(PortId(2)),
                "class {class}"
            );
        }
    }

    #[test]
    fn a_queue_counts_as_full_where_fewer_places_are_left_than_may_arrive_at_once() {
        assert_eq!(fate("round_to=3", (98, 100), &[]), Fate::Bounce(PortId(2)));
        // P(0.97; 0.8, 50) = 0.99984; P(0.98) = 0.99992; P(0.99) = 0.99997.
        assert_eq!(fate("round_to=3", (97, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
        assert_eq!(fate("round_to=1", (99, 100), &[0.99999]), Fate::Enqueue(QueueId::normal(0)));
    }

    #[test]
    fn in_bytes_a_place_is_a_packet_like_the_one_that_asks() {
        let bytes = bounce("bounce_size=12000B round_to=3");
        assert_eq!((bytes.full_from(12_000, 1500), bytes.full_from(12_000, 64)), (7501, 11_809));
        assert_eq!(bounce("bounce_size=12000B round_to=3 rounding=multiple").full_from(12_000, 1500), 9000);
        assert_eq!(bounce("bounce_size=12000B round_to=0").full_from(12_000, 1500), 12_000);
        assert_eq!(bytes.full_from(3000, 1500), 1, "an empty queue is not full");
    }

    #[test]
    fn the_authors_own_rule_counts_in_multiples_of_round_to_which_is_the_same_for_500_places() {
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
    fn a_queue_smaller_than_round_to_is_not_full_while_it_is_empty() {
        assert_eq!(fate("round_to=3", (0, 2), &[]), Fate::Enqueue(QueueId::normal(0)));
        assert_eq!(fate("round_to=3", (1, 2), &[]), Fate::Bounce(PortId(2)));
    }

    #[test]
    fn a_source_nobody_knows_leaves_only_the_way_forward() {
        let mut state = switch(2, packets(1));
        state.fill_up(1, head(""), (PortId(0), QueueId::normal(0)));
        state.fill_up(1, head("np=1"), (PortId(0), QueueId::new(0, Lane::Bounce)));
        state.bounce = Some(PerPort::of(Amount::Packets(1)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
        let ask = |text| bounce("").admit(&head(text), &at, &mut Desk::draws(&[]).env());
        assert_eq!(ask("src=77"), Fate::Drop(DropReason::BufferFull));
        assert_eq!(ask("src=77 np=1"), Fate::Drop(DropReason::BounceQueueFull));
    }

    #[test]
    fn a_full_way_back_leads_to_its_own_queue_where_that_is_asked_for() {
        let mut state = switch(3, packets(10));
        state.bounce = Some(PerPort::of(Amount::Packets(2)));
        state.fill_up(9, head(""), (PortId(0), QueueId::normal(0)));
        state.fill_up(2, head("np=1"), (PortId(2), QueueId::new(0, Lane::Bounce)));
        let ask = |state: &crate::testing::State, given: &str| {
            let at = ForwardingContext { view: state, ingress: PortId(1), out: PortId(0) };
            bounce(given).admit(&head("src=2 dst=0"), &at, &mut Desk::draws(&[]).env())
        };
        assert_eq!(ask(&state, ""), Fate::Bounce(PortId(2)));
        assert_eq!(ask(&state, "bounce_full=forward"), Fate::Enqueue(QueueId::normal(0)));
        state.fill_up(1, head(""), (PortId(0), QueueId::normal(0)));
        assert_eq!(ask(&state, "bounce_full=forward"), Fate::Drop(DropReason::BufferFull));
        state.bounce = Some(PerPort::of(Amount::Packets(3)));
        assert_eq!(ask(&state, "bounce_full=forward"), Fate::Bounce(PortId(2)));
    }

    #[test]
    fn endless_memory_is_never_well_filled() {
        let mut state = switch(2, crate::buffer::BufferSlot::of(None));
        state.fill_up(10_000, head(""), (PortId(0), QueueId::normal(0)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
        let fate = bounce("theta=0").admit(&head("src=1"), &at, &mut Desk::draws(&[]).env());
        assert_eq!(fate, Fate::Enqueue(QueueId::normal(0)));
    }

    #[test]
    fn shares_follow_the_probability() {
        let mut state = switch(3, packets(100));
        state.fill_up(81, head(""), (PortId(0), QueueId::normal(0)));
        let at = ForwardingContext { view: &state, ingress: PortId(1), out: PortId(0) };
        let (mut desk, mut mechanism) = (Desk::seeded(5), bounce(""));
        let mut ask = || matches!(mechanism.admit(&head("src=2"), &at, &mut desk.env()), Fate::Bounce(_));
        let bounced = (0..100_000).filter(|_| ask()).count() as f64;
        // P(0.81) = 0.39349; five standard deviations of the count are 772.
        near(bounced, 39_349.0, 772.0);
    }
}
