//! Every step of one packet.

use super::plan::Plan;
use crate::identity::PacketId;
use dataplane::{Observer, Pkt, Spot, Stored, Wants};
use mech::overflow::DropReason;
use mech::{Flags, FlowId};
use std::sync::Arc;
use units::Time;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Its transport made it; of a message about congestion, the switch that tells.
    Emitted,
    /// Its last bit has come in by a port.
    Arrived,
    /// It is to leave by a port and is detoured.
    Detoured,
    /// It is to leave by a port and is bounced.
    Bounced,
    /// It gets a congestion mark.
    Marked,
    /// Its payload is cut off, as it arrives or where it waits.
    Trimmed,
    /// It is held before lookup.
    Held,
    /// It was held, and goes on to lookup.
    Released,
    /// It waits at a port.
    Stored,
    /// It has left the memory of its input, for the port.
    Crossed,
    /// It has got to a buffer inside a `fabric` switch, on its way to the port.
    Moved,
    /// Its first bit leaves by a port.
    Started,
    /// It has reached its transport; a message about congestion, the host that it is for.
    Delivered,
    /// A switch sent it back, and it has reached its source.
    CameBack,
    /// It is lost.
    Dropped(DropReason),
}

impl What {
    /// All but losses, in the order of their numbers.
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

    /// Its number in tables; losses are counted on by their reasons.
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

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When and where; of what has no port, that is the node's first.
    pub at: Spot,
    /// What.
    pub what: What,
    /// The port that a detoured packet leaves by instead, counted over the whole network.
    pub taken: Option<u32>,
    /// How many frames wait at the port before a stored one.
    pub before: Option<u32>,
    /// The buffer inside a `fabric` switch that it has got to: input buffers of the ports' stages come first, then two of each
    /// internal link, the one in front of it and the one behind.
    pub buffer: Option<u16>,
    /// Bytes of the frame; once it is cut, those that are left.
    pub size: u16,
}

/// The observer.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    id: PacketId,
    plan: Arc<Plan>,
    pub(super) steps: Vec<Step>,
    /// As it was told of last.
    pub(super) last: Option<Pkt>,
    pub(super) ended: bool,
    /// Flows that were entered.
    pub(super) flows: u32,
    /// Packets that this end of its flow has sent.
    pub(super) emissions: u32,
}

impl Steps {
    pub(super) fn new(id: PacketId, plan: Arc<Plan>) -> Steps {
        Steps { id, plan, steps: Vec::new(), last: None, ended: false, flows: 0, emissions: 0 }
    }

    fn is_it(&self, pkt: &Pkt) -> bool {
        !self.ended && PacketId::of_packet(pkt) == self.id && !pkt.head.flags.has(Flags::MISDIRECTED)
    }

    /// Writes a step down, if it is this packet's; whether it is.
    fn note(&mut self, at: Spot, what: What, pkt: &Pkt) -> Option<&mut Step> {
        if !self.is_it(pkt) {
            return None;
        }
        self.last = Some(*pkt);
        self.steps.push(Step { at, what, taken: None, before: None, buffer: None, size: pkt.head.size });
        self.steps.last_mut()
    }

    /// The run is over at `now`: what was still on a link has not arrived.
    pub(super) fn close(&mut self, now: Time) {
        while self.steps.last().is_some_and(|step| step.at.now > now) {
            self.steps.pop();
        }
    }
}

impl Observer for Steps {
    const WANTS: Wants = Wants { emissions: true, ..Wants::DEPARTURES };

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
    fn transmitted(&mut self, at: Spot, pkt: &Pkt, end: Time) {
        if self.note(at, What::Started, pkt).is_some() {
            let (far, delay) = self.plan.far_end(at.port);
            self.note(Spot { now: end + delay, ..far }, What::Arrived, pkt);
        }
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
