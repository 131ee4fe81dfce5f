//! Which packet was detoured, or bounced, most often, or the first that was cut, or held, or tells of congestion: the maximum and no more is kept.

use crate::identity::PacketId;
use dataplane::Pkt;
use dataplane::{Observer, Spot};
use mech::overflow::DropReason;
use units::Time;

/// What there is to be most of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    /// Detours.
    Detoured,
    /// Bounces.
    Bounced,
    /// Cuts, of which no packet has more than one.
    Trimmed,
    /// Being held, of which the first counts.
    Held,
    /// Telling a source of congestion, of which the first counts.
    Tells,
}

/// The observer.
#[derive(Clone, Debug)]
pub(super) struct Most {
    of: Often,
    /// How often, who, and its end; of equals the first to end. Of one that is held or tells of congestion, when it was or does.
    found: Option<(u8, PacketId, Time)>,
}

impl Most {
    pub(super) fn new(of: Often) -> Most {
        Most { of, found: None }
    }

    /// Who, and when it ended.
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

    /// The first such thing happens to a packet.
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
