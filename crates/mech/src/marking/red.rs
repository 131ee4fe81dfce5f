//! Random early detection (Floyd and Jacobson 1993; RFC 2309 §3, with Floyd's "gentle" variant).
//!
//! The average queue moves by `weight` at every arrival. While the queue is empty, it decays as if small packets had
//! passed (1993, §4), one every `idle_packet`. A probability that grows with the size of the packet is not modelled
//! (byte mode, which RFC 7141 §2.2 advises against).

use super::Marking;
use crate::check::number_and_unit;
use crate::params::{ParamKind, Spec, Values};
use crate::{CheckContext, Env, Head, PortThresholds, QueueView, Report, choice, params};
use units::{Amount, Dur, Time};

/// Random early detection (RED) at one port.
#[derive(Clone, Debug)]
pub struct Red {
    /// Thresholds `min` and `max` of the average queue, as given with their unit.
    given: [Amount; 2],
    min: f64,
    max: f64,
    in_packets: bool,
    max_p: f64,
    weight: f64,
    gentle: bool,
    drop_not_ect: bool,
    idle_packet: Dur,
    is_spread: bool,
    average: f64,
    since_mark: i64,
    idle_from: Option<Time>,
}

choice! {
    /// Treatment of a packet that is due for a mark and is not ECN-capable.
    pub(crate) enum NotEctAction {
        Drop = "drop",
        Pass = "pass",
    }
}

choice! {
    /// Choice of the distribution of the gaps between marks.
    pub(crate) enum MarkGaps {
        Uniform = "uniform",
        Geometric = "geometric",
    }
}

