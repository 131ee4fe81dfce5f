//! Weighted random early detection with a profile for each queue, as switch chips configure ECN (SAI WRED; SONiC
//! `WRED_PROFILE`). Between `min` and `max` the probability of a mark grows in a straight line to `probability`. From
//! `max` on, every packet is marked.
//!
//! The queue is the instantaneous one unless `weight` is below 1, as in the usual configuration for DCQCN. With
//! `ecn = "none"` a profile drops every packet that would be marked. Only one colour is modelled.

use super::Marking;
use crate::params::{ParamKind, Spec, Values};
use crate::{CheckContext, ClassSet, Env, Head, PortThresholds, QueueId, QueueView, Report, choice, params};
use units::{Amount, Bytes};

/// WRED at one port, with a profile for each queue.
#[derive(Clone, Debug)]
pub struct Wred {
    /// Profile of each queue; `None` for a queue without marks.
    profiles: Box<[Option<Profile>; 8]>,
    /// Profiles as given, for checks.
    given: Vec<QueueParams>,
    /// Average length of each queue in bytes.
    averages: Box<[f64; 8]>,
}

/// Marking profile of a queue.
#[derive(Clone, Copy, Debug)]
struct Profile {
    min: f64,
    max: f64,
    probability: f64,
    weight: f64,
    ecn: EcnUse,
}

choice! {
    /// Choice of the packets that are marked: all that are ECN-capable, or none.
    enum EcnUse {
        All = "all",
        None = "none",
    }
}

params! {
    /// Parameter values of `wred`.
    pub(crate) struct Params {
        queues: Vec<Values> = {
            doc: "Profiles of queues. Queues without an entry are not marked, and a later entry overrides an earlier \
                  one.",
            kind: ParamKind::List(&QUEUES),
            default: None,
        },
    }
}

