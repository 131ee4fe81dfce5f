//! What a source does about the rate of a flow when the network tells it of congestion (802.1Qau: a reaction point).
//!
//! A reaction point is told of messages, of what limited flows send, and of its own timers. It makes, changes and takes
//! away the [`RateLimiter`] of the flow that it is told about, and of no other. What it knows of flows it keeps by their
//! numbers.
//!
//! ```
//! use mech::host::{FlowAtNic, Reaction, ReactionHost};
//! use mech::{FlowId, Notice};
//! use std::collections::BTreeMap;
//! use units::{Dur, Rate, Time};
//!
//! /// Half of the rate of the link, for a millisecond from the last message on.
//! #[derive(Clone)]
//! struct Half { rate: Rate, until: BTreeMap<FlowId, Time> }
//!
//! impl Reaction for Half {
//!     fn for_host(&mut self, host: ReactionHost) {
//!         self.rate = host.line.divided_by(2, 1).expect("a link has a rate");
//!     }
//!     fn on_notice(&mut self, _: &Notice, flow: &mut FlowAtNic) {
//!         flow.limit(self.rate);
//!         self.until.insert(flow.flow, flow.now + Dur::ms(1));
//!     }
//!     fn next_timer(&self) -> Option<(Time, FlowId)> {
//!         self.until.iter().map(|(flow, at)| (*at, *flow)).min()
//!     }
//!     fn on_timer(&mut self, flow: &mut FlowAtNic) {
//!         *flow.limiter = None;
//!         self.forget(flow.flow);
//!     }
//!     fn forget(&mut self, flow: FlowId) {
//!         self.until.remove(&flow);
//!     }
//!     fn boxed(&self) -> Box<dyn Reaction> {
//!         Box::new(self.clone())
//!     }
//! }
//!
//! let mut half = Half { rate: Rate::bps(1), until: BTreeMap::new() };
//! half.for_host(ReactionHost::new(Rate::gbps(10), 0, 0));
//! let mut limiter = None;
//! let mut flow = FlowAtNic { flow: FlowId(7), now: Time::ZERO, is_empty: false, limiter: &mut limiter };
//! half.on_notice(&Notice::Cnp, &mut flow);
//! assert_eq!(half.next_timer(), Some((Time(Dur::ms(1).0), FlowId(7))));
//! assert_eq!(limiter.map(|limiter| limiter.rate()), Some(Rate::gbps(5)));
//! ```

use super::RateLimiter;
use crate::params::Spec;
use crate::{FlowId, Notice, Purpose, Report, Stream};
use units::{Rate, Time};

/// The host of a reaction point.
#[derive(Clone, Debug)]
pub struct ReactionHost {
    /// The most that a flow may send: the rate of the NIC's link, or that of the queue of each flow where it is lower.
    pub line: Rate,
    /// Draws of this reaction point, and nobody else's.
    pub rng: Stream,
}

impl ReactionHost {
    /// The host that is this node, in a run of this seed.
    pub fn new(line: Rate, seed: u64, node: u32) -> ReactionHost {
        ReactionHost { line, rng: Stream::new(seed, node, Purpose::Reaction) }
    }
}

/// A flow at the NIC of its source.
#[derive(Debug)]
pub struct FlowAtNic<'a> {
    /// Its number.
    pub flow: FlowId,
    /// The instant.
    pub now: Time,
    /// Whether nothing of it waits there, nor does its transport have a segment ready.
    pub is_empty: bool,
    /// Its rate limiter, if it has one.
    pub limiter: &'a mut Option<RateLimiter>,
}

impl FlowAtNic<'_> {
    /// Its rate from now on, preamble and gap included.
    pub fn limit(&mut self, rate: Rate) {
        match self.limiter {
            Some(limiter) => limiter.set_rate(rate, self.now),
            None => *self.limiter = Some(RateLimiter::new(rate)),
        }
    }
}

/// A reaction point of a host, for all flows that leave it; an example is at the top of this page.
pub trait Reaction: Send + Sync {
    /// What is wrong with it at hosts whose slowest link has this rate.
    fn check(&self, _line: Rate, _report: &mut Report) {}
    /// It is that of a host, before the run.
    fn for_host(&mut self, _host: ReactionHost) {}
    /// Returns true if hosts ever send notices about marked packets to their sources.
    fn sends_notices(&self) -> bool {
        false
    }
    /// A marked packet of a flow that ends here has come: what the flow's source is to be told, if anything is now.
    fn on_marked(&mut self, _flow: FlowId, _now: Time) -> Option<Notice> {
        None
    }
    /// A message about a flow that is sent here, and is not over, has come.
    fn on_notice(&mut self, notice: &Notice, flow: &mut FlowAtNic);
    /// A frame of a flow that has a limiter begins to leave; so many bytes, preamble and gap not counted.
    fn on_sent(&mut self, _bytes: u64, _flow: &mut FlowAtNic) {}
    /// The first of its timers, and the flow that it is of.
    fn next_timer(&self) -> Option<(Time, FlowId)> {
        None
    }
    /// The instant that `next_timer` said for this flow has come. POSTCONDITION: what it says next is later, or of
    /// another flow.
    fn on_timer(&mut self, _flow: &mut FlowAtNic) {}
    /// A flow is over, and its limiter gone.
    fn forget(&mut self, _flow: FlowId) {}
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
    pub fn new(reaction: impl Reaction + 'static) -> ReactionSlot {
        ReactionSlot(Some(Box::new(reaction)))
    }
    /// Whether there is any.
    pub const fn reacts(&self) -> bool {
        self.0.is_some()
    }
    /// Returns true if hosts ever send notices about marked packets to their sources.
    pub fn sends_notices(&self) -> bool {
        self.0.as_ref().is_some_and(|reaction| reaction.sends_notices())
    }
    /// The reaction point, to look at.
    pub fn peek(&self) -> Option<&dyn Reaction> {
        self.0.as_deref()
    }
    /// The same at a host.
    #[must_use]
    pub fn for_host(mut self, host: ReactionHost) -> ReactionSlot {
        if let Some(reaction) = &mut self.0 {
            reaction.for_host(host);
        }
        self
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

pub(super) const NONE: Spec = Spec {
    slot: "host.reaction",
    kind: "none",
    doc: "Messages of congestion change the rate of no flow.",
    cite: "",
    params: &[],
};
