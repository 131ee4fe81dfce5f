//! Strict priority, non-preemptive: the highest class first, and within a class bounced packets first (IEEE 802.1Q
//! §8.6.8.1; PABO §II-E).

use super::{ClassSetting, RateLimits, Scheduler, rate_limits};
use crate::params::{Spec, Values};
use crate::{CheckContext, ClassSet, Env, Needs, PktId, PortView, QueueId, Report};

/// Scheduler that serves the highest class first, without preemption.
#[derive(Clone, Debug, Default)]
pub struct StrictPriority {
    limits: Option<RateLimits>,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "strict_priority",
    doc: "Serves the highest class first, and within a class bounced packets first.",
    cite: "IEEE 802.1Q §8.6.8.1; PABO §II-E",
    params: rate_limits::Params::PARAMS,
};

impl StrictPriority {
    /// Creates strict priority from validated parameters.
    pub fn new(values: &Values) -> StrictPriority {
        StrictPriority { limits: RateLimits::read(values) }
    }
}

impl Scheduler for StrictPriority {
    #[inline]
    fn next_packet(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        // Queue numbers grow with urgency, so the highest set bit is the most urgent queue.
        let queue = QueueId(port.eligible.checked_ilog2()? as u8);
        port.view.first_packet(port.port, queue).map(|(pkt, _)| (queue, pkt))
    }
    fn needs(&self) -> Needs {
        Needs::default()
    }
    fn keeps_queue_order(&self) -> bool {
        true
    }
    fn class_settings(&self) -> Vec<ClassSetting> {
        vec![("max_rate", self.limits.as_ref().map_or(ClassSet::NONE, RateLimits::classes))]
    }
    fn rate_limits(&self) -> Option<&RateLimits> {
        self.limits.as_ref()
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        RateLimits::check(self.limits.as_ref(), beside, report);
    }
    fn clone_boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DecisionInputs, buffer_of_packets, parse_head, switch_without_packets};
    use crate::{Lane, PortId};

    #[test]
    fn highest_class_leaves_first_and_in_it_bounced_packets() {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        (0..QueueId::COUNT).for_each(|queue| state.fill_up(1, parse_head(""), (PortId(0), QueueId(queue))));
        for eligible in (1..=u16::MAX).flat_map(|set| [u32::from(set), u32::from(set) << 16, u32::from(set) << 8 | 1]) {
            let port = PortView { view: &state, port: PortId(0), eligible };
            let next = StrictPriority::default().next_packet(&port, &mut DecisionInputs::with_draws(&[]).env());
            let wanted = QueueId((0..32).rev().find(|queue| eligible >> queue & 1 == 1).unwrap());
            assert_eq!(next.map(|(queue, _)| queue), Some(wanted));
        }
        let order = [(7, Lane::Notice), (7, Lane::Bounce), (7, Lane::Normal), (0, Lane::Bounce), (0, Lane::Normal)]
            .map(|(class, lane)| QueueId::new(class, lane));
        assert!(order.windows(2).all(|two| two[0] > two[1]));
    }

    #[test]
    fn oldest_packet_of_a_queue_leaves_first() {
        let mut state = switch_without_packets(1, buffer_of_packets(100));
        let first = state.push(String::new(), parse_head(""), (PortId(0), QueueId(0)));
        state.fill_up(3, parse_head(""), (PortId(0), QueueId(0)));
        let port = |eligible| PortView { view: &state, port: PortId(0), eligible };
        let mut desk = DecisionInputs::with_draws(&[]);
        assert_eq!(StrictPriority::default().next_packet(&port(1), &mut desk.env()), Some((QueueId(0), first)));
        assert_eq!(StrictPriority::default().next_packet(&port(0), &mut desk.env()), None);
    }
}
