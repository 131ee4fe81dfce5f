//! What a run reports while it goes on.

use dataplane::Pkt;
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, PktId, QueueId};
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

/// Payload bytes that have arrived in order, for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gain {
    /// Their flow.
    pub flow: FlowId,
    /// The workload of the scenario's traffic that it comes from.
    pub traffic: u16,
    /// How many.
    pub bytes: u64,
}

/// A listener. `()` listens to nothing and compiles to nothing.
pub trait Probe: Clone + Send {
    /// A flow is entered, the next in number, of this workload of the scenario's traffic. Nothing else is told
    /// of it before.
    fn entered(&mut self, _flow: FlowId, _traffic: u16) {}
    /// Whether [`Probe::stored`] and [`Probe::freed`] are wanted; then departures are not computed
    /// ahead.
    fn follows_queues(&self) -> bool {
        false
    }
    /// What becomes of an arrival is decided: its lookup points at this queue.
    fn decided(&mut self, _at: Spot, _queue: QueueId, _pkt: &Pkt) {}
    /// A frame was stored in this queue, where `before` waited at the port in all. `slot` is its own in its
    /// node's memory until it leaves; `None` where its departure is computed.
    fn stored(&mut self, _at: Spot, _queue: QueueId, (_before, _slot): (u32, Option<PktId>), _pkt: &Pkt) {}
    /// A frame left this queue; `after` still wait at the port in all. `started` is its slot where its
    /// transmission begins; `None` where it was removed before its turn.
    fn freed(&mut self, _at: Spot, _queue: QueueId, (_after, _started): (u32, Option<PktId>)) {}
    /// A frame goes out by a port; its last bit leaves at `end`. Where departures are computed its first
    /// may leave later than now.
    fn transmitted(&mut self, _at: Spot, _pkt: &Pkt, _end: Time) {}
    /// Whether [`Probe::emitted`] is wanted.
    fn follows_order(&self) -> bool {
        false
    }
    /// A transport made a packet of a workload of the scenario's traffic.
    fn emitted(&mut self, _traffic: u16, _pkt: &Pkt) {}
    /// A packet was lost.
    fn dropped(&mut self, _at: Spot, _pkt: &Pkt, _reason: DropReason) {}
    /// A packet got a congestion mark.
    fn marked(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A packet that was to leave by the port of `at` is detoured by the port `taken`, counted as that one.
    fn detoured(&mut self, _at: Spot, _taken: u32, _pkt: &Pkt) {}
    /// A packet was bounced.
    fn bounced(&mut self, _at: Spot, _pkt: &Pkt) {}
    /// A frame that stops these classes at the far end of a port, or none of them, begins to leave; `again`
    /// had been stopped before.
    fn pause_sent(&mut self, _at: Spot, _stop: ClassSet, _again: ClassSet) {}
    /// A class may not leave by a port from now on.
    fn paused(&mut self, _at: Spot, _class: u8) {}
    /// A class may leave by a port again.
    fn resumed(&mut self, _at: Spot, _class: u8) {}
    /// Payload bytes have arrived in order, for the first time.
    fn received(&mut self, _at: Spot, _gain: Gain) {}
    /// A packet has reached its transport.
    fn delivered(&mut self, _at: Spot, _pkt: &Pkt) {}
}

impl Probe for () {}
