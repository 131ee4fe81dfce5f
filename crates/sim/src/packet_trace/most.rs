//! Search for the packet that was detoured or bounced most often, or the first that was cut, held or made as a
//! congestion message. Only the maximum is kept.

use crate::identity::PacketId;
use dataplane::Pkt;
use dataplane::{Observer, Spot};
use mech::overflow::DropReason;
use units::Time;

/// Property by which a packet is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    /// Largest number of detours.
    Detoured,
    /// Largest number of bounces.
    Bounced,
    /// First packet that ends after a cut; no packet is cut more than once.
    Trimmed,
    /// First packet that is held.
    Held,
    /// First congestion message.
    Tells,
}

/// Observer that finds the packet.
#[derive(Clone, Debug)]
pub(super) struct Most {
    of: Often,
    /// Count, identity and end of the packet; among equals, the first to end. For a held packet or a congestion
    /// message, the instant at which it was held or made.
    found: Option<(u8, PacketId, Time)>,
}

impl Most {
    pub(super) fn new(of: Often) -> Most {
        Most { of, found: None }
    }

    /// Returns the identity of the packet, and its end.
    pub(super) fn found(&self) -> Option<(PacketId, Time)> {
        self.found.map(|(_, id, end)| (id, end))
    }

    fn ended(&mut self, now: Time, pkt: &Pkt) {
        let count = match self.of {
            Often::Detoured => pkt.head.detours,
            Often::Bounced => pkt.head.bounces,
            Often::Trimmed => u8::from(pkt.head.is_cut()),
            Often::Held | Often::Tells => 0,
        };
        if count > self.found.map_or(0, |(most, ..)| most) {
            self.found = Some((count, PacketId::of_packet(pkt), now));
        }
    }

    /// Records a packet, if it is the first with this property.
    fn first(&mut self, of: Often, at: Spot, pkt: &Pkt) {
        if self.of == of && self.found.is_none() {
            self.found = Some((1, PacketId::of_packet(pkt), at.now));
        }
    }
}

impl Observer for Most {
    fn held(&mut self, at: Spot, pkt: &Pkt) {
        self.first(Often::Held, at, pkt);
    }
    fn noticed(&mut self, at: Spot, pkt: &Pkt) {
        self.first(Often::Tells, at, pkt);
    }
    fn dropped(&mut self, at: Spot, pkt: &Pkt, _reason: DropReason) {
        self.ended(at.now, pkt);
    }
    fn delivered(&mut self, at: Spot, pkt: &Pkt) {
        self.ended(at.now, pkt);
    }
    fn came_back(&mut self, at: Spot, pkt: &Pkt) {
        self.ended(at.now, pkt);
    }
}
