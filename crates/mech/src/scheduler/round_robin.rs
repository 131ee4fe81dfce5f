//! Deficit round robin between classes (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round-Robin",
//! IEEE/ACM Transactions on Networking 4(3), 1996, §III). In its turn, a class may send its quantum of bytes and the
//! bytes saved in the turn before. So classes share the port by bytes, in proportion to their weights, whatever the
//! sizes of their frames.
//!
//! Within a class the order is that of [`super::StrictPriority`]. A class that is empty, or paused by the far end,
//! loses its saved bytes. A class is not charged while it alone has packets. Hierarchies of schedulers, and strict
//! classes above the shared ones, are not modelled.

use super::Scheduler;
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{CheckContext, ClassSet, Env, Needs, PktId, PortView, QueueId, Report};
use units::Bytes;

/// Deficit round robin at one port.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// Number of bytes that each class may send in a turn.
    quantum: [u64; 8],
    /// Classes with a weight other than 1.
    weighted: ClassSet,
    /// Number of weights given in the scenario.
    weights: usize,
    /// Number of bytes that each class may still send, in its turn or in the next.
    deficit: [u64; 8],
    /// Class whose turn it is.
    current_class: u8,
}

params! {
    /// Parameter values of `round_robin`.
    pub(crate) struct Params {
        weights: Option<Vec<u64>> = {
            doc: "Weights of classes 0, 1, 2 and so on. Classes left out have weight 1.",
            kind: ParamKind::Counts { min: 1, max: 1_000_000 },
            default: Some(""),
        },
        quantum: Bytes = {
            doc: "Bytes that a class of weight 1 may send in a turn.",
            kind: ParamKind::Size { min: 64 },
            default: Some("1518B"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "round_robin",
    doc: "Serves the classes in turn, and divides the port by bytes in proportion to their weights (deficit round \
          robin).",
    cite: "Shreedhar and Varghese 1996, §III",
    params: Params::PARAMS,
};

impl RoundRobin {
    /// Creates deficit round robin from validated parameters.
    pub fn new(values: &Values) -> RoundRobin {
        let Params { weights, quantum } = Params::read(values);
        let weights = weights.unwrap_or_default();
        let weight = |class: usize| weights.get(class).copied().unwrap_or(1);
        RoundRobin {
            quantum: std::array::from_fn(|class| quantum.0.saturating_mul(weight(class))),
            weighted: (0..8)
                .filter(|class| weight(usize::from(*class)) != 1)
                .map(ClassSet::single)
                .fold(ClassSet::NONE, ClassSet::union),
            weights: weights.len(),
            deficit: [0; 8],
            current_class: 7,
        }
    }
    /// Returns the first packet of a class's most urgent lane that may leave, and its size in bytes.
    fn first_allowed_packet(port: &PortView, class: u8) -> Option<(QueueId, PktId, u64)> {
        let lanes = port.eligible >> (class * QueueId::LANES) & ((1 << QueueId::LANES) - 1);
        let queue = QueueId(class * QueueId::LANES + lanes.checked_ilog2()? as u8);
        port.view.first_packet_size(port.port, queue).map(|(pkt, size)| (queue, pkt, u64::from(size)))
    }
}

impl Scheduler for RoundRobin {
    fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        if port.eligible == 0 {
            return None;
        }
        // The loop ends, because some class is not empty and its deficit grows by at least 64 bytes a round.
        loop {
            let class = usize::from(self.current_class);
            match RoundRobin::first_allowed_packet(port, self.current_class) {
                Some((queue, pkt, size)) if size <= self.deficit[class] => {
                    self.deficit[class] -= size;
                    return Some((queue, pkt));
                }
                Some(_) => {}
                None => self.deficit[class] = 0,
            }
            self.current_class = (self.current_class + 1) % 8;
            let next = usize::from(self.current_class);
            self.deficit[next] = self.deficit[next].saturating_add(self.quantum[next]);
        }
    }
    fn needs(&self) -> Needs {
        Needs::default()
    }
    fn keeps_queue_order(&self) -> bool {
        true
    }
    fn weighted_classes(&self) -> ClassSet {
        self.weighted
    }
    /// Reports more weights than the eight classes.
    fn check(&self, _beside: &CheckContext, report: &mut Report) {
        if self.weights > self.quantum.len() {
            report.add_error("weights", format!("{} weights", self.weights), "at most 8, for classes 0 to 7");
        }
    }
    fn clone_boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, SwitchState, buffer_of_packets, parse_head, switch_without_packets, values};
    use crate::{Lane, PortId};

    const PORT: PortId = PortId(0);

    /// Returns the classes of the first `n` frames that leave a port.
    /// Frames of these (class, bytes) are always queued there.
    fn departure_classes(given: &str, waiting: &[(u8, u16)], n: usize) -> Vec<u8> {
        let mut state = switch_without_packets(1, buffer_of_packets(10_000));
        for (class, size) in waiting {
            state.fill_up(
                2 * n as u32,
                parse_head(&format!("class={class} size={size}")),
                (PORT, QueueId::normal(*class)),
            );
        }
        let mut scheduler = RoundRobin::new(&values(&SPEC, given));
        (0..n).map(|_| remove_next(&mut scheduler, &mut state, u32::MAX).expect("something waits").class()).collect()
    }
    /// Removes the packet that leaves next, among the queues of the bit set `allowed`.
    fn remove_next(scheduler: &mut RoundRobin, state: &mut SwitchState, allowed: u32) -> Option<QueueId> {
        let occupied = (0..QueueId::COUNT).filter(|queue| crate::View::backlog(state, PORT, QueueId(*queue)).0 > 0);
        let eligible = occupied.fold(0, |bits, queue| bits | 1 << queue) & allowed;
        let view = PortView { view: state, port: PORT, eligible };
        let (queue, pkt) = scheduler.next_packet(&view, &mut DecisionInputs::with_draws(&[]).env())?;
        state.remove_from_queue(pkt);
        state.free_memory(pkt);
        Some(queue)
    }
    fn bytes_of_class(order: &[u8], class: u8, size: u64) -> u64 {
        order.iter().filter(|other| **other == class).count() as u64 * size
    }

    #[test]
    fn equal_frames_of_equal_classes_alternate() {
        assert_eq!(departure_classes("", &[(0, 1518), (3, 1518)], 6), [0, 3, 0, 3, 0, 3]);
    }

    #[test]
    fn class_of_weight_3_sends_three_frames_a_turn() {
        assert_eq!(departure_classes("weights=1,3", &[(0, 1518), (1, 1518)], 8), [0, 1, 1, 1, 0, 1, 1, 1]);
    }

    #[test]
    fn classes_share_the_link_by_bytes_not_by_frames() {
        let order = departure_classes("weights=2,1", &[(0, 1518), (1, 64)], 500);
        let (large, small) = (bytes_of_class(&order, 0, 1518), bytes_of_class(&order, 1, 64));
        // A class is never further ahead than a frame and a turn.
        assert!(large.abs_diff(2 * small) <= 1518 + 2 * 1518, "{large} and twice {small}");
    }

    #[test]
    fn unused_quantum_is_saved_for_the_next_turn() {
        // With 1000 bytes a turn, frames of 1500 leave in the second and the third of three turns.
        assert_eq!(departure_classes("quantum=1000B", &[(0, 1500), (1, 1000)], 7), [1, 0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn empty_or_paused_class_saves_no_quantum() {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        let mut scheduler = RoundRobin::new(&values(&SPEC, "quantum=1000B"));
        for class in [0, 1] {
            state.fill_up(20, parse_head(&format!("class={class} size=1000")), (PORT, QueueId::normal(class)));
        }
        let paused = !(0b1111 << QueueId::LANES);
        for _ in 0..5 {
            assert_eq!(remove_next(&mut scheduler, &mut state, paused), Some(QueueId::normal(0)));
        }
        let after: Vec<u8> =
            (0..4).filter_map(|_| remove_next(&mut scheduler, &mut state, u32::MAX)).map(|q| q.class()).collect();
        assert_eq!(after, [1, 0, 1, 0], "five turns that it could not use are gone");
    }

    #[test]
    fn bounced_packets_of_a_class_leave_first() {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        state.fill_up(1, parse_head(""), (PORT, QueueId::normal(0)));
        state.fill_up(1, parse_head("np=1"), (PORT, QueueId::new(0, Lane::Bounce)));
        let mut scheduler = RoundRobin::new(&values(&SPEC, ""));
        assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), Some(QueueId::new(0, Lane::Bounce)));
        assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), Some(QueueId::normal(0)));
        assert_eq!(remove_next(&mut scheduler, &mut state, u32::MAX), None);
    }
}
