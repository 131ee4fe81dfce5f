//! What a source does about the rate of a flow when the network tells it of congestion (802.1Qau: a reaction point).

use super::RateLimiter;
use crate::{FlowId, Notice};
use units::Time;

/// A reaction point of a host, for all flows that leave it.
pub trait Reaction: Send + Sync {
    /// A notice about a flow has come. Its limiter is made, changed or taken away in place.
    fn on_notice(&mut self, flow: FlowId, notice: &Notice, now: Time, limiter: &mut Option<RateLimiter>);
    /// A copy, with its state.
    fn boxed(&self) -> Box<dyn Reaction>;
}