params! {
    /// Parameter values of an entry of `queues`.
    struct QueueParams {
        queue: Vec<u64> = {
            doc: "Numbers of the queues.",
            kind: ParamKind::Counts { min: 0, max: 7 },
            default: None,
        },
        min: Bytes = {
            doc: "Queue length above which packets are marked at random.",
            kind: ParamKind::Size { min: 0 },
            default: None,
        },
        max: Bytes = {
            doc: "Queue length from which on every packet is marked.",
            kind: ParamKind::Size { min: 1 },
            default: None,
        },
        probability: f64 = {
            doc: "Probability of a mark just below `max`.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
        weight: f64 = {
            doc: "Weight of the newest sample in the average queue. 1 is the instantaneous queue.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("1"),
        },
        ecn: EcnUse = {
            doc: "Packets that are marked: all that are ECN-capable (`all`; SONiC: ecn_all), or none (`none`; SONiC: \
                  ecn_none). With `none`, ECN-capable packets are dropped too instead of marked.",
            kind: EcnUse::KIND,
            default: Some("all"),
        },
    }
}

static QUEUES: Spec = Spec {
    slot: "switch.marking.queues",
    kind: "",
    doc: "Marking profile of one or more queues.",
    cite: "SAI WRED profile",
    params: QueueParams::PARAMS,
};

pub(super) const SPEC: Spec = Spec {
    slot: "switch.marking",
    kind: "wred",
    doc: "Marks packets at random, with a profile for each queue. Packets that are not ECN-capable are dropped instead.",
    cite: "SAI WRED profile; RFC 3168 §7",
    params: Params::PARAMS,
};

impl Wred {
    /// Creates WRED from validated parameters.
    pub fn new(values: &Values) -> Wred {
        let given: Vec<QueueParams> = Params::read(values).queues.iter().map(QueueParams::read).collect();
        let mut profiles = Box::new([None; 8]);
        for entry in &given {
            let (min, max) = (entry.min.0 as f64, entry.max.0 as f64);
            let profile = Profile { min, max, probability: entry.probability, weight: entry.weight, ecn: entry.ecn };
            entry.queue.iter().for_each(|queue| profiles[*queue as usize & 7] = Some(profile));
        }
        Wred { profiles, given, averages: Box::new([0.0; 8]) }
    }
}

impl Marking for Wred {
    fn mark(&mut self, _pkt: &Head, q: &QueueView, env: &mut Env) -> bool {
        let number = usize::from(q.queue.class());
        let Some(profile) = self.profiles[number] else { return false };
        let average = &mut self.averages[number];
        *average += profile.weight * (q.bytes as f64 - *average);
        if *average < profile.min {
            return false;
        }
        if *average >= profile.max {
            return true;
        }
        env.rng.uniform() < profile.probability * (*average - profile.min) / (profile.max - profile.min)
    }
    fn drops_not_ect(&self) -> bool {
        true
    }
    fn marks_queue(&self, queue: QueueId) -> bool {
        self.profiles[usize::from(queue.class())].is_some_and(|profile| profile.ecn == EcnUse::All)
    }
    fn queue_profiles(&self) -> Vec<ClassSet> {
        let set = |queues: &[u64]| queues.iter().fold(0, |set, queue| set | 1 << (queue & 7));
        self.given.iter().map(|entry| ClassSet(set(&entry.queue))).collect()
    }
    /// Returns the smallest `min` of all queues.
    fn never_marks_below(&self) -> Option<PortThresholds> {
        let least = self.given.iter().map(|entry| entry.min.0).min()?;
        Some(PortThresholds::new(Amount::Bytes(least)))
    }
    /// Reports profiles whose thresholds do not fit each other.
    fn check(&self, _beside: &CheckContext, report: &mut Report) {
        for (i, entry) in self.given.iter().enumerate().filter(|(_, entry)| entry.min.0 > entry.max.0) {
            report.add_error(format!("queues.{i}.min"), entry.min, format!("at most max = {}", entry.max));
        }
        for (i, _) in self.given.iter().enumerate().filter(|(_, entry)| entry.queue.is_empty()) {
            report.add_error(format!("queues.{i}.queue"), "an empty list", "one or more numbers of queues");
        }
        if self.given.iter().any(|entry| entry.weight == 0.0) {
            report.add_warning(
                "wred: weight = 0 keeps the average queue at 0, so that no packet is marked. Set a weight above 0",
            );
        }
    }
    fn clone_boxed(&self) -> Box<dyn Marking> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, buffer_of_packets, parse_head, switch_without_packets, toml_values};
    use crate::{PortId, QueueId};

    /// Returns the share of marks at a queue with this number and length, out of these draws.
    fn marks(given: &str, queue: u8, bytes: u64, draws: &[f64]) -> Vec<bool> {
        let mut wred = Wred::new(&toml_values(&SPEC, given));
        let state = switch_without_packets(1, buffer_of_packets(10));
        let view = QueueView { view: &state, port: PortId(0), queue: QueueId::normal(queue), packets: 1, bytes };
        let each = |draw: &f64| wred.mark(&parse_head("ect"), &view, &mut DecisionInputs::with_draws(&[*draw]).env());
        draws.iter().map(each).collect()
    }

    #[test]
    fn probability_grows_between_min_and_max_of_the_queue() {
        let given = "queues = [{ queue = [3, 4], min = \"10KB\", max = \"30KB\", probability = 0.5 }]";
        // At 20 KB, half of the way, the probability is 0.25.
        assert_eq!(marks(given, 3, 20_000, &[0.24, 0.26]), [true, false]);
        assert_eq!(marks(given, 4, 9_999, &[0.0]), [false]);
        assert_eq!(marks(given, 4, 30_000, &[0.99]), [true]);
        assert_eq!(marks(given, 0, 1_000_000, &[0.0]), [false], "a queue without a profile");
    }

    #[test]
    fn weight_averages_the_queue() {
        let given = "queues = [{ queue = [0], min = \"10KB\", max = \"10KB\", weight = 0.5 }]";
        // 5000, 7500, 8750, … stay below 10 KB for a queue of 10 KB; a queue of 12 KB has the average 10.5 KB at last.
        assert_eq!(marks(given, 0, 10_000, &[0.0; 3]), [false; 3]);
        assert_eq!(marks(given, 0, 12_000, &[0.0; 3]), [false, false, true]);
    }

    #[test]
    fn profile_without_ecn_marks_no_packet_of_its_queues() {
        let given = "queues = [{ queue = [0, 3], min = \"1KB\", max = \"2KB\" }, \
                     { queue = [3], min = \"1KB\", max = \"2KB\", ecn = \"none\" }]";
        let wred = Wred::new(&toml_values(&SPEC, given));
        assert!(wred.marks_queue(QueueId::normal(0)) && !wred.marks_queue(QueueId::normal(3)));
        assert!(!wred.marks_queue(QueueId::normal(1)), "a queue without a profile");
        // The packet is due all the same; the switch drops it.
        assert_eq!((marks(given, 3, 2000, &[0.9]), marks(given, 3, 999, &[0.0])), (vec![true], vec![false]));
    }

    #[test]
    fn later_entry_and_faults() {
        let later = "queues = [{ queue = [0, 1], min = \"1KB\", max = \"2KB\" }, { queue = [1], min = \"5KB\", max = \"6KB\" }]";
        assert_eq!((marks(later, 0, 3000, &[0.9]), marks(later, 1, 3000, &[0.0])), (vec![true], vec![false]));
        let mut report = Report::default();
        let wrong = "queues = [{ queue = [0], min = \"3KB\", max = \"2KB\" }]";
        Wred::new(&toml_values(&SPEC, wrong)).check(&CheckContext::EMPTY, &mut report);
        assert_eq!(report.errors[0].key, "queues.0.min");
    }
}
