//! The ack_hold slot, before lookup: are ACKs from this port's device held back?
//!
//! The catalogue has no answer but none yet.

use crate::{Env, Head, Interests, QueueView, Watch};

/// What becomes of a packet that has just come in by a port.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// On to lookup.
    Forward,
    /// Held, behind those already held.
    Hold,
    /// Held in place of the one that this flow has there already, if any.
    Replace,
    /// Lost: no room to hold it.
    Drop,
}

/// A way to hold ACKs; it follows the output queue of the port whose device sends them.
pub trait AckHold: Watch + Send + Sync {
    /// What becomes of `pkt`, which came in by the port whose output queue is `q`.
    fn arrive(&mut self, pkt: &Head, q: &QueueView, env: &mut Env) -> Pass;
    /// What it wants from the dataplane.
    fn interests(&self) -> Interests {
        Interests { watch: true, ..Interests::default() }
    }
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn AckHold>;
}
