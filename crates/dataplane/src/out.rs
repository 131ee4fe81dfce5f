//! What a node asks of its driver: the seam between the dataplane and whatever runs it.

use crate::transport::{Run, SenderStats};
use crate::{BrokenRule, LosslessViolation, Observer, Pkt, Spot};
use mech::{FlowId, PortId};
use units::{Dur, Time};

/// The driver of a node: the simulator, or a software switch. It is asked for four actions, and says who
/// observes the node.
pub trait Out {
    /// Who is told what happens.
    type Observer: Observer;

    /// A frame goes out by `port`; its last bit leaves at `end`.
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time);
    /// The frames of a run go out by `port`, one behind the other: the last bit of the first leaves at the first of
    /// `ends`, and that of each other so much later than the one before it.
    fn transmit_run(&mut self, port: PortId, run: &Run, ends: (Time, Dur)) {
        let mut end = ends.0;
        for pkt in run.packets() {
            self.transmit(port, &pkt, end);
            end = end.saturating_add(ends.1);
        }
    }
    /// Call the node's `ended(port)` at `at`: the port can send again and something waits.
    fn wake(&mut self, port: PortId, at: Time);
    /// Call the node's `timer(index)` at `at`.
    fn timer(&mut self, index: u32, at: Time);
    /// Something is over.
    fn finished(&mut self, what: Outcome<'_>);

    /// Who is told what happens.
    fn observer(&mut self) -> &mut Self::Observer;
    /// Returns true if the run has a flow of this number.
    fn has_flow(&self, _flow: FlowId) -> bool {
        true
    }
    /// How observers call a port of this node at this instant.
    fn spot(&self, port: PortId) -> Spot;
}

/// What is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// The last byte of a flow has arrived.
    Received(FlowId),
    /// The sender of a flow knows that everything has arrived.
    Acknowledged(FlowId, &'a SenderStats),
    /// The whole run: a packet that should never be lost was, for want of memory.
    Violated(&'a LosslessViolation),
    /// The whole run: a mechanism broke a rule of its slot.
    Broken(&'a BrokenRule),
}
