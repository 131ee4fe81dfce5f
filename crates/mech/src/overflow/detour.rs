//! DIBS: a packet whose queue is full is sent to a neighbour switch instead (Zarifis et al.,
//! "DIBS: Just-in-time Congestion Mitigation for Data Centers", EuroSys 2014).
//!
//! Eligible is a port whose far end is a switch, whose queue is not full and which is not the
//! desired one; the ingress port is eligible too, since the paper's own trace returns packets to
//! where they came from (fig. 1). Nothing is remembered: the next switch routes the packet as any
//! other. Not modelled here: the policies of §7 other than `random`.

use super::{DropReason, Fate, Overflow};
use crate::params::{Kind, Param, Spec, Values};
use crate::{Env, Head, Place, PortId};

/// See the module.
#[derive(Clone, Debug)]
pub struct Detour {
    mark_detoured: bool,
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "detour",
    doc: "A packet that finds its queue full leaves by another port toward a switch.",
    cite: "DIBS §2",
    params: &[
        Param {
            name: "policy",
            doc: "How the other port is chosen; `random` is uniform over the eligible ones (DIBS §2).",
            kind: Kind::Choice(&["random"]),
            default: Some("random"),
        },
        Param {
            name: "mark_detoured",
            doc: "Set CE on a detoured packet that is ECN-capable (DIBS §5.3).",
            kind: Kind::Flag,
            default: Some("true"),
        },
    ],
};

impl Detour {
    /// From validated parameters.
    pub fn new(values: &Values) -> Detour {
        Detour { mark_detoured: values.flag("mark_detoured") }
    }
}

impl Overflow for Detour {
    fn admit(&mut self, pkt: &Head, at: &Place, env: &mut Env) -> Fate {
        let queue = pkt.queue();
        if at.fits(at.out, queue, pkt.size) {
            return Fate::Enqueue(queue);
        }
        let eligible =
            |port: &PortId| *port != at.out && at.view.is_switch(*port) && at.fits(*port, queue, pkt.size);
        let ports = || (0..at.view.ports()).map(PortId).filter(eligible);
        let count = ports().count() as u64;
        if count == 0 {
            return Fate::Drop(DropReason::NoDetour);
        }
        let chosen = ports().nth(env.rng.below(count) as usize);
        env.acts.mark |= self.mark_detoured;
        chosen.map_or(Fate::Drop(DropReason::NoDetour), |port| Fate::Detour(port, queue))
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
