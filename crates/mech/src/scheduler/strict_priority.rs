//! Strict priority, non-preemptive: the highest class first, within a class the bounced packets
//! before the others (IEEE 802.1Q §8.6.8.1; PABO §II-E).

use super::Scheduler;
use crate::params::Spec;
use crate::{Env, Interests, PktId, PortView, QueueId};

/// See the module.
#[derive(Clone, Debug)]
pub struct StrictPriority;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "strict_priority",
    doc: "The highest class leaves first; within a class, packets that were bounced.",
    cite: "IEEE 802.1Q §8.6.8.1; PABO §II-E",
    params: &[],
};

impl Scheduler for StrictPriority {
    #[inline]
    fn next(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        let queue = QueueId(port.eligible.checked_ilog2()? as u8);
        port.view.first(port.port, queue).map(|(pkt, _)| (queue, pkt))
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
