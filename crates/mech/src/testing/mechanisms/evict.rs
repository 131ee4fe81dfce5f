//! pFabric's drop rule: a full queue loses the packet with the most bytes to go, the newest of
//! equals, which may be the one that arrives (Alizadeh et al., SIGCOMM 2013, §4.2).

use crate::overflow::{DropReason, Fate, Overflow};
use crate::params::Spec;
use crate::{Env, Head, Interests, PktId, Place};

/// See the module.
#[derive(Clone, Debug)]
pub struct Evict;

pub const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "evict",
    doc: "A full queue loses its least urgent packet.",
    cite: "pFabric §4.2",
    params: &[],
};

impl Overflow for Evict {
    fn admit(&mut self, pkt: &Head, at: &Place, _env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if at.fits(at.out, queue, pkt.size) {
            return Fate::Enqueue(queue);
        }
        let mut worst: Option<(u32, PktId)> = None;
        at.view.visit(at.out, queue, &mut |id, other| {
            if worst.is_none_or(|(rank, _)| other.rank >= rank) {
                worst = Some((other.rank, id));
            }
        });
        match worst {
            Some((rank, id)) if rank > pkt.rank => Fate::Evict(id),
            _ => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn interests(&self) -> Interests {
        Interests { remove: true, ..Interests::default() }
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
