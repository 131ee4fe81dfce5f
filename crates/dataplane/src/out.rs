//! What a node asks of its driver: the seam between the dataplane and whatever runs it.

use crate::transport::{Run, SenderStats};
use crate::{LosslessViolation, PauseFrame, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, PktId, PortId, QueueId};
use units::{Dur, Time};

/// The driver of a node: the simulator, or a software switch. The first three calls are requests;
/// the others tell what happened, and cost nothing where nobody listens.
pub trait Out {
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

    /// What becomes of an arrival is decided, once: its lookup points at this queue. Not told of where a
    /// plain node stores without asking.
    fn decided(&mut self, _of: (PortId, QueueId), _pkt: &Pkt) {}
    /// A frame was stored in a queue of a port, where `before` frames waited in all. `slot` is its own in
    /// the node's memory until it leaves; `None` where its departure is computed.
    fn stored(&mut self, _to: (PortId, QueueId), _before: u32, _slot: Option<PktId>, _pkt: &Pkt) {}
    /// A frame left a queue of a port, where `after` frames now wait in all. `started` is its slot where its
    /// transmission begins; `None` where it was removed before its turn.
    fn freed(&mut self, _of: (PortId, QueueId), _after: u32, _started: Option<PktId>) {}
    /// A transport made a packet, which is on its way to the NIC.
    fn emitted(&mut self, _pkt: &Pkt) {}
    /// A packet that was to leave by `port` was lost.
    fn dropped(&mut self, _port: PortId, _pkt: &Pkt, _reason: DropReason) {}
    /// So many further frames were made of a packet; they share its extension.
    fn copied(&mut self, _pkt: &Pkt, _made: u32) {}
    /// A frame that may share its extension with others has ended without being lost.
    fn ended(&mut self, _pkt: &Pkt) {}
    /// A packet got a congestion mark at `port`.
    fn marked(&mut self, _port: PortId, _pkt: &Pkt) {}
    /// A packet was to leave by the first of these ports and is detoured by the other.
    fn detoured(&mut self, _ports: (PortId, PortId), _pkt: &Pkt) {}
    /// A packet was to leave by `port` and was bounced.
    fn bounced(&mut self, _port: PortId, _pkt: &Pkt) {}
    /// A packet has reached the transport it is for.
    fn delivered(&mut self, _pkt: &Pkt) {}
    /// A frame that pauses or resumes classes at the far end of a port begins to leave; `again` had
    /// been stopped before.
    fn pause_sent(&mut self, _port: PortId, _frame: &PauseFrame, _again: ClassSet) {}
    /// A class may not leave by a port from now on.
    fn paused(&mut self, _port: PortId, _class: u8) {}
    /// A class may leave by a port again.
    fn resumed(&mut self, _port: PortId, _class: u8) {}
    /// A packet that should never be lost was, for want of memory.
    fn lossless_violation(&mut self, _lost: &LosslessViolation) {}
    /// So many payload bytes of a flow have arrived that had not arrived before.
    fn received(&mut self, _flow: FlowId, _bytes: u64) {}
    /// The last byte of a flow has arrived.
    fn flow_received(&mut self, _flow: FlowId) {}
    /// The sender of a flow knows that everything has arrived.
    fn flow_acked(&mut self, _flow: FlowId, _stats: &SenderStats) {}
}
