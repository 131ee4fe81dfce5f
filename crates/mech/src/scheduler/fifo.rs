//! First in, first out over all queues of the port, whatever their class.

use super::Scheduler;
use crate::params::Spec;
use crate::{Env, Interests, PktId, PortView, QueueId};

/// See the module.
#[derive(Clone, Debug)]
pub struct Fifo;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "fifo",
    doc: "The packet that has waited longest leaves next.",
    cite: "RFC 7567 §1.1",
    params: &[],
};

impl Scheduler for Fifo {
    fn next(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        let first = |q: u8| port.view.first(port.port, QueueId(q)).map(|(pkt, stamp)| (stamp, q, pkt));
        (0..16).filter(|q| port.eligible >> q & 1 == 1).filter_map(first).min().map(|(_, q, pkt)| (QueueId(q), pkt))
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
