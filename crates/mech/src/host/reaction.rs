//! What a source does about the rate of a flow when the network tells it of congestion (802.1Qau: a reaction point).

use super::RateLimiter;
use crate::params::Spec;
use crate::{FlowId, Mechanism, Notice};
use units::Time;

/// A reaction point of a host, for all flows that leave it.
pub trait Reaction: Send + Sync {
    /// A notice about a flow has come. Its limiter is made, changed or taken away in place.
    fn on_notice(&mut self, flow: FlowId, notice: &Notice, now: Time, limiter: &mut Option<RateLimiter>);
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Reaction>;
}

impl Clone for Box<dyn Reaction> {
    fn clone(&self) -> Box<dyn Reaction> {
        self.boxed()
    }
}

/// What fills the slot `reaction` of hosts: a reaction point, or none.
#[derive(Clone, Default)]
pub struct ReactionSlot(Option<Box<dyn Reaction>>);

impl ReactionSlot {
    /// No flow changes its rate.
    pub const NONE: ReactionSlot = ReactionSlot(None);

    /// A reaction point, of the catalogue or from outside.
    pub fn of(reaction: impl Reaction + 'static) -> ReactionSlot {
        ReactionSlot(Some(Box::new(reaction)))
    }
    /// Whether there is any.
    pub const fn reacts(&self) -> bool {
        self.0.is_some()
    }
    /// The reaction point, out of its slot.
    pub fn into_reaction(self) -> Option<Box<dyn Reaction>> {
        self.0
    }
}

impl core::fmt::Debug for ReactionSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.reacts() { "Some" } else { "None" })
    }
}

const NONE: Spec = Spec {
    slot: "host.reaction",
    kind: "none",
    doc: "Messages of congestion change the rate of no flow.",
    cite: "",
    params: &[],
};

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<ReactionSlot>] = &[Mechanism::new(&NONE, |_| ReactionSlot::NONE)];
