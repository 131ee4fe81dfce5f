//! Tail drop: what does not fit is lost. The baseline of every paper here.

use super::{DropReason, Fate, Overflow};
use crate::params::Spec;
use crate::{Env, Head, Place};

/// See the module.
#[derive(Clone, Debug)]
pub struct TailDrop;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "tail_drop",
    doc: "A packet that finds its queue full is lost.",
    cite: "RFC 7567 §2",
    params: &[],
};

impl Overflow for TailDrop {
    fn admit(&mut self, pkt: &Head, at: &Place, _env: &mut Env) -> Fate {
        match at.fits(at.out, pkt.queue(), pkt.size) {
            true => Fate::Enqueue(pkt.queue()),
            false => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
