//! Steps of a packet on its way through the network, such as arrivals and detours.

use super::port_table::PortTable;
use crate::identity::PacketId;
use dataplane::{EnqueuedFrame, EventLocation, ObservedEvents, Observer, Pkt};
use mech::overflow::DropReason;
use mech::{Flags, FlowId};
use std::sync::Arc;
use units::Time;

/// Kind of a step of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The transport made the packet, or a switch made the congestion message.
    Emitted,
    /// The packet's last bit has come in by a port.
    Arrived,
    /// The packet was to leave by a port and is detoured.
    Detoured,
    /// The packet was to leave by a port and is bounced.
    Bounced,
    /// The packet gets a congestion mark.
    Marked,
    /// The packet is trimmed, at its arrival or in a queue.
    Trimmed,
    /// The packet is held before lookup.
    Held,
    /// The packet was held, and continues with lookup.
    Released,
    /// The packet is stored in the queue of a port.
    Stored,
    /// The packet has left the memory of its input, for the port.
    Crossed,
    /// The packet has reached a buffer inside a `fabric` switch, on its way to the port.
    Moved,
    /// The packet's first bit leaves by a port.
    Started,
    /// The packet has reached its transport, or the congestion message its host.
    Delivered,
    /// The packet was sent back by a switch and has reached its source.
    ReturnedToSource,
    /// The packet is lost.
    Dropped(DropReason),
}

impl StepKind {
    /// All kinds of steps except losses, in the order of their numbers.
    pub(crate) const ALL_EXCEPT_LOSSES: [StepKind; 14] = [
        StepKind::Emitted,
        StepKind::Arrived,
        StepKind::Detoured,
        StepKind::Bounced,
        StepKind::Marked,
        StepKind::Trimmed,
        StepKind::Held,
        StepKind::Released,
        StepKind::Stored,
        StepKind::Crossed,
        StepKind::Moved,
        StepKind::Started,
        StepKind::Delivered,
        StepKind::ReturnedToSource,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            StepKind::Emitted => "emitted",
            StepKind::Arrived => "arrived",
            StepKind::Detoured => "detoured",
            StepKind::Bounced => "bounced",
            StepKind::Marked => "marked",
            StepKind::Trimmed => "trimmed",
            StepKind::Held => "held",
            StepKind::Released => "released",
            StepKind::Stored => "stored",
            StepKind::Crossed => "crossed",
            StepKind::Moved => "moved",
            StepKind::Started => "started",
            StepKind::Delivered => "delivered",
            StepKind::ReturnedToSource => "came back",
            StepKind::Dropped(_) => "lost",
        }
    }

    /// Returns the number of the kind in tables; the numbers of losses follow in the order of their reasons.
    pub fn number(self) -> u8 {
        match self {
            StepKind::Emitted => 0,
            StepKind::Arrived => 1,
            StepKind::Detoured => 2,
            StepKind::Bounced => 3,
            StepKind::Marked => 4,
            StepKind::Trimmed => 5,
            StepKind::Held => 6,
            StepKind::Released => 7,
            StepKind::Stored => 8,
            StepKind::Crossed => 9,
            StepKind::Moved => 10,
            StepKind::Started => 11,
            StepKind::Delivered => 12,
            StepKind::ReturnedToSource => 13,
            StepKind::Dropped(reason) => 14 + reason as u8,
        }
    }
}

/// Step of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketStep {
    /// Instant, node and port of the step; the node's first port if the step has no port.
    pub at: EventLocation,
    /// Kind of the step, such as an arrival or a detour.
    pub kind: StepKind,
    /// Port by which a detoured packet leaves instead, counted over the whole network.
    pub detour_port: Option<u32>,
    /// Number of frames queued at the port just before the packet is stored there.
    pub before: Option<u32>,
    /// Buffer inside a `fabric` switch that the packet has reached. Input buffers of the ports' stages come first,
    /// then two for each internal link: the one that feeds it and the one behind it.
    pub buffer: Option<u16>,
    /// Size of the frame in bytes; after trimming, the remaining bytes.
    pub size: u16,
}

