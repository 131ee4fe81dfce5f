//! pFabric's service: the flow of the packet with the fewest bytes to go, and of that flow the
//! packet that came first, so that its packets stay in order (SIGCOMM 2013, §4.2).

use crate::params::Spec;
use crate::scheduler::Scheduler;
use crate::{Env, Head, PktId, PortView, QueueId};

/// See the module.
#[derive(Clone, Debug)]
pub struct Srpt;

pub const SPEC: Spec = Spec {
    slot: "switch.scheduler",
    kind: "srpt",
    doc: "The flow with the fewest bytes to go leaves next, its oldest packet first.",
    cite: "pFabric §4.2",
    params: &[],
};

impl Scheduler for Srpt {
    fn next(&mut self, port: &PortView, _env: &mut Env) -> Option<(QueueId, PktId)> {
        let mut best: Option<(QueueId, Head)> = None;
        for queue in (0..16).filter(|q| port.eligible >> q & 1 == 1).map(QueueId) {
            port.view.visit(port.port, queue, &mut |_, pkt| {
                if best.as_ref().is_none_or(|(_, least)| pkt.rank < least.rank) {
                    best = Some((queue, *pkt));
                }
            });
        }
        let (queue, least) = best?;
        let mut oldest = None;
        port.view.visit(port.port, queue, &mut |id, pkt| {
            if oldest.is_none() && (pkt.flow, pkt.src) == (least.flow, least.src) {
                oldest = Some(id);
            }
        });
        oldest.map(|id| (queue, id))
    }
    fn boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
