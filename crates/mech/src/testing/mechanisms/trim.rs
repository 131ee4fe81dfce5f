//! CP: a switch over its threshold cuts the payload of a packet instead of dropping it, and the
//! header goes on in the same queue (Cheng et al., NSDI 2014, §4.2, §5).
//!
//! The backlog is compared with the threshold T before the packet is added. Cut packets and PACKs
//! may use E bytes more. Only a segment that carries CPA and a payload is cut, and only once.

use crate::overflow::{DropReason, Fate, Overflow};
use crate::params::{Kind, Spec, Values};
use crate::{Env, Flags, ForwardingContext, Head, params};
use units::Bytes;

/// See the module.
#[derive(Clone, Debug)]
pub struct Trim {
    extra: u64,
}

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        extra: Bytes = {
            doc: "Room E beyond the threshold for cut packets and PACKs (CP §4.6).",
            kind: Kind::Size { min: 0 },
            default: Some("4KiB"),
        },
    }
}

/// Its declaration.
pub const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "trim",
    doc: "A packet over the threshold loses its payload.",
    cite: "CP §4.2",
    params: Given::PARAMS,
};

impl Trim {
    /// From validated parameters.
    pub fn new(values: &Values) -> Trim {
        Trim { extra: Given::read(values).extra.0 }
    }
}

impl Overflow for Trim {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        let queue = pkt.queue();
        let fill = at.fill(at.out, queue);
        let over = |room: u64| fill.limit.is_some_and(|limit| fill.used > limit + room);
        let cut = pkt.flags.has(Flags::PPL);
        match over(if cut { self.extra } else { 0 }) {
            false => Fate::Enqueue(queue),
            true if !cut && pkt.flags.has(Flags::CPA.with(Flags::PAYLOAD)) => Fate::Trim(queue),
            true => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn extra_room(&self, pkt: &Head) -> Bytes {
        let own = u64::from(pkt.size);
        Bytes(if pkt.flags.has(Flags::PPL) { own + self.extra } else { own })
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}