/// Observer that follows one packet.
#[derive(Clone, Debug)]
pub(super) struct StepRecorder {
    id: PacketId,
    plan: Arc<PortTable>,
    pub(super) steps: Vec<PacketStep>,
    /// Packet as it was at its last step.
    pub(super) last: Option<Pkt>,
    pub(super) ended: bool,
    /// Number of flows that have started.
    pub(super) flows: u32,
    /// Number of packets sent by the end of the flow that sends the followed packet.
    pub(super) emissions: u32,
}

impl StepRecorder {
    pub(super) fn new(id: PacketId, plan: Arc<PortTable>) -> StepRecorder {
        StepRecorder { id, plan, steps: Vec::new(), last: None, ended: false, flows: 0, emissions: 0 }
    }

    fn is_followed(&self, pkt: &Pkt) -> bool {
        !self.ended && PacketId::from_packet(pkt) == self.id && !pkt.head.flags.has(Flags::MISDIRECTED)
    }

    /// Adds a step if it is one of the followed packet, and returns it.
    fn add_step(&mut self, at: EventLocation, what: StepKind, pkt: &Pkt) -> Option<&mut PacketStep> {
        if !self.is_followed(pkt) {
            return None;
        }
        self.last = Some(*pkt);
        self.steps.push(PacketStep {
            at,
            kind: what,
            detour_port: None,
            before: None,
            buffer: None,
            size: pkt.head.size,
        });
        self.steps.last_mut()
    }
}

impl Observer for StepRecorder {
    const OBSERVED: ObservedEvents = ObservedEvents { emissions: true, arrivals: true, ..ObservedEvents::DEPARTURES };

    fn on_flow_added(&mut self, _flow: FlowId, _traffic: u16) {
        self.flows += 1;
    }
    fn on_emit(&mut self, pkt: &Pkt) {
        let id = PacketId::from_packet(pkt);
        self.emissions += u32::from((id.flow, id.origin) == (self.id.flow, self.id.origin));
        let node = pkt.head.src.0;
        self.add_step(
            EventLocation { now: pkt.sent, node, port: self.plan.base[node as usize] },
            StepKind::Emitted,
            pkt,
        );
    }
    fn on_enqueue(&mut self, at: EventLocation, frame: EnqueuedFrame, pkt: &Pkt) {
        if let Some(step) = self.add_step(at, StepKind::Stored, pkt) {
            step.before = Some(frame.before);
        }
    }
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, _end: Time) {
        self.add_step(at, StepKind::Started, pkt);
    }
    fn on_arrival(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Arrived, pkt);
    }
    fn on_detour(&mut self, at: EventLocation, taken: u32, pkt: &Pkt) {
        if let Some(step) = self.add_step(at, StepKind::Detoured, pkt) {
            step.detour_port = Some(taken);
        }
    }
    fn on_bounce(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Bounced, pkt);
    }
    fn on_mark(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Marked, pkt);
    }
    fn on_trim(&mut self, at: EventLocation, _bytes: u16, pkt: &Pkt) {
        self.add_step(at, StepKind::Trimmed, pkt);
    }
    fn on_notice_sent(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Emitted, pkt);
    }
    fn on_notice_received(&mut self, at: EventLocation, pkt: &Pkt) {
        self.ended |= self.add_step(at, StepKind::Delivered, pkt).is_some();
    }
    fn on_input_dequeue(&mut self, at: EventLocation, _input: u32, pkt: &Pkt) {
        self.add_step(at, StepKind::Crossed, pkt);
    }
    fn on_stage_arrival(&mut self, at: EventLocation, buffer: u16, pkt: &Pkt) {
        if let Some(step) = self.add_step(at, StepKind::Moved, pkt) {
            step.buffer = Some(buffer);
        }
    }
    fn on_hold(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Held, pkt);
    }
    fn on_release(&mut self, at: EventLocation, pkt: &Pkt) {
        self.add_step(at, StepKind::Released, pkt);
    }
    fn on_drop(&mut self, at: EventLocation, pkt: &Pkt, reason: DropReason) {
        self.ended |= self.add_step(at, StepKind::Dropped(reason), pkt).is_some();
    }
    fn on_delivery(&mut self, at: EventLocation, pkt: &Pkt) {
        self.ended |= self.add_step(at, StepKind::Delivered, pkt).is_some();
    }
    fn on_returned_packet(&mut self, at: EventLocation, pkt: &Pkt) {
        self.ended |= self.add_step(at, StepKind::ReturnedToSource, pkt).is_some();
    }
}
