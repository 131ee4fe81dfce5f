//! What may be told of a run while it goes on.

use dataplane::Pkt;
use mech::overflow::DropReason;
use units::Time;

/// Where and when something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The instant.
    pub now: Time,
    /// The node.
    pub node: u32,
    /// The port, counted over the whole network.
    pub port: u32,
}

/// A listener. `()` hears nothing and compiles to nothing.
pub trait Probe: Clone + Send {
    /// Whether [`Probe::stored`] and [`Probe::freed`] are wanted; then departures are not computed
    /// ahead.
    fn follows_queues(&self) -> bool {
        false
    }
    /// A frame was stored where `before` waited.
    fn stored(&mut self, _at: Spot, _before: u32) {}
    /// A frame left the memory; `after` still wait.
    fn freed(&mut self, _at: Spot, _after: u32) {}
    /// A packet was lost.
    fn dropped(&mut self, _at: Spot, _pkt: &Pkt, _reason: DropReason) {}
    /// A packet got a congestion mark.
    fn marked(&mut self, _at: Spot) {}
    /// A packet was detoured.
    fn detoured(&mut self, _at: Spot) {}
    /// A packet was bounced.
    fn bounced(&mut self, _at: Spot) {}
    /// So many payload bytes of an entry of the scenario's traffic have arrived for the first time.
    fn received(&mut self, _at: Spot, _traffic: u16, _bytes: u64) {}
    /// A packet has reached its transport.
    fn delivered(&mut self, _at: Spot, _pkt: &Pkt) {}
}

impl Probe for () {}
