//! Steps of one packet.

use super::plan::Plan;
use crate::identity::PacketId;
use dataplane::{Observer, Pkt, Spot, Stored, Wants};
use mech::overflow::DropReason;
use mech::{Flags, FlowId};
use std::sync::Arc;
use units::Time;

/// Kind of a step of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
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
    /// The packet's payload is cut off, at its arrival or in a queue.
    Trimmed,
    /// The packet is held before lookup.
    Held,
    /// The packet was held, and continues with lookup.
    Released,
    /// The packet is queued at a port.
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
    CameBack,
    /// The packet is lost.
    Dropped(DropReason),
}

impl What {
    /// All kinds except losses, in the order of their numbers.
    pub(crate) const BEFORE_LOSSES: [What; 14] = [
        What::Emitted,
        What::Arrived,
        What::Detoured,
        What::Bounced,
        What::Marked,
        What::Trimmed,
        What::Held,
        What::Released,
        What::Stored,
        What::Crossed,
        What::Moved,
        What::Started,
        What::Delivered,
        What::CameBack,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            What::Emitted => "emitted",
            What::Arrived => "arrived",
            What::Detoured => "detoured",
            What::Bounced => "bounced",
            What::Marked => "marked",
            What::Trimmed => "trimmed",
            What::Held => "held",
            What::Released => "released",
            What::Stored => "stored",
            What::Crossed => "crossed",
            What::Moved => "moved",
            What::Started => "started",
            What::Delivered => "delivered",
            What::CameBack => "came back",
            What::Dropped(_) => "lost",
        }
    }

    /// Returns the number of the kind in tables; the numbers of losses follow in the order of their reasons.
    pub fn number(self) -> u8 {
        match self {
            What::Emitted => 0,
            What::Arrived => 1,
            What::Detoured => 2,
            What::Bounced => 3,
            What::Marked => 4,
            What::Trimmed => 5,
            What::Held => 6,
            What::Released => 7,
            What::Stored => 8,
            What::Crossed => 9,
            What::Moved => 10,
            What::Started => 11,
            What::Delivered => 12,
            What::CameBack => 13,
            What::Dropped(reason) => 14 + reason as u8,
        }
    }
}

/// Step of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Instant and place of the step; without a port, the place is the node's first port.
    pub at: Spot,
    /// Kind of the step.
    pub what: What,
    /// Port by which a detoured packet leaves instead, counted over the whole network.
    pub taken: Option<u32>,
    /// Number of frames queued at the port before a stored one.
    pub before: Option<u32>,
    /// Buffer inside a `fabric` switch that the packet has reached. Input buffers of the ports' stages come first,
    /// then two for each internal link: the one in front of it and the one behind.
    pub buffer: Option<u16>,
    /// Size of the frame in bytes; after a cut, the remaining bytes.
    pub size: u16,
}

/// Observer that follows one packet.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    id: PacketId,
    plan: Arc<Plan>,
    pub(super) steps: Vec<Step>,
    /// Packet as it was at its last step.
    pub(super) last: Option<Pkt>,
    pub(super) ended: bool,
    /// Number of flows that have started.
    pub(super) flows: u32,
    /// Number of packets that this end of the flow has sent.
    pub(super) emissions: u32,
}

impl Steps {
    pub(super) fn new(id: PacketId, plan: Arc<Plan>) -> Steps {
        Steps { id, plan, steps: Vec::new(), last: None, ended: false, flows: 0, emissions: 0 }
    }

    fn is_it(&self, pkt: &Pkt) -> bool {
        !self.ended && PacketId::of_packet(pkt) == self.id && !pkt.head.flags.has(Flags::MISDIRECTED)
    }

    /// Adds a step if the packet is the one followed. Returns the step, if it was added.
    fn note(&mut self, at: Spot, what: What, pkt: &Pkt) -> Option<&mut Step> {
        if !self.is_it(pkt) {
            return None;
        }
        self.last = Some(*pkt);
        self.steps.push(Step { at, what, taken: None, before: None, buffer: None, size: pkt.head.size });
        self.steps.last_mut()
    }
}

impl Observer for Steps {
    const WANTS: Wants = Wants { emissions: true, arrivals: true, ..Wants::DEPARTURES };

    fn entered(&mut self, _flow: FlowId, _traffic: u16) {
        self.flows += 1;
    }
    fn emitted(&mut self, pkt: &Pkt) {
        let id = PacketId::of_packet(pkt);
        self.emissions += u32::from((id.flow, id.origin) == (self.id.flow, self.id.origin));
        let node = pkt.head.src.0;
        self.note(Spot { now: pkt.sent, node, port: self.plan.base[node as usize] }, What::Emitted, pkt);
    }
    fn stored(&mut self, at: Spot, frame: Stored, pkt: &Pkt) {
        if let Some(step) = self.note(at, What::Stored, pkt) {
            step.before = Some(frame.before);
        }
    }
    fn transmitted(&mut self, at: Spot, pkt: &Pkt, _end: Time) {
        self.note(at, What::Started, pkt);
    }
    fn arrived(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Arrived, pkt);
    }
    fn detoured(&mut self, at: Spot, taken: u32, pkt: &Pkt) {
        if let Some(step) = self.note(at, What::Detoured, pkt) {
            step.taken = Some(taken);
        }
    }
    fn bounced(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Bounced, pkt);
    }
    fn marked(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Marked, pkt);
    }
    fn trimmed(&mut self, at: Spot, _bytes: u16, pkt: &Pkt) {
        self.note(at, What::Trimmed, pkt);
    }
    fn noticed(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Emitted, pkt);
    }
    fn notified(&mut self, at: Spot, pkt: &Pkt) {
        self.ended |= self.note(at, What::Delivered, pkt).is_some();
    }
    fn crossed(&mut self, at: Spot, _input: u32, pkt: &Pkt) {
        self.note(at, What::Crossed, pkt);
    }
    fn moved(&mut self, at: Spot, buffer: u16, pkt: &Pkt) {
        if let Some(step) = self.note(at, What::Moved, pkt) {
            step.buffer = Some(buffer);
        }
    }
    fn held(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Held, pkt);
    }
    fn released(&mut self, at: Spot, pkt: &Pkt) {
        self.note(at, What::Released, pkt);
    }
    fn dropped(&mut self, at: Spot, pkt: &Pkt, reason: DropReason) {
        self.ended |= self.note(at, What::Dropped(reason), pkt).is_some();
    }
    fn delivered(&mut self, at: Spot, pkt: &Pkt) {
        self.ended |= self.note(at, What::Delivered, pkt).is_some();
    }
    fn came_back(&mut self, at: Spot, pkt: &Pkt) {
        self.ended |= self.note(at, What::CameBack, pkt).is_some();
    }
}
