//! Reaction points: change the rate of a flow at its source when congestion messages arrive (802.1Qau).
//!
//! A reaction point handles messages, frames sent by limited flows, and its own timers. It creates, changes and removes
//! the [`RateLimiter`] of the flow that a call is about, and of no other. Its state of flows is keyed by their
//! identifiers.

use super::RateLimiter;
use crate::params::Spec;
use crate::{FlowId, Notice, Report, Stream, StreamPurpose};
use units::{Rate, Time};

/// Rate and random stream that a reaction point gets from its host.
#[derive(Clone, Debug)]
pub struct ReactionHost {
    /// Highest rate of a flow: the rate of the NIC's link, or of the per-flow queue if that is lower.
    pub line_rate: Rate,
    /// Random stream of this reaction point; nothing else draws from it.
    pub rng: Stream,
}

impl ReactionHost {
    /// Creates the inputs of the reaction point at the host `node`, in a run with this seed.
    pub fn new(line: Rate, seed: u64, node: u32) -> ReactionHost {
        ReactionHost { line_rate: line, rng: Stream::new(seed, node, StreamPurpose::Reaction) }
    }
}

/// Flow at the NIC of its source, as a reaction point sees it.
#[derive(Debug)]
pub struct FlowAtNic<'a> {
    /// Identifier of the flow.
    pub flow: FlowId,
    /// Simulated time of the call to the reaction point.
    pub now: Time,
    /// True if no frame of the flow is queued at the NIC and its transport has no segment ready.
    pub is_empty: bool,
    /// Rate limiter of the flow, if it has one.
    pub limiter: &'a mut Option<RateLimiter>,
}

impl FlowAtNic<'_> {
    /// Limits the flow to this rate from now on, preamble and gap included.
    pub fn set_rate_limit(&mut self, rate: Rate) {
        match self.limiter {
            Some(limiter) => limiter.set_rate(rate, self.now),
            None => *self.limiter = Some(RateLimiter::new(rate)),
        }
    }
}

/// Reaction point of a host: may change the rate of every flow that the host sends.
///
/// ```
/// use mech::host::{FlowAtNic, Reaction, ReactionHost};
/// use mech::{FlowId, Notice};
/// use std::collections::BTreeMap;
/// use units::{Dur, Rate, Time};
///
/// /// Limits a flow to half of the link's rate until one millisecond after its last message.
/// #[derive(Clone)]
/// struct Half { rate: Rate, until: BTreeMap<FlowId, Time> }
///
/// impl Reaction for Half {
///     fn for_host(&mut self, host: ReactionHost) {
///         self.rate = host.line_rate.divide(2, 1).expect("a link has a rate");
///     }
///     fn on_notice(&mut self, _: &Notice, flow: &mut FlowAtNic) {
///         flow.set_rate_limit(self.rate);
///         self.until.insert(flow.flow, flow.now + Dur::ms(1));
///     }
///     fn next_timer(&self) -> Option<(Time, FlowId)> {
///         self.until.iter().map(|(flow, at)| (*at, *flow)).min()
///     }
///     fn on_timer(&mut self, flow: &mut FlowAtNic) {
///         *flow.limiter = None;
///         self.remove_flow(flow.flow);
///     }
///     fn remove_flow(&mut self, flow: FlowId) {
///         self.until.remove(&flow);
///     }
///     fn clone_boxed(&self) -> Box<dyn Reaction> {
///         Box::new(self.clone())
///     }
/// }
///
/// let mut half = Half { rate: Rate::bps(1), until: BTreeMap::new() };
/// half.for_host(ReactionHost::new(Rate::gbps(10), 0, 0));
/// let mut limiter = None;
/// let mut flow = FlowAtNic { flow: FlowId(7), now: Time::ZERO, is_empty: false, limiter: &mut limiter };
/// half.on_notice(&Notice::Cnp, &mut flow);
/// assert_eq!(half.next_timer(), Some((Time(Dur::ms(1).0), FlowId(7))));
/// assert_eq!(limiter.map(|limiter| limiter.rate()), Some(Rate::gbps(5)));
/// ```
pub trait Reaction: Send + Sync {
    /// Reports parameters that do not fit hosts whose slowest link has the rate `line`.
    fn check(&self, _line: Rate, _report: &mut Report) {}
    /// Assigns the reaction point to a host, before the run.
    fn for_host(&mut self, _host: ReactionHost) {}
    /// Returns true if hosts with this reaction point ever send notices about marked packets to their sources.
    fn sends_notices(&self) -> bool {
        false
    }
    /// Handles a marked packet that the host received, and returns the notice to send to the flow's source, if any.
    fn on_marked(&mut self, _flow: FlowId, _now: Time) -> Option<Notice> {
        None
    }
    /// Handles a congestion message about an unfinished flow that the host sends.
    fn on_notice(&mut self, notice: &Notice, flow: &mut FlowAtNic);
    /// Handles a frame of a rate-limited flow that begins to leave, of `bytes` without preamble and gap.
    fn on_sent(&mut self, _bytes: u64, _flow: &mut FlowAtNic) {}
    /// Returns the instant at which the next timer expires, and the flow of that timer.
    fn next_timer(&self) -> Option<(Time, FlowId)> {
        None
    }
    /// Handles the expiry of the timer from `next_timer`.
    /// POSTCONDITION: the next timer is later, or of another flow.
    fn on_timer(&mut self, _flow: &mut FlowAtNic) {}
    /// Removes the state of a finished flow, whose limiter is already gone.
    fn remove_flow(&mut self, _flow: FlowId) {}
    /// Returns a boxed copy of the reaction point, with its state.
    fn clone_boxed(&self) -> Box<dyn Reaction>;
}

impl Clone for Box<dyn Reaction> {
    fn clone(&self) -> Box<dyn Reaction> {
        self.clone_boxed()
    }
}

/// Slot `reaction` of hosts: a reaction point, or none.
#[derive(Clone, Default)]
pub struct ReactionSlot(Option<Box<dyn Reaction>>);

impl ReactionSlot {
    /// Slot without a reaction point.
    pub const NONE: ReactionSlot = ReactionSlot(None);

    /// Creates a slot with a reaction point of the catalogue or of another crate.
    pub fn new(reaction: impl Reaction + 'static) -> ReactionSlot {
        ReactionSlot(Some(Box::new(reaction)))
    }
    /// Returns true if the slot has a reaction point.
    pub const fn has_reaction(&self) -> bool {
        self.0.is_some()
    }
    /// Returns true if the slot's reaction point ever sends notices about marked packets to their sources.
    pub fn sends_notices(&self) -> bool {
        self.0.as_ref().is_some_and(|reaction| reaction.sends_notices())
    }
    /// Returns the reaction point of the slot, read-only; `None` if the slot is empty.
    pub fn peek(&self) -> Option<&dyn Reaction> {
        self.0.as_deref()
    }
    /// Returns the slot, with its reaction point assigned to a host.
    #[must_use]
    pub fn for_host(mut self, host: ReactionHost) -> ReactionSlot {
        if let Some(reaction) = &mut self.0 {
            reaction.for_host(host);
        }
        self
    }
    /// Takes the reaction point out of its slot; `None` if the slot is empty.
    pub fn into_reaction(self) -> Option<Box<dyn Reaction>> {
        self.0
    }
}

impl core::fmt::Debug for ReactionSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.has_reaction() { "Some" } else { "None" })
    }
}

pub(super) const NONE_SPEC: Spec = Spec {
    slot: "host.reaction",
    kind: "none",
    doc: "Ignores congestion messages: they change the rate of no flow.",
    cite: "",
    params: &[],
};