params! {
    /// Parameter values of `red`.
    pub(crate) struct Params {
        min: Amount = {
            doc: "Average queue from which on packets are marked, in packets or bytes.",
            kind: ParamKind::Amount { min: 0 },
            default: Some("5pkt"),
        },
        max: Amount = {
            doc: "Average queue at which the probability of a mark is `max_p`, in the same unit as `min`.",
            kind: ParamKind::Amount { min: 1 },
            default: Some("15pkt"),
        },
        max_p: f64 = {
            doc: "Probability of a mark at an average queue of `max`.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.1"),
        },
        weight: f64 = {
            doc: "Weight of the newest sample in the average. 1 is the instantaneous queue.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.002"),
        },
        gentle: bool = {
            doc: "Lets the probability rise from `max_p` to 1 between `max` and twice `max`. Without it, the \
                  probability jumps to 1 at `max`.",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
        not_ect: NotEctAction = {
            doc: "Treatment of a packet that is due for a mark but not ECN-capable (RFC 3168 §7): dropped (`drop`), or \
                  stored without a mark (`pass`).",
            kind: NotEctAction::KIND,
            default: Some("drop"),
        },
        gaps: MarkGaps = {
            doc: "Distribution of the gaps between marks (Floyd and Jacobson 1993, §7). `uniform` spreads marks, so \
                  that about two packets in 1/p are marked. `geometric` marks each packet with probability p, as in \
                  DCQCN.",
            kind: MarkGaps::KIND,
            default: Some("uniform"),
        },
        idle_packet: Dur = {
            doc: "Time of one packet: while the queue is empty, the average decays by one sample for each such time.",
            kind: ParamKind::Time { min: 1 },
            default: Some("12us"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.marking",
    kind: "red",
    doc: "Marks packets at random, with a probability that grows with the average queue.",
    cite: "Floyd and Jacobson 1993; RFC 2309 §3",
    params: Params::PARAMS,
};

fn amount_as_number(amount: Amount) -> f64 {
    match amount {
        Amount::Packets(n) | Amount::Bytes(n) => n as f64,
    }
}

/// Returns RED's mark probability at an average queue, in the unit of `max`, before marks are spread evenly.
pub(crate) fn probability(values: &Values, average: f64) -> f64 {
    let red = Red { average, ..Red::new(values) };
    if average < red.min { 0.0 } else { red.probability() }
}

/// Returns the average queue lengths between which RED's mark probability grows from 0 to 1.
pub(crate) fn probability_range(values: &Values) -> (f64, f64) {
    let red = Red::new(values);
    (red.min, if red.gentle { 2.0 * red.max } else { red.max })
}

impl Red {
    /// Creates RED from validated parameters.
    ///
    /// PRECONDITION: `min` and `max` are in the same unit, `min <= max`.
    pub fn new(values: &Values) -> Red {
        let Params { min, max, max_p, weight, gentle, not_ect, gaps, idle_packet } = Params::read(values);
        Red {
            given: [min, max],
            min: amount_as_number(min),
            max: amount_as_number(max),
            in_packets: matches!(max, Amount::Packets(_)),
            max_p,
            weight,
            gentle,
            drop_not_ect: not_ect == NotEctAction::Drop,
            idle_packet,
            is_spread: gaps == MarkGaps::Uniform,
            average: 0.0,
            since_mark: -1,
            idle_from: Some(Time::ZERO),
        }
    }
    fn probability(&self) -> f64 {
        if self.average < self.max {
            self.max_p * (self.average - self.min) / (self.max - self.min)
        } else if self.gentle && self.average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (self.average / self.max - 1.0)
        } else {
            1.0
        }
    }
    /// Updates the average queue length at an arrival: an empty queue lets it decay, any other moves it (1993, fig. 2).
    fn update_average(&mut self, queue: f64, now: Time) {
        if queue > 0.0 {
            self.idle_from = None;
            self.average += self.weight * (queue - self.average);
            return;
        }
        // The idle period restarts here. Without that, the next arrival at an empty queue would decay the same time
        // again.
        let from = self.idle_from.replace(now).unwrap_or(now);
        let missed = now.since(from).0 as f64 / self.idle_packet.0 as f64;
        self.average *= libm::pow(1.0 - self.weight, missed);
    }
}

impl Marking for Red {
    fn mark(&mut self, _pkt: &Head, q: &QueueView, env: &mut Env) -> bool {
        self.update_average(if self.in_packets { f64::from(q.packets) } else { q.bytes as f64 }, env.now);
        if self.average < self.min {
            // The count restarts at -1, as in fig. 2, so that the first packet at or above `min` has count 0.
            self.since_mark = -1;
            return false;
        }
        self.since_mark += 1;
        let p = self.probability();
        // With p / (1 - count * p) the gaps between marks are uniform, with p alone geometric (1993, §7).
        let rest = if self.is_spread { 1.0 - self.since_mark as f64 * p } else { 1.0 };
        let marked = p >= 1.0 || rest <= 0.0 || env.rng.uniform() < p / rest;
        if marked {
            self.since_mark = 0;
        }
        marked
    }
    fn drops_not_ect(&self) -> bool {
        self.drop_not_ect
    }
    fn on_queue_empty(&mut self, env: &mut Env) {
        self.idle_from = Some(env.now);
    }
    /// Returns the threshold `min`: the average never exceeds the longest queue, so that shorter queues cause no mark.
    fn never_marks_below(&self) -> Option<PortThresholds> {
        Some(PortThresholds::new(self.given[0]))
    }
    /// Reports thresholds that do not fit each other, and parameters that have no effect because of others.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if self.weight == 1.0 && (beside.is_set)("idle_packet") {
            report.add_warning(
                "red: idle_packet has no effect with weight = 1, because the average is then the \
                              instantaneous queue",
            );
        }
        if self.weight == 0.0 {
            report.add_warning(
                "red: weight = 0 keeps the average queue at 0, so that no packet is marked. Set a \
                                weight above 0",
            );
        }
        if self.max_p == 1.0 && (beside.is_set)("gentle") {
            report.add_warning(
                "red: gentle has no effect with max_p = 1, because every packet is marked from max on \
                                anyway",
            );
        }
        let [min, max] = self.given;
        let ((low, unit), (high, other)) = (number_and_unit(min), number_and_unit(max));
        if unit != other {
            let found = format!("{max}, in {other} beside min = {min}");
            report.add_error("max", found, format!("the unit of min, {unit}"));
        } else if low >= high {
            report.add_error("min", min, format!("less than max = {max}"));
        }
    }
    fn clone_boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, SwitchState, buffer_of_packets, parse_head, switch_without_packets, values};
    use crate::{PortId, QueueId};

    fn red(given: &str) -> Red {
        Red::new(&values(&SPEC, given))
    }
    fn assert_near(value: f64, wanted: f64) {
        assert!((value - wanted).abs() < 1e-12, "{value} is not {wanted}");
    }
    fn switch_with_packets(waiting: u32) -> SwitchState {
        let mut state = switch_without_packets(1, buffer_of_packets(1000));
        state.fill_up(waiting, parse_head("size=1000"), (PortId(0), QueueId::normal(0)));
        state
    }
    fn mark(mechanism: &mut Red, state: &SwitchState, desk: &mut DecisionInputs) -> bool {
        let q = QueueView::new(state, PortId(0), QueueId::normal(0));
        mechanism.mark(&parse_head("ect"), &q, &mut desk.env())
    }

    #[test]
    fn average_queue_is_weighted() {
        let (mut r, mut desk, ten) =
            (red("weight=0.25 min=500pkt max=600pkt"), DecisionInputs::with_draws(&[]), switch_with_packets(10));
        for wanted in [2.5, 4.375, 5.78125] {
            assert!(!mark(&mut r, &ten, &mut desk));
            assert_near(r.average, wanted);
        }
        // After n arrivals the average has covered 1 - (1 - w)^n of the step to 10 (Floyd and Jacobson 1993, §6).
        assert!((3..20).all(|_| !mark(&mut r, &ten, &mut desk)));
        assert_near(r.average, 10.0 * (1.0 - libm::pow(0.75, 20.0)));
    }

    #[test]
    fn average_is_in_bytes_if_thresholds_are_in_bytes() {
        let mut r = red("weight=1 min=500KB max=600KB");
        mark(&mut r, &switch_with_packets(7), &mut DecisionInputs::with_draws(&[]));
        assert_near(r.average, 7000.0);
    }

    #[test]
    fn average_decays_by_one_packet_per_idle_packet_time() {
        let mut r = red("weight=0.5 min=500pkt max=600pkt idle_packet=10us");
        let (mut desk, empty) = (DecisionInputs::with_draws(&[]), switch_with_packets(0));
        (r.average, r.idle_from) = (16.0, None);
        r.on_queue_empty(&mut desk.env_at(Time(0)));
        let q = QueueView::new(&empty, PortId(0), QueueId::normal(0));
        r.mark(&parse_head(""), &q, &mut desk.env_at(Time(30_000_000)));
        assert_near(r.average, 2.0);
        r.mark(&parse_head(""), &q, &mut desk.env_at(Time(35_000_000)));
        assert_near(r.average, 2.0 * libm::sqrt(0.5));
    }

    #[test]
    fn average_decays_if_arrivals_are_closer_than_idle_packet() {
        let mut r = red("weight=0.5 min=500pkt max=600pkt idle_packet=10us");
        let (mut desk, empty) = (DecisionInputs::with_draws(&[]), switch_with_packets(0));
        (r.average, r.idle_from) = (16.0, Some(Time(0)));
        for i in 1..=10 {
            let q = QueueView::new(&empty, PortId(0), QueueId::normal(0));
            r.mark(&parse_head(""), &q, &mut desk.env_at(Time(i * 9_000_000)));
        }
        assert_near(r.average, 16.0 * libm::pow(0.5, 9.0));
    }

    #[test]
    fn probability_is_linear_and_steeper_above_max() {
        let mut r = red("min=5pkt max=15pkt max_p=0.1");
        for (average, p) in [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (99.0, 1.0)] {
            r.average = average;
            assert_near(r.probability(), p);
        }
        let mut abrupt = red("min=5pkt max=15pkt max_p=0.1 gentle=false");
        for (average, p) in [(14.0, 0.09), (15.0, 1.0), (20.0, 1.0)] {
            abrupt.average = average;
            assert_near(abrupt.probability(), p);
        }
    }

    #[test]
    fn below_min_no_packet_is_marked_and_no_number_drawn() {
        let (mut r, mut desk) = (red("weight=1 min=5pkt max=15pkt"), DecisionInputs::with_draws(&[]));
        assert!((0..5).all(|n| !mark(&mut r, &switch_with_packets(n), &mut desk)));
    }

    #[test]
    fn gaps_between_marks_are_spread_evenly() {
        // Gaps are uniform (1993, §7), here with p = 1/20. The algorithm of fig. 2 counts the packet under decision, so
        // gaps end at 19, one before the 20 of the text.
        let (mut r, mut desk, ten) =
            (red("weight=1 min=5pkt max=15pkt max_p=0.1"), DecisionInputs::with_seed(4), switch_with_packets(10));
        let (mut gaps, mut since, mut marks) = ([0u32; 19], 0usize, 0);
        while marks < 20_000 {
            since += 1;
            if mark(&mut r, &ten, &mut desk) {
                if marks > 0 {
                    gaps[since - 1] += 1;
                }
                (since, marks) = (0, marks + 1);
            }
        }
        // The 99.99% point of χ² with 18 degrees of freedom is 49.2.
        assert!(crate::testing::chi_square(&gaps) < 49.2, "{gaps:?}");
    }

    #[test]
    fn geometric_gaps_mark_each_packet_independently() {
        let given = "weight=1 min=5pkt max=15pkt max_p=0.1 gaps=geometric";
        let (mut r, mut desk, ten) = (red(given), DecisionInputs::with_seed(4), switch_with_packets(10));
        let (mut since, mut long, mut marks) = (0, 0, 0);
        while marks < 20_000 {
            since += 1;
            if mark(&mut r, &ten, &mut desk) {
                long += u32::from(since > 19);
                (since, marks) = (0, marks + 1);
            }
        }
        // Expected are 20,000 · 0.95^19 = 7547 gaps longer than 19; five standard deviations are 345.
        assert!(long.abs_diff(7547) < 345, "{long}");
    }

    #[test]
    fn red_with_weight_1_and_min_equal_to_max_is_a_step() {
        let (mut r, mut desk) =
            (red("weight=1 min=20pkt max=20pkt max_p=1 gentle=false"), DecisionInputs::with_draws(&[]));
        assert!(!mark(&mut r, &switch_with_packets(19), &mut desk));
        assert!(mark(&mut r, &switch_with_packets(20), &mut desk));
        assert!(red("not_ect=drop").drops_not_ect() && !red("not_ect=pass").drops_not_ect());
    }
}
